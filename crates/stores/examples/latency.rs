//! Measures recall, memory and opening of boxes on made-up chunks. See bench/index/README.md.
//!
//! Usage: latency CHUNKS | latency boxes COUNT
//! With `QUIRE_INDEX_URL` set, the first on that database.

use std::{collections::HashSet, fs, path::Path, sync::Arc, time::Instant};

use engine::{
    access::Writing,
    document::Document,
    ids::{BoxId, ChunkId, FileId},
    seams::index::{Chunk, EXACT_TO, Index, IndexedChunk, Recall},
};
use stores::index::{Bounds, Embedded, Postgres};

const DIMENSIONS: usize = 384;
/// Subjects that texts and vectors gather around: real collections are clustered, and codes are harder on those.
const SUBJECTS: usize = 2_000;
/// Files a box is stored as at most: each is one durable transaction, and waiting for the disk is not what is measured.
const FILES: usize = 500;

struct Noise(u64);

impl Noise {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }

    fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }

    /// About normal, with a standard deviation of about a half.
    fn normal(&mut self) -> f32 {
        (0..3).map(|_| self.bits() as f32 / (1u64 << 44) as f32 - 0.5).sum()
    }

    /// Few words are frequent and most are rare, as in language.
    fn word(&mut self) -> usize {
        let share = (self.bits() as f64 / (1u64 << 44) as f64).max(1e-9);
        (share.powi(3) * 50_000.0) as usize
    }
}

fn subject(number: usize) -> Vec<f32> {
    let mut noise = Noise(number as u64 * 7_919 + 13);
    (0..DIMENSIONS).map(|_| noise.normal() * 1.2).collect()
}

fn vector(noise: &mut Noise, subject: &[f32]) -> Vec<f32> {
    let mut vector: Vec<f32> = subject.iter().map(|centre| centre + noise.normal()).collect();
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

fn text(noise: &mut Noise, subject: usize, words: usize) -> String {
    let one = |noise: &mut Noise| match noise.below(4) {
        0 => format!("subject{subject}word{}", noise.below(40)),
        _ => format!("word{}", noise.word()),
    };
    (0..words).map(|_| one(noise)).collect::<Vec<_>>().join(" ")
}

fn chunk(noise: &mut Noise, subjects: &[Vec<f32>], words: usize) -> IndexedChunk {
    let subject = noise.below(subjects.len());
    let text = text(noise, subject, words);
    let chunk = Chunk {
        page: 1,
        page_end: 1,
        start: 0,
        end: text.len() as u32,
        section: [].into(),
        lead: "".into(),
        language: Some("en".into()),
        text,
    };
    IndexedChunk { chunk, vector: vector(noise, &subjects[subject]), tokens: vec![] }
}

fn resident_megabytes(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn percentiles(mut millis: Vec<f64>) -> String {
    millis.sort_by(f64::total_cmp);
    let at = |share: f64| millis[((millis.len() as f64 * share) as usize).min(millis.len() - 1)];
    format!("p50 {:.2} ms, p90 {:.2} ms, p99 {:.2} ms", at(0.5), at(0.9), at(0.99))
}

fn empty() -> Arc<Document> {
    Arc::new(Document { media_type: "text/plain".into(), title: None, pages: vec![], warnings: vec![] })
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<usize>().ok());
    let folder = tempfile::tempdir().expect("a folder");
    let subjects: Vec<Vec<f32>> = (0..SUBJECTS).map(subject).collect();
    match (number(0), number(1)) {
        (Some(chunks), _) => one_box(folder.path(), &subjects, chunks).await,
        (None, Some(boxes)) => many_boxes(folder.path(), &subjects, boxes).await,
        _ => println!("usage: latency CHUNKS | latency boxes COUNT"),
    }
}

/// The index in the folder, or on the server that the environment names.
async fn opened(folder: &Path) -> Arc<dyn Index> {
    match std::env::var("QUIRE_INDEX_URL") {
        Ok(url) => Arc::new(Postgres::connect(&url, &[]).await.expect("an index")),
        Err(_) => Arc::new(Embedded::open(folder, Bounds::default()).expect("an index")),
    }
}

async fn one_box(folder: &Path, subjects: &[Vec<f32>], chunks: usize) {
    let mut noise = Noise(1);
    let writing = Writing::for_operator(BoxId::generate());
    let mut files = Vec::new();
    // In one piece, which goes back to the system when it is dropped: what stays is the index's own.
    let mut vectors: (Vec<ChunkId>, Vec<f32>) = Default::default();
    let per_file = (chunks / FILES).max(20);
    {
        let index = opened(folder).await;
        let started = Instant::now();
        while files.len() * per_file < chunks {
            let file = FileId::generate();
            let content: Arc<[_]> = (0..per_file).map(|_| chunk(&mut noise, subjects, 60)).collect();
            for (ordinal, chunk) in (0..).zip(&*content) {
                vectors.0.push(ChunkId { file, ordinal });
                vectors.1.extend_from_slice(&chunk.vector);
            }
            index.replace(&writing, file, &empty(), &content, "made-up").await.expect("stored");
            files.push(file);
        }
        println!("{chunks} chunks stored in {:.1} s", started.elapsed().as_secs_f64());
        if let Ok(wait) = std::env::var("QUIRE_INDEX_WAIT_S") {
            // An index of the vectors is built in the background.
            tokio::time::sleep(std::time::Duration::from_secs(wait.parse().expect("seconds"))).await;
        }
    }
    let index = opened(folder).await;
    let started = Instant::now();
    let wanted = Recall {
        text: Some("word1 subject5word3"),
        vector: Some(&subjects[5]),
        model: "made-up",
        only: None,
        limit: 100,
        exact_to: EXACT_TO,
    };
    index.recall(writing.reading(), wanted).await.expect("candidates");
    println!("first search, which opens the box: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
    print_recall(&*index, &writing, &mut noise, subjects, &vectors).await;
    drop(vectors);
    let mut recall =
        async |name: &str, rounds: usize, text: bool, vector_side: bool, only: Option<&HashSet<FileId>>| {
            let mut millis = Vec::new();
            for _ in 0..rounds {
                let subject = noise.below(subjects.len());
                let words = self::text(&mut noise, subject, 8);
                let query = vector(&mut noise, &subjects[subject]);
                let wanted = Recall {
                    text: text.then_some(&words),
                    vector: vector_side.then_some(&query),
                    model: "made-up",
                    only,
                    limit: 100,
                    exact_to: EXACT_TO,
                };
                let started = Instant::now();
                index.recall(writing.reading(), wanted).await.expect("candidates");
                millis.push(started.elapsed().as_secs_f64() * 1e3);
            }
            println!("{name}: {}; resident {} MB", percentiles(millis), resident_megabytes("VmRSS"));
        };
    recall("both sides", 300, true, true, None).await;
    recall("vectors", 300, false, true, None).await;
    recall("words", 300, true, false, None).await;
    let some: HashSet<FileId> = files.iter().copied().step_by(100).collect();
    recall("both sides, 1% of the files", 300, true, true, Some(&some)).await;
    let half: HashSet<FileId> = files.iter().copied().step_by(2).collect();
    recall("both sides, half of the files", 100, true, true, Some(&half)).await;
    println!(
        "anonymous memory {} MB, peak {} MB",
        resident_megabytes("RssAnon"),
        resident_megabytes("VmHWM")
    );
    let mut millis = Vec::new();
    for file in files.iter().take(10) {
        let started = Instant::now();
        index.remove(&writing, *file).await.expect("removed");
        millis.push(started.elapsed().as_secs_f64() * 1e3);
    }
    println!("remove a file of {per_file} chunks: {}", percentiles(millis));
}

/// How many of the ten nearest chunks, by comparing all, are among the ten recalled.
async fn print_recall(
    index: &dyn Index,
    writing: &Writing,
    noise: &mut Noise,
    subjects: &[Vec<f32>],
    (ids, vectors): &(Vec<ChunkId>, Vec<f32>),
) {
    let (rounds, mut found) = (50, 0);
    for _ in 0..rounds {
        let subject = noise.below(subjects.len());
        let query = vector(noise, &subjects[subject]);
        let recall = Recall {
            text: None,
            vector: Some(&query),
            model: "made-up",
            only: None,
            limit: 100,
            exact_to: EXACT_TO,
        };
        let recalled = index.recall(writing.reading(), recall).await.expect("candidates").semantic;
        let dot = |vector: &[f32]| vector.iter().zip(&query).map(|(a, b)| a * b).sum::<f32>();
        let mut exact: Vec<(f32, ChunkId)> =
            vectors.chunks_exact(DIMENSIONS).map(dot).zip(ids.iter().copied()).collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        let best: HashSet<ChunkId> = recalled.iter().take(10).map(|candidate| candidate.chunk).collect();
        found += exact.iter().take(10).filter(|(_, id)| best.contains(id)).count();
    }
    println!("recall@10 against comparing all: {:.4}", found as f64 / (10 * rounds) as f64);
}

async fn many_boxes(folder: &Path, subjects: &[Vec<f32>], count: usize) {
    let mut noise = Noise(2);
    let index = Embedded::open(folder, Bounds::default()).expect("an index");
    let started = Instant::now();
    let mut boxes = Vec::new();
    for _ in 0..count {
        let writing = Writing::for_operator(BoxId::generate());
        let content: Arc<[_]> = (0..20).map(|_| chunk(&mut noise, subjects, 120)).collect();
        index.replace(&writing, FileId::generate(), &empty(), &content, "made-up").await.expect("stored");
        boxes.push(writing);
    }
    println!("{count} boxes of 20 chunks stored in {:.1} s", started.elapsed().as_secs_f64());
    let mut millis = Vec::new();
    for _ in 0..1_000 {
        let writing = boxes[noise.below(boxes.len())];
        let query = vector(&mut noise, &subjects[0]);
        let wanted = Recall {
            text: Some("word1 subject5word3"),
            vector: Some(&query),
            model: "made-up",
            only: None,
            limit: 100,
            exact_to: EXACT_TO,
        };
        let started = Instant::now();
        index.recall(writing.reading(), wanted).await.expect("candidates");
        millis.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let handles = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    println!("cold box: {}; {} open boxes, {handles} handles", percentiles(millis), index.open_boxes());
    println!("resident {} MB", resident_megabytes("VmRSS"));
}
