//! An `OpenID` provider of the test's own: real HTTP, real signatures, and it says of people what the test wants.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::{Value, json};
use server::config::Config;

use super::{Browser, Page, between};
use crate::support::roomy;

/// The provider, and the nonce of whoever is on the way.
pub(super) struct Provider {
    issuer: String,
    key: EcdsaKeyPair,
    /// The claims of whoever comes back next.
    next: Mutex<Value>,
}

impl Provider {
    pub(super) async fn start() -> Arc<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let pair = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(algorithm, pair.as_ref(), &random).unwrap();
        let provider = Arc::new(Provider { issuer, key, next: Mutex::new(Value::Null) });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(metadata))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        provider
    }

    /// Settings of a server that believes this provider.
    pub(super) fn config(&self) -> Config {
        let mut config = roomy();
        config.oidc.issuer = Some(self.issuer.clone());
        config.oidc.client_id = "quire".into();
        config.oidc.label = "the provider".into();
        config.oidc.create_accounts = true;
        config
    }

    /// Goes there from the page that `leaving` led away to, and comes back as this person.
    pub(super) async fn back(
        &self,
        browser: &mut Browser,
        leaving: &Page,
        subject: &str,
        email: &str,
    ) -> Page {
        // A form leads away by refreshing: browsers would not follow a redirect.
        let refresh = leaving.headers.get("refresh").map(|value| value.to_str().unwrap());
        let address =
            refresh.map_or_else(|| leaving.location(), |refresh| refresh.trim_start_matches("0;url="));
        assert!(address.starts_with(&self.issuer), "{leaving:?}");
        let parameter = |name: &str| between(&format!("{address}&"), &format!("{name}="), "&").to_string();
        assert_eq!(parameter("code_challenge_method"), "S256");
        *self.next.lock() = json!({"iss": self.issuer, "sub": subject, "aud": "quire", "exp": 4_000_000_000_i64,
            "nonce": parameter("nonce"), "email": email, "email_verified": true});
        let kept = leaving.headers.get_all("set-cookie").iter();
        let mut kept = kept.filter_map(|set| set.to_str().unwrap().strip_prefix("__Host-quire-oidc="));
        let kept = kept.next_back().unwrap().split(';').next().unwrap().to_string();
        let path = format!("/sign-in/oidc/callback?code=c&state={}", parameter("state"));
        let request = browser.request(reqwest::Method::GET, &path);
        browser.send(request.header("cookie", format!("__Host-quire-oidc={kept}"))).await
    }

    /// Signs in with the provider.
    pub(super) async fn sign_in(&self, browser: &mut Browser, subject: &str, email: &str) -> Page {
        let leaving = browser.get("/sign-in/oidc").await;
        self.back(browser, &leaving, subject, email).await
    }
}

async fn metadata(State(provider): State<Arc<Provider>>) -> Json<Value> {
    let issuer = &provider.issuer;
    Json(json!({"issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys")}))
}

async fn keys(State(provider): State<Arc<Provider>>) -> Json<Value> {
    let point = provider.key.public_key().as_ref();
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    Json(json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "one", "use": "sig",
        "x": encode(&point[1..33]), "y": encode(&point[33..])}]}))
}

async fn token(State(provider): State<Arc<Provider>>, form: String) -> Json<Value> {
    assert!(form.contains("code_verifier="), "the code is bound to who asked for it");
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = provider.next.lock().clone();
    let signed = format!("{}.{}", encode(&json!({"alg": "ES256", "kid": "one"})), encode(&claims));
    let signature = provider.key.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
    Json(json!({"id_token": format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))}))
}
