//! What the server is made of: shown to whoever looks after it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, Instant},
};

use engine::{embedders::Embedders, search::Rerankers};
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::config::Config;

/// How long a measured size is shown: a folder of many files takes a while to go through.
const KEPT: Duration = Duration::from_secs(60);

/// What the server is made of, known from its start.
pub struct About {
    pub(crate) data: PathBuf,
    pub(crate) started: Timestamp,
    pub(crate) embedder: String,
    pub(crate) reranker: String,
    /// What reads pictures and scanned pages.
    pub(crate) ocr: parsers::Ocr,
    /// What the sandbox of parsers lacks on this machine, once that is known.
    pub(crate) sandbox: OnceLock<Result<Vec<parsers::Missing>, String>>,
    index_size: Mutex<Option<(Instant, u64)>>,
}

impl About {
    /// What a server with this data folder, models of these names and these settings is made of.
    pub fn of(data: &Path, embedders: &Embedders, rerankers: &Rerankers, config: &Config) -> Self {
        About {
            data: data.to_path_buf(),
            started: Timestamp::now(),
            embedder: match embedders.multilingual_id() {
                Some(multilingual) => {
                    format!("{}; {multilingual} for other languages", embedders.usual().id())
                }
                None => embedders.usual().id().to_string(),
            },
            reranker: match (
                rerankers.usual().map_or("none", |usual| usual.id()),
                rerankers.multilingual_id(),
            ) {
                (usual, Some(multilingual)) => format!("{usual}; {multilingual} for other languages"),
                (usual, None) => usual.to_string(),
            },
            ocr: config.ingest.ocr.here(),
            sandbox: OnceLock::new(),
            index_size: Mutex::new(None),
        }
    }

    /// Bytes of the index, measured now and then.
    pub(crate) fn index_size(&self) -> u64 {
        if let Some((at, bytes)) = *self.index_size.lock()
            && at.elapsed() < KEPT
        {
            return bytes;
        }
        let bytes = size_below(&self.data.join("index"));
        *self.index_size.lock() = Some((Instant::now(), bytes));
        bytes
    }
}

fn size_below(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_below(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
