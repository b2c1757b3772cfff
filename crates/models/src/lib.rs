//! Neural models in process: embedder and reranker, their weights, tokens and kernels.

pub mod runtime;
pub mod tokens;
pub mod weights;
