//! Reads tables of web pages, with cells that span rows and columns.

use ego_tree::NodeRef;
use scraper::Node;

use super::walk::Walk;
use crate::blocks::{Block, Table};
use crate::clean;

/// Spans beyond these are mistakes or malice; browsers cut them at 1,000 columns too.
const WIDEST_SPAN: usize = 200;
const TALLEST_SPAN: usize = 2_000;
/// Cells of one table, spans included.
const MOST_CELLS: usize = 2_000_000;

fn named<'a>(node: NodeRef<'a, Node>, names: &[&str]) -> bool {
    node.value().as_element().is_some_and(|element| names.contains(&element.name()))
}

/// The rows of this table, not of tables inside it.
fn rows<'a>(node: NodeRef<'a, Node>) -> Vec<NodeRef<'a, Node>> {
    let mut rows = Vec::new();
    for child in node.children() {
        if named(child, &["tr"]) {
            rows.push(child);
        } else if named(child, &["thead", "tbody", "tfoot"]) {
            rows.extend(child.children().filter(|row| named(*row, &["tr"])));
        }
    }
    rows
}

/// Whether a table only arranges parts of the page: one cell, or tables within it.
pub(super) fn is_layout(node: NodeRef<'_, Node>) -> bool {
    let rows = rows(node);
    let cells = |row: &NodeRef<'_, Node>| row.children().filter(|cell| named(*cell, &["td", "th"])).count();
    let single = rows.iter().map(cells).max().unwrap_or(0) <= 1 && rows.len() <= 1;
    let nested = node.descendants().skip(1).any(|inner| named(inner, &["table"]));
    let role = node.value().as_element().and_then(|element| element.attr("role"));
    let headed = rows.iter().flat_map(|row| row.children()).any(|cell| named(cell, &["th"]));
    single || matches!(role, Some("presentation" | "none")) || (nested && !headed)
}

/// Reads a table; a spanning cell repeats its text, so that each row can be read alone.
pub(super) fn read(node: NodeRef<'_, Node>, nesting: usize, depth: usize) -> Table {
    let mut table = Table::default();
    // Text that still reaches down from rows above: column, rows left, text.
    let mut reaching: Vec<(usize, usize, String)> = Vec::new();
    let mut count = 0;
    for row in rows(node) {
        let mut line: Vec<Option<String>> = Vec::new();
        for (column, left, text) in &mut reaching {
            place(&mut line, *column, text.clone());
            *left -= 1;
        }
        reaching.retain(|(_, left, _)| *left > 0);
        let mut at = 0;
        for cell in row.children().filter(|cell| named(*cell, &["td", "th"])) {
            let span = |name: &str, most: usize| {
                let stated = cell.value().as_element().and_then(|element| element.attr(name));
                stated.and_then(|span| span.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, most)
            };
            let (columns, down) = (span("colspan", WIDEST_SPAN), span("rowspan", TALLEST_SPAN));
            let text = cell_text(cell, nesting, depth);
            for _ in 0..columns {
                while line.get(at).is_some_and(Option::is_some) {
                    at += 1;
                }
                place(&mut line, at, text.clone());
                if down > 1 {
                    reaching.push((at, down - 1, text.clone()));
                }
            }
        }
        count += line.len();
        if count > MOST_CELLS {
            break;
        }
        table.rows.push(line.into_iter().map(Option::unwrap_or_default).collect());
    }
    table
}

fn place(line: &mut Vec<Option<String>>, at: usize, text: String) {
    if line.len() <= at {
        line.resize(at + 1, None);
    }
    line[at] = Some(text);
}

fn cell_text(cell: NodeRef<'_, Node>, nesting: usize, depth: usize) -> String {
    let mut walk = Walk::new(nesting);
    walk.children(cell, depth + 1);
    let (_, blocks) = walk.finish();
    let mut texts = Vec::new();
    for block in blocks {
        match block {
            Block::Heading(_, text) | Block::Paragraph(text) | Block::Code(text) => {
                texts.push(clean::one_line(&text))
            }
            Block::Table(table) => {
                texts.extend(table.rows.iter().flatten().map(|text| clean::one_line(text)))
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
