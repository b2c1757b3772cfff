//! The embedded index beside the one on PostgreSQL.

use std::{collections::HashSet, sync::Arc};

use engine::{
    Fault,
    access::Writing,
    document::{Document, Format, Page},
    ids::{BoxId, ChunkId, FileId},
    seams::index::{Candidate, Chunk, EXACT_TO, Index, IndexedChunk, Recall},
};
use proptest::prelude::*;

use super::runtime;
use crate::{
    index::{Bounds, Embedded, Postgres},
    scaled,
};

const FILES: usize = 4;
const MODELS: [&str; 2] = ["one/4", "other/4"];
/// Words in several languages, identifiers, and what is no word.
const WORDS: &[&str] = &[
    "quince",
    "Quinces",
    "running",
    "ran",
    "Häuser",
    "Straße",
    "STRASSE",
    "crème",
    "E4021",
    "max_retry_count",
    "3.2.1",
    "博物院",
    "電波塔",
    "المكتبات",
    "the",
    "?!",
    "%",
    "it's",
    "a",
];

#[derive(Debug, Clone)]
enum Step {
    Replace { file: usize, texts: Vec<Vec<usize>>, model: usize, draft: bool },
    Remove { file: usize, draft: bool },
    Adopt,
    DropBox,
    Pages { file: usize, from: u32, limit: u32 },
    Recall { words: Vec<usize>, vector: [i8; 4], only: Option<Vec<usize>>, limit: usize },
    Look { file: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let word = 0..WORDS.len();
    let texts = prop::collection::vec(prop::collection::vec(word.clone(), 0..8), 0..4);
    prop_oneof![
        6 => (0..FILES, texts, prop_oneof![9 => Just(0usize), 1 => Just(1)], prop::bool::weighted(0.2))
            .prop_map(|(file, texts, model, draft)| Step::Replace { file, texts, model, draft }),
        2 => (0..FILES, prop::bool::weighted(0.3)).prop_map(|(file, draft)| Step::Remove { file, draft }),
        1 => Just(Step::Adopt),
        1 => Just(Step::DropBox),
        2 => (0..FILES, 0u32..5, 0u32..4).prop_map(|(file, from, limit)| Step::Pages { file, from, limit }),
        6 => (prop::collection::vec(word, 0..4), any::<[i8; 4]>(), prop::option::of(prop::collection::vec(0..FILES, 0..3)), 1usize..9)
            .prop_map(|(words, vector, only, limit)| Step::Recall { words, vector, only, limit }),
        3 => (0..FILES).prop_map(|file| Step::Look { file }),
    ]
}

/// A unit vector that depends on the text, so that no two texts are equally near by chance.
fn vector(of: &[i8; 4]) -> Vec<f32> {
    let numbers = of.map(|number| f32::from(number) + 0.5);
    let norm = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
    numbers.iter().map(|x| x / norm).collect()
}

fn content(texts: &[Vec<usize>]) -> (Arc<Document>, Arc<[IndexedChunk]>) {
    let said = |words: &[usize]| words.iter().map(|&at| WORDS[at]).collect::<Vec<_>>().join(" ");
    let page = |(number, words): (u32, &Vec<usize>)| Page {
        number,
        label: format!("p. {number}"),
        text: said(words),
        format: Format::Markdown,
        ocr: number == 2,
        confidence: (number == 2).then_some(0.75),
        tables: number,
        warnings: vec![],
        layout: None,
    };
    let document = Document {
        media_type: "text/plain".into(),
        title: texts.first().map(|words| said(words)),
        pages: (1..).zip(texts).map(page).collect(),
        warnings: vec![],
    };
    let chunk = |(number, words): (u32, &Vec<usize>)| {
        let text = said(words);
        let seed = [
            number as i8,
            words.len() as i8,
            words.first().map_or(-7, |&at| at as i8),
            words.iter().sum::<usize>() as i8,
        ];
        IndexedChunk {
            chunk: Chunk {
                page: number,
                page_end: number,
                start: 0,
                end: text.chars().count() as u32,
                section: ["1 Über".into()].into(),
                lead: "".into(),
                language: [None, Some("en".to_string()), Some("de".to_string())][words.len() % 3].clone(),
                text,
            },
            vector: vector(&seed),
            tokens: vec![number as u8; words.len()],
        }
    };
    (Arc::new(document), (1..).zip(texts).map(chunk).collect())
}

/// What was answered: words that must be equal, and scores that must be as good as equal.
#[derive(Debug)]
struct Said {
    words: String,
    scores: Vec<f32>,
}

impl From<String> for Said {
    fn from(words: String) -> Self {
        Said { words, scores: Vec::new() }
    }
}

impl PartialEq for Said {
    fn eq(&self, other: &Self) -> bool {
        let near = |(one, other): (&f32, &f32)| (one - other).abs() < 2e-3;
        self.words == other.words
            && self.scores.len() == other.scores.len()
            && self.scores.iter().zip(&other.scores).all(near)
    }
}

/// Hits in the order of their chunks, with their scores; they must come best first.
fn shown(hits: &[Candidate], files: &[FileId], scores: &mut Vec<f32>) -> Vec<(usize, u32)> {
    assert!(hits.is_sorted_by(|one, other| one.score >= other.score), "{hits:?}");
    let place = |file| files.iter().position(|known| *known == file).unwrap();
    let mut shown: Vec<_> =
        hits.iter().map(|hit| ((place(hit.chunk.file), hit.chunk.ordinal), hit.score)).collect();
    shown.sort_unstable_by_key(|(chunk, _)| *chunk);
    scores.extend(shown.iter().map(|(_, score)| *score));
    shown.into_iter().map(|(chunk, _)| chunk).collect()
}

async fn apply(index: &dyn Index, writing: &Writing, files: &[FileId], step: &Step) -> Said {
    let reading = writing.reading();
    match step {
        Step::Replace { file, texts, model, draft } => {
            let (document, chunks) = content(texts);
            let drafted = index.draft();
            let index = if *draft { &*drafted } else { index };
            let done = index.replace(writing, files[*file], &document, &chunks, MODELS[*model]).await;
            format!("{:?}", done.map_err(|fault| fault.reason)).into()
        }
        Step::Remove { file, draft } => {
            let drafted = index.draft();
            let index = if *draft { &*drafted } else { index };
            format!("{:?}", index.remove(writing, files[*file]).await.map_err(|fault| fault.reason)).into()
        }
        Step::Adopt => format!("{:?}", index.adopt(writing).await.map_err(|fault| fault.reason)).into(),
        Step::DropBox => {
            let done = index.drop_box(writing).await;
            let draft = index.draft().drop_box(writing).await;
            format!("{:?}", done.and(draft).map_err(|fault| fault.reason)).into()
        }
        Step::Pages { file, from, limit } => {
            format!("{:?}", index.pages(reading, files[*file], *from, *limit).await.unwrap()).into()
        }
        Step::Recall { words, vector: near, only, limit } => {
            let text = words.iter().map(|&at| WORDS[at]).collect::<Vec<_>>().join(" ");
            let only: Option<HashSet<FileId>> =
                only.as_ref().map(|places| places.iter().map(|&at| files[at]).collect());
            let vector = vector(near);
            // All there is, so that it does not matter which of several equally good ones would be cut off; then the bound.
            let recall = |limit| Recall {
                text: Some(&text),
                vector: Some(&vector),
                model: MODELS[0],
                only: only.as_ref(),
                limit,
                exact_to: EXACT_TO,
            };
            let all = index.recall(reading, recall(100)).await;
            let some = index.recall(reading, recall(*limit)).await;
            match (all, some) {
                (Ok(all), Ok(some)) => {
                    assert!(some.semantic.len() <= *limit && some.keyword.len() <= *limit);
                    let mut scores = Vec::new();
                    let semantic = shown(&all.semantic, files, &mut scores);
                    let keyword = shown(&all.keyword, files, &mut scores);
                    let words =
                        format!("{semantic:?} {keyword:?} {} {}", some.semantic.len(), some.keyword.len());
                    Said { words, scores }
                }
                (all, some) => {
                    let why = |recalled: Result<_, Fault>| recalled.map(drop).map_err(|fault| fault.reason);
                    format!("{:?} {:?}", why(all), why(some)).into()
                }
            }
        }
        Step::Look { file } => {
            let ids: Vec<ChunkId> = [2, 0, 1].map(|ordinal| ChunkId { file: files[*file], ordinal }).to_vec();
            let contents = index.contents(reading).await.unwrap();
            let mut held: Vec<_> = contents
                .files
                .iter()
                .map(|held| {
                    (
                        files.iter().position(|known| *known == held.file),
                        held.title.clone(),
                        held.pages,
                        held.chunks,
                    )
                })
                .collect();
            held.sort();
            let near = index.cosines(reading, &ids, &vector(&[1, 2, 3, 4])).await.unwrap();
            let words = format!(
                "{:?} {held:?} {:?} {:?} {:?} {:?} {}",
                contents.model,
                near.iter().map(Option::is_some).collect::<Vec<_>>(),
                index.chunks(reading, &ids).await.unwrap(),
                index.tokens(reading, &ids).await.unwrap(),
                index.vectors(reading, &ids).await.unwrap(),
                index.revision(reading, files[*file]).await.unwrap().is_some(),
            );
            Said { words, scores: near.into_iter().flatten().collect() }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn both_indexes_hold_and_find_the_same(steps in prop::collection::vec(step(), 1..30)) {
        let Some(url) = scaled::schema() else { return Ok(()) };
        let folder = tempfile::tempdir().unwrap();
        let runtime = runtime();
        let embedded = Embedded::open(folder.path(), Bounds::default()).unwrap();
        let server = runtime.block_on(Postgres::connect(&url, &[])).unwrap();
        let writing = Writing::for_operator(BoxId::generate());
        let files: Vec<FileId> = (0..FILES).map(|_| FileId::generate()).collect();
        for (number, step) in steps.iter().enumerate() {
            let (mine, theirs) = runtime.block_on(async {
                (apply(&embedded, &writing, &files, step).await, apply(&server, &writing, &files, step).await)
            });
            prop_assert_eq!(mine, theirs, "step {}: {:?}", number, step);
        }
        runtime.block_on(async { server.drop_box(&writing).await.unwrap() });
    }
}
