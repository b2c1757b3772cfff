//! Bodies of chat requests, in OpenAI's words and ours.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| server::http::routes::inputs::chat_body(bytes));
