//! Passkeys, with an authenticator of the test's own: made, used, lied about, copied, removed.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use engine::{
    ids::{PasskeyId, UserId},
    seams::catalog::Subject,
};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Browser, PASSWORD, Page};
use crate::support::TestApp;

const EMAIL: &str = "ada@example.org";
const NOTHING: [(&str, &str); 0] = [];
/// Flags: somebody was there, and the authenticator knows who; a new key comes along.
const VERIFIED: u8 = 0b101;
const WITH_KEY: u8 = 0b100_0000;

fn text(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key in somebody's hand.
struct Authenticator {
    key: EcdsaKeyPair,
    credential: Vec<u8>,
    user: String,
}

/// What an authenticator and its browser say; tests make them lie.
#[derive(Clone)]
struct Said {
    kind: &'static str,
    challenge: String,
    origin: String,
    crossed: bool,
    host: &'static str,
    flags: u8,
    count: u32,
}

/// What makes it one.
type Lie = fn(&mut Said);

impl Said {
    fn honestly(app: &TestApp, kind: &'static str, challenge: &str) -> Self {
        Said {
            kind,
            challenge: challenge.into(),
            origin: app.url(""),
            crossed: false,
            host: "localhost",
            flags: VERIFIED,
            count: 0,
        }
    }

    fn client_data(&self) -> Vec<u8> {
        json!({
            "type": format!("webauthn.{}", self.kind),
            "challenge": self.challenge,
            "origin": self.origin,
            "crossOrigin": self.crossed,
        })
        .to_string()
        .into_bytes()
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        let host = Sha256::digest(self.host.as_bytes());
        [&host[..], &[self.flags | flags], &self.count.to_be_bytes()].concat()
    }
}

impl Authenticator {
    fn new(credential: u8) -> Self {
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let random = SystemRandom::new();
        let written = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(algorithm, written.as_ref(), &random).unwrap();
        Authenticator { key, credential: vec![credential; 32], user: String::new() }
    }

    /// What a browser sends of a new passkey.
    fn make(&self, said: &Said) -> Vec<(&'static str, String)> {
        let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
        let key = [&b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"[..], x, b"\x22\x58\x20", y].concat();
        let named = [&[0u8; 17][..], &[32], &self.credential, &key].concat();
        let data = [said.data(WITH_KEY), named].concat();
        let head = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58";
        let attestation = [&head[..], &[data.len() as u8], &data].concat();
        vec![
            ("name", "Work laptop".into()),
            ("client_data", text(said.client_data())),
            ("attestation", text(attestation)),
        ]
    }

    /// What a browser sends of one that signed.
    fn sign(&self, said: &Said) -> Vec<(&'static str, String)> {
        let (client_data, data) = (said.client_data(), said.data(0));
        let message = [&data[..], &Sha256::digest(&client_data)[..]].concat();
        let signature = self.key.sign(&SystemRandom::new(), &message).unwrap();
        vec![
            ("credential", text(&self.credential)),
            ("client_data", text(client_data)),
            ("authenticator_data", text(data)),
            ("signature", text(signature)),
            ("user", self.user.clone()),
            ("next", "/search".into()),
        ]
    }

    /// Signs in honestly, saying that it has signed so often.
    async fn sign_in(&self, app: &TestApp, browser: &mut Browser, count: u32) -> Page {
        let challenge = asked(browser, "/sign-in/passkey/begin", &NOTHING).await;
        let said = Said { count, ..Said::honestly(app, "get", &challenge) };
        send(browser, "/sign-in/passkey", &self.sign(&said)).await
    }
}

async fn send(browser: &mut Browser, path: &str, fields: &[(&'static str, String)]) -> Page {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    browser.post(path, &fields).await
}

/// What the server asks a browser for.
async fn options(browser: &mut Browser, path: &str, fields: &[(&str, &str)]) -> Value {
    let page = browser.post(path, fields).await;
    assert_eq!(page.status, 200, "{page:?}");
    serde_json::from_str(&page.text).unwrap()
}

async fn asked(browser: &mut Browser, path: &str, fields: &[(&str, &str)]) -> String {
    options(browser, path, fields).await["challenge"].as_str().unwrap().to_string()
}

const PROOF: [(&str, &str); 2] = [("name", "Work laptop"), ("current", PASSWORD)];

/// Somebody with a password who is signed in.
async fn somebody(app: &TestApp, email: &str) -> (UserId, Browser) {
    let user = app.person(email).await;
    (user, Browser::of(app, user).await)
}

/// Adds a passkey to the account that a browser is signed in to.
async fn added(app: &TestApp, browser: &mut Browser, number: u8) -> Authenticator {
    let asked = options(browser, "/account/passkeys/begin", &PROOF).await;
    let mut authenticator = Authenticator::new(number);
    authenticator.user = asked["user"]["id"].as_str().unwrap().into();
    let said = Said::honestly(app, "create", asked["challenge"].as_str().unwrap());
    let page = send(browser, "/account/passkeys", &authenticator.make(&said)).await;
    assert_eq!(page.location(), "/account/passkeys?done=passkey-added", "{page:?}");
    authenticator
}

async fn is_inside(browser: &mut Browser) -> bool {
    browser.get("/").await.status == 200
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_passkey_signs_in_whoever_added_it_without_password_or_code() {
    let app = TestApp::start().await;
    let (ada, mut browser) = somebody(&app, EMAIL).await;
    app.catalog.set_user_operator(ada, true).await.unwrap();
    let asked = options(&mut browser, "/account/passkeys/begin", &PROOF).await;
    assert_eq!((&asked["rp"]["id"], &asked["user"]["name"]), (&json!("localhost"), &json!(EMAIL)));
    assert_eq!(asked["authenticatorSelection"]["userVerification"], "required");
    assert_eq!(asked["excludeCredentials"], json!([]));
    let authenticator = added(&app, &mut browser, 1).await;
    let page = browser.get("/account/passkeys").await;
    assert!(page.text.contains("Work laptop") && page.text.contains("for localhost"), "{page:?}");
    let asked = options(&mut browser, "/account/passkeys/begin", &PROOF).await;
    assert_eq!(asked["excludeCredentials"][0]["id"], text([1u8; 32]), "a device makes no second one");

    // Even where the password alone would not do.
    let recovery = Sha256::digest(b"aaaaa-bbbbb").into();
    app.catalog.offer_second_factor(ada, [9; 20]).await.unwrap();
    app.catalog.confirm_second_factor(ada, 1, vec![recovery]).await.unwrap();
    let mut other = Browser::new(&app);
    let page = authenticator.sign_in(&app, &mut other, 0).await;
    assert_eq!((page.status, page.location()), (303, "/search"), "{page:?}");
    assert!(is_inside(&mut other).await);
    let page = other.get("/account/passkeys").await;
    assert!(page.text.contains("last used"), "{page:?}");
    let page = browser.get("/operator/audit").await;
    for line in ["can sign in with the passkey Work laptop", "with a passkey"] {
        assert!(page.text.contains(line), "{line}: {page:?}");
    }

    // Whoever adds another, which would make the code needless, needs one.
    let page = browser.post("/account/passkeys/begin", &PROOF).await;
    assert_eq!(page.status, 400, "{page:?}");
    let with_code = [PROOF[0], PROOF[1], ("code", "aaaaa-bbbbb")];
    options(&mut browser, "/account/passkeys/begin", &with_code).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_lies_about_a_passkey_is_not_let_in() {
    let app = TestApp::start().await;
    let (_, mut ada) = somebody(&app, EMAIL).await;
    let (_, mut eve) = somebody(&app, "eve@example.org").await;
    let (hers, eves) = (added(&app, &mut ada, 1).await, added(&app, &mut eve, 2).await);
    let mut elsewhere = Browser::new(&app);
    let of_another_browser = asked(&mut elsewhere, "/sign-in/passkey/begin", &NOTHING).await;
    let lies: [(&str, Lie); 9] = [
        ("another site", |said| said.origin = "https://evil.example".into()),
        ("another port", |said| said.origin = "https://localhost".into()),
        ("inside another site's page", |said| said.crossed = true),
        ("a new passkey", |said| said.kind = "create"),
        ("another host", |said| said.host = "evil.example"),
        ("nobody was there", |said| said.flags = 0b100),
        ("nobody was verified", |said| said.flags = 0b001),
        ("a challenge of one's own", |said| said.challenge = text([7u8; 72])),
        ("no challenge", |said| said.challenge.clear()),
    ];
    let mut browser = Browser::new(&app);
    for (lie, change) in lies {
        let challenge = asked(&mut browser, "/sign-in/passkey/begin", &NOTHING).await;
        let mut said = Said::honestly(&app, "get", &challenge);
        change(&mut said);
        let page = send(&mut browser, "/sign-in/passkey", &hers.sign(&said)).await;
        assert_eq!(page.status, 403, "{lie}: {page:?}");
        assert!(!is_inside(&mut browser).await, "{lie}");
        // The same without the lie; that also makes the wrong try forgotten.
        assert_eq!(hers.sign_in(&app, &mut Browser::new(&app), 0).await.status, 303, "{lie}");
    }
    let challenge = asked(&mut browser, "/sign-in/passkey/begin", &NOTHING).await;
    let honest = Said::honestly(&app, "get", &challenge);
    let replaced = |name: &str, value: String| {
        let mut fields = hers.sign(&honest);
        fields.iter_mut().find(|(found, _)| *found == name).unwrap().1 = value;
        fields
    };
    let to_add = asked(&mut eve, "/account/passkeys/begin", &PROOF).await;
    for (lie, fields) in [
        ("eve's key as hers", replaced("signature", eves.sign(&honest)[3].1.clone())),
        ("eve's passkey as hers", replaced("credential", text(&eves.credential))),
        ("hers as eve's account", replaced("user", eves.user.clone())),
        ("hers as nobody's account", replaced("user", String::new())),
        ("no passkey that is known", replaced("credential", text([3u8; 32]))),
        ("not even text", replaced("client_data", "%%%".into())),
        ("another browser's challenge", hers.sign(&Said { challenge: of_another_browser, ..honest.clone() })),
        ("a challenge to add one", hers.sign(&Said { challenge: to_add, ..honest.clone() })),
    ] {
        let page = send(&mut browser, "/sign-in/passkey", &fields).await;
        assert_eq!(page.status, 403, "{lie}: {page:?}");
        assert!(!is_inside(&mut browser).await, "{lie}");
        assert_eq!(hers.sign_in(&app, &mut Browser::new(&app), 0).await.status, 303, "{lie}");
    }
    let page = send(&mut browser, "/sign-in/passkey", &hers.sign(&honest)).await;
    assert_eq!(page.status, 303, "no lie: {page:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_challenge_is_answered_once_and_a_copied_passkey_is_noticed() {
    let app = TestApp::start().await;
    let (_, mut ada) = somebody(&app, EMAIL).await;
    let authenticator = added(&app, &mut ada, 1).await;
    let mut browser = Browser::new(&app);
    let challenge = asked(&mut browser, "/sign-in/passkey/begin", &NOTHING).await;
    let seen = authenticator.sign(&Said::honestly(&app, "get", &challenge));
    let token = browser.cookie.clone();
    assert_eq!(send(&mut browser, "/sign-in/passkey", &seen).await.status, 303);
    // Somebody who copied all that the browser had and sent.
    let mut thief = Browser { cookie: token, ..Browser::new(&app) };
    let page = send(&mut thief, "/sign-in/passkey", &seen).await;
    assert_eq!(page.status, 403, "{page:?}");
    assert!(!is_inside(&mut thief).await);

    let counting = added(&app, &mut ada, 2).await;
    for (count, status) in [(6, 303), (6, 403), (5, 403), (0, 403), (7, 303)] {
        let page = counting.sign_in(&app, &mut Browser::new(&app), count).await;
        assert_eq!(page.status, status, "{count}: {page:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_passkey_that_was_removed_or_whose_account_is_disabled_lets_nobody_in() {
    let app = TestApp::start().await;
    let (ada, mut browser) = somebody(&app, EMAIL).await;
    let (_, mut eve) = somebody(&app, "eve@example.org").await;
    let (first, second) = (added(&app, &mut browser, 1).await, added(&app, &mut browser, 2).await);
    app.catalog.set_user_disabled(ada, true).await.unwrap();
    assert_eq!(first.sign_in(&app, &mut Browser::new(&app), 0).await.status, 403);
    app.catalog.set_user_disabled(ada, false).await.unwrap();
    assert_eq!(first.sign_in(&app, &mut browser, 0).await.status, 303);

    let id = app.catalog.passkeys_of(ada).await.unwrap()[0].id.to_string();
    let off = "/account/passkeys/remove";
    let proof = ("current", PASSWORD);
    assert_eq!(eve.post(off, &[("passkey", id.as_str()), proof]).await.status, 404, "it is not hers");
    let unknown = PasskeyId::generate().to_string();
    assert_eq!(browser.post(off, &[("passkey", unknown.as_str()), proof]).await.status, 404);
    let wrong = ("current", "not it at all");
    assert_eq!(browser.post(off, &[("passkey", id.as_str()), wrong]).await.status, 403);
    assert_eq!(first.sign_in(&app, &mut Browser::new(&app), 0).await.status, 303, "still there");
    let page = browser.post_and_look(off, &[("passkey", id.as_str()), proof]).await;
    assert!(page.text.contains("The passkey has been removed."), "{page:?}");
    assert_eq!(first.sign_in(&app, &mut Browser::new(&app), 0).await.status, 403);
    assert_eq!(second.sign_in(&app, &mut Browser::new(&app), 0).await.status, 303, "the other stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_passkey_is_added_by_whoever_knows_the_password_on_our_page() {
    let app = TestApp::start().await;
    let (ada, mut browser) = somebody(&app, EMAIL).await;
    let (_, mut eve) = somebody(&app, "eve@example.org").await;
    let begin = "/account/passkeys/begin";
    for (fields, status) in [
        (vec![("name", "mine")], 403),
        (vec![("name", "mine"), ("current", "not it at all")], 403),
        (vec![("name", " "), ("current", PASSWORD)], 400),
    ] {
        assert_eq!(browser.post(begin, &fields).await.status, status, "{fields:?}");
    }
    let (of_eve, to_sign_in) =
        (asked(&mut eve, begin, &PROOF).await, asked(&mut browser, "/sign-in/passkey/begin", &NOTHING).await);
    let challenge = asked(&mut browser, begin, &PROOF).await;
    let honest = Said::honestly(&app, "create", &challenge);
    let authenticator = Authenticator::new(1);
    for (lie, said) in [
        ("another site", Said { origin: "https://evil.example".into(), ..honest.clone() }),
        ("a signature", Said { kind: "get", ..honest.clone() }),
        ("another host", Said { host: "evil.example", ..honest.clone() }),
        ("nobody was verified", Said { flags: 0b001, ..honest.clone() }),
        ("eve's challenge", Said { challenge: of_eve, ..honest.clone() }),
        (
            "a challenge to sign in, for which nobody proved anything",
            Said { challenge: to_sign_in, ..honest.clone() },
        ),
    ] {
        let page = send(&mut browser, "/account/passkeys", &authenticator.make(&said)).await;
        assert_eq!(page.status, 409, "{lie}: {page:?}");
    }
    assert!(app.catalog.passkeys_of(ada).await.unwrap().is_empty());
    let page = send(&mut browser, "/account/passkeys", &authenticator.make(&honest)).await;
    assert_eq!(page.status, 303, "{page:?}");
    let again = Authenticator::new(2).make(&honest);
    assert_eq!(send(&mut browser, "/account/passkeys", &again).await.status, 409, "the challenge is used up");
    let hers = asked(&mut eve, begin, &PROOF).await;
    let taken = authenticator.make(&Said::honestly(&app, "create", &hers));
    assert_eq!(send(&mut eve, "/account/passkeys", &taken).await.status, 409, "it is another's");
    assert_eq!(app.catalog.passkeys_of(ada).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tries_with_passkeys_are_counted() {
    let app = TestApp::start().await;
    let (_, mut ada) = somebody(&app, EMAIL).await;
    let authenticator = added(&app, &mut ada, 1).await;
    let here = Subject::From(EMAIL.parse().unwrap(), "127.0.0.1".into());
    app.guessed_at(&[here]).await;
    let page = authenticator.sign_in(&app, &mut Browser::new(&app), 0).await;
    assert_eq!(page.status, 429, "even the right one waits: {page:?}");
    assert!(page.text.contains("Too many attempts") && !page.header("retry-after").is_empty(), "{page:?}");
    // What nobody's passkey is counts against the network.
    let mut browser = Browser::new(&app);
    assert_eq!(Authenticator::new(2).sign_in(&app, &mut browser, 0).await.status, 403);
    app.guessed_at(&[Subject::Network("127.0.0.1".into())]).await;
    assert_eq!(Authenticator::new(2).sign_in(&app, &mut browser, 0).await.status, 429);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_without_a_name_offers_no_passkeys() {
    let app = TestApp::start().await;
    let (_, mut ada) = somebody(&app, EMAIL).await;
    let offered = "data-passkey=\"use\" hidden";
    assert!(Browser::new(&app).get("/sign-in").await.text.contains(offered));
    assert!(ada.get("/account/passkeys").await.text.contains("data-passkey=\"make\" hidden"));
    let by_number = app.url("").replace("localhost", "127.0.0.1");
    let mut nobody = Browser { base: by_number.clone(), ..Browser::new(&app) };
    assert!(!nobody.get("/sign-in").await.text.contains(offered));
    assert_eq!(nobody.post("/sign-in/passkey/begin", &NOTHING).await.status, 409);
    ada.base = by_number;
    let page = ada.get("/account/passkeys").await;
    assert!(page.text.contains("not at its IP address") && !page.text.contains("data-passkey"), "{page:?}");
    assert_eq!(ada.post("/account/passkeys/begin", &PROOF).await.status, 409);
}
