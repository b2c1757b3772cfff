//! The answerer that needs no language model: it picks the sentences that answer and quotes them.
//!
//! Every sentence of the passages is weighed by the rare words that it shares with the question, by its likeness to
//! the question as a vector, by what kind of thing is asked for, and by how likely its passage is relevant. The sum is
//! how likely the sentence answers; where the best is unlikely, nothing is said at all.
//! `bench/chat/fit.py` fits the numbers, docs/chat.md says on what.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::Range,
    sync::Arc,
};

use async_trait::async_trait;

use super::{
    units::units,
    words::{self, Word},
};
use crate::{
    Fault,
    seams::{
        answerer::{Answerer, Brief, Format, Passage, Piece, Pieces},
        embedder::{Embedder, Role},
        reranker::Reranker,
    },
};

/// Sentences that are embedded: the best by their words. Takes some 20 ms.
const EMBEDDED: usize = 40;
/// How much the words of the sentence before and after count: "He", "this" and "it" mean what stands there.
const NEARBY: f32 = 0.5;
/// Sentences in an answer at most.
const MOST: usize = 3;
/// Tokens of a sentence at most: those of a chunk.
const LONGEST: usize = 250;
/// How near to the best a further sentence must come, in the sum before it is made a likelihood.
const CLOSE: f32 = 1.2;
/// The likelihood below which nothing is said.
const LEAST: f32 = 0.5;

/// A logistic function of what is known of a sentence.
struct Fit {
    constant: f32,
    overlap: f32,
    cosine: f32,
    kind: f32,
    passage: f32,
    unknown: f32,
}

const FIT: Fit = Fit { constant: -5.5, overlap: 3.0, cosine: 3.0, kind: 0.7, passage: 3.0, unknown: -1.0 };

/// Answers by quoting.
pub struct Extractive {
    embedder: Arc<dyn Embedder>,
    reranker: Option<Arc<dyn Reranker>>,
}

/// A sentence and what is known of it.
#[derive(Debug, Clone)]
struct Sentence {
    /// Its passage, from 0.
    passage: usize,
    place: Range<usize>,
    /// Share of the question's words, weighed by rarity, that it or its neighbours have.
    overlap: f32,
    cosine: f32,
    /// Whether it holds the kind of thing that is asked for.
    kind: f32,
    sum: f32,
}

impl Extractive {
    /// An answerer that compares by this model.
    pub fn new(embedder: Arc<dyn Embedder>, reranker: Option<Arc<dyn Reranker>>) -> Self {
        Extractive { embedder, reranker }
    }

    /// The sentences that answer, best first; none where none does.
    async fn pick(&self, question: &str, passages: &[Passage]) -> Result<Vec<Sentence>, Fault> {
        let asked = Asked::of(question, passages);
        let mut sentences = asked.sentences(passages);
        sentences.truncate(EMBEDDED);
        self.compare(question, passages, &mut sentences).await?;
        for sentence in &mut sentences {
            sentence.sum = FIT.constant
                + FIT.overlap * sentence.overlap
                + FIT.cosine * sentence.cosine
                + FIT.kind * sentence.kind
                + FIT.passage * passages[sentence.passage].score
                + FIT.unknown * asked.unknown;
        }
        sentences.sort_by(|a, b| b.sum.total_cmp(&a.sum));
        Ok(chosen(sentences))
    }

    /// Completes the likeness by vector.
    async fn compare(
        &self,
        question: &str,
        passages: &[Passage],
        sentences: &mut [Sentence],
    ) -> Result<(), Fault> {
        if sentences.is_empty() {
            return Ok(());
        }
        let texts = sentences.iter().map(|sentence| text_of(sentence, passages).to_string()).collect();
        let (question, sentence_vectors) = tokio::try_join!(
            self.embedder.embed(vec![question.to_string()], Role::Query, false),
            self.embedder.embed(texts, Role::Passage, false)
        )?;
        let Some(question) = question.first() else { return Ok(()) };
        for (sentence, embedding) in sentences.iter_mut().zip(sentence_vectors) {
            sentence.cosine = embedding.vector.iter().zip(&question.vector).map(|(a, b)| a * b).sum();
        }
        Ok(())
    }
}

fn text_of<'a>(sentence: &Sentence, passages: &'a [Passage]) -> &'a str {
    &passages[sentence.passage].chunk.text[sentence.place.clone()]
}

/// The best sentence, if it is likely enough, and those that come near it.
fn chosen(sentences: Vec<Sentence>) -> Vec<Sentence> {
    let Some(best) = sentences.first().map(|best| best.sum) else { return Vec::new() };
    if likelihood(best) < LEAST {
        return Vec::new();
    }
    let mut chosen: Vec<Sentence> = Vec::new();
    for sentence in sentences.into_iter().take_while(|sentence| sentence.sum >= best - CLOSE) {
        if chosen.len() < MOST {
            chosen.push(sentence);
        }
    }
    chosen
}

fn likelihood(sum: f32) -> f32 {
    1.0 / (1.0 + (-sum).exp())
}

/// What a question asks, against the passages that may answer it.
struct Asked<'a> {
    words: Vec<Word<'a>>,
    /// How much each word tells: much where few sentences have it.
    weights: HashMap<String, f32>,
    kind: Option<Kind>,
    /// Share of the weight of words that no passage has.
    unknown: f32,
}

/// What kind of thing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Name,
}

impl<'a> Asked<'a> {
    fn of(question: &'a str, passages: &[Passage]) -> Self {
        let words = words::telling(question);
        let texts: Vec<HashSet<String>> = passages.iter().map(|passage| stems(&context(passage))).collect();
        let rarity = |stem: &str| {
            let with = texts.iter().filter(|text| text.contains(stem)).count() as f32;
            (1.0 + (texts.len() as f32 + 1.0) / (with + 0.5)).ln()
        };
        let weights: HashMap<String, f32> =
            words.iter().map(|word| (word.stem.clone(), rarity(&word.stem))).collect();
        let total: f32 = weights.values().sum();
        let unknown: f32 = weights
            .iter()
            .filter(|(stem, _)| !texts.iter().any(|text| text.contains(*stem)))
            .map(|(_, weight)| weight)
            .sum();
        Asked { words, weights, kind: kind(question), unknown: unknown / total.max(f32::MIN_POSITIVE) }
    }

    /// Every sentence of the passages by its words, best first.
    fn sentences(&self, passages: &[Passage]) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        for (at, passage) in passages.iter().enumerate() {
            let places = units(&passage.chunk.text);
            let texts: Vec<HashSet<String>> =
                places.iter().map(|place| stems(&passage.chunk.text[place.clone()])).collect();
            let above = stems(&above(passage));
            for (number, place) in places.into_iter().enumerate() {
                let near = [number.checked_sub(1), Some(number + 1)];
                let near: Vec<&HashSet<String>> =
                    near.into_iter().flatten().filter_map(|number| texts.get(number)).chain([&above]).collect();
                let text = &passage.chunk.text[place.clone()];
                sentences.push(Sentence {
                    passage: at,
                    overlap: self.overlap(&texts[number], &near),
                    kind: self.holds_kind(text),
                    cosine: 0.0,
                    // The order in which sentences are looked at closer.
                    sum: self.overlap(&texts[number], &near) + passage.score,
                    place,
                });
            }
        }
        sentences.sort_by(|a, b| b.sum.total_cmp(&a.sum));
        sentences
    }

    fn overlap(&self, own: &HashSet<String>, near: &[&HashSet<String>]) -> f32 {
        let mut shared = 0.0;
        let mut total = 0.0;
        for (stem, weight) in &self.weights {
            total += weight;
            if own.contains(stem) {
                shared += weight;
            } else if near.iter().any(|text| text.contains(stem)) {
                shared += weight * NEARBY;
            }
        }
        if total > 0.0 { shared / total } else { 0.0 }
    }

    /// 1 where the sentence holds what is asked for beside the question's own words, −1 where it does not.
    fn holds_kind(&self, text: &str) -> f32 {
        let Some(kind) = self.kind else { return 0.0 };
        let asked = |word: &str| self.words.iter().any(|own| own.text.eq_ignore_ascii_case(word));
        let held = words::telling(text).iter().skip(usize::from(kind == Kind::Name)).any(|word| {
            !asked(word.text)
                && match kind {
                    Kind::Number => words::is_number(word.text) || words::is_number_word(&word.text.to_lowercase()),
                    Kind::Name => word.text.starts_with(char::is_uppercase),
                }
        });
        if held { 1.0 } else { -1.0 }
    }
}

/// What stands above a passage: the document's name, headings, the head of its table.
fn above(passage: &Passage) -> String {
    let name = passage.file_name.replace(['_', '-', '.'], " ");
    format!("{name} {} {}", passage.chunk.section.join(" "), passage.chunk.lead)
}

fn context(passage: &Passage) -> String {
    format!("{} {}", above(passage), passage.chunk.text)
}

fn stems(text: &str) -> HashSet<String> {
    words::telling(text).into_iter().map(|word| word.stem).collect()
}

/// What kind of thing a question asks for, where its words tell.
fn kind(question: &str) -> Option<Kind> {
    let lower = format!(" {} ", question.to_lowercase());
    let asks = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if asks(&[
        " how many ", " how much ", " how long ", " how old ", " how far ", " how often ", " when ", " what year ",
        " which year ", " what date ", " what percent", " wann ", " wie viel", " wie lange ", " wie oft ",
        " cuándo ", " cuánt", " quand ", " combien ",
    ]) {
        return Some(Kind::Number);
    }
    asks(&[" who ", " whom ", " whose ", " where ", " wer ", " wo ", " quién", " dónde ", " qui ", " où "])
        .then_some(Kind::Name)
}

/// The chosen sentences, passage after passage, neighbours as one quote.
fn quotes(chosen: &[Sentence], passages: &[Passage]) -> Vec<Piece> {
    let mut order: Vec<usize> = Vec::new();
    for sentence in chosen {
        if !order.contains(&sentence.passage) {
            order.push(sentence.passage);
        }
    }
    let mut pieces = Vec::new();
    for passage in order {
        let text = &passages[passage].chunk.text;
        let mut places: Vec<Range<usize>> = chosen
            .iter()
            .filter(|sentence| sentence.passage == passage)
            .map(|sentence| sentence.place.clone())
            .collect();
        places.sort_by_key(|place| place.start);
        let mut joined: Vec<Range<usize>> = Vec::new();
        for place in places {
            match joined.last_mut() {
                Some(last) if text[last.end..place.start].trim().is_empty() => last.end = place.end,
                _ => joined.push(place),
            }
        }
        pieces.extend(joined.into_iter().map(|place| Piece::Quote(passage + 1, place)));
    }
    pieces
}

/// Quotes that are all known, handed out one by one.
struct Known(VecDeque<Piece>);

#[async_trait]
impl Pieces for Known {
    async fn next(&mut self) -> Result<Option<Piece>, Fault> {
        Ok(self.0.pop_front())
    }
}

#[async_trait]
impl Answerer for Extractive {
    fn id(&self) -> &str {
        "extractive"
    }

    fn can(&self, format: &Format) -> bool {
        *format == Format::Text
    }

    fn longest(&self) -> usize {
        MOST * LONGEST
    }

    async fn answer(&self, brief: Brief) -> Result<Option<Box<dyn Pieces>>, Fault> {
        let chosen = self.pick(&brief.question, &brief.passages).await?;
        let pieces = quotes(&chosen, &brief.passages);
        Ok((!pieces.is_empty()).then(|| Box::new(Known(pieces.into())) as Box<dyn Pieces>))
    }
}
