//! What charging costs a call: `cargo run --release -p stores --example ledger [FOLDER]`.

use std::{path::PathBuf, sync::Arc, time::Instant};

use engine::seams::catalog::{Account, NewReservation, NewUser, Operation, Units, Users};
use jiff::Timestamp;
use stores::catalog::Sql;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder =
        tempfile::tempdir_in(std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from))?;
    let catalog = Arc::new(Sql::open(&folder.path().join("catalog.db"))?);
    let user = NewUser { email: "ada@example.org".parse()?, password_hash: None, plan: Default::default() };
    let account = Account { user: catalog.add_user(user).await?.id, unset_monthly: 1 << 40 };
    for (callers, calls) in [(1, 1_000), (32, 300)] {
        let tasks: Vec<_> =
            (0..callers).map(|_| tokio::spawn(charge(catalog.clone(), account, calls))).collect();
        let (mut reserved, mut settled) = (Vec::new(), Vec::new());
        for task in tasks {
            let (reserve, settle) = task.await?;
            reserved.extend(reserve);
            settled.extend(settle);
        }
        println!("{callers} at once: reserve {}, settle {}", shown(reserved), shown(settled));
    }
    Ok(())
}

/// The milliseconds that each reservation and each settlement took.
async fn charge(catalog: Arc<Sql>, account: Account, calls: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut reserved, mut settled) = (Vec::new(), Vec::new());
    for _ in 0..calls {
        let now = Timestamp::now();
        let new = NewReservation {
            account,
            key: "AAAAAAAA".into(),
            operation: Operation::Search,
            most: 5,
            attempt: None,
            now,
            expires_at: Timestamp::MAX,
        };
        let started = Instant::now();
        let reservation = catalog.reserve_units(new).await.expect("the quota is large");
        reserved.push(started.elapsed().as_secs_f64() * 1e3);
        let started = Instant::now();
        catalog.settle_units(&reservation, 2).await.expect("it is open");
        settled.push(started.elapsed().as_secs_f64() * 1e3);
    }
    (reserved, settled)
}

fn shown(mut milliseconds: Vec<f64>) -> String {
    milliseconds.sort_by(f64::total_cmp);
    let at = |share: f64| milliseconds[((milliseconds.len() - 1) as f64 * share) as usize];
    format!("p50 {:.2} ms, p99 {:.2} ms", at(0.5), at(0.99))
}
