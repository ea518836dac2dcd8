//! The route that makes a dataset of perturbed items.

use super::items::{Wanted, perturbed};
use super::written::{Written, write};
use crate::eval::Writer;
use crate::lab::dataset::{Absent, Datasets, Equals, Import, Item, Others, Reference, Taking, find};
use crate::lab::endpoint::{Outcome, Tells, told};
use crate::lab::error::LabError;
use crate::lab::place::Place;
use crate::net::{Access, Role, guarded};
use axum::Router;
use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::routing::post;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::time::Instant;

/// Most changes of one request; with every method in every intensity there would be 79.
const MAX_WANTED: usize = 100;

/// What the route works on.
#[derive(Clone)]
pub struct PerturbEndpoint {
    /// The datasets.
    pub datasets: Datasets,
    /// Who may: the role lab.
    pub access: Access,
    /// Who writes what no rule can do; none without a judge.
    pub writer: Option<Arc<dyn Writer>>,
}

/// The route `POST /v1/lab/perturb`. It answers as an import does; a fault is `{"error": "…"}`.
pub fn perturb_router(endpoint: PerturbEndpoint) -> Router {
    Router::new()
        .route("/v1/lab/perturb", post(perturb))
        .layer(from_fn_with_state((endpoint.access.clone(), Role::Lab), guarded))
        .with_state(endpoint)
}

/// What is to be made.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Perturb {
    /// NAME, or NAME@VERSION.
    dataset: String,
    /// Methods, each perhaps with `@intensity`. A copy is always among them.
    with: Vec<String>,
    /// The same seed makes the same items.
    #[serde(default = "first")]
    seed: u64,
    /// The dataset that is made, or gets a new version; NAME-perturbed if left out.
    #[serde(default)]
    into: Option<String>,
}

fn first() -> u64 {
    1
}

async fn perturb(State(endpoint): State<PerturbEndpoint>, sent: Tells<Perturb>) -> Outcome {
    let PerturbEndpoint { datasets, writer, .. } = endpoint;
    let Perturb { dataset, with, seed, into } = sent.body;
    if with.is_empty() || with.len() > MAX_WANTED {
        return Err(LabError::Wrong(format!("with names {} methods; name 1 to {MAX_WANTED}", with.len())));
    }
    let wanted = with.iter().map(|text| text.parse()).collect::<Result<Vec<Wanted>, String>>();
    let wanted = wanted.map_err(|why| LabError::Wrong(format!("with: {why}")))?;
    let reference: Reference = dataset.parse().map_err(LabError::Wrong)?;
    let into = into.unwrap_or_else(|| format!("{}-perturbed", reference.name));
    let head = find(datasets.store(), &sent.who.tenant, &reference).await?;
    let items = datasets.items_at(&sent.who, &head).await?;
    // A whole dataset is too much for a thread that answers requests, and so is changing long texts letter by letter.
    let read = tokio::task::spawn_blocking(move || -> Vec<Map<String, Value>> {
        let told = items.iter().map(|item| serde_json::to_value(Item::of_row(item)).ok());
        told.filter_map(|item| item?.as_object().cloned()).collect()
    });
    let items = read.await.map_err(|e| LabError::Broken(e.to_string()))?;
    let until = Instant::now() + datasets.config().score_timeout;
    let written = write(&items, &wanted, writer.as_deref(), (&*sent.who.tenant, until)).await?;
    let Written { texts, unwritten, usage } = written;
    let made = tokio::task::spawn_blocking(move || perturbed(&items, &wanted, seed, &texts));
    let made = made.await.map_err(|e| LabError::Broken(e.to_string()))?;
    let read = |(number, item): (u64, Map<String, Value>)| -> Result<(Place, Item), LabError> {
        let item: Item = serde_json::from_value(Value::Object(item))
            .map_err(|e| LabError::Broken(format!("item {number} cannot be read any more: {e}")))?;
        Ok((Place::item(number), item))
    };
    let items = (1..).zip(made).map(read).collect::<Result<Vec<(Place, Item)>, LabError>>()?;
    let message = format!("{}@{} perturbed by {}, seed {seed}", head.name, head.version, with.join(", "));
    let taking = Taking {
        equals: Equals::Once,
        others: Others::Go,
        absent: Absent::Made,
        source: Some(json!({ "dataset": head.name, "version": head.version, "with": with, "seed": seed })),
        message: Some(message),
        ..Taking::default()
    };
    let import = Import { items, ..Import::default() };
    let outcome = datasets.import(&sent.who, &into, import, taking).await?;
    let mut body = serde_json::to_value(outcome).map_err(|e| LabError::Broken(e.to_string()))?;
    if let Some(usage) = usage {
        body["unwritten"] = Value::from(unwritten);
        body["judge"] = json!({
            "model": usage.model, "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
            "cost_usd": usage.cost_usd,
        });
    }
    told(body)
}
