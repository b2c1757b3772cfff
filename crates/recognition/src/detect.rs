//! Finds the lines of text in a picture: where the network sees text, in one piece, is a line.

use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use crate::gray::{Cut, Gray};
use crate::network::Networks;

/// The longest side of the picture that the network sees. Print of seven points on A4 is eight pixels high in it.
const LONGEST_SIDE: f32 = 1_280.0;
/// A small picture is enlarged up to so many times.
const LARGEST: f32 = 2.0;
/// The network wants sides that are multiples of this.
const ROUND: usize = 32;
/// From here on a pixel is text.
const TEXT: f32 = 0.3;
/// A piece whose pixels are less likely than this, on the average, is none.
const LIKELY: f32 = 0.5;
/// The network marks the middle of lines; they reach beyond it by this share of the mark's area divided by its edge.
const BEYOND: f32 = 1.6;
/// Lines of one picture. A newspaper page has a thousand.
const MOST_LINES: usize = 3_000;

/// A line of text in a picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strip {
    pub(crate) middle: (f32, f32),
    /// The direction in which it is long, in radians: clockwise, since y grows downwards.
    pub(crate) angle: f32,
    pub(crate) length: f32,
    pub(crate) height: f32,
}

/// The lines of text in a picture, and the direction of most of them, between -45° and 135°.
pub(crate) fn strips(gray: &Gray, networks: &dyn Networks) -> (Vec<Strip>, f32) {
    let (width, height) = gray.size();
    let scale = (LONGEST_SIDE / width.max(height) as f32).min(LARGEST);
    let side = |length: usize| ((length as f32 * scale / ROUND as f32).round() as usize).max(1) * ROUND;
    let (across, down) = (side(width), side(height));
    let (right, lower) = (width as f32 / across as f32, height as f32 / down as f32);
    let cut = Cut { from: (right / 2.0 - 0.5, lower / 2.0 - 0.5), along: (right, 0.0), down: (0.0, lower) };
    let map = networks.detect(&gray.cut(cut, across, down), down, across);
    let mut pieces = pieces(&map, across);
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
    pieces.truncate(MOST_LINES);
    let pieces: Vec<Vec<(f32, f32)>> = pieces
        .into_iter()
        .map(|piece| {
            piece.iter().map(|at| ((at % across) as f32 * right, (at / across) as f32 * lower)).collect()
        })
        .collect();
    let spread: Vec<Spread> = pieces.iter().map(|piece| Spread::of(piece)).collect();
    let main = main_direction(&spread);
    let strips = pieces
        .iter()
        .zip(&spread)
        .filter_map(|(piece, spread)| strip(piece, spread.direction(main), (right + lower) / 2.0));
    (strips.collect(), main)
}

/// The pixels of each connected piece of text.
fn pieces(map: &[f32], width: usize) -> Vec<Vec<usize>> {
    /// Fewer pixels are a speck.
    const FEWEST: usize = 12;
    let mut left: Vec<bool> = map.iter().map(|value| *value > TEXT).collect();
    let mut found = Vec::new();
    let mut waiting = Vec::new();
    for start in 0..map.len() {
        if !left[start] {
            continue;
        }
        left[start] = false;
        waiting.push(start);
        let mut piece = Vec::new();
        while let Some(at) = waiting.pop() {
            piece.push(at);
            let x = at % width;
            let beside = [(x > 0).then(|| at - 1), (x + 1 < width).then_some(at + 1)];
            let vertical = [at.checked_sub(width), Some(at + width).filter(|at| *at < map.len())];
            for next in beside.into_iter().chain(vertical).flatten() {
                if std::mem::take(&mut left[next]) {
                    waiting.push(next);
                }
            }
        }
        let likely = piece.iter().map(|at| map[*at]).sum::<f32>() / piece.len() as f32;
        if piece.len() >= FEWEST && likely >= LIKELY {
            found.push(piece);
        }
    }
    found
}

/// How the pixels of a piece are spread.
struct Spread {
    /// The direction in which they are spread most.
    angle: f32,
    /// How many times as far as across it.
    ratio: f32,
    pixels: usize,
}

impl Spread {
    fn of(piece: &[(f32, f32)]) -> Self {
        let count = piece.len() as f32;
        let mean = |values: &dyn Fn(&(f32, f32)) -> f32| piece.iter().map(values).sum::<f32>() / count;
        let (x, y) = (mean(&|at| at.0), mean(&|at| at.1));
        let (xx, yy) = (mean(&|at| (at.0 - x).powi(2)), mean(&|at| (at.1 - y).powi(2)));
        let xy = mean(&|at| (at.0 - x) * (at.1 - y));
        let root = ((xx - yy).powi(2) / 4.0 + xy * xy).sqrt();
        let (most, least) = ((xx + yy) / 2.0 + root, (xx + yy) / 2.0 - root);
        let ratio = (most.max(1e-6) / least.max(0.05)).sqrt();
        Self { angle: 0.5 * (2.0 * xy).atan2(xx - yy), ratio, pixels: piece.len() }
    }

    /// The direction of the line: its own if it is long, else that of most lines.
    fn direction(&self, main: f32) -> f32 {
        /// So many times as long as high, a piece tells its direction to a degree.
        const LONG: f32 = 5.0;
        /// From here on it tells whether it stands or lies.
        const OBLONG: f32 = 2.0;
        let off = within(self.angle - main, FRAC_PI_2);
        if self.ratio >= LONG {
            return main + off;
        }
        if self.ratio >= OBLONG && off.abs() > FRAC_PI_4 { main + FRAC_PI_2 } else { main }
    }
}

/// The same direction of a line, between `-most` and `most`, which are half a turn apart.
fn within(angle: f32, most: f32) -> f32 {
    (angle + most).rem_euclid(PI) - most
}

/// The direction of most of the text: whether lines lie or stand, and the median of their slopes.
fn main_direction(spread: &[Spread]) -> f32 {
    /// Shorter pieces tell little.
    const LONG: f32 = 4.0;
    let long: Vec<&Spread> = spread.iter().filter(|spread| spread.ratio >= LONG).collect();
    let share = |standing: bool| -> usize {
        let is = |spread: &&&Spread| (within(spread.angle, FRAC_PI_2).abs() > FRAC_PI_4) == standing;
        long.iter().filter(is).map(|spread| spread.pixels).sum()
    };
    let base = if share(true) > share(false) { FRAC_PI_2 } else { 0.0 };
    let mut slopes: Vec<(f32, usize)> = long
        .iter()
        .map(|spread| (within(spread.angle - base, FRAC_PI_2), spread.pixels))
        .filter(|(slope, _)| slope.abs() < FRAC_PI_4)
        .collect();
    slopes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = slopes.iter().map(|(_, pixels)| pixels).sum::<usize>() / 2;
    let mut passed = 0;
    let median = slopes.iter().find(|(_, pixels)| {
        passed += pixels;
        passed > half
    });
    base + median.map_or(0.0, |(slope, _)| *slope)
}

/// The line that a piece is the middle of. A pixel of the network is `pixel` wide.
fn strip(piece: &[(f32, f32)], angle: f32, pixel: f32) -> Option<Strip> {
    let (sine, cosine) = angle.sin_cos();
    let (mut left, mut top, mut right, mut bottom) = (f32::MAX, f32::MAX, f32::MIN, f32::MIN);
    for (x, y) in piece {
        let (along, down) = (x * cosine + y * sine, y * cosine - x * sine);
        (left, right) = (left.min(along), right.max(along));
        (top, bottom) = (top.min(down), bottom.max(down));
    }
    // From the edges of pixels, not their middles.
    let (length, height) = (right - left + pixel, bottom - top + pixel);
    if height < 2.0 * pixel {
        return None;
    }
    let beyond = length * height * BEYOND / (2.0 * (length + height));
    // Pixels were counted from their corners.
    let (along, down) = ((left + right + pixel) / 2.0, (top + bottom + pixel) / 2.0);
    let middle = (along * cosine - down * sine, along * sine + down * cosine);
    Some(Strip { middle, angle, length: length + 2.0 * beyond, height: height + 2.0 * beyond })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map of 200 × 200 with a bar of 100 × 7 at an angle through its middle.
    fn bar(angle: f32) -> Vec<f32> {
        let (sine, cosine) = angle.sin_cos();
        let inside = |at: usize| {
            let (x, y) = ((at % 200) as f32 - 100.0, (at / 200) as f32 - 100.0);
            (x * cosine + y * sine).abs() < 50.0 && (y * cosine - x * sine).abs() < 3.2
        };
        (0..200 * 200).map(|at| if inside(at) { 0.9 } else { 0.0 }).collect()
    }

    #[test]
    fn a_bar_is_a_line_whatever_its_direction() {
        for angle in [0.0, 0.1, -0.2, FRAC_PI_2, FRAC_PI_2 + 0.1] {
            let pieces = pieces(&bar(angle), 200);
            assert_eq!(pieces.len(), 1);
            let piece: Vec<_> = pieces[0].iter().map(|at| ((at % 200) as f32, (at / 200) as f32)).collect();
            let spread = Spread::of(&piece);
            let main = main_direction(&[Spread { ..spread }]);
            assert!((main - angle).abs() < 0.01, "{main} for {angle}");
            let strip = strip(&piece, main, 1.0).expect("a line");
            assert!((strip.middle.0 - 100.0).abs() < 1.5 && (strip.middle.1 - 100.0).abs() < 1.5);
            assert!((strip.height - 17.5).abs() < 2.5 && (strip.length - 110.5).abs() < 3.0, "{strip:?}");
        }
    }
}
