//! What a box is measured with: questions whose answers are known, and how each evaluation went.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    Fault,
    access::Managing,
    ids::{EvaluationQuestionId, EvaluationRunId},
};

/// Questions in the evaluation set of one box.
pub const MOST_QUESTIONS: usize = 500;
/// Evaluations of one box that are kept; the oldest go.
pub const MOST_RUNS: usize = 50;
/// The latest evaluations of a box, of which every question is kept.
pub const DETAILED_RUNS: usize = 10;

/// A question to be put into an evaluation set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvaluationQuestion {
    /// What is asked, 1–4,000 characters.
    pub text: String,
    /// What is expected: a JSON object of at most 8,000 characters; empty until somebody says what is right.
    pub expected: String,
}

/// A question of an evaluation set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationQuestion {
    /// Identifies it.
    pub id: EvaluationQuestionId,
    /// What is asked.
    pub text: String,
    /// What is expected: a JSON object, empty until somebody says what is right.
    pub expected: String,
}

/// An evaluation in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Questions that were asked.
    pub questions: u64,
    /// Those of them that name what a search should find.
    pub searched: u64,
    /// Of these, those with a right place among the first 1, 3 and 10 results.
    pub found: [u64; 3],
    /// How well the first ten results were ordered, in thousandths.
    pub ndcg: u64,
    /// Questions that were answered rightly, or rightly not at all.
    pub right: u64,
    /// Questions that the documents do not answer.
    pub unanswerable: u64,
    /// Of these, those that got no answer.
    pub refused: u64,
    /// The time of an answer in milliseconds: the median.
    pub latency_ms: u64,
    /// What it cost.
    pub units: u64,
}

/// An evaluation to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvaluationRun {
    /// When it ended.
    pub at: Timestamp,
    /// How it went.
    pub figures: Figures,
    /// How each question went: a JSON array.
    pub results: String,
}

/// An evaluation of a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationRun {
    /// Identifies it.
    pub id: EvaluationRunId,
    /// When it ended.
    pub at: Timestamp,
    /// How it went.
    pub figures: Figures,
    /// How each question went, of the latest evaluations: a JSON array.
    pub results: Option<String>,
}

/// Evaluation sets and evaluations. They go with their box.
#[async_trait]
pub trait Evaluations: Send + Sync {
    /// Puts questions into the set of a box, and says how many of them it did not have like that. One that is there already gets
    /// what is expected now, unless nothing is.
    async fn add_evaluation_questions(
        &self,
        managing: &Managing,
        questions: Vec<NewEvaluationQuestion>,
    ) -> Result<u64, Fault>;

    /// The set of a box, in the order in which it was made.
    async fn evaluation_set(&self, managing: &Managing) -> Result<Vec<EvaluationQuestion>, Fault>;

    /// Expects something else of a question; whether there is such a one.
    async fn expect_of_question(
        &self,
        managing: &Managing,
        id: EvaluationQuestionId,
        expected: String,
    ) -> Result<bool, Fault>;

    /// Takes a question out of the set; whether there was such a one.
    async fn remove_evaluation_question(
        &self,
        managing: &Managing,
        id: EvaluationQuestionId,
    ) -> Result<bool, Fault>;

    /// Records an evaluation.
    async fn add_evaluation_run(&self, managing: &Managing, run: NewEvaluationRun) -> Result<(), Fault>;

    /// The evaluations of a box, latest first.
    async fn evaluation_runs(&self, managing: &Managing) -> Result<Vec<EvaluationRun>, Fault>;
}
