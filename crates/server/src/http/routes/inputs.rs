//! What bytes from outside become before anything is looked up, as functions of those bytes: fuzz targets call them, and a test that
//! replays their corpus. None may panic, whatever it is given.

use super::{chat::body::ChatBody, files::Changes, search::SearchBody};
use crate::http::body;

/// The body of a search.
pub fn search_body(bytes: &[u8]) {
    let _ = body::parse::<SearchBody>(bytes).and_then(|body| body.value.wanted().map(drop));
}

/// The body of a chat request.
pub fn chat_body(bytes: &[u8]) {
    let _ = body::parse::<ChatBody>(bytes).and_then(|body| body.value.wanted().map(drop));
}

/// The body of a change to a file.
pub fn changes_body(bytes: &[u8]) {
    let _ = body::parse::<Changes>(bytes).and_then(|body| body.value.read().map(drop));
}
