//! Sends events to webhooks, as Standard Webhooks has it: signed, tried again for three days, in order for each file. The queue is in
//! the catalog, so that any node goes on where another stopped.

use std::time::{Duration, Instant};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use engine::{
    Fault,
    seams::catalog::{Attempted, Delivery, Next, WebhookSecret},
    trace,
};
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use rand::Rng;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use sha2::Sha256;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    app::{App, spans::Kind},
    outside::Outside,
};

/// How often to look for something to send.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Events that are sent at the same time.
const AT_ONCE: usize = 16;
/// What a secret begins with; the rest is base64.
const SECRET_PREFIX: &str = "whsec_";
/// Waits before the second, third, … attempt, as Standard Webhooks suggests. After the last, the event is given up.
const WAITS_S: [u64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// What a receiver that is overloaded is spared at least.
const SPARED: Duration = Duration::from_secs(60);
/// The longest that a receiver can ask to be left alone.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A new secret: 256 bits.
pub(crate) fn new_secret() -> WebhookSecret {
    let mut bytes = [0; 32];
    rand::rng().fill(&mut bytes);
    WebhookSecret(format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes)))
}

/// Events that are being sent.
type Sending = JoinSet<Result<(), Fault>>;

/// Sends events until shutdown. A receiver that takes its time keeps its own places and nobody else's.
pub async fn run(app: App, shutdown: CancellationToken) {
    if app.webhooks.is_none() {
        return;
    }
    let mut sending = Sending::new();
    while !shutdown.is_cancelled() {
        if let Err(fault) = send_due(&app, Timestamp::now(), &mut sending).await {
            tracing::warn!(error = ?fault, "Could not send events; they will be tried again");
        }
        let full = sending.len() == AT_ONCE;
        tokio::select! {
            Some(sent) = sending.join_next(), if full => note(sent),
            () = tokio::time::sleep(LOOK_EVERY), if !full => {}
            () = shutdown.cancelled() => return,
        }
        while let Some(sent) = sending.try_join_next() {
            note(sent);
        }
    }
}

fn note(sent: Result<Result<(), Fault>, tokio::task::JoinError>) {
    if let Err(fault) = sent.map_err(Fault::internal).and_then(|sent| sent) {
        tracing::warn!(error = ?fault, "Could not send an event; it will be tried again");
    }
}

/// Sends the events that are due at `now`; says how many were tried.
pub async fn deliver(app: &App, now: Timestamp) -> Result<usize, Fault> {
    let mut sending = Sending::new();
    let tried = send_due(app, now, &mut sending).await?;
    while let Some(sent) = sending.join_next().await {
        sent.map_err(Fault::internal)??;
    }
    Ok(tried)
}

/// Begins to send the events that are due at `now`, as many as there is room for.
async fn send_due(app: &App, now: Timestamp, sending: &mut Sending) -> Result<usize, Fault> {
    let Some(outside) = &app.webhooks else { return Ok(0) };
    let room = u32::try_from(AT_ONCE.saturating_sub(sending.len())).unwrap_or(0);
    if room == 0 {
        return Ok(0);
    }
    let timeout = app.config.webhooks.timeout();
    // Twice as long as an attempt can take: whoever took one and died does not hold it for long.
    let taken = app.catalog.take_deliveries(now, timeout * 2 + SPARED, room).await?;
    let tried = taken.len();
    for delivery in taken {
        let (app, outside) = (app.clone(), outside.clone());
        sending.spawn(async move {
            let mut span = app.spans.below(delivery.trace, "webhook", Kind::Client);
            span.set("quire.event", delivery.event.to_string());
            let (attempted, next) = span.around(attempt(&outside, &delivery, timeout, now)).await;
            span.set("http.response.status_code", attempted.status);
            drop(span);
            app.catalog.finish_delivery(delivery.id, attempted, next).await
        });
    }
    Ok(tried)
}

/// One attempt, and what comes after it.
async fn attempt(
    outside: &Outside,
    delivery: &Delivery,
    timeout: Duration,
    now: Timestamp,
) -> (Attempted, Next) {
    let began = Instant::now();
    let sent = tokio::time::timeout(timeout, send(outside, delivery, now)).await;
    let answer = sent.unwrap_or_else(|_| Err("the receiver took too long to answer".into()));
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let next = after(&answer, delivery.tries, now, rand::rng().random_range(0.8..1.2));
    let (status, error) = match answer {
        Ok((status, _)) => (Some(status), None),
        Err(error) => (None, Some(error)),
    };
    (Attempted { at: now, duration_ms, status, error }, next)
}

/// What the receiver answers, and how long it wants to be left alone.
type Answer = Result<(u16, Option<Duration>), String>;

async fn send(outside: &Outside, delivery: &Delivery, now: Timestamp) -> Answer {
    let url = outside.parse(&delivery.url).map_err(|fault| fault.cause)?;
    let mut headers = HeaderMap::new();
    let timestamp = now.as_second();
    let signed: Vec<String> =
        delivery.secrets.iter().map(|secret| sign(secret, delivery, timestamp)).collect();
    for (name, value) in [
        ("webhook-id", delivery.event.to_string()),
        ("webhook-timestamp", timestamp.to_string()),
        ("webhook-signature", signed.join(" ")),
    ] {
        headers.insert(name, HeaderValue::try_from(value).expect("plain letters"));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(here) = trace::here() {
        headers.insert("traceparent", HeaderValue::try_from(here.traceparent()).expect("plain letters"));
    }
    let response = outside.post(url, headers, delivery.body.clone()).await.map_err(|fault| fault.cause)?;
    let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Ok((response.status().as_u16(), wait.map(Duration::from_secs)))
}

/// A signature over identifier, time and body; `v1` is HMAC with SHA-256.
fn sign(secret: &WebhookSecret, delivery: &Delivery, timestamp: i64) -> String {
    let key = STANDARD.decode(secret.0.trim_start_matches(SECRET_PREFIX)).unwrap_or_default();
    let signed = Hmac::<Sha256>::new_from_slice(&key)
        .expect("any length will do")
        .chain_update(format!("{}.{timestamp}.{}", delivery.event, delivery.body));
    format!("v1,{}", STANDARD.encode(signed.finalize().into_bytes()))
}

/// What comes after an attempt, the waits stretched by `jitter` so that not everything is tried again at once.
fn after(answer: &Answer, tries: u32, now: Timestamp, jitter: f64) -> Next {
    let wanted = match answer {
        Ok((200..=299, _)) => return Next::Done,
        Ok((410, _)) => return Next::Disable,
        Ok((429 | 502 | 504, wait)) => Some(wait.unwrap_or_default().clamp(SPARED, LONGEST_WAIT)),
        Ok((_, wait)) => wait.map(|wait| wait.min(LONGEST_WAIT)),
        Err(_) => None,
    };
    let Some(&seconds) = WAITS_S.get(tries as usize) else { return Next::GaveUp };
    let wait = Duration::from_secs(seconds).mul_f64(jitter).max(wanted.unwrap_or_default());
    Next::Again(now.saturating_add(wait).unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use engine::ids::{DeliveryId, EventId};

    use super::*;

    fn delivery(secret: &str) -> Delivery {
        Delivery {
            id: DeliveryId::generate(),
            event: EventId::generate(),
            url: "https://example.org/".into(),
            secrets: vec![WebhookSecret(secret.into())],
            body: r#"{"type":"file.ready"}"#.into(),
            tries: 0,
            trace: None,
        }
    }

    /// The HMAC of a fixed text under a fixed key, by another implementation: Python's `hmac`.
    #[test]
    fn a_signature_is_the_one_that_others_compute() {
        let id = "evt_00000000000000000000000000000001";
        let mut one = delivery("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        one.event = id.parse().unwrap();
        one.body = r#"{"test": 2432232314}"#.into();
        assert_eq!(sign(&one.secrets[0], &one, 1_614_265_330), EXPECTED);
    }

    const EXPECTED: &str = "v1,Oo7X23M0DdUUDYKZsBpY4JBJhvAkvrtfNsXbxVTc0kU=";

    #[test]
    fn waits_grow_and_end() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let failed: Answer = Ok((500, None));
        let mut before = 0;
        for tries in 0..WAITS_S.len() as u32 {
            let Next::Again(at) = after(&failed, tries, now, 1.0) else { panic!("given up after {tries}") };
            let wait = at.as_second() - now.as_second();
            assert!(wait > before, "{tries}");
            before = wait;
        }
        assert_eq!(after(&failed, WAITS_S.len() as u32, now, 1.0), Next::GaveUp);
        let total: u64 = WAITS_S.iter().sum();
        assert!((72 * 3600..96 * 3600).contains(&total), "three days and a little");
    }

    #[test]
    fn only_2xx_is_success_410_ends_it_and_wishes_are_heard() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let wait = |answer: Answer| match after(&answer, 0, now, 1.0) {
            Next::Again(at) => at.as_second() - now.as_second(),
            other => panic!("{other:?}"),
        };
        assert_eq!(after(&Ok((204, None)), 3, now, 1.0), Next::Done);
        assert_eq!(after(&Ok((410, None)), 0, now, 1.0), Next::Disable);
        assert_eq!(wait(Ok((302, None))), 5, "a redirect is a failure");
        assert_eq!(wait(Ok((404, None))), 5);
        assert_eq!(wait(Err("away".into())), 5);
        assert_eq!(wait(Ok((429, None))), 60);
        assert_eq!(wait(Ok((503, Some(Duration::from_secs(90))))), 90);
        assert_eq!(wait(Ok((503, Some(Duration::from_secs(1 << 40))))), 86_400);
    }

    #[test]
    fn a_secret_has_the_length_that_receivers_ask_for() {
        let secret = new_secret();
        let bytes = STANDARD.decode(secret.0.strip_prefix("whsec_").unwrap()).unwrap();
        assert_eq!(bytes.len(), 32);
        assert_ne!(secret, new_secret());
    }
}
