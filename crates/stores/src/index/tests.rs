//! The embedded index against the contract, and what only it promises.

use std::sync::Arc;

use super::{Bounds, Embedded, contract};

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_holds() {
    let folder = tempfile::tempdir().unwrap();
    contract::holds(Arc::new(Embedded::open(folder.path(), Bounds::default()).unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_holds_when_boxes_are_closed_all_the_time() {
    let folder = tempfile::tempdir().unwrap();
    contract::holds(Arc::new(Embedded::open(folder.path(), Bounds { boxes: 1, bytes: 0 }).unwrap())).await;
}
