//! Chooses who answers questions.

use std::{
    ffi::OsString,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, ExitCode},
    sync::Arc,
    time::Duration,
};

use ::models::{Gguf, GgufAnswerer, Patience, Remote, RemoteAnswerer};
use anyhow::{Result, anyhow, bail};
use engine::{
    Fault, Reason,
    chat::{Chat, Extractive},
    seams::{answerer::Answerer, catalog::ChosenModel},
};
use nix::sys::{prctl::set_pdeathsig, signal::Signal};

use crate::{
    app::answers::Answers,
    config::{AnswererKind, AnswererSettings},
};

/// How long connecting may take, and how often an answer is begun again.
const CONNECT: Duration = Duration::from_secs(10);
const ATTEMPTS: u32 = 3;

/// The answerer that the settings name.
pub(super) fn choose(settings: &AnswererSettings, quoting: &Arc<Extractive>) -> Result<Arc<dyn Answerer>> {
    match settings.kind {
        AnswererKind::Dashboard | AnswererKind::Extractive => Ok(quoting.clone()),
        AnswererKind::Upstream => upstream(settings),
        AnswererKind::Gguf => gguf(settings),
    }
}

/// The first word on the command line of the process that becomes a language model's.
pub const MODEL_CHILD: &str = "model-child";

/// Becomes the program named, which then ends when the server does, however that ends.
pub fn become_model(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    if let (Some(program), Ok(())) = (words.next(), set_pdeathsig(Signal::SIGKILL)) {
        let error = Command::new(&program).args(words).exec();
        eprintln!("cannot run {}: {error}", Path::new(&program).display());
    }
    ExitCode::FAILURE
}

fn gguf(settings: &AnswererSettings) -> Result<Arc<dyn Answerer>> {
    if settings.model.is_empty() {
        bail!("answerer.model must be the path of a GGUF file, for answerer.kind = \"gguf\"");
    }
    let answerer = GgufAnswerer::start(Gguf {
        file: settings.model.clone().into(),
        program: settings.program.clone().into(),
        launcher: vec![std::env::current_exe()?.into(), MODEL_CHILD.into()],
        context: settings.context_tokens,
        patience: patience(settings)?,
    })?;
    Ok(Arc::new(answerer))
}

/// Who answers: this chat or, where the settings leave that to operators, the model that they choose.
pub(super) fn answers(settings: &AnswererSettings, chat: Chat) -> Answers {
    if settings.kind != AnswererKind::Dashboard {
        return Answers::set(chat);
    }
    let settings = settings.clone();
    let wrong = |wrong: anyhow::Error| Fault::new(Reason::InvalidParameter, wrong.to_string());
    Answers::chosen(&chat, Box::new(move |chosen| open(&settings, chosen).map_err(wrong)))
}

/// The model that an operator chose, as patient as the settings say.
pub(super) fn open(settings: &AnswererSettings, chosen: &ChosenModel) -> Result<Arc<dyn Answerer>> {
    let ChosenModel { url, model, key } = chosen.clone();
    upstream(&AnswererSettings { url, model, api_key: key, ..settings.clone() })
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
    let (url, model, key) = (settings.url.clone(), settings.model.clone(), settings.api_key.clone());
    let remote = Remote { url, model, key, timeout: CONNECT, attempts: ATTEMPTS };
    let patience = patience(settings)?;
    Ok(Arc::new(RemoteAnswerer::new(remote, patience).map_err(|fault| anyhow!(fault.cause))?))
}

fn patience(settings: &AnswererSettings) -> Result<Patience> {
    if settings.timeout_s == 0 {
        bail!("answerer.timeout_s must be at least 1");
    }
    Ok(Patience::within(Duration::from_secs(settings.timeout_s)))
}
