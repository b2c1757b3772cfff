//! Reads the sets in the BEIR layout, and cuts their documents into chunks as ingest does.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use engine::{
    document::{Document, Format, Page},
    ingest::chunk::{self, Chunking},
    seams::index::Chunk,
};
use serde_json::Value;

/// The sets that settings are measured on.
pub(crate) const NAMES: [&str; 6] = ["cranfield", "cacm", "xquad-en", "xquad-es", "xquad-de", "xquad-zh"];

/// One set: documents, queries, and which documents answer which query.
pub(crate) struct Set {
    pub(crate) documents: Vec<(String, Document)>,
    pub(crate) queries: Vec<(String, String)>,
    pub(crate) relevant: HashMap<String, HashMap<String, f64>>,
}

/// The folder of all sets, beside the repository; nothing where it is not there.
pub(crate) fn root() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/quality");
    [beside, Path::new("../shared/data/quality").to_path_buf()].into_iter().find(|path| path.exists())
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a readable set");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn field(line: &Value, name: &str) -> String {
    line[name].as_str().unwrap_or_default().trim().to_string()
}

pub(crate) fn read(folder: &Path) -> Set {
    let documents = lines(&folder.join("corpus.jsonl"))
        .iter()
        .map(|line| (field(line, "_id"), document(&field(line, "title"), &field(line, "text"))))
        .collect();
    let queries = lines(&folder.join("queries.jsonl"))
        .iter()
        .map(|line| (field(line, "_id"), field(line, "text")))
        .collect();
    let mut relevant: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in fs::read_to_string(folder.join("qrels/test.tsv")).expect("judgements").lines().skip(1) {
        if let [query, document, grade] = line.split('\t').collect::<Vec<_>>()[..] {
            relevant.entry(query.into()).or_default().insert(document.into(), grade.parse().unwrap_or(0.0));
        }
    }
    Set { documents, queries, relevant }
}

fn document(title: &str, text: &str) -> Document {
    let whole = if title.is_empty() || text.starts_with(title) {
        text.to_string()
    } else {
        format!("{title}\n\n{text}")
    };
    let page = Page {
        number: 1,
        label: "1".into(),
        text: whole,
        format: Format::Text,
        ocr: false,
        confidence: None,
        tables: 0,
        warnings: vec![],
        layout: None,
    };
    let title = (!title.is_empty()).then(|| title.to_string());
    Document { media_type: "text/plain".into(), title, pages: vec![page], warnings: vec![] }
}

/// The chunks of a document, each with what is embedded for it.
pub(crate) fn chunks(document: &Document) -> Vec<(Chunk, String)> {
    chunk::split(document, &Chunking::default(), &count_tokens)
        .into_iter()
        .map(|chunk| {
            let embedded = chunk.with_headings(&chunk::title(document.title.as_deref(), ""));
            (chunk, embedded)
        })
        .collect()
}

/// About what a word-piece tokenizer counts: long words fall apart, other scripts are cut by the character.
fn count_tokens(text: &str) -> usize {
    text.split_whitespace()
        .map(|word| {
            let letters = word.chars().filter(|c| c.is_alphanumeric() && c.is_ascii()).count();
            let others = word.chars().filter(|c| !c.is_ascii()).count();
            let marks = word.chars().filter(char::is_ascii_punctuation).count();
            letters.div_ceil(7) + others + marks
        })
        .sum()
}
