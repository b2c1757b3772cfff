//! What every catalog must do, run against each of them.

mod arrivals;
mod attempts;
mod bounds;
mod conversations;
mod cut;
mod dashboard;
mod deletion;
mod evaluation;
mod grants;
mod identity;
mod language;
mod model;
mod nodes;
mod passkeys;
mod questions;
mod retention;
mod second_factor;
mod sources;
mod tries;
mod units;
mod uploads;
mod versions;
mod webhooks;

use std::time::Duration;

use engine::{
    Reason,
    access::{Managing, Owning, Role, Writing},
    apikey::ApiKey,
    ids::{BoxId, FileId},
    origins::Origins,
    permissions::Permissions,
    seams::catalog::{
        Catalog, Email, Exposure, Extent, FileChanges, FileProgress, FileQuery, FileRecord, FileStatus, Job,
        JobOutcome, KeyState, NewFile, NewKey, NewUser, Plan, UploadOutcome, Uploaded, User, UserLanguage,
        Users,
    },
};
use jiff::Timestamp;

use super::Sql;
use crate::scaled;

/// A catalog of its own, gone with the test.
struct Fresh {
    catalog: Box<dyn Catalog>,
    place: Place,
}

/// Where a catalog is, to be opened again.
enum Place {
    File(tempfile::TempDir),
    Server(String),
}

fn fresh() -> Fresh {
    let place = Place::new();
    Fresh { catalog: Box::new(place.open()), place }
}

impl Place {
    fn new() -> Place {
        match scaled::wanted() {
            true => Place::Server(scaled::schema().expect("a server")),
            false => Place::File(tempfile::tempdir().unwrap()),
        }
    }

    fn open(&self) -> Sql {
        match self {
            Place::File(folder) => Sql::open(&folder.path().join("catalog.db")).unwrap(),
            Place::Server(url) => Sql::connect(url).unwrap(),
        }
    }
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
        let key = NewKey {
            key,
            user: user.id,
            name: "test".parse().unwrap(),
            expires_at: None,
            permissions: Permissions::ALL,
            boxes,
            origins: Default::default(),
        };
        self.catalog.add_key(key).await.unwrap();
        prefix
    }
}

/// The right to manage the box that may be changed.
fn manage(writing: &Writing) -> Managing {
    Managing::for_operator(writing.box_id())
}

/// The right of its owner.
fn own(writing: &Writing) -> Owning {
    Owning::for_operator(writing.box_id())
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
    let big = Plan { name: "big".parse().unwrap(), monthly_units: Some(9_000), quota: Default::default() };
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
async fn an_account_has_the_language_that_was_chosen_last() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    assert_eq!(ada.language, None);
    for language in UserLanguage::ALL.map(Some).into_iter().chain([None]) {
        fresh.catalog.set_user_language(ada.id, language).await.unwrap();
        assert_eq!(fresh.catalog.user(&ada.email).await.unwrap().language, language);
    }
    assert_eq!(fresh.catalog.user(&eve.email).await.unwrap().language, None);
}

#[tokio::test]
async fn a_box_keeps_an_owner() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    assert_eq!(reason(fresh.catalog.revoke(&manage(&writing), ada.id).await), Some(Reason::Conflict));
    assert_eq!(
        reason(fresh.catalog.grant(&manage(&writing), ada.id, Role::Viewer).await),
        Some(Reason::Conflict)
    );
    assert_eq!(reason(fresh.catalog.revoke(&manage(&writing), eve.id).await), Some(Reason::NotFound));
    fresh.catalog.grant(&manage(&writing), eve.id, Role::Owner).await.unwrap();
    fresh.catalog.revoke(&manage(&writing), ada.id).await.unwrap();
    let members = fresh.catalog.members(writing.reading()).await.unwrap();
    assert_eq!(
        members.iter().map(|m| (m.email.as_str(), m.role)).collect::<Vec<_>>(),
        [("eve@example.org", Role::Owner)]
    );
    let nowhere = Writing::for_operator(BoxId::generate());
    assert_eq!(
        reason(fresh.catalog.grant(&manage(&nowhere), ada.id, Role::Owner).await),
        Some(Reason::BoxUnknown)
    );
    assert_eq!(reason(fresh.catalog.begin_delete_box(&own(&nowhere)).await), Some(Reason::BoxUnknown));
}

#[tokio::test]
async fn a_key_carries_its_users_roles() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (mine, hers) = (fresh.box_of(&ada).await, fresh.box_of(&eve).await);
    fresh.catalog.grant(&manage(&hers), ada.id, Role::Viewer).await.unwrap();
    let prefix = fresh.key_of(&ada, None).await;
    let stored = fresh.catalog.stored_key(&prefix).await.unwrap().unwrap();
    assert_eq!(stored.state, KeyState::Active);
    assert_eq!(stored.caller.user, ada.id);
    assert_eq!(stored.caller.role(mine.box_id()), Some(Role::Owner));
    assert_eq!(stored.caller.role(hers.box_id()), Some(Role::Viewer));
    assert!(fresh.catalog.stored_key("AAAAAAAA").await.unwrap().is_none());
}

#[tokio::test]
async fn a_key_has_the_permissions_that_it_was_made_with() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    for permissions in ["search", "search,read", "write,manage", "search,read,write,manage"] {
        let (key, permissions) = (ApiKey::generate(), permissions.parse::<Permissions>().unwrap());
        let prefix = key.prefix().to_string();
        let name = "test".parse().unwrap();
        let origins = Default::default();
        let key = NewKey { key, user: ada.id, name, expires_at: None, permissions, boxes: None, origins };
        assert_eq!(fresh.catalog.add_key(key).await.unwrap().permissions, permissions);
        let stored = fresh.catalog.stored_key(&prefix).await.unwrap().unwrap();
        assert_eq!(stored.caller.permissions, permissions);
        let listed = fresh.catalog.keys(Some(ada.id)).await.unwrap();
        assert!(listed.iter().any(|key| key.prefix == prefix && key.permissions == permissions));
    }
}

#[tokio::test]
async fn a_key_keeps_the_web_sites_that_it_names() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    for origins in ["", "https://www.example.org", "http://localhost:3000 https://www.example.org"] {
        let (key, origins) = (ApiKey::generate(), origins.parse::<Origins>().unwrap());
        let prefix = key.prefix().to_string();
        let key = NewKey {
            key,
            user: ada.id,
            name: "page".parse().unwrap(),
            expires_at: None,
            permissions: Permissions::SEARCH,
            boxes: Some(vec![writing.box_id()]),
            origins: origins.clone(),
        };
        assert_eq!(fresh.catalog.add_key(key).await.unwrap().origins, origins);
        let stored = fresh.catalog.stored_key(&prefix).await.unwrap().unwrap();
        assert_eq!(stored.caller.origins, origins);
        let listed = fresh.catalog.keys(Some(ada.id)).await.unwrap();
        assert!(listed.iter().any(|key| key.prefix == prefix && key.origins == origins));
    }
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
        permissions: Permissions::ALL,
        boxes: Some(vec![hers.box_id()]),
        origins: Default::default(),
    };
    assert_eq!(reason(fresh.catalog.add_key(foreign).await), Some(Reason::NotFound));
    assert_eq!(fresh.catalog.keys(None).await.unwrap().len(), 0, "a refused key leaves nothing behind");
    let prefix = fresh.key_of(&ada, Some(vec![mine.box_id()])).await;
    fresh.catalog.begin_delete_box(&own(&mine)).await.unwrap();
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
    catalog.grant(&manage(&writing), eve.id, Role::Admin).await.unwrap();
    changed("grant").await;
    catalog.revoke(&manage(&writing), eve.id).await.unwrap();
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
    catalog.begin_delete_box(&own(&writing)).await.unwrap();
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
async fn a_key_is_exposed_once_and_what_changes_nothing_leaves_the_version() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let (catalog, prefix) = (&fresh.catalog, fresh.key_of(&ada, None).await);
    assert!(!catalog.stored_key(&prefix).await.unwrap().unwrap().exposed);
    assert!(catalog.expose_key(&prefix, Exposure::Url, false).await.unwrap(), "the first time");
    assert!(catalog.stored_key(&prefix).await.unwrap().unwrap().exposed);
    let version = catalog.access_version().await.unwrap();
    assert!(!catalog.expose_key(&prefix, Exposure::PlainHttp, false).await.unwrap(), "once");
    assert!(!catalog.expose_key("AAAAAAAA", Exposure::Url, true).await.unwrap(), "nobody's");
    catalog.grant(&manage(&writing), ada.id, Role::Owner).await.unwrap();
    assert_eq!(catalog.access_version().await.unwrap(), version, "nothing has changed");
    assert!(catalog.expose_key(&prefix, Exposure::Url, true).await.unwrap(), "now it is revoked");
    let version = catalog.access_version().await.unwrap();
    assert!(!catalog.expose_key(&prefix, Exposure::Url, true).await.unwrap());
    catalog.revoke_key(&prefix).await.unwrap();
    assert_eq!(catalog.access_version().await.unwrap(), version, "it is revoked already");
}

#[tokio::test]
async fn a_part_of_a_name_is_found_whatever_its_case() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    for (content, name) in ["Ärger.txt", "straße.TXT", "İ", "100%_a.pdf", "文.pdf"].iter().enumerate() {
        fresh.file(&writing, upload(name, &content.to_string(), None)).await;
    }
    for (part, expected) in [
        ("ärger", &["Ärger.txt"][..]),
        ("ÄRG", &["Ärger.txt"]),
        ("ße.txt", &["straße.TXT"]),
        ("%_A", &["100%_a.pdf"]),
        ("_", &["100%_a.pdf"]),
        ("İ", &["İ"]),
        ("文.PDF", &["文.pdf"]),
        ("x.", &[]),
    ] {
        let query = FileQuery { name_part: Some(part.into()), ..bounds::every_file() };
        let found = fresh.catalog.list_files(&[*writing.reading()], query).await.unwrap();
        let names: Vec<&str> = found.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, expected, "{part}");
    }
}

#[tokio::test]
async fn concurrent_writes_all_land_and_survive_reopening() {
    let place = Place::new();
    {
        let catalog = std::sync::Arc::new(place.open());
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
    assert_eq!(place.open().users().await.unwrap().len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_panics_is_refused_and_the_others_go_on() {
    let place = Place::new();
    let catalog = std::sync::Arc::new(place.open());
    let tasks: Vec<_> = (0..60)
        .map(|n| {
            let catalog = catalog.clone();
            tokio::spawn(async move {
                if n % 3 == 0 {
                    let panicked = catalog.database.write::<()>(|t| {
                        t.execute("delete from users", &[])?;
                        panic!("on purpose");
                    });
                    return reason(panicked.await) == Some(Reason::Internal);
                }
                let email = format!("u{n}@example.org").parse().unwrap();
                let user = NewUser { email, password_hash: None, plan: Default::default() };
                catalog.add_user(user).await.is_ok()
            })
        })
        .collect();
    for task in tasks {
        assert!(task.await.unwrap());
    }
    assert_eq!(catalog.users().await.unwrap().len(), 40, "nothing of what panicked, all of the others");
}

fn upload(name: &str, content: &str, external_id: Option<&str>) -> NewFile {
    NewFile {
        name: name.parse().unwrap(),
        external_id: external_id.map(str::to_string),
        sha256: format!("{content:0>64}"),
        size: 10,
        media_type: "text/plain".into(),
        tags: Some(vec!["b".into(), "a".into()]),
        metadata: None,
        expires_at: None,
    }
}

fn indexed(chunks: u32) -> JobOutcome {
    JobOutcome::Indexed {
        status: FileStatus::Ready,
        media_type: "text/plain".into(),
        warnings: vec![],
        language: Some("en".into()),
        extent: Extent { pages: 1, characters: 5, chunks },
    }
}

fn at(second: i64) -> Timestamp {
    // Jobs come due when they are added, which is now; so the clock of these tests starts a little later.
    Timestamp::from_second(Timestamp::now().as_second() + 10 + second).unwrap()
}

impl Fresh {
    async fn file(&self, writing: &Writing, file: NewFile) -> Uploaded {
        self.catalog.add_file(writing, file).await.unwrap()
    }

    async fn claim(&self, worker: &str) -> Option<Job> {
        self.catalog.claim_job(worker, at(0)).await.unwrap()
    }

    async fn find(&self, writing: &Writing, id: FileId) -> Option<FileRecord> {
        self.catalog.files(writing.reading(), &[id]).await.unwrap().pop().unwrap()
    }
}

#[tokio::test]
async fn a_file_is_read_once_and_then_ready() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let added = fresh.file(&writing, upload("a.txt", "1", None)).await;
    assert_eq!((added.outcome, added.file.status), (UploadOutcome::Added, FileStatus::Queued));
    assert_eq!(added.file.tags, ["a", "b"]);
    let job = fresh.claim("one").await.unwrap();
    assert!(fresh.claim("two").await.is_none(), "a job is one worker's");
    assert_eq!(fresh.find(&writing, added.file.id).await.unwrap().status, FileStatus::Processing);
    let progress = FileProgress { done: 3, total: Some(9) };
    assert!(fresh.catalog.beat(&job, "one", progress).await.unwrap());
    assert!(!fresh.catalog.beat(&job, "two", progress).await.unwrap());
    assert_eq!(fresh.find(&writing, added.file.id).await.unwrap().progress, progress);
    assert!(!fresh.catalog.finish_job(&job, "two", indexed(4), at(2)).await.unwrap().written);
    assert!(fresh.catalog.finish_job(&job, "one", indexed(4), at(2)).await.unwrap().written);
    assert!(!fresh.catalog.finish_job(&job, "one", indexed(5), at(3)).await.unwrap().written, "only once");
    let file = fresh.find(&writing, added.file.id).await.unwrap();
    assert_eq!(
        (file.status, file.extent.chunks, file.language.as_deref()),
        (FileStatus::Ready, 4, Some("en"))
    );
    assert_eq!(fresh.catalog.queue_length().await.unwrap(), 0);
}

#[tokio::test]
async fn boxes_take_turns() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (large, small) = (fresh.box_of(&ada).await, fresh.box_of(&ada).await);
    for n in 0..6 {
        fresh.file(&large, upload("l.txt", &format!("1{n}"), None)).await;
    }
    fresh.file(&small, upload("s.txt", "20", None)).await;
    fresh.file(&small, upload("s.txt", "21", None)).await;
    let mut order = Vec::new();
    // One worker: every job is finished before the next is claimed.
    while let Some(job) = fresh.catalog.claim_job("one", at(order.len() as i64)).await.unwrap() {
        fresh.catalog.finish_job(&job, "one", indexed(0), at(0)).await.unwrap();
        order.push(if job.box_id == small.box_id() { 's' } else { 'l' });
    }
    let text: String = order.iter().collect();
    assert_eq!(text.len(), 8);
    assert!(text[..4].matches('s').count() == 2, "the small box waits behind the large one: {text}");
}

#[tokio::test]
async fn a_job_that_was_given_back_is_as_if_never_taken() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let file = fresh.file(&writing, upload("a.txt", "1", None)).await.file.id;
    let taken = fresh.claim("ending").await.unwrap();
    fresh.catalog.give_job_back(&taken, "somebody else").await.unwrap();
    assert!(fresh.claim("next").await.is_none(), "it was not theirs to give");
    fresh.catalog.give_job_back(&taken, "ending").await.unwrap();
    let found = fresh.catalog.files(writing.reading(), &[file]).await.unwrap();
    assert_eq!(found[0].as_ref().unwrap().status, FileStatus::Queued);
    let again = fresh.claim("next").await.unwrap();
    assert_eq!((again.id, again.starts, again.failures), (taken.id, 1, 0));
}

#[tokio::test]
async fn an_abandoned_job_is_taken_over() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    fresh.file(&writing, upload("a.txt", "1", None)).await;
    let lost = fresh.claim("dead").await.unwrap();
    assert_eq!(
        fresh.catalog.requeue_abandoned(Duration::from_secs(60)).await.unwrap(),
        0,
        "it was heard of since"
    );
    assert_eq!(fresh.catalog.requeue_abandoned(Duration::ZERO).await.unwrap(), 1);
    let taken = fresh.claim("alive").await.unwrap();
    assert_eq!((taken.id, taken.starts, taken.failures), (lost.id, 2, 0));
    assert!(!fresh.catalog.finish_job(&lost, "dead", indexed(0), at(1)).await.unwrap().written);
}

#[tokio::test]
async fn a_failed_try_comes_due_later_and_a_failure_stays() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let id = fresh.file(&writing, upload("a.txt", "1", None)).await.file.id;
    let job = fresh.claim("one").await.unwrap();
    let retry = JobOutcome::Retry { after: std::time::Duration::from_secs(30) };
    fresh.catalog.finish_job(&job, "one", retry, at(0)).await.unwrap();
    assert!(fresh.claim("one").await.is_none());
    let again = fresh.catalog.claim_job("one", at(31)).await.unwrap().unwrap();
    assert_eq!(again.failures, 1);
    let failed = JobOutcome::Failed { error: "locked".into() };
    fresh.catalog.finish_job(&again, "one", failed, at(32)).await.unwrap();
    let file = fresh.find(&writing, id).await.unwrap();
    assert_eq!((file.status, file.error.as_deref()), (FileStatus::Failed, Some("locked")));
    // The same bytes again are worth another try.
    let known = fresh.file(&writing, upload("a.txt", "1", None)).await;
    assert_eq!((known.outcome, known.file.status), (UploadOutcome::Known, FileStatus::Queued));
}

#[tokio::test]
async fn a_new_version_waits_beside_the_old_one() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let first = fresh.file(&writing, upload("a.txt", "1", Some("doc"))).await.file;
    let job = fresh.claim("one").await.unwrap();
    fresh.catalog.finish_job(&job, "one", indexed(1), at(0)).await.unwrap();
    let second = fresh.file(&writing, upload("b.txt", "2", Some("doc"))).await;
    assert_eq!((second.outcome, second.file.id), (UploadOutcome::Replaced, first.id));
    assert_eq!(second.file.sha256, first.sha256, "the old one stays in place");
    assert!(fresh.catalog.original_is_wanted(&upload("b.txt", "2", None).sha256).await.unwrap());
    // A third one before the second was read takes the second's place.
    let third = fresh.file(&writing, upload("c.txt", "3", Some("doc"))).await;
    assert_eq!(third.superseded, [format!("{:0>64}", "2")]);
    let job = fresh.claim("one").await.unwrap();
    assert_eq!((job.name.as_str(), &job.sha256), ("c.txt", &format!("{:0>64}", "3")));
    let finished = fresh.catalog.finish_job(&job, "one", indexed(1), at(1)).await.unwrap();
    assert_eq!(finished.superseded, [first.sha256]);
    let file = fresh.find(&writing, first.id).await.unwrap();
    assert_eq!((file.name.as_str(), file.sha256), ("c.txt", format!("{:0>64}", "3")));
}

#[tokio::test]
async fn two_outside_names_are_two_files_and_bytes_alone_are_one() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let plain = fresh.file(&writing, upload("a.txt", "1", None)).await.file.id;
    let named = fresh.file(&writing, upload("a.txt", "1", Some("x"))).await;
    assert_eq!((named.outcome, named.file.id), (UploadOutcome::Known, plain), "it gets the name");
    let other = fresh.file(&writing, upload("a.txt", "1", Some("y"))).await;
    assert_eq!(other.outcome, UploadOutcome::Added);
    let again = fresh.file(&writing, upload("a.txt", "1", None)).await;
    assert_eq!((again.outcome, again.file.id), (UploadOutcome::Known, plain));
    let elsewhere = fresh.box_of(&ada).await;
    assert_eq!(fresh.file(&elsewhere, upload("a.txt", "1", None)).await.outcome, UploadOutcome::Added);
}

#[tokio::test]
async fn a_deleted_file_is_gone_and_its_worker_stops() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let file = fresh.file(&writing, upload("a.txt", "1", Some("doc"))).await.file;
    let job = fresh.claim("one").await.unwrap();
    let deletion = fresh.catalog.begin_delete(&writing, file.id).await.unwrap().unwrap();
    assert_eq!(deletion.originals, std::slice::from_ref(&file.sha256));
    assert!(fresh.find(&writing, file.id).await.is_none());
    assert!(fresh.catalog.box_of_file(file.id).await.unwrap().is_none());
    assert!(!fresh.catalog.original_is_wanted(&file.sha256).await.unwrap());
    assert!(!fresh.catalog.beat(&job, "one", FileProgress::default()).await.unwrap());
    assert!(!fresh.catalog.finish_job(&job, "one", indexed(0), at(1)).await.unwrap().written);
    assert_eq!(fresh.catalog.half_deleted().await.unwrap().len(), 1, "a crash here is finished later");
    assert_eq!(fresh.file(&writing, upload("a.txt", "1", Some("doc"))).await.outcome, UploadOutcome::Added);
    fresh.catalog.finish_delete(&writing, file.id).await.unwrap();
    assert!(fresh.catalog.half_deleted().await.unwrap().is_empty());
    assert!(fresh.catalog.begin_delete(&writing, file.id).await.unwrap().is_none());
    let foreign = fresh.box_of(&ada).await;
    let kept = fresh.file(&writing, upload("k.txt", "9", None)).await.file.id;
    assert!(
        fresh.catalog.begin_delete(&foreign, kept).await.unwrap().is_none(),
        "another box's right is no right"
    );
}

#[tokio::test]
async fn the_link_secret_is_made_once() {
    let fresh = fresh();
    let secret = fresh.catalog.link_secret().await.unwrap();
    assert_eq!(secret.len(), 64);
    assert_eq!(fresh.catalog.link_secret().await.unwrap(), secret);
}

#[tokio::test]
async fn a_file_can_be_given_an_outside_name_that_no_other_has() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let first = fresh.file(&writing, upload("a.txt", "1", Some("x/a.txt"))).await.file;
    fresh.file(&writing, upload("b.txt", "2", Some("x/b.txt"))).await;
    let to = |id: &str| FileChanges { external_id: Some(id.into()), ..FileChanges::default() };
    let changed = fresh.catalog.change_file(&writing, first.id, to("y/a.txt")).await.unwrap().unwrap();
    assert_eq!(changed.external_id.as_deref(), Some("y/a.txt"));
    let taken = fresh.catalog.change_file(&writing, first.id, to("x/b.txt")).await;
    assert_eq!(reason(taken), Some(Reason::Conflict));
    let again = fresh.file(&writing, upload("a.txt", "3", Some("y/a.txt"))).await.file;
    assert_eq!(again.id, first.id, "it is known by it from now on");
}
