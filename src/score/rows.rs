//! Scores as rows, with their identity.

use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::score::{Score, ScoreRow, ScoreSource};
use crate::domain::time::UnixNanos;
use crate::queue::{Item, Lease};
use sha2::{Digest, Sha256};

/// What one evaluator said about an item.
pub struct Judged {
    /// The evaluator.
    pub evaluator: String,
    /// Its version.
    pub version: String,
    /// What it said.
    pub scores: Vec<Score>,
    /// How long it took, milliseconds.
    pub latency_ms: f64,
}

/// The rows of `judged` for the leased item.
pub fn score_rows(lease: &Lease, judged: Vec<Judged>, now: UnixNanos) -> Vec<ScoreRow> {
    let mut rows = Vec::new();
    for one in judged {
        for score in one.scores {
            rows.push(score_row(lease, &one.evaluator, &one.version, score, one.latency_ms, now));
        }
    }
    rows
}

fn score_row(
    lease: &Lease,
    evaluator: &str,
    version: &str,
    score: Score,
    latency_ms: f64,
    now: UnixNanos,
) -> ScoreRow {
    let item = &lease.item;
    let score_version = item.score_version;
    let identity = format!("{}\0{evaluator}\0{}\0{score_version}", item.id, score.metric);
    ScoreRow {
        score_id: hex::encode(&Sha256::digest(identity)[..16]),
        trace_id: Some(item.trace_id),
        span_id: Some(item.span_id),
        span_time: UnixNanos(item.span_time),
        evaluated_at: now,
        service_name: item.service_name.clone(),
        request_model: item.request_model.clone(),
        tenant: item.tenant.clone(),
        rule: Some(item.rule.clone()),
        rule_version: Some(item.rule_version.clone()),
        evaluator: evaluator.to_owned(),
        evaluator_version: version.to_owned(),
        score,
        inclusion_probability: item.inclusion_probability,
        stratum: item.stratum.clone(),
        sampling_reason: Some(item.reason.clone()),
        score_version,
        attempt: i32::try_from(lease.attempt).unwrap_or(i32::MAX),
        latency_ms,
        judge_model: None,
        input_tokens: None,
        output_tokens: None,
        cost_usd: None,
        source: ScoreSource::Rule,
    }
}

/// The decision row that ends an item.
pub fn decision_row(item: &Item, decision: DecisionKind, reason: &str, now: UnixNanos) -> Decision {
    Decision {
        trace_id: item.trace_id,
        span_id: Some(item.span_id),
        rule: item.rule.clone(),
        rule_version: item.rule_version.clone(),
        decision,
        reason: reason.to_owned(),
        inclusion_probability: item.inclusion_probability,
        stratum: item.stratum.clone(),
        decided_at: now,
        span_time: UnixNanos(item.span_time),
        tenant: item.tenant.clone(),
    }
}
