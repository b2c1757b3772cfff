//! Keys in any text: never a panic, and what is found is a key that reads back.
#![no_main]

use engine::apikey::ApiKey;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = ApiKey::parse(text);
    assert!(parsed.is_none_or(|key| key.reveal() == text));
    if let Some(key) = ApiKey::find(text) {
        assert!(text.contains(&key.reveal()));
    }
});
