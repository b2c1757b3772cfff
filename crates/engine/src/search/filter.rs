//! Filters on what owners say of their files: `{"year": {"$gte": 2020}, "$or": [{"team": "hr"}, {"team": "legal"}]}`.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::{Fault, seams::catalog::Metadata};

/// Filters within filters at most.
const DEEPEST: usize = 16;
/// Conditions in one filter at most.
const MOST: usize = 200;

/// A condition on the metadata of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// All of these; an empty filter lets everything through.
    All(Vec<Filter>),
    /// At least one of these.
    Any(Vec<Filter>),
    /// Not this.
    Not(Box<Filter>),
    /// What one entry must be; dots go into objects.
    Entry(String, Test),
}

/// What an entry must be. A list passes where one of its items does; an entry that is not there passes only `$ne`, `$nin`
/// and a comparison with null.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// `$eq`
    Equal(Value),
    /// `$ne`
    Unequal(Value),
    /// `$gt`, `$gte`, `$lt`, `$lte`: among numbers, or among texts (dates as ISO 8601 has them sort as texts).
    Ordered(Bound, Value),
    /// `$in`
    OneOf(Vec<Value>),
    /// `$nin`
    NoneOf(Vec<Value>),
}

/// Which side of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// More.
    Above,
    /// As much or more.
    From,
    /// Less.
    Below,
    /// As much or less.
    UpTo,
}

impl Filter {
    /// Reads a filter as it comes over the wire. Faults name the place.
    pub fn parse(value: &Value) -> Result<Self, Fault> {
        let mut left = MOST;
        filter(value, "filter", DEEPEST, &mut left)
    }

    /// Whether a file with this metadata passes.
    pub fn matches(&self, metadata: &Metadata) -> bool {
        match self {
            Filter::All(filters) => filters.iter().all(|filter| filter.matches(metadata)),
            Filter::Any(filters) => filters.iter().any(|filter| filter.matches(metadata)),
            Filter::Not(filter) => !filter.matches(metadata),
            Filter::Entry(name, test) => test.passes(entry(metadata, name)),
        }
    }
}

/// An entry by its name, or else by the path that the name's dots make.
fn entry<'a>(metadata: &'a Metadata, name: &str) -> Option<&'a Value> {
    if let Some(value) = metadata.get(name) {
        return Some(value);
    }
    let mut steps = name.split('.');
    let first = metadata.get(steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(step))
}

impl Test {
    fn passes(&self, found: Option<&Value>) -> bool {
        match self {
            Test::Equal(wanted) => equals(found, wanted),
            Test::Unequal(unwanted) => !equals(found, unwanted),
            Test::OneOf(wanted) => wanted.iter().any(|wanted| equals(found, wanted)),
            Test::NoneOf(unwanted) => !unwanted.iter().any(|unwanted| equals(found, unwanted)),
            Test::Ordered(bound, limit) => match found {
                Some(Value::Array(items)) => items.iter().any(|item| bound.admits(order(item, limit))),
                Some(value) => bound.admits(order(value, limit)),
                None => false,
            },
        }
    }
}

impl Bound {
    fn admits(self, order: Option<Ordering>) -> bool {
        match self {
            Bound::Above => order == Some(Ordering::Greater),
            Bound::From => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            Bound::Below => order == Some(Ordering::Less),
            Bound::UpTo => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        }
    }
}

fn equals(found: Option<&Value>, wanted: &Value) -> bool {
    match found {
        None => wanted.is_null(),
        Some(Value::Array(items)) if !wanted.is_array() => items.iter().any(|item| same(item, wanted)),
        Some(value) => same(value, wanted),
    }
}

/// Numbers are the same by value: 5 is 5.0.
fn same(a: &Value, b: &Value) -> bool {
    a == b || (a.is_number() && order(a, b) == Some(Ordering::Equal))
}

/// Values of one kind in their order; of two kinds, none.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (x.as_i64(), y.as_i64()) {
            (Some(x), Some(y)) => Some(x.cmp(&y)),
            _ => x.as_f64()?.partial_cmp(&y.as_f64()?),
        },
        (Value::String(x), Value::String(y)) => Some(x.cmp(y)),
        _ => None,
    }
}

fn filter(value: &Value, place: &str, deeper: usize, left: &mut usize) -> Result<Filter, Fault> {
    let Value::Object(fields) = value else {
        return Err(wrong(place, "must be an object such as {\"year\": {\"$gte\": 2020}}"));
    };
    if deeper == 0 {
        return Err(wrong(place, "is nested too deeply"));
    }
    let parts: Result<Vec<Filter>, Fault> = fields
        .iter()
        .map(|(name, value)| {
            *left = left
                .checked_sub(1)
                .ok_or_else(|| wrong("filter", &format!("has more than {MOST} conditions")))?;
            let place = format!("{place}.{}", name.chars().take(60).collect::<String>());
            match name.as_str() {
                "$and" => Ok(Filter::All(list(value, &place, deeper, left)?)),
                "$or" => Ok(Filter::Any(list(value, &place, deeper, left)?)),
                "$not" => Ok(Filter::Not(Box::new(filter(value, &place, deeper - 1, left)?))),
                name if name.starts_with('$') => Err(unknown(&place, name)),
                name => tests(name, value, &place, deeper, left),
            }
        })
        .collect();
    let mut parts = parts?;
    Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::All(parts) })
}

fn list(value: &Value, place: &str, deeper: usize, left: &mut usize) -> Result<Vec<Filter>, Fault> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let one = |(at, item)| filter(item, &format!("{place}[{at}]"), deeper - 1, left);
            items.iter().enumerate().map(one).collect()
        }
        _ => Err(wrong(place, "must be a list of at least one filter")),
    }
}

/// What one entry must be: a value stands for `$eq`, an object holds operators.
fn tests(name: &str, value: &Value, place: &str, deeper: usize, left: &mut usize) -> Result<Filter, Fault> {
    let operators = match value {
        Value::Object(operators) if operators.keys().any(|key| key.starts_with('$')) => operators,
        value => return Ok(Filter::Entry(name.into(), Test::Equal(value.clone()))),
    };
    let mut parts = operators_of(name, operators, place, deeper, left)?;
    Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::All(parts) })
}

fn operators_of(
    name: &str,
    operators: &Map<String, Value>,
    place: &str,
    deeper: usize,
    left: &mut usize,
) -> Result<Vec<Filter>, Fault> {
    let one = |(operator, value): (&String, &Value)| {
        let place = format!("{place}.{operator}");
        let ordered = |bound| match value {
            Value::Number(_) | Value::String(_) => Ok(Test::Ordered(bound, value.clone())),
            _ => Err(wrong(&place, "must be a number or a text")),
        };
        let values = || match value {
            Value::Array(values) => Ok(values.clone()),
            _ => Err(wrong(&place, "must be a list of values")),
        };
        let test = match operator.as_str() {
            "$eq" => Test::Equal(value.clone()),
            "$ne" => Test::Unequal(value.clone()),
            "$gt" => ordered(Bound::Above)?,
            "$gte" => ordered(Bound::From)?,
            "$lt" => ordered(Bound::Below)?,
            "$lte" => ordered(Bound::UpTo)?,
            "$in" => Test::OneOf(values()?),
            "$nin" => Test::NoneOf(values()?),
            "$not" if deeper > 0 => {
                return Ok(Filter::Not(Box::new(tests(name, value, &place, deeper - 1, left)?)));
            }
            operator => return Err(unknown(&place, operator)),
        };
        Ok(Filter::Entry(name.into(), test))
    };
    operators.iter().map(one).collect()
}

fn wrong(place: &str, what: &str) -> Fault {
    Fault::invalid(place, format!("`{place}` {what}"))
}

fn unknown(place: &str, operator: &str) -> Fault {
    let known = "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $and, $or, $not";
    wrong(place, &format!("uses the unknown operator `{operator}`; there are {known}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn passes(filter: Value) -> bool {
        let metadata = json!({
            "year": 2021, "team": "hr", "tags": ["a", "b"], "price": 5.0, "gone": null,
            "a.b": 1, "deep": {"er": {"est": "x"}}, "date": "2024-05-01",
        });
        let Value::Object(entries) = metadata else { unreachable!() };
        Filter::parse(&filter).unwrap().matches(&entries.into_iter().collect())
    }

    #[test]
    fn every_operator_does_what_its_name_says() {
        for yes in [
            json!({}),
            json!({"team": "hr"}),
            json!({"team": {"$eq": "hr"}, "year": 2021}),
            json!({"team": {"$ne": "legal"}}),
            json!({"year": {"$gt": 2020, "$lt": 2022}}),
            json!({"year": {"$gte": 2021, "$lte": 2021.0}}),
            json!({"price": 5}),
            json!({"date": {"$gte": "2024-01-01"}}),
            json!({"team": {"$in": ["legal", "hr"]}}),
            json!({"team": {"$nin": ["legal"]}}),
            json!({"tags": "b"}),
            json!({"tags": {"$in": ["b", "c"]}}),
            json!({"tags": ["a", "b"]}),
            json!({"missing": {"$ne": 1}}),
            json!({"missing": null}),
            json!({"gone": null}),
            json!({"a.b": 1}),
            json!({"deep.er.est": "x"}),
            json!({"$or": [{"team": "x"}, {"year": 2021}]}),
            json!({"$and": [{"team": "hr"}, {"year": 2021}]}),
            json!({"$not": {"team": "x"}}),
            json!({"year": {"$not": {"$gt": 2021}}}),
        ] {
            assert!(passes(yes.clone()), "{yes}");
        }
        for no in [
            json!({"team": "legal"}),
            json!({"team": "hr", "year": 2022}),
            json!({"year": {"$gt": 2021}}),
            json!({"year": {"$gt": "2020"}}),
            json!({"team": {"$nin": ["hr"]}}),
            json!({"tags": {"$nin": ["b"]}}),
            json!({"missing": 1}),
            json!({"missing": {"$gt": 0}}),
            json!({"$not": {"team": "hr"}}),
            json!({"$or": [{"team": "x"}, {"year": 2020}]}),
        ] {
            assert!(!passes(no.clone()), "{no}");
        }
    }

    #[test]
    fn a_wrong_filter_is_refused_by_its_place() {
        let mut deep = json!({"a": 1});
        for _ in 0..40 {
            deep = json!({"$not": deep});
        }
        for (wrong, param) in [
            (json!([]), "filter"),
            (json!({"$xor": []}), "filter.$xor"),
            (json!({"a": {"$like": "x"}}), "filter.a.$like"),
            (json!({"a": {"$in": 5}}), "filter.a.$in"),
            (json!({"a": {"$gt": true}}), "filter.a.$gt"),
            (json!({"$or": []}), "filter.$or"),
            (json!({"$and": [{"a": 1}, 7]}), "filter.$and[1]"),
        ] {
            assert_eq!(Filter::parse(&wrong).unwrap_err().param.as_deref(), Some(param), "{wrong}");
        }
        assert!(Filter::parse(&deep).unwrap_err().cause.contains("deeply"));
        let many: Map<String, Value> = (0..300).map(|n| (n.to_string(), json!(n))).collect();
        assert!(Filter::parse(&Value::Object(many)).unwrap_err().cause.contains("conditions"));
    }
}
