//! What is chosen at run time: one trait per file; each names its implementations.

pub mod answerer;
pub mod catalog;
pub mod embedder;
pub mod index;
pub mod limiter;
pub mod parser;
pub mod reranker;
pub mod weighing;
