//! `groundline perturb`: a dataset whose items are asked in other letters or words too.

use super::client::{Asked, LabClient, Refused, Where};
use super::told::{cell, said};
use crate::cli::pipe::put;
use crate::lab::perturb::Wanted;
use clap::Args;
use http::Method;
use serde_json::{Value, json};
use std::fmt::Write as _;
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
            put(text);
            ExitCode::SUCCESS
        }
        Err(Refused { error, .. }) => {
            eprintln!("groundline perturb: {error}");
            ExitCode::from(1)
        }
    }
}

async fn made(client: &LabClient, args: &PerturbArgs) -> Result<String, Refused> {
    let name = args.dataset.split('@').next().unwrap_or_default();
    let into = args.into.clone().unwrap_or_else(|| format!("{name}-perturbed"));
    let with: Vec<String> = args.with.iter().map(ToString::to_string).collect();
    let body = json!({"dataset": args.dataset, "with": with, "seed": args.seed, "into": into});
    let path = ["perturb"];
    let outcome = client.value(Asked::json(Method::POST, &path, &body)).await?;
    Ok(said(&into, &outcome) + &unwritten(&outcome))
}

/// What a judge did not write, and what it took.
fn unwritten(outcome: &Value) -> String {
    let mut text = String::new();
    for one in outcome["unwritten"].as_array().into_iter().flatten() {
        let _ = writeln!(
            text,
            "not written: {} {}: {}",
            cell(&one["item"]),
            cell(&one["with"]),
            cell(&one["why"])
        );
    }
    let judge = &outcome["judge"];
    if judge.is_object() {
        let (model, read, wrote) = (&judge["model"], &judge["input_tokens"], &judge["output_tokens"]);
        let _ =
            writeln!(text, "written by {}: {} tokens read, {} written", cell(model), cell(read), cell(wrote));
    }
    text
}
