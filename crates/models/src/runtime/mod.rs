//! The forward pass of BERT encoders, our own for each kind of processor and chosen when a model is loaded.
//!
//! - `amx`: 8-bit and bf16 tiles (Sapphire Rapids and later).
//! - `vnni`: 8-bit products (AVX-512 with VNNI).
//! - `avx2`: 8-bit products on 256-bit registers, with AVX-VNNI where the processor has it.
//! - `neon`: 8-bit products on NEON, with the matrix instructions of I8MM where the processor has them.
//! - `float::Portable`: f32 in plain Rust, for every other processor.
//!
//! Sequences are packed one after the other without padding: a batch costs its tokens, whatever their lengths.

// Kernels reach for instructions and memory layouts the language has no safe words for; every block says why it holds.
#![allow(unsafe_code)]

mod aligned;
#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod attention;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod bytes;
mod float;
mod head;
mod lanes;
mod layers;
mod math;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vnni;

use crate::weights::{Checkpoint, Shape, WeightsError};
use aligned::Buffer;
use float::Portable;
use layers::{Embeddings, Layer};

pub(crate) use head::{Classifier, normalise_vector};

/// A way to run the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Path {
    /// 8-bit products on AMX tiles, attention in bf16.
    Amx,
    /// 8-bit products on AVX-512 VNNI.
    Vnni,
    /// 8-bit products on AVX-VNNI, in registers of 256 bits.
    AvxVnni,
    /// 8-bit products on AVX2.
    Avx2,
    /// 8-bit products on NEON, by the matrix instructions of I8MM.
    I8mm,
    /// 8-bit products on NEON, by its dot products.
    Dotprod,
    /// f32 in plain Rust.
    Portable,
}

impl Path {
    /// All paths, fastest first.
    pub const ALL: [Path; 7] =
        [Path::Amx, Path::Vnni, Path::AvxVnni, Path::Avx2, Path::I8mm, Path::Dotprod, Path::Portable];

    /// The path's name, as shown and as configured.
    pub fn as_str(self) -> &'static str {
        match self {
            Path::Amx => "amx",
            Path::Vnni => "vnni",
            Path::AvxVnni => "avxvnni",
            Path::Avx2 => "avx2",
            Path::I8mm => "i8mm",
            Path::Dotprod => "dotprod",
            Path::Portable => "portable",
        }
    }

    /// Whether this processor can take this path.
    #[cfg(target_arch = "x86_64")]
    pub fn available(self) -> bool {
        match self {
            Path::Amx => amx::available(),
            Path::Vnni => vnni::available(),
            Path::AvxVnni => avx2::vnni_available(),
            Path::Avx2 => avx2::available(),
            Path::I8mm | Path::Dotprod => false,
            Path::Portable => true,
        }
    }

    /// Whether this processor can take this path.
    #[cfg(target_arch = "aarch64")]
    pub fn available(self) -> bool {
        match self {
            Path::Amx | Path::Vnni | Path::AvxVnni | Path::Avx2 => false,
            Path::I8mm => neon::i8mm_available(),
            Path::Dotprod => neon::dotprod_available(),
            Path::Portable => true,
        }
    }

    /// Whether this processor can take this path.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn available(self) -> bool {
        self == Path::Portable
    }

    /// Whether the path's blocks divide this network.
    #[cfg(target_arch = "x86_64")]
    fn fits(self, shape: &Shape) -> bool {
        match self {
            Path::Amx => amx::fits(shape),
            Path::Vnni => vnni::fits(shape),
            Path::AvxVnni | Path::Avx2 | Path::I8mm | Path::Dotprod | Path::Portable => true,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn fits(self, _shape: &Shape) -> bool {
        true
    }

    /// The fastest path for a network on this processor.
    pub fn best(shape: &Shape) -> Path {
        let usable = |path: &Path| path.available() && path.fits(shape);
        Path::ALL.into_iter().find(usable).unwrap_or(Path::Portable)
    }
}

/// One tokenized text, or a pair of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) ids: Vec<u32>,
    /// Where the second text of a pair starts; the length where there is none.
    pub(crate) second_from: usize,
}

/// The layers as the chosen path packs them.
enum Stack {
    #[cfg(target_arch = "x86_64")]
    Amx(Vec<Layer<amx::Weights>>),
    #[cfg(target_arch = "x86_64")]
    Vnni(Vec<Layer<vnni::Weights>>),
    #[cfg(target_arch = "x86_64")]
    AvxVnni(Vec<Layer<avx2::Weights>>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Vec<Layer<avx2::Weights>>),
    #[cfg(target_arch = "aarch64")]
    I8mm(Vec<Layer<neon::MatrixWeights>>),
    #[cfg(target_arch = "aarch64")]
    Dotprod(Vec<Layer<neon::DotWeights>>),
    Portable(Vec<Layer<lanes::Matrix>>),
}

/// A loaded encoder.
pub(crate) struct Network {
    shape: Shape,
    path: Path,
    embeddings: Embeddings,
    stack: Stack,
}

/// One thread's room for activations.
#[derive(Default)]
pub(crate) struct Scratch {
    hidden: Buffer<f32>,
    #[cfg(target_arch = "x86_64")]
    amx: amx::Scratch,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    bytes: float::Scratch<bytes::Scratch>,
    float: float::Scratch<lanes::Room>,
}

impl Network {
    /// Packs a checkpoint for `path`, or for the best one.
    pub(crate) fn load(
        checkpoint: &Checkpoint,
        shape: Shape,
        path: Option<Path>,
    ) -> Result<Self, WeightsError> {
        shape.check()?;
        let path = path.unwrap_or_else(|| Path::best(&shape));
        if !path.available() || !path.fits(&shape) {
            return Err(WeightsError::Unsupported(format!(
                "the `{}` path cannot run this model here",
                path.as_str()
            )));
        }
        let embeddings = Embeddings::load(checkpoint, &shape)?;
        let stack = match path {
            #[cfg(target_arch = "x86_64")]
            Path::Amx => Stack::Amx(layers::load(checkpoint, &shape, amx::Weights::pack)?),
            #[cfg(target_arch = "x86_64")]
            Path::Vnni => Stack::Vnni(layers::load(checkpoint, &shape, vnni::Weights::pack)?),
            #[cfg(target_arch = "x86_64")]
            Path::AvxVnni => Stack::AvxVnni(layers::load(checkpoint, &shape, avx2::Weights::pack)?),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => Stack::Avx2(layers::load(checkpoint, &shape, avx2::Weights::pack)?),
            #[cfg(target_arch = "aarch64")]
            Path::I8mm => Stack::I8mm(layers::load(checkpoint, &shape, neon::MatrixWeights::pack)?),
            #[cfg(target_arch = "aarch64")]
            Path::Dotprod => Stack::Dotprod(layers::load(checkpoint, &shape, neon::DotWeights::pack)?),
            _ => Stack::Portable(layers::load(checkpoint, &shape, lanes::Matrix::pack)?),
        };
        checkpoint.forget_pages();
        Ok(Network { shape, path, embeddings, stack })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn path(&self) -> Path {
        self.path
    }

    /// The last hidden states of every token, row after row, sequence after sequence.
    ///
    /// Sequences must be neither empty nor longer than the position table, their ids below the vocabulary's size.
    pub(crate) fn encode<'a>(&self, sequences: &[&Sequence], scratch: &'a mut Scratch) -> &'a [f32] {
        let width = self.shape.width;
        let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.ids.len()).collect();
        let tokens: usize = lengths.iter().sum();
        assert!(lengths.iter().all(|length| (1..=self.shape.positions).contains(length)));
        scratch.hidden.reserve(tokens.next_multiple_of(16) * width);
        let mut start = 0;
        for sequence in sequences {
            let rows = &mut scratch.hidden[start * width..(start + sequence.ids.len()) * width];
            self.embeddings.look_up(&sequence.ids, sequence.second_from, rows);
            start += sequence.ids.len();
        }
        let (shape, norm, hidden) = (&self.shape, &self.embeddings.norm, &mut scratch.hidden);
        match &self.stack {
            #[cfg(target_arch = "x86_64")]
            Stack::Amx(layers) => amx::encode(shape, norm, layers, &lengths, hidden, &mut scratch.amx),
            #[cfg(target_arch = "x86_64")]
            Stack::Vnni(layers) => {
                float::encode::<vnni::Vnni>(shape, norm, layers, &lengths, hidden, &mut scratch.bytes);
            }
            #[cfg(target_arch = "x86_64")]
            Stack::AvxVnni(layers) => {
                float::encode::<avx2::AvxVnni>(shape, norm, layers, &lengths, hidden, &mut scratch.bytes);
            }
            #[cfg(target_arch = "x86_64")]
            Stack::Avx2(layers) => {
                float::encode::<avx2::Avx2>(shape, norm, layers, &lengths, hidden, &mut scratch.bytes);
            }
            #[cfg(target_arch = "aarch64")]
            Stack::I8mm(layers) => {
                float::encode::<neon::I8mm>(shape, norm, layers, &lengths, hidden, &mut scratch.bytes);
            }
            #[cfg(target_arch = "aarch64")]
            Stack::Dotprod(layers) => {
                float::encode::<neon::Dotprod>(shape, norm, layers, &lengths, hidden, &mut scratch.bytes);
            }
            Stack::Portable(layers) => {
                float::encode::<Portable>(shape, norm, layers, &lengths, hidden, &mut scratch.float);
            }
        }
        &scratch.hidden[..tokens * width]
    }

    /// How many token ids there are.
    pub(crate) fn vocabulary(&self) -> usize {
        self.embeddings.vocabulary()
    }
}
