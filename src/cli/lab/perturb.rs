//! `groundline perturb`: a dataset whose items are asked in other letters too.

use super::client::{Asked, LabClient, Refused, Where};
use super::told::said;
use crate::lab::perturb::{Wanted, perturbed};
use clap::Args;
use http::Method;
use serde_json::{Map, Value};
use std::process::ExitCode;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct PerturbArgs {
    #[command(flatten)]
    place: Where,
    /// NAME, or NAME@VERSION.
    dataset: String,
    /// What is done to the items, comma separated, each a method or method@intensity. A copy is always among them.
    #[arg(long = "with", value_delimiter = ',', required = true)]
    with: Vec<Wanted>,
    /// The same seed makes the same items.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The dataset that is made, or gets a new version; NAME-perturbed if left out.
    #[arg(long)]
    into: Option<String>,
}

/// Runs it. Exit code 1 if it was refused.
pub async fn run(args: PerturbArgs) -> ExitCode {
    let done = match LabClient::open(&args.place).await {
        Err(error) => Err(Refused::from(error)),
        Ok(client) => {
            let done = made(&client, &args).await;
            let closed = client.close().await;
            done.and_then(|text| closed.map(|()| text).map_err(Refused::from))
        }
    };
    match done {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(Refused { error, .. }) => {
            eprintln!("groundline perturb: {error}");
            ExitCode::from(1)
        }
    }
}

async fn made(client: &LabClient, args: &PerturbArgs) -> Result<String, Refused> {
    let path = ["datasets", args.dataset.as_str(), "items"];
    let items = client.value(Asked::get(&path).with("format", "json")).await?;
    let items: Vec<Map<String, Value>> =
        serde_json::from_value(items).map_err(|e| Refused::from(format!("the items are no objects: {e}")))?;
    let made = perturbed(&items, &args.with, args.seed);
    let mut lines = String::new();
    for item in made {
        lines.push_str(&Value::Object(item).to_string());
        lines.push('\n');
    }
    let name = args.dataset.split('@').next().unwrap_or_default();
    let into = args.into.clone().unwrap_or_else(|| format!("{name}-perturbed"));
    let methods: Vec<&str> = args.with.iter().map(|wanted| wanted.method.name()).collect();
    let asked = Asked {
        method: Method::POST,
        path: &["datasets", &into, "import"],
        params: vec![("create", true.to_string())],
        body: Some(("application/x-ndjson", lines.into_bytes())),
    };
    let message = format!("{} perturbed by {}", args.dataset, methods.join(", "));
    let outcome = client.value(asked.with("replace", true).with("message", message)).await?;
    Ok(said(&into, &outcome))
}
