//! Checks what an answer cites against the stored pages. What is not on the page is not cited.

use std::{collections::HashMap, ops::Range, sync::Arc};

use super::{
    draft::{Mark, Part, Sentence},
    kind, locate, support,
    words::{self, stems},
};
use crate::{
    Fault,
    access::Reading,
    document::Page,
    ids::{ChunkId, FileId},
    layout::{Placed, Region},
    seams::{answerer::Passage, index::Index},
};

/// What became of a sentence.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Checked {
    /// It is supported; its text with citations.
    Cited(String),
    /// It claims nothing: "Here is what I found:".
    Plain(String),
    /// Nothing supports it.
    Unsupported,
}

/// A quote that is on a stored page.
#[derive(Debug, Clone, PartialEq)]
pub struct Citation {
    /// The number in the answer, from 1.
    pub index: usize,
    /// The chunk it was found in.
    pub chunk: ChunkId,
    /// Its file.
    pub file: FileId,
    /// What the file is called.
    pub file_name: String,
    /// The page, from 1.
    pub page: u32,
    /// Where it starts on the page, in code points.
    pub start: u32,
    /// Where it ends, exclusive.
    pub end: u32,
    /// The words, exactly as on the page.
    pub quote: String,
    /// How likely the passage is to be relevant, 0–1.
    pub score: f32,
    /// Where the words stand on the page, where it has a look of its own.
    pub regions: Vec<Region>,
}

/// Checks the citations of one answer.
pub(super) struct Verifier {
    index: Arc<dyn Index>,
    /// The right to read the box of each file.
    readings: HashMap<FileId, Reading>,
    question: String,
    passages: Vec<Passage>,
    pages: HashMap<(FileId, u32), Option<Page>>,
    citations: Vec<Citation>,
    warnings: Vec<String>,
}

impl Verifier {
    pub(super) fn new(
        index: Arc<dyn Index>,
        readings: HashMap<FileId, Reading>,
        question: String,
        passages: Vec<Passage>,
    ) -> Self {
        let (pages, citations, warnings) = Default::default();
        Verifier { index, readings, question, passages, pages, citations, warnings }
    }

    pub(super) fn passages(&self) -> &[Passage] {
        &self.passages
    }

    pub(super) fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// What was cited, those the text shows, and what the reader should know.
    pub(super) fn finish(&mut self, shown: usize) -> (Vec<Citation>, Vec<String>) {
        self.citations.truncate(shown);
        (std::mem::take(&mut self.citations), std::mem::take(&mut self.warnings))
    }

    /// Cites a place of a passage, in bytes; gives the number of the citation, or `None` where the page has changed.
    pub(super) async fn cite(&mut self, passage: usize, place: Range<usize>) -> Result<Option<usize>, Fault> {
        let Some(Passage { id, file_name, chunk, score }) =
            passage.checked_sub(1).and_then(|at| self.passages.get(at)).cloned()
        else {
            return Ok(None);
        };
        let Some(quote) = chunk.text.get(place.clone()) else { return Ok(None) };
        let start = chunk.start + chunk.text[..place.start].chars().count() as u32;
        let end = start + quote.chars().count() as u32;
        let page = self.page(id.file, chunk.page).await?;
        let Some(regions) = page.and_then(|page| regions(page, start, end, quote)) else {
            self.warn(format!("a passage of `{file_name}` changed in the meantime and is not cited"));
            return Ok(None);
        };
        let same = |known: &&Citation| {
            (known.file, known.page, known.start, known.end) == (id.file, chunk.page, start, end)
        };
        if let Some(known) = self.citations.iter().find(same) {
            return Ok(Some(known.index));
        }
        let index = self.citations.len() + 1;
        let (page, quote) = (chunk.page, quote.to_string());
        self.citations.push(Citation {
            index,
            chunk: id,
            file: id.file,
            file_name,
            page,
            start,
            end,
            quote,
            score,
            regions,
        });
        Ok(Some(index))
    }

    /// A written sentence with the numbers of its citations in place of its marks. A sentence without marks gets one where
    /// a passage says the same. `None` where nothing supports it.
    pub(super) async fn checked(&mut self, sentence: &Sentence) -> Result<Checked, Fault> {
        let said = sentence.text();
        let mut written = String::new();
        let (mut borne, mut claimed) = (false, false);
        for part in &sentence.parts {
            match part {
                Part::Text(text) => written.push_str(text),
                Part::Mark(mark) => {
                    claimed = true;
                    if let Some(index) = self.borne_out(&said, mark).await? {
                        borne = true;
                        written.push_str(&format!("[{index}]"));
                    }
                }
            }
        }
        if borne {
            return Ok(Checked::Cited(written));
        }
        if claimed {
            return Ok(Checked::Unsupported);
        }
        if let Some(index) = self.supported(&said, None, &[]).await? {
            let (text, blanks) = written.split_at(written.trim_end().len());
            return Ok(Checked::Cited(format!("{text} [{index}]{blanks}")));
        }
        Ok(if self.claims(&said) { Checked::Unsupported } else { Checked::Plain(written) })
    }

    /// Whether a sentence says anything that the question does not say. "Yes." does not, nor does "Here is what I found:".
    fn claims(&self, said: &str) -> bool {
        /// Content words of a line that only announces.
        const FEW: usize = 4;
        let asked = stems(&self.question);
        let new = words::telling(said).into_iter().filter(|word| !asked.contains(&word.stem));
        let new: Vec<words::Word<'_>> = new.collect();
        let announces = said.trim_end().ends_with(':') && new.len() <= FEW;
        let number = new.iter().any(|word| kind::is_number(word.text));
        !new.is_empty() && (number || !announces)
    }

    /// The number of the citation that supports a claim: the words that it quotes, in the passage it names or in another, or
    /// else a sentence that says the same.
    async fn borne_out(&mut self, said: &str, mark: &Mark) -> Result<Option<usize>, Fault> {
        let named = mark.passage.checked_sub(1).filter(|at| *at < self.passages.len());
        if let Some(quote) = &mark.quote {
            let order = named.into_iter().chain(0..self.passages.len());
            let quoted = order.into_iter().find_map(|at| {
                let text = &self.passages[at].chunk.text;
                let place = locate::find(quote, text).filter(|place| !support::crosses_rows(text, place))?;
                self.numbers_known(said, at, &place).then_some((at, place))
            });
            if let Some((at, place)) = quoted {
                return self.cite(at + 1, place).await;
            }
        }
        if let Some(index) = self.supported(said, named, &[]).await? {
            return Ok(Some(index));
        }
        match named.map(|at| self.passages[at].file_name.clone()) {
            Some(name) => self.warn(format!("a sentence was left out: what it cites is not in `{name}`")),
            None => self.warn(format!(
                "a sentence was left out: it cites passage {}, which was not given",
                mark.passage
            )),
        }
        Ok(None)
    }

    /// The number of a citation of what says the same as a claim; `beside` are texts that must stand with it.
    pub(super) async fn supported(
        &mut self,
        said: &str,
        named: Option<usize>,
        beside: &[String],
    ) -> Result<Option<usize>, Fault> {
        let claim = support::Claim { said, question: &self.question, beside, named };
        match support::find(&claim, &self.passages) {
            Some((at, place)) => self.cite(at + 1, place).await,
            None => Ok(None),
        }
    }

    /// Whether every number of a claim stands where it quotes: in the same row of a table, or else in the same passage.
    fn numbers_known(&self, said: &str, at: usize, place: &Range<usize>) -> bool {
        let passage = &self.passages[at];
        let row = support::unit_of(passage, place).filter(|unit| unit.row.is_some());
        let (section, lead) = (passage.chunk.section.join(" "), &*passage.chunk.lead);
        match row {
            Some(unit) => {
                let row = support::words_of(&unit, passage).into_iter().collect::<Vec<_>>().join(" ");
                numbers_known(said, &[&row, &self.question, &section])
            }
            None => numbers_known(said, &[&passage.chunk.text, &self.question, lead, &section]),
        }
    }

    async fn page(&mut self, file: FileId, number: u32) -> Result<Option<&Page>, Fault> {
        if !self.pages.contains_key(&(file, number)) {
            let pages = match self.readings.get(&file) {
                Some(reading) => self.index.pages(reading, file, number, 1).await?,
                None => Vec::new(),
            };
            let page = pages.into_iter().find(|page| page.number == number);
            self.pages.insert((file, number), page);
        }
        Ok(self.pages.get(&(file, number)).and_then(Option::as_ref))
    }
}

/// Where a quote stands on its page, if it is at these code points of it; nowhere, if the page has no look of its own.
fn regions(page: &Page, start: u32, end: u32, quote: &str) -> Option<Vec<Region>> {
    let place = |layout| Placed::new(page.number, &page.text, layout).regions(start..end);
    stands_at(&page.text, start, end, quote).then(|| page.layout.as_ref().map(place).unwrap_or_default())
}

/// Whether the quote is at these code points of the page.
fn stands_at(page: &str, start: u32, end: u32, quote: &str) -> bool {
    page.chars().skip(start as usize).take((end.saturating_sub(start)) as usize).eq(quote.chars())
}

/// Whether every number of a sentence is in one of the texts.
fn numbers_known(said: &str, texts: &[&str]) -> bool {
    let number = |word: &str| words::is_number(word) || words::is_number_word(&word.to_lowercase());
    let all = texts.join(" ").to_lowercase();
    let known: Vec<words::Word<'_>> = words::telling(&all);
    let missing =
        |word: &words::Word<'_>| number(word.text) && !known.iter().any(|known| known.stem == word.stem);
    !words::telling(said).iter().any(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# Terms\n\nThe warranty lasts two years from the day of purchase. Repairs are made in Lyon.";

    #[test]
    fn numbers_must_stand_somewhere() {
        assert!(numbers_known("It lasts two years.", &[TEXT]));
        assert!(!numbers_known("It lasts ten years.", &[TEXT]));
        assert!(!numbers_known("It lasts 10 years.", &[TEXT]));
        assert!(numbers_known("In 2023 it lasts two years.", &[TEXT, "and in 2023?"]));
    }

    #[test]
    fn a_quote_stands_where_it_is_said_to() {
        assert!(stands_at("äb c", 1, 4, "b c"));
        assert!(!stands_at("äb c", 0, 3, "b c"));
        assert!(!stands_at("", 5, 2, "x"));
    }
}
