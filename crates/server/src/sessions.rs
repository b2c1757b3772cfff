//! Sign-ins behind the tokens that browsers hold: how long they last, and whom they stand for now.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use engine::{
    Fault, Reason,
    ids::BoxId,
    seams::catalog::{Catalog, Session, TokenHash},
};
use jiff::Timestamp;
use rand::Rng;
use sha2::{Digest, Sha256};

/// A sign-in ends after this long, used or not …
pub(crate) const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// … and after this long unused.
const IDLE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A secret of 256 bits, as text.
pub(crate) fn new_token() -> String {
    let mut bytes = [0; 32];
    rand::rng().fill(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// What is stored of a secret.
pub(crate) fn hash(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

/// The sign-in that a token stands for now.
pub(crate) async fn find(
    catalog: &dyn Catalog,
    token: &str,
    now: Timestamp,
) -> Result<Option<Session>, Fault> {
    catalog.session(&hash(token), now, ago(now, IDLE)).await
}

/// Whether a sign-in that was good before still is, and still reaches a box: for answers that go on for long.
pub(crate) async fn still_may_read(catalog: &dyn Catalog, token: &str, box_id: BoxId) -> Result<(), Fault> {
    let session = find(catalog, token, Timestamp::now()).await?;
    let session = session.ok_or_else(|| Fault::new(Reason::KeyRevoked, "the sign-in has ended"))?;
    session.person.may_read(box_id).map(drop)
}

/// Forgets sign-ins that have ended.
pub(crate) async fn sweep(catalog: &dyn Catalog, now: Timestamp) -> Result<u64, Fault> {
    catalog.forget_old_sessions(now, ago(now, IDLE)).await
}

/// So long before now.
pub(crate) fn ago(now: Timestamp, span: Duration) -> Timestamp {
    now.saturating_sub(span).unwrap_or(Timestamp::MIN)
}
