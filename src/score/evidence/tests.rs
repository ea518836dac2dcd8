//! Held against the program that learned the weights.

use super::*;
use crate::score::model::Models;
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
    answer_sentences: Vec<Sentence>,
    features: HashMap<String, f64>,
    probability: f64,
}

#[derive(Deserialize)]
struct Sentence {
    text: String,
    windows: Vec<Vec<usize>>,
    best_sentence: usize,
    cosine: f64,
    chosen_window: usize,
    logits: Vec<Vec<f32>>,
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
    let combiner = combiner.checked(Response::knows).unwrap();
    for case in &fixture.cases {
        let sentences: Vec<&str> = case.context_sentences.iter().map(String::as_str).collect();
        let lengths: Vec<usize> = sentences.iter().map(|text| models.encoder.token_count(text)).collect();
        assert_eq!(lengths, case.context_tokens);
        let context = Context::new(sentences.clone(), lengths, models.encoder.embed(&sentences).unwrap());
        let found: Vec<Features> =
            case.answer_sentences.iter().map(|sentence| compare(&models, &context, sentence)).collect();
        let response = Response::new(&found);
        for (name, expected) in &case.features {
            let value = response.value(name).unwrap();
            assert!((value - expected).abs() < 0.02, "{name}: {value}, expected {expected}");
        }
        let (probability, _) = combiner.probability(|name| response.value(name));
        assert!((probability - case.probability).abs() < 0.01, "{probability} {}", case.probability);
    }
}

fn compare(models: &Models, context: &Context<'_>, sentence: &Sentence) -> Features {
    let vector = models.encoder.embed(&[&sentence.text]).unwrap().remove(0);
    let windows = context.windows(&sentence.text, &vector).unwrap();
    // The last window joins sentences by rank, where a hundredth of similarity between runtimes may decide.
    let grown = windows.windows.len().min(3);
    assert_eq!(windows.windows[..grown], sentence.windows[..grown], "{}", sentence.text);
    assert_eq!(windows.best, sentence.best_sentence, "{}", sentence.text);
    let windows = Windows { windows: sentence.windows.clone(), ..windows };
    assert!((windows.cosine - sentence.cosine).abs() < 0.02, "{} {}", windows.cosine, sentence.cosine);
    let pairs: Vec<(String, String)> =
        windows.windows.iter().map(|window| (context.text(window), sentence.text.clone())).collect();
    let logits = models.entailment().unwrap().of_pairs(&pairs).unwrap();
    for (found, expected) in logits.iter().flat_map(|row| row.iter()).zip(sentence.logits.iter().flatten()) {
        assert!((found - expected).abs() < 0.1, "{}: {found}, expected {expected}", sentence.text);
    }
    let features = sentence_features(context, &sentence.text, &windows, &sentence.logits);
    assert_eq!(features.window, sentence.chosen_window, "{}", sentence.text);
    for (name, value) in features::FEATURES.iter().zip(features.values) {
        let expected = sentence.features[*name];
        assert!((value - expected).abs() < 0.02, "{} {name}: {value}, expected {expected}", sentence.text);
    }
    features
}
