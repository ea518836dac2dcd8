//! A test lab of H2O Eval Studio: every input with each answer of each experiment.

use super::results::{COLUMNS, results};
use super::side::{Side, keys};
use crate::lab::condition::text_of;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// What an input has of an answer, and not of what is asked.
const OF_ANSWER: &[&str] = &["context", "actual_output", "actual_duration", "cost", "model_key"];

/// The test lab of all sides, in the order of their items; of an item that was asked several times each answer is an input.
pub fn test_lab(sides: &[Side<'_>]) -> Value {
    let models = keys(sides);
    let of = |(side, key): (&Side<'_>, &String)| (key.clone(), side.data.experiment.repetitions > 1);
    let are_repeated: BTreeMap<String, bool> = sides.iter().zip(&models).map(of).collect();
    let (mut raw, mut inputs, mut known) = (Vec::new(), Vec::new(), HashSet::new());
    for row in results(sides).rows {
        let is_repeated = row["model_key"].as_str().and_then(|key| are_repeated.get(key)) == Some(&true);
        let row = input(row);
        if known.insert(row["key"].to_string()) {
            let mut asked = row.clone();
            OF_ANSWER.iter().for_each(|name| drop(asked.insert((*name).to_owned(), Value::Null)));
            raw.push(Value::Object(asked));
        }
        let answers = match row.get("actual_output") {
            Some(Value::Array(all)) if is_repeated => all.clone(),
            other => vec![other.cloned().unwrap_or_default()],
        };
        inputs.extend(answers.into_iter().map(|said| {
            let mut one = row.clone();
            one.insert("actual_output".to_owned(), said);
            Value::Object(one)
        }));
    }
    let names: Vec<&str> = sides.iter().zip(&models).map(|(side, key)| model(side, key)).collect();
    let one = |(key, name): (&String, &&str)| json!({ "key": key, "name": key, "llm_model_name": name, "model_type": "rag", "documents": [] });
    let models: Vec<Value> = models.iter().zip(&names).map(one).collect();
    json!({
        "raw_dataset": { "inputs": raw }, "dataset": { "inputs": inputs }, "models": models,
        "llm_model_names": names, "docs_cache": {},
    })
}

/// The model behind an experiment; where it does not say, its name.
fn model<'a>(side: &'a Side<'_>, key: &'a str) -> &'a str {
    side.data.experiment.target.model.as_deref().unwrap_or(key)
}

/// The columns of a row that an input has. Constraints are a condition; those that are none stay a list.
fn input(mut row: Map<String, Value>) -> Map<String, Value> {
    row.retain(|name, _| COLUMNS.contains(&name.as_str()));
    let constraints = row.insert("output_condition".to_owned(), "".into()).filter(Value::is_array);
    if let Some(constraints) = constraints {
        match text_of(&constraints) {
            Ok(text) => drop(row.insert("output_condition".to_owned(), text.into())),
            Err(_) => drop(row.insert("output_constraints".to_owned(), constraints)),
        }
    }
    if row["expected_output"].is_null() {
        row.insert("expected_output".to_owned(), "".into());
    }
    row
}

#[cfg(test)]
mod tests {
    use super::super::super::tried::Tried;
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn each_input_is_there_once_raw_and_once_with_each_model() {
        let (one, other) =
            (Tried::of(&[&[true] as &[bool], &[false]]), Tried::of(&[&[true] as &[bool], &[true]]));
        let answers = HashMap::new();
        let sides =
            [Side { data: one.data(), answers: &answers }, Side { data: other.data(), answers: &answers }];
        let lab = test_lab(&sides);
        let count = |of: &str| lab[of]["inputs"].as_array().unwrap().len();
        assert_eq!((count("raw_dataset"), count("dataset")), (2, 4));
        assert_eq!(lab["models"].as_array().unwrap().len(), 2);
        let first = &lab["dataset"]["inputs"][0];
        assert_eq!(first["model_key"], lab["models"][0]["key"]);
        assert!(lab["raw_dataset"]["inputs"][0]["model_key"].is_null());
    }

    #[test]
    fn constraints_are_a_condition_where_they_can_be() {
        let row = |constraints: Value| {
            let Value::Object(row) =
                json!({"key": "a", "metric": 1, "output_condition": constraints, "expected_output": null})
            else {
                panic!("an object")
            };
            Value::Object(input(row))
        };
        let wanted =
            json!({"key": "a", "output_condition": "\"x\" AND (\"y\" OR \"z\")", "expected_output": ""});
        assert_eq!(row(json!(["x", ["y", "z"]])), wanted);
        assert_eq!(row(Value::Null)["output_condition"], "");
    }
}
