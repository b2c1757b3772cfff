//! What every catalog must do, run against each of them.

use engine::{
    Reason,
    access::{Role, Writing},
    apikey::ApiKey,
    ids::BoxId,
    seams::catalog::{Catalog, Email, Exposure, KeyState, NewKey, NewUser, Plan, User, Users},
};
use jiff::Timestamp;

use super::Sqlite;

/// A catalog of its own, gone with the test.
struct Fresh {
    catalog: Box<dyn Catalog>,
    _folder: tempfile::TempDir,
}

fn fresh() -> Fresh {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Box::new(Sqlite::open(&folder.path().join("catalog.db")).unwrap());
    Fresh { catalog, _folder: folder }
}

impl Fresh {
    async fn user(&self, email: &str) -> User {
        let user = NewUser { email: email.parse().unwrap(), password_hash: None, plan: Default::default() };
        self.catalog.add_user(user).await.unwrap()
    }

    async fn box_of(&self, owner: &User) -> Writing {
        let record = self.catalog.add_box("papers".parse().unwrap(), owner.id).await.unwrap();
        Writing::for_operator(record.id)
    }

    async fn key_of(&self, user: &User, boxes: Option<Vec<BoxId>>) -> String {
        let key = ApiKey::generate();
        let prefix = key.prefix().to_string();
        let key = NewKey { key, user: user.id, name: "test".parse().unwrap(), expires_at: None, boxes };
        self.catalog.add_key(key).await.unwrap();
        prefix
    }
}

fn reason<T>(result: Result<T, engine::Fault>) -> Option<Reason> {
    result.err().map(|fault| fault.reason)
}

#[tokio::test]
async fn an_address_has_one_account() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let again =
        NewUser { email: "ADA@example.org".parse().unwrap(), password_hash: None, plan: Default::default() };
    assert_eq!(reason(fresh.catalog.add_user(again).await), Some(Reason::Conflict));
    assert_eq!(fresh.catalog.user(&ada.email).await.unwrap().id, ada.id);
    let nobody: Email = "nobody@example.org".parse().unwrap();
    assert_eq!(reason(fresh.catalog.user(&nobody).await), Some(Reason::NotFound));
}

#[tokio::test]
async fn units_come_from_the_account_then_the_plan() {
    let fresh = fresh();
    let big = Plan { name: "big".parse().unwrap(), monthly_units: Some(9_000) };
    fresh.catalog.put_plan(big).await.unwrap();
    let standard = fresh.user("ada@example.org").await;
    let unknown = NewUser {
        email: "x@example.org".parse().unwrap(),
        password_hash: None,
        plan: "nope".parse().unwrap(),
    };
    assert_eq!(reason(fresh.catalog.add_user(unknown).await), Some(Reason::NotFound));
    let eve = NewUser {
        email: "eve@example.org".parse().unwrap(),
        password_hash: None,
        plan: "big".parse().unwrap(),
    };
    let eve = fresh.catalog.add_user(eve).await.unwrap();
    assert_eq!((standard.monthly_units, eve.monthly_units), (None, Some(9_000)));
    fresh.catalog.set_user_units(eve.id, 5).await.unwrap();
    assert_eq!(fresh.catalog.user(&eve.email).await.unwrap().monthly_units, Some(5));
    assert_eq!(fresh.catalog.plans().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_box_keeps_an_owner() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    assert_eq!(reason(fresh.catalog.revoke(&writing, ada.id).await), Some(Reason::Conflict));
    assert_eq!(reason(fresh.catalog.grant(&writing, ada.id, Role::Viewer).await), Some(Reason::Conflict));
    assert_eq!(reason(fresh.catalog.revoke(&writing, eve.id).await), Some(Reason::NotFound));
    fresh.catalog.grant(&writing, eve.id, Role::Owner).await.unwrap();
    fresh.catalog.revoke(&writing, ada.id).await.unwrap();
    let members = fresh.catalog.members(writing.reading()).await.unwrap();
    assert_eq!(
        members.iter().map(|m| (m.email.as_str(), m.role)).collect::<Vec<_>>(),
        [("eve@example.org", Role::Owner)]
    );
    let nowhere = Writing::for_operator(BoxId::generate());
    assert_eq!(reason(fresh.catalog.grant(&nowhere, ada.id, Role::Owner).await), Some(Reason::BoxUnknown));
    assert_eq!(reason(fresh.catalog.delete_box(&nowhere).await), Some(Reason::BoxUnknown));
}

#[tokio::test]
async fn a_key_carries_its_users_roles() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (mine, hers) = (fresh.box_of(&ada).await, fresh.box_of(&eve).await);
    fresh.catalog.grant(&hers, ada.id, Role::Viewer).await.unwrap();
    let prefix = fresh.key_of(&ada, None).await;
    let stored = fresh.catalog.stored_key(&prefix).await.unwrap().unwrap();
    assert_eq!(stored.state, KeyState::Active);
    assert_eq!(stored.caller.user, ada.id);
    assert_eq!(stored.caller.role(mine.box_id()), Some(Role::Owner));
    assert_eq!(stored.caller.role(hers.box_id()), Some(Role::Viewer));
    assert!(fresh.catalog.stored_key("AAAAAAAA").await.unwrap().is_none());
}

#[tokio::test]
async fn a_scoped_key_never_widens() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (mine, hers) = (fresh.box_of(&ada).await, fresh.box_of(&eve).await);
    let foreign = NewKey {
        key: ApiKey::generate(),
        user: ada.id,
        name: "n".parse().unwrap(),
        expires_at: None,
        boxes: Some(vec![hers.box_id()]),
    };
    assert_eq!(reason(fresh.catalog.add_key(foreign).await), Some(Reason::NotFound));
    assert_eq!(fresh.catalog.keys(None).await.unwrap().len(), 0, "a refused key leaves nothing behind");
    let prefix = fresh.key_of(&ada, Some(vec![mine.box_id()])).await;
    fresh.catalog.delete_box(&mine).await.unwrap();
    let stored = fresh.catalog.stored_key(&prefix).await.unwrap().unwrap();
    assert_eq!(stored.caller.scope, Some(Default::default()), "its box is gone: the key is good for none");
}

#[tokio::test]
async fn every_change_of_access_changes_the_version() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    let prefix = fresh.key_of(&ada, None).await;
    let catalog = &fresh.catalog;
    let mut last = catalog.access_version().await.unwrap();
    let mut changed = async |what: &str| {
        let now = catalog.access_version().await.unwrap();
        assert_ne!(now, last, "{what} left the version as it was");
        last = now;
    };
    catalog.grant(&writing, eve.id, Role::Admin).await.unwrap();
    changed("grant").await;
    catalog.revoke(&writing, eve.id).await.unwrap();
    changed("revoke").await;
    catalog.set_user_disabled(ada.id, true).await.unwrap();
    changed("disable").await;
    assert_eq!(catalog.stored_key(&prefix).await.unwrap().unwrap().state, KeyState::UserDisabled);
    catalog.set_user_disabled(ada.id, false).await.unwrap();
    changed("enable").await;
    catalog.set_user_units(ada.id, 3).await.unwrap();
    changed("units").await;
    catalog.expose_key(&prefix, Exposure::Url, false).await.unwrap();
    changed("expose").await;
    assert_eq!(catalog.stored_key(&prefix).await.unwrap().unwrap().state, KeyState::Active);
    catalog.revoke_key(&prefix).await.unwrap();
    changed("revoke key").await;
    assert_eq!(catalog.stored_key(&prefix).await.unwrap().unwrap().state, KeyState::Revoked);
    fresh.key_of(&ada, None).await;
    changed("add key").await;
    catalog.delete_box(&writing).await.unwrap();
    changed("delete box").await;
    catalog.add_box("b".parse().unwrap(), ada.id).await.unwrap();
    changed("add box").await;
    catalog.touch_keys(vec![(prefix, Timestamp::now())]).await.unwrap();
    assert_eq!(catalog.access_version().await.unwrap(), last, "using a key changes nobody's access");
}

#[tokio::test]
async fn exposure_and_use_are_shown() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let prefix = fresh.key_of(&ada, None).await;
    fresh.catalog.expose_key(&prefix, Exposure::PlainHttp, true).await.unwrap();
    fresh.catalog.expose_key("AAAAAAAA", Exposure::Url, true).await.unwrap();
    fresh
        .catalog
        .touch_keys(vec![(prefix.clone(), Timestamp::from_second(1_800_000_000).unwrap())])
        .await
        .unwrap();
    let keys = fresh.catalog.keys(Some(ada.id)).await.unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!(keys[0].exposed.as_ref().unwrap().1, "plain_http");
    assert!(keys[0].revoked_at.is_some());
    assert_eq!(keys[0].last_used_at.unwrap().as_second(), 1_800_000_000);
    assert_eq!(reason(fresh.catalog.revoke_key("AAAAAAAA").await), Some(Reason::NotFound));
}

#[tokio::test]
async fn concurrent_writes_all_land_and_survive_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    {
        let catalog = std::sync::Arc::new(Sqlite::open(&path).unwrap());
        let tasks: Vec<_> = (0..200)
            .map(|n| {
                let catalog = catalog.clone();
                let user = NewUser {
                    // Every second one collides, and its failure must not undo its neighbours.
                    email: format!("u{}@example.org", n / 2).parse().unwrap(),
                    password_hash: None,
                    plan: Default::default(),
                };
                tokio::spawn(async move { catalog.add_user(user).await.is_ok() })
            })
            .collect();
        let mut added = 0;
        for task in tasks {
            added += usize::from(task.await.unwrap());
        }
        assert_eq!(added, 100);
    }
    assert_eq!(Sqlite::open(&path).unwrap().users().await.unwrap().len(), 100);
}
