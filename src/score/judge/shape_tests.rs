//! Each formula on cases computed by hand, and replies that are errors.

use super::*;

fn value(shape: Shape, reply: &Json, items: usize) -> f64 {
    shape.read(&reply.to_string(), items).unwrap().value
}

fn error(shape: Shape, reply: &Json, items: usize) -> String {
    shape.read(&reply.to_string(), items).unwrap_err()
}

fn statements_of(verdicts: &[(&str, &str)]) -> Json {
    let all: Vec<Json> =
        verdicts.iter().map(|(s, v)| json!({"statement": s, "reason": "r", "verdict": v})).collect();
    json!({"statements": all})
}

fn items_of(verdicts: &[(usize, &str)]) -> Json {
    let all: Vec<Json> =
        verdicts.iter().map(|(n, v)| json!({"number": n, "reason": "r", "verdict": v})).collect();
    json!({"items": all})
}

fn share(formula: Formula) -> Shape {
    Shape::Numbered(Items::Chunks, formula)
}

#[test]
fn a_rating_and_its_problems_agree_or_it_is_an_error() {
    let reply = |rating: &str, problems: Json| json!({"rationale": "because", "problems": problems, "rating": rating});
    let yes = Shape::Rating.read(&reply("yes", json!([])).to_string(), 0).unwrap();
    assert_eq!((yes.value, yes.label.as_deref(), yes.rationale.as_str()), (1.0, Some("yes"), "because"));
    let no = Shape::Rating.read(&reply("no", json!(["wrong date"])).to_string(), 0).unwrap();
    assert_eq!((no.value, no.label.as_deref()), (0.0, Some("no")));
    assert!(no.rationale.contains("wrong date"));
    assert!(error(Shape::Rating, &reply("yes", json!(["wrong date"])), 0).contains("contradicts"));
    assert!(error(Shape::Rating, &reply("no", json!([" "])), 0).contains("contradicts"));
    assert!(error(Shape::Rating, &reply("Yes", json!([])), 0).contains("not as asked"));
    assert!(error(Shape::Rating, &json!({"rating": "yes"}), 0).contains("missing field"));
}

#[test]
fn statements_are_yes_over_all() {
    let three = statements_of(&[("a", "yes"), ("b", "no"), ("c", "yes"), ("A ", "yes")]);
    assert!((value(Shape::Statements, &three, 0) - 2.0 / 3.0).abs() < 1e-12);
    let both = statements_of(&[("a", "yes"), ("a", "no")]);
    assert!(error(Shape::Statements, &both, 0).contains("contradicts"));
    assert!(error(Shape::Statements, &statements_of(&[("a", "maybe")]), 0).contains("no verdict"));
    assert!(error(Shape::Statements, &statements_of(&[]), 0).contains("no statement"));
}

#[test]
fn points_may_be_none_at_all() {
    let shape = Shape::Points("fact");
    assert!((value(shape, &statements_of(&[("a", "yes"), ("b", "no")]), 0) - 0.5).abs() < 1e-12);
    let none = shape.read(&statements_of(&[]).to_string(), 0).unwrap();
    assert_eq!(none.missing, Some("fact"));
    assert!(error(shape, &statements_of(&[("a", "TP")]), 0).contains("no verdict"));
}

#[test]
fn a_boolean_and_its_failure_agree_or_it_is_an_error() {
    let reply = |result: bool, failure: &str| json!({"rationale": "r", "failure": failure, "result": result});
    let read = |reply: &Json| Shape::Boolean.read(&reply.to_string(), 0).unwrap();
    let (yes, no) = (read(&reply(true, "none")), read(&reply(false, "retrieval")));
    assert_eq!((yes.value, yes.label.as_deref()), (1.0, Some("pass")));
    assert_eq!((no.value, no.label.as_deref()), (0.0, Some("retrieval")));
    for (wrong, part) in [
        (reply(true, "generation"), "contradicts"),
        (reply(false, "none"), "contradicts"),
        (reply(false, "elsewhere"), "no failure"),
        (json!({"rationale": "r", "failure": "none", "result": "true"}), "not as asked"),
    ] {
        let error = error(Shape::Boolean, &wrong, 0);
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn facts_are_f1_with_its_weight() {
    let found = statements_of(&[("a", "TP"), ("b", "TP"), ("c", "FP"), ("d", "FN"), ("e", "FN")]);
    let finding = Shape::Facts { weight: 0.75 }.read(&found.to_string(), 0).unwrap();
    // 2 / (2 + 0.5 × 3)
    assert!((finding.value - 2.0 / 3.5).abs() < 1e-12);
    let Some(Compare::Answers { base, weight }) = finding.compare else { panic!("{finding:?}") };
    assert!((base - 0.75 * 2.0 / 3.5).abs() < 1e-12 && (weight - 0.25).abs() < 1e-12);
}

#[test]
fn numbered_items_follow_their_formula() {
    // 3 of 4.
    let four = items_of(&[(2, "no"), (1, "yes"), (3, "yes"), (4, "yes")]);
    assert!((value(share(Formula::Share), &four, 4) - 0.75).abs() < 1e-12);
    assert!((value(share(Formula::ShareOfNo), &four, 4) - 0.25).abs() < 1e-12);
    // (1/1 + 2/3 + 3/4) / 3
    let wanted = (1.0 + 2.0 / 3.0 + 0.75) / 3.0;
    assert!((value(share(Formula::AveragePrecision), &four, 4) - wanted).abs() < 1e-12);
    assert_eq!(value(share(Formula::AveragePrecision), &items_of(&[(1, "no")]), 1), 0.0);
}

#[test]
fn each_number_is_judged_once() {
    for (reply, items, part) in [
        (items_of(&[(1, "yes")]), 2, "1 of 2"),
        (items_of(&[(1, "yes"), (1, "yes")]), 1, "twice"),
        (items_of(&[(1, "yes"), (3, "yes")]), 2, "number 3"),
        (items_of(&[(0, "yes")]), 1, "number 0"),
    ] {
        let error = error(share(Formula::Share), &reply, items);
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_choice_is_one_of_those_that_there_are() {
    const CHOICES: &[Choice] =
        &[Choice { label: "same", passes: true }, Choice { label: "other", passes: false }];
    let reply = |choice: &str| json!({"rationale": "r", "choice": choice});
    let same = Shape::Choice(CHOICES).read(&reply("same").to_string(), 0).unwrap();
    assert_eq!((same.value, same.label.as_deref()), (1.0, Some("same")));
    assert_eq!(value(Shape::Choice(CHOICES), &reply("other"), 0), 0.0);
    assert!(error(Shape::Choice(CHOICES), &reply("none"), 0).contains("no choice"));
}

#[test]
fn questions_are_three() {
    let asked = json!({"questions": ["a?", "b?", "c?"]});
    let finding = Shape::Questions.read(&asked.to_string(), 0).unwrap();
    assert_eq!(finding.compare, Some(Compare::Questions(vec!["a?".into(), "b?".into(), "c?".into()])));
    assert!(error(Shape::Questions, &json!({"questions": ["a?"]}), 0).contains("1 questions"));
}

#[test]
fn parts_may_be_none_and_a_text_may_not() {
    let read = |shape: Shape, reply: Json| shape.read(&reply.to_string(), 0);
    let parts = |parts: Json| read(Shape::Parts, json!({"parts": parts})).map(|finding| finding.parts);
    assert_eq!(parts(json!([" 14 days ", " ", "x"])).unwrap(), ["14 days", "x"]);
    assert!(parts(json!([])).unwrap().is_empty());
    assert!(parts(json!(vec!["x"; 201])).unwrap_err().contains("200 parts"));
    assert!(parts(json!("14 days")).unwrap_err().contains("not as asked"));
    let prose = |text: &str| read(Shape::Prose, json!({"analysis": text})).map(|finding| finding.rationale);
    assert_eq!(prose(" All the same. ").unwrap(), "All the same.");
    assert!(prose(" ").unwrap_err().contains("no text"));
    assert!(prose(&"x".repeat(2_001)).unwrap_err().contains("2001 characters"));
}

#[test]
fn schemas_are_strict() {
    let shapes = [
        Shape::Rating,
        Shape::Boolean,
        Shape::Statements,
        Shape::Points("x"),
        Shape::Facts { weight: 0.75 },
        Shape::Questions,
        share(Formula::Share),
        Shape::Parts,
        Shape::Prose,
    ];
    for shape in shapes {
        let schema = shape.schema();
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(json!(names), schema["required"]);
    }
}

#[test]
fn groups_are_one_list_whose_order_counts() {
    let shape = share(Formula::AveragePrecision);
    let group =
        |verdicts: &[(usize, &str)]| shape.read(&items_of(verdicts).to_string(), verdicts.len()).unwrap();
    let all = shape.joined(vec![group(&[(1, "no"), (2, "yes")]), group(&[(1, "yes"), (2, "no")])]);
    // (1/2 + 2/3) / 2
    assert!((all.value - 7.0 / 12.0).abs() < 1e-12, "{}", all.value);
    let told: Vec<(usize, &str)> = all.ratings.iter().map(|one| (one.number, one.rating())).collect();
    assert_eq!(told, [(1, "no"), (2, "yes"), (3, "yes"), (4, "no")]);
    assert!(all.rationale.starts_with("2 of 4 yes: 1 no (r); 2 yes (r); 3 yes (r)"), "{}", all.rationale);
}
