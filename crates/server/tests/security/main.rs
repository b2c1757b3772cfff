//! What keeps the defences honest: the fuzz targets' corpus with mutations of it, and the table of attacks in docs/security.md.

mod replay;
mod table;

use std::path::PathBuf;

/// The top of the source tree.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
