//! Two networks that read pictures: one finds lines of text, the other tells what a line says.
//!
//! They are PP-OCRv6 small (`models/pp-ocrv6-small`), run by our own kernels: `kernels` has the steps, `processors` the products of
//! each kind of processor, `ops` the steps compiled for each. Pictures lie in memory place by place, all channels of a place side
//! by side, so that most layers are one product.

mod kernels;
mod layers;
mod math;
mod ops;
mod processors;
#[cfg(test)]
mod tests;

use layers::{Detector, Recogniser};
use processors::Portable;

/// Weights as half-precision floats, in the order in which the layers are loaded.
static DETECTOR: &[u8] = include_bytes!("../../../../models/pp-ocrv6-small/detector.f16");
static RECOGNISER: &[u8] = include_bytes!("../../../../models/pp-ocrv6-small/recogniser.f16");

/// The networks, loaded for this processor.
pub(crate) trait Networks {
    /// How likely each pixel is inside a line of text. Values are from -1 (black) to 1 (white); both sides are multiples of 32.
    fn detect(&self, values: &[f32], height: usize, width: usize) -> Vec<f32>;

    /// The likeliest character of each [`STEP`] columns of a line, [`HEIGHT`] high and a multiple of [`STEP`] wide, and by how much
    /// it is likelier than the next, as a logarithm.
    fn recognise(&self, values: &[f32], width: usize) -> Vec<(usize, f32)>;
}

/// The height of a line that is recognised.
pub(crate) const HEIGHT: usize = 48;
/// Columns that one character is told for.
pub(crate) const STEP: usize = 8;

/// Both networks, packed for one kind of processor.
struct Loaded<K: ops::Ops> {
    detector: Detector<K>,
    recogniser: Recogniser<K>,
}

impl<K: ops::Ops> Networks for Loaded<K> {
    fn detect(&self, values: &[f32], height: usize, width: usize) -> Vec<f32> {
        self.detector.run(values, height, width)
    }

    fn recognise(&self, values: &[f32], width: usize) -> Vec<(usize, f32)> {
        self.recogniser.run(values, width)
    }
}

fn loaded<K: ops::Ops + 'static>() -> Box<dyn Networks + Send + Sync> {
    Box::new(Loaded::<K> { detector: Detector::load(DETECTOR), recogniser: Recogniser::load(RECOGNISER) })
}

/// Asks the system for what the fastest kernels need. A confined process can no longer.
pub fn prepare() {
    #[cfg(target_arch = "x86_64")]
    processors::Amx::available();
}

/// Loads the networks for the fastest kernels of this processor.
pub(crate) fn load() -> Box<dyn Networks + Send + Sync> {
    #[cfg(target_arch = "x86_64")]
    {
        use processors::{Amx, Avx2, Avx512, AvxVnni, Vnni};
        if Amx::available() {
            return loaded::<Amx>();
        }
        if Vnni::available() {
            return loaded::<Vnni>();
        }
        if AvxVnni::available() {
            return loaded::<AvxVnni>();
        }
        if Avx512::available() {
            return loaded::<Avx512>();
        }
        if Avx2::available() {
            return loaded::<Avx2>();
        }
    }
    loaded::<Portable>()
}
