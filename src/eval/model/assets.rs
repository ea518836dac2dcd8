//! The weights, as bytes of the program: a first run needs no download. Fine-tuned ones are stored as `stored` tells.

/// all-MiniLM-L6-v2, int8 (`models/minilm-l6-v2/CARD.md`).
pub(super) static MINILM: &[u8] = include_bytes!("../../../models/minilm-l6-v2/model.onnx");

/// Its vocabulary, one token a line; the line number is the token's id.
pub(super) static MINILM_VOCABULARY: &str = include_str!("../../../models/minilm-l6-v2/vocab.txt");

/// Six kinds of toxicity and prejudice (`models/toxicity/CARD.md`).
pub(super) static TOXICITY: &[u8] = include_bytes!("../../../models/toxicity/weights.bin");

/// Its thresholds by label, JSON.
pub(super) static TOXICITY_THRESHOLDS: &str = include_str!("../../../models/toxicity/thresholds.json");

/// What emoji become before it reads a text.
pub(super) static EMOJI: &str = include_str!("../../../models/toxicity/emoji.tsv");

/// Entailment of a sentence by a context, in two networks, of six and of twelve layers, and what the logits of each count
/// (`models/entailment/CARD.md`; another share is another version of the evaluator).
pub(super) static ENTAILMENT: [(f32, &[u8]); 2] = [
    (0.35, include_bytes!("../../../models/entailment/weights.bin")),
    (0.65, include_bytes!("../../../models/entailment/twelve.bin")),
];

/// The word table of the networks of twelve layers, int8.
pub(super) static TWELVE_WORDS: &[u8] = include_bytes!("../../../models/entailment/words.bin");

/// The combiner of `hallucination`, JSON.
pub(super) static COMBINER: &str = include_str!("../../../models/entailment/combiner.json");

/// The combiner of `summarization`, JSON.
pub(super) static SUMMARY_COMBINER: &str = include_str!("../../../models/entailment/summarization.json");

/// Relevance of a text to a question (`models/relevance/CARD.md`).
pub(super) static RELEVANCE: &[u8] = include_bytes!("../../../models/relevance/weights.bin");

/// The combiners of the two evaluators that use it, JSON.
pub(super) static RELEVANCE_COMBINERS: &str = include_str!("../../../models/relevance/combiner.json");

/// The probe for refusals, JSON.
pub(super) static REFUSAL: &str = include_str!("../../../models/relevance/refusal.json");

/// Names the encoder's weights; part of an evaluator's version.
pub const ENCODER_VERSION: &str = "minilm-l6-v2-f537b97c";

/// Names the toxicity weights; part of an evaluator's version.
pub const TOXICITY_VERSION: &str = "toxicity-790d371b";

/// Names the weights of both networks, one file behind the other; part of an evaluator's version.
pub const ENTAILMENT_VERSION: &str = "entailment-729126a2";

/// Names the relevance weights; part of an evaluator's version.
pub const RELEVANCE_VERSION: &str = "relevance-2aeb63aa";

/// Names the weights of the probe for refusals; part of an evaluator's version.
pub const REFUSAL_VERSION: &str = "refusal-91556ed2";

/// Names the combiner of `hallucination`; part of its version, since another one gives other scores.
pub const COMBINER_VERSION: &str = "combiner-8175cb4b";

/// Names the combiner of `summarization`; part of its version.
pub const SUMMARY_COMBINER_VERSION: &str = "combiner-da4f56bf";

/// Names the combiners of both evaluators of relevance; part of their versions.
pub const RELEVANCE_COMBINERS_VERSION: &str = "combiner-f13550dd";

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::super::stored::opened;
    use super::*;

    /// The form that names were made of before files were compressed: the same weights keep their name.
    fn plain(stored: &[u8]) -> Vec<u8> {
        [b"GLSHARE1", &stored[8..40], &zstd::stream::decode_all(&stored[40..]).unwrap()].concat()
    }

    /// Other weights give other scores, so they need another version.
    #[test]
    fn versions_name_the_weights() {
        let [(_, six), (_, twelve)] = ENTAILMENT;
        let both = [plain(six), opened("twelve", twelve).unwrap().0].concat();
        for (version, weights) in [
            (ENCODER_VERSION, MINILM),
            (TOXICITY_VERSION, &plain(TOXICITY)),
            (ENTAILMENT_VERSION, &both),
            (RELEVANCE_VERSION, &plain(RELEVANCE)),
            (REFUSAL_VERSION, REFUSAL.as_bytes()),
            (COMBINER_VERSION, COMBINER.as_bytes()),
            (SUMMARY_COMBINER_VERSION, SUMMARY_COMBINER.as_bytes()),
            (RELEVANCE_COMBINERS_VERSION, RELEVANCE_COMBINERS.as_bytes()),
        ] {
            let hash = hex::encode(Sha256::digest(weights));
            assert!(version.ends_with(&hash[..8]), "{version} should end with {}", &hash[..8]);
        }
    }
}
