//! The language model that answers questions: which it is, trying one, and choosing one.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use engine::{
    Fault, Reason,
    seams::catalog::{Action, ChosenModel},
};

use crate::{
    app::App,
    config::AnswererKind,
    dashboard::{
        audit,
        fields::Fields,
        page::{self, Frame, Place, Shown},
        permit::AsOperator,
    },
    trials::{self, TRIALS, Trial, Tried},
    words::Words,
};

/// How long the questions of a trial may take together.
const TRIAL: Duration = Duration::from_secs(120);

#[derive(Template)]
#[template(path = "operator_model.html")]
struct ModelPage {
    frame: Frame,
    /// Who answers now.
    answerer: String,
    /// What the settings say, where they decide.
    decided: Option<&'static str>,
    url: String,
    model: String,
    /// Whether a key is stored.
    has_key: bool,
    quotes: bool,
}

/// The page.
pub(in crate::dashboard) async fn show(State(app): State<App>, by: AsOperator) -> Shown {
    let words = by.who.0.words;
    let chosen = app.answers.model();
    page::show(&ModelPage {
        frame: Frame::new(&app, &by.who.0, words.text("operator-model"), Place::Model),
        answerer: answerer(&app, words),
        decided: match app.config.answerer.kind {
            AnswererKind::Dashboard => None,
            AnswererKind::Extractive => Some("extractive"),
            AnswererKind::Upstream => Some("upstream"),
            AnswererKind::Gguf => Some("gguf"),
        },
        has_key: chosen.as_ref().is_some_and(|chosen| chosen.key.is_some()),
        quotes: chosen.is_none(),
        url: chosen.as_ref().map_or_else(String::new, |chosen| chosen.url.clone()),
        model: chosen.map_or_else(String::new, |chosen| chosen.model),
    })
}

/// Who answers now, to people.
pub(in crate::dashboard) fn answerer(app: &App, words: Words) -> String {
    let settings = &app.config.answerer;
    let elsewhere = |model: &str, url: &str| {
        words.text("operator-model-elsewhere").with("model", model).with("url", url).plain()
    };
    match (settings.kind, app.answers.model()) {
        (AnswererKind::Dashboard, Some(chosen)) => elsewhere(&chosen.model, &chosen.url),
        (AnswererKind::Dashboard | AnswererKind::Extractive, _) => words.plain("operator-model-quoting"),
        (AnswererKind::Upstream, _) => elsewhere(&settings.model, &settings.url),
        (AnswererKind::Gguf, _) => words.plain("operator-model-here"),
    }
}

/// The model that the form describes; `None`: quotes. The key that is stored is only ever sent to where it was meant for.
fn wanted(app: &App, fields: &Fields) -> Result<Option<ChosenModel>, Fault> {
    if fields.text("by") == "quotes" {
        return Ok(None);
    }
    let (url, model) = (fields.text("url"), fields.text("model"));
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(Fault::invalid(
            "url",
            "type the address of the server, such as http://127.0.0.1:11434/v1",
        ));
    }
    if model.is_empty() {
        return Err(Fault::invalid("model", "type what the model is called at that server"));
    }
    let stored = app.answers.model().filter(|stored| stored.url == url && !fields.ticked("forget"));
    let key = Some(fields.raw("key").trim().to_string()).filter(|key| !key.is_empty());
    let key = key.or_else(|| stored.and_then(|stored| stored.key));
    Ok(Some(ChosenModel { url: url.into(), model: model.into(), key }))
}

/// One trial as the page shows it.
struct TrialRow {
    shows: &'static str,
    question: &'static str,
    right: bool,
    /// Whether it cites its source; `None` where there is nothing to cite.
    cites: Option<bool>,
    said: String,
    took: String,
}

#[derive(Template)]
#[template(path = "operator_model_tried.html")]
struct TriedPart {
    words: Words,
    right: usize,
    rows: Vec<TrialRow>,
}

/// Asks the model in the form five questions, without choosing it: a part of the page.
pub(in crate::dashboard) async fn try_out(State(app): State<App>, by: AsOperator, fields: Fields) -> Shown {
    let words = by.who.0.words;
    let answerer = match app.answers.can_be_chosen() {
        false => app.chat().answerer().clone(),
        true => match wanted(&app, &fields)? {
            Some(model) => app.answers.open(&model)?,
            None => app.chat().quoting().answerer().clone(),
        },
    };
    let tried = tokio::time::timeout(TRIAL, trials::ask_all(&*answerer)).await;
    let tried = tried.map_err(|_| {
        let cause = format!("{} questions took longer than {} seconds", TRIALS.len(), TRIAL.as_secs());
        Fault::new(Reason::UpstreamUnavailable, cause)
    })??;
    page::show(&TriedPart {
        words,
        right: tried.iter().filter(|(_, tried)| tried.right).count(),
        rows: tried.into_iter().map(|(trial, tried)| row(words, trial, tried)).collect(),
    })
}

fn row(words: Words, trial: &'static Trial, tried: Tried) -> TrialRow {
    let seconds = words.fraction(tried.whole_ms as f64 / 1e3, 1);
    TrialRow {
        shows: trial.shows,
        question: trial.question,
        right: tried.right,
        cites: trial.fact.map(|_| tried.cites),
        said: tried.said.unwrap_or_else(|| words.plain("command-answerer-cannot")),
        took: words.text("operator-model-seconds").with("seconds", seconds).plain(),
    }
}

/// Has the model in the form answer from now on.
pub(in crate::dashboard) async fn choose(State(app): State<App>, by: AsOperator, fields: Fields) -> Shown {
    let model = wanted(&app, &fields)?;
    let target = model.as_ref().map_or_else(String::new, |model| format!("{} at {}", model.model, model.url));
    app.answers.choose(&*app.catalog, &by.operating, model).await?;
    audit::note(&app, &by.who.0, Action::ModelChosen, None, target).await?;
    Ok(page::go("/operator/model?done=model"))
}
