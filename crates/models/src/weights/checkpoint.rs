//! A model's tensors by their usual names, whichever file they came in.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use serde::Deserialize;

use super::tensor::{By, Bytes, Encoding, Tensor};
use super::{WeightsError, onnx};

/// Named tensors of one file, or of two where models share their tables.
pub(crate) struct Checkpoint {
    tensors: HashMap<String, Stored>,
    mapped: Vec<Arc<Mmap>>,
}

/// A tensor and whether its rows are inputs, as ONNX has them, instead of outputs.
pub(crate) struct Stored {
    pub(crate) tensor: Tensor,
    pub(crate) by_input: bool,
}

impl Checkpoint {
    /// Maps a `.safetensors` or `.onnx` file.
    pub(crate) fn open(path: &Path) -> Result<Self, WeightsError> {
        let mapped = Arc::new(map(path)?);
        let file: Bytes = mapped.clone();
        let named = match path.extension().and_then(|extension| extension.to_str()) {
            Some("onnx") => onnx::read(file)?,
            _ => safetensors(file)?,
        };
        Ok(Checkpoint { mapped: vec![mapped], ..Checkpoint::new(named) })
    }

    /// Adds the tensors of another file. One that is in both is an error: there is no way to tell which one was meant.
    pub(crate) fn and(mut self, other: Checkpoint) -> Result<Self, WeightsError> {
        for (name, stored) in other.tensors {
            if self.tensors.contains_key(&name) {
                return Err(WeightsError::Malformed(format!("tensor `{name}` is in both files")));
            }
            self.tensors.insert(name, stored);
        }
        self.mapped.extend(other.mapped);
        Ok(self)
    }

    /// The embedding tables alone.
    pub(crate) fn tables(mut self) -> Self {
        self.tensors.retain(|name, _| name.starts_with("embeddings."));
        self
    }

    /// Lets go of the pages read so far: packed weights are copies, and of what stays in the file few rows are needed.
    #[allow(unsafe_code)]
    pub(crate) fn forget_pages(&self) {
        #[cfg(unix)]
        for mapped in &self.mapped {
            // SAFETY: the mapping is of a file and only read, so that pages come back from the file as they were.
            let advised = unsafe { mapped.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
            // Advice: without it the pages merely stay.
            let _ = advised;
        }
    }

    /// Strips the prefixes that wrappers around the encoder add.
    pub(crate) fn new(named: Vec<(String, Stored)>) -> Self {
        let plain = |name: String| {
            let short =
                ["bert.", "model.", "0.auto_model."].iter().find_map(|prefix| name.strip_prefix(prefix));
            short.map(str::to_owned).unwrap_or(name)
        };
        Checkpoint {
            tensors: named.into_iter().map(|(name, stored)| (plain(name), stored)).collect(),
            mapped: Vec::new(),
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    fn stored(&self, name: &str) -> Result<&Stored, WeightsError> {
        self.tensors.get(name).ok_or_else(|| WeightsError::Malformed(format!("tensor `{name}` is missing")))
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<Tensor, WeightsError> {
        Ok(self.stored(name)?.tensor.clone())
    }

    /// A matrix, one row of `inputs` an output.
    pub(crate) fn matrix(&self, name: &str, outputs: usize, inputs: usize) -> Result<Vec<f32>, WeightsError> {
        let Stored { tensor, by_input } = self.stored(name)?;
        match by_input {
            true => tensor.expect_shape(&[inputs, outputs]).map(|()| tensor.transposed()),
            false => tensor.expect_shape(&[outputs, inputs]).map(|()| tensor.values()),
        }
    }

    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Vec<f32>, WeightsError> {
        let tensor = &self.stored(name)?.tensor;
        tensor.expect_shape(&[1, length]).map(|()| tensor.values())
    }
}

/// Maps a file to memory: pages come in when touched and go when memory is short.
#[allow(unsafe_code)]
fn map(path: &Path) -> Result<Mmap, WeightsError> {
    let file = File::open(path).map_err(|error| WeightsError::file(path, error))?;
    // SAFETY: weights are written once, under another name, and renamed into place (`pull`); whoever changes a model's
    // file under a running server gets wrong numbers or a bus error, as with any mapped file.
    unsafe { Mmap::map(&file) }.map_err(|error| WeightsError::file(path, error))
}

/// One entry of the header of a `.safetensors` file.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// Reads the header of a `.safetensors` file.
///
/// 8-bit weights are an `I8` tensor `name` with an `F32` tensor `name.scale` of one scale per row. 4-bit weights are a `U8`
/// tensor of two to a byte with an `F16` tensor `name.scale` of one scale per block ([`Encoding::Nibbles`]).
fn safetensors(file: Bytes) -> Result<Vec<(String, Stored)>, WeightsError> {
    let malformed = |what: &str| WeightsError::Malformed(format!("not a safetensors file: {what}"));
    let bytes = (*file).as_ref();
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(|| malformed("too short"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| malformed("header too long"))?;
    let header = rest.get(..length).ok_or_else(|| malformed("header too long"))?;
    let start = 8 + length;
    let mut header: HashMap<String, serde_json::Value> =
        serde_json::from_slice(header).map_err(|error| malformed(&error.to_string()))?;
    header.remove("__metadata__");
    let entries = header
        .into_iter()
        .map(|(name, entry)| Ok((name, serde_json::from_value(entry)?)))
        .collect::<Result<HashMap<String, Entry>, serde_json::Error>>()
        .map_err(|error| malformed(&error.to_string()))?;
    let range = |entry: &Entry| {
        let (from, to) = entry.data_offsets;
        start.saturating_add(from)..start.saturating_add(to)
    };
    let read = |name: &str, entry: &Entry, encoding: Encoding| {
        Tensor::new(name, file.clone(), range(entry), entry.shape.clone(), encoding)
    };
    let mut named = Vec::new();
    for (name, entry) in &entries {
        let encoding = match entry.dtype.as_str() {
            "F32" => Encoding::F32,
            "F16" => Encoding::F16,
            "BF16" => Encoding::Bf16,
            "I8" => {
                let scale = format!("{name}.scale");
                let scales =
                    entries.get(&scale).ok_or_else(|| malformed(&format!("`{scale}` is missing")))?;
                let scales = read(&scale, scales, Encoding::F32)?.values();
                Encoding::Steps { signed: true, scales, zeros: Vec::new(), by: By::Row }
            }
            "U8" if entry.shape.len() == 2 && entries.contains_key(&format!("{name}.scale")) => {
                let scales = range(&entries[&format!("{name}.scale")]);
                let shape = vec![entry.shape[0], entry.shape[1].saturating_mul(2)];
                let encoding = Encoding::Nibbles { scales };
                let tensor = Tensor::new(name, file.clone(), range(entry), shape, encoding)?;
                named.push((name.clone(), Stored { tensor, by_input: false }));
                continue;
            }
            // Position numbers and the like; a weight of such a type is missed by its name later.
            _ => continue,
        };
        if (1..=2).contains(&entry.shape.len()) {
            named.push((name.clone(), Stored { tensor: read(name, entry, encoding)?, by_input: false }));
        }
    }
    Ok(named)
}
