//! Test labs of H2O Eval Studio: inputs with the answer of a model each.

use super::log::{Log, Logged};
use crate::lab::condition::constraints_of;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Bytes of the hash that names an input without a key.
const ID_BYTES: usize = 8;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Lab {
    name: String,
    dataset: Dataset,
    models: Vec<Value>,
    docs_cache: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Dataset {
    inputs: Vec<Input>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Input {
    key: Value,
    input: Value,
    corpus: Value,
    context: Value,
    categories: Value,
    relationships: Value,
    expected_output: Value,
    output_condition: Value,
    output_constraints: Value,
    actual_output: Value,
    actual_duration: Option<f64>,
    cost: Option<f64>,
    model_key: Value,
}

/// Reads a test lab: a log for each of its models, all over the same items.
///
/// # Errors
/// What is wrong, with its place.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Log>, String> {
    let lab: Lab = serde_json::from_slice(bytes).map_err(|e| format!("the test lab: {e}"))?;
    let (mut items, mut known) = (Vec::new(), HashSet::new());
    let mut logs: BTreeMap<&str, Log> = BTreeMap::new();
    let mut asked: HashMap<(&str, String), i64> = HashMap::new();
    for (at, input) in lab.dataset.inputs.iter().enumerate() {
        let told = |why: &str| format!("dataset.inputs[{at}]: {why}");
        if is_empty(&input.input) {
            return Err(told("input is missing: write what is asked"));
        }
        let id = input.id();
        if known.insert(id.clone()) {
            items.push(input.item(&id));
        }
        if input.actual_output.is_null() {
            continue;
        }
        let Some(model) = input.model_key.as_str().filter(|key| !key.is_empty()) else {
            return Err(told("actual_output without a model_key: whose answer is it?"));
        };
        let log = logs.entry(model).or_insert_with(|| lab.log(model));
        let epoch = asked.entry((model, id.clone())).or_default();
        *epoch += 1;
        log.epochs = log.epochs.max(*epoch);
        log.answers.push(Logged { id, epoch: *epoch, answer: input.answer() });
    }
    if logs.is_empty() {
        return Err("the test lab has no answers (dataset.inputs[].actual_output): run it first".to_owned());
    }
    Ok(logs.into_values().map(|log| Log { items: items.clone(), ..log }).collect())
}

impl Lab {
    /// The log of a model, still without answers.
    fn log(&self, key: &str) -> Log {
        let model = self.models.iter().find(|model| model["key"] == key).unwrap_or(&Value::Null);
        let text = |name: &str| model[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let name = text("name").or_else(|| text("llm_model_name")).unwrap_or_else(|| key.to_owned());
        let mut log = Log { system: "h2o", task: name, model: text("llm_model_name"), ..Log::default() };
        if log.model.is_none() {
            log.model = Some(key.to_owned());
        }
        log.run_id = Some(self.name.clone()).filter(|name| !name.is_empty());
        log.lose("documents of a cache", self.docs_cache.as_object().map_or(0, Map::len));
        log
    }
}

impl Input {
    /// Its key; without one the hash of what is asked about which documents.
    fn id(&self) -> String {
        let key = self.key.as_str().map(str::to_owned).or_else(|| Some(self.key.as_i64()?.to_string()));
        key.filter(|key| !key.is_empty()).unwrap_or_else(|| {
            let asked = json!([self.input, self.corpus]).to_string();
            hex::encode(&Sha256::digest(asked)[..ID_BYTES])
        })
    }

    fn item(&self, id: &str) -> Value {
        let mut item = json!({ "external_id": id, "input": self.input });
        let (mut metadata, mut constraints) = (Map::new(), self.output_constraints.clone());
        if let Some(condition) = self.output_condition.as_str().filter(|text| !text.trim().is_empty()) {
            match constraints_of(condition) {
                Ok(read) => constraints = read,
                // It is kept and not checked.
                Err(_) => drop(metadata.insert("output_condition".to_owned(), condition.into())),
            }
        } else if self.output_condition.is_array() {
            constraints = self.output_condition.clone();
        }
        for (key, value) in [("corpus", &self.corpus), ("relationships", &self.relationships)] {
            if !is_empty(value) {
                metadata.insert(key.to_owned(), value.clone());
            }
        }
        for (key, value) in [
            ("expected", &self.expected_output),
            ("tags", &self.categories),
            ("constraints", &constraints),
            ("metadata", &Value::Object(metadata)),
        ] {
            if !is_empty(value) {
                item[key] = value.clone();
            }
        }
        item
    }

    fn answer(&self) -> Map<String, Value> {
        let mut answer = Map::new();
        answer.insert("output".to_owned(), self.actual_output.clone());
        let contexts = match &self.context {
            Value::String(text) if !text.is_empty() => Some(json!([text])),
            Value::Array(all) if !all.is_empty() => Some(self.context.clone()),
            _ => None,
        };
        let usable = |number: &f64| number.is_finite() && *number >= 0.0;
        let milliseconds = self.actual_duration.filter(usable).map(|seconds| json!(seconds * 1_000.0));
        let cost = self.cost.filter(usable).map(|cost| json!(cost));
        for (key, value) in [("contexts", contexts), ("duration_ms", milliseconds), ("cost_usd", cost)] {
            answer.extend(value.map(|value| (key.to_owned(), value)));
        }
        answer
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(all) => all.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab() -> Value {
        let input = |key: &str, model: &str, said: Value| {
            json!({"key": key, "input": "How many?", "corpus": ["https://e/x.pdf"], "context": ["15,969 of them"],
                "categories": ["facts"], "relationships": [], "expected_output": "15,969", "output_condition": "\"15,969\"",
                "actual_output": said, "actual_duration": 1.5, "cost": 0.01, "model_key": model})
        };
        json!({"name": "lab", "raw_dataset": {"inputs": []}, "dataset": {"inputs": [
                input("a", "m1", json!("15,969")), input("a", "m2", json!("None")), input("a", "m2", json!("Some")),
                input("", "m1", json!("Many")), input("b", "m1", Value::Null)]},
            "models": [{"key": "m1", "name": "small", "llm_model_name": "org/small"}], "llm_model_names": ["org/small"],
            "docs_cache": {"x.pdf": "…"}})
    }

    #[test]
    fn each_model_of_a_test_lab_is_a_log_over_the_same_items() {
        let logs = read(lab().to_string().as_bytes()).unwrap();
        let told: Vec<_> =
            logs.iter().map(|log| (log.task.as_str(), log.model.as_deref().unwrap(), log.epochs)).collect();
        assert_eq!(told, [("small", "org/small", 1), ("m2", "m2", 2)]);
        let item = json!({"external_id": "a", "input": "How many?", "expected": "15,969", "tags": ["facts"],
            "constraints": ["15,969"], "metadata": {"corpus": ["https://e/x.pdf"]}});
        assert_eq!((logs[0].items.len(), &logs[0].items[0]), (3, &item));
        assert_eq!((&logs[1].items, logs[0].lost["documents of a cache"]), (&logs[0].items, 1));
        let answer = json!({"output": "15,969", "contexts": ["15,969 of them"], "duration_ms": 1500.0, "cost_usd": 0.01});
        assert_eq!(Value::Object(logs[0].answers[0].answer.clone()), answer);
        let second: Vec<_> = logs[1].answers.iter().map(|one| (one.id.as_str(), one.epoch)).collect();
        assert_eq!(second, [("a", 1), ("a", 2)]);
        assert_eq!(logs[0].answers[1].id.len(), 2 * ID_BYTES);
    }

    #[test]
    fn what_is_wrong_with_a_test_lab_is_told_with_its_place() {
        for (inputs, wanted) in [
            (json!([]), "no answers"),
            (json!([{"actual_output": "x"}]), "dataset.inputs[0]: input is missing"),
            (json!([{"input": "x", "actual_output": "x"}]), "without a model_key"),
            (json!([{"input": "x", "cost": "much"}]), "the test lab: "),
        ] {
            let lab = json!({"raw_dataset": {}, "dataset": {"inputs": inputs}});
            let why = read(lab.to_string().as_bytes()).unwrap_err();
            assert!(why.contains(wanted), "{why}");
        }
    }
}
