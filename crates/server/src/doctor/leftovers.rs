//! What a killed process left in the data folder. A server that starts tidies it up too; while one runs, it is at work there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use engine::Fault;

use super::{Finding, Look, State, count, said};
use crate::{assemble::scratch, library::Library};

/// Looks for half-written uploads, deletions that were begun, and the folders of parsers.
pub(super) async fn finding(look: &Look<'_>, library: &Library) -> Finding {
    let what = "leftovers";
    if look.is_served() {
        return Finding::new(what, State::Ok, "a server runs here, which tidies up after itself");
    }
    let left = match found(look.data, library) {
        Ok(left) => left.len(),
        Err(fault) => return Finding::new(what, State::Wrong, said(&fault)),
    };
    let leftovers = count(left, "file of interrupted work", "files of interrupted work");
    match (left, look.repair) {
        (0, _) => Finding::new(what, State::Ok, "nothing is left of interrupted work"),
        (_, false) => {
            Finding::new(what, State::Warning, format!("{leftovers}, which the next start removes"))
        }
        (_, true) => match remove(look.data, library).await {
            Ok(()) => {
                let done = vec![format!("removed {leftovers}, and finished deletions that were begun")];
                Finding { done, ..Finding::new(what, State::Ok, "nothing is left of interrupted work") }
            }
            Err(fault) => Finding::new(what, State::Wrong, said(&fault)),
        },
    }
}

fn found(data: &Path, library: &Library) -> Result<Vec<PathBuf>, Fault> {
    let mut left = library.blobs.staged()?;
    match fs::read_dir(scratch(data)) {
        Ok(listed) => left.extend(listed.filter_map(|entry| Some(entry.ok()?.path()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Fault::internal(error)),
    }
    Ok(left)
}

/// An original that was being removed goes back where a file still refers to it.
async fn remove(data: &Path, library: &Library) -> Result<(), Fault> {
    library.recover().await?;
    match fs::remove_dir_all(scratch(data)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Fault::internal(error)),
        _ => Ok(()),
    }
}
