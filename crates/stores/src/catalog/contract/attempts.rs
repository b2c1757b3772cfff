//! Requests with an `Idempotency-Key`: one runs at a time, its answer is kept for the others.

use engine::{
    ids::AttemptId,
    seams::catalog::{Begun, KeptAnswer, NewAttempt},
};
use jiff::Timestamp;

use super::{Fresh, fresh, upload};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub(super) fn attempt(key: &str, name: &str) -> NewAttempt {
    NewAttempt {
        key: key.into(),
        name: name.parse().unwrap(),
        request: "POST /x".into(),
        rights: "all".into(),
        now: at(0),
        expires_at: at(3600),
    }
}

/// Begins the first attempt of that name.
pub(super) async fn begun(fresh: &Fresh, key: &str, name: &str) -> AttemptId {
    match fresh.catalog.begin_attempt(attempt(key, name)).await.unwrap() {
        Begun::First(id) => id,
        other => panic!("{other:?}"),
    }
}

pub(super) fn kept(body: &str) -> KeptAnswer {
    KeptAnswer {
        request_body: "hash".into(),
        status: 201,
        content_type: Some("application/json".into()),
        body: body.into(),
        rights: None,
    }
}

impl Fresh {
    pub(super) async fn begin(&self, new: NewAttempt) -> Begun {
        self.catalog.begin_attempt(new).await.unwrap()
    }

    pub(super) async fn is_free(&self, new: NewAttempt) -> bool {
        matches!(self.begin(new).await, Begun::First(_))
    }
}

#[tokio::test]
async fn one_attempt_runs_and_its_answer_is_kept() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (key, other) = (fresh.key_of(&ada, None).await, fresh.key_of(&ada, None).await);
    let first = begun(&fresh, &key, "a").await;
    assert_eq!(fresh.begin(attempt(&key, "a")).await, Begun::Running);
    assert!(fresh.is_free(attempt(&key, "b")).await, "another name is another request");
    assert!(fresh.is_free(attempt(&other, "a")).await, "so is another API key's");
    fresh.catalog.finish_attempt(first, Some(kept("{}")), at(60)).await.unwrap();
    let answered = Begun::Answered { request: "POST /x".into(), answer: kept("{}") };
    assert_eq!(fresh.begin(attempt(&key, "a")).await, answered);
    fresh.catalog.finish_attempt(first, None, at(60)).await.unwrap();
    assert_eq!(fresh.begin(attempt(&key, "a")).await, answered, "it ends once");
    assert!(fresh.is_free(NewAttempt { now: at(60), ..attempt(&key, "a") }).await, "kept for so long");
}

#[tokio::test]
async fn an_attempt_without_an_answer_frees_its_name() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let key = fresh.key_of(&ada, None).await;
    let first = begun(&fresh, &key, "a").await;
    fresh.catalog.finish_attempt(first, None, at(60)).await.unwrap();
    assert!(fresh.is_free(attempt(&key, "a")).await);
}

#[tokio::test]
async fn a_crash_frees_what_was_running_and_keeps_what_was_answered() {
    let mut fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let key = fresh.key_of(&ada, None).await;
    begun(&fresh, &key, "running").await;
    let done = begun(&fresh, &key, "done").await;
    fresh.catalog.finish_attempt(done, Some(kept("{}")), at(60)).await.unwrap();
    assert_eq!(fresh.catalog.free_abandoned_attempts(at(3599)).await.unwrap(), 0, "it may still be at work");
    fresh.catalog = Box::new(fresh.place.open());
    assert_eq!(fresh.catalog.free_abandoned_attempts(Timestamp::MAX).await.unwrap(), 1);
    assert!(fresh.is_free(attempt(&key, "running")).await);
    assert!(!fresh.is_free(attempt(&key, "done")).await);
    assert_eq!(fresh.catalog.forget_old_answers(at(59)).await.unwrap(), 0);
    assert_eq!(fresh.catalog.forget_old_answers(at(60)).await.unwrap(), 1);
}

#[tokio::test]
async fn an_answer_is_kept_only_for_the_rights_it_was_given_to() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let key = fresh.key_of(&ada, None).await;
    let first = begun(&fresh, &key, "a").await;
    fresh.catalog.finish_attempt(first, Some(kept("{}")), at(60)).await.unwrap();
    assert!(fresh.is_free(NewAttempt { rights: "fewer".into(), ..attempt(&key, "a") }).await);
}

#[tokio::test]
async fn what_is_deleted_does_not_come_back_by_a_retry() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    let (key, foreign) = (fresh.key_of(&ada, None).await, fresh.key_of(&eve, None).await);
    let file = fresh.file(&writing, upload("a.txt", "1", None)).await.file.id;
    let answered = begun(&fresh, &key, "answered").await;
    fresh.catalog.finish_attempt(answered, Some(kept("secret")), at(60)).await.unwrap();
    let other = begun(&fresh, &foreign, "other").await;
    fresh.catalog.finish_attempt(other, Some(kept("{}")), at(60)).await.unwrap();
    let running = begun(&fresh, &key, "running").await;
    fresh.catalog.begin_delete(&writing, file).await.unwrap().unwrap();
    assert!(fresh.is_free(attempt(&key, "answered")).await);
    assert_eq!(fresh.begin(attempt(&key, "running")).await, Begun::Running);
    fresh.catalog.finish_attempt(running, Some(kept("secret")), at(60)).await.unwrap();
    assert!(fresh.is_free(attempt(&key, "running")).await, "its answer may hold what is gone");
    assert!(!fresh.is_free(attempt(&foreign, "other")).await, "others never saw it");
}
