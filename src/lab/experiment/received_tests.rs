//! Answers whose sender does not wait until they are stored.

use super::super::definition::EditExperiment;
use super::super::tried::{asked, me, opened};
use super::*;
use crate::sql;
use futures::FutureExt;

/// What is answered to the item that an experiment asks.
async fn answers(all: &Experiments, found: &Experiment) -> Vec<Answer> {
    let item_id = all.items(&me(), found).await.unwrap()[0].item_id.clone();
    vec![Answer { item_id, output: Some("There.".into()), ..Answer::default() }]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_hangs_up_while_its_answers_are_stored_finds_them_there() {
    let folder = tempfile::tempdir().unwrap();
    let (all, who) = (opened(folder.path(), sql::Config::default()).await, me());
    let found = asked(&all, &who).await;
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
    let (all, who) = (opened(folder.path(), sql::Config::default()).await, me());
    let found = asked(&all, &who).await;
    let answers = answers(&all, &found).await;
    let received = all.received(&who, &found.experiment_id, answers.clone()).await.unwrap();
    let cancel = EditExperiment { status: Some("cancelled".to_owned()), ..EditExperiment::default() };
    all.edit(&who, &found.experiment_id, cancel).await.unwrap();
    let stored = all.finished(&who, received).await.unwrap();
    assert_eq!((stored.stored, stored.status.as_str()), (1, "cancelled"));
    let refused = all.receive(&who, &found.experiment_id, answers).await.err();
    assert!(refused.is_some_and(|why| why.to_string().contains("was cancelled")));
    // Whoever stopped asking for it at that moment says that it is paused.
    for status in ["paused", "running"] {
        let edit = EditExperiment { status: Some(status.to_owned()), ..EditExperiment::default() };
        let refused = all.edit(&who, &found.experiment_id, edit).await.err();
        assert!(refused.is_some_and(|why| why.to_string().contains("was cancelled")), "{status}");
    }
    let marked = EditExperiment { baseline: Some(true), ..EditExperiment::default() };
    assert_eq!(all.edit(&who, &found.experiment_id, marked).await.unwrap().status, "cancelled");
}
