//! A run of a suite as an experiment: its tests as items of a dataset, its answers with their verdicts as runs, and the values
//! of such an experiment as a baseline.

use super::baseline::Baseline;
use super::load::Suite;
use super::outcome::{CheckOutcome, Outcome, Scored, Status};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, HashMap};

/// Where a run keeps which test it was, and the hash of what that asks and expects.
pub(super) const TEST: &str = "suite_test";

impl Suite {
    /// The name of the dataset that has its tests.
    pub fn dataset(&self) -> String {
        format!("suite/{}", self.head.name)
    }

    /// How often each test is asked.
    pub fn repetitions(&self) -> u32 {
        self.head.repetitions
    }

    /// Its tests as items of a dataset, JSON lines.
    pub fn items(&self) -> String {
        let mut lines = String::new();
        for case in &self.cases {
            let spec = &case.item.spec;
            let mut item = Map::new();
            let mut put = |key: &str, value: Json| {
                if !value.is_null() && value != json!([]) && value != json!({}) && value != json!("") {
                    item.insert(key.to_owned(), value);
                }
            };
            put("external_id", json!(spec.id));
            put("input", spec.input.clone());
            put("expected", json!(spec.right_answer));
            put("contexts", json!(spec.contexts));
            put("constraints", json!(spec.constraints));
            put("metadata", json!(spec.metadata));
            put("tags", json!(spec.tags));
            put("weight", json!(spec.weight));
            put("group_id", json!(spec.group));
            lines.push_str(&Json::Object(item).to_string());
            lines.push('\n');
        }
        lines
    }
}

/// The answers of `outcomes` as an experiment takes them, each with its verdicts as scores. `items` are the ids of the tests'
/// items; the answer of a test without one is left out.
pub fn sent(outcomes: &[Outcome], items: &HashMap<String, String>) -> Vec<Json> {
    outcomes.iter().filter_map(|outcome| Some(answer(outcome, items.get(&outcome.test)?))).collect()
}

fn answer(outcome: &Outcome, item_id: &str) -> Json {
    let reply = outcome.reply.as_ref();
    let context = marked(reply.map(|reply| reply.output_context.clone()).unwrap_or_default(), outcome);
    let mut sent = json!({
        "item_id": item_id, "repetition": outcome.repetition, "trace_id": outcome.trace_id,
        "output_context": context, "scores": scores(outcome), "checks": outcome.checks,
    });
    match (&outcome.error, reply) {
        (Some(why), _) => sent["error"] = json!(why),
        (None, Some(reply)) => {
            sent["output"] = json!(reply.output);
            for (key, value) in [
                ("input_tokens", json!(reply.in_tokens)),
                ("output_tokens", json!(reply.out_tokens)),
                ("cost_usd", json!(reply.cost_usd)),
                ("duration_ms", json!(reply.duration_ms)),
            ] {
                if !value.is_null() {
                    sent[key] = value;
                }
            }
        }
        (None, None) => sent["error"] = json!("there is no answer"),
    }
    sent
}

/// What else a target told, with the test that it was and the hash of what that asks.
pub fn marked(mut context: Map<String, Json>, outcome: &Outcome) -> Map<String, Json> {
    context.insert(TEST.to_owned(), json!({ "id": outcome.test, "hash": outcome.hash }));
    context
}

/// The test's verdict, the share of its checks, each check, and what evaluators say, as an experiment takes them.
pub fn scores(outcome: &Outcome) -> Vec<Json> {
    // A run without an answer has no scores: its error says why.
    if outcome.error.is_some() {
        return Vec::new();
    }
    let mut scores = Vec::new();
    let whole = match outcome.status {
        Status::Pass => json!({"name": "tests_passed", "passed": true, "value": 1.0}),
        Status::Fail => json!({"name": "tests_passed", "passed": false, "value": 0.0}),
        Status::Error => json!({"name": "tests_passed", "error": "a check has no verdict"}),
        Status::Skipped => json!({"name": "tests_passed", "skipped": "every check was skipped"}),
    };
    scores.push(whole);
    if let Some(share) = outcome.score {
        scores.push(json!({"name": "checks_passed", "value": share}));
    }
    scores.extend((1..).zip(&outcome.checks).map(|(number, check)| of_check(number, check)));
    scores.extend(outcome.scores.iter().map(of_evaluator));
    scores
}

fn of_check(number: usize, check: &CheckOutcome) -> Json {
    let mut score = json!({ "name": format!("check/{number}/{}", check.operator) });
    match check.status {
        Status::Pass | Status::Fail => {
            score["passed"] = json!(check.status == Status::Pass);
            if let Some(value) = check.value {
                score["value"] = json!(value);
            }
            score["rationale"] = json!(check.feedback);
        }
        Status::Error => score["error"] = json!(check.feedback),
        Status::Skipped => score["skipped"] = json!(check.feedback),
    }
    if check.needs_review() {
        let why = if check.status == Status::Error { "judge error" } else { "low confidence" };
        score["needs_review"] = json!(why);
    }
    score
}

fn of_evaluator(scored: &Scored) -> Json {
    let mut score = json!({ "name": scored.metric });
    let why = || json!(scored.why.clone().unwrap_or_default());
    match scored.status.as_ref() {
        "error" => score["error"] = why(),
        "skipped" => score["skipped"] = why(),
        _ => {
            for (key, value) in [
                ("value", json!(scored.value)),
                ("label", json!(scored.label)),
                ("passed", json!(scored.passed)),
                ("rationale", json!(scored.why)),
            ] {
                if !value.is_null() {
                    score[key] = value;
                }
            }
        }
    }
    score
}

impl Baseline {
    /// The values of an experiment that a suite was stored as, from its `runs`.
    ///
    /// # Errors
    /// When none of them is a run of a suite.
    pub fn of_stored(runs: &[Json]) -> Result<Self, String> {
        let mut all = Self::default();
        for run in runs {
            let test = &run["output_context"][TEST];
            let (Some(id), Some(hash)) = (test["id"].as_str(), test["hash"].as_str()) else { continue };
            all.add(id, hash, values(run));
        }
        match all.is_empty() {
            true => {
                Err("no run of it is one of a suite: it was not stored by groundline test --store".to_owned())
            }
            false => Ok(all),
        }
    }
}

/// The values of a run by the names that gates use.
fn values(run: &Json) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    for score in run["scores"].as_array().into_iter().flatten() {
        if let (Some(name), Some(value)) = (score["metric"].as_str(), score["value"].as_f64()) {
            values.insert(name.to_owned(), value);
        }
    }
    for (name, key) in [
        ("duration_ms", "duration_ms"),
        ("cost_usd", "cost_usd"),
        ("in_tokens", "input_tokens"),
        ("out_tokens", "output_tokens"),
    ] {
        values.extend(run[key].as_f64().map(|value| (name.to_owned(), value)));
    }
    values
}
