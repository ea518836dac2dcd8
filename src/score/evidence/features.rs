//! What is measured of a sentence against its windows, and of an answer against its sentences.

use super::context::{Context, Windows};
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
    "cosine",
    "negation",
    "log_words",
];

/// Features of which a high value speaks against the sentence.
const WORST_IS_HIGH: [&str; 5] =
    ["contradiction", "missing_numbers", "missing_names", "negation", "log_words"];

/// A probability is taken no nearer to 0 or 1 than this before its logit.
const CLIP: f64 = 1e-4;

/// What was measured of one sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The values, in the order of [`FEATURES`].
    pub values: [f64; FEATURES.len()],
    /// The window that supports the sentence best, by its place among the windows.
    pub window: usize,
    /// The probability that this window entails the sentence, and that it contradicts it.
    pub entailed: f64,
    /// See `entailed`.
    pub contradicted: f64,
}

/// What was measured of an answer: for each feature the worst value of any sentence and the mean, by name.
pub struct Response<'a> {
    sentences: &'a [Features],
}

/// Measures a sentence, given the logits (entailment, neutral, contradiction) of each of its windows.
pub fn sentence_features(
    context: &Context<'_>,
    sentence: &str,
    found: &Windows,
    logits: &[Vec<f32>],
) -> Features {
    let all: Vec<[f64; 3]> = logits.iter().map(|row| softmax(row)).collect();
    let (window, chances) = all
        .iter()
        .copied()
        .enumerate()
        .rev()
        .max_by(|a, b| a.1[0].total_cmp(&b.1[0]))
        .unwrap_or((0, [0.0, 1.0, 0.0]));
    let wanted = content(sentence);
    let chosen = found.windows.get(window).map(Vec::as_slice).unwrap_or_default();
    let near: HashSet<String> = chosen.iter().flat_map(|at| context.contents[*at].iter().cloned()).collect();
    let opposed = is_negated(sentence) != is_negated(context.sentences[found.best]);
    let [entailed, _, contradicted] = chances;
    let clipped = entailed.clamp(CLIP, 1.0 - CLIP);
    let values = [
        (clipped / (1.0 - clipped)).ln(),
        contradicted,
        1.0 - share_missing(&wanted, &context.content),
        1.0 - share_missing(&wanted, &near),
        1.0 - share_missing(&bigrams(sentence), &context.bigrams),
        share_missing(&digits(sentence), &context.numbers),
        share_missing(&names(sentence), &context.words),
        found.cosine,
        f64::from(u8::from(opposed)),
        (1.0 + words(sentence).len() as f64).ln(),
    ];
    Features { values, window, entailed, contradicted }
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

impl<'a> Response<'a> {
    /// The features of these sentences; there is at least one.
    pub fn new(sentences: &'a [Features]) -> Self {
        Self { sentences }
    }

    /// Whether [`Response::value`] has a value of this name.
    pub fn knows(name: &str) -> bool {
        let feature = name.strip_prefix("worst_").or_else(|| name.strip_prefix("mean_"));
        name == "log_sentences" || feature.is_some_and(|feature| FEATURES.contains(&feature))
    }

    /// `worst_<feature>`, `mean_<feature>` or `log_sentences`; none for another name.
    pub fn value(&self, name: &str) -> Option<f64> {
        if name == "log_sentences" {
            return Some((1.0 + self.sentences.len() as f64).ln());
        }
        let (kind, feature) = name.split_once('_')?;
        let at = FEATURES.iter().position(|known| *known == feature)?;
        let values = self.sentences.iter().map(|sentence| sentence.values[at]);
        match kind {
            "mean" => Some(values.sum::<f64>() / self.sentences.len() as f64),
            "worst" if WORST_IS_HIGH.contains(&feature) => values.reduce(f64::max),
            "worst" => values.reduce(f64::min),
            _ => None,
        }
    }
}
