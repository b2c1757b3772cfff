//! Bundles of boxes: whatever is in one, it is read or refused, without a panic and without more memory than it has bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../inputs.rs"]
mod inputs;

fuzz_target!(|bytes: &[u8]| inputs::bundle(bytes));
