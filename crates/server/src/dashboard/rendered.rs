//! The text of a page as people read it: its structure as HTML, everything in it escaped, the quote marked.

use std::ops::Range;

use engine::document::Format;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::html::escaped;

/// Renders a text, with the part between these code points marked. Links and pictures in it are left out, their words are not.
pub(super) fn render(text: &str, format: Format, quote: Option<(u32, u32)>) -> String {
    let quote = quote.map_or(0..0, |(start, end)| byte(text, start)..byte(text, end.max(start)));
    let mut writer = Writer { out: String::new(), quote, marked: false, in_head: false };
    match format {
        Format::Text => {
            writer.out.push_str("<pre dir=\"auto\">");
            writer.words(text, 0..text.len());
            writer.out.push_str("</pre>");
        }
        Format::Markdown => {
            let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
            for (event, place) in Parser::new_ext(text, options).into_offset_iter() {
                writer.take(event, place);
            }
        }
    }
    writer.out
}

/// Where a code point starts; behind the last one, the end.
fn byte(text: &str, wanted: u32) -> usize {
    text.char_indices().nth(wanted as usize).map_or(text.len(), |(at, _)| at)
}

struct Writer {
    out: String,
    /// What is marked, in bytes of the text.
    quote: Range<usize>,
    /// Whether a part of it has been written.
    marked: bool,
    in_head: bool,
}

/// How a cell of a table's head starts.
const HEAD_CELL: &str = "<th scope=\"col\" dir=\"auto\">";

impl Writer {
    fn take(&mut self, event: Event<'_>, place: Range<usize>) {
        match event {
            Event::Start(tag) => self.open(&tag),
            Event::End(tag) => self.close(tag),
            // Markup inside a text is a part of what it says.
            Event::Text(words) | Event::Html(words) | Event::InlineHtml(words) => self.words(&words, place),
            Event::Code(words) => {
                self.out.push_str("<code>");
                self.words(&words, place);
                self.out.push_str("</code>");
            }
            Event::SoftBreak | Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(done) => self.out.push_str(if done { "☑ " } else { "☐ " }),
            Event::InlineMath(words) | Event::DisplayMath(words) | Event::FootnoteReference(words) => {
                self.words(&words, place);
            }
        }
    }

    /// Writes what stands at this place of the text.
    fn words(&mut self, words: &str, place: Range<usize>) {
        let (start, end) = (self.quote.start.max(place.start), self.quote.end.min(place.end));
        if start >= end {
            self.out.push_str(&escaped(words));
            return;
        }
        // What was written otherwise than it is read, such as `&amp;`, is marked as a whole.
        let inside =
            if words.len() == place.len() { start - place.start..end - place.start } else { 0..words.len() };
        let inside = if words.is_char_boundary(inside.start) && words.is_char_boundary(inside.end) {
            inside
        } else {
            0..words.len()
        };
        self.out.push_str(&escaped(&words[..inside.start]));
        self.out.push_str(if self.marked { "<mark>" } else { "<mark data-quote>" });
        self.marked = true;
        self.out.push_str(&escaped(&words[inside.clone()]));
        self.out.push_str("</mark>");
        self.out.push_str(&escaped(&words[inside.end..]));
    }

    fn open(&mut self, tag: &Tag<'_>) {
        let html = match tag {
            Tag::Paragraph | Tag::HtmlBlock => "<p dir=\"auto\">",
            // The headings of a document are not those of our page.
            Tag::Heading { .. } => "<p class=\"heading\" dir=\"auto\">",
            Tag::BlockQuote(_) => "<blockquote>",
            Tag::CodeBlock(_) => "<pre dir=\"auto\">",
            Tag::List(Some(1)) => "<ol>",
            Tag::List(Some(first)) => &format!("<ol start=\"{first}\">"),
            Tag::List(None) => "<ul>",
            Tag::Item => "<li dir=\"auto\">",
            Tag::Table(_) => "<div class=\"scroll\" tabindex=\"0\"><table class=\"list\">",
            Tag::TableHead => {
                self.in_head = true;
                "<thead><tr>"
            }
            Tag::TableRow => "<tr>",
            Tag::TableCell if self.in_head => HEAD_CELL,
            Tag::TableCell => "<td dir=\"auto\">",
            Tag::Emphasis => "<em>",
            Tag::Strong => "<strong>",
            Tag::Strikethrough => "<s>",
            _ => "",
        };
        self.out.push_str(html);
    }

    fn close(&mut self, tag: TagEnd) {
        let html = match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::HtmlBlock => "</p>",
            TagEnd::BlockQuote(_) => "</blockquote>",
            TagEnd::CodeBlock => "</pre>",
            TagEnd::List(true) => "</ol>",
            TagEnd::List(false) => "</ul>",
            TagEnd::Item => "</li>",
            TagEnd::Table => "</tbody></table></div>",
            TagEnd::TableHead => {
                self.in_head = false;
                "</tr></thead><tbody>"
            }
            TagEnd::TableRow => "</tr>",
            TagEnd::TableCell if self.in_head && self.out.ends_with(HEAD_CELL) => {
                // A corner without words heads nothing.
                self.out.truncate(self.out.len() - HEAD_CELL.len());
                "<td></td>"
            }
            TagEnd::TableCell if self.in_head => "</th>",
            TagEnd::TableCell => "</td>",
            TagEnd::Emphasis => "</em>",
            TagEnd::Strong => "</strong>",
            TagEnd::Strikethrough => "</s>",
            _ => "",
        };
        self.out.push_str(html);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_lists_are_what_they_are() {
        let text =
            "# Parts\n\n|  | price |\n|---|---:|\n| pump | 12 & up |\n\n1. one\n2. two\n\nfirst line\nsecond";
        assert_eq!(
            render(text, Format::Markdown, None),
            "<p class=\"heading\" dir=\"auto\">Parts</p><div class=\"scroll\" tabindex=\"0\"><table class=\"list\">\
            <thead><tr><td></td><th scope=\"col\" dir=\"auto\">price</th></tr></thead><tbody><tr>\
            <td dir=\"auto\">pump</td><td dir=\"auto\">12 &amp; up</td></tr></tbody></table></div>\
            <ol><li dir=\"auto\">one</li><li dir=\"auto\">two</li></ol><p dir=\"auto\">first line<br>second</p>"
        );
    }

    #[test]
    fn a_quote_is_marked_wherever_it_stands() {
        let text = "Der **größte** Teil\n\n| a | b |\n|---|---|\n| größer | c |";
        let place = |words: &str| {
            let start = text[..text.find(words).unwrap()].chars().count() as u32;
            Some((start, start + words.chars().count() as u32))
        };
        let marked = |words| render(text, Format::Markdown, place(words));
        assert!(marked("größte").contains("<strong><mark data-quote>größte</mark></strong>"));
        assert!(marked("größer").contains("<td dir=\"auto\"><mark data-quote>größer</mark></td>"));
        let across = marked("Der **größte** Teil");
        assert!(
            across.contains(
                "<mark data-quote>Der </mark><strong><mark>größte</mark></strong><mark> Teil</mark>"
            )
        );
        let plain = |quote| render("größe und <maß>", Format::Text, quote);
        assert_eq!(
            plain(Some((0, 5))),
            "<pre dir=\"auto\"><mark data-quote>größe</mark> und &lt;maß&gt;</pre>"
        );
        for outside in [None, Some((3, 1)), Some((90, 99))] {
            assert!(!plain(outside).contains("<mark"), "{outside:?}");
        }
        assert!(plain(Some((10, u32::MAX))).contains("<mark data-quote>&lt;maß&gt;</mark></pre>"));
    }

    #[test]
    fn nothing_in_a_text_becomes_markup_of_ours() {
        let text = "<script>alert(1)</script>\n\n<b onclick=x>hi</b> [here](javascript:x) ![p](https://x/y.png \"t\")\n\n\
            ```html\n<img src=x>\n```\n\n`<i>` &lt;u&gt; <https://example.org>";
        for quote in [None, Some((0, u32::MAX)), Some((3, 40))] {
            let html = render(text, Format::Markdown, quote);
            for wrong in ["<script", "<b ", "<a", "<img", "<i>", "<u>", "href", "src=\"", " onclick=\""] {
                assert!(!html.contains(wrong), "{wrong} in {html}");
            }
            let plain = html.replace("<mark data-quote>", "").replace("<mark>", "").replace("</mark>", "");
            assert!(plain.contains("here") && plain.contains("&lt;u&gt;"), "{html}");
        }
    }
}
