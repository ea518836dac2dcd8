//! All models, each opened once for the whole program.

use std::sync::Arc;

use super::assets;
use super::causal::{CausalFiles, CausalModel};
use super::classifier::{Classifier, Shape};
use super::encoder::Encoder;
use super::error::ModelError;
use super::lazy::Lazy;
use super::network::{Lanes, lanes};
use super::toxicity::ToxicityModel;
use super::wordpiece::{Part, WordPiece};

/// The sentence is the second text; the context has what it leaves.
const ENTAILMENT: Shape = Shape { logits: 3, second: Part::Beginning(128) };

/// The question is the second text; what is asked stands at the end of a conversation.
const RELEVANCE: Shape = Shape { logits: 2, second: Part::End(96) };

/// The models that the program carries. Evaluators share one of these.
///
/// Each is opened when it is first asked for, so a server that uses no evaluator of theirs does not hold it.
pub struct Models {
    /// Texts as unit vectors.
    pub encoder: Encoder,
    tokenizer: Arc<WordPiece>,
    lanes: Lanes,
    toxicity: Lazy<ToxicityModel>,
    entailment: Lazy<Classifier>,
    relevance: Lazy<Classifier>,
}

impl Models {
    /// None is open yet. At most `instances` batches of all of them together run at a time, each on one thread.
    ///
    /// # Errors
    /// When the vocabulary is damaged.
    pub fn embedded(instances: usize) -> Result<Arc<Self>, ModelError> {
        let (tokenizer, lanes) = (Arc::new(WordPiece::new(assets::MINILM_VOCABULARY)?), lanes(instances));
        Ok(Arc::new(Self {
            encoder: Encoder::embedded(tokenizer.clone(), lanes.clone()),
            tokenizer,
            lanes,
            toxicity: Lazy::default(),
            entailment: Lazy::default(),
            relevance: Lazy::default(),
        }))
    }

    /// Texts as probabilities of toxicity and prejudice.
    ///
    /// # Errors
    /// When the weights are damaged.
    pub fn toxicity(&self) -> Result<Arc<ToxicityModel>, ModelError> {
        self.toxicity.get(|| ToxicityModel::embedded(self.tokenizer.clone(), self.lanes.clone()))
    }

    /// (Context, sentence) as logits of entailment, neutral and contradiction.
    ///
    /// # Errors
    /// When the weights are damaged.
    pub fn entailment(&self) -> Result<Arc<Classifier>, ModelError> {
        self.entailment.get(|| self.classifier("entailment", assets::ENTAILMENT, ENTAILMENT))
    }

    /// (Text, question) as logits: the text contains the answer; the text, an answer, addresses the question.
    ///
    /// # Errors
    /// When the weights are damaged.
    pub fn relevance(&self) -> Result<Arc<Classifier>, ModelError> {
        self.relevance.get(|| self.classifier("relevance", assets::RELEVANCE, RELEVANCE))
    }

    /// Opens a causal language model of the user, which shares the lanes of the others.
    ///
    /// # Errors
    /// When a file is not there, is damaged, or is nothing that this program runs.
    pub fn causal(&self, files: &CausalFiles<'_>) -> Result<CausalModel, ModelError> {
        CausalModel::open(files, self.lanes.clone())
    }

    /// The stored combiner of `hallucination`, JSON.
    pub fn combiner(&self) -> &'static str {
        assets::COMBINER
    }

    /// The stored combiner of `summarization`, JSON.
    pub fn summary_combiner(&self) -> &'static str {
        assets::SUMMARY_COMBINER
    }

    /// The stored combiners of `context_relevance` and `answer_relevance`, JSON by name.
    pub fn relevance_combiners(&self) -> &'static str {
        assets::RELEVANCE_COMBINERS
    }

    /// The stored probe for refusals, JSON.
    pub fn refusal_probe(&self) -> &'static str {
        assets::REFUSAL
    }

    fn classifier(
        &self,
        name: &'static str,
        weights: &'static [u8],
        shape: Shape,
    ) -> Result<Classifier, ModelError> {
        Classifier::embedded(name, weights, shape, self.tokenizer.clone(), self.lanes.clone())
    }
}
