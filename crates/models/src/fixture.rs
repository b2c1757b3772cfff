//! A model's folder with random weights, for tests of loading and of the seams.

use std::path::Path;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tempfile::TempDir;

use crate::tokens::tests::{small_file, small_unigram};

/// How the weights are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Numbers {
    F32,
    F16,
    Bf16,
    /// With one scale per row; vectors stay F32.
    I8,
    /// 4 bits, with one scale per 32; vectors stay F32.
    Nibbles,
}

/// Sizes that every path can run.
const WIDTH: usize = 64;
const INNER: usize = 128;
const LAYERS: usize = 2;
const POSITIONS: usize = 64;

/// Tensors as they go into a `.safetensors` file.
#[derive(Default)]
struct Writer {
    header: serde_json::Map<String, serde_json::Value>,
    data: Vec<u8>,
}

impl Writer {
    fn add(&mut self, name: &str, kind: &str, shape: &[usize], bytes: impl IntoIterator<Item = u8>) {
        let start = self.data.len();
        self.data.extend(bytes);
        let entry =
            serde_json::json!({"dtype": kind, "shape": shape, "data_offsets": [start, self.data.len()]});
        self.header.insert(name.to_owned(), entry);
    }

    fn tensor(&mut self, name: &str, shape: &[usize], values: &[f32], numbers: Numbers) {
        let kind = if shape.len() == 1 { Numbers::F32 } else { numbers };
        match kind {
            Numbers::F32 => self.add(name, "F32", shape, values.iter().flat_map(|x| x.to_le_bytes())),
            Numbers::F16 => {
                self.add(
                    name,
                    "F16",
                    shape,
                    values.iter().flat_map(|x| half::f16::from_f32(*x).to_le_bytes()),
                );
            }
            Numbers::Bf16 => {
                self.add(
                    name,
                    "BF16",
                    shape,
                    values.iter().flat_map(|x| half::bf16::from_f32(*x).to_le_bytes()),
                );
            }
            Numbers::Nibbles => self.nibbles(name, shape, values),
            Numbers::I8 => {
                let most = |row: &[f32]| row.iter().fold(1e-9f32, |most, x| most.max(x.abs()));
                let scales: Vec<f32> = values.chunks(shape[1]).map(|row| most(row) / 127.0).collect();
                let steps = values.chunks(shape[1]).zip(&scales);
                let steps =
                    steps.flat_map(|(row, scale)| row.iter().map(move |x| (x / scale).round() as i8 as u8));
                self.add(name, "I8", shape, steps);
                let bytes = scales.iter().flat_map(|x| x.to_le_bytes());
                self.add(&format!("{name}.scale"), "F32", &[scales.len()], bytes);
            }
        }
    }

    /// Two numbers to a byte: of each 32 the first 16 low, the others high.
    fn nibbles(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        let scale = |block: &[f32]| block.iter().fold(1e-6f32, |most, x| most.max(x.abs())) / 7.0;
        let scales: Vec<half::f16> =
            values.chunks(32).map(|block| half::f16::from_f32(scale(block))).collect();
        let steps = values.chunks(32).zip(&scales).flat_map(|(block, scale)| {
            let step = move |x: f32| (x / scale.to_f32()).round().clamp(-8.0, 7.0) as i8 + 8;
            (0..16).map(move |at| step(block[at]) as u8 | ((step(block[at + 16]) as u8) << 4))
        });
        self.add(name, "U8", &[shape[0], shape[1] / 2], steps);
        let bytes = scales.iter().flat_map(|x| x.to_le_bytes());
        self.add(&format!("{name}.scale"), "F16", &[shape[0], shape[1] / 32], bytes);
    }

    /// The tensors whose names pass, and the others.
    fn split(self, passes: impl Fn(&str) -> bool) -> (Writer, Writer) {
        let mut parts = (Writer::default(), Writer::default());
        for (name, entry) in self.header {
            let part = if passes(&name) { &mut parts.0 } else { &mut parts.1 };
            let offset = |at: usize| entry["data_offsets"][at].as_u64().unwrap() as usize;
            let shape: Vec<usize> = serde_json::from_value(entry["shape"].clone()).unwrap();
            let bytes = self.data[offset(0)..offset(1)].iter().copied();
            part.add(&name, entry["dtype"].as_str().unwrap(), &shape, bytes);
        }
        parts
    }

    fn write(&self, path: &Path) {
        let header = serde_json::to_vec(&self.header).unwrap();
        let bytes = [&(header.len() as u64).to_le_bytes()[..], &header, &self.data].concat();
        std::fs::write(path, bytes).unwrap();
    }
}

/// A small cross-encoder, named as `PyTorch` names its parts; an embedder ignores the head.
pub(crate) fn model_folder(numbers: Numbers) -> TempDir {
    let (folder, weights) = small_model(numbers);
    weights.write(&folder.path().join("model.safetensors"));
    folder
}

/// A model of many languages: a unigram vocabulary, 4 bits, what goes before a text, centres and numbers of its own.
pub(crate) fn multilingual_folder() -> TempDir {
    let (folder, mut weights) = small_model(Numbers::Nibbles);
    let centre = |seed: f32| (0..WIDTH).map(move |at| (at as f32 * seed).sin() * 0.1);
    weights.add("centre.vector", "F32", &[WIDTH], centre(1.0).flat_map(f32::to_le_bytes));
    weights.add("centre.tokens", "F32", &[WIDTH], centre(2.0).flat_map(f32::to_le_bytes));
    weights.write(&folder.path().join("model.safetensors"));
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    std::fs::write(folder.path().join("vocabulary.unigram"), small_unigram()).unwrap();
    let fit = serde_json::json!({"constant": -1.0, "cosine": 1.0, "keyword": 0.0, "late": 0.0,
        "weighed": 2.0, "cross": 0.0});
    let share = |weight: f32| serde_json::json!({"weight": weight, "spread": 0.2});
    let settings = serde_json::json!({"id": "many", "query_prefix": "un: ", "passage_prefix": "the: ",
        "weighing": {"semantic": share(0.5), "late": share(0.6), "cross": share(0.0), "least_trust": 1.0, "keyword_spread": 8.0,
            "without_late": fit, "with_late": fit, "with_cross": fit}});
    std::fs::write(folder.path().join("quire.json"), settings.to_string()).unwrap();
    folder
}

/// The same model with its tables in a file of their own.
pub(crate) fn model_folder_with_tables(numbers: Numbers) -> TempDir {
    let (folder, weights) = small_model(numbers);
    let (tables, layers) = weights.split(|name| name.starts_with("bert.embeddings."));
    tables.write(&folder.path().join("tables.safetensors"));
    layers.write(&folder.path().join("model.safetensors"));
    std::fs::write(folder.path().join("quire.json"), r#"{"id": "shared", "tables": "tables.safetensors"}"#)
        .unwrap();
    folder
}

fn small_model(numbers: Numbers) -> (TempDir, Writer) {
    let folder = tempfile::tempdir().unwrap();
    let config = serde_json::json!({"model_type": "bert", "hidden_size": WIDTH, "num_hidden_layers": LAYERS,
        "num_attention_heads": 2, "intermediate_size": INNER, "max_position_embeddings": POSITIONS});
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), small_file()).unwrap();
    let mut random = StdRng::seed_from_u64(5);
    let mut writer = Writer::default();
    let mut add = |name: String, shape: &[usize], middle: f32, spread: f32| {
        let count = shape.iter().product();
        let values: Vec<f32> =
            (0..count).map(|_| middle + spread * random.random_range(-1.0..1.0f32)).collect();
        writer.tensor(&format!("bert.{name}"), shape, &values, numbers);
    };
    add("embeddings.word_embeddings.weight".into(), &[300, WIDTH], 0.0, 1.0);
    add("embeddings.position_embeddings.weight".into(), &[POSITIONS, WIDTH], 0.0, 0.3);
    add("embeddings.token_type_embeddings.weight".into(), &[2, WIDTH], 0.0, 0.3);
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    let mut products = vec![("pooler.dense".to_owned(), WIDTH, WIDTH), ("classifier".to_owned(), 1, WIDTH)];
    for layer in 0..LAYERS {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        for part in ["self.query", "self.key", "self.value", "output.dense"] {
            products.push((name(&format!("attention.{part}")), WIDTH, WIDTH));
        }
        products.push((name("intermediate.dense"), INNER, WIDTH));
        products.push((name("output.dense"), WIDTH, INNER));
        norms.extend([name("attention.output.LayerNorm"), name("output.LayerNorm")]);
    }
    for (name, outputs, inputs) in products {
        add(format!("{name}.weight"), &[outputs, inputs], 0.0, (3.0 / inputs as f32).sqrt());
        add(format!("{name}.bias"), &[outputs], 0.0, 0.2);
    }
    for name in norms {
        add(format!("{name}.weight"), &[WIDTH], 1.0, 0.3);
        add(format!("{name}.bias"), &[WIDTH], 0.0, 0.3);
    }
    (folder, writer)
}
