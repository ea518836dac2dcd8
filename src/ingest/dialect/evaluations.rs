//! Evaluations that another system made: on a span (OpenInference) or as a log record (OpenTelemetry).

use super::fields::Fields;
use crate::domain::log::{Evaluation, LogRecord};
use crate::domain::span::{Event, Span};
use crate::domain::value::Attrs;

/// Prefixes of a span's evaluations, and of one evaluation's fields below them.
const ON_SPANS: [(&str, &str); 2] = [("evaluations.", "evaluation"), ("annotations.", "annotation")];

/// The name of OpenTelemetry's event, which stands on spans as well as in log records.
const RESULT: &str = "gen_ai.evaluation.result";

/// Whether the span may carry evaluations.
pub fn may_have_evaluations(span: &Span) -> bool {
    ON_SPANS.iter().any(|(prefix, _)| span.attributes.has_prefix(prefix)) || span.events.iter().any(is_result)
}

fn is_result(event: &Event) -> bool {
    event.name == RESULT
}

/// Whether `key` belongs to an evaluation on a span.
pub(super) fn is_evaluation(key: &str) -> bool {
    ON_SPANS.iter().any(|(prefix, _)| key.starts_with(prefix))
}

/// The evaluations that `evaluations.N.evaluation.*` and `annotations.N.annotation.*` of a span state, and its events
/// `gen_ai.evaluation.result`. Those that speak of the whole trace or session (`trace.`, `session.` before them) are not
/// of the span and are left out.
pub fn span_evaluations(span: &Span) -> Vec<Evaluation> {
    if !may_have_evaluations(span) {
        return Vec::new();
    }
    let fields = Fields::new(&span.attributes);
    let of_kind = |(prefix, inner): (&str, &str)| -> Vec<Evaluation> {
        fields.elements(prefix).iter().filter_map(|element| one(element, inner)).collect()
    };
    let events = span.events.iter().filter(|event| is_result(event));
    let told = events.filter_map(|event| of_attributes(&event.attributes));
    ON_SPANS.into_iter().flat_map(of_kind).chain(told).collect()
}

fn one(element: &Fields<'_>, inner: &str) -> Option<Evaluation> {
    Some(Evaluation {
        name: element.plain(&format!("{inner}.name"))?,
        value: number(element, &format!("{inner}.score")),
        label: element.plain(&format!("{inner}.label")),
        explanation: element.plain(&format!("{inner}.explanation")),
        error_type: None,
    })
}

/// The evaluation in a record `gen_ai.evaluation.result`; none in any other record and in one without a name.
pub(super) fn of_record(record: &LogRecord) -> Option<Evaluation> {
    if record.event_name == RESULT { of_attributes(&record.attributes) } else { None }
}

fn of_attributes(attributes: &Attrs) -> Option<Evaluation> {
    let fields = Fields::new(attributes);
    Some(Evaluation {
        name: fields.plain("gen_ai.evaluation.name")?,
        value: number(&fields, "gen_ai.evaluation.score.value"),
        label: fields.plain("gen_ai.evaluation.score.label"),
        explanation: fields.plain("gen_ai.evaluation.explanation"),
        error_type: fields.plain("error.type"),
    })
}

fn number(fields: &Fields<'_>, key: &str) -> Option<f64> {
    fields.get(key)?.as_f64().filter(|value| value.is_finite())
}
