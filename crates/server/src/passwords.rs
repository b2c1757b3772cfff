//! Passwords: Argon2id hashes in PHC form.

use argon2::{Argon2, PasswordHasher, password_hash::SaltString, password_hash::rand_core::OsRng};

/// Shorter ones are guessed too fast, whatever the hash.
const SHORTEST: usize = 8;

/// Hashes a password with a fresh salt, or says what is wrong with it.
pub fn hash(password: &str) -> Result<String, String> {
    if password.chars().count() < SHORTEST {
        return Err(format!("a password has at least {SHORTEST} characters"));
    }
    let salt = SaltString::generate(&mut OsRng);
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    hash.map(|hash| hash.to_string()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use argon2::{PasswordHash, PasswordVerifier};

    use super::*;

    #[test]
    fn a_hash_is_argon2id_salted_and_fits_only_its_password() {
        let (one, two) = (hash("correct horse").unwrap(), hash("correct horse").unwrap());
        assert!(one.starts_with("$argon2id$") && one != two);
        let parsed = PasswordHash::new(&one).unwrap();
        assert!(Argon2::default().verify_password(b"correct horse", &parsed).is_ok());
        assert!(Argon2::default().verify_password(b"correct hors", &parsed).is_err());
        assert!(hash("short").is_err());
    }
}
