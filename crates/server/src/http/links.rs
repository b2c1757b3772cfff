//! Signed download links: what a token says, and who may still use it.

use engine::{Fault, Reason, ids::FileId};
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

use super::token;

/// File (16), expiry in seconds (8), prefix of the key (8), disposition (1), padding (1), signature (32): 66 bytes,
/// which base64 writes without a bit to spare.
const LENGTH: usize = 66;
const SIGNED: usize = 34;

/// What a link grants: one file, until a time, in the name of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The file.
    pub file: FileId,
    /// When the link expires.
    pub expires_at: Timestamp,
    /// The key that asked for it; the link ends with it.
    pub prefix: String,
    /// Shown in the browser rather than saved.
    pub inline: bool,
}

impl Link {
    /// The link as a token, signed.
    pub fn sign(&self, secret: &[u8]) -> String {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend_from_slice(self.file.as_bytes());
        bytes.extend_from_slice(&self.expires_at.as_second().to_be_bytes());
        bytes.extend_from_slice(self.prefix.as_bytes());
        bytes.extend_from_slice(&[u8::from(self.inline), 0]);
        let signature = signer(secret, &bytes).finalize().into_bytes();
        bytes.extend_from_slice(&signature);
        token::encode(&bytes)
    }

    /// The link in a token, if we signed it and it has not expired.
    pub fn verify(text: &str, secret: &[u8], now: Timestamp) -> Result<Self, Fault> {
        let refused =
            |cause: &str| Fault::new(Reason::KeyScope, cause).hint("create a new one with /signed-url");
        let bytes = token::decode(text).filter(|bytes| bytes.len() == LENGTH);
        let bytes = bytes.ok_or_else(|| refused("this is not a valid download link"))?;
        let (signed, signature) = bytes.split_at(SIGNED);
        // Compared in constant time.
        signer(secret, signed)
            .verify_slice(signature)
            .map_err(|_| refused("this is not a valid download link"))?;
        let link = Link {
            file: FileId::from_bytes(signed[..16].try_into().expect("16 bytes")),
            expires_at: Timestamp::from_second(i64::from_be_bytes(
                signed[16..24].try_into().expect("8 bytes"),
            ))
            .unwrap_or(Timestamp::MIN),
            prefix: String::from_utf8_lossy(&signed[24..32]).into_owned(),
            inline: signed[32] == 1,
        };
        if link.expires_at <= now { Err(refused("the download link has expired")) } else { Ok(link) }
    }
}

fn signer(secret: &[u8], bytes: &[u8]) -> Hmac<Sha256> {
    Hmac::<Sha256>::new_from_slice(secret).expect("any length will do").chain_update(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> Link {
        let expires_at = Timestamp::from_second(1_800_000_900).unwrap();
        Link { file: FileId::generate(), expires_at, prefix: "Ab3dEf7h".into(), inline: true }
    }

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    #[test]
    fn a_link_reads_back_until_it_expires() {
        let link = link();
        let token = link.sign(b"secret");
        assert_eq!(Link::verify(&token, b"secret", now()).unwrap(), link);
        assert!(Link::verify(&token, b"other", now()).is_err());
        assert!(Link::verify(&token, b"secret", link.expires_at).is_err());
    }

    #[test]
    fn every_changed_character_is_refused() {
        let token = link().sign(b"secret");
        for at in 0..token.len() {
            for replacement in [b'A', b'B', b'-', b'_', b'9', b'=', b'.'] {
                let mut changed = token.clone().into_bytes();
                if changed[at] != replacement {
                    changed[at] = replacement;
                    let changed = String::from_utf8(changed).unwrap();
                    assert!(Link::verify(&changed, b"secret", now()).is_err(), "{changed}");
                }
            }
        }
        for wrong in ["", "x", &token[1..], &format!("{token}A")] {
            assert!(Link::verify(wrong, b"secret", now()).is_err());
        }
    }
}
