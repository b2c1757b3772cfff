//! Reads XML into small trees: local names, no entity expansion, bounded depth.
//!
//! Large parts are read one child at a time with [`each_child`], so that only one paragraph or table is held as a tree.

use std::ops::ControlFlow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Deeper elements are dropped, their text stays with the deepest kept ancestor. No office program nests deeper, and
/// readers of these trees may recurse safely.
const DEEPEST: usize = 160;

/// An element, by its local name.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Child>,
}

/// What an element holds.
#[derive(Debug)]
pub(crate) enum Child {
    Node(Node),
    Text(String),
}

impl Node {
    /// The value of an attribute by its local name; a name with a prefix (`r:id`) asks for that prefix.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let local = |key: &str| key.rsplit(':').next().unwrap_or(key).to_owned();
        let matches = |key: &str| if name.contains(':') { key == name } else { local(key) == name };
        self.attributes.iter().find(|(key, _)| matches(key)).map(|(_, value)| value.as_str())
    }

    /// The elements directly inside.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|child| match child {
            Child::Node(node) => Some(node),
            Child::Text(_) => None,
        })
    }

    /// The first element of this name directly inside.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.nodes().find(|node| node.name == name)
    }

    /// Follows names downwards from here.
    pub(crate) fn path(&self, names: &[&str]) -> Option<&Self> {
        names.iter().try_fold(self, |node, name| node.child(name))
    }

    /// The first element of this name anywhere inside.
    pub(crate) fn find(&self, name: &str) -> Option<&Self> {
        self.nodes().find_map(|node| if node.name == name { Some(node) } else { node.find(name) })
    }

    /// All outermost elements of this name anywhere inside.
    pub(crate) fn find_all<'a>(&'a self, name: &str, found: &mut Vec<&'a Self>) {
        for node in self.nodes() {
            if node.name == name {
                found.push(node);
            } else {
                node.find_all(name, found);
            }
        }
    }

    /// All text inside.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        self.push_text(&mut out);
        out
    }

    fn push_text(&self, out: &mut String) {
        for child in &self.children {
            match child {
                Child::Node(node) => node.push_text(out),
                Child::Text(text) => out.push_str(text),
            }
        }
    }
}

/// Reads a whole part into a tree; damaged XML gives what came before the damage.
pub(crate) fn parse(xml: &[u8]) -> Node {
    let mut root = Node::default();
    read(xml, None, &mut |node| {
        root = node;
        ControlFlow::Break(())
    });
    root
}

/// Hands each child element of the first `parent` element to `take`, one at a time, until it breaks.
pub(crate) fn each_child(xml: &[u8], parent: &str, mut take: impl FnMut(Node) -> ControlFlow<()>) {
    read(xml, Some(parent), &mut take);
}

fn read(xml: &[u8], parent: Option<&str>, take: &mut dyn FnMut(Node) -> ControlFlow<()>) {
    // XML is UTF-8 unless it says otherwise; UTF-16 and worse exist in the wild.
    let decoded;
    let xml = match std::str::from_utf8(xml) {
        Ok(text) => text,
        Err(_) => {
            decoded = crate::text::decode(xml).text;
            &decoded
        }
    };
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    let mut inside = parent.is_none();
    let mut stack: Vec<Node> = Vec::new();
    let mut dropped = 0usize;
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                if !inside {
                    inside = Some(local_name(&start).as_str()) == parent;
                } else if stack.len() >= DEEPEST {
                    dropped += 1;
                } else {
                    stack.push(element(&start));
                }
            }
            Ok(Event::Empty(start)) if inside && stack.len() < DEEPEST => {
                if close(&mut stack, element(&start), take).is_break() {
                    return;
                }
            }
            Ok(Event::End(_)) if inside => {
                if dropped > 0 {
                    dropped -= 1;
                } else if let Some(node) = stack.pop() {
                    if close(&mut stack, node, take).is_break() {
                        return;
                    }
                } else {
                    return;
                }
            }
            Ok(Event::Text(text)) => push_text(&mut stack, &text),
            Ok(Event::CData(text)) => push_text(&mut stack, &text),
            Ok(Event::GeneralRef(reference)) => push_text(&mut stack, &entity(&reference)),
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    // Damaged or cut XML: what was open is closed, so that the text before the damage is kept.
    while let Some(node) = stack.pop() {
        if close(&mut stack, node, take).is_break() {
            return;
        }
    }
}

fn close(stack: &mut [Node], node: Node, take: &mut dyn FnMut(Node) -> ControlFlow<()>) -> ControlFlow<()> {
    match stack.last_mut() {
        Some(parent) => {
            parent.children.push(Child::Node(node));
            ControlFlow::Continue(())
        }
        None => take(node),
    }
}

fn push_text(stack: &mut [Node], text: &str) {
    let Some(node) = stack.last_mut() else { return };
    if let Some(Child::Text(before)) = node.children.last_mut() {
        before.push_str(text);
    } else {
        node.children.push(Child::Text(text.to_owned()));
    }
}

fn local_name(start: &BytesStart<'_>) -> String {
    start.local_name().as_ref().to_owned()
}

fn element(start: &BytesStart<'_>) -> Node {
    let attributes = start
        .attributes()
        .with_checks(false)
        .flatten()
        .map(|attribute| {
            let key = attribute.key.as_ref().to_owned();
            (key, unescape(&attribute.value))
        })
        .collect();
    Node { name: local_name(start), attributes, children: Vec::new() }
}

fn unescape(value: &str) -> String {
    if !value.contains('&') {
        return value.to_owned();
    }
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        match rest[at..].find(';') {
            Some(end) => {
                out.push_str(&entity(&rest[at + 1..at + end]));
                rest = &rest[at + end + 1..];
            }
            None => {
                out.push_str(&rest[at..]);
                rest = "";
            }
        }
    }
    out.push_str(rest);
    out
}

/// The text of a reference. Entities a document defines itself are never expanded: that is how laughs multiply.
fn entity(name: &str) -> String {
    let numeric = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    let character = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => match name.strip_prefix('#') {
            Some(digits) => match digits.strip_prefix(['x', 'X']) {
                Some(digits) => numeric(digits, 16),
                None => numeric(digits, 10),
            },
            None => None,
        },
    };
    character.map(String::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_keeps_names_attributes_and_text() {
        let node =
            parse(br#"<?xml version="1.0"?><w:a x:k="1 &amp; 2"><b>one</b> &#x41;<![CDATA[<two>]]></w:a>"#);
        assert_eq!(node.name, "a");
        assert_eq!(node.attribute("k"), Some("1 & 2"));
        assert_eq!(node.text(), "one A<two>");
    }

    #[test]
    fn own_entities_are_not_expanded() {
        let node = parse(br#"<!DOCTYPE a [<!ENTITY b "boom">]><a>x&b;y</a>"#);
        assert_eq!(node.text(), "xy");
    }

    #[test]
    fn children_come_one_at_a_time_and_damage_keeps_what_came_before() {
        let mut seen = Vec::new();
        each_child(b"<doc><body><p>1</p><q/><p>2</p><p>3<r>4", "body", |node| {
            seen.push(format!("{}{}", node.name, node.text()));
            ControlFlow::Continue(())
        });
        assert_eq!(seen, ["p1", "q", "p2", "p34"]);
    }

    #[test]
    fn deep_nesting_is_flattened() {
        let deep = format!("{}text{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
        assert_eq!(parse(deep.as_bytes()).text(), "text");
    }
}
