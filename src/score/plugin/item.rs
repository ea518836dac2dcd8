//! What is sent of an input, and the scores that an answer is.

use super::describe::{Description, Told};
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

/// Longest label, characters.
const MAX_LABEL: usize = 256;
/// Longest reason, characters; the rest is cut.
const MAX_REASON: usize = 8_192;

/// One item as it is sent: its id, and the inputs that the plug-in asks for.
pub(super) struct Item {
    pub id: String,
    pub inputs: Map<String, Json>,
}

impl Item {
    /// # Errors
    /// The name of a required input that is not there.
    pub(super) fn new(
        id: String,
        description: &Description,
        input: &EvalInput,
    ) -> Result<Self, &'static str> {
        let mut inputs = Map::new();
        for wanted in &description.inputs {
            let name = wanted.input.name();
            match wanted.input.of(input) {
                Some(value) => drop(inputs.insert(name.to_owned(), value)),
                None if wanted.is_required => return Err(name),
                None => {}
            }
        }
        Ok(Self { id, inputs })
    }

    /// As one JSON object.
    pub(super) fn json(&self) -> Json {
        let id = ("id".to_owned(), Json::from(self.id.as_str()));
        Json::Object(std::iter::once(id).chain(self.inputs.clone()).collect())
    }
}

/// What a plug-in says of one metric, as it comes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct RawScore {
    pub metric: String,
    pub value: Option<f64>,
    pub label: Option<String>,
    pub passed: Option<bool>,
    pub rationale: Option<String>,
    /// Which input is missing, or why else there is nothing to judge.
    pub skipped: Option<String>,
    pub error: Option<String>,
}

/// What a plug-in says of one item.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub id: String,
    /// Its scores, or why there are none.
    pub said: Result<Vec<RawScore>, String>,
}

impl Answer {
    /// Reads JSON; none if it names no item.
    pub(super) fn from_json(json: &Json) -> Option<Self> {
        let id = json.get("id")?.as_str()?.to_owned();
        let error = json.get("error").filter(|error| !error.is_null());
        let said = match (error, json.get("scores")) {
            (Some(error), _) => Err(error.as_str().map_or_else(|| error.to_string(), str::to_owned)),
            (None, Some(scores)) => {
                Vec::<RawScore>::deserialize(scores).map_err(|e| format!("the answer is not as asked: {e}"))
            }
            (None, None) => Err("the answer has neither scores nor error".to_owned()),
        };
        Some(Self { id, said })
    }

    /// A score for each metric of the description, in its order. What the answer does not say, or says against it, is an
    /// error.
    pub(super) fn scores(self, description: &Description) -> Vec<Score> {
        let said = match self.said {
            Ok(said) => said,
            Err(why) => return failed(description, &cut(why)),
        };
        let is_known = |score: &&RawScore| description.metrics.iter().any(|m| m.name == score.metric);
        if let Some(other) = said.iter().find(|score| !is_known(score)) {
            let name: String = other.metric.chars().take(MAX_LABEL).collect();
            return failed(description, &format!("the answer has a metric {name:?}, which is not described"));
        }
        let score = |metric: &Told| {
            let mut of_it = said.iter().filter(|score| score.metric == metric.name);
            match (of_it.next(), of_it.next()) {
                (Some(one), None) => scored(metric, one.clone()),
                (None, _) => Err("the answer does not have this metric".to_owned()),
                (Some(_), Some(_)) => Err("the answer has this metric twice".to_owned()),
            }
        };
        description
            .metrics
            .iter()
            .map(|metric| score(metric).unwrap_or_else(|why| Score::failed(&metric.name, &why)))
            .collect()
    }
}

/// An error for each metric.
pub(super) fn failed(description: &Description, why: &str) -> Vec<Score> {
    description.metrics.iter().map(|metric| Score::failed(&metric.name, why)).collect()
}

/// A skipped score for each metric.
pub(super) fn skipped(description: &Description, missing: &str) -> Vec<Score> {
    description.metrics.iter().map(|metric| Score::skipped(&metric.name, missing)).collect()
}

fn scored(metric: &Told, raw: RawScore) -> Result<Score, String> {
    let name = metric.name.as_str();
    if let Some(why) = raw.error {
        return Err(cut(why));
    }
    if let Some(missing) = raw.skipped {
        return Ok(Score::skipped(name, &cut(missing)));
    }
    if raw.value.is_some_and(|value| !value.is_finite()) {
        return Err("the value is not a finite number".to_owned());
    }
    if raw.label.as_ref().is_some_and(|label| label.chars().count() > MAX_LABEL) {
        return Err(format!("the label is longer than {MAX_LABEL} characters"));
    }
    let mut score = match (raw.value, metric.threshold, raw.passed) {
        (Some(value), Some(threshold), passed) => {
            let score = Score::measured(name, value, threshold, metric.better);
            if passed.is_some() && passed != score.passed {
                return Err(format!(
                    "passed is {}, and {value} against the threshold {threshold} says otherwise",
                    passed == Some(true)
                ));
            }
            score
        }
        (None, Some(_), _) => return Err("there is no value, which a metric with a threshold has".to_owned()),
        (Some(value), None, passed) => Score { passed, ..Score::told(name, value) },
        // A verdict alone is 1 for the good side.
        (None, None, Some(passed)) => {
            let verdict = Score::verdict(name, passed);
            let is_low = metric.better == Better::Lower;
            if is_low { Score { value: verdict.value.map(|value| 1.0 - value), ..verdict } } else { verdict }
        }
        (None, None, None) => return Err("there is neither value nor passed".to_owned()),
    };
    score.label = raw.label.or(score.label);
    Ok(match raw.rationale {
        Some(rationale) => score.because(cut(rationale)),
        None => score,
    })
}

/// `text` up to the longest reason, which then says so.
pub(super) fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{} [cut at {MAX_REASON} characters]", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::describe::tests::tone;
    use super::*;
    use serde_json::json;

    fn described() -> Description {
        Description::from_json(tone()).unwrap()
    }

    fn scores(answer: Json) -> Vec<Score> {
        Answer::from_json(&answer).unwrap().scores(&described())
    }

    #[test]
    fn only_what_is_asked_for_is_sent() {
        let input = EvalInput {
            question: None,
            answer: Some("a".into()),
            system_prompt: Some("secret".into()),
            ..EvalInput::default()
        };
        let item = Item::new("1".into(), &described(), &input).unwrap();
        assert_eq!(item.json().to_string(), r#"{"id":"1","answer":"a"}"#);
        assert_eq!(Item::new("1".into(), &described(), &EvalInput::default()).err(), Some("answer"));
    }

    #[test]
    fn an_answer_is_scores_in_the_order_of_the_description() {
        let both = scores(json!({"id": "1", "scores": [
            {"metric": "promise", "passed": false, "label": "promised", "rationale": "tomorrow"},
            {"metric": "politeness", "value": 0.75, "passed": true},
        ]}));
        assert_eq!(both[0], Score::measured("politeness", 0.75, 0.5, Better::Higher));
        // Low is good: what fails is 1.
        assert_eq!(
            (both[1].value, both[1].passed, both[1].label.as_deref()),
            (Some(1.0), Some(false), Some("promised"))
        );
        assert_eq!(both[1].rationale.as_deref(), Some("tomorrow"));
        let skipped = scores(json!({"id": "1", "scores": [
            {"metric": "politeness", "skipped": "language"}, {"metric": "promise", "value": 3}]}));
        assert_eq!(skipped[0], Score::skipped("politeness", "language"));
        assert_eq!((skipped[1].value, skipped[1].passed), (Some(3.0), None));
    }

    #[test]
    fn what_an_answer_does_not_say_is_an_error_of_that_metric() {
        let good = json!({"metric": "promise", "value": 0});
        for (bad, part) in [
            (json!({"metric": "politeness"}), "no value"),
            (json!({"metric": "politeness", "value": null}), "no value"),
            (json!({"metric": "politeness", "value": 0.2, "passed": true}), "says otherwise"),
            (json!({"metric": "politeness", "value": 1, "label": "x".repeat(300)}), "256"),
            (json!({"metric": "politeness", "error": "no model"}), "no model"),
            (json!({"metric": "promise", "value": 1}), "does not have"),
        ] {
            let told = scores(json!({"id": "1", "scores": [bad, good]}));
            assert!(told[0].error.as_deref().unwrap().contains(part), "{part}: {told:?}");
        }
        let twice = scores(json!({"id": "1", "scores": [good, good]}));
        assert!(twice[1].error.as_deref().unwrap().contains("twice"), "{twice:?}");
    }

    #[test]
    fn an_answer_that_is_none_is_an_error_of_all() {
        for (bad, part) in [
            (json!({"id": "1"}), "neither scores"),
            (json!({"id": "1", "error": "broke"}), "broke"),
            (json!({"id": "1", "scores": {}}), "not as asked"),
            (json!({"id": "1", "scores": [{"metric": "politeness", "value": "high"}]}), "not as asked"),
            (json!({"id": "1", "scores": [{"metric": "rudeness", "value": 1}]}), "rudeness"),
        ] {
            let told = scores(bad);
            assert!(told.iter().all(|s| s.error.as_deref().unwrap().contains(part)), "{part}: {told:?}");
            assert!(told.iter().all(|s| s.value.is_none() && s.passed.is_none()));
        }
        let infinite = Answer {
            id: "1".into(),
            said: Ok(vec![RawScore {
                metric: "politeness".into(),
                value: Some(f64::NAN),
                ..RawScore::default()
            }]),
        };
        assert!(infinite.scores(&described())[0].error.as_deref().unwrap().contains("finite"));
        assert_eq!(Answer::from_json(&json!({"id": 1, "scores": []})), None);
        assert!(cut("é".repeat(MAX_REASON + 1)).ends_with("characters]"));
    }
}
