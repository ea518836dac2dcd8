//! Which scored items are drawn for a label, each with its probability.
//!
//! The probability grows with how unsure the evaluator is (Zrnic and Candès 2024: with the root of the expected error) and
//! with the weight 1/π of the item, because that is what the item's error does to a corrected rate. A part of it is the same
//! for all, so that what the evaluator is wrongly sure of is drawn too. Draws are independent: what becomes of an item is
//! a pure function of the draw's id and the item's.

use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::UnixNanos;
use crate::schema::batch::ReviewItem;
use crate::stats::draw::chances;
use crate::stats::is_probability;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// A scored item.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
pub struct Scored {
    /// The trace, as hexadecimal text.
    pub trace_id: String,
    /// The span.
    #[serde(default)]
    pub span_id: Option<String>,
    /// When the span began, microseconds UTC.
    pub span_time: i64,
    /// The evaluator.
    pub evaluator: String,
    /// Its version.
    pub evaluator_version: String,
    /// What it said.
    #[serde(default)]
    pub value: Option<f64>,
    /// The threshold.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// Its verdict.
    #[serde(default)]
    pub passed: Option<bool>,
    /// Probability with which it was sampled.
    pub inclusion_probability: f64,
}

/// One draw.
#[derive(Debug, Clone)]
pub struct Draw<'a> {
    /// Its id; another id draws others.
    pub id: &'a str,
    /// Whose items.
    pub tenant: &'a str,
    /// The metric.
    pub metric: &'a str,
    /// The items were evaluated after this moment, and up to the next.
    pub from: UnixNanos,
    /// They were evaluated up to this moment.
    pub until: UnixNanos,
    /// Items that were evaluated in that time.
    pub population: u64,
    /// The share of them that is looked at, above 0 and up to 1.
    pub part: f64,
    /// Items to draw on average.
    pub wanted: usize,
    /// The share of the probability that does not look at the uncertainty.
    pub even_share: f64,
    /// Now.
    pub now: UnixNanos,
}

/// What stands in the place of a draw for an item that somebody sent to the queue.
pub const SENT: &str = "sent by hand";

/// Whether somebody sent an item to the queue, instead of a draw.
pub fn is_sent(item: &ReviewItem) -> bool {
    item.draw == SENT
}

/// The item of a score that somebody sends to the queue. No draw has it, and its time holds no evaluation: its label corrects no
/// rate. None for a row with ids that are none.
pub fn by_hand(tenant: &str, metric: &str, row: Scored, now: UnixNanos) -> Option<ReviewItem> {
    let (from, until) = (UnixNanos(0), UnixNanos(0));
    let nobody = Draw {
        id: SENT,
        tenant,
        metric,
        from,
        until,
        population: 0,
        part: 0.0,
        wanted: 0,
        even_share: 1.0,
        now,
    };
    let item = item_id(tenant, metric, &row.trace_id, row.span_id.as_deref());
    nobody.item(item, row, 0.0, 0.0)
}

/// The identity of an item.
pub fn item_id(tenant: &str, metric: &str, trace: &str, span: Option<&str>) -> String {
    let identity = format!("label\0{tenant}\0{metric}\0{trace}\0{}", span.unwrap_or_default());
    hex::encode(&Sha256::digest(identity)[..16])
}

/// Two numbers of an item in a draw: one in 0..1 that decides, and its place in the order of asking.
pub fn numbers(draw: &str, item: &str) -> (f64, u64) {
    let digest = Sha256::digest(format!("{draw}\0{item}"));
    let number = |at: usize| digest[at..at + 8].iter().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
    ((number(0) >> 11) as f64 / (1u64 << 53) as f64, number(8))
}

impl Draw<'_> {
    /// The items that are drawn from `rows`. `probability` tells what a calibration makes of a score, if there is one. A row
    /// whose ids or probability cannot be used is left out, and the second row of an item.
    pub fn choose(&self, rows: Vec<Scored>, probability: impl Fn(&Scored) -> Option<f64>) -> Vec<ReviewItem> {
        let mut seen = HashSet::new();
        let rows: Vec<(String, Scored)> = rows
            .into_iter()
            .filter(|row| is_probability(row.inclusion_probability))
            .map(|row| (item_id(self.tenant, self.metric, &row.trace_id, row.span_id.as_deref()), row))
            .filter(|(item, _)| seen.insert(item.clone()))
            .collect();
        let unsure = uncertainties(&rows, probability);
        let weight = |row: &Scored| 1.0 / row.inclusion_probability;
        let total: f64 = rows.iter().map(|(_, row)| weight(row)).sum();
        let mean: f64 = rows.iter().zip(&unsure).map(|((_, row), u)| weight(row) * u).sum::<f64>() / total;
        let mean = if mean > 0.0 { mean } else { 1.0 };
        let size = |((_, row), u): (&(String, Scored), &f64)| {
            weight(row) * (self.even_share + (1.0 - self.even_share) * u / mean)
        };
        let sizes: Vec<f64> = rows.iter().zip(&unsure).map(size).collect();
        let chances = chances(&sizes, self.wanted as f64);
        let drawn = rows.into_iter().zip(unsure).zip(chances);
        drawn
            .filter(|(((item, _), _), chance)| numbers(self.id, item).0 < *chance)
            .filter_map(|(((item, row), uncertainty), chance)| self.item(item, row, uncertainty, chance))
            .collect()
    }

    fn item(&self, item: String, row: Scored, uncertainty: f64, chance: f64) -> Option<ReviewItem> {
        let span_id = match &row.span_id {
            Some(id) => Some(SpanId::from_hex(id).ok()?),
            None => None,
        };
        Some(ReviewItem {
            item,
            draw: self.id.to_owned(),
            metric: self.metric.to_owned(),
            trace_id: TraceId::from_hex(&row.trace_id).ok()?,
            span_id,
            span_time: UnixNanos(row.span_time.saturating_mul(1_000)),
            evaluator: row.evaluator,
            evaluator_version: row.evaluator_version,
            value: row.value,
            threshold: row.threshold,
            passed: row.passed,
            inclusion_probability: row.inclusion_probability,
            label_probability: chance * self.part,
            uncertainty,
            population: i64::try_from(self.population).unwrap_or(i64::MAX),
            population_from: self.from,
            population_until: self.until,
            drawn_at: self.now,
            tenant: self.tenant.into(),
            of_queue: None,
        })
    }
}

/// How unsure the evaluator is of each row, 0 to 1: 2·√(p(1−p)) of the calibrated probability p; without a calibration
/// 1/cosh(d/m), where d is the distance from the threshold and m its median, as if odds grew evenly with the distance;
/// 1 for a score without a value or a threshold, of which nothing is known.
fn uncertainties(rows: &[(String, Scored)], probability: impl Fn(&Scored) -> Option<f64>) -> Vec<f64> {
    let distance = |row: &Scored| {
        let (value, threshold) = row.value.zip(row.threshold)?;
        Some((value - threshold).abs()).filter(|d| d.is_finite())
    };
    let mut distances: Vec<f64> = rows.iter().filter_map(|(_, row)| distance(row)).collect();
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(0.0);
    let unsure = |(_, row): &(String, Scored)| match (probability(row), distance(row)) {
        (Some(p), _) if (0.0..=1.0).contains(&p) => 2.0 * (p * (1.0 - p)).sqrt(),
        (_, Some(d)) if median > 0.0 => 1.0 / (d / median).cosh(),
        _ => 1.0,
    };
    rows.iter().map(unsure).collect()
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
