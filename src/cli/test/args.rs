//! Arguments.

use super::stored::StoredArgs;
use crate::lab::suite::{Again, AnalysisBy};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// The suite.
    pub suite: PathBuf,
    /// Configuration file, for thresholds, LLM judges and plug-ins.
    #[arg(long)]
    pub config: Option<PathBuf>,
    /// The --json report of an earlier run, or the name of one that --store kept; gates with max_drop compare with it.
    #[arg(long)]
    pub baseline: Option<PathBuf>,
    /// Keep the suite and the run on --data-dir, or fail where --url does not keep them; takes the role lab.
    #[arg(long, conflicts_with_all = ["retry", "dry_run"])]
    pub store: bool,
    /// Keep nothing on --url: it has the suite's datasets and the baseline only.
    #[arg(long, conflicts_with = "store")]
    pub no_store: bool,
    /// Write a JUnit XML report here.
    #[arg(long)]
    pub junit: Option<PathBuf>,
    /// Write the whole report as JSON here.
    #[arg(long)]
    pub json: Option<PathBuf>,
    /// Write a Markdown report here.
    #[arg(long)]
    pub markdown: Option<PathBuf>,
    /// Who writes the analysis of what failed: counted, or judge for one short text by the first judge of --config.
    #[arg(long, value_name = "BY", default_value = "counted")]
    pub analysis: AnalysisBy,
    /// Ask each test so often, whatever the suite says.
    #[arg(long)]
    pub repetitions: Option<u32>,
    /// Ask nobody any more after so long, such as 30m, whatever the suite says. What has no answer then is an error, which --retry
    /// errors asks again.
    #[arg(long, value_parser = humantime::parse_duration)]
    pub deadline: Option<Duration>,
    /// Run only tests of which this SQL condition is true, such as "array_has(tags, 'returns')": over id, question, input,
    /// expected, tags, group_id, weight and the keys of the metadata.
    #[arg(long, value_name = "CONDITION")]
    pub filter: Option<String>,
    /// Ask again only what had errors, or failed, in the report of --json, and keep the rest of it.
    #[arg(long, value_enum, requires = "json")]
    pub retry: Option<Retry>,
    /// Where stored datasets are.
    #[command(flatten)]
    pub stored: StoredArgs,
    /// Leave out cases that are wrong, and run the others.
    #[arg(long)]
    pub partial: bool,
    /// End with exit code 4 when a gate is neither held nor broken.
    #[arg(long)]
    pub strict: bool,
    /// Read the suite and its cases, tell what is wrong, and ask nobody.
    #[arg(long)]
    pub dry_run: bool,
}

/// What is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Retry {
    /// Runs with an error of target, judge or evaluator.
    Errors,
    /// Those, and runs that failed.
    Failed,
}

impl From<Retry> for Again {
    fn from(retry: Retry) -> Self {
        match retry {
            Retry::Errors => Self::Errors,
            Retry::Failed => Self::Failed,
        }
    }
}
