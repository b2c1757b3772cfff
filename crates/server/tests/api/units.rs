//! Intelligence units: held before the work, charged once, exact under load and over a kill.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{extract::FromRequestParts, http::Request};
use engine::{
    apikey::ApiKey,
    ids::{BoxId, UserId},
    seams::catalog::{Account, Balance, Month, Operation},
};
use jiff::Timestamp;
use reqwest::Client;
use serde_json::{Value, json};
use server::{http::auth, payer::Payer};

use crate::{
    commands::{Served, json as command, quire},
    support::{Answer, TestApp, client, roomy, take_over},
};

/// A search that costs 1: words only, no closer look.
fn plain() -> Value {
    json!({"query": "warranty", "mode": "keyword", "rerank": false})
}

async fn search(app: &TestApp, box_id: BoxId, key: &str, body: Value) -> Answer {
    let answer = app.post(&format!("/boxes/{box_id}/retrieve-documents"), key, body).await;
    answer.must_be_well_formed();
    answer
}

async fn balance(app: &TestApp, user: UserId) -> Balance {
    let account = Account { user, unset_monthly: app.app.config.units.monthly };
    app.catalog.balance(account, Month::of(Timestamp::now())).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_is_charged_and_everything_agrees_on_it() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    app.text_file(box_id, &key, "a.txt", "The warranty lasts two years.").await;
    let first = search(&app, box_id, &key, json!({"query": "warranty"})).await;
    let usage = &first.body["data"]["usage"];
    assert_eq!(usage["intelligence_units_consumed"], 1, "one candidate, one passage: {first:?}");
    assert_eq!(usage["intelligence_units_remaining"], 999);
    let second = search(&app, box_id, &key, plain()).await;
    assert_eq!(second.body["data"]["usage"]["intelligence_units_consumed"], 1);
    let nothing = search(&app, box_id, &key, json!({"query": "warranty", "threshold": 1})).await;
    assert_eq!(nothing.body["data"]["documents"][0]["count"], 0);
    assert_eq!(nothing.body["data"]["usage"]["intelligence_units_consumed"], 1, "nothing found costs 1");

    let check = app.get("/check", &key).await.body["data"]["units"].clone();
    let resets_at = Month::of(Timestamp::now()).end().to_string();
    assert_eq!(check, json!({"monthly": 1000, "used": 3, "remaining": 997, "resets_at": resets_at}));
    let report = app.get("/usage", &key).await;
    report.must_be_well_formed();
    let today = jiff::Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).date().to_string();
    let prefix = ApiKey::parse(&key).unwrap().prefix().to_string();
    assert_eq!(
        report.body["data"],
        json!({
            "month": today[..7], "quota": 1000, "used": 3, "remaining": 997, "resets_at": resets_at,
            "per_day": [{"day": today, "calls": 3, "units": 3}],
            "per_key": [{"prefix": prefix, "name": "test", "calls": 3, "units": 3}],
            "per_operation": [{"operation": "search", "calls": 3, "units": 3}],
        })
    );
}

#[tokio::test]
async fn a_report_names_its_month_and_shows_nobody_elses() {
    let app = TestApp::start().await;
    let (_, box_id, key) = app.owner().await;
    search(&app, box_id, &key, plain()).await;
    let past = app.get("/usage?month=2024-02", &key).await.body["data"].clone();
    assert_eq!((&past["month"], &past["used"]), (&json!("2024-02"), &json!(0)));
    assert_eq!((&past["resets_at"], &past["per_day"]), (&json!("2024-03-01T00:00:00Z"), &json!([])));
    for wrong in ["2026-13", "november", "2026-11-01", ""] {
        let answer = app.get(&format!("/usage?month={wrong}"), &key).await;
        assert_eq!(
            (answer.verdict().as_str(), &answer.body["error"]["param"]),
            ("400 B1004 invalid_parameter", &json!("month"))
        );
    }
    let stranger = app.user("stranger@example.org").await;
    let theirs = app.key(stranger).await;
    assert_eq!(app.get("/usage", &theirs).await.body["data"]["used"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_simultaneous_searches_exactly_the_quota_passes() {
    let app = Arc::new(TestApp::start().await);
    let (owner, box_id, key) = app.owner().await;
    app.catalog.set_user_units(owner, 25).await.unwrap();
    let tasks: Vec<_> = (0..60)
        .map(|_| {
            let (app, key) = (app.clone(), key.clone());
            tokio::spawn(async move { search(&app, box_id, &key, plain()).await })
        })
        .collect();
    let mut consumed = 0;
    for task in tasks {
        let answer = task.await.unwrap();
        match answer.status {
            200 => consumed += answer.body["data"]["usage"]["intelligence_units_consumed"].as_u64().unwrap(),
            _ => assert_eq!(answer.verdict(), "402 B3107 units_exhausted"),
        }
    }
    let balance = balance(&app, owner).await;
    assert_eq!((consumed, balance.used, balance.held), (25, 25, 0));
}

#[tokio::test]
async fn too_little_left_is_refused_without_work_and_a_cap_makes_it_fit() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    app.catalog.set_user_units(owner, 2).await.unwrap();
    let many = json!({"query": "warranty", "top_k": 50, "context": 3});
    let refused = search(&app, box_id, &key, many.clone()).await;
    assert_eq!(refused.verdict(), "402 B3107 units_exhausted");
    assert_eq!(refused.body["error"]["type"], "insufficient_quota");
    assert!(refused.body["error"]["cause"].as_str().unwrap().contains("\"max_units\": 2"), "{refused:?}");
    assert_eq!(balance(&app, owner).await.used, 0);
    let mut capped = many;
    capped["max_units"] = json!(2);
    let capped = search(&app, box_id, &key, capped).await;
    assert_eq!(capped.body["data"]["usage"]["intelligence_units_consumed"], 1, "{capped:?}");
    let zero = search(&app, box_id, &key, json!({"query": "warranty", "max_units": 0})).await;
    assert_eq!(
        (zero.verdict().as_str(), &zero.body["error"]["param"]),
        ("400 B1004 invalid_parameter", &json!("max_units"))
    );
}

#[tokio::test]
async fn a_dry_run_tells_the_price_and_costs_nothing() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    for (body, max) in [
        (json!({"query": "warranty", "dry_run": true}), 1),
        (json!({"query": "warranty", "dry_run": true, "top_k": 50}), 2),
        (json!({"query": "warranty", "dry_run": true, "top_k": 50, "context": 3}), 3),
        (json!({"query": "warranty", "dry_run": true, "top_k": 50, "context": 3, "max_units": 3}), 2),
        (json!({"query": "warranty", "dry_run": true, "rerank": false}), 1),
    ] {
        let usage = search(&app, box_id, &key, body).await.body["data"]["usage"].clone();
        assert_eq!(usage["estimate"], json!({"min": 1, "max": max}));
        assert_eq!(usage["intelligence_units_consumed"], 0);
        assert_eq!(usage["intelligence_units_remaining"], 1000);
    }
    assert_eq!(balance(&app, owner).await.used, 0);
}

#[tokio::test]
async fn an_operator_may_answer_429_and_then_says_when() {
    let mut config = roomy();
    config.units.exhausted_status = 429;
    config.units.monthly = 0;
    let app = TestApp::with(config).await;
    let (_, box_id, key) = app.owner().await;
    let answer = search(&app, box_id, &key, plain()).await;
    assert_eq!(answer.verdict(), "429 B3107 units_exhausted");
    assert_eq!(answer.body["error"]["type"], "insufficient_quota");
    let left = Month::of(Timestamp::now()).end().as_second() - Timestamp::now().as_second();
    assert!((left - 5..=left + 5).contains(&answer.number("retry-after")));
    if left > 65 {
        assert_eq!(answer.header("x-should-retry"), "false");
    }
}

/// An operator's command is another process with its own connection to the store.
#[tokio::test]
async fn a_quota_set_by_another_process_counts_at_once() {
    let app = TestApp::start().await;
    let (owner, box_id, key) = app.owner().await;
    assert_eq!(search(&app, box_id, &key, plain()).await.status, 200);
    let beside = app.beside();
    beside.set_user_units(owner, 1).await.unwrap();
    assert_eq!(search(&app, box_id, &key, plain()).await.status, 402);
    assert_eq!(app.get("/check", &key).await.body["data"]["units"]["monthly"], 1);
    beside.set_user_units(owner, 2).await.unwrap();
    assert_eq!(search(&app, box_id, &key, plain()).await.status, 200);
}

#[tokio::test]
async fn a_call_that_fails_or_loses_its_client_costs_what_its_handler_says() {
    let app = TestApp::start().await;
    let (owner, _, key) = app.owner().await;
    let caller = auth::usable(&app.app, ApiKey::parse(&key).unwrap().prefix()).await.unwrap();
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.extensions.insert(caller);
    let payer = Payer::from_request_parts(&mut parts, &app.app).await.ok().unwrap();
    let reserve = || async { payer.reserve(Operation::Chat, 10).await.unwrap() };
    // Ended in the background: looked at again until nothing is held.
    let used = || async {
        loop {
            match balance(&app, owner).await {
                Balance { held: 0, used, .. } => return used,
                _ => tokio::task::yield_now().await,
            }
        }
    };

    let charge = reserve().await;
    assert_eq!(balance(&app, owner).await.held, 10);
    drop(charge);
    assert_eq!(used().await, 0, "dropped before anything was spent");
    let mut charge = reserve().await;
    charge.spent(4);
    drop(charge);
    assert_eq!(used().await, 4, "its client went away in the middle");
    let mut charge = reserve().await;
    charge.spent(4);
    charge.release().await.unwrap();
    assert_eq!(used().await, 4, "it failed");
    let usage = reserve().await.settle(99).await.unwrap();
    assert_eq!((usage.intelligence_units_consumed, used().await), (10, 14), "never more than was held");
}

/// Searches under an idempotency key of its own until there is an answer; `None` when the server is gone.
async fn search_once(client: &Client, url: &str, key: &str, name: usize) -> Option<Answer> {
    let request = client.post(url).bearer_auth(key).header("idempotency-key", format!("search-{name}"));
    let response = request.json(&plain()).send().await.ok()?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = serde_json::from_str(&response.text().await.ok()?).ok()?;
    Some(Answer { status, headers, body })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_and_asked_again_every_search_is_charged_once() {
    const SEARCHES: usize = 120;
    const QUOTA: u64 = 80;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    command(data, &["user", "add", "ada@example.org"]);
    let box_id = command(data, &["box", "add", "Papers", "--owner", "ada@example.org"])["boxId"].clone();
    let key = command(data, &["key", "add", "--user", "ada@example.org"])["key"].clone();
    let (box_id, key) = (box_id.as_str().unwrap(), key.as_str().unwrap());
    command(data, &["plan", "set", "ada@example.org", "--units", &QUOTA.to_string()]);
    let start = || {
        let mut serve = quire(data, &["serve", "--listen", "127.0.0.1:0"]);
        serve.env("QUIRE__LIMITS__KEY_REQUESTS", "100000");
        Served::start(serve)
    };

    let mut answers: Vec<Option<Answer>> = Vec::new();
    answers.resize_with(SEARCHES, || None);
    for kill in [true, true, false] {
        take_over(data).await;
        let mut server = start();
        let (client, base) = (client(data), format!("{}/api/public/v1", server.1));
        let url = format!("{base}/boxes/{box_id}/retrieve-documents");
        let answered = Arc::new(AtomicUsize::new(0));
        let waiting = (0..SEARCHES).filter(|&name| answers[name].is_none());
        let tasks: Vec<_> = waiting
            .map(|name| {
                let (client, url, key, answered) =
                    (client.clone(), url.clone(), key.to_string(), answered.clone());
                tokio::spawn(async move {
                    let answer = search_once(&client, &url, &key, name).await;
                    answered.fetch_add(1, Ordering::Relaxed);
                    (name, answer)
                })
            })
            .collect();
        if kill {
            while answered.load(Ordering::Relaxed) < 20 {
                tokio::time::sleep(Duration::from_micros(100)).await;
            }
            server.0.kill().unwrap();
        }
        for task in tasks {
            let (name, answer) = task.await.unwrap();
            // One that was refused may find units given back by a killed one.
            answers[name] = answer.filter(|answer| !kill || answer.status == 200);
        }
        if kill {
            continue;
        }
        let statuses = |status| answers.iter().flatten().filter(|answer| answer.status == status).count();
        assert_eq!((statuses(200), statuses(402)), (QUOTA as usize, SEARCHES - QUOTA as usize));
        let consumed = answers
            .iter()
            .flatten()
            .filter_map(|answer| answer.body["data"]["usage"]["intelligence_units_consumed"].as_u64());
        assert_eq!(consumed.sum::<u64>(), QUOTA);
        let check = client.get(format!("{base}/check")).bearer_auth(key).send().await.unwrap();
        assert_eq!(Answer::of(check).await.body["data"]["units"]["used"], QUOTA);
    }
}
