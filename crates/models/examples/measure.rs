//! Runs a model for the scripts in `bench/models`: one JSON request a line in, one JSON answer a line out.
//!
//! `measure embedder|reranker FOLDER PATH THREADS`, where PATH is `best` or a path's name. Requests:
//! `{"texts": [...], "role": "query", "vectors": true}`, `{"query": "...", "passages": [...]}`, `{"memory": true}`.
//! An embedder told to `"keep": true` holds passages as the index does, and answers `{"query": "..."}` with the cosine and the
//! late interaction of each; `{"forget": true}` begins anew.
//! `measure pull DIRECTORY MODEL` fetches a known model.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use engine::seams::embedder::{Embedder, Role};
use engine::seams::reranker::Reranker;
use engine::search::late;
use models::{LocalEmbedder, LocalReranker, Options, runtime};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Request {
    texts: Vec<String>,
    role: String,
    vectors: bool,
    query: String,
    passages: Vec<String>,
    memory: bool,
    keep: bool,
    forget: bool,
    /// Counts tokens of `texts` this many times instead of embedding them.
    count: usize,
}

/// A passage as the index holds it: its vector, and its token vectors packed.
type Kept = (Vec<f32>, Vec<u8>);

enum Loaded {
    Embedder(Box<LocalEmbedder>),
    Reranker(Box<LocalReranker>),
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["pull", directory, model] => println!("{:?}", models::weights::pull(Path::new(directory), model)),
        [kind, folder, path, threads] => {
            let path = runtime::Path::ALL.into_iter().find(|known| known.as_str() == path);
            let options = Options { threads: threads.parse().unwrap(), path, ..Options::default() };
            serve(kind, Path::new(folder), &options).await;
        }
        _ => eprintln!("usage: measure embedder|reranker FOLDER PATH THREADS | measure pull DIRECTORY MODEL"),
    }
}

async fn serve(kind: &str, folder: &Path, options: &Options) {
    let (start, processor) = (Instant::now(), processor_seconds());
    let (loaded, path) = match kind {
        "embedder" => {
            let embedder = LocalEmbedder::load(folder, options).unwrap();
            let path = embedder.path();
            (Loaded::Embedder(Box::new(embedder)), path)
        }
        _ => {
            let reranker = LocalReranker::load(folder, options).unwrap();
            let path = reranker.path();
            (Loaded::Reranker(Box::new(reranker)), path)
        }
    };
    say(serde_json::json!({"path": path.as_str(), "load_ms": start.elapsed().as_secs_f64() * 1e3,
        "load_cpu_ms": (processor_seconds() - processor) * 1e3, "resident_mb": status("VmRSS")}));
    let mut kept: Vec<Kept> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line.unwrap()).unwrap();
        let (start, processor) = (Instant::now(), processor_seconds());
        let mut answer = answer(&loaded, request, &mut kept).await;
        answer["wall"] = start.elapsed().as_secs_f64().into();
        answer["cpu"] = (processor_seconds() - processor).into();
        say(answer);
    }
}

async fn answer(loaded: &Loaded, request: Request, kept: &mut Vec<Kept>) -> serde_json::Value {
    match loaded {
        _ if request.memory => {
            serde_json::json!({"resident_mb": status("VmRSS"), "peak_mb": status("VmHWM")})
        }
        Loaded::Embedder(embedder) if request.count > 0 => {
            let count = |text: &String| embedder.count_tokens(text);
            let tokens: usize = (0..request.count).flat_map(|_| request.texts.iter().map(count)).sum();
            serde_json::json!({ "tokens": tokens })
        }
        Loaded::Embedder(_) if request.forget => {
            kept.clear();
            serde_json::json!({})
        }
        Loaded::Embedder(embedder) if request.keep => {
            let embeddings = embedder.embed(request.texts, Role::Passage, true).await.unwrap();
            let packed = embeddings.into_iter().map(|e| (late::pack(&e.tokens, &e.token_ids), e.vector));
            kept.extend(packed.map(|(packed, vector)| (vector, packed)));
            serde_json::json!({ "kept": kept.len() })
        }
        Loaded::Embedder(embedder) if !request.query.is_empty() => {
            let asked = embedder.embed(vec![request.query], Role::Query, true).await.unwrap().remove(0);
            let query = late::Query::new(&asked.tokens, &asked.token_ids);
            let cosine =
                |vector: &[f32]| -> f32 { vector.iter().zip(&asked.vector).map(|(a, b)| a * b).sum() };
            let cosines: Vec<f32> = kept.iter().map(|(vector, _)| cosine(vector)).collect();
            let late: Vec<Option<f32>> = kept.iter().map(|(_, packed)| query.similarity(packed)).collect();
            serde_json::json!({ "cosines": cosines, "late": late, "token_ids": asked.token_ids })
        }
        Loaded::Embedder(embedder) => {
            let role = if request.role == "query" { Role::Query } else { Role::Passage };
            let embeddings = embedder.embed(request.texts, role, false).await.unwrap();
            let vectors: Vec<_> = embeddings.into_iter().map(|embedding| embedding.vector).collect();
            if request.vectors { serde_json::json!({ "vectors": vectors }) } else { serde_json::json!({}) }
        }
        Loaded::Reranker(reranker) => {
            let scores = reranker.score(&request.query, request.passages).await.unwrap();
            serde_json::json!({ "scores": scores })
        }
    }
}

fn say(answer: serde_json::Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{answer}").unwrap();
    out.flush().unwrap();
}

/// Processor time of all threads so far, also of those that have ended.
#[allow(unsafe_code)]
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A line of this process's status, in megabytes; 0 on systems without that file.
fn status(name: &str) -> f64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/status") else { return 0.0 };
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}
