//! Word documents: paragraphs, lists, tables, notes, text boxes, comments, equations and the text of pictures in reading order.

mod body;
mod numbering;
mod styles;

use std::ops::ControlFlow;

use engine::seams::parser::ParseFailure;

use crate::blocks::Block;
use crate::office::package::Package;
use crate::office::relationships::{Relationship, main_part, relationships, title};
use crate::xml;
use crate::{Job, Parsed, failure, pages};

use body::{Body, Sources};

/// Reads a Word document.
pub(crate) fn parse(bytes: &[u8], job: &Job<'_>) -> Result<Parsed, ParseFailure> {
    let mut package = Package::open(bytes, job.limits.inflated_bytes)?;
    let main = main_part(&mut package, "word/document.xml")?;
    let links = relationships(&mut package, &main)?;
    let Some(document) = package.read(&main)? else {
        return Err(failure::damaged("the Word document has no text part; open and save it again in Word"));
    };
    let mut sources = Sources::read(&mut package, &links)?;
    let mut blocks = margins(&mut package, &links, "header", &sources)?;
    let mut after = margins(&mut package, &links, "footer", &sources)?;
    after.extend(comments(&mut package, &links, &sources)?);
    // Only now, because the other parts name their own pictures alike.
    sources.read_pictures(&mut package, &links, job);
    let mut body = Body::new(&sources);
    xml::each_child(&document, "body", |node| {
        body.block(&node);
        ControlFlow::Continue(())
    });
    drop(document);
    blocks.extend(body.finish());
    blocks.extend(after);
    Ok(Parsed { title: title(&mut package), pages: pages::paginate(&blocks), warnings: Vec::new() })
}

/// Headers or footers, each distinct text once: they say what the document is, but not on every page.
fn margins(
    package: &mut Package<'_>,
    links: &[Relationship],
    kind: &str,
    sources: &Sources,
) -> Result<Vec<Block>, ParseFailure> {
    let mut blocks: Vec<Block> = Vec::new();
    for link in links.iter().filter(|link| link.kind == kind) {
        let Some(xml) = package.read(&link.target)? else { continue };
        let mut body = Body::new(sources);
        body.children(&xml::parse(&xml));
        for block in body.finish() {
            let block = match block {
                Block::Heading(_, text) => Block::Paragraph(text),
                other => other,
            };
            // "Page 3 of 7" says nothing about the document.
            let only_number = matches!(&block, Block::Paragraph(text)
                if text.split_whitespace().all(|word| word.len() < 5 || !word.chars().any(char::is_alphabetic)));
            if !only_number && !block.is_empty() && block != Block::PageBreak && !blocks.contains(&block) {
                blocks.push(block);
            }
        }
    }
    Ok(blocks)
}

/// Comments with their authors, after the text they are about.
fn comments(
    package: &mut Package<'_>,
    links: &[Relationship],
    sources: &Sources,
) -> Result<Vec<Block>, ParseFailure> {
    let mut blocks = Vec::new();
    for link in links.iter().filter(|link| link.kind == "comments") {
        let Some(xml) = package.read(&link.target)? else { continue };
        for comment in xml::parse(&xml).nodes().filter(|node| node.name == "comment") {
            let text = body::cell_text(&Body::of(sources, comment));
            if text.is_empty() {
                continue;
            }
            let author = comment.attribute("author").filter(|author| !author.trim().is_empty());
            blocks.push(Block::Paragraph(match author {
                Some(author) => format!("[Comment by {author}: {text}]"),
                None => format!("[Comment: {text}]"),
            }));
        }
    }
    Ok(blocks)
}
