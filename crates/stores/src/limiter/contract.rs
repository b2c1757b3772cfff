//! What every limiter must do, run against each of them.

use std::sync::Arc;

use engine::{
    ids::UserId,
    seams::limiter::{Limit, Limiter, Limits, Refusal},
};
use jiff::Timestamp;
use proptest::prelude::*;

use super::{Away, Memory, Valkey};
use crate::scaled;

const LIMITS: Limits =
    Limits { key: Limit { requests: 3, window_s: 60 }, user: Limit { requests: 5, window_s: 3600 } };

fn start() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn after(seconds: i64) -> Timestamp {
    Timestamp::from_second(start().as_second() + seconds).unwrap()
}

fn memory(folder: &tempfile::TempDir) -> Memory {
    Memory::open(LIMITS, &folder.path().join("limits")).unwrap()
}

/// The limiter under test: in memory, or one of several nodes on a server.
fn limiter(folder: &tempfile::TempDir, limits: Limits) -> Arc<dyn Limiter> {
    if !scaled::wanted() {
        return Arc::new(Memory::open(limits, &folder.path().join("limits")).unwrap());
    }
    let url = scaled::server("QUIRE_TEST_VALKEY").expect("a server");
    let name: u32 = rand::random();
    let journal = folder.path().join(format!("limits-{name}"));
    Arc::new(Valkey::new(&url, limits, Away::Refuse, &journal).unwrap())
}

#[tokio::test]
async fn a_window_opens_at_the_first_request_and_closes_after_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let limiter = limiter(&folder, LIMITS);
    let user = UserId::generate();
    for hit in 1..=3 {
        let verdict = limiter.take("k", user, after(hit)).await.unwrap();
        assert_eq!((verdict.refused, verdict.key.hits), (None, hit as u32));
        assert_eq!(verdict.key.resets_at, after(1 + 60));
        assert_eq!(verdict.user.resets_at, after(1 + 3600));
    }
    assert_eq!(limiter.take("k", user, after(60)).await.unwrap().refused, Some(Refusal::Key));
    let verdict = limiter.take("k", user, after(61)).await.unwrap();
    assert_eq!((verdict.refused, verdict.key.hits, verdict.user.hits), (None, 1, 4));
}

#[tokio::test]
async fn a_refused_request_counts_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let limiter = limiter(&folder, LIMITS);
    let user = UserId::generate();
    for _ in 0..10 {
        limiter.take("a", user, start()).await.unwrap();
    }
    let verdict = limiter.look("a", user, start()).await.unwrap();
    assert_eq!((verdict.key.hits, verdict.user.hits), (3, 3));
    for _ in 0..10 {
        limiter.take("b", user, start()).await.unwrap();
    }
    let verdict = limiter.take("b", user, start()).await.unwrap();
    assert_eq!((verdict.refused, verdict.key.hits, verdict.user.hits), (Some(Refusal::User), 2, 5));
}

#[tokio::test]
async fn the_users_window_goes_on_after_a_restart_and_the_keys_window_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let user = UserId::generate();
    let before = memory(&folder);
    before.take("k", user, start()).await.unwrap();
    before.take("k", user, start()).await.unwrap();
    // Not dropped: a killed process tidies nothing up either.
    let again = memory(&folder);
    let verdict = again.take("k", user, after(10)).await.unwrap();
    assert_eq!((verdict.key.hits, verdict.user.hits), (1, 3));
    assert_eq!(verdict.user.resets_at, after(3600));
}

#[tokio::test]
async fn a_window_of_a_clock_that_was_set_back_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let limiter = limiter(&folder, LIMITS);
    let user = UserId::generate();
    let next_year = after(365 * 86_400);
    for _ in 0..5 {
        limiter.take("k", user, next_year).await.unwrap();
        limiter.take("l", user, next_year).await.unwrap();
    }
    assert_eq!(limiter.take("k", user, next_year).await.unwrap().refused, Some(Refusal::Key));
    let verdict = limiter.take("k", user, start()).await.unwrap();
    assert_eq!((verdict.refused, verdict.key.hits, verdict.user.hits), (None, 1, 1));
    assert_eq!(verdict.user.resets_at, after(3600));
    if !scaled::wanted() {
        // Nor does the file bring it back.
        assert_eq!(memory(&folder).look("k", user, after(1)).await.unwrap().user.hits, 1);
    }
    // Clocks that differ a little count in one window.
    assert_eq!(limiter.take("k", user, after(-5)).await.unwrap().user.hits, 2);
}

#[tokio::test]
async fn closed_windows_give_their_slots_back() {
    let folder = tempfile::tempdir().unwrap();
    let limiter = memory(&folder);
    for round in 0..4 {
        for _ in 0..50 {
            limiter.take("k", UserId::generate(), after(round * 3600)).await.unwrap();
        }
    }
    let size = std::fs::metadata(folder.path().join("limits")).unwrap().len();
    assert!(size <= 51 * 32, "the journal grew to {size} bytes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exactly_the_limit_passes_under_concurrency() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        key: Limit { requests: 100, window_s: 60 },
        user: Limit { requests: 15_000, window_s: 86_400 },
    };
    // On a server it counts for three nodes at once.
    let first = limiter(&folder, limits);
    let nodes = match scaled::wanted() {
        true => [first.clone(), limiter(&folder, limits), limiter(&folder, limits)],
        false => [first.clone(), first.clone(), first.clone()],
    };
    let user = UserId::generate();
    let tasks: Vec<_> = (0..300)
        .map(|number| {
            let limiter = nodes[number % 3].clone();
            tokio::spawn(async move { limiter.take("k", user, start()).await.unwrap().refused.is_none() })
        })
        .collect();
    let mut passed = 0;
    for task in tasks {
        passed += usize::from(task.await.unwrap());
    }
    assert_eq!(passed, 100);
    assert_eq!(first.look("k", user, start()).await.unwrap().user.hits, 100);
}

proptest! {
    /// Against the plainest model: a list of the times that passed.
    #[test]
    fn agrees_with_a_list_of_counted_times(steps in prop::collection::vec((0usize..3, 0i64..40), 1..200)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let limiter = limiter(&folder, LIMITS);
        let user = UserId::generate();
        let mut key_windows = [None::<(i64, u32)>; 3];
        let mut user_window = None::<(i64, u32)>;
        let mut now = 0;
        for (key, wait) in steps {
            now += wait;
            let open = |window: Option<(i64, u32)>, length| window.filter(|(opened, _)| opened + length > now).unwrap_or((now, 0));
            let (key_opened, key_hits) = open(key_windows[key], 60);
            let (user_opened, user_hits) = open(user_window, 3600);
            let passes = key_hits < 3 && user_hits < 5;
            if passes {
                key_windows[key] = Some((key_opened, key_hits + 1));
                user_window = Some((user_opened, user_hits + 1));
            }
            let verdict = runtime.block_on(limiter.take(["a", "b", "c"][key], user, after(now))).unwrap();
            prop_assert_eq!(verdict.refused.is_none(), passes);
            prop_assert_eq!(verdict.key.hits, key_hits + u32::from(passes));
            prop_assert_eq!(verdict.user.hits, user_hits + u32::from(passes));
            prop_assert_eq!(verdict.key.resets_at, after(key_opened + 60));
        }
    }
}
