//! A text's vector as six probabilities.

use super::assets;
use super::encoder::EMBEDDING_DIM;
use super::error::ModelError;

const NAME: &str = "toxicity-head";
const LABELS: usize = 6;
const MAX_HIDDEN: usize = 4096;

/// The first bytes of the file.
const MAGIC: &[u8; 8] = b"GLTOXH01";

/// A network of one hidden layer on the sentence encoder's vectors.
///
/// The file: [`MAGIC`]; three u32 (inputs, hidden units, labels); then f32 in rows: hidden weights (inputs × hidden),
/// hidden biases, output weights (hidden × labels), output biases; all little-endian. Calibration is in the weights.
pub struct ToxicityHead {
    hidden_weights: Vec<f32>,
    hidden_biases: Vec<f32>,
    output_weights: Vec<f32>,
    output_biases: Vec<f32>,
}

/// How likely each kind of toxicity is, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ToxicityScores {
    /// Any kind.
    pub toxicity: f64,
    /// Very hateful or aggressive.
    pub severe_toxicity: f64,
    /// Obscene words.
    pub obscene: f64,
    /// A threat against somebody.
    pub threat: f64,
    /// An insult to somebody.
    pub insult: f64,
    /// Hate against a group of people for what they are.
    pub identity_attack: f64,
}

impl ToxicityScores {
    /// The names and values, toxicity first.
    pub fn named(&self) -> [(&'static str, f64); LABELS] {
        [
            ("toxicity", self.toxicity),
            ("severe_toxicity", self.severe_toxicity),
            ("obscene", self.obscene),
            ("threat", self.threat),
            ("insult", self.insult),
            ("identity_attack", self.identity_attack),
        ]
    }

    fn from_array(values: [f64; LABELS]) -> Self {
        let [toxicity, severe_toxicity, obscene, threat, insult, identity_attack] = values;
        Self { toxicity, severe_toxicity, obscene, threat, insult, identity_attack }
    }
}

impl ToxicityHead {
    /// Opens the weights that the program carries.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn embedded() -> Result<Self, ModelError> {
        Self::read(assets::TOXICITY_HEAD)
    }

    fn read(bytes: &[u8]) -> Result<Self, ModelError> {
        let damaged = |reason: &str| ModelError::open(NAME, reason);
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("it does not begin as such a file"))?;
        let mut words = rest.as_chunks::<4>().0.iter().copied();
        let mut size = || words.next().map_or(0, |word| u32::from_le_bytes(word) as usize);
        let (inputs, hidden, labels) = (size(), size(), size());
        if inputs != EMBEDDING_DIM || labels != LABELS || hidden == 0 || hidden > MAX_HIDDEN {
            return Err(damaged("its layers have other sizes"));
        }
        if rest.len() != 4 * (3 + inputs * hidden + hidden + hidden * labels + labels) {
            return Err(damaged("its length does not fit its layers"));
        }
        let mut take =
            |count: usize| words.by_ref().take(count).map(f32::from_le_bytes).collect::<Vec<f32>>();
        let head = Self {
            hidden_weights: take(inputs * hidden),
            hidden_biases: take(hidden),
            output_weights: take(hidden * labels),
            output_biases: take(labels),
        };
        let parts = [&head.hidden_weights, &head.hidden_biases, &head.output_weights, &head.output_biases];
        if parts.into_iter().flatten().any(|value| !value.is_finite()) {
            return Err(damaged("a weight is not a number"));
        }
        Ok(head)
    }

    /// The probabilities for a vector of the sentence encoder; numbers that are missing count as zero.
    pub fn classify(&self, embedding: &[f32]) -> ToxicityScores {
        let mut hidden = self.hidden_biases.clone();
        for (value, row) in embedding.iter().zip(self.hidden_weights.chunks_exact(hidden.len())) {
            for (unit, weight) in hidden.iter_mut().zip(row) {
                *unit += value * weight;
            }
        }
        let mut logits = [0f64; LABELS];
        for (logit, bias) in logits.iter_mut().zip(&self.output_biases) {
            *logit = f64::from(*bias);
        }
        for (unit, row) in hidden.iter().zip(self.output_weights.chunks_exact(LABELS)) {
            for (logit, weight) in logits.iter_mut().zip(row) {
                *logit += f64::from(unit.max(0.0) * weight);
            }
        }
        ToxicityScores::from_array(logits.map(|logit| 1.0 / (1.0 + (-logit).exp())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head of one hidden unit that reads the first number only.
    fn tiny() -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for size in [EMBEDDING_DIM as u32, 1, LABELS as u32] {
            bytes.extend(size.to_le_bytes());
        }
        let mut floats = vec![0f32; EMBEDDING_DIM + 1 + 2 * LABELS];
        floats[0] = 2.0;
        floats[EMBEDDING_DIM] = 1.0;
        floats[EMBEDDING_DIM + 1] = 3.0;
        floats[EMBEDDING_DIM + 1 + LABELS] = -4.0;
        bytes.extend(floats.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    #[test]
    fn computes_the_layers() {
        let head = ToxicityHead::read(&tiny()).unwrap();
        let mut embedding = vec![0f32; EMBEDDING_DIM];
        embedding[0] = 0.5;
        let scores = head.classify(&embedding);
        assert!((scores.toxicity - 1.0 / (1.0 + (-2.0f64).exp())).abs() < 1e-9);
        assert_eq!((scores.severe_toxicity, scores.identity_attack), (0.5, 0.5));
        embedding[0] = -5.0;
        assert!((head.classify(&embedding).toxicity - 1.0 / (1.0 + 4f64.exp())).abs() < 1e-9);
    }

    #[test]
    fn damaged_weights_are_refused() {
        let good = tiny();
        assert!(ToxicityHead::read(&good).is_ok());
        for end in [0, 7, 8, 15, 20, good.len() - 1] {
            assert!(ToxicityHead::read(&good[..end]).is_err(), "{end} bytes were read");
        }
        let mut other_size = good.clone();
        other_size[12] = 2;
        assert!(ToxicityHead::read(&other_size).is_err());
        let mut not_a_number = good;
        let at = not_a_number.len() - 4;
        not_a_number[at..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(ToxicityHead::read(&not_a_number).is_err());
    }
}
