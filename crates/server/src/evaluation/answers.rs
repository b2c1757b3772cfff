//! Whether answers say what they should, cite the right place, and stay away where there is none.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    questions::{Question, Target},
    searches,
};

/// The result of one question.
pub(crate) struct Outcome {
    pub(crate) question: Question,
    pub(crate) said: String,
    /// The places that the answer cites, each once.
    pub(crate) cited: Vec<Target>,
    pub(crate) took: Duration,
    pub(crate) units: u64,
}

/// Something that is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wrong {
    /// It says something although no document does.
    Answers,
    /// It does not say this.
    Lacks(String),
    /// It cites no right place.
    Uncited,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Answers => f.write_str("answers although no document does"),
            Wrong::Lacks(fact) => write!(f, "lacks “{fact}”"),
            Wrong::Uncited => f.write_str("does not cite a right place"),
        }
    }
}

impl Outcome {
    /// What is wrong with the answer; nothing where it is right.
    pub(crate) fn wrong(&self) -> Vec<Wrong> {
        if self.question.unanswerable {
            return if self.cited.is_empty() { Vec::new() } else { vec![Wrong::Answers] };
        }
        let missing = self.question.facts.iter().filter(|fact| !fact.is_in(&self.said));
        let mut wrong: Vec<Wrong> = missing.map(|fact| Wrong::Lacks(fact.to_string())).collect();
        if self.cites() == Some(false) {
            wrong.push(Wrong::Uncited);
        }
        wrong
    }

    /// Whether a right place is cited, where the question names one.
    fn cites(&self) -> Option<bool> {
        let relevant = &self.question.relevant;
        let right = || self.cited.iter().any(|cited| relevant.iter().any(|target| target.is(cited)));
        (!self.question.unanswerable && !relevant.is_empty()).then(right)
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) usize, pub(crate) usize);

impl Share {
    fn of(outcomes: impl Iterator<Item = bool>) -> Self {
        outcomes.fold(Share(0, 0), |Share(some, all), yes| Share(some + usize::from(yes), all + 1))
    }

    /// `None` where there was nothing to count.
    pub(crate) fn value(self) -> Option<f64> {
        (self.1 > 0).then(|| self.0 as f64 / self.1 as f64)
    }
}

/// The whole in numbers.
pub(crate) struct Summary {
    pub(crate) right: Share,
    /// Of the questions that have an answer, those that got one.
    pub(crate) answered: Share,
    pub(crate) facts: Share,
    pub(crate) cited: Share,
    /// Of the questions that have no answer, those that got none.
    pub(crate) refused: Share,
    /// 50th, 90th and 99th percentile.
    pub(crate) latency: [Duration; 3],
    pub(crate) units: u64,
}

impl Summary {
    pub(crate) fn of(outcomes: &[Outcome]) -> Self {
        let answerable = || outcomes.iter().filter(|outcome| !outcome.question.unanswerable);
        let unanswerable = outcomes.iter().filter(|outcome| outcome.question.unanswerable);
        let facts = |outcome: &Outcome| {
            let said = outcome.said.clone();
            outcome.question.facts.clone().into_iter().map(move |fact| fact.is_in(&said))
        };
        Summary {
            right: Share::of(outcomes.iter().map(|outcome| outcome.wrong().is_empty())),
            answered: Share::of(answerable().map(|outcome| !outcome.cited.is_empty())),
            facts: Share::of(answerable().flat_map(facts)),
            cited: Share::of(answerable().filter_map(Outcome::cites)),
            refused: Share::of(unanswerable.map(|outcome| outcome.cited.is_empty())),
            latency: searches::percentiles(outcomes.iter().map(|outcome| outcome.took)),
            units: outcomes.iter().map(|outcome| outcome.units).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::questions::parse, *};

    fn outcome(line: &str, said: &str, cited: &[&str]) -> Outcome {
        let place = |file: &&str| Target { file: (*file).into(), page: Some(1), grade: 0.0 };
        Outcome {
            question: parse(line, true).unwrap(),
            said: said.into(),
            cited: cited.iter().map(place).collect(),
            took: Duration::from_millis(5),
            units: 2,
        }
    }

    #[test]
    fn answers_are_held_against_facts_places_and_silence() {
        let outcomes = [
            outcome(
                r#"{"question": "q", "facts": ["36 months"], "relevant": ["a.md"]}"#,
                "It is 36\nMonths. [1]",
                &["a.md"],
            ),
            outcome(
                r#"{"question": "q", "facts": ["36 months"], "relevant": ["a.md"]}"#,
                "It is 36 months. [1]",
                &["b.md"],
            ),
            outcome(r#"{"question": "q", "answer": "12 days"}"#, "Nothing was found.", &[]),
            outcome(r#"{"question": "q", "unanswerable": true}"#, "Nothing was found.", &[]),
            outcome(r#"{"question": "q", "unanswerable": true}"#, "It is 4. [1]", &["a.md"]),
        ];
        let summary = Summary::of(&outcomes);
        assert_eq!(summary.right, Share(2, 5));
        assert_eq!(summary.answered, Share(2, 3));
        assert_eq!(summary.facts, Share(2, 3));
        assert_eq!(summary.cited, Share(1, 2));
        assert_eq!(summary.refused, Share(1, 2));
        assert_eq!(outcomes[1].wrong(), [Wrong::Uncited]);
        assert_eq!(outcomes[2].wrong(), [Wrong::Lacks("12 days".into())]);
        assert_eq!(outcomes[4].wrong(), [Wrong::Answers]);
    }

    #[test]
    fn what_was_not_asked_has_no_share() {
        let summary = Summary::of(&[outcome(r#"{"question": "q", "facts": ["x"]}"#, "x", &["a.md"])]);
        assert_eq!((summary.refused.value(), summary.right.value()), (None, Some(1.0)));
    }
}
