//! The house rules as a test: floors, lengths, no unwrap, no unfinished parts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rooms by floor. A room may import rooms of lower floors, with the exceptions below.
const FLOORS: &[(&str, u8)] = &[
    ("units", 0),
    ("domain", 1),
    ("stats", 1),
    ("journal", 1),
    ("net", 1),
    ("detect", 1),
    ("schema", 2),
    ("eval", 2),
    ("queue", 3),
    ("ingest", 3),
    ("lake", 3),
    ("sample", 4),
    ("sql", 4),
    ("score", 5),
    ("watch", 6),
    ("config", 7),
    ("app", 8),
    ("cli", 9),
    ("main", 10),
    ("lib", 10),
];

/// Rooms whose imports are narrower than their floor.
const ONLY: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("domain", &[]),
    ("stats", &[]),
    ("journal", &["units"]),
    ("net", &["units"]),
    ("detect", &[]),
    ("schema", &["domain"]),
    ("eval", &["domain", "detect"]),
    ("queue", &["units", "domain"]),
    ("ingest", &["units", "domain", "schema", "journal", "net", "detect"]),
    ("lake", &["units", "domain", "schema", "journal"]),
    ("sample", &["units", "domain", "schema", "journal", "queue"]),
    ("sql", &["units", "domain", "schema", "stats", "net", "lake"]),
    ("score", &["units", "domain", "schema", "journal", "eval", "queue"]),
];

const MAX_FILE_LINES: usize = 500;
const MAX_FUNCTION_LINES: usize = 70;

fn sources() -> BTreeMap<PathBuf, String> {
    fn walk(folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                files.insert(path, text);
            }
        }
    }
    let mut files = BTreeMap::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 50, "the sources were not found");
    files
}

fn room(path: &Path) -> String {
    let inner = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let first = inner.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

fn floor(room: &str) -> u8 {
    let known = FLOORS.iter().find(|(name, _)| *name == room);
    known.unwrap_or_else(|| panic!("room {room} has no floor: add it to the table and to ARCHITECTURE.md")).1
}

/// Is this file, or the part of it from the tests on, test code?
fn without_tests<'a>(path: &Path, text: &'a str) -> &'a str {
    let name = path.file_stem().unwrap().to_string_lossy();
    let in_tests = path.components().any(|c| c.as_os_str() == "tests");
    if in_tests || name == "tests" || name.ends_with("_tests") {
        return "";
    }
    text.find("#[cfg(test)]\nmod ").map_or(text, |at| &text[..at])
}

#[test]
fn imports_go_down_the_floors() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let from = room(&path);
        for line in without_tests(&path, &text).lines() {
            for part in line.split("crate::").skip(1) {
                let to: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let targets: Vec<String> = if to.is_empty() {
                    part.trim_start_matches('{')
                        .split(',')
                        .map(|p| p.trim().split("::").next().unwrap().to_owned())
                        .collect()
                } else {
                    vec![to]
                };
                for to in targets {
                    let to = to.trim_end_matches(['}', ';']).to_owned();
                    if to == from || !FLOORS.iter().any(|(name, _)| *name == to) {
                        continue;
                    }
                    let allowed = ONLY.iter().find(|(name, _)| *name == from);
                    let fine = match allowed {
                        Some((_, rooms)) => rooms.contains(&to.as_str()),
                        None => floor(&to) < floor(&from),
                    };
                    if !fine {
                        wrong.push(format!("{}: {from} imports {to}: {}", path.display(), line.trim()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_and_functions_are_short() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > MAX_FILE_LINES {
            wrong.push(format!("{}: {lines} lines, at most {MAX_FILE_LINES}", path.display()));
        }
        for (line, length) in functions(without_tests(&path, &text)) {
            if length > MAX_FUNCTION_LINES {
                wrong
                    .push(format!("{}:{line}: {length} lines, at most {MAX_FUNCTION_LINES}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// (first line, length) of every function; the formatter closes a function at the indentation of its head.
fn functions(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let head = line.trim_start();
        let is_head = ["fn ", "pub fn ", "async fn ", "pub async fn ", "const fn ", "pub const fn "]
            .iter()
            .any(|start| head.starts_with(start))
            || (head.starts_with("pub(") && head.contains(" fn "));
        if !is_head {
            continue;
        }
        let indent = line.len() - head.len();
        let close = format!("{}}}", " ".repeat(indent));
        if let Some(length) = lines[at..].iter().position(|l| **l == close) {
            found.push((at + 1, length + 1));
        }
    }
    found
}

#[test]
fn nothing_panics_on_purpose_outside_of_tests() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for (number, line) in without_tests(&path, &text).lines().enumerate() {
            let code = line.split("//").next().unwrap();
            for word in [".unwrap()", "todo!(", "unimplemented!(", "panic!(", "#[allow("] {
                if code.contains(word) {
                    wrong.push(format!("{}:{}: {word}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_door_defines_nothing() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if path.file_name().unwrap() != "mod.rs" {
            continue;
        }
        assert!(text.starts_with("//!"), "{}: a door says what its room is for", path.display());
        for line in text.lines() {
            let code = line.trim_start();
            if ["fn ", "pub fn ", "struct ", "pub struct ", "enum ", "pub enum ", "impl "]
                .iter()
                .any(|d| code.starts_with(d))
            {
                wrong.push(format!("{}: {code}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_promise_stands_in_the_architecture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    for promise in groundline::domain::promise::Promise::ALL {
        assert!(text.contains(&format!("**{}**", promise.code())), "{} is not explained", promise.code());
    }
    for (room, _) in FLOORS.iter().filter(|(room, _)| !["main", "lib", "lab"].contains(room)) {
        assert!(text.contains(&format!("`{room}")), "room {room} is not in ARCHITECTURE.md");
    }
}

#[test]
fn the_functions_of_this_test_can_see() {
    let text = "fn short() {\n}\n\n    pub(super) fn long() {\n        1\n    }\n";
    assert_eq!(functions(text), [(1, 2), (4, 3)]);
}
