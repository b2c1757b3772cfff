//! Web pages: headings, lists, tables and text; scripts, styles and hidden parts are left out.

mod table;
mod walk;

use scraper::Html;

use crate::blocks::Block;
use crate::{Job, Parsed, pages, text};

use walk::Walk;

/// Tags nested deeper than this make tree building quadratic; then only the text is kept. The deepest real pages,
/// made by careless editors, nest a few hundred.
const DEEPEST_MARKUP: usize = 1_500;

/// What a page gave.
pub(crate) struct Content {
    pub(crate) title: Option<String>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) warnings: Vec<String>,
}

/// Reads a web page.
pub(crate) fn parse(bytes: &[u8], job: &Job<'_>) -> Parsed {
    let content = read(&decode(bytes), job.limits.nesting);
    Parsed { title: content.title, pages: pages::paginate(&content.blocks), warnings: content.warnings }
}

/// Decodes a page: byte order mark, then the encoding it declares, then what the bytes look like.
pub(crate) fn decode(bytes: &[u8]) -> String {
    /// Browsers look for the declaration in the first kilobyte too.
    const SEARCHED: usize = 1024;
    if bytes.starts_with(&[0xef, 0xbb, 0xbf])
        || bytes.starts_with(&[0xff, 0xfe])
        || bytes.starts_with(&[0xfe, 0xff])
    {
        return text::decode(bytes).text;
    }
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(SEARCHED)]).to_ascii_lowercase();
    let declared = start.find("charset=").or_else(|| start.find("encoding=")).map(|at| {
        let value = start[at..].split_once('=').map_or("", |(_, value)| value);
        let value = value.trim_start_matches(['"', '\'', ' ']);
        value
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_' && c != ':')
            .next()
            .unwrap_or_default()
            .to_owned()
    });
    match declared {
        Some(label) if !label.starts_with("utf-16") => text::decode_as(bytes, &label).text,
        _ => text::decode(bytes).text,
    }
}

/// Reads the markup of a page.
pub(crate) fn read(markup: &str, nesting: usize) -> Content {
    if depth(markup) > DEEPEST_MARKUP {
        let blocks = strip(markup).split("\n\n").map(|text| Block::Paragraph(text.to_owned())).collect();
        let warnings = vec!["the page nests its tags too deeply; only its text was kept".to_owned()];
        return Content { title: None, blocks, warnings };
    }
    let document = Html::parse_document(markup);
    let mut walk = Walk::new(nesting);
    walk.node(document.tree.root(), 0);
    let (title, blocks) = walk.finish();
    Content { title, blocks, warnings: Vec::new() }
}

/// How deep the tags of a page nest, counted without building a tree.
fn depth(markup: &str) -> usize {
    /// They have no end tag, or often go without it.
    const UNCLOSED: [&str; 26] = [
        "br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr",
        "p", "li", "td", "th", "tr", "dt", "dd", "option", "tbody", "thead", "tfoot", "colgroup", "!doctype",
    ];
    let (mut depth, mut deepest) = (0usize, 0usize);
    let bytes = markup.as_bytes();
    for (at, _) in markup.match_indices('<') {
        match bytes.get(at + 1) {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(next) if next.is_ascii_alphabetic() => {
                let rest = &markup[at + 1..];
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()).min(20);
                let name = rest.get(..end).unwrap_or_default();
                if !UNCLOSED.iter().any(|unclosed| unclosed.eq_ignore_ascii_case(name)) {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
            }
            _ => {}
        }
    }
    deepest
}

/// The text of a page without its tags, for pages that are no use as trees.
fn strip(markup: &str) -> String {
    let mut out = String::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tag = &rest[at..];
        let lower: String = tag.chars().take(8).collect::<String>().to_ascii_lowercase();
        let skipped = ["<script", "<style"].iter().find(|start| lower.starts_with(*start));
        let end = match skipped {
            Some(start) => tag.find(&format!("</{}", &start[1..])).or_else(|| tag.find('>')),
            None => tag.find('>'),
        };
        if ["<p", "<div", "<h", "<li", "<tr"].iter().any(|start| lower.starts_with(start))
            && !out.ends_with("\n\n")
        {
            out.push_str("\n\n");
        }
        rest = end.map_or("", |end| &tag[end + 1..]);
    }
    out.push_str(rest);
    // Entities matter little here; the common ones are worth their line.
    out.replace("&nbsp;", " ")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::markdown;

    fn text(markup: &str) -> String {
        markdown(&read(markup, 200).blocks)
    }

    #[test]
    fn headings_lists_and_links_become_markdown() {
        let markup = "<title>T</title><h1>A <b>b</b></h1><p>One<br>two <a href='x'>three</a></p>\
                      <ul><li>x<ol start=3><li>y<li>z</ol></li><li><p>w</p></li></ul><script>no()</script>";
        assert_eq!(text(markup), "# A b\n\nOne\ntwo three\n\n- x\n    3. y\n    4. z\n- w");
    }

    #[test]
    fn spans_of_cells_repeat_their_text() {
        let markup =
            "<table><tr><th rowspan=2>h</th><th colspan=2>w</th></tr><tr><td>1</td><td>2</td></tr></table>";
        assert_eq!(text(markup), "| h | w | w |\n| - | - | - |\n| h | 1 | 2 |");
    }

    #[test]
    fn layout_tables_are_read_through() {
        let markup = "<table><tr><td><h2>Menu</h2><table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table></td></tr></table>";
        assert_eq!(text(markup), "## Menu\n\n| a | b |\n| - | - |\n| c | d |");
    }

    #[test]
    fn hidden_parts_are_left_out_and_code_keeps_its_lines() {
        let markup = "<div hidden>x</div><div style='display: none'>y</div><pre>a\n  b</pre>";
        assert_eq!(text(markup), "```\na\n  b\n```");
    }

    #[test]
    fn deep_nesting_keeps_the_text() {
        let markup = format!("{}deep{}", "<div>".repeat(300_000), "</div>".repeat(300_000));
        let content = read(&markup, 200);
        assert_eq!(markdown(&content.blocks), "deep");
        assert_eq!(content.warnings.len(), 1);
    }

    #[test]
    fn declared_encodings_are_believed() {
        let latin = b"<html><meta charset='iso-8859-1'><p>caf\xe9</p>";
        assert!(decode(latin).contains("café"));
    }
}
