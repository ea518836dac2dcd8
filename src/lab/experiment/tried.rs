//! Experiments of a few items, for tests.

use super::definition::Target;
use super::experiments::Experiments;
use super::reading::{Experiment, Runs, Scored, StoredRun};
use super::summary::Data;
use crate::domain::time::{Clock, SystemClock, UnixNanos};
use crate::eval::Registry;
use crate::journal::{self, Journal};
use crate::lab::dataset::{Change, Datasets, Item, New};
use crate::lab::{Config, Production, Restores, Store, Who};
use crate::lake::{self, FlushHandle, Lake};
use crate::schema::batch::{ExperimentRow, ItemRow, Made};
use crate::schema::columns::Table;
use crate::sql::{self, Sql};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn experiment() -> Experiment {
    let made = Made { tenant: "t".to_owned(), at: UnixNanos(0), by: String::new() };
    let row = ExperimentRow {
        experiment_id: "e".to_owned(),
        revision: 1,
        name: "e".to_owned(),
        dataset_id: "d".to_owned(),
        dataset_version: 1,
        dataset_hash: String::new(),
        suite_id: None,
        suite_version: None,
        filter: None,
        target: "{}".to_owned(),
        parameters: None,
        repetitions: 1,
        evaluators: "[]".to_owned(),
        status: "success".to_owned(),
        baseline: false,
        tags: Vec::new(),
        started_at: None,
        completed_at: None,
        error: None,
        made,
    };
    Experiment {
        experiment_id: row.experiment_id.clone(),
        name: row.name.clone(),
        dataset_id: row.dataset_id.clone(),
        dataset_version: 1,
        suite_id: None,
        suite_version: None,
        filter: None,
        target: Target { kind: "existing".to_owned(), name: None, model: None, more: serde_json::Map::new() },
        parameters: serde_json::Value::Null,
        evaluators: serde_json::Value::Null,
        repetitions: 1,
        status: row.status.clone(),
        baseline: false,
        tags: Vec::new(),
        error: None,
        changed_at: String::new(),
        row,
    }
}

/// Items `0`, `1` … and what each repetition of each said.
pub struct Tried {
    pub experiment: Experiment,
    pub items: Vec<ItemRow>,
    pub runs: Runs,
    pub scores: Vec<Scored>,
}

impl Tried {
    pub fn of(passed: &[&[bool]]) -> Self {
        let (mut items, mut runs, mut scores) = (Vec::new(), Runs::new(), Vec::new());
        for (at, repetitions) in passed.iter().enumerate() {
            let item_id = at.to_string();
            items.push(ItemRow { item_id: item_id.clone(), ..ItemRow::default() });
            for (repetition, passed) in (1..).zip(repetitions.iter()) {
                let known = StoredRun {
                    attempt: 1,
                    is_error: false,
                    item_hash: Some("same".to_owned()),
                    duration_ms: None,
                    cost_usd: None,
                    input_tokens: None,
                    output_tokens: None,
                    error: None,
                };
                runs.insert((item_id.clone(), repetition), known);
                scores.push(Scored {
                    item_id: item_id.clone(),
                    repetition,
                    evaluator: "e".into(),
                    metric: "m".into(),
                    status: "ok".into(),
                    value: Some(0.0),
                    passed: Some(*passed),
                    label: None,
                });
            }
        }
        Self { experiment: experiment(), items, runs, scores }
    }

    pub fn data(&self) -> Data<'_> {
        Data { experiment: &self.experiment, items: &self.items, runs: &self.runs, scores: &self.scores }
    }
}

/// The lab over a journal and tables of its own, which are asked within the limits of `config`.
pub async fn opened(folder: &Path, config: sql::Config) -> Experiments {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let at = folder.join("journal");
    journal::create_dirs(&at).unwrap();
    let journal = Journal::open(&at, journal::Config::default(), crate::schema::FORMAT).unwrap();
    let opened = Lake::open(lake::Config::default(), folder, clock.clone(), journal.id());
    let (lake, manifests) = opened.await.unwrap();
    let flush = FlushHandle::catch_up(lake.clone(), journal.clone(), manifests).await.unwrap();
    tokio::spawn(flush.run(CancellationToken::new()));
    let tables = lake.clone();
    let snapshots = Arc::new(move |table: Table| tables.snapshot(table));
    let sql = Arc::new(Sql::new(snapshots, config).unwrap());
    let store = Store { journal, lake, sql, clock, restores: Restores::default() };
    let datasets = Datasets::new(store, Arc::new(Config::default()), None);
    Experiments::new(datasets, Arc::new(Registry::of(Vec::new())), Production::none())
}

/// Who makes what is tried.
pub fn me() -> Who {
    Who { tenant: "t".into(), name: "me".to_owned() }
}

/// An experiment that asks one item.
pub async fn asked(all: &Experiments, who: &Who) -> Experiment {
    all.datasets().create(who, New { name: "d".to_owned(), ..New::default() }).await.unwrap();
    let item = Item { input: Some("Where?".into()), ..Item::default() };
    all.datasets().change(who, "d", Change { put: vec![item], ..Change::default() }).await.unwrap();
    let new = json!({"name": "e", "dataset": "d", "target": {"kind": "existing"}});
    all.create(who, serde_json::from_value(new).unwrap()).await.unwrap().0
}
