//! The answerer that needs no language model: it picks the sentences that answer and quotes them.
//!
//! Every sentence and row of the passages is weighed by its words ([`pick`](super::pick)). Of the likeliest a model says
//! whether they answer ([`judge`]); where there is none, their similarity to the question as vectors counts instead. Where
//! the best sum is low, there is no answer. Summaries, comparisons and what comes next are
//! other ways of picking, in modules of their own.

mod compare;
mod judge;

use std::{collections::VecDeque, ops::Range};

use async_trait::async_trait;
use tokio::sync::Semaphore;

use super::{
    beside, extreme,
    language::Language,
    pick::{Asked, Sentence, Tongue, Wanted},
    pickers::Pickers,
    such, summary,
};
use crate::{
    Fault, Reason,
    embedders::Embedders,
    seams::{
        answerer::{Answerer, Brief, Format, Passage, Piece, Pieces, Speaker, Task},
        embedder::Role,
    },
};

/// Sentences that are embedded, the best by their words and passages: 40 find no more than these.
const EMBEDDED: usize = 16;
/// Sentences that the picker reads, likewise.
const JUDGED: usize = 20;
/// Answers whose sentences are embedded at the same time; more would only fill the model's queue and be refused.
const AT_ONCE: usize = 64;
/// Sentences in an answer at most.
const MOST: usize = 3;
/// Tokens of a sentence at most: those of a chunk.
const LONGEST: usize = 250;
/// How close to the best sum a further sentence must be, in languages other than English too, and a further sentence beside a row that
/// answers.
const CLOSE: f32 = 1.6;
const CLOSE_OTHER: f32 = 2.2;
const CLOSE_TO_ROW: f32 = 0.3;
/// If the best sentence's sum is below this, there is no answer: one in twelve such sentences would be one.
const LEAST: f32 = -2.4;
/// The same of sums in which a model's judgement counts, by the languages of question and passage.
const LEAST_JUDGED: f32 = -1.5;
const LEAST_OTHER: f32 = -0.6;
const LEAST_TWO: f32 = -1.0;
/// The same of further sentences.
const LEAST_FURTHER_OTHER: f32 = -1.3;
const LEAST_FURTHER_TWO: f32 = -2.15;

/// Answers by quoting.
pub struct Extractive {
    embedders: Embedders,
    pickers: Pickers,
    turns: Semaphore,
}

impl Extractive {
    /// An answerer that asks these pickers, and compares by these embedders where there are none.
    pub fn new(embedders: impl Into<Embedders>, pickers: Pickers) -> Self {
        Extractive { embedders: embedders.into(), pickers, turns: Semaphore::new(AT_ONCE) }
    }

    /// The sentences that answer, best first; none where none does.
    async fn pick(&self, wanted: &Wanted<'_>, brief: &Brief) -> Result<Vec<Sentence>, Fault> {
        Ok(chosen(self.weighed(wanted, brief).await?))
    }

    /// The likeliest sentences with their sums, best first.
    async fn weighed(&self, wanted: &Wanted<'_>, brief: &Brief) -> Result<Vec<Sentence>, Fault> {
        let passages = &brief.passages;
        let mut sentences = Asked::of(wanted, passages).sentences(passages);
        if !self.judge(wanted.question, brief, &mut sentences).await? {
            sentences.truncate(EMBEDDED);
            self.compare(wanted.question, brief, &mut sentences).await?;
        }
        for sentence in &mut sentences {
            sentence.add_up();
        }
        sentences.sort_by(|a, b| b.sum.total_cmp(&a.sum));
        Ok(sentences)
    }

    /// Lets a picker judge the likeliest sentences and keeps these. `false` where there is no picker, or where it cannot
    /// judge: it does not know the script, is too busy, or the question is too long.
    async fn judge(
        &self,
        question: &str,
        brief: &Brief,
        sentences: &mut Vec<Sentence>,
    ) -> Result<bool, Fault> {
        let likeliest = &sentences[..sentences.len().min(JUDGED)];
        let many = brief.model.as_deref().is_some_and(|id| self.embedders.knows_many(id));
        let picker = self.pickers.get(judge::takes_many(question, likeliest, many)).await?;
        let Some(picker) = picker.filter(|picker| picker.knows_many || judge::can_read(question)) else {
            return Ok(false);
        };
        let _turn = self.turns.acquire().await.map_err(Fault::internal)?;
        let texts = likeliest.iter().map(|sentence| judge::read(sentence, &brief.passages)).collect();
        let scores = match picker.model.score(question, texts).await {
            Ok(scores) => scores,
            Err(fault) if matches!(fault.reason, Reason::Unprocessable | Reason::Overloaded) => {
                return Ok(false);
            }
            Err(fault) => return Err(fault),
        };
        sentences.truncate(scores.len());
        // A language that is not told, but is not written like English.
        let other = picker.knows_many && Language::told(question).is_none() && !question.is_ascii();
        for (sentence, score) in sentences.iter_mut().zip(scores) {
            sentence.judged = Some(score);
            if other && sentence.tongue == Tongue::English {
                sentence.tongue = Tongue::Other;
            }
        }
        Ok(true)
    }

    /// Completes the similarity by vector.
    async fn compare(&self, question: &str, brief: &Brief, sentences: &mut [Sentence]) -> Result<(), Fault> {
        if sentences.is_empty() {
            return Ok(());
        }
        let embedder = self.embedders.of_model(brief.model.as_deref()).await?;
        let _turn = self.turns.acquire().await.map_err(Fault::internal)?;
        let texts = sentences.iter().map(|sentence| sentence.text(&brief.passages).to_string()).collect();
        let (question, sentence_vectors) = tokio::try_join!(
            embedder.embed(vec![question.to_string()], Role::Query, false),
            embedder.embed(texts, Role::Passage, false)
        )?;
        let Some(question) = question.first() else { return Ok(()) };
        for (sentence, embedding) in sentences.iter_mut().zip(sentence_vectors) {
            sentence.known.compared = embedding.vector.iter().zip(&question.vector).map(|(a, b)| a * b).sum();
        }
        Ok(())
    }

    /// The pieces of an answer; none where nothing answers.
    async fn pieces(&self, brief: &Brief) -> Result<Vec<Piece>, Fault> {
        let language = Language::of(&brief.turns);
        match &brief.task {
            Task::Answer => {
                let wanted = wanted(brief);
                for pieces in [extreme::pieces, such::pieces] {
                    let rows = pieces(wanted.question, &brief.passages);
                    if !rows.is_empty() {
                        return Ok(rows);
                    }
                }
                Ok(quotes(&self.pick(&wanted, brief).await?, &brief.passages))
            }
            Task::Summary => Ok(summary::pieces(&brief.passages, language)),
            Task::Comparison(sides) => compare::pieces(self, sides, brief, language).await,
            Task::Beside(direction) => Ok(beside::pieces(*direction, brief)),
        }
    }
}

/// The question of a brief in its conversation.
fn wanted(brief: &Brief) -> Wanted<'_> {
    let last = brief.turns.iter().rposition(|turn| turn.speaker == Speaker::User);
    let turn = last.map(|at| brief.turns[at].text.trim());
    let follow_up = turn.filter(|turn| *turn != brief.question);
    let answers = brief.turns[..last.unwrap_or(0)].iter().filter(|turn| turn.speaker == Speaker::Assistant);
    Wanted {
        question: &brief.question,
        follow_up,
        answered: answers.map(|turn| turn.text.as_str()).collect(),
    }
}

/// The best sentence, if it is likely enough, and those that come near it.
fn chosen(sentences: Vec<Sentence>) -> Vec<Sentence> {
    let Some(best) = sentences.first() else { return Vec::new() };
    if best.sum < least(best) {
        return Vec::new();
    }
    let (close, lowest) = match (best.judged, best.tongue) {
        (Some(_), Tongue::Other) => (CLOSE_OTHER, LEAST_FURTHER_OTHER),
        (Some(_), Tongue::Two) => (CLOSE, LEAST_FURTHER_TWO),
        _ => (CLOSE, least(best)),
    };
    let close = if best.shown.is_some() { CLOSE_TO_ROW } else { close };
    let least = lowest.max(best.sum - close);
    sentences.into_iter().take_while(|sentence| sentence.sum >= least).take(MOST).collect()
}

/// The sum from which on a sentence answers.
fn least(sentence: &Sentence) -> f32 {
    match (sentence.judged, sentence.tongue) {
        (None, _) => LEAST,
        (Some(_), Tongue::English) => LEAST_JUDGED,
        (Some(_), Tongue::Other) => LEAST_OTHER,
        (Some(_), Tongue::Two) => LEAST_TWO,
    }
}

/// Words of an item of a list that is quoted to its end: what to do often stands behind what it is about.
const LONGEST_ITEM: usize = 60;

/// Where the quote of a sentence ends.
fn quoted(sentence: &Sentence, text: &str) -> Range<usize> {
    let whole = sentence.place.start..sentence.item_end;
    let short = sentence.shown.is_none() && text[whole.clone()].split_whitespace().count() <= LONGEST_ITEM;
    if short { whole } else { sentence.place.clone() }
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
        let mut here: Vec<&Sentence> = chosen.iter().filter(|sentence| sentence.passage == passage).collect();
        here.sort_by_key(|sentence| sentence.place.start);
        let mut joined: Vec<(Range<usize>, Option<&String>)> = Vec::new();
        for sentence in here {
            let place = quoted(sentence, text);
            match joined.last_mut() {
                // It stands in the item that is quoted already.
                Some((last, None)) if place.end <= last.end => {}
                Some((last, None))
                    if sentence.shown.is_none()
                        && last.end <= place.start
                        && text[last.end..place.start].trim().is_empty() =>
                {
                    last.end = place.end;
                }
                _ => joined.push((place, sentence.shown.as_ref())),
            }
        }
        pieces.extend(joined.into_iter().map(|(place, shown)| match shown {
            Some(shown) => Piece::Row(passage + 1, place, shown.clone()),
            None => Piece::Quote(passage + 1, place),
        }));
    }
    pieces
}

/// Pieces that are all known, handed out one by one.
pub(super) struct Known(pub(super) VecDeque<Piece>);

impl Known {
    /// These pieces as an answer; `None` where there are none.
    pub(super) fn boxed(pieces: Vec<Piece>) -> Option<Box<dyn Pieces>> {
        (!pieces.is_empty()).then(|| Box::new(Known(pieces.into())) as Box<dyn Pieces>)
    }
}

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
        Ok(Known::boxed(self.pieces(&brief).await?))
    }
}

#[cfg(test)]
pub(super) mod tests;
