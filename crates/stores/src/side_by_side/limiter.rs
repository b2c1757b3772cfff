//! The limiter in memory beside the one in Valkey.

use engine::{
    ids::UserId,
    seams::limiter::{Limit, Limiter, Limits, Verdict},
};
use jiff::Timestamp;
use proptest::prelude::*;

use super::runtime;
use crate::{
    limiter::{Away, Memory, Valkey},
    scaled,
};

const LIMITS: Limits =
    Limits { key: Limit { requests: 3, window_s: 60 }, user: Limit { requests: 7, window_s: 300 } };

/// How far a clock is set back, in milliseconds: days, which is longer than any sequence takes. By less, one of the two may
/// have forgotten a window that the other finds open once more.
const FAR_BACK: i64 = -400_000_000;

#[derive(Debug, Clone)]
enum Step {
    /// A request of a user's key, so many milliseconds after the last one; the clock may have been set back.
    Take {
        user: usize,
        key: usize,
        after_ms: i64,
    },
    Look {
        user: usize,
        key: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let after = prop_oneof![
        6 => 0i64..20_000,
        2 => 20_000i64..120_000,
        1 => Just(FAR_BACK),
    ];
    prop_oneof![
        5 => (0usize..2, 0usize..3, after).prop_map(|(user, key, after_ms)| Step::Take { user, key, after_ms }),
        1 => (0usize..2, 0usize..3).prop_map(|(user, key)| Step::Look { user, key }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn both_limiters_say_the_same(steps in prop::collection::vec(step(), 1..120)) {
        let Some(url) = scaled::server("QUIRE_TEST_VALKEY") else { return Ok(()) };
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::open(LIMITS, &folder.path().join("limits")).unwrap();
        let valkey = Valkey::new(&url, LIMITS, Away::Refuse, &folder.path().join("alone")).unwrap();
        let users = [UserId::generate(), UserId::generate()];
        let runtime = runtime();
        let mut now = Timestamp::now().as_millisecond();
        for step in steps {
            let both = async |ask: &Step, now: i64| -> (Verdict, Verdict) {
                let now = Timestamp::from_millisecond(now).unwrap();
                // A key is one user's.
                let named = |user: usize, key: usize| (format!("key-{user}-{key}"), users[user]);
                match *ask {
                    Step::Take { user, key, .. } => {
                        let (key, user) = named(user, key);
                        let mine = memory.take(&key, user, now).await.unwrap();
                        (mine, valkey.take(&key, user, now).await.unwrap())
                    }
                    Step::Look { user, key } => {
                        let (key, user) = named(user, key);
                        let mine = memory.look(&key, user, now).await.unwrap();
                        (mine, valkey.look(&key, user, now).await.unwrap())
                    }
                }
            };
            if let Step::Take { after_ms, .. } = step {
                now += after_ms;
            }
            let (mine, theirs) = runtime.block_on(both(&step, now));
            prop_assert_eq!(mine, theirs, "{:?} at {}", step, now);
        }
    }
}
