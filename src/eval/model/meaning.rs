//! What the logits of a user's model mean, in the terms of the program's own models.

use super::settings::{Activation, FileConfig, Slot};

/// What is told of the tone of a text, in the order of the program's own logits.
pub const TOXICITY_LABELS: [&str; 7] =
    ["toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack", "fairness_bias"];

/// The logarithm of a probability that is none.
const NEVER: f64 = -80.0;

/// Labels as models name them, and as they are named here.
const SAME: [(&str, &str); 27] = [
    ("entail", "entailment"),
    ("entailed", "entailment"),
    ("supported", "entailment"),
    ("consistent", "entailment"),
    ("factual", "entailment"),
    ("contradict", "contradiction"),
    ("contradictory", "contradiction"),
    ("refuted", "contradiction"),
    ("yes", "relevant"),
    ("answer", "relevant"),
    ("toxic", "toxicity"),
    ("hate", "toxicity"),
    ("hateful", "toxicity"),
    ("offensive", "toxicity"),
    ("severe_toxic", "severe_toxicity"),
    ("obscenity", "obscene"),
    ("threatening", "threat"),
    ("insulting", "insult"),
    ("identity_hate", "identity_attack"),
    ("identity_based_attack", "identity_attack"),
    ("bias", "fairness_bias"),
    ("biased", "fairness_bias"),
    ("similar", "similarity"),
    ("equivalent", "similarity"),
    ("paraphrase", "similarity"),
    ("duplicate", "similarity"),
    ("is_duplicate", "similarity"),
];

/// How logits are read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meaning {
    slot: Slot,
    /// For each logit its place in the slot's own terms.
    places: Vec<Option<usize>>,
    activation: Activation,
    temperature: f64,
}

impl Meaning {
    /// By the configuration, and by the labels that `config.json` has. `count` is how many logits there are.
    ///
    /// # Errors
    /// When the labels are not as many, or the one that the slot needs is not among them.
    pub(super) fn new(
        slot: Slot,
        file: &FileConfig,
        stored: &[String],
        count: usize,
    ) -> Result<Self, String> {
        let labels = labels(slot, file, stored, count)?;
        let terms = terms(slot);
        let place = |label: &String| terms.iter().position(|term| *term == named(label));
        let mut places: Vec<Option<usize>> = labels.iter().map(place).collect();
        let needed = if slot == Slot::Toxicity { terms } else { &terms[..1] };
        if !places.iter().flatten().any(|at| *at < needed.len()) {
            let needed = needed.join(" or ");
            return Err(format!(
                "has the labels {}, and none of them is {needed}: give models.{}.labels, in the order of the logits",
                labels.join(", "),
                slot.name()
            ));
        }
        if slot == Slot::Entailment {
            // Whatever does not follow and does not contradict is neutral.
            places.iter_mut().for_each(|place| *place = place.or(Some(1)));
        }
        let usual = match slot {
            Slot::Entailment | Slot::Relevance | Slot::Similarity if count > 1 => Activation::Softmax,
            _ => Activation::Sigmoid,
        };
        Ok(Self { slot, places, activation: file.activation.unwrap_or(usual), temperature: file.temperature })
    }

    /// How many logits there are.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// Whether the model tells what stands at this place of the slot's own terms.
    pub(super) fn tells(&self, place: usize) -> bool {
        self.places.contains(&Some(place))
    }

    /// Entailment: the logarithms of three probabilities. Relevance: the same logit for passages and answers. Toxicity: a
    /// logit for each of [`TOXICITY_LABELS`]. Similarity: the number itself, from 0 to 1.
    pub(super) fn read(&self, logits: &[f32]) -> Vec<f32> {
        let scaled: Vec<f64> = logits.iter().map(|logit| f64::from(*logit) / self.temperature).collect();
        let chances = match self.activation {
            Activation::Softmax => softmax(&scaled),
            Activation::Sigmoid => scaled.iter().map(|logit| 1.0 / (1.0 + (-logit).exp())).collect(),
        };
        let chance = |place: usize| -> f64 {
            let own = self.places.iter().zip(&chances).filter(|(at, _)| **at == Some(place));
            own.map(|(_, chance)| *chance).sum()
        };
        let log = |chance: f64| if chance > 0.0 { chance.ln().max(NEVER) } else { NEVER };
        let odds = |chance: f64| log(chance) - log(1.0 - chance);
        let found = match self.slot {
            Slot::Entailment => {
                let (entailed, contradicted) = (chance(0), chance(2));
                // Each label on its own need not leave a probability of one.
                let rest = (1.0 - entailed - contradicted).max(0.0);
                vec![log(entailed), log(rest), log(contradicted)]
            }
            Slot::Relevance => vec![odds(chance(0)); 2],
            Slot::Similarity => vec![chance(0).min(1.0)],
            Slot::Toxicity | Slot::Embedding => {
                (0..TOXICITY_LABELS.len()).map(|at| odds(chance(at).min(1.0))).collect()
            }
        };
        found.into_iter().map(|value| value as f32).collect()
    }
}

/// What the slot's own terms are, the needed one first.
fn terms(slot: Slot) -> &'static [&'static str] {
    match slot {
        Slot::Entailment => &["entailment", "neutral", "contradiction"],
        Slot::Relevance => &["relevant"],
        Slot::Similarity => &["similarity"],
        Slot::Toxicity | Slot::Embedding => &TOXICITY_LABELS,
    }
}

/// The labels in the order of the logits.
fn labels(slot: Slot, file: &FileConfig, stored: &[String], count: usize) -> Result<Vec<String>, String> {
    if !file.labels.is_empty() {
        if file.labels.len() == count {
            return Ok(file.labels.clone());
        }
        let (slot, labels) = (slot.name(), file.labels.len());
        return Err(format!("gives {count} logits, and models.{slot}.labels has {labels} names"));
    }
    // One logit is the label that the slot needs, whatever it is called.
    if count == 1 {
        return Ok(vec![terms(slot)[0].to_owned()]);
    }
    if stored.len() == count {
        return Ok(stored.to_vec());
    }
    Err(format!(
        "gives {count} logits, and {} tells what they are: give models.{}.labels, in their order",
        if stored.is_empty() {
            "no config.json beside it"
        } else {
            "config.json, which has another number of them,"
        },
        slot.name()
    ))
}

/// A label in the words used here.
fn named(label: &str) -> String {
    let plain = label.trim().to_lowercase().replace([' ', '-'], "_");
    SAME.iter().find(|(theirs, _)| *theirs == plain).map_or(plain.clone(), |(_, ours)| (*ours).to_owned())
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let peak = logits.iter().copied().fold(f64::MIN, f64::max);
    let powers: Vec<f64> = logits.iter().map(|logit| (logit - peak).exp()).collect();
    let total: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn close(found: &[f32], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((f64::from(*found) - wanted).abs() < 1e-5, "{found} {wanted}");
        }
    }

    #[test]
    fn entailment_is_three_probabilities_in_the_order_of_the_labels() {
        let file = FileConfig::of("m");
        let three = names(&["CONTRADICTION", "NEUTRAL", "ENTAILMENT"]);
        let meaning = Meaning::new(Slot::Entailment, &file, &three, 3).unwrap();
        close(&meaning.read(&[0.0, 2f32.ln(), 5f32.ln()]), &[0.625f64.ln(), 0.25f64.ln(), 0.125f64.ln()]);
        let two =
            Meaning::new(Slot::Entailment, &file, &names(&["entailment", "not_entailment"]), 2).unwrap();
        close(&two.read(&[3f32.ln(), 0.0]), &[0.75f64.ln(), 0.25f64.ln(), NEVER]);
        let hot = FileConfig { temperature: 2.0, ..FileConfig::of("m") };
        let one = Meaning::new(Slot::Entailment, &hot, &[], 1).unwrap();
        close(&one.read(&[2.0 * 3f32.ln()]), &[0.75f64.ln(), 0.25f64.ln(), NEVER]);
    }

    #[test]
    fn relevance_is_a_logit_and_toxicity_one_a_label() {
        let file = FileConfig::of("m");
        let single = Meaning::new(Slot::Relevance, &file, &names(&["LABEL_0"]), 1).unwrap();
        close(&single.read(&[-1.5]), &[-1.5, -1.5]);
        let two = FileConfig { labels: names(&["irrelevant", "relevant"]), ..FileConfig::of("m") };
        close(&Meaning::new(Slot::Relevance, &two, &[], 2).unwrap().read(&[1.0, 3.0]), &[2.0, 2.0]);
        let detox = names(&["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]);
        let meaning = Meaning::new(Slot::Toxicity, &file, &detox, 6).unwrap();
        close(&meaning.read(&[1.0, 2.0, 3.0, -1.0, -2.0, 0.0])[..6], &[1.0, 2.0, 3.0, -1.0, -2.0, 0.0]);
        assert!(meaning.tells(0) && meaning.tells(5) && !meaning.tells(6));
    }

    #[test]
    fn similarity_is_a_number_from_0_to_1() {
        let file = FileConfig::of("m");
        let regression = Meaning::new(Slot::Similarity, &file, &names(&["LABEL_0"]), 1).unwrap();
        close(&regression.read(&[3f32.ln()]), &[0.75]);
        let pair = names(&["not_equivalent", "equivalent"]);
        close(&Meaning::new(Slot::Similarity, &file, &pair, 2).unwrap().read(&[0.0, 3f32.ln()]), &[0.75]);
    }

    #[test]
    fn labels_that_do_not_fit_are_told() {
        let file = FileConfig::of("m");
        let wrong = |slot, stored: &[String], count| Meaning::new(slot, &file, stored, count).unwrap_err();
        assert!(wrong(Slot::Entailment, &[], 3).contains("models.entailment.labels"));
        assert!(
            wrong(Slot::Relevance, &names(&["LABEL_0", "LABEL_1"]), 2).contains("none of them is relevant")
        );
        let given = FileConfig { labels: names(&["relevant"]), ..FileConfig::of("m") };
        assert!(Meaning::new(Slot::Relevance, &given, &[], 2).unwrap_err().contains("gives 2 logits"));
    }
}
