//! Nobody gets past a bound, however many try at once.

use engine::{
    Reason,
    access::Role,
    apikey::ApiKey,
    bounds::{Bound, Bounds, Quota},
    permissions::Permissions,
    seams::catalog::{FileChanges, FileQuery, Metadata, NewFile, NewKey, Plan, SortKey, UploadOutcome, User},
};
use serde_json::json;

use super::{Fresh, Place, at, indexed, manage, own, reason, upload};

/// A catalog whose settings say this and nothing else.
fn bounded(limits: &[(Bound, u64)]) -> Fresh {
    let place = Place::new();
    let bounds: Bounds = limits.iter().copied().collect();
    Fresh { catalog: Box::new(place.open().within(bounds)), place }
}

fn large(content: &str, size: u64) -> NewFile {
    NewFile { size, ..upload("a.txt", content, None) }
}

pub(super) fn every_file() -> FileQuery {
    FileQuery {
        name_part: None,
        statuses: vec![],
        tags: vec![],
        sort: SortKey::Name,
        descending: false,
        after: None,
        limit: 100,
    }
}

const GB: u64 = 1_000_000_000;

impl Fresh {
    async fn held(&self, user: &User, bound: Bound) -> (u64, u64) {
        let held = self.catalog.holdings(user.id).await.unwrap();
        held.iter().find(|held| held.bound == bound).map(|held| (held.used, held.allowed)).unwrap()
    }
}

#[tokio::test]
async fn of_many_boxes_made_at_once_exactly_as_many_stay_as_the_bound_says() {
    let fresh = bounded(&[(Bound::Boxes, 3)]);
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let made = (0..20).map(|_| fresh.catalog.add_box("b".parse().unwrap(), ada.id));
    let (made, refused): (Vec<_>, Vec<_>) =
        futures::future::join_all(made).await.into_iter().partition(Result::is_ok);
    assert_eq!((made.len(), fresh.held(&ada, Bound::Boxes).await), (3, (3, 3)));
    let fault = refused.into_iter().next().unwrap().unwrap_err();
    assert_eq!(fault.reason, Reason::QuotaExceeded);
    assert!(fault.cause.contains("boxes = 3"), "{fault}");
    let hers = fresh.box_of(&eve).await;
    let given = fresh.catalog.grant(&manage(&hers), ada.id, Role::Owner).await;
    assert_eq!(reason(given), Some(Reason::QuotaExceeded), "nor is one given to who has as many");
    fresh.catalog.grant(&manage(&hers), ada.id, Role::Admin).await.unwrap();
    let handed = fresh.catalog.hand_over(&own(&hers), eve.id, ada.id).await;
    assert_eq!(reason(handed), Some(Reason::QuotaExceeded), "nor handed over");
}

#[tokio::test]
async fn of_many_uploads_at_once_exactly_as_many_stay_as_the_bound_says() {
    let fresh = bounded(&[(Bound::Files, 5)]);
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let added = (0..20).map(|n| fresh.catalog.add_file(&writing, large(&n.to_string(), 1)));
    let passed = futures::future::join_all(added).await.into_iter().filter(Result::is_ok).count();
    assert_eq!(passed, 5);
    let first = fresh.catalog.list_files(&[*writing.reading()], every_file()).await.unwrap();
    assert_eq!(first.total, 5);
    let other = fresh.box_of(&ada).await;
    fresh.file(&other, large("0", 1)).await;
    let file = first.files[0].id;
    fresh.catalog.begin_delete(&writing, file).await.unwrap();
    fresh.catalog.finish_delete(&writing, file).await.unwrap();
    fresh.file(&writing, large("99", 1)).await;
}

#[tokio::test]
async fn bytes_count_for_every_owner_until_they_are_gone() {
    let fresh = bounded(&[(Bound::StorageGb, 2)]);
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (one, two) = (fresh.box_of(&ada).await, fresh.box_of(&ada).await);
    let file = fresh.file(&one, large("1", GB)).await.file;
    fresh.file(&two, large("2", GB - 1)).await;
    assert_eq!(fresh.held(&ada, Bound::StorageGb).await, (2 * GB - 1, 2 * GB));
    let refused = fresh.catalog.add_file(&two, large("3", 2)).await.unwrap_err();
    assert_eq!((refused.reason, refused.reason.status()), (Reason::QuotaTooLarge, 413));
    fresh.file(&two, large("4", 1)).await;

    let hers = fresh.box_of(&eve).await;
    fresh.file(&hers, large("5", 1)).await;
    let given = fresh.catalog.grant(&manage(&hers), ada.id, Role::Owner).await;
    assert_eq!(reason(given), Some(Reason::QuotaTooLarge), "it would bring her past her bytes");

    fresh.catalog.begin_delete(&one, file.id).await.unwrap();
    fresh.catalog.finish_delete(&one, file.id).await.unwrap();
    assert_eq!(fresh.held(&ada, Bound::StorageGb).await.0, GB);
    fresh.catalog.begin_delete_box(&own(&two)).await.unwrap();
    assert_eq!(fresh.held(&ada, Bound::StorageGb).await.0, 0);
}

#[tokio::test]
async fn a_version_that_waits_counts_beside_the_one_in_place() {
    let fresh = bounded(&[(Bound::StorageGb, 2)]);
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let version = |content, size| NewFile { size, ..upload("a.txt", content, Some("doc")) };
    fresh.file(&writing, version("1", GB / 2)).await;
    let job = fresh.claim("one").await.unwrap();
    fresh.catalog.finish_job(&job, "one", indexed(1), at(0)).await.unwrap();
    assert_eq!(fresh.file(&writing, version("2", GB)).await.outcome, UploadOutcome::Replaced);
    assert_eq!(fresh.held(&ada, Bound::StorageGb).await.0, GB + GB / 2);
    let refused = fresh.catalog.add_file(&writing, version("3", 2 * GB)).await;
    assert_eq!(reason(refused), Some(Reason::QuotaTooLarge));
    let job = fresh.claim("one").await.unwrap();
    fresh.catalog.finish_job(&job, "one", indexed(1), at(1)).await.unwrap();
    assert_eq!(fresh.held(&ada, Bound::StorageGb).await.0, GB, "the old one is gone");
}

#[tokio::test]
async fn only_so_many_files_of_one_owner_wait_to_be_read() {
    let fresh = bounded(&[(Bound::QueuedFiles, 2)]);
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (one, two) = (fresh.box_of(&ada).await, fresh.box_of(&ada).await);
    fresh.file(&one, large("1", 1)).await;
    fresh.file(&two, large("2", 1)).await;
    assert_eq!(reason(fresh.catalog.add_file(&two, large("3", 1)).await), Some(Reason::QuotaExceeded));
    let hers = fresh.box_of(&eve).await;
    fresh.file(&hers, large("1", 1)).await;
    let job = fresh.claim("one").await.unwrap();
    let job = if job.box_id == hers.box_id() { fresh.claim("one").await.unwrap() } else { job };
    fresh.catalog.finish_job(&job, "one", indexed(1), at(0)).await.unwrap();
    fresh.file(&two, large("3", 1)).await;
}

#[tokio::test]
async fn changing_metadata_again_and_again_does_not_make_it_grow_past_its_bound() {
    let fresh = bounded(&[(Bound::MetadataKb, 4), (Bound::Tags, 3)]);
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let file = fresh.file(&writing, large("1", 1)).await.file;
    let entry = |n: usize, value| FileChanges {
        metadata: Some(Metadata::from([(format!("entry{n}"), value)])),
        ..FileChanges::default()
    };
    let mut refused = None;
    for n in 0..20 {
        let changed = fresh.catalog.change_file(&writing, file.id, entry(n, json!("x".repeat(1000)))).await;
        if let Err(fault) = changed {
            refused.get_or_insert((n, fault.reason));
        }
    }
    assert_eq!(refused, Some((4, Reason::QuotaTooLarge)));
    let kept = fresh.find(&writing, file.id).await.unwrap().metadata;
    assert_eq!(kept.len(), 4, "what was refused left nothing behind");
    fresh.catalog.change_file(&writing, file.id, entry(0, json!(null))).await.unwrap();

    let tags = |count: usize| Some((0..count).map(|n| n.to_string()).collect());
    let many = FileChanges { tags: tags(4), ..FileChanges::default() };
    let many = fresh.catalog.change_file(&writing, file.id, many).await;
    assert_eq!(reason(many), Some(Reason::QuotaTooLarge));
    let new = NewFile { tags: tags(4), ..large("2", 1) };
    assert_eq!(reason(fresh.catalog.add_file(&writing, new).await), Some(Reason::QuotaTooLarge));
}

#[tokio::test]
async fn an_account_has_its_own_bounds_then_its_plans_then_the_settings() {
    let fresh = bounded(&[(Bound::Boxes, 1)]);
    let ada = fresh.user("ada@example.org").await;
    let mut quota = Quota::default();
    quota.set(Bound::Boxes, Some(2));
    let plan = Plan { name: "big".parse().unwrap(), monthly_units: Some(5), quota: quota.clone() };
    fresh.catalog.put_plan(plan.clone()).await.unwrap();
    let plans = fresh.catalog.plans().await.unwrap();
    assert_eq!(plans.iter().find(|known| known.name == plan.name).unwrap().quota, quota);
    assert_eq!(fresh.held(&ada, Bound::Boxes).await, (0, 1));
    fresh.catalog.set_user_plan(ada.id, plan.name.clone()).await.unwrap();
    assert_eq!(fresh.held(&ada, Bound::Boxes).await, (0, 2));
    quota.set(Bound::Boxes, Some(3));
    fresh.catalog.set_user_quota(ada.id, quota.clone()).await.unwrap();
    assert_eq!(fresh.catalog.user_quota(ada.id).await.unwrap(), quota);
    for _ in 0..3 {
        fresh.box_of(&ada).await;
    }
    let fourth = fresh.catalog.add_box("b".parse().unwrap(), ada.id).await;
    assert_eq!(reason(fourth), Some(Reason::QuotaExceeded));
    fresh.catalog.set_user_plan(ada.id, plan.name).await.unwrap();
    assert_eq!(fresh.held(&ada, Bound::Boxes).await, (3, 2), "what is there stays");
}

#[tokio::test]
async fn users_take_turns_however_many_boxes_one_of_them_has() {
    let fresh = super::fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    for n in 0..6 {
        let many = fresh.box_of(&ada).await;
        fresh.file(&many, large(&format!("1{n}"), 1)).await;
    }
    let single = fresh.box_of(&eve).await;
    for n in 0..3 {
        fresh.file(&single, large(&format!("2{n}"), 1)).await;
    }
    let mut order = String::new();
    while let Some(job) = fresh.catalog.claim_job("one", at(order.len() as i64)).await.unwrap() {
        fresh.catalog.finish_job(&job, "one", indexed(0), at(0)).await.unwrap();
        order.push(if job.box_id == single.box_id() { 'e' } else { 'a' });
    }
    assert_eq!(order.len(), 9);
    assert_eq!(order[..6].matches('e').count(), 3, "one box waits behind six of somebody else: {order}");
}

#[tokio::test]
async fn a_user_has_so_many_keys_and_a_box_so_many_members() {
    let fresh = bounded(&[(Bound::Keys, 2), (Bound::Members, 2)]);
    let (ada, eve, bob) = (
        fresh.user("ada@example.org").await,
        fresh.user("eve@example.org").await,
        fresh.user("bob@example.org").await,
    );
    let key = || NewKey {
        key: ApiKey::generate(),
        user: ada.id,
        name: "k".parse().unwrap(),
        expires_at: None,
        permissions: Permissions::ALL,
        boxes: None,
        origins: Default::default(),
    };
    let first = fresh.catalog.add_key(key()).await.unwrap();
    fresh.catalog.add_key(key()).await.unwrap();
    assert_eq!(reason(fresh.catalog.add_key(key()).await), Some(Reason::QuotaExceeded));
    fresh.catalog.revoke_key(&first.prefix).await.unwrap();
    fresh.catalog.add_key(key()).await.unwrap();

    let writing = fresh.box_of(&ada).await;
    fresh.catalog.grant(&manage(&writing), eve.id, Role::Viewer).await.unwrap();
    fresh.catalog.grant(&manage(&writing), eve.id, Role::Editor).await.unwrap();
    let more = fresh.catalog.grant(&manage(&writing), bob.id, Role::Viewer).await;
    assert_eq!(reason(more), Some(Reason::QuotaExceeded));
}
