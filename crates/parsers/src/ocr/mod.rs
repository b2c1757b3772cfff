//! Reads text from pictures: with our own networks, or with the `tesseract` program where an operator wants it.

mod tesseract;

use std::io::Cursor;

use engine::document::Page;
use image::ImageReader;
use recognition::{Gray, Scan};

use crate::limits::{Limits, Ocr};
use crate::{pages, tiff};

/// Why a picture was not read, in words for a page's warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Text recognition is switched off.
    Off,
    /// It was tried and failed.
    Failed(String),
}

impl Unread {
    pub(crate) fn warning(&self) -> String {
        match self {
            Self::Off => "no text found; text recognition is switched off".into(),
            Self::Failed(why) => format!("no text found; text recognition failed: {why}"),
        }
    }
}

/// A page whose picture could not be read: empty, with the reason.
pub(crate) fn unread_page(why: &Unread) -> Page {
    let mut page = pages::page("", "", 0);
    page.warnings = vec![why.warning()];
    page
}

/// A page whose picture shows no words.
pub(crate) fn wordless_page() -> Page {
    let mut page = pages::page("", "", 0);
    page.warnings = vec!["no text found in the picture of this page".into()];
    page
}

/// What was made of a picture.
pub(crate) enum Read {
    /// A page, as `tesseract` lays it out.
    Page(Page),
    /// Words and their places, not laid out yet.
    Scan(Scan),
}

/// Recognises the text of a picture file; formats with several pictures give several.
pub(crate) fn read(picture: &[u8], limits: &Limits) -> Result<Vec<Read>, Unread> {
    match limits.ocr.here() {
        Ocr::Off => Err(Unread::Off),
        Ocr::Tesseract => Ok(tesseract::read(picture, limits)?.into_iter().map(Read::Page).collect()),
        Ocr::BuiltIn => read_pictures(picture, limits),
    }
}

fn read_pictures(picture: &[u8], limits: &Limits) -> Result<Vec<Read>, Unread> {
    let damaged = || Unread::Failed("the picture is damaged, or larger than the limit".into());
    let first = decode(picture, limits).ok_or_else(damaged)?;
    let mut read = vec![read_gray(&first)];
    if matches!(picture, [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..]) {
        let mut picture = picture.to_vec();
        // Each time the next picture becomes the first.
        while read.len() < limits.ocr_pages as usize && tiff::turn_to(&mut picture, 2).is_some() {
            read.push(match decode(&picture, limits) {
                Some(gray) => read_gray(&gray),
                None => Read::Page(unread_page(&damaged())),
            });
        }
    }
    Ok(read)
}

/// Recognises the text of a picture with the networks.
pub(crate) fn read_gray(gray: &Gray) -> Read {
    Read::Scan(recognition::read(gray))
}

/// A picture file in shades of grey; `None` where it is damaged, of an unknown kind or too large.
fn decode(bytes: &[u8], limits: &Limits) -> Option<Gray> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    let mut most = image::Limits::default();
    most.max_alloc = Some(limits.image_pixels.saturating_mul(8).min(limits.memory_bytes / 2));
    reader.limits(most);
    let picture = reader.decode().ok()?;
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    if width == 0 || height == 0 || (width * height) as u64 > limits.image_pixels {
        return None;
    }
    if picture.color().has_alpha() {
        return Some(Gray::of_colours(width, height, &picture.into_rgba8()));
    }
    Some(Gray::new(width, height, picture.into_luma8().into_raw()))
}

/// A recognised page that says how sure it is.
pub(crate) fn finished(mut page: Page, confidence: f32) -> Page {
    /// Below this the words are more guess than text.
    const DOUBTFUL: f32 = 0.6;
    page.ocr = true;
    page.confidence = Some(confidence.clamp(0.0, 1.0));
    if confidence < DOUBTFUL {
        page.warnings.push("the text was recognised from a poor picture and may be wrong".into());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switched_off_says_so() {
        let limits = Limits { ocr: Ocr::Off, ..Limits::default() };
        assert_eq!(read(b"", &limits).err(), Some(Unread::Off));
    }
}
