//! A language model behind an OpenAI-compatible server: Ollama, vLLM, llama.cpp, or a hosted one.
//!
//! Nothing it does can cost more than a bound: time to the first token and between tokens, the whole time, the length
//! of a line and of the answer. It is tried again only before its first token, and left alone for a while after it has
//! failed several times in a row ([`Breaker`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::chat::prompt;
use engine::seams::answerer::{Answerer, Brief, Format, Piece, Pieces, Tokens};
use engine::{Fault, Reason};
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::breaker::Breaker;
use super::{Remote, client, wrong};

/// The longest line of the stream: a token or a few.
const LONGEST_LINE: usize = 64 * 1024;
/// The longest answer.
const LONGEST_ANSWER: usize = 256 * 1024;
/// The wait before the second attempt; doubled before each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The longest wait between attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// How long a model may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// From asking to the first token.
    pub first: Duration,
    /// From one token to the next.
    pub gap: Duration,
    /// For the whole answer.
    pub whole: Duration,
}

impl Patience {
    /// The usual shares of the time for a whole answer: half of it to begin, a quarter from token to token.
    pub fn within(whole: Duration) -> Self {
        Patience { first: whole / 2, gap: whole / 4, whole }
    }
}

/// A language model behind an OpenAI-compatible server.
pub struct RemoteAnswerer {
    http: reqwest::Client,
    remote: Remote,
    patience: Patience,
    id: String,
    breaker: Arc<Breaker>,
}

impl RemoteAnswerer {
    /// Prepares to talk to the server; nothing is sent yet. `remote.timeout` bounds connecting only.
    pub fn new(remote: Remote, patience: Patience) -> Result<Self, Fault> {
        let http = client::builder().connect_timeout(remote.timeout).build().map_err(Fault::internal)?;
        let id = format!("{}@remote", remote.model);
        Ok(RemoteAnswerer { http, remote, patience, id, breaker: Arc::default() })
    }

    /// The request for a brief.
    fn body(&self, brief: &Brief) -> Value {
        // The later half is random.
        let fence = Uuid::now_v7().simple().to_string();
        let sampling = &brief.sampling;
        let mut body = json!({
            "model": self.remote.model,
            "messages": prompt::messages(brief, &fence[16..]),
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                body[name] = value;
            }
        };
        set("temperature", Some(sampling.temperature.map_or(json!(0), |value| json!(value))));
        set("top_p", sampling.top_p.map(|value| json!(value)));
        set("seed", sampling.seed.map(|value| json!(value)));
        // Citations are written with their words and count for nobody: room for them beside the answer's own.
        set("max_tokens", sampling.max_tokens.map(|most| json!(most.saturating_mul(3).saturating_add(64))));
        set(
            "response_format",
            match &brief.format {
                Format::Text => None,
                Format::Object => Some(json!({"type": "json_object"})),
                Format::Schema(schema) => Some(json!({"type": "json_schema", "json_schema": schema})),
            },
        );
        body
    }

    /// Asks until the first token is there.
    async fn begin(&self, body: &Value) -> Result<Answer, Fault> {
        let started = Instant::now();
        let until = started + self.patience.first;
        let mut pause = FIRST_WAIT;
        let mut attempt = 1;
        loop {
            let asked = tokio::time::timeout_at(until, self.attempt(body, started)).await;
            let failure = match asked {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(failure)) => failure,
                Err(_) => Failure { fault: too_slow(), again: false },
            };
            if !failure.again || attempt >= self.remote.attempts || Instant::now() + pause >= until {
                return Err(failure.fault);
            }
            tokio::time::sleep(pause.min(LONGEST_WAIT)).await;
            pause *= 2;
            attempt += 1;
        }
    }

    /// One attempt, up to the first token.
    async fn attempt(&self, body: &Value, started: Instant) -> Result<Answer, Failure> {
        let url = format!("{}/chat/completions", self.remote.url.trim_end_matches('/'));
        let mut request = self.http.post(url).json(body);
        if let Some(key) = &self.remote.key {
            request = request.bearer_auth(key);
        }
        let response = client::traced(request).send().await.map_err(|error| {
            let cause = "the language model cannot be reached; try again shortly, and tell the operator if it persists";
            let fault = Fault::new(Reason::UpstreamUnavailable, cause);
            Failure {
                fault: client::with_source(fault.retry_after(LONGEST_WAIT), error.without_url()),
                again: true,
            }
        })?;
        let status = response.status();
        if !status.is_success() {
            let again = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
            let told = match again {
                true => "the language model is busy or failing; try again shortly",
                false => "the language model refused the request; the server's log says why",
            };
            let fault = Fault::new(Reason::UpstreamUnavailable, told);
            let fault = client::with_source(fault.retry_after(LONGEST_WAIT), format!("HTTP {status}"));
            return Err(Failure { fault, again });
        }
        let mut answer = Answer {
            response,
            lines: Lines::default(),
            waiting: VecDeque::new(),
            until: started + self.patience.whole,
            gap: self.patience.gap,
            written: 0,
            finished: false,
            ended: false,
        };
        answer.fill().await?;
        Ok(answer)
    }
}

/// Why there is no answer, and whether asking again may help.
struct Failure {
    fault: Fault,
    again: bool,
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Failure { fault, again: false }
    }
}

#[async_trait]
impl Answerer for RemoteAnswerer {
    fn id(&self) -> &str {
        &self.id
    }

    fn can(&self, _: &Format) -> bool {
        true
    }

    fn longest(&self) -> usize {
        usize::MAX
    }

    async fn answer(&self, brief: Brief) -> Result<Option<Box<dyn Pieces>>, Fault> {
        self.breaker.ask(std::time::Instant::now())?;
        let trial = self.breaker.clone().trial();
        // The first token decides whether the server is well.
        let answer = self.begin(&self.body(&brief)).await?;
        trial.went_well();
        Ok(Some(Box::new(answer)))
    }
}

/// An answer that is read as it comes.
struct Answer {
    response: Response,
    lines: Lines,
    waiting: VecDeque<Piece>,
    until: Instant,
    gap: Duration,
    written: usize,
    /// Whether the model said that it has finished.
    finished: bool,
    /// Whether there is nothing more to read.
    ended: bool,
}

#[derive(Deserialize)]
struct Frame {
    #[serde(default)]
    choices: Vec<FrameChoice>,
    usage: Option<FrameUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct FrameChoice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Delta {
    content: Option<String>,
}

#[derive(Deserialize)]
struct FrameUsage {
    prompt_tokens: usize,
    completion_tokens: usize,
}

impl Answer {
    /// Reads until there is a piece, or the end.
    async fn fill(&mut self) -> Result<(), Failure> {
        while self.waiting.is_empty() && !self.ended {
            match self.response.chunk().await.map_err(broken)? {
                Some(bytes) => {
                    for line in self.lines.push(&bytes)? {
                        self.read(&line)?;
                    }
                }
                None if self.finished => self.ended = true,
                None => {
                    let fault = client::with_source(cut_off(), "the stream ended early");
                    return Err(Failure { fault, again: true });
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, line: &str) -> Result<(), Fault> {
        let Some(data) = line.strip_prefix("data:").map(str::trim) else { return Ok(()) };
        if data.is_empty() || self.ended {
            return Ok(());
        }
        if data == "[DONE]" {
            (self.finished, self.ended) = (true, true);
            return Ok(());
        }
        let frame: Frame =
            serde_json::from_str(data).map_err(|error| wrong(format!("no such frame: {error}")))?;
        if let Some(error) = frame.error.filter(|error| !error.is_null()) {
            let told: String = error.to_string().chars().take(500).collect();
            return Err(client::with_source(cut_off(), told));
        }
        for choice in frame.choices.into_iter().take(1) {
            if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
                self.written += text.len();
                if self.written > LONGEST_ANSWER {
                    return Err(wrong(format!("more than {LONGEST_ANSWER} bytes of answer")));
                }
                self.waiting.push_back(Piece::Text(text));
            }
            if let Some(reason) = choice.finish_reason {
                self.finished = true;
                if reason == "length" {
                    self.waiting.push_back(Piece::Cut);
                }
            }
        }
        if let Some(usage) = frame.usage {
            let tokens = Tokens { prompt: usage.prompt_tokens, completion: usage.completion_tokens };
            self.waiting.push_back(Piece::Tokens(tokens));
        }
        Ok(())
    }
}

#[async_trait]
impl Pieces for Answer {
    async fn next(&mut self) -> Result<Option<Piece>, Fault> {
        let left = self.until.saturating_duration_since(Instant::now());
        let filled = timeout(self.gap.min(left), self.fill()).await.map_err(|_| too_slow())?;
        filled.map_err(|failure| failure.fault)?;
        Ok(self.waiting.pop_front())
    }
}

/// Bytes as lines.
#[derive(Default)]
struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, Fault> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.rest.extend_from_slice(part);
            if self.rest.len() > LONGEST_LINE {
                return Err(wrong(format!("a line of more than {LONGEST_LINE} bytes")));
            }
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.rest);
                lines.push(String::from_utf8_lossy(&line).trim_end().to_string());
            }
        }
        Ok(lines)
    }
}

fn too_slow() -> Fault {
    Fault::new(
        Reason::Timeout,
        "the language model took too long to answer; try again, or ask for a shorter answer",
    )
}

fn cut_off() -> Fault {
    Fault::new(
        Reason::UpstreamUnavailable,
        "the language model stopped in the middle of its answer; try again",
    )
}

fn broken(error: reqwest::Error) -> Failure {
    Failure { fault: client::with_source(cut_off(), error.without_url()), again: true }
}
