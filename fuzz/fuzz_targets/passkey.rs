//! What browsers say of passkeys: CBOR, keys and signatures of any kind.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| server::http::routes::inputs::passkey(bytes));
