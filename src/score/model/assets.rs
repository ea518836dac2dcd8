//! The weights, as bytes of the program: a first run needs no download.

/// all-MiniLM-L6-v2, int8 (`models/minilm-l6-v2/CARD.md`).
pub(super) static MINILM: &[u8] = include_bytes!("../../../models/minilm-l6-v2/model.onnx");

/// Its vocabulary, one token a line; the line number is the token's id.
pub(super) static MINILM_VOCABULARY: &str = include_str!("../../../models/minilm-l6-v2/vocab.txt");

/// The toxicity head on its embeddings (`models/toxicity-head/CARD.md`).
pub(super) static TOXICITY_HEAD: &[u8] = include_bytes!("../../../models/toxicity-head/weights.bin");

/// Names the encoder's weights; part of an evaluator's version.
pub const ENCODER_VERSION: &str = "minilm-l6-v2-f537b97c";

/// Names the toxicity head's weights; part of an evaluator's version.
pub const TOXICITY_VERSION: &str = "toxicity-head-deffc39d";

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Other weights give other scores, so they need another version.
    #[test]
    fn versions_name_the_weights() {
        for (version, weights) in [(ENCODER_VERSION, MINILM), (TOXICITY_VERSION, TOXICITY_HEAD)] {
            let hash = hex::encode(Sha256::digest(weights));
            assert!(version.ends_with(&hash[..8]), "{version} should end with {}", &hash[..8]);
        }
    }
}
