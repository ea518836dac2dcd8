//! What a target answers.

use super::question::Question;
use super::spec::Form;
use crate::lab::template::brief;
use serde_json::{Map, Value as Json};

/// An answer, and what the target told about it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// A text, or JSON; NULL only beside an error.
    pub output: Json,
    /// Why there is none, as the target says.
    pub error: Option<String>,
    /// What was retrieved for it; none where the target does not say.
    pub contexts: Option<Vec<Json>>,
    /// Whatever else the application wants to be seen.
    pub output_context: Option<Map<String, Json>>,
    /// Tokens that the application's model read.
    pub in_tokens: Option<i64>,
    /// Tokens that it wrote.
    pub out_tokens: Option<i64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// How long it took, milliseconds: as told, else as measured.
    pub duration_ms: Option<f64>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// The trace of its spans, if it is not the one that it was given; 32 hexadecimal digits.
    pub trace_id: Option<String>,
    /// The span that stands for the run; 16 hexadecimal digits.
    pub span_id: Option<String>,
    /// What the target measured itself: objects of name, value, label, passed and rationale.
    pub scores: Vec<Json>,
}

impl Answer {
    /// A text alone.
    pub fn text(output: impl Into<String>) -> Self {
        Self { output: Json::String(output.into()), ..Self::default() }
    }

    /// What an object says under the names that targets use. Numbers may be texts; what is no number from 0 on is left out.
    ///
    /// # Errors
    /// When it has neither `output` nor `error`.
    pub fn from_object(said: &Map<String, Json>) -> Result<Self, String> {
        let get = |key: &str| said.get(key).filter(|value| !value.is_null());
        let text = |key: &str| get(key).and_then(Json::as_str).map(str::to_owned);
        let number = |key: &str| get(key).and_then(number).filter(|n| n.is_finite() && *n >= 0.0);
        let tokens = |names: [&str; 2]| names.into_iter().find_map(number).map(|n| n.round() as i64);
        let error = get("error").map(|why| why.as_str().map_or_else(|| why.to_string(), str::to_owned));
        if get("output").is_none() && error.is_none() {
            return Err("the answer has neither \"output\" nor \"error\"".to_owned());
        }
        Ok(Self {
            output: get("output").cloned().unwrap_or_default(),
            error,
            contexts: get("contexts").and_then(Json::as_array).cloned(),
            output_context: get("output_context").and_then(Json::as_object).cloned(),
            in_tokens: tokens(["input_tokens", "in_tokens"]),
            out_tokens: tokens(["output_tokens", "out_tokens"]),
            cost_usd: number("cost_usd"),
            duration_ms: number("duration_ms").or_else(|| Some(number("duration")? * 1e3)),
            finish_reason: text("finish_reason"),
            trace_id: text("trace_id"),
            span_id: text("span_id"),
            scores: get("scores").and_then(Json::as_array).cloned().unwrap_or_default(),
        })
    }

    /// The answer that an address or a process gave to `question`: a text, or an object.
    ///
    /// # Errors
    /// When it is another item's, or nothing that `form` takes for an answer.
    pub(super) fn read(text: &str, question: &Question, form: Form) -> Result<Self, String> {
        match serde_json::from_str::<Json>(text) {
            Ok(Json::String(text)) => Ok(Self::text(text)),
            Ok(Json::Object(said)) => {
                same_run(&said, question)?;
                match Self::from_object(&said) {
                    Err(_) if form == Form::Any => Ok(Self::text(trimmed(text))),
                    read => read,
                }
            }
            // A plain text is an answer too, also one that is a number.
            _ => Ok(Self::text(trimmed(text))),
        }
    }

    /// The same as an object, under the names that the server takes.
    pub fn into_object(self) -> Map<String, Json> {
        let mut object = Map::new();
        let mut put = |key: &str, value: Json| {
            if !value.is_null() {
                object.insert(key.to_owned(), value);
            }
        };
        put("output", self.output);
        put("error", self.error.into());
        put("contexts", self.contexts.into());
        put("output_context", self.output_context.map_or(Json::Null, Json::Object));
        put("input_tokens", self.in_tokens.into());
        put("output_tokens", self.out_tokens.into());
        put("cost_usd", self.cost_usd.into());
        put("duration_ms", self.duration_ms.into());
        put("trace_id", self.trace_id.into());
        put("span_id", self.span_id.into());
        if !self.scores.is_empty() {
            put("scores", self.scores.into());
        }
        object
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_end_matches(['\r', '\n'])
}

/// A number, or a text that is one: `12.0` is a count too.
fn number(value: &Json) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// An answer that names another run is no answer to this one.
fn same_run(said: &Map<String, Json>, question: &Question) -> Result<(), String> {
    for (key, own) in [("run_id", &question.run_id), ("item_id", &question.item_id)] {
        let told = said.get(key).filter(|told| !told.is_null() && told.as_str() != Some(own));
        if let Some(told) = told {
            return Err(format!(
                "the target answered with {key} {}, asked was {own:?}",
                brief(&told.to_string())
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str, form: Form) -> Result<Answer, String> {
        let question = Question { run_id: "r".to_owned(), item_id: "i".to_owned(), ..Question::default() };
        Answer::read(text, &question, form)
    }

    #[test]
    fn a_target_answers_with_a_text_or_an_object() {
        let output = |text: &str| read(text, Form::Any).unwrap().output;
        assert_eq!(output("plain\n"), "plain");
        assert_eq!(output("\"quoted\""), "quoted");
        assert_eq!(output("[1, 2]"), "[1, 2]");
        assert_eq!(output("{\"answer\": 1}"), "{\"answer\": 1}");
        assert!(read("{\"answer\": 1}", Form::Strict).unwrap_err().contains("neither"));
        let full =
            r#"{"output": {"a": 1}, "in_tokens": "12.0", "duration": 1.5, "item_id": "i", "cost_usd": -1}"#;
        let full = read(full, Form::Strict).unwrap();
        assert_eq!(
            (&full.output, full.in_tokens, full.duration_ms, full.cost_usd),
            (&json!({"a": 1}), Some(12), Some(1500.0), None)
        );
        let said = read(r#"{"error": "no key", "cost_usd": 0.5}"#, Form::Strict).unwrap();
        assert_eq!((said.error.as_deref(), said.cost_usd), (Some("no key"), Some(0.5)));
        let wrong = read(r#"{"output": "x", "item_id": "another"}"#, Form::Any).unwrap_err();
        assert!(wrong.contains("answered with item_id \"another\", asked was \"i\""), "{wrong}");
    }

    #[test]
    fn what_is_sent_to_the_server_is_what_was_told() {
        let told = json!({"output": "x", "contexts": ["c"], "input_tokens": 3, "trace_id": "t",
            "scores": [{"name": "own", "value": 1.0}]});
        let answer = Answer::from_object(told.as_object().unwrap()).unwrap();
        assert_eq!(Json::Object(answer.into_object()), told);
    }
}
