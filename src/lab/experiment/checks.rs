//! What checks of suites said of runs, as rows.

use super::judge::Case;
use crate::lab::suite::{CheckOutcome, Confidence, Status};
use crate::schema::batch::{CheckResultRow, RunRow};
use serde_json::json;

/// The checks of all `cases`, as they were judged.
pub fn check_rows(cases: &[&Case]) -> Vec<CheckResultRow> {
    let of_case = |case: &&Case| -> Vec<CheckResultRow> {
        (0..).zip(&case.checks).map(|(ordinal, check)| check_row(&case.run, ordinal, check)).collect()
    };
    cases.iter().flat_map(of_case).collect()
}

fn check_row(run: &RunRow, ordinal: i64, check: &CheckOutcome) -> CheckResultRow {
    let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    CheckResultRow {
        run_id: run.run_id.clone(),
        attempt: run.attempt,
        experiment_id: run.experiment_id.clone(),
        item_id: run.item_id.clone(),
        check_id: said(&check.id).unwrap_or_else(|| (ordinal + 1).to_string()),
        ordinal,
        revision: 1,
        operator: check.operator.clone(),
        criteria: check.criteria.clone(),
        weight: check.weight,
        counts: check.counts,
        category: said(&check.category),
        engine: said(&check.engine),
        auto_eval: check.status.word().to_owned(),
        passed: match check.status {
            Status::Pass => Some(true),
            Status::Fail => Some(false),
            Status::Skipped | Status::Error => None,
        },
        value: check.value,
        confidence: check.confidence.map(|confidence| {
            let word = match confidence {
                Confidence::High => "high",
                Confidence::Low => "low",
            };
            word.to_owned()
        }),
        feedback: said(&check.feedback),
        extracted: check.extracted.clone(),
        condition_met: check.condition_met,
        parts: (!check.of.is_empty()).then(|| json!(check.of).to_string()),
        edited_by: None,
        edited_auto_eval: None,
        edited_feedback: None,
    }
}
