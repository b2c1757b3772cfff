//! Objects of a bucket below a prefix. Uses the keys of the source only, never those of the server, and connects through the same checked
//! client as every other source.

use async_trait::async_trait;
use engine::{Fault, Reason};
use futures::TryStreamExt;
use http_body_util::{BodyExt, Limited};
use object_store::{
    ClientOptions, ObjectStore, ObjectStoreExt,
    aws::{AmazonS3, AmazonS3Builder},
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
        HttpService,
    },
    path::Path,
};
use serde::{Deserialize, Serialize};

use super::{
    Reader,
    sink::{Arrived, MOST_BYTES, Sink},
};
use crate::outside::Outside;

/// Which objects of which bucket.
#[derive(Clone, Serialize, Deserialize)]
pub struct S3Settings {
    /// The bucket.
    pub bucket: String,
    /// What the names of objects begin with.
    pub prefix: Option<String>,
    /// Its region; us-east-1 if left out.
    pub region: Option<String>,
    /// Another server than Amazon's.
    pub endpoint: Option<String>,
    /// Its keys; none for a public bucket.
    pub access_key: Option<String>,
    pub secret_key: Option<String>,
}

/// A bucket.
pub(super) struct Bucket {
    store: AmazonS3,
    prefix: Option<Path>,
}

/// The client that checks addresses. Answers are cut off where they are longer than an object may be, whatever their sender says of
/// their length: the library keeps them whole.
#[derive(Debug, Clone)]
struct Checked(reqwest::Client);

impl HttpConnector for Checked {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Checked {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = HttpService::call(&self.0, request).await?;
        Ok(answer.map(|body| {
            let limited = Limited::new(body, MOST_BYTES as usize);
            HttpResponseBody::new(limited.map_err(|error| HttpError::new_boxed(HttpErrorKind::Decode, error)))
        }))
    }
}

impl Bucket {
    pub(super) fn new(outside: &Outside, settings: S3Settings) -> Result<Self, Fault> {
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(settings.bucket)
            .with_region(settings.region.unwrap_or_else(|| "us-east-1".into()))
            .with_http_connector(Checked(outside.client()));
        if let Some(endpoint) = settings.endpoint {
            let url = outside.parse(&endpoint)?;
            builder = builder.with_allow_http(url.scheme() == "http").with_endpoint(endpoint);
        }
        builder = match (settings.access_key, settings.secret_key) {
            (Some(key), Some(secret)) => builder.with_access_key_id(key).with_secret_access_key(secret),
            _ => builder.with_skip_signature(true),
        };
        let store = builder.build().map_err(|error| failed(&error))?;
        let prefix =
            settings.prefix.as_deref().map(|prefix| prefix.trim_matches('/')).filter(|p| !p.is_empty());
        Ok(Bucket { store, prefix: prefix.map(Path::from) })
    }
}

#[async_trait]
impl Reader for Bucket {
    async fn read(&self, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let mut listed = self.store.list(self.prefix.as_ref());
        while let Some(object) = listed.try_next().await.map_err(|error| failed(&error))? {
            let name = object.location.to_string();
            let version = object.e_tag.unwrap_or_else(|| object.last_modified.to_rfc3339());
            if sink.version_of(&name) == Some(version.as_str()) {
                sink.same(&name)?;
                continue;
            }
            if object.size > MOST_BYTES {
                sink.failed(&name, format!("it is larger than {} MB", MOST_BYTES >> 20))?;
                continue;
            }
            let got = async { self.store.get(&object.location).await?.bytes().await };
            let bytes = match got.await {
                Ok(bytes) => bytes.to_vec(),
                Err(error) => {
                    sink.failed(&name, failed(&error).cause)?;
                    continue;
                }
            };
            let file_name = object.location.filename().unwrap_or(&name).to_string();
            let media_type = "application/octet-stream".to_string();
            sink.put(Arrived { name, file_name, media_type, version, bytes }).await?;
        }
        Ok(())
    }
}

/// What may be said of it; the rest is for the log.
fn failed(error: &object_store::Error) -> Fault {
    let cause = match error {
        object_store::Error::NotFound { .. } => "the bucket or the object is not there",
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            "the bucket does not accept these keys"
        }
        _ => "the bucket cannot be read",
    };
    let mut fault = Fault::new(Reason::Unprocessable, cause);
    fault.source = Some(error.to_string().into());
    fault
}

#[cfg(test)]
mod tests {
    use object_store::client::HttpRequestBody;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Answers one request with this head and then with bytes for as long as somebody reads.
    async fn endless(head: &'static str) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let mut sent = stream.write_all(head.as_bytes()).await;
            while sent.is_ok() {
                sent = stream.write_all(&[b' '; 64 << 10]).await;
            }
        });
        url
    }

    #[tokio::test]
    async fn an_answer_longer_than_an_object_may_be_is_cut_off() {
        let outside = Outside::new(true, "sources.private_addresses").unwrap();
        for head in [
            "HTTP/1.1 200 OK\r\n\r\n",
            // Whoever makes room for what it announces ends here.
            "HTTP/1.1 200 OK\r\ncontent-length: 9000000000000000000\r\n\r\n",
        ] {
            let mut request = HttpRequest::new(HttpRequestBody::empty());
            *request.uri_mut() = endless(head).await.parse().unwrap();
            let answer = Checked(outside.client()).call(request).await.unwrap();
            let error = answer.into_body().bytes().await.unwrap_err();
            assert_eq!(error.kind(), HttpErrorKind::Decode, "{head:?}");
        }
    }
}
