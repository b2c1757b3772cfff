//! Pictures in shades of grey, and what is cut out of them.

/// A picture in shades of grey, with smaller copies of itself, each half as large as the one before.
pub struct Gray {
    levels: Vec<Level>,
}

struct Level {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// A part of a picture, perhaps turned: where its first pixel lies, and how far apart its pixels are along its lines and down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) from: (f32, f32),
    pub(crate) along: (f32, f32),
    pub(crate) down: (f32, f32),
}

impl Gray {
    /// Of red, green, blue and opacity, on white.
    pub fn of_colours(width: usize, height: usize, colours: &[u8]) -> Self {
        let grey = |colour: &[u8; 4]| {
            let [red, green, blue, opacity] = colour.map(u32::from);
            let shade = (red * 54 + green * 183 + blue * 19) >> 8;
            ((shade * opacity + 255 * (255 - opacity)) / 255) as u8
        };
        Self::new(width, height, colours.as_chunks().0.iter().map(grey).collect())
    }

    /// Of a picture whose pixels are its shades, from black to white, line by line.
    pub fn new(width: usize, height: usize, pixels: Vec<u8>) -> Self {
        assert!(width > 0 && height > 0 && pixels.len() == width * height);
        /// Smaller copies are of no use.
        const SMALLEST: usize = 64;
        let mut levels = vec![Level { width, height, pixels }];
        while let Some(last) = levels.last().filter(|level| level.width.min(level.height) >= 2 * SMALLEST) {
            let half = last.halved();
            levels.push(half);
        }
        Self { levels }
    }

    pub(crate) fn size(&self) -> (usize, usize) {
        (self.levels[0].width, self.levels[0].height)
    }

    /// A part of the picture as so many pixels from -1 (black) to 1 (white); what lies outside is white.
    pub(crate) fn cut(&self, cut: Cut, width: usize, height: usize) -> Vec<f32> {
        let apart = cut.down.0.hypot(cut.down.1).min(cut.along.0.hypot(cut.along.1));
        let level = (apart.max(1.0).log2() as usize).min(self.levels.len() - 1);
        let scale = (1 << level) as f32;
        let level = &self.levels[level];
        let mut values = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let (right, down) = (x as f32, y as f32);
                let at = (
                    (cut.from.0 + right * cut.along.0 + down * cut.down.0 + 0.5) / scale - 0.5,
                    (cut.from.1 + right * cut.along.1 + down * cut.down.1 + 0.5) / scale - 0.5,
                );
                values.push(level.shade(at) / 127.5 - 1.0);
            }
        }
        values
    }
}

impl Level {
    fn halved(&self) -> Self {
        let (width, height) = (self.width / 2, self.height / 2);
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            let (above, below) = self.pixels[2 * y * self.width..][..2 * self.width].split_at(self.width);
            let pairs = above.as_chunks::<2>().0.iter().zip(below.as_chunks::<2>().0);
            pixels.extend(pairs.take(width).map(|(above, below)| {
                let sum: u32 = above.iter().chain(below).map(|shade| u32::from(*shade)).sum();
                ((sum + 2) / 4) as u8
            }));
        }
        Self { width, height, pixels }
    }

    /// The shade at a place between four pixels.
    #[inline]
    fn shade(&self, (x, y): (f32, f32)) -> f32 {
        // Rounded down, without a call of the library.
        let down = |value: f32| value as isize - isize::from(value < 0.0);
        let (left, top) = (down(x), down(y));
        let (right_share, lower_share) = (x - left as f32, y - top as f32);
        if left >= 0 && top >= 0 && (left as usize) + 1 < self.width && (top as usize) + 1 < self.height {
            let at = top as usize * self.width + left as usize;
            let [above, below] =
                [&self.pixels[at..at + 2], &self.pixels[at + self.width..at + self.width + 2]];
            let mix =
                |pair: &[u8]| f32::from(pair[0]) + (f32::from(pair[1]) - f32::from(pair[0])) * right_share;
            let (above, below) = (mix(above), mix(below));
            return above + (below - above) * lower_share;
        }
        let pixel = |x: isize, y: isize| match (usize::try_from(x), usize::try_from(y)) {
            (Ok(x), Ok(y)) if x < self.width && y < self.height => f32::from(self.pixels[y * self.width + x]),
            _ => 255.0,
        };
        let mix = |y: isize| pixel(left, y) + (pixel(left + 1, y) - pixel(left, y)) * right_share;
        mix(top) + (mix(top + 1) - mix(top)) * lower_share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_out_turned_and_smaller() {
        let pixels = (0..256 * 256).map(|at| if at % 256 < 128 { 0 } else { 255 }).collect();
        let gray = Gray::new(256, 256, pixels);
        // Down along the picture's lines: the upper half of what is cut out is black.
        let cut = Cut { from: (4.0, 251.0), along: (0.0, -8.0), down: (8.0, 0.0) };
        let values = gray.cut(cut, 32, 32);
        assert!(values[..10 * 32].iter().all(|value| *value < -0.9));
        assert!(values[20 * 32..].iter().all(|value| *value > 0.9));
        let outside = Cut { from: (-100.0, -100.0), along: (1.0, 0.0), down: (0.0, 1.0) };
        assert!(gray.cut(outside, 8, 8).iter().all(|value| *value == 1.0));
    }

    #[test]
    fn what_is_transparent_is_white() {
        let gray = Gray::of_colours(2, 1, &[0, 0, 0, 255, 0, 0, 0, 0]);
        assert_eq!(gray.levels[0].pixels, [0, 255]);
    }
}
