//! Putting the rows of an archive into the tables.

use super::check::{Opened, opened};
use super::differ::{Differs, contents, missing};
use super::more;
use super::span_restore;
use super::stored::read;
use super::tables::{
    CHECK_RESULTS, DATASETS, EXPERIMENTS, ITEMS, Kept, LABELS, QUEUES, REVIEW_ANSWERS, REVIEW_ITEMS, RUNS,
    Rows, SCORES, SPANS, SUITE_CHECKS, SUITE_TESTS, SUITES,
};
use super::versions::Bounds;
use crate::lab::dataset::{Item, checked_name, find_by_id, find_or_none};
use crate::lab::error::LabError;
use crate::lab::experiment::Experiments;
use crate::lab::store::Who;
use crate::schema::frame::Part;
use arrow::array::RecordBatch;
use bytes::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;

/// Bytes of rows that are written as one frame.
const FRAME: usize = 32 << 20;

/// The order in which rows are written.
const ORDER: [Kept; 13] = [
    ITEMS,
    SUITE_TESTS,
    SUITE_CHECKS,
    RUNS,
    SCORES,
    CHECK_RESULTS,
    REVIEW_ITEMS,
    REVIEW_ANSWERS,
    LABELS,
    QUEUES,
    EXPERIMENTS,
    SUITES,
    DATASETS,
];

/// How an archive is taken.
#[derive(Debug, Clone, Default)]
pub struct Taking {
    /// The name that its dataset gets.
    pub name: Option<String>,
    /// Whether it is only tried.
    pub is_tried: bool,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// The datasets: name and versions.
    pub datasets: BTreeMap<String, usize>,
    /// How many experiments.
    pub experiments: usize,
    /// Rows that were written, by table.
    pub written: BTreeMap<&'static str, usize>,
    /// Rows that were there already.
    pub there: usize,
}

/// Restores an archive into the tables of `who`'s tenant. When it returns, its rows are durable and visible; those that
/// were there are left as they are.
///
/// # Errors
/// [`LabError::Wrong`] for what is no archive, was changed, or is of a later release; [`LabError::Moved`] where something
/// is there with other content, or a name is taken. Nothing was changed then. Of a span that is there the one here stays.
pub async fn restore(
    all: &Experiments,
    who: &Who,
    bytes: Bytes,
    taking: Taking,
) -> Result<Restored, LabError> {
    let datasets = all.datasets().clone();
    let check = move || {
        let would_redact = |item: &Item| datasets.would_redact(item);
        let (config, redact) = (datasets.config(), datasets.redaction());
        let bounds = Bounds { config, would_redact: &would_redact, redact };
        named(opened(bytes, bounds)?, taking.name)
    };
    let task = tokio::task::spawn_blocking(check).await;
    // What reads files may panic on some that were made to harm.
    let opened = task.map_err(|_| LabError::Wrong("a table of the archive is damaged".to_owned()))?;
    let opened = opened.map_err(|why| LabError::Wrong(format!("{why}; nothing was changed")))?;
    let still = all.still().await;
    let new = new(all, who, &opened).await?;
    let name = |id: &String| opened.versions[id].last().map(|one| one.name.clone()).unwrap_or_default();
    let written: BTreeMap<&'static str, usize> =
        new.all().iter().map(|(kept, rows)| (kept.table.name(), rows.num_rows())).collect();
    let all_rows: usize = opened.rows.all().iter().map(|(_, rows)| rows.num_rows()).sum();
    let mut restored = Restored {
        datasets: opened.versions.iter().map(|(id, versions)| (name(id), versions.len())).collect(),
        experiments: opened.manifest.experiments.len(),
        there: all_rows - written.values().sum::<usize>(),
        written,
    };
    if !taking.is_tried {
        // Before the rows that name them.
        all.datasets().keep_all(who, &opened.documents).await?;
    }
    // Before the runs, too: a run that is seen without its spans would get one that is made of it.
    spans(all, who, &opened, &mut restored, taking.is_tried).await?;
    if !taking.is_tried {
        for frame in frames(&new, who)? {
            all.store().write(frame).await?;
        }
        all.store().restores.count();
        let rows: usize = restored.written.values().sum();
        tracing::info!(tenant = %who.tenant, by = %who.name, rows, "restored an archive");
    }
    drop(still);
    Ok(restored)
}

/// Restores the spans, or only counts them.
async fn spans(
    all: &Experiments,
    who: &Who,
    opened: &Opened,
    restored: &mut Restored,
    is_tried: bool,
) -> Result<(), LabError> {
    if opened.spans.files() == 0 {
        return Ok(());
    }
    let (written, there) = Box::pin(span_restore::put(all.store(), who, &opened.spans, is_tried)).await?;
    restored.written.insert(SPANS.table.name(), written);
    restored.there += there;
    Ok(())
}

/// The archive with another name for its dataset.
fn named(mut opened: Opened, name: Option<String>) -> Result<Opened, String> {
    let Some(name) = name else { return Ok(opened) };
    checked_name(&name)?;
    if opened.versions.len() != 1 {
        return Err(format!("the archive has {} datasets: they keep their names", opened.versions.len()));
    }
    if opened.rows.more(SUITES).is_some() {
        return Err("the archive has a suite, whose tests are the dataset: both keep their names".to_owned());
    }
    let renamed = DATASETS.with(&opened.rows.datasets, "name", &name);
    opened.rows.datasets = renamed.map_err(|e| e.to_string())?;
    opened.versions.values_mut().flatten().for_each(|version| version.name.clone_from(&name));
    Ok(opened)
}

/// The rows that are not there yet.
async fn new(all: &Experiments, who: &Who, opened: &Opened) -> Result<Rows, LabError> {
    let store = all.store();
    for (dataset_id, versions) in &opened.versions {
        let Some(last) = versions.last() else { continue };
        let other = find_or_none(store, &who.tenant, &last.name).await?;
        let other = other.filter(|head| head.dataset_id != *dataset_id);
        // Where it is there already, it may have got another name since.
        let is_there = find_by_id(store, &who.tenant, dataset_id).await?.is_some();
        if let Some(head) = other.filter(|_| !is_there) {
            let error = format!(
                "the name {:?} is that of another dataset here; restore under another name (as, --as NAME); nothing was changed",
                last.name
            );
            return Err(LabError::Moved { error, version: head.version });
        }
    }
    if let Some(why) = more::clash(store, who, &opened.rows).await? {
        let error = format!("{why}; nothing was changed");
        return Err(LabError::Moved { error, version: 0 });
    }
    let mut new_more = Vec::new();
    for (kept, rows) in &opened.rows.more {
        let there = more::there(store, who, *kept, &opened.rows).await?;
        new_more.push((*kept, fresh(*kept, rows, there)?));
    }
    let (datasets, experiments) = (opened.versions.keys(), &opened.manifest.experiments);
    let experiments = || experiments.iter().map(|one| &one.experiment_id);
    let rows = &opened.rows;
    Ok(Rows {
        datasets: fresh(
            DATASETS,
            &rows.datasets,
            read(store, who, DATASETS, "dataset_id", datasets.clone()).await?,
        )?,
        items: fresh(ITEMS, &rows.items, read(store, who, ITEMS, "dataset_id", datasets).await?)?,
        experiments: fresh(
            EXPERIMENTS,
            &rows.experiments,
            read(store, who, EXPERIMENTS, "experiment_id", experiments()).await?,
        )?,
        runs: fresh(RUNS, &rows.runs, read(store, who, RUNS, "experiment_id", experiments()).await?)?,
        scores: fresh(SCORES, &rows.scores, read(store, who, SCORES, "experiment_id", experiments()).await?)?,
        more: new_more,
    })
}

fn fresh(kept: Kept, archived: &RecordBatch, there: RecordBatch) -> Result<RecordBatch, LabError> {
    missing(kept, archived, &there).map_err(|differs| match differs {
        Differs::Other(row) => LabError::Moved {
            error: format!(
                "a row of {row} is there with other content: it was changed or purged here since, or belongs to a dataset \
                 that went another way; nothing was changed"
            ),
            version: 0,
        },
        Differs::Twice(row) => LabError::Wrong(format!("the archive has a row of {row} twice; nothing was changed")),
        Differs::Broken(error) => LabError::Broken(error.to_string()),
    })
}

/// The rows as frames. What makes the others visible, such as versions of datasets and states of experiments, comes last: if the
/// process ends in between, nothing is seen, and the same archive restores the rest.
fn frames(rows: &Rows, who: &Who) -> Result<Vec<Vec<Part>>, LabError> {
    let broken = |e: arrow::error::ArrowError| LabError::Broken(e.to_string());
    let (mut frames, mut frame, mut size) = (Vec::new(), Vec::new(), 0);
    let all = rows.all();
    for (kept, rows) in ORDER.iter().filter_map(|kept| all.iter().find(|(one, _)| one == kept)) {
        let kept = *kept;
        let sizes = contents(rows).map_err(broken)?;
        let mut from = 0;
        for at in 0..rows.num_rows() {
            let more = sizes.row(at).data().len();
            if size > 0 && size + more > FRAME {
                put(&mut frame, kept, &rows.slice(from, at - from), who)?;
                frames.push(std::mem::take(&mut frame));
                (from, size) = (at, 0);
            }
            size += more;
        }
        put(&mut frame, kept, &rows.slice(from, rows.num_rows() - from), who)?;
    }
    frames.push(frame);
    frames.retain(|frame| !frame.is_empty());
    Ok(frames)
}

fn put(frame: &mut Vec<Part>, kept: Kept, rows: &RecordBatch, who: &Who) -> Result<(), LabError> {
    if rows.num_rows() > 0 {
        let rows = kept.of_tenant(rows, &who.tenant).map_err(|e| LabError::Broken(e.to_string()))?;
        frame.push(Part::Rows(kept.table, rows));
    }
    Ok(())
}
