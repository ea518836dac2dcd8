//! The routes of the lint, and of what evaluators need.

use super::finding::Severity;
use super::rules::{Wanted, lint};
use crate::domain::score::Better;
use crate::eval::{Evaluator, Registry, fit_of, scale_of};
use crate::lab::dataset::{Datasets, Item, find};
use crate::lab::endpoint::{Asks, Outcome, Params, Whose, of_tenants, told};
use crate::lab::error::LabError;
use crate::net::{Access, Role, guarded};
use axum::Router;
use axum::extract::{Path, State};
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// What the routes work on.
#[derive(Clone)]
pub struct LintEndpoint {
    /// The datasets.
    pub datasets: Datasets,
    /// The evaluators.
    pub registry: Arc<Registry>,
    /// Who may: the role query.
    pub access: Access,
}

/// The routes. Each answers JSON; a fault is `{"error": "…"}`.
pub fn lint_router(endpoint: LintEndpoint) -> Router {
    Router::new()
        .route("/v1/lab/datasets/{name}/lint", get(lint_of))
        .route("/v1/lab/matrix", get(evaluators))
        .layer(from_fn_with_state((endpoint.access.clone(), Role::Query), guarded))
        .with_state(endpoint)
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LintParams {
    tenant: Option<String>,
    /// Evaluators by id, with commas between.
    evaluators: Option<String>,
    /// Most characters of what is asked.
    longest: Option<usize>,
}

of_tenants!(LintParams);

async fn lint_of(
    State(endpoint): State<LintEndpoint>,
    Path(name): Path<String>,
    Asks { who, params }: Asks<LintParams>,
) -> Outcome {
    let wanted = wanted(&endpoint.registry, &params)?;
    let head = find(endpoint.datasets.store(), &who.tenant, &name.parse().map_err(LabError::Wrong)?).await?;
    let rows = endpoint.datasets.items_at(&who, &head).await?;
    let looked = move || {
        let items: Vec<Item> = rows.iter().map(Item::of_row).collect();
        (items.len(), lint(&items, &wanted))
    };
    let task = tokio::task::spawn_blocking(looked).await;
    let (items, found) = task.map_err(|e| LabError::Broken(e.to_string()))?;
    let errors = found.iter().filter(|one| one.severity == Severity::Error).count();
    told(json!({
        "dataset": head.name, "version": head.version, "items": items,
        "errors": errors, "warnings": found.len() - errors, "findings": found,
    }))
}

fn wanted(registry: &Registry, params: &LintParams) -> Result<Wanted, LabError> {
    let usual = Wanted::default();
    let mut wanted = Wanted { longest: params.longest.unwrap_or(usual.longest), ..usual };
    let named = params.evaluators.as_deref().unwrap_or_default().split(',').map(str::trim);
    let ids: Vec<String> = named.filter(|id| !id.is_empty()).map(str::to_owned).collect();
    for evaluator in registry.select(&ids).map_err(|e| LabError::Wrong(e.to_string()))? {
        for need in fit_of(evaluator.id()).iter().flat_map(|fit| fit.needs) {
            wanted.needs.entry(*need).or_default().push(evaluator.id().to_owned());
        }
    }
    Ok(wanted)
}

async fn evaluators(State(endpoint): State<LintEndpoint>, _: Asks<Whose>) -> Outcome {
    told(json!({ "evaluators": matrix(&endpoint.registry)? }))
}

/// What each evaluator of `registry` needs and tells: a row an evaluator, with its metrics.
///
/// # Errors
/// [`LabError::Broken`] if it has none of its own ids.
pub fn matrix(registry: &Registry) -> Result<Vec<Value>, LabError> {
    let all = registry.select(&registry.ids()).map_err(|e| LabError::Broken(e.to_string()))?;
    Ok(all.iter().map(|one| row(registry, one.as_ref())).collect())
}

/// A number that JSON may not have, in the words of SQL's answers.
fn number(value: f64) -> Value {
    if value.is_finite() { value.into() } else { "Infinity".into() }
}

/// A row of the matrix. Of an evaluator of the user's own it is not known what it needs.
fn row(registry: &Registry, evaluator: &dyn Evaluator) -> Value {
    let metrics = evaluator.metrics().iter().enumerate().map(|(at, metric)| {
        let scale = scale_of(evaluator.id(), &metric.name);
        json!({
            "name": metric.name, "is_primary": at == 0,
            "better": if metric.better == Better::Higher { "higher" } else { "lower" },
            "range": scale.map(|scale| [number(scale.least), number(scale.most)]),
            "default_threshold": metric.threshold, "threshold": registry.threshold(evaluator, metric),
            "h2o_threshold": scale.and_then(|scale| scale.h2o).map(number),
        })
    });
    let mut row = json!({
        "id": evaluator.id(), "version": evaluator.version(), "metrics": metrics.collect::<Vec<_>>(),
        "is_by_name_only": evaluator.is_by_name_only(), "waits_for_others": evaluator.waits().is_some(),
    });
    if let Some(fit) = fit_of(evaluator.id()) {
        row["group"] = fit.group.name().into();
        row["needs"] = fit.needs.iter().map(|need| need.name()).collect();
        row["llm"] = fit.is_for_llm().into();
        row["rag"] = true.into();
        row["asks_judge"] = fit.asks_judge().into();
    }
    row
}
