//! `sources`: the files that a request names.

use std::collections::HashSet;

use engine::{
    Fault, Reason,
    access::Reading,
    ids::FileId,
    seams::catalog::{FileRecord, FileStatus},
};

use crate::app::App;

/// Documents in one request; each may have thousands of pages.
const MOST_SOURCES: usize = 1000;

/// The sources, each once, in their order.
fn distinct(sources: Vec<String>) -> Result<Vec<String>, Fault> {
    if sources.is_empty() {
        return Err(Fault::invalid("sources", "`sources` must name at least one file"));
    }
    if sources.len() > MOST_SOURCES {
        return Err(Fault::invalid("sources", format!("`sources` can name at most {MOST_SOURCES} files")));
    }
    let mut seen = HashSet::new();
    Ok(sources.into_iter().filter(|source| seen.insert(source.clone())).collect())
}

/// The files behind the sources, in whichever of the boxes they are; what is not there or cannot be read is a fault, unless `partial`.
pub(super) async fn find(
    app: &App,
    readings: &[Reading],
    sources: Vec<String>,
    partial: bool,
) -> Result<(Vec<FileRecord>, Vec<String>), Fault> {
    let mut files = Vec::new();
    let mut missing = Vec::new();
    for source in distinct(sources)? {
        let record = match source.parse() {
            Ok(id) => find_one(app, readings, id).await?,
            Err(_) => None,
        };
        match record.ok_or_else(|| unknown_source(&source)).and_then(readable) {
            Ok(file) => files.push(file),
            Err(_) if partial => missing.push(source),
            Err(fault) => return Err(fault),
        }
    }
    Ok((files, missing))
}

/// Looked up in its own box only: a thousand sources in each of ten boxes would be ten thousand questions, which nobody pays for.
async fn find_one(app: &App, readings: &[Reading], id: FileId) -> Result<Option<FileRecord>, Fault> {
    let box_id = app.catalog.box_of_file(id).await?;
    let Some(reading) = readings.iter().find(|reading| Some(reading.box_id()) == box_id) else {
        return Ok(None);
    };
    Ok(app.catalog.files(reading, &[id]).await?.pop().flatten())
}

fn unknown_source(source: &str) -> Fault {
    let shown: String = source.chars().take(100).collect();
    Fault::new(Reason::NotFound, format!("there is no file `{shown}` in this box"))
        .hint("GET /boxes/{box_id}/files lists its files")
        .param("sources")
}

/// A file whose text is there to be read.
pub(super) fn readable(file: FileRecord) -> Result<FileRecord, Fault> {
    if file.indexed_at.is_some() {
        return Ok(file);
    }
    let why = file.error.as_deref().unwrap_or("it could not be processed");
    let cause = match file.status {
        FileStatus::Failed => format!("`{}` ({}) failed: {why}", file.name.as_str(), file.id),
        status => format!("`{}` ({}) is still {}", file.name.as_str(), file.id, status.as_str()),
    };
    Err(Fault::new(Reason::NotReady, cause).param("sources").hint("GET /files/{file_id} shows its status"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_named_twice_counts_once() {
        let sources = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        assert_eq!(distinct(sources(&["b", "a", "b"])).unwrap(), ["b", "a"]);
        assert_eq!(distinct(sources(&[])).unwrap_err().reason, Reason::InvalidParameter);
    }
}
