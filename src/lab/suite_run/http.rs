//! The routes `POST /v1/lab/suites/{name}/run`, `GET /v1/lab/spans`, `GET` and `POST /v1/lab/experiments/{id}/export`, and
//! `POST …/checks`.

use super::edits::{EditCheck, edit};
use super::report::{self, File, Wanted};
use super::runs::{RunSuite, SuiteRuns, Taken};
use super::traced;
use crate::lab::dataset::Reference;
use crate::lab::endpoint::{Asks, Brings, Outcome, Params, Tells, of_tenants, to_its_end, told};
use crate::lab::error::LabError;
use crate::lab::experiment::{Experiment, MAX_CALLED, Retry, artifact, find_experiment, retry_of};
use crate::lab::store::Who;
use crate::lab::suite::AnalysisBy;
use crate::net::{Access, Role, guarded};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// What the routes work on.
#[derive(Clone)]
pub struct SuiteRunEndpoint {
    /// The runs.
    pub runs: SuiteRuns,
    /// Who may: the role query reads, the role lab runs.
    pub access: Access,
}

/// The routes. A fault is `{"error": "…"}`.
pub fn suite_run_router(endpoint: SuiteRunEndpoint) -> Router {
    let most = endpoint.runs.experiments().datasets().config().max_import_size.in_memory();
    let guard = |role: Role| from_fn_with_state((endpoint.access.clone(), role), guarded);
    let reads = Router::new()
        .route("/v1/lab/experiments/{id}/export", get(export))
        .route("/v1/lab/spans", get(spans))
        .layer(guard(Role::Query));
    let writes = Router::new()
        .route("/v1/lab/suites/{name}/run", post(run))
        .route("/v1/lab/experiments/{id}/checks", post(change))
        .layer(from_fn(to_its_end))
        .route("/v1/lab/experiments/{id}/export", post(export_analysed))
        .layer(guard(Role::Lab))
        .layer(DefaultBodyLimit::max(most));
    reads.merge(writes).with_state(endpoint.runs)
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RunParams {
    tenant: Option<String>,
    /// A run that was begun, to go on with.
    experiment: Option<String>,
    /// Runs that are asked, at most.
    limit: Option<usize>,
    /// The place of the first run that is looked at.
    from: usize,
    /// errors or failed.
    retry: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ExportParams {
    tenant: Option<String>,
    /// results or qa; with names=mlflow or h2o the parts of these.
    part: Option<String>,
    /// csv, json or zip; of results also text, markdown and junit.
    format: Option<String>,
    /// vals, mlflow or h2o.
    names: Option<String>,
    /// Results with one row a check.
    flat: bool,
    /// The run that gates compare with.
    baseline: Option<String>,
    /// Who writes the analysis of what failed: counted, or judge.
    analysis: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SpanParams {
    tenant: Option<String>,
    /// Ids of traces with commas between.
    traces: String,
}

of_tenants!(RunParams, ExportParams, SpanParams);

/// Begins a run, or goes on with one: answers what is stored and how much is still missing, so that the caller comes again.
async fn run(
    State(all): State<SuiteRuns>,
    Path(name): Path<String>,
    Brings { who, params, kind, bytes }: Brings<RunParams>,
) -> Outcome {
    if kind != "application/json" {
        return Err(LabError::Wrong(format!("send application/json, not {kind}")));
    }
    let body: RunSuite = match bytes.is_empty() {
        true => RunSuite::default(),
        false => serde_json::from_slice(&bytes)
            .map_err(|e| LabError::Wrong(format!("the body is not what is expected: {e}")))?,
    };
    let reference: Reference = name.parse().map_err(LabError::Wrong)?;
    let retry = retry_of(params.retry.as_deref())?;
    let page = (params.from, params.limit.unwrap_or(MAX_CALLED));
    if let Some(id) = params.experiment {
        let found = find_experiment(all.experiments().store(), &who.tenant, &id).await?;
        if found.suite().is_none() {
            return Err(LabError::Wrong(format!("the experiment {id:?} is no run of a suite")));
        }
        let taken = going(all, who, found.clone(), (body, page, retry)).await?;
        return told(json_of(&found, taken));
    }
    let begun = all.begin(&who, &reference, &body).await?;
    let runs = begun.tests.saturating_mul(begun.experiment.repetitions);
    let is_ours = all.experiments().targets().has(&begun.experiment.target);
    let mut answer = match is_ours || !body.answers.is_empty() {
        true => {
            let taken = going(all, who, begun.experiment.clone(), (body, page, retry)).await?;
            json_of(&begun.experiment, taken)
        }
        // Whoever asks this target sends what it answers.
        false => json!({ "experiment_id": begun.experiment.experiment_id, "missing": runs }),
    };
    answer["suite_id"] = json!(begun.head.suite_id);
    answer["suite_version"] = json!(begun.head.version);
    answer["dataset"] = json!(format!("suite/{}@{}", begun.head.name, begun.head.row.dataset_version));
    (answer["tests"], answer["runs"]) = (json!(begun.tests), json!(runs));
    told(answer)
}

fn json_of(found: &Experiment, taken: Taken) -> Json {
    let mut answer = json!(taken);
    answer["experiment_id"] = json!(found.experiment_id);
    answer
}

/// Takes the answers that were sent, or asks the target. Who hangs up loses no answer that was asked for.
async fn going(
    all: SuiteRuns,
    who: Who,
    found: Experiment,
    (body, page, retry): (RunSuite, (usize, usize), Retry),
) -> Result<Taken, LabError> {
    let task = tokio::spawn(async move {
        match body.answers.is_empty() {
            true => all.ask(&who, &found, page, retry).await,
            false => all.take(&who, &found, body.answers).await,
        }
    });
    task.await.map_err(|e| LabError::Broken(e.to_string()))?
}

/// What checks read of the spans of some traces.
async fn spans(State(all): State<SuiteRuns>, Asks { who, params }: Asks<SpanParams>) -> Outcome {
    let traces: Vec<&str> = params.traces.split(',').filter(|trace| !trace.is_empty()).collect();
    let found = traced::read(all.experiments().store(), &who.tenant, &traces).await?;
    told(json!({ "traces": found }))
}

async fn change(State(all): State<SuiteRuns>, Path(id): Path<String>, sent: Tells<EditCheck>) -> Outcome {
    let found = find_experiment(all.experiments().store(), &sent.who.tenant, &id).await?;
    told(edit(&all, &sent.who, &found, sent.body).await?)
}

async fn export(
    State(all): State<SuiteRuns>,
    Path(id): Path<String>,
    Asks { who, params }: Asks<ExportParams>,
) -> Outcome {
    let analysis = analysis_of(&params)?;
    if analysis == AnalysisBy::Judge {
        let why = "analysis=judge asks a judge, which may cost: POST the same with the role lab";
        return Err(LabError::Wrong(why.to_owned()));
    }
    exported(&all, &who, &id, (params, analysis)).await
}

/// As [`export`]; a judge may be asked for the analysis.
async fn export_analysed(
    State(all): State<SuiteRuns>,
    Path(id): Path<String>,
    Brings { who, params, .. }: Brings<ExportParams>,
) -> Outcome {
    let analysis = analysis_of(&params)?;
    exported(&all, &who, &id, (params, analysis)).await
}

fn analysis_of(params: &ExportParams) -> Result<AnalysisBy, LabError> {
    let named: Option<AnalysisBy> =
        params.analysis.as_deref().map(str::parse).transpose().map_err(LabError::Wrong)?;
    Ok(named.unwrap_or_default())
}

async fn exported(
    all: &SuiteRuns,
    who: &Who,
    id: &str,
    (params, analysis): (ExportParams, AnalysisBy),
) -> Outcome {
    let part = params.part.unwrap_or_else(|| "results".to_owned());
    let is_ours = matches!(params.names.as_deref(), None | Some("vals"));
    if analysis == AnalysisBy::Judge && !(is_ours && part == "results") {
        let why = "analysis=judge is of part=results, in the names of vals: other files have no analysis";
        return Err(LabError::Wrong(why.to_owned()));
    }
    match params.names.as_deref() {
        None | Some("vals") => {}
        Some(names @ ("mlflow" | "h2o")) => {
            let part = match (names, part.as_str()) {
                ("mlflow", "results") => "mlflow",
                ("h2o", "results") => "llm-eval-results",
                (_, other) => other,
            };
            return artifact(all.experiments().clone(), who, id, (part, params.format.as_deref())).await;
        }
        Some(other) => {
            return Err(LabError::Wrong(format!("names is {other:?}; it may be vals, mlflow or h2o")));
        }
    }
    let format = params.format.unwrap_or_else(|| "csv".to_owned());
    let found = find_experiment(all.experiments().store(), &who.tenant, id).await?;
    let wanted = Wanted { part, format, flat: params.flat, baseline: params.baseline, analysis };
    let File { media_type, bytes } = report::file(all, who, &found, wanted).await?;
    Ok(([(header::CONTENT_TYPE, media_type)], bytes).into_response())
}
