//! Electronic books: the chapters of the spine in order, each labelled by its heading.

use std::collections::HashMap;

use engine::seams::parser::ParseFailure;

use crate::blocks::Block;
use crate::office::package::{self, Package};
use crate::xml::{self, Node};
use crate::{Job, Parsed, failure, html, pages};

/// Reads a book.
pub(crate) fn parse(bytes: &[u8], job: &Job<'_>) -> Result<Parsed, ParseFailure> {
    let mut package = Package::open(bytes, job.limits.inflated_bytes)?;
    if package.has("META-INF/rights.xml") || package.has("META-INF/license.lcpl") {
        return Err(failure::locked("the book is protected by digital rights management"));
    }
    let index = index_part(&mut package)?;
    let Some(xml) = package.read(&index)? else {
        return Err(failure::damaged("the book has no table of its parts"));
    };
    let root = xml::parse(&xml);
    let title = root.child("metadata").and_then(|data| data.find("title")).map(Node::text);
    let chapters = spine(&root, &index);
    let total = u32::try_from(chapters.len()).ok();
    let mut blocks = Vec::new();
    let mut warnings = Vec::new();
    for (chapter, done) in chapters.iter().zip(1u32..) {
        let Some(bytes) = package.read(chapter)? else {
            warnings.push(format!("the chapter {chapter:?} is missing from the book"));
            continue;
        };
        let content = html::read(&html::decode(&bytes), job.limits.nesting);
        warnings.extend(content.warnings);
        let heading = content.blocks.iter().find_map(|block| match block {
            Block::Heading(_, text) => Some(text.clone()),
            _ => None,
        });
        blocks.push(Block::Part(heading.unwrap_or_default()));
        blocks.extend(content.blocks);
        (job.progress)(done, total);
    }
    Ok(Parsed { title, pages: pages::paginate(&blocks), warnings })
}

fn index_part(package: &mut Package<'_>) -> Result<String, ParseFailure> {
    let container = package.read("META-INF/container.xml")?.map(|xml| xml::parse(&xml));
    let stated = container
        .as_ref()
        .and_then(|root| root.find("rootfile"))
        .and_then(|file| file.attribute("full-path"));
    let found = stated.map(str::to_owned).or_else(|| package.names().find(|name| name.ends_with(".opf")));
    found.ok_or_else(|| failure::damaged("the book has no table of its parts"))
}

/// The parts of the book in reading order.
fn spine(root: &Node, index: &str) -> Vec<String> {
    let manifest: HashMap<&str, &str> = root
        .child("manifest")
        .into_iter()
        .flat_map(Node::nodes)
        .filter_map(|item| Some((item.attribute("id")?, item.attribute("href")?)))
        .collect();
    root.child("spine")
        .into_iter()
        .flat_map(Node::nodes)
        .filter_map(|item| manifest.get(item.attribute("idref")?))
        .map(|href| package::resolve(index, &percent_decoded(href.split('#').next().unwrap_or_default())))
        .collect()
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code =
            if *first == b'%' { after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok()) } else { None };
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lose_their_percent_signs() {
        assert_eq!(percent_decoded("a%20b%C3%A9%zz%"), "a bé%zz%");
    }
}
