//! The evaluator `pairwise`: which of two answers is better, asked in both orders.
//!
//! Judges prefer a place. An answer wins only if it wins in both places; what changes with the place is a tie, and is told in a
//! metric of its own, so that a judge that looks at places shows.

use super::desk::Open;
use super::shape::Finding;
use super::told::{Told, add};
use super::verdict::Verdict;
use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Forecast, Metric};
use tokio::time::Instant;

/// The value of a tie, and the threshold: what is at least as good passes.
pub(super) const TIE: f64 = 0.5;
/// What the judge says of the first and of the second answer.
pub(super) const FIRST: &str = "answer_1";
pub(super) const SECOND: &str = "answer_2";

/// Asks about the answer and the expected one, in both orders. The first of `metrics` is the answer's, the second tells whether
/// both orders agree.
///
/// # Errors
/// When another try later may help; then both are asked again.
pub(super) async fn ask(
    metrics: &[Metric],
    verdict: &Verdict,
    input: &EvalInput,
    until: Instant,
) -> Result<Told, Away> {
    let [own, agree] = metrics else { return Ok(Told { scores: Vec::new(), usage: None }) };
    // Nobody is asked about half a pair.
    if let Err(open) = verdict.fill(input) {
        return Ok(Told { scores: both(own, agree, &open), usage: None });
    }
    let swapped = swapped(input);
    let asked = futures::future::try_join(verdict.ask(input, until), verdict.ask(&swapped, until));
    let (first, second) = asked.await?;
    let mut usage = first.usage;
    add(&mut usage, second.usage);
    let scores = match (first.found, second.found) {
        (Ok(first), Ok(second)) => scores(own, agree, &first, &second),
        (Err(open), _) | (_, Err(open)) => both(own, agree, &open),
    };
    Ok(Told { scores, usage })
}

/// What both questions take at most.
pub(super) fn forecast(verdict: &Verdict, input: &EvalInput) -> Option<Forecast> {
    let one = verdict.forecast(input)?;
    Some(one.with(verdict.forecast(&swapped(input))?))
}

/// The same with the answers in each other's places.
fn swapped(input: &EvalInput) -> EvalInput {
    EvalInput { answer: input.expected.clone(), expected: input.answer.clone(), ..input.clone() }
}

fn both(own: &Metric, agree: &Metric, open: &Open) -> Vec<Score> {
    vec![open.score(&own.name), open.score(&agree.name)]
}

/// What the answer has of a verdict: 1 for a win, 0 for a loss. It stands in `place`.
fn value(finding: &Finding, place: &str) -> f64 {
    match finding.label.as_deref() {
        Some(label) if label == place => 1.0,
        Some(FIRST | SECOND) => 0.0,
        _ => TIE,
    }
}

fn scores(own: &Metric, agree: &Metric, first: &Finding, second: &Finding) -> Vec<Score> {
    let (one, two) = (value(first, FIRST), value(second, SECOND));
    let does_agree = one == two;
    let won = if does_agree { one } else { TIE };
    let label = match won {
        1.0 => "win",
        0.0 => "loss",
        _ => "tie",
    };
    let said = format!("In the first place: {} In the second place: {}", first.rationale, second.rationale);
    let told = if does_agree { "Both orders agree." } else { "The orders do not agree." };
    vec![
        Score::measured(&own.name, won, TIE, own.better).labelled(label).because(said),
        Score::verdict(&agree.name, does_agree).because(told),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::score::Better;

    fn finding(label: &str) -> Finding {
        Finding { label: Some(label.to_owned()), rationale: "r".to_owned(), ..Finding::default() }
    }

    #[test]
    fn an_answer_wins_only_in_both_places() {
        let metric = |name, threshold| Metric::new(name, Better::Higher, threshold);
        let (own, agree) = (metric("pairwise", Some(TIE)), metric("position_consistency", None));
        for (first, second, value, label, agrees) in [
            (FIRST, SECOND, 1.0, "win", true),
            (SECOND, FIRST, 0.0, "loss", true),
            ("tie", "tie", 0.5, "tie", true),
            // A judge that always takes the first place.
            (FIRST, FIRST, 0.5, "tie", false),
            (FIRST, "tie", 0.5, "tie", false),
        ] {
            let scores = scores(&own, &agree, &finding(first), &finding(second));
            assert_eq!(
                (scores[0].value, scores[0].label.as_deref()),
                (Some(value), Some(label)),
                "{first} {second}"
            );
            assert_eq!((scores[0].passed, scores[1].passed), (Some(value >= TIE), Some(agrees)));
        }
    }
}
