//! Evaluations that another system made: on a span (OpenInference) or as a log record (OpenTelemetry).

use super::fields::Fields;
use crate::domain::log::{Evaluation, LogRecord};
use crate::domain::span::Span;

/// Prefixes of a span's evaluations, and of one evaluation's fields below them.
const ON_SPANS: [(&str, &str); 2] = [("evaluations.", "evaluation"), ("annotations.", "annotation")];

/// Whether the span may carry evaluations.
pub fn may_have_evaluations(span: &Span) -> bool {
    ON_SPANS.iter().any(|(prefix, _)| span.attributes.has_prefix(prefix))
}

/// Whether `key` belongs to an evaluation on a span.
pub(super) fn is_evaluation(key: &str) -> bool {
    ON_SPANS.iter().any(|(prefix, _)| key.starts_with(prefix))
}

/// The evaluations that `evaluations.N.evaluation.*` and `annotations.N.annotation.*` of a span state. Those that speak
/// of the whole trace or session (`trace.`, `session.` before them) are not of the span and are left out.
pub fn span_evaluations(span: &Span) -> Vec<Evaluation> {
    if !may_have_evaluations(span) {
        return Vec::new();
    }
    let fields = Fields::new(&span.attributes);
    let of_kind = |(prefix, inner): (&str, &str)| -> Vec<Evaluation> {
        fields.elements(prefix).iter().filter_map(|element| one(element, inner)).collect()
    };
    ON_SPANS.into_iter().flat_map(of_kind).collect()
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
    if record.event_name != "gen_ai.evaluation.result" {
        return None;
    }
    let fields = Fields::new(&record.attributes);
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
