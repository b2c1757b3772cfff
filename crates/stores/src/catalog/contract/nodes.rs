//! Several nodes on one catalog: nobody gets in another's way, and the living take over from the dead.

use std::{sync::Arc, time::Duration};

use engine::{
    ids::{BoxId, FileId},
    seams::catalog::{
        Account, Attempts, Begun, Boxes, Change, Claim, FileRecord, FileStatus, Files, Jobs, Month,
        NewReservation, NewUser, Nodes, Operation, ReindexAction, Reindexing, Units, Users,
    },
};
use jiff::Timestamp;

use super::{Place, attempts::attempt, upload};
use crate::catalog::Sql;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

async fn account(catalog: &Sql) -> Account {
    let email = "ada@example.org".parse().unwrap();
    let user = NewUser { email, password_hash: None, plan: Default::default() };
    Account { user: catalog.add_user(user).await.unwrap().id, unset_monthly: 500 }
}

fn call(account: Account, most: u64) -> NewReservation {
    NewReservation {
        account,
        key: "AAAAAAAA".into(),
        operation: Operation::Search,
        most,
        attempt: None,
        now: at(0),
        expires_at: at(3600),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_living_take_over_from_the_dead() {
    let place = Place::new();
    let (dead, alive) = (place.open(), place.open());
    let account = account(&alive).await;
    let record = alive.add_box("papers".parse().unwrap(), account.user).await.unwrap();
    let writing = engine::access::Writing::for_operator(record.id);
    for (node, name) in [(&dead, "one"), (&alive, "two")] {
        node.beat_node().await.unwrap();
        node.reserve_units(call(account, 5)).await.unwrap();
        alive.add_file(&writing, upload(name, name, None)).await.unwrap();
        // The files came just now, whatever the test's clock says.
        assert!(node.claim_job(node.node(), Timestamp::now()).await.unwrap().is_some());
    }
    alive.request_reindex(&writing, ReindexAction::Rebuild).await.unwrap();
    assert!(dead.take_reindex().await.unwrap().is_some());
    let key = super::Fresh { catalog: Box::new(place.open()), place };
    let prefix = key.key_of(&key.catalog.users().await.unwrap()[0], None).await;
    assert!(matches!(dead.begin_attempt(attempt(&prefix, "x")).await.unwrap(), Begun::First(_)));

    assert_eq!(alive.bury_nodes(Duration::from_secs(60)).await.unwrap(), 0, "both were heard of");
    assert_eq!(alive.balance(account, Month::of(at(0))).await.unwrap().held, 10);
    assert_eq!(alive.take_reindex().await.unwrap(), None);
    // No time may pass, so everybody else is silent.
    assert_eq!(alive.bury_nodes(Duration::ZERO).await.unwrap(), 1);
    assert_eq!(alive.balance(account, Month::of(at(0))).await.unwrap().held, 5);
    assert!(alive.take_reindex().await.unwrap().is_some());
    assert!(matches!(alive.begin_attempt(attempt(&prefix, "x")).await.unwrap(), Begun::First(_)));
    assert_eq!(alive.bury_nodes(Duration::from_secs(60)).await.unwrap(), 0);

    assert!(alive.claim_job("third", Timestamp::now()).await.unwrap().is_some());
}

/// It comes back after the others took over: what it held was given back, so what it did may not be answered.
#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_of_a_node_that_was_taken_for_dead_is_neither_charged_nor_answered() {
    let place = Place::new();
    let (silent, alive) = (place.open(), place.open());
    let account = account(&alive).await;
    let fresh = super::Fresh { catalog: Box::new(place.open()), place };
    let prefix = fresh.key_of(&fresh.catalog.users().await.unwrap()[0], None).await;
    alive.beat_node().await.unwrap();
    silent.beat_node().await.unwrap();
    let Begun::First(id) = silent.begin_attempt(attempt(&prefix, "x")).await.unwrap() else { panic!() };
    let new = NewReservation { attempt: Some(id), ..call(account, 5) };
    let held = silent.reserve_units(new).await.unwrap();
    assert_eq!(silent.settle_units(&held, 3).await.unwrap().used, 3);
    assert_eq!(alive.bury_nodes(Duration::ZERO).await.unwrap(), 1);
    assert!(matches!(alive.begin_attempt(attempt(&prefix, "x")).await.unwrap(), Begun::First(_)));
    let finished = silent.finish_attempt(id, Some(super::attempts::kept("late")), at(3600)).await;
    assert_eq!(super::reason(finished), Some(engine::Reason::UpstreamUnavailable));
    assert_eq!(alive.balance(account, Month::of(at(0))).await.unwrap().used, 0);
    assert_eq!(alive.begin_attempt(attempt(&prefix, "x")).await.unwrap(), Begun::Running, "the other's");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_holds_over_all_nodes() {
    let place = Place::new();
    let nodes = [Arc::new(place.open()), Arc::new(place.open()), Arc::new(place.open())];
    let account = account(&nodes[0]).await;
    let calls: Vec<_> = (0..300)
        .map(|number| {
            let node = nodes[number % 3].clone();
            tokio::spawn(async move {
                let Ok(held) = node.reserve_units(call(account, 5)).await else { return 0 };
                node.settle_units(&held, 3).await.unwrap();
                3
            })
        })
        .collect();
    let mut charged = 0;
    for call in calls {
        charged += call.await.unwrap();
    }
    let balance = nodes[1].balance(account, Month::of(at(0))).await.unwrap();
    assert_eq!((balance.used, balance.held), (charged, 0));
    // Less than one call's most is left, unless some came while others held more than they cost.
    assert!((300..=500).contains(&charged), "{charged}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_job_is_claimed_once() {
    let place = Place::new();
    let nodes = [Arc::new(place.open()), Arc::new(place.open())];
    let owner = account(&nodes[0]).await.user;
    for name in ["papers", "letters"] {
        let record = nodes[0].add_box(name.parse().unwrap(), owner).await.unwrap();
        let writing = engine::access::Writing::for_operator(record.id);
        for number in 0..20 {
            let file = upload("f", &format!("{name}{number}"), None);
            nodes[0].add_file(&writing, file).await.unwrap();
        }
    }
    let workers: Vec<_> = (0..8)
        .map(|number| {
            let node = nodes[number % 2].clone();
            tokio::spawn(async move {
                let (mut mine, mut idle) = (Vec::new(), 0);
                // Where others are just taking a job, there may be none to see for a moment.
                while idle < 20 {
                    match node.claim_job(&format!("w{number}"), Timestamp::now()).await.unwrap() {
                        Some(job) => mine.push(job.id),
                        None => idle += 1,
                    }
                }
                mine
            })
        })
        .collect();
    let mut claimed = Vec::new();
    for worker in workers {
        claimed.extend(worker.await.unwrap());
    }
    claimed.sort_unstable();
    claimed.dedup();
    assert_eq!(claimed.len(), 40);
    assert!(nodes[1].claim_job("late", Timestamp::now()).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_keeps_others_out_until_it_is_given_up() {
    let place = Place::new();
    let here = Arc::new(place.open());
    // Only a server has claims that another process sees.
    let there = if matches!(place, Place::Server(_)) { Arc::new(place.open()) } else { here.clone() };
    let (box_id, file, other) = (BoxId::generate(), FileId::generate(), FileId::generate());
    let held = here.claim(Claim::File(box_id, file)).await.unwrap();
    for claim in [Claim::File(box_id, file), Claim::Box(box_id)] {
        let waiting = tokio::spawn({
            let (there, claim) = (there.clone(), claim.clone());
            async move { there.claim(claim).await.map(drop) }
        });
        assert!(tokio::time::timeout(Duration::from_millis(200), waiting).await.is_err(), "{claim:?}");
    }
    if other.as_bytes()[15] % 64 != file.as_bytes()[15] % 64 {
        // Those that wait for the whole box go first, wherever they were given up or not.
        drop(held);
        there.claim(Claim::File(box_id, other)).await.map(drop).unwrap();
    } else {
        drop(held);
    }
    there.claim(Claim::Box(box_id)).await.map(drop).unwrap();
    there.claim(Claim::File(box_id, file)).await.map(drop).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_hear_each_other() {
    let place = Place::new();
    if !matches!(place, Place::Server(_)) {
        eprintln!("skipped: in a file there is nobody to hear");
        return;
    }
    let (here, there) = (place.open(), place.open());
    let owner = account(&here).await.user;
    let record = here.add_box("papers".parse().unwrap(), owner).await.unwrap();
    let writing = engine::access::Writing::for_operator(record.id);
    let file = here.add_file(&writing, upload("one", "one", None)).await.unwrap().file;
    let gone = FileRecord { status: FileStatus::Deleting, ..file.clone() };
    let short = FileRecord { size: 45_000, ..gone.clone() };
    let mut wordy = short.clone();
    wordy.metadata.insert("abstract".into(), "long ".repeat(9_000).into());
    let (mut heard, mut before) = (there.announced(), None);
    for (told, expected) in [
        (Change::of(&file), Change::of(&file)),
        // Whoever hears of it does not find it any more, and is told what it was; but not at any length.
        (Change::of(&gone), Change::of(&gone)),
        (Change::of(&wordy), Change::of(&short)),
    ] {
        // Listening begins a moment later: said again until it is heard.
        let said = async {
            loop {
                here.announce(told.clone()).await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let hear = async {
            loop {
                let change = Some(heard.recv().await.unwrap());
                if change != before {
                    return change;
                }
            }
        };
        tokio::select! {
            change = hear => assert_eq!(change.as_ref(), Some(&expected)),
            () = said => {}
        }
        before = Some(expected);
    }
}
