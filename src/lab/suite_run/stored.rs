//! Runs of a suite as they are stored, with what its checks and evaluators said.

use crate::lab::cells::Row;
use crate::lab::error::LabError;
use crate::lab::store::{Store, text};
use crate::lab::suite::{CheckOutcome, Confidence, Scored, Status, StoredOutcome};
use crate::schema::batch::ItemRow;
use serde::de::DeserializeOwned;
use std::collections::HashMap;

/// What evaluators that a sender measured itself are called before their names.
const CLIENT: &str = "client/";

/// A verdict that a person changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edited {
    /// What it was before.
    pub auto_eval: String,
    /// Why.
    pub feedback: String,
    /// Who.
    pub by: String,
}

/// Runs by their ids, each with its attempt.
type Runs = HashMap<String, (i64, StoredOutcome)>;
/// Verdicts that people changed, by run and place of the check.
pub(super) type Edits = HashMap<(String, usize), Edited>;

/// Runs, and of each run the edited checks by their places.
pub(super) struct StoredRuns {
    pub runs: Vec<StoredOutcome>,
    pub edited: Edits,
}

/// The last attempt of each run of an experiment over `items`.
///
/// # Errors
/// The limits of queries.
pub(super) async fn runs(
    store: &Store,
    tenant: &str,
    experiment_id: &str,
    items: &[ItemRow],
) -> Result<StoredRuns, LabError> {
    let tests: HashMap<&str, &str> =
        items.iter().filter_map(|item| Some((item.item_id.as_str(), item.external_id.as_deref()?))).collect();
    let sql = "SELECT run_id, attempt, item_id, repetition, trace_id, output, output_context, input_tokens, output_tokens, \
               cost_usd, duration_ms, error FROM runs_latest WHERE experiment_id = $1";
    let rows = store.ask(tenant, sql, vec![text(experiment_id)]).await?;
    let mut runs = Runs::new();
    for row in rows.iter() {
        if let Some(test) = tests.get(row.text("item_id").as_str()) {
            let run = run(row, test);
            runs.insert(run.run_id.clone(), (row.int("attempt").unwrap_or(1), run));
        }
    }
    let mut stored = StoredRuns { runs: Vec::new(), edited: HashMap::new() };
    add_checks(store, tenant, experiment_id, (&mut runs, &mut stored.edited)).await?;
    add_scores(store, tenant, experiment_id, &mut runs).await?;
    stored.runs = runs.into_values().map(|(_, run)| run).collect();
    Ok(stored)
}

fn run(row: Row<'_>, test: &str) -> StoredOutcome {
    StoredOutcome {
        test: test.to_owned(),
        repetition: row.int("repetition").and_then(|number| u32::try_from(number).ok()).unwrap_or(1),
        run_id: row.text("run_id"),
        trace_id: row.text("trace_id"),
        output: json(row.may("output")),
        error: row.may("error"),
        output_context: json(row.may("output_context")),
        in_tokens: row.int("input_tokens"),
        out_tokens: row.int("output_tokens"),
        cost_usd: row.number("cost_usd"),
        duration_ms: row.number("duration_ms"),
        checks: Vec::new(),
        scores: Vec::new(),
    }
}

/// JSON of a column; the default where there is none.
fn json<T: DeserializeOwned + Default>(text: Option<String>) -> T {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

async fn add_checks(
    store: &Store,
    tenant: &str,
    experiment_id: &str,
    (runs, edited): (&mut Runs, &mut Edits),
) -> Result<(), LabError> {
    // A group holds a number, where a choice by whole rows would hold all that a check says.
    let sql = "SELECT check_results.* FROM (SELECT run_id AS run, attempt AS last, ordinal AS place, max(revision) AS newest \
               FROM check_results WHERE experiment_id = $1 GROUP BY run_id, attempt, ordinal) JOIN check_results \
               ON run_id = run AND attempt = last AND ordinal = place AND revision = newest \
               WHERE experiment_id = $1 ORDER BY run_id, attempt, ordinal";
    let rows = store.ask(tenant, sql, vec![text(experiment_id)]).await?;
    let mut before = None;
    for row in rows.iter() {
        let Some((attempt, run)) = runs.get_mut(&row.text("run_id")) else { continue };
        let place = Some((run.run_id.clone(), row.int("ordinal")));
        // An edit that was written twice has two rows.
        if row.int("attempt") != Some(*attempt) || before == place {
            continue;
        }
        before = place;
        if let Some(by) = row.may("edited_by") {
            let (auto_eval, feedback) = (row.text("auto_eval"), row.text("edited_feedback"));
            edited.insert((run.run_id.clone(), run.checks.len()), Edited { auto_eval, feedback, by });
        }
        run.checks.push(check(row));
    }
    Ok(())
}

fn check(row: Row<'_>) -> CheckOutcome {
    let status = row.may("edited_auto_eval").unwrap_or_else(|| row.text("auto_eval"));
    // One without an id is known by its place.
    let place = row.int("ordinal").map(|ordinal| (ordinal + 1).to_string());
    let id = row.may("check_id").filter(|id| Some(id) != place.as_ref());
    CheckOutcome {
        id: id.unwrap_or_default(),
        operator: row.text("operator"),
        criteria: row.may("criteria"),
        category: row.text("category"),
        weight: row.number("weight").unwrap_or(1.0),
        counts: row.flag("counts").unwrap_or_default(),
        status: match status.as_str() {
            "pass" => Status::Pass,
            "fail" => Status::Fail,
            "skipped" => Status::Skipped,
            _ => Status::Error,
        },
        value: row.number("value"),
        engine: row.text("engine"),
        feedback: row.text("feedback"),
        extracted: row.may("extracted"),
        condition_met: row.flag("condition_met"),
        confidence: match row.text("confidence").as_str() {
            "high" => Some(Confidence::High),
            "low" => Some(Confidence::Low),
            _ => None,
        },
        of: json(row.may("parts")),
    }
}

/// What evaluators said; verdicts of tests and checks follow from the checks.
async fn add_scores(
    store: &Store,
    tenant: &str,
    experiment_id: &str,
    runs: &mut Runs,
) -> Result<(), LabError> {
    let sql = "SELECT run_id, score_version, evaluator, evaluator_version, value, label, passed, status, rationale, error \
               FROM scores WHERE source = 'experiment' AND experiment_id = $1 ORDER BY run_id, evaluator, metric";
    let rows = store.ask(tenant, sql, vec![text(experiment_id)]).await?;
    for row in rows.iter() {
        let evaluator = row.text("evaluator");
        let Some(metric) = evaluator.strip_prefix(CLIENT).filter(|metric| !is_of_checks(metric)) else {
            continue;
        };
        let Some((attempt, run)) = runs.get_mut(&row.text("run_id")) else { continue };
        if row.int("score_version") != Some(*attempt) {
            continue;
        }
        run.scores.push(Scored {
            metric: metric.to_owned(),
            version: row.text("evaluator_version"),
            value: row.number("value"),
            label: row.may("label"),
            passed: row.flag("passed"),
            status: row.text("status").into(),
            why: row.may("rationale").or_else(|| row.may("error")),
        });
    }
    Ok(())
}

fn is_of_checks(metric: &str) -> bool {
    metric == "tests_passed" || metric == "checks_passed" || metric.starts_with("check/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    #[test]
    fn verdicts_of_checks_are_no_evaluators() {
        for own in ["tests_passed", "checks_passed", "check/1/contains"] {
            assert!(is_of_checks(own), "{own}");
        }
        assert!(!is_of_checks("rouge/rouge_l"));
        assert_eq!(json::<Json>(Some("{".to_owned())), Json::Null);
    }
}
