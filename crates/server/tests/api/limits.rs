//! Rate limits: exact, on every response, over restarts.

use engine::ids::UserId;
use jiff::Timestamp;
use reqwest::Method;
use server::config::Config;

use crate::support::{Answer, TestApp, roomy};

fn strict() -> Config {
    let mut config = Config::defaults();
    config.http.metrics_listen = None;
    config
}

async fn passed_of(app: &TestApp, key: &str, requests: usize) -> (usize, Vec<Answer>) {
    let tasks: Vec<_> = (0..requests)
        .map(|_| {
            let request = app.request(Method::GET, "/check", Some(key));
            tokio::spawn(async move { Answer::of(request.send().await.unwrap()).await })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    (answers.iter().filter(|answer| answer.status == 200).count(), answers)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_300_simultaneous_requests_exactly_100_pass() {
    let app = TestApp::with(strict()).await;
    let (_, _, key) = app.owner().await;
    let (passed, answers) = passed_of(&app, &key, 300).await;
    assert_eq!(passed, 100);
    let mut hits: Vec<i64> = Vec::new();
    for answer in &answers {
        answer.must_be_well_formed();
        assert_eq!(answer.number("x-ratelimit-hits") + answer.number("x-ratelimit-remaining-key"), 100);
        if answer.status == 200 {
            hits.push(answer.number("x-ratelimit-hits"));
            continue;
        }
        assert_eq!(answer.verdict(), "429 B3107 rate_limit_key");
        let wait = answer.number("retry-after");
        assert!((1..=60).contains(&wait), "{answer:?}");
        assert_eq!(answer.body["error"]["retry_after"], wait);
        assert!((wait * 1000 - 1000..=wait * 1000).contains(&answer.number("retry-after-ms")));
        assert!(!answer.headers.contains_key("x-should-retry"));
        let reset = answer.number("x-ratelimit-reset-key") - Timestamp::now().as_second();
        assert!((0..=60).contains(&reset));
    }
    hits.sort_unstable();
    assert_eq!(hits, (1..=100).collect::<Vec<_>>(), "each passed request has its own number");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_users_window_goes_on_after_a_restart() {
    let app = TestApp::with(strict()).await;
    let (owner, _, key) = app.owner().await;
    assert_eq!(passed_of(&app, &key, 150).await.0, 100);
    let reset = app.get("/check", &key).await.number("x-ratelimit-reset-user");
    let app = TestApp::on(app.stop().await, strict()).await;
    // Another key: whether the first one's window is remembered is the limiter's own business.
    let answer = app.get("/check", &app.key(owner).await).await;
    assert_eq!(answer.number("x-ratelimit-remaining-user"), 15_000 - 101);
    assert_eq!(answer.number("x-ratelimit-reset-user"), reset);
}

#[tokio::test]
async fn one_users_keys_share_the_users_limit() {
    let mut config = roomy();
    config.limits.user_requests = 5;
    let app = TestApp::with(config).await;
    let (owner, _, one) = app.owner().await;
    let two = app.key(owner).await;
    for n in 0..5 {
        let key = if n % 2 == 0 { &one } else { &two };
        assert_eq!(app.get("/check", key).await.status, 200);
    }
    let answer = app.get("/check", &two).await;
    assert_eq!(answer.verdict(), "429 B3107 rate_limit_user");
    assert_eq!(answer.header("x-should-retry"), "false");
    assert_eq!(answer.number("x-ratelimit-hits"), 2, "a refused request is not counted");
    let other: UserId = app.user("other@example.org").await;
    let other = app.key(other).await;
    assert_eq!(app.get("/check", &other).await.status, 200);
}

#[tokio::test]
async fn a_request_that_fails_counts_too_and_one_without_a_key_does_not() {
    let app = TestApp::with(strict()).await;
    let (_, _, key) = app.owner().await;
    assert_eq!(app.get("/nope", &key).await.number("x-ratelimit-hits"), 1);
    assert_eq!(app.get("/boxes/nope", &key).await.number("x-ratelimit-hits"), 2);
    let anonymous = Answer::of(app.request(Method::GET, "/check", None).send().await.unwrap()).await;
    assert_eq!(anonymous.number("x-ratelimit-hits"), 0);
    assert_eq!(anonymous.number("x-ratelimit-remaining-key"), 0);
    let answer = app.get("/check", &key).await;
    assert_eq!(answer.number("x-ratelimit-hits"), 3);
    assert_eq!(answer.header("ratelimit-policy"), r#""key";q=100;w=60, "user";q=15000;w=86400"#);
    assert!(answer.header("ratelimit").starts_with(r#""key";r=97;t="#));
}
