//! The catalog in a file beside the one on PostgreSQL: accounts, boxes, roles, keys, files, jobs, the ledger and attempts.
//!
//! Identifiers differ on both sides, so a step names things by their place in the order in which they were made, and what is
//! said of them is told by that place too.

use std::fmt::Debug;

use engine::{
    Fault,
    access::{Managing, Owning, Reading, Role, Writing},
    apikey::ApiKey,
    ids::{AttemptId, BoxId, FileId, UserId},
    permissions::Permissions,
    seams::catalog::{
        Account, Attempts, Begun, Boxes, Deletions, Exposure, Extent, FileChanges, FileQuery, FileRecord,
        FileStatus, Files, Filter, JobOutcome, Jobs, KeptAnswer, Keys, Metadata, NewAttempt, NewFile, NewKey,
        NewReservation, NewUser, Operation, Reservation, SortKey, Units, Users,
    },
};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::runtime;
use crate::{catalog::Sql, scaled};

const EMAILS: &[&str] = &["ada@example.org", "ADA@example.org", "eve@example.org", "bob@example.org"];
/// Names that databases like to order, fold and match in ways of their own.
const NAMES: &[&str] = &[
    "a.txt", "B.txt", "ä.txt", "Ä.txt", "z_1.txt", "z%1.txt", "z\\1.txt", "10.txt", "9.txt", "straße", "İ",
    "文.pdf", " a ",
];
const PARTS: &[&str] = &["", "a", "A", "Ä", "_", "%", "\\", "1", ".TXT", "STRASSE", "i", "文"];
const TAGS: &[&str] = &["x", "X", "a,b", "ü", "\"q\""];
const ROLES: [Role; 4] = [Role::Viewer, Role::Editor, Role::Admin, Role::Owner];
const SORTS: [SortKey; 4] = [SortKey::Name, SortKey::CreatedAt, SortKey::Size, SortKey::Pages];

#[derive(Debug, Clone)]
enum Step {
    AddUser {
        email: usize,
    },
    AddBox {
        owner: usize,
    },
    Rename {
        in_box: usize,
        name: usize,
    },
    Grant {
        in_box: usize,
        user: usize,
        role: usize,
    },
    Revoke {
        in_box: usize,
        user: usize,
    },
    HandOver {
        in_box: usize,
        from: usize,
        to: usize,
    },
    Disable {
        user: usize,
    },
    AddKey {
        user: usize,
        only: Option<usize>,
    },
    RevokeKey {
        key: usize,
    },
    Expose {
        key: usize,
        revoke: bool,
    },
    Key {
        key: usize,
    },
    Upload {
        in_box: usize,
        name: usize,
        content: usize,
        external: Option<usize>,
        tags: Option<Vec<usize>>,
    },
    Change {
        file: usize,
        name: Option<usize>,
        tags: Option<Vec<usize>>,
        metadata: Option<i64>,
    },
    Read {
        pages: u32,
        how: u8,
    },
    ReadAgain {
        file: usize,
    },
    Delete {
        file: usize,
    },
    DeleteBox {
        in_box: usize,
    },
    List {
        in_boxes: Vec<usize>,
        part: usize,
        tag: Option<usize>,
        status: Option<usize>,
        sort: usize,
        descending: bool,
        limit: u32,
    },
    Where {
        in_box: usize,
        least: i64,
        not: bool,
    },
    Look {
        in_box: usize,
    },
    Reserve {
        user: usize,
        most: u64,
        attempt: Option<usize>,
    },
    Settle {
        which: usize,
        actual: u64,
    },
    Release {
        which: usize,
    },
    Begin {
        key: usize,
        name: usize,
    },
    Finish {
        which: usize,
        keep: bool,
    },
    Balance {
        user: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let some = || 0usize..4;
    let tags = || prop::option::of(prop::collection::vec(0..TAGS.len(), 0..3));
    let people = prop_oneof![
        2 => (0..EMAILS.len()).prop_map(|email| Step::AddUser { email }),
        2 => some().prop_map(|owner| Step::AddBox { owner }),
        1 => (some(), 0..NAMES.len()).prop_map(|(in_box, name)| Step::Rename { in_box, name }),
        3 => (some(), some(), 0..4usize).prop_map(|(in_box, user, role)| Step::Grant { in_box, user, role }),
        1 => (some(), some()).prop_map(|(in_box, user)| Step::Revoke { in_box, user }),
        1 => (some(), some(), some()).prop_map(|(in_box, from, to)| Step::HandOver { in_box, from, to }),
        1 => some().prop_map(|user| Step::Disable { user }),
        2 => (some(), prop::option::of(some())).prop_map(|(user, only)| Step::AddKey { user, only }),
        1 => some().prop_map(|key| Step::RevokeKey { key }),
        1 => (some(), any::<bool>()).prop_map(|(key, revoke)| Step::Expose { key, revoke }),
        2 => some().prop_map(|key| Step::Key { key }),
    ];
    let files = prop_oneof![
        6 => (some(), 0..NAMES.len(), some(), prop::option::of(0usize..2), tags())
            .prop_map(|(in_box, name, content, external, tags)| Step::Upload { in_box, name, content, external, tags }),
        2 => (0usize..8, prop::option::of(0..NAMES.len()), tags(), prop::option::of(-2i64..3))
            .prop_map(|(file, name, tags, metadata)| Step::Change { file, name, tags, metadata }),
        5 => (0u32..4, 0u8..4).prop_map(|(pages, how)| Step::Read { pages, how }),
        1 => (0usize..8).prop_map(|file| Step::ReadAgain { file }),
        1 => (0usize..8).prop_map(|file| Step::Delete { file }),
        1 => some().prop_map(|in_box| Step::DeleteBox { in_box }),
        5 => (prop::collection::vec(some(), 0..3), 0..PARTS.len(), prop::option::of(0..TAGS.len()),
              prop::option::of(0..FileStatus::ALL.len()), 0..SORTS.len(), any::<bool>(), 1u32..4)
            .prop_map(|(in_boxes, part, tag, status, sort, descending, limit)| {
                Step::List { in_boxes, part, tag, status, sort, descending, limit }
            }),
        2 => (some(), -2i64..3, any::<bool>()).prop_map(|(in_box, least, not)| Step::Where { in_box, least, not }),
        2 => some().prop_map(|in_box| Step::Look { in_box }),
    ];
    let ledger = prop_oneof![
        3 => (some(), 1u64..12, prop::option::of(some())).prop_map(|(user, most, attempt)| Step::Reserve { user, most, attempt }),
        3 => (0usize..6, 0u64..14).prop_map(|(which, actual)| Step::Settle { which, actual }),
        1 => (0usize..6).prop_map(|which| Step::Release { which }),
        2 => (some(), 0usize..3).prop_map(|(key, name)| Step::Begin { key, name }),
        2 => (some(), any::<bool>()).prop_map(|(which, keep)| Step::Finish { which, keep }),
        1 => some().prop_map(|user| Step::Balance { user }),
    ];
    prop_oneof![3 => people, 4 => files, 2 => ledger]
}

/// One of the two catalogs, and what was made in it.
struct Side {
    catalog: Sql,
    users: Vec<UserId>,
    boxes: Vec<BoxId>,
    files: Vec<(BoxId, FileId)>,
    keys: Vec<String>,
    held: Vec<Reservation>,
    attempts: Vec<AttemptId>,
    version: i64,
}

fn said<T: Debug>(result: Result<T, Fault>) -> String {
    format!("{:?}", result.map_err(|fault| fault.reason))
}

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

impl Side {
    fn new(catalog: Sql) -> Self {
        Side {
            catalog,
            users: vec![],
            boxes: vec![],
            files: vec![],
            keys: vec![],
            held: vec![],
            attempts: vec![],
            version: 0,
        }
    }

    fn box_at(&self, at: usize) -> BoxId {
        // One that nobody made, where there are not so many.
        self.boxes.get(at).copied().unwrap_or_else(BoxId::generate)
    }

    fn user_at(&self, at: usize) -> UserId {
        self.users.get(at).copied().unwrap_or_else(UserId::generate)
    }

    fn file_at(&self, at: usize) -> (BoxId, FileId) {
        self.files.get(at).copied().unwrap_or_else(|| (self.box_at(0), FileId::generate()))
    }

    fn account(&self, user: usize) -> Option<Account> {
        self.users.get(user).map(|&user| Account { user, unset_monthly: 20 })
    }

    fn shown(&self, file: &FileRecord) -> String {
        let place = self.files.iter().position(|(_, id)| *id == file.id);
        let place_of_box = self.boxes.iter().position(|id| *id == file.box_id);
        format!(
            "file {place:?} of {place_of_box:?}: {:?} {:?} {} {} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {}",
            file.name.as_str(),
            file.external_id,
            file.sha256,
            file.size,
            file.media_type,
            file.status,
            file.progress,
            file.error,
            file.warnings,
            file.language,
            file.tags,
            file.metadata,
            file.extent,
            file.indexed_at.is_some(),
        )
    }

    /// Does one step and says what came of it; whoever may do what may have changed then.
    async fn apply(&mut self, step: &Step) -> String {
        let said = match step {
            Step::Upload { .. }
            | Step::Change { .. }
            | Step::Read { .. }
            | Step::ReadAgain { .. }
            | Step::Delete { .. }
            | Step::List { .. }
            | Step::Where { .. } => self.about_files(step).await,
            Step::Reserve { .. }
            | Step::Settle { .. }
            | Step::Release { .. }
            | Step::Begin { .. }
            | Step::Finish { .. }
            | Step::Balance { .. } => self.about_units(step).await,
            _ => self.about_people(step).await,
        };
        let before = std::mem::replace(&mut self.version, self.catalog.access_version().await.unwrap());
        format!("{said} {}", before != self.version)
    }

    async fn about_people(&mut self, step: &Step) -> String {
        let catalog = &self.catalog;
        match *step {
            Step::AddUser { email } => {
                let email = EMAILS[email].parse().unwrap();
                let user = NewUser { email, password_hash: None, plan: Default::default() };
                said(catalog.add_user(user).await.map(|user| {
                    self.users.push(user.id);
                    (user.email, user.monthly_units)
                }))
            }
            Step::AddBox { owner } => {
                let made = catalog.add_box("papers".parse().unwrap(), self.user_at(owner)).await;
                said(made.map(|made| self.boxes.push(made.id)))
            }
            Step::Rename { in_box, name } => {
                let managing = Managing::for_operator(self.box_at(in_box));
                said(catalog.rename_box(&managing, NAMES[name].parse().unwrap()).await)
            }
            Step::Grant { in_box, user, role } => {
                let managing = Managing::for_operator(self.box_at(in_box));
                said(catalog.grant(&managing, self.user_at(user), ROLES[role]).await)
            }
            Step::Revoke { in_box, user } => {
                said(catalog.revoke(&Managing::for_operator(self.box_at(in_box)), self.user_at(user)).await)
            }
            Step::HandOver { in_box, from, to } => {
                let owning = Owning::for_operator(self.box_at(in_box));
                said(catalog.hand_over(&owning, self.user_at(from), self.user_at(to)).await)
            }
            Step::Disable { user } => said(catalog.set_user_disabled(self.user_at(user), true).await),
            Step::AddKey { user, only } => {
                let key = ApiKey::generate();
                let prefix = key.prefix().to_string();
                let boxes = only.map(|only| vec![self.box_at(only)]);
                let (user, name) = (self.user_at(user), "test".parse().unwrap());
                let permissions = Permissions::ALL;
                let origins = Default::default();
                let key = NewKey { key, user, name, expires_at: None, permissions, boxes, origins };
                said(catalog.add_key(key).await.map(|_| self.keys.push(prefix)))
            }
            Step::RevokeKey { key } => said(catalog.revoke_key(&self.key_at(key)).await),
            Step::Expose { key, revoke } => {
                said(catalog.expose_key(&self.key_at(key), Exposure::Url, revoke).await)
            }
            Step::Key { key } => {
                let Some(stored) = catalog.stored_key(&self.key_at(key)).await.unwrap() else {
                    return "none".into();
                };
                let place = |id: &BoxId| self.boxes.iter().position(|known| known == id);
                let user = self.users.iter().position(|known| *known == stored.caller.user);
                let mut roles: Vec<_> =
                    stored.caller.roles.iter().map(|(id, role)| (place(id), *role)).collect();
                roles.sort_unstable();
                let scope =
                    stored.caller.scope.as_ref().map(|boxes| boxes.iter().map(place).collect::<Vec<_>>());
                format!("{:?} {} {user:?} {roles:?} {scope:?}", stored.state, stored.exposed)
            }
            Step::DeleteBox { in_box } => {
                let box_id = self.box_at(in_box);
                let begun = catalog.begin_delete_box(&Owning::for_operator(box_id)).await;
                let half = catalog.half_deleted_boxes().await.unwrap().len();
                let mut originals = catalog.originals_of_box(&Writing::for_operator(box_id)).await.unwrap();
                originals.sort_unstable();
                if begun.is_ok() {
                    catalog.finish_delete_box(&Writing::for_operator(box_id)).await.unwrap();
                }
                let mut wanted = catalog.wanted_originals().await.unwrap();
                wanted.sort_unstable();
                format!("{} {half} {originals:?} {wanted:?}", said(begun))
            }
            Step::Look { in_box } => {
                let writing = Writing::for_operator(self.box_at(in_box));
                let members = catalog.members(writing.reading()).await.unwrap();
                let members: Vec<_> =
                    members.iter().map(|member| (member.email.as_str(), member.role)).collect();
                let totals = catalog.totals(&[*writing.reading()]).await.unwrap();
                let stays = catalog.box_stays(writing.box_id()).await.unwrap();
                let boxes = catalog.boxes().await.unwrap();
                let boxes: Vec<_> = boxes.iter().map(|record| record.name.as_str()).collect();
                format!("{members:?} {totals:?} {stays} {boxes:?} {}", catalog.queue_length().await.unwrap())
            }
            _ => unreachable!("not about people"),
        }
    }

    fn key_at(&self, at: usize) -> String {
        self.keys.get(at).cloned().unwrap_or_else(|| "AAAAAAAA".into())
    }

    async fn about_files(&mut self, step: &Step) -> String {
        let catalog = &self.catalog;
        match step {
            Step::Upload { in_box, name, content, external, tags } => {
                let file = NewFile {
                    name: NAMES[*name].parse().unwrap(),
                    external_id: external.map(|external| format!("doc-{external}")),
                    sha256: format!("{content:0>64}"),
                    size: 10 + *content as u64,
                    media_type: "text/plain".into(),
                    tags: tags.as_ref().map(|tags| labels(tags)),
                    metadata: Some(Metadata::from([("year".into(), json!(*content as i64 - 1))])),
                    expires_at: None,
                };
                match catalog.add_file(&Writing::for_operator(self.box_at(*in_box)), file).await {
                    Err(fault) => format!("{:?}", fault.reason),
                    Ok(uploaded) => {
                        if !self.files.iter().any(|(_, id)| *id == uploaded.file.id) {
                            self.files.push((uploaded.file.box_id, uploaded.file.id));
                        }
                        format!(
                            "{:?} {} {:?}",
                            uploaded.outcome,
                            self.shown(&uploaded.file),
                            uploaded.superseded
                        )
                    }
                }
            }
            Step::Change { file, name, tags, metadata } => {
                let (box_id, file) = self.file_at(*file);
                let value = |number: &i64| if *number == 0 { json!(null) } else { json!(number) };
                let changes = FileChanges {
                    name: name.map(|name| NAMES[name].parse().unwrap()),
                    external_id: None,
                    tags: tags.as_ref().map(|tags| labels(tags)),
                    metadata: metadata
                        .as_ref()
                        .map(|number| Metadata::from([("year".into(), value(number))])),
                    expires_at: None,
                };
                let changed = catalog.change_file(&Writing::for_operator(box_id), file, changes).await;
                said(changed.map(|changed| changed.map(|file| self.shown(&file))))
            }
            Step::Read { pages, how } => {
                // Well after everything that was uploaded just now.
                let due = Timestamp::from_second(Timestamp::now().as_second() + 3_600).unwrap();
                let Some(job) = catalog.claim_job("worker", due).await.unwrap() else {
                    return "no job".into();
                };
                let outcome = outcome(*how, *pages);
                let finished = catalog.finish_job(&job, "worker", outcome, now()).await.unwrap();
                let file = catalog.files(&reading(job.box_id), &[job.file]).await.unwrap().pop().flatten();
                let place = self.files.iter().position(|(_, id)| *id == job.file);
                let (failures, starts) = (job.failures, job.starts);
                format!("{place:?} {failures} {starts} {finished:?} {:?}", file.map(|file| self.shown(&file)))
            }
            Step::ReadAgain { file } => {
                let (box_id, file) = self.file_at(*file);
                let again = catalog.read_again(&Writing::for_operator(box_id), file).await;
                said(again.map(|again| again.map(|file| self.shown(&file))))
            }
            Step::Delete { file } => {
                let (box_id, file) = self.file_at(*file);
                let writing = Writing::for_operator(box_id);
                let begun = catalog.begin_delete(&writing, file).await.unwrap();
                let half = catalog.half_deleted().await.unwrap().len();
                catalog.finish_delete(&writing, file).await.unwrap();
                let begun = begun.map(|gone| (self.shown(&gone.file), gone.originals, gone.last_of_box));
                format!("{begun:?} {half} {:?}", catalog.box_of_file(file).await.unwrap().is_some())
            }
            Step::List { in_boxes, part, tag, status, sort, descending, limit } => {
                let readings: Vec<Reading> = in_boxes.iter().map(|&at| reading(self.box_at(at))).collect();
                let mut query = FileQuery {
                    name_part: Some(PARTS[*part].to_string()).filter(|part| !part.is_empty()),
                    statuses: status.iter().map(|&at| FileStatus::ALL[at]).collect(),
                    tags: tag.iter().map(|&at| TAGS[at].to_string()).collect(),
                    sort: SORTS[*sort],
                    descending: *descending,
                    after: None,
                    limit: *limit,
                };
                let mut listed = Vec::new();
                loop {
                    let page = match catalog.list_files(&readings, query.clone()).await {
                        Ok(page) => page,
                        Err(fault) => return format!("{:?}", fault.reason),
                    };
                    listed.push(format!("of {}", page.total));
                    listed.extend(page.files.iter().map(|file| self.shown(file)));
                    query.after = page.next;
                    if query.after.is_none() {
                        return format!("{listed:?}");
                    }
                }
            }
            Step::Where { in_box, least, not } => {
                let condition = json!({"year": {"$gte": least}});
                let condition = if *not { json!({"$not": condition}) } else { condition };
                let filter = Filter::parse(&condition).unwrap();
                let found = catalog.files_where(&reading(self.box_at(*in_box)), filter).await.unwrap();
                let mut places: Vec<_> =
                    found.iter().map(|id| self.files.iter().position(|(_, known)| known == id)).collect();
                places.sort_unstable();
                format!("{places:?}")
            }
            _ => unreachable!("not about files"),
        }
    }

    async fn about_units(&mut self, step: &Step) -> String {
        let catalog = &self.catalog;
        match *step {
            Step::Reserve { user, most, attempt } => {
                let Some(account) = self.account(user) else { return "nobody".into() };
                let new = NewReservation {
                    account,
                    key: self.key_at(user),
                    operation: if most % 2 == 0 { Operation::Chat } else { Operation::Search },
                    most,
                    attempt: attempt.and_then(|at| self.attempts.get(at).copied()),
                    now: now(),
                    expires_at: "2026-11-15T13:00:00Z".parse().unwrap(),
                };
                said(catalog.reserve_units(new).await.map(|held| {
                    let shown = (held.month, held.most);
                    self.held.push(held);
                    shown
                }))
            }
            Step::Settle { which, actual } => match self.held.get(which) {
                Some(held) => said(catalog.settle_units(held, actual).await),
                None => "none".into(),
            },
            Step::Release { which } => match self.held.get(which) {
                Some(held) => said(catalog.release_units(held).await),
                None => "none".into(),
            },
            Step::Begin { key, name } => {
                let new = NewAttempt {
                    key: self.key_at(key),
                    name: format!("order-{name}").parse().unwrap(),
                    request: "POST /x".into(),
                    rights: "all".into(),
                    now: now(),
                    expires_at: "2026-11-15T13:00:00Z".parse().unwrap(),
                };
                match catalog.begin_attempt(new).await {
                    Ok(Begun::First(id)) => {
                        self.attempts.push(id);
                        "first".into()
                    }
                    other => said(other),
                }
            }
            Step::Finish { which, keep } => {
                let Some(&attempt) = self.attempts.get(which) else { return "none".into() };
                let answer = KeptAnswer {
                    request_body: "hash".into(),
                    status: 200,
                    content_type: None,
                    body: format!("answer {which}"),
                    rights: None,
                };
                said(catalog.finish_attempt(attempt, keep.then_some(answer), Timestamp::MAX).await)
            }
            Step::Balance { user } => {
                let Some(account) = self.account(user) else { return "nobody".into() };
                let month = "2026-11".parse().unwrap();
                let usage = catalog.usage(account.user, month).await.unwrap();
                // Prefixes are drawn at random, and so is their order.
                let mut usage: Vec<_> = usage
                    .iter()
                    .map(|line| (&line.day, &line.key_name, line.operation, line.calls, line.units))
                    .collect();
                usage.sort_unstable();
                format!("{} {usage:?}", said(catalog.balance(account, month).await))
            }
            _ => unreachable!("not about units"),
        }
    }
}

fn labels(tags: &[usize]) -> Vec<String> {
    tags.iter().map(|&at| TAGS[at].to_string()).collect()
}

fn reading(box_id: BoxId) -> Reading {
    *Writing::for_operator(box_id).reading()
}

fn outcome(how: u8, pages: u32) -> JobOutcome {
    let error = "it is broken".to_string();
    match how {
        0 => JobOutcome::Failed { error },
        1 => JobOutcome::GaveUp { error },
        _ => JobOutcome::Indexed {
            status: if pages == 0 { FileStatus::ReadyWithWarnings } else { FileStatus::Ready },
            media_type: "application/pdf".into(),
            warnings: if pages == 0 { vec!["\"empty\"".into()] } else { vec![] },
            language: pages.is_multiple_of(2).then(|| "en".into()),
            extent: Extent { pages, characters: 7, chunks: pages },
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn both_catalogs_answer_the_same(steps in prop::collection::vec(step(), 1..60)) {
        let Some(url) = scaled::schema() else { return Ok(()) };
        let folder = tempfile::tempdir().unwrap();
        let runtime = runtime();
        let mut mine = Side::new(Sql::open(&folder.path().join("catalog.db")).unwrap());
        let mut theirs = Side::new(Sql::connect(&url).unwrap());
        // So that most steps find something: two accounts, a box of each, and a key.
        let begin = [
            Step::AddUser { email: 0 },
            Step::AddUser { email: 2 },
            Step::AddBox { owner: 0 },
            Step::AddBox { owner: 1 },
            Step::AddKey { user: 0, only: None },
        ];
        for (number, step) in begin.iter().chain(&steps).enumerate() {
            let (here, there) = runtime.block_on(async { (mine.apply(step).await, theirs.apply(step).await) });
            prop_assert_eq!(here, there, "step {}: {:?}", number, step);
        }
    }
}
