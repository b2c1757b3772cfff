//! Checks what an answer cites against the stored pages. What is not on the page is not cited.

use std::{collections::HashMap, sync::Arc};

use super::{
    draft::{Mark, Part, Sentence},
    locate, units, words,
};
use crate::{
    Fault,
    access::Reading,
    ids::{ChunkId, FileId},
    seams::{answerer::Passage, index::Index},
};

/// Share of a sentence's content words that one sentence of the passage must have, where no words are quoted.
const SUPPORT: f64 = 0.8;

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
}

/// Checks the citations of one answer.
pub(super) struct Verifier {
    index: Arc<dyn Index>,
    /// The right to read the box of each file.
    readings: HashMap<FileId, Reading>,
    question: String,
    passages: Vec<Passage>,
    pages: HashMap<(FileId, u32), String>,
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
    pub(super) async fn cite(
        &mut self,
        passage: usize,
        place: std::ops::Range<usize>,
    ) -> Result<Option<usize>, Fault> {
        let Some(Passage { id, file_name, chunk, score }) =
            passage.checked_sub(1).and_then(|at| self.passages.get(at)).cloned()
        else {
            return Ok(None);
        };
        let Some(quote) = chunk.text.get(place.clone()) else { return Ok(None) };
        let start = chunk.start + chunk.text[..place.start].chars().count() as u32;
        let end = start + quote.chars().count() as u32;
        let page = self.page(id.file, chunk.page).await?;
        if !stands_at(page, start, end, quote) {
            self.warn(format!("a passage of `{file_name}` changed in the meantime and is not cited"));
            return Ok(None);
        }
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
        });
        Ok(Some(index))
    }

    /// A written sentence with the numbers of its citations in place of its marks; `None` where it cites passages and
    /// none of them supports it.
    pub(super) async fn checked(&mut self, sentence: &Sentence) -> Result<Option<String>, Fault> {
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
        Ok((borne || !claimed).then_some(written))
    }

    /// The number of the citation that supports a claim.
    async fn borne_out(&mut self, said: &str, mark: &Mark) -> Result<Option<usize>, Fault> {
        let Some(passage) = mark.passage.checked_sub(1).and_then(|at| self.passages.get(at)) else {
            self.warn(format!(
                "a sentence was left out: it cites passage {}, which was not given",
                mark.passage
            ));
            return Ok(None);
        };
        let text = &passage.chunk.text;
        let place = match &mark.quote {
            Some(quote) => locate::find(quote, text),
            None => supporting(said, text),
        };
        let name = passage.file_name.clone();
        let Some(place) = place else {
            self.warn(format!("a sentence was left out: what it cites is not in `{name}`"));
            return Ok(None);
        };
        if !numbers_known(
            said,
            &[text, &self.question, &passage.chunk.lead, &passage.chunk.section.join(" ")],
        ) {
            self.warn(format!("a sentence was left out: its numbers are not in `{name}`"));
            return Ok(None);
        }
        self.cite(mark.passage, place).await
    }

    async fn page(&mut self, file: FileId, number: u32) -> Result<&str, Fault> {
        if !self.pages.contains_key(&(file, number)) {
            let pages = match self.readings.get(&file) {
                Some(reading) => self.index.pages(reading, file, number, 1).await?,
                None => Vec::new(),
            };
            let page = pages.into_iter().find(|page| page.number == number);
            self.pages.insert((file, number), page.map(|page| page.text).unwrap_or_default());
        }
        Ok(self.pages.get(&(file, number)).map_or("", String::as_str))
    }
}

/// Whether the quote is at these code points of the page.
fn stands_at(page: &str, start: u32, end: u32, quote: &str) -> bool {
    page.chars().skip(start as usize).take((end.saturating_sub(start)) as usize).eq(quote.chars())
}

/// The place in a passage that says what a sentence says: the words it puts in quotation marks, itself, or the
/// sentence that has nearly all its words.
fn supporting(said: &str, text: &str) -> Option<std::ops::Range<usize>> {
    let quoted = said.split(['"', '“', '”', '„']).skip(1).step_by(2).max_by_key(|part| part.len());
    if let Some(place) =
        quoted.filter(|part| part.chars().count() >= 12).and_then(|part| locate::find(part, text))
    {
        return Some(place);
    }
    let plain = said.trim().trim_end_matches(['.', '!', '?', '。']);
    if let Some(place) = locate::find(plain, text) {
        return Some(place);
    }
    let wanted: Vec<String> = words::telling(said).into_iter().map(|word| word.stem).collect();
    if wanted.is_empty() {
        return None;
    }
    let share = |place: &std::ops::Range<usize>| {
        let there: Vec<String> =
            words::telling(&text[place.clone()]).into_iter().map(|word| word.stem).collect();
        wanted.iter().filter(|word| there.contains(word)).count() as f64 / wanted.len() as f64
    };
    let scored = units::read(text, "", "").into_iter().map(|unit| (share(&unit.place), unit.place));
    let (share, place) = scored.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (share >= SUPPORT).then_some(place)
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
    fn a_claim_is_borne_out_by_its_words() {
        let found = |said: &str| supporting(said, TEXT).map(|place| &TEXT[place]);
        assert_eq!(found("Repairs are made in Lyon."), Some("Repairs are made in Lyon"));
        assert_eq!(
            found("From the day of purchase the warranty lasts two years."),
            Some("The warranty lasts two years from the day of purchase.")
        );
        assert_eq!(
            found("As it says, \"two years from the day\", it holds."),
            Some("two years from the day")
        );
        assert_eq!(found("The moon is made of cheese."), None);
        assert_eq!(found(""), None);
    }

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
