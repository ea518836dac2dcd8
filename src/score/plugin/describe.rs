//! What a plug-in says of itself: its version, its inputs and its metrics.

use crate::domain::score::Better;
use crate::domain::trace::EvalInput;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// The version of the protocol that this release speaks.
pub(super) const PROTOCOL: u32 = 1;
/// Metrics of one plug-in.
const MAX_METRICS: usize = 32;
/// Characters of a name or version.
const MAX_NAME: usize = 100;

/// Something that a plug-in may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Question,
    Answer,
    Contexts,
    Expected,
    ExpectedAnswers,
    ExpectedDocuments,
    Constraints,
    SystemPrompt,
    History,
    Tenant,
    Steps,
}

impl Input {
    const ALL: [Self; 11] = [
        Self::Question,
        Self::Answer,
        Self::Contexts,
        Self::Expected,
        Self::ExpectedAnswers,
        Self::ExpectedDocuments,
        Self::Constraints,
        Self::SystemPrompt,
        Self::History,
        Self::Tenant,
        Self::Steps,
    ];

    /// Its name, the same as in a line of `groundline score`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Answer => "answer",
            Self::Contexts => "contexts",
            Self::Expected => "expected",
            Self::ExpectedAnswers => "expected_answers",
            Self::ExpectedDocuments => "expected_documents",
            Self::Constraints => "constraints",
            Self::SystemPrompt => "system_prompt",
            Self::History => "history",
            Self::Tenant => "tenant",
            Self::Steps => "steps",
        }
    }

    /// What `input` has of it; none if it is not there or blank.
    pub(super) fn of(self, input: &EvalInput) -> Option<Json> {
        let text =
            |text: &Option<String>| text.as_deref().filter(|text| !text.trim().is_empty()).map(Json::from);
        let list = |list: Json| list.as_array().is_some_and(|list| !list.is_empty()).then_some(list);
        match self {
            Self::Question => text(&input.question),
            Self::Answer => text(&input.answer),
            Self::Expected => text(&input.expected),
            Self::SystemPrompt => text(&input.system_prompt),
            Self::Tenant => text(&input.tenant),
            Self::ExpectedDocuments => list(json!(input.expected_documents)),
            Self::ExpectedAnswers => list(json!(input.expected_answers)),
            Self::Constraints => list(json!(input.constraints)),
            Self::History => list(json!(input.history)),
            Self::Steps => list(json!(input.steps)),
            Self::Contexts => {
                let chunk = |d: &crate::domain::document::Document| {
                    json!({"id": d.id, "uri": d.uri, "text": d.content, "rank": d.rank, "score": d.score,
                        "tenant": d.tenant, "metadata": d.metadata})
                };
                list(input.contexts.iter().map(chunk).collect())
            }
        }
    }
}

/// One input of a plug-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub input: Input,
    /// Without it an item is skipped.
    pub is_required: bool,
}

/// One metric of a plug-in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub name: String,
    pub better: Better,
    /// None for a pass/fail metric and for counts.
    pub threshold: Option<f64>,
}

/// What a plug-in says of itself, checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Description {
    pub name: String,
    pub version: String,
    pub inputs: Vec<Wanted>,
    pub metrics: Vec<Told>,
}

/// A description as it comes, in any form.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct RawDescription {
    pub protocol: u32,
    #[serde(default)]
    pub name: String,
    pub version: String,
    /// Names of inputs; a `?` behind one says that it may be missing.
    pub inputs: Vec<String>,
    pub metrics: Vec<RawMetric>,
}

/// A metric as it comes.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct RawMetric {
    pub name: String,
    #[serde(default = "higher")]
    pub better: String,
    #[serde(default)]
    pub threshold: Option<f64>,
}

fn higher() -> String {
    "higher".to_owned()
}

impl Description {
    /// Reads JSON.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub(super) fn from_json(json: Json) -> Result<Self, String> {
        // Another version may look otherwise: it is told before anything else is.
        check_protocol(json.get("protocol").and_then(Json::as_u64))?;
        let raw: RawDescription =
            serde_json::from_value(json).map_err(|e| format!("its description is not as asked: {e}"))?;
        raw.checked()
    }
}

fn check_protocol(told: Option<u64>) -> Result<(), String> {
    match told {
        Some(version) if version == u64::from(PROTOCOL) => Ok(()),
        Some(version) => Err(format!(
            "it speaks version {version} of the protocol, and this release version {PROTOCOL}: take a package of the \
             same version"
        )),
        None => Err(format!("its description has no protocol, a number: this release speaks {PROTOCOL}")),
    }
}

impl RawDescription {
    /// The description, if it is one that can be kept to.
    pub(super) fn checked(self) -> Result<Description, String> {
        check_protocol(Some(u64::from(self.protocol)))?;
        let is_short = |text: &str| text.chars().count() <= MAX_NAME && !text.chars().any(char::is_control);
        if self.version.trim().is_empty() || !is_short(&self.version) || !is_short(&self.name) {
            return Err(format!(
                "its description has a version of 1 to {MAX_NAME} characters, and a name as short"
            ));
        }
        let inputs = wanted(&self.inputs)?;
        if self.metrics.is_empty() || self.metrics.len() > MAX_METRICS {
            return Err(format!(
                "its description has {} metrics, and 1 to {MAX_METRICS} are meant",
                self.metrics.len()
            ));
        }
        let mut names = BTreeSet::new();
        let mut metrics = Vec::new();
        for metric in self.metrics {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
            let name = metric.name;
            if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_plain) {
                return Err(format!(
                    "metric {name:?}: a name has letters, digits, _ - . / only, up to {MAX_NAME}"
                ));
            }
            if !names.insert(name.clone()) {
                return Err(format!("metric {name:?} is there twice"));
            }
            let better = match metric.better.as_str() {
                "higher" => Better::Higher,
                "lower" => Better::Lower,
                other => {
                    return Err(format!(
                        "metric {name:?}: better is {other:?}, must be \"higher\" or \"lower\""
                    ));
                }
            };
            if metric.threshold.is_some_and(|threshold| !threshold.is_finite()) {
                return Err(format!("metric {name:?}: threshold is no number"));
            }
            metrics.push(Told { name, better, threshold: metric.threshold });
        }
        Ok(Description { name: self.name, version: self.version, inputs, metrics })
    }
}

fn wanted(names: &[String]) -> Result<Vec<Wanted>, String> {
    let mut inputs: Vec<Wanted> = Vec::new();
    for name in names {
        let plain = name.strip_suffix('?').unwrap_or(name);
        let Some(input) = Input::ALL.into_iter().find(|input| input.name() == plain) else {
            let known = Input::ALL.map(Input::name).join(", ");
            return Err(format!("it asks for the input {plain:?}; there are {known}"));
        };
        if inputs.iter().any(|known| known.input == input) {
            return Err(format!("it asks for the input {plain:?} twice"));
        }
        inputs.push(Wanted { input, is_required: plain == name });
    }
    if inputs.is_empty() {
        return Err("it asks for no input: there would be nothing to judge".to_owned());
    }
    Ok(inputs)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A description with a measured metric and a verdict.
    pub(in super::super) fn tone() -> Json {
        json!({"protocol": 1, "name": "tone", "version": "3", "inputs": ["answer", "question?"],
            "metrics": [{"name": "politeness", "threshold": 0.5}, {"name": "promise", "better": "lower"}]})
    }

    #[test]
    fn a_description_is_read() {
        let read = Description::from_json(tone()).unwrap();
        assert_eq!((read.version.as_str(), read.metrics.len()), ("3", 2));
        assert_eq!(
            read.inputs,
            [
                Wanted { input: Input::Answer, is_required: true },
                Wanted { input: Input::Question, is_required: false }
            ]
        );
        assert_eq!((read.metrics[0].better, read.metrics[1].threshold), (Better::Higher, None));
    }

    #[test]
    fn what_cannot_be_kept_to_is_told() {
        for (key, value, part) in [
            ("protocol", json!(2), "version 2 of the protocol"),
            ("protocol", Json::Null, "no protocol"),
            ("version", json!(" "), "a version of 1 to 100"),
            ("version", json!(3), "not as asked"),
            ("inputs", json!(["anser"]), "there are question, answer"),
            ("inputs", json!(["answer", "answer?"]), "twice"),
            ("inputs", json!([]), "no input"),
            ("metrics", json!([]), "0 metrics"),
            ("metrics", json!([{"name": "a b"}]), "letters"),
            ("metrics", json!([{"name": "a"}, {"name": "a"}]), "twice"),
            ("metrics", json!([{"name": "a", "better": "up"}]), "\"higher\" or \"lower\""),
            ("metrics", json!([{"name": "a", "threshold": "high"}]), "not as asked"),
        ] {
            let mut json = tone();
            json[key] = value;
            let error = Description::from_json(json).unwrap_err();
            assert!(error.contains(part), "{part}: {error}");
        }
    }

    #[test]
    fn what_is_blank_is_not_there() {
        let input =
            EvalInput { question: Some("q".into()), answer: Some(" ".into()), ..EvalInput::default() };
        let there: Vec<_> = Input::ALL.into_iter().filter(|one| one.of(&input).is_some()).collect();
        assert_eq!(there, [Input::Question]);
    }
}
