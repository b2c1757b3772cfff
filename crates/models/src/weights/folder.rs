//! A model's folder: `config.json`, `tokenizer.json` or `vocabulary.unigram`, `model.safetensors` or `model.onnx`, and our `quire.json`.

use std::path::{Path, PathBuf};

use engine::seams::weighing::Weighing;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::registry::{self, Known};
use super::shape::{FEWEST_POSITIONS, Pooling, Shape};
use super::{Checkpoint, WeightsError};

/// What a folder's `quire.json` may say; everything has a default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// What the model's vectors are known by; the folder's name and the start of the weights' hash otherwise.
    pub id: Option<String>,
    /// `mean` or `cls`; what `1_Pooling/config.json` says otherwise, and the mean where there is none.
    pub(crate) pooling: Option<Pooling>,
    /// What goes before a query.
    pub query_prefix: String,
    /// What goes before a passage.
    pub passage_prefix: String,
    /// The most tokens of one text, special ones included; the position table's size otherwise.
    pub max_tokens: Option<usize>,
    /// A file with the embedding tables, seen from the folder, where several models share them: one of their own, or the
    /// weights of another model.
    pub tables: Option<PathBuf>,
    /// A vocabulary, likewise.
    pub vocabulary: Option<PathBuf>,
    /// How much its similarities count in a search; the usual numbers otherwise.
    pub weighing: Option<Weighing>,
}

/// The parts of `config.json` that we need.
#[derive(Deserialize)]
struct Configuration {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "usual_epsilon")]
    layer_norm_eps: f32,
    #[serde(default = "usual_activation")]
    hidden_act: String,
    model_type: Option<String>,
    position_embedding_type: Option<String>,
}

fn usual_epsilon() -> f32 {
    1e-12
}

fn usual_activation() -> String {
    "gelu".into()
}

/// How sentence-transformers says the pooling.
#[derive(Deserialize)]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_cls_token: bool,
}

/// A folder whose files were found and read, its weights not yet packed.
pub struct Folder {
    /// What the model's vectors are known by.
    pub id: String,
    /// The network's sizes.
    pub shape: Shape,
    /// What `quire.json` says.
    pub settings: Settings,
    path: PathBuf,
    weights: PathBuf,
}

impl Folder {
    /// Reads a folder's small files. A pinned model's small files are checked here and its weights on [`Folder::verify`].
    pub fn open(path: &Path) -> Result<Self, WeightsError> {
        let configuration: Configuration = json(&path.join("config.json"))?;
        let shape = shape(configuration)?;
        let settings_path = path.join("quire.json");
        let known = Known::of_folder(path);
        let mut settings: Settings = match (settings_path.is_file(), known) {
            (true, _) => json(&settings_path)?,
            (false, Some(known)) => serde_json::from_str(known.settings).unwrap_or_default(),
            (false, None) => Settings::default(),
        };
        let pooling_path = path.join("1_Pooling/config.json");
        if settings.pooling.is_none() && pooling_path.is_file() {
            let file: PoolingFile = json(&pooling_path)?;
            settings.pooling = Some(if file.pooling_mode_cls_token { Pooling::Cls } else { Pooling::Mean });
        }
        let names = ["model.safetensors", "model.onnx", "onnx/model.onnx"];
        let weights = names.iter().map(|name| path.join(name)).find(|weights| weights.is_file());
        let weights = weights.ok_or_else(|| {
            let missing =
                std::io::Error::new(std::io::ErrorKind::NotFound, "no model.safetensors or model.onnx");
            WeightsError::file(path, missing)
        })?;
        let id = match (&settings.id, known) {
            (Some(id), _) => id.clone(),
            (None, Some(known)) => format!("{}@{}", known.name, known.version),
            (None, None) => {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("model");
                let hash = registry::hash(&weights).map_err(|error| WeightsError::file(&weights, error))?;
                format!("{name}@{}", &hash[..12])
            }
        };
        Ok(Folder { id, shape, settings, path: path.to_owned(), weights })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The SHA-256 of the weights, in hexadecimal.
    pub fn hash(&self) -> Result<String, WeightsError> {
        registry::hash(&self.weights).map_err(|error| WeightsError::file(&self.weights, error))
    }

    /// Checks every pinned file; whether there is anything to check against: only fetched models are pinned.
    pub fn verify(&self) -> Result<bool, WeightsError> {
        match Known::of_folder(&self.path) {
            Some(known) => registry::verify(&self.path, known).map(|()| true),
            None => Ok(false),
        }
    }

    /// The most tokens of one sequence, special ones included.
    pub fn max_tokens(&self) -> usize {
        self.settings.max_tokens.unwrap_or(usize::MAX).clamp(FEWEST_POSITIONS, self.shape.positions)
    }

    pub(crate) fn checkpoint(&self) -> Result<Checkpoint, WeightsError> {
        let layers = Checkpoint::open(&self.weights)?;
        match &self.settings.tables {
            Some(tables) => layers.and(Checkpoint::open(&self.path.join(tables))?.tables()),
            None => Ok(layers),
        }
    }

    pub(crate) fn tokenizer(&self) -> PathBuf {
        if let Some(vocabulary) = &self.settings.vocabulary {
            return self.path.join(vocabulary);
        }
        let unigram = self.path.join("vocabulary.unigram");
        if unigram.is_file() { unigram } else { self.path.join("tokenizer.json") }
    }

    pub(crate) fn pooling(&self) -> Pooling {
        self.settings.pooling.unwrap_or(Pooling::Mean)
    }
}

fn shape(configuration: Configuration) -> Result<Shape, WeightsError> {
    let unsupported = |what: String| Err(WeightsError::Unsupported(what));
    if let Some(kind) = configuration.model_type.filter(|kind| kind != "bert") {
        return unsupported(format!("`model_type` is `{kind}`; only `bert` is run in process"));
    }
    if configuration.hidden_act != "gelu" {
        return unsupported(format!("`hidden_act` is `{}`; only `gelu` is run", configuration.hidden_act));
    }
    if let Some(kind) = configuration.position_embedding_type.filter(|kind| kind != "absolute") {
        return unsupported(format!("`position_embedding_type` is `{kind}`; only `absolute` is run"));
    }
    let shape = Shape {
        layers: configuration.num_hidden_layers,
        width: configuration.hidden_size,
        heads: configuration.num_attention_heads,
        inner: configuration.intermediate_size,
        positions: configuration.max_position_embeddings,
        epsilon: configuration.layer_norm_eps,
    };
    shape.check().map(|()| shape)
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, WeightsError> {
    let bytes = std::fs::read(path).map_err(|error| WeightsError::file(path, error))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| WeightsError::Malformed(format!("`{}`: {error}", path.display())))
}
