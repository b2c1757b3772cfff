//! API keys: `quire_<prefix>_<secret>`. Making one, and telling a well-formed one from a mistyped one without a look-up.
//!
//! Access tokens of programs look the same. What they are renewed with is a [`RefreshToken`].

use std::fmt;

use rand::{Rng, SeedableRng, distr::Uniform, rngs::StdRng};
use sha2::{Digest, Sha256};

/// The leading tag of every key.
pub const TAG: &str = "quire";
const PREFIX_LENGTH: usize = 8;
/// 32 base62 characters carry 190.5 bits.
const RANDOM_LENGTH: usize = 32;
/// Six base62 characters hold any 32-bit checksum.
const CHECKSUM_LENGTH: usize = 6;
const SECRET_LENGTH: usize = RANDOM_LENGTH + CHECKSUM_LENGTH;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// SHA-256 of a key's secret: all that is ever stored of it.
pub type SecretHash = [u8; 32];

/// A well-formed key. Its `Debug` shows the prefix only.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    prefix: String,
    secret: String,
}

impl ApiKey {
    /// A new random key.
    pub fn generate() -> Self {
        ApiKey::with_prefix(&random_base62(PREFIX_LENGTH))
    }

    /// A new secret behind a prefix that there is already.
    fn with_prefix(prefix: &str) -> Self {
        let random = random_base62(RANDOM_LENGTH);
        let secret = format!("{random}{}", checksum(prefix, &random));
        ApiKey { prefix: prefix.to_string(), secret }
    }

    /// Another key of the same prefix.
    #[must_use]
    pub fn renewed(&self) -> Self {
        ApiKey::with_prefix(&self.prefix)
    }

    /// Reads a key as sent; `None` where its form or checksum is wrong, so a typo costs no look-up.
    pub fn parse(text: &str) -> Option<Self> {
        let (tag, rest) = text.split_once('_')?;
        let (prefix, secret) = rest.split_once('_')?;
        let base62 = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let well_formed = tag == TAG
            && prefix.len() == PREFIX_LENGTH
            && secret.len() == SECRET_LENGTH
            && base62(prefix)
            && base62(secret);
        if !well_formed {
            return None;
        }
        let (random, check) = secret.split_at(RANDOM_LENGTH);
        (checksum(prefix, random) == check)
            .then(|| ApiKey { prefix: prefix.to_string(), secret: secret.to_string() })
    }

    /// Finds a key anywhere in a text, such as a URL that should not hold one.
    pub fn find(text: &str) -> Option<Self> {
        let length = TAG.len() + 1 + PREFIX_LENGTH + 1 + SECRET_LENGTH;
        text.match_indices(TAG).find_map(|(at, _)| ApiKey::parse(text.get(at..at + length)?))
    }

    /// The public part, which names the key.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// What is stored and compared.
    pub fn secret_hash(&self) -> SecretHash {
        Sha256::digest(self.secret.as_bytes()).into()
    }

    /// The whole key, to be shown once to the person who made it.
    pub fn reveal(&self) -> String {
        format!("{TAG}_{}_{}", self.prefix, self.secret)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{TAG}_{}_***", self.prefix)
    }
}

/// What a program gets its next access token with.
///
/// One half stays the same for as long as the program is let in, the other is new each time: an old one is thus known for what it is without a record of every one that there was.
#[derive(Clone, PartialEq, Eq)]
pub struct RefreshToken {
    family: ApiKey,
    turn: ApiKey,
}

impl RefreshToken {
    /// The first one beside an access token.
    pub fn beside(access: &ApiKey) -> Self {
        RefreshToken { family: access.renewed(), turn: access.renewed() }
    }

    /// The one after this.
    #[must_use]
    pub fn next(&self) -> Self {
        RefreshToken { family: self.family.clone(), turn: self.turn.renewed() }
    }

    /// A new access token of the same prefix.
    pub fn access(&self) -> ApiKey {
        self.turn.renewed()
    }

    /// Reads a token as sent; `None` where its form or a checksum is wrong.
    pub fn parse(text: &str) -> Option<Self> {
        let at = text.len().checked_sub(SECRET_LENGTH)?;
        let family = ApiKey::parse(text.get(..at)?)?;
        let turn = ApiKey::parse(&format!("{TAG}_{}_{}", family.prefix, text.get(at..)?))?;
        Some(RefreshToken { family, turn })
    }

    /// The public part, which names what was granted.
    pub fn prefix(&self) -> &str {
        self.family.prefix()
    }

    /// Of the half that stays.
    pub fn family_hash(&self) -> SecretHash {
        self.family.secret_hash()
    }

    /// Of the half that is new each time.
    pub fn turn_hash(&self) -> SecretHash {
        self.turn.secret_hash()
    }

    /// The whole token, to be given once to the program.
    pub fn reveal(&self) -> String {
        format!("{}{}", self.family.reveal(), self.turn.secret)
    }
}

impl fmt::Debug for RefreshToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.family.fmt(f)
    }
}

fn random_base62(length: usize) -> String {
    let index = Uniform::new(0, BASE62.len()).expect("62 is more than 0");
    let mut random = StdRng::from_os_rng();
    (0..length).map(|_| char::from(BASE62[random.sample(index)])).collect()
}

/// CRC-32 (IEEE) of `<prefix>_<random>`: catches slips, keeps nobody out.
fn checksum(prefix: &str, random: &str) -> String {
    let mut crc = u32::MAX;
    for byte in prefix.bytes().chain([b'_']).chain(random.bytes()) {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
    }
    let mut rest = !crc;
    let mut digits = [b'0'; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits.iter().map(|&digit| char::from(digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_key_reads_back_and_looks_like_a_key() {
        let key = ApiKey::generate();
        let text = key.reveal();
        assert_eq!(ApiKey::parse(&text), Some(key));
        let (head, secret) = text.rsplit_once('_').unwrap();
        assert_eq!(head.len(), "quire_".len() + 8);
        assert!(secret.len() >= 38);
    }

    #[test]
    fn every_single_slip_is_noticed() {
        let text = ApiKey::generate().reveal();
        for at in 0..text.len() {
            let mut slip = text.clone().into_bytes();
            slip[at] = if slip[at] == b'a' { b'b' } else { b'a' };
            let slip = String::from_utf8(slip).unwrap();
            assert_eq!(ApiKey::parse(&slip), None, "{slip}");
        }
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in ["", "_", "quire__", "quire_AAAAAAAA_", "quire", "Bearer", "quire_é_é"] {
            assert_eq!(ApiKey::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_key_is_found_inside_a_url() {
        let key = ApiKey::generate();
        let url = format!("/api/public/v1/check?tag=quire&key={}&x=1", key.reveal());
        assert_eq!(ApiKey::find(&url), Some(key));
        assert_eq!(ApiKey::find("/api/public/v1/check?key=quire_short"), None);
    }

    #[test]
    fn a_refresh_token_keeps_one_half_and_is_no_key() {
        let access = ApiKey::generate();
        let first = RefreshToken::beside(&access);
        let second = first.next();
        assert_eq!(RefreshToken::parse(&first.reveal()), Some(first.clone()));
        assert_eq!((first.prefix(), second.prefix()), (access.prefix(), access.prefix()));
        assert_eq!(first.family_hash(), second.family_hash());
        assert_ne!(first.turn_hash(), second.turn_hash());
        assert_ne!(first.access().secret_hash(), access.secret_hash());
        assert_eq!(ApiKey::parse(&first.reveal()), None);
        for text in
            [String::new(), access.reveal(), first.reveal()[1..].into(), format!("{}é", first.reveal())]
        {
            assert_eq!(RefreshToken::parse(&text), None, "{text}");
        }
        assert!(!format!("{first:?}").contains(&first.reveal()[15..]));
    }

    #[test]
    fn debug_hides_the_secret() {
        let key = ApiKey::generate();
        assert!(!format!("{key:?}").contains(&key.reveal()[15..]));
    }
}
