//! What is a path, and what is none.

use super::parse::{MAX_BYTES, MAX_PARTS, parse};
use super::tree::{Comparison, Node, Operator, Step, Test};
use crate::sql::error::SqlError;

#[test]
fn operators_bind_as_in_postgresql() {
    let path = parse("strict $.a[0, 2 to last].b ? (@.c + 1 * 2 > 3 && !(@ == 1) || exists(@.d))").unwrap();
    assert!(path.strict);
    let Node::Along(root, steps) = &path.root else { panic!("{:?}", path.root) };
    assert!(matches!(root.as_ref(), Node::Root));
    assert_eq!(steps.len(), 4, "{steps:?}");
    let Some(Step::Filter(Test::Or(left, right))) = steps.last() else { panic!("{steps:?}") };
    assert!(matches!(right.as_ref(), Test::Exists(_)));
    let Test::And(first, _) = left.as_ref() else { panic!("{left:?}") };
    let Test::Compare(Comparison::Greater, Node::Sum(Operator::Plus, ..), _) = first.as_ref() else {
        panic!("{first:?}")
    };
}

#[test]
fn paths_that_people_write_are_read() {
    for path in [
        "$",
        "lax $",
        "$.*",
        "$.**{2 to last}.a",
        "$[*]",
        "$.a.type()",
        "$.last.to.exists",
        "-1.5",
        "$.a == null",
        "($.a > 1) is unknown",
        "$.a like_regex \"^x\" flag \"i\"",
        "$.a starts with $x",
        "- $.a * 2",
        "$.\"a.b\"",
        "$ ? (@.a ? (@ > 1).b == 2)",
        "($.a + 1).abs()",
        "$[$.a - 1]",
        "1 + 2 - 3",
    ] {
        assert!(parse(path).is_ok(), "{path}: {:?}", parse(path).err());
    }
}

#[test]
fn what_is_no_path_is_told_with_its_place() {
    for path in [
        "",
        "a",
        "$.",
        "$.a.b(",
        "@.a",
        "$[last",
        "last",
        "$ ? (@.a)",
        "$ ? (1 == 1 == 2)",
        "$.a && $.b",
        "!$.a",
        "$.a b",
        "$[]",
        "$.a == (1 == 1)",
        "$.**{x}",
        "exists($.a == 1)",
        "$.a.nope()",
        "$.a like_regex $x",
        "$.a like_regex \"a\" flag \"x\"",
        "$.a starts \"x\"",
        "1 +",
        "strict",
        "TRUE",
    ] {
        let why = parse(path).expect_err(path).to_string();
        assert!(why.contains("of jsonpath input"), "{path}: {why}");
    }
    let why = parse("$.a like_regex \"(\"").expect_err("a regular expression").to_string();
    assert!(why.contains("invalid regular expression"), "{why}");
    assert!(parse("$.a.datetime()").expect_err("no times").to_string().contains("not supported"));
}

#[test]
fn paths_are_bounded() {
    for path in [
        format!("${}", ".a".repeat(MAX_PARTS)),
        format!("1{}", " + 1".repeat(MAX_PARTS)),
        format!("{}1{}", "(".repeat(5000), ")".repeat(5000)),
        format!("{}1", "-".repeat(5000)),
        format!("{}1 == 1{}", "!(".repeat(5000), ")".repeat(5000)),
        format!("${}", "[$".repeat(5000)),
        format!("${}", "?(@".repeat(5000)),
        format!("$.a == \"{}\"", "x".repeat(MAX_BYTES)),
        r#"$.a like_regex "(\\w{500}){500}""#.to_owned(),
        format!("$ ? (@ == 1{})", " || @ like_regex \"a\"".repeat(21)),
    ] {
        let short: String = path.chars().take(30).collect();
        assert!(matches!(parse(&path), Err(SqlError::Limit(_))), "{short}: {:?}", parse(&path).err());
    }
}
