//! Arguments.

use clap::Args;
use std::path::PathBuf;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// The suite.
    pub suite: PathBuf,
    /// Configuration file, for thresholds, LLM judges and plug-ins.
    #[arg(long)]
    pub config: Option<PathBuf>,
    /// The --json report of an earlier run; gates with max_drop compare with it.
    #[arg(long)]
    pub baseline: Option<PathBuf>,
    /// Write a JUnit XML report here.
    #[arg(long)]
    pub junit: Option<PathBuf>,
    /// Write the whole report as JSON here.
    #[arg(long)]
    pub json: Option<PathBuf>,
    /// Write a Markdown report here.
    #[arg(long)]
    pub markdown: Option<PathBuf>,
    /// Ask each test so often, whatever the suite says.
    #[arg(long)]
    pub repetitions: Option<u32>,
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
