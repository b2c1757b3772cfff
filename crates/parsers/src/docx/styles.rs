//! What the styles of a Word document mean for structure: headings, lists, code.

use std::collections::HashMap;

use crate::xml::{self, Node};

/// What one style says about the paragraphs that wear it.
#[derive(Debug, Clone, Default)]
pub(super) struct Style {
    name: String,
    based_on: Option<String>,
    outline: Option<u8>,
    list: Option<(String, usize)>,
}

/// All styles of a document, by their id.
#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

impl Styles {
    pub(super) fn read(xml: &[u8]) -> Self {
        let root = xml::parse(xml);
        let mut styles = HashMap::new();
        for node in root.nodes().filter(|node| node.name == "style") {
            let Some(id) = node.attribute("styleId") else { continue };
            let value = |names: &[&str]| node.path(names).and_then(|found| found.attribute("val"));
            let number = value(&["pPr", "numPr", "numId"]).map(str::to_owned);
            let level = value(&["pPr", "numPr", "ilvl"]).and_then(|level| level.parse().ok()).unwrap_or(0);
            styles.insert(
                id.to_owned(),
                Style {
                    name: value(&["name"]).unwrap_or_default().to_lowercase(),
                    based_on: value(&["basedOn"]).map(str::to_owned),
                    outline: value(&["pPr", "outlineLvl"]).and_then(|level| level.parse().ok()),
                    list: number.map(|number| (number, level)),
                },
            );
        }
        Self(styles)
    }

    /// The styles from the named one to the one it is finally based on.
    fn lineage<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a Style> {
        /// Styles of real templates build on each other three or four times; a loop must end.
        const LONGEST: usize = 16;
        let first = self.0.get(id);
        std::iter::successors(first, |style| self.0.get(style.based_on.as_deref()?)).take(LONGEST)
    }

    /// The heading level of a style, from 1; `None` for body text.
    pub(super) fn heading(&self, id: &str) -> Option<u8> {
        if !self.0.contains_key(id) {
            // Files made by programs often use the usual ids without defining them.
            return by_name(&id.to_lowercase().replace("heading", "heading "));
        }
        self.lineage(id).find_map(|style| {
            by_name(&style.name).or_else(|| style.outline.filter(|level| *level < 9).map(|level| level + 1))
        })
    }

    /// The list a style belongs to: its number and level.
    pub(super) fn list(&self, id: &str) -> Option<(&str, usize)> {
        self.lineage(id)
            .find_map(|style| style.list.as_ref())
            .map(|(number, level)| (number.as_str(), *level))
    }

    /// Whether the style is a bullet or number style without numbering of its own.
    pub(super) fn names_list(&self, id: &str) -> bool {
        self.lineage(id)
            .any(|style| style.name.starts_with("list bullet") || style.name.starts_with("list number"))
    }

    /// Whether text in this style is code.
    pub(super) fn code(&self, id: &str) -> bool {
        let telling = |name: &str| {
            ["code", "source code", "html preformatted", "preformatted text", "code block"].contains(&name)
        };
        self.lineage(id).any(|style| telling(&style.name))
    }
}

fn by_name(name: &str) -> Option<u8> {
    match name.trim() {
        "title" => Some(1),
        "subtitle" => Some(2),
        other => other.strip_prefix("heading ")?.trim().parse().ok().filter(|level| (1..=9).contains(level)),
    }
}

/// The properties of a paragraph that say what it is.
pub(super) struct Wear<'a> {
    pub(super) style: &'a str,
    pub(super) list: Option<(&'a str, usize)>,
    pub(super) outline: Option<u8>,
    pub(super) page_break_before: bool,
}

impl<'a> Wear<'a> {
    pub(super) fn of(paragraph: &'a Node) -> Self {
        let properties = paragraph.child("pPr");
        let value = |names: &[&str]| properties?.path(names)?.attribute("val");
        let level = value(&["numPr", "ilvl"]).and_then(|level| level.parse().ok());
        Self {
            style: value(&["pStyle"]).unwrap_or_default(),
            list: value(&["numPr", "numId"]).map(|number| (number, level.unwrap_or(0))),
            outline: value(&["outlineLvl"]).and_then(|level| level.parse().ok()),
            page_break_before: properties
                .and_then(|all| all.child("pageBreakBefore"))
                .is_some_and(|on| !matches!(on.attribute("val"), Some("0" | "false" | "off"))),
        }
    }
}
