//! Where everything is kept: catalog, index, limiter and blobs, each behind a seam of `engine`.

pub mod catalog;
mod error;
pub mod limiter;

pub use error::Error;
