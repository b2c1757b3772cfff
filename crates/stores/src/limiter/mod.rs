//! Request counting behind the `Limiter` seam.

#[cfg(test)]
mod contract;
mod journal;
mod memory;
mod valkey;

pub use memory::Memory;
pub use valkey::{Away, Valkey};
