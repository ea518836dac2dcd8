//! A queue that is closed while somebody answers.

use super::*;
use crate::lab::experiment::{Answer as RunAnswer, asked_one, me, opened};
use crate::sql;
use std::collections::BTreeMap;
use tokio::task::JoinHandle;

/// Waits until so many hold the shelf, this test and the map of shelves among them.
async fn held_by<T>(many: usize, shelf: &Shelf, task: &JoinHandle<T>) {
    while Arc::strong_count(shelf) < many {
        assert!(!task.is_finished(), "it did not wait for the shelf");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_waits_while_the_queue_is_closed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (all, who) = (opened(folder.path(), sql::Config::default()).await, me());
    let found = asked_one(&all, &who).await;
    let item_id = all.items(&who, &found).await.unwrap()[0].item_id.clone();
    let answer = RunAnswer { item_id, output: Some("There.".into()), ..RunAnswer::default() };
    all.receive(&who, &found.experiment_id, vec![answer]).await.unwrap();
    let queues = Queues::new(all);
    let tone = json!({"name": "tone", "type": "categorical", "categories": ["polite", "rude"]});
    let new = json!({"name": "q", "source": {"experiment": "e"}, "templates": [tone]});
    let (queue, items) = queues.create(&who, serde_json::from_value(new).unwrap()).await.unwrap();
    assert_eq!(items, 1);
    let item = queues.entries(&who, &queue).await.unwrap()[0].0.chosen.item.clone();
    let shelf = queues.shelf(&queue);
    let held = shelf.lock().await;
    // Who closes it comes first, and who answers has seen it open.
    let (of_close, of_answer) = (queues.clone(), queues.clone());
    let closing = tokio::spawn(async move { of_close.close(&me(), "q").await });
    held_by(3, &shelf, &closing).await;
    let reviewer = Reviewer { who, name: "ana".to_owned(), is_chief: true, sees_all: true };
    let templates = BTreeMap::from([("tone".to_owned(), json!("polite"))]);
    let said = Said { templates, ..Said::default() };
    let answering = tokio::spawn(async move { of_answer.take(&reviewer, "q", &item, said).await });
    held_by(4, &shelf, &answering).await;
    drop(held);
    closing.await.unwrap().unwrap();
    let refused = answering.await.unwrap().err();
    assert!(matches!(&refused, Some(LabError::Conflict(why)) if why.contains("is closed")), "{refused:?}");
    let entries = queues.entries(&me(), &queue).await.unwrap();
    assert!(entries[0].0.answers.is_empty(), "nothing was stored");
}
