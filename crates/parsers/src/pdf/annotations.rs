//! Reads what readers and forms added to a PDF page: comments, and field values that are not drawn.

use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Object, String as PdfString};
use hayro_interpret::hayro_syntax::page::Page;

use super::text_string;
use crate::blocks::Block;
use crate::clean;
use crate::office::comments::comment_block;

/// Annotations of one page; forms have hundreds.
const MOST: usize = 5_000;

/// Comments and undrawn field values of a page.
pub(super) fn blocks(page: &Page<'_>) -> Vec<Block> {
    let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else { return Vec::new() };
    annotations.iter::<Dict<'_>>().take(MOST).filter_map(|annotation| block(&annotation)).collect()
}

fn block(annotation: &Dict<'_>) -> Option<Block> {
    let kind = annotation.get::<Name<'_>>(b"Subtype")?;
    let text = |key: &[u8]| annotation.get::<PdfString<'_>>(key).map(|text| text_string(text.as_bytes()));
    let drawn = annotation.contains_key(b"AP");
    match kind.as_str() {
        "Widget" if !drawn => {
            let value = value(annotation)?;
            let name = text(b"TU").or_else(|| text(b"T")).unwrap_or_default();
            Some(Block::Paragraph(clean::one_line(&format!("{name}: {value}"))))
        }
        // Free text is drawn on the page, where its appearance is stored.
        "FreeText" if drawn => None,
        "Text" | "FreeText" | "Highlight" | "Underline" | "StrikeOut" | "Squiggly" | "Caret" | "Square"
        | "Circle" | "Ink" | "Stamp" => {
            let words = text(b"Contents").filter(|words| !words.trim().is_empty())?;
            Some(comment_block(text(b"T").as_deref(), "", &words))
        }
        _ => None,
    }
}

/// The value of a form field; kids of a field inherit it.
fn value(field: &Dict<'_>) -> Option<String> {
    let own = |field: &Dict<'_>| match field.get::<Object<'_>>(b"V")? {
        Object::String(text) => Some(text_string(text.as_bytes())),
        Object::Name(name) if name.as_str() != "Off" => Some(name.as_str().to_owned()),
        _ => None,
    };
    own(field)
        .or_else(|| field.get::<Dict<'_>>(b"Parent").and_then(|parent| own(&parent)))
        .filter(|value| !value.trim().is_empty())
}
