//! What evaluators are given of an item and its answer.

use super::super::dataset::{expected_text, text_of};
use crate::domain::document::Document;
use crate::domain::trace::{Constraint, EvalInput};
use crate::schema::batch::ItemRow;
use serde_json::Value;

/// What an item expects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// The answers of which one is to be met; empty if none can be told.
    pub answers: Vec<String>,
    /// Why none can be told; none where the item simply has none.
    pub why: Option<String>,
}

/// What is known of an answer.
#[derive(Debug, Clone, Default)]
pub struct Answered<'a> {
    /// The answer.
    pub output: Option<&'a Value>,
    /// What was retrieved; the item's own context where the target tells none.
    pub contexts: Option<&'a [Value]>,
}

/// The input of an evaluation without the expected answer, and what is expected.
pub fn eval_input(item: &ItemRow, answered: &Answered<'_>, tenant: &str) -> (EvalInput, Expected) {
    let value =
        |text: &Option<String>| text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let asked = value(&item.input).unwrap_or_default();
    let own = value(&item.contexts);
    let own = own.as_ref().and_then(Value::as_array).map(Vec::as_slice);
    let contexts = answered.contexts.or(own).unwrap_or_default();
    let constraints = value(&item.constraints)
        .and_then(|constraints| serde_json::from_value::<Vec<Constraint>>(constraints).ok())
        .unwrap_or_default();
    let input = EvalInput {
        question: text_of(&asked),
        answer: answered.output.map(answer_text),
        contexts: contexts.iter().map(document).collect(),
        expected: None,
        expected_documents: expected_documents(&value(&item.metadata).unwrap_or_default()),
        constraints,
        system_prompt: system_prompt(&asked),
        history: history(&asked),
        tenant: Some(tenant.to_owned()),
        ..EvalInput::default()
    };
    (input, expected(value(&item.expected).as_ref()))
}

/// The answer as a text: what is no text is JSON text, but for an object that has its text under a usual key.
fn answer_text(output: &Value) -> String {
    expected_text(output).unwrap_or_else(|_| output.to_string())
}

fn expected(value: Option<&Value>) -> Expected {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Expected::default() };
    let any = value.get("any_of").and_then(Value::as_array);
    let each = any.map_or_else(|| vec![value], |values| values.iter().collect());
    let (mut answers, mut why) = (Vec::new(), None);
    for one in each {
        match expected_text(one) {
            Ok(text) => answers.push(text),
            Err(error) => why = Some(error),
        }
    }
    Expected { why: why.filter(|_| answers.is_empty()), answers }
}

/// A retrieved document of a text or an object.
fn document(value: &Value) -> Document {
    let text = |keys: &[&str]| keys.iter().find_map(|key| value.get(*key)?.as_str().map(str::to_owned));
    match value {
        Value::String(content) => Document { content: Some(content.clone()), ..Document::default() },
        _ => Document {
            id: text(&["id", "doc_id"]),
            uri: text(&["uri", "doc_uri", "source"]),
            content: text(&["text", "content"]),
            score: value.get("score").and_then(Value::as_f64),
            ..Document::default()
        },
    }
}

/// `metadata.expected_documents`: the documents that should have been retrieved.
fn expected_documents(metadata: &Value) -> Vec<String> {
    let list = metadata["expected_documents"].as_array();
    list.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

fn messages(asked: &Value) -> &[Value] {
    let list = asked.as_array().or_else(|| asked["messages"].as_array());
    list.map(Vec::as_slice).unwrap_or_default()
}

fn system_prompt(asked: &Value) -> Option<String> {
    let own = asked["system_prompt"].as_str().map(str::to_owned);
    let said = messages(asked).iter().find(|message| message["role"] == "system");
    own.or_else(|| said.and_then(|message| message["content"].as_str().map(str::to_owned)))
}

/// Earlier turns: `conversation_history`, or the messages before the last one.
fn history(asked: &Value) -> Vec<String> {
    let all = messages(asked);
    let before = all.split_last().map(|(_, before)| before).unwrap_or_default();
    let given = asked["conversation_history"].as_array().map(Vec::as_slice).unwrap_or(before);
    let turns = given.iter().filter(|message| message["role"] != "system");
    turns
        .map(|turn| {
            turn["content"].as_str().or(turn.as_str()).map_or_else(|| turn.to_string(), str::to_owned)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn item(input: Value, expected: Value) -> ItemRow {
        ItemRow {
            input: Some(input.to_string()),
            expected: Some(expected.to_string()),
            contexts: Some(json!(["own"]).to_string()),
            ..ItemRow::default()
        }
    }

    #[test]
    fn an_item_and_its_answer_are_an_input() {
        let asked = json!({"question": "Its second city?", "conversation_history": [{"role": "user", "content": "Portugal?"}]});
        let output = json!("Porto");
        let answered = Answered { output: Some(&output), contexts: None };
        let (input, expected) = eval_input(&item(asked, json!({"answer": "Porto"})), &answered, "t");
        assert_eq!(
            (input.question.as_deref(), input.answer.as_deref()),
            (Some("Its second city?"), Some("Porto"))
        );
        assert_eq!(
            (input.history, expected.answers),
            (vec!["Portugal?".to_owned()], vec!["Porto".to_owned()])
        );
        assert_eq!(input.contexts[0].content.as_deref(), Some("own"));
        let told = [json!({"doc_uri": "u", "content": "told"})];
        let answered = Answered { output: Some(&output), contexts: Some(&told) };
        let (input, expected) = eval_input(&item(json!("q"), json!({"any_of": ["a", "b"]})), &answered, "t");
        assert_eq!((input.contexts[0].uri.as_deref(), expected.answers.len()), (Some("u"), 2));
    }

    #[test]
    fn what_is_expected_and_no_text_is_told() {
        let (_, expected) = eval_input(&item(json!("q"), json!({"x": 1, "y": 2})), &Answered::default(), "t");
        assert!(expected.answers.is_empty() && expected.why.unwrap().contains("x, y"));
    }

    #[test]
    fn the_last_message_is_the_question() {
        let chat = json!({"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": "Where?"}]});
        let (input, _) = eval_input(&item(chat, Value::Null), &Answered::default(), "t");
        assert_eq!(
            (input.question.as_deref(), input.system_prompt.as_deref()),
            (Some("Where?"), Some("Be kind."))
        );
        assert_eq!(input.history, ["Hi", "Yes?"]);
    }
}
