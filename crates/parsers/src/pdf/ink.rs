//! Gathers the characters a PDF page draws, with their places.

use std::collections::HashMap;

use hayro_interpret::font::{Glyph as DrawnGlyph, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::hayro_syntax::object::{Dict, Name, String as PdfString};
use hayro_interpret::kurbo::{Affine, BezPath, PathEl, Point, Rect, Shape};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};
use skrifa::MetadataProvider;

use super::text_string;

/// Runs compared to find text that is drawn twice to look bold; such copies follow within a few runs.
const RUNS_COMPARED: usize = 24;

/// One character (or ligature) on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glyph {
    /// Where its text lies in [`Ink::text`].
    pub(super) start: u32,
    pub(super) end: u32,
    /// Where it starts and ends on its baseline, in points from the top left corner.
    pub(super) from: (f32, f32),
    pub(super) to: (f32, f32),
    pub(super) size: f32,
    /// The direction of its baseline.
    pub(super) angle: f32,
    pub(super) weight: Weight,
}

/// How bold letters are: what share of the room they take is ink.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    ink: f32,
    room: f32,
}

impl Weight {
    pub(super) fn add(&mut self, other: Weight) {
        self.ink += other.ink;
        self.room += other.room;
    }

    /// `None` where no letter was drawn from an outline.
    pub(super) fn share(self) -> Option<f32> {
        (self.room > 0.0).then(|| self.ink / self.room)
    }

    #[cfg(test)]
    pub(super) fn of(share: f32) -> Self {
        Weight { ink: share, room: 1.0 }
    }
}

/// All that was drawn on one page.
#[derive(Default)]
pub(super) struct Ink {
    pub(super) text: String,
    pub(super) glyphs: Vec<Glyph>,
    /// Characters whose font does not say what they mean.
    pub(super) missing: usize,
    /// The area covered by pictures, in square points.
    pub(super) pictures: f64,
    pub(super) paths: usize,
    /// Lines that are drawn along or across the page.
    pub(super) rules: Vec<Rule>,
}

/// A straight line along or across the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    pub(super) horizontal: bool,
    /// Its place: from the top where it is horizontal, else from the left.
    pub(super) at: f32,
    pub(super) from: f32,
    pub(super) to: f32,
}

/// Lines kept of one page; a page with more is a drawing.
const MOST_RULES: usize = 5_000;

/// What leaves the interpreter when a page draws more than the limit.
pub(super) struct TooMuch;

/// What is known of the fonts of a document.
#[derive(Default)]
pub(super) struct Fonts {
    /// Characters that they do not name but their files do: glyph number to character, by font.
    rescued: HashMap<u128, HashMap<u32, char>>,
    weights: HashMap<u128, Weight>,
}

/// What stands for the text of a marked part of the page.
struct Marked {
    /// Page headings and numbers that the file itself declares as such.
    artifact: bool,
    /// Text that replaces what is drawn, until the first character takes it.
    replacement: Option<String>,
    replaced: bool,
}

/// The device that gathers.
pub(super) struct Collector<'r> {
    pub(super) ink: Ink,
    limit: usize,
    drawn: usize,
    /// Whether lines that the file declares as page headings are left out.
    drop_artifacts: bool,
    /// The page, and a margin around it: text beyond it cannot be seen.
    bounds: Rect,
    marked: Vec<Marked>,
    starts: Vec<(f32, f32, u32, u32)>,
    fonts: &'r mut Fonts,
}

impl<'r> Collector<'r> {
    pub(super) fn new(size: (f64, f64), limit: usize, drop_artifacts: bool, fonts: &'r mut Fonts) -> Self {
        // Descenders and crop boxes that cut a little too much.
        const MARGIN: f64 = 8.0;
        let bounds = Rect::new(-MARGIN, -MARGIN, size.0 + MARGIN, size.1 + MARGIN);
        Self {
            ink: Ink::default(),
            limit,
            drawn: 0,
            drop_artifacts,
            bounds,
            marked: Vec::new(),
            starts: Vec::new(),
            fonts,
        }
    }

    /// Nothing in the interpreter can be told to stop, so it is left by unwinding, which its caller catches.
    fn count(&self, drawn: usize) {
        if drawn > self.limit {
            std::panic::resume_unwind(Box::new(TooMuch));
        }
    }

    fn unicode(&mut self, glyph: &DrawnGlyph<'_>) -> Option<BfString> {
        if let Some(text) =
            glyph.as_unicode().filter(|text| !matches!(text, BfString::Char('\0' | '\u{fffd}')))
        {
            return Some(text);
        }
        let DrawnGlyph::Outline(outline) = glyph else { return None };
        let font = outline.font_data()?;
        let map = self.fonts.rescued.entry(font.cache_key).or_insert_with(|| {
            let bytes: &[u8] = (*font.data).as_ref();
            match skrifa::FontRef::new(bytes) {
                Ok(file) => file
                    .charmap()
                    .mappings()
                    .filter_map(|(code, glyph)| Some((glyph.to_u32(), char::from_u32(code)?)))
                    // Symbol fonts map into the private area, which means nothing to a reader.
                    .filter(|(_, character)| !('\u{e000}'..='\u{f8ff}').contains(character))
                    .collect(),
                Err(_) => HashMap::new(),
            }
        });
        map.get(&outline.glyph_id().to_u32()).copied().map(BfString::Char)
    }

    /// Notes the straight lines of a path: those that are stroked, and filled parts that are as thin as a line.
    fn note_rules(&mut self, path: impl Iterator<Item = PathEl>, transform: Affine, mode: &DrawMode) {
        /// Elements of a path that are looked at: a table in one path has some thousand.
        const MOST_ELEMENTS: usize = 10_000;
        if self.ink.rules.len() >= MOST_RULES {
            return;
        }
        let stroked = matches!(mode, DrawMode::Stroke(_) | DrawMode::FillAndStroke(..));
        let (mut first, mut last) = (Point::ZERO, Point::ZERO);
        let mut part: Option<Rect> = None;
        for element in path.take(MOST_ELEMENTS) {
            let next = match element {
                PathEl::MoveTo(point) => {
                    self.note_thin(part.take(), stroked);
                    first = transform * point;
                    last = first;
                    part = Some(Rect::from_points(first, first));
                    continue;
                }
                PathEl::LineTo(point) => transform * point,
                PathEl::ClosePath => first,
                PathEl::QuadTo(_, point) | PathEl::CurveTo(_, _, point) => {
                    part = None;
                    last = transform * point;
                    continue;
                }
            };
            if stroked {
                self.note_line(last, next);
            }
            part = part.map(|part| part.union_pt(next));
            last = next;
        }
        self.note_thin(part, stroked);
    }

    fn note_thin(&mut self, part: Option<Rect>, stroked: bool) {
        /// Lines of tables are thinner.
        const THIN: f64 = 3.0;
        let Some(part) = part.filter(|_| !stroked) else { return };
        let middle = part.center();
        if part.height() <= THIN && part.width() > part.height() {
            self.note_line(Point::new(part.x0, middle.y), Point::new(part.x1, middle.y));
        } else if part.width() <= THIN {
            self.note_line(Point::new(middle.x, part.y0), Point::new(middle.x, part.y1));
        }
    }

    fn note_line(&mut self, from: Point, to: Point) {
        /// Shorter ones are parts of drawn letters and symbols.
        const SHORTEST: f64 = 4.0;
        const STRAIGHT: f64 = 1.0;
        let (across, down) = ((to.x - from.x).abs(), (to.y - from.y).abs());
        let horizontal = down <= STRAIGHT && across >= SHORTEST;
        let vertical = across <= STRAIGHT && down >= SHORTEST;
        if !(horizontal || vertical) || self.ink.rules.len() >= MOST_RULES {
            return;
        }
        let (at, one, other) = if horizontal {
            ((from.y + to.y) / 2.0, from.x, to.x)
        } else {
            ((from.x + to.x) / 2.0, from.y, to.y)
        };
        let (start, end) = (one.min(other) as f32, one.max(other) as f32);
        self.ink.rules.push(Rule { horizontal, at: at as f32, from: start, to: end });
    }

    fn weight(&mut self, glyph: &DrawnGlyph<'_>, text: std::ops::Range<usize>) -> Weight {
        // Latin, Greek and Cyrillic letters are about equally dark, Chinese ones are not.
        let letter = self.ink.text[text].chars().all(|letter| letter.is_alphabetic() && letter < '\u{590}');
        let DrawnGlyph::Outline(outline) = glyph else { return Weight::default() };
        if !letter {
            return Weight::default();
        }
        *self.fonts.weights.entry(outline.identifier().cache_key()).or_insert_with(|| {
            let ink = outline.outline().area().abs() as f32;
            let room = outline.advance_width().unwrap_or_default() * 1000.0;
            if ink > 0.0 && room > 0.0 { Weight { ink, room } } else { Weight::default() }
        })
    }

    fn push_text(&mut self, glyph: &DrawnGlyph<'_>) -> Option<(u32, u32)> {
        let start = self.ink.text.len();
        if let Some(marked) = self.marked.iter_mut().find(|marked| marked.replaced) {
            self.ink.text.push_str(&marked.replacement.take()?);
        } else {
            match self.unicode(glyph) {
                Some(BfString::Char(character)) => self.ink.text.push(character),
                Some(BfString::String(text)) => push_ligature(&mut self.ink.text, &text),
                None => {
                    self.ink.missing += 1;
                    return None;
                }
            }
        }
        Some((u32::try_from(start).ok()?, u32::try_from(self.ink.text.len()).ok()?))
    }
}

/// A ligature of a right-to-left script comes in reading order; lines are put together in the order seen.
fn push_ligature(out: &mut String, text: &str) {
    if super::bidi::is_right_to_left(text) {
        out.extend(text.chars().rev());
    } else {
        out.push_str(text);
    }
}

impl<'a> Device<'a> for Collector<'_> {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        self.ink.paths += 1;
        // A path costs as much as some characters; maps draw hundreds of thousands.
        self.count(self.ink.paths / 8);
        self.note_rules(path.elements().iter().copied(), props.transform, mode);
    }

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_clip_rect(&mut self, _: &Rect) {}

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}

    fn draw_rect(&mut self, rect: &Rect, props: DrawProps<'a>, mode: &DrawMode) {
        self.ink.paths += 1;
        self.count(self.ink.paths / 8);
        self.note_rules(rect.path_elements(0.1), props.transform, mode);
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        // Characters beyond the page are not kept, but drawing them takes time all the same.
        self.drawn += run.glyphs().len().max(1);
        self.count(self.drawn);
        let Some(first) = run.glyphs().first() else { return };
        if self.drop_artifacts && self.marked.iter().any(|marked| marked.artifact) {
            return;
        }
        let linear = props.transform * first.transform();
        let origin = linear * Point::ZERO;
        let up = linear * Point::new(0.0, 1000.0) - origin;
        let along = linear * Point::new(1000.0, 0.0) - origin;
        let size = up.hypot() as f32;
        let vertical = run.writing_mode() == WritingMode::Vertical;
        let angle = if vertical { std::f32::consts::FRAC_PI_2 } else { along.y.atan2(along.x) as f32 };
        if !size.is_finite() || size < 0.5 {
            return;
        }
        let length = run.glyphs().len() as u32;
        let place = (origin.x as f32, origin.y as f32, length, first.char_code());
        let near = |a: f32, b: f32| (a - b).abs() < 0.12 * size;
        let copy = |other: &&(f32, f32, u32, u32)| {
            near(other.0, place.0) && near(other.1, place.1) && (other.2, other.3) == (place.2, place.3)
        };
        if self.starts.iter().rev().take(RUNS_COMPARED).any(|other| copy(&other)) {
            return;
        }
        self.starts.push(place);
        for glyph in run.glyphs() {
            let at = props.transform * (glyph.transform() * Point::ZERO);
            if !self.bounds.contains(at) {
                continue;
            }
            let Some((start, end)) = self.push_text(glyph) else { continue };
            let advance = match &**glyph {
                DrawnGlyph::Outline(outline) => outline.advance_width(),
                DrawnGlyph::Type3(drawn) => drawn.advance_width(),
            };
            // Half an em is the width of a middling letter.
            let advance = f64::from(advance.unwrap_or(500.0)) / 1000.0;
            let step = if vertical { (0.0, f64::from(size)) } else { (along.x * advance, along.y * advance) };
            let from = (at.x as f32, at.y as f32);
            let to = ((at.x + step.0) as f32, (at.y + step.1) as f32);
            let weight = self.weight(glyph, start as usize..end as usize);
            self.ink.glyphs.push(Glyph { start, end, from, to, size, angle, weight });
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        self.ink.paths += 1;
        self.count(self.ink.paths / 8);
        let (width, height) = (f64::from(image.width()), f64::from(image.height()));
        let corners = Rect::new(0.0, 0.0, width, height).to_path(0.1);
        let shown = (props.transform * corners).bounding_box().intersect(self.bounds);
        // Pictures whose transform already maps the unit square are measured as such.
        let unit = (props.transform * Rect::new(0.0, 0.0, 1.0, 1.0).to_path(0.1)).bounding_box();
        self.ink.pictures += shown.area().max(unit.intersect(self.bounds).area()).max(0.0);
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}

    fn begin_marked_content(&mut self, tag: &[u8], properties: Option<&Dict<'_>>) {
        let kind = properties.and_then(|properties| properties.get::<Name<'_>>(b"Type"));
        let pagination = kind.is_some_and(|kind| kind.as_str() == "Pagination");
        let replacement = properties.and_then(|properties| properties.get::<PdfString<'_>>(b"ActualText"));
        let replacement = replacement.map(|text| text_string(text.as_bytes()));
        let replaced = replacement.is_some();
        self.marked.push(Marked { artifact: tag == b"Artifact" && pagination, replacement, replaced });
    }

    fn end_marked_content(&mut self) {
        self.marked.pop();
    }
}
