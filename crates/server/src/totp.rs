//! Codes of authenticator apps (RFC 6238: SHA-1, six digits, thirty seconds), and recovery codes.

use engine::seams::catalog::SECRET_BYTES;
use rand::Rng;
use ring::hmac;

/// Seconds that a code is shown for.
const STEP: i64 = 30;
/// Steps that a clock may be off, either way.
const LENIENCE: i64 = 1;
/// Recovery codes that an account gets.
const RECOVERY_CODES: usize = 10;
/// Letters and digits that are not taken for each other.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A new secret.
pub(crate) fn new_secret() -> [u8; SECRET_BYTES] {
    rand::rng().random()
}

/// The secret as people type it into an app: Base32, which is letters and digits.
pub(crate) fn written(secret: &[u8; SECRET_BYTES]) -> String {
    const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    // Twenty bytes are thirty-two digits of five bits, without a rest.
    let five = |at: usize| {
        let (byte, bit) = (at * 5 / 8, at * 5 % 8);
        let next = secret.get(byte + 1).copied().unwrap_or(0);
        let pair = u16::from_be_bytes([secret[byte], next]);
        DIGITS[usize::from(pair >> (11 - bit)) & 31]
    };
    (0..SECRET_BYTES * 8 / 5).map(|at| char::from(five(at))).collect()
}

/// The code of a step.
fn code(secret: &[u8], step: i64) -> u32 {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let bytes = tag.as_ref();
    let at = usize::from(bytes[bytes.len() - 1] & 15);
    let number = u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    (number & 0x7fff_ffff) % 1_000_000
}

/// The step that a code is of, if it is of one near this second. Blanks in it do not matter.
pub(crate) fn step_of(secret: &[u8; SECRET_BYTES], typed: &str, second: i64) -> Option<i64> {
    let digits: String = typed.chars().filter(|letter| !letter.is_whitespace()).collect();
    let plain = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = digits.parse().ok().filter(|_| plain)?;
    let now = second.div_euclid(STEP);
    (now - LENIENCE..=now + LENIENCE).rev().find(|&step| code(secret, step) == number)
}

/// New recovery codes: fifty bits each, in two groups.
pub(crate) fn new_recovery_codes() -> Vec<String> {
    let letter = || char::from(LETTERS[rand::rng().random_range(0..LETTERS.len())]);
    let group = || (0..5).map(|_| letter()).collect::<String>();
    (0..RECOVERY_CODES).map(|_| format!("{}-{}", group(), group())).collect()
}

/// A recovery code as it was made, however it was typed.
pub(crate) fn recovery_code(typed: &str) -> String {
    let letters: String = typed.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    match letters.split_at_checked(5) {
        Some((first, second)) => format!("{first}-{second}"),
        None => letters,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8; 20] = b"12345678901234567890";

    #[test]
    fn codes_are_those_of_the_standard() {
        // RFC 6238, appendix B: the last six digits.
        for (second, expected) in [
            (59, 287_082),
            (1_111_111_109, 81_804),
            (1_111_111_111, 50_471),
            (1_234_567_890, 5_924),
            (2_000_000_000, 279_037),
            (20_000_000_000, 353_130),
        ] {
            assert_eq!(code(SECRET, second / STEP), expected, "{second}");
        }
        assert_eq!(written(SECRET), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }

    #[test]
    fn a_clock_may_be_off_by_one_step_and_no_more() {
        for (second, good) in [(-1, false), (0, true), (59, true), (89, true), (90, false)] {
            assert_eq!(step_of(SECRET, "287082", second).is_some(), good, "{second}");
        }
        assert_eq!(step_of(SECRET, " 287 082", 59), Some(1));
        for wrong in ["", "28708", "2870822", "x87082", "-87082", "+87082", "000000"] {
            assert_eq!(step_of(SECRET, wrong, 59), None, "{wrong}");
        }
    }

    #[test]
    fn a_recovery_code_is_known_however_it_is_typed() {
        let codes = new_recovery_codes();
        assert_eq!(codes.len(), 10);
        for code in codes {
            assert_eq!(recovery_code(&code.to_uppercase().replace('-', " ")), code);
        }
        for odd in ["", "ab", "ü"] {
            assert!(recovery_code(odd).len() < 11);
        }
    }
}
