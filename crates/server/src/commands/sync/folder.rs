//! What is in a folder: the files that can be kept in a box, by their path within it, and what is passed over.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// What tells whether a file was changed without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    size: u64,
    modified: SystemTime,
}

/// A file of the folder.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Where it is on this machine.
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
}

/// What a look at the folder shows.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Files by their path within the folder, with `/` between its parts.
    pub(super) files: BTreeMap<String, Found>,
    /// What is passed over, and why.
    pub(super) skipped: Vec<(String, String)>,
}

/// Looks at everything below a folder. What cannot be read is an error: a file that is only out of sight for a moment must not
/// be taken for deleted.
pub(super) fn look(folder: &Path) -> io::Result<Look> {
    let mut look = Look::default();
    walk(folder, "", &mut look)?;
    Ok(look)
}

fn walk(folder: &Path, within: &str, look: &mut Look) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            let shown = format!("{within}{}", name.to_string_lossy());
            look.skipped.push((shown, "its name is not UTF-8".into()));
            continue;
        };
        let path = format!("{within}{name}");
        if name.starts_with('.') {
            look.skipped.push((path, "hidden".into()));
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), look)?;
        } else if kind.is_file() {
            let about = match entry.metadata() {
                Ok(about) => about,
                // Deleted between two glances.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let stamp = Stamp { size: about.len(), modified: about.modified()? };
            look.files.insert(path, Found { path: entry.path(), stamp });
        } else {
            look.skipped.push((path, "neither a file nor a folder".into()));
        }
    }
    Ok(())
}

/// Hashes of files, and which of them are of a kind that can be read, for as long as they are not changed.
#[derive(Default)]
pub(super) struct Contents(HashMap<String, (Stamp, Content)>);

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// Something that can be kept: its SHA-256.
    Readable(String),
    /// Something that cannot, and why.
    Unsupported(String),
}

impl Contents {
    /// What is in a file; reads it only where it was changed since the last time.
    pub(super) fn of(&mut self, path: &str, found: &Found, known: &HashSet<String>) -> io::Result<Content> {
        if let Some((stamp, content)) = self.0.get(path)
            && *stamp == found.stamp
        {
            return Ok(content.clone());
        }
        let content = read(path, found, known)?;
        self.0.insert(path.to_string(), (found.stamp, content.clone()));
        Ok(content)
    }
}

/// Hashes a file. Only one that the box does not know must be read whole to tell what kind it is.
fn read(path: &str, found: &Found, known: &HashSet<String>) -> io::Result<Content> {
    let hash = stores::blobs::hash_of(&found.path)?;
    if known.contains(&hash) {
        return Ok(Content::Readable(hash));
    }
    let bytes = std::fs::read(&found.path)?;
    let kind = match bytes.is_empty() {
        true => Err("empty".to_string()),
        false => parsers::kind::sniff(&bytes, path).map_err(|failure| failure.to_string()),
    };
    Ok(match kind {
        Ok(_) => Content::Readable(hash),
        Err(why) => Content::Unsupported(why),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_shows_files_by_their_path_and_says_what_it_passes_over() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::create_dir_all(at(".git")).unwrap();
        for name in ["z.txt", "a/b/c.txt", ".DS_Store", ".git/config"] {
            std::fs::write(at(name), name).unwrap();
        }
        std::os::unix::fs::symlink(at("a"), at("loop")).unwrap();
        let look = look(folder.path()).unwrap();
        assert_eq!(look.files.keys().collect::<Vec<_>>(), ["a/b/c.txt", "z.txt"]);
        let mut skipped: Vec<&str> = look.skipped.iter().map(|(path, _)| path.as_str()).collect();
        skipped.sort_unstable();
        assert_eq!(skipped, [".DS_Store", ".git", "loop"]);
        assert!(super::look(&at("nowhere")).is_err(), "a folder that is not there is not an empty one");
    }

    #[test]
    fn what_cannot_be_read_is_told_before_it_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("a.txt", &b"words"[..]), ("b.txt", b""), ("c.exe", b"\x7fELF\0\x01\x02\0\0")] {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let look = look(folder.path()).unwrap();
        let mut contents = Contents::default();
        let mut of = |name: &str| contents.of(name, &look.files[name], &HashSet::new()).unwrap();
        assert!(matches!(of("a.txt"), Content::Readable(_)));
        assert_eq!(of("b.txt"), Content::Unsupported("empty".into()));
        assert!(matches!(of("c.exe"), Content::Unsupported(_)));
    }
}
