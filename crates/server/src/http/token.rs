//! Opaque texts for URLs: base64 with exactly one spelling for any bytes.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// Bytes as text fit for a URL.
pub fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The bytes that [`encode`] made the text of; any other text is refused.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}
