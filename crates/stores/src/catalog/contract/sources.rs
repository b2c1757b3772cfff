//! Sources: when each is due, who reads it, and what is known of its files.

use std::time::Duration;

use engine::{
    Reason,
    access::Acting,
    ids::SourceId,
    seams::catalog::{
        EventKind, NewSource, NewWebhook, SourceItem, SourceKind, SourceReport, SourceSettings, WebhookSecret,
    },
};
use jiff::Timestamp;

use super::{fresh, manage, own, reason, upload};

fn site(every: Option<u64>) -> NewSource {
    NewSource {
        kind: SourceKind::Web,
        settings: SourceSettings(r#"{"url":"https://example.org/"}"#.into()),
        every: every.map(Duration::from_secs),
        delete_missing: true,
    }
}

fn later(seconds: i64) -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second() + seconds).unwrap()
}

#[tokio::test]
async fn a_source_is_read_by_one_node_at_a_time_and_again_when_it_is_due() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let (catalog, managing) = (&fresh.catalog, manage(&writing));
    let id = catalog.add_source(&managing, site(Some(3_600))).await.unwrap().id;
    let taken = catalog.take_source(later(1), later(60)).await.unwrap().unwrap();
    assert_eq!((taken.id, taken.kind, taken.every), (id, SourceKind::Web, Some(Duration::from_secs(3_600))));
    assert!(catalog.take_source(later(2), later(60)).await.unwrap().is_none(), "it is taken");
    assert!(catalog.sources(&managing).await.unwrap()[0].running);
    assert!(catalog.keep_source(id, later(120)).await.unwrap());
    assert!(catalog.take_source(later(90), later(150)).await.unwrap().is_none(), "it is still being read");
    let again = catalog.take_source(later(121), later(180)).await.unwrap();
    assert_eq!(again.map(|source| source.id), Some(id), "whoever took it died");

    let report = SourceReport { added: 2, failed: vec![("x".into(), "gone".into())], ..Default::default() };
    catalog.finish_source(id, report.clone(), later(200)).await.unwrap();
    let source = catalog.sources(&managing).await.unwrap().remove(0);
    assert_eq!((source.last, source.running), (Some((later(200), report)), false));
    assert!(catalog.take_source(later(3_700), later(4_000)).await.unwrap().is_none());
    assert!(catalog.take_source(later(3_801), later(4_000)).await.unwrap().is_some());
    // Asked for while it is read, it is read once more.
    assert!(catalog.ask_for_sync(&managing, id, true, later(3_802)).await.unwrap());
    catalog.finish_source(id, SourceReport::default(), later(3_900)).await.unwrap();
    let asked = catalog.take_source(later(3_901), later(4_000)).await.unwrap().unwrap();
    assert!(asked.may_delete_many);
    catalog.finish_source(id, SourceReport::default(), later(3_950)).await.unwrap();
    assert!(!catalog.sources(&managing).await.unwrap()[0].may_delete_many, "once only");

    let other = fresh.box_of(&ada).await;
    assert!(catalog.sources(&manage(&other)).await.unwrap().is_empty());
    assert!(!catalog.ask_for_sync(&manage(&other), id, false, later(0)).await.unwrap());
    assert!(!catalog.delete_source(&manage(&other), id).await.unwrap());
    assert!(catalog.delete_source(&managing, id).await.unwrap());
    assert!(!catalog.keep_source(id, later(9)).await.unwrap(), "whoever reads it learns that it is gone");
    catalog.finish_source(id, SourceReport::default(), later(1)).await.unwrap();
}

#[tokio::test]
async fn one_source_of_an_owner_is_read_at_a_time() {
    let fresh = fresh();
    let (ada, bob) = (fresh.user("ada@example.org").await, fresh.user("bob@example.org").await);
    let boxes = [fresh.box_of(&ada).await, fresh.box_of(&ada).await, fresh.box_of(&bob).await];
    let mut ids = Vec::new();
    for writing in &boxes {
        ids.push(fresh.catalog.add_source(&manage(writing), site(None)).await.unwrap().id);
    }
    let take = async || fresh.catalog.take_source(later(1), later(60)).await.unwrap().map(|source| source.id);
    let (first, second) = (take().await.unwrap(), take().await.unwrap());
    let adas = &ids[..2];
    assert!(adas.contains(&first) != adas.contains(&second), "one of Ada's, and Bob's");
    assert_eq!(take().await, None, "Ada has one being read");
    let done = if adas.contains(&first) { first } else { second };
    fresh.catalog.finish_source(done, SourceReport::default(), later(1)).await.unwrap();
    let third = take().await.unwrap();
    assert!(adas.contains(&third) && third != done);
}

#[tokio::test]
async fn files_of_a_source_are_known_until_one_of_both_goes() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let (catalog, managing) = (&fresh.catalog, manage(&writing));
    let id = catalog.add_source(&managing, site(None)).await.unwrap().id;
    let file = fresh.file(&writing, upload("a.html", "1", Some("a"))).await.file;
    let item = |version: &str| SourceItem {
        name: "https://example.org/a".into(),
        file: file.id,
        version: version.into(),
        sha256: file.sha256.clone(),
    };
    for version in ["1", "2"] {
        catalog.put_source_item(&writing, id, item(version)).await.unwrap();
    }
    catalog.put_source_item(&writing, SourceId::generate(), item("1")).await.unwrap();
    assert_eq!(catalog.source_items(&writing, id).await.unwrap(), [item("2")]);
    assert_eq!(catalog.sources(&managing).await.unwrap()[0].files, 1);
    let other = fresh.box_of(&ada).await;
    assert!(catalog.source_items(&other, id).await.unwrap().is_empty());
    catalog.begin_delete(&writing, file.id).await.unwrap();
    catalog.put_source_item(&writing, id, item("3")).await.unwrap();
    catalog.finish_delete(&writing, file.id).await.unwrap();
    assert!(catalog.source_items(&writing, id).await.unwrap().is_empty());
    catalog.begin_delete_box(&own(&writing)).await.unwrap();
    assert!(catalog.take_source(later(1), later(9)).await.unwrap().is_none(), "its box goes away");
    assert!(!catalog.keep_source(id, later(9)).await.unwrap());
    catalog.finish_delete_box(&writing).await.unwrap();
    assert!(catalog.take_source(later(1), later(9)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_box_has_a_bounded_number_of_sources_and_tells_when_one_was_read() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let webhook = NewWebhook {
        url: "https://example.org/".into(),
        events: vec![EventKind::SourceSynced],
        boxes: None,
        secret: WebhookSecret("whsec_x".into()),
    };
    fresh.catalog.add_webhook(&Acting::for_operator(ada.id), webhook).await.unwrap();
    let id = fresh.catalog.add_source(&manage(&writing), site(None)).await.unwrap().id;
    for _ in 1..20 {
        fresh.catalog.add_source(&manage(&writing), site(None)).await.unwrap();
    }
    let one_more = fresh.catalog.add_source(&manage(&writing), site(None)).await;
    assert_eq!(reason(one_more), Some(Reason::QuotaExceeded));
    let report = SourceReport { added: 3, ..Default::default() };
    fresh.catalog.finish_source(id, report, later(1)).await.unwrap();
    let told = fresh.catalog.take_deliveries(later(2), Duration::from_secs(9), 9).await.unwrap();
    let body: serde_json::Value = serde_json::from_str(&told[0].body).unwrap();
    assert_eq!((&body["type"], &body["data"]["added"]), (&"source.synced".into(), &3.into()));
    assert_eq!(body["data"]["sourceId"], id.to_string());
}
