//! The dashboard as a browser sees it, and as somebody who forges what a browser would send.

mod access;
mod asking;
mod choosing;
mod evaluating;
mod flows;
mod identity;
mod passkeys;
mod provider;
mod reading;
mod second_step;
mod signing_in;
mod speaking;

use engine::{
    access::Role,
    ids::{BoxId, UserId},
    seams::catalog::{NewSession, NewUser, Subject},
};
use jiff::Timestamp;
use reqwest::{Client, Method, RequestBuilder, header};
use sha2::{Digest, Sha256};

use crate::support::TestApp;

pub(crate) const PASSWORD: &str = "correct horse battery";

/// A page as it came.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: header::HeaderMap,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn location(&self) -> &str {
        self.header("location")
    }

    /// The token that the page's forms carry.
    fn csrf(&self) -> String {
        between(&self.text, "name=\"csrf\" content=\"", "\"").to_string()
    }

    /// Whether whoever asked was sent to sign in, or told that they may not.
    fn is_refused(&self) -> bool {
        self.status == 403 || self.status == 401 || self.location().starts_with("/sign-in")
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).unwrap_or_else(|| panic!("no {before} in {text}")) + before.len();
    let end = text[start..].find(after).unwrap() + start;
    &text[start..end]
}

/// A browser with its one cookie; follows no redirect.
pub(crate) struct Browser {
    client: Client,
    base: String,
    pub(crate) cookie: Option<String>,
    known: Option<String>,
    /// What the next page shall say.
    said: Option<String>,
    /// Whose password was right.
    pub(crate) step: Option<String>,
}

impl Browser {
    pub(crate) fn new(app: &TestApp) -> Self {
        let pem = std::fs::read(server::http::tls::certificate_path(app.folder.path())).unwrap();
        let certificate = reqwest::Certificate::from_pem(&pem).unwrap();
        let none = reqwest::redirect::Policy::none();
        let client = Client::builder().tls_certs_only([certificate]).redirect(none).build().unwrap();
        Browser { client, base: app.url(""), cookie: None, known: None, said: None, step: None }
    }

    /// A browser in which somebody is signed in already.
    pub(crate) async fn of(app: &TestApp, user: UserId) -> Self {
        let token = format!("token-of-{user}");
        let now = Timestamp::now();
        let session = NewSession {
            user,
            token: Sha256::digest(token.as_bytes()).into(),
            agent: "a test".into(),
            address: "127.0.0.1".into(),
            now,
            expires_at: Timestamp::from_second(now.as_second() + 3600).unwrap(),
        };
        app.catalog.begin_session(session).await.unwrap();
        Browser { cookie: Some(token), ..Browser::new(app) }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base));
        let mut cookies = vec!["other=1".to_string()];
        cookies.extend(self.cookie.iter().map(|cookie| format!("__Host-quire={cookie}")));
        cookies.extend(self.known.iter().map(|known| format!("__Host-quire-known={known}")));
        cookies.extend(self.said.iter().map(|said| format!("__Host-quire-said={said}")));
        cookies.extend(self.step.iter().map(|step| format!("__Host-quire-step={step}")));
        request.header("cookie", cookies.join("; "))
    }

    async fn send(&mut self, request: RequestBuilder) -> Page {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        for set in headers.get_all("set-cookie") {
            let pair = set.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            let kept = Some(value.to_string()).filter(|value| value != "gone");
            match name {
                "__Host-quire" => self.cookie = kept,
                "__Host-quire-known" => self.known = kept,
                "__Host-quire-said" => self.said = kept,
                "__Host-quire-step" => self.step = kept,
                _ => {}
            }
        }
        // An event stream has no end to wait for.
        let endless = headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let text = if endless { String::new() } else { response.text().await.unwrap() };
        Page { status, headers, text }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Page {
        let request = self.request(Method::GET, path);
        self.send(request).await
    }

    /// Opens an address as somebody who clicks a link: asks for a page to look at.
    pub(crate) async fn open(&mut self, path: &str) -> Page {
        let request =
            self.request(Method::GET, path).header("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
        self.send(request).await
    }

    /// The token that pages of this browser carry.
    async fn csrf(&mut self) -> String {
        let page = self.get("/").await;
        if page.status == 200 { page.csrf() } else { self.get("/sign-in").await.csrf() }
    }

    /// Sends a form as a page of ours would.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let token = self.csrf().await;
        let mut all = vec![("csrf", token.as_str())];
        all.extend_from_slice(fields);
        self.post_as_is(path, &all).await
    }

    /// Sends a form and looks at the page that it leads to.
    pub(crate) async fn post_and_look(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let page = self.post(path, fields).await;
        assert_eq!(page.status, 303, "{page:?}");
        let location = page.location().to_string();
        self.get(&location).await
    }

    async fn post_as_is(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let body = form(fields);
        let request = self.request(Method::POST, path);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        self.send(request).await
    }
}

fn form(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
                other => format!("%{other:02X}"),
            })
            .collect::<String>()
    };
    fields
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect::<Vec<_>>()
        .join("&")
}

impl TestApp {
    /// An account with a password.
    async fn person(&self, email: &str) -> UserId {
        let password_hash = Some(server::passwords::hash(PASSWORD, &[]).unwrap());
        let user = NewUser { email: email.parse().unwrap(), password_hash, plan: Default::default() };
        self.catalog.add_user(user).await.unwrap().id
    }

    /// Wrong passwords until whoever tries next has a quarter of an hour to wait, however slow this machine is.
    async fn guessed_at(&self, subjects: &[Subject]) {
        for number in 1..40 {
            let at = Timestamp::from_second(Timestamp::now().as_second() + number * 900).unwrap();
            self.catalog.count_try(subjects, at).await.unwrap();
        }
    }

    /// A member of a box, signed in.
    async fn member(&self, box_id: BoxId, email: &str, role: Role) -> (UserId, Browser) {
        let user = self.user(email).await;
        self.grant(box_id, user, role).await;
        (user, Browser::of(self, user).await)
    }
}
