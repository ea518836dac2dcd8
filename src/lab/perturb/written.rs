//! Texts that a judge writes, for the methods that no rule can do.

use super::items::{Wanted, Writing, Writings, asked_of};
use crate::domain::score::Usage;
use crate::eval::{NotWritten, Rewritten, Writer};
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
/// [`LabError::Wrong`] without a judge, [`LabError::Limit`] for too many texts. When none could be written [`LabError::Later`]
/// where one may be another time, and [`LabError::Refused`] where the same would be refused again.
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
    let passes = |why: &NotWritten| matches!(why, NotWritten::Away(_));
    let (mut written, mut first) = (Written { usage: Some(Usage::default()), ..Written::default() }, None);
    for (task, (said, usage)) in tasks.iter().zip(said(writer, &tasks, tenant, until).await) {
        if let (Some(all), Some(usage)) = (&mut written.usage, usage) {
            all.add(usage);
        }
        match said {
            Ok(writing) => drop(written.texts.insert((task.at, task.wanted), writing)),
            Err(why) => {
                let item = &items[task.at];
                let name = item.get("external_id").filter(|id| !id.is_null()).or_else(|| item.get("item_id"));
                let told = why.to_string();
                written.unwritten.push(json!({"item": name, "with": task.wanted.to_string(), "why": told}));
                // One that may be written later says more of them all.
                if first.as_ref().is_none_or(|first| passes(&why) && !passes(first)) {
                    first = Some(why);
                }
            }
        }
    }
    match first.filter(|_| written.texts.is_empty()) {
        None => Ok(written),
        Some(first) => {
            let why = format!("the judge wrote none of {} texts: {first}", tasks.len());
            Err(if passes(&first) { LabError::Later(why) } else { LabError::Refused(why) })
        }
    }
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
type Said = (Result<Writing, NotWritten>, Option<Usage>);

/// What the judge says to each task. Once it takes none any more nobody waits for the rest.
async fn said(writer: &dyn Writer, tasks: &[Task], tenant: &str, until: Instant) -> Vec<Said> {
    let asked = tasks.iter().enumerate();
    let asked: Vec<_> =
        asked.map(|(at, task)| async move { (at, one(writer, task, tenant, until).await) }).collect();
    let mut asked = futures::stream::iter(asked).buffer_unordered(writer.at_once().max(1));
    let mut said: Vec<Option<Said>> = tasks.iter().map(|_| None).collect();
    let mut closed = None;
    while closed.is_none()
        && let Some((at, one)) = asked.next().await
    {
        if let Err(NotWritten::Closed(why)) = &one.0 {
            closed = Some(why.clone());
        }
        said[at] = Some(one);
    }
    let why = closed.unwrap_or_default();
    said.into_iter().map(|one| one.unwrap_or_else(|| (Err(NotWritten::Closed(why.clone())), None))).collect()
}

async fn one(writer: &dyn Writer, task: &Task, tenant: &str, until: Instant) -> Said {
    let Rewritten { text, usage } = writer.write(&task.task, &task.text, tenant, until).await;
    let text =
        text.and_then(|text| task.wanted.method.with_reply(&task.text, &text).map_err(NotWritten::Never));
    let model = usage.as_ref().map(|usage| usage.model.clone()).unwrap_or_default();
    (text.map(|text| Writing { text, model }), usage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Answers every text with the same; how often it was asked.
    struct Same(Result<String, NotWritten>, AtomicUsize);

    #[async_trait]
    impl Writer for Same {
        fn at_once(&self) -> usize {
            2
        }

        async fn write(&self, _: &str, text: &str, _: &str, _: Instant) -> Rewritten {
            let before = self.1.fetch_add(1, Ordering::Relaxed);
            // The first one alone passes by.
            let text = match &self.0 {
                Err(NotWritten::Away(_)) if before > 0 => Ok(text.to_owned()),
                said => said.clone(),
            };
            Rewritten { text, usage: None }
        }
    }

    async fn asked(said: Result<String, NotWritten>) -> (Result<Written, LabError>, usize) {
        let items: Vec<_> =
            (0..9).map(|at| json!({"external_id": at.to_string(), "input": "Where is it?"})).collect();
        let items: Vec<Map<String, Value>> =
            items.iter().filter_map(|item| item.as_object().cloned()).collect();
        let (writer, until) = (Same(said, AtomicUsize::new(0)), Instant::now());
        let wanted: [Wanted; 1] = ["synonym".parse().unwrap()];
        let written = write(&items, &wanted, Some(&writer), ("t", until)).await;
        (written, writer.1.into_inner())
    }

    #[tokio::test]
    async fn what_would_be_refused_again_is_no_matter_of_time() {
        let (written, times) = asked(Ok("Where does it stand?".to_owned())).await;
        assert_eq!((written.unwrap().texts.len(), times), (9, 9));
        let status = |told: Result<Written, LabError>, words: &str| {
            let error = told.err().unwrap();
            assert!(
                error.to_string().contains("none of 9 texts") && error.to_string().contains(words),
                "{error}"
            );
            error.status().as_u16()
        };
        // A text that the judge left as it was, too: it would be paid again.
        let (same, times) = asked(Ok("Where is it?".to_owned())).await;
        assert_eq!((status(same, "changed nothing"), times), (422, 9));
        let (never, times) = asked(Err(NotWritten::Never("too long".to_owned()))).await;
        assert_eq!((status(never, "too long"), times), (422, 9));
        // Nobody is asked again where nobody gets an answer.
        let (closed, times) = asked(Err(NotWritten::Closed("HTTP 401".to_owned()))).await;
        assert_eq!(status(closed, "HTTP 401"), 422);
        assert!(times <= 2, "{times}");
        let (away, times) = asked(Err(NotWritten::Away("busy".to_owned()))).await;
        assert_eq!((status(away, "busy"), times), (503, 9));
    }
}
