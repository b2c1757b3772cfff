//! Reads text from pictures, with two networks and kernels of our own.
//!
//! Layout, in reading order: `gray` (pictures) → `detect` (lines of text) → `recognise` (words of a line) → `scan` (a page), all of
//! which run the two networks of `network`.

mod detect;
mod gray;
mod network;
mod recognise;
mod scan;

use std::sync::LazyLock;

pub use gray::Gray;
pub use network::prepare;
pub use scan::{Line, Scan, Word};

/// The networks, for as long as the process lives: they are constants, only packed for this processor.
static NETWORKS: LazyLock<Box<dyn network::Networks + Send + Sync>> = LazyLock::new(network::load);

/// What a picture says.
pub fn read(gray: &Gray) -> Scan {
    scan::read(gray, &**NETWORKS)
}
