//! Answers whose sender does not wait until they are stored.

use super::super::definition::EditExperiment;
use super::*;
use crate::domain::time::{Clock, SystemClock};
use crate::eval::Registry;
use crate::journal::{self, Journal};
use crate::lab::dataset::{Change, Datasets, Item, New};
use crate::lab::{Config, Production, Restores, Store};
use crate::lake::{self, FlushHandle, Lake};
use crate::schema::columns::Table;
use crate::sql::{self, Sql};
use futures::FutureExt;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// The lab over a journal and tables of its own.
async fn opened(folder: &Path) -> Experiments {
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
    let sql = Arc::new(Sql::new(snapshots, sql::Config::default()).unwrap());
    let store = Store { journal, lake, sql, clock, restores: Restores::default() };
    let datasets = Datasets::new(store, Arc::new(Config::default()), None);
    Experiments::new(datasets, Arc::new(Registry::of(Vec::new())), Production::none())
}

/// An experiment that asks one item.
async fn experiment(all: &Experiments, who: &Who) -> Experiment {
    all.datasets().create(who, New { name: "d".to_owned(), ..New::default() }).await.unwrap();
    let item = Item { input: Some("Where?".into()), ..Item::default() };
    all.datasets().change(who, "d", Change { put: vec![item], ..Change::default() }).await.unwrap();
    let new = json!({"name": "e", "dataset": "d", "target": {"kind": "existing"}});
    all.create(who, serde_json::from_value(new).unwrap()).await.unwrap().0
}

fn me() -> Who {
    Who { tenant: "t".into(), name: "me".to_owned() }
}

/// What is answered to the item that an experiment asks.
async fn answers(all: &Experiments, found: &Experiment) -> Vec<Answer> {
    let item_id = all.items(&me(), found).await.unwrap()[0].item_id.clone();
    vec![Answer { item_id, output: Some("There.".into()), ..Answer::default() }]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_hangs_up_while_its_answers_are_stored_finds_them_there() {
    let folder = tempfile::tempdir().unwrap();
    let (all, who) = (opened(folder.path()).await, me());
    let found = experiment(&all, &who).await;
    let answers = answers(&all, &found).await;
    let mut received = all.received(&who, &found.experiment_id, answers.clone()).await.unwrap();
    let cases = Arc::new(std::mem::take(&mut received.cases));
    assert_eq!(cases.len(), 1);
    // Another change goes before, and the sender is gone by then.
    let still = all.still().await;
    assert!(all.stored(&who, received, (cases, ScoredRuns::default())).now_or_never().is_none());
    drop(still);
    let again = all.received(&who, &found.experiment_id, answers).await.unwrap();
    assert_eq!((again.cases.len(), again.stored.duplicate), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_judged_meanwhile_does_not_open_a_cancelled_experiment_again() {
    let folder = tempfile::tempdir().unwrap();
    let (all, who) = (opened(folder.path()).await, me());
    let found = experiment(&all, &who).await;
    let answers = answers(&all, &found).await;
    let received = all.received(&who, &found.experiment_id, answers.clone()).await.unwrap();
    let cancel = EditExperiment { status: Some("cancelled".to_owned()), ..EditExperiment::default() };
    all.edit(&who, &found.experiment_id, cancel).await.unwrap();
    let stored = all.finished(&who, received).await.unwrap();
    assert_eq!((stored.stored, stored.status.as_str()), (1, "cancelled"));
    let refused = all.receive(&who, &found.experiment_id, answers).await.err();
    assert!(refused.is_some_and(|why| why.to_string().contains("was cancelled")));
}
