//! The fields of a form.

use std::str::FromStr;

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, Request},
};
use engine::{Fault, Reason};

use crate::{
    app::App,
    http::{body, error::Failure},
};

/// Bytes of a form: a few thousand selected files.
const LARGEST: usize = 256 * 1024;

/// The bytes of a form.
pub(super) async fn read(body: Body) -> Result<Bytes, Fault> {
    let too_large = || Fault::new(Reason::TooLarge, format!("the form is larger than {} KB", LARGEST / 1024));
    body::read(body, LARGEST, too_large).await
}

/// A form as it was sent; a name may stand more than once.
pub(super) struct Fields(Vec<(String, String)>);

impl FromRequest<App> for Fields {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &App) -> Result<Self, Failure> {
        let bytes = read(request.into_body()).await?;
        Ok(Fields(form_urlencoded::parse(&bytes).into_owned().collect()))
    }
}

impl Fields {
    /// What an address says, read like a form.
    pub(super) fn of(sent: Vec<(String, String)>) -> Self {
        Fields(sent)
    }

    /// Whether the field was sent at all.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(found, _)| found == name)
    }

    /// The field's text, trimmed; a field that is not there is empty.
    pub(super) fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// The field's text as it was sent: for passwords.
    pub(super) fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    /// Whether a box was ticked.
    pub(super) fn ticked(&self, name: &str) -> bool {
        !self.raw(name).is_empty()
    }

    /// All texts of fields of this name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The field parsed into its type.
    pub(super) fn parse<T: FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<T, Fault> {
        self.text(name).parse().map_err(|wrong: T::Err| Fault::invalid(name, wrong.to_string()))
    }

    /// The same; `None` for an empty field.
    pub(super) fn optional<T: FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, Fault> {
        if self.text(name).is_empty() { Ok(None) } else { self.parse(name).map(Some) }
    }
}
