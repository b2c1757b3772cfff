//! Passwords: which ones are good enough, and their Argon2id hashes in PHC form.

use argon2::{
    Argon2, PasswordHash, PasswordHasher, PasswordVerifier, password_hash::SaltString,
    password_hash::rand_core::OsRng,
};
use engine::{Fault, blocking, seams::catalog::Email};
use tokio::sync::Semaphore;

/// Passwords that may be hashed at the same time: each takes 19 MB and a core.
const AT_ONCE: usize = 4;
/// Shorter ones are guessed too fast, whatever the hash.
pub const SHORTEST: usize = 8;
/// Longer ones only cost time.
const LONGEST: usize = 1000;
/// The hash of a password that nobody knows: compared with where there is no account, so that this takes as long as a
/// wrong password.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$YWJzZW50YWJzZW50YWJz$3b2E0ZJv6l0x1m1r8oJ0m2Zg1oT0kqk7l1wq0v8o1yM";

/// Passwords that are found sooner are refused. Whoever guesses at an account from everywhere has about 1,500 tries per day
/// (docs/accounts.md), so these take a year on average; `password1234` is among the first 12,000.
const FEWEST_GUESSES: f64 = 1e6;

/// Hashes and checks passwords off the async threads, a few at a time.
pub struct Passwords(Semaphore);

impl Default for Passwords {
    fn default() -> Self {
        Passwords(Semaphore::new(AT_ONCE))
    }
}

impl Passwords {
    /// Whether a password is the one of this hash.
    pub(crate) async fn verify(&self, password: &str, hash: Option<String>) -> Result<bool, Fault> {
        let _permit = self.0.acquire().await.map_err(Fault::internal)?;
        let password = password.to_string();
        let verify = move || verify(&password, hash.as_deref());
        // Whoever guesses costs a core's time; it comes out of what answers leave.
        blocking::aside(verify).await
    }

    /// The hash of a new password for the account of this address, or what is wrong with it.
    pub(crate) async fn hash(&self, password: &str, email: &Email) -> Result<String, Fault> {
        let _permit = self.0.acquire().await.map_err(Fault::internal)?;
        let (password, email) = (password.to_string(), email.to_string());
        let hashed = blocking::aside(move || hash(&password, &[&email])).await;
        hashed?.map_err(|wrong| Fault::invalid("password", wrong))
    }
}

/// Says what is wrong with a password, if anything. `about` is what guessers know of the account, such as its address.
fn check(password: &str, about: &[&str]) -> Result<(), String> {
    if password.chars().count() < SHORTEST {
        return Err(format!("a password must have at least {SHORTEST} characters"));
    }
    if password.len() > LONGEST {
        return Err(format!("a password can have at most {LONGEST} characters"));
    }
    let parts: Vec<&str> =
        about.iter().flat_map(|text| text.split('@')).chain(about.iter().copied()).collect();
    if zxcvbn::zxcvbn(password, &parts).guesses_log10() < FEWEST_GUESSES.log10() {
        return Err("this password is among the first that others would try; take several words \
                    that have nothing to do with each other"
            .into());
    }
    Ok(())
}

/// Hashes a password with a fresh salt, or says what is wrong with it. `about` is what guessers know of the account, such as
/// its address.
pub fn hash(password: &str, about: &[&str]) -> Result<String, String> {
    check(password, about)?;
    let salt = SaltString::generate(&mut OsRng);
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    hash.map(|hash| hash.to_string()).map_err(|error| error.to_string())
}

/// Whether a password is the one of this hash; takes the same time where there is none. Slow on purpose: not for the
/// async threads.
pub fn verify(password: &str, hash: Option<&str>) -> bool {
    let Ok(parsed) = PasswordHash::new(hash.unwrap_or(NOBODY)) else { return false };
    let fits =
        password.len() <= LONGEST && Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok();
    fits && hash.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_argon2id_salted_and_fits_only_its_password() {
        let (one, two) = (hash("correct horse", &[]).unwrap(), hash("correct horse", &[]).unwrap());
        assert!(one.starts_with("$argon2id$") && one != two);
        assert!(verify("correct horse", Some(&one)) && verify("correct horse", Some(&two)));
        assert!(!verify("correct hors", Some(&one)));
        assert!(!verify("correct horse", None) && PasswordHash::new(NOBODY).is_ok());
        assert!(hash("short", &[]).is_err() && hash(&"x".repeat(1001), &[]).is_err());
    }

    #[test]
    fn what_everybody_tries_first_is_no_password() {
        for common in [
            "password1234",
            "Password123!",
            "qwertyuiop",
            "12345678",
            "aaaaaaaaaaaa",
            "letmein2024",
            "summer2024",
        ] {
            assert!(check(common, &[]).is_err(), "{common}");
        }
        for own in ["ada.lovelace@example.org", "ada.lovelace", "ada.lovelace1"] {
            assert!(check(own, &["ada.lovelace@example.org"]).is_err(), "{own}");
        }
        for good in ["correct horse battery", "a new password", "tr0ub4dor&3"] {
            assert!(check(good, &["ada.lovelace@example.org"]).is_ok(), "{good}");
        }
    }
}
