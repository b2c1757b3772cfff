//! `/openai/v1/vector_stores`: boxes, as OpenAI's clients make and list them.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use engine::{
    Fault,
    access::{Reading, no_such_box},
    ids::BoxId,
    permissions::Permission,
    seams::catalog::{BoxLanguage, BoxName, BoxRecord, BoxTotals, Metadata},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Deleted, List, MOST_FILES, filters::attributes, limit, named, newest_first, store_files};
use crate::{
    app::App,
    http::{
        actor::Actor,
        auth::{self, Asking, Founder, ManagingBox, OwningBox, Reader, ReadingBox},
        body::JsonBody,
        error::Failure,
        idempotency::Founded,
        query::Parameters,
    },
    manage,
};

/// What a store without a name is called.
const UNNAMED: &str = "Vector store";

/// A box as OpenAI shows a store.
#[derive(Serialize)]
pub(super) struct StoreObject {
    id: BoxId,
    object: &'static str,
    created_at: i64,
    name: String,
    usage_bytes: u64,
    file_counts: FileCounts,
    status: &'static str,
    expires_after: Option<Value>,
    expires_at: Option<i64>,
    last_active_at: i64,
    metadata: Value,
}

/// How many files are in which state.
#[derive(Serialize, Default, Clone, Copy)]
pub(super) struct FileCounts {
    pub(super) in_progress: u64,
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) cancelled: u64,
    pub(super) total: u64,
}

impl StoreObject {
    fn of(record: BoxRecord, totals: BoxTotals, notes: &Metadata) -> Self {
        let created_at = record.created_at.as_second();
        let file_counts = FileCounts {
            in_progress: totals.under_way,
            completed: totals.files.saturating_sub(totals.under_way + totals.failed),
            failed: totals.failed,
            cancelled: 0,
            total: totals.files,
        };
        StoreObject {
            id: record.id,
            object: "vector_store",
            created_at,
            name: record.name.as_str().to_string(),
            usage_bytes: totals.bytes,
            file_counts,
            status: if totals.under_way > 0 { "in_progress" } else { "completed" },
            expires_after: None,
            expires_at: None,
            last_active_at: created_at,
            metadata: json!(attributes(notes)),
        }
    }
}

async fn objects(app: &App, readings: &[Reading]) -> Result<Vec<StoreObject>, Fault> {
    let mut records = app.catalog.boxes_of(readings).await?;
    records.sort_by_key(|record| record.id);
    let readings: Vec<Reading> = records
        .iter()
        .filter_map(|record| readings.iter().find(|reading| reading.box_id() == record.id).copied())
        .collect();
    let totals = app.catalog.totals(&readings).await?;
    let notes = app.catalog.notes(&readings).await?;
    let each = records.into_iter().zip(totals).zip(&notes);
    Ok(each.map(|((record, totals), notes)| StoreObject::of(record, totals, notes)).collect())
}

async fn object(app: &App, reading: Reading) -> Result<StoreObject, Fault> {
    objects(app, &[reading]).await?.pop().ok_or_else(no_such_box)
}

/// What a store should be.
#[derive(Deserialize)]
pub(super) struct StoreBody {
    name: Option<String>,
    file_ids: Option<Vec<String>>,
    metadata: Option<Metadata>,
    expires_after: Option<Value>,
    #[expect(dead_code, reason = "quire cuts documents in its own way")]
    chunking_strategy: Option<Value>,
    #[expect(dead_code, reason = "a box has a name only")]
    description: Option<Value>,
}

impl StoreBody {
    fn name(&self) -> Result<Option<BoxName>, Fault> {
        let name = self.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        name.map(|name| name.parse().map_err(|wrong: String| Fault::invalid("name", wrong))).transpose()
    }

    /// To keep what somebody wants deleted is worse than to refuse.
    fn must_not_expire(&self) -> Result<(), Fault> {
        match self.expires_after.as_ref().filter(|value| !value.is_null()) {
            None => Ok(()),
            Some(_) => Err(Fault::invalid(
                "expires_after",
                "`expires_after` is not supported: a store is a box, which stays until somebody deletes it",
            )),
        }
    }
}

/// Makes a box of the key's user, which takes the permission `manage`; with files in it, `write` too.
pub(super) async fn create(
    State(app): State<App>,
    Asking(caller): Asking,
    Founder(acting): Founder,
    actor: Actor,
    body: JsonBody<StoreBody>,
) -> Result<Response, Failure> {
    let body = body.value;
    body.must_not_expire()?;
    let name = body.name()?.map_or_else(|| UNNAMED.parse().map_err(Fault::internal), Ok)?;
    let files = body.file_ids.unwrap_or_default();
    if files.len() > MOST_FILES {
        let cause = format!("`file_ids` can name at most {MOST_FILES} files, not {}", files.len());
        return Err(Fault::invalid("file_ids", cause).into());
    }
    // Before anything is made: one wrong id refuses all of it.
    if !files.is_empty() {
        caller.must(Permission::Write)?;
    }
    for id in &files {
        named::find(&app, &caller, id).await?;
    }
    let record = manage::boxes::add(&actor.by(), &acting, name, BoxLanguage::Auto).await?;
    // What the key may do in the new box is known to the next look at the key.
    let caller = auth::usable(&app, &caller.prefix).await?;
    let managing = caller.may_manage(record.id)?;
    if let Some(metadata) = body.metadata.filter(|metadata| !metadata.is_empty()) {
        app.catalog.set_notes(&managing, metadata).await?;
    }
    for id in &files {
        store_files::put(&app, &caller, &caller.may_write(record.id)?, &actor, id, None).await?;
    }
    let mut response = Json(object(&app, *managing.reading()).await?).into_response();
    response.extensions_mut().insert(Founded(record.id));
    Ok(response)
}

/// Which stores to list.
#[derive(Deserialize)]
pub(super) struct ListQuery {
    limit: Option<String>,
    order: Option<String>,
    after: Option<String>,
    before: Option<String>,
}

/// Lists the boxes that the key may be used on.
pub(super) async fn list(
    State(app): State<App>,
    Reader(caller): Reader,
    query: Parameters<ListQuery>,
) -> Result<Json<List<StoreObject>>, Failure> {
    let query = query.value;
    let limit = limit(query.limit.as_deref(), 20, 100)? as usize;
    let descending = newest_first(query.order.as_deref())?;
    let mut readings = caller.readable()?;
    readings.sort_by_key(Reading::box_id);
    if descending {
        readings.reverse();
    }
    let place = |id: Option<&str>, name: &str| match id {
        None => Ok(None),
        Some(id) => match readings.iter().position(|reading| reading.box_id().to_string() == id) {
            Some(at) => Ok(Some(at)),
            None => Err(Fault::invalid(
                name,
                format!("`{name}` must be the id of an item on the previous page of the list"),
            )),
        },
    };
    let start = place(query.after.as_deref(), "after")?.map_or(0, |at| at + 1);
    let end = place(query.before.as_deref(), "before")?.unwrap_or(readings.len());
    let wanted: Vec<Reading> = readings.get(start..end).unwrap_or_default().to_vec();
    let has_more = wanted.len() > limit;
    let mut stores = objects(&app, &wanted[..wanted.len().min(limit)]).await?;
    if descending {
        stores.reverse();
    }
    Ok(Json(List::new(stores, has_more, |store| store.id.to_string())))
}

/// Shows a box.
pub(super) async fn show(
    State(app): State<App>,
    ReadingBox(reading): ReadingBox,
) -> Result<Json<StoreObject>, Failure> {
    Ok(Json(object(&app, reading).await?))
}

/// Calls a box something else, or says something else about it.
pub(super) async fn change(
    State(app): State<App>,
    ManagingBox(managing): ManagingBox,
    actor: Actor,
    body: JsonBody<StoreBody>,
) -> Result<Json<StoreObject>, Failure> {
    let body = body.value;
    body.must_not_expire()?;
    if let Some(name) = body.name()? {
        manage::boxes::rename(&actor.by(), &managing, name).await?;
    }
    if let Some(metadata) = body.metadata {
        app.catalog.set_notes(&managing, metadata).await?;
    }
    Ok(Json(object(&app, *managing.reading()).await?))
}

/// Deletes a box with everything in it.
pub(super) async fn delete(OwningBox(owning): OwningBox, actor: Actor) -> Result<Json<Deleted>, Failure> {
    let (record, _) = manage::boxes::delete(&actor.by(), &owning).await?;
    Ok(Json(Deleted { id: record.id.to_string(), object: "vector_store.deleted", deleted: true }))
}
