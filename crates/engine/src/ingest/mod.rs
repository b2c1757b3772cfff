//! The ingest path: upload → parse → chunk → embed → index.
