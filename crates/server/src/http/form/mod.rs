//! Reads `multipart/form-data` as it comes in: in linear time, with a bounded buffer, however the sender cuts it.
//!
//! At no time is more in memory than one piece of the body and one part's head. What is not the file (heads, small fields,
//! unknown parts, what comes before the first and after the last part) may be [`FIELDS_BYTES`] together.

use axum::{
    body::BodyDataStream,
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use bytes::{Bytes, BytesMut};
use engine::{Fault, Reason};
use futures::{Stream, StreamExt};
use memchr::memmem::{self, Finder};

use super::{body, error::Failure, incoming::FIELDS_BYTES};
use crate::app::App;

/// The head of one part: a name, a file name and a type; browsers send some 200 bytes.
const HEAD_BYTES: usize = 8 * 1024;
/// Parts of one form: it has five fields, and a client may add some that nobody knows.
const MOST_PARTS: usize = 64;
/// Headers of one part that are looked at.
const MOST_HEADERS: usize = 16;
/// RFC 2046 allows 70 characters; some clients do not count.
const LONGEST_BOUNDARY: usize = 200;

/// A form that is being read.
pub(crate) struct Form<S = BodyDataStream> {
    stream: S,
    /// What ends a part: a line break, two hyphens and the boundary.
    delimiter: Finder<'static>,
    /// What has come and is not given out yet.
    buffer: BytesMut,
    place: Place,
    parts: usize,
    /// Bytes so far that are not the file.
    beside: usize,
}

/// Where in the form the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In a part, or before the first one.
    Inside,
    /// Just behind a delimiter.
    Between,
    /// Behind the last part.
    End,
}

/// The head of a part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) file_name: Option<String>,
    pub(crate) content_type: Option<String>,
}

impl FromRequest<App> for Form {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &App) -> Result<Self, Failure> {
        let boundary = boundary(request.headers()).map(str::to_string).ok_or_else(|| {
            let cause =
                "send the file as a form: `Content-Type: multipart/form-data` with a part named `file`";
            Fault::new(Reason::UnsupportedMediaType, cause)
        })?;
        Ok(Form::new(request.into_body().into_data_stream(), &boundary))
    }
}

/// The boundary of a form; never empty.
pub(super) fn boundary(headers: &HeaderMap) -> Option<&str> {
    let (kind, parameters) = headers.get(header::CONTENT_TYPE)?.to_str().ok()?.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let mut parameters = parameters.split(';').filter_map(|parameter| parameter.trim().split_once('='));
    let (_, boundary) = parameters.find(|(name, _)| name.eq_ignore_ascii_case("boundary"))?;
    Some(boundary.trim_matches('"')).filter(|boundary| (1..=LONGEST_BOUNDARY).contains(&boundary.len()))
}

impl<S, E> Form<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: std::error::Error + 'static,
{
    pub(crate) fn new(stream: S, boundary: &str) -> Self {
        // The first delimiter may stand at the very start, without a line break before it.
        let buffer = BytesMut::from(&b"\r\n"[..]);
        let delimiter = Finder::new(&format!("\r\n--{boundary}")).into_owned();
        Form { stream, delimiter, buffer, place: Place::Inside, parts: 0, beside: 0 }
    }

    /// The next part, after whatever is left of the one before; `None` at the end of the form.
    pub(crate) async fn next_part(&mut self) -> Result<Option<Part>, Fault> {
        while self.place == Place::Inside {
            let Some(piece) = self.next_piece().await? else { break };
            self.count(piece.len())?;
        }
        if self.place == Place::End || self.is_last().await? {
            return Ok(None);
        }
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(Fault::new(
                Reason::TooLarge,
                format!("the form has more than {MOST_PARTS} parts; send fewer"),
            ));
        }
        let head = self.head().await?;
        self.count(head.len())?;
        self.place = Place::Inside;
        read_head(&head).map(Some)
    }

    /// More of the current part; `None` at its end.
    pub(crate) async fn next_piece(&mut self) -> Result<Option<Bytes>, Fault> {
        while self.place == Place::Inside {
            if let Some(at) = self.delimiter.find(&self.buffer) {
                let piece = self.buffer.split_to(at).freeze();
                let _ = self.buffer.split_to(self.delimiter.needle().len());
                self.place = Place::Between;
                return Ok(Some(piece).filter(|piece| !piece.is_empty()));
            }
            // The last bytes may be the begin of a delimiter.
            let certain = self.buffer.len().saturating_sub(self.delimiter.needle().len() - 1);
            if certain > 0 {
                return Ok(Some(self.buffer.split_to(certain).freeze()));
            }
            self.more().await?;
        }
        Ok(None)
    }

    /// The text of the current part.
    pub(crate) async fn text(&mut self, name: &str, most: usize) -> Result<String, Fault> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.next_piece().await? {
            if bytes.len() + piece.len() > most {
                let cause = format!("`{name}` is larger than {} KB; shorten it", most / 1024);
                return Err(Fault::new(Reason::TooLarge, cause).param(name));
            }
            self.count(piece.len())?;
            bytes.extend_from_slice(&piece);
        }
        String::from_utf8(bytes).map_err(|_| Fault::invalid(name, format!("`{name}` is not UTF-8")))
    }

    /// Reads and discards the rest for a while, so that its sender gets to see why it is refused.
    pub(crate) async fn drain(&mut self) {
        self.buffer.clear();
        body::drain(&mut self.stream).await;
    }

    /// Whether the delimiter just read ends the form; if so, what comes after it is read and forgotten.
    async fn is_last(&mut self) -> Result<bool, Fault> {
        self.fill(2).await?;
        if !self.buffer.starts_with(b"--") {
            return Ok(false);
        }
        self.place = Place::End;
        self.count(self.buffer.len())?;
        while let Some(piece) = self.stream.next().await {
            self.count(piece.map_err(|error| body::cut_off(&error))?.len())?;
        }
        Ok(true)
    }

    /// The head of a part: from behind the delimiter to the empty line.
    async fn head(&mut self) -> Result<Bytes, Fault> {
        let mut searched = 0;
        loop {
            if let Some(at) = memmem::find(&self.buffer[searched..], b"\r\n\r\n") {
                return Ok(self.buffer.split_to(searched + at + 4).freeze());
            }
            if self.buffer.len() > HEAD_BYTES {
                let cause = format!(
                    "the headers of a part of the form are larger than {} KB; shorten the names in them",
                    HEAD_BYTES / 1024
                );
                return Err(Fault::new(Reason::TooLarge, cause));
            }
            searched = self.buffer.len().saturating_sub(3);
            self.more().await?;
        }
    }

    async fn fill(&mut self, least: usize) -> Result<(), Fault> {
        while self.buffer.len() < least {
            self.more().await?;
        }
        Ok(())
    }

    /// Takes one more piece of the body in.
    async fn more(&mut self) -> Result<(), Fault> {
        match self.stream.next().await {
            Some(Ok(piece)) => self.buffer.extend_from_slice(&piece),
            Some(Err(error)) => return Err(body::cut_off(&error)),
            None => return Err(malformed("ends before its last boundary")),
        }
        Ok(())
    }

    fn count(&mut self, bytes: usize) -> Result<(), Fault> {
        self.beside += bytes;
        if self.beside > FIELDS_BYTES {
            let cause = format!("the form has more than {} KB besides its file", FIELDS_BYTES / 1024);
            return Err(Fault::new(Reason::TooLarge, cause)
                .hint("check that the body has the boundary that Content-Type names"));
        }
        Ok(())
    }
}

fn malformed(how: &str) -> Fault {
    Fault::new(Reason::InvalidParameter, format!("the form is not well-formed multipart/form-data: it {how}"))
}

/// A head, from the rest of the delimiter's line to the empty line.
fn read_head(head: &[u8]) -> Result<Part, Fault> {
    let line = head.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(head.len());
    let Some(lines) = head[line..].strip_prefix(b"\r\n") else {
        return Err(malformed("has text after a boundary"));
    };
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let Ok(httparse::Status::Complete((_, headers))) = httparse::parse_headers(lines, &mut headers) else {
        return Err(malformed("has a part whose headers cannot be read"));
    };
    let mut part = Part::default();
    for header in headers {
        let value = String::from_utf8_lossy(header.value);
        if header.name.eq_ignore_ascii_case("content-disposition") {
            part.name = parameter(&value, "name").unwrap_or_default();
            part.file_name = extended(&value).or_else(|| parameter(&value, "filename"));
        } else if header.name.eq_ignore_ascii_case("content-type") {
            part.content_type = Some(value.trim().to_string());
        }
    }
    Ok(part)
}

/// The parameters of a header, as they stand: `; name="value"` or `; name=value`. Quoted values may hold anything.
fn parameters(header: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = header.split_once(';').map_or("", |(_, rest)| rest);
    std::iter::from_fn(move || {
        let (name, value) = rest.split_once('=')?;
        let name = name.trim_matches([' ', '\t', ';']);
        let quoted = value.starts_with('"');
        let end = match quoted {
            true => closing_quote(value),
            false => value.find(';').unwrap_or(value.len()),
        };
        rest = value[end..].trim_start_matches(['"', ' ', '\t', ';']);
        Some((name, if quoted { &value[1..end] } else { value[..end].trim() }))
    })
}

/// Where a text that starts with a quote ends; a quote behind a backslash is part of it.
fn closing_quote(value: &str) -> usize {
    let bytes = value.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' && bytes.get(at + 1) == Some(&b'"') { 2 } else { 1 };
    }
    at.min(value.len())
}

/// A parameter. Browsers write a quote within as `%22`, other clients as `\"`; a lone backslash is itself.
fn parameter(header: &str, wanted: &str) -> Option<String> {
    let (_, value) = parameters(header).find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
    Some(value.replace("\\\"", "\"").replace("%22", "\""))
}

/// `filename*=UTF-8''…`, which goes before `filename` (RFC 5987).
fn extended(header: &str) -> Option<String> {
    let (_, value) = parameters(header).find(|(name, _)| name.eq_ignore_ascii_case("filename*"))?;
    let (charset, rest) = value.split_once('\'')?;
    let (_, name) = rest.split_once('\'')?;
    // A plus is a plus here, unlike in a form that is sent in a URL.
    let name = name.replace('+', "%2B");
    let (decoded, _) = form_urlencoded::parse(name.as_bytes()).next()?;
    charset.eq_ignore_ascii_case("utf-8").then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests;
