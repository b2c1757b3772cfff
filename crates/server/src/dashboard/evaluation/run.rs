//! Evaluates a box in the background, with the right and the units of whoever began it.

use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

use engine::{
    Fault, Reason,
    access::{Managing, Reading},
    chat::ChatRequest,
    cost::{self, Bounds},
    ids::{BoxId, FileId, UserId},
    seams::{
        answerer::{Speaker, Turn},
        catalog::{Figures, NewEvaluationRun, Operation},
    },
    search::SearchRequest,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    app::{App, evaluations::Running},
    evaluation::{
        answers::{self, Wrong},
        questions::{Question, Target},
        searches::{self, DEPTHS, once},
    },
    payer::Payer,
    sessions,
};

/// Characters that are kept of a question or of what an answer lacks.
const LONGEST: usize = 300;

/// How a question went, as it is kept with its evaluation.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Verdict {
    pub(super) question: String,
    pub(super) wrong: Vec<Wrong>,
    /// Whether it names what a search should find, and at which rank that stood.
    pub(super) searched: bool,
    pub(super) rank: Option<usize>,
}

/// What an evaluation with these questions can cost.
pub(super) fn bounds(app: &App, questions: &[Question]) -> Bounds {
    let mut sum = Bounds { min: 0, max: 0 };
    for question in questions {
        let mut add = |bounds: Bounds| sum = Bounds { min: sum.min + bounds.min, max: sum.max + bounds.max };
        if question.is_searched() {
            add(app.search.bounds(&SearchRequest::new(&question.text)));
        }
        add(app.chat().bounds(&asked(question)));
    }
    sum
}

fn asked(question: &Question) -> ChatRequest {
    ChatRequest::new(vec![Turn { speaker: Speaker::User, text: question.text.clone() }])
}

/// Begins an evaluation; it goes on when this returns.
pub(super) fn begin(
    app: &App,
    token: &str,
    user: UserId,
    box_id: BoxId,
    questions: Vec<Question>,
) -> Result<(), Fault> {
    let running = app.evaluations.begin(box_id, questions.len()).ok_or_else(|| {
        Fault::new(Reason::Conflict, "this box is being evaluated; wait until that has ended")
    })?;
    let run = Run { app: app.clone(), token: token.to_string(), user, box_id };
    tokio::spawn(async move {
        let ended = tokio::select! {
            ended = Box::pin(run.evaluate(questions, &running)) => ended,
            () = run.app.shutdown.cancelled() => return,
        };
        if let Err(fault) = ended {
            if let Some(source) = &fault.source {
                tracing::error!(box.id = %box_id, error = %source, "An evaluation failed");
            }
            running.fail(fault.cause.clone());
        }
    });
    Ok(())
}

/// An evaluation in progress.
struct Run {
    app: App,
    /// The sign-in of whoever began it, which must stay good.
    token: String,
    user: UserId,
    box_id: BoxId,
}

impl Run {
    async fn evaluate(&self, questions: Vec<Question>, running: &Running) -> Result<(), Fault> {
        let payer = Payer::signed_in(&self.app, self.user);
        let (mut searched, mut answered, mut verdicts) = (Vec::new(), Vec::new(), Vec::new());
        for question in questions {
            let reading = *self.managing().await?.reading();
            let mut verdict = Verdict {
                question: cut(&question.text),
                wrong: Vec::new(),
                searched: question.is_searched(),
                rank: None,
            };
            if question.is_searched() {
                let outcome = self.search(&payer, reading, question.clone()).await?;
                verdict.rank = searches::first(&outcome);
                searched.push(outcome);
            }
            let outcome = Box::pin(self.ask(&payer, reading, question)).await?;
            verdict.wrong = outcome.wrong().into_iter().map(shortened).collect();
            answered.push(outcome);
            verdicts.push(verdict);
            running.step();
        }
        let results = serde_json::to_string(&verdicts).map_err(Fault::internal)?;
        let run = NewEvaluationRun { at: Timestamp::now(), figures: figures(&searched, &answered), results };
        self.app.catalog.add_evaluation_run(&self.managing().await?, run).await
    }

    /// The right of whoever began it, as long as they have it.
    async fn managing(&self) -> Result<Managing, Fault> {
        let session = sessions::find(&*self.app.catalog, &self.token, Timestamp::now()).await?;
        let session = session.ok_or_else(|| Fault::new(Reason::KeyRevoked, "the sign-in has ended"))?;
        session.person.may_manage(self.box_id)
    }

    /// Searches as the search page does, but leaves no trace among the questions of the box.
    async fn search(
        &self,
        payer: &Payer,
        reading: Reading,
        question: Question,
    ) -> Result<searches::Outcome, Fault> {
        let began = Instant::now();
        let request = SearchRequest::new(&question.text);
        request.check()?;
        let turn = payer.turn().await?;
        let mut charge = payer.reserve(Operation::Search, self.app.search.bounds(&request).max).await?;
        charge.about(&[reading], &question.text);
        let found = turn.serve(self.app.search.run(&reading, request)).await?;
        drop(turn);
        let names = self.names(reading, found.hits.iter().map(|hit| hit.id.file)).await?;
        let places = found.hits.iter().filter_map(|hit| {
            let file = names.get(&hit.id.file)?.clone();
            Some(Target { file, page: Some(hit.chunk.page.into()), grade: 0.0 })
        });
        let places = once(places);
        let usage = charge.settle(cost::search(&found.work, found.hits.len())).await?;
        let units = usage.intelligence_units_consumed;
        Ok(searches::Outcome { question, found: places, took: began.elapsed(), units })
    }

    /// What files are called.
    async fn names(
        &self,
        reading: Reading,
        files: impl Iterator<Item = FileId>,
    ) -> Result<HashMap<FileId, String>, Fault> {
        let ids: Vec<FileId> = files.collect::<HashSet<_>>().into_iter().collect();
        let records = self.app.catalog.files(&reading, &ids).await?;
        Ok(records.into_iter().flatten().map(|file| (file.id, file.name.as_str().to_string())).collect())
    }

    /// Asks as the chat does, with as little trace.
    async fn ask(
        &self,
        payer: &Payer,
        reading: Reading,
        question: Question,
    ) -> Result<answers::Outcome, Fault> {
        let began = Instant::now();
        let mut request = asked(&question);
        self.app.chat().prepare(&mut request)?;
        let turn = payer.turn().await?;
        let mut charge = payer.reserve(Operation::Chat, self.app.chat().bounds(&request).max).await?;
        charge.about(&[reading], &question.text);
        let mut answering = self.app.chat().ask(&reading, request, turn).await?;
        let mut said = String::new();
        while let Some(more) = answering.next().await? {
            said.push_str(&more);
        }
        let outcome = answering.outcome();
        charge.tokens(outcome.tokens);
        let work = outcome.work;
        let price = cost::chat(work.search_units, work.context_tokens, work.generated_tokens);
        let units = charge.settle(price).await?.intelligence_units_consumed;
        let cited = outcome.citations.into_iter().map(|citation| Target {
            file: citation.file_name,
            page: Some(citation.page.into()),
            grade: 0.0,
        });
        Ok(answers::Outcome { question, said, cited: once(cited), took: began.elapsed(), units })
    }
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

fn shortened(wrong: Wrong) -> Wrong {
    match wrong {
        Wrong::Lacks(fact) => Wrong::Lacks(cut(&fact)),
        other => other,
    }
}

/// An evaluation in numbers; at least one question was asked.
fn figures(searched: &[searches::Outcome], answered: &[answers::Outcome]) -> Figures {
    let answers = answers::Summary::of(answered);
    let mut figures = Figures {
        questions: answered.len() as u64,
        searched: searched.len() as u64,
        right: answers.right.0 as u64,
        unanswerable: answers.refused.1 as u64,
        refused: answers.refused.0 as u64,
        latency_ms: answers.latency[0].as_millis() as u64,
        units: answers.units,
        ..Figures::default()
    };
    if !searched.is_empty() {
        let searches = searches::Summary::of(searched);
        let among = |depth: usize| {
            let share = DEPTHS.iter().position(|&known| known == depth).map_or(0.0, |at| searches.hit[at]);
            (share * searched.len() as f64).round() as u64
        };
        figures.found = [1, 3, 10].map(among);
        figures.ndcg = (searches.ndcg * 1_000.0).round() as u64;
        figures.units += searches.units;
    }
    figures
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::evaluation::questions::parse;

    #[test]
    fn figures_count_searches_and_answers_apart() {
        let place = |file: &str| Target { file: file.into(), page: Some(1), grade: 0.0 };
        let (took, units) = (Duration::from_millis(30), 2);
        let right = parse(r#"{"question": "q", "relevant": ["a.md"]}"#, true).unwrap();
        let none = parse(r#"{"question": "q", "unanswerable": true}"#, true).unwrap();
        let found = vec![place("x.md"), place("a.md")];
        let searched = [searches::Outcome { question: right.clone(), found, took, units }];
        let answer = |question: &Question, cited: Vec<Target>| answers::Outcome {
            question: question.clone(),
            said: String::new(),
            cited,
            took,
            units,
        };
        let answered = [answer(&right, vec![place("a.md")]), answer(&none, Vec::new())];
        let expected = Figures {
            questions: 2,
            searched: 1,
            found: [0, 1, 1],
            ndcg: 631,
            right: 2,
            unanswerable: 1,
            refused: 1,
            latency_ms: 30,
            units: 6,
        };
        assert_eq!(figures(&searched, &answered), expected);
        let alone = figures(&[], &answered[1..]);
        assert_eq!((alone.searched, alone.found, alone.right), (0, [0; 3], 1));
    }
}
