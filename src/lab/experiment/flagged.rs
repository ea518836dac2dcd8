//! Runs that a person must look at: the frame that stores them puts them into the queue of their experiment.

use super::super::error::LabError;
use super::asked::{AutoEval, MAX_ASKED};
use super::judge::{Case, ScoredRuns};
use super::reading::Experiment;
use super::reviewed::{Chosen, ForQueue};
use crate::domain::score::ScoreRow;
use crate::lab::ids::digits;
use crate::schema::batch::{Made, ReviewItem, ReviewQueueRow, items_to_batch, queues_to_batch};
use crate::schema::columns::Table;
use crate::schema::frame::Part;
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// The id of the queue that an experiment has by itself.
pub fn own_queue(experiment_id: &str) -> String {
    digits(&format!("review\0{experiment_id}"), 16)
}

/// The queue of `found` and those of `cases` that a person must look at: an evaluator of `judges` failed, could not tell, or
/// the sender says so. Nothing where there are none.
///
/// # Errors
/// [`LabError::Broken`] when rows cannot be written down.
pub fn flagged(
    found: &Experiment,
    cases: &[&Case],
    judged: &ScoredRuns,
    judges: &HashSet<String>,
    made: &Made,
) -> Result<Vec<Part>, LabError> {
    let queue_id = own_queue(&found.experiment_id);
    let name = format!("review of {}", found.name);
    let (tenant, now) = (made.tenant.as_str(), made.at);
    let into = ForQueue { queue_id: &queue_id, name: &name, tenant, population: cases.len(), now };
    let mut by_run: HashMap<&str, Vec<&ScoreRow>> = HashMap::new();
    for (row, run) in judged.rows.iter().zip(&judged.runs) {
        by_run.entry(run.run_id.as_str()).or_default().push(row);
    }
    let item = |case: &&Case| -> Option<ReviewItem> {
        let scores = by_run.get(case.run.run_id.as_str())?;
        let asked: Vec<AutoEval> = scores.iter().filter_map(|row| unsure(case, row, judges)).collect();
        if asked.is_empty() { None } else { chosen(case, asked).row(into) }
    };
    let items: Vec<ReviewItem> = cases.iter().filter_map(item).collect();
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let queue = ReviewQueueRow {
        source_kind: "experiment".to_owned(),
        experiment_id: Some(found.experiment_id.clone()),
        source: json!({"experiment": found.experiment_id, "select": "flagged", "automatic": true})
            .to_string(),
        templates: None,
        instructions: None,
        reviews_per_item: 1,
        reviewers: Vec::new(),
        blind: true,
        status: "open".to_owned(),
        opened_at: now,
        opened_by: made.by.clone(),
        completed_at: None,
        made: made.clone(),
        revision: 1,
        name: name.clone(),
        queue_id: queue_id.clone(),
    };
    let broken = |e: arrow::error::ArrowError| LabError::Broken(e.to_string());
    let queues = queues_to_batch(std::slice::from_ref(&queue)).map_err(broken)?;
    let items = items_to_batch(&items).map_err(broken)?;
    Ok(vec![Part::Rows(Table::ReviewQueues, queues), Part::Rows(Table::ReviewItems, items)])
}

/// A score that a person must look at; none where its evaluator is sure.
fn unsure(case: &Case, row: &ScoreRow, judges: &HashSet<String>) -> Option<AutoEval> {
    let score = &row.score;
    let sent = case.sent.iter().find(|sent| row.evaluator == format!("client/{}", sent.name));
    let one = AutoEval {
        evaluator: row.evaluator.clone(),
        metric: score.metric.clone(),
        status: score.status.as_str().to_owned(),
        value: score.value,
        label: score.label.clone(),
        passed: score.passed,
        rationale: score.rationale.clone().or_else(|| score.error.clone()),
        reason: sent.and_then(|sent| sent.needs_review.clone()),
    };
    Some(one.looked_at(judges.contains(&row.evaluator))).filter(|one| one.reason.is_some())
}

fn chosen(case: &Case, mut asked: Vec<AutoEval>) -> Chosen {
    let run = &case.run;
    asked.truncate(MAX_ASKED);
    Chosen {
        run_id: Some(run.run_id.clone()),
        item_id: Some(run.item_id.clone()),
        attempt: Some(run.attempt),
        trace_id: run.trace_id.clone().unwrap_or_default(),
        span_id: run.span_id.clone(),
        began: run.started_at.unwrap_or_default(),
        inclusion_probability: case.item.inclusion_probability,
        asked,
        ..Chosen::default()
    }
}
