//! The routes `POST /v1/lab/archive` and `POST /v1/lab/restore`.

use super::make::archive;
use super::restore::{Taking, restore};
use crate::lab::endpoint::{Brings, Outcome, Params, Tells, of_tenants, told};
use crate::lab::error::LabError;
use crate::lab::experiment::Experiments;
use crate::net::{Access, Role, guarded};
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::post;
use serde::Deserialize;

/// What the routes work on.
#[derive(Clone)]
pub struct ArchiveEndpoint {
    /// The experiments, and the datasets below them.
    pub experiments: Experiments,
    /// Who may: the role query archives, the role lab restores.
    pub access: Access,
}

/// The routes. A fault is `{"error": "…"}`.
pub fn archive_router(endpoint: ArchiveEndpoint) -> Router {
    let most = endpoint.experiments.datasets().config().max_import_size.in_memory();
    let guard = |role: Role| from_fn_with_state((endpoint.access.clone(), role), guarded);
    let reads = Router::new().route("/v1/lab/archive", post(make)).layer(guard(Role::Query));
    let writes = Router::new()
        .route("/v1/lab/restore", post(put_back))
        .layer(guard(Role::Lab))
        .layer(DefaultBodyLimit::max(most));
    reads.merge(writes).with_state(endpoint.experiments)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Datasets and experiments.
    names: Vec<String>,
    /// Whether the spans of the traces that were made for their runs are put in.
    #[serde(default)]
    with_traces: bool,
}

async fn make(State(all): State<Experiments>, sent: Tells<Wanted>) -> Outcome {
    let bytes = archive(&all, &sent.who, &sent.body.names, sent.body.with_traces).await?;
    Ok(([(header::CONTENT_TYPE, "application/zip")], bytes).into_response())
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RestoreParams {
    tenant: Option<String>,
    /// The name that the dataset gets.
    #[serde(rename = "as")]
    name: Option<String>,
    /// Whether it is only told what would be done.
    dry_run: bool,
}

of_tenants!(RestoreParams);

async fn put_back(State(all): State<Experiments>, sent: Brings<RestoreParams>) -> Outcome {
    if sent.kind == "application/json" {
        return Err(LabError::Wrong("send the bytes of an archive: application/zip".to_owned()));
    }
    let taking = Taking { name: sent.params.name, is_tried: sent.params.dry_run };
    let (who, bytes) = (sent.who, sent.bytes);
    // Who hangs up does not leave half of it.
    let task = tokio::spawn(async move { restore(&all, &who, bytes, taking).await });
    told(task.await.map_err(|e| LabError::Broken(e.to_string()))??)
}
