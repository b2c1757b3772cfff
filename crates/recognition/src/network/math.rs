//! Polynomials for the two functions that dominate outside of the products.

/// GELU saturates here: beyond it we give 0 or x, which is off by at most 5.6e-5.
const GELU_LIMIT: f32 = 4.2;

/// The normal distribution function as `0.5 + x·P(x²)` on ±[`GELU_LIMIT`], lowest power first.
const GELU: [f32; 9] = [
    0.398_836_77,
    -0.066_224_15,
    0.009_741_937,
    -0.001_086_728_6,
    8.987_841e-5,
    -5.293_543e-6,
    2.074_662_7e-7,
    -4.802_176e-9,
    4.931_948e-11,
];

/// `2^t` for t in [-½, ½], relative error 2.6e-6.
const EXP2: [f32; 5] = [0.999_999_3, 0.693_121_8, 0.240_247_47, 0.055_917_856, 0.009_569_998];

/// Adding and taking away 1.5·2^23 rounds to a whole number without a library call.
const ROUND: f32 = 12_582_912.0;

/// `a·b + c`: one instruction where the processor has it, two elsewhere.
#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// GELU by [`GELU`].
#[inline(always)]
pub(super) fn gelu<const FUSED: bool>(x: f32) -> f32 {
    let inside = x.clamp(-GELU_LIMIT, GELU_LIMIT);
    let square = inside * inside;
    let mut sum = GELU[8];
    for coefficient in GELU[..8].iter().rev() {
        sum = multiply_add::<FUSED>(sum, square, *coefficient);
    }
    x * multiply_add::<FUSED>(inside, sum, 0.5)
}

/// `2^x` by [`EXP2`] for x ≤ 0; below -126 it is 2^-126, as good as nothing beside the largest term, 1.
#[inline(always)]
pub(super) fn exp2<const FUSED: bool>(x: f32) -> f32 {
    let x = x.max(-126.0);
    let shifted = x + ROUND;
    let part = x - (shifted - ROUND);
    let mut sum = EXP2[4];
    for coefficient in EXP2[..4].iter().rev() {
        sum = multiply_add::<FUSED>(sum, part, *coefficient);
    }
    // The whole number is in the low bits of the shifted one: move it to where the exponent is.
    sum * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}
