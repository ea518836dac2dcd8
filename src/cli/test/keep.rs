//! A run of a suite that is kept as an experiment, and one of before as a baseline.

use super::super::lab::{Asked, LabClient, Refused, Where};
use crate::lab::suite::{Baseline, Outcome, Suite, sent};
use http::Method;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Answers of one request.
const BATCH: usize = 100;
/// Items of one page.
const PAGE: usize = 200;

/// An experiment that takes the answers of a suite.
pub struct Kept {
    place: Where,
    /// Its id.
    pub experiment_id: String,
    /// The suite and its version.
    pub suite: String,
    /// The items of the tests, by the tests' ids.
    items: HashMap<String, String>,
}

impl Kept {
    /// Keeps `suite` as the newest revision of that name, unless it is that already, and makes an experiment of the tests of
    /// which `filter` is true, each asked so often. Nobody is asked yet.
    ///
    /// # Errors
    /// What the server refuses.
    pub async fn begin(
        place: Where,
        (suite, repetitions): (&Suite, u32),
        target: &Value,
        filter: Option<&str>,
    ) -> Result<Self, String> {
        let client = LabClient::open(&place).await?;
        let begun = begun(&client, (suite, repetitions), target, filter).await;
        client.close().await?;
        let (experiment_id, suite, items) = begun?;
        Ok(Self { place, experiment_id, suite, items })
    }

    /// Stores the answers with their verdicts.
    ///
    /// # Errors
    /// What the server refuses; what was stored before stays.
    pub async fn end(&self, outcomes: &[Outcome]) -> Result<(), String> {
        let client = LabClient::open(&self.place).await?;
        let ended = self.answers(&client, outcomes).await;
        client.close().await.and(ended)
    }

    async fn answers(&self, client: &LabClient, outcomes: &[Outcome]) -> Result<(), String> {
        let answers = sent(outcomes, &self.items);
        for batch in answers.chunks(BATCH) {
            let path = ["experiments", &self.experiment_id, "runs"];
            let told = client.value(Asked::json(Method::POST, &path, &json!(batch))).await;
            let told = told.map_err(|refused| refused.error)?;
            if let Some(fault) = told["refused"].as_array().and_then(|refused| refused.first()) {
                return Err(format!("an answer is refused: {fault}"));
            }
        }
        Ok(())
    }
}

async fn begun(
    client: &LabClient,
    (suite, repetitions): (&Suite, u32),
    target: &Value,
    filter: Option<&str>,
) -> Result<(String, String, HashMap<String, String>), String> {
    let path = ["suites", "import"];
    let mut import = Asked::get(&path);
    import.method = Method::POST;
    import.body = Some(("application/json", suite.sendable()?.into_bytes()));
    let kept = client.value(import.with("message", "groundline test")).await.map_err(refused)?;
    let name = kept["name"].as_str().ok_or("the server does not say which suite it keeps")?;
    let path = ["suites", name, "run"];
    let mut body = json!({ "target": target, "repetitions": repetitions });
    if let Some(condition) = filter {
        body["filter"] = json!(condition);
    }
    let made = client.value(Asked::json(Method::POST, &path, &body)).await.map_err(refused)?;
    let text = |key: &str| made[key].as_str().map(str::to_owned);
    let id = text("experiment_id").ok_or("the server does not say which experiment it made")?;
    let dataset = text("dataset").ok_or("the server does not say which dataset has the tests")?;
    let path = ["datasets", dataset.as_str(), "items"];
    let items = client.value(Asked::get(&path).with("format", "json")).await.map_err(refused)?;
    let named =
        |item: &Value| Some((item["external_id"].as_str()?.to_owned(), item["item_id"].as_str()?.to_owned()));
    let items = items.as_array().into_iter().flatten().filter_map(named).collect();
    Ok((id, format!("{name}@{}", made["suite_version"]), items))
}

/// Everything that a server says against it.
fn refused(refused: Refused) -> String {
    let faults: Vec<&str> = refused.faults.iter().filter_map(|fault| fault["message"].as_str()).collect();
    if faults.is_empty() { refused.error } else { faults.join("; ") }
}

/// The values of an experiment that was kept, by its id, or its name: the newest of that name.
///
/// # Errors
/// When there is none, or it is no run of a suite.
pub async fn baseline(place: &Where, name: &str) -> Result<Baseline, String> {
    let client = LabClient::open(place).await?;
    let runs = runs(&client, name).await;
    client.close().await?;
    Baseline::of_stored(&runs?).map_err(|why| format!("--baseline {name}: {why}"))
}

async fn runs(client: &LabClient, name: &str) -> Result<Vec<Value>, String> {
    let (mut all, mut after) = (Vec::new(), None::<i64>);
    loop {
        let path = ["experiments", name, "runs"];
        let asked = Asked::get(&path).with("limit", PAGE).maybe("after", after);
        let told =
            client.value(asked).await.map_err(|refused| format!("--baseline {name}: {}", refused.error))?;
        all.extend(told["runs"].as_array().cloned().unwrap_or_default());
        after = told["after"].as_i64();
        if after.is_none() {
            return Ok(all);
        }
    }
}
