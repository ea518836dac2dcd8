//! The routes under `/v1/lab/experiments`, and `/v1/lab/compare`.

use super::super::endpoint::{Asks, Outcome, Params, Tells, Whose, of_tenants, to_its_end, told};
use super::super::error::LabError;
use super::super::store::Who;
use super::artifacts::{Form, Part, Written, written};
use super::beside::{Beside, Compared, Loaded, beside, line};
use super::called::MAX_CALLED;
use super::compare::compare;
use super::definition::{Answer, EditExperiment, NewExperiment, Retry, Stored, Telling, Todo};
use super::detail::{self, MAX_DETAILED, detailed};
use super::experiments::Experiments;
use super::findings::findings;
use super::flips::flips;
use super::gone::gone;
use super::leaderboard::leaderboard;
use super::playground::{evaluators, try_out};
use super::reading::{self, Experiment};
use super::several::several;
use super::slices::{Dimension, known};
use super::summary::{Data, Weights, sliced, summary};
use super::traces;
use crate::net::{Access, Role, guarded};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{get, patch, post};
use serde::Deserialize;
use serde_json::json;

/// Runs of an answer where nothing is said, and at most.
const PAGE: usize = 100;
const MAX_PAGE: usize = 1_000;
/// Items of a comparison that are told with what both sides answered, where nothing is said.
const DETAILS: usize = 20;

/// What the routes work on.
#[derive(Clone)]
pub struct ExperimentEndpoint {
    /// The experiments.
    pub experiments: Experiments,
    /// Who may: the role query reads, the role lab writes.
    pub access: Access,
}

/// The routes. Each answers JSON; a fault is `{"error": "…"}`.
pub fn experiment_router(endpoint: ExperimentEndpoint) -> Router {
    let most = endpoint.experiments.datasets().config().max_import_size.in_memory();
    let guard = |role: Role| from_fn_with_state((endpoint.access.clone(), role), guarded);
    let reads = Router::new()
        .route("/v1/lab/experiments", get(list))
        .route("/v1/lab/experiments/{id}", get(show))
        .route("/v1/lab/experiments/{id}/todo", get(todo))
        .route("/v1/lab/experiments/{id}/runs", get(runs_of))
        .route("/v1/lab/experiments/{id}/summary", get(summarize))
        .route("/v1/lab/experiments/{id}/flips", get(flips_of))
        .route("/v1/lab/experiments/{id}/findings", get(findings_of))
        .route("/v1/lab/leaderboards", get(leaderboards))
        .route("/v1/lab/export", get(export))
        .route("/v1/lab/compare", get(compare_any))
        .route("/v1/lab/targets", get(targets))
        .route("/v1/lab/evaluators", get(evaluators))
        .layer(guard(Role::Query));
    let writes = Router::new()
        .route("/v1/lab/experiments", post(create))
        .route("/v1/lab/experiments/{id}", patch(edit))
        // Those behind it end with who asks: judges cost.
        .layer(from_fn(to_its_end))
        .route("/v1/lab/experiments/{id}/runs", post(receive))
        .route("/v1/lab/experiments/{id}/run", post(run))
        .route("/v1/lab/playground", post(try_out))
        .layer(guard(Role::Lab))
        .layer(DefaultBodyLimit::max(most));
    reads.merge(writes).with_state(endpoint.experiments)
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Page {
    tenant: Option<String>,
    limit: Option<usize>,
    /// The place of the first run that is looked at.
    from: usize,
    /// errors or failed.
    retry: Option<String>,
    /// Whether what should be answered is told, too.
    expected: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ListParams {
    tenant: Option<String>,
    /// Those that are older than the one of this id.
    after: Option<String>,
    limit: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RunParams {
    tenant: Option<String>,
    /// Runs of items behind this place.
    after: Option<i64>,
    /// How many items.
    limit: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FlipParams {
    tenant: Option<String>,
    /// How many cases of each metric and method are told with both answers.
    details: Option<usize>,
}

of_tenants!(ListParams, RunParams, FlipParams, ExportParams, BoardParams, Page, SummaryParams, CompareParams);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SummaryParams {
    tenant: Option<String>,
    /// items or traffic.
    weights: Option<String>,
    /// tag, split, category, metadata.KEY, with commas between.
    slice: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardParams {
    tenant: Option<String>,
    /// Names or ids, with commas between.
    experiments: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportParams {
    tenant: Option<String>,
    /// Names or ids, with commas between.
    experiments: String,
    part: String,
    format: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CompareParams {
    tenant: Option<String>,
    new: Option<String>,
    /// Names or ids, with commas between, in place of `new`.
    experiments: Option<String>,
    baseline: Option<String>,
    /// tag, split, category, metadata.KEY, with commas between.
    slice: Option<String>,
    /// How many of the items are told with what both sides answered.
    details: Option<usize>,
}

impl Page {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE)
    }
}

async fn list(State(all): State<Experiments>, Asks { who, params }: Asks<ListParams>) -> Outcome {
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = reading::list(all.store(), &who.tenant, params.after.as_deref(), most).await?;
    let next = found.last().filter(|_| found.len() == limit).map(|last| last.experiment_id.clone());
    told(json!({ "experiments": found, "next": next }))
}

async fn create(State(all): State<Experiments>, sent: Tells<NewExperiment>) -> Outcome {
    let (made, items) = all.create(&sent.who, sent.body).await?;
    let runs = items.saturating_mul(made.repetitions);
    told(json!({ "experiment_id": made.experiment_id, "items": items, "runs": runs }))
}

async fn show(
    State(all): State<Experiments>,
    Path(id): Path<String>,
    Asks { who, .. }: Asks<Whose>,
) -> Outcome {
    let found = reading::find(all.store(), &who.tenant, &id).await?;
    let gone = gone(all.registry(), found.evaluator_ids());
    let mut body = serde_json::to_value(found).map_err(|e| LabError::Broken(e.to_string()))?;
    if !gone.is_empty() {
        body["evaluators_gone"] = json!(gone);
    }
    told(body)
}

async fn edit(
    State(all): State<Experiments>,
    Path(id): Path<String>,
    sent: Tells<EditExperiment>,
) -> Outcome {
    told(all.edit(&sent.who, &id, sent.body).await?)
}

/// Which runs `retry` asks again: errors, or failed.
///
/// # Errors
/// [`LabError::Wrong`] for any other word.
pub fn retry_of(retry: Option<&str>) -> Result<Retry, LabError> {
    match retry {
        None => Ok(Retry::Missing),
        Some("errors") => Ok(Retry::Errors),
        Some("failed") => Ok(Retry::Failed),
        Some(other) => Err(LabError::Wrong(format!("retry is {other:?}; it may be errors or failed"))),
    }
}

async fn todo(
    State(all): State<Experiments>,
    Path(id): Path<String>,
    Asks { who, params }: Asks<Page>,
) -> Outcome {
    let telling = if params.expected { Telling::Expected } else { Telling::Asked };
    let retry = retry_of(params.retry.as_deref())?;
    told(all.todo(&who, &id, (params.from, params.limit()), (retry, telling)).await?)
}

async fn receive(
    State(all): State<Experiments>,
    Path(id): Path<String>,
    sent: Tells<Vec<Answer>>,
) -> Outcome {
    told(all.receive(&sent.who, &id, sent.body).await?)
}

async fn runs_of(
    State(all): State<Experiments>,
    Path(id): Path<String>,
    Asks { who, params }: Asks<RunParams>,
) -> Outcome {
    let found = reading::find(all.store(), &who.tenant, &id).await?;
    let from = params.after.unwrap_or(i64::MIN);
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_DETAILED);
    let (runs, after) = detail::page(&all, &who, &found, (from, limit)).await?;
    told(json!({ "runs": runs, "after": after }))
}

async fn targets(State(all): State<Experiments>, _: Asks<Whose>) -> Outcome {
    told(json!({ "targets": all.targets().listed() }))
}

/// Takes the answers that the server itself can give: those of stored spans, and of the targets of its configuration.
/// Answers what is stored and how much is still missing, so that the caller comes again.
async fn run(
    State(all): State<Experiments>,
    Path(id): Path<String>,
    Asks { who, params }: Asks<Page>,
) -> Outcome {
    let (retry, from, limit) = (retry_of(params.retry.as_deref())?, params.from, params.limit());
    let found = reading::find(all.store(), &who.tenant, &id).await?;
    if found.suite().is_some() {
        let why = "it is a run of a suite: POST /v1/lab/suites/NAME/run?experiment=ID asks its target, so that the suite's \
                   checks judge what is answered";
        return Err(LabError::Wrong(why.to_owned()));
    }
    let (answers, next) = match (found.target.kind.as_str(), all.targets().has(&found.target)) {
        ("trace", _) => {
            let (todo, next) = todo_page(&all, &who, &id, (from, limit), retry).await?;
            let items = all.items(&who, &found).await?;
            (traces::answers(all.store(), &who, &items, &todo).await?, next)
        }
        (_, true) => {
            // Who hangs up loses no answer that was asked for.
            let task = tokio::spawn(called(all, who, found, (from, limit.min(MAX_CALLED)), retry));
            return told(task.await.map_err(|e| LabError::Broken(e.to_string()))??);
        }
        (kind, false) => {
            let why = format!(
                "the server asks no target of the kind {kind:?} but those of [lab.targets]: groundline experiment run does, \
                 and sends what it answers"
            );
            return Err(LabError::Wrong(why));
        }
    };
    told(Stored { next, ..all.receive(&who, &id, answers).await? })
}

/// At most `limit` runs that are missing, or wanted again, from the place `from` on, and the place behind them where there are
/// others.
///
/// # Errors
/// Those of [`Experiments::todo`].
pub async fn todo_page(
    all: &Experiments,
    who: &Who,
    named: &str,
    (from, limit): (usize, usize),
    retry: Retry,
) -> Result<(Vec<Todo>, Option<usize>), LabError> {
    // One more than is wanted: who comes again finds something to do.
    let mut todo = all.todo(who, named, (from, limit.saturating_add(1)), (retry, Telling::Asked)).await?;
    let has_more = todo.len() > limit;
    todo.truncate(limit);
    let next = todo.last().filter(|_| has_more).map(|last| last.place + 1);
    Ok((todo, next))
}

async fn called(
    all: Experiments,
    who: Who,
    found: Experiment,
    (from, limit): (usize, usize),
    retry: Retry,
) -> Result<Stored, LabError> {
    let id = &found.experiment_id;
    let _turn = all.targets().turn(&who.tenant, id)?;
    let (todo, next) = todo_page(&all, &who, id, (from, limit), retry).await?;
    let answers = all.targets().answers(&found.target, &todo).await?;
    Ok(Stored { next, ..all.receive(&who, id, answers).await? })
}

async fn summarize(
    State(all): State<Experiments>,
    Path(id): Path<String>,
    Asks { who, params }: Asks<SummaryParams>,
) -> Outcome {
    let weights = match params.weights.as_deref() {
        None | Some("items") => Weights::Items,
        Some("traffic") => Weights::Traffic,
        Some(other) => {
            return Err(LabError::Wrong(format!("weights is {other:?}; it may be items or traffic")));
        }
    };
    let found = reading::find(all.store(), &who.tenant, &id).await?;
    let loaded = Loaded::of(&all, &who, found).await?;
    let found = summary(&loaded.data(), weights);
    let gone = gone(all.registry(), loaded.experiment.evaluator_ids());
    let mut body = json!({
        "experiment": loaded.experiment, "summary": found, "purged": loaded.purged, "evaluators_gone": gone,
        "dimensions": known(loaded.items.iter()),
    });
    let dimensions = Dimension::list(params.slice.as_deref()).map_err(LabError::Wrong)?;
    if !dimensions.is_empty() {
        let (slices, left_out) = sliced(&loaded.data(), weights, &dimensions);
        (body["slices"], body["slices_left_out"]) = (json!(slices), json!(left_out));
    }
    told(body)
}

async fn flips_of(
    State(all): State<Experiments>,
    Path(id): Path<String>,
    Asks { who, params }: Asks<FlipParams>,
) -> Outcome {
    let found = reading::find(all.store(), &who.tenant, &id).await?;
    let loaded = Loaded::of(&all, &who, found).await?;
    let (found, most) = (flips(&loaded.items, &loaded.scores), params.details.unwrap_or(DETAILS));
    let of = (&loaded.experiment, loaded.items.as_slice());
    told(json!({ "flips": detail::flipped(&all, &who, of, &found, most).await? }))
}

async fn findings_of(
    State(all): State<Experiments>,
    Path(id): Path<String>,
    Asks { who, .. }: Asks<Whose>,
) -> Outcome {
    let found = reading::find(all.store(), &who.tenant, &id).await?;
    let loaded = Loaded::of(&all, &who, found).await?;
    let found = findings(&loaded.data(), |of, metric| line(&all, of, metric));
    let found = detail::evidenced(&all, &who, &loaded.experiment, &found).await?;
    told(json!({ "experiment_id": loaded.experiment.experiment_id, "findings": found }))
}

async fn leaderboards(State(all): State<Experiments>, Asks { who, params }: Asks<BoardParams>) -> Outcome {
    let loaded = beside(&all, &who, &params.experiments).await?;
    let data: Vec<Data<'_>> = loaded.iter().map(Loaded::data).collect();
    told(json!({ "rows": leaderboard(&data, |of, metric| line(&all, of, metric).0) }))
}

async fn export(State(all): State<Experiments>, Asks { who, params }: Asks<ExportParams>) -> Outcome {
    artifact(all, &who, &params.experiments, (&params.part, params.format.as_deref())).await
}

/// A file of experiments for other programs: which part, in which form.
///
/// # Errors
/// What is wrong with these; as reading experiments.
pub async fn artifact(
    all: Experiments,
    who: &Who,
    experiments: &str,
    (part, format): (&str, Option<&str>),
) -> Outcome {
    let part: Part = part.parse().map_err(LabError::Wrong)?;
    let form: Option<Form> = format.map(str::parse).transpose().map_err(LabError::Wrong)?;
    let beside = Beside::load(&all, who, beside(&all, who, experiments).await?).await?;
    let work = move || written(&beside.sides(), part, form, &|of: &str, metric: &str| line(&all, of, metric));
    // Every two experiments are compared: that takes long enough to hold up other requests of this thread.
    let task = tokio::task::spawn_blocking(work).await.map_err(|e| LabError::Broken(e.to_string()))?;
    let Written { media_type, bytes } = task.map_err(LabError::Wrong)?;
    Ok(([(header::CONTENT_TYPE, media_type)], bytes).into_response())
}

async fn compare_any(State(all): State<Experiments>, Asks { who, params }: Asks<CompareParams>) -> Outcome {
    match (&params.new, &params.experiments) {
        (Some(new), None) => Box::pin(compare_two(all, &who, new, &params)).await,
        (None, Some(named)) => Box::pin(compare_several(all, &who, named, &params)).await,
        (_, _) => {
            let why = "say what is compared: new=NAME, or several of one dataset, experiments=A,B,C";
            Err(LabError::Wrong(why.to_owned()))
        }
    }
}

/// Each of several with one baseline: what each has, and its verdict against the baseline.
async fn compare_several(all: Experiments, who: &Who, named: &str, params: &CompareParams) -> Outcome {
    let dimensions = Dimension::list(params.slice.as_deref()).map_err(LabError::Wrong)?;
    let Compared { baseline, others } = Compared::of(&all, who, named, params.baseline.as_deref()).await?;
    let work = move || {
        let data: Vec<Data<'_>> = others.iter().map(Loaded::data).collect();
        let better = |of: &str, metric: &str| line(&all, of, metric).0;
        let mut told = json!(several(&baseline.data(), &data, &dimensions, better));
        told["dimensions"] = json!(known(baseline.items.iter()));
        told["baseline"]["purged"] = json!(baseline.purged);
        for (at, other) in others.iter().enumerate() {
            told["experiments"][at]["purged"] = json!(other.purged);
        }
        told
    };
    // As a comparison of two, and as many of them.
    let task = tokio::task::spawn_blocking(work).await;
    told(task.map_err(|e| LabError::Broken(e.to_string()))?)
}

async fn compare_two(all: Experiments, who: &Who, new: &str, params: &CompareParams) -> Outcome {
    let new = reading::find(all.store(), &who.tenant, new).await?;
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
    let dimensions = Dimension::list(params.slice.as_deref()).map_err(LabError::Wrong)?;
    let [new, baseline] = Loaded::both(&all, who, [new, baseline]).await?;
    let lines = all.clone();
    let work = move || {
        let better = |of: &str, metric: &str| line(&lines, of, metric).0;
        let compared = compare(&new.data(), &baseline.data(), &dimensions, better);
        (new, baseline, compared)
    };
    // A hundred thousand items take long enough to hold up other requests of this thread.
    let task = tokio::task::spawn_blocking(work).await;
    let (new, baseline, mut compared) = task.map_err(|e| LabError::Broken(e.to_string()))?;
    let most = params.details.unwrap_or(DETAILS);
    let moved = std::mem::take(&mut compared.items);
    let items = detailed(&all, who, (&new, &baseline), &moved, most).await?;
    let mut comparison = json!(compared);
    comparison["items"] = items.into();
    let side = |one: &Loaded| {
        let Experiment { experiment_id, name, target, .. } = &one.experiment;
        json!({"experiment_id": experiment_id, "name": name, "target": target, "purged": one.purged})
    };
    let body = json!({
        "new": side(&new), "baseline": side(&baseline), "comparison": comparison, "dimensions": known(new.items.iter()),
    });
    // The answer does not wait until all that was read is given back.
    tokio::task::spawn_blocking(move || drop((new, baseline)));
    told(body)
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
