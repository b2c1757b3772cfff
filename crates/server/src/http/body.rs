//! JSON bodies: read with a limit, into types, with errors that name the field and warnings for unknown ones.

use std::{error::Error, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, Request},
    http::header,
};
use engine::{Fault, Reason};
use futures::{Stream, StreamExt};
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::Value;
use serde_path_to_error::Segment;

use super::{
    error::Failure,
    incoming::Cut,
    names::{MOST_WARNINGS, field_names, unknown},
    query,
};
use crate::app::App;

/// How long a client that sends too much is listened to before the connection is cut …
pub const PATIENCE: Duration = Duration::from_secs(10);
/// … and how long while it sends nothing: it is waiting for the answer, then.
const LULL: Duration = Duration::from_secs(1);

/// A JSON body of type `T`.
pub struct JsonBody<T> {
    /// What was asked for.
    pub value: T,
    /// One line for each field that nobody knows.
    pub warnings: Vec<String>,
}

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &App) -> Result<Self, Failure> {
        let ignored: Vec<String> = query::ignored(request.uri()).collect();
        let content_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.as_bytes().to_vec());
        must_be_json(content_type.as_deref())?;
        let bytes = read_json(app, request.into_body()).await?;
        let mut body = parse(&bytes)?;
        body.warnings.extend(ignored);
        Ok(body)
    }
}

/// Reads a field that can be taken away: left out is `None`, null is `Some(None)`.
pub(crate) fn given<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

fn must_be_json(content_type: Option<&[u8]>) -> Result<(), Fault> {
    let named = content_type.map(|value| String::from_utf8_lossy(value).to_lowercase());
    let essence = named.as_deref().map(|value| value.split(';').next().unwrap_or("").trim());
    match essence {
        Some(kind)
            if kind == "application/json"
                || (kind.starts_with("application/") && kind.ends_with("+json")) =>
        {
            Ok(())
        }
        Some(kind) => Err(Fault::new(
            Reason::UnsupportedMediaType,
            format!("the body was sent as `{kind}`; send JSON with `Content-Type: application/json`"),
        )),
        None => Err(Fault::new(
            Reason::UnsupportedMediaType,
            "the request has no Content-Type; send JSON with `Content-Type: application/json`",
        )),
    }
}

/// All of a body that holds JSON.
pub(super) async fn read_json(app: &App, body: Body) -> Result<Bytes, Fault> {
    let limit_kb = app.config.limits.body_kb;
    let too_large = || {
        Fault::new(Reason::TooLarge, format!("the body is larger than {limit_kb} KB"))
            .hint("send less, or ask the operator to raise limits.body_kb")
    };
    read(body, limit_kb * 1024, too_large).await
}

/// All of a body of at most `most` bytes. Whoever sends more is listened to for a while, so that they hear why it is refused.
pub(crate) async fn read(body: Body, most: usize, too_large: impl FnOnce() -> Fault) -> Result<Bytes, Fault> {
    let mut stream = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(more) = stream.next().await {
        let more = match more {
            Ok(more) => more,
            Err(error) => {
                drain(&mut stream).await;
                return Err(cut_off(&error));
            }
        };
        if bytes.len() + more.len() > most {
            drain(&mut stream).await;
            return Err(too_large());
        }
        bytes.extend_from_slice(&more);
    }
    Ok(bytes.into())
}

/// Reads and discards the rest, for a while: a client that is still sending would not see why it is refused.
pub async fn drain<T, E>(stream: &mut (impl Stream<Item = Result<T, E>> + Unpin)) {
    let forget = async { while let Ok(Some(Ok(_))) = tokio::time::timeout(LULL, stream.next()).await {} };
    let _ = tokio::time::timeout(PATIENCE, forget).await;
}

/// Why a body could not be read to its end.
pub fn cut_off(error: &(dyn Error + 'static)) -> Fault {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    match causes.find_map(|cause| cause.downcast_ref::<Cut>()) {
        Some(Cut::TooLarge { most_mb }) => {
            Fault::new(Reason::TooLarge, format!("the body is larger than {most_mb} MB"))
                .hint("send less, or ask the operator to raise limits.file_mb")
        }
        Some(slow @ Cut::TooSlow { .. }) => Fault::new(Reason::InvalidParameter, slow.to_string())
            .hint("send it again when the connection is better"),
        None => Fault::new(Reason::InvalidParameter, "the body was cut off before its end; send it again"),
    }
}

/// Reads a body that has come in whole.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<JsonBody<T>, Fault> {
    if let Err(wrong) = std::str::from_utf8(bytes) {
        let cause = format!("the body is not valid UTF-8: see byte {}", wrong.valid_up_to());
        return Err(Fault::new(Reason::InvalidParameter, cause));
    }
    let value: Value = serde_json::from_slice(bytes).map_err(|wrong| {
        let (line, column) = (wrong.line(), wrong.column());
        let cause = format!("the body is not valid JSON: see line {line}, column {column}");
        Fault::new(Reason::InvalidParameter, cause)
    })?;
    let Value::Object(fields) = &value else {
        let cause = format!("the body must be a JSON object, not {}", kind_of(&value));
        return Err(Fault::new(Reason::InvalidParameter, cause));
    };
    let known = field_names::<T>();
    let warnings = fields
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
        .take(MOST_WARNINGS)
        .map(|name| warning(name, known))
        .collect();
    let read = serde_path_to_error::deserialize(&value).map_err(|error| field_fault(&error, &value))?;
    Ok(JsonBody { value: read, warnings })
}

/// Reads values that came within something else.
pub fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, Fault> {
    serde_path_to_error::deserialize(value).map_err(|error| field_fault(&error, value))
}

/// The warning for a field that nobody knows.
pub fn warning(name: &str, known: &'static [&'static str]) -> String {
    unknown("field", name, known)
}

/// A wrong or missing field: its name, what was expected and what came, in our own words.
fn field_fault(error: &serde_path_to_error::Error<serde_json::Error>, body: &Value) -> Fault {
    let text = error.inner().to_string();
    let path = error.path().to_string();
    if let Some(name) = text.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
        let name = if path == "." { name.to_string() } else { format!("{path}.{name}") };
        return Fault::new(Reason::MissingParameter, format!("`{name}` is required")).param(name);
    }
    let came = error.path().iter().try_fold(body, |value, segment| match segment {
        Segment::Seq { index } => value.get(index),
        Segment::Map { key } => value.get(key),
        Segment::Enum { .. } | Segment::Unknown => Some(value),
    });
    let came = came.map_or("something else".to_string(), described);
    if path == "." {
        let cause = "the body does not have the fields that this endpoint expects";
        return Fault::new(Reason::InvalidParameter, cause)
            .hint("compare it with the API reference at /docs/api");
    }
    Fault::invalid(&path, format!("`{path}` must be {}, not {came}", expected(&text)))
}

/// What was expected, from the end of serde's message: "invalid type: integer `5`, expected a string".
fn expected(text: &str) -> String {
    let wanted = text.rsplit_once("expected ").map_or("", |(_, wanted)| wanted);
    let wanted = wanted.split(" at line ").next().unwrap_or_default();
    if text.starts_with("unknown variant") {
        let choices = wanted.trim_start_matches("one of ").replace('`', "");
        return match choices.rsplit_once([',']) {
            Some((most, last)) => format!("{most} or {}", last.trim()),
            None => choices,
        };
    }
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "an array",
        "a string" => "a string",
        "a boolean" => "true or false",
        // Structs and maps; serde names types of ours here, which mean nothing to a caller.
        _ => "an object",
    }
    .into()
}

/// A value as an error shows it: short values themselves, others by their kind.
fn described(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("\"{text}\""),
        other => kind_of(other).into(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Wanted {
        query: String,
        #[serde(default)]
        sources: Option<Vec<String>>,
        top_k: Option<u32>,
        #[expect(dead_code, reason = "only read")]
        options: Option<Options>,
        #[expect(dead_code, reason = "only read")]
        mode: Option<Mode>,
    }

    #[derive(Debug, Deserialize)]
    struct Options {
        #[expect(dead_code, reason = "only read")]
        deep: Option<bool>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Hybrid,
        Semantic,
        Keyword,
    }

    fn fault(body: &str) -> (Reason, Option<String>, String) {
        let fault = parse::<Wanted>(body.as_bytes()).map(|body| body.value).unwrap_err();
        (fault.reason, fault.param, fault.cause)
    }

    #[test]
    fn a_good_body_is_read() {
        let body = parse::<Wanted>(br#"{"query":"x","sources":["a"],"top_k":null}"#).unwrap();
        assert_eq!((body.value.query.as_str(), body.value.top_k), ("x", None));
        assert_eq!(body.value.sources.unwrap(), ["a"]);
        assert!(body.warnings.is_empty());
    }

    #[test]
    fn a_wrong_type_names_the_field_what_was_expected_and_what_came() {
        let (reason, param, cause) = fault(r#"{"query":5}"#);
        assert_eq!((reason, param.as_deref()), (Reason::InvalidParameter, Some("query")));
        assert_eq!(cause, "`query` must be a string, not 5");
        let (_, param, cause) = fault(r#"{"query":"x","sources":["a",7]}"#);
        assert_eq!(param.as_deref(), Some("sources[1]"));
        assert_eq!(cause, "`sources[1]` must be a string, not 7");
        for (body, says) in [
            (r#"{"query":"x","top_k":-1}"#, "`top_k` must be a whole number, 0 or more, not -1"),
            (r#"{"query":"x","top_k":"many"}"#, "`top_k` must be a whole number, 0 or more, not \"many\""),
            (r#"{"query":"x","sources":"a"}"#, "`sources` must be an array, not \"a\""),
            (r#"{"query":"x","options":true}"#, "`options` must be an object, not true"),
            (r#"{"query":"x","options":{"deep":"no"}}"#, "`options.deep` must be true or false, not \"no\""),
            (r#"{"query":"x","mode":"loud"}"#, "`mode` must be hybrid, semantic or keyword, not \"loud\""),
        ] {
            assert_eq!(fault(body).2, says);
        }
    }

    #[test]
    fn a_missing_field_is_named() {
        let (reason, param, _) = fault("{}");
        assert_eq!((reason, param.as_deref()), (Reason::MissingParameter, Some("query")));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for body in ["", "{", "[]", "null", "7", "{\"query\":\"x\"} x", "{'query':'x'}"] {
            assert_eq!(fault(body).0, Reason::InvalidParameter, "{body}");
        }
        let deep = format!("{{\"query\":{}", "[".repeat(100_000));
        assert_eq!(fault(&deep).0, Reason::InvalidParameter);
        assert_eq!(
            parse::<Wanted>(b"{\"query\":\"\xff\"}").map(|b| b.value.query).unwrap_err().reason,
            Reason::InvalidParameter
        );
    }

    #[test]
    fn a_body_full_of_unknown_fields_is_warned_of_a_few_times() {
        let fields: Vec<String> = (0..1_000).map(|number| format!("\"field{number}\":1")).collect();
        let body = parse::<Wanted>(format!("{{\"query\":\"x\",{}}}", fields.join(",")).as_bytes()).unwrap();
        assert_eq!(body.warnings.len(), MOST_WARNINGS);
    }

    #[test]
    fn an_unknown_field_is_a_warning_with_the_nearest_name() {
        let body = parse::<Wanted>(br#"{"query":"x","topk":3}"#).unwrap();
        assert_eq!(body.warnings, ["unknown field `topk` was ignored; did you mean `top_k`?"]);
        let body = parse::<Wanted>(br#"{"query":"x","zzz":3}"#).unwrap();
        assert_eq!(body.warnings, ["unknown field `zzz` was ignored"], "nothing resembles it");
    }
}
