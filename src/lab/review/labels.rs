//! Labels of queues as rows of `annotations`.

use super::answer::{Answer, Response, State, standing};
use super::book::Entry;
use super::definition::Source;
use super::stored::Queue;
use super::template::TemplateKind;
use crate::domain::id::{SpanId, TraceId};
use crate::lab::ids::trace_ids;
use crate::schema::batch::{Annotation, AnswerKind};
use std::collections::BTreeMap;

/// A label that takes back the one before it.
const WITHDRAWN: &str = "withdrawn";

/// What a label says of one name: a class, a number or a text.
#[derive(Debug, Default, PartialEq)]
struct Said {
    label: Option<String>,
    value: Option<f64>,
    comment: Option<String>,
}

/// The rows that the change of an item's state from `before` to `after` by `answer` asks for: its label, or that it has none
/// any longer. Labels of an experiment's runs stand under the run's own trace, so no number of production counts them.
pub fn annotations(
    queue: &Queue,
    entry: &Entry,
    answer: &Answer,
    (before, after): (&State, &State),
) -> Vec<Annotation> {
    if before.label() == after.label() {
        return Vec::new();
    }
    let said = match (after.label(), before.label()) {
        (Some(label), _) => said(queue, entry, label),
        (None, Some(label)) => {
            let gone = || Said { label: Some(WITHDRAWN.to_owned()), ..Said::default() };
            said(queue, entry, label).into_keys().map(|name| (name, gone())).collect()
        }
        (None, None) => BTreeMap::new(),
    };
    let (chosen, who) = (&entry.chosen, annotators(entry, answer));
    let (trace_id, span_id) = stands_under(entry);
    let (item, is_of_run) = match &queue.chosen.source {
        Source::Experiment(_) => (Some(chosen.item.clone()), true),
        Source::Sql(_) => (None, false),
        Source::Proposal(_) => (chosen.of_queue.as_ref().and_then(|of| of.source_item.clone()), false),
    };
    let row = |(name, one): (String, Said)| Annotation {
        annotation_id: uuid::Uuid::now_v7().to_string(),
        trace_id,
        span_id,
        name,
        label: one.label,
        value: one.value,
        // Of a run the text stands in the answers alone.
        comment: one.comment.filter(|_| !is_of_run),
        annotator: Some(who.clone()),
        created_at: answer.at,
        tenant: chosen.tenant.clone(),
        item: item.clone(),
        label_probability: queue.chosen.drawn.then_some(chosen.label_probability),
    };
    let is_told = |row: &Annotation| row.label.is_some() || row.value.is_some() || row.comment.is_some();
    said.into_iter().map(row).filter(is_told).collect()
}

/// The trace and the span of a label. A run may name a trace of production's: then it is the run's own, which nothing else has.
fn stands_under(entry: &Entry) -> (TraceId, Option<SpanId>) {
    let chosen = &entry.chosen;
    let attempt = chosen.of_queue.as_ref().and_then(|of| of.attempt).unwrap_or(1);
    let of_production = entry.run_id().filter(|_| !chosen.trace_id.is_of_experiment());
    let own = of_production.map(|run| trace_ids(run, attempt));
    let own =
        own.and_then(|(trace, span)| Some((TraceId::from_hex(&trace).ok()?, SpanId::from_hex(&span).ok())));
    own.unwrap_or((chosen.trace_id, chosen.span_id))
}

fn said(queue: &Queue, entry: &Entry, label: &Response) -> BTreeMap<String, Said> {
    let mut said = BTreeMap::new();
    for template in &queue.templates {
        let Some(value) = label.templates.get(&template.name) else { continue };
        let text = value.as_str().map(str::to_owned);
        let one = match template.kind {
            TemplateKind::Categorical => Said { label: text, ..Said::default() },
            TemplateKind::Numerical => Said { value: value.as_f64(), ..Said::default() },
            TemplateKind::FreeText => Said { comment: text, ..Said::default() },
        };
        said.insert(template.name.clone(), one);
    }
    for one in &entry.asked {
        let Some(edit) = label.auto_evals.get(&one.key()) else { continue };
        let verdict = Some(edit.response.as_str().to_owned());
        said.insert(one.metric.clone(), Said { label: verdict, value: None, comment: edit.feedback.clone() });
    }
    said
}

/// Who made the label: those whose answers agree, or who decided between them.
fn annotators(entry: &Entry, answer: &Answer) -> String {
    let votes = standing(&entry.answers).into_iter();
    let votes = votes.filter(|one| one.kind == AnswerKind::Answer && answer.kind == AnswerKind::Answer);
    let mut who: Vec<&str> = votes.map(|one| one.reviewer.as_str()).collect();
    who.push(&answer.reviewer);
    who.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::UnixNanos;
    use crate::lab::experiment::{AutoEval, Chosen, ForQueue};
    use crate::lab::review::definition::NewQueue;
    use crate::schema::batch::{Made, ReviewQueueRow};
    use serde_json::{Value, json};

    fn queue(source: Value) -> Queue {
        let sent = json!({"name": "q", "source": source, "templates": [
            {"name": "tone", "type": "categorical", "categories": ["polite", "rude"]},
            {"name": "grade", "type": "numerical"}, {"name": "why", "type": "free_text"}]});
        let new: NewQueue = serde_json::from_value(sent).unwrap();
        let made = Made { tenant: "t".into(), at: UnixNanos(0), by: "ana".into() };
        let row = ReviewQueueRow {
            queue_id: "q".into(),
            revision: 1,
            name: "q".into(),
            source_kind: new.source.kind().into(),
            experiment_id: None,
            source: String::new(),
            templates: None,
            instructions: None,
            reviews_per_item: 1,
            reviewers: Vec::new(),
            blind: true,
            status: "open".into(),
            opened_at: UnixNanos(0),
            opened_by: "ana".into(),
            completed_at: None,
            made,
        };
        Queue::new(row, new.chosen(), new.templates)
    }

    fn entry(run: Option<&str>, trace: &str) -> Entry {
        let into = ForQueue { queue_id: "q", name: "q", tenant: "t", population: 1, now: UnixNanos(0) };
        let chosen = Chosen {
            run_id: run.map(str::to_owned),
            attempt: run.map(|_| 1),
            source_item: run.is_none().then(|| "drawn".to_owned()),
            trace_id: trace.to_owned(),
            label_probability: Some(0.25),
            asked: vec![AutoEval::named("hallucination", "hallucination")],
            ..Chosen::default()
        };
        Entry::new(chosen.row(into).unwrap(), Vec::new())
    }

    fn answer() -> Answer {
        let templates = BTreeMap::from([
            ("tone".to_owned(), json!("rude")),
            ("grade".to_owned(), json!(2.5)),
            ("why".to_owned(), json!("it shouts")),
        ]);
        let edits = json!({"hallucination": {"response": "fail", "feedback": "made up"}});
        let response = Response { templates, auto_evals: serde_json::from_value(edits).unwrap() };
        let (comment, seconds, kind) = (None, None, AnswerKind::Answer);
        let (id, reviewer) = ("1".to_owned(), "ana".to_owned());
        Answer { id, reviewer, kind, response, comment, flagged: false, seconds, at: UnixNanos(5) }
    }

    #[test]
    fn a_label_is_a_row_for_each_name_and_an_undo_takes_them_back() {
        let (trace, answer) = ("0af7651916cd43dd8448eb211c80319c", answer());
        let (queue, entry) = (queue(json!({"proposal": "hallucination"})), entry(None, trace));
        let label = State::Final(answer.response.clone());
        let rows = annotations(&queue, &entry, &answer, (&State::Open, &label));
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.name.as_str(), row.label.as_deref(), row.value, row.comment.as_deref()))
            .collect();
        let wanted = [
            ("grade", None, Some(2.5), None),
            ("hallucination", Some("fail"), None, Some("made up")),
            ("tone", Some("rude"), None, None),
            ("why", None, None, Some("it shouts")),
        ];
        assert_eq!(told, wanted);
        let drawn = (rows[0].item.as_deref(), rows[0].label_probability, rows[0].trace_id.to_string());
        assert_eq!(
            drawn,
            (Some("drawn"), Some(0.25), trace.to_owned()),
            "it corrects the rate of production"
        );
        let back = annotations(&queue, &entry, &answer, (&label, &State::Open));
        assert!(back.len() == 4 && back.iter().all(|row| row.label.as_deref() == Some(WITHDRAWN)));
        assert!(annotations(&queue, &entry, &answer, (&label, &label.clone())).is_empty());
    }

    #[test]
    fn a_label_of_a_run_never_stands_under_a_trace_of_production() {
        let (trace, answer) = ("0af7651916cd43dd8448eb211c80319c", answer());
        let (queue, entry) = (queue(json!({"experiment": "v2"})), entry(Some("run"), trace));
        let label = State::Final(answer.response.clone());
        let rows = annotations(&queue, &entry, &answer, (&State::Open, &label));
        assert_eq!(rows.len(), 3, "a text of a run stands in the answer alone");
        assert!(rows.iter().all(|row| row.trace_id.is_of_experiment() && row.comment.is_none()), "{rows:?}");
        assert_eq!(rows[0].item.as_deref(), Some(entry.chosen.item.as_str()));
        let (own, _) = trace_ids("other", 1);
        let marked = self::entry(Some("run"), &own);
        let rows = annotations(&queue, &marked, &answer, (&State::Open, &label));
        assert_eq!(rows[0].trace_id.to_string(), own);
    }
}
