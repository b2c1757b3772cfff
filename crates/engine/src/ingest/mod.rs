//! The ingest path: upload → parse → chunk → embed → index.

pub mod chunk;
