//! The samples of the API reference: one table, from which curl, Python and TypeScript are written. A test runs them all
//! against a real server.

use std::fmt::Write;

use serde_json::Value;

/// What every Python sample begins with; the reference shows it once.
pub(super) const PYTHON: &str = r#"import os, requests

api = os.environ["QUIRE_URL"] + "/api/public/v1"
quire = requests.Session()
quire.headers["Authorization"] = "Bearer " + os.environ["QUIRE_API_KEY"]
box_id, file_id = os.environ["BOX_ID"], os.environ["FILE_ID"]
"#;

/// What every TypeScript sample begins with.
pub(super) const TYPESCRIPT: &str = r"import { openAsBlob } from 'node:fs';

const api = `${process.env.QUIRE_URL}/api/public/v1`;
const headers = { Authorization: `Bearer ${process.env.QUIRE_API_KEY}` };
const boxId = process.env.BOX_ID, fileId = process.env.FILE_ID;
";

/// What a request carries.
#[derive(Clone, Copy)]
enum Body {
    Nothing,
    /// JSON; the texts `BOX_ID`, `FILE_ID` and `ANSWER_ID` in it become variables.
    Json(&'static str),
    /// A form with the file `warranty.md`.
    File,
    /// The bytes of the file `warranty.md`.
    Bytes,
    /// Nothing; the answer is a stream that does not end by itself.
    Stream,
    /// Nothing; the answer is a picture of a page of the file `PDF_ID`.
    Picture,
}

/// The sample of one operation.
struct Sample {
    operation: &'static str,
    query: &'static str,
    body: Body,
}

const fn get(operation: &'static str, query: &'static str) -> Sample {
    Sample { operation, query, body: Body::Nothing }
}

const fn json(operation: &'static str, body: &'static str) -> Sample {
    Sample { operation, query: "", body: Body::Json(body) }
}

/// A sample for each operation that needs more than its path; for the others the path is enough.
const SAMPLES: &[Sample] = &[
    get("GET /boxes/{box_id}/files", "?limit=20&sort=-createdAt"),
    get("GET /files", "?box_id=BOX_ID&status=ready"),
    get("GET /files/{file_id}/signed-url", "?expires_in=600"),
    get("GET /signed-url", "?file_id=FILE_ID&disposition=inline"),
    Sample { operation: "POST /boxes/{box_id}/files", query: "", body: Body::File },
    Sample {
        operation: "GET /files/{file_id}/pages/{number}/image",
        query: "?width=800",
        body: Body::Picture,
    },
    Sample { operation: "PUT /process", query: "", body: Body::Bytes },
    Sample { operation: "GET /boxes/{box_id}/events", query: "", body: Body::Stream },
    json("POST /boxes", r#"{"name": "Manuals", "language": "auto"}"#),
    json("PATCH /boxes/{box_id}", r#"{"name": "Handbooks"}"#),
    json("POST /boxes/{box_id}/members", r#"{"email": "new@example.org", "role": "viewer"}"#),
    json("PATCH /boxes/{box_id}/members/{email}", r#"{"role": "admin"}"#),
    json(
        "POST /keys",
        r#"{"name": "Web page", "boxes": ["BOX_ID"], "origins": ["https://www.example.org"]}"#,
    ),
    json(
        "POST /webhooks",
        r#"{"url": "https://example.org/quire", "events": ["file.ready", "file.failed"]}"#,
    ),
    json(
        "POST /boxes/{box_id}/sources",
        r#"{"kind": "web", "url": "https://example.org/docs/", "max_pages": 50, "schedule": "weekly"}"#,
    ),
    json("POST /retrieve-documents", r#"{"boxes": ["BOX_ID"], "query": "How long is the warranty?"}"#),
    json("PATCH /files/{file_id}", r#"{"tags": ["manual"], "metadata": {"year": 2026, "team": "support"}}"#),
    json("POST /feedback", r#"{"id": "ANSWER_ID", "rating": 1, "comment": "That helped."}"#),
    get("GET /boxes/{box_id}/questions", "?outcome=unanswered&since=2026-11-01"),
    json("POST /signed-url", r#"{"file_id": "FILE_ID", "expires_in": 600}"#),
    json("POST /boxes/{box_id}/retrieve-documents", r#"{"query": "How long is the warranty?", "top_k": 5}"#),
    json("POST /boxes/{box_id}/retrieve-full-documents", r#"{"sources": ["FILE_ID"], "pages": "1-3"}"#),
    json(
        "POST /vector_stores/{box_id}/search",
        r#"{"query": "How long is the warranty?", "max_num_results": 5, "filters": {"type": "gte", "key": "year", "value": 2020}}"#,
    ),
    json(
        "POST /dify/retrieval",
        r#"{"knowledge_id": "BOX_ID", "query": "How long is the warranty?", "retrieval_setting": {"top_k": 5, "score_threshold": 0.1}}"#,
    ),
    json("POST /embeddings", r#"{"input": ["How long is the warranty?"], "input_type": "query"}"#),
    json(
        "POST /rerank",
        r#"{"query": "How long is the warranty?", "documents": ["Two years.", "The workshop is in Lyon."], "top_n": 1}"#,
    ),
    json(
        "POST /chat/completions",
        r#"{"model": "BOX_ID", "messages": [{"role": "user", "content": "How long is the warranty?"}]}"#,
    ),
    json(
        "POST /boxes/{box_id}/chat/completions",
        r#"{"messages": [{"role": "user", "content": "How long is the warranty?"}], "max_sources": 4}"#,
    ),
];

/// The samples of an operation such as `GET /boxes`, as Markdown. Those that the test can run are marked `run`.
pub(super) fn of(method: &str, path: &str, takes_body: bool) -> String {
    let operation = format!("{method} {path}");
    let known = SAMPLES.iter().find(|sample| sample.operation == operation);
    let (query, body) = known.map_or(("", Body::Nothing), |sample| (sample.query, sample.body));
    // Without a body that it asks for, a request would only fail.
    let runs = if takes_body && known.is_none() { "" } else { " run" };
    let call = Call { method, path: format!("{path}{query}"), body };
    // Only curl has no line to stop after.
    let curl_runs = if matches!(body, Body::Stream) { "" } else { runs };
    format!(
        "```sh{curl_runs}\n{}```\n\n```python{runs}\n{}```\n\n```ts{runs}\n{}```\n",
        call.curl(),
        call.python(),
        call.typescript()
    )
}

/// The address and the JSON body that an operation can be tried with; nothing where it takes or gives something else.
pub(super) fn trial(method: &str, path: &str, takes_body: bool) -> Option<(String, Option<&'static str>)> {
    let operation = format!("{method} {path}");
    match SAMPLES.iter().find(|sample| sample.operation == operation) {
        Some(Sample { query, body: Body::Nothing, .. }) => Some((format!("{path}{query}"), None)),
        Some(Sample { query, body: Body::Json(body), .. }) => Some((format!("{path}{query}"), Some(body))),
        Some(_) => None,
        None => (!takes_body).then(|| (path.to_string(), None)),
    }
}

/// A request, before it is written in a language.
struct Call<'a> {
    method: &'a str,
    path: String,
    body: Body,
}

/// How a language writes values.
#[derive(Clone, Copy, PartialEq)]
enum Language {
    Shell,
    Python,
    TypeScript,
}

impl Call<'_> {
    /// The path with its variables, as the language puts them into a text.
    fn address(&self, language: Language) -> String {
        let path = self.path.replace("BOX_ID", "{box_id}").replace("FILE_ID", "{file_id}");
        let path = match self.body {
            Body::Picture => path.replace("{file_id}", "{pdf_id}").replace("{number}", "1"),
            _ => path,
        };
        let parts = path.split('{').map(|part| match part.split_once('}') {
            None => part.to_string(),
            Some((name, rest)) => {
                let variable = match (language, name) {
                    (Language::Shell, _) => format!("${}", name.to_uppercase()),
                    (Language::Python, "box_id" | "file_id") => format!("{{{name}}}"),
                    (Language::TypeScript, "box_id" | "file_id") => format!("${{{}}}", camel(name)),
                    // Few samples need these, so the prelude does not read them.
                    (Language::Python, _) => format!("{{os.environ['{}']}}", name.to_uppercase()),
                    (Language::TypeScript, _) => format!("${{process.env.{}}}", name.to_uppercase()),
                };
                variable + rest
            }
        });
        parts.collect()
    }

    fn curl(&self) -> String {
        let mut line = String::from(
            "curl -sS --fail-with-body --cacert \"$QUIRE_CA\" -H \"Authorization: Bearer $QUIRE_API_KEY\" \\\n",
        );
        let method = match (self.method, self.body) {
            ("GET", Body::Stream) => "-N ".into(),
            ("GET", _) | ("POST", Body::Json(_) | Body::File) | (_, Body::Bytes) => String::new(),
            (method, _) => format!("-X {method} "),
        };
        let _ = write!(line, "  {method}\"$QUIRE_URL/api/public/v1{}\"", self.address(Language::Shell));
        match self.body {
            Body::Json(body) => {
                let body = literal(&parsed(body), Language::Shell);
                let _ = write!(line, " \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'");
            }
            Body::File => line
                .push_str(" \\\n  -F file=@warranty.md -F 'metadata={\"year\": 2026}' -F tags=manual,2026"),
            Body::Bytes => line.push_str(" \\\n  -H 'X-Filename: warranty.md' -T warranty.md"),
            Body::Picture => line.push_str(" -o page.png"),
            Body::Nothing | Body::Stream => {}
        }
        line + "\n"
    }

    fn python(&self) -> String {
        let address = format!("f\"{{api}}{}\"", self.address(Language::Python));
        let method = self.method.to_lowercase();
        match self.body {
            Body::Nothing => format!("answer = quire.{method}({address})\nprint(answer.json())\n"),
            Body::Json(body) => {
                let body = literal(&parsed(body), Language::Python);
                format!("answer = quire.{method}({address}, json={body})\nprint(answer.json())\n")
            }
            Body::File => format!(
                "with open(\"warranty.md\", \"rb\") as file:\n    answer = quire.{method}({address}, files={{\"file\": file}},\n                        \
                 data={{\"metadata\": '{{\"year\": 2026}}', \"tags\": \"manual,2026\"}})\nprint(answer.json())\n"
            ),
            Body::Bytes => format!(
                "with open(\"warranty.md\", \"rb\") as file:\n    answer = quire.{method}({address}, data=file, \
                 headers={{\"X-Filename\": \"warranty.md\"}})\nprint(answer.json())\n"
            ),
            Body::Picture => format!(
                "answer = quire.{method}({address})\nopen(\"page.png\", \"wb\").write(answer.content)\n"
            ),
            Body::Stream => format!(
                "with quire.{method}({address}, stream=True) as answer:\n    for line in answer.iter_lines():\n        \
                 print(line)\n        break  # take this away to go on listening\n"
            ),
        }
    }

    fn typescript(&self) -> String {
        let address = format!("`${{api}}{}`", self.address(Language::TypeScript));
        let method = match self.method {
            "GET" => String::new(),
            method => format!("method: \"{method}\", "),
        };
        match self.body {
            Body::Nothing => format!(
                "const answer = await fetch({address}, {{ {method}headers }});\nconsole.log(await answer.json());\n"
            ),
            Body::Json(body) => format!(
                "const answer = await fetch({address}, {{\n  {method}headers: {{ ...headers, \"Content-Type\": \"application/json\" }},\n  \
                 body: JSON.stringify({}),\n}});\nconsole.log(await answer.json());\n",
                literal(&parsed(body), Language::TypeScript)
            ),
            Body::File => format!(
                "const form = new FormData();\nform.append(\"file\", await openAsBlob(\"warranty.md\"), \"warranty.md\");\n\
                 form.append(\"metadata\", JSON.stringify({{ year: 2026 }}));\nform.append(\"tags\", \"manual,2026\");\n\
                 const answer = await fetch({address}, {{ {method}headers, body: form }});\nconsole.log(await answer.json());\n"
            ),
            Body::Bytes => format!(
                "const answer = await fetch({address}, {{\n  {method}headers: {{ ...headers, \"X-Filename\": \"warranty.md\" }},\n  \
                 body: await openAsBlob(\"warranty.md\"),\n}});\nconsole.log(await answer.json());\n"
            ),
            Body::Picture => format!(
                "const answer = await fetch({address}, {{ headers }});\nconst png = await answer.arrayBuffer();\n"
            ),
            Body::Stream => format!(
                "const answer = await fetch({address}, {{ headers }});\nfor await (const piece of answer.body ?? []) {{\n  \
                 console.log(new TextDecoder().decode(piece));\n  break; // take this away to go on listening\n}}\n"
            ),
        }
    }
}

pub(super) fn parsed(body: &str) -> Value {
    serde_json::from_str(body).expect("samples are JSON; a test reads them all")
}

/// `box_id` as `boxId`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_string();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

/// A value as the language writes it.
fn literal(value: &Value, language: Language) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::String(text) if text == "BOX_ID" || text == "FILE_ID" => match language {
            Language::Shell => format!("\"'\"${text}\"'\""),
            Language::Python => text.to_lowercase(),
            Language::TypeScript => camel(&text.to_lowercase()),
        },
        // Few samples need it, so the prelude does not read it.
        Value::String(text) if text == "ANSWER_ID" => match language {
            Language::Shell => "\"'\"$ANSWER_ID\"'\"".into(),
            Language::Python => "os.environ[\"ANSWER_ID\"]".into(),
            Language::TypeScript => "process.env.ANSWER_ID".into(),
        },
        Value::Array(items) => {
            format!("[{}]", list(items.iter().map(|item| literal(item, language)).collect()))
        }
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| match language {
                Language::TypeScript => format!("{key}: {}", literal(value, language)),
                _ => format!("\"{key}\": {}", literal(value, language)),
            });
            let inside = list(entries.collect());
            if language == Language::TypeScript { format!("{{ {inside} }}") } else { format!("{{{inside}}}") }
        }
        Value::Bool(true) if language == Language::Python => "True".into(),
        Value::Bool(false) if language == Language::Python => "False".into(),
        Value::Null if language == Language::Python => "None".into(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_reads_as_people_write_it_in_each_language() {
        let text = of("POST", "/boxes/{box_id}/retrieve-full-documents", true);
        assert!(
            text.contains(r#"-d '{"pages": "1-3", "sources": ["'"$FILE_ID"'"]}'"#)
                || text.contains(r#"-d '{"sources": ["'"$FILE_ID"'"], "pages": "1-3"}'"#),
            "{text}"
        );
        assert!(text.contains("$QUIRE_URL/api/public/v1/boxes/$BOX_ID/retrieve-full-documents"), "{text}");
        assert!(
            text.contains(r#"quire.post(f"{api}/boxes/{box_id}/retrieve-full-documents", json={"#),
            "{text}"
        );
        assert!(text.contains("await fetch(`${api}/boxes/${boxId}/retrieve-full-documents`, {"), "{text}");
        assert!(text.contains("sources: [fileId]"), "{text}");
    }

    #[test]
    fn every_sample_of_the_table_belongs_to_an_operation() {
        let document = serde_json::to_value(crate::http::routes::description()).unwrap();
        for sample in SAMPLES {
            let (method, path) = sample.operation.split_once(' ').unwrap();
            let known = &document["paths"][format!("/api/public/v1{path}")][method.to_lowercase()];
            assert!(known.is_object(), "{}", sample.operation);
            if let Body::Json(body) = sample.body {
                parsed(body);
            }
        }
    }

    #[test]
    fn what_needs_a_body_but_has_no_sample_is_not_marked_to_be_run() {
        assert!(!of("POST", "/unheard-of", true).contains(" run"));
        assert!(of("GET", "/boxes", false).contains("```sh run\n"));
    }
}
