//! The evaluation of a box: questions whose answers are known, and how well the box has answered them each time.

mod plot;
mod run;

use askama::Template;
use axum::{
    extract::{Query, State},
    http::{HeaderValue, header},
    response::IntoResponse,
};
use engine::{
    Fault, Reason,
    access::Managing,
    ids::{EvaluationQuestionId, EvaluationQuestionKind, EvaluationRunId},
    seams::catalog::{EvaluationQuestion, EvaluationRun, MOST_QUESTIONS, NewEvaluationQuestion, Trouble},
};
use serde::Deserialize;

use self::{
    plot::{Line, percent, shown},
    run::Verdict,
};
use super::{
    fields::Fields,
    page::{self, Frame, Shown},
    permit::{Here, InBox, Named},
    said::Said,
    show::Moment,
    visit::Visit,
};
use crate::{
    app::{App, evaluations::Progress},
    evaluation::{
        answers::Wrong,
        questions::{self, Fact, Question, Target},
    },
    payer,
    words::Words,
};

/// Questions that one page lists.
const ON_PAGE: usize = 50;

/// A question of the set.
struct Row {
    id: EvaluationQuestionId,
    text: String,
    /// What its answer must say, one per line, and where that stands.
    facts: String,
    files: String,
    unanswerable: bool,
    complete: bool,
}

impl Row {
    fn of((id, question): &(EvaluationQuestionId, Question)) -> Self {
        let facts: Vec<String> = question.facts.iter().map(|fact| fact.ways().join(" | ")).collect();
        let files: Vec<String> = question.relevant.iter().map(Target::written).collect();
        Row {
            id: *id,
            text: question.text.clone(),
            facts: facts.join("\n"),
            files: files.join("\n"),
            unanswerable: question.unanswerable,
            complete: question.is_complete(),
        }
    }
}

/// An evaluation in the history.
struct Past {
    id: EvaluationRunId,
    at: Moment,
    /// Whether every question is known.
    detailed: bool,
    /// The texts of its figures and the figures.
    figures: [(&'static str, String); 9],
}

/// A share for people.
fn share(words: Words, some: u64, all: u64) -> String {
    percent(some, all).map_or_else(|| "–".into(), |percent| shown(words, percent))
}

impl Past {
    fn of(words: Words, run: &EvaluationRun) -> Self {
        let figures = run.figures;
        let found = |at: usize| share(words, figures.found[at], figures.searched);
        let ndcg = if figures.searched == 0 { "–".into() } else { share(words, figures.ndcg, 1_000) };
        Past {
            id: run.id,
            at: Moment::of(run.at),
            detailed: run.results.is_some(),
            figures: [
                ("measuring-questions", words.number(figures.questions)),
                ("measuring-found-1", found(0)),
                ("measuring-found-3", found(1)),
                ("measuring-found-10", found(2)),
                ("measuring-ndcg", ndcg),
                ("measuring-right", share(words, figures.right, figures.questions)),
                ("measuring-refused", share(words, figures.refused, figures.unanswerable)),
                ("measuring-latency", words.count("measuring-ms", figures.latency_ms)),
                ("measuring-units", words.number(figures.units)),
            ],
        }
    }
}

/// How a question went.
struct Went {
    question: String,
    right: bool,
    reasons: Vec<String>,
    /// Whether its search found nothing right, and what it found.
    missed: bool,
    search: String,
}

impl Went {
    fn of(words: Words, verdict: Verdict) -> Self {
        let reason = |wrong: &Wrong| match wrong {
            Wrong::Answers => words.plain("measuring-wrong-answers"),
            Wrong::Lacks(fact) => words.text("measuring-wrong-lacks").with("fact", fact).plain(),
            Wrong::Uncited => words.plain("measuring-wrong-uncited"),
        };
        let missed = verdict.searched && verdict.rank.is_none();
        let search = match verdict.rank {
            Some(rank) => words.text("measuring-rank").with("rank", rank).plain(),
            None if missed => words.plain("measuring-not-found"),
            None => String::new(),
        };
        Went {
            question: verdict.question,
            right: verdict.wrong.is_empty(),
            reasons: verdict.wrong.iter().map(reason).collect(),
            missed,
            search,
        }
    }
}

/// An evaluation, question by question.
struct Detail {
    at: Moment,
    failed: Vec<Went>,
    fine: Vec<Went>,
}

impl Detail {
    /// That of the evaluation that is wanted, or of the latest.
    fn of(words: Words, runs: &[EvaluationRun], wanted: Option<EvaluationRunId>) -> Option<Self> {
        let chosen = runs.iter().find(|run| wanted == Some(run.id)).or(runs.first())?;
        let verdicts: Vec<Verdict> = serde_json::from_str(chosen.results.as_deref()?).ok()?;
        let went = verdicts.into_iter().map(|verdict| Went::of(words, verdict));
        let (fine, failed) = went.partition(|went: &Went| went.right && !went.missed);
        Some(Detail { at: Moment::of(chosen.at), failed, fine })
    }

    /// Both lists: whether it is that of the questions that failed, and these.
    fn lists(&self) -> [(bool, &[Went]); 2] {
        [(true, &self.failed), (false, &self.fine)]
    }
}

#[derive(Template)]
#[template(path = "evaluation.html")]
struct EvaluationPage {
    frame: Frame,
    here: Here,
    rows: Vec<Row>,
    /// Which page of the set, and how many there are.
    page: usize,
    pages: usize,
    /// Questions in the set, those that can be asked, and how many there can be.
    size: usize,
    complete: usize,
    most: usize,
    /// How many questions of how many have been asked.
    running: Option<(usize, usize)>,
    /// Why the last evaluation did not get to its end.
    failed: Option<String>,
    cost: String,
    past: Vec<Past>,
    lines: Vec<Line>,
    /// What the plot shows, in words.
    plotted: String,
    detail: Option<Detail>,
}

impl EvaluationPage {
    /// What stands beside the plot, and where.
    fn ticks(&self) -> [(u32, &'static str); 3] {
        [(4, "100"), (84, "50"), (164, "0")]
    }
}

#[derive(Deserialize)]
pub(super) struct Wanted {
    page: Option<String>,
    run: Option<String>,
}

/// The set of a box as it can be asked.
async fn set(app: &App, managing: &Managing) -> Result<Vec<(EvaluationQuestionId, Question)>, Fault> {
    let kept = app.catalog.evaluation_set(managing).await?;
    let read = |EvaluationQuestion { id, text, expected }| {
        let question = Question::kept(&text, &expected).map_err(Fault::internal)?;
        Ok((id, question))
    };
    kept.into_iter().map(read).collect()
}

fn complete(set: &[(EvaluationQuestionId, Question)]) -> Vec<Question> {
    set.iter().map(|(_, question)| question).filter(|question| question.is_complete()).cloned().collect()
}

/// What was just put into a set, for the page that says so.
pub(super) fn just_added(visit: &Visit) -> Option<String> {
    match visit.brought.take(|said| matches!(said, Said::InSet(_)))? {
        Said::InSet(count) => Some(visit.words.count("measuring-added", count)),
        _ => None,
    }
}

/// The page.
pub(super) async fn show(State(app): State<App>, at: InBox<Managing>, Query(wanted): Query<Wanted>) -> Shown {
    let (visit, words) = (&at.who.0, at.who.0.words);
    // Looked at before the history: an evaluation that is no longer in progress is in it.
    let (running, failed) = match app.evaluations.of(at.here.id) {
        Some(Progress::Running(asked, total)) => (Some((asked, total)), None),
        Some(Progress::Failed(cause)) => (None, Some(page::sentence(&cause))),
        None => (None, None),
    };
    let set = set(&app, &at.right).await?;
    let ready = complete(&set);
    let runs = app.catalog.evaluation_runs(&at.right).await?;
    let bounds = run::bounds(&app, &ready);
    let left = payer::balance(&app, at.who.user().id).await?.remaining();
    let cost = words.text("measuring-cost").with("count", ready.len()).with("least", bounds.min);
    let cost = cost.with("most", bounds.max).with("left", left).plain();
    let pages = set.len().div_ceil(ON_PAGE).max(1);
    let page = wanted.page.and_then(|page| page.parse().ok()).unwrap_or(1).clamp(1, pages);
    let mut frame = Frame::in_box(&app, visit, "measuring-title", &at.here.name);
    frame.notice = just_added(visit).or(frame.notice);
    page::show(&EvaluationPage {
        frame,
        rows: set.iter().skip((page - 1) * ON_PAGE).take(ON_PAGE).map(Row::of).collect(),
        page,
        pages,
        size: set.len(),
        complete: ready.len(),
        most: MOST_QUESTIONS,
        running,
        failed,
        cost,
        past: runs.iter().map(|run| Past::of(words, run)).collect(),
        lines: plot::lines(words, &runs),
        plotted: runs.first().map_or_else(String::new, |latest| plotted(words, latest, runs.len())),
        detail: Detail::of(words, &runs, wanted.run.and_then(|id| id.parse().ok())),
        here: at.here,
    })
}

/// What a plot of so many evaluations shows.
fn plotted(words: Words, latest: &EvaluationRun, count: usize) -> String {
    let figures = latest.figures;
    let says = words.text("measuring-plot-says").with("count", count);
    let says = says.with("found", share(words, figures.found[1], figures.searched));
    says.with("right", share(words, figures.right, figures.questions)).plain()
}

/// What a form expects of a question. A place that was there before keeps its grade, which the form does not show.
fn expected(fields: &Fields, before: &[Target]) -> Result<Question, Fault> {
    let lines = |name| fields.text(name).lines().map(str::trim).filter(|line: &&str| !line.is_empty());
    let ways = |line: &str| Fact::of(line.split('|').map(|way| way.trim().to_string()).collect());
    let facts: Option<Vec<Fact>> = lines("facts").map(ways).collect();
    let facts = facts.ok_or_else(|| {
        Fault::invalid("facts", "every line, and every alternative in it, must have a word")
    })?;
    let relevant: Option<Vec<Target>> = lines("files").map(Target::parse).collect();
    let mut relevant = relevant.ok_or_else(|| {
        Fault::invalid("files", "write names of files, such as terms.pdf or terms.pdf#page=3")
    })?;
    for target in &mut relevant {
        let same = before.iter().find(|before| before.file == target.file && before.page == target.page);
        target.grade = same.map_or(1.0, |same| same.grade);
    }
    let unanswerable = fields.ticked("unanswerable");
    if unanswerable && !(facts.is_empty() && relevant.is_empty()) {
        let cause = "what the documents do not answer has nothing to say and no right file";
        return Err(Fault::invalid("unanswerable", cause));
    }
    Ok(Question { text: fields.text("question").replace('\0', ""), relevant, facts, unanswerable })
}

fn to_be_kept(question: &Question) -> NewEvaluationQuestion {
    NewEvaluationQuestion { text: question.text.clone(), expected: question.expected() }
}

/// Puts a question into the set, and goes back to the page that it was on.
pub(super) async fn add(State(app): State<App>, at: InBox<Managing>, fields: Fields) -> Shown {
    let question = expected(&fields, &[])?;
    let here = at.here.id;
    let back = match (fields.has("outcome"), fields.optional::<Trouble>("outcome")?) {
        (false, _) => format!("/boxes/{here}/evaluation"),
        (true, None) => format!("/boxes/{here}/questions"),
        (true, Some(_)) => format!("/boxes/{here}/questions?outcome={}", fields.text("outcome")),
    };
    let count = app.catalog.add_evaluation_questions(&at.right, vec![to_be_kept(&question)]).await?;
    Ok(at.who.0.say(&Said::InSet(count), page::go(back)))
}

/// Puts lines that `quire eval` reads into the set.
pub(super) async fn import(State(app): State<App>, at: InBox<Managing>, fields: Fields) -> Shown {
    let lines = fields.text("lines").replace('\0', "");
    let read = questions::read(&lines, true).map_err(|wrong| Fault::invalid("lines", wrong))?;
    if read.is_empty() {
        return Err(Fault::invalid("lines", "there is no question").into());
    }
    let questions = read.iter().map(to_be_kept).collect();
    let count = app.catalog.add_evaluation_questions(&at.right, questions).await?;
    Ok(at.who.0.say(&Said::InSet(count), page::go(format!("/boxes/{}/evaluation", at.here.id))))
}

/// What can be asked of the set, as lines that `quire eval` reads.
pub(super) async fn export(State(app): State<App>, at: InBox<Managing>) -> Shown {
    let questions = complete(&set(&app, &at.right).await?);
    let lines: String = questions.iter().map(|question| question.line() + "\n").collect();
    let mut response = lines.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/jsonl; charset=utf-8"));
    let disposition = HeaderValue::from_static("attachment; filename=\"questions.jsonl\"");
    headers.insert(header::CONTENT_DISPOSITION, disposition);
    Ok(response)
}

/// The page of the set that a form was on, saying what was done.
fn back(at: &InBox<Managing>, fields: &Fields, done: &str) -> String {
    let page = fields.text("page").parse().unwrap_or(1_usize);
    format!("/boxes/{}/evaluation?page={page}&done={done}", at.here.id)
}

/// Says what is right for a question.
pub(super) async fn change(
    State(app): State<App>,
    at: InBox<Managing>,
    Named(id): Named<EvaluationQuestionKind>,
    fields: Fields,
) -> Shown {
    let set = set(&app, &at.right).await?;
    let (_, before) = set.iter().find(|(known, _)| *known == id).ok_or_else(no_such_question)?;
    let question = expected(&fields, &before.relevant)?;
    if !app.catalog.expect_of_question(&at.right, id, question.expected()).await? {
        return Err(no_such_question().into());
    }
    Ok(page::go(back(&at, &fields, "expected")))
}

/// Takes a question out of the set.
pub(super) async fn remove(
    State(app): State<App>,
    at: InBox<Managing>,
    Named(id): Named<EvaluationQuestionKind>,
    fields: Fields,
) -> Shown {
    if !app.catalog.remove_evaluation_question(&at.right, id).await? {
        return Err(no_such_question().into());
    }
    Ok(page::go(back(&at, &fields, "question-removed")))
}

fn no_such_question() -> Fault {
    Fault::new(Reason::NotFound, "there is no such question in the evaluation set; it may have been removed")
}

/// Begins an evaluation; the page shows how far it is.
pub(super) async fn start(State(app): State<App>, at: InBox<Managing>) -> Shown {
    let questions = complete(&set(&app, &at.right).await?);
    if questions.is_empty() {
        let cause = "there is no question to ask; say what is right for at least one";
        return Err(Fault::new(Reason::Conflict, cause).into());
    }
    let (least, user) = (run::bounds(&app, &questions).min, at.who.user().id);
    let left = payer::balance(&app, user).await?.remaining();
    if least > left {
        let cause = format!("an evaluation costs at least {least} units, and {left} are left");
        return Err(Fault::new(Reason::UnitsExhausted, cause).into());
    }
    run::begin(&app, &at.who.0.token, user, at.here.id, questions)?;
    Ok(page::go(format!("/boxes/{}/evaluation", at.here.id)))
}
