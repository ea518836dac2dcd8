//! The evaluator `language_mismatch`: are question, answer and contexts in one language?

use super::relate::{Relation, relate};
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};
use crate::eval::language::{Guess, LANGUAGE_VERSION, identify};
use crate::eval::model::ModelError;

const ID: &str = "language_mismatch";
const NAME: &str = "same_language";
const METRICS: &[Metric] = &[Metric::new(NAME, Better::Higher, None)];
const TOO_SHORT: &str = "text too short to tell the language";
/// What a guess that is not sure is called.
const UNKNOWN: &str = "not told";
/// No more contexts than this are looked at.
const MAX_CONTEXTS: usize = 16;

/// Fails an item whose answer (`generation`) or most of whose contexts (`retrieval`) are in another language than the
/// question. Where the language of the question, or of the rest, cannot be told, the score is skipped with the label
/// `abstain`.
#[derive(Debug, Clone, Default)]
pub struct LanguageMismatch {
    version: String,
}

impl LanguageMismatch {
    /// With the languages of this build.
    pub fn new() -> Self {
        Self { version: format!("2-{LANGUAGE_VERSION}") }
    }
}

impl Evaluator for LanguageMismatch {
    fn id(&self) -> &str {
        ID
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        METRICS
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        vec![judge(input).unwrap_or_else(|error| Score::failed(NAME, &error.to_string()))]
    }
}

/// The language as ISO 639-3 where it is sure, else "not told".
fn name(guess: &Guess) -> &'static str {
    guess.code.filter(|_| guess.is_sure).unwrap_or(UNKNOWN)
}

fn judge(input: &EvalInput) -> Result<Score, &'static ModelError> {
    let Some(question) = input.question.as_deref() else { return Ok(Score::skipped(NAME, "question")) };
    let Some(answer) = input.answer.as_deref() else { return Ok(Score::skipped(NAME, "answer")) };
    let (asked, answered) = (identify(question)?, identify(answer)?);
    let by_answer = relate(&asked, &answered);
    let contents = input.contexts.iter().filter_map(|c| c.content.as_deref()).take(MAX_CONTEXTS);
    let contexts: Vec<Guess> = contents.map(identify).collect::<Result<_, _>>()?;
    let count = |relation| contexts.iter().filter(|context| relate(&asked, context) == relation).count();
    let (same, other) = (count(Relation::Same), count(Relation::Other));
    let is_other_retrieved = other > same;
    let label = match (by_answer, is_other_retrieved) {
        (Relation::Other, true) => "generation+retrieval",
        (Relation::Other, false) => "generation",
        (_, true) => "retrieval",
        (Relation::Same, false) => "none",
        (Relation::Unknown, false) => return Ok(Score::skipped(NAME, TOO_SHORT).labelled("abstain")),
    };
    let why = format!(
        "question: {}; answer: {}; contexts: {same} in the question's language, {other} in another, {} not told",
        name(&asked),
        name(&answered),
        contexts.len() - same - other
    );
    Ok(Score::verdict(NAME, label == "none").labelled(label).because(why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::Document;
    use crate::domain::score::ScoreStatus;

    const ENGLISH: &str = "What is the capital of France and how many people live there?";
    const ENGLISH_ANSWER: &str =
        "The capital of France is Paris, and more than two million people live in the city.";
    const GERMAN: &str =
        "Die Hauptstadt von Frankreich ist Paris, und dort leben mehr als zwei Millionen Menschen.";

    fn label(question: &str, answer: &str, contexts: &[&str]) -> String {
        let document = |text: &&str| Document { content: Some((*text).to_owned()), ..Document::default() };
        let input = EvalInput {
            question: Some(question.to_owned()),
            answer: Some(answer.to_owned()),
            contexts: contexts.iter().map(document).collect(),
            ..EvalInput::default()
        };
        let score = LanguageMismatch::new().evaluate(&input).remove(0);
        assert_eq!(
            score.passed,
            (score.status == ScoreStatus::Ok).then(|| score.label.as_deref() == Some("none"))
        );
        score.label.unwrap_or_default()
    }

    #[test]
    fn the_label_tells_where() {
        assert_eq!(label(ENGLISH, ENGLISH_ANSWER, &[]), "none");
        assert_eq!(label(ENGLISH, GERMAN, &[ENGLISH_ANSWER]), "generation");
        assert_eq!(label(ENGLISH, ENGLISH_ANSWER, &[GERMAN]), "retrieval");
        assert_eq!(label(ENGLISH, GERMAN, &[GERMAN]), "generation+retrieval");
        assert_eq!(label(ENGLISH, "Столица Франции — Париж.", &[]), "generation");
    }

    #[test]
    fn short_text_abstains() {
        assert_eq!(label(ENGLISH, "Paris.", &[]), "abstain");
        assert_eq!(label(ENGLISH, "42", &[]), "abstain");
        assert_eq!(
            label(
                ENGLISH,
                "https://example.org/wer-das-hier-liest-ist-ein-mensch `und das ist ein Wert`",
                &[]
            ),
            "abstain"
        );
    }

    #[test]
    fn missing_inputs_are_named() {
        let score = LanguageMismatch::new().evaluate(&EvalInput::default()).remove(0);
        assert_eq!(score.error.as_deref(), Some("question"));
    }
}
