//! Paths and what they find, as PostgreSQL has it.

use super::evaluate::Asked;
use super::fault::{Fault, Steps};
use super::parse::parse;
use serde_json::{Value, json};
use std::cell::Cell;

fn ask<T>(json: &Value, path: &str, then: impl FnOnce(&Asked<'_>) -> T) -> T {
    let path = parse(path).unwrap_or_else(|why| panic!("{path}: {why}"));
    let variables = json!({"x": 2, "a": "ab"});
    let steps = Steps::default();
    let numbered = Cell::new(0);
    then(&Asked { path: &path, root: json, variables: Some(&variables), steps: &steps, numbered })
}

/// The values, or the fault.
fn found(json: &Value, path: &str) -> Result<Value, String> {
    ask(json, path, |asked| match asked.items(false) {
        Ok(items) => Ok(items.iter().map(|item| item.value().clone()).collect()),
        Err(Fault::Value(why) | Fault::Path(why)) => Err(why),
        Err(Fault::Limit | Fault::Time) => Err("limit".to_owned()),
        Err(Fault::Text(bytes)) => Err(format!("{bytes} bytes of text")),
    })
}

#[test]
fn paths_find_values() {
    let json = json!({"a": [1, 2, {"b": "x"}], "c": {"d": 1.5, "e": null}, "n": [[1], [2, 3]], "t": "abc"});
    for (path, values) in [
        ("$.c.d", json!([1.5])),
        ("$.missing", json!([])),
        ("$.a[*]", json!([1, 2, {"b": "x"}])),
        ("$.a.b", json!(["x"])),
        ("$.a[1 to last].b", json!(["x"])),
        ("$.a[last]", json!([{"b": "x"}])),
        ("$.a[0, 1]", json!([1, 2])),
        ("$.a[1.7]", json!([2])),
        ("$.a[7]", json!([])),
        ("$.t[0]", json!(["abc"])),
        ("$.t[*]", json!(["abc"])),
        ("$.c.*", json!([1.5, null])),
        ("$.n[*]", json!([[1], [2, 3]])),
        ("$.n.size()", json!([2])),
        ("$.n[*].size()", json!([1, 2])),
        ("$.**{1}.d", json!([1.5])),
        ("$.c.**", json!([{"d": 1.5, "e": null}, 1.5, null])),
        ("$.n.**{last}", json!([1, 2, 3])),
        ("$.a[*] ? (@ > 1)", json!([2])),
        ("$.a ? (@ > 1)", json!([2])),
        ("$.a[*] ? (@.b == \"x\").b", json!(["x"])),
        ("$ ? (exists(@.c.d) && !exists(@.nope)).t", json!(["abc"])),
        ("$.c ? (@.e == null).d", json!([1.5])),
        ("$.a[*] ? ((@ > 1) is unknown)", json!([{"b": "x"}])),
        ("$.t ? (@ like_regex \"^AB\" flag \"i\")", json!(["abc"])),
        ("$.t ? (@ starts with $a)", json!(["abc"])),
        ("$.a[$x].b", json!(["x"])),
        ("$.c.d + 1 * 2 - -1", json!([4.5])),
        ("-$.a[0 to 1]", json!([-1, -2])),
        ("$.a.type()", json!(["array"])),
        ("$.c.keyvalue().key", json!(["d", "e"])),
        ("$.a.keyvalue()", json!({})),
        ("$.a[0] == 1", json!([true])),
        ("$.a[2] > 1", json!([null])),
        ("($.c.d * 2).floor()", json!([3])),
        ("strict $.c.d", json!([1.5])),
    ] {
        match (path, found(&json, path)) {
            ("$.a.keyvalue()", found) => assert!(found.is_err(), "{path}: {found:?}"),
            (_, found) => assert_eq!(found, Ok(values), "{path}"),
        }
    }
}

#[test]
fn objects_are_numbered_pair_by_pair() {
    let json = json!([{"a": 1, "b": 2}, {"c": 3}]);
    let pairs = json!([
        {"id": 0, "key": "a", "value": 1},
        {"id": 0, "key": "b", "value": 2},
        {"id": 1, "key": "c", "value": 3},
    ]);
    assert_eq!(found(&json, "$[*].keyvalue()"), Ok(pairs));
}

#[test]
fn what_does_not_fit_is_told_or_passed_over() {
    let json = json!({"a": [1, "x"], "o": {}});
    for (path, why) in [
        ("strict $.b", "does not contain key"),
        ("strict $.a.b", "member accessor"),
        ("strict $.a[2]", "out of bounds"),
        ("strict $.o[0]", "array accessor"),
        ("strict $.o.size()", ".size()"),
        ("$.a[*].abs()", "numeric value"),
        ("$.a + 1", "left operand"),
        ("-$.a", "unary"),
        ("1 / 0", "division by zero"),
        ("$.a[\"0\"]", "single numeric"),
        ("$.a[99999999999]", "integer range"),
        ("$nope", "jsonpath variable"),
    ] {
        let told = found(&json, path).expect_err(path);
        assert!(told.contains(why), "{path}: {told}");
    }
    let silent = |path: &str| ask(&json, path, |asked| (asked.exists(true), asked.holds(true)));
    assert_eq!(silent("strict $.b"), (Ok(None), Ok(None)));
    assert_eq!(silent("$.a[0] == 1"), (Ok(Some(true)), Ok(Some(true))));
    assert_eq!(silent("$.a[1] == 1"), (Ok(Some(true)), Ok(None)));
    assert_eq!(silent("$.a"), (Ok(Some(true)), Ok(None)));
    // The first value is enough, unless the path is strict.
    assert_eq!(silent("$.a[*].abs()").0, Ok(Some(true)));
    assert_eq!(silent("strict $.a[*].abs()").0, Ok(None));
    // What was found before the fault stays.
    assert_eq!(ask(&json, "$.a[*].abs()", |asked| asked.items(true).map(|items| items.len())), Ok(1));
    assert!(ask(&json, "$.a", |asked| asked.holds(false)).is_err());
}

#[test]
fn steps_are_bounded() {
    let wide = Value::Array((0..4000).map(Value::from).collect());
    assert_eq!(found(&wide, "strict $[*] ? ($[*] > @)"), Err("limit".to_owned()));
    let mut deep = json!({"k": "x".repeat(100_000)});
    for _ in 0..100 {
        deep = json!({"k": deep});
    }
    let copies = "$.** ? (@.k.type() == \"object\").keyvalue().value";
    let twice = format!("{copies}{}", copies.trim_start_matches('$'));
    assert_eq!(found(&deep, &twice), Err("limit".to_owned()));
}

/// Each letter begins another way through the expression, and all are followed at once.
#[test]
fn a_hostile_expression_does_not_meet_a_long_text() {
    let path = "$[*] ? (@ like_regex \"[0-9a-f]*[0-7][0-9a-f]{2000}[^0-9a-f]\")";
    let text = |bytes: usize| "0123456789abcdef".repeat(bytes / 16);
    assert_eq!(found(&json!([text(2_000)]), path), Ok(json!([])));
    assert_eq!(found(&json!([text(160_000)]), path), Err("160000 bytes of text".to_owned()));
    assert_eq!(found(&json!([text(160_000)]), "$[*] ? (@ like_regex \"\\\\w+@\\\\w+\")"), Ok(json!([])));
}
