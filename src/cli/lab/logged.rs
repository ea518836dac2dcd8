//! A log of another system as an experiment: what it asked is the dataset, its epochs are the repetitions, its scores what a
//! client sends.

use super::client::{Asked, LabClient, Refused, Where};
use super::told::{cell, fault, said};
use crate::lab::logs::{Log, read};
use clap::Args;
use http::Method;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;

/// Answers that are sent at once.
const BATCH: usize = 100;

/// Arguments of `experiment import`.
#[derive(Debug, Args)]
pub struct LogArgs {
    #[command(flatten)]
    pub(super) place: Where,
    /// A log of Inspect, .eval or .json; or a test lab of H2O Eval Studio.
    file: PathBuf,
    /// What the experiment is called; the log's task or model if left out. Of several models each has its own behind it.
    #[arg(long)]
    name: Option<String>,
    /// The dataset of what it asked; it is made if it is not there.
    #[arg(long)]
    dataset: String,
    /// Take the items out of the dataset that are no samples of the log: a new version without them.
    #[arg(long)]
    replace: bool,
    /// Evaluators that judge the answers here, too, by id, comma separated.
    #[arg(long, value_delimiter = ',')]
    evaluator: Vec<String>,
    /// A word to find it by; several times for several.
    #[arg(long = "tag")]
    tags: Vec<String>,
}

/// Stores a log; the ids of the experiments, one a model.
///
/// # Errors
/// What is no log; when the dataset has other items, or the server refuses.
pub async fn import(client: &LabClient, args: LogArgs) -> Result<Vec<String>, Refused> {
    let told = |why: String| Refused::from(format!("{}: {why}", args.file.display()));
    let bytes = std::fs::read(&args.file).map_err(|e| told(e.to_string()))?;
    let logs = read(&bytes).map_err(told)?;
    let Some(first) = logs.first() else { return Err(Refused::from("the file has no log".to_owned())) };
    let version = dataset(client, first, &args).await?;
    let mut ids = Vec::with_capacity(logs.len());
    for log in &logs {
        let name = match &args.name {
            None => log.task.clone(),
            Some(name) if logs.len() == 1 => name.clone(),
            Some(name) => format!("{name} {}", log.task),
        };
        ids.push(experiment(client, log, (&name, &version), &args).await?);
    }
    Ok(ids)
}

/// Stores a log over a version that has its items; the id of the experiment.
async fn experiment(
    client: &LabClient,
    log: &Log,
    (name, version): (&str, &str),
    args: &LogArgs,
) -> Result<String, Refused> {
    let mut target = json!({ "kind": "existing", "name": log.task, "log": { "system": log.system } });
    if let Some(model) = &log.model {
        target["model"] = model.as_str().into();
    }
    if let Some(run_id) = &log.run_id {
        target["log"]["run_id"] = run_id.as_str().into();
    }
    if !log.status.is_empty() {
        target["log"]["status"] = log.status.as_str().into();
    }
    let body = json!({
        "name": name, "dataset": version, "target": target, "evaluators": args.evaluator, "repetitions": log.epochs,
        "tags": args.tags,
    });
    let made = client.value(Asked::json(Method::POST, &["experiments"], &body)).await?;
    let id = cell(&made["experiment_id"]);
    eprintln!("{name}: {} items, {} answers, id {id}", made["items"], log.answers.len());
    send(client, &id, version, log).await?;
    for (what, count) in &log.lost {
        eprintln!("not taken: {count} {what}");
    }
    Ok(id)
}

/// Puts the samples into the dataset; its name and version.
async fn dataset(client: &LabClient, log: &Log, args: &LogArgs) -> Result<String, Refused> {
    let lines: Vec<String> = log.items.iter().map(|item| format!("{item}\n")).collect();
    let lines = lines.concat();
    let import = async |is_tried: bool| {
        let asked = Asked {
            method: Method::POST,
            path: &["datasets", &args.dataset, "import"],
            params: vec![("create", true.to_string())],
            body: Some(("application/x-ndjson", lines.clone().into_bytes())),
        };
        let asked = asked.with("format", "jsonl").with("dry_run", is_tried).with("replace", args.replace);
        client.value(asked.with("file", args.file.display())).await
    };
    let tried = import(true).await.map_err(spelled)?;
    if tried["items"].as_u64() != u64::try_from(log.items.len()).ok() {
        return Err(Refused::from(format!(
            "the dataset {} would have {} items, and the log has {} samples: name another dataset, or say --replace",
            args.dataset,
            tried["items"],
            log.items.len()
        )));
    }
    let outcome = import(false).await.map_err(spelled)?;
    eprint!("{}", said(&args.dataset, &outcome));
    Ok(format!("{}@{}", args.dataset, outcome["version"]))
}

/// The faults of the samples in one sentence.
fn spelled(refused: Refused) -> Refused {
    let faults: Vec<String> = refused.faults.iter().take(3).map(|wrong| fault("sample", wrong)).collect();
    if faults.is_empty() { refused } else { Refused::from(faults.join("; ")) }
}

/// Sends the answers by the ids of their items.
async fn send(client: &LabClient, id: &str, version: &str, log: &Log) -> Result<(), Refused> {
    let items = client.value(Asked::get(&["datasets", version, "items"]).with("format", "json")).await?;
    let of = |item: &Value| Some((item["external_id"].as_str()?.to_owned(), item["item_id"].clone()));
    let items: HashMap<String, Value> = items.as_array().into_iter().flatten().filter_map(of).collect();
    for batch in log.answers.chunks(BATCH) {
        let answers: Vec<Value> = batch
            .iter()
            .map(|one| {
                let mut answer = one.answer.clone();
                answer.insert("item_id".to_owned(), items.get(&one.id).cloned().unwrap_or_default());
                answer.insert("repetition".to_owned(), one.epoch.into());
                Value::Object(answer)
            })
            .collect();
        let path = ["experiments", id, "runs"];
        let stored = client.value(Asked::json(Method::POST, &path, &json!(answers))).await?;
        for refused in stored["refused"].as_array().into_iter().flatten() {
            eprintln!("groundline experiment: {}", fault("refused", refused));
        }
    }
    Ok(())
}
