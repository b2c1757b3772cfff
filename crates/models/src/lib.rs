//! Neural models in process: embedder and reranker, their weights, tokens and kernels.
