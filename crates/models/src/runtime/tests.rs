//! Every path this processor has, against a plain f64 forward pass written from the definition.

use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::weights::{Encoding, Stored, Tensor};

/// A checkpoint of random weights with the given sizes, and a classifier head.
pub(crate) fn random_checkpoint(shape: &Shape, vocabulary: usize, seed: u64) -> Checkpoint {
    let mut random = StdRng::seed_from_u64(seed);
    let mut named = Vec::new();
    let mut add = |name: String, sizes: &[usize], middle: f32, spread: f32| {
        let count: usize = sizes.iter().product();
        let values = (0..count).map(|_| middle + spread * random.random_range(-1.0..1.0f32));
        let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        let range = 0..bytes.len();
        let tensor = Tensor::new(&name, Arc::new(bytes), range, sizes.to_vec(), Encoding::F32).unwrap();
        named.push((name, Stored { tensor, by_input: false }));
    };
    let (width, inner) = (shape.width, shape.inner);
    add("embeddings.word_embeddings.weight".into(), &[vocabulary, width], 0.0, 1.0);
    add("embeddings.position_embeddings.weight".into(), &[shape.positions, width], 0.0, 0.3);
    add("embeddings.token_type_embeddings.weight".into(), &[2, width], 0.0, 0.3);
    let mut linear = |name: String, outputs: usize, inputs: usize, gain: f32| {
        // Spreads that keep activations near one and attention far from uniform.
        add(format!("{name}.weight"), &[outputs, inputs], 0.0, gain * (3.0 / inputs as f32).sqrt());
        add(format!("{name}.bias"), &[outputs], 0.0, 0.2);
    };
    for index in 0..shape.layers {
        let name = |part: &str| format!("encoder.layer.{index}.{part}");
        linear(name("attention.self.query"), width, width, 1.5);
        linear(name("attention.self.key"), width, width, 1.5);
        linear(name("attention.self.value"), width, width, 1.0);
        linear(name("attention.output.dense"), width, width, 1.0);
        linear(name("intermediate.dense"), inner, width, 1.5);
        linear(name("output.dense"), width, inner, 1.5);
    }
    linear("pooler.dense".into(), width, width, 1.0);
    linear("classifier".into(), 1, width, 1.0);
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for index in 0..shape.layers {
        norms.push(format!("encoder.layer.{index}.attention.output.LayerNorm"));
        norms.push(format!("encoder.layer.{index}.output.LayerNorm"));
    }
    for name in norms {
        add(format!("{name}.weight"), &[width], 1.0, 0.3);
        add(format!("{name}.bias"), &[width], 0.0, 0.3);
    }
    Checkpoint::new(named)
}

/// The encoder in f64, one number at a time.
struct Reference<'a> {
    checkpoint: &'a Checkpoint,
    shape: &'a Shape,
}

impl Reference<'_> {
    fn numbers(&self, name: &str) -> Vec<f64> {
        self.checkpoint.tensor(name).unwrap().values().into_iter().map(f64::from).collect()
    }

    fn linear(&self, name: &str, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let (weights, bias) =
            (self.numbers(&format!("{name}.weight")), self.numbers(&format!("{name}.bias")));
        let inputs = rows[0].len();
        let dot = |row: &[f64], weights: &[f64]| row.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>();
        let all = |row: &Vec<f64>| {
            weights.chunks(inputs).zip(&bias).map(|(weights, bias)| dot(row, weights) + bias).collect()
        };
        rows.iter().map(all).collect()
    }

    fn normalise(&self, name: &str, rows: &mut [Vec<f64>]) {
        let (gain, bias) = (self.numbers(&format!("{name}.weight")), self.numbers(&format!("{name}.bias")));
        for row in rows {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
            let scale = 1.0 / (variance + f64::from(self.shape.epsilon)).sqrt();
            for ((x, gain), bias) in row.iter_mut().zip(&gain).zip(&bias) {
                *x = (*x - mean) * scale * gain + bias;
            }
        }
    }

    fn attend(&self, name: &str, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let [queries, keys, values] =
            ["query", "key", "value"].map(|part| self.linear(&format!("{name}.{part}"), rows));
        let head_width = self.shape.head_width();
        let mut context = vec![vec![0.0; self.shape.width]; rows.len()];
        for head in 0..self.shape.heads {
            let part = head * head_width..(head + 1) * head_width;
            for (query, out) in queries.iter().zip(&mut context) {
                let score = |key: &Vec<f64>| {
                    let pairs = query[part.clone()].iter().zip(&key[part.clone()]);
                    pairs.map(|(a, b)| a * b).sum::<f64>() / (head_width as f64).sqrt()
                };
                let scores: Vec<f64> = keys.iter().map(score).collect();
                let most = scores.iter().copied().fold(f64::MIN, f64::max);
                let shares: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
                let sum: f64 = shares.iter().sum();
                for (share, value) in shares.iter().zip(&values) {
                    let pairs = out[part.clone()].iter_mut().zip(&value[part.clone()]);
                    pairs.for_each(|(out, value)| *out += share / sum * value);
                }
            }
        }
        context
    }

    fn encode(&self, sequence: &Sequence) -> Vec<f32> {
        let width = self.shape.width;
        let tables = ["word", "position", "token_type"].map(|kind| {
            let name = format!("embeddings.{kind}_embeddings.weight");
            self.numbers(&name)
        });
        let embed = |(position, id): (usize, &u32)| {
            let kind = usize::from(position >= sequence.second_from);
            let at = [*id as usize, position, kind];
            let sum = |column: usize| (0..3).map(|t| tables[t][at[t] * width + column]).sum();
            (0..width).map(sum).collect()
        };
        let mut rows: Vec<Vec<f64>> = sequence.ids.iter().enumerate().map(embed).collect();
        self.normalise("embeddings.LayerNorm", &mut rows);
        for layer in 0..self.shape.layers {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            let add = |rows: &mut Vec<Vec<f64>>, more: Vec<Vec<f64>>| {
                let pairs = rows.iter_mut().flatten().zip(more.into_iter().flatten());
                pairs.for_each(|(x, more)| *x += more);
            };
            let context = self.attend(&name("attention.self"), &rows);
            add(&mut rows, self.linear(&name("attention.output.dense"), &context));
            self.normalise(&name("attention.output.LayerNorm"), &mut rows);
            let mut inner = self.linear(&name("intermediate.dense"), &rows);
            inner.iter_mut().flatten().for_each(|x| *x = exact_gelu(*x));
            add(&mut rows, self.linear(&name("output.dense"), &inner));
            self.normalise(&name("output.LayerNorm"), &mut rows);
        }
        rows.into_iter().flatten().map(|x| x as f32).collect()
    }
}

/// GELU by the series of erf, exact where it is not already saturated.
fn exact_gelu(x: f64) -> f64 {
    let z = x / 2f64.sqrt();
    if z.abs() > 5.0 {
        return x.max(0.0);
    }
    let (mut term, mut sum) = (z, z);
    for n in 1..200 {
        term *= -z * z / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    x * 0.5 * (1.0 + sum * 2.0 / std::f64::consts::PI.sqrt())
}

fn random_sequences(lengths: &[usize], vocabulary: usize) -> Vec<Sequence> {
    let mut random = StdRng::seed_from_u64(7);
    let mut one = |length: &usize| {
        let ids = (0..*length).map(|_| random.random_range(0..vocabulary as u32)).collect();
        Sequence { ids, second_from: length * 2 / 3 }
    };
    lengths.iter().map(&mut one).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// The least cosine that a path's hidden states may have with the reference's, token by token.
fn tolerance(path: Path) -> f32 {
    match path {
        Path::Amx | Path::Vnni | Path::AvxVnni | Path::I8mm | Path::Dotprod => 0.995,
        // Activations in 7 bits.
        Path::Avx2 => 0.99,
        Path::Portable => 0.999_99,
    }
}

/// Checks every available path on packed sequences of these lengths.
fn agree(shape: &Shape, lengths: &[usize]) {
    let vocabulary = 50;
    let checkpoint = random_checkpoint(shape, vocabulary, 3);
    let sequences = random_sequences(lengths, vocabulary);
    let reference = Reference { checkpoint: &checkpoint, shape };
    let expected: Vec<f32> = sequences.iter().flat_map(|sequence| reference.encode(sequence)).collect();
    for path in Path::ALL.into_iter().filter(|path| path.available() && path.fits(shape)) {
        let network = Network::load(&checkpoint, shape.clone(), Some(path)).unwrap();
        let mut scratch = Scratch::default();
        let packed: Vec<&Sequence> = sequences.iter().collect();
        // Twice, so that what an earlier batch left behind would show.
        for _ in 0..2 {
            let hidden = network.encode(&packed, &mut scratch);
            assert_eq!(hidden.len(), expected.len());
            let rows = hidden.chunks(shape.width).zip(expected.chunks(shape.width));
            let least = rows.map(|(a, b)| cosine(a, b)).fold(f32::MAX, f32::min);
            assert!(least > tolerance(path), "{path:?} {lengths:?}: {least}");
        }
    }
}

/// Whether a kernel's products of bytes are what plain sums come to, for weights of any size and for small ones.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn multiplies_exactly<D: bytes::Dot<DEPTH, ROWS>, const DEPTH: usize, const ROWS: usize>() {
    let mut random = StdRng::seed_from_u64(11);
    // 127 and three times 43 are the most that four small weights come to; attention has steps of its own, and none is small.
    let cases = [(127, D::STEPS, true), (43, D::STEPS, true), (D::MOST as i32, D::SHARES, false)];
    for (inputs, (most, steps, weighs)) in
        [16, 48, 384, 1536].into_iter().flat_map(|inputs| cases.map(|case| (inputs, case)))
    {
        // A weight of 127 in each output makes one step worth one; the rest of its eight are at the limit.
        let weight = |at: usize| match at % inputs {
            0 => 127,
            1..8 => most,
            _ => random.random_range(-most..=most),
        };
        let matrix: Vec<i32> = (0..bytes::COLUMNS * inputs).map(weight).collect();
        let floats: Vec<f32> = matrix.iter().map(|weight| *weight as f32).collect();
        let packed =
            bytes::Weights::<{ bytes::COLUMNS }, DEPTH>::pack(&floats, vec![0.0; bytes::COLUMNS], inputs);
        let (first, steps) = (D::FIRST as i32, steps as i32);
        let value = |at: usize| match at % inputs {
            0 if !weighs => 0,
            0..8 => first + steps,
            _ => random.random_range(first..=first + steps),
        };
        let values: Vec<i32> = (0..ROWS * inputs).map(value).collect();
        let rows: Vec<u8> = values.iter().map(|value| *value as u8).collect();
        assert!(packed.small.iter().any(|small| *small) || most > 43, "{inputs} inputs");
        assert!(!packed.small.iter().all(|small| *small) || most < 127, "{inputs} inputs");
        let small = if weighs { packed.small } else { vec![false; inputs / bytes::EIGHT] };
        // SAFETY: the caller asked whether the processor has the instructions; all are as long as they have to be.
        let found = unsafe { D::products(rows.as_ptr(), inputs, packed.panels.as_ptr(), &small) };
        for (values, found) in values.chunks(inputs).zip(found) {
            let dot = |weights: &[i32]| values.iter().zip(weights).map(|(a, b)| a * b).sum::<i32>();
            let expected: Vec<i32> = matrix.chunks(inputs).map(dot).collect();
            assert_eq!(found[..], expected, "{inputs} inputs");
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn products_of_bytes_are_exact() {
    if Path::Avx2.available() {
        multiplies_exactly::<avx2::Avx2, _, _>();
    }
    if Path::AvxVnni.available() {
        multiplies_exactly::<avx2::AvxVnni, _, _>();
    }
    if Path::Vnni.available() {
        multiplies_exactly::<vnni::Vnni, _, _>();
    }
}

#[test]
#[cfg(target_arch = "aarch64")]
fn products_of_bytes_are_exact() {
    if Path::Dotprod.available() {
        multiplies_exactly::<neon::Dotprod, _, _>();
    }
    if Path::I8mm.available() {
        multiplies_exactly::<neon::I8mm, _, _>();
    }
}

fn small(heads: usize, width: usize) -> Shape {
    Shape { layers: 2, width, heads, inner: 2 * width, positions: 128, epsilon: 1e-12 }
}

#[test]
fn all_paths_agree_with_the_definition() {
    agree(&small(4, 128), &[5]);
    agree(&small(4, 128), &[1, 33, 16, 2, 17, 64]);
}

#[test]
fn all_paths_agree_for_every_remainder_of_a_tile() {
    let shape = Shape { layers: 1, ..small(2, 64) };
    for length in 1..=50 {
        agree(&shape, &[length, 3]);
    }
}

#[test]
fn heads_may_be_wider_or_narrower_than_a_tile() {
    agree(&small(2, 128), &[40, 7]);
    agree(&small(4, 64), &[40, 7]);
    agree(&small(2, 96), &[21]);
}

#[test]
fn a_large_batch_after_a_small_one_and_back_agrees() {
    let shape = small(4, 128);
    let checkpoint = random_checkpoint(&shape, 50, 3);
    let sequences = random_sequences(&[90, 12, 120, 1], 50);
    for path in Path::ALL.into_iter().filter(|path| path.available()) {
        let network = Network::load(&checkpoint, shape.clone(), Some(path)).unwrap();
        let mut scratch = Scratch::default();
        let alone = |sequence: &Sequence| network.encode(&[sequence], &mut Scratch::default()).to_vec();
        let expected: Vec<f32> = sequences.iter().flat_map(alone).collect();
        network.encode(&[&sequences[1]], &mut scratch);
        let together = network.encode(&sequences.iter().collect::<Vec<_>>(), &mut scratch);
        // 8-bit rows are rounded alone, so that neighbours in a batch change nothing but the order of sums.
        assert!(cosine(together, &expected) > 0.999_999, "{path:?}");
        let again = network.encode(&[&sequences[1]], &mut scratch);
        assert!(cosine(again, &alone(&sequences[1])) > 0.999_999, "{path:?}");
    }
}

#[test]
fn a_pairs_score_is_the_heads_definition() {
    let shape = small(4, 128);
    let checkpoint = random_checkpoint(&shape, 50, 5);
    let sequence = &random_sequences(&[30], 50)[0];
    let reference = Reference { checkpoint: &checkpoint, shape: &shape };
    let first: Vec<f64> = reference.encode(sequence)[..shape.width].iter().map(|x| f64::from(*x)).collect();
    let mut pooled = reference.linear("pooler.dense", &[first]);
    pooled[0].iter_mut().for_each(|x| *x = x.tanh());
    let expected = reference.linear("classifier", &pooled)[0][0];
    let classifier = Classifier::load(&checkpoint, &shape).unwrap();
    for path in Path::ALL.into_iter().filter(|path| path.available()) {
        let network = Network::load(&checkpoint, shape.clone(), Some(path)).unwrap();
        let mut scratch = Scratch::default();
        let score = classifier.score(&network.encode(&[sequence], &mut scratch)[..shape.width]);
        let allowed = if path == Path::Portable { 0.02 } else { 0.1 };
        assert!((f64::from(score) - expected).abs() < allowed, "{path:?}: {score} {expected}");
    }
}

#[test]
fn unusable_shapes_and_paths_are_refused() {
    let shape = small(4, 128);
    let checkpoint = random_checkpoint(&shape, 50, 3);
    let uneven = Shape { heads: 3, ..shape.clone() };
    assert!(matches!(Network::load(&checkpoint, uneven, None), Err(WeightsError::Unsupported(_))));
    let deeper = Shape { layers: 3, ..shape.clone() };
    assert!(matches!(Network::load(&checkpoint, deeper, None), Err(WeightsError::Malformed(_))));
    let network = Network::load(&checkpoint, shape.clone(), None).unwrap();
    assert_eq!((network.path(), network.vocabulary()), (Path::best(&shape), 50));
}

/// This thread's processor time: what neighbours take does not count.
fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// For tuning: `cargo test -p models --release -- --ignored --nocapture speed`.
#[test]
#[ignore = "measures, checks nothing"]
fn speed() {
    let shape = Shape { layers: 6, width: 384, heads: 12, inner: 1536, positions: 512, epsilon: 1e-12 };
    let checkpoint = random_checkpoint(&shape, 50, 3);
    let wanted =
        std::env::var("PATHS").unwrap_or_else(|_| "amx,vnni,avxvnni,avx2,i8mm,dotprod,portable".into());
    let wanted = |path: &Path| path.available() && wanted.split(',').any(|name| name == path.as_str());
    for path in Path::ALL.into_iter().filter(wanted) {
        let network = Network::load(&checkpoint, shape.clone(), Some(path)).unwrap();
        let mut scratch = Scratch::default();
        for (length, count) in [(12, 1), (200, 1), (200, 2), (200, 4)] {
            let sequences = random_sequences(&vec![length; count], 50);
            let packed: Vec<&Sequence> = sequences.iter().collect();
            let rounds = match path {
                Path::Amx => 40,
                Path::Vnni | Path::AvxVnni | Path::Avx2 | Path::I8mm | Path::Dotprod => 10,
                Path::Portable => 3,
            };
            let mut times: Vec<f64> = (0..rounds)
                .map(|_| {
                    let start = thread_seconds();
                    std::hint::black_box(network.encode(&packed, &mut scratch));
                    thread_seconds() - start
                })
                .collect();
            times.sort_by(f64::total_cmp);
            let (best, median) = (times[0], times[times.len() / 2]);
            println!(
                "{:8} {count} x {length:3}: best {:7.2} ms, median {:7.2} ms, {:6.1} a second",
                path.as_str(),
                best * 1e3,
                median * 1e3,
                count as f64 / median
            );
        }
    }
}
