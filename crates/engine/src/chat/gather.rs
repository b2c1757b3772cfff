//! Finds what to answer from, by what is wanted: passages by search, whole documents, or what stands beside an answer.

use super::{
    Asked, Chat, ChatRequest, FULL_CONTEXT, LEAST, LONGEST_PASSAGE, alike, beside, brief, intent::Intent,
    passage, searched, understand, words::stems,
};
use crate::{
    Fault,
    access::Reading,
    cost::{self, Work},
    ids::{ChunkId, FileId},
    seams::{
        answerer::{Passage, Pieces, Side, Task},
        catalog::{FileQuery, FileRecord, FileStatus, SortKey},
    },
    search::{SearchHits, SearchRequest},
};

/// Passages that a summary is made from: of longer documents, evenly spaced ones.
pub(super) const SUMMARISED: usize = 40;
/// The same where documents are to be read in full.
const SUMMARISED_IN_FULL: usize = 65;
/// Documents of a box that are summarised together, and listed.
pub(super) const DOCUMENTS: u32 = 20;

/// What an answer is made from.
#[derive(Default)]
pub(super) struct Found {
    pub(super) passages: Vec<Passage>,
    /// The closest passages, for a question that gets no answer.
    pub(super) near: Vec<(String, u32)>,
    pub(super) warnings: Vec<String>,
    /// What the search cost.
    pub(super) search_units: u64,
    /// What to do with the passages.
    pub(super) task: Task,
}

impl Found {
    /// Whether any passage is likely enough for an answerer to be asked.
    pub(super) fn is_likely(&self) -> bool {
        matches!(self.task, Task::Summary | Task::Beside(_)) && !self.passages.is_empty()
            || self.passages.iter().any(|passage| passage.score >= LEAST)
    }
}

impl Chat {
    /// Finds what to answer from and quotes it: first as it is wanted, then as a plain question, then by other words for the
    /// same things. What answers at once pays for none of the later ways.
    pub(super) async fn quoted(
        &self,
        asked: &Asked<'_>,
        request: &ChatRequest,
    ) -> Result<(Found, Option<Box<dyn Pieces>>), Fault> {
        let found = self.gather(asked, request).await?;
        let pieces = self.answered(asked, request, &found).await?;
        if pieces.is_some() || found.task == Task::Summary {
            return Ok((found, pieces));
        }
        let mut first = found;
        if first.task != Task::Answer {
            first = self.by_question(asked, request, &asked.question).await?;
            let pieces = self.answered(asked, request, &first).await?;
            if pieces.is_some() {
                return Ok((first, pieces));
            }
        }
        let Some(other) = alike::expanded(&asked.question) else { return Ok((first, None)) };
        let second = self.by_question(asked, request, &other).await?;
        let there = second.passages.iter().flat_map(|passage| stems(&passage.chunk.text)).collect();
        let pieces = match second.is_likely() {
            true => {
                let mut brief = brief(asked, request, &second);
                brief.question = alike::replaced(&asked.question, &there).unwrap_or(brief.question);
                self.answerer.answer(brief).await?
            }
            false => None,
        };
        Ok(if pieces.is_some() { (second, pieces) } else { (first, None) })
    }

    async fn answered(
        &self,
        asked: &Asked<'_>,
        request: &ChatRequest,
        found: &Found,
    ) -> Result<Option<Box<dyn Pieces>>, Fault> {
        match found.is_likely() {
            true => self.answerer.answer(brief(asked, request, found)).await,
            false => Ok(None),
        }
    }

    /// Finds what to answer from, once.
    pub(super) async fn gather(&self, asked: &Asked<'_>, request: &ChatRequest) -> Result<Found, Fault> {
        match &asked.intent {
            Intent::Summary(named) => self.to_summarise(asked, request, named).await,
            Intent::Comparison(sides) => self.of_sides(asked, request, sides).await,
            Intent::Beside(direction) => {
                let before = understand::question_before(&request.turns);
                let mut found = self.by_question(asked, request, &before).await?;
                beside::keep_answered(&request.turns, &mut found.passages);
                self.add_neighbours(asked.readings, &mut found).await?;
                found.task = Task::Beside(*direction);
                Ok(found)
            }
            Intent::Talk(_) | Intent::Documents(_) | Intent::Question => {
                self.by_question(asked, request, &asked.question).await
            }
        }
    }

    /// Finds the passages for a question.
    async fn by_question(
        &self,
        asked: &Asked<'_>,
        request: &ChatRequest,
        question: &str,
    ) -> Result<Found, Fault> {
        let readings = asked.readings;
        let (mut passages, search_units) = self.found(readings, searched(request, question)).await?;
        let near = passages.iter().take(3).map(|near| (near.file_name.clone(), near.chunk.page)).collect();
        let mut warnings = Vec::new();
        if request.full_context && !passages.is_empty() {
            match self.whole(readings, request, &passages).await? {
                Some(whole) => passages = whole,
                None => warnings.push(
                    "the documents are too long to be read in full; the best passages were used instead"
                        .into(),
                ),
            }
        }
        self.shorten(&mut passages, request.max_context_tokens);
        Ok(Found { passages, near, warnings, search_units, task: Task::Answer })
    }

    /// The passages that a search finds, and what it costs.
    pub(super) async fn found(
        &self,
        readings: &[Reading],
        search: SearchRequest,
    ) -> Result<(Vec<Passage>, u64), Fault> {
        let (passages, work) = self.searched_for(readings, search).await?;
        let units = cost::search(&work, passages.len());
        Ok((passages, units))
    }

    async fn searched_for(
        &self,
        readings: &[Reading],
        search: SearchRequest,
    ) -> Result<(Vec<Passage>, Work), Fault> {
        let SearchHits { hits, work, .. } = self.search.across(readings, search).await?;
        let names = self.names(readings, hits.iter().map(|hit| hit.id.file)).await?;
        Ok((hits.into_iter().filter_map(|hit| passage(hit, &names)).collect(), work))
    }

    /// The passages about each side. All searches together do the work of one.
    async fn of_sides(
        &self,
        asked: &Asked<'_>,
        request: &ChatRequest,
        sides: &[Side],
    ) -> Result<Found, Fault> {
        let mut passages: Vec<Passage> = Vec::new();
        let mut work = Work::default();
        let count = sides.len().max(1);
        for side in sides {
            let mut search = searched(request, &side.question);
            search.top_k = (request.max_sources / count).max(2);
            search.most.cross_encoded /= count;
            let (found, done) = self.searched_for(asked.readings, search).await?;
            work.cross_encoded += done.cross_encoded;
            work.passages += done.passages;
            for passage in found {
                match passages.iter_mut().find(|known| known.id == passage.id) {
                    Some(known) => known.score = known.score.max(passage.score),
                    None => passages.push(passage),
                }
            }
        }
        self.shorten(&mut passages, request.max_context_tokens);
        let near = passages.iter().take(3).map(|near| (near.file_name.clone(), near.chunk.page)).collect();
        let search_units = cost::search(&work, passages.len());
        Ok(Found { passages, near, search_units, task: Task::Comparison(sides.to_vec()), ..Found::default() })
    }

    /// Adds the passages before and after those that were found.
    async fn add_neighbours(&self, readings: &[Reading], found: &mut Found) -> Result<(), Fault> {
        let mut ids: Vec<ChunkId> = Vec::new();
        for Passage { id, .. } in &found.passages {
            for ordinal in [id.ordinal.wrapping_sub(1), id.ordinal.wrapping_add(1)] {
                let beside = ChunkId { ordinal, ..*id };
                if !ids.contains(&beside) && !found.passages.iter().any(|passage| passage.id == beside) {
                    ids.push(beside);
                }
            }
        }
        let stored = self.chunks(readings, &ids).await?;
        let names: std::collections::HashMap<FileId, String> =
            found.passages.iter().map(|passage| (passage.id.file, passage.file_name.clone())).collect();
        for (id, chunk) in ids.into_iter().zip(stored) {
            if let (Some(chunk), Some(name)) = (chunk, names.get(&id.file)) {
                found.passages.push(Passage { id, file_name: name.clone(), chunk, score: 0.0 });
            }
        }
        Ok(())
    }

    /// What a summary is made from: the documents that are named, or asked about, or all.
    async fn to_summarise(
        &self,
        asked: &Asked<'_>,
        request: &ChatRequest,
        named: &[String],
    ) -> Result<Found, Fault> {
        let readings = asked.readings;
        let mut files: Vec<FileRecord> = match &request.only {
            Some(only) => {
                let ids: Vec<FileId> = only.iter().copied().collect();
                self.files(readings, &ids).await?
            }
            None => self.listed(readings).await?.0,
        };
        files.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
        let mut found = Found { task: Task::Summary, ..Found::default() };
        let by_name = named_files(&files, named);
        let before = understand::question_before(&request.turns);
        if !by_name.is_empty() {
            files = by_name;
        } else if request.only.is_none() && files.len() > 1 && !(named.is_empty() && before.is_empty()) {
            // Named by what it is about, or meant by what was asked before.
            let topic = if named.is_empty() { before } else { named.join(" ") };
            let (passages, units) = self.found(readings, searched(request, &topic)).await?;
            found.search_units = units;
            let Some(best) = passages.first().filter(|best| best.score >= LEAST) else { return Ok(found) };
            files.retain(|file| file.id == best.id.file);
        }
        let (most, tokens) = match request.full_context {
            true => (SUMMARISED_IN_FULL, FULL_CONTEXT),
            false => (SUMMARISED, SUMMARISED * LONGEST_PASSAGE),
        };
        let held: u32 = files.iter().map(|file| file.extent.chunks).sum();
        files.truncate(most);
        found.passages = self.spread(readings, &files, most).await?;
        let most = tokens.min(request.max_context_tokens);
        let read = found.passages.len();
        self.shorten(&mut found.passages, most);
        if found.passages.len() < read || (read as u32) < held {
            found.warnings.push("the documents are long; the summary is of parts of them".into());
        }
        Ok(found)
    }

    /// Passages of these files in reading order, evenly spaced where there are more than `most`.
    async fn spread(
        &self,
        readings: &[Reading],
        files: &[FileRecord],
        most: usize,
    ) -> Result<Vec<Passage>, Fault> {
        let each = (most / files.len().max(1)).max(1);
        let mut passages = Vec::new();
        for file in files {
            let chunks = file.extent.chunks as usize;
            let count = chunks.min(each);
            let ids: Vec<ChunkId> = (0..count)
                .map(|at| ChunkId { file: file.id, ordinal: (at * chunks / count.max(1)) as u32 })
                .collect();
            let stored = self.chunks(readings, &ids).await?;
            for (id, chunk) in ids.into_iter().zip(stored) {
                if let Some(chunk) = chunk {
                    let file_name = file.name.as_str().to_string();
                    passages.push(Passage { id, file_name, chunk, score: 0.0 });
                }
            }
        }
        Ok(passages)
    }

    /// The first documents of a box that can be read, and how many there are.
    pub(super) async fn listed(&self, readings: &[Reading]) -> Result<(Vec<FileRecord>, u64), Fault> {
        let query = FileQuery {
            name_part: None,
            statuses: vec![FileStatus::Ready, FileStatus::ReadyWithWarnings],
            tags: Vec::new(),
            sort: SortKey::Name,
            descending: false,
            after: None,
            limit: DOCUMENTS,
        };
        let page = self.catalog.list_files(readings, query).await?;
        Ok((page.files, page.total))
    }
}

/// The files whose names have most of these words; none where no name has one.
fn named_files(files: &[FileRecord], named: &[String]) -> Vec<FileRecord> {
    let count = |file: &FileRecord| {
        let name = file.name.as_str().to_lowercase();
        let words: Vec<&str> = name.split(|character: char| !character.is_alphanumeric()).collect();
        let stems: Vec<String> = words.iter().map(|word| super::words::stem(word)).collect();
        let has = |word: &&String| **word == name || stems.contains(&super::words::stem(word));
        named.iter().filter(has).count() + usize::from(named.contains(&name)) * 10
    };
    let most = files.iter().map(count).max().unwrap_or(0);
    if most == 0 { Vec::new() } else { files.iter().filter(|file| count(file) == most).cloned().collect() }
}
