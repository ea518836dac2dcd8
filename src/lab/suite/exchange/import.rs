//! Any file of another system, told by its content.

use super::super::cases::{read_text, text_of};
use super::super::fault::{Faults, SourceLine};
use super::imported::Imported;
use super::{h2o, promptfoo, promptfoo_files, results, results_in, vals_csv, vals_json};
use crate::lab::rows::yaml;
use crate::lab::zip::{Archive, Limits, is_zip};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Longest file, bytes; also of each file of an archive.
const MAX_FILE: u64 = 100 << 20;

/// How much of an archive is read where nothing is configured.
fn limits() -> Limits {
    Limits { entry: MAX_FILE, ..Limits::default() }
}

/// Reads a suite of another system, as CSV, JSON, or a ZIP archive with one of these at its root. Faults of single tests
/// are told beside what is right.
///
/// # Errors
/// When nothing could be read.
pub fn import(path: &Path) -> Result<(Imported, Faults), Faults> {
    let name = path.display().to_string();
    let bytes = bytes_of(path, &name)?;
    taken(bytes, &name, &Surroundings::Folder(path.parent().unwrap_or(Path::new(""))), limits())
}

fn bytes_of(path: &Path, name: &str) -> Result<Vec<u8>, Faults> {
    let told = |why: String| Faults::one(format!("{name}: {why}"));
    let length = std::fs::metadata(path).map_err(|e| told(e.to_string()))?.len();
    if length > MAX_FILE {
        return Err(told(format!("the file has {length} bytes, at most {MAX_FILE} (100 MiB)")));
    }
    std::fs::read(path).map_err(|e| told(e.to_string()))
}

/// The same of a file called `name` that was sent: there is no folder beside it. Of an archive as much is read as `limits`
/// allow.
///
/// # Errors
/// As [`import`].
pub fn import_sent(bytes: Vec<u8>, name: &str, limits: Limits) -> Result<(Imported, Faults), Faults> {
    taken(bytes, name, &Surroundings::Nothing, limits)
}

/// Of an archive only the suite is unpacked, and then the files that its tests name; the others are checked piece by piece.
fn taken(
    bytes: Vec<u8>,
    name: &str,
    beside: &Surroundings<'_>,
    limits: Limits,
) -> Result<(Imported, Faults), Faults> {
    let told = |why: String| Faults::one(format!("{name}: {why}"));
    if !is_zip(&bytes) {
        return parse(&text_of(bytes).map_err(told)?, name, beside);
    }
    let archive = Archive::open(bytes, limits).map_err(told)?;
    let is_table = |file: &&str| !file.contains('/') && (file.ends_with(".csv") || file.ends_with(".json"));
    let Some(suite) = archive.names().find(is_table).map(str::to_owned) else {
        return Err(told(
            "no .csv or .json at the root of the archive: that is where the suite stands".to_owned(),
        ));
    };
    let inner = archive.unpacked(&suite).map_err(told)?;
    let names: Vec<String> = archive.names().filter(|file| *file != suite).map(str::to_owned).collect();
    let text = text_of(inner).map_err(|why| told(format!("{suite}: {why}")))?;
    let (mut imported, faults) = parse(&text, &format!("{name}/{suite}"), &Surroundings::Archive(&names))?;
    imported.documents = named(&imported, &archive, &names).map_err(told)?;
    let is_unpacked = |file: &str| file == suite || imported.documents.contains_key(file);
    archive.check_others(is_unpacked).map_err(told)?;
    Ok((imported, faults))
}

/// Reads results of another system, or of our own export, as the report that they are; with it, where its head says
/// otherwise than its rows. CSV, our own JSON, or a ZIP archive with one of these at its root.
///
/// # Errors
/// Every fault with its line.
pub fn import_results(path: &Path) -> Result<(Json, Vec<String>), Faults> {
    let mut name = path.display().to_string();
    let mut bytes = bytes_of(path, &name)?;
    if is_zip(&bytes) {
        let told = |why: String| Faults::one(format!("{name}: {why}"));
        let archive = Archive::open(bytes, limits()).map_err(told)?;
        let at_root = |end: &str| {
            archive.names().find(|file| !file.contains('/') && file.ends_with(end)).map(str::to_owned)
        };
        let none = || Faults::one(format!("{name}: no .json or .csv at the root of the archive"));
        let file = at_root(".json").or_else(|| at_root(".csv")).ok_or_else(none)?;
        let content = archive.unpacked(&file).map_err(told)?;
        archive.check_others(|other| other == file).map_err(told)?;
        bytes = content;
        name = format!("{name}/{file}");
    }
    let text = text_of(bytes).map_err(|why| Faults::one(format!("{name}: {why}")))?;
    if !text.trim_start().starts_with('{') {
        return results_in::read(&text, &name);
    }
    let report: Json = serde_json::from_str(&text).map_err(|e| Faults::one(format!("{name}: {e}")))?;
    results::runs(&report).map_err(|why| Faults::one(format!("{name}: {why}")))?;
    Ok((report, Vec::new()))
}

/// Of the files `there` of an archive those that a test names.
fn named(
    imported: &Imported,
    archive: &Archive<Vec<u8>>,
    there: &[String],
) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let is_named = |name: &&String| imported.tests.iter().any(|(test, _)| test.files.contains(*name));
    there.iter().filter(is_named).map(|name| Ok((name.clone(), archive.unpacked(name)?))).collect()
}

/// What stands beside a file.
enum Surroundings<'a> {
    /// A folder of the disk.
    Folder(&'a Path),
    /// An archive with files of these names.
    Archive(&'a [String]),
    /// Nothing.
    Nothing,
}

impl Surroundings<'_> {
    /// The text of a file below the folder.
    fn text(&self, file: &str) -> Result<String, String> {
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Archive(_) => {
                return Err("it is not read from an archive: put its tests into the configuration".to_owned());
            }
            Self::Nothing => {
                return Err("no file beside it was sent: put its tests into the configuration".to_owned());
            }
        };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let found = folder.canonicalize().and_then(|folder| Ok((folder.join(file).canonicalize()?, folder)));
        let (path, folder) = found.map_err(|e| e.to_string())?;
        if !path.starts_with(&folder) {
            return Err("it leads out of the folder of the configuration".to_owned());
        }
        read_text(&path)
    }
}

fn parse(text: &str, name: &str, beside: &Surroundings<'_>) -> Result<(Imported, Faults), Faults> {
    let mut faults = Faults::default();
    let in_archive = match beside {
        Surroundings::Archive(names) => Some(*names),
        Surroundings::Folder(_) | Surroundings::Nothing => None,
    };
    let mut imported = if text.trim_start().starts_with('{') {
        let json = object_or_lines(text, name, &mut faults)?;
        of_json(&json, name, beside, &mut faults).ok_or_else(|| unknown(name))?
    } else if let Some(questions) = questions(text) {
        vals_json::read(&questions, name, &mut faults)
    } else if promptfoo::is_csv(text) {
        promptfoo::read_csv(text, name, &mut faults)
    } else if vals_csv::is_suite(text) {
        vals_csv::read(text, name, in_archive, &mut faults)
    } else {
        // Whatever else it is, it may be YAML; a plain text is, too, and no suite.
        let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        let json = match yaml::value(text) {
            Err(why) if is_yaml => return Err(Faults::one(format!("{name}: {why}"))),
            read => read.unwrap_or_default(),
        };
        of_json(&json, name, beside, &mut faults).ok_or_else(|| unknown(name))?
    };
    if imported.tests.is_empty() && faults.is_empty() {
        faults.add(format!("{name}: there is no test in it"));
    }
    if let (Some(there), true) = (in_archive, faults.is_empty()) {
        missing_files(&mut imported, there, name, &mut faults);
    }
    Ok((imported, faults))
}

/// The object that a text is, or the list of those on its lines where these are tests of promptfoo. A line that is none is
/// told beside the others.
fn object_or_lines(text: &str, name: &str, faults: &mut Faults) -> Result<Json, Faults> {
    let whole = match serde_json::from_str(text) {
        Ok(json) => return Ok(json),
        Err(error) => error,
    };
    let lines = || text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let first = lines().next().and_then(|(_, line)| serde_json::from_str::<Json>(line).ok());
    if !first.is_some_and(|first| promptfoo_files::is_tests(&first)) {
        return Err(Faults::one(format!("{name}: {whole}")));
    }
    let mut tests = Vec::new();
    for (at, line) in lines() {
        match serde_json::from_str(line) {
            Ok(test) => tests.push(test),
            Err(error) => {
                faults.add(format!("{}: {error}", SourceLine { file: name.to_owned(), line: at + 1 }))
            }
        }
    }
    Ok(Json::Array(tests))
}

/// A list of questions as a suite without checks: texts, or objects with `input_under_test`.
fn questions(text: &str) -> Option<Json> {
    let Ok(Json::Array(list)) = serde_json::from_str::<Json>(text) else { return None };
    let test = |one: Json| match one {
        Json::String(asked) => Some(json!({ "input_under_test": asked })),
        one => one.get("input_under_test").is_some().then_some(one),
    };
    let tests: Option<Vec<Json>> = list.into_iter().map(test).collect();
    Some(json!({ "title": "", "tests": tests? }))
}

fn of_json(json: &Json, name: &str, beside: &Surroundings<'_>, faults: &mut Faults) -> Option<Imported> {
    Some(match json {
        json if vals_json::is_suite(json) => vals_json::read(json, name, faults),
        json if h2o::is_suite(json) => h2o::read(json, name, faults),
        json if promptfoo_files::is_suite(json) => {
            promptfoo_files::read(json, name, &|file: &str| beside.text(file), faults)
        }
        tests if promptfoo_files::is_tests(tests) => {
            let whole = json!({ "tests": tests });
            promptfoo_files::read(&whole, name, &|file: &str| beside.text(file), faults)
        }
        _ => return None,
    })
}

/// What tests name must be in the archive; a name alone is one below `documents/`.
fn missing_files(imported: &mut Imported, there: &[String], name: &str, faults: &mut Faults) {
    for (test, _) in &mut imported.tests {
        for file in test.files.iter_mut().filter(|file| !there.contains(file)) {
            let below = format!("documents/{file}");
            if there.contains(&below) {
                *file = below;
            } else {
                faults.add(format!("{name}: test {:?} names {file:?}, which is not in the archive", test.id));
            }
        }
    }
}

fn unknown(name: &str) -> Faults {
    Faults::one(format!(
        "{name}: no suite of a known form: CSV with Test Input, JSON with title and tests or a list of questions, H2O's JSON, promptfoo's YAML, JSON, JSON lines or CSV, or a ZIP with one of them"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Config;
    use crate::lab::zip;
    use crate::units::ByteSize;

    fn sent(text: &str, name: &str) -> (Imported, Faults) {
        import_sent(text.as_bytes().to_vec(), name, limits()).unwrap_or_else(|faults| panic!("{faults}"))
    }

    #[test]
    fn tests_of_promptfoo_alone_are_a_suite() {
        let one = r#"{"vars": {"q": "Who?"}, "assert": [{"type": "contains", "value": "Anna"}]}"#;
        let other = r#"{"vars": {"q": "When?"}}"#;
        for (text, name, count) in [
            (format!("{one}\n\n{other}\n"), "tests.jsonl", 2),
            (one.to_owned(), "tests.jsonl", 1),
            (format!("[{one}, {other}]"), "tests.json", 2),
            (
                "- vars: {q: Who?}\n  assert:\n    - type: contains\n      value: Anna\n- vars: {q: When?}\n"
                    .to_owned(),
                "tests.yaml",
                2,
            ),
        ] {
            let (imported, faults) = sent(&text, name);
            assert!(faults.is_empty() && imported.tests.len() == count, "{name}: {faults}");
            assert_eq!(imported.spec.suite.source, "promptfoo", "{name}");
            let first = &imported.tests[0].0;
            assert_eq!((&first.input, first.check.len()), (&json!({"q": "Who?"}), 1), "{name}");
            assert_eq!(first.check[0].criteria, Some(json!("Anna")), "{name}");
        }
        // A line that is no JSON is told with its number, beside those that are right.
        let (imported, faults) = sent(&format!("{one}\n{{\"vars\": \n{other}\n"), "tests.jsonl");
        assert_eq!(imported.tests.len(), 2);
        assert!(faults.to_string().starts_with("tests.jsonl:2: "), "{faults}");
        // Lines of something else are none.
        for text in ["{\"a\": 1}\n{\"a\": 2}\n", "{\"a\": 1}", "[{\"a\": 1}]"] {
            assert!(import_sent(text.as_bytes().to_vec(), "a.jsonl", limits()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_of_a_test_must_be_in_the_archive_wherever_it_lies() {
        let suite = "Test Id,Test Input,Files\nt1,What does it say?,a.txt\n,,other/b.txt\n,,gone.txt\n";
        let packed = |suite: &str, name: &str| {
            let files =
                [(name, suite), ("documents/a.txt", "one"), ("other/b.txt", "two"), ("unnamed.txt", "three")];
            let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
            import_sent(zip::write(&BTreeMap::from(files)).unwrap(), "s.zip", limits()).unwrap()
        };
        let (_, faults) = packed(suite, "suite.csv");
        assert_eq!(faults.to_string(), "s.zip/suite.csv:4: Files \"gone.txt\" is not in the archive");
        let (imported, faults) = packed(&suite.replace(",,gone.txt\n", ""), "suite.csv");
        assert!(faults.is_empty(), "{faults}");
        assert_eq!(imported.tests[0].0.files, ["documents/a.txt", "other/b.txt"]);
        let kept: Vec<&String> = imported.documents.keys().collect();
        assert_eq!(kept, ["documents/a.txt", "other/b.txt"], "what no test names is left");
        // Of JSON a test is named, which has no line.
        let json = json!({"title": "s", "tests": [{"id": "t1", "input_under_test": "What?", "files_under_test": ["a.txt", "gone.txt"], "checks": []}]});
        let (_, faults) = packed(&json.to_string(), "suite.json");
        let told = faults.to_string();
        assert!(
            told.contains("\"t1\"") && told.contains("\"gone.txt\"") && !told.contains("a.txt\""),
            "{told}"
        );
        // Without an archive the column is ignored, with one warning.
        let (imported, faults) = sent(suite, "suite.csv");
        assert!(faults.is_empty() && imported.tests[0].0.files.is_empty(), "{faults}");
        let ignored = imported.warnings.iter().filter(|warning| warning.contains("Files is ignored"));
        assert_eq!(ignored.count(), 1, "{:?}", imported.warnings);
    }

    #[test]
    fn an_archive_meets_the_limits_that_are_configured() {
        let suite = "Test Id,Test Input\nt1,What?\n".to_owned();
        let files = BTreeMap::from([("s.csv", suite.into_bytes()), ("documents/a.txt", vec![0; 2_000])]);
        let files = files.into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
        let packed = zip::write(&files).unwrap();
        let read = |config: &Config| import_sent(packed.clone(), "s.zip", Limits::of(config));
        assert_eq!(read(&Config::default()).unwrap().0.tests.len(), 1);
        // What is damaged is told, though nobody reads it.
        let mut damaged = packed.clone();
        damaged[45] ^= 0x40;
        let why = import_sent(damaged, "s.zip", Limits::of(&Config::default())).unwrap_err().to_string();
        assert_eq!(why, "s.zip: \"documents/a.txt\" is damaged in the ZIP archive");
        let small = ByteSize::kib(1);
        for (config, told) in [
            (
                Config { max_zip_size: small, ..Config::default() },
                "more than 1024 bytes together (lab.max_zip_size)",
            ),
            (Config { max_file_size: small, ..Config::default() }, "at most 1024 bytes (lab.max_file_size)"),
            (Config { max_zip_entries: 1, ..Config::default() }, "2 files, at most 1 (lab.max_zip_entries)"),
        ] {
            let why = read(&config).unwrap_err().to_string();
            assert!(why.starts_with("s.zip: ") && why.contains(told), "{why}");
        }
    }
}
