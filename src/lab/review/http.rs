//! The routes under `/v1/lab/queues`.

use super::agreement::{agreement, sliced};
use super::book::{Counts, Entry};
use super::definition::{NewQueue, is_name};
use super::export::Reviewed;
use super::file;
use super::queues::{MAX_COUNT, Queues};
use super::sent::{Reviewer, Said, Wish};
use super::shown::texts;
use super::stored::Queue;
use crate::lab::endpoint::{Asks, Brings, Outcome, Params, Tells, Whose, of_tenants, to_its_end, told};
use crate::lab::error::LabError;
use crate::lab::experiment::{Dimension, Experiments, find_experiment};
use crate::lab::store::Who;
use crate::net::{Access, Caller, Role, guarded};
use crate::schema::batch::ItemRow;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Largest body, bytes.
const MAX_BODY: usize = 4 << 20;
/// Who answers where there are no tokens and no name is given.
const NOBODY: &str = "reviewer";

/// What the routes work on.
#[derive(Clone)]
pub struct ReviewEndpoint {
    /// The experiments.
    pub experiments: Experiments,
    /// Who may: the role review answers, query reads, lab makes and closes queues.
    pub access: Access,
}

#[derive(Clone)]
struct Behind {
    queues: Queues,
    access: Access,
}

/// The routes. Each answers JSON, but for a file; a fault is `{"error": "…"}`.
pub fn review_router(endpoint: ReviewEndpoint) -> Router {
    let most = endpoint.experiments.datasets().config().max_import_size.in_memory();
    let behind = Behind { queues: Queues::new(endpoint.experiments), access: endpoint.access };
    let guard = |role: Role| from_fn_with_state((behind.access.clone(), role), guarded);
    let reviews = Router::new()
        .route("/v1/lab/queues", get(list))
        .route("/v1/lab/queues/{id}", get(show))
        .route("/v1/lab/queues/{id}/claim", post(claim))
        .route("/v1/lab/queues/{id}/items/{item}/answer", post(answer))
        .layer(guard(Role::Review))
        .layer(DefaultBodyLimit::max(MAX_BODY));
    let reads = Router::new()
        .route("/v1/lab/queues/{id}/agreement", get(agree))
        .route("/v1/lab/queues/{id}/export", get(export))
        .layer(guard(Role::Query));
    let writes = Router::new()
        .route("/v1/lab/queues", post(create))
        .route("/v1/lab/queues/{id}/close", post(close))
        .layer(from_fn(to_its_end))
        .layer(guard(Role::Lab))
        .layer(DefaultBodyLimit::max(MAX_BODY));
    let files = Router::new()
        .route("/v1/lab/queues/{id}/import", post(import))
        .layer(guard(Role::Lab))
        .layer(DefaultBodyLimit::max(most));
    reviews.merge(reads).merge(writes).merge(files).with_state(behind)
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ListParams {
    tenant: Option<String>,
    /// Who asks, where there are no tokens.
    reviewer: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AgreeParams {
    tenant: Option<String>,
    /// Dimensions of the dataset, with commas.
    slice: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ExportParams {
    tenant: Option<String>,
    /// review or edits.
    part: Option<String>,
    /// csv or json.
    format: Option<String>,
    /// Whether each row has everything.
    flat: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Claim {
    /// How many items.
    count: Option<usize>,
    /// Whether those are wanted whose answers differ.
    adjudicate: bool,
    /// Who, where there are no tokens.
    reviewer: Option<String>,
}

of_tenants!(ListParams, AgreeParams, ExportParams);

impl Behind {
    /// Who reviews: the token's name, or the one that is given where there are no tokens.
    fn reviewer(&self, caller: &Caller, who: Who, given: Option<&str>) -> Result<Reviewer, LabError> {
        let name = if self.access.is_open() {
            given.map(str::trim).filter(|name| !name.is_empty()).unwrap_or(NOBODY)
        } else {
            caller.name()
        };
        if !is_name(name) {
            let why = "the name of a reviewer is too long, or has control characters";
            return Err(LabError::Wrong(why.to_owned()));
        }
        let (is_chief, sees_all) = (caller.may(Role::Lab), caller.may(Role::Query) || caller.may(Role::Lab));
        Ok(Reviewer { name: name.to_owned(), who, is_chief, sees_all })
    }
}

fn with_counts(queue: &Queue, counts: Counts) -> Value {
    let mut told = queue.told();
    told["counts"] = json!(counts);
    told
}

async fn list(
    State(behind): State<Behind>,
    Extension(caller): Extension<Caller>,
    Asks { who, params }: Asks<ListParams>,
) -> Outcome {
    let reviewer = behind.reviewer(&caller, who, params.reviewer.as_deref())?;
    let listed = behind.queues.list(&reviewer).await?;
    let queues: Vec<Value> = listed.iter().map(|(queue, counts)| with_counts(queue, *counts)).collect();
    told(json!({ "reviewer": reviewer.name, "queues": queues }))
}

async fn create(State(behind): State<Behind>, sent: Tells<NewQueue>) -> Outcome {
    let Tells { who, body } = sent;
    let queues = behind.queues;
    // Who hangs up does not leave half of it.
    let task = tokio::spawn(async move { queues.create(&who, body).await });
    let (queue, items) = task.await.map_err(|e| LabError::Broken(e.to_string()))??;
    told(json!({ "queue_id": queue.row.queue_id, "name": queue.row.name, "items": items }))
}

async fn show(
    State(behind): State<Behind>,
    Path(id): Path<String>,
    Extension(caller): Extension<Caller>,
    Asks { who, params }: Asks<ListParams>,
) -> Outcome {
    let reviewer = behind.reviewer(&caller, who, params.reviewer.as_deref())?;
    let queue = behind.queues.find(&reviewer.who, &id).await?;
    if !reviewer.sees_all && !queue.admits(&reviewer.name) {
        let why = format!("the queue {id:?} has its own reviewers: ask {}, who made it", queue.row.opened_by);
        return Err(LabError::Denied(why));
    }
    let counts = behind.queues.counts(&reviewer, &queue).await?;
    told(with_counts(&queue, counts))
}

async fn claim(
    State(behind): State<Behind>,
    Path(id): Path<String>,
    Extension(caller): Extension<Caller>,
    Tells { who, body }: Tells<Claim>,
) -> Outcome {
    let reviewer = behind.reviewer(&caller, who, body.reviewer.as_deref())?;
    let count = body.count.unwrap_or(1);
    if !(1..=MAX_COUNT).contains(&count) {
        return Err(LabError::Wrong(format!("count is {count}, must be 1 to {MAX_COUNT}")));
    }
    let wish = Wish { count, decides: body.adjudicate };
    told(behind.queues.claim(&reviewer, &id, wish).await?)
}

async fn answer(
    State(behind): State<Behind>,
    Path((id, item)): Path<(String, String)>,
    Extension(caller): Extension<Caller>,
    Tells { who, body }: Tells<Said>,
) -> Outcome {
    let reviewer = behind.reviewer(&caller, who, body.reviewer.as_deref())?;
    let queues = behind.queues;
    // An answer that became durable is known here, too, whoever hangs up.
    let task = tokio::spawn(async move { queues.take(&reviewer, &id, &item, body).await });
    told(task.await.map_err(|e| LabError::Broken(e.to_string()))??)
}

async fn close(State(behind): State<Behind>, Path(id): Path<String>, sent: Tells<Value>) -> Outcome {
    told(behind.queues.close(&sent.who, &id).await?.told())
}

async fn agree(
    State(behind): State<Behind>,
    Path(id): Path<String>,
    Asks { who, params }: Asks<AgreeParams>,
) -> Outcome {
    let dimensions = Dimension::list(params.slice.as_deref()).map_err(LabError::Wrong)?;
    let queue = behind.queues.find(&who, &id).await?;
    let (with_slices, mut items) = (!dimensions.is_empty(), Arc::default());
    if with_slices {
        items = reviewed_items(behind.queues.experiments(), &who, &queue).await?;
    }
    let entries = behind.queues.entries(&who, &queue).await?;
    let (templates, told_of) = (queue.templates.clone(), queue.row.queue_id.clone());
    // A thousand draws take long enough to hold up other requests of this thread.
    let measured = tokio::task::spawn_blocking(move || {
        (agreement(&entries, &templates), sliced(&entries, &templates, &items, &dimensions))
    });
    let (measures, (slices, left_out)) = measured.await.map_err(|e| LabError::Broken(e.to_string()))?;
    let mut body = json!({ "queue_id": told_of, "name": queue.row.name, "measures": measures });
    if with_slices {
        (body["slices"], body["slices_left_out"]) = (json!(slices), json!(left_out));
    }
    told(body)
}

/// The items of the dataset whose runs a queue reviews.
async fn reviewed_items(all: &Experiments, who: &Who, queue: &Queue) -> Result<Arc<Vec<ItemRow>>, LabError> {
    let Some(id) = &queue.row.experiment_id else {
        let why = "slices are those of a dataset: this queue reviews no experiment; leave slice out";
        return Err(LabError::Wrong(why.to_owned()));
    };
    let found = find_experiment(all.store(), &who.tenant, id).await?;
    all.items(who, &found).await
}

async fn import(
    State(behind): State<Behind>,
    Path(id): Path<String>,
    Brings { who, bytes, .. }: Brings<Whose>,
) -> Outcome {
    let queues = behind.queues;
    // Who hangs up does not leave half of it.
    let task = tokio::spawn(async move {
        let reviews = tokio::task::spawn_blocking(move || file::read(&bytes)).await;
        let reviews = reviews.map_err(|e| LabError::Broken(e.to_string()))?.map_err(LabError::Faults)?;
        queues.import(&who, &id, reviews).await
    });
    told(task.await.map_err(|e| LabError::Broken(e.to_string()))??)
}

async fn export(
    State(behind): State<Behind>,
    Path(id): Path<String>,
    Asks { who, params }: Asks<ExportParams>,
) -> Outcome {
    let queue = behind.queues.find(&who, &id).await?;
    let entries = behind.queues.entries(&who, &queue).await?;
    let all = behind.queues.experiments();
    let only: Vec<Entry> = entries.iter().map(|(entry, _)| entry.clone()).collect();
    let texts = texts(all, &who, &queue, &only).await?;
    let mut run_name = queue.row.name.clone();
    if let Some(id) = &queue.row.experiment_id {
        run_name = find_experiment(all.store(), &who.tenant, id).await?.name;
    }
    let reviewed = Reviewed { queue: &queue, entries: &entries, texts: &texts, run_name };
    let text = match (params.part.as_deref().unwrap_or("review"), params.format.as_deref().unwrap_or("csv")) {
        ("review", "json") => return told(reviewed.json()),
        ("review", "csv") => reviewed.csv(params.flat)?,
        ("edits", "csv") => reviewed.edits()?,
        (part, format) => {
            let why = format!("there is no part {part:?} as {format:?}: review as csv or json, edits as csv");
            return Err(LabError::Wrong(why));
        }
    };
    let kind = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"review.csv\""),
    ];
    Ok((kind, text).into_response())
}
