//! Spans of requests and of the work in them, until they are sent to whoever collects them. Costs nothing where nobody does.

use std::{sync::Arc, time::SystemTime};

use engine::trace::{self, Place};
use parking_lot::Mutex;
use rand::Rng;
use serde_json::Value;

/// Spans that wait to be sent; more are lost, and counted.
const MOST_WAITING: usize = 10_000;

/// Where spans are kept, if they are.
#[derive(Clone, Default)]
pub struct Spans(Option<Arc<Kept>>);

struct Kept {
    /// The share of traces that is kept where nobody else has decided.
    share: f64,
    /// Whether the words of queries are told.
    words: bool,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    done: Vec<Done>,
    lost: u64,
}

/// What a span is to the one above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A part of the work.
    Internal = 1,
    /// A request that came.
    Server = 2,
    /// A request to somebody else.
    Client = 3,
}

/// A span that has ended.
pub(crate) struct Done {
    pub(crate) place: Place,
    pub(crate) parent: Option<[u8; 8]>,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) began: SystemTime,
    pub(crate) ended: SystemTime,
    pub(crate) attributes: Vec<(&'static str, Value)>,
    pub(crate) failed: bool,
}

impl Spans {
    /// Keeps spans of this share of all traces.
    pub(crate) fn keeping(share: f64, words: bool) -> Self {
        Spans(Some(Arc::new(Kept { share, words, waiting: Mutex::default() })))
    }

    /// A span of whatever is done here, or of a trace of its own.
    pub(crate) fn begin(&self, name: impl Into<String>, kind: Kind) -> Span {
        self.below(trace::here(), name, kind)
    }

    /// A span below one of somebody else's, who decides whether the trace is kept.
    pub(crate) fn below(&self, parent: Option<Place>, name: impl Into<String>, kind: Kind) -> Span {
        let Some(kept) = &self.0 else { return Span(None) };
        let place = match parent {
            Some(parent) => parent.beside(),
            None => Place::new(rand::rng().random_bool(kept.share)),
        };
        let now = SystemTime::now();
        Span(Some(Begun {
            kept: kept.clone(),
            done: Done {
                place,
                parent: parent.map(|parent| parent.span),
                name: name.into(),
                kind,
                began: now,
                ended: now,
                attributes: Vec::new(),
                failed: false,
            },
        }))
    }

    /// Takes those that have ended, and how many were lost.
    pub(crate) fn take(&self) -> (Vec<Done>, u64) {
        let Some(kept) = &self.0 else { return (Vec::new(), 0) };
        let waiting = std::mem::take(&mut *kept.waiting.lock());
        (waiting.done, waiting.lost)
    }
}

/// A span under way; it ends when it is dropped. Where nobody collects spans it is nothing.
pub(crate) struct Span(Option<Begun>);

struct Begun {
    kept: Arc<Kept>,
    done: Done,
}

impl Span {
    /// Says something about it.
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(begun) = &mut self.0 {
            begun.done.attributes.push((name, value.into()));
        }
    }

    /// Says what somebody asked, where the operator wants that told.
    pub(crate) fn set_words(&mut self, name: &'static str, words: &str) {
        if self.0.as_ref().is_some_and(|begun| begun.kept.words) {
            self.set(name, words);
        }
    }

    /// Gives it another name, which is known only now.
    pub(crate) fn rename(&mut self, name: impl Into<String>) {
        if let Some(begun) = &mut self.0 {
            begun.done.name = name.into();
        }
    }

    /// Says that it went wrong.
    pub(crate) fn fail(&mut self) {
        if let Some(begun) = &mut self.0 {
            begun.done.failed = true;
        }
    }

    /// Where it is.
    pub(crate) fn place(&self) -> Option<Place> {
        self.0.as_ref().map(|begun| begun.done.place)
    }

    /// Does some work in it.
    pub(crate) async fn around<F: Future>(&self, work: F) -> F::Output {
        match self.place() {
            Some(place) => place.around(work).await,
            None => work.await,
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(Begun { kept, mut done }) = self.0.take() else { return };
        if !done.place.kept {
            return;
        }
        done.ended = SystemTime::now();
        let mut waiting = kept.waiting.lock();
        if waiting.done.len() < MOST_WAITING { waiting.done.push(done) } else { waiting.lost += 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn spans_stand_below_the_one_that_they_are_done_in() {
        let spans = Spans::keeping(1.0, false);
        let outer = spans.begin("outer", Kind::Server);
        outer.around(async { drop(spans.begin("inner", Kind::Internal)) }).await;
        let place = outer.place().unwrap();
        drop(outer);
        let (done, lost) = spans.take();
        assert_eq!((done.len(), lost), (2, 0));
        assert_eq!((done[0].name.as_str(), done[0].parent), ("inner", Some(place.span)));
        assert!(done.iter().all(|one| one.place.trace == place.trace));
        assert_eq!((done[1].parent, spans.take().0.len()), (None, 0));
    }

    #[test]
    fn whoever_began_the_trace_decides_whether_it_is_kept() {
        let (all, none) = (Spans::keeping(1.0, false), Spans::keeping(0.0, false));
        drop(all.below(Some(Place::new(false)), "x", Kind::Server));
        drop(none.begin("x", Kind::Server));
        assert!(all.take().0.is_empty() && none.take().0.is_empty());
        drop(none.below(Some(Place::new(true)), "x", Kind::Server));
        assert_eq!(none.take().0.len(), 1);
        let off = Spans::default();
        assert!(off.begin("x", Kind::Server).place().is_none() && off.take().0.is_empty());
    }

    #[test]
    fn only_so_many_wait() {
        let spans = Spans::keeping(1.0, false);
        (0..MOST_WAITING + 5).for_each(|_| drop(spans.begin("x", Kind::Internal)));
        let (done, lost) = spans.take();
        assert_eq!((done.len(), lost), (MOST_WAITING, 5));
    }
}
