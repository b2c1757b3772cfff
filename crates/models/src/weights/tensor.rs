//! One tensor inside a mapped file, decoded to f32 when asked.

use std::ops::Range;
use std::sync::Arc;

use super::WeightsError;

/// A file's bytes, mapped where the system can.
pub(crate) type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// How the bytes stand for numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Encoding {
    F32,
    F16,
    Bf16,
    /// 4-bit steps in blocks of [`BLOCK`] columns: value = (step − 8) × scale. Of the 16 bytes of a block each holds a
    /// column low and the one 16 further high. Scales are f16, in this range of the file, and are not unpacked: a table of
    /// many rows stays where it is.
    Nibbles {
        scales: Range<usize>,
    },
    /// 8-bit steps: value = (step − zero) × scale.
    Steps {
        signed: bool,
        scales: Vec<f32>,
        /// As many as scales, or none where all are zero.
        zeros: Vec<f32>,
        by: By,
    },
}

/// Columns that share a scale in [`Encoding::Nibbles`].
pub(crate) const BLOCK: usize = 32;

/// What a scale belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Whole,
    Row,
    Column,
}

impl Encoding {
    /// How many bytes so many numbers take.
    fn size(&self, numbers: usize) -> Option<usize> {
        match self {
            Encoding::F32 => numbers.checked_mul(4),
            Encoding::F16 | Encoding::Bf16 => numbers.checked_mul(2),
            Encoding::Steps { .. } => Some(numbers),
            Encoding::Nibbles { .. } => Some(numbers / 2),
        }
    }
}

/// A tensor of one or two dimensions.
#[derive(Clone)]
pub(crate) struct Tensor {
    name: String,
    file: Bytes,
    range: Range<usize>,
    shape: Vec<usize>,
    encoding: Encoding,
}

impl Tensor {
    /// Checks that the range lies in the file and is as long as shape and encoding say.
    pub(crate) fn new(
        name: &str,
        file: Bytes,
        range: Range<usize>,
        shape: Vec<usize>,
        encoding: Encoding,
    ) -> Result<Self, WeightsError> {
        let wrong = |what: &str| Err(WeightsError::Malformed(format!("tensor `{name}` {what}")));
        let elements = shape.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
        let length = elements.and_then(|elements| encoding.size(elements));
        let inside = |range: &Range<usize>| range.start <= range.end && range.end <= (*file).as_ref().len();
        if !inside(&range) {
            return wrong("lies outside of its file");
        }
        if length != Some(range.len()) || shape.is_empty() || shape.len() > 2 {
            return wrong("is not as long as its shape says");
        }
        if let Encoding::Nibbles { scales } = &encoding {
            let blocks = elements.unwrap_or(0) / BLOCK;
            let whole = shape.last().is_some_and(|columns| columns.is_multiple_of(BLOCK));
            if !whole || !inside(scales) || scales.len() != blocks * 2 {
                return wrong("has not as many scales as it needs");
            }
        }
        let tensor = Tensor { name: name.to_owned(), file, range, shape, encoding };
        if let Encoding::Steps { scales, zeros, by, .. } = &tensor.encoding {
            let expected = match by {
                By::Whole => 1,
                By::Row => tensor.rows(),
                By::Column => tensor.columns(),
            };
            if scales.len() != expected || !(zeros.is_empty() || zeros.len() == expected) {
                return wrong("has not as many scales as it needs");
            }
        }
        Ok(tensor)
    }

    /// Rows of a matrix; one for a vector.
    pub(crate) fn rows(&self) -> usize {
        if self.shape.len() == 2 { self.shape[0] } else { 1 }
    }

    pub(crate) fn columns(&self) -> usize {
        self.shape.last().copied().unwrap_or(0)
    }

    pub(crate) fn expect_columns(&self, columns: usize) -> Result<(), WeightsError> {
        self.expect_shape(&[self.rows(), columns])
    }

    pub(crate) fn expect_shape(&self, shape: &[usize]) -> Result<(), WeightsError> {
        if self.shape == shape || (self.shape.len() == 1 && shape == [1, self.shape[0]]) {
            return Ok(());
        }
        let Tensor { name, shape: found, .. } = self;
        Err(WeightsError::Malformed(format!("tensor `{name}` is {found:?} where {shape:?} is needed")))
    }

    /// Decodes one row.
    pub(crate) fn row(&self, row: usize, out: &mut [f32]) {
        let columns = self.columns();
        let size = self.encoding.size(columns).expect("checked when the tensor was made");
        let start = self.range.start + row * size;
        assert!(start + size <= self.range.end && out.len() == columns);
        let file = (*self.file).as_ref();
        let bytes = &file[start..start + size];
        match &self.encoding {
            Encoding::Nibbles { scales } => {
                let scales = &file[scales.start + row * columns / BLOCK * 2..][..columns / BLOCK * 2];
                let blocks = bytes.chunks_exact(BLOCK / 2).zip(scales.as_chunks::<2>().0);
                for ((steps, scale), out) in blocks.zip(out.chunks_exact_mut(BLOCK)) {
                    let scale = half::f16::from_le_bytes(*scale).to_f32();
                    let (low, high) = out.split_at_mut(BLOCK / 2);
                    for ((low, high), step) in low.iter_mut().zip(high).zip(steps) {
                        *low = (f32::from(step & 15) - 8.0) * scale;
                        *high = (f32::from(step >> 4) - 8.0) * scale;
                    }
                }
            }
            Encoding::F32 => {
                for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *out = f32::from_le_bytes(*bytes);
                }
            }
            Encoding::F16 => {
                for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
                    *out = half::f16::from_le_bytes(*bytes).to_f32();
                }
            }
            Encoding::Bf16 => {
                for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
                    *out = half::bf16::from_le_bytes(*bytes).to_f32();
                }
            }
            Encoding::Steps { signed, scales, zeros, by } => {
                for (out, byte) in out.iter_mut().zip(bytes) {
                    *out = if *signed { f32::from(*byte as i8) } else { f32::from(*byte) };
                }
                match by {
                    By::Whole => scale_all(out, scales[0], zeros.first()),
                    By::Row => scale_all(out, scales[row], zeros.get(row)),
                    By::Column => {
                        out.iter_mut().zip(zeros).for_each(|(out, zero)| *out -= zero);
                        out.iter_mut().zip(scales).for_each(|(out, scale)| *out *= scale);
                    }
                }
            }
        }
    }

    /// Decodes everything, row after row.
    pub(crate) fn values(&self) -> Vec<f32> {
        let mut values = vec![0.0; self.rows() * self.columns()];
        for (index, row) in values.chunks_exact_mut(self.columns().max(1)).enumerate() {
            self.row(index, row);
        }
        values
    }

    /// Decodes everything, column after column.
    pub(crate) fn transposed(&self) -> Vec<f32> {
        /// Columns written together: a cache line of each, so that lines are filled while they are near.
        const STRIP: usize = 16;
        let (rows, columns) = (self.rows(), self.columns());
        let mut strip = vec![0.0; STRIP * columns];
        let mut values = vec![0.0; rows * columns];
        for start in (0..rows).step_by(STRIP) {
            let count = STRIP.min(rows - start);
            for (index, row) in strip.chunks_exact_mut(columns).enumerate().take(count) {
                self.row(start + index, row);
            }
            for column in 0..columns {
                let out = &mut values[column * rows + start..][..count];
                for (index, out) in out.iter_mut().enumerate() {
                    *out = strip[index * columns + column];
                }
            }
        }
        values
    }
}

fn scale_all(out: &mut [f32], scale: f32, zero: Option<&f32>) {
    let zero = zero.copied().unwrap_or(0.0);
    out.iter_mut().for_each(|out| *out = (*out - zero) * scale);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(bytes: Vec<u8>, shape: &[usize], encoding: Encoding) -> Result<Tensor, WeightsError> {
        let range = 0..bytes.len();
        Tensor::new("t", Arc::new(bytes), range, shape.to_vec(), encoding)
    }

    #[test]
    fn every_encoding_decodes_to_the_same_numbers() {
        let numbers = [1.0f32, -2.0, 0.5, 3.0];
        let f32s = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let f16s = numbers.iter().flat_map(|x| half::f16::from_f32(*x).to_le_bytes()).collect();
        let bf16s = numbers.iter().flat_map(|x| half::bf16::from_f32(*x).to_le_bytes()).collect();
        for (bytes, encoding) in [(f32s, Encoding::F32), (f16s, Encoding::F16), (bf16s, Encoding::Bf16)] {
            assert_eq!(tensor(bytes, &[2, 2], encoding).unwrap().values(), numbers);
        }
        let by_row = Encoding::Steps { signed: true, scales: vec![1.0, 0.5], zeros: vec![], by: By::Row };
        assert_eq!(tensor(vec![1, 254, 1, 6], &[2, 2], by_row).unwrap().values(), numbers);
        let by_column =
            Encoding::Steps { signed: false, scales: vec![0.5, 1.0], zeros: vec![1.0, 4.0], by: By::Column };
        assert_eq!(tensor(vec![3, 2, 2, 7], &[2, 2], by_column).unwrap().values(), numbers);
    }

    #[test]
    fn four_bits_a_number_come_in_blocks_with_a_scale_each() {
        let scales: Vec<u8> =
            [0.5f32, 2.0].iter().flat_map(|x| half::f16::from_f32(*x).to_le_bytes()).collect();
        let steps = (0..32u8).map(|at| (at % 16) | ((15 - at % 16) << 4));
        let bytes: Vec<u8> = steps.chain(scales).collect();
        let encoding = Encoding::Nibbles { scales: 32..36 };
        let file: Bytes = Arc::new(bytes);
        let found = Tensor::new("t", file.clone(), 0..32, vec![2, 32], encoding.clone()).unwrap().values();
        for (row, scale) in [0.5, 2.0].into_iter().enumerate() {
            for column in 0..16 {
                let expected = (column as f32 - 8.0) * scale;
                assert_eq!(found[row * 32 + column], expected);
                assert_eq!(found[row * 32 + 16 + column], (7.0 - column as f32) * scale);
            }
        }
        let refused = |range: Range<usize>, shape: &[usize], scales: Range<usize>| {
            Tensor::new("t", file.clone(), range, shape.to_vec(), Encoding::Nibbles { scales }).is_err()
        };
        assert!(refused(0..32, &[4, 16], 32..36));
        assert!(refused(0..32, &[2, 32], 32..34));
        assert!(refused(0..32, &[2, 32], 34..38));
        assert!(refused(0..16, &[2, 32], 32..36));
    }

    #[test]
    fn transposing_swaps_rows_and_columns() {
        let bytes = (0..6u8).flat_map(|x| f32::from(x).to_le_bytes()).collect();
        let transposed = tensor(bytes, &[2, 3], Encoding::F32).unwrap().transposed();
        assert_eq!(transposed, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    }

    #[test]
    fn a_tensor_must_fit_its_file_and_shape() {
        assert!(tensor(vec![0; 7], &[2], Encoding::F32).is_err());
        assert!(tensor(vec![0; 8], &[3], Encoding::F32).is_err());
        assert!(tensor(vec![0; 8], &[usize::MAX, 2], Encoding::F32).is_err());
        let file: Bytes = Arc::new(vec![0u8; 8]);
        assert!(Tensor::new("t", file, 4..12, vec![2], Encoding::F32).is_err());
        let scales = Encoding::Steps { signed: true, scales: vec![1.0], zeros: vec![], by: By::Row };
        assert!(tensor(vec![0; 4], &[2, 2], scales).is_err());
    }
}
