//! Walks the tree of a web page and gives its blocks.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use super::table;
use crate::blocks::{Block, Marker};

/// A list that is open, and where its next item starts.
struct List {
    next: Option<u32>,
}

/// The blocks so far and the text of the block that is open.
pub(super) struct Walk {
    pub(super) blocks: Vec<Block>,
    title: Option<String>,
    text: String,
    /// The item whose first text is still to come.
    item: Option<(usize, Marker)>,
    lists: Vec<List>,
    nesting: usize,
}

impl Walk {
    pub(super) fn new(nesting: usize) -> Self {
        Self { blocks: Vec::new(), title: None, text: String::new(), item: None, lists: Vec::new(), nesting }
    }

    pub(super) fn finish(mut self) -> (Option<String>, Vec<Block>) {
        self.flush();
        (self.title, self.blocks)
    }

    /// Ends the open block.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return;
        }
        self.blocks.push(match self.item.take() {
            Some((depth, marker)) => Block::Item { depth, marker, text },
            None => Block::Paragraph(text),
        });
    }

    fn push(&mut self, block: Block) {
        self.flush();
        self.blocks.push(block);
    }

    pub(super) fn children(&mut self, node: NodeRef<'_, Node>, depth: usize) {
        for child in node.children() {
            self.node(child, depth + 1);
        }
    }

    pub(super) fn node(&mut self, node: NodeRef<'_, Node>, depth: usize) {
        match node.value() {
            Node::Text(text) => self.words(text),
            Node::Element(element) if depth > self.nesting * 4 => {
                // Beyond the cap the markup is no longer followed, the text is.
                let _ = element;
                for text in node.descendants().filter_map(|inner| inner.value().as_text()) {
                    self.words(text);
                }
            }
            Node::Element(element) => self.element(node, element, depth),
            Node::Document | Node::Fragment => self.children(node, depth),
            _ => {}
        }
    }

    /// Adds words, with white space collapsed as browsers do.
    fn words(&mut self, text: &str) {
        if text.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.space();
        }
        let mut first = true;
        for word in text.split_ascii_whitespace() {
            if !first {
                self.text.push(' ');
            }
            self.text.push_str(word);
            first = false;
        }
        if !first && text.ends_with(|c: char| c.is_ascii_whitespace()) {
            self.space();
        }
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn element(&mut self, node: NodeRef<'_, Node>, element: &Element, depth: usize) {
        if hidden(element) {
            return;
        }
        match element.name() {
            "script" | "style" | "template" | "noscript" | "svg" | "iframe" | "canvas" | "audio"
            | "video" | "datalist" => {}
            "head" => self.children(node, depth),
            "title" => {
                let text: String = node
                    .descendants()
                    .filter_map(|inner| inner.value().as_text())
                    .map(|text| &**text)
                    .collect();
                self.title.get_or_insert(text);
            }
            "meta" | "link" | "base" => {}
            "br" => self.text.push('\n'),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(node, element, depth),
            "ul" | "ol" | "menu" => self.list(node, element, depth),
            "li" => self.list_item(node, depth),
            "table" => self.table(node, depth),
            "pre" | "listing" => {
                let mut text = String::new();
                for inner in node.descendants() {
                    match inner.value() {
                        Node::Text(words) => text.push_str(words),
                        Node::Element(element) if element.name() == "br" => text.push('\n'),
                        _ => {}
                    }
                }
                self.push(Block::Code(text));
            }
            "math" => {
                let formula = element.attr("alttext").map(|text| format!("${text}$"));
                match formula {
                    Some(formula) => self.text.push_str(&formula),
                    None => self.children(node, depth),
                }
            }
            "input" => self.input(element),
            "img" => {}
            "td" | "th" => {
                self.children(node, depth);
                self.space();
            }
            name if is_block(name) => {
                self.flush();
                self.children(node, depth);
                self.flush();
            }
            _ => self.children(node, depth),
        }
    }

    fn heading(&mut self, node: NodeRef<'_, Node>, element: &Element, depth: usize) {
        self.flush();
        let level = element.name().as_bytes()[1] - b'0';
        let mut inner = Self::new(self.nesting);
        inner.children(node, depth);
        let (_, blocks) = inner.finish();
        for block in blocks {
            self.blocks.push(match block {
                Block::Paragraph(text) => Block::Heading(level, text),
                other => other,
            });
        }
    }

    fn list(&mut self, node: NodeRef<'_, Node>, element: &Element, depth: usize) {
        self.flush();
        let start = element.attr("start").and_then(|start| start.parse().ok()).unwrap_or(1);
        self.lists.push(List { next: (element.name() == "ol").then_some(start) });
        self.children(node, depth);
        self.flush();
        self.lists.pop();
    }

    fn list_item(&mut self, node: NodeRef<'_, Node>, depth: usize) {
        self.flush();
        let level = self.lists.len().saturating_sub(1);
        let marker = match self.lists.last_mut() {
            Some(List { next: Some(next) }) => {
                let number = *next;
                *next = next.saturating_add(1);
                Marker::Number(number)
            }
            _ => Marker::Bullet,
        };
        self.item = Some((level, marker));
        self.children(node, depth);
        self.flush();
        self.item = None;
    }

    fn input(&mut self, element: &Element) {
        match element.attr("type") {
            Some("checkbox") => {
                let mark = if element.attr("checked").is_some() { "[x] " } else { "[ ] " };
                self.text.push_str(mark);
            }
            Some("text" | "email" | "number" | "date" | "tel" | "url") | None => {
                if let Some(value) = element.attr("value") {
                    self.space();
                    self.words(value);
                    self.space();
                }
            }
            _ => {}
        }
    }

    fn table(&mut self, node: NodeRef<'_, Node>, depth: usize) {
        self.flush();
        let item = self.item.take();
        if table::is_layout(node) {
            self.children(node, depth);
            self.flush();
        } else {
            let caption = node
                .descendants()
                .find(|inner| inner.value().as_element().is_some_and(|e| e.name() == "caption"));
            if let Some(caption) = caption {
                self.children(caption, depth);
                self.flush();
            }
            let read = table::read(node, self.nesting, depth);
            self.push(Block::Table(read));
        }
        self.item = item;
    }
}

fn hidden(element: &Element) -> bool {
    if element.attr("hidden").is_some_and(|value| value != "until-found") {
        return true;
    }
    let style = element.attr("style").unwrap_or_default().to_ascii_lowercase();
    let style: String = style.split_ascii_whitespace().collect();
    style.contains("display:none") || style.contains("visibility:hidden")
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "html"
            | "body"
            | "p"
            | "div"
            | "section"
            | "article"
            | "main"
            | "header"
            | "footer"
            | "nav"
            | "aside"
            | "address"
            | "blockquote"
            | "center"
            | "dl"
            | "dt"
            | "dd"
            | "fieldset"
            | "legend"
            | "figure"
            | "figcaption"
            | "form"
            | "hr"
            | "details"
            | "summary"
            | "tr"
            | "tbody"
            | "thead"
            | "tfoot"
            | "caption"
            | "hgroup"
            | "dialog"
            | "search"
            | "option"
            | "optgroup"
            | "select"
            | "object"
            | "frameset"
            | "noframes"
            | "dir"
    )
}
