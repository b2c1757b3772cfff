//! The answerer that needs no language model: it picks the sentences that answer and quotes them.
//!
//! Every sentence of the passages is weighed by the rare words that it shares with the question, by its similarity to
//! the question as a vector, by what kind of thing is asked for, and by how likely its passage is to be relevant. Where
//! the best sum is low, there is no answer. docs/chat.md says how the numbers were chosen.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::Range,
    sync::Arc,
};

use async_trait::async_trait;
use tokio::sync::Semaphore;

use super::{
    units::units,
    words::{self, Word},
};
use crate::{
    Fault,
    seams::{
        answerer::{Answerer, Brief, Format, Passage, Piece, Pieces},
        embedder::{Embedder, Role},
    },
};

/// Sentences that are embedded, the best by their words and passages: 40 find no more than these.
const EMBEDDED: usize = 16;
/// Answers whose sentences are embedded at the same time; more would only fill the model's queue and be refused.
const AT_ONCE: usize = 64;
/// Sentences in an answer at most.
const MOST: usize = 3;
/// Tokens of a sentence at most: those of a chunk.
const LONGEST: usize = 250;
/// How close to the best sum a further sentence must be.
const CLOSE: f32 = 1.6;
/// If the best sentence's sum is below this, there is no answer: one in twelve such sentences would be one.
const LEAST: f32 = -2.4;

/// What each thing that is known of a sentence adds to its sum; a logistic fit of "it holds the answer".
struct Fit {
    constant: f32,
    shared: f32,
    cosine: f32,
    kind: f32,
    passage: f32,
}

const FIT: Fit = Fit { constant: -7.24, shared: 3.67, cosine: 4.19, kind: 0.68, passage: 3.88 };

/// Answers by quoting.
pub struct Extractive {
    embedder: Arc<dyn Embedder>,
    turns: Semaphore,
}

/// A sentence and what is known of it.
#[derive(Debug, Clone)]
struct Sentence {
    /// Its passage, from 0.
    passage: usize,
    place: Range<usize>,
    /// Share of the question's words, weighed by rarity, that it has.
    shared: f32,
    cosine: f32,
    /// Whether it holds the kind of thing that is asked for.
    kind: f32,
    sum: f32,
}

impl Extractive {
    /// An answerer that compares by this model.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Extractive { embedder, turns: Semaphore::new(AT_ONCE) }
    }

    /// The sentences that answer, best first; none where none does.
    async fn pick(&self, question: &str, passages: &[Passage]) -> Result<Vec<Sentence>, Fault> {
        let asked = Asked::of(question, passages);
        let mut sentences = asked.sentences(passages);
        sentences.truncate(EMBEDDED);
        self.compare(question, passages, &mut sentences).await?;
        for sentence in &mut sentences {
            sentence.sum = FIT.constant
                + FIT.shared * sentence.shared
                + FIT.cosine * sentence.cosine
                + FIT.kind * sentence.kind
                + FIT.passage * passages[sentence.passage].score;
        }
        sentences.sort_by(|a, b| b.sum.total_cmp(&a.sum));
        Ok(chosen(sentences))
    }

    /// Completes the similarity by vector.
    async fn compare(
        &self,
        question: &str,
        passages: &[Passage],
        sentences: &mut [Sentence],
    ) -> Result<(), Fault> {
        if sentences.is_empty() {
            return Ok(());
        }
        let _turn = self.turns.acquire().await.map_err(Fault::internal)?;
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
    let near = |sentence: &Sentence| sentence.sum >= LEAST.max(best - CLOSE);
    sentences.into_iter().take_while(near).take(MOST).collect()
}

/// What a question asks, against the passages that may answer it.
struct Asked<'a> {
    words: Vec<Word<'a>>,
    /// The weight of each word: high where few sentences have it.
    weights: HashMap<String, f32>,
    kind: Option<Kind>,
}

/// What kind of thing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Name,
}

impl<'a> Asked<'a> {
    fn of(question: &'a str, passages: &[Passage]) -> Self {
        let mut words = words::telling(question);
        words.retain(|word| !is_measure(question, word));
        let texts: Vec<HashSet<String>> = passages.iter().map(|passage| stems(&passage.chunk.text)).collect();
        let rarity = |stem: &str| {
            let with = texts.iter().filter(|text| text.contains(stem)).count() as f32;
            (1.0 + (texts.len() as f32 + 1.0) / (with + 0.5)).ln()
        };
        let weights = words.iter().map(|word| (word.stem.clone(), rarity(&word.stem))).collect();
        Asked { words, weights, kind: kind(question) }
    }

    /// Every sentence of the passages, those first that share most and stand in the likeliest passages.
    fn sentences(&self, passages: &[Passage]) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        for (at, passage) in passages.iter().enumerate() {
            for place in units(&passage.chunk.text) {
                let text = &passage.chunk.text[place.clone()];
                let shared = self.shared(&stems(text));
                let sum = shared + passage.score;
                sentences.push(Sentence {
                    passage: at,
                    place,
                    shared,
                    cosine: 0.0,
                    kind: self.holds_kind(text),
                    sum,
                });
            }
        }
        sentences.sort_by(|a, b| b.sum.total_cmp(&a.sum));
        sentences
    }

    fn shared(&self, text: &HashSet<String>) -> f32 {
        let total: f32 = self.weights.values().sum();
        let shared: f32 =
            self.weights.iter().filter(|(stem, _)| text.contains(*stem)).map(|(_, weight)| weight).sum();
        if total > 0.0 { shared / total } else { 0.0 }
    }

    /// 1 where the sentence holds what is asked for beside the question's own words, −1 where it does not.
    fn holds_kind(&self, text: &str) -> f32 {
        let Some(kind) = self.kind else { return 0.0 };
        let asked = |word: &str| self.words.iter().any(|own| own.text.eq_ignore_ascii_case(word));
        let held = words::telling(text).iter().skip(usize::from(kind == Kind::Name)).any(|word| {
            !asked(word.text)
                && match kind {
                    Kind::Number => {
                        words::is_number(word.text) || words::is_number_word(&word.text.to_lowercase())
                    }
                    Kind::Name => word.text.starts_with(char::is_uppercase),
                }
        });
        if held { 1.0 } else { -1.0 }
    }
}

/// Whether a word only belongs to the form of the question: "how long", "wie lange".
fn is_measure(question: &str, word: &Word<'_>) -> bool {
    let before = word.text.as_ptr() as usize - question.as_ptr() as usize;
    let before = question[..before].trim_end().to_lowercase();
    before.split(' ').next_back().is_some_and(|last| matches!(last, "how" | "wie"))
}

fn stems(text: &str) -> HashSet<String> {
    words::telling(text).into_iter().map(|word| word.stem).collect()
}

/// What kind of thing a question asks for, where its words tell.
fn kind(question: &str) -> Option<Kind> {
    let lower = format!(" {} ", question.to_lowercase());
    let asks = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if asks(&[
        " how many ",
        " how much ",
        " how long ",
        " how old ",
        " how far ",
        " how often ",
        " when ",
        " what year ",
        " which year ",
        " what date ",
        " what percent",
        " wann ",
        " wie viel",
        " wie lange ",
        " wie oft ",
        " cuándo ",
        " cuánt",
        " quand ",
        " combien ",
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

    fn is_told(&self) -> bool {
        false
    }

    async fn answer(&self, brief: Brief) -> Result<Option<Box<dyn Pieces>>, Fault> {
        let chosen = self.pick(&brief.question, &brief.passages).await?;
        let pieces = quotes(&chosen, &brief.passages);
        Ok((!pieces.is_empty()).then(|| Box::new(Known(pieces.into())) as Box<dyn Pieces>))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ids::{ChunkId, FileId},
        seams::{embedder::Embedding, index::Chunk},
    };

    /// Finds everything equally like.
    struct Even;

    #[async_trait]
    impl Embedder for Even {
        fn id(&self) -> &str {
            "even"
        }
        fn dimensions(&self) -> usize {
            1
        }
        fn max_tokens(&self) -> usize {
            100
        }
        fn count_tokens(&self, text: &str) -> usize {
            text.split_whitespace().count()
        }
        async fn embed(&self, texts: Vec<String>, _: Role, _: bool) -> Result<Vec<Embedding>, Fault> {
            let one = |_| Embedding { vector: vec![0.7], tokens: vec![], token_ids: vec![] };
            Ok(texts.iter().map(one).collect())
        }
    }

    fn passage(text: &str, score: f32) -> Passage {
        let chunk = Chunk {
            text: text.into(),
            page: 1,
            page_end: 1,
            start: 0,
            end: text.chars().count() as u32,
            section: [].into(),
            lead: "".into(),
            language: None,
        };
        let id = ChunkId { file: FileId::generate(), ordinal: 0 };
        Passage { id, file_name: "a.md".into(), chunk, score }
    }

    async fn quoted(question: &str, passages: &[Passage]) -> Vec<String> {
        let chosen = Extractive::new(Arc::new(Even)).pick(question, passages).await.unwrap();
        let text = |piece| match piece {
            Piece::Quote(number, place) => passages[number - 1].chunk.text[place].to_string(),
            other => panic!("{other:?} is no quote"),
        };
        quotes(&chosen, passages).into_iter().map(text).collect()
    }

    #[tokio::test]
    async fn the_sentence_that_answers_is_quoted() {
        let passages = [
            passage("# Terms\n\nLunch is at noon. The warranty lasts 24 months. It is sunny.", 0.9),
            passage("The cantine has no warranty.", 0.3),
        ];
        assert_eq!(
            quoted("How long does the warranty last?", &passages).await,
            ["The warranty lasts 24 months."]
        );
        assert!(quoted("Who painted the ceiling?", &passages[1..]).await.is_empty());
        assert!(quoted("?", &[]).await.is_empty());
    }

    #[test]
    fn neighbours_are_one_quote_and_the_best_passage_comes_first() {
        let passages = [passage("One. Two. Three.", 0.5), passage("Four.", 0.9)];
        let sentence =
            |passage, place| Sentence { passage, place, shared: 0.0, cosine: 0.0, kind: 0.0, sum: 0.0 };
        let chosen = [sentence(1, 0..5), sentence(0, 5..9), sentence(0, 0..4)];
        assert_eq!(quotes(&chosen, &passages), [Piece::Quote(2, 0..5), Piece::Quote(1, 0..9)]);
    }

    #[test]
    fn what_is_asked_for_is_told_by_its_words() {
        assert_eq!(kind("How many cars?"), Some(Kind::Number));
        assert_eq!(kind("Wann war das?"), Some(Kind::Number));
        assert_eq!(kind("Who won?"), Some(Kind::Name));
        assert_eq!(kind("Why?"), None);
        let asked = Asked::of("How long does the warranty last?", &[]);
        let stems: Vec<&str> = asked.words.iter().map(|word| word.stem.as_str()).collect();
        assert_eq!(stems, ["warrant", "last"]);
    }
}
