//! All models, each opened once for the whole program.

use std::sync::Arc;

use super::assets;
use super::causal::{CausalFiles, CausalModel};
use super::classifier::{Classifier, Shape};
use super::encoder::Encoder;
use super::error::ModelError;
use super::file::{self, Opened};
use super::lazy::Lazy;
use super::network::{Lanes, lanes};
use super::settings::{ModelsConfig, Slot};
use super::toxicity::ToxicityModel;
use super::wordpiece::{Keep, WordPiece};

/// The sentence is the second text; the context has what it leaves.
const ENTAILMENT: Shape = Shape { logits: 3, second: Keep::Beginning(128) };

/// The question is the second text; what is asked stands at the end of a conversation.
const RELEVANCE: Shape = Shape { logits: 2, second: Keep::End(96) };

/// The bias of an answer stands behind the kinds of toxicity.
const BIAS: usize = 6;

/// The models that the program carries, and the user's in their places. Evaluators share one of these.
///
/// Each of the program's is opened when it is first asked for, so a server that uses no evaluator of theirs does not hold
/// it; the user's are opened at once.
pub struct Models {
    /// Texts as unit vectors by the program's own encoder, which combiners and probes were fitted with.
    pub encoder: Encoder,
    tokenizer: Arc<WordPiece>,
    lanes: Lanes,
    toxicity: Lazy<ToxicityModel>,
    entailment: Lazy<Classifier>,
    relevance: Lazy<Classifier>,
    files: Files,
}

/// What the user has brought.
#[derive(Default)]
struct Files {
    encoder: Option<Encoder>,
    toxicity: Option<Arc<ToxicityModel>>,
    entailment: Option<Arc<Classifier>>,
    relevance: Option<Arc<Classifier>>,
    similarity: Option<Arc<Classifier>>,
    /// The version of each, and whether it reads other languages than English, in the order of [`Slot::ALL`].
    versions: [Option<(String, bool)>; Slot::ALL.len()],
}

impl Models {
    /// None is open yet. At most `instances` batches of all of them together run at a time, each on one thread.
    ///
    /// # Errors
    /// When the vocabulary is damaged.
    pub fn embedded(instances: usize) -> Result<Arc<Self>, ModelError> {
        Self::open(instances, &ModelsConfig::default())
    }

    /// As [`Models::embedded`], with the files of `config`, which are opened now.
    ///
    /// # Errors
    /// When one of them is not there, is damaged, or is nothing that this program runs; the message has its key.
    pub fn open(instances: usize, config: &ModelsConfig) -> Result<Arc<Self>, ModelError> {
        let (tokenizer, lanes) = (Arc::new(WordPiece::new(assets::MINILM_VOCABULARY)?), lanes(instances));
        let files = Files::open(config, &lanes)?;
        Ok(Arc::new(Self {
            files,
            encoder: Encoder::embedded(tokenizer.clone(), lanes.clone()),
            tokenizer,
            lanes,
            toxicity: Lazy::default(),
            entailment: Lazy::default(),
            relevance: Lazy::default(),
        }))
    }

    /// Texts as unit vectors, for evaluators that are nothing but similarity.
    pub fn similarity(&self) -> &Encoder {
        self.files.encoder.as_ref().unwrap_or(&self.encoder)
    }

    /// Texts as probabilities of toxicity and prejudice. `label` is the place of the one that is asked for.
    ///
    /// # Errors
    /// When the weights are damaged.
    pub fn toxicity(&self, label: usize) -> Result<Arc<ToxicityModel>, ModelError> {
        match self.toxicity_file(label) {
            Some(file) => Ok(file.clone()),
            None => self.toxicity.get(|| ToxicityModel::embedded(self.tokenizer.clone(), &self.lanes)),
        }
    }

    /// The user's model that tells the label at this place, or any kind of toxicity if the label is one.
    pub fn toxicity_file(&self, label: usize) -> Option<&Arc<ToxicityModel>> {
        self.files
            .toxicity
            .as_ref()
            .filter(|file| if label < BIAS { !file.only_bias() } else { file.tells(label) })
    }

    /// (Context, sentence) as logits of entailment, neutral and contradiction.
    ///
    /// # Errors
    /// When the weights are damaged.
    pub fn entailment(&self) -> Result<Arc<Classifier>, ModelError> {
        match &self.files.entailment {
            Some(file) => Ok(file.clone()),
            None => self.entailment.get(|| self.classifier("entailment", &assets::ENTAILMENT, ENTAILMENT)),
        }
    }

    /// (Text, question) as logits: the text contains the answer; the text, an answer, addresses the question.
    ///
    /// # Errors
    /// When the weights are damaged.
    pub fn relevance(&self) -> Result<Arc<Classifier>, ModelError> {
        match &self.files.relevance {
            Some(file) => Ok(file.clone()),
            None => {
                self.relevance.get(|| self.classifier("relevance", &[(1.0, assets::RELEVANCE)], RELEVANCE))
            }
        }
    }

    /// (Answer, expected answer) as one number from 0 to 1, how much they mean the same; none without a file of the user.
    pub fn cross_encoder(&self) -> Option<&Arc<Classifier>> {
        self.files.similarity.as_ref()
    }

    /// Names the weights of a slot; part of an evaluator's version.
    pub fn version(&self, slot: Slot) -> &str {
        let own = match slot {
            Slot::Entailment => assets::ENTAILMENT_VERSION,
            Slot::Relevance => assets::RELEVANCE_VERSION,
            Slot::Toxicity => assets::TOXICITY_VERSION,
            // Embeddings stand for a model that is not there.
            Slot::Embedding | Slot::Similarity => assets::ENCODER_VERSION,
        };
        self.files.versions[slot as usize].as_ref().map_or(own, |(version, _)| version)
    }

    /// As [`Models::version`] for toxicity: that of the weights which tell this label.
    pub fn toxicity_version(&self, label: usize) -> &str {
        match self.toxicity_file(label) {
            Some(_) => self.version(Slot::Toxicity),
            None => assets::TOXICITY_VERSION,
        }
    }

    /// Whether the model of a slot reads English alone, as the program's own do.
    pub fn is_english(&self, slot: Slot) -> bool {
        self.files.versions[slot as usize].as_ref().is_none_or(|(_, multilingual)| !multilingual)
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
        weights: &[(f32, &'static [u8])],
        shape: Shape,
    ) -> Result<Classifier, ModelError> {
        Classifier::embedded(name, weights, shape, self.tokenizer.clone(), &self.lanes)
    }
}

impl Files {
    fn open(config: &ModelsConfig, lanes: &Lanes) -> Result<Self, ModelError> {
        let mut files = Self::default();
        for slot in Slot::ALL {
            let Some(of) = config.file(slot) else { continue };
            let Opened { network, tokens, meaning, version } = file::open(slot, of, lanes.clone())?;
            files.versions[slot as usize] = Some((version, of.multilingual));
            let Some(meaning) = meaning else {
                files.encoder = Some(Encoder::of_file(network, tokens, of.pooling));
                continue;
            };
            let classifier = Classifier::of_file(slot.name(), network, tokens, meaning);
            match slot {
                Slot::Entailment => files.entailment = Some(Arc::new(classifier)),
                Slot::Relevance => files.relevance = Some(Arc::new(classifier)),
                Slot::Similarity => files.similarity = Some(Arc::new(classifier)),
                Slot::Toxicity | Slot::Embedding => {
                    files.toxicity = Some(Arc::new(ToxicityModel::of_file(classifier)));
                }
            }
        }
        Ok(files)
    }
}
