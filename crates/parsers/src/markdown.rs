//! Markdown passes nearly as it is; it is only cut into pages at headings and paragraphs.

use crate::{Parsed, clean, pages, text};

/// A page is cut at the next heading or paragraph once it is this long: about one printed page.
const PAGE_BYTES: usize = 3_200;
/// A heading starts a new page only after this much text.
const SHORTEST_PAGE: usize = 1_600;

/// Reads Markdown.
pub(crate) fn parse(bytes: &[u8]) -> Parsed {
    let decoded = text::decode(bytes);
    let text = clean::page_text(&decoded.text);
    let (stated, body) = front_matter(&text);
    let mut cutter = Cutter::default();
    let mut fence: Option<&str> = None;
    let mut before = "";
    for line in body.lines() {
        let start = line.trim_start();
        match fence {
            Some(mark) if start.starts_with(mark) => fence = None,
            Some(_) => {}
            None => {
                let heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
                let paragraph = before.is_empty() && !start.starts_with(['|', '-', '*', '+', '>']);
                let long = cutter.page.len();
                if heading && long > SHORTEST_PAGE || paragraph && long > PAGE_BYTES {
                    cutter.cut();
                }
                fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
            }
        }
        cutter.line(line);
        before = line;
    }
    cutter.cut();
    let title = stated.or_else(|| body.lines().find_map(|line| line.strip_prefix("# ")).map(str::to_owned));
    let warnings =
        if decoded.damaged { vec!["some characters could not be decoded".to_owned()] } else { Vec::new() };
    Parsed { title, pages: cutter.pages, warnings }
}

#[derive(Default)]
struct Cutter {
    page: String,
    tables: u32,
    pages: Vec<engine::document::Page>,
}

impl Cutter {
    fn line(&mut self, line: &str) {
        let rule = line.contains('-')
            && line.contains('|')
            && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
        self.tables += u32::from(rule);
        self.page.push_str(line);
        self.page.push('\n');
    }

    fn cut(&mut self) {
        let text = std::mem::take(&mut self.page);
        let tables = std::mem::take(&mut self.tables);
        if text.trim().is_empty() {
            return;
        }
        // A page far beyond its size is one endless paragraph or table; it is cut wherever it can be.
        for piece in pages::split_text(&text, 4 * PAGE_BYTES) {
            self.pages.push(pages::page("", piece, tables));
        }
    }
}

/// The title that front matter states, and the text after it.
fn front_matter(text: &str) -> (Option<String>, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return (None, text) };
    let Some((matter, _)) = rest.split_once("\n---") else { return (None, text) };
    let title = matter.lines().find_map(|line| line.strip_prefix("title:"));
    // The matter itself stays in the text: dates, authors and tags are worth finding.
    (title.map(|title| title.trim().trim_matches(['"', '\'']).to_owned()), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_documents_are_cut_at_headings_outside_of_code() {
        let section = format!("# Head\n\n{}\n\n```\n# not a heading\n```\n\n", "word ".repeat(400));
        let parsed = parse(section.repeat(4).as_bytes());
        assert_eq!(parsed.pages.len(), 4);
        assert!(parsed.pages.iter().all(|page| page.text.starts_with("# Head")));
        assert_eq!(parsed.title.as_deref(), Some("Head"));
    }

    #[test]
    fn tables_are_counted() {
        assert_eq!(parse(b"| a | b |\n|---|---|\n| 1 | 2 |").pages[0].tables, 1);
    }
}
