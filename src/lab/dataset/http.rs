//! The routes under `/v1/lab/datasets`.

use super::super::config::Config;
use super::super::endpoint::{Asks, Brings, Outcome, Params, Tells, Whose, of_tenants, to_its_end, told};
use super::super::error::LabError;
use super::super::rows::FileFormat;
use super::super::zip::is_zip;
use super::change::{Absent, Change, Edit, End, Faulty, New, Purge, Taking};
use super::datasets::Datasets;
use super::export::ExportFormat;
use super::fields::Mapping;
use super::files::Import;
use super::item::Item;
use super::plan::{Equals, Others};
use super::reading::{self, Depth, Page, Reference};
use crate::net::{Access, Role, Scope, guarded};
use crate::sql::Work;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, patch, post};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Datasets on a page of the list where nothing is said, and at most.
const PAGE: i64 = 100;
const MAX_PAGE: i64 = 1_000;

/// What the routes work on.
#[derive(Clone)]
pub struct DatasetEndpoint {
    /// The datasets.
    pub datasets: Datasets,
    /// Who may: the role query reads, the role lab writes, the role admin purges.
    pub access: Access,
}

/// The routes. Each answers JSON, or a file of items; a fault is `{"error": "…"}`, with the place of each fault of a file.
pub fn dataset_router(endpoint: DatasetEndpoint) -> Router {
    let most = endpoint.datasets.config().max_import_size.in_memory();
    let guard = |role: Role| from_fn_with_state((endpoint.access.clone(), role), guarded);
    let reads = Router::new()
        .route("/v1/lab/datasets", get(list))
        .route("/v1/lab/datasets/{name}", get(head))
        .route("/v1/lab/datasets/{name}/items", get(items))
        .route("/v1/lab/datasets/{name}/versions", get(versions))
        .route("/v1/lab/datasets/{name}/diff", get(diff))
        .route("/v1/lab/files/{sha256}", get(attachment))
        .layer(guard(Role::Query));
    let writes = Router::new()
        .route("/v1/lab/datasets", post(create))
        .route("/v1/lab/datasets/{name}", patch(edit))
        .route("/v1/lab/datasets/{name}/items", post(change))
        .route("/v1/lab/datasets/{name}/import", post(import))
        .route("/v1/lab/datasets/{name}/revert", post(revert))
        .layer(from_fn(to_its_end))
        .layer(guard(Role::Lab))
        .layer(DefaultBodyLimit::max(most));
    // What is purged cannot be brought back: whoever changes datasets may not.
    let purges = Router::new()
        .route("/v1/lab/datasets/{name}/purge", post(purge))
        .layer(guard(Role::Admin))
        .layer(DefaultBodyLimit::max(most));
    reads.merge(writes).merge(purges).with_state(endpoint.datasets)
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
struct ItemParams {
    tenant: Option<String>,
    format: Option<String>,
    /// Items behind this ordinal.
    after: Option<i64>,
    limit: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiffParams {
    tenant: Option<String>,
    from: i64,
    to: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ImportParams {
    tenant: Option<String>,
    /// auto, csv, jsonl, json, parquet or zip.
    format: Option<String>,
    /// Which columns make which field.
    map: Option<String>,
    /// What the file is called.
    file: Option<String>,
    message: Option<String>,
    if_version: Option<i64>,
    dry_run: bool,
    partial: bool,
    keep_duplicates: bool,
    /// Whether items that their system has archived are taken, too.
    archived: bool,
    replace: bool,
    create: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Revert {
    to: i64,
    message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FromSql {
    sql: String,
}

/// A file from a page: a browser that is known by its cookie may send JSON alone.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FromPage {
    FileText(String),
    FileBase64(String),
}

of_tenants!(ListParams, ItemParams, DiffParams, ImportParams, FileParams);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileParams {
    tenant: Option<String>,
    /// What the file is to be called.
    name: Option<String>,
}

fn reference(text: &str) -> Result<Reference, LabError> {
    text.parse().map_err(LabError::Wrong)
}

/// The name of a dataset that is changed: only the newest version can be.
fn name_of(text: &str) -> Result<String, LabError> {
    match reference(text)? {
        Reference { name, version: None } => Ok(name),
        Reference { name, .. } => {
            Err(LabError::Wrong(format!("a version is never changed: name the dataset alone, {name}")))
        }
    }
}

async fn list(State(datasets): State<Datasets>, Asks { who, params }: Asks<ListParams>) -> Outcome {
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let heads = reading::list(datasets.store(), &who.tenant, &params.after, limit).await?;
    let next =
        heads.last().filter(|_| i64::try_from(heads.len()).is_ok_and(|n| n == limit)).map(|h| h.name.clone());
    told(json!({ "datasets": heads, "next": next }))
}

async fn create(State(datasets): State<Datasets>, sent: Tells<New>) -> Outcome {
    told(datasets.create(&sent.who, sent.body).await?)
}

async fn head(
    State(datasets): State<Datasets>,
    Path(name): Path<String>,
    Asks { who, .. }: Asks<Whose>,
) -> Outcome {
    let mut head = reading::find(datasets.store(), &who.tenant, &reference(&name)?).await?;
    head.purged = reading::purged(datasets.store(), &who.tenant, (&head.dataset_id, head.version)).await?;
    told(head)
}

async fn edit(State(datasets): State<Datasets>, Path(name): Path<String>, sent: Tells<Edit>) -> Outcome {
    told(datasets.edit(&sent.who, &name_of(&name)?, sent.body).await?)
}

async fn versions(
    State(datasets): State<Datasets>,
    Path(name): Path<String>,
    Asks { who, .. }: Asks<Whose>,
) -> Outcome {
    let head = reading::find(datasets.store(), &who.tenant, &reference(&name)?).await?;
    let all = reading::versions(datasets.store(), &who.tenant, &head.dataset_id).await?;
    told(json!({ "versions": all }))
}

async fn items(
    State(datasets): State<Datasets>,
    Path(name): Path<String>,
    Asks { who, params }: Asks<ItemParams>,
) -> Outcome {
    let format = params.format.as_deref().unwrap_or("jsonl");
    let format = match format {
        "zip" => None,
        other => Some(other.parse::<ExportFormat>().map_err(LabError::Wrong)?),
    };
    let head = reading::find(datasets.store(), &who.tenant, &reference(&name)?).await?;
    let page = Page {
        after: params.after.unwrap_or(Page::ALL.after),
        limit: params.limit.unwrap_or(Page::ALL.limit),
    };
    let at = (head.dataset_id.as_str(), head.version);
    let rows = reading::items(datasets.store(), &who.tenant, at, Depth::Content, page).await?;
    let items: Vec<Item> = rows.iter().map(Item::of_row).collect();
    let Some(format) = format else {
        let bytes = datasets.bundled(&who, items).await?;
        return Ok(([(header::CONTENT_TYPE, "application/zip")], bytes).into_response());
    };
    let task = tokio::task::spawn_blocking(move || format.write(&items)).await;
    let text = task.map_err(|e| LabError::Broken(e.to_string()))?.map_err(LabError::Broken)?;
    Ok(([(header::CONTENT_TYPE, format.media_type())], text).into_response())
}

/// A file as an attachment: nothing that a tenant uploads is shown as a page of the server's.
async fn attachment(
    State(datasets): State<Datasets>,
    Path(sha256): Path<String>,
    Asks { who, params }: Asks<FileParams>,
) -> Outcome {
    let stored = datasets.file(&who, &sha256).await?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_. ".contains(c);
    let name = params.name.unwrap_or(sha256).replace(|c: char| !is_plain(c), "_");
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, stored.bytes.to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    Ok((headers, Body::from_stream(stored.content)).into_response())
}

async fn diff(
    State(datasets): State<Datasets>,
    Path(name): Path<String>,
    Asks { who, params }: Asks<DiffParams>,
) -> Outcome {
    told(datasets.diff(&who, &reference(&name)?.name, params.from, params.to).await?)
}

async fn change(State(datasets): State<Datasets>, Path(name): Path<String>, sent: Tells<Change>) -> Outcome {
    told(datasets.change(&sent.who, &name_of(&name)?, sent.body).await?)
}

async fn revert(
    State(datasets): State<Datasets>,
    Path(name): Path<String>,
    Tells { who, body: Revert { to, message } }: Tells<Revert>,
) -> Outcome {
    told(datasets.revert(&who, &name_of(&name)?, to, message).await?)
}

async fn purge(State(datasets): State<Datasets>, Path(name): Path<String>, sent: Tells<Purge>) -> Outcome {
    let name = name_of(&name)?;
    // Who hangs up does not leave half of it.
    let task = tokio::spawn(async move { datasets.purge(&sent.who, &name, sent.body).await });
    told(task.await.map_err(|e| LabError::Broken(e.to_string()))??)
}

async fn import(
    State(datasets): State<Datasets>,
    Path(name): Path<String>,
    Brings { who, params, kind, bytes }: Brings<ImportParams>,
) -> Outcome {
    let name = name_of(&name)?;
    let mapping: Mapping = params.map.as_deref().unwrap_or_default().parse().map_err(LabError::Wrong)?;
    let mapping = mapping.with_archived(params.archived);
    let (import, source) = match sql_of(&kind, &bytes) {
        Some(sql) => {
            let work = Work::Text(sql.clone());
            let scope = Scope::Tenant(who.tenant.as_str().into());
            let rows = datasets.store().sql.collect_from("lab", &scope, work, None).await?;
            (Import::of_batches(&rows.schema, &rows.batches, &mapping)?, json!({ "sql": sql }))
        }
        None => {
            let config = datasets.config().clone();
            file(&params, file_of(&kind, bytes)?, mapping, config).await?
        }
    };
    let taking = Taking {
        equals: if params.keep_duplicates { Equals::Each } else { Equals::Once },
        others: if params.replace { Others::Go } else { Others::Stay },
        faulty: if params.partial { Faulty::Partial } else { Faulty::Nothing },
        end: if params.dry_run { End::Tried } else { End::Stored },
        absent: if params.create { Absent::Made } else { Absent::Refused },
        source: Some(source),
        message: params.message,
        if_version: params.if_version,
    };
    // Who hangs up does not leave files that no item names.
    let task = tokio::spawn(async move { datasets.import(&who, &name, import, taking).await });
    told(task.await.map_err(|e| LabError::Broken(e.to_string()))??)
}

/// The query of a body `{"sql": "…"}`; none for a file.
fn sql_of(kind: &str, bytes: &[u8]) -> Option<String> {
    let sent = (kind == "application/json").then(|| serde_json::from_slice::<FromSql>(bytes).ok());
    sent.flatten().map(|sent| sent.sql)
}

/// The file of a body `{"file_text": "…"}` or `{"file_base64": "…"}`; the body itself for a file that is sent as it is.
fn file_of(kind: &str, bytes: Bytes) -> Result<Bytes, LabError> {
    let sent = (kind == "application/json").then(|| serde_json::from_slice::<FromPage>(&bytes).ok());
    match sent.flatten() {
        None => Ok(bytes),
        Some(FromPage::FileText(text)) => Ok(text.into()),
        Some(FromPage::FileBase64(text)) => {
            let decoded = STANDARD.decode(text);
            decoded.map(Bytes::from).map_err(|e| LabError::Wrong(format!("file_base64: {e}")))
        }
    }
}

async fn file(
    params: &ImportParams,
    bytes: Bytes,
    mapping: Mapping,
    config: Config,
) -> Result<(Import, Value), LabError> {
    let format: Option<FileFormat> = match params.format.as_deref() {
        None | Some("auto" | "zip") => None,
        Some(name) => Some(name.parse().map_err(LabError::Wrong)?),
    };
    let source = json!({
        "file": params.file.as_deref(),
        "sha256": hex::encode(Sha256::digest(&bytes)),
        "bytes": bytes.len(),
    });
    // Reading a big file takes long enough to hold up other requests of this thread.
    let read = tokio::task::spawn_blocking(move || match format {
        None if is_zip(&bytes) => Import::unpack(bytes, &mapping, &config),
        format => Import::read(&bytes, format, &mapping),
    });
    let mut import = read.await.map_err(|e| LabError::Broken(e.to_string()))??;
    import.split_by_name(params.file.as_deref().unwrap_or_default());
    Ok((import, source))
}
