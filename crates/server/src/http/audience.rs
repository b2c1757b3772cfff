//! The reader of an answer that takes long to send: holds a place for it, and ends it once they may no longer read.

use std::time::Duration;

use axum::{BoxError, body::Bytes};
use engine::{
    Fault, Reason,
    access::Caller,
    chat::Outcome,
    ids::{BoxId, UserId},
};
use futures::{Stream, StreamExt, stream};
use tokio::time::Instant;

use super::{auth, request_id::RequestId};
use crate::{
    app::{App, places::Place},
    sessions,
};

/// How often a silent stream looks whether its permission still holds; costs some microseconds.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How much of an answer is sent on one look.
const LOOK_AFTER_BYTES: usize = 256 * 1024;
/// When to try again where all places are taken.
const WAIT: Duration = Duration::from_secs(1);

/// Somebody who reads a box.
pub(crate) struct Audience {
    app: App,
    who: Who,
    user: UserId,
    box_id: BoxId,
    /// Further boxes that the answer is about.
    others: Vec<BoxId>,
    until: Instant,
    _places: Option<(Option<Place<String>>, Place<UserId>)>,
}

/// How they are known.
enum Who {
    /// By the prefix of an API key.
    Key(String),
    /// By the token of a sign-in.
    SignedIn(String),
}

impl Audience {
    /// Whoever asks with an API key.
    pub(crate) fn of_key(app: &App, caller: &Caller, box_id: BoxId) -> Self {
        Self::new(app, Who::Key(caller.prefix.clone()), caller.user, box_id)
    }

    /// The same for an answer about several boxes; there is at least one.
    pub(crate) fn of_boxes(app: &App, caller: &Caller, mut boxes: Vec<BoxId>) -> Self {
        let first = boxes.remove(0);
        Audience { others: boxes, ..Self::of_key(app, caller, first) }
    }

    /// Somebody in the dashboard.
    pub(crate) fn signed_in(app: &App, token: &str, user: UserId, box_id: BoxId) -> Self {
        Self::new(app, Who::SignedIn(token.to_string()), user, box_id)
    }

    fn new(app: &App, who: Who, user: UserId, box_id: BoxId) -> Self {
        let until = Instant::now() + app.config.deadlines.stream();
        Audience { app: app.clone(), who, user, box_id, others: Vec::new(), until, _places: None }
    }

    pub(crate) fn box_id(&self) -> BoxId {
        self.box_id
    }

    /// Notes how their question went.
    pub(crate) fn note(&self, request: RequestId, outcome: &Outcome) {
        let boxes = [self.box_id].into_iter().chain(self.others.iter().copied()).collect();
        self.app.questions.answered(request.question(), boxes, outcome);
    }

    /// Takes places for a long answer, which are free again once it has ended.
    pub(crate) fn seated(self) -> Result<Self, Fault> {
        let bounds = &self.app.config.connections;
        let key = match &self.who {
            Who::Key(prefix) => {
                Some(self.app.streams.keys.take(prefix, bounds.streams_per_key).ok_or_else(|| {
                    full("this API key", bounds.streams_per_key, "connections.streams_per_key")
                })?)
            }
            Who::SignedIn(_) => None,
        };
        let user = self.app.streams.users.take(&self.user, bounds.streams_per_user);
        let user = user.ok_or_else(|| {
            full("this user account", bounds.streams_per_user, "connections.streams_per_user")
        })?;
        Ok(Audience { _places: Some((key, user)), ..self })
    }

    /// Whether they may still read the box.
    pub(crate) async fn check(&self) -> Result<(), Fault> {
        match &self.who {
            Who::Key(prefix) => {
                let caller = auth::usable(&self.app, prefix).await?;
                [self.box_id].iter().chain(&self.others).try_for_each(|&box_id| caller.reaches(box_id))
            }
            Who::SignedIn(token) => sessions::still_may_read(&*self.app.catalog, token, self.box_id).await,
        }
    }

    /// Ends, with the reason, when what they listen to must.
    pub(crate) async fn ended(&self) -> Fault {
        loop {
            tokio::select! {
                () = self.app.drained.cancelled() => return stopping(),
                () = tokio::time::sleep_until(self.until) => return too_long(&self.app),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            if let Err(fault) = self.check().await {
                return fault;
            }
        }
    }

    /// Gives an answer out piece by piece, only while they may have it. An error cuts the connection, so that nobody takes half an answer
    /// for a whole one.
    pub(crate) fn guard<S, E>(self, pieces: S) -> impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
        E: Into<BoxError> + 'static,
    {
        // The first piece follows right on the check of the request.
        stream::unfold((pieces, self, 0), |(mut pieces, audience, mut unchecked)| async move {
            let piece: Result<Bytes, BoxError> = pieces.next().await?.map_err(Into::into);
            unchecked += piece.as_ref().map_or(0, Bytes::len);
            if unchecked <= LOOK_AFTER_BYTES {
                return Some((piece, (pieces, audience, unchecked)));
            }
            let piece = match audience.check().await {
                Ok(()) => piece,
                Err(fault) => {
                    tracing::info!(box.id = %audience.box_id, "Cut an answer off: {}", fault.reason.as_str());
                    Err(fault.cause.into())
                }
            };
            Some((piece, (pieces, audience, 0)))
        })
    }
}

/// The error while the server stops.
pub(crate) fn stopping() -> Fault {
    Fault::new(Reason::Overloaded, "the server is stopping or restarting; try again shortly")
        .retry_after(WAIT)
}

fn too_long(app: &App) -> Fault {
    let cause = format!("a stream may last {} seconds at most", app.config.deadlines.stream_s);
    Fault::new(Reason::Timeout, cause).hint("open a new one, or ask the operator to raise deadlines.stream_s")
}

fn full(whose: &str, most: usize, setting: &str) -> Fault {
    let cause = format!(
        "{whose} has {most} streams, documents or downloads in progress; \
         wait until one has ended, or ask the operator to raise {setting}"
    );
    Fault::new(Reason::OverloadedKey, cause).retry_after(WAIT)
}
