//! Calls of tools in an answer.

use super::reply::Reply;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The calls of an answer: the text itself where it is a list of them, or an object with `tool_calls`, as chat completions
/// have them; else what the target tells in `output_context.tool_calls`.
fn calls(text: &str, reply: &Reply) -> Option<Vec<Json>> {
    let own = match serde_json::from_str(text) {
        Ok(Json::Array(calls)) => Some(calls),
        Ok(json) => json.get("tool_calls").and_then(Json::as_array).cloned(),
        Err(_) => None,
    };
    own.or_else(|| reply.output_context.get("tool_calls")?.as_array().cloned())
}

/// The name of a call: of a chat completion, of a plain object, or the call itself.
pub(super) fn name(call: &Json) -> Option<&str> {
    let named = call["function"]["name"].as_str().or_else(|| call["name"].as_str());
    named.or_else(|| call.as_str()).filter(|name| !name.is_empty())
}

/// What is wrong with calls as chat completions have them; none where nothing is.
pub(super) fn fault(text: &str, reply: &Reply) -> Option<String> {
    let Some(calls) = calls(text, reply) else { return Some("no calls of tools in it".to_owned()) };
    if calls.is_empty() {
        return Some("the list of calls is empty".to_owned());
    }
    calls.iter().enumerate().find_map(|(at, call)| {
        let why = match (&call["type"], &call["function"]["arguments"]) {
            (Json::String(kind), _) if kind != "function" => format!("its type is {kind:?}"),
            (Json::Null, _) => "it has no type".to_owned(),
            _ if name(call).is_none() => "it has no function.name".to_owned(),
            (_, Json::String(arguments)) => match serde_json::from_str(arguments) {
                Ok(Json::Object(_)) => return None,
                Ok(_) => "its arguments are no JSON object".to_owned(),
                Err(error) => format!("its arguments are no JSON: {error}"),
            },
            _ => "its arguments are no text of JSON".to_owned(),
        };
        Some(format!("call {}: {why}", at + 1))
    })
}

/// As [`calls`].
///
/// # Errors
/// When the target tells no calls.
pub(super) fn of(text: &str, reply: &Reply) -> Result<Vec<Json>, String> {
    let why = "the answer has no calls of tools: the target tells them in its output, or in output_context.tool_calls";
    calls(text, reply).ok_or_else(|| why.to_owned())
}

/// F1 of the names that were called against those that should be, and how both differ.
///
/// # Errors
/// When the target tells no calls.
pub(super) fn f1(text: &str, reply: &Reply, wanted: &[String]) -> Result<(f64, String), String> {
    let calls = of(text, reply)?;
    let called: BTreeSet<&str> = calls.iter().filter_map(name).collect();
    let wanted: BTreeSet<&str> = wanted.iter().map(String::as_str).collect();
    let both = called.intersection(&wanted).count() as f64;
    let all = (called.len() + wanted.len()) as f64;
    // Nothing is wanted and nothing was called.
    let f1 = if all > 0.0 { 2.0 * both / all } else { 1.0 };
    let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
    Ok((f1, format!("F1 is {f1:.2}: called were {}, wanted {}", list(&called), list(&wanted))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(call: Json) -> Option<String> {
        fault(&json!([call]).to_string(), &Reply::default())
    }

    #[test]
    fn calls_of_chat_completions_are_read_and_faults_told() {
        let call =
            |arguments: Json| json!({"type": "function", "function": {"name": "f", "arguments": arguments}});
        assert_eq!(told(call("{\"a\": 1}".into())), None);
        for (wrong, part) in [
            (call("{a: 1}".into()), "call 1: its arguments are no JSON: "),
            (call("[1]".into()), "no JSON object"),
            (call(json!({"a": 1})), "no text of JSON"),
            (json!({"type": "function", "function": {"arguments": "{}"}}), "no function.name"),
            (json!({"type": "web"}), "its type is \"web\""),
            (json!({"function": {"name": "f", "arguments": "{}"}}), "no type"),
        ] {
            assert!(told(wrong.clone()).unwrap().contains(part), "{wrong}");
        }
        assert!(fault("[]", &Reply::default()).unwrap().contains("empty"));
        assert!(fault("no call", &Reply::default()).unwrap().contains("no calls"));
    }

    #[test]
    fn called_names_are_held_against_those_that_are_wanted() {
        let wanted = ["search".to_owned(), "book".to_owned()];
        let text = r#"{"tool_calls": [{"function": {"name": "search"}}, {"function": {"name": "pay"}}]}"#;
        let (value, why) = f1(text, &Reply::default(), &wanted).unwrap();
        assert!((value - 0.5).abs() < 1e-12 && why.contains("called were pay, search"), "{why}");
        let context = json!({"tool_calls": ["search", "book", "book"]}).as_object().cloned().unwrap();
        let reply = Reply { output_context: context, ..Reply::text("done") };
        assert_eq!(f1("done", &reply, &wanted).unwrap().0, 1.0);
        assert_eq!(f1("[]", &Reply::default(), &[]).unwrap().0, 1.0);
        assert!(f1("done", &Reply::default(), &wanted).is_err());
    }
}
