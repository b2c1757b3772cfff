//! Which data folder a command works on, and whether it may create one.
//!
//! The first of these that is set: `--data`, `QUIRE_DATA`, the setting `storage.folder`, else `quire-data` in the current
//! folder. Only commands that begin something create a folder, and they say so; every other command wants one that exists,
//! so that a line typed in the wrong folder is an error and not an empty list.

use std::{
    io::{Write, stderr},
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{Fault, Reason, seams::catalog::Catalog};

use super::{Global, local, output};
use crate::{assemble, config::Config};

/// The folder that is used where none is named.
const USUAL: &str = "quire-data";

impl Global {
    /// The settings: defaults, then the file, then the environment.
    pub(super) fn settings(&self) -> Result<Config, Fault> {
        let config = Config::load(self.config.as_deref());
        config.map_err(|wrong| Fault::new(Reason::InvalidParameter, wrong.to_string()))
    }

    /// Whether somebody said where the data is.
    pub(super) fn names_data(&self, config: &Config) -> bool {
        self.data.is_some() || config.storage.folder.is_some() || config.is_shared()
    }

    /// The data folder, whether or not it exists.
    pub(super) fn folder(&self, config: &Config) -> PathBuf {
        self.data.clone().or_else(|| config.storage.folder.clone()).unwrap_or_else(|| USUAL.into())
    }

    /// A data folder that holds something. Where the stores are on servers, the folder only holds scratch files.
    pub(super) fn existing(&self, config: &Config) -> Result<PathBuf, Fault> {
        let folder = self.folder(config);
        if config.is_shared() || is_data(&folder) {
            return Ok(folder);
        }
        let cause = format!("there is no quire data in {}", shown(&folder));
        Err(Fault::new(Reason::NotFound, cause)
            .hint("name the folder with --data DIR, or create one with `quire serve --data DIR`"))
    }

    /// A data folder that is created, and said to be, where it does not exist.
    pub(super) fn created(&self, config: &Config) -> Result<PathBuf, Fault> {
        let folder = self.folder(config);
        if !config.is_shared() && !is_data(&folder) {
            stores::make_private_folder(&folder).map_err(|error| local(error.into()))?;
            let said = output::text("command-created-folder").with("folder", shown(&folder));
            let _ = writeln!(stderr(), "{}", said.plain());
        }
        Ok(folder)
    }

    /// The catalog of a data folder that exists.
    pub(super) fn catalog(&self) -> Result<Arc<dyn Catalog>, Fault> {
        let config = self.settings()?;
        assemble::open_catalog(&self.existing(&config)?, &config).map_err(local)
    }
}

fn is_data(folder: &Path) -> bool {
    folder.join("catalog.db").is_file()
}

/// A folder as people find it, wherever they are.
pub(super) fn shown(folder: &Path) -> String {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf()).display().to_string()
}
