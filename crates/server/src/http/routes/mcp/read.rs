//! The tools that return text: what is behind an id, and pages by their numbers.

use std::ops::RangeInclusive;

use engine::{
    Fault, Reason,
    access::Reading,
    document::Page,
    ids::{ChunkId, FileId},
    seams::catalog::FileRecord,
};
use serde_json::{Value, json};

use super::{
    super::{
        documents::{PageRanges, Pages},
        sources,
    },
    Call,
};
use crate::http::auth;

/// Characters in one answer: some 25,000 tokens, which is what assistants take of one tool.
const MOST_CHARACTERS: usize = 100_000;

/// Pages that fit one answer, and the page to go on from.
struct Fitting {
    pages: Vec<Page>,
    next: Option<u32>,
}

impl Call {
    /// The pages of a search result, or a whole document as far as it fits.
    pub(super) async fn fetch(&self, id: &str) -> Result<Value, Fault> {
        let wrong =
            || Fault::invalid("id", "`id` must be the id of a search result (chk_…) or of a file (fil_…)");
        let (file, reading, pages) = match id.parse::<ChunkId>() {
            Ok(chunk) => {
                let (file, reading) = self.file(chunk.file).await?;
                let found = self.app.library.index.chunks(&reading, &[chunk]).await?.pop().flatten();
                let found = found.ok_or_else(|| {
                    Fault::new(Reason::NotFound, format!("`{id}` is no longer in the document"))
                        .param("id")
                        .hint("search again")
                })?;
                (file, reading, found.page..=found.page_end)
            }
            Err(_) => {
                let (file, reading) = self.file(id.parse().map_err(|_| wrong())?).await?;
                (file, reading, 1..=u32::MAX)
            }
        };
        let first = *pages.start();
        let Fitting { pages, next } = self.fitting(&reading, file.id, vec![pages]).await?;
        let numbers: Vec<u32> = pages.iter().map(|page| page.number).collect();
        let text = pages.into_iter().map(|page| page.text).collect::<Vec<_>>().join("\n\n");
        Ok(json!({"id": id, "title": file.name.as_str(), "text": text, "url": self.link(file.id, first),
            "metadata": {"file_id": file.id, "box_id": file.box_id, "media_type": file.media_type,
                "pages": numbers, "page_count": file.extent.pages, "next_page": next, "language": file.language,
                "tags": file.tags, "metadata": file.metadata}}))
    }

    /// Some pages of a document.
    pub(super) async fn read_pages(&self, file: &str, pages: Option<&str>) -> Result<Value, Fault> {
        let id =
            file.parse().map_err(|_| Fault::invalid("file", "`file` must be the id of a file (fil_…)"))?;
        let ranges = PageRanges::parse(pages.map(str::trim).filter(|pages| !pages.is_empty()))?;
        let (file, reading) = self.file(id).await?;
        let Fitting { pages, next } = self.fitting(&reading, file.id, ranges.0).await?;
        let pages = pages.iter().map(|page| {
            json!({"page": page.number, "label": page.label, "text": page.text, "url": self.link(file.id, page.number)})
        });
        Ok(json!({"file_id": file.id, "title": file.name.as_str(), "page_count": file.extent.pages,
            "pages": pages.collect::<Vec<_>>(), "next_page": next}))
    }

    /// A file that can be read, in the box of the address where that names one.
    async fn file(&self, id: FileId) -> Result<(FileRecord, Reading), Fault> {
        let found = auth::readable_file(&self.app, &self.caller, id).await?;
        if self.only.is_some_and(|only| only != found.record.box_id) {
            return Err(auth::no_such_file());
        }
        Ok((sources::readable(found.record)?, found.reading))
    }

    async fn fitting(
        &self,
        reading: &Reading,
        file: FileId,
        ranges: Vec<RangeInclusive<u32>>,
    ) -> Result<Fitting, Fault> {
        let mut pages = Pages::of(&self.app, reading, file, ranges).await?;
        let (mut fitting, mut characters) = (Vec::new(), 0);
        while let Some(some) = pages.next().await? {
            for mut page in some {
                let length = page.text.chars().count();
                if characters + length > MOST_CHARACTERS {
                    if !fitting.is_empty() {
                        return Ok(Fitting { pages: fitting, next: Some(page.number) });
                    }
                    // One page alone that is too long is cut: there is no smaller part to ask for.
                    page.text = page.text.chars().take(MOST_CHARACTERS).collect();
                    let next = Some(page.number + 1);
                    return Ok(Fitting { pages: vec![page], next });
                }
                characters += length;
                fitting.push(page);
            }
        }
        Ok(Fitting { pages: fitting, next: None })
    }
}
