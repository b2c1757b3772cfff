//! What is kept for a time only.

use std::time::Duration;

use engine::{
    Reason,
    access::{Operating, Writing},
    ids::{BoxId, FileId},
    seams::catalog::{Action, FileChanges, NewEntry, NewFile},
};
use jiff::{SignedDuration, Timestamp};

use super::{Fresh, at, fresh, indexed, manage, own, reason, upload};

fn in_days(days: i64) -> Timestamp {
    Timestamp::now() + SignedDuration::from_hours(24 * days)
}

async fn expired(fresh: &Fresh, now: Timestamp) -> Vec<FileId> {
    let found = fresh.catalog.expired_files(now, 100).await.unwrap();
    found.into_iter().map(|(_, file)| file).collect()
}

#[tokio::test]
async fn a_file_expires_by_its_own_time() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let soon = Timestamp::from_second(in_days(1).as_second()).unwrap();
    let new = NewFile { expires_at: Some(soon), ..upload("a.txt", "1", Some("doc")) };
    let file = fresh.file(&writing, new).await.file;
    fresh.file(&writing, upload("stays.txt", "2", None)).await;
    assert_eq!(file.expires_at, Some(soon));
    assert!(expired(&fresh, Timestamp::now()).await.is_empty());
    assert_eq!(expired(&fresh, in_days(2)).await, [file.id]);
    // A new version that does not say keeps it; one that does changes it.
    assert_eq!(fresh.file(&writing, upload("a.txt", "3", Some("doc"))).await.file.expires_at, Some(soon));
    let change = async |expires_at| {
        let changes = FileChanges { expires_at, ..FileChanges::default() };
        fresh.catalog.change_file(&writing, file.id, changes).await.unwrap().unwrap().expires_at
    };
    assert_eq!(change(None).await, Some(soon), "not a word about it");
    assert_eq!(change(Some(None)).await, None);
    assert!(expired(&fresh, in_days(2)).await.is_empty());
    assert_eq!(change(Some(Some(soon))).await, Some(soon));
    fresh.catalog.begin_delete(&writing, file.id).await.unwrap().unwrap();
    assert!(expired(&fresh, in_days(2)).await.is_empty(), "it is on its way already");
}

#[tokio::test]
async fn a_box_keeps_its_files_for_so_many_days() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (writing, other) = (fresh.box_of(&ada).await, fresh.box_of(&ada).await);
    let file = fresh.file(&writing, upload("a.txt", "1", Some("doc"))).await.file;
    fresh.file(&other, upload("a.txt", "1", None)).await;
    fresh.catalog.set_retention(&manage(&writing), Some(30)).await.unwrap();
    let record = fresh.catalog.boxes_of(&[*writing.reading()]).await.unwrap().pop().unwrap();
    assert_eq!(record.retention_days, Some(30));
    assert!(expired(&fresh, in_days(29)).await.is_empty());
    let found = fresh.catalog.expired_files(in_days(31), 100).await.unwrap();
    assert_eq!(found.len(), 1, "the other box keeps its files");
    assert_eq!((found[0].0.box_id(), found[0].1), (writing.box_id(), file.id));
    fresh.catalog.set_retention(&manage(&writing), None).await.unwrap();
    assert!(expired(&fresh, in_days(99_999)).await.is_empty());
    fresh.catalog.set_retention(&manage(&writing), Some(30)).await.unwrap();
    fresh.catalog.begin_delete_box(&own(&writing)).await.unwrap();
    assert!(expired(&fresh, in_days(31)).await.is_empty());
    let nowhere = Writing::for_operator(BoxId::generate());
    let refused = fresh.catalog.set_retention(&manage(&nowhere), Some(1)).await;
    assert_eq!(reason(refused), Some(Reason::BoxUnknown));
}

#[tokio::test]
async fn new_bytes_start_the_days_again() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    fresh.catalog.set_retention(&manage(&writing), Some(1)).await.unwrap();
    let id = fresh.file(&writing, upload("a.txt", "1", Some("doc"))).await.file.id;
    let job = fresh.claim("one").await.unwrap();
    fresh.catalog.finish_job(&job, "one", indexed(1), at(0)).await.unwrap();
    let before = Timestamp::now() + SignedDuration::from_hours(24);
    // The same bytes again are no new ones.
    fresh.file(&writing, upload("a.txt", "1", Some("doc"))).await;
    assert_eq!(expired(&fresh, before + SignedDuration::from_secs(1)).await, [id]);
    // Times are kept in milliseconds: the new bytes come in a later one.
    tokio::time::sleep(Duration::from_millis(2)).await;
    fresh.file(&writing, upload("a.txt", "2", Some("doc"))).await;
    assert!(expired(&fresh, before).await.is_empty());
    assert_eq!(expired(&fresh, in_days(2)).await, [id]);
}

#[tokio::test]
async fn old_lines_of_the_log_are_forgotten() {
    let fresh = fresh();
    let note = async |at: Timestamp, target: &str| {
        let (who, address) = (String::new(), String::new());
        let action = Action::SignedIn;
        let entry = NewEntry { at, user: None, who, address, box_id: None, action, target: target.into() };
        fresh.catalog.note(entry).await.unwrap();
    };
    note(in_days(-10), "old").await;
    note(in_days(-1), "young").await;
    assert_eq!(fresh.catalog.forget_audit(in_days(-20)).await.unwrap(), 0);
    assert_eq!(fresh.catalog.forget_audit(in_days(-5)).await.unwrap(), 1);
    let left = fresh.catalog.audit_of_all(&Operating::for_operator(), None, 10).await.unwrap().entries;
    assert_eq!(left.iter().map(|entry| entry.target.as_str()).collect::<Vec<_>>(), ["young"]);
}
