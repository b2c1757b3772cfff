//! The API as people meet it, made from the `OpenAPI` document: a reference with parameters, body, answer, errors and samples of each
//! operation, and requests to try.

mod samples;

use std::{fmt::Write, sync::LazyLock};

use serde_json::{Map, Value};

use crate::http::{BASE, routes::description};

/// Groups of operations in the order of the page; others follow.
const TAGS: &[(&str, &str)] = &[
    ("service", "Service"),
    ("boxes", "Boxes"),
    ("keys", "Keys"),
    ("webhooks", "Webhooks"),
    ("files", "Files"),
    ("sources", "Sources"),
    ("documents", "Search and documents"),
    ("chat", "Chat"),
    ("feedback", "Feedback"),
];

/// Methods in the order in which people meet them.
const METHODS: &[&str] = &["get", "post", "put", "patch", "delete"];

/// The page.
pub(crate) fn markdown() -> String {
    let document = serde_json::to_value(description()).expect("an OpenAPI document is plain JSON");
    let mut page = introduction();
    let operations = operations(&document);
    let known: Vec<&str> = TAGS.iter().map(|(tag, _)| *tag).collect();
    let mut tags: Vec<(&str, &str)> = TAGS.to_vec();
    for operation in &operations {
        if !known.contains(&operation.tag) && !tags.iter().any(|(tag, _)| *tag == operation.tag) {
            tags.push((operation.tag, operation.tag));
        }
    }
    for (tag, title) in tags {
        let _ = write!(page, "\n## {title}\n");
        for operation in operations.iter().filter(|operation| operation.tag == tag) {
            write_operation(&mut page, &document, operation);
        }
    }
    page.push_str("\n## Objects\n\nWhat requests and answers are made of.\n");
    write_objects(&mut page, &document);
    page
}

/// A request that can be tried in the dashboard. In it, `BOX_ID` and the like stand for what whoever tries it puts there.
#[derive(Clone)]
pub(crate) struct Trial {
    /// The operation's name.
    pub(crate) id: String,
    pub(crate) method: String,
    /// Below the base path.
    pub(crate) path: String,
    pub(crate) summary: String,
    /// JSON, laid out.
    pub(crate) body: Option<String>,
}

/// Every operation that is asked and answers in JSON.
pub(crate) static TRIALS: LazyLock<Vec<Trial>> = LazyLock::new(|| {
    let document = serde_json::to_value(description()).expect("an OpenAPI document is plain JSON");
    let ready = |operation: &Operation<'_>| {
        let takes_body = operation.value["requestBody"].is_object();
        let (path, body) = samples::trial(&operation.method, operation.path, takes_body)?;
        Some(Trial {
            id: operation.value["operationId"].as_str()?.to_string(),
            method: operation.method.clone(),
            path: path.replace("{box_id}", "BOX_ID").replace("{file_id}", "FILE_ID"),
            summary: operation.value["summary"].as_str().unwrap_or_default().to_string(),
            body: body.map(|body| format!("{:#}", samples::parsed(body))),
        })
    };
    operations(&document).iter().filter_map(ready).collect()
});

fn introduction() -> String {
    format!(
        "# API reference\n\nEvery operation, with its parameters, its answer and samples. This page is generated from the \
         [OpenAPI document](/api/public/v1/openapi.json), which code generators can read as well.\n\n## How to call it\n\n\
         All paths are below `{BASE}`. Send an API key in the header `Authorization: Bearer quire_…`. Requests and answers are \
         JSON over HTTPS. An answer has `success` and `data`; a failed request has `error` instead, and \
         [the errors](troubleshooting.md) are the same everywhere.\n\nThe samples read the address of the server, the key and \
         the certificate from the environment:\n\n```sh\nexport QUIRE_URL=https://127.0.0.1:8443\nexport \
         QUIRE_API_KEY=quire_…\nexport QUIRE_CA=quire-data/tls/cert.pem\nexport REQUESTS_CA_BUNDLE=$QUIRE_CA    # for Python\nexport NODE_EXTRA_CA_CERTS=$QUIRE_CA   # for \
         TypeScript\nexport BOX_ID=box_… FILE_ID=fil_…\n```\n\n`QUIRE_CA` is needed only with quire's self-signed \
         certificate. Python samples begin with:\n\n```python\n{}```\n\nand TypeScript samples with:\n\n```ts\n{}```\n",
        samples::PYTHON,
        samples::TYPESCRIPT,
    )
}

/// One operation of the document.
struct Operation<'a> {
    method: String,
    /// Below the base path.
    path: &'a str,
    tag: &'a str,
    value: &'a Value,
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths
        .flat_map(|(path, item)| {
            METHODS.iter().filter_map(move |method| {
                let value = item.get(method)?;
                let tag = value["tags"][0].as_str().unwrap_or("other");
                let path = path.strip_prefix(BASE).unwrap_or(path);
                Some(Operation { method: method.to_uppercase(), path, tag, value })
            })
        })
        .collect()
}

fn write_operation(page: &mut String, document: &Value, operation: &Operation<'_>) {
    let _ = write!(page, "\n### `{} {}`\n", operation.method, operation.path);
    for text in ["summary", "description"] {
        if let Some(text) = operation.value[text].as_str().filter(|text| !text.is_empty()) {
            let _ = write!(page, "\n{text}\n");
        }
    }
    write_parameters(page, operation.value);
    let body = &operation.value["requestBody"]["content"];
    for (kind, content) in body.as_object().into_iter().flatten() {
        let _ = write!(page, "\nBody, `{kind}`:\n\n");
        write_fields(page, &fields(document, &content["schema"]));
    }
    write_answers(page, operation.value);
    let _ = write!(page, "\n{}", samples::of(&operation.method, operation.path, body.is_object()));
}

fn write_parameters(page: &mut String, operation: &Value) {
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    // Some operations share a form of query whose first part is in their path.
    let in_path: Vec<&Value> =
        parameters.iter().filter(|one| one["in"] == "path").map(|one| &one["name"]).collect();
    let shown: Vec<Field> = parameters
        .iter()
        .filter(|one| one["in"] == "path" || !in_path.contains(&&one["name"]))
        .map(|one| Field {
            name: one["name"].as_str().unwrap_or_default().into(),
            kind: format!("{}, {}", kind(&one["schema"]), one["in"].as_str().unwrap_or_default()),
            required: one["required"] == true,
            description: one["description"].as_str().unwrap_or_default().into(),
        })
        .collect();
    if !shown.is_empty() {
        page.push_str("\nParameters:\n\n");
        write_fields(page, &shown);
    }
}

fn write_answers(page: &mut String, operation: &Value) {
    page.push_str("\n| status | answer |\n|---|---|\n");
    for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
        let description = answer["description"].as_str().unwrap_or_default();
        let schema =
            answer["content"].as_object().and_then(|kinds| kinds.values().next()).map(|one| &one["schema"]);
        let object = schema.map(kind).filter(|kind| kind.starts_with('[')).unwrap_or_default();
        let object = if object.is_empty() { object } else { format!(": {object}") };
        let _ = writeln!(page, "| {status} | {}{object} |", cell(description));
    }
}

/// A field of an object, or a parameter.
struct Field {
    name: String,
    kind: String,
    required: bool,
    description: String,
}

fn write_fields(page: &mut String, fields: &[Field]) {
    page.push_str("| name | type | |\n|---|---|---|\n");
    for field in fields {
        let required = if field.required { " required. " } else { " " };
        let _ =
            writeln!(page, "| `{}` | {} |{required}{} |", field.name, field.kind, cell(&field.description));
    }
}

/// A text in a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// The fields of a schema, those of its parts included.
fn fields(document: &Value, schema: &Value) -> Vec<Field> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap_or_default();
        return fields(document, &document["components"]["schemas"][name]);
    }
    let parts = schema["allOf"].as_array().into_iter().flatten();
    let mut found: Vec<Field> = parts.flat_map(|part| fields(document, part)).collect();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        found.push(Field {
            name: name.clone(),
            kind: kind(property),
            required: required.contains(&name.as_str()),
            description: property["description"].as_str().unwrap_or_default().into(),
        });
    }
    found
}

/// What a schema is, in a word; objects link to their table.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        let name = name.strip_prefix("Envelope_").unwrap_or(name);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    let choices = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    if let Some(choices) = choices {
        let kinds: Vec<String> = choices.iter().map(kind).filter(|kind| kind != "null").collect();
        return kinds.join(" or ");
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
        }
        one => one.as_str().into_iter().collect(),
    };
    match kinds.join(" or ").as_str() {
        "array" => format!("list of {}", kind(&schema["items"])),
        "" => "any".into(),
        other => other.into(),
    }
}

/// A table for each object; envelopes are said once, on top.
fn write_objects(page: &mut String, document: &Value) {
    let none = Map::new();
    let schemas = document["components"]["schemas"].as_object().unwrap_or(&none);
    for (name, schema) in schemas.iter().filter(|(name, _)| !name.starts_with("Envelope_")) {
        let _ = write!(page, "\n### {name}\n\n");
        if let Some(description) = schema["description"].as_str() {
            let _ = write!(page, "{description}\n\n");
        }
        if let Some(values) = schema["enum"].as_array() {
            let values: Vec<String> =
                values.iter().filter_map(Value::as_str).map(|one| format!("`{one}`")).collect();
            let _ = writeln!(page, "One of {}.", values.join(", "));
            continue;
        }
        write_fields(page, &fields(document, schema));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_heading_an_answer_and_samples_in_three_languages() {
        let page = markdown();
        let document = serde_json::to_value(description()).unwrap();
        let operations = operations(&document);
        assert!(operations.len() > 15, "{}", operations.len());
        for operation in operations {
            let heading = format!("### `{} {}`\n", operation.method, operation.path);
            assert_eq!(page.matches(&heading).count(), 1, "{heading}");
            let section = page.split(&heading).nth(1).unwrap().split("\n### ").next().unwrap();
            for part in ["| status | answer |", "```sh", "```python", "```ts"] {
                assert!(section.contains(part), "{heading} lacks {part}");
            }
        }
    }

    #[test]
    fn every_object_that_is_linked_is_described() {
        let page = markdown();
        for link in page.split("](#").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let described = page
                .lines()
                .any(|line| line.strip_prefix("### ").is_some_and(|name| name.to_lowercase() == link));
            assert!(described, "#{link}");
        }
    }
}
