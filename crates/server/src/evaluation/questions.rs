//! Questions with what they should find, or what their answers should say.

use serde_json::{Map, Value, json};

/// A place in a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    /// The file's name.
    pub(crate) file: String,
    /// The page; `None` is any.
    pub(crate) page: Option<u64>,
    /// How relevant it is; 1 unless said otherwise.
    pub(crate) grade: f64,
}

impl Target {
    /// Whether a place that was found is this one.
    pub(crate) fn is(&self, found: &Target) -> bool {
        self.file == found.file && (self.page.is_none() || self.page == found.page)
    }

    /// The place of a passage or citation that a server names.
    pub(crate) fn found(value: &Value) -> Self {
        let file = value["fileName"].as_str().unwrap_or_default().to_string();
        Target { file, page: value["page"].as_u64(), grade: 0.0 }
    }

    /// `terms.pdf#page=3` or `terms.pdf`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (file, page) = match text.rsplit_once("#page=") {
            Some((file, page)) => (file, Some(page.trim().parse().ok()?)),
            None => (text, None),
        };
        let file = file.trim();
        (!file.is_empty()).then(|| Target { file: file.to_string(), page, grade: 1.0 })
    }

    /// The text that is parsed into it, which does not hold its grade.
    pub(crate) fn written(&self) -> String {
        match self.page {
            Some(page) => format!("{}#page={page}", self.file),
            None => self.file.clone(),
        }
    }

    fn json(&self) -> Value {
        if self.grade == 1.0 {
            return json!(self.written());
        }
        json!({"file": self.written(), "grade": self.grade})
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
pub(crate) struct Fact(Vec<String>);

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
        Fact::of(ways)
    }

    /// Something that is said in one of these ways, which all have words.
    pub(crate) fn of(ways: Vec<String>) -> Option<Self> {
        (!ways.is_empty() && ways.iter().all(|way| !words(way).is_empty())).then_some(Fact(ways))
    }

    /// The ways to say it.
    pub(crate) fn ways(&self) -> &[String] {
        &self.0
    }

    fn json(&self) -> Value {
        match &self.0[..] {
            [way] => json!(way),
            ways => json!(ways),
        }
    }

    /// Whether an answer says it: word for word, or, if it is long, with all of its numbers and most of its words.
    pub(crate) fn is_in(&self, said: &str) -> bool {
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
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) relevant: Vec<Target>,
    /// What an answer must say, all of it.
    pub(crate) facts: Vec<Fact>,
    /// Whether the documents do not answer it.
    pub(crate) unanswerable: bool,
}

impl Question {
    /// Whether anything is expected of it.
    pub(crate) fn is_complete(&self) -> bool {
        self.unanswerable || !self.facts.is_empty() || !self.relevant.is_empty()
    }

    /// Whether it names what a search should find.
    pub(crate) fn is_searched(&self) -> bool {
        !self.unanswerable && !self.relevant.is_empty()
    }

    /// What is expected of it, as the catalog keeps it.
    pub(crate) fn expected(&self) -> String {
        Value::Object(self.fields()).to_string()
    }

    /// The line that is parsed into it.
    pub(crate) fn line(&self) -> String {
        let mut fields = self.fields();
        fields.insert("question".into(), json!(self.text));
        Value::Object(fields).to_string()
    }

    fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        if !self.facts.is_empty() {
            fields.insert("facts".into(), self.facts.iter().map(Fact::json).collect());
        }
        if !self.relevant.is_empty() {
            fields.insert("relevant".into(), self.relevant.iter().map(Target::json).collect());
        }
        if self.unanswerable {
            fields.insert("unanswerable".into(), json!(true));
        }
        fields
    }

    /// The question that the catalog keeps in two parts.
    pub(crate) fn kept(text: &str, expected: &str) -> Result<Self, String> {
        let mut value: Value = serde_json::from_str(expected).map_err(|error| error.to_string())?;
        value["question"] = json!(text);
        Question::of(&value)
    }

    /// What a line says, whether or not it expects anything.
    fn of(value: &Value) -> Result<Self, String> {
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
        Ok(Question { text, relevant, facts, unanswerable })
    }
}

/// Reads lines of questions, for searches or for answers; what is wrong is named by its line.
pub(crate) fn read(text: &str, answers: bool) -> Result<Vec<Question>, String> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    lines
        .map(|(line, number)| parse(line, answers).map_err(|cause| format!("line {number}: {cause}")))
        .collect()
}

pub(crate) fn parse(line: &str, answers: bool) -> Result<Question, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let question = Question::of(&value)?;
    if answers && !question.is_complete() {
        return Err("it has no `answer`, `facts`, `relevant` or `truth`, and is not `unanswerable`".into());
    }
    if !answers && question.relevant.is_empty() && !question.unanswerable {
        return Err("neither `relevant` nor `truth` names a file".into());
    }
    Ok(question)
}

fn place(value: &Value) -> Option<Target> {
    match value {
        Value::String(text) => Target::parse(text),
        Value::Object(_) => {
            let target = Target::parse(value["file"].as_str()?)?;
            let page = value["page"].as_u64().or(target.page);
            Some(Target { page, grade: value["grade"].as_f64().unwrap_or(1.0), ..target })
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
    fn what_is_kept_of_a_question_is_all_of_it() {
        let line = r#"{"question": "q", "facts": ["a", ["b", "c"]], "relevant": ["d.md#page=3", {"file": "e.md", "grade": 2}]}"#;
        for line in [line, r#"{"question": "q", "unanswerable": true}"#] {
            let question = parse(line, true).unwrap();
            assert_eq!(parse(&question.line(), true).unwrap(), question);
            assert_eq!(Question::kept("q", &question.expected()).unwrap(), question);
        }
        let nothing = Question { text: "q".into(), ..Question::default() };
        assert_eq!((nothing.expected().as_str(), nothing.is_complete()), ("{}", false));
        assert_eq!(Question::kept("q", "{}").unwrap(), nothing);
        assert!(Question::kept("q", "").is_err());
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named_by_its_line() {
        let lines = "{\"question\": \"q\", \"answer\": \"a\"}\n\n{\"question\": \"q\"}\n";
        let wrong = read(lines, true).unwrap_err();
        assert!(wrong.starts_with("line 3: it has no `answer`"), "{wrong}");
        assert_eq!(read(lines.lines().next().unwrap(), true).unwrap().len(), 1);
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
