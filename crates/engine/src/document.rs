//! A document as parsers give it and the index keeps it: pages of text.

use serde::{Deserialize, Serialize};

use crate::layout::Layout;

/// How a page's text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Headings, lists and tables are marked up.
    Markdown,
    /// Nothing is marked up.
    Text,
}

/// One page of a document's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Its place in the document, from 1.
    pub number: u32,
    /// What the document itself calls it: a printed page number, a slide title, a sheet name.
    pub label: String,
    /// The whole text, the only thing offsets refer to (in code points).
    pub text: String,
    /// How to read the text.
    pub format: Format,
    /// Whether the text was recognised from a picture.
    pub ocr: bool,
    /// How sure the recognition is, 0–1; `None` where the text was read rather than recognised.
    pub confidence: Option<f32>,
    /// How many tables the page holds.
    pub tables: u32,
    /// What a reader of this page should know, such as "no text found on this page".
    pub warnings: Vec<String>,
    /// Where the words stand, for pages that have a look of their own: those of PDFs and pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
}

/// A whole document, as a parser gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The media type sniffed from the bytes, such as `application/pdf`.
    pub media_type: String,
    /// The document's own title, where it states one.
    pub title: Option<String>,
    /// The pages, in order; never empty.
    pub pages: Vec<Page>,
    /// What a reader of the whole document should know.
    pub warnings: Vec<String>,
}
