//! One random sequence of operations on two stores, the embedded one and the one on servers: whatever is answered must be equal.
//!
//! Runs wherever `tests/servers/servers.py` has started the servers; both stores are then open at once.

mod catalog;
mod index;
mod limiter;

/// A runtime for one sequence; the stores keep threads of their own.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
