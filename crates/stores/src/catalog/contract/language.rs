//! What language boxes are for: how it is set, when a box turns, and that it turns once.

use engine::{
    Reason,
    access::{Acting, Writing},
    seams::catalog::{
        BoxLanguage, BoxRecord, EventKind, Extent, JobOutcome, NewWebhook, ReindexAction, ReindexState,
        WebhookSecret,
    },
};

use super::{Fresh, at, fresh, indexed, manage, reason, upload};

impl Fresh {
    /// Adds a file of this language and length, and has it read.
    async fn text_in(&self, writing: &Writing, name: &str, language: Option<&str>, length: u64) {
        self.file(writing, upload(name, name, None)).await;
        let job = self.claim("one").await.unwrap();
        let JobOutcome::Indexed { status, media_type, warnings, extent, .. } = indexed(1) else {
            unreachable!("a file that was read")
        };
        let extent = Extent { characters: length, ..extent };
        let language = language.map(str::to_string);
        let outcome = JobOutcome::Indexed { status, media_type, warnings, language, extent };
        assert!(self.catalog.finish_job(&job, "one", outcome, at(0)).await.unwrap().written);
    }

    async fn record(&self, writing: &Writing) -> BoxRecord {
        self.catalog.boxes_of(&[*writing.reading()]).await.unwrap().remove(0)
    }

    async fn turns(&self, writing: &Writing) -> bool {
        self.catalog.change_over(writing).await.unwrap()
    }
}

#[tokio::test]
async fn a_box_is_for_what_it_was_made_for_and_says_so() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let plain = fresh.box_of(&ada).await;
    assert_eq!(fresh.record(&plain).await.language, BoxLanguage::Auto);
    for language in BoxLanguage::ALL {
        let made = fresh.catalog.add_box_for("words".parse().unwrap(), language, ada.id).await.unwrap();
        assert_eq!(made.language, language);
        let read = fresh.record(&Writing::for_operator(made.id)).await;
        assert_eq!(
            (read.language, read.is_multilingual()),
            (language, language == BoxLanguage::Multilingual)
        );
    }
    assert!(fresh.catalog.boxes().await.unwrap().iter().any(|one| one.language == BoxLanguage::English));
}

#[tokio::test]
async fn setting_the_language_has_a_box_indexed_again_where_that_changes_something() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let catalog = &fresh.catalog;
    let set = async |language| catalog.set_language(&manage(&writing), language).await;
    assert!(!set(BoxLanguage::Multilingual).await.unwrap(), "there is nothing to index");
    assert!(!set(BoxLanguage::Auto).await.unwrap());
    assert!(fresh.record(&writing).await.is_multilingual(), "it stays what it was found to be");
    set(BoxLanguage::English).await.unwrap();
    fresh.text_in(&writing, "a.txt", Some("en"), 1_000).await;
    assert!(!set(BoxLanguage::Auto).await.unwrap());
    assert!(set(BoxLanguage::Multilingual).await.unwrap());
    assert!(!set(BoxLanguage::Multilingual).await.unwrap(), "nothing changes");
    assert_eq!(catalog.reindex_state(writing.reading()).await.unwrap(), Some(ReindexState::Wanted));
    assert_eq!(catalog.take_reindex().await.unwrap(), Some((writing.box_id(), ReindexAction::Rebuild)));
    assert_eq!(reason(set(BoxLanguage::English).await), Some(Reason::Conflict), "it is in progress");
    assert_eq!(fresh.record(&writing).await.language, BoxLanguage::Multilingual);
    let nowhere = Writing::for_operator(engine::ids::BoxId::generate());
    let unknown = catalog.set_language(&manage(&nowhere), BoxLanguage::English).await;
    assert_eq!(reason(unknown), Some(Reason::BoxUnknown));
}

#[tokio::test]
async fn a_box_turns_once_when_more_than_a_tenth_is_in_another_language() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let wanted = NewWebhook {
        url: "https://example.org/".into(),
        events: vec![EventKind::BoxLanguageChanged],
        boxes: None,
        secret: WebhookSecret("whsec_one".into()),
    };
    fresh.catalog.add_webhook(&Acting::for_operator(ada.id), wanted).await.unwrap();
    assert!(!fresh.turns(&writing).await, "an empty box");
    fresh.text_in(&writing, "english.txt", Some("en"), 90_000).await;
    fresh.text_in(&writing, "unknown.txt", None, 900_000).await;
    fresh.text_in(&writing, "short.txt", Some("es"), 150).await;
    fresh.text_in(&writing, "a-tenth.txt", Some("es"), 10_000).await;
    assert!(!fresh.turns(&writing).await, "no more than a tenth");
    fresh.text_in(&writing, "more.txt", Some("de"), 300).await;
    // Two nodes that look at the same time: one of them turns it.
    let other = fresh.place.open();
    let (here, there) =
        tokio::join!(fresh.turns(&writing), engine::seams::catalog::Languages::change_over(&other, &writing));
    assert_ne!(here, there.unwrap());
    let record = fresh.record(&writing).await;
    assert!(record.language == BoxLanguage::Auto && record.is_multilingual());
    let taken = fresh.catalog.take_reindex().await.unwrap();
    assert_eq!(taken, Some((writing.box_id(), ReindexAction::Rebuild)));
    let told = fresh.catalog.take_deliveries(at(3_600), std::time::Duration::from_secs(60), 10).await;
    let told = told.unwrap();
    assert_eq!(told.len(), 1);
    let body: serde_json::Value = serde_json::from_str(&told[0].body).unwrap();
    assert_eq!(
        (&body["type"], &body["data"]["multilingual"]),
        (&"box.language_changed".into(), &true.into())
    );
    fresh.text_in(&writing, "much-english.txt", Some("en"), 9_000_000).await;
    assert!(!fresh.turns(&writing).await && fresh.record(&writing).await.is_multilingual());
}

#[tokio::test]
async fn the_languages_of_a_box_are_those_with_much_text() {
    let fresh = fresh();
    let writing = fresh.box_of(&fresh.user("ada@example.org").await).await;
    let languages = async || fresh.catalog.languages_of(&writing).await.unwrap();
    assert!(languages().await.is_empty());
    fresh.text_in(&writing, "a.txt", Some("en"), 5_000).await;
    fresh.text_in(&writing, "b.txt", Some("ru"), 4_000).await;
    fresh.text_in(&writing, "c.txt", Some("ru"), 4_000).await;
    fresh.text_in(&writing, "little.txt", Some("fr"), 500).await;
    fresh.text_in(&writing, "short.txt", Some("es"), 150).await;
    fresh.text_in(&writing, "unknown.txt", None, 9_000).await;
    assert_eq!(languages().await, ["ru", "en"]);
}

#[tokio::test]
async fn a_box_that_was_set_or_taken_back_does_not_turn() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    fresh.text_in(&writing, "a.txt", Some("fr"), 1_000).await;
    fresh.catalog.set_language(&manage(&writing), BoxLanguage::English).await.unwrap();
    assert!(!fresh.turns(&writing).await);
    fresh.catalog.set_language(&manage(&writing), BoxLanguage::Auto).await.unwrap();
    assert!(fresh.turns(&writing).await);
    // An operator goes back.
    fresh.catalog.keep_language(&writing, false).await.unwrap();
    assert_eq!(fresh.record(&writing).await.language, BoxLanguage::English);
    assert!(!fresh.turns(&writing).await);
    fresh.catalog.keep_language(&writing, false).await.unwrap();
    assert_eq!(fresh.record(&writing).await.language, BoxLanguage::English);
    fresh.catalog.keep_language(&writing, true).await.unwrap();
    assert_eq!(fresh.record(&writing).await.language, BoxLanguage::Multilingual);
    // What begins as multilingual is not indexed again.
    let other = fresh.box_of(&ada).await;
    fresh.catalog.begin_multilingual(&other).await.unwrap();
    fresh.text_in(&other, "b.txt", Some("fr"), 1_000).await;
    assert!(fresh.record(&other).await.is_multilingual() && !fresh.turns(&other).await);
}
