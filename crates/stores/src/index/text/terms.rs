//! What tantivy is told: the fields of a chunk, its terms, and queries over them.

use std::collections::{BTreeSet, HashMap};

use rusqlite::Connection;
use tantivy::{
    Searcher, TantivyDocument, Term,
    collector::TopDocs,
    query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery, TermSetQuery},
    schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
    tokenizer::{PreTokenizedString, Token},
};

use super::{
    super::truth::{self, Passage},
    analyzer::Analyzer,
};

/// What a word in a heading or title counts beside one in the text: less, for it says so of many chunks. Not yet
/// measured against other weights.
pub(in crate::index) const HEADING_WEIGHT: f32 = 0.3;

/// The languages whose stems a query is tried with at most, most frequent first. Most words have one or two stems in all
/// of them together, so this bounds an odd box, not a usual one.
pub(super) const QUERY_LANGUAGES: usize = 16;

/// The languages of a box, with what makes their terms.
#[derive(Default)]
pub(super) struct Languages {
    /// Most frequent first, as of the last opening.
    known: Vec<Option<String>>,
    analyzers: HashMap<Option<String>, Analyzer>,
}

impl Languages {
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let mut languages = Languages::default();
        for language in truth::languages(connection)? {
            languages.note(language.as_deref());
        }
        Ok(languages)
    }

    /// Makes sure that chunks of this language can be analyzed and found.
    pub(super) fn note(&mut self, language: Option<&str>) {
        let language = language.map(str::to_string);
        if !self.analyzers.contains_key(&language) {
            self.analyzers.insert(language.clone(), Analyzer::new(language.as_deref()));
            self.known.push(language);
        }
    }

    /// What makes the terms of a chunk of this language.
    pub(super) fn analyzer(&self, language: &Option<String>) -> Option<&Analyzer> {
        self.analyzers.get(language).or(self.analyzers.values().next())
    }

    /// The terms of a query: a word that two languages stem differently gives both stems. A chunk holds the stems of its
    /// own language only, so this counts nothing twice.
    pub(super) fn terms(&self, query: &str) -> BTreeSet<String> {
        let mut terms = BTreeSet::new();
        for analyzer in
            self.known.iter().take(QUERY_LANGUAGES).filter_map(|language| self.analyzers.get(language))
        {
            analyzer.terms(query, |term| {
                terms.insert(term.to_string());
            });
        }
        terms
    }
}

/// The fields of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    body: Field,
    head: Field,
    file: Field,
    chunk: Field,
}

/// The name of the field that leads back to the truth.
const CHUNK: &str = "chunk";

impl Fields {
    pub(super) fn new() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let counted = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqs);
        let words = TextOptions::default().set_indexing_options(counted);
        let fields = Fields {
            body: schema.add_text_field("body", words.clone()),
            head: schema.add_text_field("head", words),
            file: schema.add_i64_field("file", INDEXED),
            chunk: schema.add_i64_field(CHUNK, FAST),
        };
        (schema.build(), fields)
    }

    /// The term that all chunks of a file share.
    pub(super) fn of_file(&self, file: i64) -> Term {
        Term::from_field_i64(self.file, file)
    }

    pub(super) fn document(&self, passage: &Passage, languages: &Languages) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_i64(self.file, passage.file);
        document.add_i64(self.chunk, passage.chunk);
        if let Some(analyzer) = languages.analyzer(&passage.language) {
            document.add_pre_tokenized_text(self.body, tokens(analyzer, &[&passage.text, &passage.lead]));
            let mut above: Vec<&str> = passage.section.iter().map(String::as_str).collect();
            above.push(&passage.title);
            document.add_pre_tokenized_text(self.head, tokens(analyzer, &above));
        }
        document
    }

    /// The chunks that share words with `text`; `None` where it has no words.
    pub(super) fn query(
        &self,
        text: &str,
        languages: &Languages,
        files: Option<&[i64]>,
    ) -> Option<Box<dyn Query>> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for term in languages.terms(text) {
            let of =
                |field| TermQuery::new(Term::from_field_text(field, &term), IndexRecordOption::WithFreqs);
            clauses.push((Occur::Should, Box::new(of(self.body))));
            clauses.push((Occur::Should, Box::new(BoostQuery::new(Box::new(of(self.head)), HEADING_WEIGHT))));
        }
        if clauses.is_empty() {
            return None;
        }
        let words = BooleanQuery::new(clauses);
        let Some(files) = files else { return Some(Box::new(words)) };
        let allowed = TermSetQuery::new(files.iter().map(|&file| self.of_file(file)));
        let allowed = ConstScoreQuery::new(Box::new(allowed), 0.0);
        Some(Box::new(BooleanQuery::new(vec![
            (Occur::Must, Box::new(words)),
            (Occur::Must, Box::new(allowed)),
        ])))
    }

    /// The numbers of the best chunks with their scores.
    pub(super) fn search(
        &self,
        searcher: &Searcher,
        query: &dyn Query,
        limit: usize,
    ) -> tantivy::Result<Vec<(i64, f32)>> {
        let found = searcher.search(query, &TopDocs::with_limit(limit.max(1)).order_by_score())?;
        let columns = searcher
            .segment_readers()
            .iter()
            .map(|segment| segment.fast_fields().i64(CHUNK))
            .collect::<tantivy::Result<Vec<_>>>()?;
        let numbered = found.into_iter().filter_map(|(score, address)| {
            columns[address.segment_ord as usize].first(address.doc_id).map(|number| (number, score))
        });
        Ok(numbered.collect())
    }
}

/// Terms as tantivy takes them. Only their counts are kept, so their places are left at nothing.
fn tokens(analyzer: &Analyzer, texts: &[&str]) -> PreTokenizedString {
    let mut tokens = Vec::new();
    for text in texts {
        analyzer.terms(text, |term| {
            tokens.push(Token { text: term.to_string(), position: tokens.len(), ..Token::default() });
        });
    }
    PreTokenizedString { text: String::new(), tokens }
}
