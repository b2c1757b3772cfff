//! Remote models against a small HTTP server that answers from a script.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Requests as they arrived, headers included.
type Seen = Arc<Mutex<Vec<String>>>;

/// Starts a server that gives each connection the next answer; `None` never answers.
async fn server(script: Vec<Option<String>>) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let seen = Seen::default();
    let log = seen.clone();
    tokio::spawn(async move {
        let mut held = Vec::new();
        for answer in script {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = request(&mut stream).await;
            log.lock().unwrap().push(request);
            match answer {
                Some(answer) => stream.write_all(answer.as_bytes()).await.unwrap(),
                None => held.push(stream),
            }
        }
        std::future::pending::<()>().await;
    });
    (url, seen)
}

/// Reads one request up to the length it names.
async fn request(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.unwrap();
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read).to_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if body.len() >= length.unwrap().trim().parse().unwrap() {
                return String::from_utf8(read).unwrap();
            }
        }
    }
}

fn answer(status: &str, headers: &str, body: &str) -> Option<String> {
    let length = body.len();
    Some(format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"))
}

fn ok(body: &str) -> Option<String> {
    answer("200 OK", "", body)
}

fn remote(url: String) -> Remote {
    let timeout = Duration::from_secs(20);
    Remote { url, model: "small".into(), key: Some("secret".into()), timeout, attempts: 3 }
}

fn embedder(remote: Remote) -> RemoteEmbedder {
    let shape =
        RemoteShape { dimensions: 2, max_tokens: 100, query_prefix: "q: ".into(), ..RemoteShape::default() };
    RemoteEmbedder::new(remote, shape).unwrap()
}

async fn embed(url: String) -> Result<Vec<Embedding>, Fault> {
    embedder(remote(url)).embed(vec!["a".into(), "b".into()], Role::Query, false).await
}

const TWO: &str = r#"{"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]}"#;

#[tokio::test]
async fn vectors_come_in_order_and_with_length_one() {
    let (url, seen) = server(vec![ok(TWO)]).await;
    let found = embed(url).await.unwrap();
    assert_eq!((&found[0].vector, &found[1].vector), (&vec![0.6, 0.8], &vec![0.0, 1.0]));
    let request = seen.lock().unwrap()[0].clone();
    assert!(request.starts_with("POST /v1/embeddings HTTP/1.1"));
    assert!(request.to_lowercase().contains("authorization: bearer secret"));
    assert!(request.contains(r#""model":"small""#) && request.contains(r#"["q: a","q: b"]"#));
    assert!(!request.contains("dimensions"));
}

#[tokio::test]
async fn many_texts_go_in_several_requests() {
    let entries = |count: usize| {
        let all: Vec<_> = (0..count).map(|i| format!(r#"{{"index": {i}, "embedding": [1, 0]}}"#)).collect();
        ok(&format!(r#"{{"data": [{}]}}"#, all.join(",")))
    };
    let (url, seen) = server(vec![entries(32), entries(8)]).await;
    let texts = vec!["x".to_owned(); 40];
    let found = embedder(remote(url)).embed(texts, Role::Passage, false).await.unwrap();
    assert_eq!((found.len(), seen.lock().unwrap().len()), (40, 2));
}

#[tokio::test]
async fn a_busy_endpoint_is_asked_again() {
    let busy = answer("429 Too Many Requests", "retry-after: 0\r\n", "");
    let (url, seen) = server(vec![busy, answer("503 Oops", "retry-after: 0\r\n", ""), ok(TWO)]).await;
    assert_eq!(embed(url).await.unwrap().len(), 2);
    assert_eq!(seen.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn an_endpoint_that_stays_busy_is_unavailable() {
    let busy = || answer("503 Oops", "retry-after: 0\r\n", "");
    let (url, seen) = server(vec![busy(), busy(), busy(), ok(TWO)]).await;
    let fault = embed(url).await.unwrap_err();
    assert_eq!(fault.reason, Reason::UpstreamUnavailable);
    assert!(fault.retry_after.is_some());
    assert_eq!(seen.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_refused_request_is_not_repeated_and_its_reason_is_for_the_log() {
    let (url, seen) = server(vec![answer("401 Unauthorized", "", "bad key secret"), ok(TWO)]).await;
    let fault = embed(url).await.unwrap_err();
    assert_eq!((fault.reason, seen.lock().unwrap().len()), (Reason::UpstreamUnavailable, 1));
    assert!(!fault.cause.contains("bad key") && format!("{fault:?}").contains("bad key"));
}

#[tokio::test]
async fn a_redirect_is_refused() {
    let (url, _) = server(vec![answer("302 Found", "location: http://127.0.0.1:1/\r\n", "")]).await;
    assert_eq!(embed(url).await.unwrap_err().reason, Reason::UpstreamUnavailable);
}

#[tokio::test]
async fn a_slow_endpoint_times_out() {
    let (url, _) = server(vec![None]).await;
    let slow = Remote { timeout: Duration::from_millis(50), ..remote(url) };
    let fault = embedder(slow).embed(vec!["a".into()], Role::Query, false).await.unwrap_err();
    assert_eq!(fault.reason, Reason::Timeout);
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_unavailable() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let gone = Remote { attempts: 1, ..remote(format!("http://{free}/v1")) };
    let fault = embedder(gone).embed(vec!["a".into()], Role::Query, false).await.unwrap_err();
    assert_eq!(fault.reason, Reason::UpstreamUnavailable);
}

#[tokio::test]
async fn answers_of_the_wrong_shape_are_errors() {
    let wrong = [
        "not json",
        r#"{"data": []}"#,
        r#"{"data": [{"index": 0, "embedding": [1, 0]}]}"#,
        r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]}"#,
        r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 7, "embedding": [1, 0]}]}"#,
        r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1, 0, 0]}]}"#,
        r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1e999, 0]}]}"#,
    ];
    for body in wrong {
        let (url, _) = server(vec![ok(body)]).await;
        let fault = embed(url).await.unwrap_err();
        assert_eq!(fault.reason, Reason::UpstreamUnavailable, "{body}");
        assert!(fault.source.is_some());
    }
}

#[tokio::test]
async fn scores_come_in_the_order_of_the_passages() {
    let body = r#"{"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}"#;
    let (url, seen) = server(vec![ok(body), ok(r#"{"results": []}"#)]).await;
    let reranker = RemoteReranker::new(remote(url)).unwrap();
    let passages = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(reranker.score("q", passages.clone()).await.unwrap(), [0.1, 0.9]);
    let request = seen.lock().unwrap()[0].clone();
    assert!(request.starts_with("POST /v1/rerank ") && request.contains(r#""top_n":2"#));
    assert!(reranker.score("q", passages).await.is_err());
    assert!(reranker.score("q", Vec::new()).await.unwrap().is_empty());
}

#[test]
fn keys_are_not_printed() {
    assert!(!format!("{:?}", remote("http://x".into())).contains("secret"));
}
