//! Several experiments against one baseline: what each has by itself, and how each differs from the baseline over their pairs.
//!
//! The p-values of all experiments, metrics and slices share a false-discovery rate: the more experiments are looked at, the more
//! of them are better by chance.

use super::compare::{Comparison, Difference, SliceDifference, compare, conclude};
use super::slices::Dimension;
use super::summary::{Data, MetricSummary, Weights, summary};
use crate::domain::score::Better;
use crate::stats::Estimate;
use serde::Serialize;

/// A baseline and what is held against it.
#[derive(Debug, Serialize)]
pub struct Several {
    /// The baseline by itself.
    pub baseline: Standing,
    /// The others, in the order in which they were named.
    pub experiments: Vec<Against>,
}

/// What an experiment has by itself.
#[derive(Debug, Serialize)]
pub struct Standing {
    /// The experiment.
    pub experiment_id: String,
    /// Its name.
    pub name: String,
    /// Items that it asks.
    pub items: usize,
    /// Runs without an answer.
    pub errors: usize,
    /// Milliseconds a run.
    pub duration_ms: Option<Estimate>,
    /// US dollars a run.
    pub cost_usd: Option<Estimate>,
    /// Tokens that were read for a run.
    pub input_tokens: Option<Estimate>,
    /// Tokens that were written for a run.
    pub output_tokens: Option<Estimate>,
    /// Each metric.
    pub cells: Vec<Cell>,
}

/// A metric of an experiment.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// The evaluator.
    pub evaluator: String,
    /// The metric.
    pub metric: String,
    /// What the estimate is of: `pass_rate` where there are verdicts, else `value`.
    pub measure: &'static str,
    /// The estimate over all items of the experiment.
    pub estimate: Option<Estimate>,
    /// How it differs from the baseline over the items that both have asked; none of the baseline itself, and where it lacks
    /// the metric.
    pub difference: Option<Difference>,
}

/// What an experiment has, and how it differs from the baseline.
#[derive(Debug, Serialize)]
pub struct Against {
    /// What it has by itself.
    #[serde(flatten)]
    pub standing: Standing,
    /// Items that both have asked and that say the same in both.
    pub paired: usize,
    /// Items that only one has asked, or that were changed in between.
    pub unpaired: usize,
    /// How tokens, cost and duration of a run differ from the baseline's; less is better.
    pub usage: Vec<Difference>,
    /// The metrics within each slice that was asked for.
    pub slices: Vec<SliceDifference>,
    /// Slices beyond the most that are looked at.
    pub slices_left_out: usize,
}

/// How each of `others` differs from `baseline`, as a whole and within the slices of `dimensions`. `better` says which side of a
/// metric is good.
pub fn several(
    baseline: &Data<'_>,
    others: &[Data<'_>],
    dimensions: &[Dimension],
    better: impl Fn(&str, &str) -> Better,
) -> Several {
    let mut compared: Vec<Comparison> =
        others.iter().map(|other| compare(other, baseline, dimensions, &better)).collect();
    let mut shown: Vec<&mut Difference> = Vec::new();
    let mut amounts: Vec<&mut Difference> = Vec::new();
    for Comparison { metrics, slices, usage, .. } in &mut compared {
        shown.extend(metrics);
        shown.extend(slices.iter_mut().flat_map(|slice| &mut slice.metrics));
        amounts.extend(usage);
    }
    conclude(shown, &better);
    conclude(amounts, |_, _| Better::Lower);
    Several {
        baseline: standing(baseline, Vec::new()),
        experiments: others.iter().zip(compared).map(|(other, found)| against(other, found)).collect(),
    }
}

fn against(data: &Data<'_>, found: Comparison) -> Against {
    Against {
        standing: standing(data, found.metrics),
        paired: found.paired,
        unpaired: found.unpaired,
        usage: found.usage,
        slices: found.slices,
        slices_left_out: found.slices_left_out,
    }
}

fn standing(data: &Data<'_>, mut differences: Vec<Difference>) -> Standing {
    let all = summary(data, Weights::Items);
    let own = |one: MetricSummary| {
        let mut known = differences.iter();
        let at = known.position(|known| known.evaluator == one.evaluator && known.metric == one.metric);
        cell(one, at.map(|at| differences.swap_remove(at)))
    };
    Standing {
        experiment_id: data.experiment.experiment_id.clone(),
        name: data.experiment.name.clone(),
        items: all.items,
        errors: all.errors,
        duration_ms: all.duration_ms,
        cost_usd: all.cost_usd,
        input_tokens: all.input_tokens,
        output_tokens: all.output_tokens,
        cells: all.metrics.into_iter().map(own).collect(),
    }
}

/// The estimate is of what the difference is of: where the baseline has no verdicts, values are compared.
fn cell(one: MetricSummary, difference: Option<Difference>) -> Cell {
    let of_values = difference.as_ref().is_some_and(|known| known.measure == "value");
    let (measure, estimate) = match one.passed {
        Some(passed) if !of_values => ("pass_rate", Some(passed)),
        _ => ("value", one.value),
    };
    Cell { evaluator: one.evaluator, metric: one.metric, measure, estimate, difference }
}

#[cfg(test)]
mod tests {
    use super::super::tried::Tried;
    use super::*;

    fn told(all: &Several) -> Vec<(&str, f64)> {
        let cells = all.experiments.iter().filter_map(|one| one.standing.cells[0].difference.as_ref());
        cells.map(|difference| (difference.verdict, difference.p_adjusted)).collect()
    }

    /// Of 40 items 6 passed before and fail now: McNemar's exact p is 2/2^6 = 0.03125. By itself that is worse; beside two that do
    /// not differ it is 3 * 0.03125, and no difference is shown.
    #[test]
    fn all_experiments_share_a_rate_of_false_discoveries() {
        let all = |lost: usize| {
            let passed: Vec<[bool; 1]> = (0..40).map(|at| [at >= lost]).collect();
            Tried::of(&passed.iter().map(<[bool; 1]>::as_slice).collect::<Vec<_>>())
        };
        let (baseline, worse, never) = (all(0), all(6), all(40));
        let against = |others: &[&Tried]| {
            let others: Vec<Data<'_>> = others.iter().map(|one| one.data()).collect();
            several(&baseline.data(), &others, &[], |_, _| Better::Higher)
        };
        let is = |told: (&str, f64), verdict: &str, p: f64| told.0 == verdict && (told.1 - p).abs() < 1e-9;
        assert!(is(told(&against(&[&worse]))[0], "worse", 0.03125));
        let same = all(0);
        let beside = against(&[&same, &worse, &same]);
        assert!(is(told(&beside)[1], "no difference shown", 3.0 * 0.03125), "{beside:?}");
        // What is surely worse stays so, and lets the other be told: 2 * 0.03125 / 2.
        let beside = against(&[&never, &worse]);
        assert_eq!(told(&beside)[0].0, "worse");
        assert!(is(told(&beside)[1], "worse", 0.03125), "{beside:?}");
        let one = &beside.experiments[1];
        assert_eq!((one.paired, one.unpaired, one.standing.items), (40, 0, 40));
        let cell = &one.standing.cells[0];
        assert_eq!(cell.measure, "pass_rate");
        assert!((cell.estimate.unwrap().estimate - 0.85).abs() < 1e-9, "{cell:?}");
        let own = &beside.baseline.cells[0];
        assert!(own.difference.is_none() && own.estimate.unwrap().estimate == 1.0, "{own:?}");
    }

    #[test]
    fn slices_of_all_experiments_are_adjusted_together() {
        let baseline = Tried::of(&[&[true] as &[bool]; 20]);
        let mut never = Tried::of(&[&[false] as &[bool]; 20]);
        for item in &mut never.items {
            item.split = Some("test".to_owned());
        }
        let dimensions = Dimension::list(Some("split")).unwrap();
        let same = Tried::of(&[&[true] as &[bool]; 20]);
        let all = several(&baseline.data(), &[never.data(), same.data()], &dimensions, |_, _| Better::Higher);
        // The whole and its one slice have the same p; the third comparison shows nothing.
        let (p, slice) = (2.0 * 0.5_f64.powi(20), &all.experiments[0].slices[0].metrics[0]);
        assert!((slice.p_adjusted - p * 3.0 / 2.0).abs() < 1e-15, "{slice:?}");
        assert_eq!(told(&all)[0].1, slice.p_adjusted);
        assert!(all.experiments[1].slices.is_empty());
    }

    #[test]
    fn an_estimate_is_of_what_its_difference_is_of() {
        let (judged, mut valued) = (Tried::of(&[&[true] as &[bool]; 9]), Tried::of(&[&[true] as &[bool]; 9]));
        valued.scores.iter_mut().for_each(|score| (score.passed, score.value) = (None, Some(0.5)));
        let all = several(&valued.data(), &[judged.data()], &[], |_, _| Better::Higher);
        let cell = &all.experiments[0].standing.cells[0];
        assert_eq!((cell.measure, cell.estimate.unwrap().estimate), ("value", 0.0));
        assert_eq!(cell.difference.as_ref().unwrap().difference, -0.5);
    }

    #[test]
    fn what_runs_took_is_told_of_each_and_against_the_baseline() {
        let took = |tokens: i64| {
            let mut tried = Tried::of(&[&[true, true] as &[bool]; 30]);
            for ((item, repetition), run) in &mut tried.runs {
                let at: i64 = item.parse().unwrap();
                run.output_tokens = Some(tokens + tokens / 10 * at + 2 * repetition);
            }
            tried
        };
        let (baseline, longer, unknown) = (took(10), took(40), Tried::of(&[&[true] as &[bool]; 30]));
        let all = several(&baseline.data(), &[longer.data(), unknown.data()], &[], |_, _| Better::Higher);
        let own = |one: &Standing| one.output_tokens.map(|tokens| tokens.estimate);
        let others = [&all.experiments[0], &all.experiments[1]];
        assert_eq!((own(&all.baseline), all.baseline.cost_usd.is_none()), (Some(27.5), true));
        assert_eq!(others.map(|one| own(&one.standing)), [Some(101.0), None]);
        let [tokens] = others[0].usage.as_slice() else { panic!("{:?}", others[0].usage) };
        assert_eq!(
            (tokens.metric.as_str(), tokens.difference, tokens.verdict),
            ("output_tokens", 73.5, "worse")
        );
        assert!(others[1].usage.is_empty(), "{:?}", others[1].usage);
    }
}
