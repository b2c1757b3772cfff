//! Finds the documents of the sets by their words alone, which takes no vectors.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    slice,
    sync::Arc,
    time::Instant,
};

use engine::{
    access::Writing,
    document::Document,
    ids::{BoxId, FileId},
    ingest::chunk,
    seams::index::{EXACT_TO, Index, IndexedChunk, Recall},
};
use stores::index::{Bounds, Embedded};

use crate::{measure::ndcg, sets};

/// Prints nDCG@10 of each set, which is one of ours or a folder; and how long a query takes.
pub(crate) async fn print(root: &Path, names: &[&str]) {
    let names = if names.is_empty() { &sets::NAMES[..] } else { names };
    for name in names {
        let set = sets::read(&root.join(name));
        let folder = tempfile::tempdir().expect("a folder");
        let index = Embedded::open(folder.path(), Bounds::default()).expect("an index");
        let writing = Writing::for_operator(BoxId::generate());
        let mut told: BTreeMap<String, usize> = BTreeMap::new();
        let (mut owners, mut indexed) = (Vec::new(), Vec::new());
        for (id, document) in &set.documents {
            for (mut chunk, _) in sets::chunks(document) {
                // Stored as one file, in one go; so a document's title becomes a heading.
                chunk.section = document.title.iter().cloned().collect();
                *told.entry(chunk.language.clone().unwrap_or_default()).or_default() += 1;
                owners.push(id.clone());
                indexed.push(IndexedChunk { chunk, vector: vec![1.0], tokens: vec![] });
            }
        }
        let usual = told.iter().filter(|(language, _)| !language.is_empty()).max_by_key(|(_, count)| **count);
        let usual = usual.map_or(String::new(), |(language, _)| language.clone());
        indexed.iter_mut().for_each(|indexed| chunk::assume(slice::from_mut(&mut indexed.chunk), &usual));
        let whole =
            Document { media_type: "text/plain".into(), title: None, pages: vec![], warnings: vec![] };
        let file = FileId::generate();
        let stored = index.replace(&writing, file, &Arc::new(whole), &indexed.into(), "words").await;
        stored.expect("room on the disk");
        let names: HashMap<&String, FileId> = owners.iter().map(|id| (id, FileId::generate())).collect();
        let documents: HashMap<FileId, String> =
            names.iter().map(|(id, file)| (*file, (*id).clone())).collect();
        let (mut sum, mut count, mut corrected) = (0.0, 0, 0);
        let started = Instant::now();
        for (query, text) in &set.queries {
            let judged = set.relevant.get(query).filter(|found| found.values().any(|grade| *grade > 0.0));
            let Some(relevant) = judged else { continue };
            let recall = Recall {
                text: Some(text),
                vector: None,
                model: "words",
                only: None,
                limit: 100,
                exact_to: EXACT_TO,
            };
            let recalled = index.recall(writing.reading(), recall).await.expect("candidates");
            let found = recalled.keyword.iter().map(|found| &owners[found.chunk.ordinal as usize]);
            let order: Vec<FileId> = found.map(|id| names[id]).collect();
            // As trec_eval and BEIR have it: the gain is the grade itself.
            sum += ndcg(&order, &documents, relevant, |grade| grade);
            corrected += usize::from(!recalled.corrected.is_empty());
            count += 1;
        }
        let ms = started.elapsed().as_secs_f64() * 1000.0 / f64::from(count.max(1));
        println!(
            "{name}: {:.2} over {count} queries, {ms:.2} ms each, {corrected} with words taken for others; {told:?}",
            100.0 * sum / f64::from(count)
        );
    }
}
