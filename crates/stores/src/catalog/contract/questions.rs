//! Questions: what is kept of them, who rates them, and when they are forgotten.

use engine::{
    access::{Acting, Writing},
    seams::catalog::{
        EventKind, NewQuestion, NewWebhook, Operation, Outcome, Question, QuestionId, QuestionQuery, Rating,
        Trouble, WebhookSecret,
    },
};

use super::{Fresh, at, fresh, manage, own};

fn id(number: u128) -> QuestionId {
    QuestionId::stored(&format!("{number:032x}")).unwrap()
}

fn asked(number: u128, boxes: &[&Writing], text: &str, outcome: Outcome) -> NewQuestion {
    NewQuestion {
        id: id(number),
        boxes: boxes.iter().map(|writing| writing.box_id()).collect(),
        operation: Operation::Chat,
        text: text.into(),
        outcome,
        score: (outcome == Outcome::Low).then_some(0.05),
        asked_at: at(number as i64),
        kept: outcome != Outcome::Answered,
    }
}

const ALL: QuestionQuery = QuestionQuery { trouble: None, since: None, after: None, limit: 10 };

impl Fresh {
    async fn questions(&self, writing: &Writing, query: QuestionQuery) -> Vec<Question> {
        self.catalog.questions(&manage(writing), query).await.unwrap()
    }

    async fn texts(&self, writing: &Writing, query: QuestionQuery) -> Vec<String> {
        let found = self.questions(writing, query).await;
        found.into_iter().map(|question| format!("{} {}", question.text, question.count)).collect()
    }
}

#[tokio::test]
async fn alike_questions_are_one_and_come_page_by_page() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let papers = fresh.box_of(&ada).await;
    let other = fresh.box_of(&ada).await;
    let (low, nothing, fine) = (Outcome::Low, Outcome::Unanswered, Outcome::Answered);
    let questions = vec![
        asked(1, &[&papers], "Who repairs it?", nothing),
        asked(2, &[&papers, &other], "Where is it?", low),
        asked(3, &[&papers], "who repairs it", nothing),
        asked(4, &[&papers], "What is it?", fine),
        asked(5, &[&papers], "WHO repairs it!", low),
    ];
    let third = questions[2].asked_at;
    fresh.catalog.note_questions(questions.clone()).await.unwrap();
    fresh.catalog.note_questions(questions).await.unwrap();
    assert_eq!(
        fresh.texts(&papers, ALL).await,
        ["WHO repairs it! 3", "Where is it? 1"],
        "nobody sees the fourth"
    );
    assert_eq!(fresh.texts(&other, ALL).await, ["Where is it? 1"]);
    let only = |trouble| QuestionQuery { trouble: Some(trouble), ..ALL };
    assert_eq!(fresh.texts(&papers, only(Trouble::Unanswered)).await, ["who repairs it 2"]);
    assert_eq!(fresh.texts(&papers, only(Trouble::Low)).await, ["WHO repairs it! 1", "Where is it? 1"]);
    let since = |time| QuestionQuery { since: Some(time), ..ALL };
    assert_eq!(fresh.texts(&papers, since(third)).await, ["WHO repairs it! 2"]);
    let first = fresh.questions(&papers, QuestionQuery { limit: 1, ..ALL }).await;
    assert_eq!((first[0].id, first[0].score, first[0].outcome), (id(5), Some(0.05), low));
    let after = Some((first[0].asked_at, first[0].id));
    assert_eq!(fresh.texts(&papers, QuestionQuery { after, ..ALL }).await, ["Where is it? 1"]);
}

#[tokio::test]
async fn a_rating_keeps_what_would_be_forgotten_and_goes_no_further_than_its_reader() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (papers, other) = (fresh.box_of(&ada).await, fresh.box_of(&ada).await);
    let both = [&papers, &other];
    let questions =
        vec![asked(1, &both, "one", Outcome::Answered), asked(2, &both, "two", Outcome::Answered)];
    fresh.catalog.note_questions(questions).await.unwrap();
    let mut boxes = fresh.catalog.boxes_of_question(id(1)).await.unwrap();
    boxes.sort();
    let mut expected = [papers.box_id(), other.box_id()];
    expected.sort();
    assert_eq!(boxes, expected);
    assert!(fresh.catalog.boxes_of_question(id(9)).await.unwrap().is_empty());

    let reader = [*papers.reading()];
    let rate = |number, rating, comment: Option<&str>| {
        fresh.catalog.rate_question(&reader, id(number), rating, comment.map(str::to_string))
    };
    rate(1, Rating::Disliked, Some("wrong year")).await.unwrap();
    rate(2, Rating::Liked, None).await.unwrap();
    rate(9, Rating::Disliked, None).await.unwrap();
    let disliked = QuestionQuery { trouble: Some(Trouble::Disliked), ..ALL };
    let found = fresh.questions(&papers, disliked.clone()).await;
    assert_eq!((found.len(), found[0].comment.as_deref()), (1, Some("wrong year")));
    assert!(
        fresh.questions(&other, disliked.clone()).await.is_empty(),
        "its reader reads the first box only"
    );

    // A minute ago, however slow this machine is.
    fresh.catalog.forget_questions(at(-60), at(5)).await.unwrap();
    assert!(fresh.catalog.boxes_of_question(id(2)).await.unwrap().is_empty(), "a good one is not kept");
    assert_eq!(fresh.catalog.boxes_of_question(id(1)).await.unwrap(), [papers.box_id()]);
    rate(1, Rating::Liked, None).await.unwrap();
    assert!(fresh.questions(&papers, disliked).await.is_empty());
    assert_eq!(fresh.questions(&papers, ALL).await[0].rating, Some(Rating::Liked));
    fresh.catalog.forget_questions(at(5), at(5)).await.unwrap();
    assert!(fresh.questions(&papers, ALL).await.is_empty());
}

#[tokio::test]
async fn a_box_keeps_a_bounded_number_of_questions_and_takes_them_along() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let papers = fresh.box_of(&ada).await;
    let many = (1..=10_005).map(|number| asked(number, &[&papers], &number.to_string(), Outcome::Unanswered));
    fresh.catalog.note_questions(many.collect()).await.unwrap();
    assert!(fresh.catalog.boxes_of_question(id(5)).await.unwrap().is_empty());
    assert_eq!(fresh.catalog.boxes_of_question(id(6)).await.unwrap(), [papers.box_id()]);
    fresh.catalog.begin_delete_box(&own(&papers)).await.unwrap();
    let late = asked(20_000, &[&papers], "late", Outcome::Unanswered);
    fresh.catalog.note_questions(vec![late]).await.unwrap();
    fresh.catalog.finish_delete_box(&papers).await.unwrap();
    for number in [6, 10_005, 20_000] {
        assert!(fresh.catalog.boxes_of_question(id(number)).await.unwrap().is_empty(), "{number}");
    }
}

#[tokio::test]
async fn a_question_that_found_nothing_is_told_once() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let papers = fresh.box_of(&ada).await;
    let wanted = NewWebhook {
        url: "https://example.org/".into(),
        events: vec![EventKind::QuestionUnanswered],
        boxes: None,
        secret: WebhookSecret("whsec_one".into()),
    };
    fresh.catalog.add_webhook(&Acting::for_operator(ada.id), wanted).await.unwrap();
    let questions = vec![
        asked(1, &[&papers], "Who repairs it?", Outcome::Unanswered),
        asked(2, &[&papers], "Where is it?", Outcome::Low),
        asked(3, &[&papers], "What is it?", Outcome::Answered),
    ];
    for _ in 0..2 {
        fresh.catalog.note_questions(questions.clone()).await.unwrap();
    }
    let told = fresh.catalog.take_deliveries(at(3_600), std::time::Duration::from_secs(60), 10).await;
    let told = told.unwrap();
    assert_eq!(told.len(), 1);
    let body: serde_json::Value = serde_json::from_str(&told[0].body).unwrap();
    assert_eq!(
        (&body["type"], &body["data"]["question"]),
        (&"question.unanswered".into(), &"Who repairs it?".into())
    );
    assert_eq!(body["data"]["id"], format!("req_{:032x}", 1));
}
