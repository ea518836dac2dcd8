//! What a reviewer is shown of an item, and what is told after the own answer.

use super::answer::{Answer, Response, State, standing};
use super::book::Entry;
use super::stored::{Queue, rfc3339};
use crate::lab::cells::Row;
use crate::lab::error::LabError;
use crate::lab::experiment::{AutoEval, Experiments, Given, eval_input, find_experiment, parsed};
use crate::lab::store::{Who, text};
use crate::label::{Content, content};
use crate::schema::batch::{AnswerKind, ItemRow};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Documents of a run that are shown.
const MAX_DOCUMENTS: usize = 50;
/// Runs or traces that are read with one query.
const AT_ONCE: usize = 500;
/// Spans of which everything is read; of more of them question and answer.
const WHOLE: usize = 20;

/// Texts of items by the id of the item: what was asked and answered.
pub type Texts = HashMap<String, Shown>;

/// The texts of an item.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// Question, answer, documents.
    pub content: Content,
    /// What should have been answered.
    pub expected: Vec<String>,
}

/// What there is to show of `entries`; of more than twenty spans their traces' question and answer.
///
/// # Errors
/// The limits of queries.
pub async fn texts(
    all: &Experiments,
    who: &Who,
    queue: &Queue,
    entries: &[Entry],
) -> Result<Texts, LabError> {
    let (mut texts, runs): (Texts, Vec<&Entry>) =
        (Texts::new(), entries.iter().filter(|entry| entry.run_id().is_some()).collect());
    if let (Some(id), false) = (&queue.row.experiment_id, runs.is_empty()) {
        let found = find_experiment(all.store(), &who.tenant, id).await?;
        let items = all.items(who, &found).await?;
        let items: HashMap<&str, &ItemRow> = items.iter().map(|item| (item.item_id.as_str(), item)).collect();
        for some in runs.chunks(AT_ONCE) {
            of_runs(all, who, (some, &items), &mut texts).await?;
        }
    }
    let spans: Vec<&Entry> = entries.iter().filter(|entry| entry.run_id().is_none()).collect();
    if spans.len() > WHOLE {
        for some in spans.chunks(AT_ONCE) {
            of_traces(all, who, some, &mut texts).await?;
        }
        return Ok(texts);
    }
    for entry in spans {
        let (trace, span) = (entry.chosen.trace_id, entry.chosen.span_id);
        let content = content(&all.store().sql, &who.tenant, trace, span).await?;
        texts.insert(entry.chosen.item.clone(), Shown { content, expected: Vec::new() });
    }
    Ok(texts)
}

/// Questions and answers of traces, for files of many.
async fn of_traces(
    all: &Experiments,
    who: &Who,
    entries: &[&Entry],
    texts: &mut Texts,
) -> Result<(), LabError> {
    let ids: Vec<String> = entries.iter().map(|entry| entry.chosen.trace_id.to_string()).collect();
    let places: Vec<String> = (1..=ids.len()).map(|at| format!("${at}")).collect();
    let sql =
        format!("SELECT trace_id, question, answer FROM traces WHERE trace_id IN ({})", places.join(", "));
    let found = all.store().ask(&who.tenant, &sql, ids.iter().map(|id| text(id)).collect()).await?;
    let of = |row: Row<'_>| (row.text("trace_id"), (row.may("question"), row.may("answer")));
    let traces: HashMap<String, (Option<String>, Option<String>)> = found.iter().map(of).collect();
    for (entry, id) in entries.iter().zip(&ids) {
        let (question, answer) = traces.get(id).cloned().unwrap_or_default();
        let content = Content { is_there: traces.contains_key(id), question, answer, ..Content::default() };
        texts.insert(entry.chosen.item.clone(), Shown { content, expected: Vec::new() });
    }
    Ok(())
}

async fn of_runs(
    all: &Experiments,
    who: &Who,
    (entries, items): (&[&Entry], &HashMap<&str, &ItemRow>),
    texts: &mut Texts,
) -> Result<(), LabError> {
    let ids: Vec<&str> = entries.iter().filter_map(|entry| entry.run_id()).collect();
    let places: Vec<String> = (1..=ids.len()).map(|at| format!("${at}")).collect();
    let sql = format!(
        "SELECT run_id, item_id, output, contexts FROM runs_latest WHERE run_id IN ({})",
        places.join(", ")
    );
    let found = all.store().ask(&who.tenant, &sql, ids.iter().map(|id| text(id)).collect()).await?;
    let of = |row: Row<'_>| {
        let item = items.get(row.text("item_id").as_str()).copied();
        let shown = of_run(item, (row.may("output"), row.may("contexts")), &who.tenant);
        (row.text("run_id"), shown)
    };
    let runs: HashMap<String, Shown> = found.iter().map(of).collect();
    for entry in entries {
        let shown = entry.run_id().and_then(|id| runs.get(id)).cloned();
        texts.insert(entry.chosen.item.clone(), shown.unwrap_or_default());
    }
    Ok(())
}

fn of_run(
    item: Option<&ItemRow>,
    (output, contexts): (Option<String>, Option<String>),
    tenant: &str,
) -> Shown {
    let none = ItemRow::default();
    let item = item.unwrap_or(&none);
    let (output, contexts) = (output.map(|text| parsed(Some(&text))), parsed(contexts.as_deref()));
    let given = Given { output: output.as_ref(), contexts: contexts.as_array().map(Vec::as_slice) };
    let (input, expected) = eval_input(item, &given, tenant);
    let mut documents: Vec<Value> = input
        .contexts
        .iter()
        .map(|doc| json!({"id": doc.id, "uri": doc.uri, "content": doc.content}))
        .collect();
    let is_cut = documents.len() > MAX_DOCUMENTS;
    documents.truncate(MAX_DOCUMENTS);
    let turns = input.history.iter().map(String::as_str).chain(input.question.as_deref());
    let asked = turns.collect::<Vec<_>>().join("\n\n");
    let mut content = Content {
        is_there: true,
        system_prompt: input.system_prompt,
        question: if asked.is_empty() { item.input.clone() } else { Some(asked) },
        answer: input.answer,
        documents,
        is_cut,
    };
    content.shorten();
    Shown { content, expected: expected.answers }
}

/// An item as a reviewer may see it before having answered: in a blind queue not what evaluators said, and of others' answers
/// nothing unless they are to be decided between.
pub fn shown(queue: &Queue, entry: &Entry, state: &State, texts: &Texts) -> Value {
    let (chosen, is_blind) = (&entry.chosen, queue.row.blind);
    let of_queue = chosen.of_queue.as_ref();
    let texts = texts.get(&chosen.item).cloned().unwrap_or_default();
    let mut shown = json!({
        "item": chosen.item, "trace_id": chosen.trace_id.to_string(), "run_id": entry.run_id(),
        "span_id": chosen.span_id.map(|id| id.to_string()), "state": state.as_str(),
        "content": texts.content, "expected": texts.expected,
        "auto_evals": entry.asked.iter().map(|one| auto_eval(one, !is_blind)).collect::<Vec<_>>(),
    });
    if !is_blind {
        shown["reason"] = json!(of_queue.and_then(|of| of.reason.as_deref()));
    }
    if *state == State::Adjudicate || !is_blind {
        shown["answers"] = answers(entry);
    }
    shown
}

fn auto_eval(one: &AutoEval, is_told: bool) -> Value {
    let mut told = json!({ "key": one.key(), "evaluator": one.evaluator, "metric": one.metric });
    if is_told {
        told["auto_eval"] = json!(one.told());
        for (key, value) in [
            ("value", json!(one.value)),
            ("label", json!(one.label)),
            ("rationale", json!(one.rationale)),
            ("reason", json!(one.reason)),
        ] {
            told[key] = value;
        }
    }
    told
}

/// An item as who has answered it may see it; who skipped it learns where it stands alone, and may still answer without bias.
pub fn told(entry: &Entry, state: &State, kind: AnswerKind) -> Value {
    if kind == AnswerKind::Skip {
        return json!({
            "item": entry.chosen.item, "state": state.as_str(), "label": null, "auto_evals": [], "answers": [],
        });
    }
    json!({
        "item": entry.chosen.item, "state": state.as_str(), "label": state.label().map(response),
        "auto_evals": entry.asked.iter().map(|one| auto_eval(one, true)).collect::<Vec<_>>(),
        "answers": answers(entry),
    })
}

/// What one person says, as it is shown.
pub fn response(response: &Response) -> Value {
    json!({ "templates": response.templates, "auto_evals": response.auto_evals })
}

fn answers(entry: &Entry) -> Value {
    let one = |answer: &Answer| {
        json!({"reviewer": answer.reviewer, "kind": answer.kind, "response": response(&answer.response),
            "comment": answer.comment, "flagged": answer.flagged, "at": rfc3339(answer.at)})
    };
    standing(&entry.answers).into_iter().map(one).collect()
}
