//! The layers of the two networks.

use std::cell::RefCell;
use std::ops::Range;

use super::kernels::{Activation, Patches, Source, Weights, Window};
use super::ops::Ops;
use super::{HEIGHT, STEP};

/// A picture or what a layer made of it. Its memory is kept for the next one: fresh memory is slow to come by.
struct Picture {
    values: Vec<f32>,
    height: usize,
    width: usize,
    channels: usize,
}

thread_local! {
    /// The memory of pictures that are gone.
    static SPARE: RefCell<Vec<Vec<f32>>> = const { RefCell::new(Vec::new()) };
}

impl Drop for Picture {
    fn drop(&mut self) {
        let values = std::mem::take(&mut self.values);
        SPARE.with_borrow_mut(|spare| spare.push(values));
    }
}

impl Picture {
    /// Room for a picture; what is in it is to be overwritten.
    fn new(height: usize, width: usize, channels: usize) -> Self {
        let length = height * width * channels;
        let spare = SPARE.with_borrow_mut(|spare| {
            // The smallest that suffices, else the largest.
            let fitting = (0..spare.len()).filter(|at| spare[*at].capacity() >= length);
            let best = fitting.min_by_key(|at| spare[*at].capacity());
            let best = best.or_else(|| (0..spare.len()).max_by_key(|at| spare[*at].capacity()));
            best.map(|at| spare.swap_remove(at))
        });
        let mut values = spare.unwrap_or_default();
        if values.capacity() < length {
            // What it held need not be moved.
            values = Vec::with_capacity(length);
        }
        values.resize(length, 0.0);
        Self { values, height, width, channels }
    }

    /// Some of its rows.
    fn rows(&self, rows: Range<usize>) -> Self {
        let mut part = Self::new(rows.len(), self.width, self.channels);
        let line = self.width * self.channels;
        part.values.copy_from_slice(&self.values[rows.start * line..rows.end * line]);
        part
    }

    /// A copy.
    fn again(&self) -> Self {
        self.rows(0..self.height)
    }

    /// With zeros around it: so many rows above and below, and so many places on either side.
    fn edged(&self, above: usize, beside: usize) -> Self {
        let mut out = Self::new(self.height + 2 * above, self.width + 2 * beside, self.channels);
        let (edge, line) = (beside * self.channels, self.width * self.channels);
        let (top, rest) = out.values.split_at_mut(above * out.width * self.channels);
        top.fill(0.0);
        let mut rows = rest.chunks_exact_mut(out.width * self.channels);
        for (values, row) in self.values.chunks_exact(line).zip(rows.by_ref()) {
            row[..edge].fill(0.0);
            row[edge..edge + line].copy_from_slice(values);
            row[edge + line..].fill(0.0);
        }
        rows.for_each(|row| row.fill(0.0));
        out
    }

    fn places(&self) -> usize {
        self.height * self.width
    }

    /// The mean of each channel.
    fn means(&self) -> Vec<f32> {
        let mut sums = vec![0.0f32; self.channels];
        for place in self.values.chunks_exact(self.channels) {
            for (sum, value) in sums.iter_mut().zip(place) {
                *sum += value;
            }
        }
        let share = 1.0 / self.places() as f32;
        sums.iter_mut().for_each(|sum| *sum *= share);
        sums
    }

    /// Adds a picture of half the size, each of its places four times.
    fn add_doubled(&mut self, half: &Picture) {
        for y in 0..self.height {
            for x in 0..self.width {
                let from = &half.values[(y / 2 * half.width + x / 2) * self.channels..][..self.channels];
                let to = &mut self.values[(y * self.width + x) * self.channels..][..self.channels];
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
        }
    }

    /// The greatest of each 2 × 2 places, at each place.
    fn greatest_of_four(&self) -> Picture {
        let mut out = self.again();
        for y in 0..self.height {
            for x in 0..self.width {
                let to = &mut out.values[(y * self.width + x) * self.channels..][..self.channels];
                for (y, x) in [(y, x + 1), (y + 1, x), (y + 1, x + 1)] {
                    if y < self.height && x < self.width {
                        let from = &self.values[(y * self.width + x) * self.channels..][..self.channels];
                        to.iter_mut().zip(from).for_each(|(to, from)| *to = to.max(*from));
                    }
                }
            }
        }
        out
    }

    /// The mean of each 3 × 2 places.
    fn mean_of_six(&self) -> Picture {
        let mut out = Picture::new(self.height / 3, self.width / 2, self.channels);
        for (place, to) in out.values.chunks_exact_mut(self.channels).enumerate() {
            let (top, left) = (place / out.width * 3, place % out.width * 2);
            to.fill(0.0);
            for part in 0..6 {
                let (y, x) = (top + part / 2, left + part % 2);
                let from = &self.values[(y * self.width + x) * self.channels..][..self.channels];
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from / 6.0);
            }
        }
        out
    }
}

/// Pictures of one size, their channels side by side; smaller ones are enlarged by repetition.
fn side_by_side(parts: &[&Picture]) -> Picture {
    let (height, width) =
        parts.iter().fold((0, 0), |most, part| (most.0.max(part.height), most.1.max(part.width)));
    let mut out = Picture::new(height, width, parts.iter().map(|part| part.channels).sum());
    let channels = out.channels;
    let mut first = 0;
    for part in parts {
        let times = width / part.width;
        for (place, to) in out.values.chunks_exact_mut(channels).enumerate() {
            let (y, x) = (place / width / times, place % width / times);
            let from = &part.values[(y * part.width + x) * part.channels..][..part.channels];
            to[first..][..part.channels].copy_from_slice(from);
        }
        first += part.channels;
    }
    out
}

/// Weights, read one after the other.
struct Stream<'a>(&'a [u8]);

impl Stream<'_> {
    fn take(&mut self, count: usize) -> Vec<f32> {
        let (taken, rest) = self.0.split_at(count * 2);
        self.0 = rest;
        taken.as_chunks::<2>().0.iter().map(|pair| half::f16::from_le_bytes(*pair).to_f32()).collect()
    }

    fn end(&self) {
        assert!(self.0.is_empty(), "the weights belong to other layers");
    }
}

/// A product of the surroundings of each place, or of the place alone.
struct Layer<K: Ops> {
    weights: Weights<K::Cell>,
    outputs: usize,
    side: usize,
    stride: usize,
    activation: Activation,
}

impl<K: Ops> Layer<K> {
    fn load(
        stream: &mut Stream<'_>,
        (inputs, outputs): (usize, usize),
        side: usize,
        activation: Activation,
    ) -> Self {
        let matrix = stream.take(outputs * inputs * side * side);
        let bias = stream.take(outputs);
        Self { weights: Weights::pack::<K>(&matrix, &bias, outputs), outputs, side, stride: 1, activation }
    }

    fn every(mut self, stride: usize) -> Self {
        self.stride = stride;
        self
    }

    fn run(&self, input: &Picture) -> Picture {
        let (height, width) = (input.height.div_ceil(self.stride), input.width.div_ceil(self.stride));
        let mut out = Picture::new(height, width, self.outputs);
        let source = match self.side {
            1 => Source::Rows(&input.values),
            side => Source::Patches(Patches {
                values: &input.values,
                height: input.height,
                width: input.width,
                channels: input.channels,
                side,
                stride: self.stride,
                // A window of two looks at its place and those after it.
                before: (side - 1) / 2,
                across: width,
            }),
        };
        K::product(&source, height * width, &self.weights, self.activation, &mut out.values);
        out
    }
}

/// Enlarges a picture to twice its size, each place becoming four.
struct Enlarge<K: Ops>(Layer<K>);

impl<K: Ops> Enlarge<K> {
    fn load(stream: &mut Stream<'_>, (inputs, outputs): (usize, usize), activation: Activation) -> Self {
        Self(Layer::load(stream, (inputs, 4 * outputs), 1, activation))
    }

    fn run(&self, input: &Picture) -> Picture {
        let parts = self.0.run(input);
        let channels = parts.channels / 4;
        let mut out = Picture::new(2 * input.height, 2 * input.width, channels);
        for (place, four) in parts.values.chunks_exact(parts.channels).enumerate() {
            let (y, x) = (place / input.width * 2, place % input.width * 2);
            for (part, from) in four.chunks_exact(channels).enumerate() {
                let at = (y + part / 2) * out.width + x + part % 2;
                out.values[at * channels..][..channels].copy_from_slice(from);
            }
        }
        out
    }
}

fn window(stream: &mut Stream<'_>, channels: usize, side: (usize, usize), stride: (usize, usize)) -> Window {
    Window { taps: stream.take(side.0 * side.1 * channels), bias: stream.take(channels), side, stride }
}

fn slide<K: Ops>(window: &Window, input: &Picture) -> Picture {
    let (height, width) = (input.height.div_ceil(window.stride.0), input.width.div_ceil(window.stride.1));
    let mut out = Picture::new(height, width, input.channels);
    let edged = input.edged(window.side.0 / 2, window.side.1 / 2);
    K::slide((&edged.values, edged.width), (height, width), window, &mut out.values);
    out
}

/// Weighs each channel by what the means of all of them say.
struct Gate {
    inner: (Vec<f32>, Vec<f32>),
    outer: (Vec<f32>, Vec<f32>),
    slope: f32,
    /// Added to each weight: whether the picture as it was stays in.
    keep: f32,
}

impl Gate {
    fn load(stream: &mut Stream<'_>, channels: usize, slope: f32, keep: f32) -> Self {
        let few = channels / 4;
        let inner = (stream.take(few * channels), stream.take(few));
        let outer = (stream.take(few * channels), stream.take(channels));
        Self { inner, outer, slope, keep }
    }

    fn run(&self, picture: &mut Picture) {
        let dense = |(matrix, bias): &(Vec<f32>, Vec<f32>), input: &[f32]| -> Vec<f32> {
            let rows = matrix.chunks_exact(input.len()).zip(bias);
            rows.map(|(row, bias)| bias + row.iter().zip(input).map(|(a, b)| a * b).sum::<f32>()).collect()
        };
        let mut inner = dense(&self.inner, &picture.means());
        inner.iter_mut().for_each(|value| *value = value.max(0.0));
        let mut weights = dense(&self.outer, &inner);
        weights.iter_mut().for_each(|value| *value = (self.slope * *value + 0.5).clamp(0.0, 1.0) + self.keep);
        for place in picture.values.chunks_exact_mut(picture.channels) {
            place.iter_mut().zip(&weights).for_each(|(value, weight)| *value *= weight);
        }
    }
}

/// A block of the networks' common part: a window over each channel, then a product to more channels and back.
struct Block<K: Ops> {
    window: Window,
    gate: Option<Gate>,
    up: Weights<K::Cell>,
    down: Weights<K::Cell>,
    outputs: usize,
    /// Whether what comes in is added to what goes out.
    residual: bool,
}

impl<K: Ops> Block<K> {
    fn load(stream: &mut Stream<'_>, plan: &Plan) -> Self {
        /// The slope of the gates in this part.
        const SLOPE: f32 = 1.0 / 6.0;
        let (inputs, outputs) = (plan.inputs, plan.outputs);
        let window = window(stream, inputs, (3, 3), plan.stride);
        let gate = plan.gated.then(|| Gate::load(stream, inputs, SLOPE, 0.0));
        let inner = 2 * inputs;
        let mut dense = |inputs: usize, outputs: usize| {
            let matrix = stream.take(inputs * outputs);
            Weights::pack::<K>(&matrix, &stream.take(outputs), outputs)
        };
        let (up, down) = (dense(inputs, inner), dense(inner, outputs));
        Self { window, gate, up, down, outputs, residual: inputs == outputs }
    }

    fn run(&self, input: &Picture) -> Picture {
        let mut inner = slide::<K>(&self.window, input);
        if let Some(gate) = &self.gate {
            gate.run(&mut inner);
        }
        let mut out = Picture::new(inner.height, inner.width, self.outputs);
        K::widen(&inner.values, inner.places(), [&self.up, &self.down], self.residual, &mut out.values);
        out
    }
}

/// One block as it is to be loaded.
struct Plan {
    inputs: usize,
    outputs: usize,
    stride: (usize, usize),
    gated: bool,
}

/// The common part of both networks: a stem, then stages of blocks, each at a smaller size and with more channels.
struct Trunk<K: Ops> {
    first: Layer<K>,
    narrow: Layer<K>,
    wide: Layer<K>,
    merge: Layer<K>,
    last: Layer<K>,
    stages: Vec<Vec<Block<K>>>,
}

impl<K: Ops> Trunk<K> {
    /// `stem` is how many channels the stem has, `stages` how many blocks the first stage has and each after the one that makes the
    /// picture smaller by `stride`.
    fn load(stream: &mut Stream<'_>, stem: usize, stages: &[usize], stride: (usize, usize)) -> Self {
        let first = Layer::load(stream, (1, stem), 3, Activation::Relu).every(2);
        let narrow = Layer::load(stream, (stem, stem / 2), 2, Activation::Relu);
        let wide = Layer::load(stream, (stem / 2, stem), 2, Activation::Relu);
        let merge = Layer::load(stream, (2 * stem, stem), 3, Activation::Relu).every(2);
        let last = Layer::load(stream, (stem, 2 * stem), 1, Activation::Relu);
        let mut channels = 2 * stem;
        let mut loaded = Vec::new();
        for (stage, blocks) in stages.iter().enumerate() {
            let mut plans = Vec::new();
            if stage > 0 {
                plans.push(Plan { inputs: channels, outputs: 2 * channels, stride, gated: false });
                channels *= 2;
            }
            // Every second block is gated, but never the last.
            plans.extend((0..*blocks).map(|block| Plan {
                inputs: channels,
                outputs: channels,
                stride: (1, 1),
                gated: block % 2 == 0 && block + 1 < *blocks,
            }));
            loaded.push(plans.iter().map(|plan| Block::load(stream, plan)).collect());
        }
        Self { first, narrow, wide, merge, last, stages: loaded }
    }

    /// What each stage makes of a picture.
    fn run(&self, picture: &Picture) -> Vec<Picture> {
        let mut at = self.stem(picture);
        let mut stages: Vec<Picture> = Vec::with_capacity(self.stages.len());
        for blocks in &self.stages {
            for (nth, block) in blocks.iter().enumerate() {
                at = match stages.last() {
                    Some(before) if nth == 0 => block.run(before),
                    _ => block.run(&at),
                };
            }
            stages.push(std::mem::replace(&mut at, Picture::new(0, 0, 0)));
        }
        stages
    }

    /// The first layers, a quarter as high and wide, a few rows at a time, so that what lies between stays in the cache.
    fn stem(&self, picture: &Picture) -> Picture {
        /// Values between the layers that stay in the cache.
        const FEW: usize = 1 << 18;
        /// Rows that a row of the result does not depend on any more, in rows of the result.
        const REACH: usize = 2;
        let band = (FEW / (picture.width * self.first.outputs).max(1)).max(2);
        let mut out = Picture::new(picture.height.div_ceil(4), picture.width.div_ceil(4), self.last.outputs);
        let line = out.width * out.channels;
        for top in (0..out.height).step_by(band) {
            let bottom = (top + band).min(out.height);
            let from = top.saturating_sub(REACH);
            let part = picture.rows(4 * from..(4 * (bottom + REACH)).min(picture.height));
            let first = self.first.run(&part);
            let wide = self.wide.run(&self.narrow.run(&first));
            let joined = side_by_side(&[&first.greatest_of_four(), &wide]);
            let part = self.last.run(&self.merge.run(&joined));
            let part = &part.values[(top - from) * line..(bottom - from) * line];
            out.values[top * line..bottom * line].copy_from_slice(part);
        }
        out
    }
}

/// Finds lines of text.
pub(super) struct Detector<K: Ops> {
    trunk: Trunk<K>,
    /// For the deepest stage first: to a common number of channels, and a gate.
    sides: Vec<(Layer<K>, Gate)>,
    /// The same order: wide windows, to fewer channels, and a gate.
    smooth: Vec<(Window, Layer<K>, Gate)>,
    join: Layer<K>,
    double: Enlarge<K>,
    last: Enlarge<K>,
}

impl<K: Ops> Detector<K> {
    pub(super) fn load(weights: &[u8]) -> Self {
        /// Channels of all stages together, and of each.
        const JOINED: usize = 96;
        const PART: usize = JOINED / 4;
        const SLOPE: f32 = 0.2;
        let mut stream = Stream(weights);
        let trunk = Trunk::load(&mut stream, 24, &[2, 2, 4, 2], (2, 2));
        let mut side = |channels: usize| {
            let layer = Layer::load(&mut stream, (channels, JOINED), 1, Activation::None);
            (layer, Gate::load(&mut stream, JOINED, SLOPE, 1.0))
        };
        let sides = vec![side(384), side(192), side(96), side(48)];
        let mut smooth = || {
            let window = window(&mut stream, JOINED, (7, 7), (1, 1));
            let layer = Layer::load(&mut stream, (JOINED, PART), 1, Activation::None);
            (window, layer, Gate::load(&mut stream, PART, SLOPE, 1.0))
        };
        let smooth = vec![smooth(), smooth(), smooth(), smooth()];
        let join = Layer::load(&mut stream, (JOINED, PART), 3, Activation::Relu);
        let double = Enlarge::load(&mut stream, (PART, PART), Activation::Relu);
        let last = Enlarge::load(&mut stream, (PART, 1), Activation::None);
        stream.end();
        Self { trunk, sides, smooth, join, double, last }
    }

    pub(super) fn run(&self, values: &[f32], height: usize, width: usize) -> Vec<f32> {
        let stages = self.trunk.run(&Picture { values: values.to_vec(), height, width, channels: 1 });
        let mut smoothed: Vec<Picture> = Vec::with_capacity(stages.len());
        let mut above: Option<Picture> = None;
        for ((stage, (layer, gate)), (window, fewer, second)) in
            stages.into_iter().rev().zip(&self.sides).zip(&self.smooth)
        {
            let mut side = layer.run(&stage);
            drop(stage);
            gate.run(&mut side);
            if let Some(above) = &above {
                side.add_doubled(above);
            }
            let mut smooth = fewer.run(&slide::<K>(window, &side));
            second.run(&mut smooth);
            smoothed.push(smooth);
            above = Some(side);
        }
        drop(above);
        let joined = side_by_side(&smoothed.iter().collect::<Vec<_>>());
        let mut map = self.last.run(&self.double.run(&self.join.run(&joined)));
        let mut map = std::mem::take(&mut map.values);
        map.iter_mut().for_each(|value| *value = 1.0 / (1.0 + (-*value).exp()));
        map
    }
}

/// Normalises each row.
struct Norm {
    gain: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
}

impl Norm {
    fn load(stream: &mut Stream<'_>, width: usize, epsilon: f32) -> Self {
        Self { gain: stream.take(width), bias: stream.take(width), epsilon }
    }

    fn run(&self, input: &Picture) -> Picture {
        let mut out = input.again();
        let share = 1.0 / self.gain.len() as f32;
        for row in out.values.chunks_exact_mut(self.gain.len()) {
            let mean = row.iter().sum::<f32>() * share;
            let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f32>() * share;
            let scale = 1.0 / (variance + self.epsilon).sqrt();
            for ((value, gain), bias) in row.iter_mut().zip(&self.gain).zip(&self.bias) {
                *value = (*value - mean) * scale * gain + bias;
            }
        }
        out
    }
}

fn add(to: &mut Picture, from: &Picture) {
    to.values.iter_mut().zip(&from.values).for_each(|(to, from)| *to += from);
}

/// A layer in which every place of a line looks at all others.
struct Mixer<K: Ops> {
    before: Norm,
    joined: Layer<K>,
    output: Layer<K>,
    between: Norm,
    up: Layer<K>,
    down: Layer<K>,
}

/// Channels of a line's places.
const WIDTH: usize = 120;
const HEADS: usize = 8;
/// Characters, the blank before them and the space after them.
const CLASSES: usize = 18_710;

impl<K: Ops> Mixer<K> {
    fn load(stream: &mut Stream<'_>) -> Self {
        const EPSILON: f32 = 1e-5;
        Self {
            before: Norm::load(stream, WIDTH, EPSILON),
            joined: Layer::load(stream, (WIDTH, 3 * WIDTH), 1, Activation::None),
            output: Layer::load(stream, (WIDTH, WIDTH), 1, Activation::None),
            between: Norm::load(stream, WIDTH, EPSILON),
            up: Layer::load(stream, (WIDTH, 2 * WIDTH), 1, Activation::Silu),
            down: Layer::load(stream, (2 * WIDTH, WIDTH), 1, Activation::None),
        }
    }

    fn run(&self, line: &mut Picture) {
        let joined = self.joined.run(&self.before.run(line));
        let mut context = Picture::new(line.height, line.width, WIDTH);
        K::attend(&joined.values, line.places(), WIDTH, HEADS, &mut context.values);
        add(line, &self.output.run(&context));
        add(line, &self.down.run(&self.up.run(&self.between.run(line))));
    }
}

/// Tells what a line says.
pub(super) struct Recogniser<K: Ops> {
    trunk: Trunk<K>,
    shortcut: Layer<K>,
    inward: Layer<K>,
    window: Window,
    mixers: [Mixer<K>; 2],
    norm: Norm,
    classes: Weights<K::Cell>,
}

impl<K: Ops> Recogniser<K> {
    pub(super) fn load(weights: &[u8]) -> Self {
        const CHANNELS: usize = 384;
        let mut stream = Stream(weights);
        let stream = &mut stream;
        let trunk = Trunk::load(stream, 48, &[3, 6, 2], (2, 1));
        let shortcut = Layer::load(stream, (CHANNELS, WIDTH), 1, Activation::Silu);
        let inward = Layer::load(stream, (CHANNELS, WIDTH), 1, Activation::Silu);
        let window = window(stream, WIDTH, (1, 7), (1, 1));
        let mixers = [Mixer::load(stream), Mixer::load(stream)];
        let norm = Norm::load(stream, WIDTH, 1e-6);
        let matrix = stream.take(WIDTH * CLASSES);
        let classes = Weights::pack::<K>(&matrix, &stream.take(CLASSES), CLASSES);
        stream.end();
        Self { trunk, shortcut, inward, window, mixers, norm, classes }
    }

    pub(super) fn run(&self, values: &[f32], width: usize) -> Vec<(usize, f32)> {
        assert!(width.is_multiple_of(STEP) && values.len() == width * HEIGHT);
        let stages = self.trunk.run(&Picture { values: values.to_vec(), height: HEIGHT, width, channels: 1 });
        let Some(pooled) = stages.last().map(Picture::mean_of_six) else { return Vec::new() };
        drop(stages);
        let inward = self.inward.run(&pooled);
        let mut line = slide::<K>(&self.window, &inward);
        line.values.iter_mut().for_each(|value| *value /= 1.0 + (-*value).exp());
        add(&mut line, &inward);
        for mixer in &self.mixers {
            mixer.run(&mut line);
        }
        let mut line = self.norm.run(&line);
        add(&mut line, &self.shortcut.run(&pooled));
        K::best(&line.values, line.places(), &self.classes)
    }
}
