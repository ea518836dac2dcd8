//! Versions of datasets, revisions of items, states of experiments, and runs, to the stored columns of their tables.

use super::build::{boolean, double, int, micros, text, texts};
use crate::domain::time::UnixNanos;
use crate::schema::columns::Table;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::error::ArrowError;

/// Who made a row, when, and whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    /// Whose it is.
    pub tenant: String,
    /// When.
    pub at: UnixNanos,
    /// The token's name.
    pub by: String,
}

impl Made {
    /// The last columns of a table of the lab, of rows of which `of` tells who made each.
    pub(super) fn columns<'a, T>(rows: &'a [T], of: impl Fn(&'a T) -> &'a Made) -> [ArrayRef; 3] {
        [
            text(rows, |row| Some(&of(row).tenant)),
            micros(rows, |row| Some(of(row).at.micros())),
            text(rows, |row| Some(&of(row).by)),
        ]
    }
}

/// A version of a dataset: a row of `datasets`.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetRow {
    /// The dataset.
    pub dataset_id: String,
    /// From 1.
    pub version: i64,
    /// What it was made from; none for the first.
    pub parent_version: Option<i64>,
    /// create, put, delete, revert, import, schema, rename, archive or purge.
    pub change: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Words to find it by.
    pub labels: Vec<String>,
    /// JSON Schema of inputs, expected answers and metadata.
    pub schemas: [Option<String>; 3],
    /// How many items it has.
    pub items: i64,
    /// SHA-256 of the sorted hashes of the items.
    pub content_hash: String,
    /// Where it came from, JSON.
    pub source: Option<String>,
    /// Why it was made.
    pub message: Option<String>,
    /// By whom.
    pub made: Made,
}

/// A revision of an item: a row of `dataset_items`. JSON columns are JSON text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemRow {
    /// The item.
    pub item_id: String,
    /// The sender's id.
    pub external_id: Option<String>,
    /// Whether the item is taken out; then the rest is empty.
    pub is_deleted: bool,
    /// Its place.
    pub ordinal: i64,
    /// What is asked, JSON.
    pub input: Option<String>,
    /// What should be answered, JSON.
    pub expected: Option<String>,
    /// JSON object.
    pub metadata: Option<String>,
    /// JSON array.
    pub contexts: Option<String>,
    /// JSON array.
    pub constraints: Option<String>,
    /// Words.
    pub tags: Vec<String>,
    /// Part of the dataset.
    pub split: Option<String>,
    /// How much it counts.
    pub weight: Option<f64>,
    /// What it is not independent of.
    pub group_id: Option<String>,
    /// JSON array.
    pub files: Option<String>,
    /// The trace that it was made of.
    pub source_trace_id: Option<String>,
    /// The span that it was made of.
    pub source_span_id: Option<String>,
    /// Above 0 and up to 1.
    pub inclusion_probability: Option<f64>,
    /// SHA-256 of its content.
    pub content_hash: Option<String>,
}

/// A state of an experiment: a row of `experiments`. JSON columns are JSON text.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentRow {
    /// The experiment.
    pub experiment_id: String,
    /// Counts its states, from 1.
    pub revision: i64,
    /// Its name.
    pub name: String,
    /// The dataset.
    pub dataset_id: String,
    /// Its version.
    pub dataset_version: i64,
    /// The hash of that version.
    pub dataset_hash: String,
    /// The suite that was run; none without one.
    pub suite_id: Option<String>,
    /// Its version.
    pub suite_version: Option<i64>,
    /// Which items are asked, a condition in SQL; none for all.
    pub filter: Option<String>,
    /// What answers, JSON.
    pub target: String,
    /// JSON object.
    pub parameters: Option<String>,
    /// How often each item is asked.
    pub repetitions: i64,
    /// JSON array of {id, version}.
    pub evaluators: String,
    /// pending, running, paused, success, error or cancelled.
    pub status: String,
    /// Whether others are compared with it.
    pub baseline: bool,
    /// Words.
    pub tags: Vec<String>,
    /// When the first run came.
    pub started_at: Option<UnixNanos>,
    /// When the last run came.
    pub completed_at: Option<UnixNanos>,
    /// Why it ended without success.
    pub error: Option<String>,
    /// By whom.
    pub made: Made,
}

/// An attempt to have a target answer an item: a row of `runs`. JSON columns are JSON text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunRow {
    /// The run.
    pub run_id: String,
    /// The experiment.
    pub experiment_id: String,
    /// The item.
    pub item_id: String,
    /// The hash of the item as it was asked.
    pub item_hash: Option<String>,
    /// From 1.
    pub repetition: i64,
    /// From 1.
    pub attempt: i64,
    /// The trace of the target's spans.
    pub trace_id: Option<String>,
    /// The span that stands for the run.
    pub span_id: Option<String>,
    /// What was answered.
    pub output: Option<String>,
    /// JSON array.
    pub contexts: Option<String>,
    /// JSON object.
    pub output_context: Option<String>,
    /// Tokens read.
    pub input_tokens: Option<i64>,
    /// Tokens written.
    pub output_tokens: Option<i64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Milliseconds.
    pub duration_ms: Option<f64>,
    /// Why there is no answer; none where there is one.
    pub error: Option<String>,
    /// When the target was asked.
    pub started_at: Option<UnixNanos>,
    /// When it had answered.
    pub completed_at: Option<UnixNanos>,
}

/// Versions of datasets as one batch of the stored schema.
pub fn datasets_to_batch(rows: &[DatasetRow]) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.dataset_id)),
        int(rows, |r| Some(r.version)),
        int(rows, |r| r.parent_version),
        text(rows, |r| Some(&r.change)),
        text(rows, |r| Some(&r.name)),
        text(rows, |r| r.description.as_deref()),
        texts(rows, |r| &r.labels),
        text(rows, |r| r.schemas[0].as_deref()),
        text(rows, |r| r.schemas[1].as_deref()),
        text(rows, |r| r.schemas[2].as_deref()),
        int(rows, |r| Some(r.items)),
        text(rows, |r| Some(&r.content_hash)),
        text(rows, |r| r.source.as_deref()),
        text(rows, |r| r.message.as_deref()),
    ];
    columns.extend(Made::columns(rows, |r| &r.made));
    RecordBatch::try_new(Table::Datasets.schema(), columns)
}

/// Revisions of items of a dataset at one of its versions as one batch of the stored schema.
pub fn dataset_items_to_batch(
    rows: &[ItemRow],
    dataset_id: &str,
    version: i64,
    made: &Made,
) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.item_id)),
        text(rows, |r| r.external_id.as_deref()),
        text(rows, |_| Some(dataset_id)),
        int(rows, |_| Some(version)),
        text(rows, |r| Some(if r.is_deleted { "delete" } else { "put" })),
        int(rows, |r| Some(r.ordinal)),
        text(rows, |r| r.input.as_deref()),
        text(rows, |r| r.expected.as_deref()),
        text(rows, |r| r.metadata.as_deref()),
        text(rows, |r| r.contexts.as_deref()),
        text(rows, |r| r.constraints.as_deref()),
        texts(rows, |r| &r.tags),
        text(rows, |r| r.split.as_deref()),
        double(rows, |r| r.weight),
        text(rows, |r| r.group_id.as_deref()),
        text(rows, |r| r.files.as_deref()),
        text(rows, |r| r.source_trace_id.as_deref()),
        text(rows, |r| r.source_span_id.as_deref()),
        double(rows, |r| r.inclusion_probability),
        text(rows, |r| r.content_hash.as_deref()),
    ];
    columns.extend(Made::columns(rows, |_| made));
    RecordBatch::try_new(Table::DatasetItems.schema(), columns)
}

/// States of experiments as one batch of the stored schema.
pub fn experiments_to_batch(rows: &[ExperimentRow]) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.experiment_id)),
        int(rows, |r| Some(r.revision)),
        text(rows, |r| Some(&r.name)),
        text(rows, |r| Some(&r.dataset_id)),
        int(rows, |r| Some(r.dataset_version)),
        text(rows, |r| Some(&r.dataset_hash)),
        text(rows, |r| r.suite_id.as_deref()),
        int(rows, |r| r.suite_version),
        text(rows, |r| r.filter.as_deref()),
        text(rows, |r| Some(&r.target)),
        text(rows, |r| r.parameters.as_deref()),
        int(rows, |r| Some(r.repetitions)),
        text(rows, |r| Some(&r.evaluators)),
        text(rows, |r| Some(&r.status)),
        boolean(rows, |r| Some(r.baseline)),
        texts(rows, |r| &r.tags),
        micros(rows, |r| r.started_at.map(UnixNanos::micros)),
        micros(rows, |r| r.completed_at.map(UnixNanos::micros)),
        text(rows, |r| r.error.as_deref()),
    ];
    columns.extend(Made::columns(rows, |r| &r.made));
    RecordBatch::try_new(Table::Experiments.schema(), columns)
}

/// Runs as one batch of the stored schema.
pub fn runs_to_batch(rows: &[RunRow], made: &Made) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.run_id)),
        text(rows, |r| Some(&r.experiment_id)),
        text(rows, |r| Some(&r.item_id)),
        text(rows, |r| r.item_hash.as_deref()),
        int(rows, |r| Some(r.repetition)),
        int(rows, |r| Some(r.attempt)),
        text(rows, |r| r.trace_id.as_deref()),
        text(rows, |r| r.span_id.as_deref()),
        text(rows, |r| r.output.as_deref()),
        text(rows, |r| r.contexts.as_deref()),
        text(rows, |r| r.output_context.as_deref()),
        int(rows, |r| r.input_tokens),
        int(rows, |r| r.output_tokens),
        double(rows, |r| r.cost_usd),
        double(rows, |r| r.duration_ms),
        text(rows, |r| Some(if r.error.is_some() { "error" } else { "ok" })),
        text(rows, |r| r.error.as_deref()),
        micros(rows, |r| r.started_at.map(UnixNanos::micros)),
        micros(rows, |r| r.completed_at.map(UnixNanos::micros)),
    ];
    columns.extend(Made::columns(rows, |_| made));
    RecordBatch::try_new(Table::Runs.schema(), columns)
}
