//! Texts on which there is no doubt, and what a model says of them. They find labels in a wrong order and inputs that are
//! swapped; they measure nothing.

use crate::eval::{ModelError, Models, Slot, TOXICITY_LABELS};

/// A context, what it says, and what it does not say.
const CLAIMS: [(&str, &str, &str); 6] = [
    ("The shop opens at nine and closes at six.", "The shop closes at six.", "The shop never closes."),
    ("Tickets cost twelve euros.", "A ticket costs twelve euros.", "Tickets are free."),
    ("Nobody was hurt in the fire.", "There was a fire.", "Three people died in the fire."),
    ("The parcel was sent on Monday.", "The parcel was sent.", "The parcel was lost in a storm."),
    ("Paris is the capital of France.", "France has the capital Paris.", "Paris is a city in Japan."),
    ("Returns are accepted within 30 days.", "You have 30 days to return it.", "Returns are not accepted."),
];

/// A question, a text that answers it, and one that does not.
const ANSWERS: [(&str, &str, &str); 6] = [
    ("When does the shop open?", "The shop opens at nine.", "Bread needs flour, water and salt."),
    ("What does a ticket cost?", "A ticket costs twelve euros.", "The train was late again."),
    ("Who wrote Hamlet?", "Hamlet was written by William Shakespeare.", "Bananas grow in warm countries."),
    ("How do I reset my password?", "Click on 'forgot password' to reset it.", "Our office is in Berlin."),
    ("What is the capital of France?", "Paris is the capital of France.", "Cats sleep most of the day."),
    ("Can I return a tent?", "Tents may be returned within 30 days.", "The moon has no atmosphere."),
];

/// A text, the same in other words, and one of another topic.
const ALIKE: [(&str, &str, &str); 6] = [
    ("The shop opens at nine.", "The store is open from nine o'clock.", "Bread needs flour, water and salt."),
    ("A ticket costs twelve euros.", "The price of a ticket is twelve euros.", "The train was late again."),
    ("Nobody was hurt in the fire.", "The fire injured no one.", "Bananas grow in warm countries."),
    ("Click on 'forgot password'.", "Press the 'forgot password' link.", "Our office is in Berlin."),
    (
        "Paris is the capital of France.",
        "The capital city of France is Paris.",
        "Cats sleep most of the day.",
    ),
    ("You may return it within 30 days.", "Returns are accepted for 30 days.", "The moon has no atmosphere."),
];

/// A plain text and one that is not.
const TONES: [(&str, &str); 5] = [
    ("Thank you for asking, the parcel arrives on Tuesday.", "You are a worthless idiot."),
    ("The museum opens at nine.", "Shut up, you stupid piece of shit."),
    ("Please restart the router and try again.", "I will find you and kill you."),
    ("Photosynthesis turns light into sugar.", "Everybody hates you, you pathetic loser."),
    ("The invoice is due on Friday.", "Go to hell, moron."),
];

/// Of each sample whether the model tells it right: the plain side above the other one, and for claims and tones each on
/// its own side of one half.
///
/// # Errors
/// When the network fails.
pub fn told(models: &Models, slot: Slot) -> Result<Vec<bool>, ModelError> {
    match slot {
        Slot::Entailment => claims(models),
        Slot::Relevance => {
            let pairs = ANSWERS.iter().flat_map(|(asked, good, bad)| [(*good, *asked), (*bad, *asked)]);
            let found = models.relevance()?.of_pairs(&pairs.collect::<Vec<_>>())?;
            Ok(found.chunks(2).map(|two| two[0][0] > two[1][0]).collect())
        }
        Slot::Toxicity => tones(models),
        Slot::Similarity => likeness(models),
        Slot::Embedding => {
            let texts: Vec<&str> =
                ANSWERS.iter().flat_map(|(asked, good, bad)| [*asked, *good, *bad]).collect();
            let found = models.similarity().embed(&texts)?;
            Ok(found.chunks(3).map(|three| dot(&three[0], &three[1]) > dot(&three[0], &three[2])).collect())
        }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Whether the same in other words is nearer than another topic; by embeddings where no model reads both together, which the
/// program itself has not.
fn likeness(models: &Models) -> Result<Vec<bool>, ModelError> {
    if let Some(reader) = models.cross_encoder() {
        let pairs = ALIKE.iter().flat_map(|(text, same, other)| [(*same, *text), (*other, *text)]);
        let found = reader.of_pairs(&pairs.collect::<Vec<_>>())?;
        return Ok(found.chunks(2).map(|two| two[0][0] > two[1][0]).collect());
    }
    let texts: Vec<&str> = ALIKE.iter().flat_map(|(text, same, other)| [*text, *same, *other]).collect();
    let found = models.similarity().embed(&texts)?;
    Ok(found.chunks(3).map(|three| dot(&three[0], &three[1]) > dot(&three[0], &three[2])).collect())
}

fn claims(models: &Models) -> Result<Vec<bool>, ModelError> {
    let pairs = CLAIMS.iter().flat_map(|(context, said, not)| [(*context, *said), (*context, *not)]);
    let found = models.entailment()?.of_pairs(&pairs.collect::<Vec<_>>())?;
    let entailed = |logits: &[f32]| {
        let others: f32 = logits[1..].iter().map(|other| (other - logits[0]).exp()).sum();
        1.0 / (1.0 + others)
    };
    Ok(found.iter().enumerate().map(|(at, logits)| (entailed(logits) > 0.5) == (at % 2 == 0)).collect())
}

fn tones(models: &Models) -> Result<Vec<bool>, ModelError> {
    let model = models.toxicity(0)?;
    let texts: Vec<&str> = TONES.iter().flat_map(|(plain, toxic)| [*plain, *toxic]).collect();
    let loudest = |row: &[f64; TOXICITY_LABELS.len()]| {
        row[..TOXICITY_LABELS.len() - 1].iter().copied().fold(0.0, f64::max)
    };
    let found = model.classify(&texts)?;
    Ok(found.iter().enumerate().map(|(at, row)| (loudest(row) >= 0.5) == (at % 2 == 1)).collect())
}

/// A batch of one length that no cache knows.
///
/// # Errors
/// When the network fails.
pub fn work(models: &Models, slot: Slot, round: usize) -> Result<usize, ModelError> {
    const BATCH: usize = 32;
    let text = |at: usize| {
        format!(
            "Parcel {round} of row {at} was sent on Monday and came to the old mill behind the shop after two days."
        )
    };
    let texts: Vec<String> = (0..BATCH).map(text).collect();
    let pairs = || {
        texts.iter().map(|text| (text.clone(), "When was the parcel sent?".to_owned())).collect::<Vec<_>>()
    };
    match slot {
        Slot::Entailment => drop(models.entailment()?.of_pairs(&pairs())?),
        Slot::Relevance => drop(models.relevance()?.of_pairs(&pairs())?),
        Slot::Toxicity => drop(models.toxicity(0)?.classify(&texts)?),
        Slot::Similarity => match models.cross_encoder() {
            Some(reader) => drop(reader.of_pairs(&pairs())?),
            None => drop(models.similarity().embed(&texts)?),
        },
        Slot::Embedding => drop(models.similarity().embed(&texts)?),
    }
    Ok(BATCH)
}
