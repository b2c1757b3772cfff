//! One request to a model endpoint, tried again while that can help.

use std::time::Duration;

use engine::{Fault, Reason, trace};
use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Remote, wrong};

/// The wait before the second attempt; doubled before each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// The longest wait between attempts, whatever the endpoint asks for: a person may be waiting.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The largest answer read: 32 vectors of 4,096 numbers as text are below 4 MB.
const LARGEST_ANSWER: usize = 32 * 1024 * 1024;

pub(super) struct Client {
    http: reqwest::Client,
    remote: Remote,
}

/// Why an attempt failed, and whether another may succeed.
enum Failure {
    Again { fault: Fault, wait: Option<Duration> },
    Final(Fault),
}

impl Client {
    pub(super) fn new(remote: Remote) -> Result<Self, Fault> {
        let http = builder().timeout(remote.timeout).build().map_err(Fault::internal)?;
        Ok(Client { http, remote })
    }

    /// Posts `body` to `path` below the endpoint's address and reads the answer.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Fault> {
        let body = serde_json::to_vec(body).map_err(Fault::internal)?;
        let mut pause = FIRST_WAIT;
        let mut attempt = 1;
        loop {
            match self.attempt(path, body.clone()).await {
                Ok(answer) => {
                    return serde_json::from_slice(&answer)
                        .map_err(|error| wrong(format!("no such shape: {error}")));
                }
                Err(Failure::Final(fault)) => return Err(fault),
                Err(Failure::Again { fault, .. }) if attempt >= self.remote.attempts => return Err(fault),
                Err(Failure::Again { wait, .. }) => {
                    tokio::time::sleep(wait.unwrap_or(pause).min(LONGEST_WAIT)).await;
                    pause *= 2;
                    attempt += 1;
                }
            }
        }
    }

    async fn attempt(&self, path: &str, body: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let url = format!("{}/{path}", self.remote.url.trim_end_matches('/'));
        let mut request = self.http.post(url).header("content-type", "application/json").body(body);
        if let Some(key) = &self.remote.key {
            request = request.bearer_auth(key);
        }
        let response = traced(request).send().await.map_err(unreachable)?;
        match response.status() {
            status if status.is_success() => read(response).await,
            status if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() => {
                let wait = retry_after(&response);
                let fault = Fault::new(
                    Reason::UpstreamUnavailable,
                    "the model endpoint is busy or failing; try again shortly",
                );
                let fault = fault.retry_after(wait.unwrap_or(LONGEST_WAIT));
                Err(Failure::Again { fault: with_source(fault, format!("HTTP {status}")), wait })
            }
            status => {
                let detail = read(response).await.unwrap_or_default();
                let detail: String = String::from_utf8_lossy(&detail).chars().take(500).collect();
                let fault = Fault::new(
                    Reason::UpstreamUnavailable,
                    "the model endpoint refused the request; the server's log says why",
                );
                Err(Failure::Final(with_source(fault, format!("HTTP {status}: {detail}"))))
            }
        }
    }
}

/// A request that says which trace it belongs to.
pub(super) fn traced(request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
    match trace::here() {
        Some(here) => request.header("traceparent", here.traceparent()),
        None => request,
    }
}

/// A client for somebody else's server.
pub(super) fn builder() -> reqwest::ClientBuilder {
    // Somebody else may have chosen a provider for the process already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A redirect would carry the key to another host.
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none())
}

/// Reads an answer up to [`LARGEST_ANSWER`].
async fn read(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut answer = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if answer.len() + chunk.len() > LARGEST_ANSWER {
            return Err(Failure::Final(wrong(format!("more than {LARGEST_ANSWER} bytes"))));
        }
        answer.extend_from_slice(&chunk);
    }
    Ok(answer)
}

/// A connection that failed may work the next time; one that took too long has cost enough.
fn unreachable(error: reqwest::Error) -> Failure {
    // The address may hold a password.
    let error = error.without_url();
    if error.is_timeout() {
        let fault =
            Fault::new(Reason::Timeout, "the model endpoint took too long to answer; try again shortly");
        return Failure::Final(with_source(fault, error));
    }
    let fault = Fault::new(
        Reason::UpstreamUnavailable,
        "the model endpoint cannot be reached; try again shortly, and tell the operator if it persists",
    );
    Failure::Again { fault: with_source(fault, error), wait: None }
}

/// How many seconds the endpoint asks us to wait.
fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

pub(super) fn with_source(
    mut fault: Fault,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Fault {
    fault.source = Some(source.into());
    fault
}
