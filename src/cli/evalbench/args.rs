//! What the verb takes.

use clap::Args;
use std::path::PathBuf;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct EvalbenchArgs {
    /// Folder with <task>/<dataset>.jsonl.gz: groundedness, context_relevance, answer_relevance, toxicity, bias,
    /// pii, secrets, language.
    #[arg(long, required_unless_present = "labels")]
    pub data: Option<PathBuf>,
    /// Your own labelled answers instead: lines of `groundline score`, each with "passed": true or false, which is what
    /// a person said.
    #[arg(long, conflicts_with_all = ["data", "task", "dataset", "limit", "rows"])]
    pub labels: Option<PathBuf>,
    /// With --labels: the threshold at which at least this share of what fails is faulty.
    #[arg(long, requires = "labels", conflicts_with = "recall")]
    pub precision: Option<f64>,
    /// With --labels: the threshold at which at least this share of the faulty answers fails.
    #[arg(long, requires = "labels")]
    pub recall: Option<f64>,
    /// Write that threshold to `eval.thresholds` of the file of --config.
    #[arg(long, requires_all = ["labels", "config"])]
    pub write: bool,
    /// Only this task; may be given more than once.
    #[arg(long)]
    pub task: Vec<String>,
    /// Only datasets with this name; may be given more than once.
    #[arg(long)]
    pub dataset: Vec<String>,
    /// Only this evaluator; may be given more than once. `summarization` is measured only where it is named.
    #[arg(long)]
    pub evaluator: Vec<String>,
    /// Rows of this split; "all" for every row.
    #[arg(long, default_value = "test")]
    pub split: String,
    /// At most this many rows of each dataset, chosen by a hash of their group.
    #[arg(long)]
    pub limit: Option<usize>,
    /// Draws of the bootstrap over groups behind the 95 % intervals.
    #[arg(long, default_value_t = 1_000)]
    pub draws: usize,
    /// Configuration file, for thresholds, models and workers.
    #[arg(long)]
    pub config: Option<PathBuf>,
    /// Write what each row got there, one JSON object a line: `training/paired.py` compares two such files.
    #[arg(long)]
    pub rows: Option<PathBuf>,
    /// Print JSON, one object a line, instead of a table.
    #[arg(long)]
    pub json: bool,
}
