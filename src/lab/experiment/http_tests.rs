use super::super::tried::{asked, me, opened};
use super::*;
use crate::sql;
use axum::body::Body;
use axum::http::Request;
use futures::FutureExt;
use serde_json::Value;
use std::time::Duration;
use tower::ServiceExt;

/// What is on its way to the disk is not taken back: the next change must find it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_whose_sender_hangs_up_goes_on_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let (all, who) = (opened(folder.path(), sql::Config::default()).await, me());
    let found = asked(&all, &who).await;
    let router =
        experiment_router(ExperimentEndpoint { experiments: all.clone(), access: Access::open("t") });
    let request = Request::patch(format!("/v1/lab/experiments/{}", found.experiment_id))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(json!({ "baseline": true }).to_string()))
        .unwrap();
    assert!(router.oneshot(request).now_or_never().is_none());
    let marked = async {
        while !reading::find(all.store(), &who.tenant, &found.experiment_id).await.unwrap().baseline {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(300), marked).await.unwrap();
}

/// What fails again is still wanted: each look begins behind the last one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wanted_again_is_gone_through_once() {
    let folder = tempfile::tempdir().unwrap();
    let (all, who) = (opened(folder.path(), sql::Config::default()).await, me());
    asked(&all, &who).await;
    let new = json!({"name": "again", "dataset": "d", "target": {"kind": "existing"}, "repetitions": 3});
    let found = all.create(&who, serde_json::from_value(new).unwrap()).await.unwrap().0;
    let id = found.experiment_id.as_str();
    let missing = all.todo(&who, id, (0, 10), (Retry::Missing, Telling::Asked)).await.unwrap();
    let failed = |todo: &Todo| {
        let answer = json!({"item_id": todo.item_id, "repetition": todo.repetition, "attempt": todo.attempt, "error": "away"});
        serde_json::from_value::<Answer>(answer).unwrap()
    };
    all.receive(&who, id, missing.iter().map(failed).collect()).await.unwrap();
    let mut looks = Vec::new();
    let mut next = Some(0);
    while let Some(from) = next {
        let (todo, behind) = todo_page(&all, &who, id, (from, 2), Retry::Errors).await.unwrap();
        all.receive(&who, id, todo.iter().map(failed).collect()).await.unwrap();
        next = behind;
        looks.push(todo.iter().map(|todo| (todo.place, todo.attempt)).collect::<Vec<_>>());
    }
    assert_eq!(looks, [vec![(0, 2), (1, 2)], vec![(2, 2)]]);
    // A full look that is the last one says so.
    let (todo, next) = todo_page(&all, &who, id, (0, 3), Retry::Errors).await.unwrap();
    assert_eq!((todo.len(), next), (3, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn experiments_are_listed_page_by_page_the_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let (all, who) = (opened(folder.path(), sql::Config::default()).await, me());
    asked(&all, &who).await;
    for name in ["f", "g"] {
        let new = json!({"name": name, "dataset": "d", "target": {"kind": "existing"}});
        all.create(&who, serde_json::from_value(new).unwrap()).await.unwrap();
    }
    let router = experiment_router(ExperimentEndpoint { experiments: all, access: Access::open("t") });
    let (mut pages, mut after) = (Vec::new(), String::new());
    while pages.len() < 3 {
        let request = Request::get(format!("/v1/lab/experiments?limit=2{after}"));
        let request = request.body(Body::empty()).unwrap();
        let answer = router.clone().oneshot(request).await.unwrap();
        let bytes = axum::body::to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        let page: Value = serde_json::from_slice(&bytes).unwrap();
        let names: Vec<String> = page["experiments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect();
        pages.push(names);
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(pages, [vec!["g", "f"], vec!["e"]]);
}
