//! `GET /boxes/{box_id}/events`: every change of a file's status, as it happens.

use std::{convert::Infallible, sync::Arc};

use axum::{
    extract::State,
    response::sse::{Event, Sse},
};
use engine::{
    Fault,
    seams::catalog::{FileQuery, FileRecord, FileStatus, SortKey},
};
use futures::{Stream, StreamExt, stream};
use tokio::sync::broadcast::Receiver;

use super::files::FileObject;
use crate::{
    app::App,
    http::{
        audience::{Audience, stopping},
        auth::{Asking, ReadingBox},
        error::{ErrorEnvelope, ErrorObject, Failure},
        origin::Origin,
        reply,
        request_id::RequestId,
    },
    library::next_change,
};

/// Files in progress that a listener hears of first; whoever has more is better served by listing.
const MOST_AT_START: u32 = 200;

/// Streams file status as server-sent events: first the files in progress, then each change.
#[utoipa::path(get, path = "/boxes/{box_id}/events", operation_id = "follow_box", tag = "files",
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
    id: RequestId,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let audience = Audience::of_key(&app, &caller, reading.box_id()).seated()?;
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
    let listening = Listening { app, receiver, audience, origin, id };
    let changes = stream::unfold(Some(listening), |listening| async move {
        let mut listening = listening?;
        match listening.next().await {
            Ok(file) => Some((event(FileRecord::clone(&file), &listening.origin), Some(listening))),
            Err(fault) => Some((listening.last_words(&fault), None)),
        }
    });
    Ok(Sse::new(start.chain(changes)).keep_alive(reply::pings()))
}

/// A listener, and what they hear.
struct Listening {
    app: App,
    receiver: Receiver<Arc<FileRecord>>,
    audience: Audience,
    origin: Origin,
    id: RequestId,
}

impl Listening {
    /// The next change of a file of the box, or why there will be none.
    async fn next(&mut self) -> Result<Arc<FileRecord>, Fault> {
        let file = tokio::select! {
            file = next_change(&mut self.receiver, self.audience.box_id()) => file.ok_or_else(stopping)?,
            fault = self.audience.ended() => return Err(fault),
            () = self.app.shutdown.cancelled() => return Err(stopping()),
        };
        self.audience.check().await?;
        Ok(file)
    }

    /// The last event: why the stream ends.
    fn last_words(&self, fault: &Fault) -> Result<Event, Infallible> {
        let envelope = ErrorEnvelope { success: false, error: ErrorObject::of(fault, Some(&self.id)) };
        Ok(Event::default().event("error").data(serde_json::to_string(&envelope).expect("plain JSON")))
    }
}

fn event(file: FileRecord, origin: &Origin) -> Result<Event, Infallible> {
    let object = serde_json::to_string(&FileObject::of(file, origin)).expect("plain JSON");
    Ok(Event::default().data(object))
}
