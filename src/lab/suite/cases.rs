//! Cases from CSV, JSON and JSON lines. The format is told by the content.

use super::fault::{Faults, Place};
use super::spec::TestSpec;
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
/// Columns that are lists.
const LISTS: &[&str] = &["contexts", "expected_documents", "history", "tags", "files"];
/// Columns that are numbers.
const NUMBERS: &[&str] = &["weight", "threshold"];

/// Reads a file of cases. What is wrong with a case is told with its line, and the other cases are there.
pub(super) fn read(path: &Path, name: &str, faults: &mut Faults) -> Vec<(TestSpec, Place)> {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(why) => {
            faults.add(format!("{name}: {why}"));
            return Vec::new();
        }
    };
    parse(&text, name, faults)
}

/// The objects that the cases of a file are written as, each with its place.
pub(super) fn objects(path: &Path, name: &str, faults: &mut Faults) -> Vec<(Map<String, Json>, Place)> {
    match read_text(path) {
        Ok(text) => placed(&text, name, faults),
        Err(why) => {
            faults.add(format!("{name}: {why}"));
            Vec::new()
        }
    }
}

/// The text of a file of at most 100 MiB.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    let length = std::fs::metadata(path).map_err(|e| e.to_string())?.len();
    if length > MAX_FILE {
        return Err(format!("the file has {length} bytes, at most {MAX_FILE} (100 MiB): cut it in parts"));
    }
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    if bytes.starts_with(b"PAR1") {
        return Err("this is Parquet: a suite reads CSV, JSON and JSON lines; write one of these".to_owned());
    }
    text_of(bytes)
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

/// Cases of a text in whichever format it is.
pub(super) fn parse(text: &str, name: &str, faults: &mut Faults) -> Vec<(TestSpec, Place)> {
    let mut cases = Vec::new();
    for (object, place) in placed(text, name, faults) {
        match case(object) {
            Ok(spec) => cases.push((spec, place)),
            Err(why) => faults.add(format!("{place}: {why}")),
        }
    }
    cases
}

fn placed(text: &str, name: &str, faults: &mut Faults) -> Vec<(Map<String, Json>, Place)> {
    let mut found = match text.trim_start().chars().next() {
        None => {
            faults.add(format!("{name}: the file is empty"));
            Vec::new()
        }
        Some('[') => array(text, name, faults),
        Some('{') => lines(text, name, faults),
        Some(_) => csv_rows(text, name, faults),
    };
    if found.len() > MAX_CASES {
        faults.add(format!("{name}: {} cases, at most {MAX_CASES}: cut the file in parts", found.len()));
        found.truncate(MAX_CASES);
    }
    let placed = |(line, object)| (object, Place { file: name.to_owned(), line });
    found.into_iter().map(placed).collect()
}

fn array(text: &str, name: &str, faults: &mut Faults) -> Vec<(usize, Map<String, Json>)> {
    let items: Vec<&serde_json::value::RawValue> = match serde_json::from_str(text) {
        Ok(items) => items,
        Err(error) => {
            faults.add(format!("{name}: {error}"));
            return Vec::new();
        }
    };
    let (mut found, mut seen, mut line) = (Vec::new(), 0, 1);
    for item in items {
        let start = item.get().as_ptr() as usize - text.as_ptr() as usize;
        line += text[seen..start].matches('\n').count();
        seen = start;
        found.extend(object(item.get(), name, line, faults).map(|object| (line, object)));
    }
    found
}

/// One object a line; or a single object over several lines, whose list `items`, `tests` or `data` has the cases.
fn lines(text: &str, name: &str, faults: &mut Faults) -> Vec<(usize, Map<String, Json>)> {
    if let Ok(Json::Object(whole)) = serde_json::from_str::<Json>(text)
        && let Some(items) = ["items", "tests", "data"].iter().find_map(|key| whole.get(*key)?.as_array())
    {
        let object = |(at, item): (usize, &Json)| match item {
            Json::Object(object) => Some((0, object.clone())),
            _ => {
                faults.add(format!("{name}: item {}: it is no object", at + 1));
                None
            }
        };
        return items.iter().enumerate().filter_map(object).collect();
    }
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        found.extend(object(line, name, at + 1, faults).map(|object| (at + 1, object)));
    }
    found
}

fn object(text: &str, name: &str, line: usize, faults: &mut Faults) -> Option<Map<String, Json>> {
    if text.len() > MAX_CASE {
        faults.add(format!("{name}:{line}: the case has {} bytes, at most {MAX_CASE} (4 MiB)", text.len()));
        return None;
    }
    match serde_json::from_str::<Json>(text) {
        Ok(Json::Object(object)) => return Some(object),
        Ok(_) => faults.add(format!("{name}:{line}: a case is an object such as {{\"input\": …}}")),
        Err(error) => faults.add(format!("{name}:{line}: column {}: {}", error.column(), bare(&error))),
    }
    None
}

/// The error without its place, which is told in front of it.
fn bare(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

fn csv_rows(text: &str, name: &str, faults: &mut Faults) -> Vec<(usize, Map<String, Json>)> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let heads: Vec<String> = match reader.headers() {
        Ok(heads) => heads.iter().map(|head| head.trim().to_owned()).collect(),
        Err(error) => {
            faults.add(format!("{name}: {error}"));
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                faults.add(format!("{name}: {error}"));
                continue;
            }
        };
        let line = record.position().map_or(0, |position| usize::try_from(position.line()).unwrap_or(0));
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        if record.len() > heads.len() {
            faults.add(format!(
                "{name}:{line}: {} cells, the head has {}: quote cells that hold a comma",
                record.len(),
                heads.len()
            ));
            continue;
        }
        if record.as_slice().len() > MAX_CASE {
            faults.add(format!("{name}:{line}: the case is longer than 4 MiB"));
            continue;
        }
        let mut row = Map::new();
        for (head, cell) in heads.iter().zip(record.iter()).filter(|(_, cell)| !cell.is_empty()) {
            nest(&mut row, head, cell_value(head, cell));
        }
        found.push((line, row));
    }
    found
}

/// A cell that is a JSON object or list is one; a number stays text but where a number belongs.
fn cell_value(head: &str, cell: &str) -> Json {
    let trimmed = cell.trim();
    if trimmed.starts_with(['{', '['])
        && let Ok(json) = serde_json::from_str::<Json>(trimmed)
    {
        return json;
    }
    match trimmed.parse::<f64>() {
        Ok(number) if NUMBERS.contains(&head) && number.is_finite() => number.into(),
        _ => cell.into(),
    }
}

/// Points in a column's name make objects.
fn nest(row: &mut Map<String, Json>, head: &str, value: Json) {
    match head.split_once('.') {
        Some((outer, inner)) if !outer.is_empty() && !inner.is_empty() => {
            let below = row.entry(outer.to_owned()).or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(below) = below {
                nest(below, inner, value);
            }
        }
        _ => {
            row.insert(head.to_owned(), value);
        }
    }
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
                known.insert((*name).to_owned(), as_list(name, value));
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

fn as_list(name: &str, value: Json) -> Json {
    match value {
        Json::String(text) if LISTS.contains(&name) => Json::Array(vec![Json::String(text)]),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good(text: &str) -> Vec<(TestSpec, Place)> {
        let mut faults = Faults::default();
        let cases = parse(text, "cases", &mut faults);
        assert!(faults.is_empty(), "{faults}");
        cases
    }

    fn told(text: &str) -> (usize, String) {
        let mut faults = Faults::default();
        let cases = parse(text, "cases", &mut faults);
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
        for part in ["cases:2: column", "cases:3: no input", "cases:4: a case is an object"] {
            assert!(why.contains(part), "{part} is missing in:\n{why}");
        }
        let (there, why) = told("input,expected\na,b,c\nd,e\n");
        assert_eq!(there, 1);
        assert!(why.contains("cases:2: 3 cells"), "{why}");
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
