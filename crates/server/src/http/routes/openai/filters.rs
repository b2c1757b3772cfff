//! OpenAI's filters on attributes, put into our own filter language.

use engine::{
    Fault,
    seams::catalog::{Filter, Metadata},
};
use serde_json::{Map, Value, json};

/// A filter `{"type": "eq", "key": …, "value": …}` or `{"type": "and", "filters": […]}`.
pub(super) fn parse(filters: &Value) -> Result<Filter, Fault> {
    let own = translated(filters, "filters")?;
    Filter::parse(&own).map_err(|fault| Fault { param: Some("filters".into()), ..fault })
}

fn translated(filter: &Value, place: &str) -> Result<Value, Fault> {
    let wrong = |what: &str| Fault::invalid(place, format!("`{place}` {what}"));
    let kind = filter["type"].as_str().ok_or_else(|| wrong("must be an object with a `type`"))?;
    if let "and" | "or" = kind {
        let filters = filter["filters"].as_array().ok_or_else(|| wrong("must have `filters`, an array"))?;
        let each = filters.iter().enumerate();
        let each = each.map(|(at, filter)| translated(filter, &format!("{place}.filters[{at}]")));
        return Ok(json!({format!("${kind}"): each.collect::<Result<Vec<Value>, Fault>>()?}));
    }
    let operator = match kind {
        "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin" => format!("${kind}"),
        "contains" => "$contains".into(),
        _ => return Err(wrong("has an unknown `type`: use eq, ne, gt, gte, lt, lte, in, nin, and, or")),
    };
    let key = filter["key"].as_str().ok_or_else(|| wrong("must name a `key`"))?;
    let value = filter.get("value").ok_or_else(|| wrong("must have a `value`"))?;
    Ok(json!({key: {operator: value}}))
}

/// Metadata as attributes: plain values as they are, others as JSON.
pub(super) fn attributes(metadata: &Metadata) -> Map<String, Value> {
    let plain = |value: &Value| match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => value.clone(),
        other => Value::String(other.to_string()),
    };
    metadata.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_mean_the_same_in_both_languages() {
        let metadata: Metadata = serde_json::from_value(json!({"year": 2021, "team": "hr"})).unwrap();
        for (filter, passes) in [
            (json!({"type": "eq", "key": "team", "value": "hr"}), true),
            (json!({"type": "ne", "key": "team", "value": "hr"}), false),
            (json!({"type": "gte", "key": "year", "value": 2021}), true),
            (json!({"type": "in", "key": "team", "value": ["hr", "it"]}), true),
            (json!({"type": "nin", "key": "team", "value": ["hr"]}), false),
            (
                json!({"type": "and", "filters": [
                    {"type": "gt", "key": "year", "value": 2020},
                    {"type": "or", "filters": [{"type": "eq", "key": "team", "value": "it"}]}]}),
                false,
            ),
        ] {
            assert_eq!(parse(&filter).unwrap().matches(&metadata), passes, "{filter}");
        }
        for wrong in [json!([]), json!({"type": "like"}), json!({"type": "eq"}), json!({"type": "and"})] {
            assert!(parse(&wrong).unwrap_err().param.unwrap().starts_with("filters"), "{wrong}");
        }
    }
}
