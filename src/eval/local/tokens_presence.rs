//! The evaluator `tokens_presence`: does the answer hold what it must?

use crate::domain::score::{Better, Score};
use crate::domain::trace::{Constraint, EvalInput};
use crate::eval::evaluator::{Evaluator, Metric};
use regex::RegexBuilder;

const NAME: &str = "tokens_presence";
const METRICS: &[Metric] = &[Metric::new(NAME, Better::Higher, None)];
/// What makes a constraint an expression.
const PREFIX: &str = "REGEXP:";
/// The longest expression, in bytes.
const MAX_REGEX: usize = 2_000;
/// The largest compiled expression, in bytes.
const MAX_COMPILED: usize = 1 << 20;
/// Lists may nest this deep.
const MAX_DEPTH: usize = 8;
/// No more constraints than this are looked at, those of nested lists included.
const MAX_CONSTRAINTS: usize = 1_000;

/// Passes an answer in which every constraint holds: a text is contained (case counts), an expression after `REGEXP:`
/// matches somewhere, of a nested list at least one holds.
///
/// The label of a fail is `retrieval` if the contexts do not hold it either, else `generation`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokensPresence;

impl TokensPresence {
    /// The evaluator; the constraints come with the item.
    pub fn new() -> Self {
        Self
    }
}

impl Evaluator for TokensPresence {
    fn id(&self) -> &str {
        NAME
    }

    fn version(&self) -> &str {
        "1"
    }

    fn metrics(&self) -> &[Metric] {
        METRICS
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        vec![judge(input).unwrap_or_else(|error| Score::failed(NAME, &error))]
    }
}

fn judge(input: &EvalInput) -> Result<Score, String> {
    let Some(answer) = input.answer.as_deref() else { return Ok(Score::skipped(NAME, "answer")) };
    if input.constraints.is_empty() {
        return Ok(Score::skipped(NAME, "constraints"));
    }
    let Some(failed) = first_failed(&input.constraints, answer)? else {
        let why = format!("all {} constraints hold", input.constraints.len());
        return Ok(Score::verdict(NAME, true).labelled("none").because(why));
    };
    let contexts: Vec<&str> = input.contexts.iter().filter_map(|c| c.content.as_deref()).collect();
    let is_retrieved =
        contexts.is_empty() || first_failed(std::slice::from_ref(failed), &contexts.join("\n"))?.is_none();
    let why = format!("this constraint does not hold: {}", written(failed));
    Ok(Score::verdict(NAME, false)
        .labelled(if is_retrieved { "generation" } else { "retrieval" })
        .because(why))
}

/// The first constraint that does not hold. Every expression is compiled, so that a fault is told whatever the text.
fn first_failed<'a>(constraints: &'a [Constraint], text: &str) -> Result<Option<&'a Constraint>, String> {
    let mut left = MAX_CONSTRAINTS;
    let mut failed = None;
    for constraint in constraints {
        let is_held = holds(constraint, text, 0, &mut left)?;
        if !is_held && failed.is_none() {
            failed = Some(constraint);
        }
    }
    Ok(failed)
}

fn holds(constraint: &Constraint, text: &str, depth: usize, left: &mut usize) -> Result<bool, String> {
    *left = left.checked_sub(1).ok_or_else(|| format!("more than {MAX_CONSTRAINTS} constraints"))?;
    match constraint {
        Constraint::Text(wanted) => match wanted.strip_prefix(PREFIX) {
            Some(expression) => matches(expression, text),
            None => Ok(text.contains(wanted.as_str())),
        },
        Constraint::AnyOf(_) if depth >= MAX_DEPTH => Err(format!("lists nested deeper than {MAX_DEPTH}")),
        Constraint::AnyOf(list) => {
            let mut is_any = false;
            for item in list {
                is_any |= holds(item, text, depth + 1, left)?;
            }
            Ok(is_any)
        }
    }
}

fn matches(expression: &str, text: &str) -> Result<bool, String> {
    if expression.len() > MAX_REGEX {
        return Err(format!("a regular expression is longer than {MAX_REGEX} bytes"));
    }
    let regex = RegexBuilder::new(expression).size_limit(MAX_COMPILED).dfa_size_limit(MAX_COMPILED).build();
    let regex = regex.map_err(|error| format!("{PREFIX}{expression} is no regular expression: {error}"))?;
    Ok(regex.is_match(text))
}

/// The constraint as a person wrote it.
fn written(constraint: &Constraint) -> String {
    match constraint {
        Constraint::Text(text) => format!("{text:?}"),
        Constraint::AnyOf(list) => {
            let items: Vec<String> = list.iter().map(written).collect();
            format!("any of [{}]", items.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::Document;
    use crate::domain::score::ScoreStatus;

    fn text(text: &str) -> Constraint {
        Constraint::Text(text.to_owned())
    }

    fn judged(answer: &str, constraints: Vec<Constraint>, context: Option<&str>) -> Score {
        let document = |text: &str| Document { content: Some(text.to_owned()), ..Document::default() };
        let input = EvalInput {
            answer: Some(answer.to_owned()),
            constraints,
            contexts: context.map(document).into_iter().collect(),
            ..EvalInput::default()
        };
        TokensPresence::new().evaluate(&input).remove(0)
    }

    #[test]
    fn all_must_hold_and_of_a_list_one() {
        let constraints = || {
            vec![
                text("24"),
                text("REGEXP:^The .* hours"),
                Constraint::AnyOf(vec![text("day"), text("REGEXP:h.urs")]),
            ]
        };
        assert_eq!(judged("The day has 24 hours.", constraints(), None).passed, Some(true));
        let score = judged("The day has 23 hours.", constraints(), None);
        assert_eq!(score.passed, Some(false));
        assert_eq!(score.rationale.as_deref(), Some("this constraint does not hold: \"24\""));
        let score = judged("24", vec![Constraint::AnyOf(vec![text("a"), text("b")])], None);
        assert!(score.rationale.is_some_and(|why| why.ends_with("any of [\"a\", \"b\"]")));
    }

    #[test]
    fn the_label_tells_whose_fault() {
        assert_eq!(judged("x", vec![text("24")], Some("24 h")).label.as_deref(), Some("generation"));
        assert_eq!(judged("x", vec![text("24")], Some("25 h")).label.as_deref(), Some("retrieval"));
        assert_eq!(judged("x", vec![text("24")], None).label.as_deref(), Some("generation"));
    }

    #[test]
    fn a_broken_or_boundless_expression_is_an_error() {
        for expression in ["REGEXP:(", "REGEXP:(a{1000}){1000}"] {
            let score = judged("x", vec![text("y"), text(expression)], None);
            assert_eq!(score.status, ScoreStatus::Error, "{expression}");
            assert!(score.error.is_some_and(|error| error.contains(expression)));
        }
        let score = judged("x", vec![text(&format!("REGEXP:{}", "a".repeat(3_000)))], None);
        assert_eq!(score.status, ScoreStatus::Error);
    }

    #[test]
    fn too_deep_a_list_is_an_error() {
        let deep = (0..20).fold(text("x"), |inner, _| Constraint::AnyOf(vec![inner]));
        assert_eq!(judged("x", vec![deep], None).status, ScoreStatus::Error);
    }

    #[test]
    fn missing_inputs_are_named() {
        assert_eq!(judged("x", vec![], None).error.as_deref(), Some("constraints"));
        let score = TokensPresence::new().evaluate(&EvalInput::default()).remove(0);
        assert_eq!(score.error.as_deref(), Some("answer"));
    }
}
