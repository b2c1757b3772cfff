//! Bodies of requests for whole documents.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| server::http::routes::inputs::documents_body(bytes));
