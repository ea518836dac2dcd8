//! Judges' questions of the user's own as evaluators.

use super::builtin::{SHARE, VERDICT, chunks};
use super::client::Panel;
use super::desk::Desk;
use super::evaluator::{JudgeEvaluator, Way};
use super::prompt::{Field, Prompt};
use super::session::Sessions;
use super::shape::{Formula, Shape};
use super::verdict::Verdict;
use crate::eval::{CustomConfig, CustomKind, Metric};
use std::path::Path;
use std::sync::Arc;

/// The evaluator that asks a question of the user's own.
///
/// # Errors
/// What is wrong with the question.
pub(super) fn own(
    panel: &Arc<Panel>,
    sessions: &Arc<Sessions>,
    config: &CustomConfig,
) -> Result<JudgeEvaluator, String> {
    let place = panel.place(&config.judge).ok_or("its judge is not among [[judges]]")?;
    let id = config.id();
    let (shape, (better, threshold)) = match config.kind {
        CustomKind::Answer => (Shape::Rating, VERDICT),
        CustomKind::Retrieval => (chunks(Formula::Share), SHARE),
        CustomKind::Byop => (Shape::Boolean, VERDICT),
    };
    let prompt = prompt_of(config)?;
    checked(config, &prompt)?;
    let desk = Desk::new(panel.clone(), place);
    let way = Way::Single(Verdict::new(&id, &prompt, shape, desk.clone(), None)?);
    let metric = Metric::named(id.clone(), better, threshold);
    Ok(JudgeEvaluator::new(&id, vec![metric], way, desk, sessions.clone()))
}

/// The text of a question's prompt.
///
/// # Errors
/// When its file cannot be read.
pub(super) fn prompt_of(config: &CustomConfig) -> Result<String, String> {
    if config.prompt_file == Path::new("") {
        return Ok(config.prompt.clone());
    }
    std::fs::read_to_string(&config.prompt_file)
        .map_err(|e| format!("prompt_file {}: {e}", config.prompt_file.display()))
}

/// That a prompt can ask the question.
///
/// # Errors
/// What is wrong with its placeholders.
pub(super) fn checked(config: &CustomConfig, prompt: &str) -> Result<(), String> {
    let prompt = Prompt::parse(prompt)?;
    if config.kind == CustomKind::Retrieval && !prompt.names(Field::Context) {
        return Err("a question about chunks needs {{context}}".to_owned());
    }
    Ok(())
}
