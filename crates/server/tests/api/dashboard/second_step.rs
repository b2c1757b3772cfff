//! The second step of signing in: set up, asked for, used once, guessed at, lost.

use ring::hmac;

use super::{Browser, PASSWORD, Page, between};
use crate::support::TestApp;

const EMAIL: &str = "ada@example.org";

/// What an authenticator app does with a key.
struct Authenticator(Vec<u8>);

impl Authenticator {
    fn of(page: &Page) -> Self {
        let written = between(&page.text, "id=\"second-step-secret\">", "<").replace(' ', "");
        let bits: String = written
            .chars()
            .map(|digit| format!("{:05b}", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".find(digit).unwrap()))
            .collect();
        let byte = |at: usize| u8::from_str_radix(&bits[at * 8..at * 8 + 8], 2).unwrap();
        Authenticator((0..bits.len() / 8).map(byte).collect())
    }

    /// The code that it shows so many half minutes from now.
    fn code(&self, later: i64) -> String {
        let step = jiff::Timestamp::now().as_second() / 30 + later;
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0);
        let tag = hmac::sign(&key, &step.to_be_bytes());
        let at = usize::from(tag.as_ref()[19] & 15);
        let number = u32::from_be_bytes(tag.as_ref()[at..at + 4].try_into().unwrap()) & 0x7fff_ffff;
        format!("{:06}", number % 1_000_000)
    }
}

/// Turns the step on for a new account, and gives its app and its recovery codes.
async fn set_up(app: &TestApp) -> (Browser, Authenticator, Vec<String>) {
    let user = app.user(EMAIL).await;
    let mut browser = Browser::of(app, user).await;
    assert_eq!(browser.post("/account/password", &[("password", PASSWORD)]).await.status, 303);
    let wrong = browser.post("/account/second-step/begin", &[("current", "not it at all")]).await;
    assert_eq!(wrong.status, 403, "{wrong:?}");
    let page = browser.post_and_look("/account/second-step/begin", &[("current", PASSWORD)]).await;
    let authenticator = Authenticator::of(&page);
    assert_eq!(browser.post("/account/second-step/confirm", &[("code", "000000x")]).await.status, 400);
    let code = authenticator.code(0);
    let page = browser.post_and_look("/account/second-step/confirm", &[("code", &code)]).await;
    let codes = between(&page.text, "<pre id=\"recovery-codes\">", "</pre>");
    let codes: Vec<String> = codes.lines().map(str::to_string).collect();
    assert_eq!(codes.len(), 10, "{page:?}");
    assert!(!browser.get("/account/second-step").await.text.contains(&codes[0]), "shown once");
    (browser, authenticator, codes)
}

async fn password(browser: &mut Browser) -> Page {
    browser.post("/sign-in", &[("email", EMAIL), ("password", PASSWORD)]).await
}

async fn code(browser: &mut Browser, code: &str) -> Page {
    browser.post("/sign-in/code", &[("code", code), ("next", "/search")]).await
}

async fn is_inside(browser: &mut Browser) -> bool {
    browser.get("/").await.status == 200
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_alone_lets_nobody_in_and_no_code_works_twice() {
    let app = TestApp::start().await;
    let (_, authenticator, recovery) = set_up(&app).await;
    let mut browser = Browser::new(&app);
    assert_eq!(browser.get("/sign-in/code").await.location(), "/sign-in?next=%2Fsign-in%2Fcode");
    let page = password(&mut browser).await;
    assert_eq!(page.location(), "/sign-in/code?next=%2F");
    assert!(!is_inside(&mut browser).await);
    assert!(browser.get("/sign-in/code").await.text.contains("Second step"));
    // The code that turned it on is used up, and so is every earlier one.
    for used in [authenticator.code(0), authenticator.code(-1)] {
        assert_eq!(code(&mut browser, &used).await.status, 401, "{used}");
    }
    let next = authenticator.code(1);
    let page = code(&mut browser, &next).await;
    assert_eq!((page.status, page.location()), (303, "/search"));
    assert!(is_inside(&mut browser).await);

    let mut thief = Browser::new(&app);
    password(&mut thief).await;
    assert_eq!(code(&mut thief, &next).await.status, 401, "seen over a shoulder, but used");
    assert!(!is_inside(&mut thief).await);

    let mut other = Browser::new(&app);
    password(&mut other).await;
    let typed = recovery[3].to_uppercase().replace('-', "");
    assert_eq!(code(&mut other, &typed).await.status, 303);
    assert!(other.get("/account/second-step").await.text.contains("9 recovery codes are left"));
    let mut again = Browser::new(&app);
    password(&mut again).await;
    assert_eq!(code(&mut again, &typed).await.status, 401, "once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ticket_is_of_one_browser_and_cannot_be_made_up() {
    let app = TestApp::start().await;
    let (_, authenticator, _) = set_up(&app).await;
    let mut browser = Browser::new(&app);
    password(&mut browser).await;
    let ticket = browser.step.clone().unwrap();
    let mut other = Browser::new(&app);
    other.get("/sign-in").await;
    let (user, rest) = ticket.split_once('.').unwrap();
    for forged in [ticket.clone(), format!("{user}.9{rest}"), format!("{user}.9999999999."), user.to_string()]
    {
        other.step = Some(forged);
        let page = code(&mut other, &authenticator.code(1)).await;
        assert!(page.location().starts_with("/sign-in"), "{page:?}");
        assert!(!is_inside(&mut other).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_knows_the_password_cannot_try_codes_for_ever() {
    let app = TestApp::start().await;
    let (_, authenticator, _) = set_up(&app).await;
    let mut thief = Browser::new(&app);
    let mut refused = 0;
    for _ in 0..12 {
        // A right password in between must not make the wrong codes forgotten.
        refused += u32::from(password(&mut thief).await.status == 429);
        refused += u32::from(code(&mut thief, "12345a").await.status == 429);
    }
    assert!(refused >= 12, "{refused} of 24");
    assert_eq!(code(&mut thief, &authenticator.code(1)).await.status, 429, "not even the right one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_password_by_link_still_takes_the_code_and_an_operator_can_take_the_step_away() {
    let app = TestApp::start().await;
    let (mut ada, authenticator, _) = set_up(&app).await;
    let operator = app.user("operator@example.org").await;
    app.catalog.set_user_operator(operator, true).await.unwrap();
    let mut operator = Browser::of(&app, operator).await;
    let users = app.catalog.users().await.unwrap();
    let id = users.iter().find(|user| user.email.as_str() == EMAIL).unwrap().id;
    let page = operator.post_and_look(&format!("/operator/users/{id}/password-link"), &[]).await;
    let token = between(&page.text, "welcome?token=", "<").to_string();
    let mut browser = Browser::new(&app);
    let fields = [("token", token.as_str()), ("password", "another fine password")];
    let page = browser.post("/welcome", &fields).await;
    assert!(page.location().starts_with("/sign-in/code"), "{page:?}");
    assert!(!is_inside(&mut browser).await);
    assert_eq!(code(&mut browser, &authenticator.code(1)).await.status, 303);

    let refused = ada.post(&format!("/operator/users/{id}/second-step/remove"), &[]).await;
    assert!(refused.is_refused(), "only operators: {refused:?}");
    let page = operator.post_and_look(&format!("/operator/users/{id}/second-step/remove"), &[]).await;
    assert!(page.text.contains("The second step has been turned off."), "{page:?}");
    let mut later = Browser::new(&app);
    let fields = [("email", EMAIL), ("password", "another fine password")];
    assert_eq!(later.post("/sign-in", &fields).await.location(), "/");
    assert!(is_inside(&mut later).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turning_it_off_takes_the_password_and_a_code() {
    let app = TestApp::start().await;
    let (mut browser, authenticator, _) = set_up(&app).await;
    let off = "/account/second-step/remove";
    assert_eq!(browser.post(off, &[("current", PASSWORD), ("code", "1")]).await.status, 400);
    assert_eq!(
        browser.post(off, &[("current", "wrong one"), ("code", &authenticator.code(1))]).await.status,
        403
    );
    assert_eq!(
        browser.post(off, &[("current", PASSWORD), ("code", &authenticator.code(1))]).await.status,
        303
    );
    assert_eq!(password(&mut Browser::new(&app)).await.location(), "/");
}
