//! What every index must do, told as stories against the seam; each backend runs all of them.

use std::{collections::HashSet, sync::Arc};

use engine::{
    Reason,
    access::{Reading, Writing},
    document::{Document, Format, Page},
    ids::{BoxId, ChunkId, FileId},
    layout::{Layout, Spot},
    seams::index::{
        Chunk, Correction, EXACT_TO, HowRead, Index, IndexedChunk, LaidOut, Recall, Recalled, Removed,
    },
};

const MODEL: &str = "test/4";

/// Runs every story, each in boxes of its own.
pub(super) async fn holds(index: Arc<dyn Index>) {
    let index = &*index;
    a_box_never_written_reads_as_empty(index).await;
    a_stored_file_reads_back(index).await;
    how_pages_were_read_is_counted(index).await;
    pages_come_in_order_from_where_asked(index).await;
    pages_with_a_look_of_their_own_keep_it(index).await;
    storing_again_replaces_everything(index).await;
    a_removed_file_is_gone(index).await;
    an_empty_file_leaves_without_taking_another(index).await;
    the_nearest_vectors_come_first(index).await;
    words_are_found_whatever_their_form(index).await;
    identifiers_are_found_whole_and_in_parts(index).await;
    scripts_without_spaces_are_found(index).await;
    a_language_told_wrong_changes_no_rank(index).await;
    function_words_find_nothing_beside_others(index).await;
    misspelt_words_find_what_was_meant(index).await;
    the_usual_language_is_that_of_most_chunks(index).await;
    a_filter_shows_only_its_files(index).await;
    another_model_is_refused_until_the_others_are_gone(index).await;
    a_draft_is_not_found_until_it_is_adopted(index).await;
    adopting_is_not_seen_by_those_who_search(index).await;
    boxes_do_not_see_each_other(index).await;
    a_dropped_box_is_empty_and_can_be_used_again(index).await;
    many_writers_and_readers_agree(index).await;
}

fn fresh() -> Writing {
    Writing::for_operator(BoxId::generate())
}

fn page(number: u32, text: &str) -> Page {
    Page {
        number,
        label: format!("p. {number}"),
        text: text.into(),
        format: Format::Markdown,
        ocr: number == 2,
        confidence: (number == 2).then_some(0.75),
        tables: 1,
        warnings: vec!["a \"quoted\" warning".into()],
        layout: None,
    }
}

fn document(texts: &[&str]) -> Arc<Document> {
    Arc::new(Document {
        media_type: "text/plain".into(),
        title: Some("Title".into()),
        pages: texts.iter().zip(1..).map(|(text, number)| page(number, text)).collect(),
        warnings: Vec::new(),
    })
}

fn chunk(text: &str, language: &str, vector: [f32; 4]) -> IndexedChunk {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    IndexedChunk {
        chunk: Chunk {
            text: text.into(),
            page: 1,
            page_end: 1,
            start: 0,
            end: text.chars().count() as u32,
            section: ["1 Über".into(), "1.1 \"Unter\"".into()].into(),
            lead: "| a | b |".into(),
            language: Some(language.into()),
        },
        vector: vector.map(|x| x / norm).to_vec(),
        tokens: text.bytes().rev().collect(),
    }
}

async fn store(index: &dyn Index, writing: &Writing, file: FileId, texts: &[&str]) {
    let chunks = texts.iter().map(|text| chunk(text, "en", [1.0, 0.0, 0.0, 0.0])).collect();
    index.replace(writing, file, &document(texts), &chunks, MODEL).await.unwrap();
}

async fn recall(
    index: &dyn Index,
    reading: &Reading,
    text: &str,
    only: Option<&HashSet<FileId>>,
) -> Recalled {
    let vector = [1.0, 0.0, 0.0, 0.0];
    index
        .recall(
            reading,
            Recall {
                text: Some(text),
                vector: Some(&vector),
                model: MODEL,
                only,
                limit: 10,
                exact_to: EXACT_TO,
            },
        )
        .await
        .unwrap()
}

async fn files_with(index: &dyn Index, reading: &Reading, text: &str) -> HashSet<FileId> {
    recall(index, reading, text, None).await.keyword.iter().map(|hit| hit.chunk.file).collect()
}

async fn a_box_never_written_reads_as_empty(index: &dyn Index) {
    let writing = fresh();
    let (reading, file) = (writing.reading(), FileId::generate());
    assert!(index.pages(reading, file, 1, 10).await.unwrap().is_empty());
    assert_eq!(index.chunks(reading, &[ChunkId { file, ordinal: 0 }]).await.unwrap(), vec![None]);
    assert!(recall(index, reading, "word", None).await.semantic.is_empty());
    assert_eq!(index.remove(&writing, file).await.unwrap(), Removed::default());
    assert_eq!(index.contents(reading).await.unwrap().files, vec![]);
    index.drop_box(&writing).await.unwrap();
}

async fn a_stored_file_reads_back(index: &dyn Index) {
    let (writing, file) = (fresh(), FileId::generate());
    let document = document(&["Grüße, 世界 🌍", ""]);
    let chunks = Arc::from([
        chunk("Grüße, 世界 🌍", "de", [0.5, 0.5, -0.5, 0.5]),
        chunk("second", "en", [0.0, 0.0, 0.0, 1.0]),
    ]);
    index.replace(&writing, file, &document, &chunks, MODEL).await.unwrap();
    assert_eq!(index.pages(writing.reading(), file, 1, 10).await.unwrap(), document.pages);
    let ids = [ChunkId { file, ordinal: 1 }, ChunkId { file, ordinal: 7 }, ChunkId { file, ordinal: 0 }];
    let found = index.chunks(writing.reading(), &ids).await.unwrap();
    assert_eq!(found, vec![Some(chunks[1].chunk.clone()), None, Some(chunks[0].chunk.clone())]);
    let tokens = index.tokens(writing.reading(), &ids).await.unwrap();
    assert_eq!(tokens, vec![chunks[1].tokens.clone(), vec![], chunks[0].tokens.clone()]);
    assert!(!tokens[0].is_empty());
    let vectors = index.vectors(writing.reading(), &ids).await.unwrap();
    assert_eq!(vectors, vec![chunks[1].vector.clone(), vec![], chunks[0].vector.clone()]);
    let contents = index.contents(writing.reading()).await.unwrap();
    assert_eq!(contents.model.as_deref(), Some(MODEL));
    let held = &contents.files[0];
    assert_eq!((contents.files.len(), held.file, held.pages, held.chunks), (1, file, 2, 2));
}

async fn how_pages_were_read_is_counted(index: &dyn Index) {
    let (writing, file) = (fresh(), FileId::generate());
    let mut document = Document::clone(&document(&["one", "two", "", ""]));
    document.pages[0].warnings.clear();
    document.pages[3].warnings.clear();
    index.replace(&writing, file, &Arc::new(document), &Arc::from([]), "m").await.unwrap();
    store(index, &writing, FileId::generate(), &["another"]).await;
    let counted = HowRead { pages: 4, blank: 2, unread: 1, recognised: 1, warned: 2 };
    assert_eq!(index.how_read(writing.reading(), file).await.unwrap(), counted);
    assert_eq!(index.how_read(fresh().reading(), file).await.unwrap(), HowRead::default(), "another box");
}

async fn pages_with_a_look_of_their_own_keep_it(index: &dyn Index) {
    let (writing, file) = (fresh(), FileId::generate());
    let reading = writing.reading();
    let spot = |start, end, left| Spot { start, end, edges: [left, 0.1, left + 0.1, 0.2] };
    let layout = Layout::pack("one two", &[spot(0, 3, 0.1), spot(4, 7, 0.3)]);
    let mut document = Document::clone(&document(&["one two", "plain"]));
    document.pages[0].layout.clone_from(&layout);
    let document = Arc::new(document);
    index.replace(&writing, file, &document, &Arc::from([]), "m").await.unwrap();
    assert_eq!(index.pages(reading, file, 1, 10).await.unwrap(), document.pages);
    let wanted = [(file, 2), (FileId::generate(), 1), (file, 1), (file, 9)];
    let first = layout.map(|layout| LaidOut { text: "one two".into(), layout });
    assert_eq!(index.laid_out(reading, &wanted).await.unwrap(), [None, None, first, None]);
    assert_eq!(
        index.laid_out(fresh().reading(), &wanted[..1]).await.unwrap(),
        [None],
        "a box without anything"
    );
    let stranger = fresh();
    index.replace(&stranger, FileId::generate(), &document, &Arc::from([]), "m").await.unwrap();
    assert_eq!(index.laid_out(stranger.reading(), &wanted[2..3]).await.unwrap(), [None], "of another box");
}

async fn pages_come_in_order_from_where_asked(index: &dyn Index) {
    let (writing, file) = (fresh(), FileId::generate());
    store(index, &writing, file, &["one", "two", "three", "four"]).await;
    let numbers = |pages: Vec<Page>| pages.into_iter().map(|page| page.number).collect::<Vec<_>>();
    assert_eq!(numbers(index.pages(writing.reading(), file, 2, 2).await.unwrap()), [2, 3]);
    assert_eq!(numbers(index.pages(writing.reading(), file, 5, 2).await.unwrap()), [0u32; 0]);
}

async fn storing_again_replaces_everything(index: &dyn Index) {
    let (writing, file, other) = (fresh(), FileId::generate(), FileId::generate());
    let reading = writing.reading();
    store(index, &writing, file, &["apricot", "banana", "cherry"]).await;
    store(index, &writing, other, &["damson"]).await;
    for _ in 0..2 {
        store(index, &writing, file, &["elderberry"]).await;
        assert_eq!(index.pages(reading, file, 1, 10).await.unwrap().len(), 1);
        assert_eq!(index.chunks(reading, &[ChunkId { file, ordinal: 1 }]).await.unwrap(), vec![None]);
        assert_eq!(recall(index, reading, "x", None).await.semantic.len(), 2);
        assert!(files_with(index, reading, "banana").await.is_empty());
        assert_eq!(files_with(index, reading, "elderberry").await, [file].into());
        assert_eq!(files_with(index, reading, "damson").await, [other].into());
    }
}

async fn a_removed_file_is_gone(index: &dyn Index) {
    let (writing, file, other) = (fresh(), FileId::generate(), FileId::generate());
    let reading = writing.reading();
    store(index, &writing, file, &["quince jam", "second"]).await;
    store(index, &writing, other, &["quince pie"]).await;
    assert_eq!(files_with(index, reading, "quince").await, [file, other].into());
    let removed = index.remove(&writing, file).await.unwrap();
    assert_eq!(removed, Removed { pages: 2, chunks: 2, vectors: 2 });
    assert_eq!(files_with(index, reading, "quince").await, [other].into());
    assert!(recall(index, reading, "x", None).await.semantic.iter().all(|hit| hit.chunk.file == other));
    assert!(index.pages(reading, file, 1, 10).await.unwrap().is_empty());
    assert_eq!(index.remove(&writing, file).await.unwrap(), Removed::default());
}

async fn an_empty_file_leaves_without_taking_another(index: &dyn Index) {
    let (writing, empty, other) = (fresh(), FileId::generate(), FileId::generate());
    let reading = writing.reading();
    store(index, &writing, empty, &[]).await;
    store(index, &writing, other, &["quince pie"]).await;
    assert_eq!(recall(index, reading, "quince", None).await.semantic.len(), 1);
    store(index, &writing, empty, &[]).await;
    index.remove(&writing, empty).await.unwrap();
    let found = recall(index, reading, "quince", None).await;
    assert_eq!((found.semantic.len(), found.keyword.len()), (1, 1));
}

async fn the_nearest_vectors_come_first(index: &dyn Index) {
    let (writing, file) = (fresh(), FileId::generate());
    let chunks = Arc::from([
        chunk("far", "en", [-1.0, 0.0, 0.0, 0.0]),
        chunk("near", "en", [1.0, 0.1, 0.0, 0.0]),
        chunk("middle", "en", [1.0, 1.0, 0.0, 0.0]),
    ]);
    index.replace(&writing, file, &document(&["x"]), &chunks, MODEL).await.unwrap();
    let vector = [1.0, 0.0, 0.0, 0.0];
    let recall =
        Recall { text: None, vector: Some(&vector), model: MODEL, only: None, limit: 2, exact_to: EXACT_TO };
    let found = index.recall(writing.reading(), recall).await.unwrap();
    assert_eq!(found.semantic.iter().map(|hit| hit.chunk.ordinal).collect::<Vec<_>>(), [1, 2]);
    assert!((found.semantic[1].score - 0.5f32.sqrt()).abs() < 1e-3);
    assert!(found.keyword.is_empty());
    let ids = [0, 9, 2].map(|ordinal| ChunkId { file, ordinal });
    let cosines = index.cosines(writing.reading(), &ids, &vector).await.unwrap();
    assert_eq!((cosines[0], cosines[1]), (Some(-1.0), None));
    assert!(cosines[2].is_some_and(|cosine| (cosine - 0.5f32.sqrt()).abs() < 1e-3));
}

async fn words_are_found_whatever_their_form(index: &dyn Index) {
    let (writing, english, german) = (fresh(), FileId::generate(), FileId::generate());
    let reading = writing.reading();
    let chunks = Arc::from([chunk("The crème brûlée was RUNNING late", "en", [1.0, 0.0, 0.0, 0.0])]);
    index.replace(&writing, english, &document(&["x"]), &chunks, MODEL).await.unwrap();
    let chunks = Arc::from([chunk("Die Häuser standen an den Straßen", "de", [1.0, 0.0, 0.0, 0.0])]);
    index.replace(&writing, german, &document(&["x"]), &chunks, MODEL).await.unwrap();
    for query in ["run", "creme", "Brûlée", "runs"] {
        assert_eq!(files_with(index, reading, query).await, [english].into(), "{query}");
    }
    for query in ["Haus", "häusern", "STRASSE", "Straße"] {
        assert_eq!(files_with(index, reading, query).await, [german].into(), "{query}");
    }
    for query in ["", "?!", "\u{0}", "AND OR NOT (\"", "body:run*~2^"] {
        recall(index, reading, query, None).await;
    }
}

async fn identifiers_are_found_whole_and_in_parts(index: &dyn Index) {
    let (writing, first, second) = (fresh(), FileId::generate(), FileId::generate());
    let reading = writing.reading();
    store(
        index,
        &writing,
        first,
        &["error E4021 in max_retry_count, see RFC-2616 section 3.2.1 of getUserName"],
    )
    .await;
    store(index, &writing, second, &["error E4022 in the year 2616, 3.2 percent of users retry"]).await;
    for query in
        ["E4021", "e4021", "max_retry_count", "RFC-2616", "rfc 2616", "3.2.1", "getUserName", "getusername"]
    {
        let found = recall(index, reading, query, None).await.keyword;
        assert_eq!(found.first().map(|hit| hit.chunk.file), Some(first), "{query}");
    }
    assert_eq!(files_with(index, reading, "E4021").await, [first].into());
}

async fn scripts_without_spaces_are_found(index: &dyn Index) {
    let writing = fresh();
    let reading = writing.reading();
    for (language, text, query) in [
        ("zh", "故宫博物院位于北京市中心", "博物院"),
        ("ja", "東京タワーは港区にある電波塔です", "電波塔"),
        ("th", "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย", "เมืองหลวง"),
        ("ko", "대한민국의 수도는 서울특별시이다", "서울특별시"),
        ("ar", "تقع المكتبات الكبيرة في وسط المدينة", "المكتبات"),
    ] {
        let file = FileId::generate();
        let chunks = Arc::from([chunk(text, language, [1.0, 0.0, 0.0, 0.0])]);
        index.replace(&writing, file, &document(&[text]), &chunks, MODEL).await.unwrap();
        let found = recall(index, reading, query, None).await.keyword;
        assert_eq!(found.first().map(|hit| hit.chunk.file), Some(file), "{query}");
    }
}

/// A word has one weight, however many ways there are to stem it.
async fn a_language_told_wrong_changes_no_rank(index: &dyn Index) {
    let writing = fresh();
    for language in ["en", "en", "en", "en", "en", "en", "fr", "da"] {
        let chunks = Arc::from([chunk("running computers", language, [1.0, 0.0, 0.0, 0.0])]);
        index.replace(&writing, FileId::generate(), &document(&["x"]), &chunks, MODEL).await.unwrap();
    }
    let found = recall(index, writing.reading(), "computers running", None).await.keyword;
    assert_eq!(found.len(), 8);
    let (best, worst) = (found[0].score, found[7].score);
    assert!(best - worst < best * 0.01, "{best} {worst}");
}

async fn function_words_find_nothing_beside_others(index: &dyn Index) {
    let (writing, first, second) = (fresh(), FileId::generate(), FileId::generate());
    store(index, &writing, first, &["what is it that they do"]).await;
    store(index, &writing, second, &["medlar jam"]).await;
    let reading = writing.reading();
    assert_eq!(files_with(index, reading, "what is it about medlars?").await, [second].into());
    assert_eq!(files_with(index, reading, "what do they do").await, [first].into());
    let once = recall(index, reading, "medlar jam", None).await.keyword[0].score;
    let twice = recall(index, reading, "medlar jam, the medlar", None).await.keyword[0].score;
    assert!(twice > once * 1.2 && twice < once * 1.5, "{once} {twice}");
}

async fn misspelt_words_find_what_was_meant(index: &dyn Index) {
    let (writing, first, second) = (fresh(), FileId::generate(), FileId::generate());
    let reading = writing.reading();
    store(index, &writing, first, &["types of hearing care", "services for members"]).await;
    store(index, &writing, second, &["the heart of the matter"]).await;
    let found = recall(index, reading, "typs of hearin care servises", None).await;
    assert!(found.keyword.iter().all(|hit| hit.chunk.file == first) && found.keyword.len() == 2);
    let meant =
        |written: &str, taken_for: &str| Correction { written: written.into(), taken_for: taken_for.into() };
    let all = [meant("hearin", "hearing"), meant("servises", "services"), meant("typs", "types")];
    assert_eq!(found.corrected, all);
    let right = recall(index, reading, "types of hearing care services", None).await;
    assert_eq!((right.keyword, right.corrected), (found.keyword, vec![]), "as if it had been spelt right");
    // Known words, short ones and codes stay what they are.
    assert!(recall(index, reading, "heart car E4021", None).await.corrected.is_empty());
    index.remove(&writing, first).await.unwrap();
    assert!(recall(index, reading, "hearin", None).await.corrected.is_empty(), "its words are gone with it");
}

async fn the_usual_language_is_that_of_most_chunks(index: &dyn Index) {
    let writing = fresh();
    assert_eq!(index.usual_language(writing.reading()).await.unwrap(), None);
    for language in ["es", "en", "es"] {
        let chunks = Arc::from([chunk("text", language, [1.0, 0.0, 0.0, 0.0])]);
        index.replace(&writing, FileId::generate(), &document(&["x"]), &chunks, MODEL).await.unwrap();
    }
    assert_eq!(index.usual_language(writing.reading()).await.unwrap().as_deref(), Some("es"));
}

async fn a_filter_shows_only_its_files(index: &dyn Index) {
    let writing = fresh();
    let reading = writing.reading();
    let files: Vec<FileId> = (0..5).map(|_| FileId::generate()).collect();
    for &file in &files {
        store(index, &writing, file, &["plum tart", "plum cake"]).await;
    }
    let only = HashSet::from([files[1], files[3], FileId::generate()]);
    let found = recall(index, reading, "plum", Some(&only)).await;
    for side in [found.semantic, found.keyword] {
        assert_eq!(side.len(), 4);
        assert!(side.iter().all(|hit| only.contains(&hit.chunk.file)));
    }
    let none = recall(index, reading, "plum", Some(&HashSet::new())).await;
    assert!(none.semantic.is_empty() && none.keyword.is_empty());
}

async fn another_model_is_refused_until_the_others_are_gone(index: &dyn Index) {
    let (writing, first, second) = (fresh(), FileId::generate(), FileId::generate());
    store(index, &writing, first, &["old"]).await;
    let mut chunks = vec![chunk("new", "en", [1.0, 0.0, 0.0, 0.0])];
    chunks[0].vector = vec![1.0, 0.0];
    let chunks = Arc::from(chunks);
    let refused = index.replace(&writing, second, &document(&["new"]), &chunks, "other/2").await;
    assert_eq!(refused.unwrap_err().reason, Reason::Conflict);
    assert_eq!(index.contents(writing.reading()).await.unwrap().files.len(), 1);
    index.replace(&writing, first, &document(&["new"]), &chunks, "other/2").await.unwrap();
    assert_eq!(index.contents(writing.reading()).await.unwrap().model.as_deref(), Some("other/2"));
    assert_eq!(index.model(writing.reading()).await.unwrap().as_deref(), Some("other/2"));
    assert_eq!(index.model(fresh().reading()).await.unwrap(), None, "nothing was ever stored");
    let vector = [1.0, 0.0];
    let recall =
        |model| Recall { text: None, vector: Some(&vector), model, only: None, limit: 2, exact_to: EXACT_TO };
    assert_eq!(index.recall(writing.reading(), recall("other/2")).await.unwrap().semantic.len(), 1);
    let refused = index.recall(writing.reading(), recall(MODEL)).await.unwrap_err();
    assert_eq!(refused.reason, Reason::Conflict);
    index.remove(&writing, first).await.unwrap();
    assert_eq!(index.model(writing.reading()).await.unwrap(), None, "no vectors are left");
    assert!(index.recall(writing.reading(), recall(MODEL)).await.unwrap().semantic.is_empty());
}

async fn a_draft_is_not_found_until_it_is_adopted(index: &dyn Index) {
    let (writing, file, later) = (fresh(), FileId::generate(), FileId::generate());
    store(index, &writing, file, &["quince"]).await;
    let revision = index.contents(writing.reading()).await.unwrap().files[0].revision;
    let draft = index.draft();
    store(&*draft, &writing, file, &["loquat"]).await;
    assert_eq!(files_with(index, writing.reading(), "quince").await.len(), 1);
    assert!(files_with(index, writing.reading(), "loquat").await.is_empty());
    index.adopt(&writing).await.unwrap();
    assert_eq!(files_with(index, writing.reading(), "loquat").await.len(), 1);
    assert!(files_with(index, writing.reading(), "quince").await.is_empty());
    store(index, &writing, later, &["sloe"]).await;
    assert_eq!(files_with(index, writing.reading(), "sloe").await, [later].into());
    index.adopt(&writing).await.unwrap();
    assert_eq!(files_with(index, writing.reading(), "quince").await, [file].into());
    let before = index.contents(writing.reading()).await.unwrap().files;
    assert_eq!((before.len(), before[0].revision), (1, revision));
    store(index, &writing, file, &["quince"]).await;
    assert!(index.contents(writing.reading()).await.unwrap().files[0].revision > revision);
    // Nothing in the box yet, or nothing in the draft.
    let other = fresh();
    store(&*index.draft(), &other, file, &["damson"]).await;
    index.adopt(&other).await.unwrap();
    assert_eq!(files_with(index, other.reading(), "damson").await.len(), 1);
}

/// Searches that run while the box is exchanged see the one or the other, never nothing.
async fn adopting_is_not_seen_by_those_who_search(index: &dyn Index) {
    let (writing, file) = (fresh(), FileId::generate());
    store(index, &writing, file, &["cherry", "old"]).await;
    store(&*index.draft(), &writing, file, &["cherry", "new"]).await;
    let searchers = (0..4).map(|number| async move {
        for _ in 0..50 {
            if number == 0 {
                index.adopt(&writing).await.unwrap();
            }
            assert_eq!(files_with(index, writing.reading(), "cherry").await.len(), 1);
        }
    });
    join_all(searchers).await;
}

async fn boxes_do_not_see_each_other(index: &dyn Index) {
    let (mine, theirs, file) = (fresh(), fresh(), FileId::generate());
    store(index, &mine, file, &["secret"]).await;
    store(index, &theirs, FileId::generate(), &["public"]).await;
    assert!(files_with(index, theirs.reading(), "secret").await.is_empty());
    assert!(index.pages(theirs.reading(), file, 1, 10).await.unwrap().is_empty());
    assert_eq!(index.chunks(theirs.reading(), &[ChunkId { file, ordinal: 0 }]).await.unwrap(), vec![None]);
    assert_eq!(index.remove(&theirs, file).await.unwrap(), Removed::default());
    assert_eq!(files_with(index, mine.reading(), "secret").await, [file].into());
}

async fn a_dropped_box_is_empty_and_can_be_used_again(index: &dyn Index) {
    let (writing, file) = (fresh(), FileId::generate());
    store(index, &writing, file, &["medlar"]).await;
    assert_eq!(files_with(index, writing.reading(), "medlar").await.len(), 1);
    index.drop_box(&writing).await.unwrap();
    assert!(recall(index, writing.reading(), "medlar", None).await.semantic.is_empty());
    assert!(index.pages(writing.reading(), file, 1, 10).await.unwrap().is_empty());
    store(index, &writing, file, &["sorb"]).await;
    assert_eq!(files_with(index, writing.reading(), "sorb").await, [file].into());
    assert!(files_with(index, writing.reading(), "medlar").await.is_empty());
}

async fn many_writers_and_readers_agree(index: &dyn Index) {
    let writing = fresh();
    let files: Vec<FileId> = (0..8).map(|_| FileId::generate()).collect();
    let writers = files.iter().map(|&file| async move {
        for round in 0..3 {
            store(index, &writing, file, &["mulberry", "round", &format!("number{round}")]).await;
            assert!(files_with(index, writing.reading(), "mulberry").await.contains(&file));
        }
        if file.as_bytes()[15] % 2 == 0 {
            index.remove(&writing, file).await.unwrap();
            assert!(!files_with(index, writing.reading(), "mulberry").await.contains(&file));
        }
    });
    join_all(writers).await;
    let left: HashSet<FileId> = files.iter().copied().filter(|file| file.as_bytes()[15] % 2 == 1).collect();
    assert_eq!(files_with(index, writing.reading(), "number2").await, left);
    assert!(files_with(index, writing.reading(), "number1").await.is_empty());
}

/// Drives all futures at once; the suite wants no dependency for this one place.
async fn join_all<F: Future<Output = ()>>(futures: impl Iterator<Item = F>) {
    let mut waiting: Vec<_> = futures.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        waiting.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if waiting.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}
