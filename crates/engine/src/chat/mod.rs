//! The chat path: understand → search → answer → verify.
//!
//! - [`Chat::ask`] tells the path; [`Answering`] is the answer on its way, every citation checked.
//! - [`intent`] tells what is wanted, [`understand`] turns a conversation into one question, [`gather`] finds what to
//!   answer from; [`mod@prompt`] is what a language model is told.
//! - [`Extractive`] answers by quoting: [`pick`] weighs sentences and rows, with a model's help ([`Pickers`]; [`mod@weights`]), [`summary`]
//!   and [`beside`] pick in other ways, [`listing`] lists documents. Other answerers are behind the seam.
//! - [`draft`] reads what a model writes, [`verify`] checks it against the pages, [`locate`] finds quotes there and
//!   [`support`] what says the same; [`structured`] reads JSON.

mod alike;
mod answering;
mod arithmetic;
mod beside;
mod draft;
mod extract;
mod extreme;
mod gather;
mod intent;
mod kind;
mod language;
mod listing;
mod locate;
mod named;
mod phrases;
mod pick;
mod pickers;
pub mod prompt;
mod request;
mod rows;
mod sides;
mod structured;
mod such;
mod summary;
mod support;
mod table;
mod told;
mod understand;
mod units;
mod verify;
mod weights;
mod words;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

pub use answering::Answering;
use answering::Quoting;
pub use extract::Extractive;
use extract::Known;
use gather::{Found, SUMMARISED};
use intent::Intent;
use language::Language;
pub use pickers::Pickers;
pub use request::{ChatRequest, ChatWorkDone, Finish, Outcome};
pub use verify::Citation;

use crate::{
    Fault,
    access::Reading,
    cost,
    embedders::Embedders,
    ids::{ChunkId, FileId},
    seams::{
        answerer::{Answerer, Brief, Format, Passage, Piece, Pieces},
        catalog::{Catalog, FileRecord},
        index::{Chunk, Index},
    },
    search::{Hit, Search, SearchRequest},
    turnstile::Pass,
};

/// If the best passage scores below this, the answerer is not asked. Low on purpose: in a box of few passages even the
/// right one scores low, and the answerer judges for itself.
const LEAST: f32 = 0.003;
/// Tokens of whole documents that are read: what the most expensive answer pays for.
const FULL_CONTEXT: usize = 13_000;
/// Chunks read from the index at a time.
const CHUNKS_AT_ONCE: u32 = 64;
/// Tokens of one passage at most; chunks have 200 and rarely a few more.
const LONGEST_PASSAGE: usize = 250;
/// Tokens of a summary, a comparison or a list at most: ten quotes.
const LONGEST_LIST: usize = 10 * LONGEST_PASSAGE;
/// Characters of a question that are searched for.
const LONGEST_QUESTION: usize = 4_000;

/// Answers questions from boxes.
#[derive(Clone)]
pub struct Chat {
    search: Search,
    index: Arc<dyn Index>,
    catalog: Arc<dyn Catalog>,
    embedders: Embedders,
    answerer: Arc<dyn Answerer>,
    /// Quotes where nothing that the answerer writes can be delivered.
    quoting: Arc<Extractive>,
}

impl Chat {
    /// A chat that searches and reads these, and answers by this answerer, or by quoting.
    pub fn new(
        search: Search,
        index: Arc<dyn Index>,
        catalog: Arc<dyn Catalog>,
        embedders: Embedders,
        answerer: Arc<dyn Answerer>,
        quoting: Arc<Extractive>,
    ) -> Self {
        Chat { search, index, catalog, embedders, answerer, quoting }
    }

    /// The same, with answers by this one.
    pub fn answered_by(&self, answerer: Arc<dyn Answerer>) -> Self {
        Chat { answerer, ..self.clone() }
    }

    /// The same, with answers by quoting.
    pub fn quoting(&self) -> Self {
        self.answered_by(self.quoting.clone())
    }

    /// Whether answers are quotes, without a language model.
    pub fn quotes(&self) -> bool {
        !self.answerer.is_told()
    }

    /// Who answers.
    pub fn answerer(&self) -> &Arc<dyn Answerer> {
        &self.answerer
    }

    /// Whether this server can give answers of this format.
    pub fn can(&self, format: &Format) -> bool {
        self.answerer.can(format)
    }

    /// What an answer can cost here.
    pub fn bounds(&self, request: &ChatRequest) -> cost::Bounds {
        let intent = intent::of(&request.turns, Language::of(&request.turns));
        let passages = match intent {
            Intent::Talk(_) | Intent::Documents(None) => return cost::Bounds { min: 1, max: 1 },
            _ if request.full_context => FULL_CONTEXT,
            Intent::Summary(_) => SUMMARISED * LONGEST_PASSAGE,
            _ => request.max_sources * LONGEST_PASSAGE,
        };
        let context = passages.saturating_add(self.told(request));
        let longest = match intent {
            Intent::Question | Intent::Beside(_) => self.answerer.longest(),
            _ => self.answerer.longest().max(LONGEST_LIST),
        };
        let generated = request.sampling.max_tokens.unwrap_or(usize::MAX).min(longest);
        let search = self.search.bounds(&searched(request, ""));
        cost::chat_bounds(search, context.min(request.max_context_tokens), generated)
    }

    /// Cuts the conversation to what is sent to the model and paid for.
    pub fn prepare(&self, request: &mut ChatRequest) -> Result<(), Fault> {
        request.cut_told(|text| self.embedders.usual().count_tokens(text)).map(drop)
    }

    /// Tokens of a prepared conversation that the answerer is told besides the passages: none where it quotes.
    fn told(&self, request: &ChatRequest) -> usize {
        if !self.answerer.is_told() {
            return 0;
        }
        let schema = match &request.format {
            Format::Schema(schema) => schema.to_string(),
            Format::Text | Format::Object => String::new(),
        };
        let texts = request.turns.iter().map(|turn| turn.text.as_str());
        self.tokens(texts.chain(request.wishes.iter().map(String::as_str)).chain([schema.as_str()]))
    }

    /// Begins to answer a question. When this returns, the answer has begun; reading it on does the rest of the work. It
    /// works in its `turn` until only a model elsewhere is waited for.
    pub async fn ask(&self, reading: &Reading, request: ChatRequest, turn: Pass) -> Result<Answering, Fault> {
        self.ask_across(&[*reading], request, turn).await
    }

    /// The same from several boxes.
    pub async fn ask_across(
        &self,
        readings: &[Reading],
        mut request: ChatRequest,
        turn: Pass,
    ) -> Result<Answering, Fault> {
        request.check()?;
        let language = Language::of(&request.turns);
        let intent = intent::of(&request.turns, language);
        let question = match &intent {
            Intent::Talk(_) => String::new(),
            _ => understood(&request)?,
        };
        self.prepare(&mut request)?;
        let model = self.model_of(readings).await?;
        let asked = Asked { readings, intent, question, language, model };
        match &asked.intent {
            Intent::Talk(reply) => {
                let reply = vec![Piece::Plain(reply.clone())];
                return self.begun(&asked, &request, Found::default(), Known::boxed(reply)).await;
            }
            Intent::Documents(topic) if request.format == Format::Text => {
                let (found, pieces) = turn.serve(self.documents(&asked, &request, topic.as_deref())).await?;
                return self.begun(&asked, &request, found, Known::boxed(pieces)).await;
            }
            _ => {}
        }
        let told = self.told(&request);
        request.max_context_tokens = request.max_context_tokens.saturating_sub(told);
        let (found, pieces) = if self.answerer.is_told() {
            let found = turn.serve(self.gather(&asked, &request)).await?;
            drop(turn);
            let pieces = match found.is_likely() {
                true => self.answerer.answer(brief(&asked, &request, &found)).await?,
                false => None,
            };
            (found, pieces)
        } else {
            turn.serve(self.quoted(&asked, &request)).await?
        };
        self.begun(&asked, &request, found, pieces).await
    }

    /// The answer that begins with what was found.
    async fn begun(
        &self,
        asked: &Asked<'_>,
        request: &ChatRequest,
        found: Found,
        pieces: Option<Box<dyn Pieces>>,
    ) -> Result<Answering, Fault> {
        let told = self.told(request);
        let read = self.tokens(found.passages.iter().map(|passage| passage.chunk.text.as_str()));
        let asked_tokens = match told {
            0 => self.tokens(request.turns.iter().map(|turn| turn.text.as_str())),
            _ => 0, // counted with the context
        };
        // What no document was read for costs no context.
        let context_tokens = if found.passages.is_empty() { 0 } else { read + told };
        let quoting = match self.answerer.is_told() && request.format == Format::Text {
            true => Quoting::by(self.quoting.clone(), brief(asked, request, &found)),
            false => Quoting::default(),
        };
        let (index, question) = (self.index.clone(), asked.question.clone());
        let files = self.rights(asked.readings, &found.passages).await?;
        let verifier = verify::Verifier::new(index, files, question, found.passages);
        let answer = answering::Begun {
            verifier,
            asked: match asked.intent {
                Intent::Talk(_) => None,
                _ => request.turns.last().map(|turn| turn.text.clone()),
            },
            near: found.near,
            language: asked.language,
            embedder: self.embedders.usual().clone(),
            sampling: request.sampling.clone(),
            format: request.format.clone(),
            search_units: found.search_units,
            context_tokens,
            asked_tokens,
            quoting,
        };
        Ok(Answering::new(answer, pieces, found.warnings))
    }

    /// Keeps the passages that fit; the best one stays in any case.
    fn shorten(&self, passages: &mut Vec<Passage>, most: usize) {
        let mut total = 0usize;
        let mut first = true;
        passages.retain(|passage| {
            total = total.saturating_add(self.embedders.usual().count_tokens(&passage.chunk.text));
            std::mem::take(&mut first) || total <= most
        });
    }

    /// Every passage of the documents asked about, or else of those that the best passages are from, in reading order;
    /// `None` where that is too much.
    async fn whole(
        &self,
        readings: &[Reading],
        request: &ChatRequest,
        best: &[Passage],
    ) -> Result<Option<Vec<Passage>>, Fault> {
        let most = FULL_CONTEXT.min(request.max_context_tokens);
        let scores: HashMap<ChunkId, f32> = best.iter().map(|passage| (passage.id, passage.score)).collect();
        let mut files: Vec<FileId> = Vec::new();
        for file in best.iter().map(|passage| passage.id.file).chain(request.only.iter().flatten().copied()) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let names = self.names(readings, files.iter().copied()).await?;
        let (mut passages, mut total) = (Vec::new(), 0);
        for (file, name) in files.into_iter().filter_map(|file| Some((file, names.get(&file)?))) {
            let mut ordinal = 0;
            loop {
                let ids: Vec<ChunkId> =
                    (ordinal..ordinal + CHUNKS_AT_ONCE).map(|ordinal| ChunkId { file, ordinal }).collect();
                let stored = self.chunks(readings, &ids).await?;
                let found: Vec<_> =
                    ids.into_iter().zip(stored.into_iter().map_while(|chunk| chunk)).collect();
                let last = found.len() < CHUNKS_AT_ONCE as usize;
                for (id, chunk) in found {
                    total += self.embedders.usual().count_tokens(&chunk.text);
                    if total > most {
                        return Ok(None);
                    }
                    let score = scores.get(&id).copied().unwrap_or(0.0);
                    passages.push(Passage { id, file_name: name.clone(), chunk, score });
                }
                if last {
                    break;
                }
                ordinal += CHUNKS_AT_ONCE;
            }
        }
        Ok(Some(passages))
    }

    /// The names of files; one that is being deleted has none.
    async fn names(
        &self,
        readings: &[Reading],
        files: impl Iterator<Item = FileId>,
    ) -> Result<HashMap<FileId, String>, Fault> {
        let ids: Vec<FileId> = files.collect::<HashSet<_>>().into_iter().collect();
        let records = self.files(readings, &ids).await?;
        Ok(records.into_iter().map(|file| (file.id, file.name.as_str().to_string())).collect())
    }

    /// These files, whichever of the boxes each is in.
    async fn files(&self, readings: &[Reading], ids: &[FileId]) -> Result<Vec<FileRecord>, Fault> {
        let mut found = Vec::with_capacity(ids.len());
        for reading in readings {
            found.extend(self.catalog.files(reading, ids).await?.into_iter().flatten());
        }
        Ok(found)
    }

    /// These chunks, whichever of the boxes each is in.
    async fn chunks(&self, readings: &[Reading], ids: &[ChunkId]) -> Result<Vec<Option<Chunk>>, Fault> {
        let mut found = vec![None; ids.len()];
        for reading in readings {
            for (place, chunk) in found.iter_mut().zip(self.index.chunks(reading, ids).await?) {
                *place = place.take().or(chunk);
            }
        }
        Ok(found)
    }

    /// The right to read the box of each file.
    async fn rights(
        &self,
        readings: &[Reading],
        passages: &[Passage],
    ) -> Result<HashMap<FileId, Reading>, Fault> {
        let ids: HashSet<FileId> = passages.iter().map(|passage| passage.id.file).collect();
        if let [only] = readings {
            return Ok(ids.into_iter().map(|file| (file, *only)).collect());
        }
        let ids: Vec<FileId> = ids.into_iter().collect();
        let mut rights = HashMap::new();
        for reading in readings {
            let here = self.catalog.files(reading, &ids).await?;
            rights.extend(here.into_iter().flatten().map(|file| (file.id, *reading)));
        }
        Ok(rights)
    }

    /// The embedder by which sentences are compared: the multilingual one where it filled one of the boxes.
    async fn model_of(&self, readings: &[Reading]) -> Result<Option<String>, Fault> {
        if !self.embedders.several() {
            return Ok(None);
        }
        for reading in readings {
            let model = self.index.model(reading).await?;
            if model.as_deref().is_some_and(|model| self.embedders.knows_many(model)) {
                return Ok(model);
            }
        }
        Ok(None)
    }

    fn tokens<'a>(&self, texts: impl Iterator<Item = &'a str>) -> usize {
        texts.map(|text| self.embedders.usual().count_tokens(text)).sum()
    }
}

/// What was asked, and by whom.
struct Asked<'a> {
    readings: &'a [Reading],
    intent: Intent,
    /// Understood on its own.
    question: String,
    language: Language,
    /// The embedder that knows the language of what is asked about.
    model: Option<String>,
}

/// All that an answerer is told.
fn brief(asked: &Asked<'_>, request: &ChatRequest, found: &Found) -> Brief {
    Brief {
        question: asked.question.clone(),
        turns: request.turns.clone(),
        wishes: request.wishes.clone(),
        task: found.task.clone(),
        passages: found.passages.clone(),
        model: asked.model.clone(),
        sampling: request.sampling.clone(),
        format: request.format.clone(),
    }
}

/// The search for a question.
fn searched(request: &ChatRequest, question: &str) -> SearchRequest {
    SearchRequest {
        top_k: request.max_sources,
        threshold: request.threshold,
        only: request.only.clone(),
        freshness: request.freshness.clone(),
        most: request.most,
        ..SearchRequest::new(question)
    }
}

fn passage(hit: Hit, names: &HashMap<FileId, String>) -> Option<Passage> {
    let file_name = names.get(&hit.id.file)?.clone();
    Some(Passage { id: hit.id, file_name, chunk: hit.chunk, score: hit.score })
}

/// The question that a conversation amounts to, cut to a length that can be searched for.
fn understood(request: &ChatRequest) -> Result<String, Fault> {
    let question: String = understand::question(&request.turns).chars().take(LONGEST_QUESTION).collect();
    if question.trim().is_empty() {
        return Err(Fault::invalid("messages", "`messages` has no question: the last user message is empty"));
    }
    Ok(question)
}
