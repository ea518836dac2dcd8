//! The routes under `/v1/lab/experiments`, and `/v1/lab/compare`.

use super::super::door::{json, query, who};
use super::super::error::LabError;
use super::super::store::Who;
use super::compare::compare;
use super::definition::{Answer, EditExperiment, NewExperiment, Retry};
use super::experiments::Experiments;
use super::reading::{self, Experiment, Key, Known, Scored};
use super::summary::{Data, Weights, summary};
use super::traces;
use crate::domain::score::Better;
use crate::net::{Access, Caller, Role, guarded};
use crate::schema::batch::ItemRow;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::HeaderMap;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch, post};
use axum::{Extension, Json, Router};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// The key that bounds bodies.
const KEY: &str = "lab.max_import_size";
/// Runs of an answer where nothing is said, and at most.
const PAGE: usize = 100;
const MAX_PAGE: usize = 1_000;

/// What the routes work on.
#[derive(Clone)]
pub struct ExperimentDoor {
    /// The experiments.
    pub experiments: Experiments,
    /// Who may: the role query reads, the role lab writes.
    pub access: Access,
}

/// The routes. Each answers JSON; a fault is `{"error": "…"}`.
pub fn experiment_router(door: ExperimentDoor) -> Router {
    let most = door.experiments.datasets().config().max_import_size.in_memory();
    let guard = |role: Role| from_fn_with_state((door.access.clone(), role), guarded);
    let reads = Router::new()
        .route("/v1/lab/experiments", get(list))
        .route("/v1/lab/experiments/{id}", get(show))
        .route("/v1/lab/experiments/{id}/todo", get(todo))
        .route("/v1/lab/experiments/{id}/summary", get(summarize))
        .route("/v1/lab/compare", get(compare_two))
        .layer(guard(Role::Query));
    let writes = Router::new()
        .route("/v1/lab/experiments", post(create))
        .route("/v1/lab/experiments/{id}", patch(edit))
        .route("/v1/lab/experiments/{id}/runs", post(receive))
        .route("/v1/lab/experiments/{id}/run", post(run))
        .layer(guard(Role::Lab))
        .layer(DefaultBodyLimit::max(most));
    reads.merge(writes).with_state(door.experiments)
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Page {
    tenant: Option<String>,
    limit: Option<usize>,
    /// errors or failed.
    retry: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SummaryParams {
    tenant: Option<String>,
    /// items or traffic.
    weights: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CompareParams {
    tenant: Option<String>,
    new: String,
    baseline: Option<String>,
}

type Outcome = Result<Response, LabError>;
type Params<T> = Result<Query<T>, QueryRejection>;
type Sent = Result<Bytes, BytesRejection>;

async fn list(
    State(all): State<Experiments>,
    Extension(caller): Extension<Caller>,
    params: Params<Page>,
) -> Outcome {
    let params = query(params)?;
    let who = who(&caller, params.tenant.as_deref())?;
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let found = reading::list(all.store(), &who.tenant, i64::try_from(limit).unwrap_or(i64::MAX)).await?;
    Ok(Json(json!({ "experiments": found })).into_response())
}

async fn create(
    State(all): State<Experiments>,
    Extension(caller): Extension<Caller>,
    params: Params<Page>,
    headers: HeaderMap,
    sent: Sent,
) -> Outcome {
    let who = who(&caller, query(params)?.tenant.as_deref())?;
    let new: NewExperiment = json(&headers, sent, KEY)?;
    let made = all.create(&who, new).await?;
    let items = all.items(&who, &made).await?.len();
    let runs = items * usize::try_from(made.repetitions).unwrap_or(1);
    Ok(Json(json!({ "experiment_id": made.experiment_id, "items": items, "runs": runs })).into_response())
}

async fn show(
    State(all): State<Experiments>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    params: Params<Page>,
) -> Outcome {
    let who = who(&caller, query(params)?.tenant.as_deref())?;
    Ok(Json(reading::find(all.store(), &who.tenant, &id).await?).into_response())
}

async fn edit(
    State(all): State<Experiments>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    params: Params<Page>,
    headers: HeaderMap,
    sent: Sent,
) -> Outcome {
    let who = who(&caller, query(params)?.tenant.as_deref())?;
    let edit: EditExperiment = json(&headers, sent, KEY)?;
    Ok(Json(all.edit(&who, &id, edit).await?).into_response())
}

fn retry(params: &Page) -> Result<Retry, LabError> {
    match params.retry.as_deref() {
        None => Ok(Retry::Missing),
        Some("errors") => Ok(Retry::Errors),
        Some("failed") => Ok(Retry::Failed),
        Some(other) => Err(LabError::Wrong(format!("retry is {other:?}; it may be errors or failed"))),
    }
}

async fn todo(
    State(all): State<Experiments>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    params: Params<Page>,
) -> Outcome {
    let params = query(params)?;
    let (who, retry) = (who(&caller, params.tenant.as_deref())?, retry(&params)?);
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    Ok(Json(all.todo(&who, &id, limit, retry).await?).into_response())
}

async fn receive(
    State(all): State<Experiments>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    params: Params<Page>,
    headers: HeaderMap,
    sent: Sent,
) -> Outcome {
    let who = who(&caller, query(params)?.tenant.as_deref())?;
    let answers: Vec<Answer> = json(&headers, sent, KEY)?;
    Ok(Json(all.receive(&who, &id, answers).await?).into_response())
}

/// Takes the answers that the server itself can give: those of stored spans. Answers what is stored and how much is still
/// missing, so that the caller comes again.
async fn run(
    State(all): State<Experiments>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    params: Params<Page>,
) -> Outcome {
    let params = query(params)?;
    let (who, retry) = (who(&caller, params.tenant.as_deref())?, retry(&params)?);
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let found = reading::find(all.store(), &who.tenant, &id).await?;
    if found.target.kind != "trace" {
        let why = format!(
            "the server asks no target of the kind {:?}: groundline experiment run does, and sends what it answers",
            found.target.kind
        );
        return Err(LabError::Wrong(why));
    }
    let todo = all.todo(&who, &id, limit, retry).await?;
    let items = all.items(&who, &found).await?;
    let answers = traces::answers(all.store(), &who, &items, &todo).await?;
    Ok(Json(all.receive(&who, &id, answers).await?).into_response())
}

/// All that is known of an experiment.
struct Loaded {
    experiment: Experiment,
    items: Arc<Vec<ItemRow>>,
    runs: HashMap<Key, Known>,
    scores: Vec<Scored>,
}

impl Loaded {
    async fn of(all: &Experiments, who: &Who, experiment: Experiment) -> Result<Self, LabError> {
        let items = all.items(who, &experiment).await?;
        let runs = reading::runs(all.store(), &who.tenant, &experiment.experiment_id).await?;
        let scores = reading::scores(all.store(), &who.tenant, &experiment.experiment_id).await?;
        Ok(Self { experiment, items, runs, scores })
    }

    fn data(&self) -> Data<'_> {
        Data { experiment: &self.experiment, items: &self.items, runs: &self.runs, scores: &self.scores }
    }
}

async fn summarize(
    State(all): State<Experiments>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    params: Params<SummaryParams>,
) -> Outcome {
    let params = query(params)?;
    let who = who(&caller, params.tenant.as_deref())?;
    let weights = match params.weights.as_deref() {
        None | Some("items") => Weights::Items,
        Some("traffic") => Weights::Traffic,
        Some(other) => {
            return Err(LabError::Wrong(format!("weights is {other:?}; it may be items or traffic")));
        }
    };
    let found = reading::find(all.store(), &who.tenant, &id).await?;
    let loaded = Loaded::of(&all, &who, found).await?;
    let told = summary(&loaded.data(), weights);
    Ok(Json(json!({ "experiment": loaded.experiment, "summary": told })).into_response())
}

async fn compare_two(
    State(all): State<Experiments>,
    Extension(caller): Extension<Caller>,
    params: Params<CompareParams>,
) -> Outcome {
    let params = query(params)?;
    let who = who(&caller, params.tenant.as_deref())?;
    let new = reading::find(all.store(), &who.tenant, &params.new).await?;
    let baseline = match &params.baseline {
        Some(named) => reading::find(all.store(), &who.tenant, named).await?,
        None => reading::baseline_of(all.store(), &who.tenant, &new).await?.ok_or_else(|| {
            let why = "there is no other experiment on this dataset that ended well or is marked as the baseline: \
                       name one, baseline=NAME";
            LabError::Missing(why.to_owned())
        })?,
    };
    if new.dataset_id != baseline.dataset_id {
        let why =
            format!("{:?} and {:?} ask different datasets: no item has a pair", new.name, baseline.name);
        return Err(LabError::Wrong(why));
    }
    let (new, baseline) = (Loaded::of(&all, &who, new).await?, Loaded::of(&all, &who, baseline).await?);
    let registry = all.registry();
    let better = |evaluator: &str, metric: &str| {
        let found = registry.select(&[evaluator.to_owned()]).ok();
        let known = found.iter().flatten().flat_map(|e| e.metrics()).find(|known| known.name == metric);
        known.map_or(Better::Higher, |known| known.better)
    };
    let comparison = compare(&new.data(), &baseline.data(), better);
    let body = json!({
        "new": {"experiment_id": new.experiment.experiment_id, "name": new.experiment.name},
        "baseline": {"experiment_id": baseline.experiment.experiment_id, "name": baseline.experiment.name},
        "comparison": comparison,
    });
    Ok(Json(body).into_response())
}
