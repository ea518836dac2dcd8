//! Arguments of the verb.

use super::super::trust::Trust;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// The metric whose scores are calibrated, such as hallucination.
    #[arg(long)]
    pub metric: String,
    /// Its evaluator, if several have the metric.
    #[arg(long)]
    pub evaluator: Option<String>,
    /// The evaluator's version; the newest one with labels if none is named.
    #[arg(long)]
    pub evaluator_version: Option<String>,
    /// A running server.
    #[arg(long, default_value = "http://127.0.0.1:4320", conflicts_with = "data_dir")]
    pub url: String,
    /// A token of the server with the role query or admin, if it has tokens.
    #[arg(long, env = "GROUNDLINE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    #[command(flatten)]
    pub(super) trust: Trust,
    /// A data directory that no server uses now.
    #[arg(long)]
    pub data_dir: Option<PathBuf>,
    /// How the curve is fitted.
    #[arg(long, value_enum, default_value = "best")]
    pub method: MethodName,
    /// Abstain where more than this share of the verdicts would be wrong; 0.5 never abstains.
    #[arg(long, default_value_t = 0.2)]
    pub max_error: f64,
    /// Configuration file.
    #[arg(long)]
    pub config: Option<PathBuf>,
    /// Write the curve into the configuration file, as [[labels.calibrations]].
    #[arg(long, requires = "config")]
    pub write: bool,
    /// One JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The methods by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// A logistic curve: for few labels.
    Platt,
    /// Any curve that only rises or only falls: for a few hundred labels and more.
    Isotonic,
    /// The one whose probabilities are nearer to labels that it was not fitted to.
    Best,
}
