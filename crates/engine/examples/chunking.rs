//! Measures how fast documents are cut into chunks, token counting left out.

use std::time::Instant;

use engine::{
    document::{Document, Format, Page},
    ingest::chunk::{self, Chunking},
};

fn main() {
    let paragraph = "The committee meets four times a year and reports its findings to the board. Members who cannot \
                     attend send a deputy. Decisions are taken by a simple majority, unless section 3.2.1 says otherwise.";
    let section = |number: usize| {
        format!(
            "## {number} Meetings\n\n{paragraph}\n\n{paragraph} {paragraph}\n\nYou need:\n- a pen\n- a book\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        )
    };
    let page = |number: u32| Page {
        number,
        label: number.to_string(),
        text: (0..5).map(section).collect(),
        format: Format::Markdown,
        ocr: false,
        confidence: None,
        tables: 5,
        warnings: vec![],
        layout: None,
    };
    let pages: Vec<Page> = (1..=2_000).map(page).collect();
    let document = Document { media_type: "text/markdown".into(), title: None, pages, warnings: vec![] };
    let bytes: usize = document.pages.iter().map(|page| page.text.len()).sum();
    // About what a tokenizer counts, at no cost.
    let count = |text: &str| text.len() / 4;
    let started = Instant::now();
    let chunks = chunk::split(&document, &Chunking::default(), &count);
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{} chunks of {:.1} MB in {seconds:.2} s: {:.1} MB/s",
        chunks.len(),
        bytes as f64 / 1e6,
        bytes as f64 / 1e6 / seconds
    );
}
