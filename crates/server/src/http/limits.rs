//! The rate limit headers, and what a request over the limit is told.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use engine::{
    Fault, Reason,
    seams::limiter::{Limits, Refusal, Standing, Verdict},
};
use jiff::Timestamp;

const HITS: HeaderName = HeaderName::from_static("x-ratelimit-hits");
const REMAINING_KEY: HeaderName = HeaderName::from_static("x-ratelimit-remaining-key");
const REMAINING_USER: HeaderName = HeaderName::from_static("x-ratelimit-remaining-user");
const RESET_KEY: HeaderName = HeaderName::from_static("x-ratelimit-reset-key");
const RESET_USER: HeaderName = HeaderName::from_static("x-ratelimit-reset-user");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const CURRENT: HeaderName = HeaderName::from_static("ratelimit");

/// The headers of a request whose key was counted or refused.
pub fn write_headers(headers: &mut HeaderMap, limits: &Limits, verdict: &Verdict, now: Timestamp) {
    let remaining_key = limits.key.requests.saturating_sub(verdict.key.hits);
    let remaining_user = limits.user.requests.saturating_sub(verdict.user.hits);
    headers.insert(HITS, HeaderValue::from(verdict.key.hits));
    headers.insert(REMAINING_KEY, HeaderValue::from(remaining_key));
    headers.insert(REMAINING_USER, HeaderValue::from(remaining_user));
    headers.insert(RESET_KEY, HeaderValue::from(whole_second(verdict.key.resets_at)));
    headers.insert(RESET_USER, HeaderValue::from(whole_second(verdict.user.resets_at)));
    write_standard_headers(
        headers,
        limits,
        [(remaining_key, &verdict.key), (remaining_user, &verdict.user)],
        now,
    );
}

/// The headers of a request without a usable key, where none are there yet.
pub fn write_default_headers(headers: &mut HeaderMap, limits: &Limits, now: Timestamp) {
    if headers.contains_key(HITS) {
        return;
    }
    headers.insert(HITS, HeaderValue::from(0));
    headers.insert(REMAINING_KEY, HeaderValue::from(0));
    headers.insert(REMAINING_USER, HeaderValue::from(0));
    headers.insert(RESET_KEY, HeaderValue::from(now.as_second() + i64::from(limits.key.window_s)));
    headers.insert(RESET_USER, HeaderValue::from(now.as_second() + i64::from(limits.user.window_s)));
}

/// `RateLimit-Policy` and `RateLimit`, as in the IETF draft.
fn write_standard_headers(
    headers: &mut HeaderMap,
    limits: &Limits,
    [(key_left, key), (user_left, user)]: [(u32, &Standing); 2],
    now: Timestamp,
) {
    let policy = format!(
        r#""key";q={};w={}, "user";q={};w={}"#,
        limits.key.requests, limits.key.window_s, limits.user.requests, limits.user.window_s
    );
    let wait = |standing: &Standing| wait(standing.resets_at, now).as_millis().div_ceil(1000);
    let current = format!(r#""key";r={key_left};t={}, "user";r={user_left};t={}"#, wait(key), wait(user));
    for (name, text) in [(POLICY, policy), (CURRENT, current)] {
        headers.insert(name, HeaderValue::try_from(text).expect("digits and plain signs"));
    }
}

/// The answer to a request over a limit.
pub fn too_many(refusal: Refusal, limits: &Limits, verdict: &Verdict, now: Timestamp) -> Fault {
    let (reason, whose, limit, standing) = match refusal {
        Refusal::Key => (Reason::RateLimitKey, "this API key", limits.key, verdict.key),
        Refusal::User => (Reason::RateLimitUser, "this user account", limits.user, verdict.user),
    };
    let cause = format!(
        "{whose} has used its {} requests per {} seconds; try again when the window resets",
        limit.requests, limit.window_s
    );
    Fault::new(reason, cause).retry_after(wait(standing.resets_at, now))
}

fn wait(until: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis((until.as_millisecond() - now.as_millisecond()).max(0) as u64)
}

/// Rounded up: at the second named, the window has really reset, whichever limiter opened it.
fn whole_second(time: Timestamp) -> i64 {
    time.as_millisecond().div_euclid(1000) + i64::from(time.as_millisecond().rem_euclid(1000) > 0)
}

#[cfg(test)]
mod tests {
    use engine::seams::limiter::Limit;

    use super::*;

    const LIMITS: Limits = Limits {
        key: Limit { requests: 100, window_s: 60 },
        user: Limit { requests: 15_000, window_s: 86_400 },
    };

    #[test]
    fn resets_are_rounded_up_so_that_waiting_is_enough() {
        let now = Timestamp::from_millisecond(1_800_000_000_500).unwrap();
        let standing = |hits, milliseconds: i64| Standing {
            hits,
            resets_at: Timestamp::from_millisecond(1_800_000_000_500 + milliseconds).unwrap(),
        };
        let verdict = Verdict {
            refused: Some(Refusal::Key),
            key: standing(100, 10_250),
            user: standing(7, 80_000_000),
        };
        let mut headers = HeaderMap::new();
        write_headers(&mut headers, &LIMITS, &verdict, now);
        assert_eq!(headers["x-ratelimit-reset-key"], "1800000011");
        assert_eq!(headers["x-ratelimit-remaining-key"], "0");
        assert_eq!(headers["x-ratelimit-remaining-user"], "14993");
        assert_eq!(headers["ratelimit"], r#""key";r=0;t=11, "user";r=14993;t=80000"#);
        let fault = too_many(Refusal::Key, &LIMITS, &verdict, now);
        assert_eq!(fault.retry_after, Some(Duration::from_millis(10_250)));
    }
}
