//! The `tesseract` program: how it is run, and pages from its table of words.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use engine::document::{Format, Page};

use super::{Unread, finished, wordless_page};
use crate::packs::{self, Packs};
use crate::placing::Placing;
use crate::programs::{bounded_output, installed};
use crate::{Limits, pages};

/// Seconds one picture may take; a dense A4 page at 300 dpi takes three on a slow core.
const SECONDS_PER_PICTURE: u64 = 20;
/// Bytes of recognised words of one picture; a page has some ten thousand.
const LONGEST_OUTPUT: u64 = 16 << 20;

/// Recognises the text of a picture; formats with several pictures give several pages.
pub(super) fn read(picture: &[u8], limits: &Limits) -> Result<Vec<Page>, Unread> {
    let program = installed("tesseract").ok_or_else(|| Unread::Failed("tesseract is gone".into()))?;
    let packs = Packs::of(&limits.ocr_languages, installed_packs(&program));
    let words = run(&program, picture, &packs.usable)?;
    let mut pages = pages_of(&words);
    if pages.is_empty() {
        pages.push(wordless_page());
    }
    for page in &mut pages {
        page.warnings.extend(packs.missing.iter().map(|pack| packs::warning(pack)));
    }
    Ok(pages)
}

/// The language packs that the program has. Asked once: a child reads one file.
fn installed_packs(program: &Path) -> &'static [String] {
    static PACKS: OnceLock<Vec<String>> = OnceLock::new();
    PACKS.get_or_init(|| {
        let mut command = Command::new(program);
        command.arg("--list-langs");
        let said = bounded_output(command, b"", Duration::from_secs(SECONDS_PER_PICTURE), LONGEST_OUTPUT);
        said.ok().flatten().map(|said| packs::listed(&String::from_utf8_lossy(&said))).unwrap_or_default()
    })
}

fn run(program: &Path, picture: &[u8], packs: &str) -> Result<String, Unread> {
    let mut command = Command::new(program);
    command
        .args(["stdin", "stdout", "-l", packs, "--psm", "3", "tsv"])
        // One thread: several fight over the cores that other files need.
        .env("OMP_THREAD_LIMIT", "1");
    let output = bounded_output(command, picture, Duration::from_secs(SECONDS_PER_PICTURE), LONGEST_OUTPUT)
        .map_err(|error| Unread::Failed(error.to_string()))?
        .ok_or_else(|| Unread::Failed("the picture could not be read in time".into()))?;
    Ok(String::from_utf8_lossy(&output).into_owned())
}

/// One row of the program's table of words.
struct Word<'a> {
    page: u32,
    /// Block, paragraph and line, which change where the text breaks.
    block: (&'a str, &'a str),
    line: &'a str,
    confidence: f32,
    text: &'a str,
    /// Left, top, right and bottom, as shares of the picture; those of the line above and below.
    edges: [f32; 4],
}

/// The words of the table. Rows of pages and lines before them tell how large the picture and how high the line is.
fn words(table: &str) -> impl Iterator<Item = Word<'_>> {
    let (mut size, mut height) = ([1.0f32, 1.0], [0.0f32, 1.0]);
    table.lines().filter_map(move |row| {
        let fields: Vec<&str> = row.split('\t').collect();
        let [level, page, block, paragraph, line, _, left, top, width, tall, confidence, text] = fields[..]
        else {
            return None;
        };
        let number = |field: &str| field.parse::<f32>().ok().filter(|number| number.is_finite());
        let (left, top, width, tall) = (number(left)?, number(top)?, number(width)?, number(tall)?);
        match level {
            "1" => size = [width.max(1.0), tall.max(1.0)],
            "4" => height = [top, top + tall],
            _ => {}
        }
        let edges = [left / size[0], height[0] / size[1], (left + width) / size[0], height[1] / size[1]];
        let word = Word {
            page: page.parse().ok()?,
            block: (block, paragraph),
            line,
            confidence: number(confidence)?,
            text: text.trim(),
            edges,
        };
        // Rows of blocks and lines have a confidence of -1 and no word.
        (word.confidence >= 0.0 && !word.text.is_empty()).then_some(word)
    })
}

/// A page while its words are gathered.
#[derive(Default)]
struct Gathered {
    written: Placing,
    confidences: Vec<f32>,
}

fn pages_of(table: &str) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let mut number = 0;
    let mut previous: Option<((&str, &str), &str)> = None;
    let mut gathered = Gathered::default();
    for word in words(table) {
        if word.page != number {
            pages.extend(std::mem::take(&mut gathered).recognised());
            number = word.page;
            previous = None;
        }
        let written = &mut gathered.written;
        match previous {
            None => {}
            Some((block, _)) if block != word.block => written.plain("\n\n"),
            Some((_, line)) if line != word.line => join_line(written),
            Some(_) => written.plain(" "),
        }
        for (nth, part) in word.text.split_whitespace().enumerate() {
            if nth > 0 {
                written.plain(" ");
            }
            written.word(part, word.edges);
        }
        gathered.confidences.push(word.confidence);
        previous = Some((word.block, word.line));
    }
    pages.extend(gathered.recognised());
    pages
}

/// Words divided at the end of a line are joined.
fn join_line(written: &mut Placing) {
    let text = &written.text;
    let divided = text.ends_with('-') && text.chars().rev().nth(1).is_some_and(char::is_alphabetic);
    if divided {
        written.take_back();
    } else {
        written.plain("\n");
    }
}

impl Gathered {
    fn recognised(self) -> Option<Page> {
        let Gathered { written, confidences } = self;
        if written.text.is_empty() {
            return None;
        }
        let mean = confidences.iter().sum::<f32>() / confidences.len().max(1) as f32 / 100.0;
        let mut page = pages::page("", &written.text, 0);
        page.layout = written.layout(&page);
        page.format = Format::Text;
        Some(finished(page, mean))
    }
}

#[cfg(test)]
mod tests {
    use engine::layout::Placed;

    use super::*;

    #[test]
    fn words_become_lines_paragraphs_and_pages() {
        let table = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
            1\t1\t0\t0\t0\t0\t0\t0\t10\t10\t-1\t\n5\t1\t1\t1\t1\t1\t0\t0\t1\t1\t90\tGood\n5\t1\t1\t1\t1\t2\t0\t0\t1\t1\t80\tmor-\n\
            5\t1\t1\t1\t2\t1\t0\t0\t1\t1\t100\tning\n5\t1\t2\t1\t1\t1\t0\t0\t1\t1\t90\tBye\n5\t2\t1\t1\t1\t1\t0\t0\t1\t1\t30\tTwo\n";
        let pages = pages_of(table);
        assert_eq!(pages[0].text, "Good morning\n\nBye");
        assert_eq!(pages[0].confidence, Some(0.9));
        assert!(pages[0].ocr && pages[0].warnings.is_empty());
        assert_eq!((pages[1].text.as_str(), pages[1].warnings.len()), ("Two", 1));
    }

    #[test]
    fn words_know_where_in_the_picture_they_are() {
        let table = "1\t1\t0\t0\t0\t0\t0\t0\t1000\t500\t-1\t\n4\t1\t1\t1\t1\t0\t90\t100\t400\t25\t-1\t\n\
            5\t1\t1\t1\t1\t1\t100\t105\t200\t20\t90\tGood\n5\t1\t1\t1\t1\t2\t350\t105\t100\t20\t80\tday\n";
        let page = &pages_of(table)[0];
        let layout = page.layout.as_ref().expect("a layout");
        let region = Placed::new(1, &page.text, layout).regions(5..8)[0];
        let near = |a: f64, b: f64| (a - b).abs() < 0.002;
        assert!(near(region.x, 0.35) && near(region.y, 0.2) && near(region.w, 0.1) && near(region.h, 0.05));
    }
}
