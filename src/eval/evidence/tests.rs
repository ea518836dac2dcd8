//! Held against the program that learned the weights.

use super::*;
use crate::eval::model::Models;
use serde::Deserialize;
use std::collections::HashMap;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    context_sentences: Vec<String>,
    context_tokens: Vec<usize>,
    passages: Vec<usize>,
    question: String,
    answer_sentences: Vec<Sentence>,
    probability: f64,
}

#[derive(Deserialize)]
struct Sentence {
    text: String,
    window: Vec<usize>,
    best_sentence: usize,
    logits: Vec<f32>,
    features: HashMap<String, f64>,
}

/// Cases with everything that the Python program computed of them (`training/entailment_fixture.py`).
#[test]
fn agrees_with_the_program_that_learned_the_weights() {
    let fixture: Fixture =
        serde_json::from_str(include_str!("../../../tests/fixtures/entailment.json")).unwrap();
    assert!(fixture.cases.len() >= 20);
    let models = Models::embedded(2).unwrap();
    let combiner: Combiner = serde_json::from_str(models.combiner()).unwrap();
    let combiner = combiner.checked(Features::knows).unwrap();
    let mut apart = Vec::new();
    for case in &fixture.cases {
        let sentences: Vec<&str> = case.context_sentences.iter().map(String::as_str).collect();
        let lengths: Vec<usize> = sentences.iter().map(|text| models.encoder.token_count(text)).collect();
        assert_eq!(lengths, case.context_tokens);
        let context = Context::new(sentences, lengths, case.passages.clone());
        let found: Vec<Features> = case
            .answer_sentences
            .iter()
            .map(|sentence| compare(&models, &context, (sentence, &case.question), &mut apart))
            .collect();
        let logits: Vec<f64> = found.iter().map(|f| combiner.logit(|name| f.value(name)).0).collect();
        let probability = all_supported(&logits);
        assert!((probability - case.probability).abs() < 0.01, "{probability} {}", case.probability);
    }
    let mean = apart.iter().sum::<f32>() / apart.len() as f32;
    assert!(mean < 0.02, "the runtimes are {mean} apart in the mean of {} sentences", apart.len());
}

/// The probability of the first of three logits.
fn entailed(logits: &[f32]) -> f32 {
    1.0 / logits.iter().map(|logit| (logit - logits[0]).exp()).sum::<f32>()
}

fn compare(
    models: &Models,
    context: &Context<'_>,
    (sentence, question): (&Sentence, &str),
    apart: &mut Vec<f32>,
) -> Features {
    let window = context.window(&sentence.text, question).unwrap();
    assert_eq!(window.best, sentence.best_sentence, "{}", sentence.text);
    assert_eq!(window.sentences, sentence.window, "{}", sentence.text);
    let pair = (context.text(&window.sentences), sentence.text.clone());
    let logits = models.entailment().unwrap().of_pairs(&[pair]).unwrap();
    // Two runtimes round eight-bit activations apart, by up to half a logit where none of the three stands out far.
    let [found, expected] = [entailed(&logits[0]), entailed(&sentence.logits)];
    assert!((found - expected).abs() < 0.15, "{}: {found}, expected {expected}", sentence.text);
    apart.push((found - expected).abs());
    let features = sentence_features(context, &sentence.text, &window, &sentence.logits);
    for (name, value) in features::FEATURES.iter().zip(features.values) {
        let expected = sentence.features[*name];
        assert!((value - expected).abs() < 0.02, "{} {name}: {value}, expected {expected}", sentence.text);
    }
    features
}
