//! The evaluators that a suite needs, out of a configuration.

use super::super::evaluators::Scorers;
use crate::config::Config;
use crate::eval::Evaluator;
use crate::lab::suite::{Suite, evaluators, questions};
use std::path::Path;
use std::sync::Arc;

type Evaluators = Vec<Arc<dyn Evaluator>>;

/// The configuration with the questions that checks ask a judge, if there is one. The error has the exit code.
pub fn configured(file: Option<&Path>, suite: &Suite) -> Result<Config, (u8, String)> {
    let mut config = Config::load(file).map_err(|e| (2, e.to_string()))?;
    if !config.judges.is_empty() {
        config.eval.custom.extend(questions(suite));
    }
    Ok(config)
}

/// Those that score every answer, and those that checks ask. A check whose evaluator is not there says so when it runs.
pub fn chosen(suite: &Suite, scorers: &Scorers) -> Result<(Evaluators, Evaluators), (u8, String)> {
    let named = scorers.select(suite.evaluators())?;
    let more = evaluators(suite).into_iter().filter_map(|id| scorers.select(&[id]).ok());
    Ok((named, more.flatten().collect()))
}
