//! The embedded index against the contract, and what only it promises.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{
    access::Writing,
    document::{Document, Format, Page},
    ids::{BoxId, ChunkId, FileId},
    ingest::{self, Relocation},
    seams::index::{Candidate, Chunk, EXACT_TO, Index, IndexedChunk, Recall},
};

use super::{Bounds, Embedded, Postgres, contract, copies};

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_holds() {
    let folder = tempfile::tempdir().unwrap();
    contract::holds(Arc::new(Embedded::open(folder.path(), Bounds::default()).unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_holds_when_boxes_are_closed_all_the_time() {
    let folder = tempfile::tempdir().unwrap();
    contract::holds(Arc::new(Embedded::open(folder.path(), Bounds { boxes: 1, bytes: 0 }).unwrap())).await;
}

fn open(folder: &Path) -> Embedded {
    Embedded::open(folder, Bounds::default()).unwrap()
}

/// Stores a file of as many chunks, each with `word` in it.
async fn store(index: &Embedded, writing: &Writing, word: &str, chunks: usize) -> FileId {
    let file = FileId::generate();
    let texts: Vec<String> = (0..chunks).map(|at| format!("{word} and other words, number {at}")).collect();
    let (document, chunks) = file_of(&texts, "en");
    index.replace(writing, file, &document, &chunks, "test").await.unwrap();
    file
}

fn file_of(texts: &[String], language: &str) -> (Arc<Document>, Arc<[IndexedChunk]>) {
    let chunk = |text: &String| Chunk {
        text: text.clone(),
        page: 1,
        page_end: 1,
        start: 0,
        end: text.len() as u32,
        section: [].into(),
        lead: "".into(),
        language: Some(language.into()),
    };
    let page = Page {
        number: 1,
        label: "1".into(),
        text: texts.concat(),
        format: Format::Text,
        ocr: false,
        confidence: None,
        tables: 0,
        warnings: vec![],
        layout: None,
    };
    let document =
        Document { media_type: "text/plain".into(), title: None, pages: vec![page], warnings: vec![] };
    let indexed = |text| IndexedChunk { chunk: chunk(text), vector: vec![1.0, 0.0], tokens: vec![] };
    (Arc::new(document), texts.iter().map(indexed).collect())
}

async fn finds(index: &Embedded, writing: &Writing, word: &str) -> bool {
    hits(index, writing, word).await > 0
}

async fn hits(index: &Embedded, writing: &Writing, word: &str) -> usize {
    let recall =
        Recall { text: Some(word), vector: None, model: "", only: None, limit: 1_000, exact_to: EXACT_TO };
    index.recall(writing.reading(), recall).await.unwrap().keyword.len()
}

fn box_folder(folder: &Path) -> PathBuf {
    let only = |folder: &Path| fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    only(&only(&folder.join("boxes")))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { fs::copy(&path, &target).map(drop).unwrap() }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_index_that_does_not_fit_its_box_is_brought_in_line() {
    let folder = tempfile::tempdir().unwrap();
    let old = tempfile::tempdir().unwrap();
    let writing = Writing::for_operator(BoxId::generate());
    let index = open(folder.path());
    store(&index, &writing, "walrus", 300).await;
    assert!(finds(&index, &writing, "walrus").await);
    drop(index);
    let home = box_folder(folder.path());
    assert!(home.join("text").exists(), "300 chunks are too many for memory");
    copy(&home, old.path());

    for changes in [1, 3] {
        let index = open(folder.path());
        for _ in 0..changes {
            store(&index, &writing, "narwhal", 5).await;
        }
        drop(index);
        let new = tempfile::tempdir().unwrap();
        copy(&home, new.path());

        // Behind, as after a backup of the box alone.
        fs::remove_dir_all(home.join("text")).unwrap();
        copy(&old.path().join("text"), &home.join("text"));
        let index = open(folder.path());
        assert!(finds(&index, &writing, "narwhal").await && finds(&index, &writing, "walrus").await);
        drop(index);

        // Ahead, as after a crash between the two.
        fs::remove_dir_all(&home).unwrap();
        copy(old.path(), &home);
        fs::remove_dir_all(home.join("text")).unwrap();
        copy(&new.path().join("text"), &home.join("text"));
        let index = open(folder.path());
        assert!(!finds(&index, &writing, "narwhal").await && finds(&index, &writing, "walrus").await);
    }

    fs::write(home.join("text/meta.json"), "{").unwrap();
    let index = open(folder.path());
    assert!(finds(&index, &writing, "walrus").await, "a damaged text index is made anew");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_index_that_a_power_cut_left_short_is_named_and_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let id = BoxId::generate();
    let writing = Writing::for_operator(id);
    let index = open(folder.path());
    store(&index, &writing, "walrus", 300).await;
    drop(index);
    let home = box_folder(folder.path());
    let segment = |path: &PathBuf| path.extension().is_some_and(|kind| kind != "json" && kind != "lock");
    let files = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(segment).collect()
    };
    let kinds: Vec<_> =
        files(&home.join("text")).iter().map(|path| path.extension().unwrap().to_owned()).collect();
    assert!(kinds.len() >= 5, "{kinds:?}");
    for kind in kinds {
        assert_eq!(copies::check_text(folder.path(), id), Ok(()));
        let path =
            files(&home.join("text")).into_iter().find(|path| path.extension() == Some(&kind)).unwrap();
        let cut = fs::OpenOptions::new().write(true).open(&path).unwrap();
        cut.set_len(fs::metadata(&path).unwrap().len() / 2).unwrap();
        assert!(copies::check_text(folder.path(), id).is_err(), "{kind:?}");
        let index = open(folder.path());
        assert_eq!(hits(&index, &writing, "walrus").await, 300, "{kind:?}");
    }

    // What is changed but not shorter is found by its checksum only, and made anew once it is dropped.
    let [path, ..] = &files(&home.join("text"))[..] else { panic!("no segment") };
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 4;
    bytes[middle] ^= 0xff;
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
    assert!(copies::check_text(folder.path(), id).is_err());
    copies::drop_text(folder.path(), id).unwrap();
    assert_eq!(hits(&open(folder.path()), &writing, "walrus").await, 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_index_of_another_version_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let writing = Writing::for_operator(BoxId::generate());
    let index = open(folder.path());
    store(&index, &writing, "walrus", 300).await;
    assert!(finds(&index, &writing, "walrsu").await);
    drop(index);
    let text = box_folder(folder.path()).join("text");
    let meta = fs::read_to_string(text.join("meta.json")).unwrap();

    // Its terms are those of another version.
    let payload = meta.split("\"payload\":").nth(1).and_then(|rest| rest.split('"').nth(1)).unwrap();
    let change = payload.split(' ').next().unwrap();
    fs::write(text.join("meta.json"), meta.replace(payload, change)).unwrap();
    let index = open(folder.path());
    assert!(finds(&index, &writing, "walrus").await && finds(&index, &writing, "walrsu").await);
    assert_eq!(hits(&index, &writing, "walrus").await, 300, "each chunk is there once");
    drop(index);
    assert!(fs::read_to_string(text.join("meta.json")).unwrap().contains(payload));

    // It has no list of words, as before there was one.
    fs::remove_dir_all(&text).unwrap();
    fs::create_dir_all(&text).unwrap();
    let mut schema = tantivy::schema::Schema::builder();
    schema.add_text_field("body", tantivy::schema::TEXT);
    let other = tantivy::Index::create_in_dir(&text, schema.build()).unwrap();
    drop(other);
    let index = open(folder.path());
    assert!(finds(&index, &writing, "walrsu").await);
    assert_eq!(hits(&index, &writing, "walrus").await, 300);
}

/// Texts of up to forty words, always the same: tantivy keeps the length of longer ones roughly.
fn chatter(at: usize) -> String {
    let word = |n: usize| format!("word{}", ["apple", "bread", "cloud", "drift", "ember", "flint"][n % 6]);
    let some = (0..1 + at * 7 % 20).map(|n| format!("{} {}", word(at + n * n), ["computers", "runs"][n % 2]));
    some.collect::<Vec<_>>().join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_and_servers_rank_alike() {
    let Some(url) = crate::scaled::schema() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (open(folder.path()), Postgres::connect(&url, &[]).await.unwrap());
    // The first stays in memory, the second does not.
    for count in [200, 300] {
        let writing = Writing::for_operator(BoxId::generate());
        for at in 0..count {
            let (document, chunks) = file_of(&[chatter(at)], ["en", "en", "fr"][at % 3]);
            let file = FileId::generate();
            for index in [&here as &dyn Index, &there] {
                index.replace(&writing, file, &document, &chunks, "test").await.unwrap();
            }
        }
        for query in
            ["computers", "a running computer", "wordaple computrs", "wordcloud the worddrift wordcloud"]
        {
            let recall = || Recall {
                text: Some(query),
                vector: None,
                model: "",
                only: None,
                limit: 300,
                exact_to: EXACT_TO,
            };
            let ours = here.recall(writing.reading(), recall()).await.unwrap();
            let theirs = there.recall(writing.reading(), recall()).await.unwrap();
            assert_eq!(ours.corrected, theirs.corrected, "{query}");
            assert_eq!(ours.keyword.len(), theirs.keyword.len(), "{query}");
            let scores: HashMap<_, _> = theirs.keyword.iter().map(|hit| (hit.chunk, hit.score)).collect();
            for hit in &ours.keyword {
                assert_eq!(hit.score, scores[&hit.chunk], "{query}");
            }
        }
    }
}

/// What a query finds in a box as it is, and once its text index was made again: the same.
async fn found_alike(index: Embedded, folder: &Path, writing: &Writing, query: &str) -> Vec<Candidate> {
    let recall =
        || Recall { text: Some(query), vector: None, model: "", only: None, limit: 100, exact_to: EXACT_TO };
    let found = index.recall(writing.reading(), recall()).await.unwrap().keyword;
    drop(index);
    copies::drop_text(folder, writing.reading().box_id()).unwrap();
    assert_eq!(found, open(folder).recall(writing.reading(), recall()).await.unwrap().keyword);
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_removed_leaves_no_trace_in_scores() {
    let folder = tempfile::tempdir().unwrap();
    let writing = Writing::for_operator(BoxId::generate());
    let index = open(folder.path());
    let mut files = Vec::new();
    for at in 0..300 {
        let (document, chunks) = file_of(&[chatter(at)], "en");
        files.push(FileId::generate());
        index.replace(&writing, files[at], &document, &chunks, "test").await.unwrap();
    }
    for at in (0..300).step_by(7) {
        index.remove(&writing, files[at]).await.unwrap();
    }
    let found = found_alike(index, folder.path(), &writing, "a running computer wordaple").await;
    assert!(!found.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_equal_passages_the_same_ones_are_found_whatever_the_index_went_through() {
    let folder = tempfile::tempdir().unwrap();
    let writing = Writing::for_operator(BoxId::generate());
    let index = open(folder.path());
    let mut files = Vec::new();
    for _ in 0..60 {
        files.push(store(&index, &writing, "puppies", 40).await);
    }
    for file in files.iter().step_by(9) {
        index.remove(&writing, *file).await.unwrap();
    }
    assert_eq!(found_alike(index, folder.path(), &writing, "puppies").await.len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_language_that_a_box_had_first_counts_no_more_than_others() {
    let folder = tempfile::tempdir().unwrap();
    let writing = Writing::for_operator(BoxId::generate());
    let index = open(folder.path());
    for (language, count, text) in [("de", 300, "das Museum"), ("en", 400, "a war long ago")] {
        let texts: Vec<String> = (0..count).map(|at| format!("{text} {at}")).collect();
        let (document, chunks) = file_of(&texts, language);
        index.replace(&writing, FileId::generate(), &document, &chunks, "test").await.unwrap();
        finds(&index, &writing, "museum").await;
    }
    // A function word in German only.
    assert_eq!(found_alike(index, folder.path(), &writing, "war 7").await.len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_box_finds_the_same_vectors_once_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let writing = Writing::for_operator(BoxId::generate());
    let index = open(folder.path());
    let mut files = Vec::new();
    // Far more than are compared one by one. The first files lie where the others do not.
    for file in 0..11 {
        let texts = vec![String::from("x"); 2_000];
        let (document, chunks) = file_of(&texts, "en");
        let direction = |at: usize| {
            let angle =
                |n: usize| ((at * (n + 3) * 37 + file * 11) as f32).sin() + if file < 3 { 2.0 } else { 0.0 };
            (0..16).map(angle).collect::<Vec<f32>>()
        };
        let chunks: Arc<[IndexedChunk]> = chunks
            .iter()
            .enumerate()
            .map(|(at, chunk)| IndexedChunk { vector: direction(at), ..chunk.clone() })
            .collect();
        files.push(FileId::generate());
        index.replace(&writing, files[file], &document, &chunks, "test").await.unwrap();
        nearest(&index, &writing).await;
    }
    for (file, name) in files.iter().zip(["first", "second"]) {
        let (document, chunks) = file_of(&[name.to_string()], "en");
        let chunks =
            chunks.iter().map(|chunk| IndexedChunk { vector: vec![0.1; 16], ..chunk.clone() }).collect();
        index.replace(&writing, *file, &document, &chunks, "test").await.unwrap();
    }
    let (document, chunks) = file_of(&vec![String::from("y"); 5_000], "en");
    let chunks =
        chunks.iter().map(|chunk| IndexedChunk { vector: vec![-0.2; 16], ..chunk.clone() }).collect();
    index.replace(&writing, FileId::generate(), &document, &chunks, "test").await.unwrap();
    let found = nearest(&index, &writing).await;
    assert_eq!(found.len(), 100);
    drop(index);
    assert_eq!(found, nearest(&open(folder.path()), &writing).await);
}

async fn nearest(index: &Embedded, writing: &Writing) -> Vec<Candidate> {
    let query: Vec<f32> = (0..16).map(|at| if at % 3 == 0 { 0.4 } else { -0.1 }).collect();
    let recall = Recall {
        text: None,
        vector: Some(&query),
        model: "test",
        only: None,
        limit: 100,
        exact_to: EXACT_TO,
    };
    index.recall(writing.reading(), recall).await.unwrap().semantic
}

#[tokio::test(flavor = "multi_thread")]
async fn a_misspelt_word_is_not_taken_for_one_that_only_removed_files_had() {
    let folder = tempfile::tempdir().unwrap();
    let writing = Writing::for_operator(BoxId::generate());
    let index = open(folder.path());
    store(&index, &writing, "ordinary", 300).await;
    let removed = store(&index, &writing, "walrus", 2).await;
    let recall = || Recall {
        text: Some("walruz"),
        vector: None,
        model: "",
        only: None,
        limit: 10,
        exact_to: EXACT_TO,
    };
    assert_eq!(index.recall(writing.reading(), recall()).await.unwrap().corrected.len(), 1);
    index.remove(&writing, removed).await.unwrap();
    assert_eq!(index.recall(writing.reading(), recall()).await.unwrap().corrected, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn removed_text_is_gone_from_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let writing = Writing::for_operator(BoxId::generate());
    let index = open(folder.path());
    let secret = store(&index, &writing, "xylophonist", 300).await;
    store(&index, &writing, "ordinary", 10).await;
    let holds_secret = |path: PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(11).any(|window| window == b"xylophonist")
    };
    let home = box_folder(folder.path());
    assert!(holds_secret(home.join("box.db")) || holds_secret(home.join("box.db-wal")));
    index.remove(&writing, secret).await.unwrap();
    assert!(!holds_secret(home.join("box.db")) && !holds_secret(home.join("box.db-wal")));
}

#[tokio::test(flavor = "multi_thread")]
async fn few_boxes_stay_open_however_many_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let index = Embedded::open(folder.path(), Bounds { boxes: 3, bytes: 1 << 30 }).unwrap();
    for _ in 0..12 {
        let writing = Writing::for_operator(BoxId::generate());
        store(&index, &writing, "word", 2).await;
        assert!(finds(&index, &writing, "word").await);
        assert!(index.open_boxes() <= 3);
    }
}

/// What a box's move asks before it drops the source: the copy may have gone wrong after it was made.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_is_not_the_same_to_the_last_byte_is_told() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (from, to) = (open(here.path()), open(there.path()));
    let writing = Writing::for_operator(BoxId::generate());
    let file = store(&from, &writing, "walrus", 3).await;
    store(&from, &writing, "narwhal", 2).await;
    let (mut relocation, claim) = (Relocation::default(), async |_| Ok(Some(())));
    assert_eq!(relocation.catch_up(&from, &to, &writing, claim, |_, _| {}).await.unwrap(), 2);
    ingest::compare(&from, &to, &writing).await.unwrap();

    let ids: Vec<ChunkId> = (0..3).map(|ordinal| ChunkId { file, ordinal }).collect();
    let pages = from.pages(writing.reading(), file, 1, 10).await.unwrap();
    let chunks = from.chunks(writing.reading(), &ids).await.unwrap();
    let put = async |change: fn(&mut Document, &mut [IndexedChunk])| {
        let mut document =
            Document { media_type: "text/plain".into(), title: None, pages: pages.clone(), warnings: vec![] };
        let mut chunks: Vec<IndexedChunk> = (chunks.iter().flatten())
            .map(|chunk| IndexedChunk { chunk: chunk.clone(), vector: vec![1.0, 0.0], tokens: vec![] })
            .collect();
        change(&mut document, &mut chunks);
        to.replace(&writing, file, &Arc::new(document), &Arc::from(chunks), "test").await.unwrap();
        // Nothing changed at the source, so catching up copies nothing; the numbers of pages and chunks are the same too.
        let mut relocation = Relocation::default();
        relocation.catch_up(&from, &from, &writing, async |_| Ok(Some(())), |_, _| {}).await.unwrap();
        assert_eq!(
            relocation.catch_up(&from, &to, &writing, async |_| Ok(Some(())), |_, _| {}).await.unwrap(),
            0
        );
        ingest::compare(&from, &to, &writing).await
    };
    put(|_, _| {}).await.unwrap();
    for change in [
        (|document, _| document.pages[0].text.push('.')) as fn(&mut Document, &mut [IndexedChunk]),
        |document, _| document.pages[0].label = "i".into(),
        |document, _| document.title = Some("Walruses".into()),
        |_, chunks| chunks[2].vector = vec![0.0, 1.0],
        |_, chunks| chunks[1].tokens = vec![1],
        |_, chunks| chunks[0].chunk.language = None,
    ] {
        let told = put(change).await.unwrap_err();
        assert!(
            told.to_string().contains("nothing was dropped")
                || format!("{told:?}").contains("nothing was dropped"),
            "{told:?}"
        );
    }
    put(|_, _| {}).await.unwrap();
    to.remove(&writing, file).await.unwrap();
    assert!(ingest::compare(&from, &to, &writing).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_holds_on_a_server() {
    let Some(url) = crate::scaled::schema() else { return };
    contract::holds(Arc::new(Postgres::connect(&url, &[]).await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_holds_with_a_replica_that_is_away() {
    let Some(url) = crate::scaled::schema() else { return };
    let nowhere = "postgresql://quire@127.0.0.1:1/quire";
    contract::holds(Arc::new(Postgres::connect(&url, &[nowhere]).await.unwrap())).await;
}

/// One that never hears of anything, and one that has everything at once: the primary itself.
#[tokio::test(flavor = "multi_thread")]
async fn the_contract_holds_with_a_replica_that_is_behind() {
    let (Some(url), Some(empty)) = (crate::scaled::schema(), crate::scaled::schema()) else { return };
    Postgres::connect(&empty, &[]).await.unwrap();
    contract::holds(Arc::new(Postgres::connect(&url, &[&empty, &url]).await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_index_that_was_cut_short_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let writing = Writing::for_operator(BoxId::generate());
    let index = open(folder.path());
    store(&index, &writing, "walrus", 300).await;
    assert_eq!(hits(&index, &writing, "walrus").await, 300);
    drop(index);
    let text = box_folder(folder.path()).join("text");
    let names: Vec<PathBuf> = fs::read_dir(&text).unwrap().map(|entry| entry.unwrap().path()).collect();
    let parts: Vec<_> = names.iter().filter(|path| fs::metadata(path).unwrap().len() > 0).collect();
    assert!(parts.len() > 4, "{names:?}");
    for part in parts {
        // An earlier round may have made it anew under another name.
        let Ok(bytes) = fs::read(part) else { continue };
        fs::write(part, &bytes[..bytes.len() / 2]).unwrap();
        let index = open(folder.path());
        assert_eq!(hits(&index, &writing, "walrus").await, 300, "{} was cut", part.display());
    }
}
