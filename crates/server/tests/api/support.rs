//! A server of the test's own, and people to ask it.

use std::{net::SocketAddr, path::Path, sync::Arc};

use async_trait::async_trait;
use engine::{
    Fault,
    access::{Managing, Role},
    apikey::ApiKey,
    embedders::Embedders,
    ids::{BoxId, UserId},
    ingest::Ingest,
    permissions::Permissions,
    seams::{
        catalog::{Catalog, NewKey, NewUser},
        embedder::{self, Embedder, Embedding},
    },
};
use jiff::Timestamp;
use models::FakeEmbedder;
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::Value;
use server::{
    app::App,
    assemble,
    config::Config,
    http::{
        BASE,
        listener::{self, Service},
        tls,
    },
    site, worker,
};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// A running server with a data folder of its own.
pub(crate) struct TestApp {
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) app: App,
    pub(crate) address: SocketAddr,
    pub(crate) client: Client,
    pub(crate) ingest: Ingest,
    pub(crate) folder: Arc<tempfile::TempDir>,
    shutdown: CancellationToken,
    server: JoinHandle<()>,
    worker: JoinHandle<()>,
}

/// The address of a server that `tests/servers/servers.py` starts, for tests of their own stores; `None`, and said so,
/// where it runs none.
pub(crate) fn server(name: &str) -> Option<String> {
    let found = std::env::var(name).ok();
    if found.is_none() {
        eprintln!("skipped: {name} is not set; tests/servers/servers.py starts what it names");
    }
    found
}

/// The embedder of tests, which does something of the test's own before it reads texts.
pub(crate) struct Intruding<F>(pub(crate) F);

#[async_trait]
impl<F, W> Embedder for Intruding<F>
where
    F: Fn(&[String]) -> W + Send + Sync,
    W: Future<Output = ()> + Send,
{
    fn id(&self) -> &str {
        FakeEmbedder.id()
    }
    fn dimensions(&self) -> usize {
        FakeEmbedder.dimensions()
    }
    fn max_tokens(&self) -> usize {
        FakeEmbedder.max_tokens()
    }
    fn count_tokens(&self, text: &str) -> usize {
        FakeEmbedder.count_tokens(text)
    }
    async fn embed(
        &self,
        texts: Vec<String>,
        role: embedder::Role,
        tokens: bool,
    ) -> Result<Vec<Embedding>, Fault> {
        (self.0)(&texts).await;
        FakeEmbedder.embed(texts, role, tokens).await
    }
}

/// Settings of the stores that a data folder stands for, as environment variables: none where it is the folder itself;
/// with `QUIRE_TEST_STORES=scaled` parts of the servers that `tests/servers/servers.py` started, named after it.
pub(crate) fn scaled(data: &Path) -> Vec<(&'static str, String)> {
    if std::env::var("QUIRE_TEST_STORES").is_ok_and(|stores| stores == "scaled") {
        let server = |name: &str| std::env::var(name).expect("tests/servers/servers.py sets it");
        let own = stores::blobs::hexadecimal(data.as_os_str().as_encoded_bytes());
        let own = &own[own.len().saturating_sub(24)..];
        let database = format!("{}?schema=test_{own}", server("QUIRE_TEST_POSTGRES"));
        return vec![
            ("QUIRE__CATALOG__URL", database.clone()),
            ("QUIRE__INDEX__URL", database),
            ("QUIRE__BLOBS__URL", server("QUIRE_TEST_S3").replacen("/?", &format!("/test-{own}?"), 1)),
            ("QUIRE__LIMITER__URL", format!("{}-{own}", server("QUIRE_TEST_VALKEY"))),
        ];
    }
    Vec::new()
}

/// What nodes do once they notice that others have died: here, all of them. A data folder of one's own needs nobody for it.
pub(crate) async fn take_over(data: &Path) {
    if !scaled(data).is_empty() {
        let catalog = assemble::open_catalog(data, &stores(Config::defaults(), data)).unwrap();
        catalog.bury_nodes(std::time::Duration::ZERO).await.unwrap();
    }
}

/// The same in settings that a test has already.
fn stores(mut config: Config, data: &Path) -> Config {
    for (name, url) in scaled(data) {
        let place = match name {
            "QUIRE__CATALOG__URL" => &mut config.catalog.url,
            "QUIRE__INDEX__URL" => &mut config.index.url,
            "QUIRE__BLOBS__URL" => &mut config.blobs.url,
            _ => &mut config.limiter.url,
        };
        *place = Some(url.into());
    }
    config
}

/// Settings for tests: limits out of the way, no metrics port.
pub(crate) fn roomy() -> Config {
    let mut config = Config::defaults();
    config.limits.key_requests = 1_000_000;
    config.limits.user_requests = 1_000_000;
    config.http.metrics_listen = None;
    config
}

impl TestApp {
    pub(crate) async fn start() -> Self {
        Self::with(roomy()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        Self::on(Arc::new(tempfile::tempdir().unwrap()), config).await
    }

    /// A server on a data folder that may have been used before.
    pub(crate) async fn on(folder: Arc<tempfile::TempDir>, config: Config) -> Self {
        Self::with_embedders(folder, config, Arc::new(FakeEmbedder).into()).await
    }

    /// The same with embedders of the test's own.
    pub(crate) async fn with_embedders(
        folder: Arc<tempfile::TempDir>,
        config: Config,
        embedders: Embedders,
    ) -> Self {
        let models = assemble::Models {
            embedders,
            rerankers: Default::default(),
            pickers: engine::chat::Pickers::default(),
        };
        Self::with_models(folder, config, models).await
    }

    /// The same with models of the test's own.
    pub(crate) async fn with_models(
        folder: Arc<tempfile::TempDir>,
        config: Config,
        models: assemble::Models,
    ) -> Self {
        let config = stores(config, folder.path());
        // This process is the test, not quire: the parser's children must be told who they are.
        let scratch_root = folder.path().join("scratch");
        std::fs::create_dir_all(&scratch_root).unwrap();
        let parser = Arc::new(parsers::ChildParser {
            program: env!("CARGO_BIN_EXE_quire").into(),
            args: vec![assemble::PARSE_CHILD.into()],
            limits: parsers::Limits::default(),
            scratch_root,
            sandbox: parsers::Sandbox::default(),
        });
        let assembled =
            Box::pin(assemble::assemble_from(folder.path(), config, models, parser)).await.unwrap();
        let (app, ingest) = (assembled.app.clone(), assembled.ingest.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = app.shutdown.clone();
        let service = Service::of(&app, site::router(&app), folder.path()).unwrap();
        let worker = worker::run(
            app.library.clone(),
            ingest.clone(),
            app.spans.clone(),
            "test".into(),
            shutdown.clone(),
        );
        let worker = tokio::spawn(async move {
            worker.await;
            drop(assembled);
        });
        let server = tokio::spawn(listener::serve(listener, service));
        let client = client(folder.path());
        TestApp {
            catalog: app.catalog.clone(),
            app,
            address,
            client,
            ingest,
            folder,
            shutdown,
            server,
            worker,
        }
    }

    /// The catalog as another process on the same stores opens it.
    pub(crate) fn beside(&self) -> Arc<dyn Catalog> {
        assemble::open_catalog(self.folder.path(), &self.app.config).unwrap()
    }

    /// Stops as a signal would, and hands the data folder on.
    pub(crate) async fn stop(self) -> Arc<tempfile::TempDir> {
        self.shutdown.cancel();
        self.server.await.unwrap();
        self.worker.await.unwrap();
        self.folder
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.address.port())
    }

    pub(crate) async fn user(&self, email: &str) -> UserId {
        let user = NewUser { email: email.parse().unwrap(), password_hash: None, plan: Default::default() };
        self.catalog.add_user(user).await.unwrap().id
    }

    pub(crate) async fn box_of(&self, owner: UserId) -> BoxId {
        self.catalog.add_box("papers".parse().unwrap(), owner).await.unwrap().id
    }

    pub(crate) async fn grant(&self, box_id: BoxId, user: UserId, role: Role) {
        self.catalog.grant(&Managing::for_operator(box_id), user, role).await.unwrap();
    }

    pub(crate) async fn key(&self, user: UserId) -> String {
        self.key_with(user, None, None).await
    }

    pub(crate) async fn key_with(
        &self,
        user: UserId,
        expires_at: Option<Timestamp>,
        boxes: Option<Vec<BoxId>>,
    ) -> String {
        self.make_key(user, expires_at, boxes, Permissions::ALL).await
    }

    /// A key that may be used for this only, such as `search,read`.
    pub(crate) async fn key_for(&self, user: UserId, permissions: &str) -> String {
        self.make_key(user, None, None, permissions.parse().unwrap()).await
    }

    async fn make_key(
        &self,
        user: UserId,
        expires_at: Option<Timestamp>,
        boxes: Option<Vec<BoxId>>,
        permissions: Permissions,
    ) -> String {
        let key = ApiKey::generate();
        let shown = key.reveal();
        let (name, origins) = ("test".parse().unwrap(), Default::default());
        let key = NewKey { key, user, name, expires_at, permissions, boxes, origins };
        self.catalog.add_key(key).await.unwrap();
        shown
    }

    /// An owner with a box and a key: what most tests start with.
    pub(crate) async fn owner(&self) -> (UserId, BoxId, String) {
        let user = self.user("owner@example.org").await;
        (user, self.box_of(user).await, self.key(user).await)
    }

    pub(crate) fn request(&self, method: Method, path: &str, key: Option<&str>) -> RequestBuilder {
        let request = self.client.request(method, self.url(&format!("{BASE}{path}")));
        match key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Uploads a file and gives the answer; `fields` are the other parts of the form.
    pub(crate) async fn upload(
        &self,
        box_id: BoxId,
        key: &str,
        name: &str,
        bytes: &[u8],
        fields: &[(&'static str, &str)],
    ) -> Answer {
        let part = reqwest::multipart::Part::bytes(bytes.to_vec()).file_name(name.to_string());
        let mut form = reqwest::multipart::Form::new();
        for (field, value) in fields {
            form = form.text(*field, value.to_string());
        }
        let request = self.request(Method::POST, &format!("/boxes/{box_id}/files"), Some(key));
        Answer::of(request.multipart(form.part("file", part)).send().await.unwrap()).await
    }

    /// Waits until a file was read, by listening to the library; gives the file object.
    pub(crate) async fn settled(&self, key: &str, file: &str) -> Value {
        let mut changes = self.app.library.listen();
        loop {
            let answer = self.get(&format!("/files/{file}"), key).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            if !matches!(answer.body["data"]["status"].as_str(), Some("queued" | "processing")) {
                return answer.body["data"].clone();
            }
            let _ = changes.recv().await;
        }
    }

    /// Uploads a text and waits until it was read; gives its id.
    pub(crate) async fn text_file(&self, box_id: BoxId, key: &str, name: &str, text: &str) -> String {
        let answer = self.upload(box_id, key, name, text.as_bytes(), &[]).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let id = answer.body["data"]["fileId"].as_str().unwrap().to_string();
        assert_eq!(self.settled(key, &id).await["status"], "ready");
        id
    }

    pub(crate) async fn post(&self, path: &str, key: &str, body: Value) -> Answer {
        Answer::of(self.request(Method::POST, path, Some(key)).json(&body).send().await.unwrap()).await
    }

    /// Sends JSON by any method.
    pub(crate) async fn send(&self, method: Method, path: &str, key: &str, body: Value) -> Answer {
        Answer::of(self.request(method, path, Some(key)).json(&body).send().await.unwrap()).await
    }

    pub(crate) async fn delete(&self, path: &str, key: &str) -> Answer {
        Answer::of(self.request(Method::DELETE, path, Some(key)).send().await.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str, key: &str) -> Answer {
        Answer::of(self.request(Method::GET, path, Some(key)).send().await.unwrap()).await
    }
}

/// A client that trusts exactly the server's own certificate.
pub(crate) fn client(data: &Path) -> Client {
    let pem = std::fs::read(tls::certificate_path(data)).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificate = reqwest::Certificate::from_pem(&pem).unwrap();
    Client::builder().tls_certs_only([certificate]).build().unwrap()
}

/// A response read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Answer { status, headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name} in {self:?}")).to_str().unwrap()
    }

    pub(crate) fn number(&self, name: &str) -> i64 {
        self.header(name).parse().unwrap_or_else(|_| panic!("{name} is no integer in {self:?}"))
    }

    /// Status, code and reason in one line.
    pub(crate) fn verdict(&self) -> String {
        let error = &self.body["error"];
        match self.body["success"].as_bool() {
            Some(true) => format!("{} ok", self.status),
            _ => format!(
                "{} {} {}",
                self.status,
                error["code"].as_str().unwrap_or("?"),
                error["reason"].as_str().unwrap_or("?")
            ),
        }
    }

    /// Everything that holds for every answer, whatever was asked.
    pub(crate) fn must_be_well_formed(&self) {
        for name in ["hits", "remaining-key", "remaining-user", "reset-key", "reset-user"] {
            self.number(&format!("x-ratelimit-{name}"));
        }
        assert!(self.header("x-request-id").starts_with("req_"));
        let now = Timestamp::now().as_second();
        assert!((now..=now + 61).contains(&self.number("x-ratelimit-reset-key")), "{self:?}");
        assert!((now..=now + 86_401).contains(&self.number("x-ratelimit-reset-user")), "{self:?}");
        assert_eq!(self.header("content-type"), "application/json");
        let success = self.body["success"].as_bool().unwrap_or_else(|| panic!("no success in {self:?}"));
        assert_eq!(success, self.status < 400, "{self:?}");
        if success {
            let list = self.body["object"] == "list" && self.body["data"].is_array();
            assert!(list || self.body["data"].is_object(), "{self:?}");
            return;
        }
        let error = &self.body["error"];
        let text = |field: &str| error[field].as_str().unwrap_or_else(|| panic!("no {field} in {self:?}"));
        let category = match text("code") {
            "B3002" => "permissions",
            "B3107" => "quota",
            "B1004" => "validation",
            "B1000" => "server",
            other => panic!("{other} is no code of ours"),
        };
        assert_eq!(text("category"), category);
        assert_eq!(text("message"), format!("{}: {}", text("summary"), text("cause")));
        assert_eq!(text("request_id"), self.header("x-request-id"));
        assert!(!text("type").is_empty() && !text("reason").is_empty());
        assert!(error.get("param").is_some());
        assert_eq!(self.status == 401, self.headers.contains_key("www-authenticate"));
        assert!(self.status != 429 || self.headers.contains_key("retry-after"));
    }
}
