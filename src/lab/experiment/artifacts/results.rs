//! The frame of results: a row an item and experiment, a column a metric.

use super::super::reading::{Key, Scored};
use super::super::summary::{Of, Unit, estimate};
use super::side::{Side, by_metric, keys, metric_names};
use super::written::Table;
use crate::lab::dataset::{Item, expected_text, text_of};
use crate::schema::batch::ItemRow;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// The columns before those of the metrics.
pub(super) const COLUMNS: &[&str] = &[
    "key",
    "input",
    "corpus",
    "context",
    "categories",
    "relationships",
    "expected_output",
    "output_condition",
    "actual_output",
    "actual_duration",
    "cost",
    "model_key",
];

/// The scores of an item by metric.
type Scores<'a> = HashMap<&'a str, BTreeMap<Of, Vec<&'a Scored>>>;

/// The rows of all sides, in the order of the items. A metric is the mean over repetitions; where items were asked several
/// times, columns behind it have its interval.
pub fn results(sides: &[Side<'_>]) -> Table {
    let (names, models) = (metric_names(sides), keys(sides));
    let is_repeated = sides.iter().any(|side| side.data.experiment.repetitions > 1);
    let of_metric = |name: &String| match is_repeated {
        true => vec![name.clone(), format!("{name}_lower"), format!("{name}_upper")],
        false => vec![name.clone()],
    };
    let columns = COLUMNS.iter().map(|name| (*name).to_owned()).chain(names.values().flat_map(of_metric));
    let mut rows = Vec::new();
    for (side, model) in sides.iter().zip(&models) {
        let mut scores: Scores<'_> = HashMap::new();
        for (of, all) in by_metric(&side.data) {
            for score in all {
                scores.entry(&score.item_id).or_default().entry(of.clone()).or_default().push(score);
            }
        }
        for item in side.data.items {
            let mut row = row(side, item, model);
            let own = scores.get(item.item_id.as_str());
            for (of, name) in &names {
                let found = own.and_then(|own| own.get(of)).map(|scores| mean(scores));
                let [middle, lower, upper] = found.unwrap_or_default().map(Value::from);
                row.insert(name.clone(), middle);
                if is_repeated {
                    row.insert(format!("{name}_lower"), lower);
                    row.insert(format!("{name}_upper"), upper);
                }
            }
            rows.push(row);
        }
    }
    Table { columns: columns.collect(), rows }
}

/// The mean of an item's repetitions with its interval; verdicts are 1 and 0.
fn mean(scores: &[&Scored]) -> [Option<f64>; 3] {
    let value = |score: &&&Scored| score.value.or(score.passed.map(|passed| if passed { 1.0 } else { 0.0 }));
    let values: Vec<f64> =
        scores.iter().filter(|score| score.status == "ok").filter_map(|score| value(&score)).collect();
    let groups: Vec<String> = (0..values.len()).map(|at| at.to_string()).collect();
    let unit = |(group, value): (&'_ String, &f64)| (group.clone(), *value);
    let pairs: Vec<(String, f64)> = groups.iter().zip(&values).map(unit).collect();
    let units: Vec<Unit<'_>> = pairs
        .iter()
        .map(|(group, value)| Unit { group, weight: 1.0, value: *value, repetitions: 1 })
        .collect();
    match estimate(&units) {
        Some(found) if units.len() > 1 => [Some(found.estimate), found.lower, found.upper],
        _ => [values.first().copied(), None, None],
    }
}

fn row(side: &Side<'_>, row: &ItemRow, model: &str) -> Map<String, Value> {
    let item = Item::of_row(row);
    let runs: Vec<Key> = (1..=side.data.experiment.repetitions).map(|n| (row.item_id.clone(), n)).collect();
    let answers: Vec<Value> = runs
        .iter()
        .filter_map(|key| parsed(side.answers.get(key)?.output.as_deref()))
        .map(|said| text(&said))
        .collect();
    let told = |key: &Key| parsed(side.answers.get(key)?.contexts.as_deref());
    let contexts =
        runs.iter().find_map(told).and_then(|said| said.as_array().cloned()).unwrap_or(item.contexts);
    let uri = |context: &Value| ["uri", "doc_uri", "id"].iter().find_map(|key| context.get(*key)).cloned();
    let metadata = item.metadata.unwrap_or_default();
    let source = metadata.get("perturbation").map(
        |of| json!([{"type": "perturbation_source", "target": of["source"], "target_type": "test_case"}]),
    );
    let known = |get: fn(&super::super::reading::StoredRun) -> Option<f64>| -> Option<f64> {
        let values: Vec<f64> = runs.iter().filter_map(|key| get(side.data.runs.get(key)?)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let metadata_of = |key: &str| metadata.get(key).filter(|value| value.is_array()).cloned();
    let uris: Vec<Value> = contexts.iter().filter_map(uri).collect();
    let values: [Value; 12] = [
        row.external_id.as_deref().unwrap_or(&row.item_id).into(),
        item.input.as_ref().map_or(Value::Null, text_or_json),
        metadata_of("corpus").unwrap_or_else(|| uris.into()),
        contexts.iter().map(text).collect::<Vec<_>>().into(),
        item.tags.into(),
        metadata_of("relationships").or(source).unwrap_or_else(|| json!([])),
        item.expected.as_ref().map_or(Value::Null, text),
        if item.constraints.is_empty() { Value::Null } else { item.constraints.into() },
        if answers.len() > 1 { answers.into() } else { answers.into_iter().next().unwrap_or_default() },
        known(|run| run.duration_ms.map(|ms| ms / 1e3)).into(),
        known(|run| run.cost_usd).into(),
        model.into(),
    ];
    COLUMNS.iter().map(|name| (*name).to_owned()).zip(values).collect()
}

fn parsed(text: Option<&str>) -> Option<Value> {
    serde_json::from_str(text?).ok()
}

/// The text of an answer, or the value itself.
fn text(value: &Value) -> Value {
    expected_text(value).map_or_else(|_| value.clone(), Value::from)
}

fn text_or_json(value: &Value) -> Value {
    text_of(value).map_or_else(|| value.clone(), Value::from)
}

#[cfg(test)]
mod tests {
    use super::super::super::reading::Answered;
    use super::super::super::tried::Tried;
    use super::*;

    #[test]
    fn a_row_has_its_item_its_answers_and_its_metrics() {
        let mut tried = Tried::of(&[&[true, false], &[true, true]]);
        tried.experiment.repetitions = 2;
        tried.items[0].external_id = Some("q".to_owned());
        tried.items[0].input = Some(r#"{"question": "Who?"}"#.to_owned());
        tried.items[0].metadata = Some(r#"{"perturbation": {"source": "p"}}"#.to_owned());
        for (at, score) in tried.scores.iter_mut().enumerate() {
            score.value = Some([1.0, 0.5, 1.0, 1.0][at]);
        }
        let said = |text: &str| Answered {
            output: Some(format!("\"{text}\"")),
            contexts: Some(r#"[{"uri": "u", "text": "A text"}]"#.to_owned()),
            ..Answered::default()
        };
        let answers =
            HashMap::from([(("0".to_owned(), 1), said("Anna")), (("0".to_owned(), 2), said("Bob"))]);
        let table = results(&[Side { data: tried.data(), answers: &answers }]);
        assert_eq!(table.columns[12..], ["m", "m_lower", "m_upper"]);
        let row = &table.rows[0];
        assert_eq!(
            (&row["key"], &row["input"], &row["corpus"]),
            (&json!("q"), &json!("Who?"), &json!(["u"]))
        );
        assert_eq!((&row["actual_output"], &row["context"]), (&json!(["Anna", "Bob"]), &json!(["A text"])));
        assert_eq!((&row["m"], &row["relationships"][0]["target"]), (&json!(0.75), &json!("p")));
        assert!(row["m_lower"].as_f64().unwrap() < 0.75 && table.rows[1]["actual_output"].is_null());
        let csv = table.csv().unwrap();
        assert!(csv.starts_with("key,input,corpus") && csv.lines().count() == 3, "{csv}");
    }
}
