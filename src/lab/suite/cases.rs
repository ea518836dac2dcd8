//! Cases from files, whose format is told by the content.

use super::fault::{Faults, SourceLine};
use super::spec::TestSpec;
use crate::lab::place;
use crate::lab::rows::{self, FileFormat, Limits};
use bytes::Bytes;
use serde_json::{Map, Value as Json};
use std::path::Path;

/// Longest file, bytes.
const MAX_FILE: u64 = 100 << 20;
/// Longest case, bytes.
const MAX_CASE: usize = 4 << 20;
/// Most cases of a file.
const MAX_CASES: usize = 100_000;

/// What a case may say, and under which other names; anything else goes into its metadata.
const KEYS: &[(&str, &[&str])] = &[
    ("id", &["external_id", "item_id"]),
    ("input", &["question", "input_under_test", "Test Input", "inputData"]),
    (
        "right_answer",
        &[
            "expected",
            "expected output",
            "expected_output",
            "expectedOutput",
            "golden_output",
            "Right Answer",
            "ideal",
        ],
    ),
    ("output", &["answer"]),
    ("contexts", &["retrieved_context"]),
    ("expected_documents", &[]),
    ("constraints", &["output_constraints"]),
    ("system_prompt", &[]),
    ("history", &["conversation_history"]),
    ("tags", &[]),
    ("files", &[]),
    ("weight", &[]),
    ("group", &["group_id"]),
    ("threshold", &[]),
    ("context", &[]),
    ("metadata", &[]),
    ("check", &["checks"]),
];
/// What an export adds to an item that no case has.
const MADE: &[&str] = &["content_hash", "ordinal", "inclusion_probability"];
/// Columns that are lists.
const LISTS: &[&str] = &["contexts", "expected_documents", "history", "tags", "files"];
/// Columns that are numbers.
const NUMBERS: &[&str] = &["weight", "threshold"];

/// Reads a file of cases. What is wrong with a case is told with its line, and the other cases are there.
pub(super) fn read(path: &Path, name: &str, faults: &mut Faults) -> Vec<(TestSpec, SourceLine)> {
    match read_bytes(path) {
        Ok(bytes) => parse(&bytes, name, faults),
        Err(why) => {
            faults.add(format!("{name}: {why}"));
            Vec::new()
        }
    }
}

/// The items of a stored dataset as its export has them, JSON lines, as cases.
pub(super) fn stored(bytes: &Bytes, name: &str, faults: &mut Faults) -> Vec<(TestSpec, SourceLine)> {
    match rows::read(bytes, Some(FileFormat::Jsonl), Limits { rows: MAX_CASES, row_size: usize::MAX }) {
        // A version without items has no lines.
        _ if bytes.is_empty() => Vec::new(),
        Err(why) => {
            faults.add(format!("{name}: {why}"));
            Vec::new()
        }
        Ok(mut read) => {
            for fault in &read.faults {
                faults.add(format!("{}: {}", fault.place().told(name), fault.bare()));
            }
            for (_, item) in &mut read.rows {
                // The sender's id is what people know; an item without one has ours.
                if item.contains_key("external_id") {
                    item.shift_remove("item_id");
                }
                MADE.iter().for_each(|key| drop(item.shift_remove(*key)));
            }
            cases(read.rows, name, faults)
        }
    }
}

/// The text of a file of at most 100 MiB.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    text_of(read_bytes(path)?.into())
}

fn read_bytes(path: &Path) -> Result<Bytes, String> {
    let length = std::fs::metadata(path).map_err(|e| e.to_string())?.len();
    if length > MAX_FILE {
        return Err(format!("the file has {length} bytes, at most {MAX_FILE} (100 MiB): cut it in parts"));
    }
    std::fs::read(path).map(Bytes::from).map_err(|e| e.to_string())
}

/// UTF-8 without its mark of the order of bytes.
pub(super) fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8 (byte {at}): save the file as UTF-8")
    })?;
    if let Some(at) = text.find('\0') {
        let line = text[..at].matches('\n').count() + 1;
        return Err(format!("line {line} has a NUL byte: this is no text file, or it is damaged"));
    }
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The cases of a file in whichever format it is.
pub(super) fn parse(bytes: &Bytes, name: &str, faults: &mut Faults) -> Vec<(TestSpec, SourceLine)> {
    let limits = Limits { rows: MAX_CASES, row_size: MAX_CASE };
    let read = match rows::read(bytes, None, limits) {
        Ok(read) => read,
        Err(why) => {
            faults.add(format!("{name}: {why}"));
            return Vec::new();
        }
    };
    for fault in &read.faults {
        faults.add(format!("{}: {}", fault.place().told(name), fault.bare()));
    }
    cases(read.rows, name, faults)
}

/// The cases that rows are, from whichever place they came.
pub(super) fn cases(
    rows: Vec<(place::Place, Map<String, Json>)>,
    name: &str,
    faults: &mut Faults,
) -> Vec<(TestSpec, SourceLine)> {
    let mut cases = Vec::new();
    for (at, object) in rows {
        let line = at.line.map_or(0, |line| usize::try_from(line).unwrap_or(0));
        match case(object) {
            Ok(spec) => cases.push((spec, SourceLine { file: name.to_owned(), line })),
            Err(why) => faults.add(format!("{}: {why}", at.told(name))),
        }
    }
    cases
}

/// A case out of an object: known names, and metadata of all others.
fn case(object: Map<String, Json>) -> Result<TestSpec, String> {
    let (mut known, mut more) = (Map::new(), Map::new());
    for (key, value) in object {
        if value.is_null() {
            continue;
        }
        let is = |(name, others): &&(&str, &[&str])| *name == key || others.contains(&key.as_str());
        match KEYS.iter().find(is) {
            Some((name, _)) if known.contains_key(*name) => {
                return Err(format!("{key:?} and another column both say {name}: keep one of them"));
            }
            Some((name, _)) => {
                known.insert((*name).to_owned(), typed(name, value));
            }
            None => {
                more.insert(key, value);
            }
        }
    }
    match known.get_mut("metadata") {
        Some(Json::Object(metadata)) => metadata.extend(more),
        Some(_) => return Err("metadata must be an object".to_owned()),
        None if more.is_empty() => {}
        None => drop(known.insert("metadata".to_owned(), Json::Object(more))),
    }
    if let Some(id) = known.get_mut("id").filter(|id| !id.is_string()) {
        *id = id.to_string().into();
    }
    if !known.contains_key("input") {
        return Err("no input: name the column input or question".to_owned());
    }
    serde_json::from_value(Json::Object(known)).map_err(|e| e.to_string())
}

/// A text where a list or a number belongs, as cells have them, is one.
fn typed(name: &str, value: Json) -> Json {
    match value {
        Json::String(text) if LISTS.contains(&name) => Json::Array(vec![Json::String(text)]),
        Json::String(text) if NUMBERS.contains(&name) => match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => number.into(),
            _ => Json::String(text),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good(text: &str) -> Vec<(TestSpec, SourceLine)> {
        let mut faults = Faults::default();
        let cases = parse(&Bytes::copy_from_slice(text.as_bytes()), "cases", &mut faults);
        assert!(faults.is_empty(), "{faults}");
        cases
    }

    fn told(text: &str) -> (usize, String) {
        let mut faults = Faults::default();
        let cases = parse(&Bytes::copy_from_slice(text.as_bytes()), "cases", &mut faults);
        (cases.len(), faults.to_string())
    }

    #[test]
    fn the_same_cases_in_three_formats() {
        let csv = "id,input.question,expected,contexts,weight,category\n1,\"Who, then?\",Stoker,\"[\"\"a\"\",\"\"b\"\"]\",2,books\n";
        let one = r#"{"id": 1, "input": {"question": "Who, then?"}, "expected": "Stoker", "contexts": ["a", "b"], "weight": 2, "category": "books"}"#;
        let wanted = good(csv);
        assert_eq!(wanted[0].0.input, json!({"question": "Who, then?"}));
        assert_eq!((wanted[0].0.id.as_str(), wanted[0].0.weight), ("1", Some(2.0)));
        assert_eq!(wanted[0].0.metadata["category"], "books");
        for text in [format!("{one}\n"), format!("[\n{one}\n]"), format!("{{\n\"items\": [{one}]}}")] {
            assert_eq!(good(&text)[0].0, wanted[0].0, "{text}");
        }
        assert_eq!(good(&format!("[\n{one},\n\n{one}]"))[1].1.line, 4);
        assert_eq!((wanted[0].1.line, good(&format!("{one}\n\n{one}"))[1].1.line), (2, 3));
    }

    #[test]
    fn a_fault_names_its_line_and_the_other_cases_are_there() {
        let (there, why) =
            told("{\"input\": \"a\"}\n{\"input\": \n{\"inputt\": \"b\"}\n[1]\n{\"input\": \"c\"}\n");
        assert_eq!(there, 2, "{why}");
        for part in ["cases:2: not JSON, at column", "cases:3: no input", "cases:4: not a JSON object"] {
            assert!(why.contains(part), "{part} is missing in:\n{why}");
        }
        let (there, why) = told("input,expected\na,b,c\nd,e\nf\n");
        assert_eq!(there, 1);
        assert!(why.contains("cases:2: 3 cells") && why.contains("cases:4: 1 cells"), "{why}");
        let (_, why) = told("{\"input\": \"a\", \"weight\": \"heavy\"}");
        assert!(why.contains("cases:1: ") && why.contains("heavy"), "{why}");
        assert!(told(" \n").1.contains("empty"));
        assert!(told("[{\"input\": \"a\"},").1.contains("cases: "));
        let (_, why) = told("question,input\na,b\n");
        assert!(why.contains("both say input"), "{why}");
        let (_, why) = told("{\"input\": \"a\", \"check\": [{\"operatr\": \"x\"}]}");
        assert!(why.contains("cases:1") && why.contains("operatr"), "{why}");
    }

    #[test]
    fn what_is_no_text_is_told() {
        assert!(text_of(b"a\nb\0c".to_vec()).unwrap_err().contains("line 2 has a NUL"));
        assert!(text_of(b"a\nb\xff".to_vec()).unwrap_err().contains("line 2 is not UTF-8"));
        assert_eq!(text_of("\u{feff}a".into()).unwrap(), "a");
    }
}
