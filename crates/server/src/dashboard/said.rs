//! What is said once, on the page after a redirect: a new key, an invitation, what was done to several files.
//!
//! It travels in a cookie, sealed under a key made of the browser's token: every node can open it, nothing of it is stored,
//! and the page that shows it takes it away. So reloading a page repeats nothing.

use axum::{http::HeaderMap, response::Response};
use engine::ids::FileId;
use parking_lot::Mutex;
use rand::Rng;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::time::Duration;

use super::cookies::{cookie, put_cookie};
use crate::http::token;

const COOKIE: &str = "__Host-quire-said";
/// How long it waits for its page: a redirect takes no longer.
const PATIENCE: Duration = Duration::from_secs(120);
/// Files that are named one by one; browsers keep about 4,000 bytes in a cookie.
const NAMED: usize = 8;
/// Characters that are kept of a name.
const LONGEST_NAME: usize = 80;

/// Something to say once.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
pub(super) enum Said {
    /// A new API key.
    Key(String),
    /// An invitation or a link for somebody; without a link where the invitation waits.
    Link { email: String, link: Option<String> },
    /// New recovery codes.
    Codes(Vec<String>),
    /// The secret of a webhook.
    Secret(String),
    /// So many questions were put into the evaluation set.
    InSet(u64),
    /// Several files were labelled. Where they are few, what can be taken back: the labels that each did not have before.
    Labelled { count: usize, undo: Vec<(FileId, String)> },
    /// A file was changed: its name, labels and metadata before, where they are short.
    FileChanged(Before),
    /// Several files are read again.
    ReadAgain(usize),
    /// Files were deleted: how many, and what went with the first of them.
    Deleted { count: usize, receipts: Vec<Receipt> },
}

/// Bytes of what can be taken back; with its seal it still fits a cookie.
const LONGEST_UNDO: usize = 2_200;

/// What a file was like before a change.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
pub(super) struct Before {
    pub(super) name: String,
    pub(super) tags: String,
    /// Metadata: each key with its value as JSON.
    pub(super) entries: Vec<(String, String)>,
}

/// What was removed with a file.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
pub(super) struct Receipt {
    pub(super) name: String,
    pub(super) words: String,
    pub(super) sha256: String,
}

impl Said {
    /// That these files were deleted.
    pub(super) fn deleted(mut receipts: Vec<Receipt>) -> Self {
        let count = receipts.len();
        receipts.truncate(NAMED);
        for receipt in &mut receipts {
            receipt.name = receipt.name.chars().take(LONGEST_NAME).collect();
        }
        Said::Deleted { count, receipts }
    }

    /// That so many files were labelled, and how to take it back if that is short.
    pub(super) fn labelled(count: usize, undo: Vec<(FileId, String)>) -> Self {
        let undo = if is_short(&undo) { undo } else { Vec::new() };
        Said::Labelled { count, undo }
    }
}

/// Whether it can travel in a cookie.
pub(super) fn is_short(undo: &impl Serialize) -> bool {
    serde_json::to_vec(undo).is_ok_and(|text| text.len() <= LONGEST_UNDO)
}

/// What a visit brought along, until a page takes it.
#[derive(Default)]
pub(super) struct Brought {
    said: Mutex<Option<Said>>,
    /// Whether the browser holds a cookie that is no longer needed.
    taken: Mutex<bool>,
}

impl Brought {
    /// What the browser with this token brings along.
    pub(super) fn by(headers: &HeaderMap, token: &str) -> Self {
        let said = cookie(headers, COOKIE).and_then(|sealed| open(token, &sealed));
        Brought { said: Mutex::new(said), taken: Mutex::new(false) }
    }

    /// Gives what was said to the page that shows it.
    pub(super) fn take(&self, wanted: impl Fn(&Said) -> bool) -> Option<Said> {
        let said = self.said.lock().take_if(|said| wanted(said));
        *self.taken.lock() |= said.is_some();
        said
    }

    /// Removes the cookie of what was shown.
    pub(super) fn forget(&self, headers: &mut HeaderMap) {
        if *self.taken.lock() {
            put_cookie(headers, COOKIE, "gone", Some(Duration::ZERO));
        }
    }
}

/// Has the next page of the browser with this token say it.
pub(super) fn say(token: &str, said: &Said, mut response: Response) -> Response {
    let text = serde_json::to_vec(said).expect("plain JSON");
    put_cookie(response.headers_mut(), COOKIE, &seal(token, text), Some(PATIENCE));
    response
}

fn key_of(token: &str) -> LessSafeKey {
    let mut hash = Sha256::new();
    hash.update(b"quire said ");
    hash.update(token.as_bytes());
    let key = UnboundKey::new(&CHACHA20_POLY1305, &hash.finalize()).expect("32 bytes");
    LessSafeKey::new(key)
}

fn seal(token: &str, mut text: Vec<u8>) -> String {
    let nonce: [u8; NONCE_LEN] = rand::rng().random();
    let sealing = Nonce::assume_unique_for_key(nonce);
    key_of(token).seal_in_place_append_tag(sealing, Aad::empty(), &mut text).expect("it is short");
    token::encode(&[&nonce[..], &text].concat())
}

fn open(token: &str, sealed: &str) -> Option<Said> {
    let mut bytes = token::decode(sealed)?;
    let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let opened = key_of(token).open_in_place(nonce, Aad::empty(), text).ok()?;
    serde_json::from_slice(opened).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_browser_that_it_was_said_to_reads_it() {
        let said = Said::Key("quire_AAAA_secret".into());
        let sealed = seal("a token", serde_json::to_vec(&said).unwrap());
        assert!(!sealed.contains("quire"), "{sealed}");
        assert_eq!(open("a token", &sealed), Some(said));
        assert_eq!(open("another", &sealed), None);
        assert_eq!(open("a token", &sealed[1..]), None);
        assert_eq!(open("a token", ""), None);
    }

    #[test]
    fn a_long_receipt_still_fits_a_cookie() {
        let receipt = |_| Receipt {
            name: "é".repeat(255),
            words: "the original, 1,000 pages, 10,000 passages, 10,000 vectors".into(),
            sha256: "a".repeat(64),
        };
        let said = Said::deleted((0..300).map(receipt).collect());
        let sealed = seal("a token", serde_json::to_vec(&said).unwrap());
        assert!(sealed.len() < 3900, "{}", sealed.len());
        assert!(matches!(open("a token", &sealed), Some(Said::Deleted { count: 300, .. })));
    }
}
