//! Connections that are cut at a commit, which leaves open whether it held: what is charged is charged once all the same.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use engine::{
    ids::AttemptId,
    seams::catalog::{Account, Attempts, Begun, Month, NewReservation, NewUser, Operation, Units, Users},
};
use jiff::Timestamp;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::attempts::{attempt, kept};
use crate::catalog::Sql;

/// A commit, as it goes over the wire.
const COMMIT: &[u8] = b"Q\0\0\0\x0bcommit\0";

/// Which commit is cut next.
const NONE: u8 = 0;
const BEFORE_IT_ARRIVES: u8 = 1;
const BEFORE_IT_IS_ANSWERED: u8 = 2;

/// Stands between a catalog and its server, and cuts a connection at the next commit where it is told to.
struct Scissors(Arc<AtomicU8>);

impl Scissors {
    /// A catalog on the server behind it, as two nodes see it: through it, and straight.
    async fn between() -> Option<(Self, Sql, Sql)> {
        let url = crate::scaled::schema()?;
        let (before, rest) = url.split_once("127.0.0.1:").expect("a server on this machine");
        let (port, after) = rest.split_once('/').expect("a database");
        let server = format!("127.0.0.1:{port}");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let through = format!("{before}127.0.0.1:{}/{after}", listener.local_addr().unwrap().port());
        let next = Arc::new(AtomicU8::new(NONE));
        let watched = next.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(pass_on(client, server, watched.clone()));
            }
        });
        let straight = Sql::connect(&url).unwrap();
        let through = tokio::task::spawn_blocking(move || Sql::connect(&through).unwrap()).await.unwrap();
        Some((Scissors(next), through, straight))
    }

    fn cut(&self, when: u8) {
        self.0.store(when, Ordering::SeqCst);
    }

    fn has_cut(&self) -> bool {
        self.0.load(Ordering::SeqCst) == NONE
    }
}

async fn pass_on(mut client: TcpStream, mut server: TcpStream, next: Arc<AtomicU8>) -> std::io::Result<()> {
    let (mut asked, mut answered) = ([0; 16 * 1024], [0; 16 * 1024]);
    loop {
        tokio::select! {
            length = client.read(&mut asked) => {
                let said = &asked[..length?];
                let commits = said.windows(COMMIT.len()).any(|part| part == COMMIT);
                let cut = if commits { next.swap(NONE, Ordering::SeqCst) } else { NONE };
                if said.is_empty() || cut == BEFORE_IT_ARRIVES {
                    return Ok(());
                }
                server.write_all(said).await?;
                if cut == BEFORE_IT_IS_ANSWERED {
                    return server.read(&mut answered).await.map(drop);
                }
            }
            length = server.read(&mut answered) => {
                let said = &answered[..length?];
                if said.is_empty() {
                    return Ok(());
                }
                client.write_all(said).await?;
            }
        }
    }
}

async fn account(catalog: &Sql) -> Account {
    let email = "ada@example.org".parse().unwrap();
    let user = NewUser { email, password_hash: None, plan: Default::default() };
    Account { user: catalog.add_user(user).await.unwrap().id, unset_monthly: 500 }
}

fn call(account: Account, attempt: Option<AttemptId>) -> NewReservation {
    let (now, expires_at) = (Timestamp::now(), Timestamp::MAX);
    let (key, operation) = ("AAAAAAAA".into(), Operation::Search);
    NewReservation { account, key, operation, most: 5, attempt, now, expires_at }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charge_whose_commit_was_not_heard_of_is_made_once() {
    let Some((scissors, node, other)) = Scissors::between().await else { return };
    let account = account(&other).await;
    let used = async || {
        let balance = other.balance(account, Month::of(Timestamp::now())).await.unwrap();
        (balance.used, balance.held)
    };
    for (round, when) in (0..).zip([BEFORE_IT_ARRIVES, BEFORE_IT_IS_ANSWERED]) {
        scissors.cut(when);
        let held = node.reserve_units(call(account, None)).await.unwrap();
        assert!(scissors.has_cut());
        assert_eq!(used().await, (3 * round, 5), "held once");
        scissors.cut(when);
        let balance = node.settle_units(&held, 3).await.unwrap();
        assert!(scissors.has_cut());
        assert_eq!(used().await, (3 * round + 3, 0), "charged once");
        assert_eq!(balance.used, 3 * round + 3);
        let failed = node.reserve_units(call(account, None)).await.unwrap();
        scissors.cut(when);
        node.release_units(&failed).await.unwrap();
        assert_eq!(used().await, (3 * round + 3, 0), "given back");
        other.release_abandoned_units(Timestamp::now()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_whose_commit_was_not_heard_of_is_kept_and_charged_once() {
    let Some((scissors, node, other)) = Scissors::between().await else { return };
    let account = account(&other).await;
    let fresh = super::Fresh { catalog: Box::new(other), place: super::Place::new() };
    let prefix = fresh.key_of(&fresh.catalog.users().await.unwrap()[0], None).await;
    for (round, when) in (0..).zip([BEFORE_IT_ARRIVES, BEFORE_IT_IS_ANSWERED]) {
        let name = format!("order-{round}");
        let Begun::First(id) = node.begin_attempt(attempt(&prefix, &name)).await.unwrap() else { panic!() };
        let held = node.reserve_units(call(account, Some(id))).await.unwrap();
        node.settle_units(&held, 3).await.unwrap();
        scissors.cut(when);
        node.finish_attempt(id, Some(kept("answer")), Timestamp::MAX).await.unwrap();
        assert!(scissors.has_cut());
        let again = fresh.catalog.begin_attempt(attempt(&prefix, &name)).await.unwrap();
        assert!(matches!(again, Begun::Answered { .. }), "{again:?}");
        let balance = fresh.catalog.balance(account, Month::of(Timestamp::now())).await.unwrap();
        assert_eq!((balance.used, balance.held), (3 * round + 3, 0));
    }
}
