//! Request counting behind the `Limiter` seam.

#[cfg(test)]
mod contract;
mod journal;
mod memory;

pub use memory::Memory;
