//! Counts the numbered lists of a Word document.

use std::collections::HashMap;

use crate::blocks::Marker;
use crate::xml;

/// Levels of one list: whether it is a bullet, and where it starts.
type Levels = HashMap<usize, (String, u32)>;

/// The lists of a document and how far each has counted.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    levels: HashMap<String, Levels>,
    counters: HashMap<(String, usize), u32>,
}

impl Numbering {
    pub(super) fn read(xml: &[u8]) -> Self {
        let root = xml::parse(xml);
        let mut shapes: HashMap<&str, Levels> = HashMap::new();
        for node in root.nodes().filter(|node| node.name == "abstractNum") {
            let levels = node.nodes().filter(|level| level.name == "lvl").filter_map(|level| {
                let at = level.attribute("ilvl")?.parse().ok()?;
                let value = |name: &str| level.child(name).and_then(|found| found.attribute("val"));
                let start = value("start").and_then(|start| start.parse().ok()).unwrap_or(1);
                Some((at, (value("numFmt").unwrap_or("decimal").to_owned(), start)))
            });
            shapes.insert(node.attribute("abstractNumId").unwrap_or_default(), levels.collect());
        }
        let mut numbering = Self::default();
        for node in root.nodes().filter(|node| node.name == "num") {
            let shape = node.child("abstractNumId").and_then(|found| found.attribute("val")).unwrap_or_default();
            let levels = shapes.get(shape).cloned().unwrap_or_default();
            numbering.levels.insert(node.attribute("numId").unwrap_or_default().to_owned(), levels);
        }
        numbering
    }

    /// The marker of the next item of a list; `None` where the list says that nothing stands there.
    pub(super) fn next(&mut self, list: &str, level: usize) -> Option<Marker> {
        // Number 0 is how a paragraph leaves the list of its style.
        if list == "0" {
            return None;
        }
        let (format, start) = self
            .levels
            .get(list)
            .and_then(|levels| levels.get(&level))
            .map_or(("bullet", 1), |(format, start)| (format.as_str(), *start));
        match format {
            "bullet" => return Some(Marker::Bullet),
            "none" => return None,
            _ => {}
        }
        let counter = self.counters.entry((list.to_owned(), level)).or_insert(start.saturating_sub(1));
        *counter = counter.saturating_add(1);
        let number = *counter;
        self.counters.retain(|(other, deeper), _| other != list || *deeper <= level);
        Some(Marker::Number(number))
    }
}
