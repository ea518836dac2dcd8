//! Each rule finds what it is for, and leaves what is right alone.

use super::*;
use serde_json::{Value, json};

fn items(values: Value) -> Vec<Item> {
    let values = values.as_array().unwrap().iter().enumerate();
    let item = |(at, value): (usize, &Value)| {
        let mut value = value.clone();
        value["external_id"] = format!("q{at}").into();
        serde_json::from_value(value).unwrap()
    };
    values.map(item).collect()
}

/// The findings as `rule: ids`.
fn found(values: Value, wanted: &Wanted) -> Vec<String> {
    let all = lint(&items(values), wanted);
    all.iter().map(|one| format!("{}: {}", one.rule, one.items.join(" "))).collect()
}

fn plain(values: Value) -> Vec<String> {
    found(values, &Wanted::default())
}

#[test]
fn a_good_dataset_has_no_findings() {
    let good = json!([
        {"input": "Which river flows through London?", "expected": "The Thames"},
        {"input": {"question": "How high is Mont Blanc?"}, "expected": {"any_of": ["4806 m", "15,766 ft"]}},
        {"input": "Is 7 prime?", "expected": "yes"},
    ]);
    assert_eq!(plain(good), Vec::<String>::new());
}

#[test]
fn the_same_question_twice_is_told_and_two_answers_to_it_are_an_error() {
    let asked = json!([
        {"input": "Who wrote it?", "expected": "Anna"}, {"input": " who  wrote IT?", "expected": "anna"},
        {"input": "When?", "expected": "1990", "split": "train"}, {"input": "When?", "expected": "1991", "split": "test"},
    ]);
    assert_eq!(plain(asked), ["conflict: q2 q3", "split_overlap: q2 q3", "duplicate: q0 q1"]);
}

#[test]
fn near_copies_are_told_unless_they_count_as_one() {
    let text = "how long may a customer of the shop keep a pair of shoes before sending it back to the store in the city";
    let other = text.replace("city", "town");
    let asked =
        |group: Value| json!([{"input": text, "group_id": group}, {"input": other, "group_id": group}]);
    assert_eq!(plain(asked(Value::Null)), ["near_duplicate: q0 q1"]);
    assert_eq!(plain(asked(json!("shoes"))), Vec::<String>::new());
}

#[test]
fn what_evaluators_need_is_missed_by_name() {
    let wanted =
        |input| Wanted { needs: BTreeMap::from([(input, vec!["rouge".to_owned()])]), ..Wanted::default() };
    let asked = json!([{"input": "a", "expected": "Alpha"}, {"input": "b"}]);
    assert_eq!(found(asked.clone(), &wanted(Input::Expected)), ["missing: q1"]);
    let told = lint(&items(asked.clone()), &wanted(Input::Contexts));
    assert_eq!((told[0].count, told[0].severity), (2, Severity::Warning));
    assert!(told[0].message.contains("no contexts, which rouge needs"), "{}", told[0].message);
    assert_eq!(plain(asked), ["missing: q1"]);
}

#[test]
fn an_answer_that_stands_in_its_question_leaks_but_a_class_does_not() {
    let asked = json!([
        {"input": "The capital of France is Paris. What is the capital of France?", "expected": "Paris."},
        {"input": "Is it parisian?", "expected": "pari"}, {"input": "1 or 22222?", "expected": "22222"},
    ]);
    assert_eq!(plain(asked), ["leak: q0"]);
    let classes: Vec<Value> =
        (0..10).map(|n| json!({"input": format!("spam or good? mail {n}"), "expected": if n % 2 == 0 { "spam" } else { "good" }})).collect();
    assert_eq!(plain(json!(classes)), Vec::<String>::new());
}

#[test]
fn one_class_for_nearly_all_is_told_with_its_share() {
    let asked: Vec<Value> = (0..20)
        .map(|n| json!({"input": format!("mail {n}"), "expected": if n == 7 { "spam" } else { "good" }}))
        .collect();
    let told = lint(&items(json!(asked)), &Wanted::default());
    assert_eq!((told.len(), told[0].rule, told[0].count), (1, "imbalance", 19));
    assert!(told[0].message.contains("right in 95 %"), "{}", told[0].message);
}

#[test]
fn what_is_empty_long_or_unfilled_is_told() {
    let wanted = Wanted { longest: 20, ..Wanted::default() };
    let asked = json!([
        {"input": "  "}, {"input": "Dear {{name}}, yes?"}, {"input": "x ".repeat(30)}, {"input": "Why?", "expected": "TODO"},
        {"input": "Who?", "expected": " "}, {"input": "Where?", "expected": {"x": "1", "y": "2"}}, {"input": "{ \"a\": {} }", "expected": "fine"},
    ]);
    let found = found(asked, &wanted);
    assert_eq!(
        found,
        ["empty: q0", "empty: q4", "unreadable: q5", "long: q2", "missing: q0 q1 q2 q5", "unfilled: q1 q3"]
    );
}

#[test]
fn an_expected_answer_that_says_more_than_the_least_is_told() {
    let long = "word ".repeat(80);
    let asked = json!([
        {"input": "One?", "expected": long}, {"input": "Two?", "expected": "short enough"},
        {"input": "Three?", "expected": "as short"}, {"input": "Four?", "expected": {"any_of": ["brief", long]}},
    ]);
    assert_eq!(plain(asked), ["long_expected: q0 q3"]);
    let all_long: Vec<Value> =
        (0..3).map(|n| json!({"input": format!("Q{n}?"), "expected": format!("{n} {long}")})).collect();
    assert_eq!(plain(json!(all_long)), Vec::<String>::new());
}
