//! Workbooks: one sheet is one page with its cells as tables; long sheets take several pages.

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;

use calamine::{Data, DataRef, Dimensions, Reader, Sheets, Xlsx, open_workbook_auto_from_rs};
use engine::document::Page;
use engine::seams::parser::ParseFailure;

use crate::blocks::{Block, Table};
use crate::kind::Kind;
use crate::office::charts;
use crate::office::comments::comment_block;
use crate::office::numbers::float;
use crate::office::package::Package;
use crate::office::relationships::{Relationship, main_part, relationships, title};
use crate::xml::{self, Node};
use crate::{Job, Parsed, failure, pages};

/// The cells of a sheet that hold something, by row and column.
type Cells = BTreeMap<u32, BTreeMap<u32, String>>;

/// Cells of one sheet; a million rows of five columns, more than a reader can use and memory should hold.
const MOST_CELLS: usize = 5_000_000;
/// A merged area larger than this is a coloured background, not a heading: only its first cell gets the text.
const LARGEST_MERGE: u64 = 2_000;

/// Reads a workbook.
pub(crate) fn parse(bytes: &[u8], kind: Kind, job: &Job<'_>) -> Result<Parsed, ParseFailure> {
    let mut extras = Extras::default();
    let mut stated = None;
    if bytes.starts_with(b"PK") {
        check_inflated(bytes, job)?;
        let mut package = Package::open(bytes, job.limits.inflated_bytes)?;
        stated = title(&mut package);
        // What hangs on cells is a bonus: damage there must not lose the cells.
        extras = Extras::read(&mut package, kind).unwrap_or_default();
    }
    let mut workbook = open_workbook_auto_from_rs(Cursor::new(bytes)).map_err(open_failure)?;
    let names = workbook.sheet_names();
    let total = u32::try_from(names.len()).ok();
    let mut parsed = Parsed { title: stated, pages: Vec::new(), warnings: Vec::new() };
    for (name, done) in names.iter().zip(1u32..) {
        let attached = extras.0.remove(name).unwrap_or_default();
        parsed.pages.extend(match cells(&mut workbook, name) {
            Ok(cells) => sheet_pages(name, &cells, attached),
            Err(why) => {
                let mut page = pages::page(name, &crate::blocks::markdown(&attached), 0);
                page.warnings.push(format!("the sheet could not be read: {why}"));
                vec![page]
            }
        });
        (job.progress)(done, total);
    }
    Ok(parsed)
}

fn open_failure(error: calamine::Error) -> ParseFailure {
    let text = error.to_string().to_lowercase();
    if text.contains("password") || text.contains("encrypt") {
        failure::locked("the workbook is protected by a password; save a copy without one")
    } else {
        failure::damaged("the workbook is damaged; open and save it again in its own program")
    }
}

/// The workbook reader inflates on its own, so what it would inflate is counted before.
fn check_inflated(bytes: &[u8], job: &Job<'_>) -> Result<(), ParseFailure> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))
        .map_err(|_| failure::damaged("the workbook's zip archive is damaged; open and save it again"))?;
    let mut inflated = 0u64;
    for index in 0..archive.len() {
        let Ok(part) = archive.by_index(index) else { continue };
        // Pictures are not inflated by the reader.
        if !part.name().is_ok_and(|name| name.ends_with(".xml") || name.ends_with(".bin")) {
            continue;
        }
        let left = job.limits.inflated_bytes.saturating_sub(inflated);
        let mut counted = std::io::Read::take(part, left + 1);
        inflated += std::io::copy(&mut counted, &mut std::io::sink()).unwrap_or(0);
        if inflated > job.limits.inflated_bytes {
            return Err(failure::limits("the workbook unpacks to more than the limit; it may be a zip bomb"));
        }
    }
    Ok(())
}

fn cells(workbook: &mut Sheets<Cursor<&[u8]>>, name: &str) -> Result<Cells, String> {
    let mut cells = Cells::new();
    if let Sheets::Xlsx(xlsx) = workbook {
        stream(xlsx, name, &mut cells)?;
        return Ok(cells);
    }
    let range = workbook.worksheet_range(name).map_err(|error| error.to_string())?;
    let (top, left) = range.start().unwrap_or_default();
    for (row, column, value) in range.used_cells() {
        let row = top.saturating_add(u32::try_from(row).unwrap_or(u32::MAX));
        let column = left.saturating_add(u32::try_from(column).unwrap_or(u32::MAX));
        put(&mut cells, (row, column), text(value));
    }
    Ok(cells)
}

/// Streams the cells of a sheet: a dense grid of a sheet with two far corners would not fit into any memory.
fn stream(xlsx: &mut Xlsx<Cursor<&[u8]>>, name: &str, cells: &mut Cells) -> Result<(), String> {
    let merged = xlsx.merge_cells_by_sheet_name(name).unwrap_or_default();
    let mut reader = match xlsx.worksheet_cells_reader(name) {
        Ok(reader) => reader,
        // A sheet that holds only a chart has no cells, which is no damage.
        Err(calamine::XlsxError::NotAWorksheet(_)) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let mut count = 0;
    while let Some(cell) = reader.next_cell().map_err(|error| error.to_string())? {
        let value = match cell.get_value() {
            DataRef::SharedString(text) => (*text).to_owned(),
            other => text(&Data::from(other.clone())),
        };
        put(cells, cell.get_position(), value);
        count += 1;
        if count > MOST_CELLS {
            return Err(format!("it has more than {MOST_CELLS} cells"));
        }
    }
    for area in merged {
        spread(cells, area);
    }
    Ok(())
}

fn put(cells: &mut Cells, (row, column): (u32, u32), value: String) {
    if !value.trim().is_empty() {
        cells.entry(row).or_default().insert(column, value);
    }
}

/// Repeats the text of a merged cell over its area, so that each row can be read alone.
fn spread(cells: &mut Cells, area: Dimensions) {
    if area.len() > LARGEST_MERGE {
        return;
    }
    let Some(value) = cells.get(&area.start.0).and_then(|row| row.get(&area.start.1)).cloned() else {
        return;
    };
    // A title over the whole row is said once.
    let alone = cells.get(&area.start.0).is_some_and(|row| row.len() == 1);
    if alone && area.start.0 == area.end.0 {
        return;
    }
    for row in area.start.0..=area.end.0 {
        for column in area.start.1..=area.end.1 {
            cells.entry(row).or_default().entry(column).or_insert_with(|| value.clone());
        }
    }
}

fn text(value: &Data) -> String {
    match value {
        Data::DateTime(moment) if moment.is_duration() => {
            let seconds = (moment.as_f64() * 86_400.0).round() as i64;
            format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
        }
        Data::DateTime(moment) => {
            let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
            let date = format!("{year:04}-{month:02}-{day:02}");
            let time = format!("{hour:02}:{minute:02}:{second:02}");
            match (moment.as_f64() < 1.0, (hour, minute, second) == (0, 0, 0)) {
                (true, _) => time,
                (false, true) => date,
                (false, false) => format!("{date} {time}"),
            }
        }
        Data::Bool(true) => "TRUE".into(),
        Data::Bool(false) => "FALSE".into(),
        Data::Float(number) => float(*number),
        other => other.to_string(),
    }
}

/// The pages of one sheet: tables are parted by empty rows, notes and charts follow.
fn sheet_pages(name: &str, cells: &Cells, attached: Vec<Block>) -> Vec<Page> {
    let mut blocks = vec![Block::Part(name.to_owned()), Block::Heading(2, name.to_owned())];
    let mut table = Table::default();
    let mut columns: Vec<u32> = cells.values().flat_map(|row| row.keys().copied()).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut previous = None;
    for (row, filled) in cells {
        if previous.is_some_and(|before: u32| row - before > 1) {
            blocks.extend(table_block(std::mem::take(&mut table)));
        }
        table
            .rows
            .push(columns.iter().map(|column| filled.get(column).cloned().unwrap_or_default()).collect());
        previous = Some(*row);
    }
    blocks.extend(table_block(table));
    if cells.is_empty() && attached.is_empty() {
        let mut page = pages::page(name, "", 0);
        page.warnings = vec!["the sheet is empty".into()];
        return vec![page];
    }
    blocks.extend(attached);
    pages::paginate(&blocks)
}

fn table_block(table: Table) -> Option<Block> {
    let trimmed = table.trimmed();
    match trimmed.rows.as_slice() {
        [] => None,
        [row] if row.len() == 1 => Some(Block::Paragraph(row[0].clone())),
        _ => Some(Block::Table(trimmed)),
    }
}

/// Comments, text boxes and charts, by the name of their sheet.
#[derive(Default)]
struct Extras(HashMap<String, Vec<Block>>);

impl Extras {
    fn read(package: &mut Package<'_>, kind: Kind) -> Result<Self, ParseFailure> {
        let mut extras = Self::default();
        if kind != Kind::Workbook("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet") {
            return Ok(extras);
        }
        let main = main_part(package, "xl/workbook.xml")?;
        let links = relationships(package, &main)?;
        let persons = persons(package, &links)?;
        let Some(workbook) = package.read(&main)? else { return Ok(extras) };
        let root = xml::parse(&workbook);
        let mut sheets = Vec::new();
        root.find_all("sheet", &mut sheets);
        for sheet in sheets {
            let id = sheet.attribute("r:id").or_else(|| sheet.attribute("id"));
            let Some(link) = links.iter().find(|link| Some(link.id.as_str()) == id) else { continue };
            let blocks = attached(package, &link.target, &persons)?;
            extras.0.insert(sheet.attribute("name").unwrap_or_default().to_owned(), blocks);
        }
        Ok(extras)
    }
}

fn persons(
    package: &mut Package<'_>,
    links: &[Relationship],
) -> Result<HashMap<String, String>, ParseFailure> {
    let mut persons = HashMap::new();
    for link in links.iter().filter(|link| link.kind == "person") {
        let Some(xml) = package.read(&link.target)? else { continue };
        for person in xml::parse(&xml).nodes() {
            if let (Some(id), Some(name)) = (person.attribute("id"), person.attribute("displayName")) {
                persons.insert(id.to_owned(), name.to_owned());
            }
        }
    }
    Ok(persons)
}

fn attached(
    package: &mut Package<'_>,
    sheet: &str,
    persons: &HashMap<String, String>,
) -> Result<Vec<Block>, ParseFailure> {
    let mut blocks = Vec::new();
    for link in relationships(package, sheet)? {
        let Some(xml) = package.read(&link.target)? else { continue };
        match link.kind.as_str() {
            "comments" => notes(&xml::parse(&xml), &mut blocks),
            "threadedComment" => {
                for comment in xml::parse(&xml).nodes() {
                    let author =
                        comment.attribute("personId").and_then(|id| persons.get(id)).map(String::as_str);
                    let words = comment.child("text").map(Node::text).unwrap_or_default();
                    blocks.push(comment_block(author, comment.attribute("dT").unwrap_or_default(), &words));
                }
            }
            "drawing" => {
                let root = xml::parse(&xml);
                let mut paragraphs = Vec::new();
                root.find_all("p", &mut paragraphs);
                blocks.extend(paragraphs.iter().map(|paragraph| Block::Paragraph(paragraph.text())));
                for chart in relationships(package, &link.target)?.iter().filter(|link| link.kind == "chart")
                {
                    if let Some(xml) = package.read(&chart.target)? {
                        blocks.extend(charts::blocks(&xml));
                    }
                }
            }
            _ => {}
        }
    }
    blocks.retain(|block| !block.is_empty());
    Ok(blocks)
}

fn notes(root: &Node, blocks: &mut Vec<Block>) {
    let authors: Vec<String> =
        root.child("authors").map(|list| list.nodes().map(Node::text).collect()).unwrap_or_default();
    for comment in root.child("commentList").into_iter().flat_map(Node::nodes) {
        let at = comment.attribute("authorId").and_then(|id| id.parse::<usize>().ok());
        let author = at.and_then(|at| authors.get(at)).map(String::as_str);
        // A threaded comment leaves a copy for old programs; the thread itself is read.
        if author.is_some_and(|author| author.starts_with("tc=")) {
            continue;
        }
        let mut texts = Vec::new();
        comment.find_all("t", &mut texts);
        let words: String = texts.iter().map(|text| text.text()).collect();
        blocks.push(comment_block(author, "", &words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_rows_part_tables_and_merged_cells_repeat() {
        let mut cells = Cells::new();
        for (at, value) in [((0, 0), "Title"), ((2, 1), "a"), ((2, 3), "b"), ((3, 1), "1"), ((3, 3), "2")] {
            put(&mut cells, at, value.to_owned());
        }
        spread(&mut cells, Dimensions::new((3, 1), (4, 1)));
        let pages = sheet_pages("Sheet", &cells, Vec::new());
        assert_eq!(pages[0].text, "## Sheet\n\nTitle\n\n| a | b |\n| - | - |\n| 1 | 2 |\n| 1 |  |");
        assert_eq!((pages[0].label.as_str(), pages[0].tables), ("Sheet", 1));
    }
}
