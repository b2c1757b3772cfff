//! Every file of the shared data, where it lies beside the repository, is answered and never silently empty.

use std::path::{Path, PathBuf};

use crate::alone;

fn folder() -> Option<PathBuf> {
    let stated = std::env::var_os("QUIRE_SHARED_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    stated.or(Some(beside)).map(|data| data.join("parsing")).filter(|data| data.is_dir())
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if !path.to_string_lossy().ends_with(".expected.md") {
            found.push(path);
        }
    }
}

#[test]
fn no_file_is_silently_empty() {
    let Some(folder) = folder() else {
        println!("skipped: no shared data beside the repository and QUIRE_SHARED_DATA is not set");
        return;
    };
    let mut found = Vec::new();
    files(&folder, &mut found);
    for path in found {
        let name = path.to_string_lossy();
        if let Ok(document) = parsers::parse(&path, &name, &alone(), &|_, _| {}) {
            let silent = document.pages.iter().any(|page| page.text.is_empty() && page.warnings.is_empty());
            assert!(!silent, "{name} is silently empty");
        }
    }
}
