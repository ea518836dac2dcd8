//! A text as probabilities of six kinds of toxicity and of prejudice.

use std::collections::HashMap;

use serde::Deserialize;

use super::assets;
use super::classifier::{Classifier, Shape};
use super::emoji::Emoji;
use super::error::ModelError;
use super::meaning::TOXICITY_LABELS;
use super::network::Lanes;
use super::wordpiece::{Keep, WordPiece};
use std::borrow::Cow;
use std::sync::Arc;

const NAME: &str = "toxicity";

/// The fine-tuned classifier with the thresholds that it was measured with, or a file of the user.
pub struct ToxicityModel {
    classifier: Classifier,
    /// What emoji become; a user's model reads them as they are.
    emoji: Option<Emoji>,
}

#[derive(Deserialize)]
struct Threshold {
    threshold: f64,
}

impl ToxicityModel {
    /// Opens the weights that the program carries.
    ///
    /// # Errors
    /// When they are damaged.
    pub(super) fn embedded(tokenizer: Arc<WordPiece>, lanes: &Lanes) -> Result<Self, ModelError> {
        let shape = Shape { logits: TOXICITY_LABELS.len(), second: Keep::Beginning(0) };
        let classifier = Classifier::embedded(NAME, &[(1.0, assets::TOXICITY)], shape, tokenizer, lanes)?;
        Ok(Self { classifier, emoji: Some(Emoji::new(assets::EMOJI)?) })
    }

    /// A file of the user.
    pub(super) fn of_file(classifier: Classifier) -> Self {
        Self { classifier, emoji: None }
    }

    /// A text as the model reads it: emoji are words, which have more tokens.
    pub fn normalised<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.emoji.as_ref().map_or(Cow::Borrowed(text), |emoji| Cow::Owned(emoji.normalise(text)))
    }

    /// How many tokens a text has as the model reads it, without special ones.
    pub fn token_count(&self, text: &str) -> usize {
        self.classifier.token_count(&self.normalised(text))
    }

    /// Tokens that are read at once, special ones included.
    pub fn max_tokens(&self) -> usize {
        self.classifier.max_tokens()
    }

    /// Whether the model tells the label at this place of [`TOXICITY_LABELS`].
    pub fn tells(&self, label: usize) -> bool {
        self.classifier.tells(label)
    }

    /// Whether prejudice is all that it tells.
    pub(super) fn only_bias(&self) -> bool {
        (0..TOXICITY_LABELS.len() - 1).all(|label| !self.tells(label))
    }

    /// The probability of each of [`TOXICITY_LABELS`] for each text, in order. Blocks while the model runs.
    ///
    /// # Errors
    /// When the network fails; then nothing is given.
    pub fn classify<S: AsRef<str>>(
        &self,
        texts: &[S],
    ) -> Result<Vec<[f64; TOXICITY_LABELS.len()]>, ModelError> {
        let plain: Vec<Cow<'_, str>> = texts.iter().map(|text| self.normalised(text.as_ref())).collect();
        let probability = |logit: f32| 1.0 / (1.0 + (-f64::from(logit)).exp());
        let row = |logits: &Arc<[f32]>| {
            let mut row = [0.0; TOXICITY_LABELS.len()];
            row.iter_mut().zip(logits.iter()).for_each(|(value, logit)| *value = probability(*logit));
            row
        };
        Ok(self.classifier.of_texts(&plain)?.iter().map(row).collect())
    }
}

/// The threshold of a label, chosen on rows that were held back from training.
///
/// # Errors
/// When the stored thresholds are damaged.
pub fn toxicity_threshold(label: &str) -> Result<f64, ModelError> {
    let all: HashMap<String, Threshold> =
        serde_json::from_str(assets::TOXICITY_THRESHOLDS).map_err(|e| ModelError::open(NAME, e))?;
    let missing = || ModelError::open(NAME, format!("there is no threshold for {label}"));
    all.get(label).map(|entry| entry.threshold).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::super::models::Models;
    use super::*;

    #[derive(Deserialize)]
    struct Fixture {
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        text: String,
        logits: Vec<f32>,
    }

    /// Logits of ONNX Runtime for the same file (`training/toxicity_fixture.py`).
    #[test]
    fn agrees_with_the_reference_runtime() {
        let fixture: Fixture =
            serde_json::from_str(include_str!("../../../tests/fixtures/toxicity.json")).unwrap();
        assert!(fixture.cases.len() >= 30);
        let models = Models::embedded(2).unwrap();
        let model = models.toxicity(0).unwrap();
        let texts: Vec<&str> = fixture.cases.iter().map(|case| case.text.as_str()).collect();
        let mut apart = Vec::new();
        for (case, found) in fixture.cases.iter().zip(model.classify(&texts).unwrap()) {
            for (found, logit) in found.iter().zip(&case.logits) {
                let expected = 1.0 / (1.0 + (-f64::from(*logit)).exp());
                assert!((found - expected).abs() < 0.04, "{:?}: {found}, expected {expected}", case.text);
                apart.push((found - expected).abs());
            }
        }
        let mean = apart.iter().sum::<f64>() / apart.len() as f64;
        assert!(mean < 0.0005, "the runtimes are {mean} apart in the mean");
    }

    #[test]
    fn every_label_has_a_threshold() {
        for label in TOXICITY_LABELS {
            let threshold = toxicity_threshold(label).unwrap();
            assert!((0.05..=0.95).contains(&threshold), "{label}: {threshold}");
        }
        assert!(toxicity_threshold("none").is_err());
    }
}
