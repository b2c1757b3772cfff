//! Our words, our seams and the two paths (ingest and search); depends on nothing else of ours.
//!
//! Layout, in reading order:
//! - [`ids`], [`document`], [`layout`], [`access`], [`permissions`], [`origins`], [`apikey`], [`error`]: the words everything else is said in.
//! - [`seams`]: one trait per file, for what is chosen at run time; `stores`, `models` and `parsers` implement them.
//! - [`embedders`]: which model fills and searches which box.
//! - [`ingest`]: upload → parse → chunk → embed → index.
//! - [`search`]: query → recall → fuse → rerank → cite.
//! - [`chat`]: understand → search → answer → verify.
//! - [`blocking`], [`turnstile`], [`shares`]: work that ends with its request, takes turns by account, and is shared by recent use.
//! - [`trace`]: where in a trace work belongs. [`bundle`]: a box in one file.
//! - [`cost`]: what a search and an answer cost. [`bounds`]: how much an account may hold.

pub mod access;
pub mod apikey;
pub mod blocking;
pub mod bounds;
pub mod bundle;
pub mod chat;
pub mod cost;
pub mod document;
pub mod embedders;
pub mod error;
pub mod ids;
pub mod ingest;
pub mod later;
pub mod layout;
pub mod origins;
pub mod permissions;
pub mod seams;
pub mod search;
pub mod shares;
pub mod trace;
pub mod turnstile;

pub use error::{Fault, Reason};
