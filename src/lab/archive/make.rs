//! Writing an archive.

use super::documents::{self, Documents};
use super::manifest::{MANIFEST, Manifest, OfDataset, OfExperiment};
use super::more;
use super::span_pages::{self, Packed};
use super::stored::read;
use super::tables::{DATASETS, EXPERIMENTS, ITEMS, RUNS, Rows, SCORES};
use crate::lab::dataset::{Head, Reference, find_by_id, find_or_none};
use crate::lab::error::LabError;
use crate::lab::experiment::{Beside, Experiment, Experiments, MAX_BESIDE, experiments_of, named};
use crate::lab::store::{Store, Who};
use crate::lab::zip::Writer;
use std::collections::BTreeMap;

/// Most names of one archive.
const MAX_NAMES: usize = 100;

/// What is put into an archive, by id.
#[derive(Default)]
struct Chosen {
    datasets: BTreeMap<String, Head>,
    experiments: BTreeMap<String, Experiment>,
}

/// An archive of what `names` name: datasets with all versions and experiments, or experiments with their dataset; and, if
/// it is made `with_traces`, the spans of the traces that were made for their runs.
///
/// # Errors
/// [`LabError::Missing`] for a name that is not there, [`LabError::Limit`] where queries meet their limits, and for more than
/// an archive may have.
pub async fn archive(
    all: &Experiments,
    who: &Who,
    names: &[String],
    with_traces: bool,
) -> Result<Vec<u8>, LabError> {
    if names.is_empty() || names.len() > MAX_NAMES {
        let why = format!("names has {} names; name 1 to {MAX_NAMES} datasets or experiments", names.len());
        return Err(LabError::Wrong(why));
    }
    // What is archived is as it was at one moment.
    let still = all.still().await;
    let chosen = Chosen::of(all.store(), who, names).await?;
    let rows = chosen.rows(all.store(), who).await?;
    let mut documents = documents::read(all.datasets(), who, &rows.items).await?;
    documents.extend(more::files(all.store(), who, &rows).await?);
    let mut boards = Vec::new();
    for dataset_id in chosen.datasets.keys() {
        let of_it = chosen.experiments.values().filter(|one| one.dataset_id == *dataset_id);
        // Ids begin with the time: the newest of them stand beside each other.
        let newest: Vec<Experiment> = of_it.rev().take(MAX_BESIDE).cloned().collect();
        if !newest.is_empty() {
            let folder =
                if chosen.datasets.len() == 1 { String::new() } else { format!("reports/{dataset_id}/") };
            boards.push((folder, Beside::of(all, who, newest.into_iter().rev().collect()).await?));
        }
    }
    drop(still);
    let spans = if with_traces {
        let used: usize = documents.values().map(Vec::len).sum();
        let bounds = (used as u64, all.datasets().config().max_zip_size);
        Some(Box::pin(span_pages::packed(all.store(), who, &rows.runs, bounds)).await?)
    } else {
        None
    };
    let all = all.clone();
    let work = move || packed(&all, &chosen, (&rows, documents), &boards, spans);
    let task = tokio::task::spawn_blocking(work).await.map_err(|e| LabError::Broken(e.to_string()))?;
    task.map_err(LabError::Wrong)
}

fn packed(
    all: &Experiments,
    chosen: &Chosen,
    (rows, documents): (&Rows, Documents),
    boards: &[(String, Beside)],
    spans: Option<Packed>,
) -> Result<Vec<u8>, String> {
    let (mut files, mut counts) = (documents, BTreeMap::new());
    for (kept, rows) in rows.all() {
        counts.insert(kept.file, rows.num_rows() as u64);
        files.insert(kept.file.to_owned(), kept.written(rows).map_err(|e| e.to_string())?);
    }
    for (folder, beside) in boards {
        files.extend(beside.files(all)?.into_iter().map(|(name, bytes)| (format!("{folder}{name}"), bytes)));
    }
    let dataset = |head: &Head| OfDataset {
        dataset_id: head.dataset_id.clone(),
        name: head.name.clone(),
        versions: head.version,
    };
    let experiment = |one: &Experiment| OfExperiment {
        experiment_id: one.experiment_id.clone(),
        name: one.name.clone(),
        dataset_id: one.dataset_id.clone(),
    };
    let datasets = chosen.datasets.values().map(dataset).collect();
    let experiments = chosen.experiments.values().map(experiment).collect();
    let mut manifest = Manifest::of(datasets, experiments, &files, &counts);
    let mut zip = Writer::default();
    if let Some(spans) = spans {
        manifest = manifest.with_traces(spans.traces, spans.entries);
        zip = spans.zip;
    }
    files.insert(MANIFEST.to_owned(), manifest.bytes()?);
    for (name, content) in &files {
        zip.add(name, content)?;
    }
    zip.finish()
}

impl Chosen {
    async fn of(store: &Store, who: &Who, names: &[String]) -> Result<Self, LabError> {
        let mut chosen = Self::default();
        for name in names {
            let (dataset, experiment) = Self::found(store, who, name).await?;
            match (dataset, experiment) {
                (Some(_), Some(_)) => {
                    let why = format!(
                        "{name:?} is a dataset and an experiment: say dataset:{name} or experiment:{name}"
                    );
                    return Err(LabError::Wrong(why));
                }
                (Some(head), None) => {
                    let of_it = experiments_of(store, &who.tenant, &head.dataset_id).await?;
                    chosen.experiments.extend(of_it.into_iter().map(|one| (one.experiment_id.clone(), one)));
                    chosen.datasets.insert(head.dataset_id.clone(), head);
                }
                (None, Some(one)) => {
                    let head = find_by_id(store, &who.tenant, &one.dataset_id).await?.ok_or_else(|| {
                        LabError::Missing(format!("the dataset of the experiment {name:?} is not there"))
                    })?;
                    chosen.datasets.insert(head.dataset_id.clone(), head);
                    chosen.experiments.insert(one.experiment_id.clone(), one);
                }
                (None, None) => {
                    let why = format!(
                        "there is no dataset and no experiment {name:?}; groundline dataset list and groundline experiment \
                         list show them"
                    );
                    return Err(LabError::Missing(why));
                }
            }
        }
        Ok(chosen)
    }

    /// The dataset and the experiment that a name may mean.
    async fn found(
        store: &Store,
        who: &Who,
        name: &str,
    ) -> Result<(Option<Head>, Option<Experiment>), LabError> {
        let (of_dataset, of_experiment) =
            match (name.strip_prefix("dataset:"), name.strip_prefix("experiment:")) {
                (Some(dataset), _) => (Some(dataset), None),
                (_, Some(experiment)) => (None, Some(experiment)),
                _ => (Some(name), Some(name)),
            };
        let mut dataset = None;
        if let Some(name) = of_dataset {
            if name.parse::<Reference>().is_ok_and(|one| one.version.is_some()) {
                let why =
                    format!("{name:?}: an archive has all versions of a dataset; leave the version out");
                return Err(LabError::Wrong(why));
            }
            dataset = find_or_none(store, &who.tenant, name).await?;
            if dataset.is_none() {
                dataset = find_by_id(store, &who.tenant, name).await?;
            }
        }
        let experiment = match of_experiment {
            Some(name) => named(store, &who.tenant, name).await?,
            None => None,
        };
        Ok((dataset, experiment))
    }

    /// The rows of what is chosen.
    async fn rows(&self, store: &Store, who: &Who) -> Result<Rows, LabError> {
        let (datasets, experiments) = (self.datasets.keys(), self.experiments.keys());
        let of_datasets = |kept| read(store, who, kept, "dataset_id", datasets.clone());
        let of_experiments = |kept| read(store, who, kept, "experiment_id", experiments.clone());
        Ok(Rows {
            datasets: of_datasets(DATASETS).await?,
            items: of_datasets(ITEMS).await?,
            experiments: of_experiments(EXPERIMENTS).await?,
            runs: of_experiments(RUNS).await?,
            scores: of_experiments(SCORES).await?,
            more: more::rows(store, who, datasets, experiments.clone()).await?,
        })
    }
}
