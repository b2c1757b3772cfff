//! Chooses who answers questions.

use std::{sync::Arc, time::Duration};

use ::models::{Patience, Remote, RemoteAnswerer};
use anyhow::{Result, anyhow, bail};
use engine::{chat::Extractive, seams::answerer::Answerer};

use super::Models;
use crate::config::{AnswererKind, AnswererSettings};

/// How long connecting may take, and how often an answer is begun anew.
const CONNECT: Duration = Duration::from_secs(10);
const ATTEMPTS: u32 = 3;

/// The answerer that the settings name.
pub(super) fn choose(settings: &AnswererSettings, models: &Models) -> Result<Arc<dyn Answerer>> {
    match settings.kind {
        AnswererKind::Extractive => Ok(Arc::new(Extractive::new(models.embedder.clone()))),
        AnswererKind::Upstream => upstream(settings),
        AnswererKind::Gguf => bail!(
            "answerer.kind = \"gguf\" is not in this build of quire; use \"extractive\", or \"upstream\" with the \
             address of a llama.cpp or Ollama server on this machine in answerer.url"
        ),
    }
}

fn upstream(settings: &AnswererSettings) -> Result<Arc<dyn Answerer>> {
    if !settings.url.starts_with("http://") && !settings.url.starts_with("https://") {
        bail!(
            "answerer.url must be the address of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1"
        );
    }
    if settings.model.is_empty() {
        bail!("answerer.model must be the model's name at {}", settings.url);
    }
    if settings.timeout_s == 0 {
        bail!("answerer.timeout_s must be at least 1");
    }
    let (url, model, key) = (settings.url.clone(), settings.model.clone(), settings.api_key.clone());
    let remote = Remote { url, model, key, timeout: CONNECT, attempts: ATTEMPTS };
    let patience = Patience::within(Duration::from_secs(settings.timeout_s));
    Ok(Arc::new(RemoteAnswerer::new(remote, patience).map_err(|fault| anyhow!(fault.cause))?))
}
