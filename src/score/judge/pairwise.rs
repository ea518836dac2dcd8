//! The evaluator `pairwise`: which of two answers is better, asked in both orders.
//!
//! Judges prefer a place. An answer wins only if it wins in both places; what changes with the place is a tie, and is told in a
//! metric of its own, so that a judge that looks at places shows. Each order may be asked several times: its verdict is that of
//! most runs, and how far runs agree is a metric too.

use super::desk::Open;
use super::partial::{Partial, key};
use super::shape::Finding;
use super::told::{Told, add};
use super::verdict::{Asked, Verdict};
use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Forecast, Metric};
use tokio::time::Instant;

/// The value of a tie, and the threshold: what is at least as good passes.
pub(super) const TIE: f64 = 0.5;
/// What the judge says of the first and of the second answer.
pub(super) const FIRST: &str = "answer_1";
pub(super) const SECOND: &str = "answer_2";

/// The name of the metric of repeated runs.
pub(super) const REPEATED: &str = "repeat_agreement";

/// Asks about the answer and the expected one, in both orders, each `runs` times. The first of `metrics` is the answer's, the
/// second tells whether both orders agree, the third one, which is there for several runs, how far these agree.
///
/// # Errors
/// When another try later may help; what was answered is kept for it in `partial`.
pub(super) async fn ask(
    metrics: &[Metric],
    (verdict, runs): (&Verdict, u32),
    partial: &Partial<Asked>,
    input: &EvalInput,
    until: Instant,
) -> Result<Told, Away> {
    let open = |open: &Open| metrics.iter().map(|metric| open.score(&metric.name)).collect();
    // Nobody is asked about half a pair.
    if let Err(missing) = verdict.fill(input) {
        return Ok(Told { scores: open(&missing), usage: None });
    }
    let swapped = swapped(input);
    let places = (0..runs).flat_map(|run| [(run, input), (run, &swapped)]);
    let all = places.map(|(run, input)| {
        partial.or_ask(key(&format!("{REPEATED}{run}"), input), verdict.ask_run(input, run, until))
    });
    let (mut usage, mut found) = (None, Vec::new());
    for asked in partial.all(futures::future::join_all(all).await)? {
        add(&mut usage, asked.usage);
        found.push(asked.found);
    }
    let scores = match found.into_iter().collect::<Result<Vec<Finding>, Open>>() {
        Ok(findings) => scores(metrics, &findings),
        Err(why) => open(&why),
    };
    Ok(Told { scores, usage })
}

/// What all questions take at most.
pub(super) fn forecast(verdict: &Verdict, runs: u32, input: &EvalInput) -> Option<Forecast> {
    let both = verdict.forecast(input)?.with(verdict.forecast(&swapped(input))?);
    (0..runs).map(|_| both).reduce(Forecast::with)
}

/// The same with the answers in each other's places.
fn swapped(input: &EvalInput) -> EvalInput {
    EvalInput { answer: input.expected.clone(), expected: input.answer.clone(), ..input.clone() }
}

/// What the answer has of a verdict: 1 for a win, 0 for a loss. It stands in `place`.
fn value(finding: &Finding, place: &str) -> f64 {
    match finding.label.as_deref() {
        Some(label) if label == place => 1.0,
        Some(FIRST | SECOND) => 0.0,
        _ => TIE,
    }
}

/// The value that most runs have; a tie where none has the most.
fn most(values: &[f64]) -> f64 {
    let count = |wanted: f64| values.iter().filter(|value| **value == wanted).count();
    let (won, lost, tied) = (count(1.0), count(0.0), count(TIE));
    match (won > lost.max(tied), lost > won.max(tied)) {
        (true, _) => 1.0,
        (_, true) => 0.0,
        _ => TIE,
    }
}

/// The share of pairs of runs of one order that have the same value; none for a single run.
fn agreement(orders: [&[f64]; 2]) -> Option<f64> {
    let (mut same, mut all) = (0.0, 0.0);
    for values in orders {
        for (at, one) in values.iter().enumerate() {
            for other in &values[at + 1..] {
                all += 1.0;
                same += f64::from(u8::from(one == other));
            }
        }
    }
    (all > 0.0).then(|| same / all)
}

/// `findings` are by run, in the first place and in the second.
fn scores(metrics: &[Metric], findings: &[Finding]) -> Vec<Score> {
    let of = |place: usize, name: &str| -> Vec<f64> {
        findings.iter().skip(place).step_by(2).map(|finding| value(finding, name)).collect()
    };
    let (first, second) = (of(0, FIRST), of(1, SECOND));
    let (one, two) = (most(&first), most(&second));
    let does_agree = one == two;
    let won = if does_agree { one } else { TIE };
    let label = match won {
        1.0 => "win",
        0.0 => "loss",
        _ => "tie",
    };
    let reason = |at: usize| findings.get(at).map_or("", |finding| finding.rationale.as_str());
    let said = format!("In the first place: {} In the second place: {}", reason(0), reason(1));
    let told = if does_agree { "Both orders agree." } else { "The orders do not agree." };
    let repeated = agreement([&first, &second]);
    let score = |(at, metric): (usize, &Metric)| match at {
        0 => Some(Score::measured(&metric.name, won, TIE, metric.better).labelled(label).because(&said)),
        1 => Some(Score::verdict(&metric.name, does_agree).because(told)),
        _ => repeated.map(|share| {
            Score::told(&metric.name, share).because(format!("{} runs of each order.", first.len()))
        }),
    };
    metrics.iter().enumerate().filter_map(score).collect()
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
        let metrics = [metric("pairwise", Some(TIE)), metric("position_consistency", None)];
        for (first, second, value, label, agrees) in [
            (FIRST, SECOND, 1.0, "win", true),
            (SECOND, FIRST, 0.0, "loss", true),
            ("tie", "tie", 0.5, "tie", true),
            // A judge that always takes the first place.
            (FIRST, FIRST, 0.5, "tie", false),
            (FIRST, "tie", 0.5, "tie", false),
        ] {
            let scores = scores(&metrics, &[finding(first), finding(second)]);
            assert_eq!(
                (scores[0].value, scores[0].label.as_deref()),
                (Some(value), Some(label)),
                "{first} {second}"
            );
            assert_eq!((scores[0].passed, scores[1].passed), (Some(value >= TIE), Some(agrees)));
        }
    }

    #[test]
    fn repeated_runs_are_compared_within_their_order() {
        let metric = |name| Metric::new(name, Better::Higher, None);
        let metrics = [metric("pairwise"), metric("position_consistency"), metric(REPEATED)];
        // The first place wins twice of three times, the second one always.
        let runs = [FIRST, SECOND, "tie", SECOND, FIRST, SECOND].map(finding);
        let scores = scores(&metrics, &runs);
        assert_eq!((scores[0].value, scores[1].passed), (Some(1.0), Some(true)));
        // One of three pairs in the first order, three of three in the second.
        assert!((scores[2].value.unwrap() - 4.0 / 6.0).abs() < 1e-12);
        assert_eq!(
            (most(&[1.0, 0.0]), most(&[0.0, 0.0, 1.0]), agreement([&[1.0], &[0.0]])),
            (TIE, 0.0, None)
        );
    }
}
