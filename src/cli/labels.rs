//! Labels as files, what is labelled, how far people agree.

use super::pipe::say;
use super::remote::Server;
use clap::Subcommand;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Most faults of a file that are shown.
const MAX_SHOWN: usize = 30;

/// What is done.
#[derive(Debug, Subcommand)]
pub enum LabelsVerb {
    /// Show the metrics that are labelled or could be.
    List {
        #[command(flatten)]
        server: Server,
    },
    /// Take labels from a CSV file; the first line names the columns. Nothing is taken if a line has a fault.
    Import {
        #[command(flatten)]
        server: Server,
        /// Take the lines without a fault all the same.
        #[arg(long)]
        partial: bool,
        /// Take labels that say neither pass nor fail.
        #[arg(long)]
        any_label: bool,
        /// The file, with the columns trace_id, name, label, and if you like span_id, value, comment, annotator, item,
        /// label_probability, annotation_id.
        file: PathBuf,
    },
    /// Write the labels as CSV, as `import` reads it.
    Export {
        #[command(flatten)]
        server: Server,
        /// Only labels of this metric.
        #[arg(long)]
        metric: Option<String>,
    },
    /// Show how far reviewers agree with each other, and the evaluator with the label.
    Agreement {
        #[command(flatten)]
        server: Server,
        /// The metric.
        #[arg(long)]
        metric: String,
    },
}

/// Runs it: exit code 1 if it could not be done, 3 if lines of a file were left out.
pub async fn run(verb: LabelsVerb) -> ExitCode {
    let done = match verb {
        LabelsVerb::List { server } => list(&server).await,
        LabelsVerb::Import { server, partial, any_label, file } => {
            import(&server, &file, Kept { partial, any_label }).await
        }
        LabelsVerb::Export { server, metric } => export(&server, metric.as_deref()).await,
        LabelsVerb::Agreement { server, metric } => agreement(&server, &metric).await,
    };
    match done {
        Ok((text, code)) => {
            say(text);
            ExitCode::from(code)
        }
        Err(error) => {
            eprintln!("groundline labels: {error}");
            ExitCode::from(1)
        }
    }
}

/// Which lines are taken.
struct Kept {
    partial: bool,
    any_label: bool,
}

type Done = Result<(String, u8), String>;

async fn list(server: &Server) -> Done {
    let answer = server.get("/v1/labels").await?;
    let mut text = format!(
        "{:32}{:>10}{:>8}{:>8}{:>12}{:>8}",
        "metric", "scored", "drawn", "open", "adjudicate", "final"
    );
    for queue in answer["queues"].as_array().into_iter().flatten() {
        let counts = &queue["counts"];
        let _ = write!(
            text,
            "\n{:32}{:>10}{:>8}{:>8}{:>12}{:>8}",
            queue["metric"].as_str().unwrap_or_default(),
            queue["scored"].to_string(),
            counts["drawn"].to_string(),
            counts["open"].to_string(),
            counts["adjudicate"].to_string(),
            counts["final"].to_string()
        );
    }
    Ok((text, 0))
}

async fn import(server: &Server, file: &Path, kept: Kept) -> Done {
    let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let labels = if kept.any_label { "&labels=any" } else { "" };
    let path = format!("/v1/annotations?partial={}{labels}", kept.partial);
    let (is_done, answer) = server.post_file(&path, "text/csv", bytes).await?;
    for fault in answer["faults"].as_array().into_iter().flatten().take(MAX_SHOWN) {
        let column = fault["column"].as_str().map(|name| format!(", {name}")).unwrap_or_default();
        let message = fault["message"].as_str().unwrap_or_default();
        eprintln!("{}: line {}{column}: {message}", file.display(), fault["line"]);
    }
    if !is_done {
        return Err(format!("{}: {}", file.display(), answer["error"].as_str().unwrap_or("was not taken")));
    }
    let count = |key: &str| answer[key].as_u64().unwrap_or_default();
    // Of many faults the answer has the first ones only.
    let faults = count("faulty_lines");
    let mut text = format!("{} labels imported, {faults} lines with a fault", count("imported"));
    if count("unknown_traces") > 0 {
        let named: Vec<&str> =
            answer["unknown"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let _ = write!(text, "\n{} traces are not here (yet): {}", count("unknown_traces"), named.join(", "));
    }
    Ok((text, if faults > 0 { 3 } else { 0 }))
}

async fn export(server: &Server, metric: Option<&str>) -> Done {
    let only = metric.map(|metric| format!("?metric={}", escaped(metric))).unwrap_or_default();
    let text = server.get_text(&format!("/v1/labels/export{only}")).await?;
    Ok((text.trim_end().to_owned(), 0))
}

async fn agreement(server: &Server, metric: &str) -> Done {
    let answer = server.get(&format!("/v1/labels/agreement?metric={}", escaped(metric))).await?;
    let measures: Vec<&Value> = answer["measures"].as_array().into_iter().flatten().collect();
    if measures.iter().all(|row| row["items"] == 0) {
        is_known(&server.get("/v1/labels").await?, metric)?;
    }
    let mut text = format!("{:22}{:20}{:>7}{:>8}  estimate", "between", "measure", "items", "raters");
    for row in measures {
        let number = |key: &str| row[key].as_f64();
        let told = match (number("estimate"), number("lower"), number("upper")) {
            (Some(estimate), Some(lower), Some(upper)) => format!("{estimate:.3} [{lower:.3}, {upper:.3}]"),
            _ => "-".to_owned(),
        };
        let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let (between, measure) = (word("between"), word("measure"));
        let (items, raters) = (row["items"].to_string(), row["raters"].to_string());
        let _ = write!(text, "\n{between:22}{measure:20}{items:>7}{raters:>8}  {told}");
    }
    Ok((text, 0))
}

/// An error where the `list` of metrics has no `metric`: a table of zeros would say that nobody agrees.
fn is_known(list: &Value, metric: &str) -> Result<(), String> {
    let queues = list["queues"].as_array().into_iter().flatten();
    let names: Vec<&str> = queues.filter_map(|queue| queue["metric"].as_str()).collect();
    if names.contains(&metric) {
        return Ok(());
    }
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(format!("there is no metric {metric:?} with verdicts or labels; there are: {known}"))
}

/// A value of an address.
fn escaped(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect()
}
