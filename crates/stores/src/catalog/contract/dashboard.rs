//! Sign-ins, one-time links, tries and the audit log.

use std::time::Duration;

use engine::{
    Reason,
    access::{Managing, Operating, Role},
    seams::catalog::{
        Action, Identity, NewEntry, NewOneTimeLink, NewSession, Purpose, SignIns, Subject, TokenHash, User,
    },
};
use jiff::Timestamp;

use super::{Fresh, fresh, manage, own, reason};

const DAY: i64 = 24 * 60 * 60;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn session(user: &User, token: TokenHash) -> NewSession {
    NewSession {
        user: user.id,
        token,
        agent: "a browser".into(),
        address: "10.0.0.1".into(),
        now: at(0),
        expires_at: at(DAY),
    }
}

#[tokio::test]
async fn a_sign_in_is_good_until_it_ends_idles_or_its_account_is_off() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let catalog = &fresh.catalog;
    let id = catalog.begin_session(session(&ada, [1; 32])).await.unwrap();
    let found = catalog.session(&[1; 32], at(1), at(-1)).await.unwrap().unwrap();
    assert_eq!((found.id, found.user.id), (id, ada.id));
    assert_eq!(found.person.role(writing.box_id()), Some(Role::Owner));
    assert!(catalog.session(&[2; 32], at(1), at(-1)).await.unwrap().is_none(), "another token is nobody's");
    assert!(catalog.session(&[1; 32], at(DAY), at(-1)).await.unwrap().is_none(), "it expires");
    assert!(catalog.session(&[1; 32], at(1), at(0)).await.unwrap().is_none(), "it idles");
    catalog.touch_session(id, at(10)).await.unwrap();
    assert!(catalog.session(&[1; 32], at(11), at(9)).await.unwrap().is_some());
    // What somebody may do is never older than the question.
    let eve = fresh.user("eve@example.org").await;
    catalog.grant(&manage(&writing), eve.id, Role::Owner).await.unwrap();
    catalog.revoke(&manage(&writing), ada.id).await.unwrap();
    let found = catalog.session(&[1; 32], at(11), at(9)).await.unwrap().unwrap();
    assert_eq!(found.person.role(writing.box_id()), None);
    catalog.set_user_disabled(ada.id, true).await.unwrap();
    catalog.set_user_disabled(ada.id, false).await.unwrap();
    assert!(
        catalog.session(&[1; 32], at(11), at(9)).await.unwrap().is_none(),
        "off and on again is signed out"
    );
}

#[tokio::test]
async fn sign_ins_end_one_by_one_or_all_together_and_only_ones_own() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let catalog = &fresh.catalog;
    let mut ids = Vec::new();
    for number in 1..=3 {
        ids.push(catalog.begin_session(session(&ada, [number; 32])).await.unwrap());
    }
    let hers = catalog.begin_session(session(&eve, [9; 32])).await.unwrap();
    catalog.end_session(ada.id, hers).await.unwrap();
    assert_eq!(catalog.sessions_of(eve.id, at(1)).await.unwrap().len(), 1, "hers is not mine to end");
    catalog.end_session(ada.id, ids[0]).await.unwrap();
    assert_eq!(catalog.sessions_of(ada.id, at(1)).await.unwrap().len(), 2);
    assert_eq!(catalog.end_sessions(ada.id, Some(ids[1])).await.unwrap(), 1);
    let left = catalog.sessions_of(ada.id, at(1)).await.unwrap();
    assert_eq!(left.iter().map(|session| session.id).collect::<Vec<_>>(), [ids[1]]);
    assert_eq!(left[0].agent, "a browser");
    assert_eq!(catalog.end_sessions(ada.id, None).await.unwrap(), 1);
    assert_eq!(catalog.forget_old_sessions(at(DAY), at(-1)).await.unwrap(), 1, "only hers was left");
}

#[tokio::test]
async fn guesses_wait_longer_and_longer_and_survive_a_restart() {
    let fresh = fresh();
    let account = Subject::Account("ada@example.org".parse().unwrap());
    let network = Subject::Network("10.0.0.1".into());
    let both = [account.clone(), network.clone()];
    for number in 0..5 {
        assert_eq!(fresh.catalog.count_try(&both, at(0)).await.unwrap(), None, "try {number}");
    }
    let Fresh { catalog, place } = fresh;
    drop(catalog);
    let catalog = place.open();
    assert_eq!(catalog.count_try(&both, at(0)).await.unwrap(), Some(Duration::from_secs(2)));
    assert_eq!(
        catalog.count_try(&both, at(1)).await.unwrap(),
        Some(Duration::from_secs(1)),
        "waiting is not counted"
    );
    assert_eq!(catalog.count_try(&both, at(2)).await.unwrap(), None);
    assert_eq!(catalog.count_try(&both, at(2)).await.unwrap(), Some(Duration::from_secs(4)));
    let other = [Subject::Account("eve@example.org".parse().unwrap()), network.clone()];
    assert_eq!(catalog.count_try(&other, at(2)).await.unwrap(), None, "another account does not wait");
    catalog.forgive_tries(&both).await.unwrap();
    assert_eq!(catalog.count_try(&[account], at(2)).await.unwrap(), None);
    // Of the network one try was forgiven: seven were counted, one taken back.
    for _ in 6..20 {
        assert_eq!(catalog.count_try(std::slice::from_ref(&network), at(3)).await.unwrap(), None);
    }
    assert!(catalog.count_try(std::slice::from_ref(&network), at(3)).await.unwrap().is_some());
    assert_eq!(
        catalog.count_try(&[network], at(3 + DAY)).await.unwrap(),
        None,
        "a day later all is forgotten"
    );
}

fn link(purpose: Purpose, token: TokenHash) -> NewOneTimeLink {
    NewOneTimeLink { purpose, token, made_by: None, now: at(0), expires_at: at(DAY) }
}

#[tokio::test]
async fn the_set_up_link_works_once_and_makes_an_operator() {
    let fresh = fresh();
    let catalog = &fresh.catalog;
    assert!(!catalog.is_set_up().await.unwrap());
    catalog.add_link(link(Purpose::SetUp { user: None }, [1; 32])).await.unwrap();
    catalog.add_link(link(Purpose::SetUp { user: None }, [2; 32])).await.unwrap();
    assert!(catalog.link(&[1; 32], at(1)).await.unwrap().is_none(), "the newest only");
    assert!(catalog.link(&[2; 32], at(DAY)).await.unwrap().is_none(), "it expires");
    let email: engine::seams::catalog::Email = "ada@example.org".parse().unwrap();
    let name = Some("Ada".parse().unwrap());
    let hash = Some("hash".to_string());
    let used = catalog.use_link(&[2; 32], email.clone(), name.clone(), hash.clone(), at(1)).await.unwrap();
    let ada = used.unwrap();
    assert!(ada.operator && ada.name == name);
    assert!(catalog.is_set_up().await.unwrap());
    let again = catalog.use_link(&[2; 32], email.clone(), None, hash, at(1)).await.unwrap();
    assert!(again.is_none(), "once");
    assert_eq!(catalog.stored_sign_in(&email).await.unwrap().unwrap().password_hash.as_deref(), Some("hash"));
    catalog.add_link(link(Purpose::SetUp { user: None }, [3; 32])).await.unwrap();
    assert!(catalog.link(&[3; 32], at(1)).await.unwrap().is_none(), "a server is set up once");
    assert_eq!(reason(catalog.set_user_operator(ada.id, false).await), Some(Reason::Conflict));
    assert_eq!(reason(catalog.set_user_disabled(ada.id, true).await), Some(Reason::Conflict));
}

#[tokio::test]
async fn a_set_up_link_can_be_for_an_account_that_is_there() {
    let fresh = fresh();
    let you = fresh.user("you@localhost").await;
    let catalog = &fresh.catalog;
    catalog.add_link(link(Purpose::SetUp { user: Some(you.id) }, [1; 32])).await.unwrap();
    let used = catalog.use_link(&[1; 32], you.email.clone(), None, Some("hash".into()), at(1)).await.unwrap();
    assert_eq!(used.map(|user| (user.id, user.operator)), Some((you.id, true)));
}

#[tokio::test]
async fn an_invitation_makes_a_member_once_and_dies_with_its_box() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let catalog = &fresh.catalog;
    let email: engine::seams::catalog::Email = "eve@example.org".parse().unwrap();
    let join = |role| Purpose::Join {
        email: "eve@example.org".parse().unwrap(),
        plan: Default::default(),
        member: Some((writing.box_id(), role)),
    };
    catalog.add_link(link(join(Role::Editor), [1; 32])).await.unwrap();
    let waiting = catalog.links_to_box(&manage(&writing), at(1)).await.unwrap();
    assert_eq!((waiting.len(), waiting[0].box_name.as_deref()), (1, Some("papers")));
    let eve =
        catalog.use_link(&[1; 32], email.clone(), None, Some("hash".into()), at(1)).await.unwrap().unwrap();
    assert!(!eve.operator);
    let role = async || {
        let members = catalog.members(writing.reading()).await.unwrap();
        members.into_iter().find(|member| member.user == eve.id).map(|member| member.role)
    };
    assert_eq!(role().await, Some(Role::Editor));
    assert!(catalog.use_link(&[1; 32], email.clone(), None, None, at(1)).await.unwrap().is_none());
    assert!(catalog.links_to_box(&manage(&writing), at(1)).await.unwrap().is_empty());
    // A second one neither takes a role down nor changes the password.
    catalog.add_link(link(join(Role::Viewer), [2; 32])).await.unwrap();
    catalog.use_link(&[2; 32], email.clone(), None, Some("other".into()), at(1)).await.unwrap().unwrap();
    assert_eq!(role().await, Some(Role::Editor));
    let stored = catalog.stored_sign_in(&email).await.unwrap().unwrap();
    assert_eq!(stored.password_hash.as_deref(), Some("hash"));
    let id = catalog.add_link(link(join(Role::Admin), [3; 32])).await.unwrap();
    let elsewhere = fresh.box_of(&ada).await;
    catalog.withdraw_from_box(&manage(&elsewhere), id).await.unwrap();
    assert!(catalog.link(&[3; 32], at(1)).await.unwrap().is_some(), "another box's right is no right");
    catalog.withdraw_from_box(&manage(&writing), id).await.unwrap();
    assert!(catalog.link(&[3; 32], at(1)).await.unwrap().is_none());
    catalog.add_link(link(join(Role::Admin), [4; 32])).await.unwrap();
    catalog.delete_box(&own(&writing)).await.unwrap();
    assert!(catalog.link(&[4; 32], at(1)).await.unwrap().is_none(), "it dies with its box");
}

#[tokio::test]
async fn a_new_password_by_link_ends_all_sign_ins() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let catalog = &fresh.catalog;
    catalog.begin_session(session(&ada, [7; 32])).await.unwrap();
    let reset = Purpose::Reset { user: ada.id, email: ada.email.clone() };
    catalog.add_link(link(reset, [1; 32])).await.unwrap();
    catalog.use_link(&[1; 32], ada.email.clone(), None, Some("new".into()), at(1)).await.unwrap().unwrap();
    assert!(catalog.session(&[7; 32], at(1), at(-1)).await.unwrap().is_none());
    let stored = catalog.stored_sign_in(&ada.email).await.unwrap().unwrap();
    assert_eq!(stored.password_hash.as_deref(), Some("new"));
}

#[tokio::test]
async fn invitations_to_the_server_are_listed_and_withdrawn() {
    let fresh = fresh();
    let (catalog, operating) = (&fresh.catalog, Operating::for_operator());
    let join =
        Purpose::Join { email: "eve@example.org".parse().unwrap(), plan: Default::default(), member: None };
    let id = catalog.add_link(link(join, [1; 32])).await.unwrap();
    assert_eq!(catalog.links_to_server(&operating, at(1)).await.unwrap().len(), 1);
    catalog.withdraw_from_server(&operating, id).await.unwrap();
    assert!(catalog.links_to_server(&operating, at(1)).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_identity_elsewhere_belongs_to_one_account() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let identity = Identity { issuer: "https://id.example".into(), subject: "ada".into() };
    assert!(fresh.catalog.user_of_identity(&identity).await.unwrap().is_none());
    fresh.catalog.add_identity(ada.id, identity.clone()).await.unwrap();
    fresh.catalog.add_identity(eve.id, identity.clone()).await.unwrap();
    let found = fresh.catalog.user_of_identity(&identity).await.unwrap();
    assert_eq!(found.map(|user| user.id), Some(ada.id), "the first one keeps it");
}

#[tokio::test]
async fn a_box_is_handed_over_in_one_step() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    let catalog = &fresh.catalog;
    let outsider = catalog.hand_over(&own(&writing), ada.id, eve.id).await;
    assert_eq!(reason(outsider), Some(Reason::NotFound));
    catalog.grant(&manage(&writing), eve.id, Role::Viewer).await.unwrap();
    catalog.hand_over(&own(&writing), ada.id, eve.id).await.unwrap();
    let members = catalog.members(writing.reading()).await.unwrap();
    let roles: Vec<_> = members.iter().map(|member| (member.user, member.role)).collect();
    assert_eq!(roles, [(ada.id, Role::Admin), (eve.id, Role::Owner)]);
    catalog.rename_box(&manage(&writing), "letters".parse().unwrap()).await.unwrap();
    assert_eq!(catalog.boxes_of(&[*writing.reading()]).await.unwrap()[0].name.as_str(), "letters");
}

#[tokio::test]
async fn an_admin_neither_makes_nor_removes_owners() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    fresh.catalog.grant(&manage(&writing), eve.id, Role::Admin).await.unwrap();
    fresh.catalog.begin_session(session(&eve, [1; 32])).await.unwrap();
    let person = fresh.catalog.session(&[1; 32], at(1), at(-1)).await.unwrap().unwrap().person;
    let managing: Managing = person.may_manage(writing.box_id()).unwrap();
    let made = fresh.catalog.grant(&managing, eve.id, Role::Owner).await;
    assert_eq!(reason(made), Some(Reason::RoleInsufficient));
    assert_eq!(reason(fresh.catalog.revoke(&managing, ada.id).await), Some(Reason::RoleInsufficient));
}

#[tokio::test]
async fn totals_count_what_is_there() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (full, empty) = (fresh.box_of(&ada).await, fresh.box_of(&ada).await);
    fresh.file(&full, super::upload("a.txt", "1", None)).await;
    fresh.file(&full, super::upload("b.txt", "2", None)).await;
    let totals = fresh.catalog.totals(&[*full.reading(), *empty.reading()]).await.unwrap();
    assert_eq!((totals[0].files, totals[0].under_way, totals[0].members), (2, 2, 1));
    assert_eq!((totals[1].files, totals[1].bytes), (0, 0));
    let (boxes, all) = fresh.catalog.totals_of_all(&Operating::for_operator()).await.unwrap();
    assert_eq!((boxes, all.files), (2, 2));
}

#[tokio::test]
async fn the_audit_log_is_read_backwards_and_by_box() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let catalog = &fresh.catalog;
    for number in 0..5 {
        let entry = NewEntry {
            at: at(number),
            user: Some(ada.id),
            who: ada.email.to_string(),
            address: "10.0.0.1".into(),
            box_id: (number != 2).then(|| writing.box_id()),
            action: Action::FileUploaded,
            target: format!("{number}.txt"),
        };
        catalog.note(entry).await.unwrap();
    }
    let managing = manage(&writing);
    let page = catalog.audit_of_box(&managing, None, 3).await.unwrap();
    let targets = |page: &engine::seams::catalog::AuditPage| {
        page.entries.iter().map(|entry| entry.target.clone()).collect::<Vec<_>>()
    };
    assert_eq!((targets(&page), page.more), (vec!["4.txt".into(), "3.txt".into(), "1.txt".into()], true));
    let rest = catalog.audit_of_box(&managing, Some(page.entries[2].id), 3).await.unwrap();
    assert_eq!((targets(&rest), rest.more), (vec!["0.txt".into()], false));
    let all = catalog.audit_of_all(&Operating::for_operator(), None, 10).await.unwrap();
    assert_eq!(all.entries.len(), 5);
    assert_eq!((all.entries[0].at, all.entries[0].address.as_str()), (at(4), "10.0.0.1"));
    catalog.delete_box(&own(&writing)).await.unwrap();
    let all = catalog.audit_of_all(&Operating::for_operator(), None, 10).await.unwrap();
    assert_eq!(all.entries.len(), 5, "what was done stays known");
}
