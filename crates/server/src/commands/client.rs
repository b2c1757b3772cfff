//! Talks to a server over HTTPS, for the commands that are clients.

use std::{
    path::PathBuf,
    sync::Once,
    time::{Duration, Instant},
};

use clap::Args;
use engine::{Fault, Reason};
use reqwest::{Body, Client, Method, RequestBuilder, Response, StatusCode, multipart};
use serde_json::Value;

use super::{Global, local, output};
use crate::http::{BASE, tls};

/// How often a request that the server was too busy for is sent again.
const TRIES: u32 = 8;

/// Where the server is, and the key to use.
#[derive(Args)]
pub(super) struct Connection {
    /// Address of the server, with or without /api/public/v1
    #[arg(long, env = "QUIRE_URL", default_value = "https://127.0.0.1:8443", value_name = "URL")]
    url: String,
    /// API key
    #[arg(long, env = "QUIRE_API_KEY", hide_env_values = true, value_name = "KEY")]
    key: Option<String>,
    /// Certificate to trust: tls/cert.pem of the server's data folder [default: the local data folder's, else the system's]
    #[arg(long, env = "QUIRE_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
}

/// A client with its key.
pub(super) struct Api {
    client: Client,
    base: String,
    key: String,
}

/// What is said of a file that is uploaded.
pub(super) struct Upload<'a> {
    pub(super) name: &'a str,
    pub(super) tags: &'a [String],
    pub(super) external_id: Option<&'a str>,
    /// As JSON.
    pub(super) metadata: Option<&'a str>,
}

impl Connection {
    /// Whether there is a key to ask a server with.
    pub(super) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// A client for this server. Without `--ca` it trusts the certificate of the data folder, where there is one.
    pub(super) fn open(&self, global: &Global) -> Result<Api, Fault> {
        let key = self.key.clone().ok_or_else(|| {
            Fault::new(Reason::KeyMissing, "no API key given").hint("set QUIRE_API_KEY, or use --key")
        })?;
        let own = tls::certificate_path(&global.folder(&global.settings()?));
        if !self.url.starts_with("https://") {
            return Err(Fault::new(
                Reason::HttpsRequired,
                format!("{} is not an https:// address", self.url),
            ));
        }
        // reqwest looks for the process's provider; ring is the one that the server uses.
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let mut builder = Client::builder().connect_timeout(Duration::from_secs(10));
        if let Some(path) = self.ca.clone().or_else(|| Some(own).filter(|path| path.exists())) {
            let pem = std::fs::read(&path)
                .map_err(|e| local(anyhow::anyhow!("cannot read {}: {e}", path.display())))?;
            let certificates = reqwest::Certificate::from_pem_bundle(&pem)
                .map_err(|_| local(anyhow::anyhow!("{} holds no certificate", path.display())))?;
            builder = builder.tls_certs_only(certificates);
        }
        let client = builder.build().map_err(|error| local(error.into()))?;
        Ok(Api { client, base: base(&self.url), key })
    }
}

/// Where the API is, whether or not the address that was given goes that far already.
fn base(url: &str) -> String {
    let url = url.trim().trim_end_matches('/');
    format!("{}{BASE}", url.strip_suffix(BASE).unwrap_or(url).trim_end_matches('/'))
}

impl Api {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.key)
    }

    /// Sends a request that may be sent again, and gives the `data` of its answer.
    pub(super) async fn ask(&self, method: Method, path: &str) -> Result<Value, Fault> {
        self.patiently(|| Ok(self.request(method.clone(), path))).await.map(|(data, _)| data)
    }

    /// Posts a JSON body, and gives the `data` of the answer.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, Fault> {
        self.post_timed(path, body).await.map(|(data, _)| data)
    }

    /// The same with the time from sending to the whole answer, waiting for a limit not counted.
    pub(super) async fn post_timed(&self, path: &str, body: &Value) -> Result<(Value, Duration), Fault> {
        self.patiently(|| Ok(self.request(Method::POST, path).json(body))).await
    }

    /// Posts a JSON body whose answer is read as it comes.
    pub(super) async fn begin(&self, path: &str, body: &Value) -> Result<Response, Fault> {
        let sent = self.request(Method::POST, path).json(body).send().await;
        let response = sent.map_err(|error| unreachable(&self.base, &error))?;
        match response.status().is_success() {
            true => Ok(response),
            false => Err(data(response)
                .await
                .err()
                .unwrap_or_else(|| Fault::internal("a failure without an error"))),
        }
    }

    /// Changes something, and gives it as it is then.
    pub(super) async fn patch(&self, path: &str, changes: &Value) -> Result<Value, Fault> {
        self.patiently(|| Ok(self.request(Method::PATCH, path).json(changes))).await.map(|(data, _)| data)
    }

    /// Uploads a file; `body` opens it again for each try.
    pub(super) async fn upload(
        &self,
        box_id: &str,
        upload: Upload<'_>,
        body: impl Fn() -> Result<(Body, u64), Fault>,
    ) -> Result<Value, Fault> {
        let path = format!("/boxes/{box_id}/files");
        self.patiently(|| {
            let (body, length) = body()?;
            let part = multipart::Part::stream_with_length(body, length).file_name(upload.name.to_string());
            let mut form = multipart::Form::new();
            if !upload.tags.is_empty() {
                form = form.text("tags", serde_json::to_string(upload.tags).expect("texts are plain JSON"));
            }
            for (field, value) in [("externalId", upload.external_id), ("metadata", upload.metadata)] {
                if let Some(value) = value {
                    form = form.text(field, value.to_string());
                }
            }
            Ok(self.request(Method::POST, &path).multipart(form.part("file", part)))
        })
        .await
        .map(|(data, _)| data)
    }

    /// Waits and tries again where the server says that waiting helps.
    async fn patiently(
        &self,
        request: impl Fn() -> Result<RequestBuilder, Fault>,
    ) -> Result<(Value, Duration), Fault> {
        let mut tries = 0;
        loop {
            tries += 1;
            let sent = Instant::now();
            let response = request()?.send().await.map_err(|error| unreachable(&self.base, &error))?;
            let status = response.status();
            let wait: Option<u64> =
                response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
            let waiting_helps =
                matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
            match wait {
                // More than two minutes is a limit to tell the person about, not to sit through.
                Some(seconds) if waiting_helps && seconds <= 120 && tries < TRIES => {
                    output::note(&output::words().count("command-busy", seconds));
                    tokio::time::sleep(Duration::from_secs(seconds.max(1))).await;
                }
                _ => return data(response).await.map(|data| (data, sent.elapsed())),
            }
        }
    }

    /// The box that is named by id or by a name that only one box has.
    pub(super) async fn find_box(&self, named: &str) -> Result<String, Fault> {
        if named.starts_with("box_") {
            return Ok(named.to_string());
        }
        let boxes = self.boxes().await?;
        let mut matching = boxes.iter().filter(|entry| entry["name"] == named);
        match (matching.next(), matching.next()) {
            (Some(entry), None) => Ok(entry["boxId"].as_str().unwrap_or_default().to_string()),
            (Some(_), Some(_)) => {
                Err(Fault::new(Reason::Conflict, format!("several boxes are called `{named}`"))
                    .hint("use the id that `quire box list` shows"))
            }
            (None, _) => {
                Err(Fault::new(Reason::NotFound, format!("this key can use no box called `{named}`"))
                    .hint("`quire box list` shows those it can use"))
            }
        }
    }

    /// The boxes that the key can use.
    pub(super) async fn boxes(&self) -> Result<Vec<Value>, Fault> {
        let mut data = self.ask(Method::GET, "/boxes").await?;
        Ok(if let Value::Array(boxes) = data["boxes"].take() { boxes } else { Vec::new() })
    }

    /// Every file of a box, page after page.
    pub(super) async fn all_files(&self, box_id: &str) -> Result<Vec<Value>, Fault> {
        let mut files = Vec::new();
        let mut cursor = String::new();
        loop {
            let path = format!("/boxes/{box_id}/files?limit=200&sort=name{cursor}");
            let data = self.ask(Method::GET, &path).await?;
            files.extend(data["files"].as_array().cloned().unwrap_or_default());
            match data["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(files),
            }
        }
    }
}

/// The `data` of an answer, or the server's own words for what went wrong.
async fn data(response: Response) -> Result<Value, Fault> {
    let status = response.status();
    let mut body: Value = response.json().await.map_err(|_| {
        Fault::new(
            Reason::UpstreamUnavailable,
            format!("the server answered {status} without JSON; is it quire?"),
        )
    })?;
    if body["success"] == true {
        return Ok(body["data"].take());
    }
    let error = &body["error"];
    let reason = match status.as_u16() {
        401 => Reason::KeyInvalid,
        402 => Reason::UnitsExhausted,
        403 => Reason::BoxUnknown,
        404 => Reason::NotFound,
        409 => Reason::NotReady,
        413 => Reason::TooLarge,
        429 => Reason::RateLimitKey,
        400..500 => Reason::InvalidParameter,
        _ => Reason::UpstreamUnavailable,
    };
    Err(Fault::new(reason, error["cause"].as_str().unwrap_or("the server refused").to_string()))
}

fn unreachable(base: &str, error: &reqwest::Error) -> Fault {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let hint = "is it running, and is QUIRE_CA its certificate?";
    Fault::new(Reason::UpstreamUnavailable, format!("cannot reach {base}: {cause}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_end_in_the_base_path_or_a_slash() {
        for url in [
            "https://h:1",
            "https://h:1/",
            "https://h:1/api/public/v1",
            "https://h:1/api/public/v1/",
            " https://h:1// ",
        ] {
            assert_eq!(base(url), "https://h:1/api/public/v1", "{url}");
        }
    }
}
