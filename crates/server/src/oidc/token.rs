//! ID tokens: whose signature they carry, and what they must say.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::{Deserialize, de::DeserializeOwned};

/// Clocks may differ by this many seconds.
const LEEWAY: i64 = 60;

/// The provider's keys.
#[derive(Clone, Deserialize)]
pub(super) struct KeySet {
    keys: Vec<Key>,
}

#[derive(Clone, Deserialize)]
struct Key {
    kty: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default, rename = "use")]
    usage: Option<String>,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
    #[serde(default)]
    crv: String,
    #[serde(default)]
    x: String,
    #[serde(default)]
    y: String,
}

#[derive(Deserialize)]
struct Head {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
}

/// What a token says of somebody.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Claims {
    iss: String,
    pub(super) sub: String,
    aud: Audience,
    #[serde(default)]
    azp: Option<String>,
    exp: i64,
    #[serde(default)]
    nonce: Option<String>,
    #[serde(default)]
    pub(super) email: Option<String>,
    #[serde(default)]
    pub(super) email_verified: bool,
    #[serde(default)]
    pub(super) name: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Claims {
    /// Whether the token is from whom we asked, for us, for this sign-in, and still valid.
    pub(super) fn check(
        &self,
        issuer: &str,
        client: &str,
        nonce: &str,
        now: i64,
    ) -> Result<(), &'static str> {
        let (ours, several) = match &self.aud {
            Audience::One(one) => (one == client, false),
            Audience::Many(many) => (many.iter().any(|one| one == client), many.len() > 1),
        };
        if self.iss != issuer {
            return Err("it is from another issuer");
        }
        if !ours || self.azp.as_deref().map_or(several, |party| party != client) {
            return Err("it is for another client");
        }
        if self.exp + LEEWAY <= now {
            return Err("expired");
        }
        if self.nonce.as_deref() != Some(nonce) {
            return Err("it belongs to another sign-in");
        }
        if self.sub.is_empty() {
            return Err("it names no subject");
        }
        Ok(())
    }
}

fn part<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

impl KeySet {
    /// Whether a key is here that the token may be signed with.
    pub(super) fn knows(&self, token: &str) -> bool {
        let head = token.split('.').next().and_then(part::<Head>);
        head.is_some_and(|head| self.candidates(&head).next().is_some())
    }

    /// Keys of the kind and name that the token's head asks for. A token without a name may be signed with any.
    fn candidates<'a>(&'a self, head: &'a Head) -> impl Iterator<Item = &'a Key> {
        let kind = match head.alg.as_str() {
            "RS256" => "RSA",
            "ES256" => "EC",
            _ => "",
        };
        self.keys.iter().filter(move |key| {
            key.kty == kind
                && key.usage.as_deref().is_none_or(|usage| usage == "sig")
                && (head.kid.is_none() || key.kid == head.kid)
        })
    }

    /// What a token says, if one of these keys signed it. Nothing but RS256 and ES256 is believed.
    pub(super) fn verify(&self, token: &str) -> Result<Claims, &'static str> {
        let (signed, signature) = token.rsplit_once('.').ok_or("no token")?;
        let (head, claims) = signed.split_once('.').ok_or("no token")?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "no signature")?;
        let head: Head = part(head).ok_or("no head")?;
        let good = self.candidates(&head).any(|key| key.signed(signed.as_bytes(), &signature));
        if !good {
            return Err("not signed by the provider");
        }
        part(claims).ok_or("no claims")
    }
}

impl Key {
    fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
        if self.kty == "RSA" {
            let key = RsaPublicKeyComponents { n: bytes(&self.n), e: bytes(&self.e) };
            return key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok();
        }
        let (x, y) = (bytes(&self.x), bytes(&self.y));
        if self.crv != "P-256" || x.len() != 32 || y.len() != 32 {
            return false;
        }
        let point = [&[4][..], &x, &y].concat();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use ring::{
        rand::SystemRandom,
        signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
    };
    use serde_json::{Value, json};

    use super::*;

    struct Signer(EcdsaKeyPair);

    impl Signer {
        fn new() -> Self {
            let random = SystemRandom::new();
            let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
            let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pair.as_ref(), &random);
            Signer(pair.unwrap())
        }

        fn keys(&self) -> KeySet {
            let point = self.0.public_key().as_ref();
            let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
            serde_json::from_value(json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "one", "use": "sig",
                "x": encode(&point[1..33]), "y": encode(&point[33..])}]}))
            .unwrap()
        }

        fn sign(&self, head: &Value, claims: &Value) -> String {
            let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let signed = format!("{}.{}", encode(head), encode(claims));
            let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
        }
    }

    fn claims() -> Value {
        json!({"iss": "https://id.example", "sub": "ada", "aud": "quire", "exp": 1_000, "nonce": "n",
            "email": "ada@example.org", "email_verified": true})
    }

    #[test]
    fn only_what_the_provider_signed_is_believed() {
        let (signer, other) = (Signer::new(), Signer::new());
        let head = json!({"alg": "ES256", "kid": "one"});
        let token = signer.sign(&head, &claims());
        let read = signer.keys().verify(&token).unwrap();
        assert_eq!((read.sub.as_str(), read.email_verified), ("ada", true));
        assert!(other.keys().verify(&token).is_err());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let (head_text, _) = signed.split_once('.').unwrap();
        let mut forged = claims();
        forged["sub"] = json!("eve");
        let forged = URL_SAFE_NO_PAD.encode(forged.to_string());
        assert!(signer.keys().verify(&format!("{head_text}.{forged}.{signature}")).is_err());
        for alg in ["none", "HS256", "RS256", "ES384"] {
            let token = signer.sign(&json!({"alg": alg, "kid": "one"}), &claims());
            assert!(signer.keys().verify(&token).is_err(), "{alg}");
        }
        assert!(!signer.keys().knows(&signer.sign(&json!({"alg": "ES256", "kid": "two"}), &claims())));
        for nonsense in ["", ".", "..", "a.b.c"] {
            assert!(signer.keys().verify(nonsense).is_err());
        }
    }

    #[test]
    fn a_token_must_be_for_us_and_for_now() {
        let check = |change: &dyn Fn(&mut Value), now| {
            let mut value = claims();
            change(&mut value);
            let claims: Claims = serde_json::from_value(value).unwrap();
            claims.check("https://id.example", "quire", "n", now)
        };
        assert_eq!(check(&|_| {}, 999), Ok(()));
        assert_eq!(check(&|_| {}, 1_060), Err("expired"));
        assert_eq!(
            check(&|value| value["iss"] = json!("https://other"), 0),
            Err("it is from another issuer")
        );
        assert_eq!(check(&|value| value["aud"] = json!("other"), 0), Err("it is for another client"));
        assert_eq!(
            check(&|value| value["aud"] = json!(["quire", "other"]), 0),
            Err("it is for another client")
        );
        assert_eq!(check(&|value| value["aud"] = json!(["quire"]), 0), Ok(()));
        assert_eq!(check(&|value| value["azp"] = json!("other"), 0), Err("it is for another client"));
        assert_eq!(check(&|value| value["nonce"] = json!("m"), 0), Err("it belongs to another sign-in"));
        assert_eq!(check(&|value| value["nonce"] = Value::Null, 0), Err("it belongs to another sign-in"));
    }
}
