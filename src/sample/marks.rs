//! What the rules say of each row of a batch: who passes, whose boosts hold, strata and weights.

use super::config::MAX_RULES;
use super::rule::Rule;
use crate::schema::said;
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use datafusion::common::DataFusionError;
use std::sync::Arc;

/// A stratum's name is cut to so many characters: it stands in each decision and score.
const MAX_STRATUM_CHARS: usize = 200;

/// The stratum of rows for which the expression gives NULL, and of those on which it fails.
const NO_STRATUM: &str = "(null)";
const FAILED_STRATUM: &str = "(error)";

/// What the rules say of one row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Marks {
    /// Which rules' filters it passes, a bit each.
    pub rules: u64,
    /// Which boosts hold, a bit each, in the order of all rules.
    pub boosts: u64,
    /// What rules with strata or weights say of it that it passes.
    pub said: Vec<Said>,
}

/// What one rule says of a row that passes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The bit of the rule.
    pub bit: usize,
    /// Its stratum, if the rule has strata.
    pub stratum: Option<Arc<str>>,
    /// Its weight; NaN if there is none, or the rule has no weights.
    pub weight: f64,
}

impl Marks {
    /// Whether the row passes the rule `bit`.
    pub fn passes(&self, bit: usize) -> bool {
        self.rules >> bit & 1 == 1
    }

    /// What the rule `bit` says of the row.
    pub fn said_by(&self, bit: usize) -> Option<&Said> {
        self.said.iter().find(|said| said.bit == bit)
    }

    /// Roughly its bytes beyond its own size.
    pub fn bytes(&self) -> usize {
        self.said.iter().map(|said| size_of::<Said>() + said.stratum.as_ref().map_or(0, |s| s.len())).sum()
    }
}

/// The marks of each row of `batch`, spans, by the rules that look at spans. An expression that fails on a batch is asked
/// about each row alone.
pub fn marks(batch: &RecordBatch, rules: &[Rule]) -> Vec<Marks> {
    let mut marks = vec![Marks::default(); batch.num_rows()];
    for (bit, rule) in rules.iter().enumerate().take(MAX_RULES).filter(|(_, rule)| rule.is_over_spans()) {
        mark(batch, rule, bit, &mut marks);
    }
    marks
}

/// The marks of each row of `batch`, scores, by the second phase `rule`; its bit is 0.
pub fn marks_of_scores(batch: &RecordBatch, rule: &Rule) -> Vec<Marks> {
    let mut marks = vec![Marks::default(); batch.num_rows()];
    let first = Rule { boost_at: 0, ..rule.clone() };
    mark(batch, &first, 0, &mut marks);
    marks
}

fn mark(batch: &RecordBatch, rule: &Rule, bit: usize, marks: &mut [Marks]) {
    let passing = match &rule.filter {
        Some(filter) => each(batch, rule, &false, &|rows| holding(filter.matches(rows)?)),
        None => vec![true; batch.num_rows()],
    };
    for (mark, passes) in marks.iter_mut().zip(&passing) {
        mark.rules |= u64::from(*passes) << bit;
    }
    for (at, boost) in rule.boosts.iter().enumerate().take(MAX_RULES.saturating_sub(rule.boost_at)) {
        let held = each(batch, rule, &false, &|rows| holding(boost.matches(rows)?));
        for (mark, holds) in marks.iter_mut().zip(held) {
            mark.boosts |= u64::from(holds) << (rule.boost_at + at);
        }
    }
    if (rule.stratum.is_none() && rule.weight.is_none()) || !passing.contains(&true) {
        return;
    }
    // Rows that do not pass may be such that the expressions fail on them.
    let Ok(rows) = filter_record_batch(batch, &BooleanArray::from(passing.clone())) else { return };
    let strata = rule
        .stratum
        .as_ref()
        .map(|stratum| each(&rows, rule, &Some(Arc::from(FAILED_STRATUM)), &|rows| stratum.values(rows)));
    let weights =
        rule.weight.as_ref().map(|weight| each(&rows, rule, &f64::NAN, &|rows| weight.values(rows)));
    let passed = marks.iter_mut().zip(&passing).filter(|(_, passes)| **passes);
    for (at, (mark, _)) in passed.enumerate() {
        let stratum = strata.as_ref().map(|all| named(all.get(at).cloned().flatten()));
        let weight = weights.as_ref().and_then(|all| all.get(at).copied()).unwrap_or(f64::NAN);
        mark.said.push(Said { bit, stratum, weight });
    }
}

fn holding(found: BooleanArray) -> Result<Vec<bool>, DataFusionError> {
    Ok(found.iter().map(|hit| hit == Some(true)).collect())
}

/// The stratum as it is recorded.
fn named(stratum: Option<Arc<str>>) -> Arc<str> {
    match stratum {
        None => Arc::from(NO_STRATUM),
        Some(name) => match name.char_indices().nth(MAX_STRATUM_CHARS) {
            Some((end, _)) => Arc::from(&name[..end]),
            None => name,
        },
    }
}

/// What `of` gives for each row of `batch`; `failed` where it fails on the row.
fn each<T: Clone>(
    batch: &RecordBatch,
    rule: &Rule,
    failed: &T,
    of: &dyn Fn(&RecordBatch) -> Result<Vec<T>, DataFusionError>,
) -> Vec<T> {
    match of(batch) {
        Ok(values) => values,
        Err(_) if batch.num_rows() > 1 => {
            (0..batch.num_rows()).flat_map(|at| each(&batch.slice(at, 1), rule, failed, of)).collect()
        }
        Err(error) => {
            metrics::counter!("groundline_rule_errors_total", "rule" => rule.config.name.clone())
                .increment(1);
            let error = said(&error);
            tracing::warn!(
                rule = rule.config.name,
                error,
                "an expression failed; the row counts as not matching"
            );
            vec![failed.clone(); batch.num_rows()]
        }
    }
}
