//! Reviews as files: the run review with its test reviews and checks, and the scores as people edited them.

use super::agreement::{same, votes};
use super::answer::{Answer, State, Verdict, standing};
use super::book::Entry;
use super::shown::{Shown, Texts, response};
use super::stored::{Queue, rfc3339};
use crate::lab::error::LabError;
use crate::lab::experiment::AutoEval;
use crate::schema::batch::AnswerKind;
use serde_json::{Value, json};

const RUN: &[&str] = &[
    "Run Id",
    "Run Name",
    "Run Review Status",
    "Run Review Created By",
    "Run Review Created At",
    "Run Review Completion Time",
    "Number Of Reviews",
    "Assigned Reviewers",
    "Pass Rate",
    "Flagged Rate",
    "Auto Eval ↔ Reviewer Agreement",
    "Reviewer ↔ Reviewer Agreement",
];
const TEST: &[&str] = &[
    "Test Result Id",
    "Test Input",
    "LLM Output",
    "Files",
    "Completed At",
    "Completed By",
    "Test Review Feedback",
];
const CHECK: &[&str] =
    &["Check Type", "Metric Name", "Operator", "Criteria", "Auto Eval", "Reviewer Response"];
const EDITED: &[&str] = &[
    "Test Result Id",
    "Test Input",
    "LLM Output",
    "Operator",
    "Criteria",
    "Auto Eval",
    "Edited Auto Eval",
    "Edited Auto Eval Feedback",
    "Edited By",
    "Edited At",
];
/// The type of a check that comes from an evaluator.
pub(super) const AUTO: &str = "Auto-eval review";
/// Where the checks of a suite that was kept as an experiment are, behind which their number and operator stand.
const OF_SUITE: &str = "client/check/";

/// A queue with all that people said.
pub struct Reviewed<'a> {
    /// The queue.
    pub queue: &'a Queue,
    /// Its items.
    pub entries: &'a [(Entry, State)],
    /// What was asked and answered.
    pub texts: &'a Texts,
    /// The name of its experiment; its own where there is none.
    pub run_name: String,
}

impl Reviewed<'_> {
    /// The run review, an empty line, then each review of a test with its checks down the rows. With `flat` one table, a row a
    /// check.
    ///
    /// # Errors
    /// When memory does not suffice.
    pub fn csv(&self, flat: bool) -> Result<String, LabError> {
        let head = self.head();
        let heads = |parts: &[&[&str]]| parts.concat().iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let mut rows = vec![if flat { heads(&[RUN, TEST, CHECK]) } else { heads(&[TEST, CHECK]) }];
        for (entry, _) in self.entries {
            for answer in reviews(entry) {
                let test = self.test(entry, answer);
                for (at, check) in self.checks(entry, answer).into_iter().enumerate() {
                    let own = if at == 0 || flat { test.clone() } else { vec![String::new(); TEST.len()] };
                    let own = if flat { [head.clone(), own].concat() } else { own };
                    rows.push([own, check].concat());
                }
            }
        }
        if flat {
            return csv_text(&rows);
        }
        Ok(csv_text(&[heads(&[RUN]), head])? + "\n" + &csv_text(&rows)?)
    }

    /// The scores that have a label, as the evaluator said and as people did, one a row.
    ///
    /// # Errors
    /// When memory does not suffice.
    pub fn edits(&self) -> Result<String, LabError> {
        let mut rows = vec![EDITED.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()];
        for (entry, state) in self.entries {
            let Some(label) = state.label() else { continue };
            let shown = self.shown(entry);
            let last = reviews(entry).last().copied();
            for one in &entry.asked {
                let Some(edit) = label.auto_evals.get(&one.key()) else { continue };
                rows.push(vec![
                    id(entry),
                    shown.content.question.clone().unwrap_or_default(),
                    shown.content.answer.clone().unwrap_or_default(),
                    operator(one),
                    String::new(),
                    one.told(),
                    edit.response.as_str().to_owned(),
                    edit.feedback.clone().unwrap_or_default(),
                    last.map(|answer| answer.reviewer.clone()).unwrap_or_default(),
                    last.map(|answer| rfc3339(answer.at)).unwrap_or_default(),
                ]);
            }
        }
        csv_text(&rows)
    }

    /// All of it as JSON.
    pub fn json(&self) -> Value {
        let head = RUN.iter().zip(self.head()).map(|(name, cell)| ((*name).to_owned(), Value::from(cell)));
        let item = |(entry, state): &(Entry, State)| {
            let shown = self.shown(entry);
            let said = |answer: &&Answer| {
                json!({"reviewer": answer.reviewer, "kind": answer.kind, "response": response(&answer.response),
                    "comment": answer.comment, "flagged": answer.flagged, "seconds": answer.seconds,
                    "completed_at": rfc3339(answer.at)})
            };
            json!({
                "item": entry.chosen.item, "run_id": entry.run_id(), "trace_id": entry.chosen.trace_id.to_string(),
                "state": state.as_str(), "label": state.label().map(response), "auto_evals": entry.asked,
                "question": shown.content.question, "answer": shown.content.answer, "expected": shown.expected,
                "answers": reviews(entry).iter().map(said).collect::<Vec<_>>(),
            })
        };
        json!({
            "queue": self.queue.told(), "review": Value::Object(head.collect()),
            "items": self.entries.iter().map(item).collect::<Vec<_>>(),
        })
    }

    fn shown(&self, entry: &Entry) -> Shown {
        self.texts.get(&entry.chosen.item).cloned().unwrap_or_default()
    }

    fn head(&self) -> Vec<String> {
        let row = &self.queue.row;
        let said: Vec<&Answer> = self.entries.iter().flat_map(|(entry, _)| reviews(entry)).collect();
        let is_done =
            !self.entries.is_empty() && self.entries.iter().all(|(_, state)| state.label().is_some());
        let last = said.iter().map(|answer| answer.at).max().filter(|_| is_done);
        let ended = row.completed_at.or(last).map(rfc3339).unwrap_or_default();
        let is_flagged: Vec<bool> = said.iter().map(|answer| answer.flagged).collect();
        let same_as_evaluator: Vec<bool> =
            self.entries.iter().flat_map(|(entry, _)| against(entry)).collect();
        let told = |share: Option<f64>| share.map(|share| share.to_string()).unwrap_or_default();
        vec![
            row.experiment_id.clone().unwrap_or_else(|| row.queue_id.clone()),
            self.run_name.clone(),
            if is_done || !self.queue.is_open() { "completed" } else { "in progress" }.to_owned(),
            row.opened_by.clone(),
            rfc3339(row.opened_at),
            ended,
            row.reviews_per_item.to_string(),
            row.reviewers.join(", "),
            told(share(&said.iter().flat_map(|answer| verdicts(answer)).collect::<Vec<_>>())),
            told(share(&is_flagged)),
            told(share(&same_as_evaluator)),
            told(same(self.entries, &self.queue.templates)),
        ]
    }

    fn test(&self, entry: &Entry, answer: &Answer) -> Vec<String> {
        let Shown { content, .. } = self.shown(entry);
        vec![
            id(entry),
            content.question.unwrap_or_default(),
            content.answer.unwrap_or_default(),
            String::new(),
            rfc3339(answer.at),
            answer.reviewer.clone(),
            answer.comment.clone().unwrap_or_default(),
        ]
    }

    /// What was said of each score and each template.
    fn checks(&self, entry: &Entry, answer: &Answer) -> Vec<Vec<String>> {
        let said = &answer.response;
        let mut checks: Vec<Vec<String>> = Vec::new();
        for one in &entry.asked {
            let Some(edit) = said.auto_evals.get(&one.key()) else { continue };
            let told = edit.response.as_str().to_owned();
            checks.push(vec![AUTO.to_owned(), String::new(), operator(one), String::new(), one.told(), told]);
        }
        for template in &self.queue.templates {
            let Some(value) = said.templates.get(&template.name) else { continue };
            let told = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let (kind, name) = (template.kind.as_str().to_owned(), template.name.clone());
            let criteria = template.instructions.clone().unwrap_or_default();
            checks.push(vec![kind, name, String::new(), criteria, String::new(), told]);
        }
        if checks.is_empty() {
            checks.push(vec![String::new(); CHECK.len()]);
        }
        checks
    }
}

/// The answers that say something, with those that decided.
fn reviews(entry: &Entry) -> Vec<&Answer> {
    let is_said = |one: &&Answer| matches!(one.kind, AnswerKind::Answer | AnswerKind::Adjudication);
    standing(&entry.answers).into_iter().filter(is_said).collect()
}

fn id(entry: &Entry) -> String {
    entry.run_id().map_or_else(|| entry.chosen.trace_id.to_string(), str::to_owned)
}

/// The operator of a suite's check, or the metric.
pub(super) fn operator(one: &AutoEval) -> String {
    let of_suite = one.evaluator.strip_prefix(OF_SUITE).and_then(|rest| rest.split_once('/'));
    of_suite.map_or_else(|| one.key(), |(_, operator)| operator.to_owned())
}

/// What an answer says of scores, and of classes that are called pass and fail.
fn verdicts(answer: &Answer) -> Vec<bool> {
    let of_scores = answer.response.auto_evals.values().map(|edit| edit.response == Verdict::Pass);
    let classes = answer.response.templates.values().filter_map(Value::as_str);
    let of_classes = classes.filter_map(|word| match word.to_lowercase().as_str() {
        "pass" => Some(true),
        "fail" => Some(false),
        _ => None,
    });
    of_scores.chain(of_classes).collect()
}

/// For each score that people answered, whether each of them says the same as the evaluator.
fn against(entry: &Entry) -> Vec<bool> {
    let mut same = Vec::new();
    for one in &entry.asked {
        let Some(passed) = one.verdict() else { continue };
        for answer in votes(entry) {
            let edit = answer.response.auto_evals.get(&one.key());
            same.extend(edit.map(|edit| (edit.response == Verdict::Pass) == passed));
        }
    }
    same
}

fn share(values: &[bool]) -> Option<f64> {
    let count = values.iter().filter(|value| **value).count();
    (!values.is_empty()).then(|| count as f64 / values.len() as f64)
}

fn csv_text(rows: &[Vec<String>]) -> Result<String, LabError> {
    let broken = |why: String| LabError::Broken(format!("writing CSV: {why}"));
    let mut out = csv::Writer::from_writer(Vec::new());
    for row in rows {
        out.write_record(row).map_err(|e| broken(e.to_string()))?;
    }
    let bytes = out.into_inner().map_err(|e| broken(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| broken(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_of_a_suite_has_its_operator() {
        let of = |evaluator: &str, metric: &str| operator(&AutoEval::named(evaluator, metric));
        assert_eq!(
            of("client/check/12/satisfies_statement", "check/12/satisfies_statement"),
            "satisfies_statement"
        );
        assert_eq!(of("rouge", "rouge_l"), "rouge/rouge_l");
        assert_eq!((share(&[]), share(&[true, false, true, true])), (None, Some(0.75)));
    }
}
