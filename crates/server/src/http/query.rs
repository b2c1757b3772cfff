//! Parameters in a URL: read into types, with errors that name the parameter and warnings for unknown ones.

use std::collections::HashSet;

use axum::{
    extract::{FromRequestParts, Query},
    http::{Uri, request::Parts},
};
use engine::{Fault, Reason};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    error::Failure,
    names::{MOST_WARNINGS, field_names, unknown},
};

/// The parameters of type `T` in a URL.
pub struct Parameters<T> {
    /// What was asked for.
    pub value: T,
    /// One line for each parameter that nobody knows.
    pub warnings: Vec<String>,
}

/// For routes that take no parameters: whatever is in the URL is named in a warning.
#[derive(Deserialize)]
pub struct Nothing {}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(read(&parts.uri)?)
    }
}

/// How many entries a page of a list has: 1 to 200, and 50 if left out.
pub fn page_limit(text: Option<&str>) -> Result<u32, Fault> {
    match text.map(str::parse::<u32>) {
        None => Ok(50),
        Some(Ok(limit)) if (1..=200).contains(&limit) => Ok(limit),
        Some(_) => Err(Fault::invalid("limit", "`limit` must be a whole number from 1 to 200")),
    }
}

/// Reads the parameters of a URL.
pub fn read<T: DeserializeOwned>(uri: &Uri) -> Result<Parameters<T>, Fault> {
    let (known, mut given, mut warnings) = (field_names::<T>(), HashSet::new(), Vec::new());
    for (name, _) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        if !known.contains(&name.as_ref()) {
            if warnings.len() < MOST_WARNINGS {
                warnings.push(unknown("query parameter", &name, known));
            }
        } else if !given.insert(name.to_string()) {
            return Err(Fault::invalid(
                &name,
                format!("`{name}` is in the URL more than once; send it once"),
            ));
        }
    }
    match Query::try_from_uri(uri) {
        Ok(Query(value)) => Ok(Parameters { value, warnings }),
        Err(_) => Err(Fault::new(
            Reason::InvalidParameter,
            "a parameter in the URL has a value that cannot be read; compare the URL with the API reference at /docs/api",
        )),
    }
}

/// Warns of every parameter in the URL of a request whose parameters are all in its body.
pub fn ignored(uri: &Uri) -> impl Iterator<Item = String> {
    let names = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    names.take(MOST_WARNINGS).map(|(name, _)| {
        let name: String = name.chars().take(100).collect();
        format!("unknown query parameter `{name}` was ignored; this request takes its parameters in the body")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Wanted {
        limit: Option<String>,
        sort: Option<String>,
    }

    fn wanted(query: &str) -> Result<Parameters<Wanted>, Fault> {
        read(&format!("/files?{query}").parse().unwrap())
    }

    #[test]
    fn a_url_full_of_unknown_parameters_is_warned_of_a_few_times() {
        let url = "x=1&".repeat(1_000) + "limit=5";
        let read = wanted(&url).unwrap();
        assert_eq!((read.warnings.len(), read.value.limit.as_deref()), (MOST_WARNINGS, Some("5")));
        assert_eq!(ignored(&format!("/x?{url}").parse().unwrap()).count(), MOST_WARNINGS);
    }

    #[test]
    fn unknown_parameters_are_warnings_with_the_nearest_name() {
        let read = wanted("limit=5&srot=name&colour=blue").unwrap();
        assert_eq!((read.value.limit.as_deref(), read.value.sort), (Some("5"), None));
        assert_eq!(
            read.warnings,
            [
                "unknown query parameter `srot` was ignored; did you mean `sort`?",
                "unknown query parameter `colour` was ignored"
            ]
        );
    }

    #[test]
    fn a_parameter_is_sent_once() {
        let fault = wanted("limit=5&limit=6").map(|read| read.warnings).unwrap_err();
        assert_eq!(fault.cause, "`limit` is in the URL more than once; send it once");
    }
}
