//! Labels as CSV: a header with the names of columns, one line a label.

use super::sent::Sent;
use super::verdict::verdict;
use crate::domain::id::{SpanId, TraceId};
use serde::Serialize;
use std::collections::HashMap;

/// The columns that are read; `created_at`, which an export has, is left out.
pub const COLUMNS: [&str; 10] = [
    "annotation_id",
    "trace_id",
    "span_id",
    "name",
    "label",
    "value",
    "comment",
    "annotator",
    "item",
    "label_probability",
];
/// What an export has and an import does not need.
const LEFT_OUT: &str = "created_at";
/// Most faults that are told.
const MAX_FAULTS: usize = 100;

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The line of the file, from 1.
    pub line: u64,
    /// The column, if one is wrong.
    pub column: Option<&'static str>,
    /// What is wrong, and what to do.
    pub message: String,
}

/// What a file says.
#[derive(Debug, Default)]
pub struct Read {
    /// Its labels, each with its line.
    pub rows: Vec<(u64, Sent)>,
    /// What is wrong with the others, the first hundred.
    pub faults: Vec<Fault>,
    /// How many lines have a fault.
    pub faulty: usize,
}

impl Read {
    /// Notes what is wrong with a line.
    pub fn fault(&mut self, line: u64, column: Option<&'static str>, message: String) {
        self.faulty += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault { line, column, message });
        }
    }
}

/// Which labels a file may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Those that say pass or fail.
    Verdicts,
    /// Any.
    Any,
}

/// Reads `text`. Lines that are wrong are told, all at once; so are two labels of one person that contradict each other.
///
/// # Errors
/// What is wrong with the header; then no line is read.
pub fn read(text: &[u8], words: Words) -> Result<Read, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut lines = csv::ReaderBuilder::new().flexible(true).from_reader(text);
    let header = lines.headers().map_err(|e| format!("line 1: {e}"))?.clone();
    let mut places: HashMap<&'static str, usize> = HashMap::new();
    for (at, name) in header.iter().enumerate().filter(|(_, name)| name.trim() != LEFT_OUT) {
        let known = COLUMNS.into_iter().find(|known| *known == name.trim()).ok_or_else(|| {
            format!("line 1: there is no column {name:?}; a file of labels has {}", COLUMNS.join(", "))
        })?;
        if places.insert(known, at).is_some() {
            return Err(format!("line 1: the column {known} is there twice"));
        }
    }
    for needed in ["trace_id", "name"] {
        if !places.contains_key(needed) {
            return Err(format!(
                "line 1: the column {needed} is missing; the first line must name the columns"
            ));
        }
    }
    let (mut found, width) = (Read::default(), header.len());
    let mut said: HashMap<[String; 4], (u64, Option<String>)> = HashMap::new();
    for record in lines.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                found.fault(line, None, error.to_string());
                continue;
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != width {
            found.fault(
                line,
                None,
                format!("{} cells, the header has {width}: quote cells that hold a comma", record.len()),
            );
            continue;
        }
        let cell = |name: &str| {
            let text = record.get(*places.get(name)?)?;
            (!text.trim().is_empty()).then(|| text.to_owned())
        };
        match one(cell, words) {
            Err((column, message)) => found.fault(line, Some(column), message),
            Ok(sent) => match contradicts(&mut said, line, &sent) {
                Some(message) => found.fault(line, Some("label"), message),
                None => found.rows.push((line, sent)),
            },
        }
    }
    Ok(found)
}

fn one(cell: impl Fn(&str) -> Option<String>, words: Words) -> Result<Sent, (&'static str, String)> {
    let number = |name: &'static str| match cell(name) {
        None => Ok(None),
        Some(text) => match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some(number)),
            _ => Err((name, format!("{text:?} is no number"))),
        },
    };
    let label = cell("label");
    if let (Some(label), Words::Verdicts) = (&label, words)
        && verdict(label).is_none()
    {
        let why = format!(
            "{label:?} is neither pass nor fail; ask with labels=any (--any-label) if the words are your own"
        );
        return Err(("label", why));
    }
    let trace = cell("trace_id").ok_or(("trace_id", "the cell is empty".to_owned()))?;
    TraceId::from_hex(trace.trim()).map_err(|e| ("trace_id", e.to_string()))?;
    let span = cell("span_id");
    if let Some(span) = &span {
        SpanId::from_hex(span.trim()).map_err(|e| ("span_id", e.to_string()))?;
    }
    let chance = number("label_probability")?;
    if chance.is_some_and(|chance| !(chance > 0.0 && chance <= 1.0)) {
        return Err(("label_probability", "must be above 0 and at most 1".to_owned()));
    }
    let name = cell("name").ok_or(("name", "the cell is empty: what is judged?".to_owned()))?;
    let (value, comment) = (number("value")?, cell("comment"));
    if label.is_none() && value.is_none() && comment.is_none() {
        return Err(("label", "give a label, a value or a comment".to_owned()));
    }
    Ok(Sent {
        annotation_id: cell("annotation_id"),
        trace_id: Some(trace.trim().to_owned()),
        span_id: span.map(|span| span.trim().to_owned()),
        name,
        label,
        value,
        comment,
        annotator: cell("annotator"),
        item: cell("item"),
        label_probability: chance,
        ..Sent::default()
    })
}

/// Why `sent` contradicts an earlier line: the same person says something else of the same thing.
fn contradicts(
    said: &mut HashMap<[String; 4], (u64, Option<String>)>,
    line: u64,
    sent: &Sent,
) -> Option<String> {
    let texts = [&sent.trace_id, &sent.span_id, &sent.annotator].map(|text| text.clone().unwrap_or_default());
    let [trace, span, who] = texts;
    let meant = match sent.label.as_deref().map(|label| (label, verdict(label))) {
        Some((_, Some(passed))) => Some(passed.to_string()),
        Some((label, None)) => Some(label.to_owned()),
        None => sent.value.map(|value| value.to_string()),
    };
    match said.entry([trace, span, who, sent.name.trim().to_owned()]) {
        std::collections::hash_map::Entry::Vacant(free) => {
            free.insert((line, meant));
            None
        }
        std::collections::hash_map::Entry::Occupied(taken) => {
            let (first, before) = taken.get();
            (*before != meant).then(|| {
                format!(
                    "contradicts line {first}, where the same annotator says something else of the same item"
                )
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    #[test]
    fn a_file_is_read_by_its_header() {
        let text = format!(
            "\u{feff}name,trace_id,label,comment,label_probability,created_at\n\
             hallucination,{TRACE},pass,\"fine, yes\",0.25,2026-11-23T00:00:00Z\n\
             hallucination,{TRACE},pass,,,\n"
        );
        let found = read(text.as_bytes(), Words::Verdicts).unwrap();
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        let (line, first) = &found.rows[0];
        assert_eq!(
            (*line, first.comment.as_deref(), first.label_probability),
            (2, Some("fine, yes"), Some(0.25))
        );
        assert_eq!(found.rows.len(), 2);
    }

    #[test]
    fn every_fault_is_told_with_line_and_column() {
        let other = TRACE.replace('0', "1");
        let lines = [
            "trace_id,name,label,annotator,label_probability,value",
            &format!("{TRACE},m,pass,ana,0.5,"),
            &format!("{TRACE},m,fail,ana,0.5,"),
            "xyz,m,pass,ana,,",
            &format!("{TRACE},,pass,ana,,"),
            &format!("{other},m,superb,ana,,"),
            &format!("{other},m,pass,ben,1.5,"),
            &format!("{other},m,pass"),
            &format!("{other},m,,eva,,"),
            &format!("{other},m,,eva,,much"),
        ];
        let found = read(lines.join("\n").as_bytes(), Words::Verdicts).unwrap();
        let told: Vec<(u64, Option<&str>)> = found.faults.iter().map(|f| (f.line, f.column)).collect();
        let wanted = [
            (3, Some("label")),
            (4, Some("trace_id")),
            (5, Some("name")),
            (6, Some("label")),
            (7, Some("label_probability")),
            (8, None),
            (9, Some("label")),
            (10, Some("value")),
        ];
        assert_eq!(told, wanted, "{:?}", found.faults);
        assert!(found.faults[0].message.contains("line 2"));
        assert_eq!(found.rows.len(), 1);
        let any = read(lines.join("\n").as_bytes(), Words::Any).unwrap();
        assert_eq!(any.rows.len(), 2);
    }

    #[test]
    fn faults_beyond_those_that_are_told_are_counted() {
        let lines = "xyz,m,pass\n".repeat(MAX_FAULTS + 20);
        let found = read(format!("trace_id,name,label\n{lines}").as_bytes(), Words::Verdicts).unwrap();
        assert_eq!((found.faults.len(), found.faulty), (MAX_FAULTS, MAX_FAULTS + 20));
    }

    #[test]
    fn a_wrong_header_says_what_columns_there_are() {
        for (text, part) in [
            ("trace,name\n", "there is no column \"trace\""),
            ("trace_id,label\n", "column name is missing"),
            ("name,name,trace_id\n", "twice"),
            ("", "column trace_id is missing"),
        ] {
            let error = read(text.as_bytes(), Words::Verdicts).unwrap_err();
            assert!(error.contains(part) && error.starts_with("line 1"), "{error}");
        }
    }
}
