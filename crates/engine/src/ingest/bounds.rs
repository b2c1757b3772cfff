//! What one file may cost the server once its parser has handed it over: every part of a document has a limit here.
//!
//! A parser runs in a process of its own, with limits of its own, but what it hands over is as hostile as the file. With
//! the limits below a file costs the server at most about twice its text, and about 7 KB for each passage.

use crate::{
    document::{Document, Page},
    seams::parser::{FailureKind, ParseFailure},
};

/// Pages of one file: what parsers stop at too. The largest manuals have a few thousand.
pub const MOST_PAGES: usize = 20_000;
/// Bytes of text of one file: what parsers stop at too. The Bible is 4 MB; this is a shelf of books.
pub const MOST_TEXT: usize = 64 << 20;
/// Bytes of text on one page: parsers start a new page long before, and a page is taken apart whole, which takes about
/// fifty times its size where every line is a heading.
pub const MOST_TEXT_ON_A_PAGE: usize = 2 << 20;
/// Characters of a title: it is put before every passage of the file.
const LONGEST_TITLE: usize = 300;
/// Characters of what a page calls itself: a slide's title is the longest.
const LONGEST_LABEL: usize = 300;
/// Characters of a media type: the longest that is registered has 73.
const LONGEST_MEDIA_TYPE: usize = 100;
/// Characters of one warning: a sentence or two.
const LONGEST_WARNING: usize = 500;
/// Warnings of a file, and of a page: nobody reads more.
const MOST_WARNINGS: usize = 20;
/// Characters of a heading that are kept with the passages below it: longer ones are really paragraphs. A passage
/// stands under six at most, because there are six levels.
pub(super) const LONGEST_HEADING: usize = 200;
/// Characters of a caption and header row that are kept with the later rows of a table.
pub(super) const LONGEST_LEAD: usize = 1_000;
/// Passages of one file: ten million tokens. Each takes about 7 KB until the file is indexed, so this is 350 MB.
pub const MOST_PASSAGES: usize = 50_000;

/// Accepts a document: what is merely too long is cut, what is too much is refused.
pub(super) fn admit(mut document: Document) -> Result<Document, ParseFailure> {
    let refuse = |kind, message: String| Err(ParseFailure { kind, message });
    let pages = document.pages.len();
    if pages == 0 {
        return refuse(FailureKind::Damaged, "nothing could be read from the file".into());
    }
    if pages > MOST_PAGES {
        let message = format!("the file has {pages} pages, and the limit is {MOST_PAGES}; split it");
        return refuse(FailureKind::Limits, message);
    }
    let largest = document.pages.iter().map(|page| page.text.len()).max().unwrap_or(0);
    let text: usize = document.pages.iter().map(|page| page.text.len()).sum();
    if text > MOST_TEXT || largest > MOST_TEXT_ON_A_PAGE {
        let (all, page) = (MOST_TEXT >> 20, MOST_TEXT_ON_A_PAGE >> 20);
        let message = format!("the file holds more text than {all} MB, or {page} MB on one page; split it");
        return refuse(FailureKind::Limits, message);
    }
    clip(&mut document.media_type, LONGEST_MEDIA_TYPE);
    document.title.iter_mut().for_each(|title| clip(title, LONGEST_TITLE));
    clip_warnings(&mut document.warnings);
    for (at, page) in document.pages.iter_mut().enumerate() {
        admit_page(page, at as u32 + 1);
    }
    Ok(document)
}

/// Pages are numbered by their place, whatever the parser called them: the index counts on it. A layout that is not of
/// the page's text is left out.
fn admit_page(page: &mut Page, number: u32) {
    page.number = number;
    page.layout = page.layout.take().filter(|layout| layout.fits(&page.text));
    clip(&mut page.label, LONGEST_LABEL);
    clip_warnings(&mut page.warnings);
}

fn clip_warnings(warnings: &mut Vec<String>) {
    warnings.truncate(MOST_WARNINGS);
    warnings.iter_mut().for_each(|warning| clip(warning, LONGEST_WARNING));
    warnings.shrink_to_fit();
}

/// Cuts a text to this many characters, and frees the memory of the rest.
pub(super) fn clip(text: &mut String, most: usize) {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(text[..end].trim_end().len());
        text.push('…');
        text.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        document::Format,
        layout::{Layout, Spot},
    };

    fn page(number: u32, text: String) -> Page {
        Page {
            number,
            label: "l".repeat(1_000_000),
            text,
            format: Format::Markdown,
            ocr: false,
            confidence: None,
            tables: 0,
            warnings: vec!["w".repeat(100_000); 100],
            layout: None,
        }
    }

    fn document(pages: Vec<Page>) -> Document {
        let (media_type, title) = ("m".repeat(1_000_000), Some("t".repeat(1_000_000)));
        Document { media_type, title, pages, warnings: vec!["w".repeat(100_000); 100] }
    }

    #[test]
    fn what_a_parser_says_beside_the_text_is_cut_to_what_is_read() {
        let admitted = admit(document(vec![page(9, "a".into()), page(9, "b".into())])).unwrap();
        let said = |warnings: &[String]| warnings.iter().map(String::capacity).sum::<usize>();
        let page_bytes = |page: &Page| page.label.capacity() + page.text.capacity() + said(&page.warnings);
        let bytes = admitted.media_type.capacity()
            + admitted.title.as_ref().map_or(0, String::capacity)
            + said(&admitted.warnings)
            + admitted.pages.iter().map(page_bytes).sum::<usize>();
        assert!(bytes < 40_000, "{bytes} bytes are left of 31 MB");
        assert_eq!(admitted.pages.iter().map(|page| page.number).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_layout_of_another_text_is_left_out() {
        let spot = |start, end| Spot { start, end, edges: [0.1, 0.1, 0.2, 0.2] };
        let layout = Layout::pack("one two", &[spot(0, 3), spot(4, 7)]);
        let laid_out = |text: &str, layout: &Option<Layout>| Page {
            layout: layout.clone(),
            warnings: Vec::new(),
            ..page(1, text.into())
        };
        let endless = Some(Layout::from_bytes(vec![0x80; 1 << 20]));
        let pages =
            vec![laid_out("one two", &layout), laid_out("one", &layout), laid_out("one two", &endless)];
        let admitted = admit(document(pages)).unwrap();
        assert_eq!(
            admitted.pages.into_iter().map(|page| page.layout).collect::<Vec<_>>(),
            [layout, None, None]
        );
    }

    #[test]
    fn too_much_is_refused_with_what_to_do() {
        let long_page = document(vec![page(1, "x".repeat(MOST_TEXT_ON_A_PAGE + 1))]);
        let full = (1..=33).map(|number| page(number, "x".repeat(MOST_TEXT_ON_A_PAGE))).collect();
        let mut short = page(1, String::new());
        (short.label, short.warnings) = (String::new(), Vec::new());
        for too_much in [long_page, document(full), document(vec![short; MOST_PAGES + 1])] {
            let refused = admit(too_much).unwrap_err();
            assert_eq!(refused.kind, FailureKind::Limits);
            assert!(refused.message.ends_with("split it"), "{}", refused.message);
        }
        assert_eq!(admit(document(vec![])).unwrap_err().kind, FailureKind::Damaged);
    }
}
