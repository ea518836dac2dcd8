//! Results under the names of MLflow and Mosaic AI: a row a run, and what they say together.

use super::super::findings::Line;
use super::super::reading::{Answered, Key, Reason, Scored};
use super::super::summary::{Weights, summary};
use super::side::{Side, keys};
use super::written::Table;
use crate::domain::score::Rated;
use crate::eval::MlflowName;
use crate::lab::dataset::Item;
use crate::schema::batch::ItemRow;
use crate::stats::Estimate;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The columns before those of the judges.
const COLUMNS: [&str; 8] = [
    "request_id",
    "request",
    "expected_response",
    "response",
    "retrieved_context",
    "error_message",
    "repetition",
    "model_key",
];

/// The rows of all sides, in the order of the items. Columns of what nobody judged are not there.
pub fn rows(sides: &[Side<'_>]) -> Table {
    let (measured, mut judged) = (measured(sides), BTreeSet::new());
    let mut rows = Vec::new();
    for (side, model) in sides.iter().zip(keys(sides)) {
        let mut scores: HashMap<(&str, i64), Vec<&Scored>> = HashMap::new();
        for score in side.data.scores {
            scores.entry((&score.item_id, score.repetition)).or_default().push(score);
        }
        for item in side.data.items {
            for repetition in 1..=side.data.experiment.repetitions {
                let key = (item.item_id.clone(), repetition);
                let Some(run) = side.data.runs.get(&key) else { continue };
                let none = Answered::default();
                let answer = side.answers.get(&key).unwrap_or(&none);
                let mut row = asked(item, &key, answer, &model);
                row.insert("error_message".to_owned(), json!(run.error));
                for score in scores.get(&(item.item_id.as_str(), repetition)).into_iter().flatten() {
                    let is_measured = measured.contains(&(&*score.evaluator, &*score.metric));
                    let cells = cells(score, answer, is_measured);
                    judged.extend(cells.iter().map(|(name, _)| name.clone()));
                    row.extend(cells);
                }
                rows.push(row);
            }
        }
    }
    let columns = COLUMNS.iter().map(|name| (*name).to_owned()).chain(judged).collect();
    Table { columns, rows }
}

fn asked(item: &ItemRow, key: &Key, answer: &Answered, model: &str) -> Map<String, Value> {
    let (item, id) = (Item::of_row(item), item.external_id.as_deref().unwrap_or(&item.item_id));
    let parsed =
        |text: &Option<String>| text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let chunk = |context: &Value| match context {
        Value::String(text) => json!({ "content": text }),
        Value::Object(fields) => {
            let first = |names: [&str; 3]| names.iter().find_map(|name| fields.get(*name)).cloned();
            json!({"content": first(["content", "text", "page_content"]), "doc_uri": first(["doc_uri", "uri", "id"])})
        }
        other => other.clone(),
    };
    let contexts = match parsed(&answer.contexts) {
        Some(Value::Array(said)) => said,
        _ => item.contexts,
    };
    let values: [Value; 8] = [
        id.into(),
        item.input.unwrap_or_default(),
        item.expected.unwrap_or_default(),
        parsed(&answer.output).unwrap_or_default(),
        contexts.iter().map(chunk).collect::<Vec<_>>().into(),
        Value::Null,
        key.1.into(),
        model.into(),
    ];
    COLUMNS.iter().map(|name| (*name).to_owned()).zip(values).collect()
}

/// Evaluators and metrics that give values without verdicts. A score that failed has neither: others of its metric tell which
/// column it belongs to.
fn measured<'a>(sides: &[Side<'a>]) -> HashSet<(&'a str, &'a str)> {
    let scores = sides.iter().flat_map(|side| side.data.scores);
    let of_values = scores.filter(|score| score.passed.is_none() && score.value.is_some());
    of_values.map(|score| (&*score.evaluator, &*score.metric)).collect()
}

/// What a score is there: a rating, ratings of chunks, or a value.
fn cells(score: &Scored, answer: &Answered, is_measured: bool) -> Vec<(String, Value)> {
    let Some(name) = MlflowName::of(&score.evaluator, &score.metric) else { return Vec::new() };
    let none = Reason::default();
    let of = (score.evaluator.to_string(), score.metric.to_string());
    let reason = answer.reasons.get(&of).unwrap_or(&none);
    let at = |what: &str| format!("{}/{what}", name.path);
    if name.is_of_chunks {
        // Of what failed there is no list: an empty one would say that there were no chunks.
        let list = |get: &dyn Fn(&Rated) -> Value| match &reason.error {
            Some(_) => Value::Null,
            None => reason.ratings.iter().map(get).collect::<Vec<Value>>().into(),
        };
        let errors = match &reason.error {
            Some(error) => json!([error]),
            None => list(&|_| Value::Null),
        };
        return vec![
            (at("ratings"), list(&|chunk| chunk.rating().into())),
            (at("rationales"), list(&|chunk| chunk.rationale.as_str().into())),
            (at("error_messages"), errors),
            (at("precision"), json!(score.value)),
        ];
    }
    let rating = score.passed.map(|passed| if passed { "yes" } else { "no" });
    let said = match name.path.split('/').nth(1) {
        // What is computed has no rating and no reason.
        Some("ground_truth") => return vec![(name.path.clone(), json!(score.value))],
        _ if is_measured && rating.is_none() => (at("value"), json!(score.value)),
        _ => (at("rating"), json!(rating)),
    };
    vec![said, (at("rationale"), json!(reason.rationale)), (at("error_message"), json!(reason.error))]
}

/// What the rows of each side say together: by model and name the value, and its interval beside it.
pub fn metrics(sides: &[Side<'_>], line: &dyn Fn(&str, &str) -> Line) -> Value {
    let of = |side: &Side<'_>| {
        let (mut metrics, mut intervals) = (BTreeMap::new(), BTreeMap::new());
        for one in summary(&side.data, Weights::Items).metrics {
            let Some(name) = MlflowName::of(&one.evaluator, &one.metric) else { continue };
            let is_rating = one.passed.is_some() && line(&one.evaluator, &one.metric).1.is_none();
            let found: Option<Estimate> = if is_rating { one.passed } else { one.value };
            let Some(Estimate { estimate, lower, upper, n, .. }) = found else { continue };
            let name = name.over_set(is_rating);
            intervals.insert(name.clone(), json!({"lower": lower, "upper": upper, "n": n}));
            metrics.insert(name, estimate);
        }
        json!({ "metrics": metrics, "intervals": intervals })
    };
    keys(sides).into_iter().zip(sides.iter().map(of)).collect::<Map<String, Value>>().into()
}

#[cfg(test)]
mod tests {
    use super::super::super::tried::Tried;
    use super::*;
    use crate::domain::score::Better;

    /// The two items of an experiment, judged by one evaluator.
    fn judged(evaluator: &str, passed: [bool; 2], values: [f64; 2]) -> Tried {
        let mut tried = Tried::of(&[&[passed[0]], &[passed[1]]]);
        for (score, value) in tried.scores.iter_mut().zip(values) {
            (score.evaluator, score.metric) = (evaluator.into(), evaluator.into());
            score.value = Some(value);
        }
        tried.items[0].input = Some("\"Who?\"".to_owned());
        tried
    }

    fn answers(
        evaluator: &str,
        rationale: Option<&str>,
        error: Option<&str>,
        ratings: &[Rated],
    ) -> HashMap<Key, Answered> {
        let (rationale, error) = (rationale.map(str::to_owned), error.map(str::to_owned));
        let reason = Reason { rationale, error, ratings: ratings.to_vec() };
        let answer = Answered {
            output: Some("\"Anna\"".to_owned()),
            contexts: Some(r#"["A text", {"text": "More", "uri": "u"}]"#.to_owned()),
            reasons: HashMap::from([((evaluator.to_owned(), evaluator.to_owned()), reason)]),
        };
        HashMap::from([(("0".to_owned(), 1), answer)])
    }

    fn first(evaluator: &str, rationale: Option<&str>, error: Option<&str>) -> (Map<String, Value>, Value) {
        rated(evaluator, rationale, error, &[])
    }

    fn rated(
        evaluator: &str,
        rationale: Option<&str>,
        error: Option<&str>,
        ratings: &[Rated],
    ) -> (Map<String, Value>, Value) {
        let mut tried = judged(evaluator, [true, false], [0.75, 0.25]);
        if error.is_some() {
            // A judge that failed gave neither a verdict nor a value.
            let failed = &mut tried.scores[0];
            (failed.status, failed.passed, failed.value) = ("error".into(), None, None);
        }
        let answers = answers(evaluator, rationale, error, ratings);
        let sides = [Side { data: tried.data(), answers: &answers }];
        let line = |of: &str, _: &str| {
            (Better::Higher, (of == "document_recall" || of == "chunk_relevance").then_some(0.5))
        };
        let metrics = metrics(&sides, &line)["e"].clone();
        let table = rows(&sides);
        assert_eq!(table.rows.len(), 2);
        assert!(table.rows[0].keys().all(|name| table.columns.contains(name)), "{:?}", table.columns);
        (table.rows[0].clone(), metrics)
    }

    #[test]
    fn judges_have_the_names_of_the_other_system() {
        let (row, metrics) = first("correctness", Some("It is right."), None);
        assert_eq!((&row["request"], &row["response"]), (&json!("Who?"), &json!("Anna")));
        assert_eq!(
            row["retrieved_context"],
            json!([{"content": "A text"}, {"content": "More", "doc_uri": "u"}])
        );
        assert_eq!(row["response/llm_judged/correctness/rating"], "yes");
        assert_eq!(row["response/llm_judged/correctness/rationale"], "It is right.");
        assert_eq!(row["response/llm_judged/correctness/error_message"], Value::Null);
        assert_eq!(metrics["metrics"]["response/llm_judged/correctness/rating/percentage"], 0.5);
        assert_eq!(metrics["intervals"]["response/llm_judged/correctness/rating/percentage"]["n"], 2);
        let (_, metrics) = first("safety", None, None);
        assert_eq!(metrics["metrics"]["response/llm_judged/safety/rating/average"], 0.5);
        for judge in ["correctness", "safety"] {
            let (row, metrics) = first(judge, None, Some("the judge was away"));
            let at = |what: &str| row.get(format!("response/llm_judged/{judge}/{what}").as_str());
            assert_eq!(at("error_message"), Some(&json!("the judge was away")));
            assert_eq!(
                (at("rating"), at("rationale"), at("value")),
                (Some(&Value::Null), Some(&Value::Null), None)
            );
            // Of what could not be judged nothing is counted.
            let over_set = if judge == "safety" { "rating/average" } else { "rating/percentage" };
            let name = format!("response/llm_judged/{judge}/{over_set}");
            assert_eq!(metrics["metrics"][name.as_str()], 0.0, "{metrics}");
            assert_eq!(metrics["intervals"][name.as_str()]["n"], 1, "{metrics}");
        }
        let (row, metrics) = first("context_sufficiency", Some("The date is missing."), None);
        assert_eq!(row["retrieval/llm_judged/context_sufficiency/rationale"], "The date is missing.");
        assert_eq!(metrics["metrics"]["retrieval/llm_judged/context_sufficiency/rating/percentage"], 0.5);
        let (row, metrics) = first("document_recall", None, None);
        assert_eq!(row["retrieval/ground_truth/document_recall"], 0.75);
        assert_eq!(metrics["metrics"]["retrieval/ground_truth/document_recall/average"], 0.5);
        assert_eq!(first("toxicity", None, None).1, json!({"metrics": {}, "intervals": {}}));
    }

    #[test]
    fn a_judge_without_verdicts_has_its_value_where_it_has_one() {
        let mut tried = judged("correctness", [true, false], [0.75, 0.25]);
        tried.scores.iter_mut().for_each(|score| score.passed = None);
        (tried.scores[1].status, tried.scores[1].value) = ("error".into(), None);
        let answers = HashMap::new();
        let table = rows(&[Side { data: tried.data(), answers: &answers }]);
        let value = |row: usize| table.rows[row].get("response/llm_judged/correctness/value");
        assert_eq!((value(0), value(1)), (Some(&json!(0.75)), Some(&Value::Null)));
        assert!(!table.columns.iter().any(|column| column.ends_with("/rating")), "{:?}", table.columns);
    }

    #[test]
    fn chunks_are_lists_of_ratings_and_reasons() {
        let part =
            |number, is_yes, rationale: &str| Rated { number, is_yes, rationale: rationale.to_owned() };
        let parts = [
            part(1, true, "it says so (twice)"),
            part(2, false, "another town; not this"),
            part(3, false, "a menu"),
        ];
        // The words of a long rationale are cut, and begin with what was left out; the parts are data.
        let words = Some("Judged on a window (judges.max_input_chars = 1000): 1 of 3 yes: 1 yes (it sa");
        let (row, metrics) = rated("chunk_relevance", words, None, &parts);
        let at = |what: &str| &row[format!("retrieval/llm_judged/chunk_relevance/{what}").as_str()];
        assert_eq!(at("ratings"), &json!(["yes", "no", "no"]));
        assert_eq!(at("rationales"), &json!(["it says so (twice)", "another town; not this", "a menu"]));
        assert_eq!(at("error_messages"), &json!([null, null, null]));
        assert_eq!(at("precision"), &json!(0.75));
        assert_eq!(metrics["metrics"]["retrieval/llm_judged/chunk_relevance/precision/average"], 0.5);
        let (row, _) = first("chunk_relevance", None, Some("no judge"));
        let at = |what: &str| &row[format!("retrieval/llm_judged/chunk_relevance/{what}").as_str()];
        assert_eq!([at("ratings"), at("rationales"), at("precision")], [&Value::Null; 3]);
        assert_eq!(at("error_messages"), &json!(["no judge"]));
        // No chunk at all is an empty list.
        let (row, _) = first("chunk_relevance", None, None);
        assert_eq!(row["retrieval/llm_judged/chunk_relevance/ratings"], json!([]));
    }
}
