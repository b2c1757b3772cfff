//! The body of a request on its way in: bounded in size, and in the time that it is waited for.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    BoxError,
    body::{Bytes, HttpBody},
};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::config::{Config, Deadlines};

/// All of a form but its file: five fields of at most 64 KB with their heads.
pub(super) const FIELDS_BYTES: usize = 512 * 1024;

/// Why a body is not read on.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Cut {
    #[error("the body is larger than {most_mb} MB")]
    TooLarge { most_mb: u64 },
    #[error("the body came too slowly: {received} bytes in {waited_s} seconds")]
    TooSlow { received: u64, waited_s: u64 },
}

/// The largest body of all: a file in its form. What reads something smaller has a limit of its own.
pub(super) fn most_bytes(config: &Config) -> u64 {
    config.limits.file_mb * 1024 * 1024 + FIELDS_BYTES as u64
}

/// A body with an end. Each wait for more of it has an end, and so have all of them together: a grace, and what the
/// bytes so far would have taken at the least rate. Time in which nobody asked for more does not count.
///
/// Past its end it gives its error once, then whatever still comes, for whoever listens on so that the sender hears why.
pub(super) struct Incoming<B> {
    body: B,
    most: u64,
    deadlines: Deadlines,
    received: u64,
    /// Time spent waiting, without the current wait.
    waited: Duration,
    /// Since when there has been a wait, and when it ends.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
    /// Whether the error has been given.
    cut: bool,
    rest: Rest,
}

/// Whether some of a body is still to come, also for whoever gave the body away.
#[derive(Clone)]
pub(super) struct Rest(Arc<AtomicBool>);

impl Rest {
    pub(super) fn is_to_come(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<B: HttpBody> Incoming<B> {
    pub(super) fn new(body: B, config: &Config) -> Self {
        let (most, deadlines) = (most_bytes(config), config.deadlines.clone());
        let rest = Rest(Arc::new(AtomicBool::new(!body.is_end_stream())));
        Incoming {
            body,
            most,
            deadlines,
            received: 0,
            waited: Duration::ZERO,
            waiting: None,
            cut: false,
            rest,
        }
    }

    pub(super) fn rest(&self) -> Rest {
        self.rest.clone()
    }

    fn too_large(&mut self) -> BoxError {
        self.cut = true;
        Cut::TooLarge { most_mb: self.most / (1024 * 1024) }.into()
    }

    /// Whether the current wait has lasted too long; otherwise its timer will wake us.
    fn waits_too_long(&mut self, context: &mut Context<'_>) -> bool {
        let (allowed, spent) = (self.deadlines.body(self.received), self.waited);
        let longest = self.deadlines.body_stall().min(allowed.saturating_sub(spent));
        let (_, timer) = self.waiting.get_or_insert_with(|| {
            let now = Instant::now();
            (now, Box::pin(tokio::time::sleep_until(now + longest)))
        });
        timer.as_mut().poll(context).is_ready()
    }

    fn stop_waiting(&mut self) {
        if let Some((since, _)) = self.waiting.take() {
            self.waited += since.elapsed();
        }
    }
}

impl<B> HttpBody for Incoming<B>
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if !this.cut && this.body.size_hint().lower() > this.most {
            return Poll::Ready(Some(Err(this.too_large())));
        }
        let polled = Pin::new(&mut this.body).poll_frame(context);
        if polled.is_pending() && !this.cut && this.waits_too_long(context) {
            this.stop_waiting();
            this.cut = true;
            let (received, waited_s) = (this.received, this.waited.as_secs());
            return Poll::Ready(Some(Err(Cut::TooSlow { received, waited_s }.into())));
        }
        let frame = ready!(polled);
        this.stop_waiting();
        if frame.is_none() || this.body.is_end_stream() {
            this.rest.0.store(false, Ordering::Relaxed);
        }
        if let Some(Ok(bytes)) = frame.as_ref().map(|frame| frame.as_ref().map(Frame::data_ref)) {
            this.received += bytes.map_or(0, |bytes| bytes.len() as u64);
            if this.received > this.most && !this.cut {
                return Poll::Ready(Some(Err(this.too_large())));
            }
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
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
    use futures::{StreamExt, stream};

    use super::*;
    use crate::http::body::cut_off;
    use engine::Reason;

    fn incoming(pieces: impl futures::Stream<Item = &'static [u8]> + Send + 'static) -> Incoming<Body> {
        let mut config = Config::defaults();
        config.limits.file_mb = 1;
        config.deadlines.body_stall_s = 1;
        Incoming::new(Body::from_stream(pieces.map(|piece| Ok::<_, BoxError>(Bytes::from(piece)))), &config)
    }

    async fn refusal(body: Incoming<Body>) -> (u64, Reason) {
        let mut stream = Body::new(body).into_data_stream();
        let mut read = 0;
        loop {
            match stream.next().await {
                Some(Ok(bytes)) => read += bytes.len() as u64,
                Some(Err(error)) => return (read, cut_off(&error).reason),
                None => panic!("ended after {read} bytes"),
            }
        }
    }

    #[tokio::test]
    async fn a_body_that_goes_on_for_ever_is_refused_at_the_limit() {
        let endless = stream::repeat(&[0u8; 65_536][..]);
        let (read, reason) = refusal(incoming(endless)).await;
        assert_eq!(reason, Reason::TooLarge);
        assert_eq!(read, most_bytes_of(1));
    }

    fn most_bytes_of(megabytes: u64) -> u64 {
        megabytes * 1024 * 1024 + FIELDS_BYTES as u64
    }

    #[tokio::test]
    async fn a_body_that_stalls_is_given_up() {
        let stalled = stream::iter([&b"thirteen byte"[..]]).chain(stream::pending());
        assert_eq!(refusal(incoming(stalled)).await, (13, Reason::InvalidParameter));
    }

    /// Never long enough silent to be called stalled.
    #[tokio::test]
    async fn a_body_that_trickles_is_given_up() {
        let trickle = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Some((&b"x"[..], ()))
        });
        let (read, reason) = refusal(incoming(trickle)).await;
        assert_eq!(reason, Reason::InvalidParameter);
        assert!(read < 10, "{read} bytes");
    }

    #[tokio::test]
    async fn a_slow_body_above_the_least_rate_is_read_to_its_end() {
        let pieces = stream::unfold(0, |count| async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            (count < 6).then_some((&[0u8; 50 * 1024][..], count + 1))
        });
        let mut stream = Body::new(incoming(pieces)).into_data_stream();
        let mut read = 0;
        while let Some(bytes) = stream.next().await {
            read += bytes.unwrap().len();
        }
        assert_eq!(read, 6 * 50 * 1024);
    }
}
