//! Passkeys as `WebAuthn` defines them: what a browser says of a new one, or of one that signed, held against all that must be true of it.
//!
//! Only what this server asks for is taken: a person who was there and verified, one of three algorithms, and no word of a maker about the
//! authenticator.

mod cbor;
mod key;
#[cfg(test)]
mod tests;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use self::{cbor::Value, key::Key};

pub use key::ALGORITHMS;

/// Flags of what an authenticator says: somebody was there, it knows who, the key may be and is backed up, it is new, there is more.
const PRESENT: u8 = 1;
const VERIFIED: u8 = 1 << 2;
const MAY_BE_BACKED_UP: u8 = 1 << 3;
const BACKED_UP: u8 = 1 << 4;
const WITH_KEY: u8 = 1 << 6;
const WITH_EXTENSIONS: u8 = 1 << 7;
/// Bytes of what an authenticator calls a key.
const CREDENTIAL_BYTES: std::ops::RangeInclusive<usize> = 16..=1023;

/// Why something is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not written as it must be.
    #[error("it cannot be read")]
    Unreadable,
    /// A signature in place of a new passkey, or the other way round.
    #[error("it answers another question")]
    Kind,
    /// It answers a challenge that is not ours, not this browser's, or too old.
    #[error("it answers another challenge")]
    Challenge,
    /// It was made on a page of another site, or inside one.
    #[error("it was made on another site")]
    Origin,
    /// The authenticator was asked for another host.
    #[error("it is for another host")]
    Host,
    /// Nobody touched the authenticator.
    #[error("nobody was present")]
    Absent,
    /// The authenticator did not make sure who touched it.
    #[error("the user was not verified")]
    Unverified,
    /// The key is of no kind that was asked for.
    #[error("the key is of another kind")]
    Key,
    /// It comes with an attestation, which was not asked for.
    #[error("the attestation is of another kind")]
    Attestation,
    /// The signature is not by the key.
    #[error("the signature is wrong")]
    Signature,
}

/// Where passkeys work: a host, and what pages on it call their origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The host's name.
    pub host: String,
    /// Scheme, host and port.
    pub origin: String,
}

impl Site {
    /// The site of an address. None, if that is not HTTPS or names no host but an IP address: browsers have no passkeys there.
    pub fn of(address: &str) -> Option<Self> {
        let authority = address.strip_prefix("https://")?.split('/').next()?.to_ascii_lowercase();
        let authority = authority.strip_suffix(":443").unwrap_or(&authority);
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if all_digits(port) => host,
            _ => authority,
        };
        let last = host.rsplit('.').next()?;
        let named = !host.contains([':', '[', '@']) && !all_digits(last);
        named.then(|| Site { host: host.to_string(), origin: format!("https://{authority}") })
    }
}

/// What is kept of a new passkey.
#[derive(Debug, PartialEq, Eq)]
pub struct Registered {
    /// What its authenticator calls it.
    pub credential: Vec<u8>,
    /// Its key (COSE).
    pub public_key: Vec<u8>,
    /// How often it has signed.
    pub sign_count: u32,
}

/// What a browser says of a passkey that signed.
pub struct Signed {
    /// What the browser asked for, where.
    pub client_data: Vec<u8>,
    /// What the authenticator found.
    pub authenticator_data: Vec<u8>,
    /// Its signature of both.
    pub signature: Vec<u8>,
}

/// Takes a new passkey. `known` says what is known of a challenge, if it is one of ours; that is given back.
pub fn register<T>(
    site: &Site,
    client_data: &[u8],
    attestation: &[u8],
    known: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<(Registered, T), Refused> {
    let challenge = asked(site, "webauthn.create", client_data, known)?;
    let Some((object, [])) = cbor::read(attestation) else { return Err(Refused::Unreadable) };
    let part = |name| object.at(&Value::Text(name)).ok_or(Refused::Unreadable);
    let (Value::Text(format), statement, Value::Bytes(data)) =
        (part("fmt")?, part("attStmt")?, part("authData")?)
    else {
        return Err(Refused::Unreadable);
    };
    let found = Found::read(site, data)?;
    let (credential, public_key) = found.credential.ok_or(Refused::Unreadable)?;
    let key = Key::read(public_key)?;
    must_be_its_own(format, statement, &key, &signed_bytes(data, client_data))?;
    let (credential, public_key) = (credential.to_vec(), public_key.to_vec());
    Ok((Registered { credential, public_key, sign_count: found.sign_count }, challenge))
}

/// Checks what a passkey signed; gives how often it has, and what is known of the challenge.
pub fn verify<T>(
    site: &Site,
    public_key: &[u8],
    signed: &Signed,
    known: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<(u32, T), Refused> {
    let challenge = asked(site, "webauthn.get", &signed.client_data, known)?;
    let found = Found::read(site, &signed.authenticator_data)?;
    let message = signed_bytes(&signed.authenticator_data, &signed.client_data);
    if !Key::read(public_key)?.verifies(&message, &signed.signature) {
        return Err(Refused::Signature);
    }
    Ok((found.sign_count, challenge))
}

/// What a browser was asked for. Further fields are allowed: browsers add some, so that nobody compares this as a text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
}

fn asked<T>(
    site: &Site,
    kind: &str,
    client_data: &[u8],
    known: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<T, Refused> {
    let data: ClientData = serde_json::from_slice(client_data).map_err(|_| Refused::Unreadable)?;
    if data.r#type != kind {
        return Err(Refused::Kind);
    }
    if data.origin != site.origin || data.cross_origin {
        return Err(Refused::Origin);
    }
    let challenge = URL_SAFE_NO_PAD.decode(&data.challenge).map_err(|_| Refused::Challenge)?;
    known(&challenge).ok_or(Refused::Challenge)
}

fn signed_bytes(authenticator_data: &[u8], client_data: &[u8]) -> Vec<u8> {
    [authenticator_data, &Sha256::digest(client_data)[..]].concat()
}

/// What an authenticator found.
struct Found<'a> {
    sign_count: u32,
    /// What it calls a new key, and the key.
    credential: Option<(&'a [u8], &'a [u8])>,
}

impl<'a> Found<'a> {
    fn read(site: &Site, data: &'a [u8]) -> Result<Self, Refused> {
        let (head, mut rest) = data.split_first_chunk::<37>().ok_or(Refused::Unreadable)?;
        let [host @ .., flags, c3, c2, c1, c0] = head;
        let has = |flag| flags & flag != 0;
        if *host != Sha256::digest(site.host.as_bytes())[..] {
            return Err(Refused::Host);
        }
        if !has(PRESENT) {
            return Err(Refused::Absent);
        }
        if !has(VERIFIED) {
            return Err(Refused::Unverified);
        }
        let mut credential = None;
        if has(WITH_KEY) {
            let (name, after) = name(rest).ok_or(Refused::Unreadable)?;
            let (_, end) = cbor::read(after).ok_or(Refused::Unreadable)?;
            credential = Some((name, &after[..after.len() - end.len()]));
            rest = end;
        }
        if has(WITH_EXTENSIONS) {
            let Some((Value::Map(_), end)) = cbor::read(rest) else { return Err(Refused::Unreadable) };
            rest = end;
        }
        if !rest.is_empty() || (has(BACKED_UP) && !has(MAY_BE_BACKED_UP)) {
            return Err(Refused::Unreadable);
        }
        Ok(Found { sign_count: u32::from_be_bytes([*c3, *c2, *c1, *c0]), credential })
    }
}

/// What a new key is called; it stands after the model of the authenticator, which nobody asked for.
fn name(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let ([_model @ .., high, low], rest) = bytes.split_first_chunk::<18>()?;
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    rest.split_at_checked(length).filter(|_| CREDENTIAL_BYTES.contains(&length))
}

/// There is no attestation, or the new key has signed itself, which browsers pass on.
fn must_be_its_own(
    format: &str,
    statement: &Value<'_>,
    key: &Key<'_>,
    message: &[u8],
) -> Result<(), Refused> {
    let Value::Map(entries) = statement else { return Err(Refused::Unreadable) };
    let part = |name| statement.at(&Value::Text(name));
    match (format, entries.len(), part("alg"), part("sig")) {
        ("none", 0, ..) => Ok(()),
        ("packed", 2, Some(Value::Integer(algorithm)), Some(Value::Bytes(signature)))
            if *algorithm == key.algorithm() =>
        {
            if key.verifies(message, signature) {
                Ok(())
            } else {
                Err(Refused::Signature)
            }
        }
        _ => Err(Refused::Attestation),
    }
}
