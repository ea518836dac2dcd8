//! Lines of other systems, brought to our names. What they have more stays and becomes metadata.

use serde_json::{Map, Value, json};

/// The same line under our names, if it is one of OpenAI, Opik, MLflow or Mosaic AI, Phoenix, Inspect or Datadog.
pub fn ours(fields: Map<String, Value>) -> Map<String, Value> {
    let has = |key: &str| fields.get(key).is_some_and(|value| !value.is_null());
    match () {
        () if !has("input") && fields.get("item").is_some_and(Value::is_object) => openai_item(fields),
        () if is_opik(&fields) => opik(fields),
        () if !has("input") && (has("request") || has("inputs")) => mlflow(fields),
        () if is_phoenix(&fields) => phoenix(fields),
        () if has("input") && has("target") && !has("expected") => inspect(fields),
        () if has("inputData") && !has("input") => {
            let mut fields = fields;
            rename(&mut fields, "inputData", "input");
            fields
        }
        () => fields,
    }
}

fn rename(fields: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = fields.shift_remove(from).filter(|value| !value.is_null()) {
        fields.entry(to).or_insert(value);
    }
}

/// The metadata of a line, to add to it; none if it has some that is no object, which is told where it is read.
fn metadata(fields: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
    if metadata.is_null() {
        *metadata = json!({});
    }
    metadata.as_object_mut()
}

/// A line of OpenAI's evals of today: an object of the author's own keys under `item`, of which some have usual names for what
/// should be answered. What stands beside it, such as a `sample`, is no part of the question and becomes metadata.
fn openai_item(mut fields: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Object(mut own)) = fields.shift_remove("item") else { return fields };
    for name in ["ground_truth", "reference_answer", "correct_label", "expected_answer"] {
        rename(&mut own, name, "expected");
    }
    let beside = std::mem::take(&mut fields);
    if !beside.is_empty()
        && let Some(metadata) = metadata(&mut own)
    {
        metadata.extend(beside);
    }
    own
}

/// Where an item of Opik may come from, in its words.
const OPIK_SOURCES: &[&str] = &["manual", "sdk", "span", "trace"];
/// What Opik says of an item beside the author's own keys.
const OPIK_KEYS: &[&str] = &["source", "description", "evaluators", "execution_policy"];

/// Items of Opik: a source in its words beside the author's own keys, which its API has under `data`.
fn is_opik(fields: &Map<String, Value>) -> bool {
    let source = fields.get("source").and_then(Value::as_str);
    source.is_some_and(|source| OPIK_SOURCES.contains(&source)) && fields.contains_key("id")
}

/// The author's keys are what is asked, but for those that have a name of ours; what Opik says becomes metadata.
fn opik(mut fields: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Object(own)) = fields.get("data").cloned() {
        fields.shift_remove("data");
        for (key, value) in own {
            fields.entry(key).or_insert(value);
        }
    }
    let said: Vec<(String, Value)> =
        OPIK_KEYS.iter().filter_map(|key| Some(((*key).to_owned(), fields.shift_remove(*key)?))).collect();
    let said = said.into_iter().filter(|(_, value)| !value.is_null());
    if let Some(metadata) = metadata(&mut fields) {
        for (key, value) in said {
            metadata.entry(key).or_insert(value);
        }
    }
    fields
}

/// An evaluation set: `request`, `expected_response`, `retrieved_context[].content`; or `inputs` and `expectations`.
fn mlflow(mut fields: Map<String, Value>) -> Map<String, Value> {
    rename(&mut fields, "request", "input");
    rename(&mut fields, "inputs", "input");
    if let Some(Value::String(text)) = fields.get("input")
        && let Ok(messages @ Value::Object(_)) = serde_json::from_str(text)
    {
        fields.insert("input".to_owned(), messages);
    }
    rename(&mut fields, "request_id", "external_id");
    rename(&mut fields, "expected_response", "expected");
    rename(&mut fields, "retrieved_context", "contexts");
    if let Some(Value::Object(mut expectations)) = fields.shift_remove("expectations") {
        rename(&mut expectations, "expected_response", "expected");
        if let Some(expected) = expectations.shift_remove("expected") {
            fields.entry("expected").or_insert(expected);
        }
        fields.extend(expectations);
    }
    if let Some(Value::Object(tags)) = fields.get("tags").cloned() {
        fields.shift_remove("tags");
        if let Some(metadata) = metadata(&mut fields) {
            metadata.insert("tags".to_owned(), Value::Object(tags));
        }
    }
    if let Some(Value::Array(documents)) = fields.shift_remove("expected_retrieved_context") {
        let uris: Vec<Value> = documents.iter().filter_map(|one| one.get("doc_uri").cloned()).collect();
        let has_more = documents.iter().any(|one| one.get("content").is_some_and(|text| !text.is_null()));
        if let Some(metadata) = metadata(&mut fields) {
            metadata.insert("expected_documents".to_owned(), uris.into());
            if has_more {
                metadata.insert("expected_retrieved_context".to_owned(), documents.into());
            }
        }
    }
    fields
}

/// Examples of Phoenix: three objects, of which the output is what is expected.
fn is_phoenix(fields: &Map<String, Value>) -> bool {
    let is_object = |key: &str| fields.get(key).is_some_and(Value::is_object);
    let has_sign = ["node_id", "example_id", "splits"].iter().any(|key| fields.contains_key(*key));
    let is_free = !fields.contains_key("expected");
    is_free && fields.contains_key("output") && is_object("input") && (has_sign || is_object("output"))
}

fn phoenix(mut fields: Map<String, Value>) -> Map<String, Value> {
    rename(&mut fields, "output", "expected");
    // An example without an output has an empty object there.
    if fields.get("expected").and_then(Value::as_object).is_some_and(Map::is_empty) {
        fields.shift_remove("expected");
    }
    rename(&mut fields, "example_id", "external_id");
    rename(&mut fields, "node_id", "external_id");
    fields
}

/// What a sample in a log of Inspect is asked; the rest of it is what one run answered.
const SAMPLE: &[&str] = &["id", "input", "target", "choices", "metadata"];

/// Samples of Inspect: `input`, `target`, `choices`, `id`. Those of a log have an epoch, and an item is the same in each.
fn inspect(mut fields: Map<String, Value>) -> Map<String, Value> {
    if fields.contains_key("epoch") {
        fields.retain(|key, _| SAMPLE.contains(&key.as_str()));
    }
    let target = match fields.shift_remove("target") {
        Some(Value::Array(targets)) => match <[Value; 1]>::try_from(targets) {
            Ok([only]) => only,
            Err(targets) => json!({ "any_of": targets }),
        },
        Some(target) => target,
        None => Value::Null,
    };
    fields.insert("expected".to_owned(), target);
    fields
}

#[cfg(test)]
mod tests {
    use super::super::fields::{Mapping, item};
    use super::super::item::Item;
    use super::*;

    fn of(value: Value) -> Item {
        item(value.as_object().cloned().unwrap(), &Mapping::default()).unwrap().unwrap()
    }

    #[test]
    fn an_evaluation_set_of_mlflow_is_read() {
        let told = of(
            json!({"request_id": "r1", "request": "{\"messages\": [{\"role\": \"user\", \"content\": \"Q\"}]}",
            "response": "A", "expected_response": "B", "expected_facts": ["f"],
            "retrieved_context": [{"content": "c", "doc_uri": "u"}], "expected_retrieved_context": [{"doc_uri": "v"}]}),
        );
        assert_eq!(told.input, Some(json!({"messages": [{"role": "user", "content": "Q"}]})));
        assert_eq!((told.external_id.as_deref(), told.expected), (Some("r1"), Some(json!("B"))));
        assert_eq!(told.contexts, [json!({"content": "c", "doc_uri": "u"})]);
        let metadata = Value::Object(told.metadata.unwrap());
        assert_eq!(metadata, json!({"expected_documents": ["v"], "response": "A", "expected_facts": ["f"]}));
        let newer = of(json!({"inputs": {"question": "Q"}, "tags": {"k": "v"},
            "expectations": {"expected_response": "B", "guidelines": ["g"]}}));
        assert_eq!((newer.input, newer.expected), (Some(json!({"question": "Q"})), Some(json!("B"))));
        assert_eq!(Value::Object(newer.metadata.unwrap()), json!({"tags": {"k": "v"}, "guidelines": ["g"]}));
    }

    #[test]
    fn items_of_openais_evals_are_read() {
        let told = of(
            json!({"item": {"ticket": "My screen is black", "correct_label": "Hardware"}, "sample": {"output_text": "x"}}),
        );
        assert_eq!(told.input, Some(json!({"ticket": "My screen is black"})));
        assert_eq!(told.expected, Some(json!("Hardware")));
        assert_eq!(told.metadata.unwrap()["sample"], json!({"output_text": "x"}));
        let usual =
            of(json!({"item": {"input": [{"role": "user", "content": "2+2"}], "ideal": ["4", "four"]}}));
        assert_eq!(usual.expected, Some(json!({"any_of": ["4", "four"]})));
        // A text under that name is a field like any other.
        assert_eq!(
            of(json!({"item": "kettle", "question": "How much?"})).input,
            Some(json!({"item": "kettle", "question": "How much?"}))
        );
    }

    #[test]
    fn the_reserved_keys_of_opik_are_not_asked() {
        let flat = of(
            json!({"id": "o1", "source": "sdk", "description": "d", "tags": ["t"], "evaluators": [{"name": "e"}],
            "question": "Where?", "expected_output": "There."}),
        );
        assert_eq!(
            (flat.external_id.as_deref(), flat.input),
            (Some("o1"), Some(json!({"question": "Where?"})))
        );
        assert_eq!((flat.expected, flat.tags), (Some(json!("There.")), vec!["t".to_owned()]));
        let said = json!({"source": "sdk", "description": "d", "evaluators": [{"name": "e"}]});
        assert_eq!(flat.metadata.map(Value::Object), Some(said));
        let api = of(json!({"id": "o2", "source": "trace", "trace_id": "t", "span_id": null,
            "data": {"input": {"q": 1}, "expected_output": {"a": 2}, "lang": "en"}}));
        assert_eq!((api.input, api.expected), (Some(json!({"q": 1})), Some(json!({"a": 2}))));
        assert_eq!(api.source_trace_id.as_deref(), Some("t"));
        assert_eq!(api.metadata.map(Value::Object), Some(json!({"source": "trace", "lang": "en"})));
        // The same words in a file of somebody else's are the author's.
        let other = of(json!({"source": "sdk", "question": "Where?"}));
        assert_eq!(other.input, Some(json!({"source": "sdk", "question": "Where?"})));
    }

    #[test]
    fn examples_of_phoenix_and_samples_of_inspect_are_read() {
        let told = of(json!({"node_id": "n", "input": {"question": "Q"}, "output": {"answer": "A"},
            "metadata": {"k": 1}, "splits": ["train"]}));
        assert_eq!((told.external_id.as_deref(), told.split.as_deref()), (Some("n"), Some("train")));
        assert_eq!(told.expected, Some(json!({"answer": "A"})));
        assert_eq!(of(json!({"input": {"q": 1}, "output": {}, "metadata": {}})).expected, None);
        // An answer that somebody gave is not what should be answered.
        assert_eq!(of(json!({"input": "Q", "output": "A"})).expected, None);
        let one = of(json!({"id": 3, "input": "Q", "target": ["A"], "choices": ["A", "B"]}));
        assert_eq!((one.external_id.as_deref(), one.expected), (Some("3"), Some(json!("A"))));
        assert_eq!(one.metadata.unwrap()["choices"], json!(["A", "B"]));
        let logged = of(
            json!({"id": "s", "epoch": 2, "input": "Q", "target": "A", "metadata": {"k": 1}, "output": {"completion": "B"},
            "scores": {"match": {"value": "I"}}, "messages": [], "model_usage": {}}),
        );
        assert_eq!(
            (logged.expected, logged.metadata.map(Value::Object)),
            (Some(json!("A")), Some(json!({"k": 1})))
        );
        let two = of(json!({"input": "Q", "target": ["A", "B"]}));
        assert_eq!(two.expected, Some(json!({"any_of": ["A", "B"]})));
        let datadog = of(json!({"inputData": {"q": "Q"}, "expectedOutput": "A"}));
        assert_eq!((datadog.input, datadog.expected), (Some(json!({"q": "Q"})), Some(json!("A"))));
    }
}
