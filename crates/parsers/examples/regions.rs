//! Prints where passages of PDFs stand on their pages, one JSON line each: for measuring with `bench/parsing/regions.py`.
//!
//! `regions FILE…`: the passages that would be found, and a sentence of each as an answer would quote it.

use std::ops::Range;
use std::path::Path;

use engine::document::Document;
use engine::ingest::chunk::{self, Chunking};
use engine::layout::Placed;
use parsers::Limits;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let limits = Limits { ocr: parsers::Ocr::Off, second_opinion: false, ..Limits::default() };
    // Documents nest; the child gives its parser as much.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        for file in files {
            if let Ok(document) = parsers::parse(Path::new(&file), &file, &limits, &|_, _| {}) {
                report(&file, &document);
            }
        }
    });
    if let Ok(thread) = thread {
        let _ = thread.join();
    }
}

fn report(file: &str, document: &Document) {
    // About what a tokenizer counts.
    let chunks = chunk::split(document, &Chunking::default(), &|text| text.len() / 4);
    for chunk in chunks {
        let Some(page) = document.pages.iter().find(|page| page.number == chunk.page) else { continue };
        let Some(layout) = &page.layout else {
            print(file, "none", page.number, &chunk.text, &[]);
            continue;
        };
        let placed = Placed::new(page.number, &page.text, layout);
        print(file, "passage", page.number, &chunk.text, &placed.regions(chunk.start..chunk.end));
        let quote = sentence(&chunk.text);
        let before = chunk.start + chunk.text[..quote.start].chars().count() as u32;
        let after = before + chunk.text[quote.clone()].chars().count() as u32;
        print(file, "quote", page.number, &chunk.text[quote], &placed.regions(before..after));
    }
}

/// The longest part of a text between two full stops.
fn sentence(text: &str) -> Range<usize> {
    let ends = text.match_indices(". ").map(|(at, _)| at + 1);
    let mut longest = 0..0;
    let mut start = 0;
    for end in ends.chain([text.len()]) {
        if end - start > longest.len() {
            longest = start..end;
        }
        start = end;
    }
    longest
}

fn print(file: &str, kind: &str, page: u32, text: &str, regions: &[engine::layout::Region]) {
    println!(
        "{}",
        serde_json::json!({"file": file, "kind": kind, "page": page, "text": text, "regions": regions})
    );
}
