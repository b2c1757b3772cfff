//! `GET /boxes/{box_id}/events`: every change of a file's status, as it happens.

use std::convert::Infallible;

use axum::{
    extract::State,
    response::sse::{Event, Sse},
};
use engine::seams::catalog::{FileQuery, FileRecord, FileStatus, SortKey};
use futures::{Stream, StreamExt, stream};

use super::files::FileObject;
use crate::{
    app::App,
    http::{
        auth::{self, Asking, ReadingBox},
        error::{ErrorEnvelope, Failure},
        origin::Origin,
        reply,
    },
    library::next_change,
};

/// Files under way that a listener hears of first; whoever has more is better served by listing.
const MOST_AT_START: u32 = 200;

/// Streams file status as server-sent events: first the files under way, then each change.
#[utoipa::path(get, path = "/boxes/{box_id}/events", tag = "files",
    params(("box_id" = String, Path, description = "The box")),
    responses(
        (status = 200, description = "One file object an event", content_type = "text/event-stream", body = String),
        (status = "4XX", description = "The key or its role does not allow it", body = ErrorEnvelope)
    ))]
pub(super) async fn events(
    State(app): State<App>,
    Asking(caller): Asking,
    ReadingBox(reading): ReadingBox,
    origin: Origin,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    // Listening starts before looking, so that nothing falls between the two.
    let receiver = app.library.listen();
    let under_way = FileQuery {
        name_part: None,
        statuses: vec![FileStatus::Queued, FileStatus::Processing],
        tags: Vec::new(),
        sort: SortKey::CreatedAt,
        descending: false,
        after: None,
        limit: MOST_AT_START,
    };
    let first = app.catalog.list_files(&[reading], under_way).await?.files;
    let start = {
        let origin = origin.clone();
        stream::iter(first).map(move |file| event(file, &origin))
    };
    let state = (app, receiver, caller.prefix.clone(), origin);
    let changes = stream::unfold(state, move |(app, mut receiver, prefix, origin)| async move {
        let file = tokio::select! {
            file = next_change(&mut receiver, reading.box_id()) => file?,
            () = app.shutdown.cancelled() => return None,
        };
        // The key may have been revoked since the stream began.
        auth::still_may_read(&app, &prefix, reading.box_id()).await.ok()?;
        let event = event(FileRecord::clone(&file), &origin);
        Some((event, (app, receiver, prefix, origin)))
    });
    Ok(Sse::new(start.chain(changes)).keep_alive(reply::pings()))
}

fn event(file: FileRecord, origin: &Origin) -> Result<Event, Infallible> {
    let object = serde_json::to_string(&FileObject::of(file, origin)).expect("plain JSON");
    Ok(Event::default().data(object))
}
