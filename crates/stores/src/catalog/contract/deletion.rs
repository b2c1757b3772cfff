//! Deletion of boxes and files as records: what is marked stays marked until it is finished.

use engine::{
    Reason,
    access::Role,
    ids::FileId,
    seams::catalog::{ReindexAction, UploadOutcome},
};

use jiff::Timestamp;

use super::{
    attempts::{attempt, kept},
    fresh, manage, own, reason, upload,
};

#[tokio::test]
async fn a_box_that_is_going_away_is_gone_for_everybody_and_can_be_finished_later() {
    let mut fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (writing, other) = (fresh.box_of(&ada).await, fresh.box_of(&ada).await);
    let file = fresh.file(&writing, upload("a.txt", "1", Some("doc"))).await.file;
    let kept = fresh.file(&other, upload("a.txt", "1", None)).await.file;
    let job = fresh.claim("one").await.unwrap();
    fresh.catalog.request_reindex(&writing, ReindexAction::Rebuild).await.unwrap();
    fresh.catalog.begin_delete_box(&own(&writing)).await.unwrap();

    assert_eq!(reason(fresh.catalog.begin_delete_box(&own(&writing)).await), Some(Reason::BoxUnknown));
    let late = fresh.catalog.add_file(&writing, upload("late.txt", "2", None)).await;
    assert_eq!(reason(late.map(|uploaded| uploaded.outcome)), Some(Reason::BoxUnknown));
    assert_eq!(
        reason(fresh.catalog.grant(&manage(&writing), ada.id, Role::Owner).await),
        Some(Reason::BoxUnknown)
    );
    let wish = fresh.catalog.request_reindex(&writing, ReindexAction::Rebuild).await;
    assert_eq!(reason(wish), Some(Reason::BoxUnknown));
    assert_eq!(fresh.catalog.boxes().await.unwrap().len(), 1);
    assert!(fresh.find(&writing, file.id).await.is_none());
    assert!(!fresh.catalog.box_stays(writing.box_id()).await.unwrap());
    assert!(fresh.catalog.box_stays(other.box_id()).await.unwrap());
    assert!(fresh.catalog.take_reindex().await.unwrap().is_none());
    assert!(!fresh.catalog.beat(&job, "one", Default::default()).await.unwrap() || job.file == kept.id);

    // Whoever opens the catalog next finds what is left to do.
    fresh.catalog = Box::new(fresh.place.open());
    assert_eq!(fresh.catalog.half_deleted_boxes().await.unwrap(), [writing.box_id()]);
    assert!(fresh.catalog.half_deleted().await.unwrap().is_empty(), "its files go with it");
    let originals = fresh.catalog.originals_of_box(&writing).await.unwrap();
    assert_eq!(originals, std::slice::from_ref(&file.sha256));
    assert!(fresh.catalog.original_is_wanted(&file.sha256).await.unwrap(), "by the other box");
    fresh.catalog.finish_delete_box(&writing).await.unwrap();
    assert!(fresh.catalog.half_deleted_boxes().await.unwrap().is_empty());
    fresh.catalog.finish_delete_box(&other).await.unwrap();
    assert!(fresh.find(&other, kept.id).await.is_some(), "a box that is not marked is not finished");
}

#[tokio::test]
async fn a_deletion_counts_the_originals_of_its_own_box_only() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (mine, theirs) = (fresh.box_of(&ada).await, fresh.box_of(&eve).await);
    let add = async |writing, name: &str| -> FileId {
        let uploaded = fresh.file(writing, upload("a.txt", "1", Some(name))).await;
        assert_eq!(uploaded.outcome, UploadOutcome::Added);
        uploaded.file.id
    };
    let (one, two, foreign) = (add(&mine, "one").await, add(&mine, "two").await, add(&theirs, "one").await);
    let last =
        async |writing, file| fresh.catalog.begin_delete(writing, file).await.unwrap().unwrap().last_of_box;
    assert_eq!(last(&mine, one).await, 0, "the box has another");
    assert_eq!(last(&mine, two).await, 1, "whoever else has the same bytes");
    assert_eq!(last(&theirs, foreign).await, 1);
}

#[tokio::test]
async fn who_was_put_out_and_let_in_again_finds_no_answer_from_before() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    fresh.catalog.grant(&manage(&writing), eve.id, Role::Admin).await.unwrap();
    let key = fresh.key_of(&eve, None).await;
    let file = fresh.file(&writing, upload("a.txt", "1", None)).await.file.id;
    let answered = super::attempts::begun(&fresh, &key, "answered").await;
    fresh.catalog.finish_attempt(answered, Some(kept("secret")), Timestamp::MAX).await.unwrap();
    fresh.catalog.revoke(&manage(&writing), eve.id).await.unwrap();
    fresh.catalog.begin_delete(&writing, file).await.unwrap().unwrap();
    fresh.catalog.grant(&manage(&writing), eve.id, Role::Admin).await.unwrap();
    assert!(fresh.is_free(attempt(&key, "answered")).await, "the deleted text would come back");
}
