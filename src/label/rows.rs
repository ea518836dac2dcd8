//! What was drawn and answered, from the tables.

use super::ask::{rows, text};
use super::book::{Book, Entry};
use super::draw::{Scored, numbers};
use super::item::Answer;
use super::verdict::verdict;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::UnixNanos;
use crate::schema::batch::{AnswerKind, ReviewItem};
use crate::sql::{Sql, SqlError};
use serde::Deserialize;
use std::collections::HashMap;

/// Most items of one metric, the newest.
const MAX_ITEMS: usize = 200_000;

/// Every item of `metric` with its answers, in a book in which `needed` answers make a label.
///
/// # Errors
/// Those of the queries.
pub async fn load(sql: &Sql, tenant: &str, metric: &str, needed: usize) -> Result<Book, SqlError> {
    let items: Vec<ItemRow> = rows(sql, tenant, &ItemRow::query(), vec![text(metric)]).await?;
    let mut answers = answers(sql, tenant, metric).await?;
    let entry = |row: ItemRow| {
        let drawn = row.drawn(tenant)?;
        let order = numbers(&drawn.draw, &drawn.item).1;
        Some(Entry::new(drawn, Vec::new(), order))
    };
    let entries = items.into_iter().filter_map(entry).map(|mut entry| {
        entry.answers = answers.remove(&entry.drawn.item).unwrap_or_default();
        entry
    });
    let mut book = Book::new(needed);
    book.add(entries.collect());
    Ok(book)
}

/// The answers of `metric` by item, in the order in which they came.
async fn answers(sql: &Sql, tenant: &str, metric: &str) -> Result<HashMap<String, Vec<Answer>>, SqlError> {
    let said: Vec<AnswerRow> = rows(sql, tenant, AnswerRow::QUERY, vec![text(metric)]).await?;
    let mut answers: HashMap<String, Vec<Answer>> = HashMap::new();
    for row in said {
        answers.entry(row.item.clone()).or_default().push(row.answer());
    }
    Ok(answers)
}

/// A row of `review_items`; times are microseconds.
#[derive(Deserialize)]
struct ItemRow {
    #[serde(flatten)]
    scored: Scored,
    item: String,
    draw: String,
    metric: String,
    label_probability: f64,
    uncertainty: f64,
    population: i64,
    population_from: i64,
    population_until: i64,
    drawn_at: i64,
}

impl ItemRow {
    fn query() -> String {
        let time = |name: &str| format!("CAST({name} AS BIGINT) AS {name}");
        let times: Vec<String> =
            ["span_time", "population_from", "population_until", "drawn_at"].map(time).to_vec();
        format!(
            "SELECT item, draw, metric, trace_id, span_id, evaluator, evaluator_version, value, threshold, passed, \
             inclusion_probability, label_probability, uncertainty, population, {} FROM review_items WHERE metric = $1 AND queue_id IS NULL \
             ORDER BY drawn_at DESC LIMIT {MAX_ITEMS}",
            times.join(", ")
        )
    }

    /// The item; none for a row with ids that are none.
    fn drawn(self, tenant: &str) -> Option<ReviewItem> {
        let time = |micros: i64| UnixNanos(micros.saturating_mul(1_000));
        let scored = self.scored;
        Some(ReviewItem {
            item: self.item,
            draw: self.draw,
            metric: self.metric,
            trace_id: TraceId::from_hex(&scored.trace_id).ok()?,
            span_id: scored.span_id.and_then(|id| SpanId::from_hex(&id).ok()),
            span_time: time(scored.span_time),
            evaluator: scored.evaluator,
            evaluator_version: scored.evaluator_version,
            value: scored.value,
            threshold: scored.threshold,
            passed: scored.passed,
            inclusion_probability: scored.inclusion_probability,
            label_probability: self.label_probability,
            uncertainty: self.uncertainty,
            population: self.population,
            population_from: time(self.population_from),
            population_until: time(self.population_until),
            drawn_at: time(self.drawn_at),
            tenant: tenant.into(),
            of_queue: None,
        })
    }
}

/// A row of `review_answers`.
#[derive(Deserialize)]
struct AnswerRow {
    answer_id: String,
    item: String,
    reviewer: String,
    kind: AnswerKind,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    comment: Option<String>,
    flagged: bool,
    created_at: i64,
}

impl AnswerRow {
    const QUERY: &str = "SELECT answer_id, item, reviewer, kind, label, comment, flagged, CAST(created_at AS BIGINT) AS created_at \
                         FROM review_answers WHERE metric = $1 AND queue_id IS NULL \
                         ORDER BY created_at, answer_id";

    fn answer(self) -> Answer {
        Answer {
            id: self.answer_id,
            reviewer: self.reviewer,
            kind: self.kind,
            passed: self.label.as_deref().and_then(verdict),
            comment: self.comment,
            flagged: self.flagged,
            at: UnixNanos(self.created_at.saturating_mul(1_000)),
        }
    }
}
