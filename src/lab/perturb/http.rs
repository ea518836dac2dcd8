//! The route that makes a dataset of perturbed items.

use super::items::{Wanted, perturbed};
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

/// Most changes of one request; with every method in every intensity there would be 66.
const MAX_WANTED: usize = 100;

/// What the route works on.
#[derive(Clone)]
pub struct PerturbEndpoint {
    /// The datasets.
    pub datasets: Datasets,
    /// Who may: the role lab.
    pub access: Access,
}

/// The route `POST /v1/lab/perturb`. It answers as an import does; a fault is `{"error": "…"}`.
pub fn perturb_router(endpoint: PerturbEndpoint) -> Router {
    Router::new()
        .route("/v1/lab/perturb", post(perturb))
        .layer(from_fn_with_state((endpoint.access.clone(), Role::Lab), guarded))
        .with_state(endpoint.datasets)
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

async fn perturb(State(datasets): State<Datasets>, sent: Tells<Perturb>) -> Outcome {
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
    // Long texts change letter by letter: too long for a thread that answers requests.
    let made = tokio::task::spawn_blocking(move || {
        let items: Vec<Map<String, Value>> = items
            .iter()
            .filter_map(|item| serde_json::to_value(Item::of_row(item)).ok()?.as_object().cloned())
            .collect();
        perturbed(&items, &wanted, seed)
    });
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
    told(datasets.import(&sent.who, &into, import, taking).await?)
}
