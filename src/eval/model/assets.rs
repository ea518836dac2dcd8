//! The weights, as bytes of the program: a first run needs no download.

use super::error::ModelError;

/// all-MiniLM-L6-v2, int8 (`models/minilm-l6-v2/CARD.md`).
pub(super) static MINILM: &[u8] = include_bytes!("../../../models/minilm-l6-v2/model.onnx");

/// Its vocabulary, one token a line; the line number is the token's id.
pub(super) static MINILM_VOCABULARY: &str = include_str!("../../../models/minilm-l6-v2/vocab.txt");

/// Six kinds of toxicity and prejudice, without its word table (`models/toxicity/CARD.md`).
pub(super) static TOXICITY: &[u8] = include_bytes!("../../../models/toxicity/weights.bin");

/// Its thresholds by label, JSON.
pub(super) static TOXICITY_THRESHOLDS: &str = include_str!("../../../models/toxicity/thresholds.json");

/// What emoji become before it reads a text.
pub(super) static EMOJI: &str = include_str!("../../../models/toxicity/emoji.tsv");

/// Entailment of a sentence by a context, in two networks (`models/entailment/CARD.md`): one of six layers without its word
/// table, one of twelve with words of its own.
pub(super) static ENTAILMENT: [&[u8]; 2] = [
    include_bytes!("../../../models/entailment/weights.bin"),
    include_bytes!("../../../models/entailment/twelve.onnx"),
];

/// The combiner of `hallucination`, JSON.
pub(super) static COMBINER: &str = include_str!("../../../models/entailment/combiner.json");

/// The combiner of `summarization`, JSON.
pub(super) static SUMMARY_COMBINER: &str = include_str!("../../../models/entailment/summarization.json");

/// Relevance of a text to a question, without its word table (`models/relevance/CARD.md`).
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
pub const ENTAILMENT_VERSION: &str = "entailment-5ce1f099";

/// Names the relevance weights; part of an evaluator's version.
pub const RELEVANCE_VERSION: &str = "relevance-06bcc315";

/// Names the weights of the probe for refusals; part of an evaluator's version.
pub const REFUSAL_VERSION: &str = "refusal-91556ed2";

/// Names the combiner of `hallucination`; part of its version, since another one gives other scores.
pub const COMBINER_VERSION: &str = "combiner-4b30094d";

/// Names the combiner of `summarization`; part of its version.
pub const SUMMARY_COMBINER_VERSION: &str = "combiner-da4f56bf";

/// Names the combiners of both evaluators of relevance; part of their versions.
pub const RELEVANCE_COMBINERS_VERSION: &str = "combiner-9cf4db0e";

/// The first bytes of weights that were stored without their word table.
const SHARED: &[u8; 8] = b"GLSHARE1";

/// Whether weights were stored without their word table.
pub(super) fn share_words(stored: &[u8]) -> bool {
    stored.starts_with(SHARED)
}

/// The whole ONNX file of weights that share the sentence encoder's word table.
///
/// Those that began from the sentence encoder kept its words as they were, so the table, half of each file, is carried
/// once. The stored form: [`SHARED`]; four u64 (where the table goes, where the encoder's file has it, its length, a
/// checksum of the whole by CRC-32C), little-endian; then the file without the table. `training/share_words.py` makes it.
/// With the file comes the table alone, as bytes of the program.
///
/// # Errors
/// When the stored form is damaged, or was made for another encoder.
pub(super) fn with_words(name: &'static str, stored: &[u8]) -> Result<(Vec<u8>, &'static [u8]), ModelError> {
    let damaged = |reason: &str| ModelError::open(name, reason);
    let rest = stored.strip_prefix(SHARED).ok_or_else(|| damaged("it does not begin as such a file"))?;
    let mut words = rest.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let mut number = || words.next().and_then(|n| usize::try_from(n).ok());
    let (Some(at), Some(from), Some(length), Some(checksum)) = (number(), number(), number(), number())
    else {
        return Err(damaged("it ends too early"));
    };
    let file = rest.get(32..).unwrap_or_default();
    let table = from.checked_add(length).and_then(|end| MINILM.get(from..end));
    let (Some(table), Some((before, after))) = (table, file.split_at_checked(at)) else {
        return Err(damaged("its word table is not there"));
    };
    let whole = [before, table, after].concat();
    if crc32c::crc32c(&whole) as usize != checksum {
        return Err(damaged("its checksum is another; it was made for other words"));
    }
    Ok((whole, table))
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Other weights give other scores, so they need another version.
    #[test]
    fn versions_name_the_weights() {
        for (version, weights) in [
            (ENCODER_VERSION, MINILM),
            (TOXICITY_VERSION, TOXICITY),
            (ENTAILMENT_VERSION, ENTAILMENT.concat().as_slice()),
            (RELEVANCE_VERSION, RELEVANCE),
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
