//! What language a box is for, and when one that was left to us turns multilingual.

use std::{fmt, str::FromStr};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    Fault,
    access::{Managing, Writing},
};

/// What a box is for. Decides which embedder fills it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BoxLanguage {
    /// What its documents turn out to be.
    #[default]
    Auto,
    /// Documents and questions in English.
    English,
    /// Documents and questions in any language.
    Multilingual,
}

impl BoxLanguage {
    /// All of them.
    pub const ALL: [BoxLanguage; 3] = [BoxLanguage::Auto, BoxLanguage::English, BoxLanguage::Multilingual];

    /// The word on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            BoxLanguage::Auto => "auto",
            BoxLanguage::English => "english",
            BoxLanguage::Multilingual => "multilingual",
        }
    }
}

impl fmt::Display for BoxLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for BoxLanguage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        BoxLanguage::ALL.into_iter().find(|language| language.as_str() == text).ok_or_else(|| {
            "the language of a box is `auto`, `english` or `multilingual`, not a language of its own".into()
        })
    }
}

/// Characters of a document below which its language does not count: it is too easily mistaken.
pub const SHORT_TEXT: usize = 200;

/// The languages of boxes.
#[async_trait]
pub trait Languages: Send + Sync {
    /// Sets what a box is for. Where it was filled for something else, it is to be indexed again: that is requested in the
    /// same step, and refused with [`Reason::Conflict`](crate::Reason::Conflict) while the box is being indexed already.
    /// Says whether it was requested.
    async fn set_language(&self, managing: &Managing, language: BoxLanguage) -> Result<bool, Fault>;

    /// Turns a box that is `auto` multilingual, once and for all, if more than a tenth of its text is in another language
    /// than English: notes it, tells the webhooks, and requests that the box is indexed again. Says whether it did; of
    /// several that ask, one. Refused with [`Reason::Conflict`](crate::Reason::Conflict) while the box is being indexed.
    async fn change_over(&self, writing: &Writing) -> Result<bool, Fault>;

    /// The languages of what was added to a box last, those with most text first, as the two letters of ISO 639-1. A language in which
    /// there is little does not count.
    async fn languages_of(&self, writing: &Writing) -> Result<Vec<String>, Fault>;

    /// Notes that a box that is `auto` begins as multilingual, because its first documents are in another language.
    async fn begin_multilingual(&self, writing: &Writing) -> Result<(), Fault>;

    /// Notes that an operator took a box back to an index for this language: from now on it is no longer `auto`.
    async fn keep_language(&self, writing: &Writing, multilingual: bool) -> Result<(), Fault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back() {
        for language in BoxLanguage::ALL {
            assert_eq!(language.as_str().parse(), Ok(language));
        }
        assert!("german".parse::<BoxLanguage>().is_err() && "Auto".parse::<BoxLanguage>().is_err());
    }
}
