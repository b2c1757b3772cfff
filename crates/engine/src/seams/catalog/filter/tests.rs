//! Filters: what they mean, what they refuse, and that they end.

use proptest::prelude::*;
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

proptest! {
    /// What a set finds at once is what looking at every pair finds.
    #[test]
    fn a_list_of_values_means_the_same_however_it_is_looked_up(
        entry in proptest::option::of(value()),
        values in proptest::collection::vec(value(), 0..6),
    ) {
        let slow = values.iter().any(|wanted| equals(entry.as_ref(), wanted));
        prop_assert_eq!(Values::new(&values).hold(entry.as_ref()), slow);
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..3).prop_map(Value::from),
        (-6i64..6).prop_map(|half| json!(half as f64 / 2.0)),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            inner.prop_map(|value| json!({ "a": value })),
        ]
    })
}

/// 90,000 values against a list of 70,000 took two minutes when every pair was looked at.
#[test]
fn many_values_against_a_long_list_take_no_longer_than_reading_both() {
    let list: Vec<Value> = (0..70_000).map(|n| json!(format!("item {n}"))).collect();
    let values: Vec<Value> = (0..90_000).map(|n| json!(format!("value {n}"))).collect();
    let test = Test::NoneOf(Values::new(&values));
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(test.passes(Some(&Value::Array(list)))));
    let passed = receiver.recv_timeout(std::time::Duration::from_secs(20));
    assert_eq!(passed, Ok(true), "still looking after 20 seconds");
}

#[test]
fn a_filter_names_only_so_many_values_and_bytes() {
    let numbers: Vec<usize> = (0..=MOST_VALUES).collect();
    let refused = Filter::parse(&json!({"a": {"$nin": numbers}})).unwrap_err();
    assert!(refused.cause.contains("10000 values"), "{refused}");
    assert!(Filter::parse(&json!({"a": {"$nin": numbers[1..]}})).is_ok());
    let halves = json!({"a": {"$in": numbers[..6000]}, "b": {"$in": numbers[..6000]}});
    assert!(Filter::parse(&halves).is_err(), "all lists count together");
    let refused = Filter::parse(&json!({"a": "x".repeat(MOST_BYTES)})).unwrap_err();
    assert!(refused.cause.contains("256 KB"), "{refused}");
    let mut operators = Map::new();
    for n in 0..300 {
        operators.insert(format!("a{n}"), json!({"$gt": 1, "$lt": 2}));
    }
    assert!(Filter::parse(&Value::Object(operators)).is_err());
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

fn file(tags: &[&str], created: &str) -> Metadata {
    let fields = FileFields {
        tags: tags.iter().map(ToString::to_string).collect(),
        name: "Report.pdf".into(),
        media_type: "application/pdf".into(),
        language: None,
        created_at: created.parse().unwrap(),
        updated_at: created.parse().unwrap(),
    };
    fields.beside([("year".to_string(), json!(2020))].into())
}

#[test]
fn fields_of_files_are_filtered_in_the_same_language() {
    let subject = file(&["a", "b"], "2026-11-16T09:30:00.5Z");
    for (filter, expected) in [
        (json!({"$file.tags": "a"}), true),
        (json!({"$file.tags": {"$in": ["x", "b"]}}), true),
        (json!({"$file.tags": {"$nin": ["a"]}}), false),
        (json!({"$file.name": "Report.pdf", "year": 2020}), true),
        (json!({"$file.mediaType": {"$ne": "application/pdf"}}), false),
        (json!({"$file.language": null}), true),
        (json!({"$file.language": "en"}), false),
        (json!({"$file.createdAt": {"$gte": "2026-11-16"}}), true),
        (json!({"$file.createdAt": {"$gt": "2026-11-16T09:30:00Z"}}), true),
        (json!({"$file.createdAt": {"$lt": "2026-11-16T10:30:00.5+01:00"}}), false),
        (json!({"$file.createdAt": {"$lte": "2026-11-16T10:30:00.5+01:00"}}), true),
        (json!({"$file.updatedAt": {"$not": {"$lt": "2027-01-01"}}}), false),
        (json!({"$not": {"$file.tags": "c"}, "$or": [{"$file.tags": "a"}, {"year": 1}]}), true),
    ] {
        let parsed = Filter::parse(&filter).unwrap();
        assert!(parsed.asks_for_fields(), "{filter}");
        assert_eq!(parsed.matches(&subject), expected, "{filter}");
    }
    assert!(!Filter::parse(&json!({"file": {"tags": 1}})).unwrap().asks_for_fields());
}

#[test]
fn a_field_that_files_do_not_have_and_a_date_that_is_none_are_named() {
    for (filter, place) in [
        (json!({"$file.colour": 1}), "filter.$file.colour"),
        (json!({"$file.createdAt": {"$gt": "soon"}}), "filter.$file.createdAt.$gt"),
        (json!({"$file.createdAt": {"$in": ["2026-01-01", "x"]}}), "filter.$file.createdAt.$in"),
        (json!({"$file.createdAt": 5}), "filter.$file.createdAt"),
        (json!({"$file.tags": {"$near": 1}}), "filter.$file.tags.$near"),
    ] {
        assert_eq!(Filter::parse(&filter).unwrap_err().param.as_deref(), Some(place), "{filter}");
    }
}

#[test]
fn metadata_cannot_pretend_to_be_a_field() {
    let pretended = FileFields {
        tags: vec![],
        name: "n".into(),
        media_type: "m".into(),
        language: None,
        created_at: jiff::Timestamp::UNIX_EPOCH,
        updated_at: jiff::Timestamp::UNIX_EPOCH,
    };
    let subject = pretended.beside([("$file.tags".to_string(), json!(["secret"]))].into());
    assert!(!Filter::parse(&json!({"$file.tags": "secret"})).unwrap().matches(&subject));
}

#[test]
fn a_part_of_a_text_is_found_whatever_its_case() {
    let metadata: Metadata =
        serde_json::from_value(json!({"title": "Annual Report", "tags": ["Blue", "red"], "year": 2021}))
            .unwrap();
    for (filter, passes) in [
        (json!({"title": {"$contains": "REPORT"}}), true),
        (json!({"title": {"$starts": "annual"}}), true),
        (json!({"title": {"$starts": "report"}}), false),
        (json!({"title": {"$ends": "report"}}), true),
        (json!({"tags": {"$contains": "lu"}}), true),
        (json!({"year": {"$contains": "20"}}), false),
        (json!({"nothing": {"$contains": ""}}), false),
        (json!({"$not": {"title": {"$contains": "draft"}}}), true),
    ] {
        assert_eq!(Filter::parse(&filter).unwrap().matches(&metadata), passes, "{filter}");
    }
    assert!(Filter::parse(&json!({"a": {"$starts": 5}})).is_err());
}
