//! Lists documents: all there are, or those about something, each with the words that say why.

use super::{
    Asked, Chat, ChatRequest,
    gather::Found,
    phrases,
    pick::{self, Wanted},
    searched,
    words::stems,
};
use crate::{
    Fault,
    ids::{ChunkId, FileId},
    seams::answerer::{Passage, Piece},
};

/// Documents about something that are named at most.
const MOST: usize = 10;
/// A passage this likely is about a topic even without its words.
const LIKELY: f32 = 0.5;
/// Passages that are looked at for documents about something: as many as a search returns for one unit.
const PASSAGES: usize = 20;

impl Chat {
    /// The documents there are, or those about a topic.
    pub(super) async fn documents(
        &self,
        asked: &Asked<'_>,
        request: &ChatRequest,
        topic: Option<&str>,
    ) -> Result<(Found, Vec<Piece>), Fault> {
        match topic {
            Some(topic) => self.documents_about(asked, request, topic).await,
            None => Ok((Found::default(), vec![Piece::Plain(self.all_documents(asked, request).await?)])),
        }
    }

    /// Each with its pages and its first heading.
    async fn all_documents(&self, asked: &Asked<'_>, request: &ChatRequest) -> Result<String, Fault> {
        let (mut files, mut total) = self.listed(asked.readings).await?;
        if let Some(only) = &request.only {
            let ids: Vec<FileId> = only.iter().copied().collect();
            files = self.files(asked.readings, &ids).await?;
            files.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
            total = files.len() as u64;
        }
        let mut said = phrases::documents(asked.language, total);
        let first: Vec<ChunkId> = files.iter().map(|file| ChunkId { file: file.id, ordinal: 0 }).collect();
        let first = self.chunks(asked.readings, &first).await?;
        for (file, chunk) in files.iter().zip(first) {
            let pages = phrases::pages(asked.language, file.extent.pages);
            said.push_str(&format!("\n- {} ({pages})", file.name.as_str()));
            if let Some(heading) = chunk.as_ref().and_then(|chunk| chunk.section.first()) {
                said.push_str(&format!(": {heading}"));
            }
        }
        let shown = files.len() as u64;
        if total > shown {
            said.push_str(&format!("\n{}", phrases::more(asked.language, total - shown)));
        }
        Ok(said)
    }

    /// The documents with passages about a topic, each with the best sentence.
    async fn documents_about(
        &self,
        asked: &Asked<'_>,
        request: &ChatRequest,
        topic: &str,
    ) -> Result<(Found, Vec<Piece>), Fault> {
        let mut search = searched(request, topic);
        search.top_k = PASSAGES.min(request.most.passages).max(1);
        search.max_chunks_per_document = Some(3);
        let (passages, search_units) = self.found(asked.readings, search).await?;
        let near = passages.iter().take(3).map(|near| (near.file_name.clone(), near.chunk.page)).collect();
        let wanted = Wanted { question: topic, ..Wanted::default() };
        let weighed = pick::Asked::of(&wanted, &passages);
        let sentences = weighed.sentences(&passages);
        let topic_stems = stems(topic);
        let mut files: Vec<FileId> = Vec::new();
        let (mut pieces, mut used) = (Vec::new(), Vec::new());
        for (at, passage) in passages.iter().enumerate() {
            if files.contains(&passage.id.file) || files.len() == MOST || !is_about(passage, &topic_stems) {
                continue;
            }
            files.push(passage.id.file);
            used.push(passage.clone());
            let number = used.len();
            let best = sentences
                .iter()
                .filter(|sentence| sentence.passage == at)
                .max_by(|a, b| a.known.shared.total_cmp(&b.known.shared));
            pieces.push(Piece::Plain(format!("\n- {}: ", passage.file_name)));
            if let Some(best) = best {
                let place = best.place.clone();
                pieces.push(match &best.shown {
                    Some(shown) => Piece::Row(number, place, shown.clone()),
                    None => Piece::Quote(number, place),
                });
            }
        }
        if !pieces.is_empty() {
            pieces.insert(0, Piece::Plain(phrases::documents_about(asked.language, topic)));
        }
        Ok((Found { passages: used, near, search_units, ..Found::default() }, pieces))
    }
}

/// Whether a passage is about a topic: it, its headings or its file's name have the words, or it is likely enough.
fn is_about(passage: &Passage, topic: &std::collections::HashSet<String>) -> bool {
    let chunk = &passage.chunk;
    let name = passage.file_name.replace(['_', '-', '.'], " ");
    let there = stems(&format!("{name} {} {} {}", chunk.section.join(" "), chunk.lead, chunk.text));
    let shared = topic.iter().filter(|stem| there.contains(*stem)).count();
    !topic.is_empty() && (2 * shared > topic.len() || passage.score >= LIKELY && shared > 0)
}
