//! Questions that went wrong, and what people think of answers: what the owners of a box can learn from. Never who asked, and
//! nothing of any document.

use std::str::FromStr;

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    Fault,
    access::{Managing, Reading},
    ids::BoxId,
    seams::catalog::Operation,
};

/// The best passage scores below this: of such passages one in a hundred is relevant. Not higher, because in a box of few passages
/// even the right one scores little.
pub const LOW_SCORE: f32 = 0.01;
/// Characters that are kept of a question.
const LONGEST: usize = 4_000;

/// Names what was asked, over all boxes that it was asked of. It is the number in the id of the request and of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuestionId(pub Uuid);

impl QuestionId {
    /// What ids of requests and of answers begin with.
    const PREFIXES: [&'static str; 3] = ["req_", "chatcmpl-", "resp_"];

    /// As the store has it.
    pub fn simple(self) -> String {
        self.0.simple().to_string()
    }

    /// The one that the store has under this text.
    pub fn stored(text: &str) -> Option<Self> {
        Uuid::try_parse(text).ok().map(QuestionId)
    }
}

impl FromStr for QuestionId {
    type Err = String;

    /// Reads the id of a request (`req_…`), of a chat answer (`chatcmpl-…`) or of a response (`resp_…`).
    fn from_str(text: &str) -> Result<Self, String> {
        let number = Self::PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix));
        let number =
            number.filter(|number| number.len() == 32).and_then(|number| Uuid::try_parse(number).ok());
        number.map(QuestionId).ok_or_else(|| {
            "must be the id of an answer (chatcmpl-…) or of a request (req_…, the header x-request-id)".into()
        })
    }
}

/// How a question went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Something was found.
    Answered,
    /// Something was found that is hardly relevant.
    Low,
    /// Nothing was found.
    Unanswered,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 3] = [Outcome::Answered, Outcome::Low, Outcome::Unanswered];

    /// What the best score says, `None` where there is none.
    pub fn by_score(best: Option<f32>) -> Self {
        match best {
            None => Outcome::Unanswered,
            Some(score) if score < LOW_SCORE => Outcome::Low,
            Some(_) => Outcome::Answered,
        }
    }

    /// The name on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Answered => "answered",
            Outcome::Low => "low",
            Outcome::Unanswered => "unanswered",
        }
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is no outcome of a question"))
    }
}

/// What somebody thinks of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rating {
    /// It helped: 1.
    Liked,
    /// It did not: -1.
    Disliked,
}

impl Rating {
    /// The number on the wire and in the store.
    pub fn number(self) -> i64 {
        match self {
            Rating::Liked => 1,
            Rating::Disliked => -1,
        }
    }

    /// The rating that a number stands for.
    pub fn of(number: i64) -> Option<Self> {
        [Rating::Liked, Rating::Disliked].into_iter().find(|rating| rating.number() == number)
    }
}

/// A question to be remembered.
#[derive(Debug, Clone)]
pub struct NewQuestion {
    /// Names it.
    pub id: QuestionId,
    /// The boxes that were asked.
    pub boxes: Vec<BoxId>,
    /// A search or a chat.
    pub operation: Operation,
    /// What was asked.
    pub text: String,
    /// How it went.
    pub outcome: Outcome,
    /// The best score, if anything was found.
    pub score: Option<f32>,
    /// When.
    pub asked_at: Timestamp,
    /// Whether it stays. One that does not is there for a while so that it can be rated, and shown to nobody; it stays once it is
    /// disliked.
    pub kept: bool,
}

impl NewQuestion {
    /// As much of a question as is kept; no store takes a null character.
    pub fn cut(text: &str) -> String {
        text.trim().chars().filter(|character| *character != '\0').take(LONGEST).collect()
    }

    /// What questions that differ in case, spaces and punctuation only have in common.
    pub fn likeness(&self) -> String {
        let text = self.text.to_lowercase();
        let words =
            text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Which questions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing was found.
    Unanswered,
    /// What was found is hardly relevant.
    Low,
    /// Somebody disliked the answer.
    Disliked,
}

impl FromStr for Trouble {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "unanswered" => Ok(Trouble::Unanswered),
            "low" => Ok(Trouble::Low),
            "disliked" => Ok(Trouble::Disliked),
            other => Err(format!("`outcome` must be unanswered, low or disliked, not `{other}`")),
        }
    }
}

/// Which questions are listed.
#[derive(Debug, Clone)]
pub struct QuestionQuery {
    /// Only those with this trouble.
    pub trouble: Option<Trouble>,
    /// Only those asked since.
    pub since: Option<Timestamp>,
    /// Those after this one.
    pub after: Option<(Timestamp, QuestionId)>,
    /// At most so many.
    pub limit: u32,
}

/// Questions that are alike, by the latest of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Names the latest.
    pub id: QuestionId,
    /// A search or a chat.
    pub operation: Operation,
    /// What was asked.
    pub text: String,
    /// How it went.
    pub outcome: Outcome,
    /// The best score, if anything was found.
    pub score: Option<f32>,
    /// What somebody thought of the answer.
    pub rating: Option<Rating>,
    /// Why.
    pub comment: Option<String>,
    /// When it was asked last.
    pub asked_at: Timestamp,
    /// How often it was asked, among those that are wanted.
    pub count: u64,
}

/// Questions and what was thought of their answers. They go with their box.
#[async_trait]
pub trait Questions: Send + Sync {
    /// Remembers questions; the latest ten thousand of each box stay.
    async fn note_questions(&self, questions: Vec<NewQuestion>) -> Result<(), Fault>;

    /// The boxes that a question was asked of; none where there is no such question (any more).
    async fn boxes_of_question(&self, id: QuestionId) -> Result<Vec<BoxId>, Fault>;

    /// Notes what somebody thinks of an answer, in place of what was thought before.
    async fn rate_question(
        &self,
        readings: &[Reading],
        id: QuestionId,
        rating: Rating,
        comment: Option<String>,
    ) -> Result<(), Fault>;

    /// The questions of a box, latest first, those that are alike as one.
    async fn questions(&self, managing: &Managing, query: QuestionQuery) -> Result<Vec<Question>, Fault>;

    /// Forgets questions that were asked before `all`, and those that are not kept and were asked before `unkept`.
    async fn forget_questions(&self, all: Timestamp, unkept: Timestamp) -> Result<(), Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_request_and_of_its_answer_name_the_same_question() {
        let number = Uuid::now_v7().simple();
        let id: QuestionId = format!("req_{number}").parse().unwrap();
        assert_eq!(format!("chatcmpl-{number}").parse(), Ok(id));
        assert_eq!(format!("resp_{number}").parse(), Ok(id));
        for wrong in ["", "req_", "req_12", "fil_0", &format!("{number}"), &format!("req_{number}0")] {
            assert!(wrong.parse::<QuestionId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn case_spaces_and_punctuation_make_no_other_question() {
        let question = |text: &str| NewQuestion {
            id: QuestionId(Uuid::nil()),
            boxes: Vec::new(),
            operation: Operation::Search,
            text: text.into(),
            outcome: Outcome::Low,
            score: None,
            asked_at: Timestamp::UNIX_EPOCH,
            kept: true,
        };
        assert_eq!(question(" How long is the WARRANTY?").likeness(), "how long is the warranty");
        assert_eq!(question("how long,  is the warranty").likeness(), "how long is the warranty");
        assert_ne!(question("how long was the warranty").likeness(), "how long is the warranty");
    }

    #[test]
    fn a_score_tells_how_it_went() {
        assert_eq!(Outcome::by_score(None), Outcome::Unanswered);
        assert_eq!(Outcome::by_score(Some(0.005)), Outcome::Low);
        assert_eq!(Outcome::by_score(Some(0.4)), Outcome::Answered);
        for outcome in Outcome::ALL {
            assert_eq!(outcome.as_str().parse(), Ok(outcome));
        }
        assert_eq!(Rating::of(0), None);
        assert_eq!(Rating::of(-1), Some(Rating::Disliked));
    }
}
