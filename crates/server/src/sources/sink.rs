//! Where what a source holds goes: compares it with what came from there before, and makes the box follow.

use std::collections::{HashMap, HashSet};

use engine::{
    Fault, Reason,
    access::Writing,
    seams::catalog::{FileName, Metadata, NewFile, Source, SourceItem, SourceReport, UploadOutcome},
};
use serde_json::json;
use sha2::{Digest, Sha256};
use stores::blobs::hexadecimal;

use super::writing;
use crate::{
    app::App,
    following::{external_id, is_much},
};

/// Bytes of one file that are taken from a source: each is held in memory once.
pub(super) const MOST_BYTES: u64 = 50 << 20;
/// Files of one source. A hostile one could name new ones for ever.
const MOST_FILES: usize = 100_000;
/// Failures that are listed.
const MOST_FAILURES: usize = 100;

/// A file as it comes from a source.
pub(super) struct Arrived {
    /// What it is called there, such as its address.
    pub(super) name: String,
    /// What people call it.
    pub(super) file_name: String,
    pub(super) media_type: String,
    /// What tells that it changed there; empty where nothing does.
    pub(super) version: String,
    pub(super) bytes: Vec<u8>,
}

/// What a source holds, compared with what it held.
pub(super) struct Sink<'a> {
    app: &'a App,
    source: &'a Source,
    writing: Writing,
    known: HashMap<String, SourceItem>,
    seen: HashSet<String>,
    report: SourceReport,
}

impl<'a> Sink<'a> {
    pub(super) async fn new(app: &'a App, source: &'a Source) -> Result<Self, Fault> {
        let writing = writing(source);
        let items = app.catalog.source_items(&writing, source.id).await?;
        let known = items.into_iter().map(|item| (item.name.clone(), item)).collect();
        let (seen, report) = Default::default();
        Ok(Sink { app, source, writing, known, seen, report })
    }

    pub(super) fn report(self) -> SourceReport {
        self.report
    }

    /// The version of a file that is known; none where it is not, or nothing told it apart.
    pub(super) fn version_of(&self, name: &str) -> Option<&str> {
        self.known.get(name).map(|item| item.version.as_str()).filter(|version| !version.is_empty())
    }

    /// A file is there and is the one that is known.
    pub(super) fn same(&mut self, name: &str) -> Result<(), Fault> {
        if self.meet(name)? {
            self.report.unchanged += 1;
        }
        Ok(())
    }

    /// Remembers that a file is there; says whether that is new.
    fn meet(&mut self, name: &str) -> Result<bool, Fault> {
        if self.seen.len() >= MOST_FILES && !self.seen.contains(name) {
            let cause = format!("the source holds more than {MOST_FILES} files");
            return Err(Fault::new(Reason::Unprocessable, cause).hint("follow a part of it"));
        }
        Ok(self.seen.insert(name.to_string()))
    }

    /// A file is there and cannot be read.
    pub(super) fn failed(&mut self, name: &str, why: impl Into<String>) -> Result<(), Fault> {
        self.meet(name)?;
        if self.report.failed.len() < MOST_FAILURES {
            self.report.failed.push((name.to_string(), why.into()));
        }
        Ok(())
    }

    /// A file is there, with these bytes. What is of a kind that cannot be read is passed over.
    pub(super) async fn put(&mut self, arrived: Arrived) -> Result<(), Fault> {
        let name = arrived.name.clone();
        if self.seen.contains(&name) {
            return Ok(());
        }
        if arrived.bytes.is_empty() || parsers::kind::sniff(&arrived.bytes, &arrived.file_name).is_err() {
            // Of a file that could be read before, that is worth a word; it is not gone.
            if self.known.contains_key(&name) {
                self.failed(&name, "it is empty now, or of a kind that cannot be read")?;
            }
            return Ok(());
        }
        self.meet(&name)?;
        match self.keep(arrived).await {
            Ok(()) => Ok(()),
            // What is wrong with one file is no reason to leave the others out; a full box is.
            Err(fault) if matches!(fault.reason, Reason::InvalidParameter | Reason::TooLarge) => {
                self.failed(&name, fault.cause)
            }
            Err(fault) => Err(fault),
        }
    }

    async fn keep(&mut self, arrived: Arrived) -> Result<(), Fault> {
        let Arrived { name, file_name, media_type, version, bytes } = arrived;
        let sha256 = hexadecimal(&Sha256::digest(&bytes));
        let known = self.known.get(&name);
        if let Some(item) = known.filter(|item| item.sha256 == sha256) {
            self.report.unchanged += 1;
            if item.version != version {
                let item = SourceItem { version, ..item.clone() };
                self.app.catalog.put_source_item(&self.writing, self.source.id, item).await?;
            }
            return Ok(());
        }
        let file_name: FileName =
            file_name.parse().map_err(|wrong: String| Fault::new(Reason::InvalidParameter, wrong))?;
        let mut incoming = self.app.library.blobs.receive()?;
        let staged = tokio::task::spawn_blocking(move || {
            incoming.write(&bytes)?;
            incoming.finish()
        });
        let staged = staged.await.map_err(Fault::internal)??;
        let metadata =
            Metadata::from_iter([("source".into(), json!(self.source.id)), ("origin".into(), json!(name))]);
        let first = known.is_none();
        let external_id = external_id(&format!("{}:{name}", self.source.id));
        let uploaded = self.app.library.add(&self.writing, staged, |staged| NewFile {
            name: file_name,
            external_id: Some(external_id),
            sha256: staged.sha256.clone(),
            size: staged.size,
            media_type,
            tags: None,
            // What its owner says of a file stays over its versions.
            metadata: first.then_some(metadata),
            expires_at: None,
        });
        let uploaded = uploaded.await?;
        match uploaded.outcome {
            UploadOutcome::Added => self.report.added += 1,
            UploadOutcome::Replaced => self.report.changed += 1,
            UploadOutcome::Known => self.report.unchanged += 1,
        }
        let item = SourceItem { name, file: uploaded.file.id, version, sha256 };
        self.app.catalog.put_source_item(&self.writing, self.source.id, item).await
    }

    /// Deletes files that are gone there, if that is wanted. Where anything could not be read, what is missing may only be out of
    /// sight; and where very much is missing, somebody is asked first.
    pub(super) async fn delete_missing(&mut self) -> Result<(), Fault> {
        if !self.source.delete_missing || !self.report.failed.is_empty() {
            return Ok(());
        }
        let gone: Vec<SourceItem> =
            self.known.values().filter(|item| !self.seen.contains(&item.name)).cloned().collect();
        if is_much(gone.len(), self.known.len()) && !self.source.may_delete_many {
            self.report.held_back = gone.len() as u64;
            return Ok(());
        }
        for item in gone {
            if self.app.library.delete(&self.writing, item.file).await?.is_some() {
                self.report.removed += 1;
            }
        }
        Ok(())
    }
}
