//! Recognises tables of figures, as statements and notes of reports have them: labels with numbers in columns beside them, and no
//! lines around the cells.
//!
//! The numbers tell the columns. Currency signs and brackets stand apart from them, labels run over several lines, rows leave
//! columns empty, and words of the header span several.

use std::ops::Range;

use super::lines::Line;
use super::tables::{Parts, Rows};

/// The cells of a row.
type Cells<'a> = Vec<Parts<'a>>;

/// Lines above the first figures at most: those of a header, and headings of the rows below it.
const MOST_HEADER_LINES: usize = 8;
/// Rows with figures of a table without a header: fewer may be chance.
const FEWEST_ROWS: usize = 3;
/// The same, of a table with a header.
const FEWEST_HEADED_ROWS: usize = 2;
/// Rows and columns of one table: no page has more, and looking for more would take long on a page of nothing but numbers.
const MOST_ROWS: usize = 200;
const MOST_COLUMNS: usize = 40;
/// Lines without figures between two rows.
const MOST_LABELS: usize = 6;
/// Characters of a line of a header, or of a label that reaches below the figures.
const LONGEST_HEADER: usize = 110;
/// Characters of a label beside the figures.
const LONGEST_LABEL: usize = 200;
/// Groups of words on one line: a drawing has more.
const MOST_GROUPS: usize = 60;
/// A step of so many font sizes from line to line ends a table.
const FARTHEST_ROW: f32 = 4.5;
/// The same, within a header and from it to the first row.
const FARTHEST_HEADER: f32 = 3.0;
/// Lines of one label follow each other in steps of at most so many font sizes.
const SAME_LABEL: f32 = 1.6;
/// A gap of this share of the font size parts words from figures, and words from words.
const WIDE: f32 = 1.0;
/// The same, between two figures.
const BETWEEN_FIGURES: f32 = 0.45;

/// Words that stand together.
#[derive(Debug, Clone)]
struct Group {
    range: Range<usize>,
    /// Its left edge with the sign before it: words of a header stand over both.
    outer: f32,
    left: f32,
    right: f32,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A number, or what stands where there is none. Its edges are those of the digits.
    Figure,
    /// A number that is a year.
    Year,
    Words,
}

impl Group {
    fn middle(&self) -> f32 {
        (self.left + self.right) / 2.0
    }
}

/// A line that may be a row.
struct Row<'a> {
    line: &'a Line,
    /// The words before the first figure.
    label: Vec<Group>,
    /// The rest, figures and words between and after them.
    cells: Vec<Group>,
}

/// What a word can be part of.
#[derive(Clone, Copy, PartialEq)]
enum Word {
    Figure,
    Dash,
    /// It belongs to the figure after it.
    Currency,
    /// It belongs to the figure before it.
    Closing,
    Other,
}

fn kind(word: &str) -> Word {
    let digits = word.chars().any(|character| character.is_ascii_digit());
    let figure = |character: char| character.is_ascii_digit() || ".,()%$€£¥+-–—−/*†‡x’'".contains(character);
    if digits {
        return if word.chars().all(figure) { Word::Figure } else { Word::Other };
    }
    if word.chars().all(|character| "-–—−".contains(character)) && word.chars().count() <= 2 {
        return Word::Dash;
    }
    if matches!(word, "NM" | "nm" | "N/A" | "n/a" | "n.m." | "N.M.") {
        return Word::Dash;
    }
    if word.contains(['$', '€', '£', '¥'])
        && word.chars().all(|character| "($€£¥—–-".contains(character) || character.is_ascii_uppercase())
    {
        // A currency sign and a dash are a figure: nothing of it.
        return if word.ends_with(['-', '–', '—']) { Word::Dash } else { Word::Currency };
    }
    if word.chars().all(|character| ")%]*†‡".contains(character)) {
        return Word::Closing;
    }
    if word == "(" { Word::Currency } else { Word::Other }
}

/// The groups of a line, from left to right; `None` where its words do not run that way.
fn groups(line: &Line) -> Option<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut before: Option<Word> = None;
    let mut end = f32::MIN;
    let mut after_year = false;
    for (range, left, right) in line.words_in(0..line.text.len()) {
        if left < end - line.size || groups.len() > MOST_GROUPS {
            return None;
        }
        let text = &line.text[range.clone()];
        let kind = kind(text);
        let gap = left - end;
        let figure = matches!(kind, Word::Figure | Word::Dash);
        let in_words = groups.last().is_some_and(|group| group.kind == Kind::Words);
        // "May 31, 2022" and "May 31, 2021" may stand closer than columns do.
        let near = gap < if after_year { BETWEEN_FIGURES } else { WIDE } * line.size;
        let goes_on = match (before, kind) {
            (None, _) => false,
            (Some(Word::Currency), Word::Figure | Word::Dash | Word::Closing) => true,
            (Some(_), Word::Closing) => gap < 3.0 * line.size,
            _ if in_words => near,
            (Some(Word::Figure | Word::Dash | Word::Closing), Word::Currency) => false,
            (Some(Word::Figure | Word::Dash | Word::Closing), Word::Figure | Word::Dash) => {
                gap < BETWEEN_FIGURES * line.size
            }
            _ => near,
        };
        let year = kind == Word::Figure && is_year(text);
        match groups.last_mut() {
            Some(group) if goes_on => {
                group.range.end = range.end;
                match (group.kind, before) {
                    (Kind::Figure, Some(Word::Currency)) if figure => {
                        // What only a sign stood for so far.
                        (group.left, group.right) = (left, right);
                    }
                    (Kind::Figure | Kind::Year, _) if figure => {
                        group.right = right;
                        group.kind = Kind::Figure;
                    }
                    (Kind::Figure | Kind::Year, _) if kind == Word::Other => {
                        group.right = right;
                        group.kind = Kind::Words;
                    }
                    (Kind::Words, _) => group.right = right,
                    _ => {}
                }
            }
            _ => groups.push(Group {
                range,
                outer: left,
                left,
                right,
                kind: match kind {
                    _ if year => Kind::Year,
                    Word::Figure | Word::Dash | Word::Currency => Kind::Figure,
                    Word::Closing | Word::Other => Kind::Words,
                },
            }),
        }
        before = Some(kind);
        after_year = year;
        end = end.max(right);
    }
    // Signs without a number are words, and some years are several.
    for group in &mut groups {
        let text = &line.text[group.range.clone()];
        let mut parts = text.split([' ', '-', '–', '—']).filter(|part| !part.is_empty()).peekable();
        if group.kind == Kind::Figure && parts.peek().is_some() && parts.all(is_year) {
            group.kind = Kind::Year;
        }
        let number = text.chars().any(|character| character.is_ascii_digit());
        if group.kind == Kind::Figure && !number && kind(text.trim_start_matches('$').trim()) != Word::Dash {
            group.kind = Kind::Words;
        }
    }
    (!groups.is_empty()).then_some(groups)
}

fn is_year(word: &str) -> bool {
    let word = word.trim_end_matches([',', ')', '*']);
    let word = word.split_once('(').map_or(word, |(year, _)| year);
    word.len() == 4 && word.parse().is_ok_and(|year: u16| (1900..2100).contains(&year))
}

impl<'a> Row<'a> {
    /// A line with figures after its label, if it has one.
    fn of(line: &'a Line) -> Option<Self> {
        let groups = groups(line).filter(|_| line.table.is_none() && line.upright)?;
        let first = groups.iter().position(|group| group.kind != Kind::Words)?;
        let (label, cells) = (groups[..first].to_vec(), groups[first..].to_vec());
        let long = label.iter().any(|group| group.range.len() > LONGEST_LABEL);
        let wordy =
            cells.iter().any(|cell| cell.kind == Kind::Words && cell.range.len() > LONGEST_HEADER / 2);
        (!long && !wordy).then_some(Row { line, label, cells })
    }

    /// Whether all that the row says are years, perhaps with what they are the years of: "2021 vs. 2020".
    fn is_years(&self) -> bool {
        self.cells.iter().all(|cell| cell.kind != Kind::Figure)
    }

    /// Whether all that the row says is one number: a sum, or the page's.
    fn is_alone(&self) -> bool {
        self.label.is_empty() && self.cells.len() == 1
    }

    fn label(&self) -> &'a str {
        match &self.label[..] {
            [first, .., last] => &self.line.text[first.range.start..last.range.end],
            [only] => &self.line.text[only.range.clone()],
            [] => "",
        }
    }
}

/// Where the figures of one column stand.
#[derive(Debug, Clone, Copy)]
struct Column {
    outer: f32,
    left: f32,
    right: f32,
}

impl Column {
    fn of(cell: &Group) -> Self {
        Column { outer: cell.outer, left: cell.left, right: cell.right }
    }

    fn overlaps(&self, group: &Group) -> bool {
        group.left < self.right && group.right > self.left
    }

    fn gap(&self, group: &Group) -> f32 {
        (group.left - self.right).max(self.outer - group.right).max(0.0)
    }

    fn middle(&self) -> f32 {
        (self.outer + self.right) / 2.0
    }
}

/// Lines of a table below its header.
struct Body<'a> {
    columns: Vec<Column>,
    entries: Vec<Entry<'a>>,
    /// How many rows have figures.
    rows: usize,
    /// How many lines it takes.
    used: usize,
}

/// A row of the table to be.
struct Entry<'a> {
    /// The lines of its label above its figures, or of a heading among the rows.
    above: Vec<&'a Line>,
    row: Option<Row<'a>>,
    /// The lines of its label below its figures.
    below: Vec<&'a Line>,
}

impl<'a> Entry<'a> {
    fn has_label(&self) -> bool {
        !self.above.is_empty() || self.row.as_ref().is_some_and(|row| !row.label.is_empty())
    }

    fn last_line(&self) -> Option<&'a Line> {
        let row = self.row.as_ref().map(|row| row.line);
        self.below.last().copied().or(row).or(self.above.last().copied())
    }
}

impl<'a> Body<'a> {
    fn of(lines: &'a [Line]) -> Option<Self> {
        let first = Row::of(lines.first()?).filter(|row| !row.is_years())?;
        let mut columns = Vec::new();
        let mut taken: Vec<Vec<Column>> = Vec::new();
        if !admit(&first.cells, &mut columns, &mut taken) {
            return None;
        }
        let mut body = Body {
            columns,
            entries: vec![Entry { above: Vec::new(), row: Some(first), below: Vec::new() }],
            rows: 1,
            used: 1,
        };
        let mut pending: Vec<&'a Line> = Vec::new();
        for (at, pair) in lines.windows(2).enumerate().take(MOST_ROWS) {
            let (before, line) = (&pair[0], &pair[1]);
            let step = line.base - before.base;
            if line.table.is_some() || step <= 0.0 || step >= FARTHEST_ROW * line.size.max(before.size) {
                break;
            }
            match Row::of(line) {
                // Years by themselves are the header of the next table.
                Some(row) if row.is_years() && (row.label.is_empty() || says_unit(row.label())) => break,
                Some(row) if row.is_alone() && (!pending.is_empty() || step > 2.0 * line.size) => break,
                Some(row) if admit(&row.cells, &mut body.columns, &mut taken) => {
                    let above = body.place(&mut pending, &row);
                    body.entries.push(Entry { above, row: Some(row), below: Vec::new() });
                    body.rows += 1;
                    body.used = at + 2;
                }
                Some(_) => break,
                None if pending.len() < MOST_LABELS && body.is_label(line) => pending.push(line),
                None => break,
            }
        }
        // The last label may go on below its figures.
        if let (Some(line), Some(entry)) = (pending.first(), body.entries.last_mut()) {
            let above = &lines[body.used - 1];
            if goes_on(above, line) && entry.has_label() {
                entry.below.push(line);
                body.used += 1;
            }
        }
        Some(body)
    }

    /// Puts lines without figures where they belong: to the label above, as rows of their own, or to the label of the row below,
    /// whose lines are returned.
    fn place(&mut self, pending: &mut Vec<&'a Line>, row: &Row<'a>) -> Vec<&'a Line> {
        let mut begun = Vec::new();
        let close = |one: &Line, next: &Line| next.base - one.base < SAME_LABEL * one.size.max(next.size);
        // From the last: does the label of the row begin here?
        let mut next: (&str, &Line) = (row.label(), row.line);
        while let Some(line) = pending.last().copied() {
            let unfinished = next.0.starts_with(|first: char| first.is_lowercase() || first == '(')
                || line.text.ends_with([',', '-', '—', '–', '('])
                || last_word_joins(&line.text);
            if next.0.is_empty() || !unfinished || !close(line, next.1) || line.text.ends_with(':') {
                break;
            }
            begun.insert(0, line);
            next = (&line.text, line);
            pending.pop();
        }
        for line in pending.drain(..) {
            let last = self.entries.last_mut().filter(|entry| {
                entry.has_label() && entry.last_line().is_some_and(|above| goes_on(above, line))
            });
            match last {
                Some(entry) if entry.row.is_some() => entry.below.push(line),
                Some(entry) => entry.above.push(line),
                None => self.entries.push(Entry { above: vec![line], row: None, below: Vec::new() }),
            }
        }
        begun
    }

    /// Puts lines between header and first row where they belong.
    fn begin(&mut self, mut headings: Vec<&'a Line>) {
        let entries = std::mem::take(&mut self.entries);
        let mut entries = entries.into_iter();
        let Some(mut first) = entries.next() else { return };
        if let Some(row) = &first.row {
            first.above = self.place(&mut headings, row);
        }
        self.entries.push(first);
        self.entries.extend(entries);
    }

    /// Whether a line without figures can stand among the rows.
    fn is_label(&self, line: &Line) -> bool {
        /// Longer ones that end with a full stop are notes.
        const LONGEST_SENTENCE: usize = 40;
        let Some(first) = self.columns.first() else { return false };
        let (beside, length) = (line.right <= first.left + line.size, line.text.chars().count());
        let longest = match (beside, line.text.ends_with('.')) {
            (true, false) => LONGEST_LABEL,
            (true, true) => LONGEST_SENTENCE,
            (false, false) => LONGEST_HEADER,
            (false, true) => 0,
        };
        line.upright && length <= longest
    }

    /// Whether numbers stand under each other rather than by chance.
    fn is_aligned(&self) -> bool {
        let (mut aligned, mut all) = (0, 0);
        for column in &self.columns {
            let cells: Vec<(&Group, f32)> = self
                .entries
                .iter()
                .filter_map(|entry| entry.row.as_ref())
                .flat_map(|row| row.cells.iter().map(|cell| (cell, row.line.size)))
                .filter(|(cell, _)| column.overlaps(cell) && cell.kind != Kind::Words)
                .collect();
            let near = |edge: &dyn Fn(&Group) -> f32| {
                let mut edges: Vec<f32> = cells.iter().map(|(cell, _)| edge(cell)).collect();
                edges.sort_unstable_by(f32::total_cmp);
                let middle = edges.get(edges.len() / 2).copied().unwrap_or_default();
                cells.iter().filter(|(cell, size)| (edge(cell) - middle).abs() < 1.3 * size).count()
            };
            aligned += near(&|cell| cell.right).max(near(&|cell| cell.left)).max(near(&Group::middle));
            all += cells.len();
        }
        aligned * 5 >= all * 4
    }

    /// Whether any row has words before its figures.
    fn has_labels(&self) -> bool {
        self.entries.iter().any(Entry::has_label)
    }

    /// The lines above as cells, for each column those over it, and the headings between them and the rows; `None` where a line is
    /// no part of a header.
    fn header(&self, lines: &'a [Line]) -> Option<(Cells<'a>, Vec<&'a Line>)> {
        let (first, last) = (self.columns.first()?, self.columns.last()?);
        let mut cells: Cells<'a> = vec![Vec::new(); self.columns.len() + 1];
        let mut headings: Vec<&Line> = Vec::new();
        let mut begun = false;
        for pair in lines.windows(2) {
            let (line, next) = (&pair[0], &pair[1]);
            let (step, size) = (next.base - line.base, line.size.max(next.size));
            let length = line.text.chars().count();
            let prose = line.text.ends_with(['.', ';'])
                || length > LONGEST_HEADER
                || line.text.ends_with(':') && length > LONGEST_HEADER / 3;
            if line.table.is_some() || step <= 0.0 || step > FARTHEST_HEADER * size || !line.upright {
                return None;
            }
            let (units, groups): (Vec<Group>, Vec<Group>) =
                groups(line)?.into_iter().partition(|group| says_unit(&line.text[group.range.clone()]));
            let figures = groups.iter().any(|group| group.kind == Kind::Figure);
            // Words over a column of numbers are often wider than the numbers.
            let slack = 4.0 * line.size;
            let over = |group: &Group| (first.outer - slack..=last.right + slack).contains(&group.middle());
            let (over, beside): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(over);
            if over.is_empty() && !beside.is_empty() {
                if !begun || !self.is_label(line) {
                    return None;
                }
                headings.push(line);
                continue;
            }
            let reaches = beside.iter().any(|group| group.right > first.outer - size / 2.0);
            // Words over a table without labels, or over labels and figures, are its title.
            let title = over.len() == 1
                && self.columns.len() > 1
                && (!self.has_labels() || over[0].left < first.outer - slack);
            if prose || figures || reaches || title {
                return None;
            }
            begun |= !over.is_empty();
            // What stood beside the header's lines so far is part of it.
            cells[0].extend(headings.drain(..).map(|line| (line, 0..line.text.len())));
            cells[0].extend(units.into_iter().chain(beside).map(|group| (line, group.range)));
            for (column, group) in self.under(&over, line.size) {
                cells[column + 1].push((line, over[group].range.clone()));
            }
        }
        Some((cells, headings))
    }

    /// Which of the groups of a line of the header stands over which column.
    fn under(&self, over: &[Group], size: f32) -> Vec<(usize, usize)> {
        let count = self.columns.len();
        if over.is_empty() {
            return Vec::new();
        }
        if over.len() * 5 >= count * 3 {
            let nearest = |group: &Group| {
                let distance = |at: &usize| (self.columns[*at].middle() - group.middle()).abs();
                (0..count).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
            };
            return over.iter().enumerate().map(|(at, group)| (nearest(group), at)).collect();
        }
        // Each spans several: as many as the others, if it stands over one of these.
        let each = count / over.len();
        let evenly = each * over.len() == count
            && over.iter().zip(self.columns.chunks(each.max(1))).all(|(group, columns)| {
                let (left, right) = (columns[0].outer, columns[columns.len() - 1].right);
                let aside = ((left + right) / 2.0 - group.middle()).abs() / (right - left).max(0.1);
                aside < 0.35 || (right - group.right).abs() < 2.0 * size
            });
        if evenly {
            return (0..count).map(|column| (column, column / each)).collect();
        }
        // Otherwise columns have the words next to them, the only ones there are or those less than a column away.
        let (first, last) = (&self.columns[0], &self.columns[count - 1]);
        let farthest = match over.len() {
            1 => f32::MAX,
            _ => 0.75 * (last.middle() - first.middle()) / (count - 1).max(1) as f32,
        };
        let nearest = |(at, column): (usize, &Column)| {
            let group =
                (0..over.len()).min_by(|a, b| column.gap(&over[*a]).total_cmp(&column.gap(&over[*b])))?;
            (column.gap(&over[group]) <= farthest).then_some((at, group))
        };
        self.columns.iter().enumerate().filter_map(nearest).collect()
    }

    fn rows(&self) -> Rows<'a> {
        self.entries.iter().map(|entry| self.cells(entry)).collect()
    }

    fn cells(&self, entry: &Entry<'a>) -> Cells<'a> {
        let mut cells: Cells<'a> = vec![Vec::new(); self.columns.len() + 1];
        let at = |group: &Group| self.columns.iter().position(|column| column.overlaps(group));
        cells[0].extend(entry.above.iter().map(|line| (*line, 0..line.text.len())));
        if let Some(row) = &entry.row {
            for cell in &row.cells {
                if let Some(at) = at(cell) {
                    cells[at + 1].push((row.line, cell.range.clone()));
                }
            }
            for (nth, group) in row.label.iter().enumerate() {
                // Words in a column of figures: "7 to 45" years.
                let column =
                    at(group).filter(|at| nth > 0 && cells[at + 1].is_empty()).map_or(0, |at| at + 1);
                cells[column].push((row.line, group.range.clone()));
            }
        }
        cells[0].extend(entry.below.iter().map(|line| (*line, 0..line.text.len())));
        cells
    }
}

/// Lets a row into the columns: each of its cells in one of its own. Columns grow to their widest cell, and two become one where
/// no row has cells in both.
fn admit(cells: &[Group], columns: &mut Vec<Column>, taken: &mut Vec<Vec<Column>>) -> bool {
    let mut wanted = columns.clone();
    let mut joined = false;
    for cell in cells {
        let mut new = Column::of(cell);
        let before = wanted.len();
        wanted.retain(|column| {
            let over = column.overlaps(cell);
            if over {
                new = Column {
                    outer: new.outer.min(column.outer),
                    left: new.left.min(column.left),
                    right: new.right.max(column.right),
                };
            }
            !over
        });
        joined |= wanted.len() + 1 < before;
        let at = wanted.partition_point(|column| column.left < new.left);
        wanted.insert(at, new);
    }
    let own: Vec<Column> = cells.iter().map(Column::of).collect();
    let apart = |row: &Vec<Column>| {
        let within = |column: &Column, cell: &Column| cell.left < column.right && cell.right > column.left;
        wanted.iter().all(|column| row.iter().filter(|cell| within(column, cell)).count() <= 1)
    };
    if wanted.len() > MOST_COLUMNS || !apart(&own) || joined && !taken.iter().all(apart) {
        return false;
    }
    taken.push(own);
    *columns = wanted;
    true
}

/// Whether a line goes on with the label above it.
fn goes_on(above: &Line, line: &Line) -> bool {
    line.text.starts_with(char::is_lowercase)
        && line.base - above.base < SAME_LABEL * line.size.max(above.size)
        && line.left + line.size > above.left
}

/// Whether a label cannot end with its last word.
fn last_word_joins(text: &str) -> bool {
    let last = text.rsplit(' ').next().unwrap_or_default();
    matches!(
        last,
        "and"
            | "of"
            | "to"
            | "for"
            | "in"
            | "by"
            | "on"
            | "from"
            | "the"
            | "with"
            | "or"
            | "und"
            | "de"
            | "y"
    )
}

/// Whether a line says what the figures are counted in.
fn says_unit(text: &str) -> bool {
    let text = text.to_lowercase();
    text.starts_with(['(', 'i', 'd', 'a', '$'])
        && ["million", "thousand", "billion"].iter().any(|unit| text.contains(unit))
        && text.len() <= LONGEST_LABEL
}

/// The table of figures that starts with the first line, and how many lines it takes; `None` where there is none.
pub(super) fn table(lines: &[Line]) -> Option<(Rows<'_>, usize)> {
    for count in 0..=MOST_HEADER_LINES.min(lines.len().saturating_sub(1)) {
        let line = &lines[count];
        let row = match Row::of(line) {
            Some(row) if !row.is_years() => row,
            _ if line.table.is_some() || line.text.chars().count() > LONGEST_LABEL => return None,
            _ => continue,
        };
        // A number alone begins no table: it may be the page's.
        if row.is_alone() {
            return None;
        }
        let mut body = Body::of(&lines[count..])?;
        let (header, headings) = body.header(&lines[..=count])?;
        let headed = header.iter().skip(1).any(|cell| !cell.is_empty());
        let fewest = if headed && body.columns.len() > 1 { FEWEST_HEADED_ROWS } else { FEWEST_ROWS };
        if body.rows < fewest || !body.is_aligned() {
            return None;
        }
        body.begin(headings);
        let mut rows = vec![header];
        rows.extend(body.rows());
        if !body.has_labels() && rows[0][0].is_empty() {
            for row in &mut rows {
                row.remove(0);
            }
        }
        return Some((rows, count + body.used));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::lines::line_of;
    use super::super::segments::Span;
    use super::*;

    /// A line of words, each with its left edge; letters are five points wide.
    fn line(base: f32, words: &[(&str, f32)]) -> Line {
        let text = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
        let right = words.iter().map(|(word, left)| left + 5.0 * word.chars().count() as f32);
        let mut line = line_of(&text, words[0].1, right.clone().fold(f32::MIN, f32::max));
        let mut start = 0;
        line.words = words
            .iter()
            .zip(right)
            .map(|((word, left), right)| {
                let span = Span { start, left: *left, right };
                start += word.len() + 1;
                span
            })
            .collect();
        Line { base, main_base: base, ..line }
    }

    fn texts(rows: &Rows<'_>) -> Vec<Vec<String>> {
        let cell = |parts: &Vec<(&Line, Range<usize>)>| {
            parts.iter().map(|(line, range)| &line.text[range.clone()]).collect::<Vec<_>>().join(" ")
        };
        rows.iter().map(|row| row.iter().map(cell).collect()).collect()
    }

    fn statement() -> Vec<Line> {
        vec![
            line(10.0, &[("Year", 200.0), ("ended", 225.0), ("May", 255.0), ("31,", 275.0)]),
            line(24.0, &[("(in", 10.0), ("millions)", 28.0), ("2022", 200.0), ("2021", 280.0)]),
            line(38.0, &[("Revenue:", 10.0)]),
            line(52.0, &[("Sales", 15.0), ("$", 180.0), ("1,234", 200.0), ("$", 260.0), ("987", 285.0)]),
            line(66.0, &[("Fees", 15.0), ("(3", 210.0), (")", 226.0), ("—", 295.0)]),
            line(80.0, &[("Income", 10.0), ("from", 45.0)]),
            line(92.0, &[("operations", 15.0), ("12", 215.0), ("%", 232.0), ("8", 295.0), ("%", 306.0)]),
            line(104.0, &[("before", 15.0), ("taxes", 50.0)]),
        ]
    }

    #[test]
    fn rows_are_told_by_their_figures() {
        let lines = statement();
        let (rows, used) = table(&lines).expect("a table");
        let expected = [
            ["(in millions)", "Year ended May 31, 2022", "Year ended May 31, 2021"],
            ["Revenue:", "", ""],
            ["Sales", "$ 1,234", "$ 987"],
            ["Fees", "(3 )", "—"],
            ["Income from operations before taxes", "12 %", "8 %"],
        ];
        assert_eq!((texts(&rows), used), (expected.map(|row| row.map(str::to_owned).to_vec()).to_vec(), 8));
    }

    #[test]
    fn a_title_and_a_page_number_are_no_part_of_the_table() {
        let mut lines = statement();
        lines.insert(0, line(-4.0, &[("A", 100.0), ("statement", 110.0), ("of", 160.0), ("income", 175.0)]));
        assert!(table(&lines).is_none());
        lines.remove(0);
        lines.push(line(150.0, &[("39", 220.0)]));
        assert_eq!(table(&lines).expect("a table").1, 8);
    }

    #[test]
    fn words_that_span_columns_are_shared_out_evenly() {
        let row = |base: f32, label: &'static str| {
            line(base, &[(label, 10.0), ("11", 200.0), ("22", 240.0), ("33", 280.0), ("44", 320.0)])
        };
        let lines = [
            line(10.0, &[("2020", 230.0), ("2019", 310.0)]),
            line(24.0, &[("gross", 190.0), ("net", 236.0), ("gross", 270.0), ("net", 316.0)]),
            row(38.0, "Land"),
            row(52.0, "Ships"),
        ];
        let (rows, _) = table(&lines).expect("a table");
        assert_eq!(texts(&rows)[0], ["", "2020 gross", "2020 net", "2019 gross", "2019 net"]);
    }

    #[test]
    fn prose_with_numbers_is_no_table() {
        let prose = |base: f32| {
            line(
                base,
                &[("It", 10.0), ("rose", 25.0), ("to", 50.0), ("12", 65.0), ("in", 80.0), ("2021", 95.0)],
            )
        };
        assert!(table(&[prose(10.0), prose(24.0), prose(38.0), prose(52.0)]).is_none());
        // Numbers that stand under none of the others are no columns.
        let places = [100.0, 160.0, 220.0, 280.0];
        let scattered: Vec<Line> =
            (0..4).map(|at| line(10.0 + 14.0 * at as f32, &[("Label", 10.0), ("12", places[at])])).collect();
        let found = table(&scattered);
        assert!(found.is_none_or(|(rows, _)| rows[0].len() > 2));
    }
}
