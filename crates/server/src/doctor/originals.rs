//! Whether every original is there and is what its name says, and whether there are others. Backups hold what is lost.

use std::collections::{HashMap, HashSet};

use engine::{Fault, access::Writing};

use super::{Finding, Look, State, count, said};
use crate::{
    backup,
    library::{Library, files_of},
};

/// Originals that are named; of more it is said how many there are.
const NAMED: usize = 20;

/// Compares what is there with what files refer to; adds what is missing to `lost`.
pub(super) async fn finding(look: &Look<'_>, library: &Library, lost: &mut HashSet<String>) -> Finding {
    let what = "originals";
    match compared(look, library, lost).await {
        Ok(finding) => finding,
        Err(fault) => Finding::new(what, State::Wrong, said(&fault)),
    }
}

async fn compared(look: &Look<'_>, library: &Library, lost: &mut HashSet<String>) -> Result<Finding, Fault> {
    let wanted: HashSet<String> = library.catalog.wanted_originals().await?.into_iter().collect();
    if wanted.len() > look.originals {
        let text = format!("{} originals; `quire doctor` looks whether each is there", wanted.len());
        return Ok(Finding::new("originals", State::Ok, text));
    }
    let there: HashSet<String> = library.blobs.names().await?.into_iter().collect();
    let mut done = Vec::new();
    let unwanted = there.difference(&wanted).count();
    if look.repair && unwanted > 0 {
        // Asks for each again whether a file refers to it, before and after it is out of reach.
        library.sweep_originals().await?;
        let left: HashSet<String> = library.blobs.names().await?.into_iter().collect();
        let removed = there.difference(&left).count();
        done.push(format!("removed {} that no file refers to", count(removed, "original", "originals")));
    }
    let mut missing = Vec::new();
    for sha256 in wanted.difference(&there) {
        // A server may have removed it since, with its file.
        if library.catalog.original_is_wanted(sha256).await? && !library.blobs.has(sha256).await? {
            missing.push(sha256.clone());
        }
    }
    let missing = if look.repair { bring_back(look, library, missing, &mut done).await? } else { missing };
    let mut text = format!("{} originals, {} missing", wanted.len(), missing.len());
    text += &named(library, &missing).await?;
    // One that comes in now has no file yet.
    let waste = unwanted > 0 && !look.repair && !look.is_served();
    if waste {
        text += &format!("; {unwanted} that no file refers to, which a server removes");
    }
    let state = match (missing.is_empty(), waste) {
        (false, _) => State::Wrong,
        (true, true) => State::Warning,
        (true, false) => State::Ok,
    };
    lost.extend(missing);
    Ok(Finding { done, ..Finding::new("originals", state, text) })
}

/// Reads every original; adds those whose bytes are not what their name says to `lost` and `damaged`.
pub(super) async fn scrub(
    look: &Look<'_>,
    library: &Library,
    lost: &mut HashSet<String>,
    damaged: &mut Vec<String>,
) -> Finding {
    let what = "scrub";
    let scrubbed = async {
        let found = library.blobs.scrub().await?;
        let mut done = Vec::new();
        *damaged = match look.repair {
            true => bring_back(look, library, found.damaged, &mut done).await?,
            false => found.damaged,
        };
        lost.extend(damaged.iter().cloned());
        let sound = found.sound + done.len() as u64;
        let text = format!("{sound} sound, {} damaged{}", damaged.len(), named(library, damaged).await?);
        Ok::<_, Fault>(Finding { done, ..Finding::new(what, State::of(damaged.is_empty()), text) })
    };
    scrubbed.await.unwrap_or_else(|fault| Finding::new(what, State::Wrong, said(&fault)))
}

/// Copies originals back from the backups that hold them; gives those that no backup holds.
async fn bring_back(
    look: &Look<'_>,
    library: &Library,
    lost: Vec<String>,
    done: &mut Vec<String>,
) -> Result<Vec<String>, Fault> {
    let mut left = Vec::new();
    for sha256 in lost {
        match backup::holding(look.data, &sha256) {
            Some(copy) => {
                library.blobs.put_back(&sha256, &copy).await?;
                done.push(format!("brought {sha256} back from {}", copy.display()));
            }
            None => left.push(sha256),
        }
    }
    Ok(left)
}

/// Which files these are the originals of, and what to do about it.
async fn named(library: &Library, originals: &[String]) -> Result<String, Fault> {
    if originals.is_empty() {
        return Ok(String::new());
    }
    let mut names: HashMap<String, Vec<String>> = HashMap::new();
    for record in library.catalog.boxes().await? {
        for file in files_of(&*library.catalog, &Writing::for_operator(record.id)).await? {
            let place = format!("{} in {}", file.name.as_str(), record.name.as_str());
            names.entry(file.sha256).or_default().push(place);
        }
    }
    let each = originals.iter().take(NAMED).map(|sha256| match names.get(sha256) {
        Some(files) => format!("{sha256} ({})", files.join(", ")),
        None => sha256.clone(),
    });
    let mut each: Vec<String> = each.collect();
    if originals.len() > NAMED {
        each.push(format!("and {} more", originals.len() - NAMED));
    }
    Ok(format!(
        ": {}; `quire doctor --repair` brings back what a backup holds, else upload the files again",
        each.join("; ")
    ))
}
