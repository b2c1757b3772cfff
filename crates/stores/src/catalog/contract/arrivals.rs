//! Boxes that are brought in: seen by nobody before they have arrived, and gone without a trace where they do not.

use std::time::Duration;

use engine::{
    Reason,
    access::Writing,
    ids::{BoxId, FileId},
    seams::catalog::{ArrivingFile, BoxLanguage, BoxSettings, Extent, FileStatus, NewArrival},
};
use jiff::Timestamp;

use super::{Fresh, at, fresh, indexed, manage, own, reason, upload};

const PATIENCE: Duration = Duration::from_secs(60);

fn arrival(id: BoxId) -> NewArrival {
    NewArrival {
        id,
        name: "arrived".parse().unwrap(),
        created_at: Timestamp::from_second(1_000).unwrap(),
        notes: [("purpose".to_string(), "test".into())].into(),
        settings: BoxSettings { retention_days: Some(90), language: BoxLanguage::English },
    }
}

fn file(name: &str, status: FileStatus) -> ArrivingFile {
    let read = status == FileStatus::Ready;
    ArrivingFile {
        id: FileId::generate(),
        name: name.parse().unwrap(),
        external_id: Some(name.into()),
        sha256: format!("{:0>64}", name.len()),
        size: 10,
        media_type: "text/plain".into(),
        status,
        error: None,
        warnings: vec!["look".into()],
        language: Some("en".into()),
        tags: vec!["a".into(), "b".into()],
        metadata: [("year".to_string(), 2026.into())].into(),
        extent: Extent { pages: u32::from(read), characters: 9, chunks: 1 },
        created_at: Timestamp::from_second(1_000).unwrap(),
        updated_at: Timestamp::from_second(1_001).unwrap(),
        indexed_at: read.then(|| Timestamp::from_second(1_002).unwrap()),
        expires_at: Some(Timestamp::from_second(9_999_999_999).unwrap()),
    }
}

async fn begun(fresh: &Fresh, id: BoxId, patience: Duration) -> Writing {
    Writing::for_operator(fresh.catalog.begin_arrival(arrival(id), patience).await.unwrap().id)
}

#[tokio::test]
async fn a_box_is_seen_once_it_has_arrived_whole() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let wanted = BoxId::generate();
    let writing = begun(&fresh, wanted, PATIENCE).await;
    assert_eq!(writing.box_id(), wanted, "nobody had the id");
    let ready = file("ready.txt", FileStatus::Ready);
    let there = fresh.catalog.add_arriving(&writing, ready.clone(), PATIENCE).await.unwrap();
    let queued =
        fresh.catalog.add_arriving(&writing, file("queued", FileStatus::Queued), PATIENCE).await.unwrap();
    let twice = fresh.catalog.add_arriving(&writing, file("queued", FileStatus::Queued), PATIENCE).await;
    assert_eq!(reason(twice), Some(Reason::InvalidParameter));

    assert!(fresh.catalog.boxes().await.unwrap().is_empty());
    assert!(fresh.catalog.half_deleted_boxes().await.unwrap().is_empty(), "nobody finishes it off");
    assert!(fresh.catalog.half_deleted().await.unwrap().is_empty());
    assert!(fresh.catalog.original_is_wanted(&ready.sha256).await.unwrap(), "its originals stay");
    assert!(fresh.claim("worker").await.is_none(), "nothing of it is read yet");
    assert_eq!(
        reason(fresh.catalog.add_file(&writing, upload("a", "1", None)).await.map(drop)),
        Some(Reason::BoxUnknown)
    );
    assert_eq!(reason(fresh.catalog.begin_delete_box(&own(&writing)).await), Some(Reason::BoxUnknown));

    fresh.catalog.finish_arrival(&writing, ada.id).await.unwrap();
    let record = fresh.catalog.boxes().await.unwrap().pop().unwrap();
    assert_eq!((record.name.as_str(), record.created_at), ("arrived", arrival(wanted).created_at));
    let found = fresh.find(&writing, there).await.unwrap();
    assert_eq!((found.id, found.tags.len(), found.extent.clone()), (ready.id, 2, ready.extent.clone()));
    assert_eq!(
        (found.status, found.indexed_at, found.metadata),
        (FileStatus::Ready, ready.indexed_at, ready.metadata.clone())
    );
    assert_eq!(fresh.claim("worker").await.map(|job| job.file), Some(queued));
    assert_eq!((record.retention_days, found.expires_at), (Some(90), ready.expires_at));
    assert_eq!(fresh.catalog.settings_of(writing.reading()).await.unwrap(), arrival(wanted).settings);
    let notes = fresh.catalog.notes(&[*writing.reading()]).await.unwrap();
    assert_eq!(notes[0]["purpose"], "test");
    assert_eq!(fresh.catalog.members(writing.reading()).await.unwrap().len(), 1);
    fresh.catalog.rename_box(&manage(&writing), "other".parse().unwrap()).await.unwrap();

    // The same bundle again is another box.
    let again = begun(&fresh, wanted, PATIENCE).await;
    assert_ne!(again.box_id(), wanted);
    assert_ne!(fresh.catalog.add_arriving(&again, ready, PATIENCE).await.unwrap(), there);
}

#[tokio::test]
async fn a_box_that_nobody_brings_any_more_goes_with_its_files() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let abandoned = begun(&fresh, BoxId::generate(), PATIENCE).await;
    let given_up = begun(&fresh, BoxId::generate(), PATIENCE).await;
    let ready = file("ready.txt", FileStatus::Ready);
    fresh.catalog.add_arriving(&abandoned, ready.clone(), Duration::ZERO).await.unwrap();
    fresh.catalog.give_up_arrival(&given_up).await.unwrap();
    fresh.catalog.give_up_abandoned_arrivals().await.unwrap();
    let mut going = fresh.catalog.half_deleted_boxes().await.unwrap();
    going.sort();
    let mut expected = vec![abandoned.box_id(), given_up.box_id()];
    expected.sort();
    assert_eq!(going, expected);
    assert!(!fresh.catalog.original_is_wanted(&ready.sha256).await.unwrap());
    let originals = fresh.catalog.originals_of_box(&abandoned).await.unwrap();
    assert_eq!(originals, std::slice::from_ref(&ready.sha256));
    assert_eq!(reason(fresh.catalog.finish_arrival(&abandoned, ada.id).await), Some(Reason::Conflict));
    let late = fresh.catalog.add_arriving(&abandoned, file("late.txt", FileStatus::Ready), PATIENCE).await;
    assert_eq!(reason(late), Some(Reason::Conflict));
    for writing in [abandoned, given_up] {
        fresh.catalog.finish_delete_box(&writing).await.unwrap();
    }
    assert!(fresh.catalog.half_deleted_boxes().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_version_that_waits_is_told() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let id = fresh.file(&writing, upload("a.txt", "1", Some("doc"))).await.file.id;
    assert_eq!(fresh.catalog.waiting_version(&writing, id).await.unwrap(), None);
    let job = fresh.claim("one").await.unwrap();
    fresh.catalog.finish_job(&job, "one", indexed(1), at(0)).await.unwrap();
    let second = upload("b.txt", "2", Some("doc"));
    fresh.file(&writing, second.clone()).await;
    let waiting = fresh.catalog.waiting_version(&writing, id).await.unwrap().unwrap();
    assert_eq!((waiting.sha256, waiting.name.as_str()), (second.sha256, "b.txt"));
}
