//! The evaluator `ragas`: four questions, and the harmonic mean of their values.

use super::desk::Open;
use super::partial::{Partial, key};
use super::told::{Told, add, score};
use super::verdict::{Asked, Verdict};
use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::eval::{Away, Metric};
use tokio::time::Instant;

/// Asks each of `parts`. The first of `metrics` is the mean; it is there if all of them are, else it says which is not.
///
/// # Errors
/// When another try later may help; what was answered is kept for it in `partial`.
pub(super) async fn ask(
    metrics: &[Metric],
    parts: &[(Metric, Verdict)],
    partial: &Partial<Asked>,
    input: &EvalInput,
    until: Instant,
) -> Result<Told, Away> {
    let all =
        parts.iter().map(|(metric, part)| partial.or_ask(key(&metric.name, input), part.ask(input, until)));
    let asked = partial.all(futures::future::join_all(all).await)?;
    let (mut usage, mut values, mut rows, mut gap) = (None, Vec::new(), Vec::new(), None);
    for ((metric, _), asked) in parts.iter().zip(asked) {
        add(&mut usage, asked.usage);
        match asked.found {
            Ok(finding) => {
                values.push((metric.name.as_ref(), finding.value));
                rows.push(score(metric, finding));
            }
            Err(open) => {
                rows.push(open.score(&metric.name));
                // An error says more than what is missing.
                gap = match (gap, open) {
                    (None | Some(Open::Missing(_)), Open::Wrong(why)) => {
                        Some(Open::Wrong(format!("{}: {why}", metric.name)))
                    }
                    (None, missing) => Some(missing),
                    (gap, _) => gap,
                };
            }
        }
    }
    let mean = metrics.first().map(|metric| match &gap {
        Some(open) => open.score(&metric.name),
        None => whole(metric, &values),
    });
    Ok(Told { scores: mean.into_iter().chain(rows).collect(), usage })
}

fn whole(metric: &Metric, values: &[(&str, f64)]) -> Score {
    let threshold = metric.threshold.unwrap_or_default();
    let parts: Vec<String> = values.iter().map(|(name, value)| format!("{name} {value:.3}")).collect();
    let mean = harmonic(values.iter().map(|(_, value)| *value));
    Score::measured(&metric.name, mean, threshold, metric.better)
        .because(format!("Harmonic mean of {}.", parts.join(", ")))
}

/// n / Σ 1/value; 0 if one of them is 0.
fn harmonic(values: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut sum) = (0.0, 0.0);
    for value in values {
        if value <= 0.0 {
            return 0.0;
        }
        count += 1.0;
        sum += 1.0 / value;
    }
    if count == 0.0 { 0.0 } else { count / sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_harmonic() {
        // 4 / (1 + 2 + 4 + 1)
        assert!((harmonic([1.0, 0.5, 0.25, 1.0].into_iter()) - 0.5).abs() < 1e-12);
        assert_eq!(harmonic([1.0, 0.0].into_iter()), 0.0);
        assert_eq!(harmonic(std::iter::empty()), 0.0);
    }
}
