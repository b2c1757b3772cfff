//! Every kernel this processor has does what the portable one does.

use super::kernels::{Activation, Patches, Source, Weights, Window};
use super::ops::Ops;
use super::processors::Portable;

/// Numbers between -1 and 1 that look random and are the same each time.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / u32::MAX as f32 * 2.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

const HEIGHT: usize = 5;
const WIDTH: usize = 9;
const CHANNELS: usize = 24;

/// All steps on one small picture, one after the other.
fn all<K: Ops>() -> Vec<f32> {
    let input = numbers(HEIGHT * WIDTH * CHANNELS, 1);
    let mut made = Vec::new();
    let pack = |inputs: usize, outputs: usize, seed: u32| {
        let scaled: Vec<f32> = numbers(inputs * outputs, seed).iter().map(|weight| weight * 0.2).collect();
        Weights::pack::<K>(&scaled, &numbers(outputs, seed + 1), outputs)
    };
    let patches = Patches {
        values: &input,
        height: HEIGHT,
        width: WIDTH,
        channels: CHANNELS,
        side: 3,
        stride: 2,
        before: 1,
        across: WIDTH.div_ceil(2),
    };
    let mut out = vec![0.0; HEIGHT.div_ceil(2) * WIDTH.div_ceil(2) * 40];
    let rows = out.len() / 40;
    K::product(&Source::Patches(patches), rows, &pack(9 * CHANNELS, 40, 2), Activation::Relu, &mut out);
    made.extend(out);
    let mut out = vec![0.0; HEIGHT * WIDTH * CHANNELS];
    let (up, down) = (pack(CHANNELS, 64, 4), pack(64, CHANNELS, 6));
    K::widen(&input, HEIGHT * WIDTH, [&up, &down], true, &mut out);
    made.extend(&out);
    let window =
        Window { taps: numbers(9 * CHANNELS, 8), bias: numbers(CHANNELS, 9), side: (3, 3), stride: (1, 1) };
    let mut edged = vec![0.0; (HEIGHT + 2) * (WIDTH + 2) * CHANNELS];
    for (y, row) in input.chunks_exact(WIDTH * CHANNELS).enumerate() {
        edged[((y + 1) * (WIDTH + 2) + 1) * CHANNELS..][..row.len()].copy_from_slice(row);
    }
    K::slide((&edged, WIDTH + 2), (HEIGHT, WIDTH), &window, &mut out);
    made.extend(&out);
    let mut context = vec![0.0; HEIGHT * WIDTH * CHANNELS / 3];
    K::attend(&input, HEIGHT * WIDTH, CHANNELS / 3, 2, &mut context);
    made.extend(context);
    let best = K::best(&input, HEIGHT * WIDTH, &pack(CHANNELS, 70, 10));
    made.extend(best.into_iter().map(|(_, margin)| margin));
    made
}

fn agrees<K: Ops>(precision: f32) {
    for (ours, theirs) in all::<K>().iter().zip(all::<Portable>()) {
        assert!((ours - theirs).abs() < precision, "{ours} and {theirs}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn every_kernel_agrees_with_the_portable_one() {
    use super::processors::{Amx, Avx2, Avx512, AvxVnni, Vnni};
    if Avx2::available() {
        agrees::<Avx2>(1e-4);
    }
    if Avx512::available() {
        agrees::<Avx512>(1e-4);
    }
    if Vnni::available() {
        agrees::<Vnni>(0.06);
    }
    if AvxVnni::available() {
        agrees::<AvxVnni>(0.06);
    }
    if Amx::available() {
        agrees::<Amx>(0.06);
    }
}

#[test]
fn attention_mixes_values_by_their_shares() {
    // Two places of one head: equal keys, so that both get the mean of the values.
    let joined = [1.0, 0.5, 3.0, -1.0, 0.5, 5.0];
    let mut out = [0.0; 2];
    Portable::attend(&joined, 2, 1, 1, &mut out);
    assert!(out.iter().all(|value| (value - 4.0).abs() < 1e-3), "{out:?}");
}

#[test]
fn both_networks_run_on_the_smallest_pictures() {
    let networks = super::load();
    let map = networks.detect(&[1.0; 32 * 32], 32, 32);
    assert!(map.len() == 32 * 32 && map.iter().all(|value| *value < 0.3), "white paper has no text");
    let line = networks.recognise(&[1.0; super::HEIGHT * 2 * super::STEP], 2 * super::STEP);
    assert_eq!(line.iter().map(|(class, _)| *class).collect::<Vec<_>>(), [0, 0]);
}
