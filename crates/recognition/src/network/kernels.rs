//! Products of rows with weights, and what lies between them, compiled for each kind of processor.
//!
//! A product takes a block of rows at a time, against panels of [`COLUMNS`] outputs. What is `inline(always)` and generic over
//! [`Kernel`] is compiled once for each: the compiler vectorises the plain loops, the products are their own.

use super::math;

/// Outputs computed together.
pub(super) const COLUMNS: usize = 32;
/// Channels handled together where there is no product.
const LANES: usize = 16;
/// The rest of them: channels are multiples of this.
const FEWER: usize = 8;

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

    /// Rounds numbers to cells, and says what these are worth.
    fn round(numbers: &[f32], cells: &mut [Self::Cell]) -> Worth;

    /// The cell that is worth nothing.
    fn zero(_: Worth) -> Self::Cell {
        Self::Cell::default()
    }

    /// Packs weights, one row of `inputs` an output.
    fn pack(matrix: &[f32], inputs: usize) -> Packed<Self::Cell>;

    /// The sums of [`Self::ROWS`] rows of `inputs` cells each with one panel.
    fn block(rows: &Rows<Self::Cell>, inputs: usize, panel: &Panel<'_, Self::Cell>, sums: &mut Sums);
}

/// What cells that were rounded together are worth: `least + step × cell`. Cells that are numbers themselves have no use for it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Worth {
    pub(super) least: f32,
    pub(super) step: f32,
}

/// Weights as a kernel reads them: panels of [`COLUMNS`] outputs, one after the other.
pub(super) struct Packed<C> {
    pub(super) panels: Vec<C>,
    /// What one step of each output's weights is worth, and all of them added up, where cells are steps.
    pub(super) steps: Vec<f32>,
    pub(super) sums: Vec<f32>,
}

impl<C> Packed<C> {
    /// Of cells that are numbers themselves.
    pub(super) fn of_numbers(panels: Vec<C>, inputs: usize) -> Self {
        let outputs = panels.len() / inputs;
        Self { panels, steps: vec![1.0; outputs], sums: vec![0.0; outputs] }
    }
}

/// The weights of [`COLUMNS`] outputs; [`Packed`] says what each field is.
pub(super) struct Panel<'a, C> {
    pub(super) cells: &'a [C],
    pub(super) steps: &'a [f32; COLUMNS],
    pub(super) sums: &'a [f32; COLUMNS],
    bias: &'a [f32; COLUMNS],
}

/// A block of rows, rounded.
pub(super) struct Rows<C> {
    pub(super) cells: Vec<C>,
    pub(super) worth: [Worth; MOST_ROWS],
}

impl<C: Copy + Default> Rows<C> {
    fn new<K: Kernel<Cell = C>>(weights: &Weights<C>) -> Self {
        Self { cells: vec![C::default(); K::ROWS * weights.padded], worth: [Worth::default(); MOST_ROWS] }
    }
}

/// The rows of a block are no more than this.
const MOST_ROWS: usize = 32;

/// The sums of a block of rows and [`COLUMNS`] outputs.
#[repr(C, align(64))]
pub(super) struct Sums(pub(super) [[f32; COLUMNS]; MOST_ROWS]);

/// The weights of a product, as a kernel wants them.
pub(super) struct Weights<C> {
    packed: Packed<C>,
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
        Self { packed: K::pack(&rows, padded), bias: whole, inputs, padded, outputs }
    }

    /// The panels, each with its first output.
    #[inline(always)]
    fn panels(&self) -> impl Iterator<Item = (usize, Panel<'_, C>)> {
        let Packed { panels, steps, sums } = &self.packed;
        let of_outputs = steps.as_chunks().0.iter().zip(sums.as_chunks().0).zip(self.bias.as_chunks().0);
        let all = panels.chunks_exact(self.padded * COLUMNS).zip(of_outputs).enumerate();
        all.map(|(at, (cells, ((steps, sums), bias)))| (at * COLUMNS, Panel { cells, steps, sums, bias }))
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
    /// The window of a place. Its lines are whole in the picture, unless it reaches beyond an edge.
    #[inline(always)]
    fn window<C: Copy>(&self, place: usize, picture: &[C], zero: C, window: &mut [C]) {
        let (channels, line) = (self.channels, self.side * self.channels);
        let (top, left) = (place / self.across * self.stride, place % self.across * self.stride);
        let inside = left >= self.before && left - self.before + self.side <= self.width;
        for y in 0..self.side {
            let cells = &mut window[y * line..][..line];
            // What is above or to the left wraps around and is beyond the edge as well.
            let from = (top + y).wrapping_sub(self.before);
            if from >= self.height {
                cells.fill(zero);
            } else if inside {
                cells
                    .copy_from_slice(&picture[(from * self.width + left - self.before) * channels..][..line]);
            } else {
                for x in 0..self.side {
                    let cells = &mut cells[x * channels..][..channels];
                    let x = (left + x).wrapping_sub(self.before);
                    if x < self.width {
                        cells.copy_from_slice(&picture[(from * self.width + x) * channels..][..channels]);
                    } else {
                        cells.fill(zero);
                    }
                }
            }
        }
    }
}

/// What blocks of rows are made of: rows of numbers, or a picture that was rounded as a whole, since its windows overlap.
enum Rounding<'a, C> {
    Rows(&'a [f32]),
    Patches { patches: &'a Patches<'a>, picture: Vec<C>, worth: Worth },
}

impl<'a, C: Copy + Default> Rounding<'a, C> {
    #[inline(always)]
    fn of<K: Kernel<Cell = C>>(source: &'a Source<'a>) -> Self {
        match source {
            Source::Rows(values) => Rounding::Rows(values),
            Source::Patches(patches) => {
                let mut picture = vec![C::default(); patches.values.len()];
                let worth = K::round(patches.values, &mut picture);
                Rounding::Patches { patches, picture, worth }
            }
        }
    }

    /// Rounds `count` rows from `row` on.
    #[inline(always)]
    fn load<K: Kernel<Cell = C>>(&self, row: usize, count: usize, weights: &Weights<C>, block: &mut Rows<C>) {
        let inputs = weights.inputs;
        let rows = block.cells.chunks_exact_mut(weights.padded).zip(&mut block.worth);
        for (row, (cells, of_row)) in (row..row + count).zip(rows) {
            let cells = &mut cells[..inputs];
            *of_row = match self {
                Rounding::Rows(values) => K::round(&values[row * inputs..][..inputs], cells),
                Rounding::Patches { patches, picture, worth } => {
                    patches.window(row, picture, K::zero(*worth), cells);
                    *worth
                }
            };
        }
    }
}

#[inline(always)]
fn multiply_add<K: Kernel>(a: f32, b: f32, c: f32) -> f32 {
    if K::FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Adds the bias and applies the activation to one row of sums.
#[inline(always)]
fn finish<K: Kernel>(sums: &[f32; COLUMNS], bias: &[f32; COLUMNS], activation: Activation) -> [f32; COLUMNS] {
    let mut values = [0.0; COLUMNS];
    for lane in 0..COLUMNS {
        values[lane] = sums[lane] + bias[lane];
    }
    match activation {
        Activation::None => {}
        Activation::Relu => {
            for value in &mut values {
                // One instruction for all lanes, unlike `max`.
                *value = if *value > 0.0 { *value } else { 0.0 };
            }
        }
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
    let source = Rounding::of::<K>(source);
    let mut block = Rows::new::<K>(weights);
    let mut sums = Sums([[0.0; COLUMNS]; MOST_ROWS]);
    for row in (0..rows).step_by(K::ROWS) {
        let count = K::ROWS.min(rows - row);
        source.load::<K>(row, count, weights, &mut block);
        store::<K>(&block, (row, count), weights, activation, None, out, &mut sums);
    }
}

/// One block of rows times all panels, into rows of floats.
#[inline(always)]
fn store<K: Kernel>(
    block: &Rows<K::Cell>,
    (row, count): (usize, usize),
    weights: &Weights<K::Cell>,
    activation: Activation,
    residual: Option<&[f32]>,
    out: &mut [f32],
    sums: &mut Sums,
) {
    let outputs = weights.outputs;
    for (column, panel) in weights.panels() {
        K::block(block, weights.padded, &panel, sums);
        let width = COLUMNS.min(outputs - column);
        for (offset, sums) in sums.0.iter().enumerate().take(count) {
            let mut values = finish::<K>(sums, panel.bias, activation);
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
    let source = Rounding::Rows(input);
    let (mut outer, mut inner) = (Rows::new::<K>(up), Rows::new::<K>(down));
    let mut between = vec![0.0; K::ROWS * down.inputs];
    let mut sums = Sums([[0.0; COLUMNS]; MOST_ROWS]);
    let residual = residual.then_some(input);
    for row in (0..rows).step_by(K::ROWS) {
        let count = K::ROWS.min(rows - row);
        source.load::<K>(row, count, up, &mut outer);
        for (column, panel) in up.panels() {
            K::block(&outer, up.padded, &panel, &mut sums);
            for (sums, between) in sums.0.iter().zip(between.chunks_exact_mut(down.inputs)).take(count) {
                let values = finish::<K>(sums, panel.bias, Activation::Gelu);
                between[column..][..COLUMNS].copy_from_slice(&values);
            }
        }
        Rounding::Rows(&between).load::<K>(0, count, down, &mut inner);
        store::<K>(&inner, (row, count), down, Activation::None, residual, out, &mut sums);
    }
}

/// The likeliest output of each row, and by how much its sum exceeds the second one's.
#[inline(always)]
pub(super) fn best<K: Kernel>(input: &[f32], rows: usize, weights: &Weights<K::Cell>) -> Vec<(usize, f32)> {
    let source = Rounding::Rows(input);
    let mut block = Rows::new::<K>(weights);
    let mut sums = Sums([[0.0; COLUMNS]; MOST_ROWS]);
    let mut found = Vec::with_capacity(rows);
    for row in (0..rows).step_by(K::ROWS) {
        let count = K::ROWS.min(rows - row);
        source.load::<K>(row, count, weights, &mut block);
        let mut first = [[f32::MIN; COLUMNS]; MOST_ROWS];
        let mut second = [[f32::MIN; COLUMNS]; MOST_ROWS];
        let mut columns = [[0u32; COLUMNS]; MOST_ROWS];
        for (column, panel) in weights.panels() {
            K::block(&block, weights.padded, &panel, &mut sums);
            for offset in 0..count {
                let (first, second, columns) =
                    (&mut first[offset], &mut second[offset], &mut columns[offset]);
                for lane in 0..COLUMNS {
                    let value = sums.0[offset][lane] + panel.bias[lane];
                    let better = value > first[lane];
                    second[lane] = if better { first[lane] } else { second[lane].max(value) };
                    columns[lane] = if better { column as u32 } else { columns[lane] };
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
            found.push((columns[offset][lane] as usize + lane, greatest - next));
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

/// Slides `window` over a picture with an edge of zeros, half a window wide; `across` and `down` are the places of the result.
#[inline(always)]
pub(super) fn slide<K: Kernel>(
    (input, width): (&[f32], usize),
    (down, across): (usize, usize),
    window: &Window,
    out: &mut [f32],
) {
    match window.side {
        (3, 3) => slide_sides::<K, 3, 3>(input, width, (down, across), window, out),
        (1, 7) => slide_sides::<K, 1, 7>(input, width, (down, across), window, out),
        (7, 7) => slide_sides::<K, 7, 7>(input, width, (down, across), window, out),
        side => unreachable!("no layer has windows of {side:?}"),
    }
}

/// [`slide`] with the sides known when it is compiled.
#[inline(always)]
fn slide_sides<K: Kernel, const TALL: usize, const WIDE: usize>(
    input: &[f32],
    width: usize,
    (down, across): (usize, usize),
    window: &Window,
    out: &mut [f32],
) {
    let channels = window.bias.len();
    for y in 0..down {
        for x in 0..across {
            let from = (y * window.stride.0 * width + x * window.stride.1) * channels;
            let lines: [&[f32]; TALL] =
                std::array::from_fn(|line| &input[from + line * width * channels..][..WIDE * channels]);
            let out = &mut out[(y * across + x) * channels..][..channels];
            let whole = channels / LANES * LANES;
            for channel in (0..whole).step_by(LANES) {
                slide_lanes::<K, TALL, WIDE, LANES>(&lines, window, channel, out);
            }
            for channel in (whole..channels).step_by(FEWER) {
                slide_lanes::<K, TALL, WIDE, FEWER>(&lines, window, channel, out);
            }
        }
    }
}

/// Some channels of one place.
#[inline(always)]
fn slide_lanes<K: Kernel, const TALL: usize, const WIDE: usize, const COUNT: usize>(
    lines: &[&[f32]; TALL],
    window: &Window,
    channel: usize,
    out: &mut [f32],
) {
    let channels = window.bias.len();
    let mut sums = [0.0; COUNT];
    sums.copy_from_slice(&window.bias[channel..][..COUNT]);
    for (line, taps) in lines.iter().zip(window.taps.chunks_exact(WIDE * channels)) {
        for column in 0..WIDE {
            let values = &line[column * channels + channel..][..COUNT];
            let taps = &taps[column * channels + channel..][..COUNT];
            for lane in 0..COUNT {
                sums[lane] = multiply_add::<K>(values[lane], taps[lane], sums[lane]);
            }
        }
    }
    out[channel..][..COUNT].copy_from_slice(&sums);
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
