//! Reads questions with what they should find.

use std::path::Path;

use engine::{Fault, Reason};
use serde_json::Value;

use super::number;

/// A place in a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    /// The file's name.
    pub(super) file: String,
    /// The page; `None` is any.
    pub(super) page: Option<u64>,
    /// How relevant it is; 1 unless said otherwise.
    pub(super) grade: f64,
}

impl Target {
    /// Whether a place that was found is this one.
    pub(super) fn is(&self, found: &Target) -> bool {
        self.file == found.file && (self.page.is_none() || self.page == found.page)
    }

    /// The place of a passage or citation that a server names.
    pub(super) fn found(value: &Value) -> Self {
        let file = value["fileName"].as_str().unwrap_or_default().to_string();
        Target { file, page: value["page"].as_u64(), grade: 0.0 }
    }

    /// `terms.pdf#page=3` or `terms.pdf`.
    fn parse(text: &str) -> Option<Self> {
        let (file, page) = match text.rsplit_once("#page=") {
            Some((file, page)) => (file, Some(page.trim().parse().ok()?)),
            None => (text, None),
        };
        let file = file.trim();
        (!file.is_empty()).then(|| Target { file: file.to_string(), page, grade: 1.0 })
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.page {
            Some(page) => write!(f, "{}, page {page}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// Something that an answer must say, in one of these ways.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact(Vec<String>);

/// From so many words on a fact may be said in other words, with this share of its own.
const LONG: usize = 4;
const SAID: f64 = 0.8;

impl Fact {
    fn parse(value: &Value) -> Option<Self> {
        let ways: Vec<String> = match value {
            Value::String(text) => vec![text.clone()],
            Value::Array(ways) => {
                ways.iter().map(|way| Some(way.as_str()?.to_string())).collect::<Option<_>>()?
            }
            _ => return None,
        };
        (!ways.is_empty() && ways.iter().all(|way| !words(way).is_empty())).then_some(Fact(ways))
    }

    /// Whether an answer says it: word for word, or, if it is long, with all of its numbers and most of its words.
    pub(super) fn is_in(&self, said: &str) -> bool {
        let said = words(said);
        self.0.iter().any(|way| {
            let way = words(way);
            let has = |word: &String| said.contains(word);
            let numbers = || way.iter().filter(|word| word.contains(|c: char| c.is_ascii_digit()));
            said.windows(way.len()).any(|part| part == way)
                || way.len() >= LONG
                    && numbers().all(has)
                    && way.iter().filter(|word| has(word)).count() as f64 >= SAID * way.len() as f64
        })
    }
}

impl std::fmt::Display for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("” or “"))
    }
}

/// The words of a text, in lower case, numbers with their separators.
fn words(text: &str) -> Vec<String> {
    use unicode_segmentation::UnicodeSegmentation;
    text.to_lowercase().unicode_words().map(str::to_string).collect()
}

/// A question and what it should find, or what its answer should say.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) relevant: Vec<Target>,
    /// What an answer must say, all of it.
    pub(super) facts: Vec<Fact>,
    /// Whether the documents do not answer it.
    pub(super) unanswerable: bool,
}

/// Reads a file of questions, for searches or for answers; what is wrong is named by its line.
pub(super) fn read(path: &Path, answers: bool) -> Result<Vec<Question>, Fault> {
    let wrong = |cause: String| Fault::new(Reason::InvalidParameter, format!("{}: {cause}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let questions: Result<Vec<Question>, Fault> = lines
        .map(|(line, number)| parse(line, answers).map_err(|cause| wrong(format!("line {number}: {cause}"))))
        .collect();
    let mut questions = questions?;
    // A search always finds something.
    questions.retain(|question| answers || !question.unanswerable);
    if questions.is_empty() {
        return Err(wrong("holds no question".into()));
    }
    Ok(questions)
}

pub(super) fn parse(line: &str, answers: bool) -> Result<Question, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let text = ["question", "query"].iter().find_map(|name| value[name].as_str());
    let text = text.ok_or("there is no `question`")?.to_string();
    let relevant = match (&value["relevant"], value["truth"].as_str()) {
        (Value::Array(places), _) => {
            places.iter().map(place).collect::<Option<Vec<_>>>().ok_or("`relevant` must list files")?
        }
        (Value::Null, Some(truth)) => cited(truth),
        _ => Vec::new(),
    };
    let mut facts: Vec<Fact> = match &value["facts"] {
        Value::Null => Vec::new(),
        Value::Array(facts) => {
            facts.iter().map(Fact::parse).collect::<Option<_>>().ok_or("`facts` must list texts")?
        }
        _ => return Err("`facts` must list texts".into()),
    };
    if !value["answer"].is_null() {
        facts.push(Fact::parse(&value["answer"]).ok_or("`answer` must be a text or list texts")?);
    }
    let unanswerable = value["unanswerable"].as_bool().unwrap_or(false);
    if answers && facts.is_empty() && relevant.is_empty() && !unanswerable {
        return Err("it has no `answer`, `facts`, `relevant` or `truth`, and is not `unanswerable`".into());
    }
    if !answers && relevant.is_empty() && !unanswerable {
        return Err("neither `relevant` nor `truth` names a file".into());
    }
    Ok(Question { text, relevant, facts, unanswerable })
}

fn place(value: &Value) -> Option<Target> {
    match value {
        Value::String(text) => Target::parse(text),
        Value::Object(_) => {
            let target = Target::parse(value["file"].as_str()?)?;
            let page = value["page"].as_u64().or(target.page);
            Some(Target { page, grade: number(value, "grade").unwrap_or(1.0), ..target })
        }
        _ => None,
    }
}

/// The places in square brackets in a text.
fn cited(truth: &str) -> Vec<Target> {
    let brackets = truth.split('[').skip(1).filter_map(|rest| rest.split_once(']'));
    let mut places = Vec::new();
    for target in brackets.filter_map(|(inside, _)| Target::parse(inside)) {
        if !places.contains(&target) {
            places.push(target);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_name_a_place_are_read() {
        let of = |line: &str| parse(line, false).unwrap().relevant;
        let place = |file: &str, page, grade| Target { file: file.into(), page, grade };
        assert_eq!(
            of(r#"{"question": "q", "relevant": ["a b.pdf#page=3", {"file": "c.md", "grade": 2}]}"#),
            [place("a b.pdf", Some(3), 1.0), place("c.md", None, 2.0)]
        );
        assert_eq!(
            of(r#"{"query": "q", "truth": "Yes. [a.pdf#page=7] No. [b.pdf#page=8][a.pdf#page=7]"}"#),
            [place("a.pdf", Some(7), 1.0), place("b.pdf", Some(8), 1.0)]
        );
        for wrong in ["{}", "[]", "{", r#"{"question": "q"}"#, r#"{"question": "q", "relevant": [5]}"#] {
            assert!(parse(wrong, false).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_an_answer_should_say_is_read() {
        let of = |line: &str| parse(line, true);
        let question = of(r#"{"question": "q", "facts": ["a", ["b", "c"]], "answer": "d"}"#).unwrap();
        let fact = |ways: &[&str]| Fact(ways.iter().map(ToString::to_string).collect());
        assert_eq!(question.facts, [fact(&["a"]), fact(&["b", "c"]), fact(&["d"])]);
        assert!(of(r#"{"question": "q", "unanswerable": true}"#).unwrap().unanswerable);
        for wrong in [
            r#"{"question": "q"}"#,
            r#"{"question": "q", "facts": "a"}"#,
            r#"{"question": "q", "facts": [[]]}"#,
            r#"{"question": "q", "answer": "?"}"#,
            r#"{"question": "q", "answer": 5}"#,
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn facts_are_said_word_for_word_or_nearly() {
        let is_in = |fact: &str, said: &str| Fact(vec![fact.into()]).is_in(said);
        assert!(is_in("36 Months", "The warranty lasts 36\nmonths."));
        assert!(!is_in("6 months", "The warranty lasts 36 months."));
        assert!(is_in("It lasts 36 months from purchase", "From the day of purchase, it lasts 36 months."));
        assert!(!is_in("It lasts 36 months from purchase", "It lasts 24 months from purchase."));
        assert!(is_in("1,240.50 euros", "Repair: 1,240.50 euros [1]"));
    }
}
