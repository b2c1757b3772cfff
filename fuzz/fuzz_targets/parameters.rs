//! What stands behind the question mark of a URL.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| server::http::routes::inputs::parameters(bytes));
