//! Boxes that follow places elsewhere: a web site, a repository, a bucket, each served here.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{TestApp, roomy};

/// A request: method, path with query, headers and body.
struct Request {
    method: String,
    target: String,
    head: String,
    body: Vec<u8>,
}

/// An answer: status, further header lines, and body.
type Answer = (u16, String, Vec<u8>);

/// Answers requests on this machine, one on each connection.
async fn serve(answer: impl Fn(Request) -> Answer + Send + Sync + 'static) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let Some(request) = read(&mut stream).await else { return };
                let (status, headers, body) =
                    tokio::task::spawn_blocking(move || answer(request)).await.unwrap();
                let head = format!(
                    "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(&[head.into_bytes(), body].concat()).await;
            });
        }
    });
    address
}

async fn read(stream: &mut tokio::net::TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        let mut more = [0; 4096];
        let count = stream.read(&mut more).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&more[..count]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let header = |name: &str| {
            head.lines().find_map(|line| {
                let (field, value) = line.split_once(": ")?;
                field.eq_ignore_ascii_case(name).then(|| value.to_string())
            })
        };
        let length: usize = header("content-length").map_or(0, |length| length.parse().unwrap());
        if bytes.len() < end + 4 + length {
            continue;
        }
        let mut words = head.split_whitespace().map(str::to_string);
        let (method, target) = (words.next()?, words.next()?);
        return Some(Request { method, target, body: bytes[end + 4..].to_vec(), head });
    }
}

/// A web site whose pages can be changed.
#[derive(Clone, Default)]
struct Site {
    pages: Arc<Mutex<BTreeMap<String, Answer>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    async fn start(&self) -> String {
        let site = self.clone();
        let address = serve(move |request| {
            let path = request.target.clone();
            let known = request.head.lines().find_map(|line| line.strip_prefix("if-none-match: "));
            let known = known.map(str::to_string);
            site.asked.lock().push(path.clone());
            let found = site.pages.lock().get(&path).cloned();
            let found = found.unwrap_or((404, String::new(), b"no such page".to_vec()));
            match known.filter(|tag| found.1.contains(&format!("etag: {tag}"))) {
                Some(_) => (304, found.1, Vec::new()),
                None => found,
            }
        });
        format!("http://{}", address.await)
    }

    fn page(&self, path: &str, html: &str) {
        let tag = html.len();
        let headers = format!("content-type: text/html\r\netag: \"{path}{tag}\"\r\n");
        self.pages.lock().insert(path.into(), (200, headers, html.into()));
    }

    fn answer(&self, path: &str, status: u16, headers: &str) {
        self.pages.lock().insert(path.into(), (status, headers.into(), Vec::new()));
    }

    fn remove(&self, path: &str) {
        self.pages.lock().remove(path);
    }

    /// What was asked since the last time, in order.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock())
    }
}

fn config() -> server::config::Config {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = roomy();
    (config.sources.enabled, config.sources.private_addresses, config.sources.pause_ms) = (true, true, 0);
    config
}

/// A source of a box that can be read again.
struct Followed {
    app: TestApp,
    key: String,
    path: String,
    files: String,
}

impl Followed {
    async fn new(body: Value) -> Self {
        let app = TestApp::with(config()).await;
        let (_, box_id, key) = app.owner().await;
        let made = app.post(&format!("/boxes/{box_id}/sources"), &key, body).await;
        made.must_be_well_formed();
        assert_eq!(made.status, 201, "{made:?}");
        let id = made.body["data"]["sourceId"].as_str().unwrap();
        let path = format!("/boxes/{box_id}/sources/{id}");
        let followed = Followed { app, key, path, files: format!("/boxes/{box_id}/files?sort=name") };
        assert!(followed.read().await, "it is due at once");
        followed
    }

    /// Reads what is due.
    async fn read(&self) -> bool {
        server::sources::next(&self.app.app, Timestamp::now()).await.unwrap()
    }

    /// Reads it again, with these parameters.
    async fn again(&self, query: &str) -> Value {
        let path = format!("{}/sync{query}", self.path);
        let asked = self.app.post(&path, &self.key, json!({})).await;
        assert_eq!(asked.status, 202, "{asked:?}");
        assert!(self.read().await);
        self.shown().await
    }

    async fn shown(&self) -> Value {
        self.app.get(&self.path, &self.key).await.body["data"].clone()
    }

    async fn names(&self) -> Vec<String> {
        let listed = self.app.get(&self.files, &self.key).await;
        let files = listed.body["data"]["files"].as_array().unwrap();
        files.iter().map(|file| file["name"].as_str().unwrap().to_string()).collect()
    }
}

/// Added, changed, removed, unchanged, held back, failed.
fn counts(source: &Value) -> [u64; 6] {
    let number = |name: &str| source[name].as_u64().unwrap();
    let failed = source["failed"].as_array().unwrap().len() as u64;
    [number("added"), number("changed"), number("removed"), number("unchanged"), number("heldBack"), failed]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_follows_the_pages_of_a_site() {
    let site = Site::default();
    let url = site.start().await;
    site.page("/robots.txt", "user-agent: *\ndisallow: /secret");
    site.page("/docs/", "<a href=one>1</a> <a href='/docs/two#x'>2</a> <a href=/secret/x>s</a> <a href=https://example.org/>e</a>");
    site.page("/docs/one", "<p>The first page. <a href=three>3</a> <a href=/docs/>back</a>");
    site.page("/docs/two", "<p>The second page.");
    site.page("/docs/three", "<meta name=robots content=noindex><a href=four>4</a>");
    site.page("/docs/four", "<p>Too far away.");
    let body = json!({"kind": "web", "url": format!("{url}/docs/"), "max_depth": 2, "schedule": "hourly"});
    let followed = Followed::new(body).await;
    assert_eq!(site.asked(), ["/robots.txt", "/docs/", "/docs/one", "/docs/two", "/docs/three"]);
    let source = followed.shown().await;
    assert_eq!(counts(&source), [3, 0, 0, 0, 0, 0], "{source}");
    assert_eq!(
        followed.names().await,
        ["docs.html", "one.html", "two.html"],
        "what asks not to be kept is not"
    );
    assert_eq!((&source["schedule"], &source["files"]), (&json!("hourly"), &json!(3)));
    assert!(source["nextSync"].as_str() > source["lastSync"].as_str());

    assert_eq!(counts(&followed.again("").await), [0, 0, 0, 3, 0, 0]);
    site.page("/docs/two", "<p>The second page, changed.");
    site.remove("/docs/one");
    site.page("/docs/", "<a href='/docs/two'>2</a> <a href=one>1</a> and more");
    assert_eq!(counts(&followed.again("").await), [0, 2, 1, 0, 0, 0]);
    assert_eq!(followed.names().await, ["docs.html", "two.html"]);
    // What cannot be read is not gone.
    site.answer("/docs/two", 500, "");
    let source = followed.again("").await;
    assert_eq!(counts(&source), [0, 0, 0, 1, 0, 1], "{source}");
    assert!(source["failed"][0]["error"].as_str().unwrap().contains("500"));
    site.answer("/docs/two", 200, "content-type: text/html\r\n");
    assert_eq!(counts(&followed.again("").await), [0, 0, 0, 1, 0, 1], "nor is what is empty for now");
    site.answer("/docs/", 503, "");
    let source = followed.again("").await;
    assert!(source["error"].as_str().unwrap().contains("503"), "{source}");
    assert_eq!(followed.names().await.len(), 2, "nothing is deleted because a site is down");
    let gone = followed.app.delete(&followed.path, &followed.key).await;
    assert_eq!(gone.verdict(), "200 ok");
    assert_eq!(followed.names().await.len(), 2, "the files stay");
    assert!(!followed.read().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_a_map_are_asked_for_conditionally_and_many_deletions_wait() {
    let site = Site::default();
    let url = site.start().await;
    let map = |pages: std::ops::Range<usize>| {
        let listed: String = pages.map(|page| format!("<url><loc>{url}/{page}</loc></url>")).collect();
        site.page(
            "/map.xml",
            &format!("<urlset>{listed}<url><loc>https://example.org/</loc></url></urlset>"),
        );
    };
    for page in 0..13 {
        site.page(&format!("/{page}"), &format!("<p>Page number {page}."));
    }
    map(0..13);
    let followed = Followed::new(json!({"kind": "web", "url": format!("{url}/map.xml")})).await;
    assert_eq!(counts(&followed.shown().await), [13, 0, 0, 0, 0, 0]);
    assert_eq!(counts(&followed.again("").await), [0, 0, 0, 13, 0, 0], "each answered that it is the same");
    map(0..2);
    assert_eq!(counts(&followed.again("").await), [0, 0, 0, 2, 11, 0]);
    assert_eq!(followed.names().await.len(), 13, "so many are not deleted without a word");
    assert_eq!(counts(&followed.again("?allow_deletions=true").await), [0, 0, 11, 2, 0, 0]);
    assert_eq!(followed.names().await, ["0.html", "1.html"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_forbids_or_leads_away_is_left_alone() {
    let site = Site::default();
    let url = site.start().await;
    let elsewhere = Site::default();
    let other = elsewhere.start().await;
    elsewhere.page("/x", "<p>Somebody else's.");
    site.page("/", "<a href=/away>1</a><a href=/deep>2</a>");
    site.answer("/away", 302, &format!("location: {other}/x\r\n"));
    site.page("/deep", &"<div>".repeat(300_000));
    let followed = Followed::new(json!({"kind": "web", "url": url})).await;
    let source = followed.shown().await;
    assert_eq!(
        followed.names().await.iter().filter(|name| name.contains('x')).count(),
        1,
        "index.html only: {source}"
    );
    site.page("/robots.txt", "user-agent: *\ndisallow: /");
    let source = followed.again("").await;
    assert!(source["error"].as_str().unwrap().contains("robots.txt"), "{source}");
    site.answer("/robots.txt", 500, "");
    let source = followed.again("").await;
    assert!(source["error"].as_str().unwrap().contains("500"), "{source}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_follows_a_repository() {
    let folder = tempfile::tempdir().unwrap();
    let (work, bare) = (folder.path().join("work"), folder.path().join("bare.git"));
    std::fs::create_dir_all(work.join("docs")).unwrap();
    let git = |at: &Path, line: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(at).args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(line);
        assert!(command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().status.success(), "{line:?}");
    };
    git(folder.path(), &["init", "-q", "-b", "main", "work"]);
    std::fs::write(work.join("docs/a.md"), "# The pump\n\nIt is blue.").unwrap();
    std::fs::write(work.join("docs/b.md"), "# The kettle").unwrap();
    std::fs::write(work.join("other.md"), "# Not in docs").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", work.join("docs/link.md")).unwrap();
    let commit = || {
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-qm", "x"]);
        git(&work, &["push", "-q", bare.to_str().unwrap(), "main"]);
    };
    git(folder.path(), &["init", "-q", "--bare", "-b", "main", "bare.git"]);
    commit();
    let root = folder.path().to_path_buf();
    let address = serve(move |request| backend(&root, &request)).await;
    let body = json!({"kind": "git", "url": format!("http://{address}/bare.git"), "path": "docs", "token": "hidden"});
    let followed = Followed::new(body).await;
    let source = followed.shown().await;
    assert_eq!(counts(&source), [2, 0, 0, 0, 0, 0], "{source}");
    assert!(!source.to_string().contains("hidden"), "secrets are not shown");
    assert_eq!(followed.names().await, ["a.md", "b.md"]);
    std::fs::write(work.join("docs/a.md"), "# The pump\n\nIt is red.").unwrap();
    std::fs::remove_file(work.join("docs/b.md")).unwrap();
    std::fs::write(work.join("docs/c.md"), "# The toaster").unwrap();
    commit();
    assert_eq!(counts(&followed.again("").await), [1, 1, 1, 0, 0, 0]);
    std::fs::remove_dir_all(&bare).unwrap();
    let source = followed.again("").await;
    assert!(source["error"].as_str().unwrap().contains("the repository cannot be read"), "{source}");
    assert_eq!(followed.names().await, ["a.md", "c.md"]);
}

/// Git's own server, as a web server runs it.
fn backend(root: &Path, request: &Request) -> Answer {
    use std::io::Write;
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let header = |name: &str| {
        let lines = request.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .filter(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .next()
            .unwrap_or("")
    };
    let mut command = Command::new("git");
    command.arg("http-backend").env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    command.env("PATH_INFO", path).env("QUERY_STRING", query).env("REQUEST_METHOD", &request.method);
    command.env("CONTENT_TYPE", header("content-type")).env("CONTENT_LENGTH", request.body.len().to_string());
    command
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&request.body).unwrap();
    let output = child.wait_with_output().unwrap().stdout;
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")?.get(..3)?.parse().ok());
    let headers: String =
        head.lines().filter(|line| !line.starts_with("Status:")).map(|line| format!("{line}\r\n")).collect();
    (status.unwrap_or(200), headers, output[end + 4..].to_vec())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_box_follows_the_objects_of_a_bucket() {
    let objects: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
    let held = objects.clone();
    let address = serve(move |request| {
        let held = held.lock();
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let key = path.strip_prefix("/papers/").or_else(|| path.strip_prefix("/papers")).unwrap_or("");
        if !query.contains("list-type=2") {
            let found = held.get(key).map(|text| {
                (
                    200,
                    "last-modified: Tue, 17 Nov 2026 10:00:00 GMT\r\n".to_string(),
                    text.clone().into_bytes(),
                )
            });
            return found.unwrap_or((404, String::new(), Vec::new()));
        }
        let listed: String = held
            .iter()
            .map(|(key, text)| {
                format!("<Contents><Key>{key}</Key><LastModified>2026-11-17T10:00:00.000Z</LastModified><ETag>\"{}\"</ETag><Size>{}</Size></Contents>", text.len(), text.len())
            })
            .collect();
        let body = format!(
            "<?xml version=\"1.0\"?><ListBucketResult><Name>papers</Name><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>"
        );
        (200, "content-type: application/xml\r\n".into(), body.into_bytes())
    });
    let address = address.await;
    objects.lock().insert("manuals/a.txt".into(), "The pump is blue.".into());
    objects.lock().insert("manuals/b.txt".into(), "The kettle.".into());
    let body = json!({"kind": "s3", "bucket": "papers", "prefix": "manuals", "endpoint": format!("http://{address}"),
        "access_key": "public", "secret_key": "hidden", "schedule": "manual"});
    let followed = Followed::new(body).await;
    let source = followed.shown().await;
    assert_eq!(counts(&source), [2, 0, 0, 0, 0, 0], "{source}");
    assert!(!source.to_string().contains("hidden") && source["nextSync"].is_null());
    objects.lock().insert("manuals/a.txt".into(), "The pump is red now.".into());
    objects.lock().remove("manuals/b.txt");
    assert_eq!(counts(&followed.again("").await), [0, 1, 1, 0, 0, 0]);
    assert_eq!(followed.names().await, ["a.txt"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_source_may_be_is_checked_before_it_is_stored() {
    let mut config = config();
    config.sources.private_addresses = false;
    let app = TestApp::with(config).await;
    let (_, box_id, key) = app.owner().await;
    let path = format!("/boxes/{box_id}/sources");
    for (body, param) in [
        (json!({"kind": "ftp", "url": "https://example.org/"}), "kind"),
        (json!({"kind": "web"}), "url"),
        (json!({"kind": "web", "url": "http://example.org/"}), "url"),
        (json!({"kind": "web", "url": "https://127.0.0.1/"}), "url"),
        (json!({"kind": "web", "url": "https://169.254.169.254/latest"}), "url"),
        (json!({"kind": "web", "url": "https://me:secret@example.org/"}), "url"),
        (json!({"kind": "web", "url": "https://example.org/", "max_pages": 0}), "max_pages"),
        (json!({"kind": "web", "url": "https://example.org/", "max_depth": 11}), "max_depth"),
        (json!({"kind": "web", "url": "https://example.org/", "schedule": "often"}), "schedule"),
        (json!({"kind": "git", "url": "file:///etc"}), "url"),
        (json!({"kind": "git", "url": "https://example.org/x", "branch": "--upload-pack=x"}), "branch"),
        (json!({"kind": "s3"}), "bucket"),
        (json!({"kind": "s3", "bucket": "a/b"}), "bucket"),
        (json!({"kind": "s3", "bucket": "a", "access_key": "x"}), "secret_key"),
        (json!({"kind": "s3", "bucket": "a", "endpoint": "https://10.0.0.1"}), "endpoint"),
    ] {
        let answer = app.post(&path, &key, body.clone()).await;
        assert_eq!(
            (answer.status, &answer.body["error"]["param"]),
            (400, &json!(param)),
            "{body}: {answer:?}"
        );
    }
    // A name that leads to this machine is found out when it is read.
    let body = json!({"kind": "web", "url": "https://localhost:1/"});
    assert_eq!(app.post(&path, &key, body).await.status, 201);
    assert!(server::sources::next(&app.app, Timestamp::now() + Duration::from_secs(1)).await.unwrap());
    let listed = app.get(&path, &key).await;
    let error = listed.body["data"]["sources"][0]["error"].as_str().unwrap();
    assert!(error.contains("sources.private_addresses"), "{error}");

    let off = TestApp::start().await;
    let (_, box_id, key) = off.owner().await;
    let body = json!({"kind": "web", "url": "https://example.org/"});
    let answer = off.post(&format!("/boxes/{box_id}/sources"), &key, body).await;
    assert_eq!(answer.status, 422, "{answer:?}");
}
