//! Uploads that are in no box, batches and notes.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    Reason,
    access::{Caller, Uploading},
    bounds::{Bound, Bounds},
    ids::{UploadId, UserId},
    permissions::Permissions,
    seams::catalog::{Metadata, Upload, UploadQuery, Uploads},
};
use jiff::Timestamp;
use serde_json::json;

use super::{fresh, manage, reason, upload};

fn new(user: UserId, content: &str, expires_in: i64) -> Upload {
    let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap();
    let file = upload("notes.txt", content, None);
    Upload {
        id: UploadId::generate(),
        user,
        key: "AAAAAAAA".into(),
        name: file.name,
        purpose: "assistants".into(),
        sha256: file.sha256,
        size: file.size,
        media_type: "text/plain".into(),
        created_at: now,
        expires_at: now + jiff::SignedDuration::from_secs(expires_in),
    }
}

/// What a key may use, restricted to boxes or not.
fn of(user: UserId, key: &str, restricted: bool) -> Uploading {
    let caller = Caller {
        user,
        prefix: key.into(),
        key_name: "key".into(),
        expires_at: None,
        permissions: Permissions::ALL,
        scope: restricted.then(BTreeSet::new),
        origins: Default::default(),
        audience: None,
        roles: BTreeMap::new(),
    };
    caller.uploads()
}

const ALL: UploadQuery = UploadQuery { purpose: None, after: None, descending: false, limit: 10 };

#[tokio::test]
async fn an_upload_is_its_users_own_until_it_expires() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (kept, gone) = (new(ada.id, "1", 3600), new(ada.id, "2", -1));
    for upload in [&kept, &gone] {
        fresh.catalog.add_upload(upload.clone()).await.unwrap();
    }
    assert_eq!(
        fresh.catalog.upload(&of(ada.id, "AAAAAAAA", false), kept.id).await.unwrap(),
        Some(kept.clone())
    );
    assert_eq!(fresh.catalog.upload(&of(eve.id, "AAAAAAAA", false), kept.id).await.unwrap(), None);
    assert_eq!(
        fresh.catalog.upload(&of(ada.id, "AAAAAAAA", false), gone.id).await.unwrap(),
        None,
        "it has expired"
    );
    assert_eq!(
        fresh.catalog.uploads(&of(ada.id, "AAAAAAAA", false), ALL).await.unwrap(),
        std::slice::from_ref(&kept)
    );
    assert!(fresh.catalog.original_is_wanted(&gone.sha256).await.unwrap(), "until it is removed");
    let removed = fresh.catalog.remove_expired_uploads(Timestamp::now()).await.unwrap();
    assert_eq!(removed, std::slice::from_ref(&gone.sha256));
    assert!(!fresh.catalog.original_is_wanted(&gone.sha256).await.unwrap());
    assert_eq!(fresh.catalog.wanted_originals().await.unwrap(), std::slice::from_ref(&kept.sha256));
    assert_eq!(fresh.catalog.remove_upload(&of(eve.id, "AAAAAAAA", false), kept.id).await.unwrap(), None);
    assert_eq!(
        fresh.catalog.remove_upload(&of(ada.id, "AAAAAAAA", false), kept.id).await.unwrap(),
        Some(kept.sha256.clone())
    );
    assert!(!fresh.catalog.original_is_wanted(&kept.sha256).await.unwrap());
}

#[tokio::test]
async fn a_key_for_some_boxes_has_its_own_uploads_only() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (other, own) = (new(ada.id, "1", 3600), Upload { key: "BBBBBBBB".into(), ..new(ada.id, "2", 3600) });
    for upload in [&other, &own] {
        fresh.catalog.add_upload(upload.clone()).await.unwrap();
    }
    let (restricted, free) = (of(ada.id, "BBBBBBBB", true), of(ada.id, "BBBBBBBB", false));
    assert_eq!(fresh.catalog.uploads(&restricted, ALL).await.unwrap(), std::slice::from_ref(&own));
    assert_eq!(fresh.catalog.upload(&restricted, own.id).await.unwrap(), Some(own.clone()));
    assert_eq!(fresh.catalog.upload(&restricted, other.id).await.unwrap(), None);
    assert_eq!(fresh.catalog.remove_upload(&restricted, other.id).await.unwrap(), None);
    assert_eq!(fresh.catalog.uploads(&free, ALL).await.unwrap().len(), 2);
    assert_eq!(fresh.catalog.remove_upload(&free, other.id).await.unwrap(), Some(other.sha256));
}

#[tokio::test]
async fn uploads_are_listed_page_by_page_in_both_directions() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let mut ids = Vec::new();
    for number in 0..5 {
        let upload = new(ada.id, &number.to_string(), 60);
        ids.push(upload.id);
        fresh.catalog.add_upload(upload).await.unwrap();
    }
    for descending in [false, true] {
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let query = UploadQuery { purpose: Some("assistants".into()), after, descending, limit: 2 };
            let page = fresh.catalog.uploads(&of(ada.id, "AAAAAAAA", false), query).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            seen.extend(page.iter().map(|upload| upload.id));
        }
        if descending {
            seen.reverse();
        }
        assert_eq!(seen, ids);
    }
    let other = UploadQuery { purpose: Some("vision".into()), ..ALL };
    assert!(fresh.catalog.uploads(&of(ada.id, "AAAAAAAA", false), other).await.unwrap().is_empty());
}

#[tokio::test]
async fn uploads_count_as_storage() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let bounds: Bounds = [(Bound::StorageGb, 1)].into_iter().collect();
    let catalog = fresh.place.open().within(bounds);
    let large = |content| Upload { size: 600_000_000, ..new(ada.id, content, 60) };
    catalog.add_upload(large("1")).await.unwrap();
    assert_eq!(reason(catalog.add_upload(large("2")).await), Some(Reason::QuotaTooLarge));
    assert_eq!(
        catalog.uploads(&of(ada.id, "AAAAAAAA", false), ALL).await.unwrap().len(),
        1,
        "what is refused is not kept"
    );
}

#[tokio::test]
async fn batches_and_notes_go_with_their_box() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (writing, other) = (fresh.box_of(&ada).await, fresh.box_of(&ada).await);
    let batch = fresh.catalog.add_batch(&writing, vec!["upl_1".into(), "fil_2".into()]).await.unwrap();
    assert_eq!(fresh.catalog.batch(writing.reading(), batch.id).await.unwrap(), Some(batch.clone()));
    assert_eq!(fresh.catalog.batch(other.reading(), batch.id).await.unwrap(), None);
    fresh.catalog.cancel_batch(&writing, batch.id).await.unwrap();
    assert!(fresh.catalog.batch(writing.reading(), batch.id).await.unwrap().unwrap().cancelled);

    let notes: Metadata = serde_json::from_value(json!({"team": "hr"})).unwrap();
    fresh.catalog.set_notes(&manage(&writing), Metadata::new()).await.unwrap();
    fresh.catalog.set_notes(&manage(&writing), notes.clone()).await.unwrap();
    let both = [*writing.reading(), *other.reading()];
    assert_eq!(fresh.catalog.notes(&both).await.unwrap(), [notes, Metadata::new()]);
}

#[tokio::test]
async fn a_file_is_found_by_its_outside_name_in_its_box_only() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (writing, other) = (fresh.box_of(&ada).await, fresh.box_of(&ada).await);
    let file = fresh.file(&writing, upload("a.txt", "1", Some("upl_1"))).await.file;
    let names = ["upl_2".to_string(), "upl_1".into()];
    let found = fresh.catalog.files_named(writing.reading(), &names).await.unwrap();
    let ids: Vec<_> = found.into_iter().map(|found| found.map(|file| file.id)).collect();
    assert_eq!(ids, [None, Some(file.id)]);
    assert_eq!(fresh.catalog.files_named(other.reading(), &names).await.unwrap(), [None, None]);
    fresh.catalog.begin_delete(&writing, file.id).await.unwrap();
    assert_eq!(fresh.catalog.files_named(writing.reading(), &names).await.unwrap(), [None, None]);
}
