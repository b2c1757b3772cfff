//! Products of rows with weights, and what lies between them, compiled for each kind of processor.
//!
//! A product takes a block of rows at a time, against panels of [`COLUMNS`] outputs. What is `inline(always)` and generic over
//! [`Kernel`] is compiled once for each: the compiler vectorises the plain loops, the products are their own.

use super::math;

/// Outputs computed together.
pub(super) const COLUMNS: usize = 32;
/// Channels handled together where there is no product.
const LANES: usize = 16;

/// How a processor multiplies.
pub(super) trait Kernel {
    /// A number as products take it.
    type Cell: Copy + Default + Send + Sync + 'static;
    /// Rows computed together.
    const ROWS: usize;
    /// Inputs come in multiples of so many.
    const INPUTS: usize;
    /// Whether multiply-add is one instruction.
    const FUSED: bool;

    /// Rounds numbers to cells.
    fn round(values: &[f32], cells: &mut [Self::Cell]);

    /// Packs weights, one row of `inputs` an output, as panels.
    fn pack(matrix: &[f32], inputs: usize) -> Vec<Self::Cell>;

    /// The sums of [`Self::ROWS`] rows of `inputs` cells each with one panel.
    fn block(rows: &[Self::Cell], inputs: usize, panel: &[Self::Cell], sums: &mut Sums);
}

/// The sums of up to 32 rows and [`COLUMNS`] outputs.
#[repr(C, align(64))]
pub(super) struct Sums(pub(super) [[f32; COLUMNS]; 32]);

/// The weights of a product, as a kernel wants them.
pub(super) struct Weights<C> {
    panels: Vec<C>,
    /// Padded to whole panels.
    bias: Vec<f32>,
    inputs: usize,
    padded: usize,
    outputs: usize,
}

impl<C> Weights<C> {
    /// Packs `matrix`, one row of inputs an output.
    pub(super) fn pack<K: Kernel<Cell = C>>(matrix: &[f32], bias: &[f32], outputs: usize) -> Self {
        let inputs = matrix.len() / outputs;
        let padded = inputs.next_multiple_of(K::INPUTS);
        let mut rows = vec![0.0; outputs.next_multiple_of(COLUMNS) * padded];
        for (row, weights) in rows.chunks_exact_mut(padded).zip(matrix.chunks_exact(inputs)) {
            row[..inputs].copy_from_slice(weights);
        }
        let mut whole = vec![0.0; outputs.next_multiple_of(COLUMNS)];
        whole[..bias.len()].copy_from_slice(bias);
        Self { panels: K::pack(&rows, padded), bias: whole, inputs, padded, outputs }
    }
}

/// What follows a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Activation {
    None,
    Relu,
    Gelu,
    Silu,
}

/// The rows that a product reads.
pub(super) enum Source<'a> {
    Rows(&'a [f32]),
    /// The surroundings of each place of a picture.
    Patches(Patches<'a>),
}

/// Windows over a picture; what lies outside of it is zero.
pub(super) struct Patches<'a> {
    pub(super) values: &'a [f32],
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) channels: usize,
    /// Side of the window.
    pub(super) side: usize,
    pub(super) stride: usize,
    /// How far the first window reaches beyond the upper left edge.
    pub(super) before: usize,
    /// Windows in a row.
    pub(super) across: usize,
}

impl Patches<'_> {
    /// Rounds the window of a place. Its lines are whole in the picture, unless it reaches beyond an edge.
    #[inline(always)]
    fn load<K: Kernel>(&self, place: usize, cells: &mut [K::Cell]) {
        let (channels, line) = (self.channels, self.side * self.channels);
        let (top, left) = (place / self.across * self.stride, place % self.across * self.stride);
        let inside = left >= self.before && left - self.before + self.side <= self.width;
        for y in 0..self.side {
            let cells = &mut cells[y * line..][..line];
            // What is above or to the left wraps around and is beyond the edge as well.
            let from = (top + y).wrapping_sub(self.before);
            if from >= self.height {
                cells.fill(K::Cell::default());
            } else if inside {
                K::round(&self.values[(from * self.width + left - self.before) * channels..][..line], cells);
            } else {
                for x in 0..self.side {
                    let cells = &mut cells[x * channels..][..channels];
                    let x = (left + x).wrapping_sub(self.before);
                    if x < self.width {
                        K::round(&self.values[(from * self.width + x) * channels..][..channels], cells);
                    } else {
                        cells.fill(K::Cell::default());
                    }
                }
            }
        }
    }
}

impl Source<'_> {
    /// Rounds `count` rows from `row` on.
    #[inline(always)]
    fn load<K: Kernel>(&self, row: usize, count: usize, weights: &Weights<K::Cell>, cells: &mut [K::Cell]) {
        let inputs = weights.inputs;
        for (offset, cells) in cells.chunks_exact_mut(weights.padded).enumerate().take(count) {
            match self {
                Source::Rows(values) => {
                    K::round(&values[(row + offset) * inputs..][..inputs], &mut cells[..inputs]);
                }
                Source::Patches(patches) => patches.load::<K>(row + offset, &mut cells[..inputs]),
            }
        }
    }
}

#[inline(always)]
fn multiply_add<K: Kernel>(a: f32, b: f32, c: f32) -> f32 {
    if K::FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Adds the bias and applies the activation to one row of sums.
#[inline(always)]
fn finish<K: Kernel>(sums: &[f32; COLUMNS], bias: &[f32], activation: Activation) -> [f32; COLUMNS] {
    let mut values = [0.0; COLUMNS];
    for ((value, sum), bias) in values.iter_mut().zip(sums).zip(bias) {
        *value = sum + bias;
    }
    match activation {
        Activation::None => {}
        Activation::Relu => values.iter_mut().for_each(|value| *value = value.max(0.0)),
        Activation::Gelu => {
            for value in &mut values {
                *value = if K::FUSED { math::gelu::<true>(*value) } else { math::gelu::<false>(*value) };
            }
        }
        Activation::Silu => values.iter_mut().for_each(|value| *value /= 1.0 + (-*value).exp()),
    }
    values
}

/// `source × weights + bias`, activated.
#[inline(always)]
pub(super) fn product<K: Kernel>(
    source: &Source<'_>,
    rows: usize,
    weights: &Weights<K::Cell>,
    activation: Activation,
    out: &mut [f32],
) {
    let mut cells = vec![K::Cell::default(); K::ROWS * weights.padded];
    let mut sums = Sums([[0.0; COLUMNS]; 32]);
    for row in (0..rows).step_by(K::ROWS) {
        let count = K::ROWS.min(rows - row);
        source.load::<K>(row, count, weights, &mut cells);
        store::<K>(&cells, (row, count), weights, activation, None, out, &mut sums);
    }
}

/// One block of rows times all panels, into rows of floats.
#[inline(always)]
fn store<K: Kernel>(
    cells: &[K::Cell],
    (row, count): (usize, usize),
    weights: &Weights<K::Cell>,
    activation: Activation,
    residual: Option<&[f32]>,
    out: &mut [f32],
    sums: &mut Sums,
) {
    let outputs = weights.outputs;
    for (panel, cells_of) in weights.panels.chunks_exact(weights.padded * COLUMNS).enumerate() {
        K::block(cells, weights.padded, cells_of, sums);
        let column = panel * COLUMNS;
        let width = COLUMNS.min(outputs - column);
        for (offset, sums) in sums.0.iter().enumerate().take(count) {
            let mut values = finish::<K>(sums, &weights.bias[column..][..COLUMNS], activation);
            let place = (row + offset) * outputs + column;
            if width < COLUMNS {
                let before = residual.map_or(&[][..], |residual| &residual[place..][..width]);
                values.iter_mut().zip(before).for_each(|(value, before)| *value += before);
                out[place..][..width].copy_from_slice(&values[..width]);
                continue;
            }
            if let Some(residual) = residual {
                let before = &residual[place..][..COLUMNS];
                for lane in 0..COLUMNS {
                    values[lane] += before[lane];
                }
            }
            out[place..][..COLUMNS].copy_from_slice(&values);
        }
    }
}

/// Two products with a GELU between them, block by block, so that what lies between never leaves the cache. With `residual` the
/// input is added. What lies between is a multiple of [`COLUMNS`] wide.
#[inline(always)]
pub(super) fn widen<K: Kernel>(
    input: &[f32],
    rows: usize,
    [up, down]: [&Weights<K::Cell>; 2],
    residual: bool,
    out: &mut [f32],
) {
    let source = Source::Rows(input);
    let mut cells = vec![K::Cell::default(); K::ROWS * up.padded];
    let mut inner = vec![K::Cell::default(); K::ROWS * down.padded];
    let mut sums = Sums([[0.0; COLUMNS]; 32]);
    let residual = residual.then_some(input);
    for row in (0..rows).step_by(K::ROWS) {
        let count = K::ROWS.min(rows - row);
        source.load::<K>(row, count, up, &mut cells);
        for (panel, cells_of) in up.panels.chunks_exact(up.padded * COLUMNS).enumerate() {
            K::block(&cells, up.padded, cells_of, &mut sums);
            let column = panel * COLUMNS;
            for (offset, sums) in sums.0.iter().enumerate().take(count) {
                let values = finish::<K>(sums, &up.bias[column..][..COLUMNS], Activation::Gelu);
                K::round(&values, &mut inner[offset * down.padded + column..][..COLUMNS]);
            }
        }
        store::<K>(&inner, (row, count), down, Activation::None, residual, out, &mut sums);
    }
}

/// The likeliest output of each row, and by how much its sum exceeds the second one's.
#[inline(always)]
pub(super) fn best<K: Kernel>(input: &[f32], rows: usize, weights: &Weights<K::Cell>) -> Vec<(usize, f32)> {
    let source = Source::Rows(input);
    let mut cells = vec![K::Cell::default(); K::ROWS * weights.padded];
    let mut sums = Sums([[0.0; COLUMNS]; 32]);
    let mut found = Vec::with_capacity(rows);
    for row in (0..rows).step_by(K::ROWS) {
        let count = K::ROWS.min(rows - row);
        source.load::<K>(row, count, weights, &mut cells);
        let mut first = [[f32::MIN; COLUMNS]; 32];
        let mut second = [[f32::MIN; COLUMNS]; 32];
        let mut panels = [[0u32; COLUMNS]; 32];
        for (panel, cells_of) in weights.panels.chunks_exact(weights.padded * COLUMNS).enumerate() {
            K::block(&cells, weights.padded, cells_of, &mut sums);
            let bias = &weights.bias[panel * COLUMNS..][..COLUMNS];
            for offset in 0..count {
                let (first, second, panels) = (&mut first[offset], &mut second[offset], &mut panels[offset]);
                for lane in 0..COLUMNS {
                    let value = sums.0[offset][lane] + bias[lane];
                    let better = value > first[lane];
                    second[lane] = if better { first[lane] } else { second[lane].max(value) };
                    panels[lane] = if better { panel as u32 } else { panels[lane] };
                    first[lane] = first[lane].max(value);
                }
            }
        }
        for offset in 0..count {
            let lane = (0..COLUMNS)
                .fold(0, |best, lane| if first[offset][lane] > first[offset][best] { lane } else { best });
            let greatest = first[offset][lane];
            let others = (0..COLUMNS)
                .map(|other| if other == lane { second[offset][other] } else { first[offset][other] });
            let next = others.fold(f32::MIN, f32::max);
            found.push((panels[offset][lane] as usize * COLUMNS + lane, greatest - next));
        }
    }
    found
}

/// A window over each channel by itself.
pub(super) struct Window {
    /// Weights of each place of the window, channel by channel.
    pub(super) taps: Vec<f32>,
    pub(super) bias: Vec<f32>,
    /// Height and width.
    pub(super) side: (usize, usize),
    pub(super) stride: (usize, usize),
}

/// Slides `window` over a picture of `height` × `width`; what lies outside is zero.
#[inline(always)]
pub(super) fn slide<K: Kernel>(
    input: &[f32],
    (height, width): (usize, usize),
    window: &Window,
    out: &mut [f32],
) {
    let channels = window.bias.len();
    let (tall, wide) = window.side;
    let (down, across) = (height.div_ceil(window.stride.0), width.div_ceil(window.stride.1));
    for y in 0..down {
        let top = (y * window.stride.0).wrapping_sub(tall / 2) as isize;
        for x in 0..across {
            let left = (x * window.stride.1).wrapping_sub(wide / 2) as isize;
            let rows = top.max(0) as usize..((top + tall as isize) as usize).min(height);
            let columns = left.max(0) as usize..((left + wide as isize) as usize).min(width);
            let out = &mut out[(y * across + x) * channels..][..channels];
            let mut channel = 0;
            while channel < channels {
                let lanes = LANES.min(channels - channel);
                if lanes == LANES {
                    let mut sums = [0.0; LANES];
                    sums.copy_from_slice(&window.bias[channel..][..LANES]);
                    for row in rows.clone() {
                        for column in columns.clone() {
                            let tap =
                                (row as isize - top) as usize * wide + (column as isize - left) as usize;
                            let weights = &window.taps[tap * channels + channel..][..LANES];
                            let values = &input[(row * width + column) * channels + channel..][..LANES];
                            for lane in 0..LANES {
                                sums[lane] = multiply_add::<K>(values[lane], weights[lane], sums[lane]);
                            }
                        }
                    }
                    out[channel..][..LANES].copy_from_slice(&sums);
                } else {
                    for lane in channel..channels {
                        let mut sum = window.bias[lane];
                        for row in rows.clone() {
                            for column in columns.clone() {
                                let tap =
                                    (row as isize - top) as usize * wide + (column as isize - left) as usize;
                                sum += input[(row * width + column) * channels + lane]
                                    * window.taps[tap * channels + lane];
                            }
                        }
                        out[lane] = sum;
                    }
                }
                channel += lanes;
            }
        }
    }
}

/// Attention of `length` rows of queries, keys and values side by side, `width` of each, over `heads` heads.
#[inline(always)]
pub(super) fn attend<K: Kernel>(joined: &[f32], length: usize, width: usize, heads: usize, out: &mut [f32]) {
    let depth = width / heads;
    let padded = length.next_multiple_of(LANES);
    let (mut keys, mut values) = (vec![0.0f32; depth * padded], vec![0.0f32; depth * padded]);
    let mut scores = vec![0.0f32; padded];
    let scale = std::f32::consts::LOG2_E / (depth as f32).sqrt();
    for head in 0..heads {
        for (at, row) in joined.chunks_exact(3 * width).enumerate().take(length) {
            for dimension in 0..depth {
                keys[dimension * padded + at] = row[width + head * depth + dimension];
                values[dimension * padded + at] = row[2 * width + head * depth + dimension];
            }
        }
        for at in 0..length {
            let query = &joined[at * 3 * width + head * depth..][..depth];
            scores.fill(0.0);
            for (query, keys) in query.iter().zip(keys.chunks_exact(padded)) {
                let query = query * scale;
                for (score, key) in scores.iter_mut().zip(keys) {
                    *score = multiply_add::<K>(query, *key, *score);
                }
            }
            soften::<K>(&mut scores, length);
            for (dimension, values) in values.chunks_exact(padded).enumerate() {
                let mut sums = [0.0; LANES];
                for (shares, values) in scores.chunks_exact(LANES).zip(values.chunks_exact(LANES)) {
                    for lane in 0..LANES {
                        sums[lane] = multiply_add::<K>(shares[lane], values[lane], sums[lane]);
                    }
                }
                out[at * width + head * depth + dimension] = sums.iter().sum();
            }
        }
    }
}

/// Softmax in powers of two over the first `length` scores; the others become zero.
#[inline(always)]
fn soften<K: Kernel>(scores: &mut [f32], length: usize) {
    scores[length..].fill(f32::MIN);
    let mut most = [f32::MIN; LANES];
    for lanes in scores.chunks_exact(LANES) {
        for lane in 0..LANES {
            most[lane] = most[lane].max(lanes[lane]);
        }
    }
    let most = most.into_iter().fold(f32::MIN, f32::max);
    let mut sums = [0.0; LANES];
    for lanes in scores.chunks_exact_mut(LANES) {
        for lane in 0..LANES {
            let x = lanes[lane] - most;
            lanes[lane] = if K::FUSED { math::exp2::<true>(x) } else { math::exp2::<false>(x) };
            sums[lane] += lanes[lane];
        }
    }
    let inverse = 1.0 / sums.iter().sum::<f32>();
    scores.iter_mut().for_each(|share| *share *= inverse);
    scores[length..].fill(0.0);
}
