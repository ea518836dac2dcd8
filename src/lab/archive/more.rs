//! What comes with datasets and experiments: suites, what their checks said, and what people did.

use super::stored::read;
use super::tables::{
    CHECK_RESULTS, Kept, LABELS, QUEUES, REVIEW_ANSWERS, REVIEW_ITEMS, Rows, SUITE_CHECKS, SUITE_TESTS,
    SUITES,
};
use super::versions::{Bounds, Versions};
use crate::domain::id::TraceId;
use crate::lab::cells::{self, Row};
use crate::lab::dataset::{Reference, checked_name, redact_json};
use crate::lab::error::LabError;
use crate::lab::experiment::item_of_run;
use crate::lab::ids::trace_ids;
use crate::lab::store::{Store, Who, text};
use crate::lab::suite::{Exported, Form, export, find, revision_hash, whole};
use arrow::array::RecordBatch;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The suites of datasets and the reviews of experiments, without tables that have no row.
///
/// # Errors
/// The limits of queries.
pub async fn rows<'a>(
    store: &Store,
    who: &Who,
    datasets: impl Iterator<Item = &'a String>,
    experiments: impl Iterator<Item = &'a String> + Clone,
) -> Result<Vec<(Kept, RecordBatch)>, LabError> {
    let of_datasets = "SELECT DISTINCT suite_id AS id FROM suites WHERE dataset_id = $1";
    let of_experiments = "SELECT DISTINCT queue_id AS id FROM review_queues WHERE source_kind = 'experiment' AND experiment_id = $1";
    let suites = ids(store, who, of_datasets, datasets).await?;
    let queues = ids(store, who, of_experiments, experiments.clone()).await?;
    let mut more = Vec::new();
    for kept in [SUITES, SUITE_TESTS, SUITE_CHECKS] {
        more.push((kept, read(store, who, kept, "suite_id", suites.iter()).await?));
    }
    more.push((CHECK_RESULTS, read(store, who, CHECK_RESULTS, "experiment_id", experiments).await?));
    for kept in [QUEUES, REVIEW_ITEMS, REVIEW_ANSWERS, LABELS] {
        more.push((kept, read(store, who, kept, "queue_id", queues.iter()).await?));
    }
    more.retain(|(_, rows)| rows.num_rows() > 0);
    Ok(more)
}

async fn ids<'a>(
    store: &Store,
    who: &Who,
    sql: &str,
    of: impl Iterator<Item = &'a String>,
) -> Result<BTreeSet<String>, LabError> {
    let mut ids = BTreeSet::new();
    for id in of {
        let rows = store.ask(&who.tenant, sql, vec![text(id)]).await?;
        ids.extend(rows.iter().map(|row| row.text("id")));
    }
    Ok(ids)
}

/// The rows of such a table that are there already, as far as `archived` could be among them.
///
/// # Errors
/// The limits of queries.
pub async fn there(store: &Store, who: &Who, kept: Kept, archived: &Rows) -> Result<RecordBatch, LabError> {
    let (column, of) = if [SUITES, SUITE_TESTS, SUITE_CHECKS].contains(&kept) {
        ("suite_id", SUITES)
    } else if kept == CHECK_RESULTS {
        ("experiment_id", CHECK_RESULTS)
    } else {
        ("queue_id", QUEUES)
    };
    let ids: BTreeSet<String> = each(archived, of).map(|row| row.text(column)).collect();
    read(store, who, kept, column, ids.iter()).await
}

/// The newest name of each suite of an archive.
pub fn suite_names(archived: &Rows) -> BTreeMap<String, String> {
    // Its revisions are in their order.
    each(archived, SUITES).map(|row| (row.text("suite_id"), row.text("name"))).collect()
}

/// The column `it` of the first row.
async fn first(store: &Store, who: &Who, sql: &str, values: &[&str]) -> Result<Option<String>, LabError> {
    let values = values.iter().map(|value| text(value)).collect();
    let rows = store.ask(&who.tenant, sql, values).await?;
    Ok(rows.iter().next().map(|row| row.text("it")))
}

/// What the tenant has that a suite or a queue of the archive would take the place of; none where there is nothing.
///
/// # Errors
/// The limits of queries.
pub async fn clash(store: &Store, who: &Who, archived: &Rows) -> Result<Option<String>, LabError> {
    let suites: BTreeMap<String, (String, String)> = each(archived, SUITES)
        .map(|row| (row.text("suite_id"), (row.text("name"), row.text("dataset_id"))))
        .collect();
    for (id, (name, dataset)) in &suites {
        // Where it is there already, it may have got another name since.
        let sql =
            "SELECT dataset_id AS it FROM suites WHERE suite_id = $1 ORDER BY dataset_id = $2 DESC LIMIT 1";
        match first(store, who, sql, &[id.as_str(), dataset.as_str()]).await? {
            Some(found) if found == *dataset => {}
            Some(_) => return Ok(Some(format!("the suite {id} has other tests here"))),
            None => {
                let sql = "SELECT suite_id AS it FROM suites WHERE name = $1 LIMIT 1";
                if first(store, who, sql, &[name.as_str()]).await?.is_some() {
                    return Ok(Some(format!("the name {name:?} is that of another suite here")));
                }
            }
        }
    }
    let queues: BTreeMap<String, String> =
        each(archived, QUEUES).map(|row| (row.text("queue_id"), row.text("experiment_id"))).collect();
    for (id, experiment) in &queues {
        let sql = "SELECT queue_id AS it FROM review_queues WHERE queue_id = $1 \
                   AND (experiment_id IS NULL OR experiment_id <> $2) LIMIT 1";
        if first(store, who, sql, &[id.as_str(), experiment.as_str()]).await?.is_some() {
            return Ok(Some(format!("the queue {id} is over something else here")));
        }
    }
    Ok(None)
}

/// The newest revision of each suite for other programs, which is not read back: none of one that lost tests.
///
/// # Errors
/// The limits of queries.
pub async fn files(store: &Store, who: &Who, archived: &Rows) -> Result<BTreeMap<String, Vec<u8>>, LabError> {
    let mut files = BTreeMap::new();
    for (suite_id, name) in suite_names(archived) {
        let head = find(store, &who.tenant, &Reference { name, version: None }).await?;
        let Ok(suite) = whole(store, &who.tenant, &head).await else { continue };
        for (form, end) in [(Form::Csv, "csv"), (Form::Json, "json")] {
            if let Ok((bytes, _)) = export(Exported::Suite(&suite), form) {
                files.insert(format!("suites/{}.{end}", plain(&suite_id)), bytes);
            }
        }
    }
    Ok(files)
}

/// An id as the name of a file.
fn plain(id: &str) -> String {
    let is_plain = id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_plain { id.to_owned() } else { hex::encode(Sha256::digest(id)) }
}

fn each(rows: &Rows, kept: Kept) -> impl Iterator<Item = Row<'_>> {
    rows.more(kept).into_iter().flat_map(|rows| cells::rows(std::slice::from_ref(rows)))
}

/// What runs an archive has: the experiment and the run.
type Runs = HashSet<(String, String)>;

/// Holds suites and reviews against what else the archive has.
///
/// # Errors
/// The first row that says something of what the archive does not have, or is not what its hash says.
pub fn held(
    rows: &Rows,
    versions: &Versions,
    experiments: &BTreeMap<String, String>,
    runs: &Runs,
    bounds: Bounds<'_>,
) -> Result<(), String> {
    suites(rows, versions, bounds)?;
    for row in each(rows, CHECK_RESULTS) {
        if !runs.contains(&(row.text("experiment_id"), row.text("run_id"))) {
            return Err(format!("a result of check {} is not of a run of the archive", row.text("check_id")));
        }
    }
    reviews(rows, experiments, runs, bounds)
}

/// A revision of a suite.
type Revision = (String, i64);

fn suites(rows: &Rows, versions: &Versions, bounds: Bounds<'_>) -> Result<(), String> {
    let of = |row: Row<'_>| -> Revision { (row.text("suite_id"), row.int("revision").unwrap_or_default()) };
    let mut tests: HashMap<Revision, BTreeMap<i64, (String, String)>> = HashMap::new();
    for row in each(rows, SUITE_TESTS) {
        let (id, spec) = (row.text("test_id"), row.text("spec"));
        if row.text("content_hash") != hex::encode(Sha256::digest(&spec)) {
            return Err(format!(
                "the test {id:?} of the suite {}: its content_hash is not that of its content",
                of(row).0
            ));
        }
        tests.entry(of(row)).or_default().insert(row.int("ordinal").unwrap_or_default(), (id, spec));
    }
    let mut checks: HashMap<Revision, BTreeMap<(Option<String>, i64), String>> = HashMap::new();
    for row in each(rows, SUITE_CHECKS) {
        let place = (row.may("test_id"), row.int("ordinal").unwrap_or_default());
        checks.entry(of(row)).or_default().insert(place, row.text("spec"));
    }
    let mut known = HashSet::new();
    for row in each(rows, SUITES) {
        let (revision, name) = (of(row), row.text("name"));
        let told = |why: &str| format!("revision {} of the suite {name:?}: {why}", revision.1);
        checked_name(&format!("suite/{name}")).map_err(|why| told(&why))?;
        let last = versions.get(&row.text("dataset_id")).map_or(0, Vec::len);
        let version = row.int("dataset_version").and_then(|version| usize::try_from(version).ok());
        if !version.is_some_and(|version| (1..=last).contains(&version)) {
            return Err(told("its tests are no version of a dataset of the archive"));
        }
        let own: Vec<(String, String)> =
            tests.get(&revision).into_iter().flat_map(|tests| tests.values().cloned()).collect();
        let of_it = checks.get(&revision).into_iter().flatten();
        let of_it: Vec<(Option<String>, String)> =
            of_it.map(|((test, _), spec)| (test.clone(), spec.clone())).collect();
        let hash = revision_hash(&row.text("spec"), &own, &of_it, bounds.redact).map_err(|why| told(&why))?;
        // Tests that were purged leave a hash that nothing here can have.
        let is_whole =
            usize::try_from(row.int("tests").unwrap_or_default()).is_ok_and(|all| all <= own.len());
        if is_whole && row.text("content_hash") != hash {
            return Err(told("its content_hash is not that of its content"));
        }
        known.insert(revision);
    }
    match tests.keys().chain(checks.keys()).find(|revision| !known.contains(*revision)) {
        None => Ok(()),
        Some((suite, revision)) => {
            Err(format!("the archive has no revision {revision} of the suite {suite}, of which it has rows"))
        }
    }
}

fn reviews(
    rows: &Rows,
    experiments: &BTreeMap<String, String>,
    runs: &Runs,
    bounds: Bounds<'_>,
) -> Result<(), String> {
    let mut queues: HashMap<String, String> = HashMap::new();
    for row in each(rows, QUEUES) {
        let (id, experiment) = (row.text("queue_id"), row.text("experiment_id"));
        let source: Value = serde_json::from_str(&row.text("source")).unwrap_or_default();
        // A query of an archive is never asked.
        let is_of_it = row.text("source_kind") == "experiment"
            && source["experiment"] == experiment
            && source.get("sql").is_none()
            && source.get("proposal").is_none();
        if !is_of_it || !experiments.contains_key(&experiment) {
            return Err(format!("the queue {id} is not over an experiment of the archive"));
        }
        if !["open", "closed"].contains(&row.text("status").as_str()) {
            return Err(format!("the queue {id} is neither open nor closed"));
        }
        queues.insert(id, experiment);
    }
    let attempt = |row: Row<'_>| (row.text("run_id"), row.int("attempt").unwrap_or_default());
    let traces: HashMap<(String, i64), String> = cells::rows(std::slice::from_ref(&rows.runs))
        .map(|row| (attempt(row), row.text("trace_id")))
        .collect();
    let (mut items, mut labelled) = (HashSet::new(), HashMap::new());
    for row in each(rows, REVIEW_ITEMS) {
        let (queue, item, (run, attempt)) = (row.text("queue_id"), row.text("item"), attempt(row));
        let is_of_it =
            queues.get(&queue).is_some_and(|experiment| runs.contains(&(experiment.clone(), run.clone())));
        let trace = traces.get(&(run.clone(), attempt)).filter(|trace| **trace == row.text("trace_id"));
        let (Some(trace), true) = (trace, is_of_it) else {
            return Err(format!("the item {item} to review is not a run of the experiment of its queue"));
        };
        // By another id it could be an item of production's draws.
        if item != item_of_run(&queue, &run, attempt) || row.text("draw") != queue {
            return Err(format!("the item {item} to review has not the id of its run in its queue"));
        }
        probable(row, &format!("the item {item} to review"))?;
        let is_own = is_marked(trace);
        labelled.insert(item.clone(), if is_own { trace.clone() } else { trace_ids(&run, attempt).0 });
        items.insert((queue, item));
    }
    for row in each(rows, REVIEW_ANSWERS) {
        let id = row.text("answer_id");
        if !items.contains(&(row.text("queue_id"), row.text("item"))) {
            return Err(format!("the answer {id} is to no item of the archive"));
        }
        redacted(row, &["comment", "response", "auto_evals"], bounds)
            .map_err(|why| format!("the answer {id}: {why}"))?;
    }
    for row in each(rows, LABELS) {
        let (id, trace) = (row.text("annotation_id"), row.text("trace_id"));
        // Under a trace of production it would move production's numbers, and under another run's that one's.
        if !is_marked(&trace) || labelled.get(&row.text("item")) != Some(&trace) {
            return Err(format!("the label {id} is not of a run that the archive reviews"));
        }
        probable(row, &format!("the label {id}"))?;
        redacted(row, &["comment"], bounds).map_err(|why| format!("the label {id}: {why}"))?;
    }
    Ok(())
}

/// Whether a trace is of a run of an experiment.
fn is_marked(trace: &str) -> bool {
    TraceId::from_hex(trace).is_ok_and(|id| id.is_of_experiment())
}

/// Probabilities are above 0 and up to 1, or 0 where nobody drew.
fn probable(row: Row<'_>, what: &str) -> Result<(), String> {
    let mut told =
        ["inclusion_probability", "label_probability"].into_iter().filter_map(|name| row.number(name));
    match told.find(|number| !(0.0..=1.0).contains(number)) {
        None => Ok(()),
        Some(number) => Err(format!("{what} has the probability {number}")),
    }
}

/// Nothing that people said would have been redacted here.
fn redacted(row: Row<'_>, names: &[&str], bounds: Bounds<'_>) -> Result<(), String> {
    let Some(redact) = bounds.redact else { return Ok(()) };
    for said in names.iter().filter_map(|name| row.may(name)) {
        let mut value = serde_json::from_str(&said).unwrap_or(Value::String(said));
        let before = value.clone();
        redact_json(&mut value, redact);
        if value != before {
            return Err("ingest.redact would change it: make the archive where it was redacted".to_owned());
        }
    }
    Ok(())
}
