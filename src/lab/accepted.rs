//! Several right answers: what each evaluator is asked with, and which of what it says counts.

use crate::domain::score::{Better, Score, ScoreStatus};
use crate::domain::trace::EvalInput;
use crate::eval::{Evaluator, Input, fit_of, is_plugin};

/// Right answers of an item that an evaluator is asked about which waits for others: each of them costs what one costs.
pub const MAX_COMPARED: usize = 8;
/// The class of an evaluator that cannot tell. It is nearer to right than a plain no: a person may say yes.
const UNDETERMINED: &str = "undetermined";

/// What `evaluator` is asked with about `input`, one after the other, where each of `expected` is a right answer.
///
/// One that compares with the right answer is asked about each, up to [`MAX_COMPARED`] where it waits for others. A plug-in
/// is asked once: it gets the first and the list of all. A question of the user's own to a judge is asked once, about any of
/// them; and all others are asked once, too.
pub fn askings(evaluator: &dyn Evaluator, input: &EvalInput, expected: &[String]) -> Vec<EvalInput> {
    let with = |answer: String| EvalInput {
        expected: Some(answer),
        expected_answers: expected.to_vec(),
        ..input.clone()
    };
    let fit = fit_of(evaluator.id());
    let most = if evaluator.waits().is_some() { MAX_COMPARED } else { expected.len() };
    match expected {
        [] => vec![input.clone()],
        [one] => vec![with(one.clone())],
        many if fit.is_some_and(|fit| fit.needs.contains(&Input::Expected)) => {
            many.iter().take(most).cloned().map(with).collect()
        }
        [first, ..] if fit.is_some() || is_plugin(evaluator.id()) => vec![with(first.clone())],
        many => vec![with(format!("any one of these: {}", many.join("; ")))],
    }
}

/// The best of what an evaluator says about one right answer after the other.
pub struct Best<'a> {
    evaluator: &'a dyn Evaluator,
    /// How good the best is, the place of its answer, and what was said.
    best: Option<(f64, usize, Vec<Score>)>,
    /// What was said first where there was no verdict.
    failed: Option<Vec<Score>>,
    asked: usize,
}

impl<'a> Best<'a> {
    /// Nothing was said yet.
    pub fn new(evaluator: &'a dyn Evaluator) -> Self {
        Self { evaluator, best: None, failed: None, asked: 0 }
    }

    /// Takes what was said about the next answer. Whether another could be better.
    pub fn take(&mut self, scores: Vec<Score>) -> bool {
        let at = self.asked;
        self.asked += 1;
        if scores.first().is_some_and(|score| score.status == ScoreStatus::Error) {
            self.failed = self.failed.take().or(Some(scores));
            return true;
        }
        let (worth, top) = self.worth(&scores);
        if self.best.as_ref().is_none_or(|(most, ..)| worth > *most) {
            self.best = Some((worth, at, scores));
        }
        worth < top
    }

    /// The best, with the number of its answer among `all` where there are several; an error where an answer without a
    /// verdict may have been the one that is met.
    pub fn told(self, all: usize) -> Vec<Score> {
        let Self { best, failed, asked, .. } = self;
        let (at, mut scores) = match (best, failed) {
            (Some((_, at, scores)), None) => (at, scores),
            (Some((_, at, scores)), Some(_)) if passes(&scores) => (at, scores),
            (_, Some(failed)) => return failed,
            (None, None) => return Vec::new(),
        };
        if all > 1 {
            let bound = if asked == MAX_COMPARED && all > asked {
                format!(" Only the first {asked} were compared.")
            } else {
                String::new()
            };
            let which = format!("Of {all} accepted answers, number {}.{bound}", at + 1);
            for score in &mut scores {
                let why = score.rationale.take().map_or(which.clone(), |why| format!("{why} {which}"));
                score.rationale = Some(why);
            }
        }
        scores
    }

    /// How good scores are, and what none can be better than.
    fn worth(&self, scores: &[Score]) -> (f64, f64) {
        let better = self.evaluator.metrics().first().map_or(Better::Higher, |metric| metric.better);
        let first = scores.first();
        let value = first.and_then(|score| score.value);
        match better {
            _ if first.is_some_and(|score| score.label.as_deref() == Some(UNDETERMINED)) => (0.5, 1.0),
            Better::Higher => (value.unwrap_or(f64::NEG_INFINITY), 1.0),
            Better::Lower => (value.map_or(f64::NEG_INFINITY, |value| -value), 0.0),
        }
    }
}

fn passes(scores: &[Score]) -> bool {
    scores.first().is_some_and(|score| score.passed == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Metric;

    struct Named {
        id: &'static str,
        metrics: Vec<Metric>,
    }

    impl Evaluator for Named {
        fn id(&self) -> &str {
            self.id
        }

        fn version(&self) -> &str {
            "1"
        }

        fn metrics(&self) -> &[Metric] {
            &self.metrics
        }

        fn evaluate(&self, _: &EvalInput) -> Vec<Score> {
            Vec::new()
        }
    }

    fn named(id: &'static str) -> Named {
        Named { id, metrics: vec![Metric::new("m", Better::Higher, None)] }
    }

    #[test]
    fn who_compares_is_asked_about_each_right_answer_and_a_plug_in_sees_the_list() {
        let expected = ["SELECT 1".to_owned(), "SELECT 2".to_owned()];
        let asked = |id: &'static str, expected: &[String]| {
            let inputs = askings(&named(id), &EvalInput::default(), expected);
            inputs.into_iter().map(|input| (input.expected, input.expected_answers.len())).collect::<Vec<_>>()
        };
        let some = |text: &str, all: usize| (Some(text.to_owned()), all);
        let each = [some("SELECT 1", 2), some("SELECT 2", 2)];
        for id in ["sql_eval", "ragas", "context_recall", "context_precision", "bleu"] {
            assert_eq!(asked(id, &expected), each, "{id}");
        }
        assert_eq!(asked("toxicity", &expected), [some("SELECT 1", 2)]);
        assert_eq!(asked("plugin/mine", &expected), [some("SELECT 1", 2)]);
        assert_eq!(asked("mine", &expected), [some("any one of these: SELECT 1; SELECT 2", 2)]);
        assert_eq!(asked("sql_eval", &expected[..1]), [some("SELECT 1", 1)]);
        assert_eq!(asked("sql_eval", &[]), [(None, 0)]);
    }

    #[test]
    fn the_best_counts_and_ends_the_asking() {
        let evaluator = named("sql_eval");
        let verdict = |passed| vec![Score::verdict("m", passed)];
        let undetermined = || vec![Score::verdict("m", false).labelled(UNDETERMINED)];
        let failed = || vec![Score::failed("m", "away")];
        let told = |said: Vec<Vec<Score>>| {
            let mut best = Best::new(&evaluator);
            let all = said.len();
            let goes_on: Vec<bool> = said.into_iter().map(|scores| best.take(scores)).collect();
            (best.told(all).remove(0), goes_on)
        };
        let (score, goes_on) = told(vec![verdict(false), verdict(true)]);
        assert_eq!((score.passed, goes_on), (Some(true), vec![true, false]));
        assert!(score.rationale.unwrap().contains("Of 2 accepted answers, number 2."));
        let (score, _) = told(vec![verdict(false), undetermined(), verdict(false)]);
        assert_eq!(score.label.as_deref(), Some(UNDETERMINED));
        // What has no verdict may have been the one that is met.
        let (score, _) = told(vec![failed(), verdict(false)]);
        assert_eq!((score.status, score.error.as_deref()), (ScoreStatus::Error, Some("away")));
        let (score, _) = told(vec![failed(), verdict(true)]);
        assert_eq!((score.status, score.passed), (ScoreStatus::Ok, Some(true)));
    }

    #[test]
    fn a_bound_on_the_answers_is_told() {
        let evaluator = named("sql_eval");
        let mut best = Best::new(&evaluator);
        for _ in 0..MAX_COMPARED {
            assert!(best.take(vec![Score::verdict("m", false)]));
        }
        let told = best.told(20).remove(0).rationale.unwrap();
        assert!(told.contains("Of 20 accepted answers, number 1. Only the first 8 were compared."), "{told}");
    }
}
