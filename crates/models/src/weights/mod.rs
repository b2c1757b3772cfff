//! Model files: which we know and pin, how they are fetched, checked and opened.
//!
//! Nothing here reaches for the network except [`pull()`], and only when called.

pub mod bundled;
mod checkpoint;
mod folder;
mod onnx;
mod pull;
mod registry;
mod shape;
mod tensor;

use std::path::{Path, PathBuf};

pub(crate) use checkpoint::Checkpoint;
#[cfg(test)]
pub(crate) use checkpoint::Stored;
pub use folder::{Folder, Settings};
pub use pull::{Pulled, pull};
pub use registry::{KNOWN, Known, KnownFile, ModelStatus, list, verify};
pub(crate) use shape::Pooling;
pub use shape::Shape;
#[cfg(test)]
pub(crate) use tensor::Encoding;
pub(crate) use tensor::Tensor;

/// Why a model's files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// A file is missing or cannot be read.
    #[error("`{}`: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// A file is not what its name says.
    #[error("malformed model: {0}")]
    Malformed(String),
    /// A well-formed model of a kind we do not run.
    #[error("unsupported model: {0}")]
    Unsupported(String),
    /// A pinned file has other bytes than the ones we tested with.
    #[error("`{}` has SHA-256 {found} but is pinned to {expected}; remove it and pull again", path.display())]
    Changed { path: PathBuf, expected: String, found: String },
    /// No such model in the registry.
    #[error("no model `{0}` is known; known are {known}", known = registry::names())]
    Unknown(String),
    /// Fetching failed.
    #[error("cannot fetch `{package}`: {cause}")]
    Fetch { package: String, cause: String },
}

impl WeightsError {
    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        WeightsError::File { path: path.to_owned(), source }
    }
}
