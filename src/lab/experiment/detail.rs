//! What was answered: by two experiments to the items that moved, and by one to the two items of a flipped case. With the
//! question, the reasons of the evaluators, and the traces.

use super::super::cells::Row;
use super::super::error::LabError;
use super::super::store::{Store, Who, text};
use super::beside::Loaded;
use super::compare::Moved;
use super::experiments::Experiments;
use super::findings::{Finding, metric_name};
use super::flips::Flips;
use super::reading::{Experiment, parsed};
use crate::lab::texts::text_of;
use crate::schema::batch::ItemRow;
use datafusion::common::HashSet as QuickSet;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Most items whose answers are told.
pub const MAX_DETAILED: usize = 200;
/// Longest answer that is told as a whole, characters.
const MAX_TEXT: usize = 16_384;
/// Runs that one query names.
const MAX_NAMED: usize = 2_000;

/// The items of a comparison, each with what it asks and expects, the first `most` also with what both sides answered.
///
/// # Errors
/// The limits of queries.
pub async fn detailed(
    all: &Experiments,
    who: &Who,
    (new, baseline): (&Loaded, &Loaded),
    moved: &[Moved],
    most: usize,
) -> Result<Vec<Value>, LabError> {
    let named: Vec<&str> =
        moved.iter().take(most.min(MAX_DETAILED)).map(|one| one.item_id.as_str()).collect();
    let store = all.store();
    let (now, then) = tokio::try_join!(
        Box::pin(answers(store, &who.tenant, &new.experiment.experiment_id, &named)),
        Box::pin(answers(store, &who.tenant, &baseline.experiment.experiment_id, &named)),
    )?;
    // Of a hundred thousand items few moved.
    let wanted: QuickSet<&str> = moved.iter().map(|one| one.item_id.as_str()).collect();
    let items = new.items.iter().map(|item| (item.item_id.as_str(), item));
    let items: HashMap<&str, &ItemRow> = items.filter(|(id, _)| wanted.contains(id)).collect();
    let mut told = Vec::with_capacity(moved.len());
    for one in moved {
        let mut told_one = json!(one);
        let id = one.item_id.as_str();
        if let Some(item) = items.get(id) {
            let (input, expected) = (parsed(item.input.as_deref()), parsed(item.expected.as_deref()));
            told_one["external_id"] = json!(item.external_id);
            told_one["question"] = json!(text_of(&input));
            told_one["expected"] = expected;
            told_one["tags"] = json!(item.tags);
        }
        if let (Some(now), Some(then)) = (now.get(id), then.get(id)) {
            told_one["baseline"] = json!({ "runs": then });
            told_one["new"] = json!({ "runs": now });
        }
        told.push(told_one);
    }
    Ok(told)
}

/// The findings, each of a metric with what its evaluator said of the item that shows it most: the least grounded sentence, the
/// value that leaked, or why there is no score.
///
/// # Errors
/// The limits of queries.
pub async fn evidenced(
    all: &Experiments,
    who: &Who,
    experiment: &Experiment,
    found: &[Finding],
) -> Result<Vec<Value>, LabError> {
    let of_metrics = found.iter().filter(|one| one.metric.is_some());
    let mut worst: Vec<&str> =
        of_metrics.filter_map(|one| one.item_ids.first()).map(String::as_str).collect();
    worst.sort_unstable();
    worst.dedup();
    worst.truncate(MAX_DETAILED);
    let runs = answers(all.store(), &who.tenant, &experiment.experiment_id, &worst).await?;
    let told = found.iter().map(|one| {
        let mut told = json!(one);
        if let Some((item, why)) = evidence(one, &runs) {
            told["evidence"] = json!({ "item_id": item, "rationale": why });
        }
        told
    });
    Ok(told.collect())
}

/// What was said of the item that shows a finding most; of several repetitions the first that says something.
fn evidence<'a>(finding: &'a Finding, runs: &'a HashMap<String, Vec<Value>>) -> Option<(&'a str, &'a str)> {
    let (metric, item) = (finding.metric.as_deref()?, finding.item_ids.first()?);
    let scores = runs.get(item)?.iter().flat_map(|run| run["scores"].as_array().into_iter().flatten());
    let mut of_metric = scores.filter(|score| {
        let text = |key: &str| score[key].as_str().unwrap_or_default();
        metric_name(text("evaluator"), text("metric")) == metric
    });
    let why = of_metric.find_map(|score| score["rationale"].as_str().or(score["error"].as_str()))?;
    Some((item.as_str(), why))
}

/// The flips, the first `most` cases of each with what the item was answered before and after it was changed; in all at most
/// 200 items are told.
///
/// # Errors
/// The limits of queries.
pub async fn flipped(
    all: &Experiments,
    who: &Who,
    (experiment, items): (&Experiment, &[ItemRow]),
    found: &[Flips],
    most: usize,
) -> Result<Vec<Value>, LabError> {
    let named = of_cases(found, most);
    let runs = answers(all.store(), &who.tenant, &experiment.experiment_id, &named).await?;
    let items: HashMap<&str, &ItemRow> = items.iter().map(|item| (item.item_id.as_str(), item)).collect();
    Ok(found.iter().map(|one| with_answers(one, most, &items, &runs)).collect())
}

/// The items of the first `most` cases of each: the first of all come before the second of any, so that none is left without.
fn of_cases(found: &[Flips], most: usize) -> Vec<&str> {
    let deepest = found.iter().map(|one| one.cases.len()).max().unwrap_or_default();
    let cases = (0..deepest.min(most)).flat_map(|at| found.iter().filter_map(move |one| one.cases.get(at)));
    let (mut named, mut known) = (Vec::new(), HashSet::new());
    for case in cases {
        for id in [case.source.as_str(), case.item_id.as_str()] {
            if named.len() < MAX_DETAILED && known.insert(id) {
                named.push(id);
            }
        }
    }
    named
}

/// A flip, and beside each of its cases whose runs are there both answers.
fn with_answers(
    found: &Flips,
    most: usize,
    items: &HashMap<&str, &ItemRow>,
    runs: &HashMap<String, Vec<Value>>,
) -> Value {
    let mut told = json!(found);
    let side = |id: &str, passed: bool| {
        let (run, score) = shown(runs.get(id)?, (&found.evaluator, &found.metric), passed)?;
        let item = items.get(id)?;
        Some(json!({
            "external_id": item.external_id, "question": text_of(&parsed(item.input.as_deref())),
            "repetition": run["repetition"], "trace_id": run["trace_id"], "output": run["output"],
            "error": run["error"], "rationale": score["rationale"],
        }))
    };
    for (at, case) in found.cases.iter().enumerate().take(most) {
        if let (Some(before), Some(after)) =
            (side(&case.source, case.passed), side(&case.item_id, !case.passed))
        {
            told["cases"][at]["before"] = before;
            told["cases"][at]["after"] = after;
        }
    }
    told
}

/// The first of the repetitions of an item that has this verdict of a metric, with its score. A flip is told of what most of them
/// have, so there is one.
fn shown<'a>(
    runs: &'a [Value],
    (evaluator, metric): (&str, &str),
    passed: bool,
) -> Option<(&'a Value, &'a Value)> {
    runs.iter().find_map(|run| {
        let mut scores = run["scores"].as_array()?.iter();
        let is_it = |score: &&Value| {
            score["evaluator"] == evaluator && score["metric"] == metric && score["passed"] == passed
        };
        Some((run, scores.find(is_it)?))
    })
}

/// The last attempt of each run of the items behind the place `after`, at most `limit` items, and the place of the last of
/// them; no place where there are no more.
///
/// # Errors
/// The limits of queries.
pub async fn page(
    all: &Experiments,
    who: &Who,
    experiment: &Experiment,
    (after, limit): (i64, usize),
) -> Result<(Vec<Value>, Option<i64>), LabError> {
    let items = all.items(who, experiment).await?;
    let mut behind: Vec<&ItemRow> = items.iter().filter(|item| item.ordinal > after).collect();
    behind.sort_by_key(|item| item.ordinal);
    let limit = limit.min(MAX_DETAILED);
    let more = behind.len() > limit;
    behind.truncate(limit);
    let named: Vec<&str> = behind.iter().map(|item| item.item_id.as_str()).collect();
    let mut runs = answers(all.store(), &who.tenant, &experiment.experiment_id, &named).await?;
    let mut told = Vec::new();
    for item in &behind {
        for mut run in runs.remove(&item.item_id).unwrap_or_default() {
            run["item_id"] = json!(item.item_id);
            run["external_id"] = json!(item.external_id);
            told.push(run);
        }
    }
    Ok((told, behind.last().filter(|_| more).map(|item| item.ordinal)))
}

/// The last attempt of each run of these items, in the order of their repetitions.
async fn answers(
    store: &Store,
    tenant: &str,
    experiment_id: &str,
    items: &[&str],
) -> Result<HashMap<String, Vec<Value>>, LabError> {
    if items.is_empty() {
        return Ok(HashMap::new());
    }
    let places: Vec<String> = (0..items.len()).map(|at| format!("${}", at + 2)).collect();
    let places = places.join(", ");
    let values = std::iter::once(text(experiment_id)).chain(items.iter().map(|id| text(id))).collect();
    let sql = format!(
        "SELECT item_id, repetition, attempt, run_id, trace_id, span_id, output, output_context, error, input_tokens, output_tokens, cost_usd, \
         duration_ms FROM runs_latest WHERE experiment_id = $1 AND item_id IN ({places})"
    );
    let rows = store.ask(tenant, &sql, values).await?;
    let mut runs: HashMap<String, Shown> =
        rows.iter().map(|row| (row.text("run_id"), Shown::of(row))).collect();
    // Named one by one: a join would read the reasons of all scores of the experiment.
    let ids: Vec<String> = runs.keys().cloned().collect();
    for ids in ids.chunks(MAX_NAMED) {
        let places: Vec<String> = (0..ids.len()).map(|at| format!("${}", at + 2)).collect();
        let sql = format!(
            "SELECT run_id, score_version, evaluator, metric, status, value, label, passed, rationale, error FROM scores \
             WHERE source = 'experiment' AND experiment_id = $1 AND run_id IN ({}) ORDER BY evaluator, metric",
            places.join(", ")
        );
        let values = std::iter::once(text(experiment_id)).chain(ids.iter().map(|id| text(id))).collect();
        for row in store.ask(tenant, &sql, values).await?.iter() {
            let Some(run) = row.borrowed("run_id").and_then(|id| runs.get_mut(id)) else { continue };
            // Those of earlier attempts are of other answers.
            if row.int("score_version") == Some(run.attempt) {
                run.scores.push(score(row));
            }
        }
    }
    let mut runs: Vec<Shown> = runs.into_values().collect();
    runs.sort_by_key(|run| run.repetition);
    let mut by_item: HashMap<String, Vec<Value>> = HashMap::new();
    for Shown { item_id, mut run, scores, .. } in runs {
        run["scores"] = scores.into();
        by_item.entry(item_id).or_default().push(run);
    }
    Ok(by_item)
}

/// The last attempt of a run, and its scores.
struct Shown {
    item_id: String,
    repetition: i64,
    attempt: i64,
    run: Value,
    scores: Vec<Value>,
}

impl Shown {
    fn of(row: Row<'_>) -> Self {
        Self {
            item_id: row.text("item_id"),
            repetition: row.int("repetition").unwrap_or(1),
            attempt: row.int("attempt").unwrap_or(1),
            run: run(row),
            scores: Vec::new(),
        }
    }
}

fn run(row: Row<'_>) -> Value {
    json!({
        "repetition": row.int("repetition"), "run_id": row.text("run_id"),
        "trace_id": row.may("trace_id"), "span_id": row.may("span_id"),
        "output": cut(parsed(row.may("output").as_deref())), "error": row.may("error"),
        "output_context": cut(parsed(row.may("output_context").as_deref())), "input_tokens": row.int("input_tokens"), "output_tokens": row.int("output_tokens"),
        "cost_usd": row.number("cost_usd"), "duration_ms": row.number("duration_ms"),
    })
}

fn score(row: Row<'_>) -> Value {
    json!({
        "evaluator": row.text("evaluator"), "metric": row.text("metric"), "status": row.text("status"),
        "value": row.number("value"), "label": row.may("label"), "passed": row.flag("passed"),
        "rationale": row.may("rationale"), "error": row.may("error"),
    })
}

/// A text that is not too long, or its beginning with how much is left out; other JSON that is too long as such a text.
fn cut(output: Value) -> Value {
    let long = match &output {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match long.char_indices().nth(MAX_TEXT) {
        None => output,
        Some((at, _)) => {
            let more = long[at..].chars().count();
            Value::from(format!("{} [… {more} characters left out]", &long[..at]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flips::flips;
    use super::super::reading::Scored;
    use super::*;

    #[test]
    fn a_flipped_case_has_both_answers() {
        let item = |id: &str, perturbed: Option<&str>| ItemRow {
            item_id: id.to_owned(),
            input: Some(json!({"question": format!("{id}?")}).to_string()),
            metadata: perturbed
                .map(|source| json!({"perturbation": {"source": source, "method": "case"}}).to_string()),
            ..ItemRow::default()
        };
        let items = vec![item("a", None), item("b", None), item("a~", Some("a")), item("b~", Some("b"))];
        let score = |id: &str, passed: bool| Scored {
            item_id: id.to_owned(),
            repetition: 1,
            evaluator: "rouge".into(),
            metric: "rouge_l".into(),
            status: "ok".into(),
            value: Some(0.5),
            passed: Some(passed),
            label: None,
        };
        let scores = [score("a", true), score("b", true), score("a~", false), score("b~", false)];
        let found = flips(&items, &scores);
        assert_eq!((of_cases(&found, 1), of_cases(&found, 9).len()), (vec!["a", "a~"], 4));
        let run = |repetition: i64, output: &str, passed: bool| {
            json!({"repetition": repetition, "output": output, "error": null, "trace_id": "t", "scores": [
                {"evaluator": "rouge", "metric": "rouge_1", "passed": !passed, "rationale": "of another metric"},
                {"evaluator": "rouge", "metric": "rouge_l", "passed": passed, "rationale": format!("it says {output}")},
            ]})
        };
        let runs = HashMap::from([
            ("a".to_owned(), vec![run(1, "Rome", false), run(2, "Paris", true)]),
            ("a~".to_owned(), vec![run(1, "Oslo", false)]),
            ("b".to_owned(), vec![run(1, "Bonn", true)]),
        ]);
        let items: HashMap<&str, &ItemRow> = items.iter().map(|item| (item.item_id.as_str(), item)).collect();
        let told = with_answers(&found[0], 9, &items, &runs);
        // Of several repetitions one is shown that has the verdict that is told.
        let (before, after) = (&told["cases"][0]["before"], &told["cases"][0]["after"]);
        assert_eq!((&before["output"], &before["repetition"]), (&json!("Paris"), &json!(2)));
        assert_eq!((&before["question"], &after["question"]), (&json!("a?"), &json!("a~?")));
        assert_eq!((&after["output"], &after["rationale"]), (&json!("Oslo"), &json!("it says Oslo")));
        assert!(told["cases"][1].get("before").is_none(), "the other side has no run: {told}");
        assert!(with_answers(&found[0], 0, &items, &runs)["cases"][0].get("before").is_none());
    }

    #[test]
    fn a_long_answer_is_cut_and_says_so() {
        assert_eq!(cut(json!({"a": 1})), json!({"a": 1}));
        assert_eq!(cut(json!("ä".repeat(MAX_TEXT))), json!("ä".repeat(MAX_TEXT)));
        let told = cut(json!("ä".repeat(MAX_TEXT + 7)));
        assert!(told.as_str().unwrap().ends_with("ä [… 7 characters left out]"), "{told}");
    }
}
