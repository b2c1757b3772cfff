//! Finds the models that the settings name and loads them.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use ::models::{
    LocalEmbedder, LocalReranker, Options, Remote, RemoteEmbedder, RemoteReranker, RemoteShape,
    weights::{Folder, bundled},
};
use anyhow::{Context, Result, anyhow, bail};
use engine::{
    Fault,
    chat::Pickers,
    embedders::{Embedders, Load, no_multilingual},
    later,
    seams::{catalog::BoxLanguage, embedder::Embedder, reranker::Reranker},
    search::Rerankers,
};

use crate::config::ModelSettings;

/// How long one request to a remote model may take, and how often it is tried.
const REMOTE_TIMEOUT: Duration = Duration::from_secs(30);
const REMOTE_ATTEMPTS: u32 = 3;

/// The embedders that boxes turn multilingual from by themselves: they know English only. Boxes that one of them filled keep it
/// when models.embedder changes.
const ENGLISH: [&str; 2] = ["quire-embed-1", "quire-embed-2"];
/// What models.multilingual names by itself. A program that does not carry it has none.
const MULTILINGUAL: &str = "quire-multi-2";
/// What it named before; boxes that it filled keep it until they are indexed again.
const EARLIER_MULTILINGUAL: &str = "quire-multi-1";

/// How a cross-encoder is loaded when it is first needed.
type LoadReranker = later::Load<dyn Reranker>;

/// The models that a server runs.
#[derive(Clone)]
pub struct Models {
    /// Make vectors.
    pub embedders: Embedders,
    /// Read query and passage together, where there are such models.
    pub rerankers: Rerankers,
    /// Say whether a sentence answers a question, where there are such models.
    pub pickers: Pickers,
}

impl Models {
    /// Loads what the settings name; `data` is where models that the program carries are put. Reads files and packs
    /// weights, so it is not for the async threads.
    pub fn load(settings: &ModelSettings, data: &Path) -> Result<Self> {
        let started = Instant::now();
        let embedder = load(&settings.embedder, |name| embedder(settings, name, data))?;
        let embedder = embedder.ok_or_else(|| anyhow!("models.embedder is empty; name a model"))?;
        let reranker = load(&settings.reranker, |name| reranker(settings, name, data))?;
        let mut embedders = Embedders::one(embedder.clone());
        if let Some((id, load)) = multilingual(settings, data)? {
            embedders = embedders.with_multilingual(id, load);
        }
        for name in ENGLISH.into_iter().filter(|name| place(settings, name) != Place::Nowhere) {
            embedders = embedders.with_earlier(name.to_string(), later(settings, name, data));
        }
        if speaks(settings) && place(settings, EARLIER_MULTILINGUAL) != Place::Nowhere {
            let earlier = later(settings, EARLIER_MULTILINGUAL, data);
            embedders = embedders.with_earlier_of_many(EARLIER_MULTILINGUAL.to_string(), earlier);
        }
        if !ENGLISH.contains(&settings.embedder.as_str()) {
            embedders = embedders.only_on_request();
        }
        let rerankers = rerankers(settings, data, reranker, embedders.multilingual_id())?;
        let pickers = pickers(settings, data)?;
        tracing::info!(
            embedder = embedder.id(),
            multilingual = embedders.multilingual_id().unwrap_or("none"),
            reranker = rerankers.usual().map_or("none", |usual| usual.id()),
            multilingual_reranker = rerankers.multilingual_id().unwrap_or("none"),
            picker = pickers.english_id().unwrap_or("none"),
            multilingual_picker = pickers.multilingual_id().unwrap_or("none"),
            duration_ms = started.elapsed().as_millis() as u64,
            "Loaded the models"
        );
        Ok(Models { embedders, rerankers, pickers })
    }

    /// The id of the embedder that the settings name and the length of its vectors, without loading it.
    pub fn embedder_known_as(settings: &ModelSettings, data: &Path) -> Result<(String, usize)> {
        let (name, dimensions) = (&settings.embedder, settings.embedder_dimensions);
        if is_remote(name) {
            return Ok((RemoteEmbedder::id_of(&settings.embedder_model, dimensions), dimensions));
        }
        let folder = Folder::open(&folder(settings, name, data)?);
        let folder = folder.with_context(|| format!("cannot load the model `{name}`"))?;
        Ok((folder.id.clone(), folder.shape.width))
    }

    /// What the settings name, without loading it: the kind of model, and its id, folder and hash, or what is wrong.
    pub fn describe(settings: &ModelSettings, data: &Path) -> Vec<(&'static str, Result<String>)> {
        let named = |kind, name| (kind, describe(settings, name, data));
        vec![
            named("embedder", &settings.embedder),
            ("embedder for other languages", describe_multilingual(settings, data)),
            named("reranker", &settings.reranker),
            ("reranker for other languages", describe_later(settings, &settings.multilingual_reranker, data)),
            named("picker", &settings.picker),
            ("picker for other languages", describe_later(settings, &settings.multilingual_picker, data)),
        ]
    }
}

/// The id of the embedder for other languages and how it is loaded; nothing where there is none.
fn multilingual(settings: &ModelSettings, data: &Path) -> Result<Option<(String, Load)>> {
    let name = settings.multilingual.clone();
    let id = match speaks(settings).then(|| place(settings, &name)) {
        None => return Ok(None),
        Some(Place::Remote(_)) => bail!("models.multilingual must be a model on this machine"),
        // Those that the program carries are known by their names.
        Some(Place::BuiltIn) => name.clone(),
        Some(Place::Folder(_) | Place::Nowhere) => {
            let folder = folder(settings, &name, data).and_then(|folder| Ok(Folder::open(&folder)?));
            folder.with_context(|| format!("cannot load the model `{name}`"))?.id
        }
    };
    Ok(Some((id, later(settings, &name, data))))
}

/// How an embedder is loaded when a box first needs it.
fn later(settings: &ModelSettings, name: &str, data: &Path) -> Load {
    let (settings, name, data) = (settings.clone(), name.to_string(), data.to_path_buf());
    Arc::new(move || {
        let started = Instant::now();
        let loaded = embedder(&settings, &name, &data).map_err(|error| Fault::internal(error.to_string()))?;
        let duration_ms = started.elapsed().as_millis() as u64;
        tracing::info!(
            embedder = loaded.id(),
            duration_ms,
            "Loaded another embedder, for boxes that it fills"
        );
        Ok(loaded)
    })
}

/// Whether there is a model for languages other than English. That the program carries none is no mistake in the settings.
fn speaks(settings: &ModelSettings) -> bool {
    let name = settings.multilingual.as_str();
    !name.is_empty() && (name != MULTILINGUAL || place(settings, name) != Place::Nowhere)
}

/// Whether a box can be for this language, by the settings alone.
pub fn can_speak(settings: &ModelSettings, language: BoxLanguage) -> Result<(), Fault> {
    match language == BoxLanguage::Multilingual && !speaks(settings) {
        true => Err(no_multilingual()),
        false => Ok(()),
    }
}

/// The name of the model for other languages, where there is one.
pub fn multilingual_name(settings: &ModelSettings) -> Option<&str> {
    speaks(settings).then_some(settings.multilingual.as_str())
}

fn describe_multilingual(settings: &ModelSettings, data: &Path) -> Result<String> {
    let name = settings.multilingual.as_str();
    match speaks(settings).then(|| place(settings, name)) {
        None => Ok("none: boxes cannot be multilingual".into()),
        // Written to the data folder only when a box needs it.
        Some(Place::BuiltIn) => Ok(format!("{name}, built in; loaded when a box first needs it")),
        Some(_) => describe(settings, name, data),
    }
}

/// Nothing where nothing is named; what goes wrong says which model it was.
fn load<T>(name: &str, load: impl FnOnce(&str) -> Result<T>) -> Result<Option<T>> {
    match name {
        "" => Ok(None),
        name => load(name).with_context(|| format!("cannot load the model `{name}`")).map(Some),
    }
}

fn describe(settings: &ModelSettings, name: &str, data: &Path) -> Result<String> {
    if name.is_empty() {
        return Ok("none".into());
    }
    if is_remote(name) {
        return Ok(format!("remote, at {name}"));
    }
    let folder = Folder::open(&folder(settings, name, data)?)?;
    folder.verify()?;
    Ok(format!("{} in {}, SHA-256 {}", folder.id, folder.path().display(), folder.hash()?))
}

fn embedder(settings: &ModelSettings, name: &str, data: &Path) -> Result<Arc<dyn Embedder>> {
    if !is_remote(name) {
        return Ok(Arc::new(LocalEmbedder::load(&folder(settings, name, data)?, &options(settings))?));
    }
    let shape = RemoteShape {
        dimensions: settings.embedder_dimensions,
        max_tokens: settings.embedder_max_tokens,
        ..RemoteShape::default()
    };
    if shape.dimensions == 0 {
        bail!("models.embedder_dimensions must say how long the vectors of a remote model are");
    }
    let remote = remote(name, &settings.embedder_model, settings.embedder_key.clone())?;
    Ok(Arc::new(RemoteEmbedder::new(remote, shape).map_err(|fault| anyhow!(fault.cause))?))
}

fn reranker(settings: &ModelSettings, name: &str, data: &Path) -> Result<Arc<dyn Reranker>> {
    if !is_remote(name) {
        return Ok(Arc::new(LocalReranker::load(&folder(settings, name, data)?, &options(settings))?));
    }
    let remote = remote(name, &settings.reranker_model, settings.reranker_key.clone())?;
    Ok(Arc::new(RemoteReranker::new(remote).map_err(|fault| anyhow!(fault.cause))?))
}

/// The cross-encoders: the usual one, and how the one for boxes in many languages is loaded.
fn rerankers(
    settings: &ModelSettings,
    data: &Path,
    usual: Option<Arc<dyn Reranker>>,
    multilingual: Option<&str>,
) -> Result<Rerankers> {
    // It knows many languages also where it is the embedder of all boxes.
    let many =
        [MULTILINGUAL, EARLIER_MULTILINGUAL].into_iter().chain(multilingual).map(str::to_string).collect();
    let rerankers = Rerankers::from(usual).apart_from(many);
    let found = local_later(settings, "models.multilingual_reranker", &settings.multilingual_reranker, data)?;
    Ok(match found {
        Some((id, load)) => rerankers.with_multilingual(id, load),
        None => rerankers,
    })
}

/// The answer pickers: the one for English, and how the one for other languages is loaded.
fn pickers(settings: &ModelSettings, data: &Path) -> Result<Pickers> {
    let english = load(&settings.picker, |name| picker(settings, name, data))?;
    let pickers = Pickers::new(english);
    let found = local_later(settings, "models.multilingual_picker", &settings.multilingual_picker, data)?;
    Ok(match found {
        Some((id, load)) => pickers.with_multilingual(id, load),
        None => pickers,
    })
}

/// The id of a cross-encoder on this machine and how it is loaded; nothing where the setting is empty.
fn local_later(
    settings: &ModelSettings,
    setting: &'static str,
    name: &str,
    data: &Path,
) -> Result<Option<(String, LoadReranker)>> {
    let id = match place(settings, name) {
        _ if name.is_empty() => return Ok(None),
        Place::Remote(_) => bail!("{setting} must be a model on this machine"),
        Place::BuiltIn => name.to_string(),
        Place::Folder(_) | Place::Nowhere => {
            let folder = folder(settings, name, data).and_then(|folder| Ok(Folder::open(&folder)?));
            folder.with_context(|| format!("cannot load the model `{name}`"))?.id
        }
    };
    let (settings, name, data) = (settings.clone(), name.to_string(), data.to_path_buf());
    let load = move || {
        let started = Instant::now();
        let loaded = picker(&settings, &name, &data).map_err(|error| Fault::internal(error.to_string()))?;
        let duration_ms = started.elapsed().as_millis() as u64;
        tracing::info!(model = loaded.id(), duration_ms, "Loaded what {setting} names");
        Ok(loaded)
    };
    Ok(Some((id, Arc::new(load))))
}

fn describe_later(settings: &ModelSettings, name: &str, data: &Path) -> Result<String> {
    match place(settings, name) {
        Place::BuiltIn if !name.is_empty() => Ok(format!("{name}, built in; loaded when it is first needed")),
        _ => describe(settings, name, data),
    }
}

/// Always on this machine: how sure a model elsewhere is, nobody knows.
fn picker(settings: &ModelSettings, name: &str, data: &Path) -> Result<Arc<dyn Reranker>> {
    if is_remote(name) {
        bail!("models.picker must be a name or a folder; a picker on another server is not supported");
    }
    Ok(Arc::new(LocalReranker::load(&folder(settings, name, data)?, &options(settings))?))
}

fn is_remote(name: &str) -> bool {
    name.starts_with("https://") || name.starts_with("http://")
}

fn remote(url: &str, model: &str, key: Option<String>) -> Result<Remote> {
    if model.is_empty() {
        bail!("a remote model needs its name there: set models.embedder_model or models.reranker_model");
    }
    let (url, model) = (url.to_string(), model.to_string());
    Ok(Remote { url, model, key, timeout: REMOTE_TIMEOUT, attempts: REMOTE_ATTEMPTS })
}

fn options(settings: &ModelSettings) -> Options {
    let usual = Options::default();
    Options { threads: if settings.threads == 0 { usual.threads } else { settings.threads }, ..usual }
}

/// The folder of a model: a path as it is, a name where models are kept, else what the program itself carries.
fn folder(settings: &ModelSettings, name: &str, data: &Path) -> Result<PathBuf> {
    if name.contains(['/', '\\']) {
        return Ok(PathBuf::from(name));
    }
    match place(settings, name) {
        Place::Folder(folder) => return Ok(folder),
        Place::BuiltIn => return bundled::write(data, name).context("cannot write a built-in model"),
        Place::Remote(_) | Place::Nowhere => {}
    }
    let places = places(settings.dir.as_deref());
    let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    bail!(
        "there is no folder `{name}` in {}; fetch it with `quire models pull {name}`, or set models.dir",
        looked.join(", ")
    )
}

/// Where a model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On a server, at this address.
    Remote(String),
    /// In this folder.
    Folder(PathBuf),
    /// In the program itself.
    BuiltIn,
    /// Not on this machine.
    Nowhere,
}

impl Place {
    /// The folder, where it is in one.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Place::Folder(folder) => Some(folder),
            _ => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Remote(url) => f.write_str(url),
            Place::Folder(folder) => write!(f, "{}", folder.display()),
            Place::BuiltIn => f.write_str("built in"),
            Place::Nowhere => f.write_str("not here"),
        }
    }
}

/// Where the model of this name would be loaded from. Writes nothing.
pub fn place(settings: &ModelSettings, name: &str) -> Place {
    if is_remote(name) {
        return Place::Remote(name.to_string());
    }
    let folders = match name.contains(['/', '\\']) {
        true => vec![PathBuf::from(name)],
        false => places(settings.dir.as_deref()).iter().map(|place| place.join(name)).collect(),
    };
    match folders.into_iter().find(|folder| folder.is_dir()) {
        Some(folder) => Place::Folder(folder),
        None if bundled::has(name) => Place::BuiltIn,
        None => Place::Nowhere,
    }
}

/// The names of the models that the program carries.
pub fn built_in() -> impl Iterator<Item = &'static str> {
    bundled::names()
}

/// Checks a model's files, and says what they were checked against.
pub fn verify_model(name: &str, place: &Place) -> Result<String> {
    let folder = match place {
        Place::Remote(_) => return Ok("on a server; nothing to check here".into()),
        Place::BuiltIn => return Ok("intact: part of the program".into()),
        Place::Nowhere => {
            bail!("the model `{name}` is not on this machine; `quire models list` shows what is")
        }
        Place::Folder(folder) => folder,
    };
    let opened = Folder::open(folder).with_context(|| format!("cannot load the model `{name}`"))?;
    if bundled::has(name) {
        if let Some(path) = bundled::differing(folder, name) {
            bail!("{} is missing or differs from the file that quire carries", path.display());
        }
        return Ok("intact: the same as the model that quire carries".into());
    }
    match opened.verify()? {
        true => Ok("intact: its files have their known hashes".into()),
        false => Ok(format!("complete; no hashes to compare with (SHA-256 {})", opened.hash()?)),
    }
}

/// Where models are looked for, in order. Without a setting: beside the program and above it, as it is installed or
/// built, then here.
pub fn places(dir: Option<&Path>) -> Vec<PathBuf> {
    let roots = match dir {
        Some(dir) => vec![dir.to_path_buf()],
        None => {
            let program = std::env::current_exe().ok().and_then(|program| program.canonicalize().ok());
            let above = program.iter().flat_map(|program| program.ancestors().skip(1).take(4));
            let here = PathBuf::from("models");
            above.map(|folder| folder.join("models")).filter(|folder| folder.is_dir()).chain([here]).collect()
        }
    };
    roots.into_iter().flat_map(|root| [root.clone(), root.join("fetched")]).collect()
}
