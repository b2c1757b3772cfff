//! Reads the data of charts in Office documents as a table.

use crate::blocks::{Block, Table};
use crate::xml::{self, Node};

/// The title and the table of a chart part.
pub(crate) fn blocks(xml: &[u8]) -> Vec<Block> {
    let root = xml::parse(xml);
    let Some(chart) = root.find("chart") else { return Vec::new() };
    let mut blocks = Vec::new();
    if let Some(title) = chart.child("title") {
        let mut texts = Vec::new();
        title.find_all("t", &mut texts);
        blocks.push(Block::Paragraph(texts.iter().map(|text| text.text()).collect()));
    }
    let mut series = Vec::new();
    chart.find_all("ser", &mut series);
    let categories = series.iter().find_map(|one| one.child("cat").or_else(|| one.child("xVal"))).map(points);
    let categories = categories.unwrap_or_default();
    let mut rows = vec![vec![String::new()]];
    let columns: Vec<Vec<String>> =
        series.iter().filter_map(|one| one.child("val").or_else(|| one.child("yVal"))).map(points).collect();
    for one in &series {
        rows[0]
            .push(one.child("tx").map(points).and_then(|names| names.into_iter().next()).unwrap_or_default());
    }
    let height = columns.iter().map(Vec::len).chain([categories.len()]).max().unwrap_or(0);
    for index in 0..height {
        let mut row = vec![categories.get(index).cloned().unwrap_or_default()];
        row.extend(columns.iter().map(|column| column.get(index).cloned().unwrap_or_default()));
        rows.push(row);
    }
    blocks.push(Block::Table(Table { rows }));
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// The cached values below a series element, at the places the chart gives them.
fn points(node: &Node) -> Vec<String> {
    /// A chart nobody can read any more; a hostile index must not make a vector of billions.
    const MOST: usize = 100_000;
    let mut found = Vec::new();
    node.find_all("pt", &mut found);
    let mut values = Vec::new();
    for point in found {
        let index =
            point.attribute("idx").and_then(|index| index.parse::<usize>().ok()).unwrap_or(values.len());
        if index >= MOST {
            continue;
        }
        if values.len() <= index {
            values.resize(index + 1, String::new());
        }
        let value = point.child("v").map(Node::text).unwrap_or_default();
        values[index] = value.parse().map_or(value, super::numbers::float);
    }
    values
}
