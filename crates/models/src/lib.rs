//! Neural models in process: embedder and reranker, their weights, tokens and kernels.
//!
//! Layout, in reading order:
//! - [`weights`]: which models we know, how they are fetched, checked and opened.
//! - [`tokens`]: texts to token ids.
//! - [`runtime`]: token ids to hidden states, as fast as the processor allows.
//! - `batcher`: one thread per model, queries before passages.
//! - `embedder`, `reranker`: the seams in process; `remote`: the same over HTTP; `fake`: for tests.
//! - `gguf`: a language model in a file, run by a child process.

mod batcher;
mod embedder;
mod fake;
#[cfg(test)]
mod fixture;
mod gguf;
mod remote;
mod reranker;
pub mod runtime;
pub mod tokens;
pub mod weights;

pub use embedder::{LocalEmbedder, Options};
pub use fake::{FakeEmbedder, FakeReranker};
pub use gguf::{Gguf, GgufAnswerer, GgufError};
pub use remote::{Patience, Remote, RemoteAnswerer, RemoteEmbedder, RemoteReranker, RemoteShape};
pub use reranker::LocalReranker;
