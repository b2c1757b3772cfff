//! Polynomials for the two functions that dominate outside of the products, shared by every path.

/// GELU saturates here: beyond it we give 0 or x, which is off by at most 5.6e-5.
pub(crate) const GELU_LIMIT: f32 = 4.2;

/// The normal distribution function as `0.5 + x·P(x²)` on ±[`GELU_LIMIT`], lowest power first.
/// Fitted so that `x·Φ(x)` is within 1.5e-5 of the exact GELU and Φ meets 0 and 1 at the limits.
pub(crate) const GELU: [f32; 9] = [
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

/// `2^t` for t in [0, 1), relative error 7.5e-5: below the rounding of a 16-bit float, for paths that keep those.
#[cfg(target_arch = "x86_64")]
pub(crate) const EXP2_COARSE: [f32; 4] = [0.999_925_3, 0.695_832_85, 0.226_068_66, 0.078_023_59];

/// `2^t` for t in [-½, ½], relative error 2.6e-6, for paths that keep 32-bit floats.
pub(crate) const EXP2: [f32; 5] = [0.999_999_3, 0.693_121_8, 0.240_247_47, 0.055_917_856, 0.009_569_998];

/// `2^t` for t in [-½, ½], relative error 7.5e-5, for paths that keep a byte of it.
pub(crate) const EXP2_BYTE: [f32; 4] = [0.999_928_07, 0.693_261, 0.242_611_21, 0.055_171_38];

/// Scores are kept in powers of two: the factor goes into the query weights once, at loading.
pub(crate) const LOG2_E: f32 = std::f32::consts::LOG2_E;

/// Adding and taking away 1.5·2^23 rounds to a whole number without a library call.
const ROUND: f32 = 12_582_912.0;

/// Writes one output's weights as steps of 127, and gives what a step is worth and the sum of all weights.
pub(crate) fn steps_of(weights: &[f32], steps: &mut [i8]) -> (f32, f32) {
    let most = weights.iter().fold(0.0f32, |most, weight| most.max(weight.abs()));
    let scale = most.max(f32::MIN_POSITIVE) / 127.0;
    let mut sum = 0;
    for (weight, step) in weights.iter().zip(steps) {
        let whole = ((weight / scale + ROUND) - ROUND) as i32;
        sum += whole;
        *step = whole as i8;
    }
    (scale, sum as f32 * scale)
}

/// What one of `steps` steps between a row's least and greatest value is worth.
#[inline(always)]
pub(crate) fn step_between(least: f32, greatest: f32, steps: f32) -> f32 {
    (greatest - least).max(f32::MIN_POSITIVE * 256.0) / steps
}

/// The whole number nearest to a value from 0 to 255, plus `first`: from -128 on it is a signed byte's bits.
#[inline(always)]
pub(crate) fn nearest_byte(value: f32, first: f32) -> u8 {
    (value + (ROUND + first)).to_bits() as u8
}

/// `a·b + c`: one instruction where the processor has it, two elsewhere (a library call would be far slower).
#[inline(always)]
pub(crate) fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// GELU by [`GELU`].
#[inline(always)]
pub(crate) fn gelu<const FUSED: bool>(x: f32) -> f32 {
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
pub(crate) fn exp2<const FUSED: bool>(x: f32) -> f32 {
    let (power, part) = power_and_part(x);
    let mut sum = EXP2[4];
    for coefficient in EXP2[..4].iter().rev() {
        sum = multiply_add::<FUSED>(sum, part, *coefficient);
    }
    sum * power
}

/// `2^x` for x ≤ 8 as the nearest whole number, plus `first`: from -128 on it is a signed byte's bits.
#[inline(always)]
pub(crate) fn exp2_byte<const FUSED: bool>(x: f32, first: f32) -> u8 {
    let (power, part) = power_and_part(x);
    let mut sum = EXP2_BYTE[3];
    for coefficient in EXP2_BYTE[..3].iter().rev() {
        sum = multiply_add::<FUSED>(sum, part, *coefficient);
    }
    multiply_add::<FUSED>(sum, power, ROUND + first).to_bits() as u8
}

/// Two to the whole number nearest to x, and what is left of x.
#[inline(always)]
fn power_and_part(x: f32) -> (f32, f32) {
    // The low bits of the shifted number are the exponent of two to the whole one.
    const EXPONENT: f32 = ROUND + 127.0;
    let x = x.max(-126.0);
    let shifted = x + EXPONENT;
    (f32::from_bits(shifted.to_bits() << 23), x - (shifted - EXPONENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// erf by its series, exact to double precision where we look.
    fn erf(z: f64) -> f64 {
        let (mut term, mut sum) = (z, z);
        for n in 1..200 {
            term *= -z * z / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn gelu_is_within_a_ten_thousandth() {
        for step in -6000..=6000 {
            let x = step as f32 / 1000.0;
            let exact = f64::from(x) * 0.5 * (1.0 + erf(f64::from(x) / 2f64.sqrt()));
            assert!((f64::from(gelu::<true>(x)) - exact).abs() < 1e-4, "{x}");
            assert!((f64::from(gelu::<false>(x)) - exact).abs() < 1e-4, "{x}");
        }
        // Far out the rounding of Φ shows, in proportion.
        assert!((gelu::<true>(100.0) - 100.0).abs() < 1e-3 && gelu::<true>(-100.0).abs() < 1e-3);
    }

    #[test]
    fn exp2_is_within_four_millionths() {
        for step in 0..=120_000 {
            let x = -step as f32 / 1000.0;
            assert!((f64::from(exp2::<false>(x)) / f64::from(x).exp2() - 1.0).abs() < 4e-6, "{x}");
        }
        assert!(exp2::<false>(-1e30) < 1e-37);
    }

    #[test]
    fn bytes_of_exp2_are_the_nearest() {
        for step in 0..=20_000 {
            let x = 8.0 - step as f32 / 1000.0;
            let exact = f64::from(x).exp2();
            for (first, byte) in
                [(0.0, exp2_byte::<true>(x, 0.0)), (-128.0, exp2_byte::<false>(x, -128.0) ^ 128)]
            {
                assert!(exact > 255.4 || (f64::from(byte) - exact).abs() < 0.53, "{x} from {first}");
            }
        }
        assert_eq!((exp2_byte::<false>(-1e30, 0.0), exp2_byte::<true>(-1e30, -128.0)), (0, 128));
    }
}
