//! The routes under `/v1/lab/suites` that keep and show suites.

use super::reading::{self, SuiteHead};
use super::sent::SentForm;
use super::suites::{NewSuite, Suites};
use super::written::{WrittenFile, written};
use crate::lab::dataset::Reference;
use crate::lab::endpoint::{Asks, Brings, Outcome, Params, Whose, of_tenants, to_its_end, told};
use crate::lab::error::LabError;
use crate::net::{Access, Role, guarded};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;

/// Suites on a page of the list where nothing is said, and at most.
const PAGE: i64 = 100;
const MAX_PAGE: i64 = 1_000;
/// The header that says how many parts of a suite have no form in the file.
const LEFT_OUT: &str = "x-groundline-left-out";

/// What the routes work on.
#[derive(Clone)]
pub struct SuiteEndpoint {
    /// The suites.
    pub suites: Suites,
    /// Who may: the role query reads, the role lab writes.
    pub access: Access,
}

/// The routes. Each answers JSON, or a file; a fault is `{"error": "…"}`, with the place of each fault of a file.
pub fn suite_router(endpoint: SuiteEndpoint) -> Router {
    let most = endpoint.suites.datasets().config().max_import_size.in_memory();
    let guard = |role: Role| from_fn_with_state((endpoint.access.clone(), role), guarded);
    let reads = Router::new()
        .route("/v1/lab/suites", get(list))
        .route("/v1/lab/suites/{name}", get(show))
        .route("/v1/lab/suites/{name}/versions", get(versions))
        .layer(guard(Role::Query));
    let writes = Router::new()
        .route("/v1/lab/suites/import", post(import))
        .layer(from_fn(to_its_end))
        .layer(guard(Role::Lab))
        .layer(DefaultBodyLimit::max(most));
    reads.merge(writes).with_state(endpoint.suites)
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ListParams {
    tenant: Option<String>,
    after: String,
    limit: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ShowParams {
    tenant: Option<String>,
    /// toml, csv, json, zip, h2o or promptfoo; what is known of the suite without one.
    format: Option<String>,
    /// suite or questions.
    part: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ImportParams {
    tenant: Option<String>,
    /// auto, toml, csv, json, yaml or zip.
    format: Option<String>,
    /// The suite's name in the place of the file's.
    name: Option<String>,
    /// What the file is called.
    file: Option<String>,
    message: Option<String>,
    if_revision: Option<i64>,
    dry_run: bool,
    partial: bool,
}

/// A file of text from a page: a browser that is known by its cookie may send JSON alone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FromText {
    file_text: String,
}

of_tenants!(ListParams, ShowParams, ImportParams);

fn reference(text: &str) -> Result<Reference, LabError> {
    text.parse().map_err(LabError::Wrong)
}

async fn list(State(suites): State<Suites>, Asks { who, params }: Asks<ListParams>) -> Outcome {
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let heads = reading::list(suites.store(), &who.tenant, &params.after, limit).await?;
    let is_full = i64::try_from(heads.len()).is_ok_and(|count| count == limit);
    let next = heads.last().filter(|_| is_full).map(|head| head.name.clone());
    told(json!({ "suites": heads, "next": next }))
}

async fn show(
    State(suites): State<Suites>,
    Path(name): Path<String>,
    Asks { who, params }: Asks<ShowParams>,
) -> Outcome {
    let head = reading::find(suites.store(), &who.tenant, &reference(&name)?).await?;
    let Some(format) = params.format else { return shown(head, params.part.as_deref()) };
    let suite = reading::whole(suites.store(), &who.tenant, &head).await?;
    let part = params.part.unwrap_or_else(|| "suite".to_owned());
    let work = move || written(&suite, &part, &format);
    let file = tokio::task::spawn_blocking(work).await.map_err(|e| LabError::Broken(e.to_string()))?;
    let WrittenFile { media_type, bytes, left_out } = file.map_err(LabError::Wrong)?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::HeaderName::from_static(LEFT_OUT), HeaderValue::from(left_out.len())),
    ];
    Ok((headers, bytes).into_response())
}

fn shown(head: SuiteHead, part: Option<&str>) -> Outcome {
    match part {
        None => told(head),
        Some(part) => Err(LabError::Wrong(format!("part={part} is of a file: say which, format=csv"))),
    }
}

async fn versions(
    State(suites): State<Suites>,
    Path(name): Path<String>,
    Asks { who, .. }: Asks<Whose>,
) -> Outcome {
    let head = reading::find(suites.store(), &who.tenant, &reference(&name)?).await?;
    let all = reading::revisions(suites.store(), &who.tenant, &head.suite_id).await?;
    told(json!({ "versions": all }))
}

async fn import(
    State(suites): State<Suites>,
    Brings { who, params, kind, bytes }: Brings<ImportParams>,
) -> Outcome {
    let form: SentForm =
        params.format.as_deref().map(str::parse).transpose().map_err(LabError::Wrong)?.unwrap_or_default();
    let new = NewSuite {
        bytes: text_of(&kind, &bytes).unwrap_or(bytes),
        file: params.file.unwrap_or_default(),
        form,
        name: params.name,
        partial: params.partial,
        dry_run: params.dry_run,
        message: params.message,
        if_revision: params.if_revision,
    };
    told(suites.import(&who, new).await?)
}

/// The text of a body `{"file_text": "…"}`; none for a file that is sent as it is.
fn text_of(kind: &str, bytes: &[u8]) -> Option<Bytes> {
    let sent = (kind == "application/json").then(|| serde_json::from_slice::<FromText>(bytes).ok());
    sent.flatten().map(|sent| Bytes::from(sent.file_text))
}
