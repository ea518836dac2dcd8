//! Texts that a judge writes, for the methods that no rule can do.

use super::items::{Wanted, Writing, Writings, asked_of};
use crate::domain::score::Usage;
use crate::eval::{Rewritten, Writer};
use crate::lab::error::LabError;
use futures::StreamExt;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use tokio::time::Instant;

/// Most texts of one request: its sender waits for all of them.
const MAX_TEXTS: usize = 1_000;

/// What a judge has written.
#[derive(Default)]
pub(super) struct Written {
    /// The texts.
    pub texts: Writings,
    /// Items that have none, and why.
    pub unwritten: Vec<Value>,
    /// What all of it took; none where nobody was asked.
    pub usage: Option<Usage>,
}

/// One text that is to be written.
struct Task {
    /// The place of the item.
    at: usize,
    wanted: Wanted,
    task: String,
    text: String,
}

/// Has `writer` write for each item what those of `wanted` need that ask a judge; gives up at `until`.
///
/// # Errors
/// [`LabError::Wrong`] without a judge, [`LabError::Limit`] for too many texts, [`LabError::Later`] when none could be written.
pub(super) async fn write(
    items: &[Map<String, Value>],
    wanted: &[Wanted],
    writer: Option<&dyn Writer>,
    (tenant, until): (&str, Instant),
) -> Result<Written, LabError> {
    // What is named twice is written once.
    let mut named = HashSet::new();
    let wanted = wanted.iter().filter(|one| one.method.asks_judge() && named.insert(**one));
    let wanted: Vec<Wanted> = wanted.copied().collect();
    let Some(first) = wanted.first() else { return Ok(Written::default()) };
    let Some(writer) = writer else {
        let name = first.method.name();
        return Err(LabError::Wrong(format!(
            "with: a judge writes {name}, and there is none: configure [[judges]], see docs/judges.md"
        )));
    };
    let tasks = tasks(items, &wanted)?;
    let asked: Vec<_> = tasks.iter().map(|task| one(writer, task, tenant, until)).collect();
    let said: Vec<_> = futures::stream::iter(asked).buffered(writer.at_once().max(1)).collect().await;
    let mut written = Written { usage: Some(Usage::default()), ..Written::default() };
    for (task, (said, usage)) in tasks.iter().zip(said) {
        if let (Some(all), Some(usage)) = (&mut written.usage, usage) {
            all.add(usage);
        }
        match said {
            Ok(writing) => drop(written.texts.insert((task.at, task.wanted), writing)),
            Err(why) => {
                let item = &items[task.at];
                let name = item.get("external_id").filter(|id| !id.is_null()).or_else(|| item.get("item_id"));
                written.unwritten.push(json!({"item": name, "with": task.wanted.to_string(), "why": why}));
            }
        }
    }
    if written.texts.is_empty()
        && let Some(first) = written.unwritten.first()
    {
        let why = first["why"].as_str().unwrap_or_default();
        return Err(LabError::Later(format!("the judge wrote none of {} texts: {why}", tasks.len())));
    }
    Ok(written)
}

/// The texts that are to be written.
///
/// # Errors
/// [`LabError::Limit`] for too many; then they were only counted.
fn tasks(items: &[Map<String, Value>], wanted: &[Wanted]) -> Result<Vec<Task>, LabError> {
    let count = items.iter().filter_map(text_of).count().saturating_mul(wanted.len());
    if count > MAX_TEXTS {
        let why = format!(
            "{count} texts are to be written, at most {MAX_TEXTS} at once: take fewer items or methods"
        );
        return Err(LabError::Limit(why));
    }
    let mut tasks = Vec::with_capacity(count);
    for (at, item) in items.iter().enumerate() {
        let Some(text) = text_of(item) else { continue };
        tasks.extend(wanted.iter().filter_map(|wanted| {
            let task = wanted.method.task(&text, wanted.intensity)?;
            Some(Task { at, wanted: *wanted, task, text: text.clone() })
        }));
    }
    Ok(tasks)
}

/// What an item asks; none where that is blank.
fn text_of(item: &Map<String, Value>) -> Option<String> {
    item.get("input").and_then(asked_of).filter(|text| !text.trim().is_empty())
}

/// The text, or why there is none; and what the replies took.
async fn one(
    writer: &dyn Writer,
    task: &Task,
    tenant: &str,
    until: Instant,
) -> (Result<Writing, String>, Option<Usage>) {
    let Rewritten { text, usage } = writer.write(&task.task, &task.text, tenant, until).await;
    let text = text.and_then(|text| task.wanted.method.with_reply(&task.text, &text));
    let model = usage.as_ref().map(|usage| usage.model.clone()).unwrap_or_default();
    (text.map(|text| Writing { text, model }), usage)
}
