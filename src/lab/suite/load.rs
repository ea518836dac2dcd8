//! A suite file into a suite that can be run.

use super::cases;
use super::check::Check;
use super::compile::{Source, compile};
use super::fault::{Faults, SourceLine};
use super::item::Item;
use super::range::range_of;
use super::spec::{CheckSpec, GateSpec, HeadSpec, SuiteSpec, TestSpec};
use crate::eval::{IDS, asks_judge, is_plugin};
use crate::lab::target::TargetSpec;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Most repetitions of a test.
const MAX_REPETITIONS: u32 = 1_000;
/// Most runs of a suite.
const MAX_RUNS: usize = 1_000_000;

/// A suite: cases with their checks, gates, and who is asked.
#[derive(Debug, Clone)]
pub struct Suite {
    pub(super) head: HeadSpec,
    pub(super) target: TargetSpec,
    pub(super) gates: Vec<GateSpec>,
    /// Checks of every test, as they are written.
    pub(super) common: Vec<CheckSpec>,
    pub(super) cases: Vec<Case>,
    /// Where paths in the file begin.
    pub(super) folder: PathBuf,
}

/// A test as it is written, and where it stands.
pub(super) type Placed = (TestSpec, SourceLine);

/// One test.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub item: Item,
    pub checks: Vec<Check>,
    /// Changes when its checks do.
    pub checks_hash: String,
}

impl Suite {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.head.name
    }

    /// How many tests it has.
    pub fn tests(&self) -> usize {
        self.cases.len()
    }

    /// How many checks its tests have.
    pub fn checks(&self) -> usize {
        self.cases.iter().map(|case| case.checks.len()).sum()
    }

    /// How many gates it has.
    pub fn gates(&self) -> usize {
        self.gates.len()
    }

    /// For how long its target is asked; none for as long as it takes.
    pub fn deadline(&self) -> Option<Duration> {
        self.head.deadline
    }

    /// Asks each test so often, whatever the file says.
    ///
    /// # Errors
    /// When it is not from 1 to a thousand, or makes more than a million runs.
    pub fn repeat(&mut self, repetitions: u32) -> Result<(), Faults> {
        self.head.repetitions = repetitions;
        let mut faults = Faults::default();
        repetition_faults(&self.head, self.cases.len(), &mut |why| faults.add(why));
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// The evaluators that score every answer.
    pub fn evaluators(&self) -> &[String] {
        &self.head.evaluators
    }

    /// Whether a gate compares with a baseline.
    pub fn needs_baseline(&self) -> bool {
        self.gates.iter().any(|gate| gate.max_drop.is_some())
    }
}

/// The items of stored datasets, as JSON lines, by the names that a suite calls them.
pub type StoredItems = BTreeMap<String, Bytes>;

/// The stored datasets that the suite at `path` names; none where it cannot be read, which reading it tells.
pub fn stored(path: &Path) -> Vec<String> {
    let is_ours = path.extension().is_some_and(|extension| extension == "toml");
    let text = is_ours.then(|| cases::read_text(path).ok()).flatten();
    let Some(spec) = text.and_then(|text| toml::from_str::<SuiteSpec>(&text).ok()) else { return Vec::new() };
    let folder = path.parent().unwrap_or(Path::new(""));
    let names = spec.suite.dataset.as_ref().map(|names| names.names().to_vec()).unwrap_or_default();
    names.into_iter().filter(|name| is_stored(folder, name)).collect()
}

/// A name with a version, where no file has it.
fn is_stored(folder: &Path, name: &str) -> bool {
    name.contains('@') && !folder.join(name).exists()
}

/// Reads a suite, the files that it names, and of `items` the datasets. With `partial`, cases that are wrong are left out
/// and told; else they are as bad as any other fault.
///
/// # Errors
/// Every fault, each with file, line and item.
pub(super) fn read(path: &Path, partial: bool, items: &StoredItems) -> Result<(Suite, Faults), Faults> {
    let name = path.display().to_string();
    let text = cases::read_text(path).map_err(|why| Faults::one(format!("{name}: {why}")))?;
    let (spec, tests) = parsed(&text, &name)?;
    build(spec, tests, (path.parent().unwrap_or(Path::new("")), items), &name, partial)
}

/// The text of a suite file of ours: the suite, and each of its tests with the line where it stands.
///
/// # Errors
/// What is wrong with the file, with its line.
pub(super) fn parsed(text: &str, name: &str) -> Result<(SuiteSpec, Vec<Placed>), Faults> {
    let mut spec: SuiteSpec = toml::from_str(text)
        .map_err(|error| Faults::one(format!("{name}: {}", error.to_string().trim_end())))?;
    let tests = std::mem::take(&mut spec.test);
    let at = |line: usize| SourceLine { file: name.to_owned(), line };
    let places = lines(text, tests.len()).into_iter().map(at);
    Ok((spec, tests.into_iter().zip(places).collect()))
}

/// The lines on which `[[test]]` begins; 0 where it is not written so.
fn lines(text: &str, tests: usize) -> Vec<usize> {
    let document = toml_edit::Document::parse(text).ok();
    let tables = document.as_ref().and_then(|d| d.as_table().get("test")?.as_array_of_tables());
    let line = |at| {
        let start = tables?.get(at)?.span()?.start;
        Some(text.get(..start)?.matches('\n').count() + 1)
    };
    (0..tests).map(|at| line(at).unwrap_or(0)).collect()
}

/// A suite out of its parts.
pub(super) fn build(
    spec: SuiteSpec,
    mut tests: Vec<Placed>,
    (folder, items): (&Path, &StoredItems),
    name: &str,
    partial: bool,
) -> Result<(Suite, Faults), Faults> {
    let (mut fatal, mut of_cases) = (Faults::default(), Faults::default());
    let mut head = spec.suite;
    if head.name.is_empty() {
        head.name =
            Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    }
    for file in head.dataset.as_ref().map(|names| names.names().to_vec()).unwrap_or_default() {
        let path = folder.join(&file);
        match items.get(&file) {
            Some(items) => tests.extend(cases::stored(items, &file, &mut of_cases)),
            None if is_stored(folder, &file) => fatal.add(format!(
                "{name}: suite.dataset {file:?} is a stored dataset: say where it is stored, --url or --data-dir"
            )),
            None => tests.extend(cases::read(&path, &path.display().to_string(), &mut of_cases)),
        }
    }
    let cases = compiled(tests, &spec.check, !head.source.is_empty(), &mut of_cases);
    let mut wrong = |why: String| fatal.add(format!("{name}: {why}"));
    head_faults(&head, &mut wrong);
    repetition_faults(&head, cases.len(), &mut wrong);
    gate_faults(&spec.gate, &mut wrong);
    let target = spec.target.unwrap_or_default();
    target.faults("target").into_iter().for_each(&mut wrong);
    if cases.is_empty() && of_cases.is_empty() && fatal.is_empty() {
        fatal.add(format!("{name}: no test: write [[test]], or name a file of cases in suite.dataset"));
    } else if cases.iter().all(|case| case.checks.is_empty())
        && head.evaluators.is_empty()
        && of_cases.is_empty()
    {
        fatal.add(format!("{name}: nothing is checked: write [[check]], or name suite.evaluators"));
    }
    if !fatal.is_empty() || (!partial && !of_cases.is_empty()) || cases.is_empty() {
        fatal.join(of_cases);
        return Err(fatal);
    }
    Ok((
        Suite { head, target, gates: spec.gate, common: spec.check, cases, folder: folder.to_path_buf() },
        of_cases,
    ))
}

/// The cases that are right, each with the checks of all tests and its own.
fn compiled(tests: Vec<Placed>, common: &[CheckSpec], is_lenient: bool, faults: &mut Faults) -> Vec<Case> {
    let (mut cases, mut ids) = (Vec::new(), BTreeMap::<String, SourceLine>::new());
    for (at, (mut spec, place)) in tests.into_iter().enumerate() {
        if spec.id.is_empty() {
            spec.id = (at + 1).to_string();
        }
        if let Some(first) = ids.get(&spec.id) {
            faults
                .add(format!("{place}: test {:?} is there twice, first at {first}: ids are unique", spec.id));
            continue;
        }
        ids.insert(spec.id.clone(), place.clone());
        let name = format!("{place}: test {:?}", spec.id);
        let item = match Item::new(spec, place) {
            Ok(item) => item,
            Err(why) => {
                faults.add(format!("{name}: {why}"));
                continue;
            }
        };
        let specs = [common, item.spec.check.as_slice()].concat();
        let source = Source { scope: &item.scope(), expected: &item.expected, is_lenient };
        match compile(&specs, &source) {
            Ok(checks) => cases.push(Case { item, checks, checks_hash: hash(&specs) }),
            Err(all) => all.into_iter().for_each(|why| faults.add(format!("{name}: {why}"))),
        }
    }
    cases
}

fn hash(specs: &[CheckSpec]) -> String {
    hex::encode(Sha256::digest(serde_json::json!(specs).to_string()))
}

fn head_faults(head: &HeadSpec, wrong: &mut dyn FnMut(String)) {
    if !(head.level > 0.5 && head.level < 1.0) {
        wrong(format!("suite.level is {}, must be above 0.5 and below 1, such as 0.95", head.level));
    }
    if !(0.0..=1.0).contains(&head.max_error_share) {
        wrong(format!("suite.max_error_share is {}, must be a share, 0 to 1", head.max_error_share));
    }
    if head.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
        wrong("suite.threshold must be a share of a test's weight, 0 to 1".to_owned());
    }
    if head.deadline.is_some_and(|deadline| deadline.is_zero()) {
        wrong("suite.deadline is 0s, must be above 0, such as \"30m\"".to_owned());
    }
    for id in head.evaluators.iter().filter(|id| *id != "*") {
        if !IDS.contains(&id.as_str()) && !asks_judge(id) && !is_plugin(id) {
            wrong(format!(
                "suite.evaluators names {id:?}, which is no evaluator; there are {}",
                IDS.join(", ")
            ));
        }
    }
}

fn repetition_faults(head: &HeadSpec, cases: usize, wrong: &mut dyn FnMut(String)) {
    let repetitions = head.repetitions;
    if !(1..=MAX_REPETITIONS).contains(&repetitions) {
        wrong(format!("suite.repetitions is {repetitions}, must be 1 to {MAX_REPETITIONS}"));
    } else if cases.saturating_mul(repetitions as usize) > MAX_RUNS {
        wrong(format!("{cases} tests, {repetitions} times each, are more than {MAX_RUNS} runs"));
    }
}

fn gate_faults(gates: &[GateSpec], wrong: &mut dyn FnMut(String)) {
    for (at, gate) in gates.iter().enumerate() {
        let mut wrong = |why: &str| wrong(format!("gate {} ({}): {why}", at + 1, gate.metric));
        let lines = [gate.min, gate.max, gate.max_drop];
        if gate.metric.is_empty() {
            wrong("no metric: name one, such as tests_passed");
        }
        if lines.iter().flatten().count() != 1 {
            wrong("a gate has one of min, max, max_drop");
        }
        if lines.iter().flatten().any(|line| !line.is_finite())
            || gate.max_drop.is_some_and(|drop| drop < 0.0)
        {
            wrong("its line must be a finite number, and max_drop 0 or more");
        }
        if let Some(why) = beyond(gate) {
            wrong(&why);
        }
    }
}

/// Why a line decides nothing: no value of the metric can be on its other side.
fn beyond(gate: &GateSpec) -> Option<String> {
    let (least, most) = range_of(&gate.metric)?;
    let is_outside = |line: &f64| line.is_finite() && !(least..=most).contains(line);
    if let Some(line) = gate.min.iter().chain(&gate.max).find(|line| is_outside(line)) {
        return Some(format!("its line is {line}, and values of the metric are from {least} to {most}"));
    }
    let drop = gate.max_drop.filter(|drop| drop.is_finite() && *drop > most - least)?;
    Some(format!("max_drop is {drop}, and values of the metric are from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(toml: &str, cases: &str, partial: bool) -> Result<(Suite, Faults), String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cases.jsonl"), cases).unwrap();
        let path = folder.path().join("suite.toml");
        std::fs::write(&path, toml).unwrap();
        read(&path, partial, &StoredItems::new()).map_err(|faults| faults.to_string())
    }

    const GOOD: &str =
        "[suite]\nname = \"s\"\n[[check]]\noperator = \"contains\"\ncriteria = \"{{expected}}\"\n";

    #[test]
    fn tests_come_from_the_file_and_from_files_of_cases() {
        let toml = format!(
            "{}[[test]]\nid = \"own\"\ninput = \"a\"\nright_answer = \"b\"\ncheck = [{{ operator = \"is-json\" }}]\n",
            GOOD.replace("name = \"s\"", "name = \"s\"\ndataset = \"cases.jsonl\"")
        );
        let (suite, told) = loaded(&toml, "{\"input\": \"c\", \"expected\": \"d\"}\n", false).unwrap();
        assert!(told.is_empty());
        assert_eq!((suite.name(), suite.tests(), suite.checks()), ("s", 2, 3));
        assert_eq!(suite.cases[0].item.place.line, 7);
        assert_eq!(suite.cases[1].item.spec.id, "2");
    }

    #[test]
    fn every_fault_has_its_place() {
        let toml = GOOD.replace("[[check]]", "repetitions = 0\nlevel = 2.0\ndeadline = \"0s\"\ndataset = \"cases.jsonl\"\nevaluators = [\"halucination\"]\n[[check]]")
            + "[[gate]]\nmetric = \"tests_passed\"\n[[gate]]\nmetric = \"rouge/rouge_1\"\nmin = 2.5\n[[gate]]\nmetric = \"tests_passed\"\nmax_drop = 2\n[[gate]]\nmetric = \"duration_ms\"\nmax = -1\n[target]\nkind = \"http\"\nprompt = \"m\"\n[[test]]\nid = \"1\"\ninput = \"a\"\n[[test]]\nid = \"1\"\ninput = \"a\"\ncheck = [{ operator = \"x\" }]\n";
        let told = loaded(&toml, "{\"input\": 1}\n{\"inptu\": 1}\n", false).unwrap_err();
        for part in [
            "suite.repetitions is 0",
            "suite.level is 2",
            "suite.deadline is 0s",
            "halucination",
            "gate 1 (tests_passed): a gate has one of",
            "gate 2 (rouge/rouge_1): its line is 2.5, and values of the metric are from 0 to 1",
            "gate 3 (tests_passed): max_drop is 2, and values of the metric are from 0 to 1",
            "gate 4 (duration_ms): its line is -1, and values of the metric are from 0 to inf",
            "target.url",
            "target.prompt belongs to kind = \"openai\"",
            "cases.jsonl:2: no input",
            "\"1\" is there twice, first at",
        ] {
            assert!(told.contains(part), "{part} is missing in:\n{told}");
        }
        let told = loaded("[suite]\nname = 1\n", "", false).unwrap_err();
        assert!(told.contains("suite.toml") && told.contains("line 2"), "{told}");
        assert!(loaded("[suite]\nnmae = \"x\"\n", "", false).unwrap_err().contains("nmae"));
        assert!(loaded(GOOD, "", false).unwrap_err().contains("no test"));
        assert!(loaded("[[test]]\ninput = \"a\"\n", "", false).unwrap_err().contains("nothing is checked"));
        let stored = GOOD.replace("name = \"s\"", "dataset = \"refunds@7\"");
        assert!(loaded(&stored, "", false).unwrap_err().contains("--url or --data-dir"));
        assert!(loaded(&GOOD.replace("name = \"s\"", "dataset = \"none.csv\""), "", false).is_err());
    }

    #[test]
    fn tests_come_from_stored_datasets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.toml");
        std::fs::write(&path, GOOD.replace("name = \"s\"", "dataset = [\"refunds@7\", \"own@1\"]")).unwrap();
        std::fs::write(folder.path().join("own@1"), "input,expected\na,b\n").unwrap();
        assert_eq!(super::stored(&path), ["refunds@7"]);
        let line = r#"{"item_id": "i", "external_id": "e", "input": "c", "expected": "d", "split": "dev", "group_id": "g", "tags": ["t"], "content_hash": "h", "ordinal": 0}"#;
        let items = StoredItems::from([("refunds@7".to_owned(), Bytes::from(line))]);
        let (suite, told) = read(&path, false, &items).unwrap();
        assert!(told.is_empty() && suite.tests() == 2, "{told}");
        let spec = &suite.cases[0].item.spec;
        assert_eq!((spec.id.as_str(), spec.group.as_str(), &spec.tags[0][..]), ("e", "g", "t"));
        assert_eq!((&spec.metadata["split"], spec.metadata.len()), (&"dev".into(), 1));
        assert_eq!(suite.cases[0].item.place.to_string(), "refunds@7:1");
    }

    #[test]
    fn what_is_wrong_with_one_case_loses_no_other_where_that_is_asked_for() {
        let toml = GOOD.replace("name = \"s\"", "dataset = \"cases.jsonl\"");
        let cases =
            "{\"input\": \"a\", \"expected\": \"b\"}\nnot json\n{\"input\": \"c\", \"expected\": \"d\"}\n";
        assert!(loaded(&toml, cases, false).is_err());
        let (suite, told) = loaded(&toml, cases, true).unwrap();
        assert_eq!(suite.tests(), 2);
        assert!(told.to_string().contains("cases.jsonl:2"), "{told}");
    }
}
