//! Sign-ins, members and the audit log.

use engine::{
    Reason,
    access::{Managing, Operating, Role},
    seams::catalog::{Action, NewEntry, NewSession, TokenHash, User},
};
use jiff::Timestamp;

use super::{fresh, manage, own, reason};

pub(super) const DAY: i64 = 24 * 60 * 60;

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub(super) fn session(user: &User, token: TokenHash) -> NewSession {
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
    catalog.begin_delete_box(&own(&writing)).await.unwrap();
    let all = catalog.audit_of_all(&Operating::for_operator(), None, 10).await.unwrap();
    assert_eq!(all.entries.len(), 5, "what was done stays known");
}
