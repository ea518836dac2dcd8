//! Where a user's model files are, and how they are read.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a model is for; each may be a file of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// (Context, sentence): does the context say it?
    Entailment,
    /// (Text, question): does the text answer it?
    Relevance,
    /// A text: what is wrong with its tone?
    Toxicity,
    /// A text as a vector.
    Embedding,
    /// (Answer, expected answer): do they mean the same? The program has no model of its own for it.
    Similarity,
}

impl Slot {
    /// All of them, in the order of the configuration.
    pub const ALL: [Self; 5] =
        [Self::Entailment, Self::Relevance, Self::Toxicity, Self::Embedding, Self::Similarity];

    /// Its name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Entailment => "entailment",
            Self::Relevance => "relevance",
            Self::Toxicity => "toxicity",
            Self::Embedding => "embedding",
            Self::Similarity => "similarity",
        }
    }

    /// The placeholders of its input: the text of which the beginning is kept as room allows, then the short one.
    pub const fn placeholders(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Entailment => ("{context}", Some("{sentence}")),
            Self::Relevance => ("{text}", Some("{question}")),
            Self::Toxicity | Self::Embedding => ("{text}", None),
            Self::Similarity => ("{answer}", Some("{expected}")),
        }
    }

    /// The two texts that the tokenizer gets where nothing else is configured.
    const fn usual_input(self) -> (&'static str, &'static str) {
        match self {
            Self::Entailment => ("{context}", "{sentence}"),
            Self::Relevance => ("{question}", "{text}"),
            Self::Toxicity | Self::Embedding => ("{text}", ""),
            Self::Similarity => ("{answer}", "{expected}"),
        }
    }
}

/// How logits become probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// One label of several holds.
    Softmax,
    /// Each label holds or not.
    Sigmoid,
}

/// What becomes of the vectors of a text's tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Their mean.
    #[default]
    Mean,
    /// The first one.
    First,
}

/// A model file and how it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileConfig {
    /// The ONNX file.
    pub path: String,
    /// Its `tokenizer.json`; the one beside the model if empty.
    #[serde(default)]
    pub tokenizer: String,
    /// The output that is read; `logits`, or for embeddings the sentence embedding or the last hidden state, if empty.
    #[serde(default)]
    pub output: String,
    /// What the logits are, in their order; from `config.json` beside the model if empty.
    #[serde(default)]
    pub labels: Vec<String>,
    /// How logits become probabilities; by the slot if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation: Option<Activation>,
    /// What logits are divided by.
    #[serde(default = "one")]
    pub temperature: f64,
    /// The first text that the model reads, with placeholders.
    #[serde(default)]
    pub first: String,
    /// The second one.
    #[serde(default)]
    pub second: String,
    /// Tokens that it reads, special ones included; 0 for what `config.json` says, at most 512.
    #[serde(default)]
    pub max_tokens: usize,
    /// How the vectors of tokens become one, for embeddings.
    #[serde(default)]
    pub pooling: Pooling,
    /// Whether it reads other languages than English.
    #[serde(default)]
    pub multilingual: bool,
}

const fn one() -> f64 {
    1.0
}

impl FileConfig {
    /// More tokens make attention slower than anybody waits for.
    const MAX_TOKENS: usize = 8_192;
    /// Fewer hold no sentence.
    const MIN_TOKENS: usize = 16;

    /// A file that is read as its slot usually is.
    pub fn of(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            tokenizer: String::new(),
            output: String::new(),
            labels: Vec::new(),
            activation: None,
            temperature: one(),
            first: String::new(),
            second: String::new(),
            max_tokens: 0,
            pooling: Pooling::default(),
            multilingual: false,
        }
    }

    /// Where the tokenizer is.
    pub fn tokenizer_path(&self) -> PathBuf {
        if self.tokenizer.is_empty() { self.beside("tokenizer.json") } else { PathBuf::from(&self.tokenizer) }
    }

    /// A file in the model's folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        Path::new(&self.path).with_file_name(name)
    }

    /// The two texts that the tokenizer gets, the second one empty for none.
    pub fn input(&self, slot: Slot) -> (String, String) {
        if self.first.is_empty() && self.second.is_empty() {
            let (first, second) = slot.usual_input();
            return (first.to_owned(), second.to_owned());
        }
        (self.first.clone(), self.second.clone())
    }

    fn faults(&self, slot: Slot, faults: &mut Vec<String>) {
        let mut add = |fault: String| faults.push(format!("models.{}.{fault}", slot.name()));
        if self.path.is_empty() {
            add("path is empty: name an ONNX file".to_owned());
        }
        if !(self.temperature.is_finite() && self.temperature > 0.0) {
            add(format!("temperature is {}, must be above 0", self.temperature));
        }
        if self.max_tokens != 0 && !(Self::MIN_TOKENS..=Self::MAX_TOKENS).contains(&self.max_tokens) {
            let (least, most) = (Self::MIN_TOKENS, Self::MAX_TOKENS);
            add(format!("max_tokens is {}, must be {least} to {most}, or 0", self.max_tokens));
        }
        let ((first, second), (long, short)) = (self.input(slot), slot.placeholders());
        if first.is_empty() {
            add("first is empty and second is not: the first text comes first".to_owned());
        }
        for wanted in [Some(long), short].into_iter().flatten() {
            let found = first.matches(wanted).count() + second.matches(wanted).count();
            if found != 1 {
                add(format!("first and second have {wanted} {found} times, must have it once"));
            }
        }
    }
}

/// The user's model files, by what they are for; the program's own model where there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelsConfig {
    /// For `hallucination` and `summarization`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entailment: Option<FileConfig>,
    /// For `answer_relevance` and `context_relevance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<FileConfig>,
    /// For `toxicity`, and for `fairness_bias` if it has that label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toxicity: Option<FileConfig>,
    /// For `groundedness`, `answer_relevancy_similarity`, `context_relevancy_soft` and `answer_semantic_similarity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<FileConfig>,
    /// For `answer_semantic_similarity` with `method = "cross_encoder"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<FileConfig>,
}

impl ModelsConfig {
    /// This file alone.
    pub fn only(slot: Slot, file: FileConfig) -> Self {
        let mut config = Self::default();
        *match slot {
            Slot::Entailment => &mut config.entailment,
            Slot::Relevance => &mut config.relevance,
            Slot::Toxicity => &mut config.toxicity,
            Slot::Embedding => &mut config.embedding,
            Slot::Similarity => &mut config.similarity,
        } = Some(file);
        config
    }

    /// The file of a slot.
    pub const fn file(&self, slot: Slot) -> Option<&FileConfig> {
        match slot {
            Slot::Entailment => self.entailment.as_ref(),
            Slot::Relevance => self.relevance.as_ref(),
            Slot::Toxicity => self.toxicity.as_ref(),
            Slot::Embedding => self.embedding.as_ref(),
            Slot::Similarity => self.similarity.as_ref(),
        }
    }

    /// Whether the program's own models are all that there is.
    pub fn is_empty(&self) -> bool {
        Slot::ALL.iter().all(|slot| self.file(*slot).is_none())
    }

    /// Every fault, each with the key and what to do. The files are opened later.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for slot in Slot::ALL {
            if let Some(file) = self.file(slot) {
                file.faults(slot, &mut faults);
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_names_its_key() {
        let read = |toml: &str| toml::from_str::<ModelsConfig>(toml);
        assert!(read("[entailment]\npath = \"m.onnx\"").unwrap().faults().is_empty());
        for (toml, wanted) in [
            ("[relevance]\npath = \"\"", "models.relevance.path is empty"),
            ("[relevance]\npath = \"m\"\ntemperature = 0", "models.relevance.temperature is 0"),
            ("[toxicity]\npath = \"m\"\nmax_tokens = 3", "models.toxicity.max_tokens is 3"),
            ("[embedding]\npath = \"m\"\nfirst = \"query: {question}\"", "have {text} 0 times"),
            (
                "[entailment]\npath = \"m\"\nsecond = \"{context}{sentence}\"",
                "first is empty and second is not",
            ),
            ("[entailment]\npath = \"m\"\nfirst = \"{context} {context} {sentence}\"", "{context} 2 times"),
        ] {
            let faults = read(toml).unwrap().faults().join("\n");
            assert!(faults.contains(wanted), "{toml}: {faults}");
        }
        assert!(read("[entailment]\npath = \"m\"\nlabel = []").is_err());
        assert!(read("[perplexity]\npath = \"m\"").is_err());
    }
}
