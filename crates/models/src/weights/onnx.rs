//! Reads weights out of an ONNX file, so that our own runtime can run models that come in no other format.
//!
//! Only the initializers and the names of the products are read: the network is the one family we know, so its graph
//! says nothing new. Understands f32, f16, bf16 and the 8-bit weights of dynamic quantisation.

use std::collections::HashMap;
use std::ops::Range;

use super::WeightsError;
use super::checkpoint::Stored;
use super::tensor::{By, Bytes, Encoding, Tensor};

/// The initializers that weights are made of, by the names that `PyTorch` gave them.
pub(super) fn read(file: Bytes) -> Result<Vec<(String, Stored)>, WeightsError> {
    let bytes = (*file).as_ref();
    let mut initializers = HashMap::new();
    let mut products = Vec::new();
    for (field, value) in Fields::of(bytes, 0..bytes.len()) {
        // ModelProto.graph
        if let (7, Value::Bytes(graph)) = (field, value?) {
            for (field, value) in Fields::of(bytes, graph) {
                match (field, value?) {
                    // GraphProto.node
                    (1, Value::Bytes(range)) => products.extend(product(bytes, range)?),
                    // GraphProto.initializer
                    (5, Value::Bytes(range)) => {
                        let initializer = Initializer::read(bytes, range)?;
                        initializers.insert(initializer.name.clone(), initializer);
                    }
                    _ => {}
                }
            }
        }
    }
    let mut named = Vec::new();
    for initializer in initializers.values() {
        let name = initializer.name.strip_suffix("_quantized").unwrap_or(&initializer.name);
        if let Some(tensor) = initializer.tensor(name, &file, &initializers)? {
            named.push((name.to_owned(), Stored { tensor, by_input: false }));
        }
    }
    // Later names win: a product says best how its weights lie.
    for (name, weights) in products {
        if let Some(initializer) = initializers.get(&weights)
            && let Some(tensor) = initializer.tensor(&name, &file, &initializers)?
        {
            named.push((name, Stored { tensor, by_input: true }));
        }
    }
    Ok(named)
}

/// The weights' name and the initializer of a product node, read off the node's path.
fn product(bytes: &[u8], range: Range<usize>) -> Result<Option<(String, String)>, WeightsError> {
    let (mut inputs, mut name, mut kind) = (Vec::new(), String::new(), String::new());
    for (field, value) in Fields::of(bytes, range) {
        match (field, value?) {
            (1, Value::Bytes(range)) => inputs.push(text(bytes, range)),
            (3, Value::Bytes(range)) => name = text(bytes, range),
            (4, Value::Bytes(range)) => kind = text(bytes, range),
            _ => {}
        }
    }
    if !matches!(kind.as_str(), "MatMul" | "MatMulInteger") || inputs.len() < 2 {
        return Ok(None);
    }
    let Some((path, _)) = name.rsplit_once("/MatMul") else { return Ok(None) };
    let name = format!("{}.weight", path.trim_start_matches('/').replace('/', "."));
    Ok(Some((name, inputs.swap_remove(1))))
}

/// A `TensorProto`, its numbers still in the file.
struct Initializer {
    name: String,
    kind: u64,
    shape: Vec<usize>,
    /// Plain little-endian numbers, from `raw_data` or packed `float_data`.
    data: Range<usize>,
    /// `int32_data`: how small 8-bit tensors come when not raw.
    integers: Vec<i32>,
}

const FLOAT: u64 = 1;
const UINT8: u64 = 2;
const INT8: u64 = 3;
const FLOAT16: u64 = 10;
const BFLOAT16: u64 = 16;

impl Initializer {
    fn read(bytes: &[u8], range: Range<usize>) -> Result<Self, WeightsError> {
        let mut read =
            Initializer { name: String::new(), kind: 0, shape: Vec::new(), data: 0..0, integers: Vec::new() };
        for (field, value) in Fields::of(bytes, range) {
            match (field, value?) {
                (1, Value::Number(size)) => read.shape.push(size as usize),
                (1, Value::Bytes(range)) => {
                    read.shape.extend(numbers(bytes, range)?.into_iter().map(|size| size as usize));
                }
                (2, Value::Number(kind)) => read.kind = kind,
                (4 | 9, Value::Bytes(range)) => read.data = range,
                (5, Value::Number(number)) => read.integers.push(number as i32),
                (5, Value::Bytes(range)) => {
                    read.integers.extend(numbers(bytes, range)?.into_iter().map(|number| number as i32));
                }
                (8, Value::Bytes(range)) => read.name = text(bytes, range),
                _ => {}
            }
        }
        Ok(read)
    }

    /// The tensor under its plain name; `None` for kinds that are not weights.
    fn tensor(
        &self,
        name: &str,
        file: &Bytes,
        all: &HashMap<String, Initializer>,
    ) -> Result<Option<Tensor>, WeightsError> {
        let encoding = match self.kind {
            FLOAT => Encoding::F32,
            FLOAT16 => Encoding::F16,
            BFLOAT16 => Encoding::Bf16,
            UINT8 | INT8 => match self.steps(file, all)? {
                Some(encoding) => encoding,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        if !(1..=2).contains(&self.shape.len()) {
            return Ok(None);
        }
        Tensor::new(name, file.clone(), self.data.clone(), self.shape.clone(), encoding).map(Some)
    }

    /// Scale and zero point lie beside `x_quantized` as `x_scale` and `x_zero_point`.
    fn steps(
        &self,
        file: &Bytes,
        all: &HashMap<String, Initializer>,
    ) -> Result<Option<Encoding>, WeightsError> {
        let Some(stem) = self.name.strip_suffix("_quantized") else { return Ok(None) };
        let Some(scale) = all.get(&format!("{stem}_scale")) else { return Ok(None) };
        let count = scale.shape.iter().product::<usize>();
        let range = scale.data.clone();
        let scales = Tensor::new(&scale.name, file.clone(), range, vec![count], Encoding::F32)?.values();
        let zeros = match all.get(&format!("{stem}_zero_point")) {
            Some(zero) => zero.bytes_as_numbers((**file).as_ref()),
            None => Vec::new(),
        };
        let by = if count == 1 { By::Whole } else { By::Column };
        Ok(Some(Encoding::Steps { signed: self.kind == INT8, scales, zeros, by }))
    }

    fn bytes_as_numbers(&self, file: &[u8]) -> Vec<f32> {
        if !self.integers.is_empty() {
            return self.integers.iter().map(|number| *number as f32).collect();
        }
        let signed = self.kind == INT8;
        let number = |byte: &u8| if signed { f32::from(*byte as i8) } else { f32::from(*byte) };
        file[self.data.clone()].iter().map(number).collect()
    }
}

/// One field of a protobuf message.
enum Value {
    Number(u64),
    Bytes(Range<usize>),
    /// Fixed-width numbers, of which we need none.
    Other,
}

/// Walks the fields of a protobuf message that lies at a range of the file.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Fields<'a> {
    fn of(bytes: &'a [u8], range: Range<usize>) -> Self {
        Fields { bytes, at: range.start, end: range.end }
    }

    fn number(&mut self) -> Result<u64, WeightsError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes[..self.end].get(self.at).ok_or_else(cut_off)?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(cut_off())
    }

    fn skip(&mut self, count: u64) -> Result<Range<usize>, WeightsError> {
        let count = usize::try_from(count).map_err(|_| cut_off())?;
        let end = self.at.checked_add(count).filter(|end| *end <= self.end).ok_or_else(cut_off)?;
        Ok(std::mem::replace(&mut self.at, end)..end)
    }

    fn value(&mut self, wire: u64) -> Result<Value, WeightsError> {
        match wire {
            0 => self.number().map(Value::Number),
            1 => self.skip(8).map(|_| Value::Other),
            2 => {
                let length = self.number()?;
                self.skip(length).map(Value::Bytes)
            }
            5 => self.skip(4).map(|_| Value::Other),
            _ => Err(cut_off()),
        }
    }
}

impl Iterator for Fields<'_> {
    type Item = (u64, Result<Value, WeightsError>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let key = match self.number() {
            Ok(key) => key,
            Err(error) => {
                self.at = self.end;
                return Some((0, Err(error)));
            }
        };
        let value = self.value(key & 7);
        if value.is_err() {
            self.at = self.end;
        }
        Some((key >> 3, value))
    }
}

fn cut_off() -> WeightsError {
    WeightsError::Malformed("not an ONNX file, or one that was cut off".into())
}

fn text(bytes: &[u8], range: Range<usize>) -> String {
    String::from_utf8_lossy(&bytes[range]).into_owned()
}

fn numbers(bytes: &[u8], range: Range<usize>) -> Result<Vec<u64>, WeightsError> {
    let mut fields = Fields::of(bytes, range);
    let mut numbers = Vec::new();
    while fields.at < fields.end {
        numbers.push(fields.number()?);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A length-delimited field.
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let length = content.len();
        [&[number << 3 | 2, length as u8 | 0x80, (length >> 7) as u8], content].concat()
    }

    fn initializer(name: &str, kind: u8, shape: &[u8], raw: &[u8]) -> Vec<u8> {
        let shape: Vec<u8> = shape.iter().flat_map(|size| [1 << 3, *size]).collect();
        field(5, &[shape, vec![2 << 3, kind], field(8, name.as_bytes()), field(9, raw)].concat())
    }

    fn model() -> Vec<u8> {
        let node = [
            field(1, b"x"),
            field(1, b"onnx::MatMul_7_quantized"),
            field(3, b"/encoder/layer.0/output/dense/MatMul_quant"),
            field(4, b"MatMulInteger"),
        ];
        let scales: Vec<u8> = [0.5f32, 1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let graph = [
            field(1, &node.concat()),
            initializer("onnx::MatMul_7_quantized", 3, &[1, 2], &[4, 255]),
            initializer("onnx::MatMul_7_scale", 1, &[2], &scales),
            initializer("embeddings.LayerNorm.bias", 1, &[2], &scales),
        ];
        field(7, &graph.concat())
    }

    #[test]
    fn products_lend_their_names_to_quantised_weights() {
        let named = read(Arc::new(model())).unwrap();
        let of = |name: &str| &named.iter().rfind(|(found, _)| found == name).unwrap().1;
        let weights = of("encoder.layer.0.output.dense.weight");
        assert!(weights.by_input);
        assert_eq!(weights.tensor.values(), [2.0, -1.0]);
        assert_eq!(of("embeddings.LayerNorm.bias").tensor.values(), [0.5, 1.0]);
    }

    #[test]
    fn a_file_that_was_cut_off_is_an_error_not_a_panic() {
        let model = model();
        for length in 1..model.len() {
            assert!(read(Arc::new(model[..length].to_vec())).is_err(), "{length}");
        }
        assert!(read(Arc::new(vec![0xff; 100])).is_err());
    }
}
