//! What fuzz targets do with bytes where the server is not needed for it; the replay of their corpus does the same.

use engine::bundle;
use engine::seams::catalog::Filter;
use parsers::child::{Conversation, Heard};
use parsers::{Limits, Sandbox};
use serde_json::Value;

/// A condition on metadata, held against itself: its field names are then there to be compared.
pub(crate) fn filter(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    let (Ok(filter), Value::Object(metadata)) = (Filter::parse(&value), value) else { return };
    let _ = filter.matches(&metadata.into_iter().collect());
}

/// What a parser's child says, line by line.
pub(crate) fn child_messages(bytes: &[u8]) {
    let limits = Limits { pages: 100, text_bytes: 10_000, ..Limits::default() };
    for sandbox in [Sandbox::Required, Sandbox::BestEffort] {
        let mut conversation = Conversation::new(&limits, sandbox);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match conversation.hear(line) {
                Heard::More => {}
                Heard::Picture(_) => panic!("nobody asked for a picture"),
                Heard::Progress { done, .. } => assert!(done <= limits.pages),
                Heard::Document(document) => {
                    let text: usize = document.pages.iter().map(|page| page.text.len()).sum();
                    assert!(text <= limits.text_bytes && !document.pages.is_empty());
                    break;
                }
                Heard::Failed(why) => {
                    assert!(why.message.chars().count() <= 1_000);
                    break;
                }
            }
        }
    }
}

/// A bundle: the bytes as they are, and as frames (kind, length in two bytes, content) whose checksums are right.
pub(crate) fn bundle(bytes: &[u8]) {
    let _ = bundle::verify(bytes, |_| {});
    let mut frames = Vec::new();
    let mut rest = bytes;
    while let Some((&[kind, low, high], after)) = rest.split_first_chunk::<3>() {
        let length = usize::from(u16::from_le_bytes([low, high])).min(after.len());
        let (content, next) = after.split_at(length);
        frames.push((kind, content));
        rest = next;
    }
    let Ok(sealed) = bundle::sealed(frames) else { return };
    if let Ok((_, totals)) = bundle::verify(&sealed[..], |_| {}) {
        assert!(totals.bytes <= sealed.len() as u64 && totals.pages <= sealed.len() as u64);
    }
}
