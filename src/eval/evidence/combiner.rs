//! Features as one probability.

use crate::eval::model::ModelError;
use serde::Deserialize;

/// A logistic regression on named features (`combiner.json` of a model).
#[derive(Debug, Clone, Deserialize)]
pub struct Combiner {
    features: Vec<String>,
    means: Vec<f64>,
    scales: Vec<f64>,
    weights: Vec<f64>,
    bias: f64,
    /// From this probability on the verdict is good.
    pub threshold: f64,
}

/// How much one feature moved the logit of the probability; below 0 it spoke against the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Contribution<'a> {
    /// The feature.
    pub name: &'a str,
    /// Its value.
    pub value: f64,
    /// What it added.
    pub moved: f64,
}

impl Combiner {
    /// Checks the stored form; `knows` tells whether a feature of a name can be measured.
    ///
    /// # Errors
    /// When it is damaged or names a feature that this program does not know.
    pub fn checked(self, knows: impl Fn(&str) -> bool) -> Result<Self, ModelError> {
        let damaged = |reason: String| Err(ModelError::Open { model: "combiner", reason });
        let count = self.features.len();
        if [&self.means, &self.scales, &self.weights].into_iter().any(|list| list.len() != count) {
            return damaged("its lists have different lengths".to_owned());
        }
        if self.scales.iter().any(|scale| *scale <= 0.0) {
            return damaged("a scale is not above 0".to_owned());
        }
        match self.features.iter().find(|name| !knows(name)) {
            Some(name) => damaged(format!("there is no feature {name:?}")),
            None => Ok(self),
        }
    }

    /// The probability of a good item, and what each feature added, the strongest first. A feature without a value
    /// counts as its mean.
    pub fn probability(&self, value: impl Fn(&str) -> Option<f64>) -> (f64, Vec<Contribution<'_>>) {
        let (logit, parts) = self.logit(value);
        (sigmoid(logit), parts)
    }

    /// The logit of [`Combiner::probability`].
    pub fn logit(&self, value: impl Fn(&str) -> Option<f64>) -> (f64, Vec<Contribution<'_>>) {
        let mut parts = Vec::with_capacity(self.features.len());
        for (at, name) in self.features.iter().enumerate() {
            let value = value(name).unwrap_or(self.means[at]);
            let moved = self.weights[at] * (value - self.means[at]) / self.scales[at];
            parts.push(Contribution { name, value, moved });
        }
        let logit = self.bias + parts.iter().map(|part| part.moved).sum::<f64>();
        parts.sort_by(|a, b| b.moved.abs().total_cmp(&a.moved.abs()));
        (logit, parts)
    }
}

/// The probability that all sentences of an answer are supported, from the logit of each, which was learned where half of
/// the sentences were. Of answers of n sentences half shall be right a priori, so that a sentence is right with
/// 0.5^(1/n), which moves each logit; the answer has the product of its sentences' probabilities. Without this prior an
/// answer would fail the surer, the more it says. Of no sentence: 1.
pub fn all_supported(logits: &[f64]) -> f64 {
    let right = 0.5f64.powf(1.0 / logits.len().max(1) as f64);
    let prior = (right / (1.0 - right)).ln();
    logits.iter().map(|logit| sigmoid(logit + prior)).product()
}

fn sigmoid(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Combiner, ModelError> {
        let parsed: Combiner = serde_json::from_str(json).unwrap();
        parsed.checked(|name| matches!(name, "a" | "b"))
    }

    #[test]
    fn weighs_the_features() {
        let json = r#"{"features": ["a", "b"], "means": [0.5, 3.0], "scales": [0.5, 1.0], "weights": [2.0, 9.0],
                      "bias": -1.0, "threshold": 0.4, "other": 1}"#;
        let combiner = read(json).unwrap();
        let (p, parts) = combiner.probability(|name| (name == "a").then_some(0.75));
        assert!((p - 0.5).abs() < 1e-12, "{p}");
        assert_eq!((parts[0].name, parts[0].moved), ("a", 1.0));
        assert_eq!((parts[1].name, parts[1].value, parts[1].moved), ("b", 3.0, 0.0));
    }

    #[test]
    fn more_sentences_alone_do_not_make_an_answer_worse() {
        for sentences in [1, 2, 5, 40] {
            assert!((all_supported(&vec![0.0; sentences]) - 0.5).abs() < 1e-9, "{sentences}");
        }
        assert!(all_supported(&[3.0, 3.0, -4.0]) < 0.1);
        assert!(all_supported(&[3.0, 3.0, 3.0]) > 0.9);
        assert_eq!(all_supported(&[]), 1.0);
    }

    #[test]
    fn a_damaged_form_is_refused() {
        for json in [
            r#"{"features": ["c"], "means": [0], "scales": [1], "weights": [1], "bias": 0, "threshold": 0}"#,
            r#"{"features": ["a"], "means": [0], "scales": [0], "weights": [1], "bias": 0, "threshold": 0}"#,
            r#"{"features": ["a"], "means": [], "scales": [1], "weights": [1], "bias": 0, "threshold": 0}"#,
        ] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
