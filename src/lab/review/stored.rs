//! Queues, their items and their answers as they are stored.

use super::answer::{Answer, Edit, Response};
use super::book::{Book, Entry, Rules};
use super::definition::{Chosen, Select, Source};
use super::template::Template;
use crate::domain::id::{SpanId, TraceId};
use crate::domain::time::UnixNanos;
use crate::lab::cells::Row;
use crate::lab::error::LabError;
use crate::lab::store::{Store, int, text};
use crate::schema::batch::{AnswerKind, ItemOfQueue, Made, ReviewItem, ReviewQueueRow};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Most items of a queue.
pub const MAX_ITEMS: usize = 10_000;
/// Most queues of a list.
const MAX_QUEUES: usize = 200;

/// A queue.
#[derive(Debug, Clone)]
pub struct Queue {
    /// The row of its state.
    pub row: ReviewQueueRow,
    /// How its items are chosen.
    pub chosen: Chosen,
    /// What is asked of each.
    pub templates: Vec<Template>,
}

fn moment(row: Row<'_>, name: &str) -> Option<UnixNanos> {
    row.micros(name).map(|micros| UnixNanos(micros.saturating_mul(1_000)))
}

/// A moment for people and programs.
pub fn rfc3339(at: UnixNanos) -> String {
    let at = chrono::DateTime::from_timestamp_micros(at.micros());
    at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)).unwrap_or_default()
}

impl Queue {
    /// Of a row that is about to be stored.
    pub fn new(row: ReviewQueueRow, chosen: Chosen, templates: Vec<Template>) -> Self {
        Self { row, chosen, templates }
    }

    fn of(row: Row<'_>) -> Self {
        let experiment_id = row.may("experiment_id");
        let parsed = |name: &str| row.may(name).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let none = || Chosen {
            source: Source::Experiment(experiment_id.clone().unwrap_or_default()),
            select: Select::All,
            sample: None,
            auto_evals: true,
            automatic: true,
            drawn: false,
        };
        let chosen = parsed("source").and_then(|kept| serde_json::from_value(kept).ok());
        let templates = parsed("templates").and_then(|kept| serde_json::from_value(kept).ok());
        Self {
            chosen: chosen.unwrap_or_else(none),
            templates: templates.unwrap_or_default(),
            row: ReviewQueueRow {
                queue_id: row.text("queue_id"),
                revision: row.int("revision").unwrap_or(1),
                name: row.text("name"),
                source_kind: row.text("source_kind"),
                experiment_id: experiment_id.clone(),
                source: row.text("source"),
                templates: row.may("templates"),
                instructions: row.may("instructions"),
                reviews_per_item: row.int("reviews_per_item").unwrap_or(1),
                reviewers: row.texts("reviewers"),
                blind: row.flag("blind").unwrap_or(true),
                status: row.text("status"),
                opened_at: moment(row, "opened_at").unwrap_or_default(),
                opened_by: row.text("opened_by"),
                completed_at: moment(row, "completed_at"),
                made: Made {
                    tenant: row.text("tenant"),
                    at: moment(row, "created_at").unwrap_or_default(),
                    by: row.text("created_by"),
                },
            },
        }
    }

    /// Whether it takes answers.
    pub fn is_open(&self) -> bool {
        self.row.status == "open"
    }

    /// Whether `who` is one of its reviewers.
    pub fn admits(&self, who: &str) -> bool {
        self.row.reviewers.is_empty() || self.row.reviewers.iter().any(|name| name == who)
    }

    /// What it asks of its items.
    pub fn rules(&self) -> Rules {
        let needed = usize::try_from(self.row.reviews_per_item).unwrap_or(1).max(1);
        Rules { needed, templates: self.templates.clone() }
    }

    /// As it is shown.
    pub fn told(&self) -> Value {
        json!({
            "queue_id": self.row.queue_id, "name": self.row.name, "source": self.chosen,
            "experiment_id": self.row.experiment_id, "templates": self.templates,
            "instructions": self.row.instructions, "reviews_per_item": self.row.reviews_per_item,
            "reviewers": self.row.reviewers, "blind": self.row.blind, "status": self.row.status,
            "created_at": rfc3339(self.row.opened_at), "created_by": self.row.opened_by,
            "completed_at": self.row.completed_at.map(rfc3339),
        })
    }
}

/// The queue of that id, or the newest of that name.
///
/// # Errors
/// [`LabError::Missing`] if the tenant has none.
pub async fn find(store: &Store, tenant: &str, named: &str) -> Result<Queue, LabError> {
    let sql = "SELECT * FROM review_queues_latest WHERE queue_id = $1 OR name = $1 \
               ORDER BY queue_id = $1 DESC, opened_at DESC, queue_id DESC LIMIT 1";
    let rows = store.ask(tenant, sql, vec![text(named)]).await?;
    let missing =
        || LabError::Missing(format!("there is no queue {named:?}; groundline review queue list shows them"));
    rows.iter().next().map(Queue::of).ok_or_else(missing)
}

/// The queues of a tenant, the open ones first, then the newest.
///
/// # Errors
/// The limits of queries.
pub async fn list(store: &Store, tenant: &str) -> Result<Vec<Queue>, LabError> {
    let sql =
        "SELECT * FROM review_queues_latest ORDER BY status = 'open' DESC, opened_at DESC, queue_id LIMIT $1";
    let most = i64::try_from(MAX_QUEUES).unwrap_or(i64::MAX);
    let rows = store.ask(tenant, sql, vec![int(most)]).await?;
    Ok(rows.iter().map(Queue::of).collect())
}

/// The items of a queue with their answers.
///
/// # Errors
/// The limits of queries.
pub async fn book(store: &Store, tenant: &str, queue: &Queue) -> Result<Book, LabError> {
    let mut said = answers(store, tenant, &queue.row.queue_id).await?;
    let mut book = Book::new(queue.rules());
    let entry = |item: ReviewItem| {
        let answers = said.remove(&item.item).unwrap_or_default();
        Entry::new(item, answers)
    };
    let entries = items(store, tenant, &queue.row.queue_id).await?.into_iter().map(entry).collect();
    book.add(entries);
    Ok(book)
}

/// The items of a queue as they were chosen: the urgent ones first where there are too many.
///
/// # Errors
/// The limits of queries.
pub async fn items(store: &Store, tenant: &str, queue_id: &str) -> Result<Vec<ReviewItem>, LabError> {
    let sql =
        "SELECT * FROM review_items WHERE queue_id = $1 ORDER BY priority DESC, drawn_at, item LIMIT $2";
    let most = i64::try_from(MAX_ITEMS).unwrap_or(i64::MAX);
    let rows = store.ask(tenant, sql, vec![text(queue_id), int(most)]).await?;
    Ok(rows.iter().filter_map(|row| item(row, tenant)).collect())
}

fn item(row: Row<'_>, tenant: &str) -> Option<ReviewItem> {
    let at = |name: &str| moment(row, name).unwrap_or_default();
    Some(ReviewItem {
        item: row.text("item"),
        draw: row.text("draw"),
        metric: row.text("metric"),
        trace_id: TraceId::from_hex(&row.text("trace_id")).ok()?,
        span_id: row.may("span_id").and_then(|id| SpanId::from_hex(&id).ok()),
        span_time: at("span_time"),
        evaluator: row.text("evaluator"),
        evaluator_version: row.text("evaluator_version"),
        value: row.number("value"),
        threshold: row.number("threshold"),
        passed: row.flag("passed"),
        inclusion_probability: row.number("inclusion_probability").unwrap_or(1.0),
        label_probability: row.number("label_probability").unwrap_or(1.0),
        uncertainty: row.number("uncertainty").unwrap_or_default(),
        population: row.int("population").unwrap_or_default(),
        population_from: at("population_from"),
        population_until: at("population_until"),
        drawn_at: at("drawn_at"),
        tenant: tenant.into(),
        of_queue: Some(ItemOfQueue {
            queue_id: row.text("queue_id"),
            run_id: row.may("run_id"),
            item_id: row.may("item_id"),
            attempt: row.int("attempt"),
            source_item: row.may("source_item"),
            reason: row.may("reason"),
            priority: row.int("priority").unwrap_or_default(),
            auto_evals: row.may("auto_evals"),
        }),
    })
}

/// The answers of a queue by item, in the order in which they came.
async fn answers(
    store: &Store,
    tenant: &str,
    queue_id: &str,
) -> Result<HashMap<String, Vec<Answer>>, LabError> {
    let sql = "SELECT answer_id, item, reviewer, kind, comment, flagged, seconds, created_at, response, auto_evals \
               FROM review_answers WHERE queue_id = $1 ORDER BY created_at, answer_id";
    let mut answers: HashMap<String, Vec<Answer>> = HashMap::new();
    for row in store.ask(tenant, sql, vec![text(queue_id)]).await?.iter() {
        answers.entry(row.text("item")).or_default().extend(answer(row));
    }
    Ok(answers)
}

fn answer(row: Row<'_>) -> Option<Answer> {
    let kind = serde_json::from_value::<AnswerKind>(Value::from(row.text("kind"))).ok()?;
    let kept = |name: &str| row.may(name).unwrap_or_else(|| "{}".to_owned());
    let templates: BTreeMap<String, Value> = serde_json::from_str(&kept("response")).unwrap_or_default();
    let auto_evals: BTreeMap<String, Edit> = serde_json::from_str(&kept("auto_evals")).unwrap_or_default();
    Some(Answer {
        id: row.text("answer_id"),
        reviewer: row.text("reviewer"),
        kind,
        response: Response { templates, auto_evals },
        comment: row.may("comment"),
        flagged: row.flag("flagged").unwrap_or_default(),
        seconds: row.number("seconds"),
        at: moment(row, "created_at").unwrap_or_default(),
    })
}

/// The last attempt of each run of an experiment.
///
/// # Errors
/// The limits of queries.
pub async fn attempts(
    store: &Store,
    tenant: &str,
    experiment_id: &str,
) -> Result<HashMap<String, i64>, LabError> {
    let sql = "SELECT run_id, attempt FROM runs_latest WHERE experiment_id = $1";
    let rows = store.ask(tenant, sql, vec![text(experiment_id)]).await?;
    Ok(rows.iter().map(|row| (row.text("run_id"), row.int("attempt").unwrap_or(1))).collect())
}
