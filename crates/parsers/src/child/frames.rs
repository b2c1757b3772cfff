//! What a child tells its parent: one JSON value a line. The parent trusts none of it, so whatever can grow is counted
//! while it is read.

use std::fmt;

use engine::document::{Format, Page};
use engine::layout::Layout;
use engine::seams::parser::{Drawing, ParseFailure};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::sandbox::Missing;
use crate::Limits;

/// Warnings of one page or document. A reader looks at a few; a thousand say the same.
const MOST_WARNINGS: usize = 100;

/// What the parent asks for, in a file of the child's folder. The input itself is the child's standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) name: String,
    pub(super) limits: Limits,
    /// Whether a child that could not be confined must refuse to read.
    pub(super) required: bool,
    /// The page to draw; without one the file is read.
    #[serde(default)]
    pub(super) drawing: Option<Drawing>,
}

/// What the child answers, on its standard output.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Frame {
    /// The first frame: the child has given up its rights, but for these.
    Confined { missing: Few<Missing> },
    /// How far it has come; recognised pages are counted because they take longer.
    Progress { done: u32, total: Option<u32>, recognised: u32 },
    /// The next page.
    Page(PageFrame),
    /// All pages are sent.
    Done { media_type: String, title: Option<String>, warnings: Few<String> },
    /// The picture that was asked for follows this line: so many bytes.
    Picture { bytes: u64 },
    /// The file could not be read.
    Failed(ParseFailure),
}

/// A page on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PageFrame {
    pub(super) number: u32,
    label: String,
    pub(super) text: String,
    format: Format,
    ocr: bool,
    confidence: Option<f32>,
    tables: u32,
    warnings: Few<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    layout: Option<Layout>,
}

impl From<Page> for PageFrame {
    fn from(page: Page) -> Self {
        let Page { number, label, text, format, ocr, confidence, tables, warnings, layout } = page;
        let warnings = Few::first(warnings);
        Self { number, label, text, format, ocr, confidence, tables, warnings, layout }
    }
}

impl PageFrame {
    /// The page, with everything that is shown in a line cut to a line.
    pub(super) fn page(self) -> Page {
        let Self { number, label, text, format, ocr, confidence, tables, warnings, layout } = self;
        Page {
            layout: layout.filter(|layout| layout.fits(&text)),
            number,
            label: cut(label),
            text,
            format,
            ocr,
            confidence: confidence.map(|confidence| confidence.clamp(0.0, 1.0)),
            tables,
            warnings: warnings.lines(),
        }
    }
}

/// A list that refuses to grow: an element takes two bytes of JSON and dozens of memory.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Few<T>(pub(super) Vec<T>);

impl<T> Few<T> {
    /// As many as the parent accepts.
    pub(super) fn first(mut all: Vec<T>) -> Self {
        all.truncate(MOST_WARNINGS);
        Self(all)
    }
}

impl Few<String> {
    pub(super) fn lines(self) -> Vec<String> {
        self.0.into_iter().map(cut).collect()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FewVisitor(std::marker::PhantomData))
    }
}

struct FewVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
    type Value = Few<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST_WARNINGS}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Few<T>, A::Error> {
        let mut few = Vec::new();
        while let Some(element) = elements.next_element()? {
            if few.len() == MOST_WARNINGS {
                return Err(serde::de::Error::invalid_length(MOST_WARNINGS + 1, &self));
            }
            few.push(element);
        }
        Ok(Few(few))
    }
}

/// Cuts what a list or a message shows to a length that it can show.
pub(super) fn cut(text: String) -> String {
    /// The longest sentence that our parsers write, with a file name of the longest kind in it.
    const CHARACTERS: usize = 600;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
