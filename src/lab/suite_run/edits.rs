//! Verdicts of checks that people change: a new row each, the original stays.

use super::runs::SuiteRuns;
use crate::lab::cells::Row;
use crate::lab::error::{Fault, LabError};
use crate::lab::experiment::Experiment;
use crate::lab::store::{Who, text};
use crate::schema::batch::{CheckResultRow, check_results_to_batch};
use crate::schema::columns::Table;
use crate::schema::frame::Part;
use serde::{Deserialize, Serialize};

/// A verdict that is to be another.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditCheck {
    /// The run.
    run_id: String,
    /// The check: its id, else its place among the checks of the test, from 1.
    check_id: String,
    /// pass or fail.
    auto_eval: String,
    /// Why.
    #[serde(default)]
    feedback: Option<String>,
}

/// What an edit did.
#[derive(Debug, Clone, Serialize)]
pub(super) struct EditedCheck {
    run_id: String,
    check_id: String,
    /// Counts the edits, from 2.
    revision: i64,
    /// The verdict as it was judged.
    auto_eval: String,
    edited_auto_eval: String,
    edited_by: String,
}

/// Changes a verdict. When it returns, the edit is durable and visible.
///
/// # Errors
/// [`LabError::Missing`] without such a check, [`LabError::Faults`] for a verdict that is none.
pub(super) async fn edit(
    all: &SuiteRuns,
    who: &Who,
    found: &Experiment,
    edit: EditCheck,
) -> Result<EditedCheck, LabError> {
    let passed = match edit.auto_eval.as_str() {
        "pass" => true,
        "fail" => false,
        other => {
            let why = format!("{other:?} is no verdict of a person: say pass or fail");
            return Err(LabError::Faults(vec![Fault::new(why).at("auto_eval")]));
        }
    };
    let (experiments, datasets) = (all.experiments(), all.experiments().datasets());
    // One edit after the other, and none of what is being purged.
    let _still = datasets.still().await;
    let sql = "SELECT * FROM check_results WHERE experiment_id = $1 AND run_id = $2 AND check_id = $3 \
               ORDER BY attempt DESC, revision DESC LIMIT 1";
    let values = vec![text(&found.experiment_id), text(&edit.run_id), text(&edit.check_id)];
    let rows = experiments.store().ask(&who.tenant, sql, values).await?;
    let before =
        rows.iter().next().map(result_row).filter(|row| !datasets.is_purged(&who.tenant, &row.item_id));
    let before = before.ok_or_else(|| {
        LabError::Missing(format!(
            "the run {:?} of {:?} has no check {:?}",
            edit.run_id, found.name, edit.check_id
        ))
    })?;
    let row = CheckResultRow {
        revision: before.revision + 1,
        passed: Some(passed),
        edited_by: Some(who.name.clone()),
        edited_auto_eval: Some(edit.auto_eval.clone()),
        edited_feedback: edit.feedback,
        ..before
    };
    let made = experiments.store().made(who);
    let batch = check_results_to_batch(std::slice::from_ref(&row), &made)
        .map_err(|e| LabError::Broken(e.to_string()))?;
    experiments.store().write(vec![Part::Rows(Table::CheckResults, batch)]).await?;
    Ok(EditedCheck {
        run_id: row.run_id,
        check_id: row.check_id,
        revision: row.revision,
        auto_eval: row.auto_eval,
        edited_auto_eval: edit.auto_eval,
        edited_by: who.name.clone(),
    })
}

fn result_row(row: Row<'_>) -> CheckResultRow {
    CheckResultRow {
        run_id: row.text("run_id"),
        attempt: row.int("attempt").unwrap_or(1),
        experiment_id: row.text("experiment_id"),
        item_id: row.text("item_id"),
        check_id: row.text("check_id"),
        ordinal: row.int("ordinal").unwrap_or_default(),
        revision: row.int("revision").unwrap_or(1),
        operator: row.text("operator"),
        criteria: row.may("criteria"),
        weight: row.number("weight").unwrap_or(1.0),
        counts: row.flag("counts").unwrap_or_default(),
        category: row.may("category"),
        engine: row.may("engine"),
        auto_eval: row.text("auto_eval"),
        passed: row.flag("passed"),
        value: row.number("value"),
        confidence: row.may("confidence"),
        feedback: row.may("feedback"),
        extracted: row.may("extracted"),
        condition_met: row.flag("condition_met"),
        parts: row.may("parts"),
        edited_by: row.may("edited_by"),
        edited_auto_eval: row.may("edited_auto_eval"),
        edited_feedback: row.may("edited_feedback"),
    }
}
