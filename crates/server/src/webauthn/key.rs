//! Public keys of passkeys (COSE), and checking signatures with them.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

use super::{
    Refused,
    cbor::{self, Value},
};

/// ECDSA with P-256 and SHA-256.
const ES256: i64 = -7;
/// Ed25519.
const EDDSA: i64 = -8;
/// RSA with PKCS #1 v1.5 and SHA-256.
const RS256: i64 = -257;
/// What keys may be for, the best first.
pub const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];
/// Bytes of an RSA modulus: 2048 to 4096 bits.
const RSA_BYTES: std::ops::RangeInclusive<usize> = 256..=512;

/// A public key.
pub(super) enum Key<'a> {
    Es256 { point: Vec<u8> },
    Ed25519 { point: &'a [u8] },
    Rs256 { modulus: &'a [u8], exponent: &'a [u8] },
}

impl<'a> Key<'a> {
    /// The key that these bytes write, and nothing else.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Refused> {
        let Some((map @ Value::Map(_), [])) = cbor::read(bytes) else { return Err(Refused::Unreadable) };
        let number = |label| match map.at(&Value::Integer(label)) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        let bytes = |label| match map.at(&Value::Integer(label)) {
            Some(Value::Bytes(bytes)) => Some(*bytes),
            _ => None,
        };
        // Kind, algorithm and curve; an RSA key has its modulus where others have their curve.
        let key = match (number(1), number(3), number(-1)) {
            (Some(2), Some(ES256), Some(1)) => {
                let (x, y) = (bytes(-2).ok_or(Refused::Key)?, bytes(-3).ok_or(Refused::Key)?);
                let fits = x.len() == 32 && y.len() == 32;
                fits.then(|| Key::Es256 { point: [&[4], x, y].concat() })
            }
            (Some(1), Some(EDDSA), Some(6)) => {
                bytes(-2).filter(|point| point.len() == 32).map(|point| Key::Ed25519 { point })
            }
            (Some(3), Some(RS256), None) => bytes(-1)
                .zip(bytes(-2))
                .filter(|(modulus, exponent)| RSA_BYTES.contains(&modulus.len()) && exponent.len() <= 4)
                .map(|(modulus, exponent)| Key::Rs256 { modulus, exponent }),
            _ => None,
        };
        key.ok_or(Refused::Key)
    }

    /// Which of [`ALGORITHMS`] it is for.
    pub(super) fn algorithm(&self) -> i64 {
        match self {
            Key::Es256 { .. } => ES256,
            Key::Ed25519 { .. } => EDDSA,
            Key::Rs256 { .. } => RS256,
        }
    }

    /// Whether this key's other half made the signature.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Key::Es256 { point } => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(message, signature)
            }
            Key::Ed25519 { point } => UnparsedPublicKey::new(&ED25519, point).verify(message, signature),
            Key::Rs256 { modulus, exponent } => RsaPublicKeyComponents { n: *modulus, e: *exponent }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
        }
        .is_ok()
    }
}
