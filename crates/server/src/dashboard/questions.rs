//! The questions that a box did not answer well: alike ones together, and as a set to measure with.

use std::collections::{BTreeSet, HashSet};

use askama::Template;
use axum::extract::{Query, State};
use engine::{
    Fault,
    access::Managing,
    seams::catalog::{Outcome, Question, QuestionQuery, Rating, Trouble},
};
use serde::Deserialize;
use serde_json::json;
use unicode_segmentation::UnicodeSegmentation;

use super::{
    evaluation,
    page::{self, Frame, Shown},
    permit::{Here, InBox},
    show::Moment,
};
use crate::{app::App, words::Words};

/// Questions that are looked at, latest first: more than anybody reads.
const MOST: u32 = 500;
/// The share of their words, by weight, that questions have in common which ask the same.
const ALIKE: f64 = 0.6;
/// Letters of a word that count: what follows is mostly an ending.
const STEM: usize = 6;

/// Questions that ask the same, by the latest of them.
struct Asked {
    text: String,
    /// Whether the evaluation set has it, and whether nothing answers it as far as is known.
    in_set: bool,
    unanswerable: bool,
    /// How it went: a class, and a text.
    outcome: (&'static str, &'static str),
    /// In how many ways else it was put, at most a few.
    others: Vec<String>,
    comments: Vec<String>,
    times: String,
    last: Moment,
}

/// Questions of one gist, latest first.
struct Group {
    gist: BTreeSet<String>,
    questions: Vec<Question>,
}

/// The words of a question, without their endings.
fn gist(text: &str) -> BTreeSet<String> {
    let stem = |word: &str| word.strip_suffix('s').unwrap_or(word).chars().take(STEM).collect();
    text.to_lowercase().unicode_words().map(stem).collect()
}

/// Long words tell more than short ones, in whatever language.
fn weight<'a>(words: impl Iterator<Item = &'a String>) -> f64 {
    words.map(|word| word.chars().count().saturating_sub(3).max(1) as f64).sum()
}

impl Group {
    /// Whether this question asks what these do.
    fn holds(&self, gist: &BTreeSet<String>) -> bool {
        weight(self.gist.intersection(gist)) >= ALIKE * weight(self.gist.union(gist))
    }

    /// Whether nothing was found, and nobody said that there is something: whoever disliked that knows better.
    fn is_unanswerable(&self) -> bool {
        (self.questions[0].outcome, self.questions[0].rating) == (Outcome::Unanswered, None)
    }

    fn times(&self) -> u64 {
        self.questions.iter().map(|question| question.count).sum()
    }
}

/// Puts questions together that ask the same, in the order of the latest of each.
fn grouped(questions: Vec<Question>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for question in questions {
        let gist = gist(&question.text);
        match groups.iter_mut().find(|group| group.holds(&gist)) {
            Some(group) => group.questions.push(question),
            None => groups.push(Group { gist, questions: vec![question] }),
        }
    }
    groups
}

fn outcome(question: &Question) -> (&'static str, &'static str) {
    match (question.rating, question.outcome) {
        (Some(Rating::Disliked), _) => ("failed", "asking-outcome-disliked"),
        (_, Outcome::Unanswered) => ("failed", "asking-outcome-unanswered"),
        (_, Outcome::Low) => ("ready_with_warnings", "asking-outcome-low"),
        (_, Outcome::Answered) => ("ready", "asking-outcome-answered"),
    }
}

impl Asked {
    fn of(words: Words, group: &Group, set: &HashSet<String>) -> Self {
        let latest = &group.questions[0];
        Asked {
            text: latest.text.clone(),
            in_set: group.questions.iter().any(|question| set.contains(&question.text)),
            unanswerable: group.is_unanswerable(),
            outcome: outcome(latest),
            others: group.questions[1..].iter().map(|question| question.text.clone()).collect(),
            comments: group.questions.iter().filter_map(|question| question.comment.clone()).collect(),
            times: words.count("asking-times", group.times()),
            last: Moment::of(latest.asked_at),
        }
    }
}

/// A line of a file that `quire eval --answers` reads, one for each group. What an answer should say is left to be filled in,
/// and refused as long as it is not.
fn evaluation_set(groups: &[Group]) -> String {
    let line = |group: &Group| {
        let latest = &group.questions[0];
        let mut line = json!({"question": latest.text, "asked": group.times()});
        match group.is_unanswerable() {
            true => line["unanswerable"] = json!(true),
            false => line["answer"] = json!(""),
        }
        format!("{line}\n")
    };
    groups.iter().map(line).collect()
}

#[derive(Template)]
#[template(path = "questions.html")]
struct QuestionsPage {
    frame: Frame,
    here: Here,
    /// What is chosen of `unanswered`, `low` and `disliked`.
    outcome: String,
    asked: Vec<Asked>,
    evaluation_set: String,
    /// Whether questions are kept at all, and for how many days.
    kept: Option<u32>,
    /// Whether there are more than were looked at.
    more: bool,
}

impl QuestionsPage {
    fn troubles(&self) -> [(&'static str, &'static str); 4] {
        [
            ("", "asking-trouble-all"),
            ("unanswered", "asking-trouble-unanswered"),
            ("low", "asking-trouble-low"),
            ("disliked", "asking-trouble-disliked"),
        ]
    }
}

#[derive(Deserialize)]
pub(super) struct Wanted {
    outcome: Option<String>,
}

/// Lists them.
pub(super) async fn list(State(app): State<App>, at: InBox<Managing>, Query(wanted): Query<Wanted>) -> Shown {
    let outcome = wanted.outcome.unwrap_or_default();
    let trouble = Some(outcome.as_str()).filter(|outcome| !outcome.is_empty()).map(str::parse::<Trouble>);
    let trouble = trouble.transpose().map_err(|wrong| Fault::invalid("outcome", wrong))?;
    app.questions.write_down(&*app.catalog).await?;
    let query = QuestionQuery { trouble, since: None, after: None, limit: MOST };
    let questions = app.catalog.questions(&at.right, query).await?;
    let more = questions.len() >= MOST as usize;
    let (groups, words) = (grouped(questions), at.who.0.words);
    let set = app.catalog.evaluation_set(&at.right).await?;
    let set = set.into_iter().map(|question| question.text).collect();
    let mut frame = Frame::in_box(&app, &at.who.0, "frame-questions", &at.here.name);
    frame.notice = evaluation::just_added(&at.who.0).or(frame.notice);
    page::show(&QuestionsPage {
        frame,
        outcome,
        asked: groups.iter().map(|group| Asked::of(words, group, &set)).collect(),
        evaluation_set: evaluation_set(&groups),
        kept: app.questions.are_kept().then_some(app.config.questions.days),
        more,
        here: at.here,
    })
}

#[cfg(test)]
mod tests {
    use engine::seams::catalog::{Operation, QuestionId};
    use jiff::Timestamp;
    use serde_json::Value;

    use super::*;

    fn asked(text: &str, outcome: Outcome, count: u64) -> Question {
        Question {
            id: QuestionId::stored("0193f0a5c07d2e8a6b3c1d2e3f4a5b6c").unwrap(),
            operation: Operation::Chat,
            text: text.into(),
            outcome,
            score: None,
            rating: None,
            comment: None,
            asked_at: Timestamp::UNIX_EPOCH,
            count,
        }
    }

    #[test]
    fn what_asks_the_same_stands_together_and_nothing_else() {
        let groups = grouped(vec![
            asked("How long is the warranty?", Outcome::Unanswered, 2),
            asked("Who repairs the pump?", Outcome::Low, 1),
            asked("how long does the warranty last", Outcome::Answered, 1),
            asked("How long is the lease?", Outcome::Low, 1),
            asked("Who repaired the pumps?", Outcome::Low, 3),
            asked("保修期有多长", Outcome::Low, 1),
            asked("保修期多长", Outcome::Low, 1),
        ]);
        let seen: Vec<_> =
            groups.iter().map(|group| (group.questions[0].text.as_str(), group.times())).collect();
        let expected = [
            ("How long is the warranty?", 3),
            ("Who repairs the pump?", 4),
            ("How long is the lease?", 1),
            ("保修期有多长", 2),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_set_to_measure_with_says_what_is_missing() {
        let groups = grouped(vec![
            asked("How \"long\"?\nReally", Outcome::Unanswered, 2),
            asked("Who repairs the pump?", Outcome::Low, 1),
        ]);
        let set = evaluation_set(&groups);
        let lines: Vec<Value> = set.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0], json!({"question": "How \"long\"?\nReally", "asked": 2, "unanswerable": true}));
        assert_eq!(lines[1], json!({"question": "Who repairs the pump?", "asked": 1, "answer": ""}));
    }
}
