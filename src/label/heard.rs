//! What is told of labels beside that they were taken: what of them is not known here, counts nowhere, or says the opposite of
//! somebody else.

use super::ask::rows;
use super::fault::LabelError;
use super::verdict::{WITHDRAWN, verdict};
use crate::schema::batch::Annotation;
use crate::sql::Sql;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Most traces that are looked up at once.
const MAX_TRACES: usize = 500;
/// Most traces and words that are named.
const MAX_NAMED: usize = 20;

/// What there is to tell of labels.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// How many traces are not in the table `spans`, and the first of them: labels of spans that are still to come are kept, but
    /// a wrong id must not go unseen.
    pub unknown: (usize, Vec<String>),
    /// How many labels are words that no view counts, and the first of these words.
    pub uncounted: (usize, Vec<String>),
    /// How many labels say the opposite of what another person said last about the same.
    pub contradicting: usize,
}

impl Heard {
    /// What there is to tell of `labels`, which are not in the tables yet.
    ///
    /// # Errors
    /// Those of asking the tables.
    pub async fn of(sql: &Sql, tenant: &str, labels: &[Annotation]) -> Result<Self, LabelError> {
        let mut traces: Vec<String> = labels.iter().map(|row| row.trace_id.to_string()).collect();
        traces.sort();
        traces.dedup();
        let (mut unknown, mut said) = (Vec::new(), Vec::new());
        for some in traces.chunks(MAX_TRACES) {
            let list: Vec<String> = some.iter().map(|id| format!("'{id}'")).collect();
            let list = list.join(", ");
            let query = format!("SELECT DISTINCT trace_id FROM spans WHERE trace_id IN ({list})");
            let found: Vec<There> = rows(sql, tenant, &query, Vec::new()).await?;
            let found: HashSet<String> = found.into_iter().map(|row| row.trace_id).collect();
            unknown.extend(some.iter().filter(|id| !found.contains(*id)).cloned());
            let query = format!(
                "SELECT trace_id, coalesce(span_id, '') AS span_id, name, label, coalesce(annotator, '') AS annotator \
                 FROM annotations WHERE trace_id IN ({list}) AND label IS NOT NULL ORDER BY created_at, annotation_id"
            );
            said.extend(rows::<Said>(sql, tenant, &query, Vec::new()).await?);
        }
        let count = unknown.len();
        unknown.truncate(MAX_NAMED);
        let contradicting = contradicting(said, labels);
        metrics::counter!("groundline_labels_contradicting_total").increment(contradicting as u64);
        Ok(Self { unknown: (count, unknown), uncounted: uncounted(labels), contradicting })
    }

    /// Puts it into an answer.
    pub fn tell(&self, answer: &mut Value) {
        let more = json!({
            "unknown_traces": self.unknown.0, "unknown": self.unknown.1, "uncounted_labels": self.uncounted.0,
            "uncounted": self.uncounted.1, "contradicting": self.contradicting,
        });
        if let (Some(answer), Some(more)) = (answer.as_object_mut(), more.as_object()) {
            answer.extend(more.clone());
        }
    }
}

/// Words that are neither pass nor fail, and stand beside no value that is.
fn uncounted(labels: &[Annotation]) -> (usize, Vec<String>) {
    let is_counted = |label: &str| verdict(label).is_some() || label.eq_ignore_ascii_case(WITHDRAWN);
    let words = labels.iter().filter_map(|row| row.label.as_deref().filter(|label| !is_counted(label)));
    let (mut count, mut named) = (0, Vec::new());
    for word in words {
        count += 1;
        let word: String = word.chars().take(100).collect();
        if named.len() < MAX_NAMED && !named.contains(&word) {
            named.push(word);
        }
    }
    (count, named)
}

/// How many of `labels` say the opposite of what another person `said` last, in there or before them in the list.
fn contradicting(said: Vec<Said>, labels: &[Annotation]) -> usize {
    let new = labels.iter().map(|row| Said {
        trace_id: row.trace_id.to_string(),
        span_id: row.span_id.map(|id| id.to_string()).unwrap_or_default(),
        name: row.name.clone(),
        label: row.label.clone(),
        annotator: row.annotator.clone().unwrap_or_default(),
    });
    let mut last: HashMap<(String, String, String), (String, bool)> = HashMap::new();
    let (before, mut count) = (said.len(), 0);
    for (at, one) in said.into_iter().chain(new).enumerate() {
        let Some(label) = one.label else { continue };
        let about = (one.trace_id, one.span_id, one.name);
        let Some(passed) = verdict(&label) else {
            if label.eq_ignore_ascii_case(WITHDRAWN) {
                last.remove(&about);
            }
            continue;
        };
        if let Some((who, other)) = last.get(&about)
            && at >= before
            && *other != passed
            && *who != one.annotator
        {
            count += 1;
        }
        last.insert(about, (one.annotator, passed));
    }
    count
}

#[derive(Deserialize)]
struct There {
    trace_id: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Said {
    trace_id: String,
    span_id: String,
    name: String,
    label: Option<String>,
    annotator: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::TraceId;
    use crate::domain::time::UnixNanos;

    fn label(trace: u8, label: &str, annotator: &str) -> Annotation {
        Annotation {
            annotation_id: "a".into(),
            trace_id: TraceId([trace; 16]),
            span_id: None,
            name: "hallucination".into(),
            label: Some(label.into()),
            value: None,
            comment: None,
            annotator: Some(annotator.into()),
            created_at: UnixNanos(0),
            tenant: "t".into(),
            item: None,
            label_probability: None,
        }
    }

    fn said(trace: u8, text: &str, annotator: &str) -> Said {
        Said {
            trace_id: TraceId([trace; 16]).to_string(),
            span_id: String::new(),
            name: "hallucination".into(),
            label: Some(text.into()),
            annotator: annotator.into(),
        }
    }

    #[test]
    fn only_another_persons_opposite_is_a_contradiction() {
        let before = || vec![said(1, "pass", "ana"), said(2, "bad", "ana"), said(3, "pass", "ana")];
        let count = |labels: &[Annotation]| contradicting(before(), labels);
        assert_eq!(count(&[label(1, "good", "ben"), label(2, "fail", "ben")]), 0, "they agree");
        assert_eq!(count(&[label(1, "fail", "ana")]), 0, "she has changed her mind");
        assert_eq!(count(&[label(1, "No", "ben"), label(2, "yes", "ben")]), 2);
        // What was taken back is no opposite, and a word of another set is none.
        assert_eq!(count(&[label(3, "withdrawn", "ana"), label(3, "fail", "ben")]), 0);
        assert_eq!(count(&[label(3, "unsure", "ben")]), 0);
        // Two in one request.
        assert_eq!(count(&[label(4, "pass", "ana"), label(4, "fail", "ben")]), 1);
    }

    #[test]
    fn words_of_other_sets_are_named_once() {
        let labels: Vec<Annotation> =
            ["maybe", "pass", "maybe", "Withdrawn", "4/5"].map(|word| label(1, word, "ana")).into();
        assert_eq!(uncounted(&labels), (3, vec!["maybe".to_owned(), "4/5".to_owned()]));
    }
}
