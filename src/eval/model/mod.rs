//! Inference with the models that the program carries, and with one that the user may bring.
//!
//! | file | what |
//! |---|---|
//! | `error` | what can go wrong |
//! | `assets` | the weights, as bytes of the program |
//! | `stored` | the form in which fine-tuned networks are stored |
//! | `normalize` | text brought to what the vocabulary knows: lower case, no accents, no control characters |
//! | `wordpiece` | normalised text as token ids |
//! | `segments` | a text as pieces that the encoder can read whole |
//! | `pool` | a bounded set of things that threads borrow |
//! | `cache` | the embeddings of texts that were seen lately |
//! | `lazy` | what is opened when it is first asked for |
//! | `packed` | the encoders computed without padding, on processors that can |
//! | `settings` | where a user's model files are, and how they are read |
//! | `network` | a network with its threads: token sequences in, one result each out |
//! | `template` | the texts that a user's model reads, with placeholders |
//! | `tokenizer_file` | a user's `tokenizer.json` |
//! | `tokens` | texts to ids, by the program's own word pieces or by a file |
//! | `meaning` | what the logits of a user's model mean |
//! | `encoder` | texts as unit vectors |
//! | `classifier` | texts, or pairs of texts, as a few logits |
//! | `emoji` | emoji as words |
//! | `toxicity` | a text as probabilities of six kinds of toxicity and of prejudice |
//! | `byte_pairs` | text as token ids of a byte-level BPE |
//! | `causal` | a causal language model of the user: how unexpected is each token of a text? |
//! | `file` | a user's model, opened: network, tokenizer, and what stands beside them |
//! | `survey` | what a file is, before it is opened |
//! | `models` | all of them, each opened once for the whole program |
//!
//! An embedding depends on its text alone: the ranges of the quantised network are fixed, so neither the texts that
//! share a batch nor the number of threads move it by more than rounding.

mod assets;
mod byte_pairs;
mod cache;
mod causal;
mod classifier;
mod emoji;
mod encoder;
mod error;
mod file;
#[cfg(test)]
mod file_tests;
mod lazy;
mod meaning;
mod models;
mod network;
mod normalize;
mod packed;
mod pool;
mod segments;
mod settings;
mod stored;
mod survey;
mod template;
mod tokenizer_file;
mod tokens;
mod toxicity;
mod wordpiece;

pub use assets::{
    COMBINER_VERSION, ENCODER_VERSION, REFUSAL_VERSION, RELEVANCE_COMBINERS_VERSION, SUMMARY_COMBINER_VERSION,
};
pub use causal::{CausalFiles, CausalModel, MAX_CAUSAL_TOKENS, Reading};
pub use encoder::{EMBEDDING_DIM, unit_cosine, unit_mean};
pub use error::ModelError;
pub use meaning::TOXICITY_LABELS;
pub use models::Models;
pub use segments::{excerpt, segments};
pub use settings::{Activation, FileConfig, ModelsConfig, Pooling, Slot};
pub use survey::{Survey, survey};
pub use toxicity::toxicity_threshold;
