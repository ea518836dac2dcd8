//! What is measured of a text and a question.

use super::product::{Judgement, Product};
use super::refusal::RefusalProbe;
use crate::eval::evidence::{content, share_missing};
use crate::eval::model::{ModelError, Models, Slot, segments, unit_cosine, unit_mean};
use std::collections::HashMap;
use std::sync::Arc;

/// Of a question of many sentences (a conversation) the last ones are compared by words and similarity.
const TAIL_SENTENCES: usize = 3;
const MAX_SENTENCES: usize = 200;
/// So many sentences of a passage, those nearest to the question, are read alone, and so many together: a window of all
/// hides the sentence that counts.
const ALONE: usize = 2;
const JOINED: usize = 3;
/// `cosine_low` is the mean of so many sentences.
const LOWEST: usize = 3;
/// The reading is the hyperbolic tangent of the logit divided by this.
const SOFT: f64 = 3.0;
/// More new words than this are not better.
const NEW_WORDS: usize = 5;

const CONTEXT_FEATURES: [&str; 3] = ["reading", "cosine", "coverage"];
const ANSWER_FEATURES: [&str; 10] = [
    "reading",
    "cosine",
    "coverage",
    "cosine_text",
    "cosine_mean",
    "cosine_low",
    "new_words",
    "echo",
    "refusal",
    "refusal_logit",
];

/// Whether the text is a passage or an answer; the number is the place of its logit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Passage = 0,
    Answer = 1,
}

/// The models, and the combiner for one kind of text.
pub(super) struct Reader {
    models: Arc<Models>,
    /// For answers only.
    probe: Option<RefusalProbe>,
    /// The features as a probability.
    pub product: Product,
    kind: Kind,
}

/// What was measured of a text, by name.
pub(super) type Features = HashMap<&'static str, f64>;

/// A text cut into sentences.
struct Parts<'a> {
    text: &'a str,
    sentences: Vec<&'a str>,
    vectors: Vec<Vec<f32>>,
    /// The cosine similarity of each sentence to the question, 0 or more.
    near: Vec<f64>,
}

impl Reader {
    /// With the stored combiner of this name.
    ///
    /// # Errors
    /// When the stored combiner or the probe is damaged.
    pub fn new(models: Arc<Models>, name: &'static str, kind: Kind) -> Result<Self, ModelError> {
        let damaged = |reason: String| ModelError::Open { model: "relevance", reason };
        let mut stored: HashMap<String, Product> =
            serde_json::from_str(models.relevance_combiners()).map_err(|e| damaged(e.to_string()))?;
        let product = stored.remove(name).ok_or_else(|| damaged(format!("there is no combiner {name}")))?;
        let known = match kind {
            Kind::Passage => CONTEXT_FEATURES.as_slice(),
            Kind::Answer => ANSWER_FEATURES.as_slice(),
        };
        let product = product.checked(|feature| known.contains(&feature))?;
        let probe = match kind {
            Kind::Passage => None,
            Kind::Answer => Some(RefusalProbe::new(models.refusal_probe())?),
        };
        Ok(Self { models, probe, product, kind })
    }

    /// Whether its model reads English alone.
    pub fn reads_english(&self) -> bool {
        self.models.is_english(Slot::Relevance)
    }

    /// The judgement of each text, in order.
    ///
    /// # Errors
    /// When a network fails; then nothing is given.
    pub fn judge(&self, question: &str, texts: &[&str]) -> Result<Vec<Judgement<'_>>, ModelError> {
        let found = self.features(question, texts)?;
        Ok(found.iter().map(|features| self.product.judge(|name| features.get(name).copied())).collect())
    }

    /// The features of each text, in order.
    ///
    /// # Errors
    /// When a network fails; then nothing is given.
    pub fn features(&self, question: &str, texts: &[&str]) -> Result<Vec<Features>, ModelError> {
        let asked = tail(question);
        let vector = self.models.encoder.embed(&[&asked])?.pop().unwrap_or_default();
        let parts = self.cut(texts, &vector)?;
        let (mut pairs, mut places) = (Vec::new(), Vec::new());
        for (at, part) in parts.iter().enumerate() {
            for read in self.reads(part) {
                pairs.push((read, question.to_owned()));
                places.push(at);
            }
        }
        let mut logits = vec![Vec::new(); texts.len()];
        for (at, row) in places.into_iter().zip(self.models.relevance()?.of_pairs(&pairs)?) {
            logits[at].push(f64::from(row[self.kind as usize]));
        }
        let wanted = content(&asked);
        let measure = |(part, logits): (&Parts<'_>, &Vec<f64>)| {
            let mut features = Features::from([
                ("reading", (read_as_one(logits) / SOFT).tanh()),
                ("cosine", part.near.iter().copied().fold(0.0, f64::max)),
                ("coverage", 1.0 - share_missing(&wanted, &content(part.text))),
            ]);
            if let Some(probe) = &self.probe {
                features.extend(of_answer(probe, question, part, &vector));
            }
            features
        };
        Ok(parts.iter().zip(&logits).map(measure).collect())
    }

    fn cut<'a>(&self, texts: &[&'a str], asked: &[f32]) -> Result<Vec<Parts<'a>>, ModelError> {
        let sentences = |text: &&'a str| {
            let found = segments(text, MAX_SENTENCES).pieces;
            if found.is_empty() { vec![*text] } else { found }
        };
        let cut: Vec<Vec<&str>> = texts.iter().map(sentences).collect();
        let mut vectors = self.models.encoder.embed(&cut.concat())?.into_iter();
        let parts = texts.iter().zip(cut).map(|(text, sentences)| {
            let vectors: Vec<Vec<f32>> = vectors.by_ref().take(sentences.len()).collect();
            let near = vectors.iter().map(|other| f64::from(unit_cosine(asked, other)).max(0.0)).collect();
            Parts { text, sentences, vectors, near }
        });
        Ok(parts.collect())
    }

    /// What the cross-encoder reads of a text: an answer once; of a passage sentences alone, and last some together.
    fn reads(&self, part: &Parts<'_>) -> Vec<String> {
        if self.kind == Kind::Answer {
            return vec![part.text.to_owned()];
        }
        if let [only] = part.sentences.as_slice() {
            // Alone and together it would be the same.
            return vec![(*only).to_owned()];
        }
        let mut order: Vec<usize> = (0..part.sentences.len()).collect();
        order.sort_by(|a, b| part.near[*b].total_cmp(&part.near[*a]));
        let mut reads: Vec<String> =
            order.iter().take(ALONE).map(|at| part.sentences[*at].to_owned()).collect();
        order.truncate(JOINED);
        order.sort_unstable();
        reads.push(order.iter().map(|at| part.sentences[*at]).collect::<Vec<_>>().join(" "));
        reads
    }
}

fn of_answer(
    probe: &RefusalProbe,
    question: &str,
    part: &Parts<'_>,
    asked: &[f32],
) -> [(&'static str, f64); 7] {
    let whole = unit_mean(&part.vectors);
    let mut near = part.near.clone();
    near.sort_by(f64::total_cmp);
    let (wanted, said) = (content(question), content(part.text));
    let new = said.difference(&wanted).count();
    let echo = if said.is_empty() || new > 0 { 0.0 } else { 1.0 - share_missing(&wanted, &said) };
    let logits: Vec<f64> = part
        .sentences
        .iter()
        .zip(&part.vectors)
        .take(probe.sentences)
        .map(|(sentence, vector)| probe.logit(sentence, vector))
        .collect();
    let chances: Vec<f64> = logits.iter().map(|logit| 1.0 / (1.0 + (-logit).exp())).collect();
    [
        ("cosine_text", f64::from(unit_cosine(&whole, asked)).max(0.0)),
        ("cosine_mean", mean(&near)),
        ("cosine_low", mean(&near[..near.len().min(LOWEST)])),
        ("new_words", new.min(NEW_WORDS) as f64 / NEW_WORDS as f64),
        ("echo", echo),
        ("refusal", mean(&chances)),
        ("refusal_logit", mean(&logits)),
    ]
}

/// The mean of the best sentence and of those read together; a single logit as it is.
fn read_as_one(logits: &[f64]) -> f64 {
    match logits {
        [] => 0.0,
        [only] => *only,
        [alone @ .., together] => (alone.iter().copied().fold(f64::MIN, f64::max) + together) / 2.0,
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The end of a conversation; a plain question stays whole.
pub(super) fn tail(question: &str) -> String {
    let sentences = segments(question, usize::MAX).pieces;
    if sentences.len() <= TAIL_SENTENCES {
        return question.to_owned();
    }
    sentences[sentences.len() - TAIL_SENTENCES..].join(" ")
}
