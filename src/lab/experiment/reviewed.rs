//! A run, or a span, as an item of a queue of review.

use super::asked::AutoEval;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::UnixNanos;
use crate::lab::ids::digits;
use crate::schema::batch::{ItemOfQueue, ReviewItem};
use std::collections::BTreeSet;

/// Where an item goes.
#[derive(Debug, Clone, Copy)]
pub struct ForQueue<'a> {
    /// The queue.
    pub queue_id: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Whose it is.
    pub tenant: &'a str,
    /// How many items it was chosen from.
    pub population: usize,
    /// The time now.
    pub now: UnixNanos,
}

/// What is chosen.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    /// The run; none for a span.
    pub run_id: Option<String>,
    /// The item of the dataset.
    pub item_id: Option<String>,
    /// Which attempt of the run.
    pub attempt: Option<i64>,
    /// The item of the online draw that it stands for.
    pub source_item: Option<String>,
    /// The trace, hexadecimal.
    pub trace_id: String,
    /// The span, hexadecimal.
    pub span_id: Option<String>,
    /// When it began.
    pub began: UnixNanos,
    /// The probability with which its trace was selected; 1 where nothing is known of it.
    pub inclusion_probability: Option<f64>,
    /// The probability with which it was chosen for review; 1 where all are.
    pub label_probability: Option<f64>,
    /// What a reviewer is asked about.
    pub asked: Vec<AutoEval>,
}

/// The id that an attempt of a run has in a queue.
pub fn item_of_run(queue_id: &str, run_id: &str, attempt: i64) -> String {
    digits(&format!("{queue_id}\0run\0{run_id}\0{attempt}"), 16)
}

impl Chosen {
    /// The row; none where the trace has no id. The same run, span or drawn item has the same id in a queue.
    pub fn row(self, into: ForQueue<'_>) -> Option<ReviewItem> {
        let trace_id = TraceId::from_hex(&self.trace_id).ok()?;
        let span_id = self.span_id.as_deref().and_then(|id| SpanId::from_hex(id).ok());
        let attempt = self.attempt.unwrap_or_default();
        let other = |what: String| digits(&format!("{}\0{what}", into.queue_id), 16);
        let item = match (&self.run_id, &self.source_item) {
            (Some(run), _) => item_of_run(into.queue_id, run, attempt),
            (None, Some(item)) => other(format!("item\0{item}")),
            (None, None) => {
                other(format!("span\0{trace_id}\0{}", self.span_id.as_deref().unwrap_or_default()))
            }
        };
        let reasons: BTreeSet<&str> = self.asked.iter().filter_map(|one| one.reason.as_deref()).collect();
        let reason = reasons.into_iter().collect::<Vec<_>>().join(", ");
        let priority = i64::from(!reason.is_empty());
        let auto_evals = (!self.asked.is_empty()).then(|| serde_json::json!(self.asked).to_string());
        Some(ReviewItem {
            item,
            draw: into.queue_id.to_owned(),
            metric: into.name.to_owned(),
            trace_id,
            span_id,
            span_time: self.began,
            evaluator: String::new(),
            evaluator_version: String::new(),
            value: None,
            threshold: None,
            passed: None,
            inclusion_probability: self.inclusion_probability.unwrap_or(1.0),
            label_probability: self.label_probability.unwrap_or(1.0),
            uncertainty: f64::from(u8::from(priority > 0)),
            population: i64::try_from(into.population).unwrap_or(i64::MAX),
            population_from: into.now,
            population_until: into.now,
            drawn_at: into.now,
            tenant: into.tenant.into(),
            of_queue: Some(ItemOfQueue {
                queue_id: into.queue_id.to_owned(),
                run_id: self.run_id,
                item_id: self.item_id,
                attempt: self.attempt,
                source_item: self.source_item,
                reason: (priority > 0).then_some(reason),
                priority,
                auto_evals,
            }),
        })
    }
}
