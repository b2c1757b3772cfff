//! What happens on one connection: which requests are in progress, which side the other waits for, and when a wait has
//! lasted too long.
//!
//! The HTTP library has a deadline for the head of an HTTP/1.1 request only. All others are kept here, from outside: requests and
//! answers are noted as they begin, go on and end ([`Tracked`]), writing as it goes on ([`Activity::wrote`]), and
//! [`Activity::overdue`] ends when the connection should.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::Instant;

/// What a client that reads at all reads within one deadline: as much as a piece of an answer.
const LEAST_READ: usize = 16 * 1024;

/// One connection.
pub(super) struct Activity(Mutex<State>);

struct State {
    /// Requests that came so far.
    begun: u64,
    /// Requests that are worked on or answered.
    under_way: usize,
    /// Since when none is.
    quiet_since: Instant,
    /// Answers whose next piece nobody asks for, and since when.
    untaken: BTreeMap<u64, Instant>,
    /// Since when bytes wait to be written, and how many were written since.
    writing: Option<(Instant, usize)>,
}

/// How long a connection may wait.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// For the first request.
    pub(super) first: Duration,
    /// For another one.
    pub(super) idle: Duration,
    /// For a client to take what it asked for.
    pub(super) stall: Duration,
}

/// Why a connection should end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overdue {
    /// Nothing is asked of it.
    Quiet,
    /// Its client does not take what it asked for.
    Stalled,
}

impl Activity {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Activity(Mutex::new(State {
            begun: 0,
            under_way: 0,
            quiet_since: Instant::now(),
            untaken: BTreeMap::new(),
            writing: None,
        })))
    }

    /// Notes that a request has come; it ends when what is returned is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> UnderWay {
        let mut state = self.0.lock();
        state.begun += 1;
        state.under_way += 1;
        UnderWay { activity: self.clone(), number: state.begun }
    }

    /// Requests that came so far.
    pub(super) fn begun(&self) -> u64 {
        self.0.lock().begun
    }

    /// Whether no request is in progress.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet_since().is_some()
    }

    /// Since when no request is in progress; `None` while one is.
    pub(super) fn quiet_since(&self) -> Option<Instant> {
        let state = self.0.lock();
        (state.under_way == 0).then_some(state.quiet_since)
    }

    /// Notes that bytes could not be written yet.
    pub(super) fn cannot_write(&self) {
        self.0.lock().writing.get_or_insert((Instant::now(), 0));
    }

    /// Notes that some could.
    pub(super) fn wrote(&self, bytes: usize) {
        let mut state = self.0.lock();
        state.writing = state.writing.map(|(since, written)| (since, written + bytes));
        state.writing = state.writing.filter(|(_, written)| *written < LEAST_READ);
    }

    /// Notes that all were.
    pub(super) fn wrote_all(&self) {
        self.0.lock().writing = None;
    }

    /// Ends when the connection should.
    pub(super) async fn overdue(&self, patience: Patience) -> Overdue {
        loop {
            let next = self.0.lock().next(patience, Instant::now());
            match next {
                Ok(later) => tokio::time::sleep_until(later).await,
                Err(overdue) => return overdue,
            }
        }
    }
}

impl State {
    /// Why the connection should end, or when to look again: no wait that begins later ends before that.
    fn next(&self, patience: Patience, now: Instant) -> Result<Instant, Overdue> {
        let Patience { first, idle, stall } = patience;
        let waiting = self.untaken.values().copied().chain(self.writing.map(|(since, _)| since));
        let stalled = waiting.min().map(|since| since + stall);
        if stalled.is_some_and(|end| end <= now) {
            return Err(Overdue::Stalled);
        }
        let quiet_for = if self.begun == 0 { first } else { idle };
        let quiet = (self.under_way == 0).then(|| self.quiet_since + quiet_for);
        if quiet.is_some_and(|end| end <= now) {
            return Err(Overdue::Quiet);
        }
        let soonest = now + first.min(idle).min(stall);
        Ok([stalled, quiet].into_iter().flatten().fold(soonest, Instant::min))
    }
}

/// A request that is worked on or answered.
pub(super) struct UnderWay {
    activity: Arc<Activity>,
    number: u64,
}

impl UnderWay {
    /// The answer has something to send: it is for the client to take it.
    fn offers(&self) {
        self.activity.0.lock().untaken.insert(self.number, Instant::now());
    }

    /// More was asked for: it is for us to give it.
    fn is_asked(&self) {
        self.activity.0.lock().untaken.remove(&self.number);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut state = self.activity.0.lock();
        state.untaken.remove(&self.number);
        state.under_way -= 1;
        if state.under_way == 0 {
            state.quiet_since = Instant::now();
        }
    }
}

/// The body of an answer. The library asks for the next piece once the client has taken enough of those before.
pub(super) struct Tracked<B> {
    body: B,
    request: UnderWay,
}

impl<B> Tracked<B> {
    pub(super) fn new(body: B, request: UnderWay) -> Self {
        request.offers();
        Tracked { body, request }
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for Tracked<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        this.request.is_asked();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
        this.request.offers();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures::FutureExt;

    use super::*;

    const PATIENCE: Patience = Patience {
        first: Duration::from_millis(50),
        idle: Duration::from_millis(300),
        stall: Duration::from_millis(100),
    };

    async fn lasts(activity: &Activity, expected: Overdue) -> Duration {
        let started = Instant::now();
        assert_eq!(activity.overdue(PATIENCE).await, expected);
        started.elapsed()
    }

    async fn pass(milliseconds: u64) {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    #[tokio::test]
    async fn a_connection_on_which_nothing_is_asked_ends() {
        let activity = Activity::new();
        assert!(lasts(&activity, Overdue::Quiet).await >= PATIENCE.first);
        let activity = Activity::new();
        drop(activity.begin());
        assert!(
            lasts(&activity, Overdue::Quiet).await >= PATIENCE.idle,
            "one that was of use may stay longer"
        );
    }

    #[tokio::test]
    async fn work_may_take_as_long_as_it_needs() {
        let activity = Activity::new();
        let request = activity.begin();
        let mut overdue = Box::pin(activity.overdue(PATIENCE));
        tokio::select! {
            end = &mut overdue => panic!("{end:?}"),
            () = pass(600) => {}
        }
        drop(request);
        assert_eq!(overdue.await, Overdue::Quiet);
    }

    #[tokio::test]
    async fn an_answer_that_nobody_takes_ends_its_connection() {
        let activity = Activity::new();
        let answer = Tracked::new(Body::from("never asked for"), activity.begin());
        lasts(&activity, Overdue::Stalled).await;
        drop(answer);
        let silent = Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
        let mut answer = Tracked::new(silent, activity.begin());
        let asked = std::future::poll_fn(|context| Pin::new(&mut answer).poll_frame(context));
        assert!(asked.now_or_never().is_none());
        pass(200).await;
        let waits_for_us = activity.overdue(PATIENCE).now_or_never();
        assert_eq!(waits_for_us, None, "an answer that has nothing to say yet is not stalled");
    }

    #[tokio::test]
    async fn reading_a_byte_now_and_then_is_not_reading() {
        let activity = Activity::new();
        let _request = activity.begin();
        activity.cannot_write();
        let trickle = async {
            loop {
                pass(10).await;
                activity.wrote(1);
                activity.cannot_write();
            }
        };
        tokio::select! {
            end = activity.overdue(PATIENCE) => assert_eq!(end, Overdue::Stalled),
            () = trickle => {}
        }
        activity.wrote(LEAST_READ);
        assert_eq!(activity.overdue(PATIENCE).now_or_never(), None);
    }
}
