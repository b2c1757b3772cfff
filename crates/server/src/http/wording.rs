//! Puts the HTTP library's own bare refusals into our envelope, and notes how writing goes on.
//!
//! A request whose head cannot be read (a malformed or far too large header) never reaches a route: the library itself
//! writes an empty 400, 414 or 431 and closes. That answer is replaced on its way out. Bytes of our own answers are never
//! looked at: the library has none of them left once it flushes while no request is in progress, and what it writes after
//! that, before another request has come, is its own. HTTP/2 is left alone, its refusals being frames.

use std::{
    io::{self, IoSlice, Write},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::http::HeaderMap;
use engine::{Fault, Reason};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use uuid::Uuid;

use super::{
    activity::Activity,
    error::{ErrorEnvelope, ErrorObject},
    layers,
    request_id::RequestId,
};
use crate::app::App;

/// What an HTTP/2 connection begins with; no HTTP/1.1 method does.
const HTTP2: &[u8] = b"PRI ";

/// A stream that words bare refusals.
pub(super) struct Worded<S> {
    stream: S,
    app: App,
    activity: Arc<Activity>,
    /// The first bytes that came.
    start: Vec<u8>,
    /// How many requests had come when all answers to them were written.
    answered: u64,
    /// What is written in place of a refusal, and how much of it has been.
    instead: Option<(Vec<u8>, usize)>,
}

impl<S> Worded<S> {
    pub(super) fn new(stream: S, app: App, activity: Arc<Activity>) -> Self {
        Worded { stream, app, activity, start: Vec::new(), answered: 0, instead: None }
    }

    /// Whether what is written now is the library's own.
    fn is_refusal(&self, bytes: &[u8]) -> bool {
        self.start != HTTP2 && self.activity.begun() == self.answered && is_bare(bytes)
    }

    /// Called whenever the library has nothing left to write.
    fn note_flush(&mut self) {
        if self.activity.is_quiet() {
            self.answered = self.activity.begun();
        }
    }

    /// Keeps the first bytes that come in.
    fn note_start(&mut self, bytes: &[u8]) {
        let missing = HTTP2.len() - self.start.len();
        self.start.extend_from_slice(&bytes[..missing.min(bytes.len())]);
    }

    fn note(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Pending => self.activity.cannot_write(),
            Poll::Ready(Ok(bytes)) => self.activity.wrote(*bytes),
            Poll::Ready(Err(_)) => {}
        }
    }
}

/// Whether bytes to be written are a refusal of the library's own.
fn is_bare(bytes: &[u8]) -> bool {
    let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    bytes.starts_with(b"HTTP/1.1 4") && holds(b"content-length: 0\r\n") && !holds(b"\r\nx-request-id: ")
}

/// The same refusal in our words; keeps the status line.
fn worded(bytes: &[u8], app: &App) -> Vec<u8> {
    let line = bytes.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let fault = match bytes.get(9..12) {
        Some(b"400") => Fault::new(
            Reason::InvalidParameter,
            "the request line or its headers are not valid HTTP; check the program or the proxy that sent them",
        ),
        Some(b"414") => Fault::new(Reason::TooLarge, "the URL is too long; send fewer or shorter parameters"),
        _ => Fault::new(Reason::TooLarge, "the request's headers are too large; send fewer or shorter ones"),
    };
    let id = RequestId::new(Uuid::now_v7());
    let envelope = ErrorEnvelope { success: false, error: ErrorObject::of(&fault, Some(&id)) };
    let body = serde_json::to_vec(&envelope).expect("an error object is plain JSON");
    let mut headers = HeaderMap::new();
    layers::finish(&mut headers, app, &id);
    let mut answer = line.to_vec();
    let _ = write!(
        answer,
        "\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n",
        body.len()
    );
    for (name, value) in &headers {
        let _ = write!(answer, "{name}: ");
        answer.extend_from_slice(value.as_bytes());
        answer.extend_from_slice(b"\r\n");
    }
    answer.extend_from_slice(b"\r\n");
    answer.extend_from_slice(&body);
    answer
}

impl<S: AsyncWrite + Unpin> Worded<S> {
    /// Writes the replacement to its end; then all of the refusal counts as written.
    fn poll_instead(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some((answer, written)) = &mut self.instead {
            match ready!(Pin::new(&mut self.stream).poll_write(context, &answer[*written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                more => *written += more,
            }
            if *written == answer.len() {
                self.instead = None;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Worded<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.instead.is_none() && this.is_refusal(bytes) {
            this.instead = Some((worded(bytes, &this.app), 0));
        }
        let written = match this.instead {
            Some(_) => this.poll_instead(context).map_ok(|()| bytes.len()),
            None => Pin::new(&mut this.stream).poll_write(context, bytes),
        };
        this.note(&written);
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = parts.iter().find(|part| !part.is_empty()).map_or(&[][..], |part| part);
        if self.instead.is_some() || self.is_refusal(first) {
            return self.poll_write(context, first);
        }
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, parts);
        this.note(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.note_flush();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        match &flushed {
            Poll::Pending => this.activity.cannot_write(),
            Poll::Ready(_) => this.activity.wrote_all(),
        }
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut = Pin::new(&mut this.stream).poll_shutdown(context);
        if shut.is_pending() {
            this.activity.cannot_write();
        }
        shut
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Worded<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        if this.start.len() < HTTP2.len() {
            this.note_start(&buffer.filled()[before..]);
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_without_an_id_are_bare() {
        assert!(is_bare(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"));
        assert!(!is_bare(b"HTTP/1.1 404 Not Found\r\nx-request-id: req_1\r\ncontent-length: 0\r\n\r\n"));
        assert!(!is_bare(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
        assert!(!is_bare(b"{\"text\":\"HTTP/1.1 400 content-length: 0\"}"));
    }
}
