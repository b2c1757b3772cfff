//! JSON bodies and URL parameters: read with a limit, into types, with errors that name the field and warnings for unknown ones.

use std::{error::Error, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, Query, Request, rejection::QueryRejection},
    http::header,
};
use engine::{Fault, Reason};
use futures::{Stream, StreamExt};
use serde::{
    Deserializer,
    de::{DeserializeOwned, Visitor},
};
use serde_json::Value;

use super::{error::Failure, incoming::Cut};
use crate::{app::App, config::nearest};

/// How long a client that sends too much is listened to before the connection is cut …
pub const PATIENCE: Duration = Duration::from_secs(10);
/// … and how long while it sends nothing: it is waiting for the answer, then.
const LULL: Duration = Duration::from_secs(1);

/// Unknown fields that are warned of: each takes a search for the nearest name, and a body has room for 100,000.
const MOST_WARNINGS: usize = 20;

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
        let content_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.as_bytes().to_vec());
        must_be_json(content_type.as_deref())?;
        let bytes = read(request.into_body(), app.config.limits.body_kb).await?;
        Ok(parse(&bytes)?)
    }
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

async fn read(body: Body, limit_kb: usize) -> Result<Bytes, Fault> {
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
        if bytes.len() + more.len() > limit_kb * 1024 {
            drain(&mut stream).await;
            return Err(Fault::new(Reason::TooLarge, format!("the body is larger than {limit_kb} KB"))
                .hint("the operator can raise limits.body_kb"));
        }
        bytes.extend_from_slice(&more);
    }
    Ok(bytes.into())
}

/// Reads on and forgets, for a while: a client that is still sending would not see why it is refused.
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
                .hint("the operator can raise limits.file_mb")
        }
        Some(slow @ Cut::TooSlow { .. }) => Fault::new(Reason::InvalidParameter, slow.to_string())
            .hint("send it again when the connection is better"),
        None => Fault::new(Reason::InvalidParameter, "the body was cut off before its end"),
    }
}

/// Reads a body that has come in whole.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<JsonBody<T>, Fault> {
    if let Err(wrong) = std::str::from_utf8(bytes) {
        let cause = format!("the body is not UTF-8: byte {} is wrong", wrong.valid_up_to());
        return Err(Fault::new(Reason::InvalidParameter, cause));
    }
    let value: Value = serde_json::from_slice(bytes).map_err(|wrong| {
        Fault::new(Reason::InvalidParameter, format!("the body is not valid JSON: {wrong}"))
    })?;
    let Value::Object(fields) = &value else {
        let cause = format!("the body must be a JSON object; got {}", kind_of(&value));
        return Err(Fault::new(Reason::InvalidParameter, cause));
    };
    let known = field_names::<T>();
    let warnings = fields
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
        .take(MOST_WARNINGS)
        .map(|name| warning(name, known))
        .collect();
    let value = serde_path_to_error::deserialize(value).map_err(|error| field_fault(&error))?;
    Ok(JsonBody { value, warnings })
}

/// The parameters in a URL, or a fault in our words.
pub fn parameters<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, Fault> {
    query.map(|Query(query)| query).map_err(|wrong| Fault::new(Reason::InvalidParameter, wrong.body_text()))
}

/// What is said of a field that nobody knows.
pub fn warning(name: &str, known: &'static [&'static str]) -> String {
    let name: String = name.chars().take(100).collect();
    match nearest(&name, known.iter().copied()) {
        Some(nearest) => {
            format!("unknown field `{name}` was ignored; the nearest known field is `{nearest}`")
        }
        None => format!("unknown field `{name}` was ignored"),
    }
}

/// A wrong or missing field, with its name.
fn field_fault(error: &serde_path_to_error::Error<serde_json::Error>) -> Fault {
    let text = error.inner().to_string();
    if let Some(name) = text.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
        return Fault::new(Reason::MissingParameter, format!("`{name}` is required")).param(name);
    }
    let path = error.path().to_string();
    // serde says "invalid type: integer `5`, expected a string".
    let text = match text.split_once(": ").and_then(|(_, rest)| rest.split_once(", expected ")) {
        Some((came, expected)) => format!("expected {expected}, got {came}"),
        None => text,
    };
    Fault::invalid(&path, format!("`{path}`: {text}"))
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

/// The field names that a type reads, told by its own `Deserialize`.
fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // Always an error: the probe answers nothing, it only listens to what is asked for.
    let _ = T::deserialize(Probe(&mut names));
    names
}

struct Probe<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(serde::de::Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
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
        assert_eq!(cause, "`query`: expected a string, got integer `5`");
        let (_, param, _) = fault(r#"{"query":"x","sources":["a",7]}"#);
        assert_eq!(param.as_deref(), Some("sources[1]"));
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
        assert_eq!(body.warnings, ["unknown field `topk` was ignored; the nearest known field is `top_k`"]);
    }
}
