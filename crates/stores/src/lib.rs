//! Where everything is kept: catalog, index, limiter and blobs, each behind a seam of `engine`.

pub mod blobs;
pub mod catalog;
mod disk;
mod error;
pub mod index;
pub mod limiter;
mod postgres;
#[cfg(test)]
mod scaled;
mod scrub;
#[cfg(test)]
mod side_by_side;
mod snapshot;

use std::{fs, os::unix::fs::DirBuilderExt, path::Path};

pub use error::Error;
pub use snapshot::{check, mirror, snapshot};

/// Creates a folder that only its owner can enter, where there is none.
pub fn make_private_folder(path: &Path) -> Result<(), Error> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(Error::io(format!("making the folder {}", path.display())))
}
