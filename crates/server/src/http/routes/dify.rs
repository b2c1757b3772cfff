//! `POST /dify/retrieval`: a box as an external knowledge base of Dify.

use axum::{Json, extract::State};
use engine::{
    Fault,
    access::{Caller, Reading, no_such_box},
    seams::catalog::{FileRecord, Filter, Metadata},
    search::{Hit, SearchRequest},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::finding;
use crate::{
    app::App,
    http::{
        BASE,
        auth::Searcher,
        body::{self, JsonBody},
        error::Failure,
        origin::Origin,
        request_id::RequestId,
    },
    payer::Payer,
};

/// Tests that conditions come to, each of their names counted, and bytes that they come to as a filter. The filter has the same
/// limits, but it has to be written first, and every name of a condition repeats its value.
const MOST_TESTS: usize = 200;
const MOST_BYTES: usize = 256 * 1024;

/// What Dify asks.
#[derive(Deserialize, ToSchema)]
pub(super) struct RetrievalBody {
    /// The box.
    knowledge_id: Option<String>,
    /// The question.
    query: Option<String>,
    retrieval_setting: Option<RetrievalSetting>,
    /// Conditions on the files' metadata, and on `$file.name` and the like.
    metadata_condition: Option<MetadataCondition>,
}

#[derive(Deserialize, ToSchema, Default)]
struct RetrievalSetting {
    /// The most passages to return, 1 to 50.
    top_k: Option<u64>,
    /// The lowest score of a passage, 0 to 1.
    score_threshold: Option<f32>,
}

#[derive(Deserialize, ToSchema)]
struct MetadataCondition {
    /// and, or
    logical_operator: Option<String>,
    conditions: Option<Vec<Condition>>,
}

#[derive(Deserialize, ToSchema)]
struct Condition {
    /// The entry of the metadata; several are alternatives.
    #[schema(value_type = Object)]
    name: Value,
    comparison_operator: String,
    #[schema(value_type = Option<Object>)]
    value: Option<Value>,
}

/// What Dify is answered.
#[derive(Serialize, ToSchema)]
pub(super) struct Records {
    records: Vec<Record>,
}

#[derive(Serialize, ToSchema)]
struct Record {
    content: String,
    /// 0 to 1.
    score: f32,
    /// The name of the file.
    title: String,
    /// The file's own, with `path`, `page` and `file_id`.
    #[schema(value_type = Object)]
    metadata: Metadata,
}

/// What an error looks like to Dify.
#[derive(Serialize, ToSchema)]
pub(super) struct DifyError {
    /// 1001 and 1002 for the key, 2001 for the box, else the HTTP status.
    error_code: u16,
    error_msg: String,
}

/// Searches a box for Dify. Costs 1 to 4 intelligence units; the empty request that Dify tries an address with is free.
#[utoipa::path(post, path = "/dify/retrieval", operation_id = "retrieve_for_dify", tag = "documents", request_body = RetrievalBody, responses(
    (status = 200, description = "The passages found, best first; Dify's shape, without the envelope", body = Records),
    (status = "4XX", description = "The key, its role or the body is wrong, or units are used up", body = DifyError)
))]
pub(super) async fn retrieve(
    State(app): State<App>,
    Searcher(caller): Searcher,
    payer: Payer,
    origin: Origin,
    id: RequestId,
    body: JsonBody<RetrievalBody>,
) -> Result<Json<Records>, Failure> {
    let RetrievalBody { knowledge_id, query, retrieval_setting, metadata_condition } = body.value;
    let (named, query) = (knowledge_id.unwrap_or_default(), query.unwrap_or_default());
    // How Dify tries an address; it takes a refusal for a broken one.
    if named.trim().is_empty() && query.trim().is_empty() {
        return Ok(Json(Records { records: Vec::new() }));
    }
    let reading = searchable(&caller, &named)?;
    if query.trim().is_empty() {
        return Ok(Json(Records { records: Vec::new() }));
    }
    let setting = retrieval_setting.unwrap_or_default();
    let usual = SearchRequest::new(query);
    let request = SearchRequest {
        top_k: setting.top_k.map_or(usual.top_k, |top_k| top_k.clamp(1, 50) as usize),
        threshold: setting.score_threshold.unwrap_or(0.0).clamp(0.0, 1.0),
        ..usual
    };
    let filter = metadata_condition.and_then(MetadataCondition::filter).transpose()?;
    let found = finding::search(&app, &payer, id, &[reading], vec![request], filter).await?;
    let records = found.hits.into_iter().map(|(hit, file)| Record::of(hit, file, &origin)).collect();
    Ok(Json(Records { records }))
}

/// What a body says, before anything is looked up.
pub(super) fn read(bytes: &[u8]) -> Result<(), Fault> {
    let body = body::parse::<RetrievalBody>(bytes)?.value;
    body.metadata_condition.and_then(MetadataCondition::filter).transpose().map(drop)
}

fn searchable(caller: &Caller, box_id: &str) -> Result<Reading, Fault> {
    caller.may_search(box_id.trim().parse().map_err(|_| no_such_box())?)
}

impl Record {
    fn of(hit: Hit, file: FileRecord, origin: &Origin) -> Self {
        let page = hit.chunk.page;
        let mut metadata = file.metadata;
        for (name, value) in [
            ("path", json!(format!("{origin}{BASE}/files/{}?page={page}#page={page}", file.id))),
            ("page", json!(page)),
            ("file_id", json!(file.id)),
        ] {
            metadata.entry(name.to_string()).or_insert(value);
        }
        Record { content: hit.chunk.text, score: hit.score, title: file.name.as_str().to_string(), metadata }
    }
}

impl MetadataCondition {
    /// The same in our own filter language, which has the limits.
    fn filter(self) -> Option<Result<Filter, Fault>> {
        let conditions = self.conditions.filter(|conditions| !conditions.is_empty())?;
        let joined = match self.logical_operator.as_deref() {
            Some("or") => "$or",
            _ => "$and",
        };
        if let Err(fault) = must_be_short(&conditions) {
            return Some(Err(fault));
        }
        let conditions: Result<Vec<Value>, Fault> = conditions.iter().map(Condition::filter).collect();
        Some(conditions.and_then(|conditions| Filter::parse(&json!({joined: conditions}))))
    }
}

/// Fails where conditions say more than a filter can.
fn must_be_short(conditions: &[Condition]) -> Result<(), Fault> {
    let (mut tests, mut bytes) = (0, 0usize);
    for condition in conditions {
        let names = condition.names();
        let value = condition.value.as_ref().map_or(0, |value| as_text(value).len());
        tests += names.len().max(1);
        bytes = bytes.saturating_add(names.iter().map(|name| name.len() + value).sum());
    }
    if tests <= MOST_TESTS && bytes <= MOST_BYTES {
        return Ok(());
    }
    let cause = format!(
        "`metadata_condition` has {tests} conditions and {} KB; the limits are {MOST_TESTS} conditions and {} KB",
        bytes.div_ceil(1024),
        MOST_BYTES / 1024
    );
    Err(Fault::invalid("metadata_condition", cause))
}

impl Condition {
    fn names(&self) -> Vec<&str> {
        match &self.name {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    fn filter(&self) -> Result<Value, Fault> {
        let names = self.names();
        if names.is_empty() {
            let cause = "`metadata_condition.conditions[].name` must be a string or an array of strings";
            return Err(Fault::invalid("metadata_condition", cause));
        }
        let any: Result<Vec<Value>, Fault> = names.into_iter().map(|name| self.test(name)).collect();
        Ok(json!({"$or": any?}))
    }

    fn test(&self, name: &str) -> Result<Value, Fault> {
        let value = self.value.clone().unwrap_or(Value::Null);
        let text = || Value::String(as_text(&value));
        let test = match self.comparison_operator.as_str() {
            "contains" => json!({"$contains": text()}),
            "not contains" => return Ok(json!({"$not": {name: {"$contains": text()}}})),
            "start with" => json!({"$starts": text()}),
            "end with" => json!({"$ends": text()}),
            "is" | "=" => json!({"$in": either(&value)}),
            "is not" | "≠" => json!({"$nin": either(&value)}),
            "in" => json!({"$in": listed(&value)}),
            "not in" => json!({"$nin": listed(&value)}),
            "empty" => json!({"$in": [null, ""]}),
            "not empty" => json!({"$nin": [null, ""]}),
            ">" => json!({"$gt": number(value)}),
            "<" => json!({"$lt": number(value)}),
            "≥" => json!({"$gte": number(value)}),
            "≤" => json!({"$lte": number(value)}),
            "after" => json!({"$gt": value}),
            "before" => json!({"$lt": value}),
            other => {
                let shown: String = other.chars().take(40).collect();
                let cause = format!(
                    "`metadata_condition` has the unknown operator `{shown}`; use one of Dify's operators, such as is, contains or in"
                );
                return Err(Fault::invalid("metadata_condition", cause));
            }
        };
        Ok(json!({name: test}))
    }
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// Dify sends what was typed, so that a number may come as a text.
fn number(value: Value) -> Value {
    match value.as_str().and_then(|text| text.trim().parse::<f64>().ok()) {
        Some(number) => json!(number),
        None => value,
    }
}

/// A value as it came, and as what it may have meant.
fn either(value: &Value) -> Vec<Value> {
    let mut values = vec![value.clone(), number(value.clone())];
    match value.as_str() {
        Some("true") => values.push(json!(true)),
        Some("false") => values.push(json!(false)),
        _ => {}
    }
    values
}

/// A list, or words separated by commas.
fn listed(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values.iter().flat_map(either).collect(),
        value => as_text(value).split(',').flat_map(|word| either(&json!(word.trim()))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(operator: &str, value: Value, metadata: Value) -> bool {
        let condition =
            Condition { name: json!("a"), comparison_operator: operator.into(), value: Some(value) };
        let condition = MetadataCondition { logical_operator: None, conditions: Some(vec![condition]) };
        let metadata: Metadata = serde_json::from_value(metadata).unwrap();
        condition.filter().unwrap().unwrap().matches(&metadata)
    }

    #[test]
    fn each_of_the_operators_means_what_it_says() {
        for (operator, value, yes, no) in [
            ("contains", json!("port"), json!({"a": "Report"}), json!({"a": "memo"})),
            ("not contains", json!("port"), json!({"a": "memo"}), json!({"a": "Report"})),
            ("start with", json!("re"), json!({"a": "Report"}), json!({"a": "a report"})),
            ("end with", json!("t"), json!({"a": "Report"}), json!({"a": "reports"})),
            ("is", json!("x"), json!({"a": "x"}), json!({"a": "y"})),
            ("is", json!("5"), json!({"a": 5}), json!({"a": 6})),
            ("is not", json!("x"), json!({"a": "y"}), json!({"a": "x"})),
            ("in", json!("x, y"), json!({"a": "y"}), json!({"a": "z"})),
            ("in", json!(["x", "y"]), json!({"a": "y"}), json!({"a": "z"})),
            ("not in", json!("x,y"), json!({"a": "z"}), json!({"a": "y"})),
            ("empty", Value::Null, json!({}), json!({"a": "x"})),
            ("not empty", Value::Null, json!({"a": "x"}), json!({"a": ""})),
            ("=", json!("2021"), json!({"a": 2021}), json!({"a": 2022})),
            ("≠", json!(2021), json!({"a": 2022}), json!({"a": 2021})),
            (">", json!("2020"), json!({"a": 2021}), json!({"a": 2020})),
            ("<", json!(2022), json!({"a": 2021}), json!({"a": 2022})),
            ("≥", json!(2021), json!({"a": 2021}), json!({"a": 2020})),
            ("≤", json!(2021), json!({"a": 2021}), json!({"a": 2022})),
            ("before", json!("2021-05-01"), json!({"a": "2021-04-30"}), json!({"a": "2021-05-02"})),
            ("after", json!("2021-05-01"), json!({"a": "2021-05-02"}), json!({"a": "2021-04-30"})),
        ] {
            assert!(passes(operator, value.clone(), yes.clone()), "{operator} {value}: {yes}");
            assert!(!passes(operator, value.clone(), no.clone()), "{operator} {value}: {no}");
        }
    }

    /// Written out, this would take some hundred gigabytes.
    #[test]
    fn conditions_that_multiply_are_refused_before_they_are_written_out() {
        let (names, values) = (vec!["a"; 50_000], "x,".repeat(50_000));
        let condition =
            Condition { name: json!(names), comparison_operator: "in".into(), value: Some(json!(values)) };
        let condition = MetadataCondition { logical_operator: None, conditions: Some(vec![condition]) };
        let fault = condition.filter().unwrap().unwrap_err();
        assert_eq!(fault.param.as_deref(), Some("metadata_condition"), "{fault}");
    }

    #[test]
    fn an_unknown_operator_is_refused() {
        let condition = Condition { name: json!("a"), comparison_operator: "like".into(), value: None };
        assert!(condition.filter().is_err());
    }
}
