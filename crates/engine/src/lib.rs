//! Our words, our seams and the two paths (ingest and search); depends on nothing else of ours.
//!
//! Layout, in reading order:
//! - [`ids`], [`document`], [`access`], [`apikey`], [`error`]: the words everything else is said in.
//! - [`seams`]: one trait a file, for what is chosen at run time; `stores`, `models` and `parsers` implement them.
//! - [`ingest`]: upload → parse → chunk → embed → index.
//! - [`search`]: query → recall → fuse → rerank → cite.
//! - [`chat`]: understand → search → answer → verify.
//! - [`cost`]: what both cost.

pub mod access;
pub mod apikey;
pub mod chat;
pub mod cost;
pub mod document;
pub mod error;
pub mod ids;
pub mod ingest;
pub mod seams;
pub mod search;

pub use error::{Fault, Reason};
