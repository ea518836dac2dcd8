//! What evaluators said of an item, as a reviewer is asked about it.

use serde::{Deserialize, Serialize};

/// Most scores of an item that a reviewer is asked about.
pub const MAX_ASKED: usize = 50;
/// The class of an evaluator that cannot tell.
const UNDETERMINED: &str = "undetermined";
/// Longest reason that is kept, bytes.
const MAX_WHY: usize = 4_000;
/// Longest reason of a sender why a person must look, bytes.
const MAX_REASON: usize = 200;

/// Why a person must look at a score; none where the evaluator is sure.
fn flag(status: &str, label: Option<&str>, is_judge: bool) -> Option<&'static str> {
    if label == Some(UNDETERMINED) {
        return Some(UNDETERMINED);
    }
    (status == "error" && is_judge).then_some("judge error")
}

/// What an evaluator said of one metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AutoEval {
    /// The evaluator.
    pub evaluator: String,
    /// The metric.
    pub metric: String,
    /// ok, error or skipped.
    pub status: String,
    /// The value.
    pub value: Option<f64>,
    /// The class.
    pub label: Option<String>,
    /// The verdict.
    pub passed: Option<bool>,
    /// Why.
    pub rationale: Option<String>,
    /// Why a person must look; none where the evaluator is sure.
    pub reason: Option<String>,
}

impl AutoEval {
    /// Its name within an item: the evaluator, and the metric where that is called otherwise.
    pub fn key(&self) -> String {
        let before = self.evaluator.strip_suffix(self.metric.as_str());
        if before.is_some_and(|rest| rest.is_empty() || rest.ends_with('/')) {
            self.evaluator.clone()
        } else {
            format!("{}/{}", self.evaluator, self.metric)
        }
    }

    /// What is written into files: the verdict, else the class or the value.
    pub fn told(&self) -> String {
        match (self.passed, &self.label, self.value) {
            _ if self.status == "error" => "error".to_owned(),
            (Some(true), ..) => "pass".to_owned(),
            (Some(false), ..) => "fail".to_owned(),
            (None, Some(label), _) => label.clone(),
            (None, None, Some(value)) => value.to_string(),
            (None, None, None) => String::new(),
        }
    }

    /// The verdict that can be held against a reviewer's: none of an evaluator that was not sure.
    pub fn verdict(&self) -> Option<bool> {
        self.passed.filter(|_| self.status == "ok" && self.reason.is_none())
    }

    /// The same with the reason why a person must look; `is_judge` says that its evaluator asks a judge.
    #[must_use]
    pub fn looked_at(mut self, is_judge: bool) -> Self {
        if let Some(why) = &mut self.rationale
            && why.len() > MAX_WHY
        {
            why.truncate(why.floor_char_boundary(MAX_WHY));
        }
        if let Some(why) = &mut self.reason {
            why.truncate(why.floor_char_boundary(MAX_REASON.min(why.len())));
        } else {
            self.reason = flag(&self.status, self.label.as_deref(), is_judge).map(str::to_owned);
        }
        self
    }

    /// One without a verdict.
    #[cfg(test)]
    pub fn named(evaluator: &str, metric: &str) -> Self {
        let (evaluator, metric) = (evaluator.to_owned(), metric.to_owned());
        Self { evaluator, metric, status: "ok".to_owned(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_looks_where_the_evaluator_is_not_sure() {
        let unsure = AutoEval {
            label: Some("undetermined".into()),
            passed: Some(false),
            ..AutoEval::named("sql_eval", "sql_eval")
        };
        let unsure = unsure.looked_at(true);
        assert_eq!((unsure.reason.as_deref(), unsure.verdict()), (Some("undetermined"), None));
        assert_eq!((unsure.key(), unsure.told()), ("sql_eval".into(), "fail".into()));
        let failed = AutoEval { status: "error".into(), ..AutoEval::named("faithfulness", "faithfulness") };
        assert_eq!(failed.clone().looked_at(true).reason.as_deref(), Some("judge error"));
        assert_eq!(
            failed.looked_at(false).reason,
            None,
            "a local evaluator's error is no question for people"
        );
        let sure = AutoEval { passed: Some(true), value: Some(0.9), ..AutoEval::named("rouge", "rouge_l") };
        let sure = sure.looked_at(false);
        assert_eq!(
            (sure.key(), sure.told(), sure.verdict()),
            ("rouge/rouge_l".into(), "pass".into(), Some(true))
        );
        assert_eq!(AutoEval::named("client/mine", "mine").key(), "client/mine");
    }
}
