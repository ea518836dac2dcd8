//! Logs of Inspect, as JSON and as `.eval` (a ZIP archive of a head and a file a sample): what was asked, what was answered in
//! each epoch, and how it was scored there.

use super::log::{Log, Logged};
use crate::lab::zip::{Archive, Limits, is_zip};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// The head of a `.eval` file, and the folder of its samples.
const HEAD: &str = "header.json";
const SAMPLES: &str = "samples/";
/// Longest sample, bytes: each is unpacked before it is known what is in it.
const MAX_SAMPLE: u64 = 256 << 20;
/// What stands for a text that lies elsewhere in its sample.
const ATTACHED: &str = "attachment://";
/// The letters of its scorers: value, label, and whether it is good enough.
const LETTERS: &[(&str, f64, &str, bool)] = &[
    ("C", 1.0, "correct", true),
    ("I", 0.0, "incorrect", false),
    ("P", 0.5, "partial", false),
    ("N", 0.0, "no answer", false),
];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Head {
    eval: Option<Eval>,
    status: String,
    samples: Option<Vec<Sample>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Eval {
    task: String,
    model: Option<String>,
    run_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Sample {
    id: Value,
    epoch: Option<i64>,
    input: Value,
    choices: Option<Value>,
    target: Value,
    metadata: Option<Value>,
    output: Option<Output>,
    scores: Option<Map<String, Value>>,
    model_usage: Option<BTreeMap<String, Usage>>,
    error: Option<Value>,
    total_time: Option<f64>,
    attachments: Option<BTreeMap<String, String>>,
    messages: Option<Vec<IgnoredAny>>,
    events: Option<Vec<IgnoredAny>>,
    store: Option<BTreeMap<String, IgnoredAny>>,
    files: Option<IgnoredAny>,
    limit: Option<IgnoredAny>,
    error_retries: Option<Vec<IgnoredAny>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Output {
    completion: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    message: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
}

/// Reads a log.
///
/// # Errors
/// What is no log, damaged or refused, with the name of the entry.
pub(super) fn read(bytes: &[u8]) -> Result<Log, String> {
    if !is_zip(bytes) {
        let mut head = head(bytes, "the file")?;
        let samples = head.samples.take().unwrap_or_default();
        return of(head, samples.into_iter().map(Ok));
    }
    let archive = Archive::open(bytes, Limits { entry: MAX_SAMPLE, ..Limits::default() })?;
    if !archive.has(HEAD) {
        return Err(format!("the archive has no {HEAD}: it is no log, or one of a run that has not ended"));
    }
    let head = head(&archive.unpacked(HEAD)?, HEAD)?;
    let is_sample = |name: &&str| name.starts_with(SAMPLES) && name.ends_with(".json");
    let sample = |name: &str| {
        let content = archive.unpacked(name)?;
        serde_json::from_slice::<Sample>(&content).map_err(|e| format!("{name}: {}", told(&e)))
    };
    of(head, archive.names().filter(is_sample).map(sample))
}

fn head(bytes: &[u8], name: &str) -> Result<Head, String> {
    let head: Head = serde_json::from_slice(bytes).map_err(|e| format!("{name}: {}", told(&e)))?;
    match head.eval {
        Some(_) => Ok(head),
        None => Err(format!("{name} is no log of Inspect: it has no \"eval\"")),
    }
}

/// What is wrong with JSON. Python writes numbers that are none, and JSON has no word for them.
fn told(error: &serde_json::Error) -> String {
    format!("{error}; a log with NaN is no JSON: write it again with its program after a change to null")
}

/// The log of a head and samples.
fn of(head: Head, samples: impl Iterator<Item = Result<Sample, String>>) -> Result<Log, String> {
    let eval = head.eval.unwrap_or_default();
    let mut log = Log {
        system: "inspect",
        task: eval.task,
        model: eval.model,
        run_id: eval.run_id,
        status: head.status,
        ..Log::default()
    };
    let (mut known, mut answered) = (HashSet::new(), HashSet::new());
    for sample in samples {
        let sample = sample?;
        let id = match &sample.id {
            Value::String(id) if !id.is_empty() => id.clone(),
            Value::Number(id) => id.to_string(),
            other => return Err(format!("a sample has the id {other}: it must be a text or a number")),
        };
        let epoch = sample.epoch.unwrap_or(1);
        if epoch < 1 || !answered.insert((id.clone(), epoch)) {
            return Err(format!("the sample {id:?} has the epoch {epoch} twice, or it is not from 1 on"));
        }
        log.epochs = log.epochs.max(epoch);
        if known.insert(id.clone()) {
            log.items.push(sample.item(&id));
        }
        let answer = answer(&mut log, &sample);
        log.answers.push(Logged { id, epoch, answer });
    }
    if log.answers.is_empty() {
        return Err(
            "the log has no samples: Inspect was told not to write them (--no-log-samples)".to_owned()
        );
    }
    Ok(log)
}

fn answer(log: &mut Log, sample: &Sample) -> Map<String, Value> {
    loses(log, sample);
    let mut answer = Map::new();
    let mut put = |key: &str, value: Value| drop(answer.insert(key.to_owned(), value));
    match sample.failed() {
        Some(why) => put("error", why.into()),
        None => put("output", sample.said()),
    }
    let tokens = |of: fn(&Usage) -> Option<i64>| sample.tokens(of);
    let numbers = [
        ("in_tokens", tokens(|usage| usage.input_tokens)),
        ("out_tokens", tokens(|usage| usage.output_tokens)),
    ];
    for (key, number) in numbers {
        if let Some(number) = number {
            put(key, number.into());
        }
    }
    if let Some(seconds) = sample.total_time.filter(|seconds| seconds.is_finite() && *seconds >= 0.0) {
        put("duration_ms", json!(seconds * 1_000.0));
    }
    let scores: Vec<Value> =
        sample.scores.iter().flatten().flat_map(|(name, score)| scores(log, name, score)).collect();
    if !scores.is_empty() {
        put("scores", scores.into());
    }
    answer
}

/// Counts what of a sample is not taken.
fn loses(log: &mut Log, sample: &Sample) {
    let many = |list: &Option<Vec<IgnoredAny>>| list.as_ref().map_or(0, Vec::len);
    let models = sample.model_usage.as_ref().map_or(0, BTreeMap::len);
    for (what, count) in [
        ("messages of the conversation", many(&sample.messages)),
        ("events", many(&sample.events)),
        ("failed attempts before an answer", many(&sample.error_retries)),
        ("values of a store", sample.store.as_ref().map_or(0, BTreeMap::len)),
        ("limits that were met", usize::from(sample.limit.is_some())),
        ("samples with files", usize::from(sample.files.is_some())),
        ("samples whose tokens are of several models, which are added", usize::from(models > 1)),
    ] {
        log.lose(what, count);
    }
}

/// The scores that a scorer gave: one, or one for each key of several.
fn scores(log: &mut Log, name: &str, score: &Value) -> Vec<Value> {
    for (key, what) in [("metadata", "metadata of scores"), ("history", "edits of scores")] {
        let is_there = score[key].as_object().is_some_and(|fields| !fields.is_empty())
            || score[key].as_array().is_some_and(|all| !all.is_empty());
        log.lose(what, usize::from(is_there));
    }
    let reasons = [("answer", "answer: "), ("explanation", "")];
    let reasons = reasons.into_iter().filter_map(|(key, before)| {
        score[key].as_str().filter(|text| !text.is_empty()).map(|text| format!("{before}{text}"))
    });
    let rationale = reasons.collect::<Vec<_>>().join("\n");
    match &score["value"] {
        Value::Object(parts) => {
            let of = |(part, value): (&String, &Value)| sent(&format!("{name}.{part}"), value, &rationale);
            parts.iter().map(of).collect()
        }
        Value::Array(values) => {
            log.lose("values that are lists", values.len());
            Vec::new()
        }
        value => vec![sent(name, value, &rationale)],
    }
}

/// A score as a client sends it.
fn sent(name: &str, value: &Value, rationale: &str) -> Value {
    let mut score = json!({ "name": name });
    let yes_no = |is_good: bool| (Some(f64::from(u8::from(is_good))), None, Some(is_good));
    let (number, label, passed) = match value {
        Value::Null | Value::Array(_) | Value::Object(_) => {
            score["skipped"] = "value".into();
            return score;
        }
        Value::Bool(is_good) => yes_no(*is_good),
        Value::Number(number) => (number.as_f64(), None, None),
        Value::String(text) => match LETTERS.iter().find(|(letter, ..)| letter == text) {
            Some((_, number, label, passed)) => (Some(*number), Some((*label).to_owned()), Some(*passed)),
            None => match text.to_ascii_lowercase().as_str() {
                "yes" | "true" => yes_no(true),
                "no" | "false" => yes_no(false),
                other => match other.parse::<f64>().ok().filter(|number| number.is_finite()) {
                    Some(number) => (Some(number), None, None),
                    None => (None, Some(text.clone()), None),
                },
            },
        },
    };
    if let Some(number) = number {
        score["value"] = number.into();
    }
    if let Some(label) = label {
        score["label"] = label.into();
    }
    if let Some(passed) = passed {
        score["passed"] = passed.into();
    }
    if !rationale.is_empty() {
        score["rationale"] = rationale.into();
    }
    score
}

impl Sample {
    /// What it asks, in the form of its datasets.
    fn item(&self, id: &str) -> Value {
        let mut item =
            json!({ "id": id, "input": self.whole(&self.input), "target": self.whole(&self.target) });
        // Messages get a new id in every run: what is asked is the same.
        if let Some(messages) = item["input"].as_array_mut() {
            for message in messages.iter_mut().filter_map(Value::as_object_mut) {
                ["id", "source"].iter().for_each(|key| drop(message.shift_remove(*key)));
            }
        }
        for (key, value) in [("choices", &self.choices), ("metadata", &self.metadata)] {
            if let Some(value) = value.as_ref().filter(|value| !value.is_null()) {
                item[key] = value.clone();
            }
        }
        item
    }

    /// Why there is no answer; none if there is one.
    fn failed(&self) -> Option<String> {
        let error = self.error.as_ref().filter(|error| !error.is_null());
        let text = error.map(|error| match error.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => error.as_str().map_or_else(|| error.to_string(), str::to_owned),
        });
        text.or_else(|| self.output.as_ref()?.error.clone())
    }

    /// What was answered, as a text.
    fn said(&self) -> Value {
        let Some(output) = &self.output else { return "".into() };
        if let Some(text) = output.completion.as_ref().filter(|text| !text.is_empty()) {
            return self.whole(&text.as_str().into());
        }
        let content = output.choices.iter().flatten().next().map(|choice| &choice.message["content"]);
        match content {
            Some(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part["text"].as_str());
                self.whole(&texts.collect::<Vec<_>>().join("\n").into())
            }
            Some(Value::String(text)) => self.whole(&text.as_str().into()),
            _ => "".into(),
        }
    }

    /// Tokens of all models, or of the last call where nothing is said of models.
    fn tokens(&self, of: fn(&Usage) -> Option<i64>) -> Option<i64> {
        let by_model: Vec<i64> = self.model_usage.iter().flat_map(BTreeMap::values).filter_map(of).collect();
        match by_model.is_empty() {
            true => of(self.output.as_ref()?.usage.as_ref()?),
            false => Some(by_model.iter().sum()),
        }
    }

    /// The value with the texts that lie elsewhere in the sample.
    fn whole(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let id = text.strip_prefix(ATTACHED);
                let found = id.and_then(|id| self.attachments.as_ref()?.get(id));
                found.map_or_else(|| value.clone(), |text| text.as_str().into())
            }
            Value::Array(all) => all.iter().map(|one| self.whole(one)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| (key.clone(), self.whole(value))).collect()
            }
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::zip::write;

    fn sample(id: Value, epoch: i64, score: Value) -> Value {
        json!({"id": id, "epoch": epoch, "input": [{"id": format!("m{epoch}"), "role": "user", "content": "attachment://h"}],
            "target": ["A", "B"], "metadata": {"k": 1}, "attachments": {"h": "A long question?"},
            "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "r"},
                {"type": "text", "text": "A"}]}}]},
            "scores": {"match": score}, "model_usage": {"m": {"input_tokens": 5, "output_tokens": 2}, "judge": {"input_tokens": 7}},
            "total_time": 1.5, "messages": [{}, {}], "events": [{}], "error": null, "limit": null})
    }

    fn log(samples: Option<&[Value]>) -> Value {
        let mut log =
            json!({"version": 2, "status": "success", "eval": {"task": "quiz", "model": "m", "run_id": "r"}});
        if let Some(samples) = samples {
            log["samples"] = samples.into();
        }
        log
    }

    fn samples() -> Vec<Value> {
        let good = json!({"value": "C", "answer": "A", "explanation": "It is.", "metadata": {"x": 1}});
        let mut failed = sample(json!("s 2"), 1, json!({"value": {"len": 3, "ok": false}}));
        failed["error"] = json!({"message": "no route", "traceback": "…"});
        vec![sample(json!(1), 1, good), sample(json!(1), 2, json!({"value": "I"})), failed]
    }

    #[test]
    fn samples_epochs_scores_and_tokens_are_read_and_what_is_lost_is_told() {
        let told = read(log(Some(&samples())).to_string().as_bytes()).unwrap();
        assert_eq!((told.task.as_str(), told.model.as_deref(), told.epochs), ("quiz", Some("m"), 2));
        let asked = json!({"id": "1", "input": [{"role": "user", "content": "A long question?"}], "target": ["A", "B"],
            "metadata": {"k": 1}});
        assert_eq!((told.items.len(), &told.items[0]), (2, &asked));
        let first = json!({"output": "A", "in_tokens": 12, "out_tokens": 2, "duration_ms": 1500.0, "scores": [{"name": "match",
            "value": 1.0, "label": "correct", "passed": true, "rationale": "answer: A\nIt is."}]});
        assert_eq!(Value::Object(told.answers[0].answer.clone()), first);
        assert_eq!((told.answers[1].id.as_str(), told.answers[1].epoch), ("1", 2));
        let third = &told.answers[2].answer;
        assert_eq!((third.get("output"), &third["error"]), (None, &json!("no route")));
        let parts =
            json!([{"name": "match.len", "value": 3.0}, {"name": "match.ok", "value": 0.0, "passed": false}]);
        assert_eq!(third["scores"], parts);
        assert_eq!((told.lost["messages of the conversation"], told.lost["events"]), (6, 3));
        assert_eq!((told.lost["metadata of scores"], told.lost.get("limits that were met")), (1, None));
    }

    #[test]
    fn an_archive_says_what_the_json_says() {
        let all = samples();
        let mut files: BTreeMap<String, Vec<u8>> = (0..)
            .zip(&all)
            .map(|(number, one): (usize, _)| {
                (format!("samples/{number}_epoch_1.json"), one.to_string().into_bytes())
            })
            .collect();
        files.insert("summaries.json".to_owned(), b"[]".to_vec());
        assert!(read(&write(&files).unwrap()).unwrap_err().contains("no header.json"));
        files.insert(HEAD.to_owned(), log(None).to_string().into_bytes());
        let plain = read(log(Some(&all)).to_string().as_bytes()).unwrap();
        assert_eq!(read(&write(&files).unwrap()).unwrap(), plain);
        files.insert("samples/9_epoch_1.json".to_owned(), b"{".to_vec());
        assert!(read(&write(&files).unwrap()).unwrap_err().starts_with("samples/9_epoch_1.json: "));
    }

    #[test]
    fn what_is_no_log_is_told() {
        for (text, wanted) in [
            ("{}", "no log of Inspect"),
            ("[1", "the file: "),
            ("{\"eval\": {}}", "no samples"),
            ("{\"eval\": {}, \"samples\": [{\"id\": null}]}", "must be a text or a number"),
            ("{\"eval\": {}, \"samples\": [{\"id\": 1}, {\"id\": 1}]}", "the epoch 1 twice"),
        ] {
            let why = read(text.as_bytes()).unwrap_err();
            assert!(why.contains(wanted), "{text}: {why}");
        }
        for (value, wanted) in [
            (json!("P"), json!({"name": "s", "value": 0.5, "label": "partial", "passed": false})),
            (json!("Yes"), json!({"name": "s", "value": 1.0, "passed": true})),
            (json!("0.25"), json!({"name": "s", "value": 0.25})),
            (json!("vague"), json!({"name": "s", "label": "vague"})),
            (json!(null), json!({"name": "s", "skipped": "value"})),
        ] {
            assert_eq!(sent("s", &value, ""), wanted, "{value}");
        }
    }
}
