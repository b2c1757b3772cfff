//! `PowerPoint` presentations: one slide is one page, with its tables, charts, the text of its pictures, notes and comments.

use std::collections::HashMap;

use engine::document::Page;
use engine::seams::parser::ParseFailure;

use crate::blocks::{self, Block, Marker, Table};
use crate::embedded::Pictures;
use crate::office::charts;
use crate::office::comments::comment_block;
use crate::office::package::Package;
use crate::office::relationships::{Relationship, main_part, relationships, title};
use crate::xml::{self, Node};
use crate::{Job, Parsed, clean, failure, math, pages};

/// Reads a presentation.
pub(crate) fn parse(bytes: &[u8], job: &Job<'_>) -> Result<Parsed, ParseFailure> {
    let mut package = Package::open(bytes, job.limits.inflated_bytes)?;
    let main = main_part(&mut package, "ppt/presentation.xml")?;
    let links = relationships(&mut package, &main)?;
    let Some(presentation) = package.read(&main)? else {
        return Err(failure::damaged(
            "the presentation has no slide list; open and save it again in PowerPoint",
        ));
    };
    let authors = authors(&mut package, &links)?;
    let slides = slides(&xml::parse(&presentation), &links);
    let total = u32::try_from(slides.len()).ok();
    let mut pages = Vec::new();
    let mut pictures = Pictures::new(job);
    for (slide, done) in slides.iter().zip(1u32..) {
        pages.push(match package.read(slide)? {
            Some(xml) => page(&mut package, slide, &xml, &authors, &mut pictures)?,
            None => {
                let mut page = pages::page("", "", 0);
                page.warnings.push("the slide is missing from the file".into());
                page
            }
        });
        (job.progress)(done, total);
    }
    Ok(Parsed { title: title(&mut package), pages, warnings: Vec::new() })
}

/// The parts of the slides in the order of the show.
fn slides(presentation: &Node, links: &[Relationship]) -> Vec<String> {
    let mut ids = Vec::new();
    presentation.find_all("sldId", &mut ids);
    let target = |id: &Node| {
        let id = id.attribute("r:id").or_else(|| id.attribute("id"))?;
        links.iter().find(|link| link.id == id).map(|link| link.target.clone())
    };
    ids.into_iter().filter_map(target).collect()
}

fn authors(
    package: &mut Package<'_>,
    links: &[Relationship],
) -> Result<HashMap<String, String>, ParseFailure> {
    let mut authors = HashMap::new();
    for link in links.iter().filter(|link| link.kind == "commentAuthors" || link.kind == "authors") {
        let Some(xml) = package.read(&link.target)? else { continue };
        for author in xml::parse(&xml).nodes() {
            if let (Some(id), Some(name)) = (author.attribute("id"), author.attribute("name")) {
                authors.insert(id.to_owned(), name.to_owned());
            }
        }
    }
    Ok(authors)
}

fn page(
    package: &mut Package<'_>,
    part: &str,
    xml: &[u8],
    authors: &HashMap<String, String>,
    pictures: &mut Pictures<'_>,
) -> Result<Page, ParseFailure> {
    let links = relationships(package, part)?;
    let root = xml::parse(xml);
    let mut slide = Slide { package, links: &links, pictures, blocks: Vec::new(), title: None };
    if let Some(tree) = root.find("spTree") {
        slide.shapes(tree)?;
    }
    let Slide { mut blocks, title, .. } = slide;
    // The title is often drawn last; read aloud, it comes first.
    if let Some(title) = &title
        && let Some(at) =
            blocks.iter().position(|block| matches!(block, Block::Heading(1, text) if text == title))
    {
        let heading = blocks.remove(at);
        blocks.insert(0, heading);
    }
    for link in links.iter().filter(|link| link.kind == "notesSlide") {
        if let Some(xml) = package.read(&link.target)? {
            let notes = notes(&xml::parse(&xml));
            if !notes.is_empty() {
                blocks.push(Block::Paragraph("Notes:".into()));
                blocks.extend(notes);
            }
        }
    }
    for link in links.iter().filter(|link| link.kind == "comments" || link.kind == "comment") {
        if let Some(xml) = package.read(&link.target)? {
            comments(&xml::parse(&xml), authors, &mut blocks);
        }
    }
    let tables = blocks.iter().filter(|block| matches!(block, Block::Table(_))).count();
    let text = blocks::markdown(&blocks);
    Ok(pages::page(&title.unwrap_or_default(), &text, u32::try_from(tables).unwrap_or(u32::MAX)))
}

struct Slide<'a, 'b, 'c> {
    package: &'a mut Package<'b>,
    links: &'a [Relationship],
    pictures: &'a mut Pictures<'c>,
    blocks: Vec<Block>,
    title: Option<String>,
}

impl Slide<'_, '_, '_> {
    fn shapes(&mut self, node: &Node) -> Result<(), ParseFailure> {
        for shape in node.nodes() {
            match shape.name.as_str() {
                "sp" => self.shape(shape),
                "graphicFrame" => self.graphic(shape)?,
                "pic" => self.picture(shape),
                "grpSp" => self.shapes(shape)?,
                "AlternateContent" => {
                    let choice = shape.child("Choice").filter(|choice| !choice.children.is_empty());
                    self.shapes(choice.or_else(|| shape.child("Fallback")).unwrap_or(shape))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn shape(&mut self, shape: &Node) {
        let Some(body) = shape.child("txBody") else { return };
        let placeholder = shape.find("nvPr").and_then(|properties| properties.child("ph"));
        match placeholder.map(|holder| holder.attribute("type").unwrap_or("obj")) {
            Some("title" | "ctrTitle") => {
                let text = clean::one_line(&plain(body));
                if !text.is_empty() {
                    self.title.get_or_insert_with(|| text.clone());
                    self.blocks.push(Block::Heading(1, text));
                }
            }
            Some("sldNum" | "dt" | "hdr") => {}
            Some("subTitle" | "ftr") | None => self.blocks.extend(paragraphs(body, false)),
            Some(_) => self.blocks.extend(paragraphs(body, true)),
        }
    }

    fn graphic(&mut self, frame: &Node) -> Result<(), ParseFailure> {
        if let Some(table) = frame.find("tbl") {
            self.blocks.push(Block::Table(read_table(table)));
        } else if let Some(reference) = frame.find("chart") {
            let part = self.target(reference.attribute("r:id").or_else(|| reference.attribute("id")));
            if let Some(xml) = part.map(|part| self.package.read(&part)).transpose()?.flatten() {
                self.blocks.extend(charts::blocks(&xml));
            }
        } else if let Some(diagram) = frame.find("relIds") {
            let part = self.target(diagram.attribute("r:dm").or_else(|| diagram.attribute("dm")));
            if let Some(xml) = part.map(|part| self.package.read(&part)).transpose()?.flatten() {
                let root = xml::parse(&xml);
                let mut texts = Vec::new();
                root.find_all("t", &mut texts);
                for text in texts.iter().flat_map(|text| text.nodes().filter(|node| node.name == "p")) {
                    self.blocks.push(item(0, Marker::Bullet, &line(text)));
                }
            }
        }
        Ok(())
    }

    fn picture(&mut self, shape: &Node) {
        let id =
            shape.find("blip").and_then(|blip| blip.attribute("r:embed").or_else(|| blip.attribute("embed")));
        if let Some(part) = self.target(id) {
            self.blocks.extend(self.pictures.blocks(self.package, &part));
        }
    }

    fn target(&self, id: Option<&str>) -> Option<String> {
        self.links.iter().find(|link| Some(link.id.as_str()) == id).map(|link| link.target.clone())
    }
}

fn item(depth: usize, marker: Marker, text: &str) -> Block {
    Block::Item { depth, marker, text: text.to_owned() }
}

/// The paragraphs of a text body. Placeholders for body text show bullets unless a paragraph says otherwise.
fn paragraphs(body: &Node, bullets: bool) -> Vec<Block> {
    let all: Vec<&Node> = body.nodes().filter(|node| node.name == "p").collect();
    let filled = all.iter().filter(|node| !line(node).trim().is_empty()).count();
    let mut numbers: HashMap<usize, u32> = HashMap::new();
    let mut blocks = Vec::new();
    for paragraph in all {
        let text = line(paragraph);
        if text.trim().is_empty() {
            continue;
        }
        let properties = paragraph.child("pPr");
        let has = |name: &str| properties.is_some_and(|found| found.child(name).is_some());
        let depth = properties
            .and_then(|found| found.attribute("lvl"))
            .and_then(|level| level.parse().ok())
            .unwrap_or(0);
        let bulleted = has("buChar") || has("buBlip") || (bullets && filled > 1 && !has("buNone"));
        if has("buAutoNum") {
            let number = numbers.entry(depth).or_insert(0);
            *number += 1;
            blocks.push(item(depth, Marker::Number(*number), &text));
            numbers.retain(|level, _| *level <= depth);
        } else {
            numbers.clear();
            blocks.push(if bulleted { item(depth, Marker::Bullet, &text) } else { Block::Paragraph(text) });
        }
    }
    blocks
}

/// The text of one paragraph.
fn line(paragraph: &Node) -> String {
    let mut out = String::new();
    push_line(paragraph, &mut out);
    out
}

fn push_line(node: &Node, out: &mut String) {
    for child in node.nodes() {
        match child.name.as_str() {
            "t" => out.push_str(&child.text()),
            "br" => out.push('\n'),
            "tab" => out.push('\t'),
            "oMath" => out.push_str(&format!("${}$", math::latex(child))),
            "pPr" | "rPr" | "endParaRPr" | "Fallback" => {}
            _ => push_line(child, out),
        }
    }
}

fn plain(body: &Node) -> String {
    body.nodes().filter(|node| node.name == "p").map(line).collect::<Vec<_>>().join("\n")
}

/// A table; merged cells repeat their text, so that each row can be read alone.
fn read_table(node: &Node) -> Table {
    let on = |cell: &Node, name: &str| matches!(cell.attribute(name), Some("1" | "true"));
    let mut table = Table::default();
    for row in node.nodes().filter(|row| row.name == "tr") {
        let mut line: Vec<String> = Vec::new();
        for cell in row.nodes().filter(|cell| cell.name == "tc") {
            let above = table.rows.last().and_then(|row: &Vec<String>| row.get(line.len()));
            let text = if on(cell, "hMerge") {
                line.last().cloned()
            } else if on(cell, "vMerge") {
                above.cloned()
            } else {
                cell.child("txBody").map(plain)
            };
            line.push(text.unwrap_or_default());
        }
        table.rows.push(line);
    }
    table
}

/// The speaker's notes: the body placeholder of the notes page, not the slide number or the date.
fn notes(root: &Node) -> Vec<Block> {
    let mut shapes = Vec::new();
    root.find_all("sp", &mut shapes);
    let body = |shape: &&&Node| {
        let holder = shape.find("nvPr").and_then(|properties| properties.child("ph"));
        holder.is_some_and(|holder| holder.attribute("type") == Some("body"))
    };
    shapes
        .iter()
        .filter(body)
        .filter_map(|shape| shape.child("txBody"))
        .flat_map(|body| paragraphs(body, false))
        .collect()
}

fn comments(root: &Node, authors: &HashMap<String, String>, blocks: &mut Vec<Block>) {
    for comment in root.nodes().filter(|node| node.name == "cm" || node.name == "reply") {
        let text = match comment.child("text") {
            Some(text) => text.text(),
            None => comment.child("txBody").map(plain).unwrap_or_default(),
        };
        let author = comment.attribute("authorId").and_then(|id| authors.get(id));
        let date = comment.attribute("dt").or_else(|| comment.attribute("created")).unwrap_or_default();
        blocks.push(comment_block(author.map(String::as_str), date, &text));
        if let Some(replies) = comment.child("replyLst") {
            comments(replies, authors, blocks);
        }
    }
}
