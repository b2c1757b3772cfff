//! What tantivy is told: the fields of a chunk, its terms, and queries over them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use engine::seams::index::Correction;
use tantivy::{
    DocAddress, DocId, DocSet, IndexWriter, InvertedIndexReader, Score, Searcher, SegmentReader,
    TantivyDocument, TantivyError, Term,
    collector::TopDocs,
    postings::Postings,
    query::{
        Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery,
        TermSetQuery,
    },
    schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
    tokenizer::{PreTokenizedString, Token},
};

use super::{
    super::truth::Passage,
    analyzer::Analyzer,
    bm25,
    counts::keep,
    question::{Group, Question},
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
    /// How many terms there are in the text and above it.
    lengths: [Field; 2],
}

/// The name of the field that leads back to the truth.
const CHUNK: &str = "chunk";
/// The names of the fields with the numbers of terms, in the text and above it.
const LENGTHS: [&str; 2] = ["body_terms", "head_terms"];

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
            lengths: LENGTHS.map(|name| schema.add_u64_field(name, FAST)),
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
        let mut above: Vec<&str> = passage.section.iter().map(String::as_str).collect();
        above.push(&passage.title);
        let body = tokens(analyzer, &[&passage.text, &passage.lead], words);
        let head = tokens(analyzer, &above, words);
        for ((field, length), terms) in [self.body, self.head].into_iter().zip(self.lengths).zip([body, head])
        {
            document.add_u64(length, terms.tokens.len() as u64);
            document.add_pre_tokenized_text(field, terms);
        }
        document
    }

    /// Whether any chunk has the term.
    pub(super) fn knows(&self, searcher: &Searcher, term: &str) -> bool {
        // A term that cannot be looked up is not there.
        [self.body, self.head]
            .into_iter()
            .any(|field| found(searcher, field, term).is_ok_and(|found| found > 0))
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
                if word.len() < least || word.chars().count() > most || !speller.is_near(word) {
                    continue;
                }
                *files.entry(word.to_string()).or_default() += u64::from(match segment.alive_bitset() {
                    None => words.value().doc_freq,
                    Some(alive) => index
                        .read_postings_from_terminfo(words.value(), IndexRecordOption::Basic)?
                        .doc_freq_given_deletes(alive),
                });
            }
        }
        // A word that only removed files had is not known.
        files.iter().filter(|(_, files)| **files > 0).for_each(|(word, files)| speller.offer(word, *files));
        Ok(speller.corrections())
    }

    /// The chunks that share words with a question; `None` where the box has none of them.
    pub(super) fn query(
        &self,
        searcher: &Searcher,
        totals: Totals,
        question: &Question<'_>,
        files: Option<&[i64]>,
    ) -> tantivy::Result<Option<(Box<dyn Query>, Grouped)>> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut grouped = Grouped {
            fields: *self,
            searcher: searcher.clone(),
            totals,
            groups: Vec::new(),
            found: HashMap::new(),
        };
        for group in question.groups() {
            let mut together = [0; 2];
            for (at, (field, weight)) in
                [(self.body, 1.0), (self.head, HEADING_WEIGHT)].into_iter().enumerate()
            {
                let mut there = Vec::new();
                for term in &group.terms {
                    let found = found(searcher, field, term)?;
                    together[at] += found;
                    if found > 0 {
                        there.push(Term::from_field_text(field, term));
                    }
                }
                for term in there {
                    grouped.found.insert(term.clone(), together[at]);
                    let one = TermQuery::new(term, IndexRecordOption::WithFreqs);
                    clauses.push((
                        Occur::Should,
                        Box::new(BoostQuery::new(Box::new(one), weight * group.weight)),
                    ));
                }
            }
            let field = |at: usize| {
                bm25::Field::new(together[at] as usize, totals.chunks as f32, totals.terms[at] as f32)
            };
            grouped.groups.push((group, [field(0), field(1)]));
        }
        if clauses.is_empty() {
            return Ok(None);
        }
        let words = BooleanQuery::new(clauses);
        let Some(files) = files else { return Ok(Some((Box::new(words), grouped))) };
        let allowed = TermSetQuery::new(files.iter().map(|&file| self.of_file(file)));
        let allowed = ConstScoreQuery::new(Box::new(allowed), 0.0);
        let query = BooleanQuery::new(vec![(Occur::Must, Box::new(words)), (Occur::Must, Box::new(allowed))]);
        Ok(Some((Box::new(query), grouped)))
    }

    /// The numbers of the best chunks with their scores. Tantivy rounds lengths and adds up in an order of its own: it finds the
    /// chunks, and what they are worth is counted as in the other indexes.
    pub(super) fn search(
        &self,
        query: &dyn Query,
        grouped: &Grouped,
        limit: usize,
    ) -> tantivy::Result<Vec<(i64, f32)>> {
        let limit = limit.max(1);
        let mut segments: BTreeMap<u32, Vec<DocId>> = BTreeMap::new();
        for DocAddress { segment_ord, doc_id } in best(query, grouped, limit)? {
            segments.entry(segment_ord).or_default().push(doc_id);
        }
        let mut scored = Vec::new();
        for (segment, mut chunks) in segments {
            chunks.sort_unstable();
            self.score(grouped, grouped.searcher.segment_reader(segment), &chunks, &mut scored)?;
        }
        scored.sort_unstable_by(|a: &(i64, f32), b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored.truncate(limit);
        Ok(scored)
    }

    /// What chunks of a segment, in its order, are worth.
    fn score(
        &self,
        grouped: &Grouped,
        segment: &SegmentReader,
        chunks: &[DocId],
        scored: &mut Vec<(i64, f32)>,
    ) -> tantivy::Result<()> {
        let fields = [
            (self.body, segment.inverted_index(self.body)?),
            (self.head, segment.inverted_index(self.head)?),
        ];
        let columns = segment.fast_fields();
        let lengths = [columns.u64(LENGTHS[0])?, columns.u64(LENGTHS[1])?];
        let length = |at: usize, chunk: DocId| lengths[at].first(chunk).unwrap_or_default() as u32;
        let mut scores = vec![0.0; chunks.len()];
        for (group, [body, head]) in &grouped.groups {
            for term in &group.terms {
                let [in_body, in_head] = &fields;
                let counts =
                    counts_in(in_body, term, chunks)?.into_iter().zip(counts_in(in_head, term, chunks)?);
                for ((score, &chunk), counts) in scores.iter_mut().zip(chunks).zip(counts) {
                    if counts != (0, 0) {
                        let gained = body.worth(counts.0, length(0, chunk))
                            + HEADING_WEIGHT * head.worth(counts.1, length(1, chunk));
                        *score += group.weight * gained;
                    }
                }
            }
        }
        let numbers = columns.i64(CHUNK)?;
        let numbered =
            chunks.iter().zip(scores).filter_map(|(&chunk, score)| Some((numbers.first(chunk)?, score)));
        scored.extend(numbered);
        Ok(())
    }
}

/// At least `limit` of the best chunks by tantivy's count, if there are as many: the same ones whichever way the index came to be.
fn best(query: &dyn Query, grouped: &Grouped, limit: usize) -> tantivy::Result<Vec<DocAddress>> {
    let wanted = limit + limit / 4;
    let quickly = TopDocs::with_limit(wanted).order_by_score();
    let mut found = grouped.searcher.search_with_statistics_provider(query, &quickly, grouped)?;
    if found.len() == wanted {
        // Others may have the score of the last one too, and which of them are here depends on the order of the segments.
        let last = found.last().map_or(0.0, |(score, _)| coarse(*score));
        let certain = found.iter().take_while(|(score, _)| coarse(*score) > last).count();
        if certain < limit {
            return best_by_number(query, grouped, wanted);
        }
        found.truncate(certain);
    }
    Ok(found.into_iter().map(|(_, address)| address).collect())
}

/// The same, and of chunks with the same score the first ones. This looks at every chunk that has a word of the query.
fn best_by_number(query: &dyn Query, grouped: &Grouped, wanted: usize) -> tantivy::Result<Vec<DocAddress>> {
    let in_order = TopDocs::with_limit(wanted).tweak_score(|segment: &SegmentReader| {
        let numbers = segment.fast_fields().i64(CHUNK).ok();
        move |chunk: DocId, score: Score| {
            let number = numbers.as_ref().and_then(|numbers| numbers.first(chunk));
            (coarse(score), Reverse(number.unwrap_or(i64::MAX)))
        }
    });
    let found = grouped.searcher.search_with_statistics_provider(query, &in_order, grouped)?;
    Ok(found.into_iter().map(|(_, address)| address).collect())
}

/// A score without its last bits, which depend on the order in which it was added up.
fn coarse(score: Score) -> Score {
    const KEPT: u32 = !0xff;
    Score::from_bits(score.to_bits().saturating_add(0x80) & KEPT)
}

/// How often each of these chunks, in the order of the segment, has a term in a field.
fn counts_in(
    (field, index): &(Field, Arc<InvertedIndexReader>),
    term: &str,
    chunks: &[DocId],
) -> tantivy::Result<Vec<u32>> {
    let term = Term::from_field_text(*field, term);
    let Some(mut postings) = index.read_postings(&term, IndexRecordOption::WithFreqs)? else {
        return Ok(vec![0; chunks.len()]);
    };
    let count = |&chunk: &DocId| {
        let there = postings.doc() == chunk || postings.doc() < chunk && postings.seek(chunk) == chunk;
        if there { postings.term_freq() } else { 0 }
    };
    Ok(chunks.iter().map(count).collect())
}

/// How many chunks have a term in a field, without those that are removed.
fn found(searcher: &Searcher, field: Field, term: &str) -> tantivy::Result<u64> {
    let term = Term::from_field_text(field, term);
    let mut found = 0;
    for segment in searcher.segment_readers() {
        let index = segment.inverted_index(field)?;
        found += u64::from(match segment.alive_bitset() {
            None => index.doc_freq(&term)?,
            Some(alive) => {
                let postings = index.read_postings(&term, IndexRecordOption::Basic)?;
                postings.map_or(0, |postings| postings.doc_freq_given_deletes(alive))
            }
        });
    }
    Ok(found)
}

/// What there is in a whole index, without chunks that are removed. Tantivy's own figures are estimates where some were.
#[derive(Debug, Clone, Copy)]
pub(super) struct Totals {
    chunks: u64,
    /// Terms in their texts and above them.
    terms: [u64; 2],
}

impl Totals {
    pub(super) fn of(searcher: &Searcher) -> tantivy::Result<Self> {
        let mut totals = Totals { chunks: 0, terms: [0; 2] };
        for segment in searcher.segment_readers() {
            totals.chunks += u64::from(segment.num_docs());
            for (terms, name) in totals.terms.iter_mut().zip(LENGTHS) {
                let lengths = segment.fast_fields().u64(name)?;
                *terms += segment.doc_ids_alive().filter_map(|chunk| lengths.first(chunk)).sum::<u64>();
            }
        }
        Ok(totals)
    }
}

/// What BM25 counts with: how many chunks have a term or another of its group.
pub(super) struct Grouped {
    fields: Fields,
    searcher: Searcher,
    totals: Totals,
    /// The question's, with what their terms count in the text and above it.
    groups: Vec<(Group, [bm25::Field; 2])>,
    found: HashMap<Term, u64>,
}

impl Bm25StatisticsProvider for Grouped {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        match [self.fields.body, self.fields.head].iter().position(|one| *one == field) {
            Some(at) => Ok(self.totals.terms[at]),
            None => self.searcher.total_num_tokens(field),
        }
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.totals.chunks)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        match self.found.get(term) {
            // A chunk with two terms of a group is counted twice.
            Some(&found) => Ok(found.min(self.totals.chunks)),
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
    pub(super) fn add(&mut self, passage: &Passage) {
        if self.last.as_ref().is_some_and(|(file, _)| *file != passage.file) {
            self.close();
        }
        let analyzer = Analyzer::new(passage.language.as_deref());
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
