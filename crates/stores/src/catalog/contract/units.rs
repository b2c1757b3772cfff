//! The ledger: never above the quota, never charged twice, nothing lost; over crashes too.

use engine::{
    Fault, Reason,
    access::{Operating, Role},
    ids::AttemptId,
    seams::catalog::{
        Account, AccountUse, Balance, Month, NewFile, NewReservation, Operation, Reservation, UsageLine, User,
    },
};
use jiff::Timestamp;
use proptest::prelude::*;

use super::{Fresh, attempts::begun, attempts::kept, fresh, manage, reason, upload};

const QUOTA: u64 = 20;

fn account(user: &User) -> Account {
    Account { user: user.id, unset_monthly: QUOTA }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn november() -> Month {
    "2026-11".parse().unwrap()
}

fn call(user: &User, most: u64) -> NewReservation {
    NewReservation {
        account: account(user),
        key: "AAAAAAAA".into(),
        operation: Operation::Search,
        most,
        attempt: None,
        now: time("2026-11-15T12:00:00Z"),
        expires_at: time("2026-11-15T13:00:00Z"),
    }
}

impl Fresh {
    async fn reserve(&self, user: &User, most: u64) -> Result<Reservation, Fault> {
        self.catalog.reserve_units(call(user, most)).await
    }

    async fn balance_of(&self, user: &User) -> Balance {
        self.catalog.balance(account(user), november()).await.unwrap()
    }

    /// What a killed process leaves behind, found by the next one.
    async fn crash(&mut self) {
        self.catalog = Box::new(self.place.open());
        self.catalog.release_abandoned_units(Timestamp::MAX).await.unwrap();
        self.catalog.free_abandoned_attempts(Timestamp::MAX).await.unwrap();
    }
}

fn balance(used: u64, held: u64) -> Balance {
    Balance { month: november(), monthly: QUOTA, used, held }
}

#[tokio::test]
async fn operators_see_what_each_account_used_and_holds() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (one, _) = (fresh.box_of(&ada).await, fresh.box_of(&ada).await);
    let (file, hers) = (NewFile { size: 700, ..upload("a.txt", "1", None) }, fresh.box_of(&eve).await);
    fresh.file(&one, file).await;
    fresh.catalog.grant(&manage(&hers), ada.id, Role::Admin).await.unwrap();
    fresh.file(&hers, NewFile { size: 50, ..upload("b.txt", "2", None) }).await;
    for most in [2, 3] {
        let reservation = fresh.reserve(&ada, 5).await.unwrap();
        fresh.catalog.settle_units(&reservation, most).await.unwrap();
    }
    let _held = fresh.reserve(&ada, 4).await.unwrap();
    let used = fresh.catalog.use_of_accounts(&Operating::for_operator(), november()).await.unwrap();
    assert_eq!(used[&ada.id], AccountUse { units: 5, boxes: 2, bytes: 700 });
    assert_eq!(used[&eve.id], AccountUse { units: 0, boxes: 1, bytes: 50 });
    let december = "2026-12".parse().unwrap();
    let later = fresh.catalog.use_of_accounts(&Operating::for_operator(), december).await.unwrap();
    assert_eq!(later[&ada.id].units, 0);
}

#[tokio::test]
async fn a_call_is_charged_what_it_cost_and_holds_what_it_may_cost() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let reservation = fresh.reserve(&ada, 5).await.unwrap();
    assert_eq!(fresh.balance_of(&ada).await, balance(0, 5));
    let settled = fresh.catalog.settle_units(&reservation, 2).await.unwrap();
    assert_eq!((settled, settled.remaining()), (balance(2, 0), QUOTA - 2));
    assert_eq!(fresh.balance_of(&ada).await, settled);
    let failed = fresh.reserve(&ada, 5).await.unwrap();
    fresh.catalog.release_units(&failed).await.unwrap();
    assert_eq!(fresh.balance_of(&ada).await, balance(2, 0), "a failed call costs nothing");
    let dear = fresh.reserve(&ada, 5).await.unwrap();
    assert_eq!(
        fresh.catalog.settle_units(&dear, 9).await.unwrap(),
        balance(7, 0),
        "never above what is held"
    );
}

#[tokio::test]
async fn a_reservation_ends_once() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let settled = fresh.reserve(&ada, 5).await.unwrap();
    fresh.catalog.settle_units(&settled, 3).await.unwrap();
    assert_eq!(reason(fresh.catalog.settle_units(&settled, 3).await), Some(Reason::Internal));
    fresh.catalog.release_units(&settled).await.unwrap();
    let released = fresh.reserve(&ada, 5).await.unwrap();
    fresh.catalog.release_units(&released).await.unwrap();
    fresh.catalog.release_units(&released).await.unwrap();
    let gone = fresh.catalog.settle_units(&released, 1).await;
    assert_eq!(reason(gone), Some(Reason::UpstreamUnavailable), "the call may be made again");
    assert_eq!(fresh.balance_of(&ada).await, balance(3, 0));
}

#[tokio::test]
async fn too_little_left_is_refused_with_what_would_do() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let _held = fresh.reserve(&ada, QUOTA - 3).await.unwrap();
    let refused = fresh.reserve(&ada, 5).await.unwrap_err();
    assert_eq!(refused.reason, Reason::UnitsExhausted);
    assert!(refused.cause.contains("\"max_units\": 3"), "{refused}");
    assert!(fresh.reserve(&ada, 3).await.is_ok());
    assert_eq!(reason(fresh.reserve(&ada, 1).await), Some(Reason::UnitsExhausted));
    assert!(fresh.reserve(&eve, QUOTA).await.is_ok(), "others have their own");
    assert_eq!(reason(fresh.reserve(&eve, u64::MAX).await), Some(Reason::UnitsExhausted));
}

#[tokio::test]
async fn a_quota_counts_at_once_and_may_sink_below_what_was_used() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let reservation = fresh.reserve(&ada, 10).await.unwrap();
    fresh.catalog.settle_units(&reservation, 10).await.unwrap();
    fresh.catalog.set_user_units(ada.id, 4).await.unwrap();
    let balance = fresh.balance_of(&ada).await;
    assert_eq!((balance.monthly, balance.used, balance.remaining()), (4, 10, 0));
    assert_eq!(reason(fresh.reserve(&ada, 1).await), Some(Reason::UnitsExhausted));
    fresh.catalog.set_user_units(ada.id, 11).await.unwrap();
    assert!(fresh.reserve(&ada, 1).await.is_ok());
}

#[tokio::test]
async fn a_new_month_starts_anew_and_a_call_over_midnight_belongs_to_the_old_one() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let late = NewReservation { now: time("2026-11-30T23:59:59.999Z"), ..call(&ada, QUOTA) };
    let late = fresh.catalog.reserve_units(late).await.unwrap();
    let early = NewReservation { now: time("2026-12-01T00:00:00Z"), ..call(&ada, QUOTA) };
    let early = fresh.catalog.reserve_units(early).await.unwrap();
    assert_eq!(fresh.catalog.settle_units(&late, 7).await.unwrap(), balance(7, 0));
    let december = fresh.catalog.settle_units(&early, 2).await.unwrap();
    assert_eq!((december.month.to_string().as_str(), december.used), ("2026-12", 2));
    assert_eq!(fresh.balance_of(&ada).await.used, 7);
    let days = fresh.catalog.usage(ada.id, november()).await.unwrap();
    assert_eq!(days.iter().map(|line| line.day.as_str()).collect::<Vec<_>>(), ["2026-11-30"]);
}

#[tokio::test]
async fn of_many_at_once_exactly_as_many_pass_as_the_quota_holds() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let calls = (0..50).map(|_| fresh.reserve(&ada, 3));
    let passed: Vec<_> = futures::future::join_all(calls).await.into_iter().flatten().collect();
    assert_eq!(passed.len() as u64, QUOTA / 3);
    let settled = passed.iter().map(|reservation| fresh.catalog.settle_units(reservation, 2));
    assert!(futures::future::join_all(settled).await.iter().all(Result::is_ok));
    assert_eq!(fresh.balance_of(&ada).await, balance(2 * (QUOTA / 3), 0));
}

#[tokio::test]
async fn what_a_dead_process_held_is_free_again_and_what_it_charged_stays() {
    let mut fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let answered = fresh.reserve(&ada, 5).await.unwrap();
    fresh.catalog.settle_units(&answered, 4).await.unwrap();
    let lost = fresh.reserve(&ada, 5).await.unwrap();
    assert_eq!(fresh.catalog.release_abandoned_units(time("2026-11-15T12:59:59Z")).await.unwrap(), 0);
    fresh.crash().await;
    assert_eq!(fresh.balance_of(&ada).await, balance(4, 0));
    assert_eq!(reason(fresh.catalog.settle_units(&lost, 1).await), Some(Reason::UpstreamUnavailable));
}

#[tokio::test]
async fn a_month_is_reported_by_day_key_and_operation() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let key = fresh.key_of(&ada, None).await;
    for (day, operation, cost) in [
        ("14", Operation::Search, 2),
        ("15", Operation::Search, 3),
        ("15", Operation::Search, 1),
        ("15", Operation::Chat, 4),
    ] {
        let now = time(&format!("2026-11-{day}T10:00:00Z"));
        let new = NewReservation { key: key.clone(), operation, now, ..call(&ada, 5) };
        let reservation = fresh.catalog.reserve_units(new).await.unwrap();
        fresh.catalog.settle_units(&reservation, cost).await.unwrap();
    }
    let line = |day: &str, operation, calls, units| UsageLine {
        day: format!("2026-11-{day}"),
        key: key.clone(),
        key_name: "test".into(),
        operation,
        calls,
        units,
    };
    assert_eq!(
        fresh.catalog.usage(ada.id, november()).await.unwrap(),
        [
            line("14", Operation::Search, 1, 2),
            line("15", Operation::Chat, 1, 4),
            line("15", Operation::Search, 2, 4)
        ]
    );
    assert!(fresh.catalog.usage(ada.id, "2026-10".parse().unwrap()).await.unwrap().is_empty());
}

#[tokio::test]
async fn within_an_attempt_the_charge_comes_with_the_kept_answer() {
    let mut fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let key = fresh.key_of(&ada, None).await;
    for (end, used) in [("killed", 0), ("answered", 3), ("not kept", 6)] {
        let attempt = begun(&fresh, &key, "once").await;
        let new = NewReservation { attempt: Some(attempt), ..call(&ada, 5) };
        let reservation = fresh.catalog.reserve_units(new).await.unwrap();
        let settled = fresh.catalog.settle_units(&reservation, 3).await.unwrap();
        assert_eq!(settled, balance(used.max(3), 0), "{end}: it counts as used from here on");
        fresh.catalog.release_units(&reservation).await.unwrap();
        match end {
            "killed" => fresh.crash().await,
            "answered" => {
                fresh.catalog.finish_attempt(attempt, Some(kept("x")), Timestamp::MIN).await.unwrap()
            }
            _ => fresh.catalog.finish_attempt(attempt, None, Timestamp::MIN).await.unwrap(),
        }
        assert_eq!(fresh.balance_of(&ada).await, balance(used, 0), "{end}");
    }
    let gone = begun(&fresh, &key, "gone").await;
    let new = NewReservation { attempt: Some(gone), ..call(&ada, 5) };
    let reservation = fresh.catalog.reserve_units(new).await.unwrap();
    fresh.catalog.finish_attempt(gone, None, Timestamp::MIN).await.unwrap();
    fresh.catalog.settle_units(&reservation, 1).await.unwrap();
    fresh.crash().await;
    assert_eq!(fresh.balance_of(&ada).await, balance(7, 0), "an attempt that ended first changes nothing");
}

/// What may happen to the ledger, in any order.
#[derive(Debug, Clone)]
enum Step {
    Reserve { most: u64, attempt: bool },
    Settle { which: usize, actual: u64 },
    Release { which: usize },
    Finish { which: usize, keep: bool },
    Crash,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1u64..=10, any::<bool>()).prop_map(|(most, attempt)| Step::Reserve { most, attempt }),
        4 => (0usize..12, 0u64..=12).prop_map(|(which, actual)| Step::Settle { which, actual }),
        2 => (0usize..12).prop_map(|which| Step::Release { which }),
        2 => (0usize..12, any::<bool>()).prop_map(|(which, keep)| Step::Finish { which, keep }),
        1 => Just(Step::Crash),
    ]
}

/// A call as the model sees it; every reservation ever made is kept, so that ended ones are tried again.
struct Call {
    reservation: Reservation,
    attempt: Option<AttemptId>,
    running: bool,
    /// Whether the catalog knows the attempt: while it runs, and once its answer is kept.
    known: bool,
    state: State,
}

#[derive(PartialEq, Clone, Copy)]
enum State {
    Held(u64),
    /// Settled within an attempt that still runs.
    Settled(u64),
    Ended,
}

/// The ledger as it should be.
#[derive(Default)]
struct Model {
    charged: u64,
    calls: Vec<Call>,
}

impl Model {
    fn held(&self) -> u64 {
        self.calls.iter().map(|call| if let State::Held(units) = call.state { units } else { 0 }).sum()
    }

    fn used(&self) -> u64 {
        let settled =
            self.calls.iter().map(|call| if let State::Settled(units) = call.state { units } else { 0 });
        self.charged + settled.sum::<u64>()
    }

    async fn apply(&mut self, fresh: &mut Fresh, ada: &User, key: &str, number: usize, step: Step) {
        match step {
            Step::Reserve { most, attempt } => {
                let attempt = match attempt {
                    true => Some(begun(fresh, key, &number.to_string()).await),
                    false => None,
                };
                let new = NewReservation { attempt, key: key.into(), ..call(ada, most) };
                let reserved = fresh.catalog.reserve_units(new).await;
                assert_eq!(reserved.is_ok(), self.used() + self.held() + most <= QUOTA);
                if let Ok(reservation) = reserved {
                    let state = State::Held(most);
                    let running = attempt.is_some();
                    self.calls.push(Call { reservation, running, known: running, attempt, state });
                }
            }
            Step::Settle { which, actual } => {
                let Some(call) = self.calls.get_mut(which) else { return };
                let settled = fresh.catalog.settle_units(&call.reservation, actual).await;
                let State::Held(most) = call.state else { return assert!(settled.is_err()) };
                assert!(settled.is_ok());
                if call.running {
                    call.state = State::Settled(actual.min(most));
                } else {
                    call.state = State::Ended;
                    self.charged += actual.min(most);
                }
            }
            Step::Release { which } => {
                let Some(call) = self.calls.get_mut(which) else { return };
                fresh.catalog.release_units(&call.reservation).await.unwrap();
                if let State::Held(_) = call.state {
                    call.state = State::Ended;
                }
            }
            Step::Finish { which, keep } => {
                let Some(call) = self.calls.get_mut(which) else { return };
                let Some(attempt) = call.attempt else { return };
                let answer = keep.then(|| kept("x"));
                let finished = fresh.catalog.finish_attempt(attempt, answer, Timestamp::MAX).await;
                assert_eq!(reason(finished), (!call.known).then_some(Reason::UpstreamUnavailable));
                call.known &= keep || !call.running;
                if let State::Settled(units) = call.state {
                    call.state = State::Ended;
                    self.charged += units;
                }
                call.running = false;
            }
            Step::Crash => {
                fresh.crash().await;
                for call in &mut self.calls {
                    call.known &= !call.running;
                    (call.state, call.running) = (State::Ended, false);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn in_any_order_the_ledger_is_exact(steps in proptest::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut fresh = fresh();
            let ada = fresh.user("ada@example.org").await;
            let key = fresh.key_of(&ada, None).await;
            let mut model = Model::default();
            for (number, step) in steps.into_iter().enumerate() {
                model.apply(&mut fresh, &ada, &key, number, step).await;
                let now = fresh.balance_of(&ada).await;
                assert_eq!(now, balance(model.used(), model.held()));
                assert!(now.used + now.held <= QUOTA);
            }
            fresh.crash().await;
            let report = fresh.catalog.usage(ada.id, november()).await.unwrap();
            assert_eq!(report.iter().map(|line| line.units).sum::<u64>(), model.charged);
            assert_eq!(fresh.balance_of(&ada).await, balance(model.charged, 0));
        });
    }
}
