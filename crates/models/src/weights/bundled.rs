//! The models that are part of the program: written to the data folder, each when it is first loaded, where they are not found
//! beside it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::WeightsError;

/// A file below `models/` of the source.
struct Bundled {
    path: &'static str,
    bytes: &'static [u8],
}

macro_rules! bundled {
    ($($path:literal),* $(,)?) => {
        &[$(Bundled {
            path: $path,
            bytes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/", $path)),
        }),*]
    };
}

/// A static: of a constant, every part of the program that names it would carry a copy.
static FILES: &[Bundled] = bundled![
    "quire-tables-1.safetensors",
    "quire-embed-1/config.json",
    "quire-embed-1/model.safetensors",
    "quire-embed-1/quire.json",
    "quire-embed-1/tokenizer.json",
    "quire-tables-2.safetensors",
    "quire-embed-2/LICENSE",
    "quire-embed-2/config.json",
    "quire-embed-2/model.safetensors",
    "quire-embed-2/quire.json",
    "quire-embed-2/tokenizer.json",
    "quire-multi-1/LICENSE",
    "quire-multi-1/config.json",
    "quire-multi-1/model.safetensors",
    "quire-multi-1/quire.json",
    "quire-multi-1/vocabulary.unigram",
    "quire-multi-2/LICENSE",
    "quire-multi-2/config.json",
    "quire-multi-2/model.safetensors",
    "quire-multi-2/quire.json",
    "quire-rerank-multi-1/LICENSE",
    "quire-rerank-multi-1/config.json",
    "quire-rerank-multi-1/model.safetensors",
    "quire-rerank-multi-1/quire.json",
    "quire-rerank-2/config.json",
    "quire-rerank-2/model.safetensors",
    "quire-rerank-2/quire.json",
    "quire-rerank-2/tokenizer.json",
    "quire-pick-2/config.json",
    "quire-pick-2/model.safetensors",
    "quire-pick-2/quire.json",
    "quire-pick-2/tokenizer.json",
    "quire-pick-multi-1/LICENSE",
    "quire-pick-multi-1/config.json",
    "quire-pick-multi-1/model.safetensors",
    "quire-pick-multi-1/quire.json",
];

/// Models that take their tables and vocabulary from another one.
const BESIDE: &[(&str, &str)] = &[
    ("quire-multi-2", "quire-multi-1"),
    ("quire-pick-multi-1", "quire-multi-1"),
    ("quire-rerank-multi-1", "quire-multi-1"),
];

/// Whether the program carries a model of this name.
pub fn has(name: &str) -> bool {
    FILES.iter().any(|file| file.path.split_once('/').is_some_and(|(folder, _)| folder == name))
}

/// The names of the models that the program carries.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|file| file.path.strip_suffix("/config.json"))
}

/// Compares a folder with the model of this name that the program carries: the first file that is missing or differs.
pub fn differing(folder: &Path, name: &str) -> Option<PathBuf> {
    let of_model = FILES.iter().filter(|file| file.path.split('/').next() == Some(name));
    let mut pairs = of_model.map(|file| (folder.join(&file.path[name.len() + 1..]), file.bytes));
    pairs.find(|(path, bytes)| !is(path, bytes)).map(|(path, _)| path)
}

/// Writes the model of this name below `data`, where it is not there yet, and gives its folder. Files beside the folders
/// are what models share, and come along; so does a model whose files it needs.
pub fn write(data: &Path, name: &str) -> Result<PathBuf, WeightsError> {
    let root = data.join("models");
    let beside = BESIDE.iter().find(|(model, _)| *model == name).map(|(_, beside)| *beside);
    let is_needed = |folder: &str| folder == name || Some(folder) == beside;
    let needed = |file: &&Bundled| file.path.split_once('/').is_none_or(|(folder, _)| is_needed(folder));
    for file in FILES.iter().filter(needed) {
        let path = root.join(file.path);
        if !is(&path, file.bytes) {
            put(&path, file.bytes).map_err(|error| WeightsError::file(&path, error))?;
        }
    }
    Ok(root.join(name))
}

/// Whether a file has these bytes.
fn is(path: &Path, bytes: &[u8]) -> bool {
    let same_size = fs::metadata(path).is_ok_and(|found| found.len() == bytes.len() as u64);
    same_size && fs::read(path).is_ok_and(|found| found == bytes)
}

/// In one step, so that a crash leaves no half of it.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let new = path.with_extension("new");
    fs::write(&new, bytes)?;
    fs::rename(new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_damaged_is_written_again() {
        let data = tempfile::tempdir().unwrap();
        let embedder = write(data.path(), "quire-embed-1").unwrap();
        let root = embedder.parent().unwrap();
        assert!(!root.join("quire-rerank-2").exists() && !root.join("quire-multi-1").exists());
        write(data.path(), "quire-rerank-2").unwrap();
        let path = root.join("quire-embed-1/config.json");
        let before = fs::read(&path).unwrap();
        fs::write(&path, "damaged").unwrap();
        fs::remove_file(root.join("quire-rerank-2/quire.json")).unwrap();
        write(data.path(), "quire-embed-1").unwrap();
        write(data.path(), "quire-rerank-2").unwrap();
        assert_eq!(fs::read(&path).unwrap(), before);
        assert!(root.join("quire-rerank-2/quire.json").is_file());
        write(data.path(), "quire-pick-multi-1").unwrap();
        assert!(root.join("quire-multi-1/vocabulary.unigram").is_file());
        let embedders = ["quire-embed-1", "quire-embed-2", "quire-multi-1", "quire-multi-2"];
        let readers = ["quire-rerank-multi-1", "quire-rerank-2", "quire-pick-2", "quire-pick-multi-1"];
        assert_eq!(names().collect::<Vec<_>>(), [&embedders[..], &readers[..]].concat());
        let model = root.join("quire-embed-1");
        assert_eq!(differing(&model, "quire-embed-1"), None);
        fs::write(model.join("tokenizer.json"), "damaged").unwrap();
        assert_eq!(differing(&model, "quire-embed-1"), Some(model.join("tokenizer.json")));
        assert!(has("quire-embed-1") && !has("quire-tables-1.safetensors") && !has("other"));
    }
}
