//! The evaluator `tool_loop`: does an agent make the same call again and again?

use crate::domain::score::{Better, Score};
use crate::domain::trace::{EvalInput, Step};
use crate::eval::evaluator::{Evaluator, Metric};
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};

const LOOP: &str = "tool_loop";
/// From here on more than every third call is one too many.
const THRESHOLD: f64 = 1.0 / 3.0;
const METRICS: &[Metric] = &[Metric::new(LOOP, Better::Lower, Some(THRESHOLD))];

/// Repeated calls over all calls: a call is repeated if an earlier one of the same tool with the same arguments did not fail
/// and had the same result. Trying again after a failure, or until something changes, is no loop. Where two calls of a tool came
/// without arguments and without result, as senders that keep content to themselves tell them, nothing is known: the score is skipped.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolLoop;

impl Evaluator for ToolLoop {
    fn id(&self) -> &str {
        LOOP
    }

    fn version(&self) -> &str {
        "2"
    }

    fn metrics(&self) -> &[Metric] {
        METRICS
    }

    fn is_by_name_only(&self) -> bool {
        true
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        if input.steps.is_empty() {
            return self.skip("tool calls");
        }
        let mut untold = HashSet::new();
        let is_untold = |step: &&Step| !step.failed && step.arguments.is_none() && step.result.is_none();
        if input.steps.iter().filter(is_untold).any(|step| !untold.insert(step.tool.as_str())) {
            return self.skip("arguments and results of the tool calls");
        }
        let mut counts: HashMap<(&str, String, &str), usize> = HashMap::new();
        for step in input.steps.iter().filter(|step| !step.failed) {
            let result = step.result.as_deref().unwrap_or_default();
            *counts.entry((step.tool.as_str(), arguments(step), result)).or_default() += 1;
        }
        let repeated: usize = counts.values().map(|count| count - 1).sum();
        let calls = input.steps.len();
        let mut told = format!("{repeated} of {calls} calls repeat one before.");
        let worst =
            counts.iter().filter(|(_, count)| **count > 1).max_by_key(|(call, count)| (**count, call.0));
        if let Some(((tool, ..), count)) = worst {
            told.push_str(&format!(" Most often: {tool}, {count} times with the same arguments and result."));
        }
        vec![Score::measured(LOOP, repeated as f64 / calls as f64, THRESHOLD, Better::Lower).because(told)]
    }
}

/// The arguments in one form: the order of an object's members means nothing.
fn arguments(step: &Step) -> String {
    let text = step.arguments.as_deref().unwrap_or_default();
    serde_json::from_str::<Json>(text).map_or_else(
        |_| text.trim().to_owned(),
        |mut json| {
            json.sort_all_objects();
            json.to_string()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::score::ScoreStatus;

    fn failing(tool: &str, arguments: &str, result: &str) -> Step {
        Step { failed: true, ..step(tool, arguments, result) }
    }

    fn step(tool: &str, arguments: &str, result: &str) -> Step {
        Step {
            tool: tool.to_owned(),
            arguments: Some(arguments.to_owned()),
            result: Some(result.to_owned()),
            failed: false,
        }
    }

    fn judged(steps: Vec<Step>) -> Score {
        ToolLoop.evaluate(&EvalInput { steps, ..EvalInput::default() }).remove(0)
    }

    #[test]
    fn repeats_are_counted_over_all_calls() {
        let score = judged(vec![
            step("find", r#"{"q":"a","n":1}"#, "x"),
            step("find", r#"{ "n": 1, "q": "a" }"#, "x"),
            step("find", r#"{"q":"a","n":1}"#, "x"),
            step("buy", "{}", "ok"),
        ]);
        assert_eq!((score.value, score.passed), (Some(0.5), Some(false)));
        assert!(score.rationale.unwrap().contains("find, 3 times"));
    }

    #[test]
    fn calls_without_arguments_and_results_are_no_loop() {
        let bare = |tool: &str| Step { tool: tool.to_owned(), ..Step::default() };
        let score = judged(vec![bare("search"), bare("open"), bare("search")]);
        let missing = Some("arguments and results of the tool calls");
        assert_eq!((score.status, score.error.as_deref()), (ScoreStatus::Skipped, missing));
        assert_eq!(judged(vec![bare("search"), bare("open")]).value, Some(0.0));
        // A tool without parameters is known by its results.
        let told = |result: &str| Step { result: Some(result.to_owned()), ..bare("clock") };
        assert_eq!(judged(vec![told("9:00"), told("9:00")]).value, Some(0.5));
    }

    #[test]
    fn trying_again_is_no_loop() {
        let score = judged(vec![
            failing("find", "{}", "timeout"),
            failing("find", "{}", "timeout"),
            step("find", "{}", "pending"),
            step("find", "{}", "done"),
        ]);
        assert_eq!((score.value, score.passed), (Some(0.0), Some(true)));
        assert_eq!(ToolLoop.evaluate(&EvalInput::default())[0].error.as_deref(), Some("tool calls"));
    }
}
