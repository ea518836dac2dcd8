//! A judgement as it is sent.

use super::verdict::WITHDRAWN;
use crate::domain::id::{IdError, SpanId, TraceId};
use crate::ingest::Receiver;
use crate::schema::batch::{Annotation, AnswerKind};
use serde::Deserialize;

/// What is sent.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sent {
    /// Identity; the same id sent twice is one row.
    pub annotation_id: Option<String>,
    /// The trace; not needed for a drawn item.
    pub trace_id: Option<String>,
    /// The span.
    pub span_id: Option<String>,
    /// What is judged.
    pub name: String,
    /// The verdict.
    pub label: Option<String>,
    /// The score.
    pub value: Option<f64>,
    /// Why.
    pub comment: Option<String>,
    /// Who.
    pub annotator: Option<String>,
    /// The drawn item that it answers, as `/v1/labels/next` gave it.
    pub item: Option<String>,
    /// Of an item: answer, skip or undo.
    pub kind: Option<AnswerKind>,
    /// Of an item: whether it should be looked at again.
    pub flagged: bool,
    /// Of an item: how long it took, seconds.
    pub seconds: Option<f64>,
    /// Probability with which the item was drawn for a label, where something else drew it.
    pub label_probability: Option<f64>,
}

impl Sent {
    /// The row that it becomes, redacted where the receiver is told to.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn row(mut self, receiver: &Receiver, tenant: &str) -> Result<Annotation, String> {
        let wrong = |e: IdError| e.to_string();
        self.name = self.name.trim().to_owned();
        self.label = self.label.as_deref().map(counted).filter(|label| !label.is_empty());
        if self.name.is_empty() {
            return Err("name is empty; say what is judged".to_owned());
        }
        let trace = self.trace_id.take().ok_or("trace_id is missing; say which trace is judged")?;
        if self.annotation_id.as_deref() == Some("") {
            return Err("annotation_id is empty; leave it out to get one".to_owned());
        }
        if self.label.is_none() && self.value.is_none() && self.comment.is_none() {
            return Err("give a label, a value or a comment".to_owned());
        }
        if self.label_probability.is_some_and(|chance| !(chance > 0.0 && chance <= 1.0)) {
            return Err("label_probability must be above 0 and at most 1".to_owned());
        }
        if let Some(redactor) = receiver.redactor() {
            let texts = [&mut self.label, &mut self.comment, &mut self.annotator];
            redactor.texts(texts.into_iter().flatten().chain([&mut self.name]));
        }
        Ok(Annotation {
            annotation_id: self.annotation_id.unwrap_or_else(new_id),
            trace_id: TraceId::from_hex(&trace).map_err(wrong)?,
            span_id: self.span_id.map(|id| SpanId::from_hex(&id)).transpose().map_err(wrong)?,
            name: self.name,
            label: self.label,
            value: self.value,
            comment: self.comment,
            annotator: self.annotator,
            created_at: receiver.now(),
            tenant: tenant.into(),
            item: self.item,
            label_probability: self.label_probability,
        })
    }
}

/// The label as the views know it: they compare without regard to case, but for the word that takes back, and with every space.
fn counted(label: &str) -> String {
    match label.trim() {
        word if word.eq_ignore_ascii_case(WITHDRAWN) => WITHDRAWN.to_owned(),
        word => word.to_owned(),
    }
}

/// An id that nothing else has.
pub fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::SystemClock;
    use crate::ingest::Config;
    use crate::journal::{self, Journal};
    use std::sync::Arc;

    fn receiver(folder: &tempfile::TempDir, config: Config) -> Receiver {
        let journal =
            Journal::open(folder.path(), journal::Config::default(), crate::schema::FORMAT).expect("opens");
        Receiver::new(journal, Arc::new(SystemClock), config)
    }

    #[tokio::test]
    async fn no_text_of_an_annotation_holds_a_finding() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = Config::default();
        config.redact.kinds = vec!["*".to_owned()];
        let receiver = receiver(&folder, config);
        let said = "said by jane.doe@example.org";
        let sent = serde_json::json!({"trace_id": "0af7651916cd43dd8448eb211c80319c", "name": said,
            "label": said, "comment": said, "annotator": said});
        let sent: Sent = serde_json::from_value(sent).expect("is an annotation");
        let row = sent.row(&receiver, "t").expect("is a row");
        let clean = Some("said by [EMAIL]");
        assert_eq!(Some(row.name.as_str()), clean);
        for text in [&row.label, &row.comment, &row.annotator] {
            assert_eq!(text.as_deref(), clean);
        }
    }

    /// A file may have `trace, hallucination, pass`: the label was taken for one that counts, and no view counted it.
    #[tokio::test]
    async fn a_label_is_stored_as_the_views_compare_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let receiver = receiver(&folder, Config::default());
        let row = |label: &str, value: Option<f64>| {
            let sent = Sent {
                trace_id: Some("0af7651916cd43dd8448eb211c80319c".to_owned()),
                name: " m ".to_owned(),
                label: Some(label.to_owned()),
                value,
                ..Sent::default()
            };
            sent.row(&receiver, "t")
        };
        for (label, stored) in [
            (" Pass\t", Some("Pass")),
            ("Withdrawn ", Some("withdrawn")),
            ("so so", Some("so so")),
            (" ", None),
        ] {
            let row = row(label, Some(1.0)).expect("is a row");
            assert_eq!((row.name.as_str(), row.label.as_deref()), ("m", stored), "{label:?}");
        }
        assert!(row(" ", None).is_err(), "it says nothing");
    }
}
