//! Scores as rows, with their identity.

use crate::domain::decision::{Decision, DecisionKind};
use crate::domain::score::{Score, ScoreRow, ScoreSource, Usage};
use crate::domain::time::UnixNanos;
use crate::queue::{Item, Lease};
use sha2::{Digest, Sha256};

/// What one evaluator said about an item.
pub struct Evaluated {
    /// The evaluator.
    pub evaluator: String,
    /// Its version.
    pub version: String,
    /// What it said.
    pub scores: Vec<Score>,
    /// How long it took, milliseconds.
    pub latency_ms: f64,
    /// What an LLM judge took for it.
    pub usage: Option<Usage>,
}

/// The rows of `judged` for the leased item.
pub fn score_rows(lease: &Lease, judged: Vec<Evaluated>, now: UnixNanos) -> Vec<ScoreRow> {
    let mut rows = Vec::new();
    for mut one in judged {
        for score in std::mem::take(&mut one.scores) {
            rows.push(score_row(lease, &one, score, now));
            // What was taken once is told once; the model stands in every row.
            if let Some(usage) = &mut one.usage {
                *usage = Usage { model: std::mem::take(&mut usage.model), ..Usage::default() };
            }
        }
    }
    rows
}

fn score_row(lease: &Lease, judged: &Evaluated, score: Score, now: UnixNanos) -> ScoreRow {
    let (item, evaluator, usage) = (&lease.item, &judged.evaluator, judged.usage.as_ref());
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
        evaluator: evaluator.clone(),
        evaluator_version: judged.version.clone(),
        score,
        inclusion_probability: item.inclusion_probability,
        stratum: item.stratum.clone(),
        sampling_reason: Some(item.reason.clone()),
        score_version,
        attempt: i32::try_from(lease.attempt).unwrap_or(i32::MAX),
        latency_ms: judged.latency_ms,
        judge_model: usage.map(|usage| usage.model.clone()),
        input_tokens: usage.and_then(|usage| usage.input_tokens),
        output_tokens: usage.and_then(|usage| usage.output_tokens),
        cost_usd: usage.and_then(|usage| usage.cost_usd),
        source: ScoreSource::Rule,
        prompt: item.prompt.clone(),
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
