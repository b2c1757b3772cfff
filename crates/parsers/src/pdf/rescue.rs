//! Second ways to read a PDF page: text recognition of its picture, and the opinion of `pdftotext`.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use engine::document::Page as DocumentPage;
use hayro::vello_cpu::Pixmap;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings};
use hayro_interpret::InterpreterSettings;
use hayro_interpret::hayro_syntax::page::Page;
use recognition::Gray;

use super::scanned::recognised_page;
use crate::ocr::{self, Unread};
use crate::programs::{bounded_output, installed};
use crate::{Job, Limits, Ocr, clean, likely};

/// Text recognition reads ordinary print well from here on; more takes longer than it gains.
const DOTS_PER_INCH: f32 = 200.0;
/// Failures of recognition, mostly for want of time, after which the other pages of a file are left unread.
const MOST_FAILURES: u32 = 2;
/// Pages given to `pdftotext`, because each run reads the whole file again.
const MOST_OPINIONS: u32 = 60;
/// Pages whose text is compared with their picture for nothing; then a file is taken at its word.
const MOST_COMPARED: u32 = 2;
/// Seconds one of its runs may take.
const OPINION_SECONDS: u64 = 10;
/// Bytes of one page's text.
const LONGEST_OPINION: u64 = 8 << 20;

/// Keeps count of what rescue costs one file.
pub(super) struct Rescue<'a> {
    limits: &'a Limits,
    bytes: &'a [u8],
    recognised: &'a AtomicU32,
    /// Pages whose recognition failed; after some, the file is not worth the time.
    failures: u32,
    opinions: u32,
    /// How often the text of a page was compared with what it shows, for nothing.
    compared: u32,
}

impl<'a> Rescue<'a> {
    pub(super) fn new(bytes: &'a [u8], job: &Job<'a>) -> Self {
        Self { limits: job.limits, bytes, recognised: job.recognised, failures: 0, opinions: 0, compared: 0 }
    }

    /// Recognises the text in the picture of a page.
    pub(super) fn recognise<'p>(
        &mut self,
        page: &'p Page<'p>,
        settings: &InterpreterSettings,
    ) -> Result<DocumentPage, Unread> {
        if self.limits.ocr == Ocr::Off {
            return Err(Unread::Off);
        }
        if self.recognised.load(Ordering::Relaxed) >= self.limits.ocr_pages {
            let most = self.limits.ocr_pages;
            return Err(Unread::Failed(format!("only the first {most} scanned pages of a file are read")));
        }
        if self.failures >= MOST_FAILURES {
            return Err(Unread::Failed("it failed on other pages of this file before".into()));
        }
        self.recognised.fetch_add(1, Ordering::Relaxed);
        let picture = draw(page, settings, self.limits.image_pixels)?;
        if self.limits.ocr.here() == Ocr::BuiltIn {
            let (width, height) = (usize::from(picture.width()), usize::from(picture.height()));
            let gray = Gray::of_colours(width, height, picture.data_as_u8_slice());
            drop(picture);
            return Ok(recognised_page(ocr::read_gray(&gray)));
        }
        let png = picture.into_png().map_err(|_| Unread::Failed("the page could not be drawn".into()))?;
        match ocr::read(&png, self.limits) {
            Ok(mut read) => Ok(recognised_page(read.swap_remove(0))),
            Err(why) => {
                self.failures += 1;
                Err(why)
            }
        }
    }

    /// What a page shows, where that is a language and the text that the page carries is not: fonts can tell wrong letters. Code and
    /// lists of names read like no language either, so that a file is taken at its word once both say the same, or where pictures tell nothing.
    pub(super) fn seen_otherwise<'p>(
        &mut self,
        page: &'p Page<'p>,
        settings: &InterpreterSettings,
        told: &str,
    ) -> Option<DocumentPage> {
        if self.limits.ocr.here() != Ocr::BuiltIn || self.compared >= MOST_COMPARED {
            return None;
        }
        let seen = self.recognise(page, settings).ok()?;
        if likely::agree(&seen.text, told) {
            self.compared = MOST_COMPARED;
            return None;
        }
        if likely::is_likely(&seen.text) == Some(true) {
            return Some(seen);
        }
        self.compared += 1;
        None
    }

    /// What `pdftotext` reads on a page, where it is installed.
    pub(super) fn opinion(&mut self, number: u32) -> Option<String> {
        if !self.limits.second_opinion || self.opinions >= MOST_OPINIONS {
            return None;
        }
        let program = installed("pdftotext")?;
        self.opinions += 1;
        let number = number.to_string();
        let mut command = Command::new(program);
        command.args(["-q", "-enc", "UTF-8", "-f", &number, "-l", &number, "-", "-"]);
        let time = Duration::from_secs(OPINION_SECONDS);
        let output = bounded_output(command, self.bytes, time, LONGEST_OPINION).ok()??;
        let text = clean::page_text(&String::from_utf8_lossy(&output));
        Some(text).filter(|text| !text.is_empty())
    }
}

/// Draws a page as large as text recognition likes it and the limit allows.
fn draw<'p>(page: &'p Page<'p>, settings: &InterpreterSettings, most_pixels: u64) -> Result<Pixmap, Unread> {
    let failed = |why: &str| Unread::Failed(why.to_owned());
    let (width, height) = page.render_dimensions();
    if !(width > 1.0 && height > 1.0) {
        return Err(failed("the page has no size"));
    }
    // The drawing program's own limit on width and height.
    const LONGEST_SIDE: f32 = 12_000.0;
    let by_area = (most_pixels as f32 / (width * height)).sqrt();
    let scale = (DOTS_PER_INCH / 72.0).min(by_area).min(LONGEST_SIDE / width.max(height));
    render(page, settings, scale).ok_or_else(|| failed("the page could not be drawn"))
}

/// A page on white, so many times as large as it is in points.
pub(super) fn render<'p>(page: &'p Page<'p>, settings: &InterpreterSettings, scale: f32) -> Option<Pixmap> {
    let drawn = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let picture = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
        let cache = RenderCache::new();
        hayro::render(page, &cache, settings, &RenderSettings::default(), &picture)
    }));
    drawn.ok()
}

/// Whether a text reads like words rather than like the noise of a font without meaning.
pub(super) fn is_garbled(text: &str, missing: usize) -> bool {
    /// One odd character in five: beyond formulas and symbols, below any unread font.
    const ODD_SHARE: usize = 5;
    let mut odd = missing;
    let mut all = missing;
    for character in text.chars().filter(|character| !character.is_whitespace()) {
        all += 1;
        let unread = matches!(character, '\u{fffd}' | '\u{e000}'..='\u{f8ff}') || character.is_control();
        odd += usize::from(unread);
    }
    odd * ODD_SHARE > all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_fonts_are_noticed() {
        assert!(is_garbled("\u{1}\u{2}\u{e001} ok", 0));
        assert!(is_garbled("a few words", 40));
        assert!(!is_garbled("An ordinary sentence with one \u{f0b7} symbol.", 1));
    }
}
