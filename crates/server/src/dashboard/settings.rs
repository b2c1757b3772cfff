//! A box's settings: rename it, say what language it is for, hand it over, delete it.

use askama::Template;
use axum::extract::State;
use engine::{
    Fault, Reason,
    access::{Managing, Owning, Role, no_such_box},
    ids::UserId,
    seams::catalog::{Action, BoxLanguage, BoxName, BoxRecord, ReindexState},
};

use super::{
    audit,
    fields::Fields,
    page::{self, Frame, Shown},
    permit::{Here, InBox},
    show,
};
use crate::{
    app::App,
    http::{BASE, origin::Origin},
    manage::boxes,
    words::Words,
};

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    frame: Frame,
    here: Here,
    address: String,
    files: String,
    size: String,
    language: LanguageChoice,
    /// Members who could be the next owner.
    heirs: Vec<(UserId, String, Role)>,
}

/// What the box is for, to people.
struct LanguageChoice {
    chosen: BoxLanguage,
    /// Whether this server has a model for languages other than English.
    possible: bool,
    /// What became of it.
    state: String,
}

impl LanguageChoice {
    fn is(&self, word: &str) -> bool {
        self.chosen.as_str() == word
    }

    async fn of(words: Words, app: &App, record: &BoxRecord, managing: &Managing) -> Result<Self, Fault> {
        let index = match app.catalog.reindex_state(managing.reading()).await? {
            Some(ReindexState::Wanted) => Some(words.text("boxes-index-waits")),
            Some(ReindexState::Running(done, total)) => {
                Some(words.text("boxes-index-runs").with("done", done).with("total", total))
            }
            Some(ReindexState::Failed(why)) => Some(words.text("boxes-index-failed").with("why", why)),
            Some(ReindexState::Done(_)) | None => None,
        };
        let searched = match (record.changed_over_at.map(show::Moment::of), record.is_multilingual()) {
            (None, false) => words.text("boxes-searched-as-english"),
            (None, true) => words.text("boxes-searched-as-any"),
            (Some(since), false) => words.text("boxes-searched-as-english-since").with("when", since.text),
            (Some(since), true) => words.text("boxes-searched-as-any-since").with("when", since.text),
        };
        let state: Vec<String> = [Some(searched), index].into_iter().flatten().map(String::from).collect();
        let state = state.join(" ");
        let possible = app.ingest.embedders.multilingual_id().is_some();
        Ok(LanguageChoice { chosen: record.language, possible, state })
    }
}

/// The page.
pub(super) async fn show(State(app): State<App>, at: InBox<Managing>, origin: Origin) -> Shown {
    let words = at.who.0.words;
    let members = app.catalog.members(at.right.reading()).await?;
    let me = at.who.user().id;
    let heirs = members.into_iter().filter(|member| member.user != me);
    let totals = app.catalog.totals(&[*at.right.reading()]).await?.pop().unwrap_or_default();
    let record = app.catalog.boxes_of(&[*at.right.reading()]).await?.pop().ok_or_else(no_such_box)?;
    page::show(&SettingsPage {
        language: LanguageChoice::of(words, &app, &record, &at.right).await?,
        frame: Frame::in_box(&app, &at.who.0, "frame-settings", &at.here.name),
        address: format!("{origin}{BASE}/boxes/{}", at.here.id),
        files: words.count("frame-count-files", totals.files),
        size: show::size(words, totals.bytes),
        heirs: heirs.map(|member| (member.user, member.email.to_string(), member.role)).collect(),
        here: at.here,
    })
}

/// Another name.
pub(super) async fn rename(State(app): State<App>, at: InBox<Managing>, fields: Fields) -> Shown {
    let name: BoxName = fields.parse("name")?;
    boxes::rename(&at.who.0.by(&app), &at.right, name).await?;
    Ok(page::go(format!("/boxes/{}/settings?done=renamed", at.here.id)))
}

/// Another choice of language.
pub(super) async fn set_language(State(app): State<App>, at: InBox<Managing>, fields: Fields) -> Shown {
    let language: BoxLanguage = fields.parse("language")?;
    boxes::set_language(&at.who.0.by(&app), &at.right, language).await?;
    Ok(page::go(format!("/boxes/{}/settings?done=language", at.here.id)))
}

/// Makes somebody else the owner; whoever did it stays as admin.
pub(super) async fn hand_over(State(app): State<App>, at: InBox<Owning>, fields: Fields) -> Shown {
    let to: UserId = fields.parse("user")?;
    let members = app.catalog.members(at.right.managing().reading()).await?;
    let heir = members.into_iter().find(|member| member.user == to && to != at.who.user().id);
    let heir = heir.ok_or_else(|| Fault::new(Reason::NotFound, "choose a member of this box"))?;
    app.catalog.hand_over(&at.right, at.who.user().id, to).await?;
    audit::note(&app, &at.who.0, Action::BoxHandedOver, Some(at.here.id), heir.email.to_string()).await?;
    Ok(page::go(format!("/boxes/{}/members?done=handed-over", at.here.id)))
}

/// Deletes the box with everything in it; its name must be typed.
pub(super) async fn delete(State(app): State<App>, at: InBox<Owning>, fields: Fields) -> Shown {
    if fields.text("confirm") != at.here.name.trim() {
        return Err(Fault::invalid(
            "confirm",
            "what you typed is not the name of the box; nothing was deleted",
        )
        .into());
    }
    boxes::delete(&at.who.0.by(&app), &at.right).await?;
    Ok(page::go("/?done=box-deleted"))
}
