//! Bodies in shapes of others: Dify's, OpenAI's, a message of an assistant.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| server::http::routes::inputs::wire_body(bytes));
