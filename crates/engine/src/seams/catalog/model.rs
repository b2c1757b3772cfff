//! The language model that an operator chose in the dashboard, where the settings leave that to them.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Fault, access::Operating};

/// A language model behind an OpenAI-compatible server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenModel {
    /// Address of the server, usually ending in `/v1`.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// The key for it, if it needs one.
    pub key: Option<String>,
}

impl fmt::Debug for ChosenModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key.as_ref().map(|_| "***");
        f.debug_struct("ChosenModel")
            .field("url", &self.url)
            .field("model", &self.model)
            .field("key", &key)
            .finish()
    }
}

/// What operators choose of the server itself.
#[async_trait]
pub trait Choices: Send + Sync {
    /// The model that was chosen; `None`: answers quote.
    async fn chosen_model(&self) -> Result<Option<ChosenModel>, Fault>;

    /// Chooses one, or none. What was chosen before, its key included, is overwritten where it was stored.
    async fn choose_model(&self, operating: &Operating, chosen: Option<ChosenModel>) -> Result<(), Fault>;
}
