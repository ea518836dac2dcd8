//! What a row of spans must be to be stored: such as the receiver stores them.

use super::versions::Bounds;
use crate::domain::id::SpanId;
use crate::domain::span::{Dialect, Operation, SpanKind, StatusCode};
use crate::lab::cells::Row;
use crate::lab::dataset::Redact;
use arrow::array::{Array, AsArray, RecordBatch};
use serde::de::IgnoredAny;

/// Ids, which are not text that anybody wrote.
const IDS: [&str; 3] = ["trace_id", "span_id", "parent_span_id"];
/// Columns that have a JSON object.
const OBJECTS: [&str; 3] = ["resource_attributes", "scope_attributes", "attributes"];
/// Columns that have a JSON array.
const ARRAYS: [&str; 5] = ["events", "links", "input_messages", "output_messages", "tool_calls"];
/// Numbers that OTLP has as 32 bits.
const COUNTS: [&str; 4] =
    ["flags", "dropped_attributes_count", "dropped_events_count", "dropped_links_count"];

/// Whether the receiver could have stored the row. Its trace is not looked at.
///
/// # Errors
/// The first column that has what the receiver does not store.
pub fn checked(row: Row<'_>) -> Result<(), String> {
    let told = |column: &str, why: &str| Err(format!("its {column} is {why}"));
    if !is_span_id(&row.text("span_id")) {
        return told("span_id", "not 16 lower-case hexadecimal digits");
    }
    if row.may("parent_span_id").is_some_and(|id| !is_span_id(&id)) {
        return told("parent_span_id", "not 16 lower-case hexadecimal digits");
    }
    let start = row.int("start_time_unix_nano").unwrap_or_default();
    if row.micros("start_time") != Some(start.div_euclid(1_000)) {
        return told("start_time", "not start_time_unix_nano in microseconds");
    }
    // Queries add the two.
    if row.int("duration_ns").and_then(|duration| start.checked_add(duration)).is_none() {
        return told("duration_ns", "beyond the end of time");
    }
    if row.micros("received_at").and_then(|at| at.checked_mul(1_000)).is_none() {
        return told("received_at", "beyond the end of time");
    }
    let is_known = [
        ("span_kind", SpanKind::parse(&row.text("span_kind")).is_some()),
        ("status_code", StatusCode::parse(&row.text("status_code")).is_some()),
        ("dialect", Dialect::parse(&row.text("dialect")).is_some()),
        ("operation", Operation::parse(&row.text("operation")).is_some()),
    ];
    if let Some((column, _)) = is_known.iter().find(|(_, is_known)| !is_known) {
        return told(column, &format!("{:?}, which is none that is known here", row.text(column)));
    }
    let is_no_count = |count: i64| u32::try_from(count).is_err();
    if let Some(column) = COUNTS.iter().find(|name| row.int(name).is_none_or(is_no_count)) {
        return told(column, "no number of 32 bits");
    }
    let other = |names: &'static [&'static str], first: char| {
        names.iter().find(|name| row.may(name).is_some_and(|text| !is_json(&text, first)))
    };
    match (other(&OBJECTS, '{'), other(&ARRAYS, '[')) {
        (Some(column), _) => told(column, "no JSON object"),
        (_, Some(column)) => told(column, "no JSON array"),
        (None, None) => Ok(()),
    }
}

fn is_span_id(text: &str) -> bool {
    SpanId::from_hex(text).is_ok_and(|id| id.to_string() == text)
}

/// However deep it is nested: the receiver has a limit of its own.
fn is_json(text: &str, first: char) -> bool {
    text.starts_with(first) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether nothing of the rows would have been redacted here.
///
/// # Errors
/// Which column has what would be.
pub fn redacted(rows: &RecordBatch, bounds: Bounds<'_>) -> Result<(), String> {
    let Some(redact) = bounds.redact else { return Ok(()) };
    let schema = rows.schema();
    for (field, column) in schema.fields().iter().zip(rows.columns()) {
        if !IDS.contains(&field.name().as_str()) && would_redact(column.as_ref(), redact) {
            return Err(format!(
                "ingest.redact would change {} of a span: make the archive where it was redacted",
                field.name()
            ));
        }
    }
    Ok(())
}

/// Whether a text of the column, however nested, has what is to be taken out.
fn would_redact(column: &dyn Array, redact: &Redact) -> bool {
    if let Some(texts) = column.as_string_opt::<i32>() {
        texts.iter().flatten().any(|text| is_redacted(text, redact))
    } else if let Some(list) = column.as_list_opt::<i32>() {
        would_redact(list.values().as_ref(), redact)
    } else if let Some(parts) = column.as_struct_opt() {
        parts.columns().iter().any(|part| would_redact(part.as_ref(), redact))
    } else {
        false
    }
}

/// JSON is looked at as a whole: beside its texts the receiver redacts numbers and keys, and what a key says of its value.
fn is_redacted(text: &str, redact: &Redact) -> bool {
    let mut after = text.to_owned();
    redact(&mut after);
    after != text
}

#[cfg(test)]
mod tests {
    use super::super::tried::span;
    use super::*;
    use crate::domain::document::Document;
    use crate::domain::span::{Llm, Span};
    use crate::domain::time::UnixNanos;
    use crate::lab::dataset::Item;
    use crate::lab::{Config, cells};
    use crate::schema::batch::spans_to_batch;
    use arrow::array::{ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray};
    use std::sync::Arc;

    /// A row with one column as it is given.
    fn with(name: &str, column: ArrayRef) -> RecordBatch {
        let document = Document { content: Some("from bob@example.com".to_owned()), ..Document::default() };
        let llm = Llm { documents: vec![document], ..Llm::default() };
        let span = Span { llm, ..span(&"1f".repeat(16), 0xab, "said") };
        let rows = spans_to_batch(&[span], "shop", UnixNanos(7_000)).unwrap();
        let Ok(at) = rows.schema().index_of(name) else { return rows };
        let mut columns = rows.columns().to_vec();
        columns[at] = column;
        RecordBatch::try_new(rows.schema(), columns).unwrap()
    }

    fn text(text: &str) -> ArrayRef {
        Arc::new(StringArray::from(vec![text]))
    }

    fn told(name: &str, column: ArrayRef) -> Result<(), String> {
        checked(cells::rows(&[with(name, column)]).next().unwrap())
    }

    #[test]
    fn what_the_receiver_does_not_store_is_told_with_its_column() {
        assert_eq!(told("", text("")), Ok(()));
        let int = |number: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![number])) };
        let time = |at: i64| -> ArrayRef {
            Arc::new(TimestampMicrosecondArray::from(vec![at]).with_timezone("UTC"))
        };
        for (name, column) in [
            ("span_id", text("ABABABABABABABAB")),
            ("span_id", text("0000000000000000")),
            ("parent_span_id", text("../x")),
            ("start_time", time(2)),
            ("duration_ns", int(i64::MAX)),
            ("received_at", time(i64::MAX)),
            ("span_kind", text("cleint")),
            ("status_code", text("")),
            ("dialect", text("mine")),
            ("operation", text("magic")),
            ("flags", int(-1)),
            ("dropped_links_count", int(1 << 32)),
            ("attributes", text("{\"n\":")),
            ("resource_attributes", text("[]")),
            ("events", text("{}")),
            ("tool_calls", text("none")),
        ] {
            let why = told(name, column).unwrap_err();
            assert!(why.starts_with(&format!("its {name} is ")), "{name}: {why}");
        }
    }

    #[test]
    fn what_would_be_redacted_is_found_in_every_column() {
        let redact: Redact = Arc::new(|text: &mut String| *text = text.replace("bob@example.com", "[EMAIL]"));
        let config = Config::default();
        let would_redact = |_: &Item| false;
        let open = Bounds { config: &config, would_redact: &would_redact, redact: None };
        assert!(redacted(&with("", text("")), open).is_ok());
        let strict = Bounds { redact: Some(&redact), ..open };
        let why = redacted(&with("", text("")), strict).unwrap_err();
        assert!(why.contains("documents of a span"), "{why}");
        let nested = r#"{"to":["bob@example.com"]}"#;
        let why = redacted(&with("attributes", text(nested)), strict).unwrap_err();
        assert!(why.contains("attributes of a span"), "{why}");
        assert!(!is_redacted(r#"["ann"]"#, &redact) && is_redacted("to bob@example.com", &redact));
    }

    /// As the receiver does it: with what a key says of its value, and numbers.
    #[test]
    fn what_only_a_key_or_a_number_gives_away_is_found() {
        let redact: Redact = Arc::new(|text: &mut String| {
            *text = text.replace(r#""password":"hunter2""#, r#""password":"[PASSWORD]""#);
            *text = text.replace("4111111111111111", r#""[CREDIT_CARD]""#);
        });
        for text in [r#"{"password":"hunter2"}"#, r#"[{"card":4111111111111111}]"#] {
            assert!(is_redacted(text, &redact), "{text}");
        }
        assert!(!is_redacted(r#"{"password":"[PASSWORD]","card":"[CREDIT_CARD]"}"#, &redact));
    }
}
