//! What a queue is filled with: runs of an experiment, rows of a query, or what the online draws chose.

use super::definition::{Select, Source};
use super::stored::{MAX_ITEMS, Queue};
use crate::domain::id::TraceId;
use crate::domain::time::UnixNanos;
use crate::lab::cells::Row;
use crate::lab::error::LabError;
use crate::lab::experiment::{AutoEval, Chosen, Experiments, ForQueue, MAX_ASKED, find_experiment};
use crate::lab::store::{Who, text};
use crate::schema::batch::{ItemRow, ReviewItem};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What was found.
pub struct Found {
    /// The items.
    pub items: Vec<ReviewItem>,
    /// Whether their probabilities are those of a draw from all that could be labelled.
    pub drawn: bool,
}

/// The items that the source of `queue` has now.
///
/// # Errors
/// Those of the query; [`LabError::Limit`] for more than a queue holds, [`LabError::Missing`] without the experiment.
pub async fn items(all: &Experiments, who: &Who, queue: &Queue) -> Result<Found, LabError> {
    let (chosen, drawn) = match &queue.chosen.source {
        Source::Experiment(id) => (runs(all, who, id, queue).await?, queue.chosen.drawn),
        Source::Sql(sql) => rows(all, who, sql, queue).await?,
        Source::Proposal(metric) => (proposed(all, who, metric).await?, true),
    };
    let asks = |one: &Chosen| !queue.templates.is_empty() || !one.asked.is_empty();
    let chosen: Vec<Chosen> = chosen.into_iter().filter(asks).collect();
    let into = ForQueue {
        queue_id: &queue.row.queue_id,
        name: &queue.row.name,
        tenant: &who.tenant,
        population: chosen.len(),
        now: all.store().now(),
    };
    let part = queue.chosen.sample.map(|wanted| (wanted as f64 / chosen.len().max(1) as f64).min(1.0));
    let with = |one: Chosen| Chosen { label_probability: part.or(one.label_probability), ..one };
    let mut items: Vec<ReviewItem> = chosen.into_iter().filter_map(|one| with(one).row(into)).collect();
    if let Some(wanted) = queue.chosen.sample {
        // Ids are hashes: the first of them are drawn at random.
        items.sort_by_cached_key(|item| item.item.clone());
        items.truncate(wanted);
    }
    if items.len() > MAX_ITEMS {
        let why = format!(
            "{} items, a queue holds at most {MAX_ITEMS}: take a sample, or those that are flagged",
            items.len()
        );
        return Err(LabError::Limit(why));
    }
    Ok(Found { items, drawn })
}

/// The runs of an experiment with an answer that the queue asks about.
async fn runs(all: &Experiments, who: &Who, id: &str, queue: &Queue) -> Result<Vec<Chosen>, LabError> {
    let found = find_experiment(all.store(), &who.tenant, id).await?;
    let id = &found.experiment_id;
    let (items, judges) = (all.items(who, &found).await?, all.judges(&found));
    let items: HashMap<&str, &ItemRow> = items.iter().map(|item| (item.item_id.as_str(), item)).collect();
    let said = said(all, who, id, &judges).await?;
    let sql = "SELECT run_id, item_id, attempt, trace_id, span_id, started_at FROM runs_latest \
               WHERE experiment_id = $1 AND status = 'ok' ORDER BY run_id";
    let mut chosen = Vec::new();
    for row in all.store().ask(&who.tenant, sql, vec![text(id)]).await?.iter() {
        let run_id = row.text("run_id");
        let scores = said.get(&run_id).map(Vec::as_slice).unwrap_or_default();
        let wanted = |one: &&AutoEval| match queue.chosen.select {
            Select::All => one.passed.is_some() || one.reason.is_some(),
            Select::Failed => one.passed == Some(false) || one.reason.is_some(),
            Select::Flagged => one.reason.is_some(),
        };
        let asked: Vec<AutoEval> = scores.iter().filter(wanted).take(MAX_ASKED).cloned().collect();
        if queue.chosen.select != Select::All && asked.is_empty() {
            continue;
        }
        let item_id = row.text("item_id");
        chosen.push(Chosen {
            inclusion_probability: items.get(item_id.as_str()).and_then(|item| item.inclusion_probability),
            run_id: Some(run_id),
            item_id: Some(item_id),
            attempt: row.int("attempt"),
            trace_id: row.text("trace_id"),
            span_id: row.may("span_id"),
            began: began(row, "started_at"),
            asked: if queue.chosen.auto_evals { asked } else { Vec::new() },
            ..Chosen::default()
        });
    }
    Ok(chosen)
}

/// What was said of the last attempt of each run.
async fn said(
    all: &Experiments,
    who: &Who,
    experiment_id: &str,
    judges: &HashSet<String>,
) -> Result<BTreeMap<String, Vec<AutoEval>>, LabError> {
    let sql = "SELECT s.run_id, s.evaluator, s.metric, s.status, s.value, s.label, s.passed, s.rationale, s.error \
               FROM scores s JOIN runs_latest r ON s.run_id = r.run_id AND s.score_version = r.attempt \
               WHERE s.source = 'experiment' AND s.experiment_id = $1 AND r.experiment_id = $1 \
               ORDER BY s.evaluator, s.metric";
    let mut said: BTreeMap<String, Vec<AutoEval>> = BTreeMap::new();
    for row in all.store().ask(&who.tenant, sql, vec![text(experiment_id)]).await?.iter() {
        let one = score(row);
        let is_judge = judges.contains(&one.evaluator);
        said.entry(row.text("run_id")).or_default().push(one.looked_at(is_judge));
    }
    Ok(said)
}

fn score(row: Row<'_>) -> AutoEval {
    AutoEval {
        evaluator: row.text("evaluator"),
        metric: row.text("metric"),
        status: row.may("status").unwrap_or_else(|| "ok".to_owned()),
        value: row.number("value"),
        label: row.may("label"),
        passed: row.flag("passed"),
        rationale: row.may("rationale").or_else(|| row.may("error")),
        reason: None,
    }
}

fn began(row: Row<'_>, name: &str) -> UnixNanos {
    row.micros(name).map(|micros| UnixNanos(micros.saturating_mul(1_000))).unwrap_or_default()
}

/// Rows of a query, one item a span; those with `evaluator` and `metric` are what is asked about it. Whether it tells with
/// which probability each row was drawn.
async fn rows(
    all: &Experiments,
    who: &Who,
    sql: &str,
    queue: &Queue,
) -> Result<(Vec<Chosen>, bool), LabError> {
    let found = all.store().ask(&who.tenant, sql, Vec::new()).await?;
    let (mut chosen, mut places): (Vec<Chosen>, HashMap<(String, String), usize>) = Default::default();
    let mut drawn = true;
    for (number, row) in (1u64..).zip(found.iter()) {
        let trace_id = row.text("trace_id");
        if TraceId::from_hex(&trace_id).is_err() {
            let why = format!(
                "row {number} of the query has no trace: select trace_id, as the tables have it, and span_id for one span"
            );
            return Err(LabError::Wrong(why));
        }
        let whole = || row.int("label_probability").map(|chance| chance as f64);
        let label_probability = row.number("label_probability").or_else(whole);
        if label_probability.is_some_and(|chance| !(chance > 0.0 && chance <= 1.0)) {
            let why = format!("row {number} of the query: label_probability must be above 0 and at most 1");
            return Err(LabError::Wrong(why));
        }
        drawn &= label_probability.is_some();
        let key = (trace_id.clone(), row.text("span_id"));
        let at = *places.entry(key).or_insert(chosen.len());
        if at == chosen.len() {
            chosen.push(Chosen {
                trace_id,
                span_id: row.may("span_id"),
                began: began(row, "span_time"),
                inclusion_probability: row.number("inclusion_probability"),
                label_probability,
                ..Chosen::default()
            });
        }
        let one = score(row).looked_at(false);
        let asked = &mut chosen[at].asked;
        let is_new = !one.metric.is_empty() && asked.iter().all(|other| other.key() != one.key());
        if queue.chosen.auto_evals && is_new && asked.len() < MAX_ASKED {
            asked.push(one);
        }
    }
    Ok((chosen, drawn))
}

/// What the online draws chose for `metric`, the newest, as far as nobody has labelled it.
async fn proposed(all: &Experiments, who: &Who, metric: &str) -> Result<Vec<Chosen>, LabError> {
    let sql = format!(
        "SELECT i.* FROM review_items i WHERE i.metric = $1 AND i.queue_id IS NULL \
         AND NOT EXISTS (SELECT 1 FROM annotations a WHERE a.item = i.item) ORDER BY i.drawn_at DESC LIMIT {MAX_ITEMS}"
    );
    let found = all.store().ask(&who.tenant, &sql, vec![text(metric)]).await?;
    let chosen = |row: Row<'_>| Chosen {
        source_item: row.may("item"),
        trace_id: row.text("trace_id"),
        span_id: row.may("span_id"),
        began: began(row, "span_time"),
        inclusion_probability: row.number("inclusion_probability"),
        label_probability: row.number("label_probability"),
        asked: vec![score(row).looked_at(false)],
        ..Chosen::default()
    };
    Ok(found.iter().map(chosen).collect())
}
