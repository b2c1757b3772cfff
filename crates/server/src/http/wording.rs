//! Puts the HTTP library's own bare refusals into our envelope.
//!
//! A request whose head cannot be read (a malformed or far too large header) never reaches a route: the library itself
//! writes an empty 400, 414 or 431 and closes. Such an answer is recognised on its way out, because every answer of ours
//! carries a request id, and is replaced by one with the envelope.

use std::{
    io::{self, IoSlice, Write},
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::http::HeaderMap;
use engine::{Fault, Reason};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use uuid::Uuid;

use super::{
    error::{ErrorEnvelope, ErrorObject},
    layers::{self, RequestId},
};
use crate::app::App;

/// A stream that words bare refusals.
pub(super) struct Worded<S> {
    stream: S,
    app: App,
    /// What is written in place of a refusal, and how much of it has been.
    instead: Option<(Vec<u8>, usize)>,
}

impl<S> Worded<S> {
    pub(super) fn new(stream: S, app: App) -> Self {
        Worded { stream, app, instead: None }
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
        Some(b"400") => Fault::new(Reason::InvalidParameter, "the request's head is not well-formed HTTP"),
        Some(b"414") => Fault::new(Reason::TooLarge, "the request's address is too long"),
        _ => Fault::new(Reason::TooLarge, "the request's headers are too large"),
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Worded<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.instead.is_none() && is_bare(bytes) {
            this.instead = Some((worded(bytes, &this.app), 0));
        }
        let Some((answer, written)) = &mut this.instead else {
            return Pin::new(&mut this.stream).poll_write(context, bytes);
        };
        while *written < answer.len() {
            match ready!(Pin::new(&mut this.stream).poll_write(context, &answer[*written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                more => *written += more,
            }
        }
        this.instead = None;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = parts.iter().find(|part| !part.is_empty()).map_or(&[][..], |part| part);
        if self.instead.is_some() || is_bare(first) {
            return self.poll_write(context, first);
        }
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Worded<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
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
