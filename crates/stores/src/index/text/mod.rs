//! The full text of a box: finds chunks by their words.
//!
//! A small box has its terms in memory ([`small`]), read when first asked and forgotten at each change: that is faster than
//! opening files. A larger one has it in a folder beside its file. Its last commit names the change of the truth that it
//! includes; what came later is caught up when it is opened. An index that is ahead of the truth, or that was made when texts
//! gave other terms, is made again.
//!
//! - [`analyzer`] makes terms of texts, [`languages`] and [`question`] make them of queries.
//! - [`spelling`] takes misspelt words for others.

mod analyzer;
mod bm25;
mod counts;
mod languages;
mod question;
mod small;
mod spelling;
mod terms;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

pub(super) use analyzer::ANALYSIS;
pub(super) use bm25::Field;
pub(super) use counts::{Counts, count_terms};
use engine::{Fault, Reason, seams::index::Correction};
pub(super) use languages::Languages;
use parking_lot::Mutex;
pub(super) use question::Group;
use rusqlite::Connection;
use small::Small;
pub(super) use spelling::Speller;
use tantivy::{
    Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyError, index::SegmentId,
    indexer::IndexWriterOptions,
};
pub(super) use terms::HEADING_WEIGHT;
use terms::{Documents, Fields, Totals};

use super::{
    Wanted,
    truth::{self, Change},
};
use crate::error::fault;

/// Chunks up to which a box keeps its terms in memory: reading them takes about 10 ms, the most that opening a cold box
/// may take.
const IN_MEMORY: u64 = 256;

/// The least that tantivy takes for the buffer of a writer; it is filled only as far as a file needs.
const WRITER_BYTES: usize = 15_000_000;

/// A segment up to this size is rewritten at once when something in it is removed, so that its words are gone from the
/// disk within about a second; a larger one when a hundredth of it is removed.
const REWRITE_AT_ONCE: u32 = 50_000;

/// New files, and chunks of them, that wait for the next search at most, so that it does not wait long for them: a
/// thousand chunks take about as long as the commit itself.
const MOST_WAITING: (u64, u64) = (64, 1_000);

/// The numbers of chunks, best first, with their BM25 scores; and the words of the query that were taken for others.
pub(super) type Matches = (Vec<(i64, f32)>, Vec<Correction>);

/// The text index of one box.
pub(super) struct Text {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Of a small box.
    small: Option<Arc<Small>>,
    /// Of a larger one.
    open: Option<Open>,
    retired: bool,
}

/// The index on disk.
struct Open {
    index: Index,
    reader: IndexReader,
    fields: Fields,
    languages: Arc<Languages>,
    /// Only where it was changed since it was opened.
    writer: Option<IndexWriter>,
    /// The latest change of the truth that is in it.
    has: i64,
    /// What there is in it, and as of which opening of the reader.
    totals: Option<(u64, Totals)>,
}

/// What is left to do once the truth has the change too.
pub(super) enum Pending {
    /// What is in memory is out of date.
    Forget,
    /// The index on disk has the change, and starts to show it.
    Show,
    /// The next search writes it down.
    Wait,
}

impl Text {
    pub(super) fn new(folder: PathBuf) -> Self {
        Text { folder, state: Mutex::default() }
    }

    /// Writes a change down, before the truth commits it; nobody sees it yet. A new file may wait for the next search,
    /// because a commit takes as long as ten such files; what is removed goes at once.
    pub(super) fn prepare(&self, transaction: &Connection, change: &Change) -> Result<Pending, Fault> {
        let mut state = self.state.lock();
        if self.is_small(transaction)? {
            truth::forget_changes(transaction, change.number - 1).map_err(fault)?;
            return Ok(Pending::Forget);
        }
        if let Some(open) = &state.open {
            truth::forget_changes(transaction, open.has).map_err(fault)?;
        }
        let (files, chunks) = truth::remembered_changes(transaction).map_err(fault)?;
        let few = files <= MOST_WAITING.0 && chunks <= MOST_WAITING.1;
        if self.folder.exists() && change.before.is_none() && few {
            return Ok(Pending::Wait);
        }
        state.small = None;
        let written = self.opened(&mut state, transaction, change.number).map(drop);
        if written.is_err() {
            state.open = None;
        }
        written.map(|()| Pending::Show)
    }

    /// Shows a change that the truth has committed.
    pub(super) fn publish(&self, pending: Pending) -> Result<(), Fault> {
        let mut state = self.state.lock();
        match (pending, state.open.as_mut()) {
            (Pending::Show, Some(open)) => {
                open.reader.reload().map_err(fault)?;
                open.start_rewriting();
            }
            (Pending::Wait, _) => {}
            (Pending::Forget, _) => state.small = None,
            (Pending::Show, None) => {}
        }
        Ok(())
    }

    /// Rewrites what has removed chunks in it, and waits for that: from then on their words are gone from the disk, except
    /// in very large parts, which are rewritten once a hundredth of them is removed.
    pub(super) fn rewrite(&self, connection: &Connection) -> Result<(), Fault> {
        let mut state = self.state.lock();
        if state.retired || !self.folder.exists() {
            return Ok(());
        }
        let latest = truth::latest_change(connection).map_err(fault)?;
        let open = self.opened(&mut state, connection, latest)?;
        open.rewrite().map_err(fault)
    }

    /// The truth did not take the change that was recorded: what is on disk is worth nothing.
    pub(super) fn withdraw(&self) {
        self.state.lock().open = None;
        self.discard();
    }

    pub(super) fn retire(&self) {
        *self.state.lock() = State { retired: true, ..State::default() };
    }

    /// The chunks that share words with `query`.
    pub(super) fn search(
        &self,
        connection: &Connection,
        query: &str,
        files: Option<&[i64]>,
        limit: usize,
    ) -> Result<Matches, Fault> {
        let (searcher, totals, fields, languages) = {
            let mut state = self.state.lock();
            if state.retired {
                return Ok(Default::default());
            }
            if let Some(small) = self.small(&mut state, connection)? {
                drop(state);
                return Ok(small.search(query, files, limit));
            }
            let latest = truth::latest_change(connection).map_err(fault)?;
            let had = state.open.as_ref().map(|open| open.has);
            let open = self.opened(&mut state, connection, latest)?;
            if had.is_some_and(|had| had < open.has) {
                open.reader.reload().map_err(fault)?;
            }
            let searcher = open.reader.searcher();
            (searcher.clone(), open.totals(&searcher).map_err(fault)?, open.fields, open.languages.clone())
        };
        let mut question = languages.read(query);
        let unknown = question.unknown(|term| fields.knows(&searcher, term));
        let mut corrections = Vec::new();
        if !unknown.is_empty() {
            corrections = fields.meant(&searcher, unknown).map_err(fault)?;
            question.correct(&corrections);
        }
        let query = fields.query(&searcher, totals, &question, files).map_err(fault)?;
        let Some((query, grouped)) = query else { return Ok((Vec::new(), corrections)) };
        Ok((fields.search(&*query, &grouped, limit).map_err(fault)?, corrections))
    }

    /// The terms of a small box; nothing for a larger one.
    fn small(&self, state: &mut State, connection: &Connection) -> Result<Option<Arc<Small>>, Fault> {
        if state.small.is_none() && state.open.is_none() && self.is_small(connection)? {
            state.small = Some(Arc::new(Small::of(connection).map_err(fault)?));
        }
        Ok(state.small.clone())
    }

    /// Whether the box was never larger than what is kept in memory.
    fn is_small(&self, connection: &Connection) -> Result<bool, Fault> {
        Ok(!self.folder.exists() && truth::chunk_count(connection).map_err(fault)? <= IN_MEMORY)
    }

    /// The index with all changes up to `latest` in it; those it had before are shown.
    fn opened<'a>(
        &self,
        state: &'a mut State,
        connection: &Connection,
        latest: i64,
    ) -> Result<&'a mut Open, Fault> {
        if let Some(open) = state.open.as_mut().filter(|open| open.has < latest)
            && !open.catch_up(connection, latest)?
        {
            state.open = None;
            self.discard();
        }
        if state.open.is_none() {
            state.open = Some(self.on_disk_index(connection, latest)?);
        }
        state.open.as_mut().ok_or_else(|| Fault::internal("no text index"))
    }

    fn on_disk_index(&self, connection: &Connection, latest: i64) -> Result<Open, Fault> {
        match self.caught_up(connection, latest) {
            Ok(Some(open)) => return Ok(open),
            Ok(None) => tracing::warn!("A text index does not belong to its box; rebuilding it"),
            // It may be as good as ever.
            Err(fault) if fault.reason == Reason::Overloaded => return Err(fault),
            Err(error) => tracing::warn!(%error, "A text index could not be read; rebuilding it"),
        }
        self.discard();
        self.caught_up(connection, latest)?
            .ok_or_else(|| Fault::internal("a new text index does not belong to its box"))
    }

    /// Opens or creates the index on disk; `None` where it holds what the truth never took, or is further behind than the
    /// truth remembers.
    fn caught_up(&self, connection: &Connection, latest: i64) -> Result<Option<Open>, Fault> {
        let mut open = self.open_folder().map_err(fault)?;
        open.languages = languages_of(connection)?;
        match open.index.load_metas().map_err(fault)?.payload {
            Some(payload) => {
                let Some(has) = has(&payload) else { return Ok(None) };
                open.has = has;
                if has > latest || !open.catch_up(connection, latest)? {
                    return Ok(None);
                }
            }
            None => open.write_all(connection, latest)?,
        }
        open.reader.reload().map_err(fault)?;
        Ok(Some(open))
    }

    fn open_folder(&self) -> tantivy::Result<Open> {
        let (schema, fields) = Fields::new();
        fs::create_dir_all(&self.folder)?;
        let directory = tantivy::directory::MmapDirectory::open(&self.folder)?;
        let index = Index::open_or_create(directory, schema)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Open { index, reader, fields, languages: Arc::default(), writer: None, has: 0, totals: None })
    }

    /// Whether the index below a folder is whole and what its checksums say. A small box has none, which is well too.
    pub(super) fn check(folder: &Path) -> Result<(), String> {
        if !folder.exists() {
            return Ok(());
        }
        let wrong = |error: TantivyError| error.to_string();
        let index = Index::open_in_dir(folder).map_err(wrong)?;
        let _opened: IndexReader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(wrong)?;
        match index.validate_checksum().map_err(wrong)?.iter().next() {
            Some(damaged) => Err(format!("{} is damaged", damaged.display())),
            None => Ok(()),
        }
    }

    fn discard(&self) {
        if let Err(error) = fs::remove_dir_all(&self.folder)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::error!(%error, "Could not remove a text index");
        }
    }
}

impl Open {
    /// Writes what changed up to `latest`; false where the truth does not remember it all.
    fn catch_up(&mut self, connection: &Connection, latest: i64) -> Result<bool, Fault> {
        if self.has == latest {
            return Ok(true);
        }
        let behind = truth::changed_between(connection, self.has, latest).map_err(fault)?;
        let Some(behind) = behind else { return Ok(false) };
        self.write(connection, behind.into_iter(), latest).map(|()| true)
    }

    /// Writes these files as the truth has them now: again, or not at all where they are gone.
    fn write(
        &mut self,
        connection: &Connection,
        files: impl Iterator<Item = i64>,
        change: i64,
    ) -> Result<(), Fault> {
        let fields = self.fields;
        let writer = self.writer().map_err(fault)?;
        for file in files {
            writer.delete_term(fields.of_file(file));
            let mut documents = Documents::new(writer, fields);
            truth::each_passage(connection, Some(file), |passage| documents.add(&passage)).map_err(fault)?;
            documents.finish().map_err(fault)?;
        }
        commit(writer, change).map_err(fault)?;
        self.has = change;
        self.languages = languages_of(connection)?;
        Ok(())
    }

    fn write_all(&mut self, connection: &Connection, change: i64) -> Result<(), Fault> {
        let fields = self.fields;
        let writer = self.writer().map_err(fault)?;
        let mut documents = Documents::new(writer, fields);
        truth::each_passage(connection, None, |passage| documents.add(&passage)).map_err(fault)?;
        documents.finish().map_err(fault)?;
        commit(writer, change).map_err(fault)?;
        self.has = change;
        Ok(())
    }

    /// Counted once for each state that is shown: 100,000 chunks take less than a millisecond.
    fn totals(&mut self, searcher: &Searcher) -> tantivy::Result<Totals> {
        let generation = searcher.generation().generation_id();
        match self.totals {
            Some((counted, totals)) if counted == generation => Ok(totals),
            _ => {
                let totals = Totals::of(searcher)?;
                self.totals = Some((generation, totals));
                Ok(totals)
            }
        }
    }

    fn writer(&mut self) -> tantivy::Result<&mut IndexWriter> {
        if self.writer.is_none() {
            let options = IndexWriterOptions::builder()
                .memory_budget_per_thread(WRITER_BYTES)
                .num_worker_threads(1)
                .num_merge_threads(1)
                .build();
            self.writer = Some(self.index.writer_with_options(options)?);
        }
        self.writer.as_mut().ok_or_else(|| TantivyError::SystemError("no writer".into()))
    }

    /// Starts to rewrite segments with removed chunks, in the background: until then their words stay on the disk,
    /// though nothing finds them.
    fn start_rewriting(&mut self) {
        let due = self.due();
        if let (Some(writer), false) = (self.writer.as_mut(), due.is_empty()) {
            // Nobody waits for it: a merge that fails leaves the segment as it was, and the next removal tries again.
            drop(writer.merge(&due));
        }
    }

    /// The same, to the end. A merge that was started before ends first.
    fn rewrite(&mut self) -> tantivy::Result<()> {
        if self.due().is_empty() {
            return Ok(());
        }
        if let Some(writer) = self.writer.take() {
            writer.wait_merging_threads()?;
        }
        let due = self.due();
        if !due.is_empty() {
            self.writer()?.merge(&due).wait()?;
        }
        self.reader.reload()?;
        self.writer()?.garbage_collect_files().wait()?;
        Ok(())
    }

    /// Segments to be rewritten.
    fn due(&self) -> Vec<SegmentId> {
        let segments = self.index.searchable_segment_metas().unwrap_or_default();
        segments
            .iter()
            .filter(|segment| match segment.num_deleted_docs() {
                0 => false,
                deleted => segment.max_doc() <= REWRITE_AT_ONCE || deleted * 100 >= segment.max_doc(),
            })
            .map(|segment| segment.id())
            .collect()
    }
}

fn languages_of(connection: &Connection) -> Result<Arc<Languages>, Fault> {
    let names = truth::languages(connection).map_err(fault)?;
    Ok(Arc::new(Languages::of(names)))
}

fn commit(writer: &mut IndexWriter, change: i64) -> tantivy::Result<()> {
    let mut prepared = writer.prepare_commit()?;
    prepared.set_payload(&format!("{change} {ANALYSIS}"));
    prepared.commit().map(drop)
}

/// The latest change that an index of this payload has; `None` where its terms are those of another version.
fn has(payload: &str) -> Option<i64> {
    let (change, analysis) = payload.split_once(' ')?;
    if analysis == ANALYSIS.to_string() { change.parse().ok() } else { None }
}

impl Wanted {
    /// The numbers of the wanted files, in this box; `None` where all are wanted.
    pub(super) fn files(&self, connection: &Connection) -> rusqlite::Result<Option<Vec<i64>>> {
        let Some(only) = &self.only else { return Ok(None) };
        let numbers = only.iter().map(|&file| truth::file_number(connection, file));
        Ok(Some(numbers.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()?))
    }
}
