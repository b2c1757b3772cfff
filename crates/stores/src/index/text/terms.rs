//! What tantivy is told: the fields of a chunk, its terms, and queries over them.

use std::collections::{BTreeSet, HashMap};

use engine::seams::index::Correction;
use tantivy::{
    IndexWriter, Searcher, TantivyDocument, TantivyError, Term,
    collector::TopDocs,
    query::{
        Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery,
        TermSetQuery,
    },
    schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
    tokenizer::{PreTokenizedString, Token},
};

use super::{
    super::truth::Passage, analyzer::Analyzer, counts::keep, languages::Languages, question::Question,
    spelling::Speller,
};

/// What a word in a heading or title counts beside one in the text: less, for it says so of many chunks. Not yet
/// measured against other weights.
pub(in crate::index) const HEADING_WEIGHT: f32 = 0.3;

/// The fields of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    body: Field,
    head: Field,
    file: Field,
    chunk: Field,
    /// The words of a whole file, at its last chunk: what misspelt ones may be taken for.
    word: Field,
}

/// The name of the field that leads back to the truth.
const CHUNK: &str = "chunk";

impl Fields {
    pub(super) fn new() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let counted = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqs);
        let words = TextOptions::default().set_indexing_options(counted);
        let listed =
            TextFieldIndexing::default().set_index_option(IndexRecordOption::Basic).set_fieldnorms(false);
        let fields = Fields {
            body: schema.add_text_field("body", words.clone()),
            head: schema.add_text_field("head", words),
            file: schema.add_i64_field("file", INDEXED),
            chunk: schema.add_i64_field(CHUNK, FAST),
            word: schema.add_text_field("word", TextOptions::default().set_indexing_options(listed)),
        };
        (schema.build(), fields)
    }

    /// The term that all chunks of a file share.
    pub(super) fn of_file(&self, file: i64) -> Term {
        Term::from_field_i64(self.file, file)
    }

    fn document(
        &self,
        passage: &Passage,
        analyzer: Analyzer,
        words: &mut BTreeSet<String>,
    ) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_i64(self.file, passage.file);
        document.add_i64(self.chunk, passage.chunk);
        let body = tokens(analyzer, &[&passage.text, &passage.lead], words);
        document.add_pre_tokenized_text(self.body, body);
        let mut above: Vec<&str> = passage.section.iter().map(String::as_str).collect();
        above.push(&passage.title);
        document.add_pre_tokenized_text(self.head, tokens(analyzer, &above, words));
        document
    }

    /// Whether any chunk has the term.
    pub(super) fn knows(&self, searcher: &Searcher, term: &str) -> bool {
        [self.body, self.head].into_iter().any(|field| found(searcher, field, term) > 0)
    }

    /// What misspelt words may mean.
    pub(super) fn meant(
        &self,
        searcher: &Searcher,
        unknown: BTreeSet<String>,
    ) -> tantivy::Result<Vec<Correction>> {
        let mut speller = Speller::new(unknown);
        let mut files: HashMap<String, u64> = HashMap::new();
        let (least, most) = speller.lengths();
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(self.word)?;
            let mut words = index.terms().stream()?;
            while words.advance() {
                let Ok(word) = std::str::from_utf8(words.key()) else { continue };
                if word.len() >= least && word.chars().count() <= most {
                    let count = u64::from(words.value().doc_freq);
                    match files.get_mut(word) {
                        Some(files) => *files += count,
                        None => drop(files.insert(word.to_string(), count)),
                    }
                }
            }
        }
        files.iter().for_each(|(word, files)| speller.offer(word, *files));
        Ok(speller.corrections())
    }

    /// The chunks that share words with a question; `None` where the box has none of them.
    pub(super) fn query(
        &self,
        searcher: &Searcher,
        question: &Question<'_>,
        files: Option<&[i64]>,
    ) -> Option<(Box<dyn Query>, Grouped)> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut grouped = Grouped { searcher: searcher.clone(), found: HashMap::new() };
        for group in question.groups() {
            for (field, weight) in [(self.body, 1.0), (self.head, HEADING_WEIGHT)] {
                let counted = group.terms.iter().map(|term| (term, found(searcher, field, term)));
                let there: Vec<(&String, u64)> = counted.filter(|(_, found)| *found > 0).collect();
                let together = there.iter().map(|(_, found)| found).sum();
                for (term, _) in there {
                    let term = Term::from_field_text(field, term);
                    grouped.found.insert(term.clone(), together);
                    let one = TermQuery::new(term, IndexRecordOption::WithFreqs);
                    clauses.push((
                        Occur::Should,
                        Box::new(BoostQuery::new(Box::new(one), weight * group.weight)),
                    ));
                }
            }
        }
        if clauses.is_empty() {
            return None;
        }
        let words = BooleanQuery::new(clauses);
        let Some(files) = files else { return Some((Box::new(words), grouped)) };
        let allowed = TermSetQuery::new(files.iter().map(|&file| self.of_file(file)));
        let allowed = ConstScoreQuery::new(Box::new(allowed), 0.0);
        let query = BooleanQuery::new(vec![(Occur::Must, Box::new(words)), (Occur::Must, Box::new(allowed))]);
        Some((Box::new(query), grouped))
    }

    /// The numbers of the best chunks with their scores.
    pub(super) fn search(
        &self,
        query: &dyn Query,
        grouped: &Grouped,
        limit: usize,
    ) -> tantivy::Result<Vec<(i64, f32)>> {
        let searcher = &grouped.searcher;
        let best = TopDocs::with_limit(limit.max(1)).order_by_score();
        let found = searcher.search_with_statistics_provider(query, &best, grouped)?;
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

fn found(searcher: &Searcher, field: Field, term: &str) -> u64 {
    // A term that cannot be looked up is not there.
    searcher.doc_freq(&Term::from_field_text(field, term)).unwrap_or(0)
}

/// What BM25 counts with: how many chunks have a term or another of its group.
pub(super) struct Grouped {
    searcher: Searcher,
    found: HashMap<Term, u64>,
}

impl Bm25StatisticsProvider for Grouped {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.searcher.total_num_tokens(field)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.searcher.total_num_docs()
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        match self.found.get(term) {
            // A chunk with two terms of a group is counted twice.
            Some(&found) => Ok(found.min(self.searcher.total_num_docs()?)),
            None => self.searcher.doc_freq(term),
        }
    }
}

/// Hands chunks to a writer. The last of a file waits until it is known to be the last: it has the file's words.
pub(super) struct Documents<'a> {
    writer: &'a IndexWriter,
    fields: Fields,
    last: Option<(i64, TantivyDocument)>,
    words: BTreeSet<String>,
    failed: Option<TantivyError>,
}

impl<'a> Documents<'a> {
    pub(super) fn new(writer: &'a IndexWriter, fields: Fields) -> Self {
        Documents { writer, fields, last: None, words: BTreeSet::new(), failed: None }
    }

    /// The next chunk; those of a file come one after the other.
    pub(super) fn add(&mut self, passage: &Passage, languages: &Languages) {
        if self.last.as_ref().is_some_and(|(file, _)| *file != passage.file) {
            self.close();
        }
        let analyzer = languages.analyzer(&passage.language);
        let document = self.fields.document(passage, analyzer, &mut self.words);
        if let Some((_, before)) = self.last.replace((passage.file, document)) {
            self.write(before);
        }
    }

    /// The end of a file.
    fn close(&mut self) {
        let Some((_, mut document)) = self.last.take() else { return };
        let words = std::mem::take(&mut self.words);
        let tokens =
            words.into_iter().zip(0..).map(|(text, position)| Token { text, position, ..Token::default() });
        let words = PreTokenizedString { text: String::new(), tokens: tokens.collect() };
        document.add_pre_tokenized_text(self.fields.word, words);
        self.write(document);
    }

    fn write(&mut self, document: TantivyDocument) {
        if self.failed.is_none() {
            self.failed = self.writer.add_document(document).err();
        }
    }

    pub(super) fn finish(mut self) -> tantivy::Result<()> {
        self.close();
        self.failed.map_or(Ok(()), Err)
    }
}

/// Terms as tantivy takes them. Only their counts are kept, so their places are left at nothing.
fn tokens(analyzer: Analyzer, texts: &[&str], words: &mut BTreeSet<String>) -> PreTokenizedString {
    let mut tokens = Vec::new();
    for text in texts {
        analyzer.terms(text, |token| {
            let text = token.term.to_string();
            tokens.push(Token { text, position: tokens.len(), ..Token::default() });
            keep(token, words);
        });
    }
    PreTokenizedString { text: String::new(), tokens }
}
