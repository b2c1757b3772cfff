//! Questions that went wrong, on their way into the catalog: which of them are kept, and for how long, is the operator's choice.

use std::time::Duration;

use engine::{
    Fault,
    access::Reading,
    chat,
    ids::BoxId,
    seams::catalog::{Catalog, NewQuestion, Operation, Outcome, QuestionId},
    search::Hit,
};
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::config::{Keep, QuestionSettings};

/// Questions that wait to be written down; more are asked between two times only by many at once, and not remembered.
const WAITING: usize = 2_000;
/// How long an answer that is not kept can be rated.
const RATED_WITHIN: Duration = Duration::from_secs(60 * 60);

/// Questions, until they are written down.
pub struct Questions {
    keep: Keep,
    age: Duration,
    waiting: Mutex<Vec<NewQuestion>>,
    /// Held while some are written down.
    writing: tokio::sync::Mutex<()>,
}

impl Questions {
    /// Keeps what the settings say.
    pub fn new(settings: &QuestionSettings) -> Self {
        Questions {
            keep: settings.keep,
            age: settings.age(),
            waiting: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
        }
    }

    /// Whether any are kept.
    pub fn are_kept(&self) -> bool {
        self.keep != Keep::None
    }

    /// Notes a search and how it went.
    pub fn searched(&self, id: QuestionId, readings: &[Reading], query: &str, hits: &[Hit]) {
        let score = hits.iter().map(|hit| hit.score).max_by(f32::total_cmp);
        let boxes = readings.iter().map(Reading::box_id).collect();
        self.note(id, Operation::Search, boxes, query, Outcome::by_score(score), score);
    }

    /// Notes a question to the chat and how it was answered; small talk is none.
    pub fn answered(&self, id: QuestionId, boxes: Vec<BoxId>, outcome: &chat::Outcome) {
        let Some(question) = &outcome.question else { return };
        let score = outcome.citations.iter().map(|citation| citation.score).max_by(f32::total_cmp);
        let went = match (outcome.answered, score) {
            (false, _) => Outcome::Unanswered,
            // A list of documents cites none.
            (true, None) => Outcome::Answered,
            (true, score) => Outcome::by_score(score),
        };
        self.note(id, Operation::Chat, boxes, question, went, score);
    }

    fn note(
        &self,
        id: QuestionId,
        operation: Operation,
        boxes: Vec<BoxId>,
        text: &str,
        outcome: Outcome,
        score: Option<f32>,
    ) {
        let kept = match self.keep {
            Keep::All => true,
            Keep::Troubled => outcome != Outcome::Answered,
            Keep::None => return,
        };
        let text = NewQuestion::cut(text);
        let mut waiting = self.waiting.lock();
        if waiting.len() < WAITING {
            let asked_at = Timestamp::now();
            waiting.push(NewQuestion { id, boxes, operation, text, outcome, score, asked_at, kept });
        }
    }

    /// Writes them down. When this returns, so are those that somebody else was writing down.
    pub async fn write_down(&self, catalog: &dyn Catalog) -> Result<(), Fault> {
        let _alone = self.writing.lock().await;
        let waiting = std::mem::take(&mut *self.waiting.lock());
        if waiting.is_empty() {
            return Ok(());
        }
        catalog.note_questions(waiting).await
    }

    /// Forgets those whose time is over.
    pub async fn forget(&self, catalog: &dyn Catalog, now: Timestamp) -> Result<(), Fault> {
        let before = |age: Duration| now.saturating_sub(age).unwrap_or(Timestamp::MIN);
        let (all, unkept) = match self.keep {
            // What an earlier setting kept is not wanted any more.
            Keep::None => (now, now),
            Keep::All | Keep::Troubled => (before(self.age), before(RATED_WITHIN)),
        };
        catalog.forget_questions(all, unkept).await
    }
}
