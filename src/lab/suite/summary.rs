//! Metrics with intervals, over all runs and by category and tag.

use super::bench::Bench;
use super::load::Suite;
use super::outcome::{CheckOutcome, Outcome, Status};
use super::range::range_of;
use crate::domain::score::Better;
use crate::stats::{Clustered, Estimate};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Metrics that every suite has, with the side on which they are good.
const OWN: &[(&str, Better)] = &[
    ("tests_passed", Better::Higher),
    ("checks_passed", Better::Higher),
    ("duration_ms", Better::Lower),
    ("cost_usd", Better::Lower),
    ("in_tokens", Better::Lower),
    ("out_tokens", Better::Lower),
];

/// All metrics that gates of a suite may name, with the side on which they are good.
pub(super) fn known_metrics(bench: &Bench<'_>) -> Vec<(String, Better)> {
    OWN.iter().map(|(name, better)| ((*name).to_owned(), *better)).chain(bench.metrics()).collect()
}

/// How many ended in each way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// They hold.
    pub pass: u64,
    /// They do not.
    pub fail: u64,
    /// They were not asked.
    pub skipped: u64,
    /// Nothing could tell.
    pub error: u64,
}

impl Counts {
    fn add(&mut self, status: Status) {
        *match status {
            Status::Pass => &mut self.pass,
            Status::Fail => &mut self.fail,
            Status::Skipped => &mut self.skipped,
            Status::Error => &mut self.error,
        } += 1;
    }
}

/// One line of the summary.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// The metric, the category, or the tag.
    pub name: String,
    /// Its estimate with an interval; none where nothing was measured.
    #[serde(flatten)]
    pub estimate: Option<Estimate>,
    /// Runs without a value because an evaluator failed.
    pub errors: u64,
    /// Runs without a value because an input was missing.
    pub skipped: u64,
}

/// What all runs say together.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Tests times repetitions.
    pub runs: u64,
    /// Runs by how their test ended.
    pub tests: Counts,
    /// Checks of all runs.
    pub checks: Counts,
    /// Checks that pass only because their condition was not met.
    pub passed_by_condition: u64,
    /// Share of runs in which the target, a judge or an evaluator failed.
    pub error_share: f64,
    /// Share of runs that a person should look at.
    pub needs_review: f64,
    /// US dollars that the target told of, all runs together.
    pub cost_usd: f64,
    /// Metrics.
    pub metrics: Vec<Line>,
    /// Share of checks that pass, by category.
    pub categories: Vec<Line>,
    /// Share of tests that pass, by tag.
    pub tags: Vec<Line>,
}

/// Counts and estimates at the suite's level.
pub fn summarise(suite: &Suite, outcomes: &[Outcome], bench: &Bench<'_>) -> Summary {
    let level = suite.head.level;
    let (mut tests, mut checks) = (Counts::default(), Counts::default());
    outcomes.iter().for_each(|outcome| tests.add(outcome.status));
    let all_checks = || outcomes.iter().flat_map(|outcome| &outcome.checks);
    all_checks().for_each(|check| checks.add(check.status));
    let by_condition =
        |check: &&CheckOutcome| check.condition_met == Some(false) && check.status == Status::Pass;
    let share = |is: &dyn Fn(&Outcome) -> bool| {
        let count = outcomes.iter().filter(|outcome| is(outcome)).count();
        if outcomes.is_empty() { 0.0 } else { count as f64 / outcomes.len() as f64 }
    };
    let review = |outcome: &Outcome| outcome.checks.iter().any(CheckOutcome::needs_review);
    let costs = outcomes.iter().filter_map(|outcome| outcome.reply.as_ref()?.cost_usd);
    Summary {
        runs: outcomes.len() as u64,
        tests,
        checks,
        passed_by_condition: all_checks().filter(by_condition).count() as u64,
        error_share: share(&Outcome::has_error),
        needs_review: share(&review),
        cost_usd: costs.sum(),
        metrics: metric_lines(outcomes, bench, level),
        categories: category_lines(outcomes, level),
        tags: tag_lines(outcomes, level),
    }
}

fn metric_lines(outcomes: &[Outcome], bench: &Bench<'_>, level: f64) -> Vec<Line> {
    let mut names: Vec<String> = known_metrics(bench).into_iter().map(|(name, _)| name).collect();
    // Counts of what was found, which only some answers have.
    let told: BTreeSet<&String> = outcomes.iter().flat_map(|outcome| outcome.values.keys()).collect();
    let more: Vec<String> = told.into_iter().filter(|name| !names.contains(name)).cloned().collect();
    names.extend(more);
    let line = |name: String| {
        let count = |status: &str| {
            let scores = outcomes.iter().flat_map(|outcome| &outcome.scores);
            scores.filter(|scored| scored.metric == name && scored.status == status).count() as u64
        };
        let range = range_of(&name);
        let estimate = estimate(&name, outcomes.iter(), level);
        let estimate = estimate.map(|found| range.map_or(found, |range| found.within(range)));
        Line { estimate, errors: count("error"), skipped: count("skipped"), name }
    };
    let lines = names.into_iter().map(line);
    lines.filter(|line| line.estimate.is_some() || line.errors + line.skipped > 0).collect()
}

fn category_lines(outcomes: &[Outcome], level: f64) -> Vec<Line> {
    let checks = outcomes.iter().flat_map(|outcome| &outcome.checks);
    let names: BTreeSet<&String> =
        checks.map(|check| &check.category).filter(|name| !name.is_empty()).collect();
    let line = |name: &String| {
        let clusters = clusters(outcomes.iter(), |outcome| {
            let of = outcome.checks.iter().filter(|check| check.category == *name);
            of.filter_map(|check| passed(check, outcome.weight)).collect()
        });
        Line { name: name.clone(), estimate: clusters.rate(level), errors: 0, skipped: 0 }
    };
    names.into_iter().map(line).collect()
}

fn tag_lines(outcomes: &[Outcome], level: f64) -> Vec<Line> {
    let names: BTreeSet<&String> = outcomes.iter().flat_map(|outcome| &outcome.tags).collect();
    let line = |name: &String| {
        let tagged = outcomes.iter().filter(|outcome| outcome.tags.contains(name));
        Line { name: name.clone(), estimate: estimate("tests_passed", tagged, level), errors: 0, skipped: 0 }
    };
    names.into_iter().map(line).collect()
}

/// A counted check as a value with its weight; an error counts, and is no pass.
fn passed(check: &CheckOutcome, weight: f64) -> Option<(f64, f64)> {
    let is_counted = check.counts && check.status != Status::Skipped;
    is_counted.then(|| (f64::from(u8::from(check.status == Status::Pass)), check.weight * weight))
}

/// The values of each group of tests, or of each test without one: repetitions and checks of one test are alike.
fn clusters<'a>(
    outcomes: impl Iterator<Item = &'a Outcome>,
    values: impl Fn(&Outcome) -> Vec<(f64, f64)>,
) -> Clustered {
    let mut by_name: BTreeMap<(bool, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for outcome in outcomes {
        by_name.entry(cluster(outcome)).or_default().extend(values(outcome));
    }
    let mut clustered = Clustered::new();
    by_name.values().for_each(|values| clustered.push(values));
    clustered
}

/// What a run is counted with: its group, or its test.
pub(super) fn cluster(outcome: &Outcome) -> (bool, &str) {
    if outcome.group.is_empty() { (false, &outcome.test) } else { (true, &outcome.group) }
}

/// Whether a metric is a share, by its values.
pub(super) fn is_rate(metric: &str, mut values: impl Iterator<Item = f64>) -> bool {
    let is_count = ["duration_ms", "cost_usd", "in_tokens", "out_tokens"].contains(&metric);
    !is_count
        && (["tests_passed", "checks_passed"].contains(&metric)
            || values.all(|value| value == 0.0 || value == 1.0))
}

/// The estimate of a metric over runs; none where no run has a value.
pub(super) fn estimate<'a>(
    metric: &str,
    outcomes: impl Iterator<Item = &'a Outcome> + Clone,
    level: f64,
) -> Option<Estimate> {
    let value = |outcome: &Outcome| outcome.values.get(metric).copied();
    if metric == "checks_passed" {
        let checks = |outcome: &Outcome| -> Vec<(f64, f64)> {
            outcome.checks.iter().filter_map(|check| passed(check, outcome.weight)).collect()
        };
        return clusters(outcomes, checks).rate(level);
    }
    let is_rate = is_rate(metric, outcomes.clone().filter_map(value));
    let values = |outcome: &Outcome| -> Vec<(f64, f64)> {
        value(outcome).map(|value| (value, outcome.weight)).into_iter().collect()
    };
    let clusters = clusters(outcomes, values);
    if is_rate { clusters.rate(level) } else { clusters.mean(level) }
}

#[cfg(test)]
mod tests {
    use super::super::ask::Answered;
    use super::super::load::{StoredItems, build, parsed};
    use super::super::reply::Reply;
    use super::super::verdict::judge;
    use super::*;
    use crate::eval::Registry;
    use std::path::Path;

    /// A check has the category of its operator unless it names another; what does not count is in none.
    const SUITE: &str = r#"
[suite]
name = "s"
[[test]]
id = "a"
input = "How long?"
tags = ["short"]
check = [
  { operator = "contains", criteria = "14" },
  { operator = "contains", criteria = "please", category = "Tone" },
  { operator = "valid_json" },
  { operator = "contains", criteria = "never", optional = true },
]
[[test]]
id = "b"
input = "How many days?"
tags = ["short", "easy"]
check = [{ operator = "contains", criteria = "days" }]
[[test]]
id = "c"
input = "How many weeks?"
check = [{ operator = "contains", criteria = "weeks" }]
"#;

    #[test]
    fn pass_rates_stand_by_category_and_by_tag() {
        let (spec, tests) = parsed(SUITE, "s").unwrap();
        let (suite, _) = build(spec, tests, (Path::new(""), &StoredItems::new()), "s", false).unwrap();
        let registry = Registry::of(Vec::new());
        let bench = Bench::new(&registry, Vec::new(), Vec::new());
        let answered = |case: usize| {
            let (run_id, trace_id) = (format!("r{case}"), format!("t{case}"));
            Answered { case, repetition: 1, run_id, trace_id, reply: Ok(Reply::text("14 days")) }
        };
        let outcomes: Vec<Outcome> = (0..3).map(|case| judge(&suite, &answered(case), &bench)).collect();
        let summary = summarise(&suite, &outcomes, &bench);
        let told = |lines: &[Line]| -> Vec<(String, String, u64)> {
            let one = |line: &Line| {
                let estimate = line.estimate.unwrap();
                assert!(estimate.lower < Some(estimate.estimate) || estimate.estimate == 0.0, "{line:?}");
                (line.name.clone(), format!("{:.3}", estimate.estimate), estimate.n)
            };
            lines.iter().map(one).collect()
        };
        let line = |name: &str, share: &str, n: u64| (name.to_owned(), share.to_owned(), n);
        assert_eq!(
            told(&summary.categories),
            [line("Correctness", "0.667", 3), line("Format", "0.000", 1), line("Tone", "0.000", 1)]
        );
        assert_eq!(told(&summary.tags), [line("easy", "1.000", 1), line("short", "0.500", 2)]);
    }
}
