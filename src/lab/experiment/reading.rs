//! Experiments, runs and scores as they are stored.

use super::super::cells::{Column, Row};
use super::super::error::LabError;
use super::super::store::{Store, int, text};
use super::definition::Target;
use crate::domain::score::Rated;
use crate::domain::time::UnixNanos;
use crate::schema::batch::{ExperimentRow, Made};
use arrow::array::RecordBatch;
use datafusion::common::HashMap as QuickMap;
use datafusion::common::hash_map::Entry;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// An experiment as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Experiment {
    /// The experiment.
    pub experiment_id: String,
    /// Its name.
    pub name: String,
    /// The dataset.
    pub dataset_id: String,
    /// Its version.
    pub dataset_version: i64,
    /// The suite that it is a run of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_id: Option<String>,
    /// The version of the suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<i64>,
    /// Which items it asks, a condition in SQL; all without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// What answers.
    pub target: Target,
    /// Its parameters.
    pub parameters: Value,
    /// Evaluators, with the versions that they had when it began.
    pub evaluators: Value,
    /// How often each item is asked.
    pub repetitions: i64,
    /// pending, running, paused, success, error or cancelled.
    pub status: String,
    /// Whether others are compared with it.
    pub baseline: bool,
    /// Words.
    pub tags: Vec<String>,
    /// Why it ended without success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it came to this state, RFC 3339 in UTC.
    pub changed_at: String,
    /// The row.
    #[serde(skip)]
    pub row: ExperimentRow,
}

impl Experiment {
    fn of(row: Row<'_>) -> Self {
        let json = |name: &str| row.may(name).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let nanos = |name: &str| row.micros(name).map(|micros| UnixNanos(micros.saturating_mul(1_000)));
        let stored = ExperimentRow {
            experiment_id: row.text("experiment_id"),
            revision: row.int("revision").unwrap_or_default(),
            name: row.text("name"),
            dataset_id: row.text("dataset_id"),
            dataset_version: row.int("dataset_version").unwrap_or_default(),
            dataset_hash: row.text("dataset_hash"),
            suite_id: row.may("suite_id"),
            suite_version: row.int("suite_version"),
            filter: row.may("filter"),
            target: row.text("target"),
            parameters: row.may("parameters"),
            repetitions: row.int("repetitions").unwrap_or(1),
            evaluators: row.text("evaluators"),
            status: row.text("status"),
            baseline: row.flag("baseline").unwrap_or_default(),
            tags: row.texts("tags"),
            started_at: nanos("started_at"),
            completed_at: nanos("completed_at"),
            error: row.may("error"),
            made: Made {
                tenant: row.text("tenant"),
                at: nanos("created_at").unwrap_or(UnixNanos(0)),
                by: row.text("created_by"),
            },
        };
        let unknown =
            || Target { kind: String::new(), name: None, model: None, more: serde_json::Map::new() };
        let at = chrono::DateTime::from_timestamp_micros(stored.made.at.micros());
        Self {
            experiment_id: stored.experiment_id.clone(),
            name: stored.name.clone(),
            dataset_id: stored.dataset_id.clone(),
            dataset_version: stored.dataset_version,
            suite_id: stored.suite_id.clone(),
            suite_version: stored.suite_version,
            filter: stored.filter.clone(),
            target: serde_json::from_str(&stored.target).unwrap_or_else(|_| unknown()),
            parameters: json("parameters").unwrap_or_default(),
            evaluators: json("evaluators").unwrap_or_default(),
            repetitions: stored.repetitions,
            status: stored.status.clone(),
            baseline: stored.baseline,
            tags: stored.tags.clone(),
            error: stored.error.clone(),
            changed_at: at
                .map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true))
                .unwrap_or_default(),
            row: stored,
        }
    }

    /// The ids of its evaluators.
    pub fn evaluator_ids(&self) -> Vec<String> {
        let all = self.evaluators.as_array().into_iter().flatten();
        all.filter_map(|one| one["id"].as_str().map(str::to_owned)).collect()
    }

    /// The suite that it is a run of, and the suite's version. Before suites were kept, their tests stood for them: such a run
    /// is none of these.
    pub fn suite(&self) -> Option<(&str, i64)> {
        let suite = self.suite_id.as_deref().filter(|suite| *suite != self.dataset_id)?;
        Some((suite, self.suite_version?))
    }

    /// Whether it takes no more runs.
    pub fn is_closed(&self) -> bool {
        self.status == "cancelled"
    }
}

/// The experiment of that id, or the newest of that name.
///
/// # Errors
/// [`LabError::Missing`] if the tenant has none.
pub async fn find(store: &Store, tenant: &str, name: &str) -> Result<Experiment, LabError> {
    let missing = || {
        LabError::Missing(format!("there is no experiment {name:?}; groundline experiment list shows them"))
    };
    named(store, tenant, name).await?.ok_or_else(missing)
}

/// As [`find`], where there may be none.
///
/// # Errors
/// The limits of queries.
pub async fn named(store: &Store, tenant: &str, name: &str) -> Result<Option<Experiment>, LabError> {
    let sql = "SELECT * FROM experiments_latest WHERE experiment_id = $1 OR name = $1 \
               ORDER BY experiment_id = $1 DESC, experiment_id DESC LIMIT 1";
    let rows = store.ask(tenant, sql, vec![text(name)]).await?;
    Ok(rows.iter().next().map(Experiment::of))
}

/// The experiments over a dataset, the oldest first.
///
/// # Errors
/// The limits of queries.
pub async fn of_dataset(store: &Store, tenant: &str, dataset_id: &str) -> Result<Vec<Experiment>, LabError> {
    let sql = "SELECT * FROM experiments_latest WHERE dataset_id = $1 ORDER BY experiment_id";
    let rows = store.ask(tenant, sql, vec![text(dataset_id)]).await?;
    Ok(rows.iter().map(Experiment::of).collect())
}

/// The experiments of a tenant, the newest first; behind the one of the id `after`, if it is named.
///
/// # Errors
/// The limits of queries.
pub async fn list(
    store: &Store,
    tenant: &str,
    after: Option<&str>,
    limit: i64,
) -> Result<Vec<Experiment>, LabError> {
    // Ids begin with the time.
    let (older, values) = match after {
        None => ("", vec![int(limit)]),
        Some(after) => ("WHERE experiment_id < $2", vec![int(limit), text(after)]),
    };
    let sql = format!("SELECT * FROM experiments_latest {older} ORDER BY experiment_id DESC LIMIT $1");
    let rows = store.ask(tenant, &sql, values).await?;
    Ok(rows.iter().map(Experiment::of).collect())
}

/// What `experiment` is compared with if nobody says: the one of its dataset that is marked as the baseline, else the
/// latest that ended well.
pub async fn baseline_of(
    store: &Store,
    tenant: &str,
    new: &Experiment,
) -> Result<Option<Experiment>, LabError> {
    let sql = "SELECT * FROM experiments_latest WHERE dataset_id = $1 AND experiment_id <> $2 \
               AND (baseline OR status = 'success') ORDER BY baseline DESC, experiment_id DESC LIMIT 1";
    let rows = store.ask(tenant, sql, vec![text(&new.dataset_id), text(&new.experiment_id)]).await?;
    Ok(rows.iter().next().map(Experiment::of))
}

/// What several of a dataset are compared with if nobody says: the one that is marked as the baseline, be it one of them, else the
/// latest that ended well and is none of them.
///
/// # Errors
/// The limits of queries.
pub async fn baseline_beside(
    store: &Store,
    tenant: &str,
    dataset_id: &str,
    named: &[Experiment],
) -> Result<Option<Experiment>, LabError> {
    let places: Vec<String> = (0..named.len()).map(|at| format!("${}", at + 2)).collect();
    let sql = format!(
        "SELECT * FROM experiments_latest WHERE dataset_id = $1 \
         AND (baseline OR (status = 'success' AND experiment_id NOT IN ({}))) \
         ORDER BY baseline DESC, experiment_id DESC LIMIT 1",
        places.join(", ")
    );
    let ids = named.iter().map(|one| text(&one.experiment_id));
    let rows = store.ask(tenant, &sql, std::iter::once(text(dataset_id)).chain(ids).collect()).await?;
    Ok(rows.iter().next().map(Experiment::of))
}

/// A run that is there.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// Which attempt.
    pub attempt: i64,
    /// Whether the target failed.
    pub is_error: bool,
    /// The hash of the item as it was asked.
    pub item_hash: Option<String>,
    /// Milliseconds.
    pub duration_ms: Option<f64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Tokens read.
    pub input_tokens: Option<i64>,
    /// Tokens written.
    pub output_tokens: Option<i64>,
    /// Why there is no answer.
    pub error: Option<String>,
}

/// An item and a repetition.
pub type Key = (String, i64);

/// Runs by what they are known by. There may be a hundred thousand: the hash is a quick one, which each process seeds anew.
pub type Runs = QuickMap<Key, StoredRun>;

/// The last attempt of each run of an experiment.
///
/// # Errors
/// The limits of queries.
pub async fn runs(store: &Store, tenant: &str, experiment_id: &str) -> Result<Runs, LabError> {
    let rows = store.ask(tenant, RUNS, vec![text(experiment_id)]).await?;
    Ok(last_runs(rows.batches()))
}

// Which attempt is the last is told below: the view would hash all of them.
const RUNS: &str = "SELECT run_id, item_id, repetition, attempt, status, item_hash, duration_ms, cost_usd, input_tokens, \
                    output_tokens, error FROM runs WHERE experiment_id = $1";

fn last_runs(batches: &[RecordBatch]) -> Runs {
    let mut last = Runs::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for batch in batches {
        let column = |name: &str| Column::of(batch, name);
        let (item, repetition, attempt) = (column("item_id"), column("repetition"), column("attempt"));
        let (status, hash, error) = (column("status"), column("item_hash"), column("error"));
        let (duration, cost) = (column("duration_ms"), column("cost_usd"));
        let (read, written) = (column("input_tokens"), column("output_tokens"));
        for at in 0..batch.num_rows() {
            let attempt = attempt.int(at).unwrap_or(1);
            let run = || StoredRun {
                attempt,
                is_error: status.borrowed(at) == Some("error"),
                item_hash: hash.may(at),
                duration_ms: duration.number(at),
                cost_usd: cost.number(at),
                input_tokens: read.int(at),
                output_tokens: written.int(at),
                error: error.may(at),
            };
            match last.entry((item.text(at), repetition.int(at).unwrap_or(1))) {
                Entry::Occupied(known) if known.get().attempt >= attempt => {}
                Entry::Occupied(mut known) => *known.get_mut() = run(),
                Entry::Vacant(none) => {
                    none.insert(run());
                }
            }
        }
    }
    last
}

/// A column of JSON text; null where there is none.
pub fn parsed(text: Option<&str>) -> Value {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// What the last attempt of each run of an experiment answered.
pub async fn answers(
    store: &Store,
    tenant: &str,
    experiment_id: &str,
) -> Result<HashMap<Key, Answered>, LabError> {
    let sql = "SELECT item_id, repetition, output, contexts FROM runs_latest WHERE experiment_id = $1";
    let rows = store.ask(tenant, sql, vec![text(experiment_id)]).await?;
    let key = |row: Row<'_>| (row.text("item_id"), row.int("repetition").unwrap_or(1));
    let answered = |row: Row<'_>| {
        let (output, contexts) = (row.may("output"), row.may("contexts"));
        (key(row), Answered { output, contexts, reasons: HashMap::new() })
    };
    let mut answers: HashMap<Key, Answered> = rows.iter().map(answered).collect();
    let sql = "SELECT r.item_id, r.repetition, s.evaluator, s.metric, s.rationale, s.error, s.evidence \
               FROM scores s JOIN runs_latest r ON s.run_id = r.run_id AND s.score_version = r.attempt \
               WHERE s.source = 'experiment' AND s.experiment_id = $1 AND r.experiment_id = $1";
    for row in store.ask(tenant, sql, vec![text(experiment_id)]).await?.iter() {
        if let Some(answer) = answers.get_mut(&key(row)) {
            let ratings = row.may("evidence").map_or_else(Vec::new, |parts| Rated::of_evidence(&parts));
            let reason = Reason { rationale: row.may("rationale"), error: row.may("error"), ratings };
            answer.reasons.insert((row.text("evaluator"), row.text("metric")), reason);
        }
    }
    Ok(answers)
}

/// Why a score is what it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reason {
    /// What the evaluator said.
    pub rationale: Option<String>,
    /// What went wrong, or what was missing.
    pub error: Option<String>,
    /// What was said of each part, where parts were judged one by one.
    pub ratings: Vec<Rated>,
}

/// What a target answered, as it is stored: JSON text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answered {
    /// The answer; none beside an error.
    pub output: Option<String>,
    /// What was retrieved, a JSON array; none where the target did not say.
    pub contexts: Option<String>,
    /// What its evaluators said, by evaluator and metric.
    pub reasons: HashMap<(String, String), Reason>,
}

/// A score of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The item.
    pub item_id: String,
    /// The repetition.
    pub repetition: i64,
    /// The evaluator. Many scores have the same: they share it.
    pub evaluator: Arc<str>,
    /// The metric.
    pub metric: Arc<str>,
    /// ok, error or skipped.
    pub status: Cow<'static, str>,
    /// The value.
    pub value: Option<f64>,
    /// The verdict.
    pub passed: Option<bool>,
    /// The class.
    pub label: Option<String>,
}

/// The last attempt of each run of an experiment, and the scores of these attempts.
///
/// # Errors
/// The limits of queries.
pub async fn runs_and_scores(
    store: &Store,
    tenant: &str,
    experiment_id: &str,
) -> Result<(Runs, Vec<Scored>), LabError> {
    let broken = |e: tokio::task::JoinError| LabError::Broken(e.to_string());
    // Put together here: the engine would hash all runs once more, and their scores.
    // Runs first: the scores of every attempt that is known by then are there, and later ones are passed over.
    let rows = Box::pin(store.ask(tenant, RUNS, vec![text(experiment_id)])).await?;
    let ranges = apart(&attempts(rows.batches()));
    let runs = tokio::task::spawn_blocking(move || (last_runs(rows.batches()), rows));
    let mut scores = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        let values = vec![text(experiment_id), int(from), int(to)];
        scores.push(Box::pin(store.ask(tenant, SCORES, values)).await?);
    }
    let (runs, rows) = runs.await.map_err(broken)?;
    let told = tokio::task::spawn_blocking(move || {
        let batches = scores.iter().flat_map(|rows| rows.batches());
        scores_of(batches, &lasts(rows.batches()))
    });
    Ok((runs, told.await.map_err(broken)?))
}

/// The scores of one attempt: as many as if no run had been asked again, so that more attempts reach no limit of a query.
const SCORES: &str = "SELECT run_id, score_version, evaluator, metric, status, value, passed, label FROM scores \
                      WHERE source = 'experiment' AND experiment_id = $1 AND score_version BETWEEN $2 AND $3";

/// The first and the last attempt of each query. Late ones come together: a client may number them as it likes.
pub fn apart(attempts: &BTreeSet<i64>) -> Vec<(i64, i64)> {
    const ALONE: usize = 16;
    let late = attempts.iter().nth(ALONE).map(|at| (*at, i64::MAX));
    attempts.iter().take(ALONE).map(|at| (*at, *at)).chain(late).collect()
}

/// The numbers of the attempts that are there.
fn attempts(batches: &[RecordBatch]) -> BTreeSet<i64> {
    let of = |batch: &RecordBatch| {
        let attempt = Column::of(batch, "attempt");
        let mut all: Vec<i64> = (0..batch.num_rows()).map(|at| attempt.int(at).unwrap_or(1)).collect();
        all.dedup();
        all
    };
    batches.iter().flat_map(of).collect()
}

/// The last attempt of a run, its item and its repetition.
type Last<'a> = (i64, &'a str, i64);

/// The last attempts by the ids of their runs.
fn lasts(batches: &[RecordBatch]) -> QuickMap<&str, Last<'_>> {
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    let mut last: QuickMap<&str, Last<'_>> = QuickMap::with_capacity(rows);
    for batch in batches {
        let column = |name: &str| Column::of(batch, name);
        let (run, item) = (column("run_id"), column("item_id"));
        let (repetition, attempt) = (column("repetition"), column("attempt"));
        for at in 0..batch.num_rows() {
            let (Some(run), Some(item)) = (run.borrowed(at), item.borrowed(at)) else { continue };
            let this = (attempt.int(at).unwrap_or(1), item, repetition.int(at).unwrap_or(1));
            let known = last.entry(run).or_insert(this);
            if known.0 < this.0 {
                *known = this;
            }
        }
    }
    last
}

/// Words that many rows have, each kept once.
#[derive(Default)]
struct Words<'a>(QuickMap<&'a str, Arc<str>>);

impl<'a> Words<'a> {
    fn of(&mut self, word: &'a str) -> Arc<str> {
        self.0.entry(word).or_insert_with(|| word.into()).clone()
    }
}

fn status_of(word: &str) -> Cow<'static, str> {
    match word {
        "ok" => "ok".into(),
        "error" => "error".into(),
        "skipped" => "skipped".into(),
        other => other.to_owned().into(),
    }
}

fn scores_of<'a>(
    batches: impl Iterator<Item = &'a RecordBatch> + Clone,
    last: &QuickMap<&str, Last<'_>>,
) -> Vec<Scored> {
    let mut scores = Vec::with_capacity(batches.clone().map(RecordBatch::num_rows).sum());
    let mut words = Words::default();
    for batch in batches {
        let column = |name: &str| Column::of(batch, name);
        let (run, version) = (column("run_id"), column("score_version"));
        let (evaluator, metric, status) = (column("evaluator"), column("metric"), column("status"));
        let (value, passed, label) = (column("value"), column("passed"), column("label"));
        for at in 0..batch.num_rows() {
            let known = run.borrowed(at).and_then(|run| last.get(run));
            let Some((attempt, item, repetition)) = known else { continue };
            if version.int(at) != Some(*attempt) {
                continue;
            }
            scores.push(Scored {
                item_id: (*item).to_owned(),
                repetition: *repetition,
                evaluator: words.of(evaluator.borrowed(at).unwrap_or_default()),
                metric: words.of(metric.borrowed(at).unwrap_or_default()),
                status: status_of(status.borrowed(at).unwrap_or_default()),
                value: value.number(at),
                passed: passed.flag(at),
                label: label.may(at),
            });
        }
    }
    // Sums and files do not depend on the order in which files are read then.
    scores.sort_by(|a, b| {
        (a.repetition, &a.evaluator, &a.metric).cmp(&(b.repetition, &b.evaluator, &b.metric))
    });
    scores
}
