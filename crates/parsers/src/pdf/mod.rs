//! PDF: characters through the `hayro` interpreter, put in reading order by our own layout.
//!
//! Layout, in reading order: `ink` (characters) → `segments` → `grid` (ruled tables) → `columns` (blocks) → `lines` (with `bidi`) →
//! `running` (headers and footers go) → `markup` (with `tables` and `figures`). `rescue` is for pages that come out blank, garbled or
//! as no language (`crate::likely`), `scanned` lays out what was recognised in pictures.

mod annotations;
mod bidi;
mod columns;
mod figures;
mod grid;
mod ink;
mod labels;
mod lines;
mod markup;
mod rescue;
mod running;
mod scanned;
mod segments;
mod tables;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use engine::document::Page as DocumentPage;
use engine::seams::parser::{Drawing, ParseFailure};
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError};
use hayro_interpret::kurbo::Rect;
use hayro_interpret::util::TransformExt;
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};

use crate::limits::LONGEST_SIDE;
use crate::{Job, Limits, Parsed, blocks, failure, likely, pages};

use ink::{Collector, Fonts, Ink, TooMuch};
use lines::Line;
use rescue::Rescue;
use running::Sheet;

pub(crate) use scanned::recognised_page;

/// Fonts and colours of so many pages are kept; then memory is worth more than the time to read them again.
const PAGES_PER_CACHE: usize = 256;
/// With fewer characters than this beside a picture that fills the page, the picture is the text.
const FEW_CHARACTERS: usize = 50;
/// A picture that covers this share of the page is the page.
const PICTURE_SHARE: f64 = 0.5;

/// Reads a PDF.
pub(crate) fn parse(bytes: Vec<u8>, job: &Job<'_>) -> Result<Parsed, ParseFailure> {
    let bytes = Arc::new(bytes);
    let pdf = open(bytes.clone())?;
    let count = pdf.pages().len();
    if count > job.limits.pages as usize {
        return Err(failure::limits(format!("the PDF has {count} pages; the limit is {}", job.limits.pages)));
    }
    if count == 0 {
        return Err(failure::damaged("the PDF has no pages; open it in a PDF program and save it again"));
    }
    let settings = InterpreterSettings::default();
    let mut rescue = Rescue::new(&bytes, job);
    let mut fonts = Fonts::default();
    let mut sheets = Vec::with_capacity(count);
    let mut drafts = Vec::with_capacity(count);
    let mut cache = InterpreterCache::new();
    for (index, page) in pdf.pages().iter().enumerate() {
        if index % PAGES_PER_CACHE == PAGES_PER_CACHE - 1 {
            cache = InterpreterCache::new();
        }
        let read = read_page(page, &pdf, &cache, &settings, job.limits, &mut fonts);
        let (sheet, mut draft) = draft(page, read);
        draft.rescue(page, &settings, &mut rescue, u32::try_from(index + 1).unwrap_or(u32::MAX));
        sheets.push(sheet);
        drafts.push(draft);
        (job.progress)(u32::try_from(index + 1).unwrap_or(u32::MAX), u32::try_from(count).ok());
    }
    running::drop_running(&mut sheets);
    let sizes = markup::Sizes::measure(sheets.iter().flat_map(|sheet| &sheet.lines));
    let mut labels = labels::labels(&pdf, count).into_iter();
    let pages = sheets
        .into_iter()
        .zip(drafts)
        .map(|(sheet, draft)| draft.finish(&sheet, &sizes, &labels.next().unwrap_or_default()))
        .collect();
    let title = pdf.metadata().title.as_deref().map(text_string);
    Ok(Parsed { title, pages, warnings: Vec::new() })
}

/// Draws a page of a PDF as a PNG.
pub(crate) fn draw(bytes: Vec<u8>, drawing: Drawing) -> Result<Vec<u8>, ParseFailure> {
    let pdf = open(Arc::new(bytes))?;
    let page = drawing.page.checked_sub(1).and_then(|at| pdf.pages().get(at as usize));
    let page = page.ok_or_else(|| failure::damaged("the PDF has no such page"))?;
    let (width, height) = page.render_dimensions();
    let undrawn = || failure::damaged("the page is damaged and cannot be drawn");
    if !(width > 0.0 && height > 0.0) {
        return Err(undrawn());
    }
    // A quarter of a pixel more, because the renderer rounds down.
    let scale = ((drawing.width as f32 + 0.25) / width).min(LONGEST_SIDE as f32 / height);
    let drawn = rescue::render(page, &InterpreterSettings::default(), scale).ok_or_else(undrawn)?;
    drawn.into_png().map_err(|_| undrawn())
}

fn open(bytes: Arc<Vec<u8>>) -> Result<Pdf, ParseFailure> {
    let opened = catch_unwind(AssertUnwindSafe(|| Pdf::new(bytes)));
    match opened {
        Ok(Ok(pdf)) => Ok(pdf),
        Ok(Err(LoadPdfError::Decryption(DecryptionError::PasswordProtected))) => {
            Err(failure::locked("the PDF asks for a password; save a copy without one and upload that"))
        }
        Ok(Err(LoadPdfError::Decryption(_))) => Err(failure::locked(
            "the PDF is encrypted in a way we cannot open; save a copy without encryption",
        )),
        _ => Err(failure::damaged("the PDF is damaged; open it in a PDF program and save it again")),
    }
}

/// What reading one page gave.
struct Reading {
    ink: Ink,
    warning: Option<String>,
}

fn read_page<'a>(
    page: &Page<'a>,
    pdf: &'a Pdf,
    cache: &InterpreterCache<'a>,
    settings: &InterpreterSettings,
    limits: &Limits,
    fonts: &mut Fonts,
) -> Reading {
    let (width, height) = page.render_dimensions();
    let (width, height) = (f64::from(width), f64::from(height));
    // A short document keeps its page headings, declared or not: they may be all it says about itself.
    let long = pdf.pages().len() >= running::FEWEST_PAGES;
    let mut collector = Collector::new((width, height), limits.glyphs_per_page, long, fonts);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let transform = page.initial_transform(true).to_kurbo();
        let bounds = Rect::new(0.0, 0.0, width, height);
        let mut context = Context::new(transform, bounds, cache, pdf.xref(), settings.clone());
        interpret_page(page, &mut context, &mut collector);
    }));
    let warning = match outcome {
        Ok(()) => None,
        Err(cause) if cause.is::<TooMuch>() => {
            Some("the page draws more than the limit; its text is cut".to_owned())
        }
        Err(_) => Some("the page is damaged; some of its text may be missing".to_owned()),
    };
    Reading { ink: collector.ink, warning }
}

/// A page before headings are known and running lines are dropped.
struct Draft {
    warnings: Vec<String>,
    additions: Vec<blocks::Block>,
    /// A reading that replaces the lines.
    replacement: Option<DocumentPage>,
    characters: usize,
    garbled: bool,
    /// The text of the page, where it reads like no language.
    unlikely: Option<String>,
    /// Whether a picture fills the page.
    scanned: bool,
    /// Whether anything at all is drawn.
    drawn: bool,
}

fn draft(page: &Page<'_>, reading: Reading) -> (Sheet, Draft) {
    let Reading { ink, warning } = reading;
    let (width, height) = page.render_dimensions();
    let lines = layout(&ink);
    let characters = lines.iter().map(|line| line.text.chars().filter(|c| !c.is_whitespace()).count()).sum();
    let text: String = lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
    let draft = Draft {
        warnings: warning.into_iter().collect(),
        additions: annotations::blocks(page),
        replacement: None,
        characters,
        garbled: characters + ink.missing > 0 && rescue::is_garbled(&ink.text, ink.missing),
        unlikely: (likely::is_likely(&text) == Some(false)).then_some(text),
        scanned: ink.pictures > PICTURE_SHARE * f64::from(width) * f64::from(height),
        drawn: ink.paths > 0 || ink.missing > 0,
    };
    (Sheet { lines, width, height }, draft)
}

/// The lines of a page, in reading order: text along the page first, turned text after it.
fn layout(ink: &Ink) -> Vec<Line> {
    let segments = segments::join(ink);
    let right_to_left = bidi::mostly_right_to_left(segments.iter().map(|segment| segment.text.as_str()));
    let segments = grid::take_tables(segments, &ink.rules, right_to_left);
    let mut groups: Vec<(i32, Vec<segments::Segment>)> = Vec::new();
    for segment in segments {
        match groups.iter_mut().find(|(direction, _)| *direction == segment.direction) {
            Some((_, group)) => group.push(segment),
            None => groups.push((segment.direction, vec![segment])),
        }
    }
    groups.sort_by_key(|(_, group)| {
        std::cmp::Reverse(group.iter().map(|segment| segment.text.len()).sum::<usize>())
    });
    let mut all = Vec::new();
    let mut block = 0;
    for (_, group) in groups {
        for segments in columns::blocks(group, right_to_left) {
            all.extend(lines::lines(segments, block, right_to_left));
            block += 1;
        }
    }
    all
}

impl Draft {
    /// Asks for a second reading where the first is blank or garbled.
    fn rescue<'p>(
        &mut self,
        page: &'p Page<'p>,
        settings: &InterpreterSettings,
        rescue: &mut Rescue<'_>,
        number: u32,
    ) {
        let blank = self.characters == 0;
        if self.garbled || blank && self.drawn && !self.scanned {
            let better = rescue.opinion(number).filter(|text| !rescue::is_garbled(text, 0));
            if let Some(text) = better {
                self.replacement = Some(pages::page("", &text, 0));
                return;
            }
        }
        if let Some(text) = self.unlikely.take().filter(|_| !self.garbled) {
            if let Some(page) = rescue.seen_otherwise(page, settings, &text) {
                self.warnings.push(
                    "the text that this page carries is not what it shows; its picture was read".into(),
                );
                self.replacement = Some(page);
            }
            return;
        }
        let scanned = self.scanned && self.characters < FEW_CHARACTERS;
        if !(scanned || self.garbled || blank && self.drawn) {
            return;
        }
        match rescue.recognise(page, settings) {
            Ok(page) if page.text.len() > self.characters || self.garbled && !page.text.is_empty() => {
                self.replacement = Some(page);
            }
            Ok(page) if blank => self.warnings.extend(page.warnings),
            Ok(_) => {}
            Err(why) if blank => self.warnings.push(why.warning()),
            Err(_) => {}
        }
        if self.garbled && self.replacement.is_none() {
            self.warnings.push(
                "the fonts of this page do not say what their characters mean; its text is garbled".into(),
            );
        }
    }

    fn finish(self, sheet: &Sheet, sizes: &markup::Sizes, label: &str) -> DocumentPage {
        let additions = blocks::markdown(&self.additions);
        let mut page = match self.replacement {
            Some(page) => page,
            None => {
                let (written, tables) = markup::write(sheet, sizes);
                let mut page = pages::page("", &written.text, tables);
                page.layout = written.layout(&page);
                page
            }
        };
        page.label = crate::clean::one_line(label);
        if !additions.is_empty() {
            page.text = crate::clean::page_text(&format!("{}\n\n{additions}", page.text));
        }
        if !page.text.is_empty() {
            page.warnings.retain(|warning| warning != pages::NO_TEXT);
        } else if !self.warnings.is_empty() {
            page.warnings.clear();
        } else if !self.drawn {
            page.warnings = vec!["this page is blank".into()];
        }
        page.warnings.extend(self.warnings);
        page
    }
}

/// Decodes a text string of a PDF: UTF-16 or UTF-8 with a mark, else Latin letters.
fn text_string(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, rest @ ..] => encoding_rs::UTF_16BE.decode_without_bom_handling(rest).0.into_owned(),
        [0xff, 0xfe, rest @ ..] => encoding_rs::UTF_16LE.decode_without_bom_handling(rest).0.into_owned(),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ if std::str::from_utf8(bytes).is_ok() => String::from_utf8_lossy(bytes).into_owned(),
        _ => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    }
}
