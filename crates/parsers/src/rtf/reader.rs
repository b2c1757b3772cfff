//! Follows the state of an RTF document and gives its blocks.

use std::collections::HashMap;

use encoding_rs::{Encoding, WINDOWS_1252};

use super::tokens::{Token, Tokens};
use crate::blocks::{Block, Marker, Table};

/// Where the text of a group goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Destination {
    Body,
    Skip,
    Fonts,
    Styles,
    Title,
    /// The bullet or number that old readers show before an item.
    ItemText,
}

/// What a group inherits and changes.
#[derive(Debug, Clone)]
struct State {
    destination: Destination,
    hidden: bool,
    encoding: &'static Encoding,
    /// How many replacement characters follow a `\u`.
    replacements: usize,
    style: i32,
    in_table: bool,
    list: bool,
    level: usize,
    outline: Option<u8>,
}

pub(super) struct Reader {
    state: State,
    stack: Vec<State>,
    nesting: usize,
    /// Groups opened beyond the cap, which are read as part of the last one kept.
    beyond: usize,
    fonts: HashMap<i32, &'static Encoding>,
    font: i32,
    headings: HashMap<i32, u8>,
    default: &'static Encoding,
    /// Bytes that wait for the rest of a character of several bytes.
    bytes: Vec<u8>,
    skip: usize,
    high: Option<u16>,
    text: String,
    name: String,
    title: String,
    cells: Vec<String>,
    table: Table,
    marker: Option<Marker>,
    blocks: Vec<Block>,
}

impl Reader {
    pub(super) fn new(nesting: usize) -> Self {
        let state = State {
            destination: Destination::Body,
            hidden: false,
            encoding: WINDOWS_1252,
            replacements: 1,
            style: 0,
            in_table: false,
            list: false,
            level: 0,
            outline: None,
        };
        Self {
            state,
            stack: Vec::new(),
            nesting,
            beyond: 0,
            fonts: HashMap::new(),
            font: 0,
            headings: HashMap::new(),
            default: WINDOWS_1252,
            bytes: Vec::new(),
            skip: 0,
            high: None,
            text: String::new(),
            name: String::new(),
            title: String::new(),
            cells: Vec::new(),
            table: Table::default(),
            marker: None,
            blocks: Vec::new(),
        }
    }

    pub(super) fn read(mut self, bytes: &[u8]) -> (Option<String>, Vec<Block>) {
        let mut tokens = Tokens::new(bytes);
        let mut starred = false;
        let mut opened = false;
        while let Some(token) = tokens.next() {
            if !matches!(token, Token::Hex(_) | Token::Text(_)) {
                self.decode();
            }
            match token {
                Token::Open => self.open(),
                Token::Close => self.close(),
                Token::Symbol(b'*') if opened => {
                    starred = true;
                }
                Token::Symbol(symbol) => self.symbol(symbol),
                Token::Word("bin", Some(count)) => tokens.jump(usize::try_from(count).unwrap_or(0)),
                Token::Word(name, number) => self.word(name, number, starred),
                Token::Hex(byte) => self.byte(byte),
                Token::Text(text) => text.iter().for_each(|byte| self.byte(*byte)),
            }
            let star = matches!(token, Token::Symbol(b'*'));
            opened = matches!(token, Token::Open) || opened && star;
            starred = starred && star;
        }
        self.decode();
        self.paragraph();
        self.end_table();
        (Some(self.title).filter(|title| !title.trim().is_empty()), self.blocks)
    }

    fn open(&mut self) {
        if self.stack.len() >= self.nesting {
            self.beyond += 1;
        } else {
            self.stack.push(self.state.clone());
        }
        self.skip = 0;
    }

    fn close(&mut self) {
        self.skip = 0;
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        if self.state.destination == Destination::ItemText {
            // A number that the program wrote counts; anything else is a bullet of some shape.
            let digits = self.name.trim().trim_end_matches(['.', ')']);
            self.marker = Some(digits.parse().map_or(Marker::Bullet, Marker::Number));
            self.name.clear();
        }
        if let Some(state) = self.stack.pop() {
            self.state = state;
        }
    }

    fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'~' => self.push(' '),
            b'_' => self.push('-'),
            b'{' | b'}' | b'\\' => self.push(char::from(symbol)),
            b'\r' | b'\n' => self.end_of_paragraph(),
            b'\t' => self.push('\t'),
            _ => {}
        }
    }

    fn word(&mut self, name: &str, number: Option<i32>, starred: bool) {
        if self.destination(name) {
            return;
        }
        if starred && !matches!(name, "shptxt" | "listtext" | "pntext") {
            self.state.destination = Destination::Skip;
            return;
        }
        let on = number != Some(0);
        match name {
            "ansicpg" => {
                self.default = code_page(number.unwrap_or(1252));
                self.state.encoding = self.default;
            }
            "mac" => self.state.encoding = encoding_rs::MACINTOSH,
            "f" if self.state.destination == Destination::Fonts => self.font = number.unwrap_or(0),
            "f" => {
                let font = number.unwrap_or(0);
                self.state.encoding = self.fonts.get(&font).copied().unwrap_or(self.default);
            }
            "fcharset" => {
                if let Some(encoding) = character_set(number.unwrap_or(0)) {
                    self.fonts.insert(self.font, encoding);
                }
            }
            "uc" => self.state.replacements = usize::try_from(number.unwrap_or(1)).unwrap_or(1).min(8),
            "u" => self.unicode(number.unwrap_or(0)),
            "v" => self.state.hidden = on,
            "par" | "sect" => self.end_of_paragraph(),
            "line" | "softline" => self.push('\n'),
            "page" | "softpage" => {
                self.end_of_paragraph();
                self.blocks.push(Block::PageBreak);
            }
            "tab" => self.push('\t'),
            "cell" | "nestcell" => self.cells.push(std::mem::take(&mut self.text)),
            "row" | "nestrow" => self.table.rows.push(std::mem::take(&mut self.cells)),
            _ => self.formatting(name, number, on),
        }
    }

    fn formatting(&mut self, name: &str, number: Option<i32>, on: bool) {
        match name {
            "pard" => {
                self.state.in_table = false;
                self.state.style = 0;
                self.state.list = false;
                self.state.level = 0;
                self.state.outline = None;
            }
            "intbl" => self.state.in_table = on,
            "s" => self.state.style = number.unwrap_or(0),
            "ls" => self.state.list = on,
            "ilvl" => self.state.level = usize::try_from(number.unwrap_or(0)).unwrap_or(0),
            "outlinelevel" => {
                self.state.outline =
                    number.and_then(|level| u8::try_from(level).ok()).filter(|level| *level < 9);
            }
            "plain" => self.state.hidden = false,
            _ => {
                let character = match name {
                    "emdash" => '—',
                    "endash" => '–',
                    "bullet" => '•',
                    "lquote" => '‘',
                    "rquote" => '’',
                    "ldblquote" => '“',
                    "rdblquote" => '”',
                    "emspace" | "enspace" | "qmspace" => ' ',
                    _ => return,
                };
                self.push(character);
            }
        }
    }

    /// Whether the word names where the group's text goes.
    fn destination(&mut self, name: &str) -> bool {
        let destination = match name {
            "fonttbl" => Destination::Fonts,
            "stylesheet" => Destination::Styles,
            "title" => Destination::Title,
            "listtext" | "pntext" => Destination::ItemText,
            "colortbl" | "pict" | "object" | "objdata" | "fldinst" | "info" | "filetbl" | "themedata"
            | "datastore" | "listtable" | "listoverridetable" | "rsidtbl" | "latentstyles" | "xmlnstbl"
            | "bkmkstart" | "bkmkend" | "nonshppict" | "generator" | "mmathPr" | "atnid" | "atnauthor"
            | "atndate" | "operator" | "author" | "sp" | "sn" | "sv" | "revtbl" | "header" | "footer"
            | "headerl" | "headerr" | "headerf" | "footerl" | "footerr" | "footerf" | "pgdsctbl" => {
                Destination::Skip
            }
            "shptxt" | "fldrslt" | "result" => Destination::Body,
            _ => return false,
        };
        // Within something skipped everything is, except titles inside the document's properties.
        if self.state.destination == Destination::Skip
            && destination != Destination::Title
            && name != "shptxt"
        {
            return true;
        }
        self.state.destination = destination;
        true
    }

    fn byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
        } else {
            self.bytes.push(byte);
        }
    }

    /// Decodes the bytes that have gathered in the current code page.
    fn decode(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let (text, _, _) = self.state.encoding.decode(&bytes);
        for character in text.chars() {
            self.push(character);
        }
    }

    fn unicode(&mut self, code: i32) {
        let unit = (code & 0xffff) as u16;
        let character = match (self.high.take(), unit) {
            (Some(high), 0xdc00..=0xdfff) => char::decode_utf16([high, unit]).next().and_then(Result::ok),
            (_, 0xd800..=0xdbff) => {
                self.high = Some(unit);
                None
            }
            // Symbol fonts keep their characters in the private area.
            (_, 0xf0b7) => Some('•'),
            (_, unit) => char::from_u32(u32::from(unit)),
        };
        if let Some(character) = character {
            self.push(character);
        }
        self.skip = self.state.replacements;
    }

    fn push(&mut self, character: char) {
        match self.state.destination {
            Destination::Body if !self.state.hidden => self.text.push(character),
            Destination::Title => self.title.push(character),
            Destination::ItemText => self.name.push(character),
            Destination::Styles if character == ';' => {
                let name = std::mem::take(&mut self.name).trim().to_lowercase();
                let level = match name.as_str() {
                    "title" => Some(1),
                    _ => name.strip_prefix("heading ").and_then(|level| level.parse().ok()),
                };
                if let Some(level) = level {
                    self.headings.insert(self.state.style, level);
                }
            }
            Destination::Styles => self.name.push(character),
            Destination::Body | Destination::Skip | Destination::Fonts => {}
        }
    }

    fn end_of_paragraph(&mut self) {
        match self.state.destination {
            Destination::Body => self.paragraph(),
            _ => self.push(' '),
        }
    }

    fn paragraph(&mut self) {
        if self.state.in_table {
            self.text.push(' ');
            return;
        }
        self.end_table();
        let text = std::mem::take(&mut self.text);
        let marker = self.marker.take();
        if text.trim().is_empty() {
            return;
        }
        let outline = self.state.outline.map(|level| level + 1);
        self.blocks.push(match outline.or_else(|| self.headings.get(&self.state.style).copied()) {
            Some(level) => Block::Heading(level, text),
            None if marker.is_some() || self.state.list => {
                Block::Item { depth: self.state.level, marker: marker.unwrap_or(Marker::Bullet), text }
            }
            None => Block::Paragraph(text),
        });
    }

    fn end_table(&mut self) {
        if !self.cells.is_empty() {
            self.table.rows.push(std::mem::take(&mut self.cells));
        }
        let table = std::mem::take(&mut self.table);
        if !table.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }
}

fn code_page(number: i32) -> &'static Encoding {
    let label = match number {
        932 => "shift_jis".into(),
        936 => "gbk".into(),
        949 => "euc-kr".into(),
        950 => "big5".into(),
        10000 => "macintosh".into(),
        65001 => "utf-8".into(),
        866 => "ibm866".into(),
        other => format!("windows-{other}"),
    };
    Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
}

/// The encoding of a font's character set; the default set says nothing.
fn character_set(number: i32) -> Option<&'static Encoding> {
    Some(code_page(match number {
        0 => 1252,
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    }))
}
