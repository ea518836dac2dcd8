//! What designs remember of earlier matches: items of each stratum, usual weights, budgets.
//!
//! A probability that depends on the past is recorded in the row, so an estimate needs nothing of this, and a decision is
//! replayed from its row. After a restart counts and budgets are read from `decisions`; forecasts and usual weights are
//! learned anew.

use super::chance::{Chance, Why, faulty, is_weight};
use super::decide::Draw;
use super::pace::Pacer;
use super::prices::Prices;
use super::rule::Rule;
use super::rule_config::WeightKind;
use crate::domain::decision::{CAME_LATE, PUT_BACK};
use crate::domain::time::{SECOND, UnixNanos};
use crate::units::nanos;
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// Most strata of a rule that are remembered; those beyond share one place.
const MAX_STRATA: usize = 1_000;
const OTHER_STRATA: &str = "(other)";

/// Weights that must have been seen before one can be an outlier, and so many count as the past.
const LEAST_SEEN: f64 = 30.0;
const MOST_SEEN: f64 = 10_000.0;

/// What was decided in the last day, by rule, stratum and minute: what [`Memory::restore`] reads.
static PAST: LazyLock<String> =
    LazyLock::new(|| past("date_trunc('minute', decided_at)", "decided_at >= now() - INTERVAL '1 day'"));

/// The same of the last day and of the month, of which earlier days are told as a whole: for budgets of a month.
static PAST_MONTH: LazyLock<String> = LazyLock::new(|| {
    past(
        "CASE WHEN decided_at >= now() - INTERVAL '1 day' THEN date_trunc('minute', decided_at) \
         ELSE date_trunc('day', decided_at) END",
        "(decided_at >= now() - INTERVAL '1 day' OR decided_at >= date_trunc('month', now()))",
    )
});

/// What was decided in the `stretch`, by rule, stratum and the time `at`. What is evaluated again was drawn before, and counts
/// once, as it did while the server ran.
fn past(at: &str, stretch: &str) -> String {
    format!(
        "SELECT CAST(rule AS VARCHAR) AS rule, CAST(coalesce(stratum, '') AS VARCHAR) AS stratum, \
         CAST(date_part('epoch', {at}) AS BIGINT) AS minute, \
         CAST(count(*) AS BIGINT) AS seen, CAST(count(*) FILTER (WHERE decision = 'queued') AS BIGINT) AS queued \
         FROM decisions WHERE {stretch} \
         AND decision IN ('queued', 'not_sampled', 'throttled', 'over_budget') \
         AND (reason IS NULL OR (reason <> '{PUT_BACK}' AND reason NOT LIKE '{CAME_LATE}%')) \
         GROUP BY 1, 2, 3"
    )
}

/// What the designs of all rules remember.
pub struct Memory {
    /// By the bit of the rule; none for a rule that remembers nothing.
    designs: Vec<Option<Design>>,
    last: UnixNanos,
    prices: Prices,
}

struct Design {
    minimum: Option<Minimum>,
    usual: Option<Usual>,
    pacer: Option<Pacer>,
    /// The version of the prices that the pacer knows.
    priced: u64,
}

impl Memory {
    /// Nothing seen yet.
    pub fn new(rules: &[Rule]) -> Self {
        let design = |rule: &Rule| {
            let config = &rule.config;
            let minimum = (config.min_per_stratum > 0)
                .then(|| Minimum::new(config.min_per_stratum, nanos(config.stratum_window)));
            let has_scores = config.weight_kind == WeightKind::Outlier && rule.weight.is_some();
            let usual = has_scores.then(Usual::default);
            let pacer = || Pacer::new(&config.budget);
            config.has_memory().then(|| Design { minimum, usual, pacer: pacer(), priced: 0 })
        };
        let designs = rules.iter().map(design).collect();
        Self { designs, last: UnixNanos(i64::MIN), prices: Prices::default() }
    }

    /// With prices that are learned elsewhere.
    #[must_use]
    pub fn with_prices(self, prices: Prices) -> Self {
        Self { prices, ..self }
    }

    /// What must be asked of the tables before [`Memory::restore`]; none if no rule remembers anything.
    pub fn past(&self) -> Option<&'static str> {
        let mut designs = self.designs.iter().flatten().peekable();
        designs.peek()?;
        let is_of_months = |design: &Design| design.pacer.as_ref().is_some_and(Pacer::is_of_months);
        Some(if designs.any(is_of_months) { PAST_MONTH.as_str() } else { PAST.as_str() })
    }

    /// Gives `draw`, a match of `rule` with this bit, the probability that it has at `now`. The match counts as seen.
    pub fn settle(&mut self, draw: &mut Draw, rule: &Rule, bit: usize, now: UnixNanos) {
        let Some(Some(design)) = self.designs.get_mut(bit) else { return };
        if now < self.last {
            faulty(rule, "clock");
        }
        self.last = now;
        if let Some(usual) = &mut design.usual {
            let score = usual.score(rule, draw.stratum.as_ref(), draw.weight);
            draw.chance = Chance::by_outlier(rule, score, draw.boosts);
        }
        if let Some(minimum) = &mut design.minimum
            && minimum.lacks(rule, draw.stratum.as_ref(), now)
        {
            draw.chance = Chance { p: 1.0, why: Why::Minimum };
        }
        design.reprice(rule, &self.prices);
        let left = design.pacer.as_mut().map_or(1.0, |pacer| pacer.left(draw.chance.p, now));
        draw.pace(left);
    }

    /// Counts an item that the rule with this bit has selected and the queue has taken.
    pub fn spend(&mut self, bit: usize, now: UnixNanos) {
        if let Some(Some(Design { pacer: Some(pacer), .. })) = self.designs.get_mut(bit) {
            pacer.spend(now);
        }
    }

    /// Takes in the rows of [`Memory::past`], as they stand at `now`: a restart gives nobody a new budget.
    pub fn restore(&mut self, rules: &[Rule], rows: &[RecordBatch], now: UnixNanos) {
        for batch in rows {
            let text = |name: &str| batch.column_by_name(name).and_then(|c| cast(c, &DataType::Utf8).ok());
            let int = |name: &str| batch.column_by_name(name).and_then(|c| cast(c, &DataType::Int64).ok());
            let (Some(names), Some(strata)) = (text("rule"), text("stratum")) else { continue };
            let (Some(minutes), Some(seen), Some(queued)) = (int("minute"), int("seen"), int("queued"))
            else {
                continue;
            };
            let number =
                |column: &arrow::array::ArrayRef, at: usize| column.as_primitive::<Int64Type>().value(at);
            for at in 0..batch.num_rows() {
                let name = names.as_string::<i32>().value(at);
                let Some(bit) = rules.iter().position(|rule| rule.config.name == name) else { continue };
                let Some(Some(design)) = self.designs.get_mut(bit) else { continue };
                let then = UnixNanos(number(&minutes, at).saturating_mul(SECOND));
                if let Some(pacer) = &mut design.pacer {
                    pacer.spend_many(number(&queued, at) as f64, then, now);
                }
                if let Some(minimum) = &mut design.minimum {
                    let stratum = Arc::from(strata.as_string::<i32>().value(at));
                    minimum.restore(stratum, number(&seen, at), then, now);
                }
            }
        }
    }
}

impl Design {
    /// Takes up what was learned of prices, if the budget is in money.
    fn reprice(&mut self, rule: &Rule, prices: &Prices) {
        let (budget, version) = (&rule.config.budget, prices.version());
        if std::mem::replace(&mut self.priced, version) == version || !budget.is_in_money() {
            return;
        }
        if let (Some(pacer), Some(prior)) = (&mut self.pacer, budget.usd_per_item) {
            pacer.reprice(budget, prices.of(&rule.config.name, prior));
        }
    }
}

/// Matches of each stratum in the present window.
struct Minimum {
    least: u32,
    window: i64,
    at: i64,
    seen: HashMap<Arc<str>, u32>,
}

impl Minimum {
    fn new(least: u32, window: i64) -> Self {
        Self { least, window, at: i64::MIN, seen: HashMap::new() }
    }

    /// Whether the stratum has had fewer than the least number of matches before this one, which counts.
    fn lacks(&mut self, rule: &Rule, stratum: Option<&Arc<str>>, now: UnixNanos) -> bool {
        let at = now.0.div_euclid(self.window);
        // A clock that goes back a little does not begin a window again.
        if at > self.at || at.saturating_add(1) < self.at {
            self.at = at;
            self.seen.clear();
        }
        let seen = self.place(rule, stratum);
        *seen = seen.saturating_add(1);
        *seen <= self.least
    }

    fn place(&mut self, rule: &Rule, stratum: Option<&Arc<str>>) -> &mut u32 {
        let other: Arc<str> = Arc::from(OTHER_STRATA);
        let mut stratum = stratum.unwrap_or(&other);
        if self.seen.len() >= MAX_STRATA && !self.seen.contains_key(stratum) {
            faulty(rule, "stratum");
            stratum = &other;
        }
        self.seen.entry(stratum.clone()).or_default()
    }

    fn restore(&mut self, stratum: Arc<str>, seen: i64, then: UnixNanos, now: UnixNanos) {
        self.at = now.0.div_euclid(self.window);
        if then.0.div_euclid(self.window) == self.at && self.seen.len() < MAX_STRATA {
            let more = u32::try_from(seen).unwrap_or(u32::MAX);
            let known = self.seen.entry(stratum).or_default();
            *known = known.saturating_add(more);
        }
    }
}

/// Mean and spread of the logarithms of earlier weights, by stratum.
#[derive(Default)]
struct Usual {
    strata: HashMap<Arc<str>, Moments>,
}

#[derive(Clone, Copy, Default)]
struct Moments {
    n: f64,
    mean: f64,
    variance: f64,
}

impl Usual {
    /// How many standard deviations the weight is away from what was usual before it, which it now belongs to. 0 while too
    /// little was seen.
    fn score(&mut self, rule: &Rule, stratum: Option<&Arc<str>>, weight: f64) -> f64 {
        if !is_weight(weight) {
            return 0.0;
        }
        let other: Arc<str> = Arc::from(OTHER_STRATA);
        let mut stratum = stratum.unwrap_or(&other);
        if self.strata.len() >= MAX_STRATA && !self.strata.contains_key(stratum) {
            faulty(rule, "stratum");
            stratum = &other;
        }
        let usual = self.strata.entry(stratum.clone()).or_default();
        let away = weight.ln() - usual.mean;
        let score = if usual.n < LEAST_SEEN || usual.variance <= 0.0 {
            0.0
        } else {
            away.abs() / usual.variance.sqrt()
        };
        // West's update; beyond the limit the past fades.
        usual.n = (usual.n + 1.0).min(MOST_SEEN);
        usual.mean += away / usual.n;
        usual.variance += (away * (weight.ln() - usual.mean) - usual.variance) / usual.n;
        score
    }
}
