//! The way of a span, and of a log record, through the conventions.

use super::detect::{self, Marks};
use super::draft::Draft;
use super::fields::{self, Fields};
use super::fill::fill;
use super::{
    claude_code, evaluations, frameworks, genai_events, langfuse, langsmith, logfire, mlflow, openinference,
    openllmetry, otel_genai, vercel,
};
use crate::domain::log::LogRecord;
use crate::domain::span::{Dialect, Llm, Operation, Span, StatusCode};

/// Fills `span.llm` from attributes, events and scope. The raw fields stay as they came.
///
/// An ordinary span costs one pass over its keys. Of it, only the error's type and the ids of session and user are
/// read.
pub fn normalize_span(span: &mut Span) {
    let marks = Marks::of(span);
    let mut llm = if marks.any() {
        of_span(span, marks)
    } else {
        let mut llm = Llm::default();
        if marks.identity() {
            fields::identity(&Fields::new(&span.attributes), &mut llm);
        }
        llm
    };
    llm.error_type = error_type(span);
    span.llm = llm;
}

/// Fills `content` with what the record says of its span, and `evaluation` with a result from elsewhere.
pub fn normalize_log(record: &mut LogRecord) {
    record.content = genai_events::content_of(record).map(Box::new);
    record.evaluation = evaluations::of_record(record);
}

fn of_span(span: &Span, marks: Marks) -> Llm {
    let fields = Fields::new(&span.attributes);
    let primary = detect::primary(span, &fields, marks);
    let mut draft = Draft::default();
    draft.llm.dialect = primary;
    fields::scalars(&fields, &mut draft.llm);
    let said = detect::order(primary, marks).find_map(|dialect| operation(dialect, &fields, span));
    draft.llm.operation = said.unwrap_or_else(|| guessed(&fields, &draft.llm));
    for dialect in detect::order(primary, marks) {
        ask(dialect, &fields, span, &mut draft);
    }
    draft.finish(&span.name)
}

fn operation(dialect: Dialect, fields: &Fields<'_>, span: &Span) -> Option<Operation> {
    match dialect {
        Dialect::Langfuse => langfuse::operation(fields),
        Dialect::Openinference => openinference::operation(fields),
        Dialect::Mlflow => mlflow::operation(fields),
        Dialect::Langsmith => langsmith::operation(fields),
        Dialect::Vercel => vercel::operation(fields),
        Dialect::Logfire => logfire::operation(fields),
        Dialect::Openllmetry => openllmetry::operation(fields, span),
        Dialect::OtelGenai => otel_genai::operation(fields),
        Dialect::Framework => claude_code::operation(fields, span).or_else(|| frameworks::operation(fields)),
        Dialect::PydanticAi | Dialect::None => None,
    }
}

/// A span that names a model and says nothing of its kind is a call of that model; one that names a tool and no model
/// runs it, as MCP's do.
fn guessed(fields: &Fields<'_>, llm: &Llm) -> Operation {
    let silent =
        ["gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "ai.operationId"]
            .iter()
            .all(|key| fields.get(key).is_none());
    let model =
        llm.request_model.is_some() || llm.response_model.is_some() || fields.get("llm.model_name").is_some();
    match (silent, model) {
        (true, true) => Operation::Llm,
        (true, false) if fields.text("gen_ai.tool.name").is_some() => Operation::Tool,
        _ => Operation::Other,
    }
}

fn ask(dialect: Dialect, fields: &Fields<'_>, span: &Span, draft: &mut Draft) {
    match dialect {
        Dialect::Langfuse => langfuse::fill_from(fields, span, draft),
        Dialect::Openinference => openinference::fill_from(fields, span, draft),
        Dialect::Mlflow => mlflow::fill_from(fields, draft),
        Dialect::Langsmith => langsmith::fill_from(fields, draft),
        Dialect::Vercel => vercel::fill_from(fields, draft),
        Dialect::PydanticAi => logfire::fill_pydantic(fields, draft),
        Dialect::Logfire => logfire::fill_logfire(fields, draft),
        Dialect::Openllmetry => openllmetry::fill_from(fields, span, draft),
        Dialect::OtelGenai => {
            otel_genai::fill_from(fields, draft);
            genai_events::fill_from(&span.events, draft);
        }
        Dialect::Framework => {
            claude_code::fill_from(fields, span, draft);
            frameworks::fill_from(fields, draft);
        }
        Dialect::None => {}
    }
}

/// The class of the error: `error.type`, else the exception of a span that failed.
fn error_type(span: &Span) -> Option<String> {
    let exception = || {
        let event = span.events.iter().rev().find(|event| event.name == "exception")?;
        event.attributes.str("exception.type")
    };
    let failed = span.status == StatusCode::Error;
    let mut name = None;
    fill(&mut name, span.attributes.str("error.type"));
    if failed && name.is_none() {
        name = exception();
    }
    name.map(class_name).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// One version pair in the field sends Python's printed form of the class.
fn class_name(name: &str) -> &str {
    name.strip_prefix("<class '").and_then(|rest| rest.strip_suffix("'>")).unwrap_or(name)
}

#[cfg(test)]
#[path = "normalize_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "frameworks_tests.rs"]
mod frameworks_tests;

#[cfg(test)]
#[path = "libraries_tests.rs"]
mod libraries_tests;
