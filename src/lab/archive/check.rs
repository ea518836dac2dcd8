//! What an archive says, held against what it has.

use super::documents;
use super::manifest::{Files, MANIFEST, Manifest};
use super::more;
use super::span_files::{SpanFiles, is_among};
use super::tables::{MORE, Rows};
use super::versions::{Bounds, Versions, versions};
use crate::lab::cells;
use crate::lab::ids::run_id;
use crate::lab::zip::{Archive, Limits};
use bytes::Bytes;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// States that an experiment may be in.
const STATES: [&str; 6] = ["pending", "running", "paused", "success", "error", "cancelled"];

/// An archive that is what it says.
#[derive(Debug)]
pub struct Opened {
    /// What it says of itself.
    pub manifest: Manifest,
    /// Its rows.
    pub rows: Rows,
    /// The versions of its datasets.
    pub versions: Versions,
    /// The files of its items, by their hashes.
    pub documents: BTreeMap<String, Bytes>,
    /// The spans of its runs.
    pub spans: Arc<SpanFiles>,
}

/// Opens an archive. When it returns, every hash was computed again, every row belongs to what the archive names, and no
/// limit of `bounds` is broken.
///
/// # Errors
/// The first thing that is not so, with its place.
pub fn opened(bytes: Bytes, bounds: Bounds<'_>) -> Result<Opened, String> {
    // Its tables have as many rows as there are: what all of them have together is bounded.
    let archive = Archive::open(bytes, Limits::of(bounds.config).together())?;
    let (spans, others): (Vec<String>, Vec<String>) =
        archive.names().map(str::to_owned).partition(|name| is_among(name));
    let mut files = Files::new();
    for name in others {
        let content = archive.unpacked(&name)?;
        files.insert(name, content);
    }
    let manifest = Manifest::read(&files, &spans)?;
    let mut rows = Rows::made(|kept| {
        let bytes =
            files.remove(kept.file).ok_or_else(|| format!("{:?} is missing in the archive", kept.file))?;
        kept.read(bytes)
    })?;
    for kept in MORE {
        if let Some(bytes) = files.remove(kept.file) {
            rows.more.push((kept, kept.read(bytes)?));
        }
    }
    let versions = versions(&rows, bounds)?;
    let ours: Vec<(&str, i64)> =
        manifest.datasets.iter().map(|one| (one.dataset_id.as_str(), one.versions)).collect();
    let found = versions.iter().map(|(id, all)| (id.as_str(), i64::try_from(all.len()).unwrap_or(i64::MAX)));
    if ours != found.collect::<Vec<_>>() {
        return Err(format!("the datasets of {MANIFEST} are not those of datasets/datasets.parquet"));
    }
    let experiments = experiments(&rows, &versions)?;
    let ours: Vec<&str> = manifest.experiments.iter().map(|one| one.experiment_id.as_str()).collect();
    if ours != experiments.keys().map(String::as_str).collect::<Vec<_>>() {
        return Err(format!("the experiments of {MANIFEST} are not those of experiments.parquet"));
    }
    let runs = runs(&rows, &experiments, bounds)?;
    scores(&rows, &experiments, &runs)?;
    more::held(&rows, &versions, &experiments, &runs, bounds)?;
    let documents = documents::taken(&mut files, &rows.items, bounds.config.max_file_size)?;
    let spans = Arc::new(SpanFiles::checked(archive, spans, &manifest, &rows.runs, bounds)?);
    Ok(Opened { manifest, rows, versions, documents, spans })
}

/// The dataset of each experiment.
fn experiments(rows: &Rows, versions: &Versions) -> Result<BTreeMap<String, String>, String> {
    let mut known = BTreeMap::new();
    for row in cells::rows(std::slice::from_ref(&rows.experiments)) {
        let (id, dataset_id) = (row.text("experiment_id"), row.text("dataset_id"));
        let version =
            row.int("dataset_version").and_then(|version| usize::try_from(version.checked_sub(1)?).ok());
        let version = version.and_then(|at| versions.get(&dataset_id)?.get(at));
        let is_of_it =
            version.is_some_and(|version| row.may("dataset_hash").as_ref() == Some(&version.content_hash));
        if !is_of_it {
            return Err(format!("the experiment {id} is not over a version of a dataset of the archive"));
        }
        let status = row.text("status");
        if !STATES.contains(&status.as_str()) {
            return Err(format!(
                "the experiment {id} is in the state {status:?}; there are {}",
                STATES.join(", ")
            ));
        }
        if row.text("name").trim().is_empty() {
            return Err(format!("the experiment {id} has no name"));
        }
        if known.insert(id.clone(), dataset_id.clone()).is_some_and(|before| before != dataset_id) {
            return Err(format!("the experiment {id} is over two datasets"));
        }
    }
    Ok(known)
}

/// The runs, each of an experiment and an item of the archive.
fn runs(
    rows: &Rows,
    experiments: &BTreeMap<String, String>,
    bounds: Bounds<'_>,
) -> Result<HashSet<(String, String)>, String> {
    let of = |row: cells::Row<'_>| (row.text("dataset_id"), row.text("item_id"));
    let items: HashSet<(String, String)> = cells::rows(std::slice::from_ref(&rows.items)).map(of).collect();
    let most = bounds.config.max_item_size;
    let mut known = HashSet::new();
    for row in cells::rows(std::slice::from_ref(&rows.runs)) {
        let (id, experiment, item) = (row.text("run_id"), row.text("experiment_id"), row.text("item_id"));
        let repetition = row.int("repetition").unwrap_or_default();
        let dataset = experiments.get(&experiment).cloned().unwrap_or_default();
        if !items.contains(&(dataset, item.clone())) || id != run_id(&experiment, &item, repetition) {
            return Err(format!("the run {id} is not one of an experiment and an item of the archive"));
        }
        let size =
            ["output", "contexts", "output_context"].map(|name| row.may(name).map_or(0, |text| text.len()));
        if size.iter().sum::<usize>() > most.in_memory() {
            return Err(format!("the run {id} answered more than {most} (lab.max_item_size)"));
        }
        known.insert((experiment, id));
    }
    Ok(known)
}

/// Scores say something of the archive's own runs, and nothing of production.
fn scores(
    rows: &Rows,
    experiments: &BTreeMap<String, String>,
    runs: &HashSet<(String, String)>,
) -> Result<(), String> {
    for row in cells::rows(std::slice::from_ref(&rows.scores)) {
        let (id, source, experiment) = (row.text("score_id"), row.text("source"), row.text("experiment_id"));
        if source != "experiment" {
            return Err(format!(
                "the score {id} is of the source {source:?}: an archive has scores of experiments only"
            ));
        }
        if !experiments.contains_key(&experiment) || !runs.contains(&(experiment, row.text("run_id"))) {
            return Err(format!("the score {id} is not of a run of the archive"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::manifest::{OfDataset, OfExperiment};
    use super::super::tables::{Kept, SCORES};
    use super::*;
    use crate::lab::Config;
    use crate::lab::dataset::Item;
    use crate::lab::zip::write as archive;
    use crate::units::ByteSize;
    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, new_null_array};
    use arrow::datatypes::DataType;
    use serde_json::{Value, json};
    use sha2::{Digest, Sha256};

    /// A table of one row: these cells, and what a column that must not be empty needs.
    fn one(kept: Kept, cells: &[(&str, Value)]) -> RecordBatch {
        let schema = kept.stored(&[]).unwrap().schema();
        let columns = schema.fields().iter().map(|field| {
            let told = cells.iter().find(|(name, _)| name == field.name()).map(|(_, value)| value.clone());
            let told = told.unwrap_or_default();
            let column: ArrayRef = match field.data_type() {
                DataType::Int64 => Arc::new(Int64Array::from(vec![told.as_i64().unwrap_or(1)])),
                DataType::Utf8 => {
                    let empty = (!field.is_nullable()).then(String::new);
                    Arc::new(StringArray::from(vec![told.as_str().map(str::to_owned).or(empty)]))
                }
                other if field.is_nullable() => new_null_array(other, 1),
                other => arrow::compute::cast(&Int64Array::from(vec![0]), other).unwrap(),
            };
            column
        });
        RecordBatch::try_new(schema.clone(), columns.collect()).unwrap()
    }

    fn item() -> (String, String) {
        let item: Item = serde_json::from_value(json!({"input": "Where?"})).unwrap();
        let hash = item.into_row(Config::default().max_item_size).unwrap().content_hash.unwrap();
        (hash.clone(), crate::lab::dataset::hash_of_all(std::iter::once(hash.as_str())))
    }

    type Cells = Vec<(&'static str, Value)>;

    /// The rows of one dataset, item, experiment, run and score.
    fn tables() -> [(&'static str, Cells); 5] {
        let ((of_item, of_version), run) = (item(), run_id("e", "i", 1));
        let of_dataset = |more: Cells| [vec![("dataset_id", json!("d"))], more].concat();
        let of_run = |more: Cells| {
            let ids = vec![("experiment_id", json!("e")), ("item_id", json!("i")), ("run_id", json!(run))];
            [ids, vec![("status", json!("ok"))], more].concat()
        };
        let put = vec![("item_id", json!("i")), ("op", json!("put")), ("input", json!("\"Where?\""))];
        let asked = vec![("experiment_id", json!("e")), ("name", json!("v1")), ("status", json!("success"))];
        [
            ("datasets", of_dataset(vec![("name", json!("d")), ("content_hash", json!(of_version))])),
            ("items", of_dataset([put, vec![("content_hash", json!(of_item))]].concat())),
            ("experiments", of_dataset([asked, vec![("dataset_hash", json!(of_version))]].concat())),
            ("runs", of_run(Vec::new())),
            ("scores", of_run(vec![("score_id", json!("s")), ("source", json!("experiment"))])),
        ]
    }

    /// A suite of one test and one check, what that said of the run, and a review of it, in the order of [`MORE`].
    fn more_tables() -> [(&'static str, Cells); 8] {
        let (suite, test, check) =
            (r#"{"suite":{"name":"s"}}"#, r#"{"id":"t","input":"Where?"}"#, r#"{"operator":"is-json"}"#);
        let (own, checks) = ([("t".to_owned(), test.to_owned())], [(Some("t".to_owned()), check.to_owned())]);
        let hash = crate::lab::suite::revision_hash(suite, &own, &checks, None).unwrap();
        let of_test = hex::encode(Sha256::digest(test));
        let run = run_id("e", "i", 1);
        let trace = crate::lab::ids::trace_ids(&run, 1).0;
        let item = crate::lab::experiment::item_of_run("q", &run, 1);
        let text = |column: &'static str, value: &str| (column, json!(value));
        let of_suite = |more: Cells| [vec![text("suite_id", "s")], more].concat();
        let of_queue = |more: Cells| [vec![text("queue_id", "q"), text("item", &item)], more].concat();
        let revision = vec![
            text("name", "s"),
            text("dataset_id", "d"),
            text("spec", suite),
            text("content_hash", &hash),
        ];
        let tested = vec![text("test_id", "t"), text("spec", test), text("content_hash", &of_test)];
        let source = vec![text("source", r#"{"experiment":"e"}"#), text("source_kind", "experiment")];
        [
            ("suites", of_suite(revision)),
            ("tests", of_suite(tested)),
            ("checks", of_suite(vec![text("test_id", "t"), text("spec", check)])),
            ("results", vec![text("run_id", &run), text("experiment_id", "e")]),
            ("queues", of_queue([source, vec![text("experiment_id", "e"), text("status", "open")]].concat())),
            ("reviewed", of_queue(vec![text("run_id", &run), text("draw", "q")])),
            ("answers", of_queue(vec![text("answer_id", "a"), text("kind", "answer")])),
            ("labels", vec![text("annotation_id", "l"), text("trace_id", &trace), text("item", &item)]),
        ]
    }

    /// An archive of them after a change of one of its cells.
    fn changed(table: &str, column: &'static str, value: &str) -> Result<Opened, String> {
        let altered = |(name, mut cells): (&'static str, Cells)| {
            if name == table {
                cells.retain(|(known, _)| *known != column);
                cells.push((
                    column,
                    value.parse::<i64>().map_or_else(|_| json!(value), |number| json!(number)),
                ));
            }
            cells
        };
        let mut all = tables().into_iter().map(altered);
        let mut rows = Rows::made(|kept| Ok::<_, String>(one(kept, &all.next().unwrap())))?;
        let more = MORE.into_iter().zip(more_tables().into_iter().map(altered));
        rows.more = more.map(|(kept, cells)| (kept, one(kept, &cells))).collect();
        let mut files = Files::new();
        for (kept, rows) in rows.all() {
            files.insert(kept.file.to_owned(), kept.written(rows).unwrap());
        }
        let datasets = vec![OfDataset { dataset_id: "d".to_owned(), name: "d".to_owned(), versions: 1 }];
        let experiments = vec![OfExperiment {
            experiment_id: "e".to_owned(),
            name: "v1".to_owned(),
            dataset_id: "d".to_owned(),
        }];
        let manifest = Manifest::of(datasets, experiments, &files, &BTreeMap::from([(SCORES.file, 1)]));
        files.insert(MANIFEST.to_owned(), manifest.bytes().unwrap());
        let config = Config::default();
        let would_redact = |item: &Item| item.input == Some(json!("Where?")) && value == "redacted";
        opened(
            Bytes::from(archive(&files).unwrap()),
            Bounds { config: &config, would_redact: &would_redact, redact: None },
        )
    }

    #[test]
    fn nothing_that_an_archive_says_is_believed() {
        let whole = changed("", "", "").unwrap();
        assert_eq!((whole.versions["d"].len(), whole.rows.more.len()), (1, MORE.len()));
        for (table, column, value, told) in [
            ("datasets", "name", "d@1", "no @"),
            ("datasets", "version", "2", "version 2 where 1 should be"),
            ("datasets", "items", "5", "says that it has 5 items"),
            ("datasets", "content_hash", "none", "of the hash none"),
            ("datasets", "dataset_id", "other", "no such version"),
            ("items", "input", "\"Why?\"", "content_hash is not that of its content"),
            ("items", "version", "7", "no such version"),
            ("items", "op", "keep", "op is \"keep\""),
            ("items", "op", "purge", "its content is there"),
            ("items", "split", "redacted", "ingest.redact"),
            ("experiments", "dataset_hash", "none", "not over a version"),
            ("experiments", "dataset_version", "2", "not over a version"),
            ("experiments", "status", "fine", "the state \"fine\""),
            ("runs", "item_id", "elsewhere", "not one of an experiment and an item"),
            ("runs", "repetition", "2", "not one of an experiment and an item"),
            ("runs", "experiment_id", "other", "not one of an experiment and an item"),
            ("scores", "source", "rule", "of the source \"rule\""),
            ("scores", "run_id", "other", "not of a run of the archive"),
            ("scores", "experiment_id", "other", "not of a run of the archive"),
            ("suites", "name", "a@b", "no @"),
            ("suites", "content_hash", "none", "content_hash is not that of its content"),
            ("suites", "spec", "{}", "content_hash is not that of its content"),
            ("suites", "spec", "nothing", "revision 1 of the suite"),
            ("suites", "spec", r#"{"suite":{"name":"s","dataset":"cases.csv"}}"#, "names files"),
            ("suites", "dataset_version", "2", "no version of a dataset of the archive"),
            ("tests", "spec", "{}", "content_hash is not that of its content"),
            ("tests", "revision", "7", "no revision 7 of the suite"),
            ("checks", "spec", r#"{"operator":"regex"}"#, "content_hash is not that of its content"),
            ("results", "run_id", "other", "not of a run of the archive"),
            ("queues", "source", r#"{"sql":"SELECT 1"}"#, "not over an experiment of the archive"),
            ("queues", "experiment_id", "other", "not over an experiment of the archive"),
            ("queues", "status", "ajar", "neither open nor closed"),
            ("reviewed", "run_id", "other", "not a run of the experiment of its queue"),
            ("reviewed", "item", "other", "not the id of its run"),
            ("reviewed", "draw", "other", "not the id of its run"),
            ("reviewed", "trace_id", "0af7651916cd43dd8448eb211c80319c", "not a run of the experiment"),
            ("answers", "item", "other", "to no item of the archive"),
            ("labels", "item", "other", "not of a run that the archive reviews"),
            (
                "labels",
                "trace_id",
                "0af7651916cd43dd8448eb211c80319c",
                "not of a run that the archive reviews",
            ),
        ] {
            let why = changed(table, column, value).unwrap_err();
            assert!(why.contains(told), "{table}.{column}: {why}");
        }
    }

    #[test]
    fn an_archive_meets_the_limit_that_is_configured() {
        let config = Config { max_zip_size: ByteSize::kib(1), ..Config::default() };
        let files = Files::from([("a".to_owned(), vec![0; 2_000])]);
        let would_redact = |_: &Item| false;
        let bounds = Bounds { config: &config, would_redact: &would_redact, redact: None };
        let why = opened(Bytes::from(archive(&files).unwrap()), bounds).unwrap_err();
        assert_eq!(why, "\"a\" claims 2000 bytes; a file has at most 1024 bytes (lab.max_zip_size)");
    }
}
