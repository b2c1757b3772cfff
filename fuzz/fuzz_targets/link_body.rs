//! Bodies of requests for a link to an original.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| server::http::routes::inputs::link_body(bytes));
