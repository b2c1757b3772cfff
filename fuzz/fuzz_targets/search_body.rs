//! Bodies of searches: JSON, then its fields, then the filter.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| server::http::routes::inputs::search_body(bytes));
