//! Runs the whole search path on the sets, and prints nDCG@10 of each way to search.

use std::{collections::HashMap, path::Path, sync::Arc};

use engine::{
    ids::FileId,
    seams::index::{Candidate, EXACT_TO, Recall},
    search::{Mode, Search, SearchRequest},
};

use crate::{embeddings::Prepared, features, sets};

/// The mean over all queries of each way to search.
pub(crate) async fn print(root: &Path, folder: &Path, names: &[&str]) {
    println!("{:10} {:>6} {:>8} {:>6} {:>6} {:>8}", "set", "bm25", "embedder", "rrf", "hybrid", "reranked");
    for name in names {
        let set = sets::read(&root.join(name));
        let prepared = Arc::new(Prepared::read(folder, name));
        let stored = features::store(&set, &prepared).await;
        let reading = *stored.writing.reading();
        let search = Search::new(stored.index.clone(), prepared.clone(), None);
        let mut sums = [0.0; 5];
        let mut count = 0.0;
        for (query, text) in &set.queries {
            let Some(relevant) =
                set.relevant.get(query).filter(|found| found.values().any(|grade| *grade > 0.0))
            else {
                continue;
            };
            let vector = prepared.of(text).vector;
            let recall = Recall {
                text: Some(text),
                vector: Some(&vector),
                model: "prepared",
                only: None,
                limit: 100,
                exact_to: EXACT_TO,
            };
            let recalled = stored.index.recall(&reading, recall).await.expect("candidates");
            let mut orders = vec![
                recalled.keyword.iter().map(|found| found.chunk.file).collect(),
                recalled.semantic.iter().map(|found| found.chunk.file).collect(),
                reciprocal(&recalled.keyword, &recalled.semantic),
            ];
            for rerank in [false, true] {
                let request = SearchRequest {
                    top_k: 50,
                    rerank,
                    mode: Mode::Hybrid,
                    max_chunks_per_document: Some(1),
                    ..SearchRequest::new(text)
                };
                let found = search.run(&reading, request).await.expect("hits");
                orders.push(found.hits.iter().map(|hit| hit.id.file).collect());
            }
            for (sum, order) in sums.iter_mut().zip(&orders) {
                *sum += ndcg(order, &stored.documents, relevant, |grade| grade.exp2() - 1.0);
            }
            count += 1.0;
        }
        let [bm25, embedder, rrf, hybrid, reranked] = sums.map(|sum| 100.0 * sum / count);
        println!("{name:10} {bm25:6.2} {embedder:8.2} {rrf:6.2} {hybrid:6.2} {reranked:8.2}");
    }
}

/// Plain reciprocal rank fusion with the usual constant of 60.
fn reciprocal(first: &[Candidate], second: &[Candidate]) -> Vec<FileId> {
    let mut scores: HashMap<_, f64> = HashMap::new();
    for side in [first, second] {
        for (rank, candidate) in (1..).zip(side) {
            *scores.entry(candidate.chunk).or_default() += 1.0 / (60.0 + f64::from(rank));
        }
    }
    let mut order: Vec<_> = scores.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.into_iter().map(|(chunk, _)| chunk.file).collect()
}

/// A document counts where its first chunk stands, with the gain of its grade.
pub(crate) fn ndcg(
    order: &[FileId],
    documents: &HashMap<FileId, String>,
    relevant: &HashMap<String, f64>,
    gain: fn(f64) -> f64,
) -> f64 {
    let mut seen = Vec::new();
    for file in order {
        if !seen.contains(file) && seen.len() < 10 {
            seen.push(*file);
        }
    }
    let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let grade = |file: &FileId| relevant.get(&documents[file]).copied().unwrap_or(0.0);
    let found: f64 = seen.iter().enumerate().map(|(rank, file)| gain(grade(file)) * discount(rank)).sum();
    let mut grades: Vec<f64> = relevant.values().copied().collect();
    grades.sort_by(|a, b| b.total_cmp(a));
    let ideal: f64 =
        grades.iter().take(10).enumerate().map(|(rank, grade)| gain(*grade) * discount(rank)).sum();
    found / ideal
}
