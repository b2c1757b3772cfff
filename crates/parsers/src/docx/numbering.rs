//! Counts the numbered lists and headings of a Word document.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::blocks::Marker;
use crate::xml::{self, Node};

/// One level of a list.
#[derive(Debug, Clone)]
struct Level {
    /// `decimal`, `bullet`, `lowerLetter` and so on.
    format: String,
    start: u32,
    /// How the number is written: `%1.%2` are the numbers of the first two levels.
    text: String,
}

/// A list of the document: the shape it shares with others, and where it restarts.
#[derive(Debug, Default)]
struct List {
    shape: String,
    restarts: HashMap<usize, u32>,
}

/// The lists of a document and how far each has counted.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    shapes: HashMap<String, HashMap<usize, Level>>,
    lists: HashMap<String, List>,
    counters: RefCell<Counters>,
}

/// Lists of one shape count together, as Word does, unless one restarts.
#[derive(Debug, Default)]
struct Counters {
    numbers: HashMap<(String, usize), u32>,
    restarted: HashSet<(String, usize)>,
}

/// What stands before a paragraph: the marker of an item, and a number of several levels such as `1.2`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    pub(super) marker: Marker,
    pub(super) label: Option<String>,
}

fn value<'a>(node: &'a Node, name: &str) -> Option<&'a str> {
    node.child(name).and_then(|found| found.attribute("val"))
}

fn level_of(node: &Node) -> Option<usize> {
    node.attribute("ilvl")?.parse().ok()
}

impl Numbering {
    pub(super) fn read(xml: &[u8]) -> Self {
        let root = xml::parse(xml);
        let mut numbering = Self::default();
        for node in root.nodes().filter(|node| node.name == "abstractNum") {
            let level = |node: &Node| {
                let level = Level {
                    format: value(node, "numFmt").unwrap_or("decimal").to_owned(),
                    start: value(node, "start").and_then(|start| start.parse().ok()).unwrap_or(1),
                    text: value(node, "lvlText").unwrap_or_default().to_owned(),
                };
                Some((level_of(node)?, level))
            };
            let levels = node.nodes().filter(|node| node.name == "lvl").filter_map(level).collect();
            numbering.shapes.insert(node.attribute("abstractNumId").unwrap_or_default().to_owned(), levels);
        }
        for node in root.nodes().filter(|node| node.name == "num") {
            let restarts = node.nodes().filter(|node| node.name == "lvlOverride");
            let restarts = restarts
                .filter_map(|node| Some((level_of(node)?, value(node, "startOverride")?.parse().ok()?)))
                .collect();
            let list = List { shape: value(node, "abstractNumId").unwrap_or_default().to_owned(), restarts };
            numbering.lists.insert(node.attribute("numId").unwrap_or_default().to_owned(), list);
        }
        numbering
    }

    /// What stands before the next paragraph of a list; `None` where nothing does.
    pub(super) fn next(&self, id: &str, level: usize) -> Option<Numbered> {
        // Number 0 is how a paragraph leaves the list of its style.
        if id == "0" {
            return None;
        }
        let bullet = Numbered { marker: Marker::Bullet, label: None };
        let Some(list) = self.lists.get(id) else { return Some(bullet) };
        let Some(shape) = self.shapes.get(&list.shape).and_then(|levels| levels.get(&level)) else {
            return Some(bullet);
        };
        match shape.format.as_str() {
            "bullet" => return Some(bullet),
            "none" => return None,
            _ => {}
        }
        let number = self.count(id, list, level, shape.start);
        if shape.text.matches('%').count() > 1 {
            return Some(Numbered { marker: Marker::Bullet, label: Some(self.label(list, &shape.text)) });
        }
        let label = Some(self.label(list, &shape.text)).filter(|label| !label.is_empty());
        Some(Numbered { marker: Marker::Number(number), label })
    }

    fn count(&self, id: &str, list: &List, level: usize, start: u32) -> u32 {
        let mut counters = self.counters.borrow_mut();
        let key = (list.shape.clone(), level);
        if let Some(anew) = list.restarts.get(&level)
            && counters.restarted.insert((id.to_owned(), level))
        {
            counters.numbers.insert(key.clone(), anew.saturating_sub(1));
        }
        let number = counters.numbers.entry(key).or_insert_with(|| start.saturating_sub(1));
        *number = number.saturating_add(1);
        let number = *number;
        counters.numbers.retain(|(shape, deeper), _| *shape != list.shape || *deeper <= level);
        number
    }

    /// Writes a number as its level wants it, such as `1.2.`.
    fn label(&self, list: &List, text: &str) -> String {
        let counters = self.counters.borrow();
        let mut label = text.to_owned();
        for level in 0..9usize {
            let mark = format!("%{}", level + 1);
            if !label.contains(&mark) {
                continue;
            }
            let shape = self.shapes.get(&list.shape).and_then(|levels| levels.get(&level));
            let start = shape.map_or(1, |shape| shape.start);
            let number = counters.numbers.get(&(list.shape.clone(), level)).copied().unwrap_or(start);
            let format = shape.map_or("decimal", |shape| shape.format.as_str());
            label = label.replace(&mark, &written(number, format));
        }
        label.trim().to_owned()
    }
}

fn written(number: u32, format: &str) -> String {
    let letter = || char::from(b'a' + ((number.max(1) - 1) % 26) as u8).to_string();
    match format {
        "lowerLetter" => letter(),
        "upperLetter" => letter().to_uppercase(),
        "lowerRoman" => crate::blocks::roman(number),
        "upperRoman" => crate::blocks::roman(number).to_uppercase(),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_count_and_write_their_numbers() {
        let numbering = Numbering::read(
            b"<w:numbering><w:abstractNum w:abstractNumId='0'>\
              <w:lvl w:ilvl='0'><w:start w:val='1'/><w:numFmt w:val='decimal'/><w:lvlText w:val='%1.'/></w:lvl>\
              <w:lvl w:ilvl='1'><w:start w:val='1'/><w:numFmt w:val='lowerLetter'/><w:lvlText w:val='%1.%2'/></w:lvl>\
              </w:abstractNum><w:num w:numId='4'><w:abstractNumId w:val='0'/></w:num></w:numbering>",
        );
        let next =
            |level| numbering.next("4", level).map(|next| (next.marker, next.label.unwrap_or_default()));
        assert_eq!(next(0), Some((Marker::Number(1), "1.".into())));
        assert_eq!(next(1), Some((Marker::Bullet, "1.a".into())));
        assert_eq!(next(1), Some((Marker::Bullet, "1.b".into())));
        assert_eq!(next(0), Some((Marker::Number(2), "2.".into())));
        assert_eq!(next(1), Some((Marker::Bullet, "2.a".into())));
        assert_eq!(numbering.next("0", 0), None);
    }
}
