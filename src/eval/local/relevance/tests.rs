//! Behaviour, and agreement with the program that learned the weights.

use super::evaluators::{AnswerRelevance, ContextRelevance};
use super::reader::{Features, RelevanceReader, TextKind, tail};
use crate::domain::document::Document;
use crate::domain::score::{Score, ScoreStatus};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::Evaluator;
use crate::eval::model::Models;
use serde::Deserialize;
use std::collections::HashMap;

fn input(question: &str, answer: &str, contexts: &[&str]) -> EvalInput {
    let document = |text: &&str| Document { content: Some((*text).to_owned()), ..Document::default() };
    EvalInput {
        question: Some(question.to_owned()),
        answer: Some(answer.to_owned()),
        contexts: contexts.iter().map(document).collect(),
        ..EvalInput::default()
    }
}

const QUESTION: &str = "When does the museum open on Sundays?";

#[test]
fn a_chunk_with_the_answer_is_more_relevant_than_another() {
    let evaluator = ContextRelevance::new(Models::embedded(1).unwrap()).unwrap();
    let value = |contexts: &[&str]| evaluator.evaluate(&input(QUESTION, "", contexts))[0].value.unwrap();
    let good = value(&["The museum opens at ten o'clock on Sundays and at nine on other days."]);
    let bad = value(&["Penguins breed on the ice and eat fish and krill."]);
    assert!(good > bad + 0.3, "{good} {bad}");
    let scores =
        evaluator.evaluate(&input(QUESTION, "", &["Penguins eat fish.", "It opens on Sundays at ten."]));
    assert!(scores[0].rationale.as_deref().unwrap().contains("document 2"), "{scores:?}");
    assert!(scores[1].value < scores[0].value);
    assert_eq!(evaluator.evaluate(&input(QUESTION, "", &[]))[0].status, ScoreStatus::Skipped);
}

#[test]
fn an_answer_is_more_relevant_than_a_refusal_or_another_topic() {
    let evaluator = AnswerRelevance::new(Models::embedded(1).unwrap()).unwrap();
    let value = |answer: &str| evaluator.evaluate(&input(QUESTION, answer, &[]))[0].value.unwrap();
    let good = value("The museum opens at ten o'clock on Sundays.");
    for other in ["I'm sorry, but I can't help with that.", "Penguins breed on the ice in winter."] {
        assert!(good > value(other) + 0.3, "{other}: {good} {}", value(other));
    }
    assert_eq!(evaluator.evaluate(&input(" ", "x", &[]))[0].error.as_deref(), Some("question"));
}

#[test]
fn of_a_conversation_the_end_is_compared() {
    assert_eq!(tail("One. Two. Three. Four. Five?"), "Three. Four. Five?");
    assert_eq!(tail("One. Two?"), "One. Two?");
}

#[test]
fn the_sentence_that_answers_is_found_among_others() {
    let evaluator = ContextRelevance::new(Models::embedded(1).unwrap()).unwrap();
    let more = "Penguins breed on the ice. They eat fish and krill. Orcas hunt them. ".repeat(6);
    let value = |text: &str| evaluator.evaluate(&input(QUESTION, "", &[text]))[0].value.unwrap();
    let hidden = value(&format!("{more}The museum opens at ten o'clock on Sundays. {more}"));
    assert!(hidden > 0.6 && value(&more) < 0.3, "{hidden} {}", value(&more));
}

#[test]
fn a_refusal_on_the_subject_is_told() {
    let evaluator = AnswerRelevance::new(Models::embedded(1).unwrap()).unwrap();
    let judge =
        |answer| evaluator.evaluate(&input("How do I kill a process on Linux?", answer, &[])).remove(0);
    let good = judge("Find its number with ps, then run kill with that number on Linux.");
    let bad = judge("I cannot condone killing a process on Linux. As an AI, I strongly advise against it.");
    assert!(good.value > bad.value.map(|value| value + 0.3), "{good:?} {bad:?}");
    let starts = |score: &Score, words: &str| score.rationale.as_deref().unwrap().starts_with(words);
    assert!(starts(&bad, "The answer reads like a refusal. "), "{bad:?}");
    assert!(starts(&good, "The answer addresses the question. "), "{good:?}");
}

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    evaluator: String,
    question: String,
    text: String,
    features: HashMap<String, f64>,
    probability: f64,
}

/// Cases with everything that the Python program computed of them (`training/relevance_fixture.py`).
#[test]
fn agrees_with_the_program_that_learned_the_weights() {
    let fixture: Fixture =
        serde_json::from_str(include_str!("../../../../tests/fixtures/relevance.json")).unwrap();
    assert!(fixture.cases.len() >= 12);
    let models = Models::embedded(1).unwrap();
    let context = RelevanceReader::new(models.clone(), "context_relevance", TextKind::Passage).unwrap();
    let answer = RelevanceReader::new(models, "answer_relevance", TextKind::Answer).unwrap();
    for case in &fixture.cases {
        let reader = if case.evaluator == "context_relevance" { &context } else { &answer };
        let found: Features = reader.features(&case.question, &[&case.text]).unwrap().remove(0);
        assert_eq!(found.len(), case.features.len());
        for (name, expected) in &case.features {
            let near = if name == "refusal_logit" { 0.15 } else { 0.03 };
            let value = found[name.as_str()];
            assert!((value - expected).abs() < near, "{} {name}: {value}, expected {expected}", case.text);
        }
        let judged = reader.judge(&case.question, &[&case.text]).unwrap()[0].probability;
        assert!((judged - case.probability).abs() < 0.03, "{}: {judged} {}", case.text, case.probability);
    }
}
