//! `groundline review`: queues of items that people review, on the command line.

use super::client::{Asked, LabClient, Refused, Where};
use super::told::{cell, fault, left_out, named, number, short, table};
use crate::cli::pipe::put;
use clap::{ArgGroup, Args, Subcommand};
use http::Method;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What can be reviewed.
#[derive(Debug, Subcommand)]
pub enum ReviewVerb {
    /// Queues: make, list, show, export and close them. People answer in the console, at /review.
    #[command(
        after_help = "Examples:\n  groundline review queue create 'refunds v2' --experiment v2 --reviews 2 \\\n      --categorical tone=polite,rude\n  groundline review queue list\n  groundline review queue export 'refunds v2' > review.csv"
    )]
    Queue {
        #[command(subcommand)]
        what: Box<QueueVerb>,
    },
}

/// What can be done with queues.
#[derive(Debug, Subcommand)]
pub enum QueueVerb {
    /// Make a queue over the runs of an experiment, the rows of a query, or what the online draws chose.
    #[command(
        after_help = "Examples:\n  groundline review queue create 'refunds v2' --experiment v2 --reviews 2 --reviewer ana,ben,cleo\n  groundline review queue create unsure --experiment v2 --select flagged\n  groundline review queue create tone --experiment v2 --sample 100 --no-auto-evals \\\n      --categorical tone=polite,neutral,rude --text note\n  groundline review queue create worst \\\n      --sql \"SELECT * FROM scores_latest WHERE metric = 'hallucination' AND NOT passed\"\n  groundline review queue create drawn --proposal hallucination\n\nThe verdicts of evaluators are asked about where --no-auto-evals is not said. Templates of a file are a JSON array of\n{\"name\", \"type\": \"categorical\" | \"numerical\" | \"free_text\", \"categories\", \"ordered\", \"min\", \"max\", \"step\", \"tolerance\",\n\"instructions\", \"optional\"}."
    )]
    Create(Box<CreateArgs>),
    /// Show the queues, the open ones first.
    List {
        #[command(flatten)]
        place: Where,
    },
    /// Show a queue: what it asks, what stands where, and how far people agree, and evaluators with them.
    #[command(
        after_help = "Examples:\n  groundline review queue show 'refunds v2'\n  groundline review queue show 'refunds v2' --slice tag,metadata.difficulty\n  groundline review queue show 'refunds v2' --json"
    )]
    Show {
        #[command(flatten)]
        place: Where,
        /// Its name, or its id.
        queue: String,
        /// The agreement within parts of an experiment's dataset as well, comma separated: tag, split, category, metadata.KEY.
        #[arg(long)]
        slice: Option<String>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Close a queue: it takes no more answers; its labels stay.
    Close {
        #[command(flatten)]
        place: Where,
        /// Its name, or its id.
        queue: String,
    },
    /// Put reviews of a file into a queue: its own export, or another system's CSV.
    #[command(
        after_help = "Examples:\n  groundline review queue import 'refunds v2' review.csv\n  groundline review queue import 'refunds v2' review.json\n\nA review is of the item whose run is its Test Result Id, else of the only one that asks its Test Input. All of a file is\nstored or nothing; what was imported before is left as it is."
    )]
    Import {
        #[command(flatten)]
        place: Where,
        /// Its name, or its id.
        queue: String,
        /// CSV with Test Result Id, Completed By and Reviewer Response, or the JSON of an export.
        file: PathBuf,
    },
    /// Write what people said.
    #[command(
        after_help = "Examples:\n  groundline review queue export 'refunds v2' > review.csv\n  groundline review queue export 'refunds v2' --flat > rows.csv\n  groundline review queue export 'refunds v2' --part edits --output edits.csv\n\nreview: the run review, an empty line, then each review of a test with its checks; edits: each score as the evaluator and\nas people said it."
    )]
    Export {
        #[command(flatten)]
        place: Where,
        /// Its name, or its id.
        queue: String,
        /// review or edits.
        #[arg(long, default_value = "review", value_parser = ["review", "edits"])]
        part: String,
        /// csv or json.
        #[arg(long, default_value = "csv", value_parser = ["csv", "json"])]
        format: String,
        /// One table, a row a check, each with everything.
        #[arg(long)]
        flat: bool,
        /// The file; without it the standard output.
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
}

/// Arguments of `review queue create`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("source").required(true).args(["experiment", "sql", "proposal"])))]
pub struct CreateArgs {
    #[command(flatten)]
    place: Where,
    /// What it is called.
    name: String,
    /// Review the runs of this experiment, by name or id.
    #[arg(long)]
    experiment: Option<String>,
    /// Review the rows of this query: it selects trace_id, and span_id for one span.
    #[arg(long)]
    sql: Option<String>,
    /// Review the items that the online draws chose for this metric.
    #[arg(long)]
    proposal: Option<String>,
    /// Which runs: all, those that are flagged, or those and the ones that failed a metric.
    #[arg(long, value_parser = ["all", "flagged", "failed"])]
    select: Option<String>,
    /// So many of them, drawn at random.
    #[arg(long)]
    sample: Option<u64>,
    /// Answers that make a label.
    #[arg(long, default_value_t = 1)]
    reviews: u8,
    /// Who answers, comma separated; without it whoever has the role review.
    #[arg(long, value_delimiter = ',')]
    reviewer: Vec<String>,
    /// Show what evaluators and others said before the own answer.
    #[arg(long)]
    not_blind: bool,
    /// Do not ask about the verdicts of evaluators.
    #[arg(long)]
    no_auto_evals: bool,
    /// What reviewers are told.
    #[arg(long)]
    instructions: Option<String>,
    /// Ask for a class: NAME=CLASS,CLASS,…; several times for several.
    #[arg(long)]
    categorical: Vec<String>,
    /// Ask for a number: NAME=MIN,MAX,STEP; several times for several.
    #[arg(long)]
    numerical: Vec<String>,
    /// Ask for a text that may stay empty: NAME; several times for several.
    #[arg(long)]
    text: Vec<String>,
    /// A file with templates, JSON.
    #[arg(long)]
    templates: Option<PathBuf>,
}

impl QueueVerb {
    fn place(&self) -> &Where {
        match self {
            Self::Create(args) => &args.place,
            Self::List { place }
            | Self::Show { place, .. }
            | Self::Close { place, .. }
            | Self::Import { place, .. }
            | Self::Export { place, .. } => place,
        }
    }
}

/// Runs it. Exit code 1 if it was refused.
pub async fn run(verb: ReviewVerb) -> ExitCode {
    let ReviewVerb::Queue { what } = verb;
    let done = match LabClient::open(what.place()).await {
        Err(error) => Err(Refused::from(error)),
        Ok(client) => {
            let done = act(&client, *what).await;
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
            eprintln!("groundline review: {error}");
            ExitCode::from(1)
        }
    }
}

async fn act(client: &LabClient, verb: QueueVerb) -> Result<String, Refused> {
    match verb {
        QueueVerb::Create(args) => create(client, *args).await,
        QueueVerb::List { .. } => Ok(listed(&client.value(Asked::get(&["queues"])).await?)),
        QueueVerb::Show { queue, slice, json, .. } => show(client, &queue, slice, json).await,
        QueueVerb::Close { queue, .. } => {
            let asked = ["queues", &queue, "close"];
            let told = client.value(Asked::json(Method::POST, &asked, &json!({}))).await?;
            Ok(format!("{}: {}\n", cell(&told["name"]), cell(&told["status"])))
        }
        QueueVerb::Import { queue, file, .. } => import(client, &queue, &file).await,
        QueueVerb::Export { queue, part, format, flat, output, .. } => {
            let path = ["queues", &queue, "export"];
            let asked = Asked::get(&path).with("part", part).with("format", format).with("flat", flat);
            let bytes = client.ask(asked).await?;
            let Some(file) = output else { return Ok(String::from_utf8_lossy(&bytes).into_owned()) };
            std::fs::write(&file, &bytes).map_err(|e| Refused::from(format!("{}: {e}", file.display())))?;
            Ok(format!("{}: {} bytes\n", file.display(), bytes.len()))
        }
    }
}

async fn import(client: &LabClient, queue: &str, file: &Path) -> Result<String, Refused> {
    let wrong = |why: String| Refused::from(format!("{}: {why}", file.display()));
    let bytes = std::fs::read(file).map_err(|e| wrong(e.to_string()))?;
    let kind = if bytes.trim_ascii_start().starts_with(b"{") { "application/json" } else { "text/csv" };
    let path = ["queues", queue, "import"];
    let mut asked = Asked::get(&path);
    asked.method = Method::POST;
    asked.body = Some((kind, bytes));
    let told = client.value(asked).await.map_err(|refused| match refused.faults.is_empty() {
        true => refused,
        false => {
            let faults: Vec<String> =
                refused.faults.iter().map(|one| fault(&file.display().to_string(), one)).collect();
            Refused::from(format!("{}\nnothing was stored", faults.join("\n")))
        }
    })?;
    let counts = &told["counts"];
    Ok(format!(
        "{}: {} reviews stored, {} were there; {} of {} items labelled\n",
        cell(&told["name"]),
        told["stored"],
        told["there"],
        counts["final"],
        counts["items"],
    ))
}

async fn create(client: &LabClient, args: CreateArgs) -> Result<String, Refused> {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| drop(body.insert(key.to_owned(), value));
    let sources = [("experiment", &args.experiment), ("sql", &args.sql), ("proposal", &args.proposal)];
    for (kind, text) in sources {
        if let Some(text) = text {
            put("source", json!({ kind: text }));
        }
    }
    put("templates", templates(&args)?);
    put("name", json!(args.name));
    put("reviews_per_item", json!(args.reviews));
    put("reviewers", json!(args.reviewer));
    put("blind", json!(!args.not_blind));
    put("auto_evals", json!(!args.no_auto_evals));
    for (key, value) in [
        ("select", json!(args.select)),
        ("sample", json!(args.sample)),
        ("instructions", json!(args.instructions)),
    ] {
        if !value.is_null() {
            put(key, value);
        }
    }
    let told = client.value(Asked::json(Method::POST, &["queues"], &Value::Object(body))).await?;
    let (name, id) = (cell(&told["name"]), cell(&told["queue_id"]));
    Ok(format!("{name}: {} items to review at /review/{id} of the console\n", told["items"]))
}

/// The templates of the file, then those of the line.
fn templates(args: &CreateArgs) -> Result<Value, Refused> {
    let mut all: Vec<Value> = Vec::new();
    if let Some(file) = &args.templates {
        let told = |why: String| Refused::from(format!("{}: {why}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|e| told(e.to_string()))?;
        let read: Value = serde_json::from_str(&text).map_err(|e| told(format!("no JSON: {e}")))?;
        match read {
            Value::Array(many) => all.extend(many),
            one => all.push(one),
        }
    }
    for said in &args.categorical {
        let (name, classes) = parted(said, "--categorical", "NAME=CLASS,CLASS,…")?;
        let classes: Vec<&str> = classes.split(',').map(str::trim).collect();
        all.push(json!({"name": name, "type": "categorical", "categories": classes}));
    }
    for said in &args.numerical {
        let (name, numbers) = parted(said, "--numerical", "NAME=MIN,MAX,STEP")?;
        let numbers: Result<Vec<f64>, _> = numbers.split(',').map(|text| text.trim().parse()).collect();
        let Ok([min, max, step]) = numbers.map(|all| [0, 1, 2].map(|at| all.get(at).copied())) else {
            return Err(Refused::from(format!("--numerical {said:?}: say NAME=MIN,MAX,STEP with numbers")));
        };
        let mut one = json!({"name": name, "type": "numerical"});
        for (key, value) in [("min", min), ("max", max), ("step", step)] {
            if let Some(value) = value {
                one[key] = json!(value);
            }
        }
        all.push(one);
    }
    all.extend(args.text.iter().map(|name| json!({"name": name, "type": "free_text", "optional": true})));
    Ok(Value::from(all))
}

fn parted<'a>(said: &'a str, key: &str, form: &str) -> Result<(&'a str, &'a str), Refused> {
    said.split_once('=').ok_or_else(|| Refused::from(format!("{key} {said:?}: say {form}")))
}

/// The queues as a table.
fn listed(told: &Value) -> String {
    let row = |queue: &Value| {
        let counts = &queue["counts"];
        let of = ["items", "open", "adjudicate", "final"].map(|key| cell(&counts[key]));
        let source = queue["source"].as_object().and_then(|source| {
            let kinds = ["experiment", "sql", "proposal"];
            kinds.iter().find(|kind| source.contains_key(**kind)).map(|kind| (*kind).to_owned())
        });
        let head = [short(&queue["name"], 40), source.unwrap_or_default(), cell(&queue["status"])];
        [head.to_vec(), of.to_vec(), vec![cell(&queue["queue_id"])]].concat()
    };
    let rows: Vec<Vec<String>> = told["queues"].as_array().into_iter().flatten().map(row).collect();
    if rows.is_empty() {
        return "no queue: groundline review queue create makes one\n".to_owned();
    }
    table(&["queue", "source", "status", "items", "open", "differ", "final", "id"], &rows)
}

async fn show(
    client: &LabClient,
    queue: &str,
    slice: Option<String>,
    as_json: bool,
) -> Result<String, Refused> {
    let mut told = client.value(Asked::get(&["queues", queue])).await?;
    let path = ["queues", queue, "agreement"];
    let mut agreed = client.value(Asked::get(&path).maybe("slice", slice)).await?;
    for key in ["measures", "slices", "slices_left_out"] {
        if let Some(value) = agreed.get_mut(key) {
            told[key] = value.take();
        }
    }
    if as_json {
        return Ok(format!("{told:#}\n"));
    }
    let counts = &told["counts"];
    let mut text = format!(
        "{}: {}, {} of {} items labelled, {} open, {} differ; {} answers an item\n",
        cell(&told["name"]),
        cell(&told["status"]),
        counts["final"],
        counts["items"],
        counts["open"],
        counts["adjudicate"],
        told["reviews_per_item"],
    );
    let templates = told["templates"].as_array().into_iter().flatten();
    for template in templates {
        text.push_str(&format!("asks for {} ({})\n", cell(&template["name"]), cell(&template["type"])));
    }
    text.push_str(&agreement(&told));
    Ok(text)
}

/// The columns of a measure.
const MEASURE: [&str; 5] = ["field", "between", "measure", "items", "estimate"];

fn measure_row(one: &Value) -> Vec<String> {
    let interval = match one["estimate"].is_null() {
        true => "-".to_owned(),
        false => {
            format!("{} [{}, {}]", number(&one["estimate"]), number(&one["lower"]), number(&one["upper"]))
        }
    };
    let words = ["field", "between", "measure", "items"].map(|key| cell(&one[key]));
    [words.to_vec(), vec![interval]].concat()
}

/// The measures of all items, then those of each slice.
fn agreement(told: &Value) -> String {
    let mut text = String::new();
    let all = |of: &Value| of["measures"].as_array().cloned().unwrap_or_default();
    let rows: Vec<Vec<String>> = all(told).iter().map(measure_row).collect();
    if !rows.is_empty() {
        text.push_str(&format!("\n{}", table(&MEASURE, &rows)));
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for slice in told["slices"].as_array().into_iter().flatten() {
        // How many items a measure has stands beside it.
        let name: Vec<String> = named(slice, "items").into_iter().take(1).collect();
        rows.extend(all(slice).iter().map(|one| [name.clone(), measure_row(one)].concat()));
    }
    if !rows.is_empty() {
        let head = [&["slice"][..], &MEASURE].concat();
        text.push_str(&format!("\n{}{}", table(&head, &rows), left_out(told)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: CreateArgs,
    }

    fn said(words: &[&str]) -> Result<Value, String> {
        let line = Line::try_parse_from([&["create", "q"][..], words].concat()).map_err(|e| e.to_string())?;
        templates(&line.args).map_err(|refused| refused.error)
    }

    #[test]
    fn templates_are_said_in_a_word_each() {
        let all = said(&[
            "--experiment",
            "v2",
            "--categorical",
            "tone=polite, rude",
            "--numerical",
            "grade=1,5",
            "--text",
            "note",
        ]);
        let wanted = json!([
            {"name": "tone", "type": "categorical", "categories": ["polite", "rude"]},
            {"name": "grade", "type": "numerical", "min": 1.0, "max": 5.0},
            {"name": "note", "type": "free_text", "optional": true},
        ]);
        assert_eq!(all.unwrap(), wanted);
        assert!(said(&["--experiment", "v2", "--categorical", "tone"]).unwrap_err().contains("NAME=CLASS"));
        assert!(said(&["--experiment", "v2", "--numerical", "g=a"]).unwrap_err().contains("with numbers"));
        assert!(said(&["--text", "note"]).is_err(), "a queue has a source");
        assert!(said(&["--experiment", "v2", "--sql", "SELECT 1"]).is_err(), "and one only");
    }

    #[test]
    fn queues_are_a_table() {
        let one = json!({"name": "q", "queue_id": "1", "status": "open", "source": {"sql": "SELECT 1", "select": "all"},
            "counts": {"items": 3, "open": 2, "adjudicate": 1, "final": 0}});
        let text = listed(&json!({"queues": [one]}));
        assert_eq!(
            text,
            "queue  source  status  items  open  differ  final  id\nq      sql     open    3      2     1       0      1\n"
        );
        assert!(listed(&json!({"queues": []})).starts_with("no queue"));
    }
}
