//! `OpenDocument` texts and presentations.

use std::collections::HashMap;
use std::ops::ControlFlow;

use engine::seams::parser::ParseFailure;

use crate::blocks::{self, Block, Marker, Table};
use crate::kind::Kind;
use crate::office::comments::comment_block;
use crate::office::package::Package;
use crate::xml::{self, Child, Node};
use crate::{Job, Parsed, clean, failure, pages};

/// Stands for a page break inside a paragraph until it is split.
const PAGE_BREAK: char = '\u{c}';
/// Repeated cells and rows beyond this only fill the sheet to its edge.
const MOST_REPEATED: usize = 64;

/// Reads a text or a presentation.
pub(crate) fn parse(bytes: &[u8], kind: Kind, job: &Job<'_>) -> Result<Parsed, ParseFailure> {
    let mut package = Package::open(bytes, job.limits.inflated_bytes)?;
    let manifest = package.read_text("META-INF/manifest.xml")?.unwrap_or_default();
    if manifest.contains("encryption-data") {
        return Err(failure::locked("the document is protected by a password; save a copy without one"));
    }
    let Some(content) = package.read("content.xml")? else {
        return Err(failure::damaged(
            "the document has no text part; open and save it again in its own program",
        ));
    };
    let mut styles = Styles::default();
    if let Some(xml) = package.read("styles.xml")? {
        xml::each_child(&xml, "styles", |node| styles.add(&node));
        xml::each_child(&xml, "automatic-styles", |node| styles.add(&node));
    }
    xml::each_child(&content, "automatic-styles", |node| styles.add(&node));
    let meta = package.read("meta.xml")?.map(|xml| xml::parse(&xml));
    let title = meta.as_ref().and_then(|root| root.find("title")).map(Node::text);
    if kind == Kind::Odp {
        return Ok(Parsed { title, pages: slides(&content, &styles, job), warnings: Vec::new() });
    }
    let mut flow = Flow::new(&styles);
    xml::each_child(&content, "text", |node| {
        flow.block(&node);
        ControlFlow::Continue(())
    });
    Ok(Parsed { title, pages: pages::paginate(&flow.finish()), warnings: Vec::new() })
}

fn slides(content: &[u8], styles: &Styles, job: &Job<'_>) -> Vec<engine::document::Page> {
    let mut pages = Vec::new();
    xml::each_child(content, "presentation", |slide| {
        if slide.name != "page" {
            return ControlFlow::Continue(());
        }
        let mut flow = Flow::new(styles);
        let mut heading = None;
        for shape in slide.nodes().filter(|shape| shape.name != "notes") {
            let start = flow.blocks.len();
            flow.block(shape);
            if shape.attribute("class") == Some("title") && heading.is_none() {
                let text = clean::one_line(&blocks::markdown(&flow.blocks[start..]));
                flow.blocks.truncate(start);
                flow.blocks.insert(0, Block::Heading(1, text.clone()));
                heading = Some(text);
            }
        }
        if let Some(notes) = slide.child("notes") {
            let start = flow.blocks.len();
            flow.children(notes);
            if flow.blocks.len() > start {
                flow.blocks.insert(start, Block::Paragraph("Notes:".into()));
            }
        }
        let label = heading.or_else(|| slide.attribute("name").map(str::to_owned)).unwrap_or_default();
        let all = flow.finish();
        let tables = all.iter().filter(|block| matches!(block, Block::Table(_))).count();
        pages.push(pages::page(&label, &blocks::markdown(&all), u32::try_from(tables).unwrap_or(u32::MAX)));
        (job.progress)(u32::try_from(pages.len()).unwrap_or(u32::MAX), None);
        ControlFlow::Continue(())
    });
    pages
}

/// What styles say about structure.
#[derive(Default)]
struct Styles {
    /// Styles that start a new page.
    page_breaks: Vec<String>,
    /// The style each one builds on.
    parents: HashMap<String, String>,
    /// For each list style, the levels that count.
    numbered: HashMap<String, Vec<usize>>,
}

impl Styles {
    fn add(&mut self, node: &Node) -> ControlFlow<()> {
        let name =
            node.attribute("style:name").or_else(|| node.attribute("name")).unwrap_or_default().to_owned();
        if node.name == "list-style" {
            let levels = node.nodes().filter(|level| level.name == "list-level-style-number");
            let levels = levels.filter_map(|level| level.attribute("level")?.parse().ok()).collect();
            self.numbered.insert(name, levels);
        } else if node.name == "style" {
            let breaks = node.child("paragraph-properties").and_then(|found| found.attribute("break-before"));
            if breaks == Some("page")
                || node.attribute("master-page-name").is_some_and(|page| !page.is_empty())
            {
                self.page_breaks.push(name.clone());
            }
            if let Some(parent) = node.attribute("parent-style-name") {
                self.parents.insert(name, parent.to_owned());
            }
        }
        ControlFlow::Continue(())
    }

    fn heading(&self, style: &str) -> Option<u8> {
        let mut style = style;
        // Automatic styles build on a named one, which rarely builds on more than two others.
        for _ in 0..8 {
            match style {
                "Title" => return Some(1),
                "Subtitle" => return Some(2),
                _ => style = self.parents.get(style)?,
            }
        }
        None
    }

    fn code(&self, style: &str) -> bool {
        style == "Preformatted_20_Text"
            || self.parents.get(style).is_some_and(|parent| parent == "Preformatted_20_Text")
    }
}

struct Flow<'a> {
    styles: &'a Styles,
    blocks: Vec<Block>,
    /// Notes and comments of the page, which follow its text.
    notes: Vec<Block>,
    note_count: u32,
}

impl<'a> Flow<'a> {
    fn new(styles: &'a Styles) -> Self {
        Self { styles, blocks: Vec::new(), notes: Vec::new(), note_count: 0 }
    }

    fn finish(mut self) -> Vec<Block> {
        self.blocks.append(&mut self.notes);
        self.blocks
    }

    fn children(&mut self, node: &Node) {
        for child in node.nodes() {
            self.block(child);
        }
    }

    fn page_break(&mut self) {
        self.blocks.append(&mut self.notes);
        self.blocks.push(Block::PageBreak);
    }

    fn block(&mut self, node: &Node) {
        match node.name.as_str() {
            "p" | "h" => self.paragraph(node, None),
            "list" => self.list(node, 0, None),
            "table" => self.table(node),
            "soft-page-break" => self.page_break(),
            "tracked-changes" | "sequence-decls" | "forms" | "variable-decls" | "user-field-decls" => {}
            // An index repeats the headings; its entries are still text that people look for.
            _ => self.children(node),
        }
    }

    fn paragraph(&mut self, node: &Node, item: Option<(usize, Marker)>) {
        let style = node.attribute("style-name").unwrap_or_default();
        if self.styles.page_breaks.iter().any(|breaking| breaking == style) {
            self.page_break();
        }
        let mut text = String::new();
        let mut boxes = Vec::new();
        self.inline(node, &mut text, &mut boxes);
        let level = node.attribute("outline-level").and_then(|level| level.parse().ok());
        let heading = if node.name == "h" { Some(level.unwrap_or(1)) } else { self.styles.heading(style) };
        let code = self.styles.code(style);
        let mut first = true;
        for piece in text.split(PAGE_BREAK) {
            if !first {
                self.page_break();
            }
            let block = match (heading, item) {
                (Some(level), _) => Block::Heading(level, piece.to_owned()),
                (None, Some((depth, marker))) if first => {
                    Block::Item { depth, marker, text: piece.to_owned() }
                }
                _ if code => Block::Code(piece.to_owned()),
                _ => Block::Paragraph(piece.to_owned()),
            };
            match (self.blocks.last_mut(), block) {
                (Some(Block::Code(before)), Block::Code(line)) => {
                    before.push('\n');
                    before.push_str(&line);
                }
                (_, block) if !block.is_empty() => self.blocks.push(block),
                _ => {}
            }
            first = false;
        }
        self.blocks.extend(boxes);
    }

    fn inline(&mut self, node: &Node, text: &mut String, boxes: &mut Vec<Block>) {
        for child in &node.children {
            match child {
                Child::Text(words) => text.push_str(&words.replace(['\n', '\r', PAGE_BREAK], " ")),
                Child::Node(child) => match child.name.as_str() {
                    "s" => {
                        let count =
                            child.attribute("c").and_then(|count| count.parse().ok()).unwrap_or(1usize);
                        text.extend(std::iter::repeat_n(' ', count.min(MOST_REPEATED)));
                    }
                    "tab" => text.push('\t'),
                    "line-break" => text.push('\n'),
                    "soft-page-break" => text.push(PAGE_BREAK),
                    "note" => self.note(child, text),
                    "annotation" => {
                        let author = child.find("creator").map(Node::text);
                        let words: Vec<String> =
                            child.nodes().filter(|part| part.name == "p").map(Node::text).collect();
                        self.notes.push(comment_block(author.as_deref(), "", &words.join(" ")));
                    }
                    "text-box" => {
                        let mut inner = Flow::new(self.styles);
                        inner.children(child);
                        boxes.extend(inner.finish().into_iter().filter(|block| *block != Block::PageBreak));
                    }
                    "title" | "desc" | "annotation-end" | "change" | "change-start" | "change-end" => {}
                    _ => self.inline(child, text, boxes),
                },
            }
        }
    }

    fn note(&mut self, node: &Node, text: &mut String) {
        let Some(body) = node.child("note-body") else { return };
        let mut inner = Flow::new(self.styles);
        inner.children(body);
        let words = clean::one_line(&blocks::markdown(&inner.finish()));
        self.note_count += 1;
        text.push_str(&format!("[^{}]", self.note_count));
        self.notes.push(Block::Paragraph(format!("[^{}]: {words}", self.note_count)));
    }

    fn list(&mut self, node: &Node, depth: usize, inherited: Option<&str>) {
        let style = node.attribute("style-name").or(inherited);
        let numbered = style
            .and_then(|style| self.styles.numbered.get(style))
            .is_some_and(|levels| levels.contains(&(depth + 1)));
        let mut number = 0u32;
        for item in node.nodes() {
            number += u32::from(item.name == "list-item");
            let mut marker = Some(if numbered { Marker::Number(number) } else { Marker::Bullet });
            if item.name == "list-header" {
                marker = None;
            }
            for child in item.nodes() {
                match child.name.as_str() {
                    "list" => self.list(child, depth + 1, style),
                    "p" | "h" => self.paragraph(child, marker.take().map(|marker| (depth, marker))),
                    _ => self.block(child),
                }
            }
        }
    }

    fn table(&mut self, node: &Node) {
        let mut rows = Vec::new();
        node.find_all("table-row", &mut rows);
        let mut table = Table::default();
        let mut reaching: HashMap<usize, (usize, String)> = HashMap::new();
        for row in rows {
            let mut line: Vec<String> = Vec::new();
            for cell in row.nodes() {
                let count = |name: &str| {
                    cell.attribute(name)
                        .and_then(|count| count.parse().ok())
                        .unwrap_or(1usize)
                        .clamp(1, MOST_REPEATED)
                };
                for _ in 0..count("number-columns-repeated") {
                    let text = if cell.name == "covered-table-cell" {
                        // Covered from the left or from above: the covering text is repeated.
                        let above = reaching.get_mut(&line.len()).filter(|(left, _)| *left > 0).map(
                            |(left, text)| {
                                *left -= 1;
                                text.clone()
                            },
                        );
                        above.or_else(|| line.last().cloned()).unwrap_or_default()
                    } else {
                        let mut inner = Flow::new(self.styles);
                        inner.children(cell);
                        let text = clean::one_line(&blocks::markdown(&inner.finish()));
                        for column in 0..count("number-columns-spanned") {
                            reaching.insert(
                                line.len() + column,
                                (count("number-rows-spanned") - 1, text.clone()),
                            );
                        }
                        text
                    };
                    line.push(text);
                }
            }
            table.rows.push(line);
        }
        if !table.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(xml: &str) -> String {
        let styles = Styles::default();
        let mut flow = Flow::new(&styles);
        xml::each_child(xml.as_bytes(), "text", |node| {
            flow.block(&node);
            ControlFlow::Continue(())
        });
        blocks::markdown(&flow.finish())
    }

    #[test]
    fn headings_lists_notes_and_tables_are_read() {
        let xml = "<office:text><text:h text:outline-level='2'>Head</text:h><text:p>One<text:s text:c='2'/>two\
            <text:note><text:note-body><text:p>Small</text:p></text:note-body></text:note></text:p>\
            <text:list><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p></text:list-item></text:list>\
            </text:list-item></text:list><table:table><table:table-row><table:table-cell table:number-columns-spanned='2'>\
            <text:p>x</text:p></table:table-cell><table:covered-table-cell/></table:table-row><table:table-row><table:table-cell>\
            <text:p>1</text:p></table:table-cell><table:table-cell><text:p>2</text:p></table:table-cell></table:table-row></table:table>\
            </office:text>";
        let expected =
            "## Head\n\nOne  two[^1]\n\n- a\n    - b\n\n| x | x |\n| - | - |\n| 1 | 2 |\n\n[^1]: Small";
        assert_eq!(read(xml), expected);
    }
}
