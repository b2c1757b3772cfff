//! Walks the body of a Word document and gives its blocks.

use std::collections::HashMap;

use engine::seams::parser::ParseFailure;

use super::numbering::{Numbered, Numbering};
use super::styles::{Styles, Wear};
use crate::blocks::{Block, Marker, Table};
use crate::embedded::Pictures;
use crate::office::charts;
use crate::office::package::Package;
use crate::office::relationships::Relationship;
use crate::xml::{self, Node};
use crate::{Job, clean, math};

/// Stands for a page break inside a paragraph until it is split; no document text may hold it.
const PAGE_BREAK: char = '\u{c}';

/// What a body refers to: styles, lists, notes, charts and pictures.
#[derive(Default)]
pub(super) struct Sources {
    styles: Styles,
    numbering: Numbering,
    notes: HashMap<(NoteKind, String), String>,
    charts: HashMap<String, Vec<Block>>,
    pictures: HashMap<String, Vec<Block>>,
}

/// Footnotes and endnotes count separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum NoteKind {
    Footnote,
    Endnote,
}

impl Sources {
    pub(super) fn read(package: &mut Package<'_>, links: &[Relationship]) -> Result<Self, ParseFailure> {
        let mut sources = Self::default();
        for link in links {
            match link.kind.as_str() {
                "styles" => {
                    sources.styles =
                        package.read(&link.target)?.map(|xml| Styles::read(&xml)).unwrap_or_default();
                }
                "numbering" => {
                    sources.numbering =
                        package.read(&link.target)?.map(|xml| Numbering::read(&xml)).unwrap_or_default();
                }
                "chart" => {
                    if let Some(xml) = package.read(&link.target)? {
                        sources.charts.insert(link.id.clone(), charts::blocks(&xml));
                    }
                }
                _ => {}
            }
        }
        for (kind, name) in [(NoteKind::Footnote, "footnotes"), (NoteKind::Endnote, "endnotes")] {
            let Some(link) = links.iter().find(|link| link.kind == name) else { continue };
            let Some(xml) = package.read(&link.target)? else { continue };
            for note in xml::parse(&xml).nodes() {
                // Separators are stored as notes with a type.
                if note.attribute("type").is_some_and(|kind| kind != "normal") {
                    continue;
                }
                let text = cell_text(&Body::of(&sources, note));
                sources.notes.insert((kind, note.attribute("id").unwrap_or_default().to_owned()), text);
            }
        }
        Ok(sources)
    }

    /// Reads what the pictures of the body say.
    pub(super) fn read_pictures(&mut self, package: &mut Package<'_>, links: &[Relationship], job: &Job<'_>) {
        let mut pictures = Pictures::new(job);
        for link in links.iter().filter(|link| link.kind == "image") {
            self.pictures.insert(link.id.clone(), pictures.blocks(package, &link.target));
        }
    }
}

/// The blocks of a body so far.
pub(super) struct Body<'a> {
    sources: &'a Sources,
    blocks: Vec<Block>,
    /// Notes referred to on this page; they follow its text.
    notes: Vec<Block>,
    note_count: u32,
    in_cell: bool,
}

/// The text of one paragraph and the blocks that float beside it.
#[derive(Default)]
struct Inline {
    text: String,
    boxes: Vec<Block>,
    checkbox: Option<bool>,
}

impl<'a> Body<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        Self { sources, blocks: Vec::new(), notes: Vec::new(), note_count: 0, in_cell: false }
    }

    /// The blocks of everything inside `node`.
    pub(super) fn of(sources: &'a Sources, node: &Node) -> Vec<Block> {
        let mut body = Body { in_cell: true, ..Self::new(sources) };
        body.children(node);
        body.finish()
    }

    pub(super) fn finish(mut self) -> Vec<Block> {
        self.blocks.append(&mut self.notes);
        self.blocks
    }

    pub(super) fn children(&mut self, node: &Node) {
        for child in node.nodes() {
            self.block(child);
        }
    }

    /// Takes one child of a body, cell, text box or note.
    pub(super) fn block(&mut self, node: &Node) {
        match node.name.as_str() {
            "p" => self.paragraph(node),
            "tbl" => self.table(node),
            "sdt" => self.children(node.child("sdtContent").unwrap_or(node)),
            "AlternateContent" => self.children(alternative(node)),
            "sectPr" => self.section_break(node),
            "oMathPara" | "oMath" => {
                let text = math::latex(node);
                self.push(Block::Paragraph(format!("$${text}$$")));
            }
            "del" | "moveFrom" | "sdtPr" | "tcPr" | "tblPr" | "pPr" => {}
            _ => self.children(node),
        }
    }

    fn push(&mut self, block: Block) {
        if block == Block::PageBreak {
            if !self.in_cell {
                self.blocks.append(&mut self.notes);
                self.blocks.push(block);
            }
        } else if !block.is_empty() {
            self.blocks.push(block);
        }
    }

    fn section_break(&mut self, node: &Node) {
        let kind = node.child("type").and_then(|kind| kind.attribute("val"));
        if kind != Some("continuous") {
            self.push(Block::PageBreak);
        }
    }

    fn paragraph(&mut self, node: &Node) {
        let wear = Wear::of(node);
        if wear.page_break_before {
            self.push(Block::PageBreak);
        }
        let mut inline = Inline::default();
        self.runs(node, &mut inline);
        let styles = &self.sources.styles;
        let heading = wear
            .outline
            .filter(|level| *level < 9)
            .map(|level| level + 1)
            .or_else(|| styles.heading(wear.style));
        let list = wear.list.or_else(|| styles.list(wear.style));
        let code = styles.code(wear.style);
        let names_list = styles.names_list(wear.style);
        // An empty paragraph does not count, a heading counts but shows its number before its text.
        let numbered = match list {
            Some((number, level)) if !inline.text.trim().is_empty() => {
                self.sources.numbering.next(number, level).map(|next| (next, level))
            }
            _ => None,
        };
        let marker = match (inline.checkbox, &numbered) {
            (Some(ticked), _) => Some((Marker::Checkbox(ticked), list.map_or(0, |(_, level)| level))),
            (None, Some((next, level))) => Some((next.marker, *level)),
            (None, None) => (list.is_none() && names_list).then_some((Marker::Bullet, 0)),
        };
        if let Some((Numbered { marker, label: Some(label) }, _)) = &numbered
            && (heading.is_some() || *marker == Marker::Bullet)
        {
            let label = if heading.is_some() { label.trim_end_matches('.') } else { label };
            inline.text.insert_str(0, &format!("{label} "));
        }
        let mut first = true;
        for piece in inline.text.split(PAGE_BREAK) {
            if !first {
                self.push(Block::PageBreak);
            }
            let block = match (heading, marker) {
                (Some(level), _) => Block::Heading(level, piece.to_owned()),
                (None, Some((marker, depth))) if first => {
                    Block::Item { depth, marker, text: piece.to_owned() }
                }
                _ if code => Block::Code(piece.to_owned()),
                _ => Block::Paragraph(piece.to_owned()),
            };
            match (self.blocks.last_mut(), block) {
                // Lines of code are paragraphs of their own in Word.
                (Some(Block::Code(before)), Block::Code(line)) if !line.trim().is_empty() => {
                    before.push('\n');
                    before.push_str(&line);
                }
                (_, block) => self.push(block),
            }
            first = false;
        }
        for block in inline.boxes {
            self.push(block);
        }
        if let Some(section) = node.path(&["pPr", "sectPr"]) {
            self.section_break(section);
        }
    }

    fn runs(&mut self, node: &Node, inline: &mut Inline) {
        for child in node.nodes() {
            self.run(child, inline);
        }
    }

    fn run(&mut self, node: &Node, inline: &mut Inline) {
        match node.name.as_str() {
            "t" => inline.text.push_str(&node.text().replace(PAGE_BREAK, " ")),
            "tab" | "ptab" => inline.text.push('\t'),
            "br" if node.attribute("type") == Some("page") => inline.text.push(PAGE_BREAK),
            "lastRenderedPageBreak" => inline.text.push(PAGE_BREAK),
            "br" | "cr" => inline.text.push('\n'),
            "noBreakHyphen" => inline.text.push('-'),
            "sym" => inline.text.extend(symbol(node)),
            "oMathPara" => {
                let formulas: Vec<String> =
                    node.nodes().filter(|child| child.name == "oMath").map(math::latex).collect();
                inline.text.push_str(&format!("$${}$$", formulas.join(" ")));
            }
            "oMath" => inline.text.push_str(&format!("${}$", math::latex(node))),
            "sdt" => self.control(node, inline),
            "footnoteReference" => self.note(NoteKind::Footnote, node, inline),
            "endnoteReference" => self.note(NoteKind::Endnote, node, inline),
            "AlternateContent" => self.runs(alternative(node), inline),
            "txbxContent" => {
                let mut inner = Body { in_cell: true, ..Body::new(self.sources) };
                inner.children(node);
                inline.boxes.extend(inner.finish());
            }
            "chart" => {
                let chart = node
                    .attribute("r:id")
                    .or_else(|| node.attribute("id"))
                    .and_then(|id| self.sources.charts.get(id));
                inline.boxes.extend(chart.into_iter().flatten().cloned());
            }
            "blip" | "imagedata" => {
                let ids = ["r:embed", "embed", "r:id", "id"];
                let picture = ids.iter().find_map(|id| self.sources.pictures.get(node.attribute(id)?));
                inline.boxes.extend(picture.into_iter().flatten().cloned());
            }
            "checkBox" => inline.checkbox = Some(ticked(node)),
            "ruby" => {
                node.nodes().filter(|part| part.name == "rubyBase").for_each(|base| self.runs(base, inline))
            }
            "del" | "moveFrom" | "instrText" | "delText" | "delInstrText" | "pPr" | "rPr" | "Fallback"
            | "docPr" => {}
            _ => self.runs(node, inline),
        }
    }

    fn control(&mut self, node: &Node, inline: &mut Inline) {
        let Some(content) = node.child("sdtContent") else { return };
        match node.child("sdtPr").and_then(|properties| properties.child("checkbox")) {
            // A box in front of its text makes the paragraph a list item; one in the middle of it stays where it is.
            Some(checkbox) if inline.text.trim().is_empty() && !self.in_cell => {
                inline.checkbox = Some(ticked(checkbox))
            }
            Some(checkbox) => inline.text.push_str(if ticked(checkbox) { "- [x] " } else { "- [ ] " }),
            None => self.runs(content, inline),
        }
    }

    fn note(&mut self, kind: NoteKind, node: &Node, inline: &mut Inline) {
        let id = node.attribute("id").unwrap_or_default().to_owned();
        let Some(text) = self.sources.notes.get(&(kind, id)).filter(|text| !text.is_empty()) else { return };
        self.note_count += 1;
        inline.text.push_str(&format!("[^{}]", self.note_count));
        self.notes.push(Block::Paragraph(format!("[^{}]: {text}", self.note_count)));
    }

    fn table(&mut self, node: &Node) {
        let mut rows = Vec::new();
        node.find_all("tr", &mut rows);
        let mut table = Table::default();
        let mut single = Vec::new();
        for row in &rows {
            let mut cells = Vec::new();
            row.find_all("tc", &mut cells);
            let mut line: Vec<String> = Vec::new();
            let before = row
                .path(&["trPr", "gridBefore"])
                .and_then(|skip| skip.attribute("val"))
                .and_then(|n| n.parse().ok());
            line.resize(columns(before.unwrap_or(0)), String::new());
            for cell in cells {
                let span = cell
                    .path(&["tcPr", "gridSpan"])
                    .and_then(|span| span.attribute("val"))
                    .and_then(|n| n.parse().ok());
                let merge = cell.path(&["tcPr", "vMerge"]);
                let continued =
                    merge.is_some_and(|merge| merge.attribute("val").unwrap_or("continue") == "continue");
                // A cell merged with the one above repeats its text, so that each row can be read alone.
                let above = if continued {
                    table.rows.last().and_then(|row: &Vec<String>| row.get(line.len()).cloned())
                } else {
                    None
                };
                let text = above.unwrap_or_else(|| {
                    single = Body::of(self.sources, cell);
                    cell_text(&single)
                });
                line.extend(std::iter::repeat_n(text, columns(span.unwrap_or(1)).max(1)));
            }
            table.rows.push(line);
        }
        match table.rows.as_slice() {
            // A table of one cell is a frame around text.
            [row] if row.len() == 1 => single.into_iter().for_each(|block| self.push(block)),
            _ => self.push(Block::Table(table)),
        }
    }
}

/// A count of columns as a file states it; Word itself allows 63.
fn columns(stated: usize) -> usize {
    stated.min(63)
}

/// The text of a cell on one line.
pub(super) fn cell_text(blocks: &[Block]) -> String {
    let mut texts = Vec::new();
    for block in blocks {
        match block {
            Block::Table(table) => {
                texts.extend(table.rows.iter().flatten().map(|cell| clean::one_line(cell)))
            }
            Block::Heading(_, text) | Block::Paragraph(text) | Block::Code(text) => {
                texts.push(clean::one_line(text))
            }
            other => {
                let mut text = String::new();
                other.write(&mut text);
                texts.push(clean::one_line(&text));
            }
        }
    }
    texts.retain(|text| !text.is_empty());
    texts.join(" ")
}

fn alternative(node: &Node) -> &Node {
    let choice = node.child("Choice");
    let fallback = node.child("Fallback");
    choice.filter(|choice| !choice.children.is_empty()).or(fallback).unwrap_or(node)
}

fn ticked(checkbox: &Node) -> bool {
    let on = |node: &Node| !matches!(node.attribute("val"), Some("0" | "false" | "off"));
    checkbox.child("checked").or_else(|| checkbox.child("default")).is_some_and(on)
}

/// A symbol by its code; fonts such as Wingdings keep theirs in the private area, where only the common ones have names.
fn symbol(node: &Node) -> Option<char> {
    let code = u32::from_str_radix(node.attribute("char")?, 16).ok()?;
    match code {
        0xf0fe | 0xf052 => Some('☒'),
        0xf0a8 | 0xf06f | 0xf0a3 => Some('☐'),
        0xf0fc => Some('✓'),
        0xf0b7 | 0xf0a7 => Some('•'),
        0xf0e0 => Some('→'),
        0xe000..=0xf8ff => None,
        _ => char::from_u32(code),
    }
}
