//! Reads a page from its picture: finds its lines, which way up it is, and what they say.

use std::collections::BTreeMap;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use crate::detect::{self, Strip};
use crate::gray::Gray;
use crate::network::Networks;
use crate::recognise::{self, Said};

/// Lines that are less sure than this are none.
const DOUBTFUL: f32 = 0.6;
/// Lines as sure as this, on the average, are the right way up.
const UPRIGHT: f32 = 0.93;
/// Steps of the network that one picture may take. Dense pages take eight thousand; the longest lines are read first.
const MOST_STEPS: usize = 30_000;
/// Lines that are read to see which way up a page is.
const TRIED: usize = 5;

/// What a picture says.
pub struct Scan {
    /// Its lines, in no order.
    pub lines: Vec<Line>,
    /// How sure its characters are on the average.
    pub confidence: f32,
    /// Whether it holds more lines than are read.
    pub cut: bool,
    /// The picture's width and height.
    pub size: (f32, f32),
}

/// A line of text, in a frame turned so that it runs from left to right.
pub struct Line {
    /// Its words, from left to right.
    pub words: Vec<Word>,
    /// Where its letters stand; larger is further down.
    pub base: f32,
    /// How large its letters are.
    pub size: f32,
    /// By how much the frame is turned.
    pub angle: f32,
    /// Whether it runs across most other lines.
    pub across: bool,
}

/// A word of a line, with its edges.
pub struct Word {
    /// What it says.
    pub text: String,
    /// Where it starts in the frame of its line.
    pub left: f32,
    /// Where it ends.
    pub right: f32,
}

/// Reads a picture.
pub(crate) fn read(gray: &Gray, networks: &dyn Networks) -> Scan {
    let (strips, direction) = detect::strips(gray, networks);
    let (upright, mut tried) = upright(gray, &strips, direction, networks);
    let main = straight(upright);
    let mut lines = Vec::with_capacity(strips.len());
    let (mut sum, mut characters, mut steps) = (0.0, 0, 0);
    for (nth, strip) in strips.iter().enumerate() {
        steps += recognise::steps(strip);
        if steps > MOST_STEPS {
            break;
        }
        let (angle, said) = match tried.remove(&nth) {
            Some(said) => (along(strip, main), said),
            None => read_strip(gray, strip, main, networks),
        };
        if said.confidence < DOUBTFUL || said.characters == 0 {
            continue;
        }
        sum += said.confidence * said.characters as f32;
        characters += said.characters;
        lines.push(line(strip, angle, main, &said));
    }
    let (width, height) = gray.size();
    Scan {
        lines,
        confidence: sum / characters.max(1) as f32,
        size: (width as f32, height as f32),
        cut: steps > MOST_STEPS,
    }
}

/// What lines say, by where they stand among all.
type Tried = BTreeMap<usize, Said>;

/// The direction that the text of a page runs in, of the two that its lines allow, and what was read in it to find out.
fn upright(gray: &Gray, strips: &[Strip], direction: f32, networks: &dyn Networks) -> (f32, Tried) {
    let runs = |strip: &Strip| turn(strip.angle - direction).cos().abs() > FRAC_PI_4.cos();
    let mut long: Vec<(usize, &Strip)> = strips.iter().enumerate().filter(|(_, strip)| runs(strip)).collect();
    // Long enough to tell, short enough not to take long.
    let telling = |strip: &Strip| (strip.length / strip.height).min(12.0);
    long.sort_by(|(_, a), (_, b)| telling(b).total_cmp(&telling(a)));
    long.truncate(TRIED);
    let read = |direction: f32| -> Tried {
        let said = |strip| recognise::read(gray, strip, along(strip, direction), networks);
        long.iter().map(|(nth, strip)| (*nth, said(strip))).collect()
    };
    let sure =
        |tried: &Tried| tried.values().map(|said| said.confidence).sum::<f32>() / tried.len().max(1) as f32;
    // Pages that are turned by a quarter are as often turned to the left as to the right.
    let first = if direction > FRAC_PI_4 { direction - PI } else { direction };
    let before = read(first);
    if sure(&before) >= UPRIGHT {
        return (first, before);
    }
    let other = read(first + PI);
    if sure(&other) <= sure(&before) { (first, before) } else { (first + PI, other) }
}

/// The direction in which a line is read, of the two that it has, where text runs in the direction `main`.
fn along(strip: &Strip, main: f32) -> f32 {
    if turn(strip.angle - main).abs() > FRAC_PI_2 { strip.angle + PI } else { strip.angle }
}

/// The nearest quarter of a turn, where an angle is so near to it that lines are straight to the eye.
fn straight(angle: f32) -> f32 {
    const SLIGHT: f32 = 0.008;
    let quarter = (angle / FRAC_PI_2).round() * FRAC_PI_2;
    if (angle - quarter).abs() < SLIGHT { quarter } else { angle }
}

/// An angle as between minus and plus half a turn.
fn turn(angle: f32) -> f32 {
    (angle + PI).rem_euclid(2.0 * PI) - PI
}

/// What a line says, and in which direction it runs.
fn read_strip(gray: &Gray, strip: &Strip, main: f32, networks: &dyn Networks) -> (f32, Said) {
    let off = turn(strip.angle - main);
    if off.cos().abs() > FRAC_PI_4.cos() {
        let angle = along(strip, main);
        return (angle, recognise::read(gray, strip, angle, networks));
    }
    // Text across the page mostly runs upwards.
    let upwards = if off > 0.0 { strip.angle - PI } else { strip.angle };
    let said = recognise::read(gray, strip, upwards, networks);
    if said.confidence >= UPRIGHT {
        return (upwards, said);
    }
    let other = recognise::read(gray, strip, upwards + PI, networks);
    if other.confidence > said.confidence { (upwards + PI, other) } else { (upwards, said) }
}

/// The line in the frame of the page's text, in which that runs from left to right.
fn line(strip: &Strip, angle: f32, main: f32, said: &Said) -> Line {
    /// How much of the height of a strip letters have, and how far below its middle they stand.
    const LETTERS: f32 = 0.78;
    const BASE: f32 = 0.26;
    // Lines that are nearly parallel to all others are parallel.
    let parallel = turn(angle - main).abs() < FRAC_PI_4;
    let frame = if parallel { main } else { angle };
    let (sine, cosine) = frame.sin_cos();
    let (x, y) = strip.middle;
    let (along, down) = (x * cosine + y * sine, y * cosine - x * sine);
    let left = along - strip.length / 2.0;
    let words = said.words.iter().map(|word| Word {
        text: word.text.clone(),
        left: left + word.from * strip.length,
        right: left + word.to * strip.length,
    });
    Line {
        words: words.collect(),
        base: down + BASE * strip.height,
        size: LETTERS * strip.height,
        angle: frame,
        across: !parallel,
    }
}
