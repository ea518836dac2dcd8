//! What is measured of a sentence against its windows.

use super::context::{Context, Passage};
use super::vocabulary::{bigrams, content, digits, is_negated, names, share_missing, words};
use std::collections::HashSet;

/// The features of a sentence, in the order of [`Features`].
pub const FEATURES: [&str; 10] = [
    "entail_logit",
    "contradiction",
    "containment",
    "window_containment",
    "bigrams",
    "missing_numbers",
    "missing_names",
    "negation",
    "log_words",
    "log_context",
];

/// A probability is taken no nearer to 0 or 1 than this before its logit.
const CLIP: f64 = 1e-4;

/// What was measured of one sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The values, in the order of [`FEATURES`].
    pub values: [f64; FEATURES.len()],
    /// The probability that the window entails the sentence, and that it contradicts it.
    pub entailed: f64,
    /// See `entailed`.
    pub contradicted: f64,
}

/// Measures a sentence, given the logits (entailment, neutral, contradiction) of its window.
pub fn sentence_features(context: &Context<'_>, sentence: &str, found: &Passage, logits: &[f32]) -> Features {
    let [entailed, _, contradicted] = softmax(logits);
    let wanted = content(sentence);
    let near: HashSet<String> =
        found.sentences.iter().flat_map(|at| context.index.contents(*at).iter().cloned()).collect();
    let opposed = is_negated(sentence) != is_negated(context.sentences[found.best]);
    let clipped = entailed.clamp(CLIP, 1.0 - CLIP);
    let values = [
        (clipped / (1.0 - clipped)).ln(),
        contradicted,
        1.0 - context.index.share_missing(&wanted),
        1.0 - share_missing(&wanted, &near),
        1.0 - share_missing(&bigrams(sentence), &context.bigrams),
        share_missing(&digits(sentence), &context.numbers),
        share_missing(&names(sentence), &context.words),
        f64::from(u8::from(opposed)),
        (1.0 + words(sentence).len() as f64).ln(),
        (1.0 + context.sentences.len() as f64).ln(),
    ];
    Features { values, entailed, contradicted }
}

/// What the sentence says that the context does not have: numbers, then names.
pub fn missing(context: &Context<'_>, sentence: &str) -> (Vec<String>, Vec<String>) {
    let sorted = |wanted: HashSet<String>, known: &HashSet<String>| {
        let mut missing: Vec<String> = wanted.difference(known).cloned().collect();
        missing.sort();
        missing
    };
    (sorted(digits(sentence), &context.numbers), sorted(names(sentence), &context.words))
}

fn softmax(logits: &[f32]) -> [f64; 3] {
    let [a, b, c] = [0, 1, 2].map(|at| f64::from(logits.get(at).copied().unwrap_or(f32::MIN)));
    let peak = a.max(b).max(c);
    let powers = [a, b, c].map(|logit| (logit - peak).exp());
    let total: f64 = powers.iter().sum();
    powers.map(|power| power / total)
}

impl Features {
    /// Whether [`Features::value`] has a value of this name.
    pub fn knows(name: &str) -> bool {
        FEATURES.contains(&name)
    }

    /// The value of one of [`FEATURES`]; none for another name.
    pub fn value(&self, name: &str) -> Option<f64> {
        FEATURES.iter().position(|known| *known == name).map(|at| self.values[at])
    }
}
