//! Evaluation sets and evaluations: what is kept, how much of it, and for how long.

use engine::{
    Reason,
    access::{Managing, Writing},
    seams::catalog::{
        DETAILED_RUNS, EvaluationQuestion, Figures, MOST_QUESTIONS, MOST_RUNS, NewEvaluationQuestion,
        NewEvaluationRun,
    },
};

use super::{Fresh, at, fresh, manage, own, reason};

fn question(text: &str, expected: &str) -> NewEvaluationQuestion {
    NewEvaluationQuestion { text: text.into(), expected: expected.into() }
}

fn run(second: i64) -> NewEvaluationRun {
    let figures = Figures {
        questions: second as u64,
        searched: 7,
        found: [1, 2, 3],
        ndcg: 456,
        right: 5,
        unanswerable: 4,
        refused: 2,
        latency_ms: 78,
        units: 90,
    };
    NewEvaluationRun { at: at(second), figures, results: format!("[{second}]") }
}

impl Fresh {
    async fn set(&self, managing: &Managing) -> Vec<EvaluationQuestion> {
        self.catalog.evaluation_set(managing).await.unwrap()
    }

    async fn expected(&self, managing: &Managing) -> Vec<(String, String)> {
        self.set(managing).await.into_iter().map(|question| (question.text, question.expected)).collect()
    }
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(text, expected)| (text.to_string(), expected.to_string())).collect()
}

#[tokio::test]
async fn a_set_has_each_question_once_with_what_is_expected_now() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (papers, other) = (manage(&fresh.box_of(&ada).await), manage(&fresh.box_of(&ada).await));
    let add = |questions| fresh.catalog.add_evaluation_questions(&papers, questions);
    assert_eq!(
        add(vec![question("Why?", "{}"), question("When?", "{\"facts\":[\"now\"]}")]).await.unwrap(),
        2
    );
    // Asked again without an expectation, it keeps the one that it has.
    assert_eq!(add(vec![question("When?", "{}"), question("Why?", "{}")]).await.unwrap(), 0);
    let again = vec![question("Why?", "{\"unanswerable\":true}"), question("Who?", "{}")];
    assert_eq!(add(again).await.unwrap(), 2);
    let expected =
        pairs(&[("Why?", "{\"unanswerable\":true}"), ("When?", "{\"facts\":[\"now\"]}"), ("Who?", "{}")]);
    assert_eq!(fresh.expected(&papers).await, expected);
    assert!(fresh.set(&other).await.is_empty());

    let who = fresh.set(&papers).await[2].id;
    let catalog = &fresh.catalog;
    assert!(!catalog.expect_of_question(&other, who, "{\"facts\":[\"x\"]}".into()).await.unwrap());
    assert!(!catalog.remove_evaluation_question(&other, who).await.unwrap());
    assert_eq!(fresh.expected(&papers).await, expected, "one box reaches nothing of another");
    assert!(catalog.expect_of_question(&papers, who, "{\"facts\":[\"Ada\"]}".into()).await.unwrap());
    assert_eq!(fresh.set(&papers).await[2].expected, "{\"facts\":[\"Ada\"]}");
    assert!(catalog.remove_evaluation_question(&papers, who).await.unwrap());
    assert!(!catalog.remove_evaluation_question(&papers, who).await.unwrap());
    assert_eq!(fresh.set(&papers).await.len(), 2);
}

#[tokio::test]
async fn a_set_is_bounded_in_questions_and_in_their_length() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let papers = manage(&fresh.box_of(&ada).await);
    let many =
        |from: usize, to: usize| (from..to).map(|n| question(&format!("Question {n}?"), "{}")).collect();
    let add = |questions: Vec<_>| fresh.catalog.add_evaluation_questions(&papers, questions);
    assert_eq!(add(many(0, MOST_QUESTIONS - 1)).await.unwrap(), MOST_QUESTIONS as u64 - 1);
    assert_eq!(reason(add(many(600, 602)).await), Some(Reason::QuotaExceeded));
    assert_eq!(fresh.set(&papers).await.len(), MOST_QUESTIONS - 1, "none of those that are too many is kept");
    assert_eq!(add(many(600, 601)).await.unwrap(), 1);
    for wrong in [
        question("", "{}"),
        question(&"é".repeat(4_001), "{}"),
        question("Question 0?", ""),
        question("Question 0?", &"é".repeat(8_001)),
    ] {
        assert_eq!(reason(add(vec![wrong]).await), Some(Reason::InvalidParameter));
    }
    let first = fresh.set(&papers).await[0].id;
    let long = fresh.catalog.expect_of_question(&papers, first, "x".repeat(8_001)).await;
    assert_eq!(reason(long), Some(Reason::InvalidParameter));
    let long = question(&"é".repeat(4_000), &"é".repeat(8_000));
    let other = manage(&fresh.box_of(&ada).await);
    assert_eq!(fresh.catalog.add_evaluation_questions(&other, vec![long]).await.unwrap(), 1);
}

#[tokio::test]
async fn the_latest_evaluations_stay_and_the_very_latest_with_every_question() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (papers, other) = (manage(&fresh.box_of(&ada).await), manage(&fresh.box_of(&ada).await));
    fresh.catalog.add_evaluation_run(&other, run(1)).await.unwrap();
    let last = MOST_RUNS as i64 + 3;
    for second in 1..=last {
        fresh.catalog.add_evaluation_run(&papers, run(second)).await.unwrap();
    }
    let runs = fresh.catalog.evaluation_runs(&papers).await.unwrap();
    let seconds: Vec<u64> = runs.iter().map(|run| run.figures.questions).collect();
    assert_eq!(seconds, (4..=last as u64).rev().collect::<Vec<_>>());
    let newest = run(last);
    assert_eq!((runs[0].at, runs[0].figures), (newest.at, newest.figures));
    assert_eq!(runs[0].results.as_deref(), Some(newest.results.as_str()));
    let detailed = runs.iter().take_while(|run| run.results.is_some()).count();
    assert_eq!(detailed, DETAILED_RUNS);
    assert!(runs[detailed..].iter().all(|run| run.results.is_none()));
    let others = fresh.catalog.evaluation_runs(&other).await.unwrap();
    assert_eq!((others.len(), others[0].results.as_deref()), (1, Some("[1]")));
}

#[tokio::test]
async fn what_a_box_is_measured_with_goes_with_it() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing: Writing = fresh.box_of(&ada).await;
    let papers = manage(&writing);
    let questions = vec![question("Why?", "{}")];
    fresh.catalog.add_evaluation_questions(&papers, questions.clone()).await.unwrap();
    fresh.catalog.add_evaluation_run(&papers, run(1)).await.unwrap();
    fresh.catalog.begin_delete_box(&own(&writing)).await.unwrap();
    assert_eq!(
        reason(fresh.catalog.add_evaluation_questions(&papers, questions).await),
        Some(Reason::BoxUnknown)
    );
    assert_eq!(reason(fresh.catalog.add_evaluation_run(&papers, run(2)).await), Some(Reason::BoxUnknown));
    fresh.catalog.finish_delete_box(&writing).await.unwrap();
    assert!(fresh.set(&papers).await.is_empty());
    assert!(fresh.catalog.evaluation_runs(&papers).await.unwrap().is_empty());
}
