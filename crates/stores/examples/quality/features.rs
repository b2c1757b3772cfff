//! Writes what the stages know of each candidate, so that ways to combine it can be compared outside.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    io::{BufWriter, Write},
    path::Path,
    sync::Arc,
};

use engine::{
    access::Writing,
    ids::{BoxId, ChunkId, FileId},
    seams::{
        index::{EXACT_TO, Index, IndexedChunk, Recall},
        weighing::Weighing,
    },
    search::{fuse, late},
};
use stores::index::{Bounds, Embedded, Postgres};

use crate::{
    embeddings::Prepared,
    sets::{self, Set},
};

/// Candidates a side.
const LIMIT: usize = 100;

/// A set stored in a box of its own.
pub(crate) struct Stored {
    pub(crate) index: Arc<dyn Index>,
    pub(crate) writing: Writing,
    pub(crate) documents: HashMap<FileId, String>,
    _folder: tempfile::TempDir,
}

pub(crate) async fn store(set: &Set, prepared: &Prepared) -> Stored {
    let folder = tempfile::tempdir().expect("a folder");
    let index: Arc<dyn Index> = match std::env::var("QUIRE_INDEX_URL") {
        Ok(url) => Arc::new(Postgres::connect(&url, &[]).await.expect("an index")),
        Err(_) => Arc::new(Embedded::open(folder.path(), Bounds::default()).expect("an index")),
    };
    let writing = Writing::for_operator(BoxId::generate());
    let mut documents = HashMap::new();
    for (name, document) in &set.documents {
        let file = FileId::generate();
        let chunks: Arc<[IndexedChunk]> = sets::chunks(document)
            .into_iter()
            .map(|(chunk, text)| {
                let embedding = prepared.of(&text);
                let tokens = late::pack(&embedding.tokens, &embedding.token_ids);
                IndexedChunk { chunk, vector: embedding.vector, tokens }
            })
            .collect();
        index
            .replace(&writing, file, &Arc::new(document.clone()), &chunks, "prepared")
            .await
            .expect("stored");
        documents.insert(file, name.clone());
    }
    Stored { index, writing, documents, _folder: folder }
}

#[derive(Default)]
struct Known {
    semantic: Option<f32>,
    keyword: Option<f32>,
}

/// One line a candidate: query, document, chunk, cosine, BM25, late similarity, relevance, trust;
/// `nan` where not known.
pub(crate) async fn write(root: &Path, folder: &Path, names: &[&str]) {
    for name in names {
        let set = sets::read(&root.join(name));
        let prepared = Prepared::read(folder, name);
        let stored = store(&set, &prepared).await;
        let file = fs::File::create(folder.join(format!("{name}.features.tsv"))).expect("a file");
        let mut file = BufWriter::new(file);
        for (query, text) in &set.queries {
            let embedding = prepared.of(text);
            let recall = Recall {
                text: Some(text),
                vector: Some(&embedding.vector),
                model: "prepared",
                only: None,
                limit: LIMIT,
                exact_to: EXACT_TO,
            };
            let recalled = stored.index.recall(stored.writing.reading(), recall).await.expect("candidates");
            let mut known: BTreeMap<ChunkId, Known> = BTreeMap::new();
            for candidate in recalled.semantic {
                known.entry(candidate.chunk).or_default().semantic = Some(candidate.score);
            }
            for candidate in recalled.keyword {
                known.entry(candidate.chunk).or_default().keyword = Some(candidate.score);
            }
            let ids: Vec<ChunkId> = known.keys().copied().collect();
            let reading = stored.writing.reading();
            let tokens = stored.index.tokens(reading, &ids).await.expect("tokens");
            let cosines = stored.index.cosines(reading, &ids, &embedding.vector).await.expect("cosines");
            let trust = fuse::trust(&embedding.token_ids, &Weighing::USUAL);
            let late_query = late::Query::new(&embedding.tokens, &embedding.token_ids);
            for (((id, known), tokens), cosine) in known.iter().zip(&tokens).zip(cosines) {
                let document = &stored.documents[&id.file];
                let relevant =
                    set.relevant.get(query).and_then(|found| found.get(document)).copied().unwrap_or(0.0);
                let cosine = cosine.unwrap_or(f32::NAN);
                writeln!(
                    file,
                    "{query}\t{document}\t{}\t{}\t{cosine}\t{}\t{}\t{relevant}\t{trust}",
                    id.ordinal,
                    known.semantic.unwrap_or(f32::NAN),
                    known.keyword.unwrap_or(f32::NAN),
                    late_query.similarity(tokens).unwrap_or(f32::NAN),
                )
                .expect("room on the disk");
            }
        }
        println!("{name}: written");
    }
}
