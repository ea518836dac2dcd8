//! Suites, their tests and checks, and what checks said of runs, to the stored columns of their tables.

use super::build::{boolean, double, int, text, texts};
use super::lab::Made;
use crate::schema::columns::Table;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::error::ArrowError;

/// A revision of a suite: a row of `suites`. JSON columns are JSON text.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteRow {
    /// The suite.
    pub suite_id: String,
    /// Counts its edits, from 1.
    pub revision: i64,
    /// Its version, from 1.
    pub version: i64,
    /// Whether it was edited since that version.
    pub draft: bool,
    /// import, edit or run.
    pub change: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it says beside its tests and checks, JSON.
    pub spec: String,
    /// The dataset that has its tests as items.
    pub dataset_id: String,
    /// Its version.
    pub dataset_version: i64,
    /// How many tests it has.
    pub tests: i64,
    /// How many checks they have.
    pub checks: i64,
    /// SHA-256 of all that it says.
    pub content_hash: String,
    /// Where it came from, JSON.
    pub source: Option<String>,
    /// Why it was made.
    pub message: Option<String>,
    /// By whom.
    pub made: Made,
}

/// A test of a revision of a suite: a row of `suite_tests`. JSON columns are JSON text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuiteTestRow {
    /// The test.
    pub test_id: String,
    /// The item of the dataset.
    pub item_id: String,
    /// Its place, from 0.
    pub ordinal: i64,
    /// What is asked, JSON.
    pub input: Option<String>,
    /// What should be answered, JSON.
    pub right_answer: Option<String>,
    /// Words.
    pub tags: Vec<String>,
    /// Names of files.
    pub files: Vec<String>,
    /// JSON object.
    pub context: Option<String>,
    /// All of it but its checks, JSON.
    pub spec: String,
    /// SHA-256 of that.
    pub content_hash: String,
}

/// A check of a revision of a suite: a row of `suite_checks`. JSON columns are JSON text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuiteCheckRow {
    /// The test; none for a check of every test.
    pub test_id: Option<String>,
    /// The item of the dataset.
    pub item_id: Option<String>,
    /// Its place, from 0.
    pub ordinal: i64,
    /// Its id.
    pub check_id: Option<String>,
    /// The operator; none for a set.
    pub operator: Option<String>,
    /// What it is held against.
    pub criteria: Option<String>,
    /// How much it counts.
    pub weight: Option<f64>,
    /// Whether it is shown and not counted.
    pub optional: bool,
    /// Its category.
    pub category: Option<String>,
    /// judge, where one is asked in the place of a local model.
    pub engine: Option<String>,
    /// The part of the answer that it reads, JSON.
    pub extract: Option<String>,
    /// The operator of its condition.
    pub condition_operator: Option<String>,
    /// What that is held against.
    pub condition_criteria: Option<String>,
    /// JSON array of {type, text}.
    pub examples: Option<String>,
    /// All of it, JSON.
    pub spec: String,
}

/// What a check said of a run: a row of `check_results`. JSON columns are JSON text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckResultRow {
    /// The run.
    pub run_id: String,
    /// The attempt of the run.
    pub attempt: i64,
    /// The experiment.
    pub experiment_id: String,
    /// The item.
    pub item_id: String,
    /// The check's id, or its place from 1.
    pub check_id: String,
    /// Its place, from 0.
    pub ordinal: i64,
    /// 1, and one more with each edit.
    pub revision: i64,
    /// The operator.
    pub operator: String,
    /// What the answer was held against.
    pub criteria: Option<String>,
    /// How much it counts.
    pub weight: f64,
    /// Whether it counts for the test.
    pub counts: bool,
    /// Its category.
    pub category: Option<String>,
    /// Who told.
    pub engine: Option<String>,
    /// pass, fail, skipped or error.
    pub auto_eval: String,
    /// Whether it holds, after the edit.
    pub passed: Option<bool>,
    /// The value behind the verdict.
    pub value: Option<f64>,
    /// high or low.
    pub confidence: Option<String>,
    /// Why.
    pub feedback: Option<String>,
    /// The part of the answer that was read.
    pub extracted: Option<String>,
    /// Whether its condition was met.
    pub condition_met: Option<bool>,
    /// The checks of a set, JSON array.
    pub parts: Option<String>,
    /// Who edited the verdict.
    pub edited_by: Option<String>,
    /// The verdict after that.
    pub edited_auto_eval: Option<String>,
    /// Why it was edited.
    pub edited_feedback: Option<String>,
}

/// Revisions of suites as one batch of the stored schema.
pub fn suites_to_batch(rows: &[SuiteRow]) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.suite_id)),
        int(rows, |r| Some(r.revision)),
        int(rows, |r| Some(r.version)),
        boolean(rows, |r| Some(r.draft)),
        text(rows, |r| Some(&r.change)),
        text(rows, |r| Some(&r.name)),
        text(rows, |r| r.description.as_deref()),
        text(rows, |r| Some(&r.spec)),
        text(rows, |r| Some(&r.dataset_id)),
        int(rows, |r| Some(r.dataset_version)),
        int(rows, |r| Some(r.tests)),
        int(rows, |r| Some(r.checks)),
        text(rows, |r| Some(&r.content_hash)),
        text(rows, |r| r.source.as_deref()),
        text(rows, |r| r.message.as_deref()),
    ];
    columns.extend(Made::columns(rows, |r| &r.made));
    RecordBatch::try_new(Table::Suites.schema(), columns)
}

/// Tests of one revision of a suite as one batch of the stored schema.
pub fn suite_tests_to_batch(
    rows: &[SuiteTestRow],
    (suite_id, revision): (&str, i64),
    made: &Made,
) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        text(rows, |_| Some(suite_id)),
        int(rows, |_| Some(revision)),
        text(rows, |r| Some(&r.test_id)),
        text(rows, |r| Some(&r.item_id)),
        int(rows, |r| Some(r.ordinal)),
        text(rows, |r| r.input.as_deref()),
        text(rows, |r| r.right_answer.as_deref()),
        texts(rows, |r| &r.tags),
        texts(rows, |r| &r.files),
        text(rows, |r| r.context.as_deref()),
        text(rows, |r| Some(&r.spec)),
        text(rows, |r| Some(&r.content_hash)),
    ];
    columns.extend(Made::columns(rows, |_| made));
    RecordBatch::try_new(Table::SuiteTests.schema(), columns)
}

/// Checks of one revision of a suite as one batch of the stored schema.
pub fn suite_checks_to_batch(
    rows: &[SuiteCheckRow],
    (suite_id, revision): (&str, i64),
    made: &Made,
) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        text(rows, |_| Some(suite_id)),
        int(rows, |_| Some(revision)),
        text(rows, |r| r.test_id.as_deref()),
        text(rows, |r| r.item_id.as_deref()),
        int(rows, |r| Some(r.ordinal)),
        text(rows, |r| r.check_id.as_deref()),
        text(rows, |r| r.operator.as_deref()),
        text(rows, |r| r.criteria.as_deref()),
        double(rows, |r| r.weight),
        boolean(rows, |r| Some(r.optional)),
        text(rows, |r| r.category.as_deref()),
        text(rows, |r| r.engine.as_deref()),
        text(rows, |r| r.extract.as_deref()),
        text(rows, |r| r.condition_operator.as_deref()),
        text(rows, |r| r.condition_criteria.as_deref()),
        text(rows, |r| r.examples.as_deref()),
        text(rows, |r| Some(&r.spec)),
    ];
    columns.extend(Made::columns(rows, |_| made));
    RecordBatch::try_new(Table::SuiteChecks.schema(), columns)
}

/// What checks said of runs as one batch of the stored schema.
pub fn check_results_to_batch(rows: &[CheckResultRow], made: &Made) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        text(rows, |r| Some(&r.run_id)),
        int(rows, |r| Some(r.attempt)),
        text(rows, |r| Some(&r.experiment_id)),
        text(rows, |r| Some(&r.item_id)),
        text(rows, |r| Some(&r.check_id)),
        int(rows, |r| Some(r.ordinal)),
        int(rows, |r| Some(r.revision)),
        text(rows, |r| Some(&r.operator)),
        text(rows, |r| r.criteria.as_deref()),
        double(rows, |r| Some(r.weight)),
        boolean(rows, |r| Some(r.counts)),
        text(rows, |r| r.category.as_deref()),
        text(rows, |r| r.engine.as_deref()),
        text(rows, |r| Some(&r.auto_eval)),
        boolean(rows, |r| r.passed),
        double(rows, |r| r.value),
        text(rows, |r| r.confidence.as_deref()),
        text(rows, |r| r.feedback.as_deref()),
        text(rows, |r| r.extracted.as_deref()),
        boolean(rows, |r| r.condition_met),
        text(rows, |r| r.parts.as_deref()),
        text(rows, |r| r.edited_by.as_deref()),
        text(rows, |r| r.edited_auto_eval.as_deref()),
        text(rows, |r| r.edited_feedback.as_deref()),
    ];
    columns.extend(Made::columns(rows, |_| made));
    RecordBatch::try_new(Table::CheckResults.schema(), columns)
}
