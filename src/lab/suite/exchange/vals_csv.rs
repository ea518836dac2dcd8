//! Suites as CSV: a table of the suite, then one of its tests. Lists run down the rows below their test, each in its own
//! column; examples run down below their check.

use super::super::fault::{Faults, SourceLine};
use super::super::operator::{Operator, find};
use super::super::spec::{CheckSpec, ConditionSpec, ExampleSpec, ExtractSpec, HeadSpec, TestSpec, Unmet};
use super::blocks::{Block, blocks, csv_text};
use super::imported::{Imported, value_of};
use crate::lab::template::plain;
use serde_json::Value as Json;

const SUITE: &[&str] =
    &["Suite Id", "Title", "Description", "Suite Version", "Number Of Tests", "Number Of Checks"];
const TEST: &[&str] =
    &["Test Id", "Test Input", "Right Answer", "Tags", "Files", "Context Keys", "Context Values"];
const CHECK: &[&str] = &[
    "Operator",
    "Criteria",
    "Weight",
    "Category",
    "Extraction Prompt",
    "Conditional Operator",
    "Conditional Criteria",
    "Example Type",
    "Example Value",
];

/// Whether a text's first row has columns of such a suite.
pub(super) fn is_suite(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let has = |name: &str| first.split(',').any(|cell| cell.trim().trim_matches('"') == name);
    has("Test Input") || (has("Title") && has("Description"))
}

/// Reads a suite. `in_archive` has the files that tests may name.
pub(super) fn read(text: &str, name: &str, in_archive: Option<&[String]>, faults: &mut Faults) -> Imported {
    let mut imported = Imported::default();
    let head = &mut imported.spec.suite;
    (head.source, head.condition) = ("vals".to_owned(), Unmet::Pass);
    let blocks = blocks(text, &[SUITE, TEST, CHECK], name, faults);
    let claimed = blocks.iter().find(|block| block.has("Title") || block.has("Suite Id"));
    let claimed = claimed.and_then(|block| Some((block, block.rows.first()?)));
    if let Some((block, (_, row))) = &claimed {
        let cell = |head| block.cell(row, head);
        (head.id, head.name) = (cell("Suite Id").to_owned(), cell("Title").to_owned());
        head.description = cell("Description").to_owned();
        head.version = cell("Suite Version").trim().parse().ok();
    }
    let Some(block) = blocks.iter().find(|block| block.has("Test Input")) else {
        faults.add(format!("{name}: no column Test Input"));
        return imported;
    };
    let mut reader = CsvRows { block, name, imported: &mut imported, has_files_elsewhere: false, in_archive };
    for (line, row) in &block.rows {
        reader.row(*line, row, faults);
    }
    if reader.has_files_elsewhere {
        imported.warn(format!("{name}: Files is ignored: a CSV has files only inside of a ZIP"));
    }
    if let Some((block, (_, row))) = &claimed {
        let checks: usize = imported.tests.iter().map(|(test, _)| test.check.len()).sum();
        for (column, there) in [("Number Of Tests", imported.tests.len()), ("Number Of Checks", checks)] {
            let told = block.cell(row, column).trim().parse::<usize>().ok().filter(|told| *told != there);
            if let Some(told) = told {
                imported.warn(format!("{name}: {column} is {told}, there are {there}"));
            }
        }
    }
    imported
}

struct CsvRows<'a> {
    block: &'a Block,
    name: &'a str,
    imported: &'a mut Imported,
    has_files_elsewhere: bool,
    in_archive: Option<&'a [String]>,
}

impl CsvRows<'_> {
    fn row(&mut self, line: usize, row: &[String], faults: &mut Faults) {
        let cell = |head: &str| self.block.cell(row, head);
        let place = SourceLine { file: self.name.to_owned(), line };
        let (id, input) = (cell("Test Id"), cell("Test Input"));
        // A table of the suite may be the same as that of its tests.
        let is_new = !id.trim().is_empty() || !input.trim().is_empty();
        if is_new {
            if input.trim().is_empty() {
                faults.add(format!("{place}: Test Input is missing: write what is asked"));
            }
            let right = Some(cell("Right Answer")).filter(|text| !text.is_empty()).map(value_of);
            let test = TestSpec {
                id: id.trim().to_owned(),
                input: value_of(input),
                right_answer: right,
                ..TestSpec::default()
            };
            self.imported.tests.push((test, place.clone()));
        }
        let mut warnings = Vec::new();
        let Some((test, _)) = self.imported.tests.last_mut() else {
            faults.add(format!(
                "{place}: no test stands above this row: it has neither Test Id nor Test Input"
            ));
            return;
        };
        let tag = cell("Tags");
        if tag.contains(',') {
            warnings
                .push(format!("{place}: Tags {tag:?} is one tag with a comma: lists run down the column"));
        }
        test.tags.extend(Some(tag.to_owned()).filter(|tag| !tag.is_empty()));
        let key = cell("Context Keys");
        if !key.is_empty() {
            test.context.insert(key.to_owned(), value_of(cell("Context Values")));
        }
        let file = cell("Files");
        match self.in_archive {
            _ if file.is_empty() => {}
            None => self.has_files_elsewhere = true,
            Some(there) => {
                let found = there.iter().find(|name| *name == file || **name == format!("documents/{file}"));
                match found {
                    Some(found) => test.files.push(found.clone()),
                    None => faults.add(format!("{place}: Files {file:?} is not in the archive")),
                }
            }
        }
        read_check(self.block, row, test, &place, faults);
        warnings.extend(weight_warning(cell("Weight"), &place));
        warnings.into_iter().for_each(|what| self.imported.warn(what));
    }
}

fn weight_warning(cell: &str, place: &SourceLine) -> Option<String> {
    let weight: f64 = cell.trim().parse().ok()?;
    (weight < 0.0)
        .then(|| format!("{place}: Weight {weight} is negative: the check is shown and not counted"))
}

fn read_check(block: &Block, row: &[String], test: &mut TestSpec, place: &SourceLine, faults: &mut Faults) {
    let cell = |head: &str| block.cell(row, head);
    let text = |head: &str| Some(cell(head)).filter(|text| !text.is_empty()).map(str::to_owned);
    let operator = cell("Operator").trim();
    if operator.is_empty() {
        let others = ["Criteria", "Weight", "Category", "Extraction Prompt", "Conditional Operator"];
        if let Some(column) = others.iter().find(|column| text(column).is_some()) {
            faults.add(format!("{place}: {column} without an Operator in its row"));
        }
    } else {
        let criteria = text("Criteria");
        // What reads spans says itself which bounds it needs, and of errors there may be none without any.
        let needs = |operator: Operator| !operator.is_unary && operator.measure().is_none();
        if criteria.is_none() && find(operator).is_some_and(needs) {
            faults.add(format!("{place}: Criteria is missing: {operator} needs it"));
        }
        let weight = text("Weight").map(|text| text.trim().parse::<f64>().map_err(|_| text));
        if let Some(Err(wrong)) = &weight {
            faults.add(format!("{place}: Weight {wrong:?} is no number"));
        }
        let condition = text("Conditional Operator").map(|operator| ConditionSpec {
            operator,
            criteria: text("Conditional Criteria").map(Json::String),
            ..ConditionSpec::default()
        });
        test.check.push(CheckSpec {
            operator: operator.to_owned(),
            criteria: criteria.map(Json::String),
            weight: weight.and_then(Result::ok),
            category: text("Category").unwrap_or_default(),
            extract: text("Extraction Prompt")
                .map(|prompt| ExtractSpec { prompt: Some(prompt), ..Default::default() }),
            condition,
            ..CheckSpec::default()
        });
    }
    let Some(example) = text("Example Value") else { return };
    let kind = cell("Example Type").trim().to_lowercase();
    match test.check.last_mut() {
        Some(_) if !["positive", "negative"].contains(&kind.as_str()) => {
            faults.add(format!("{place}: Example Type {kind:?} must be positive or negative"));
        }
        Some(check) => check.examples.push(ExampleSpec { kind, text: example }),
        None => faults.add(format!("{place}: an example stands above every check of its test")),
    }
}

/// Writes a suite; checks of every test are written with each. What has no form here is left out and told.
pub(super) fn write(
    head: &HeadSpec,
    common: &[CheckSpec],
    tests: &[TestSpec],
    warnings: &mut Vec<String>,
) -> Result<String, String> {
    let mut rows = vec![names(&[TEST, CHECK])];
    let mut checks = 0;
    for test in tests {
        let kept: Vec<&CheckSpec> =
            common.iter().chain(&test.check).filter(|check| is_kept(check, &test.id, warnings)).collect();
        checks += kept.len();
        write_test(test, &kept, &mut rows);
    }
    let version = head.version.map(|version| version.to_string()).unwrap_or_default();
    let suite = [&head.id, &head.name, &head.description, &version].map(String::clone).to_vec();
    let counts = vec![tests.len().to_string(), checks.to_string()];
    let suite = csv_text(&[names(&[SUITE]), [suite, counts].concat()])?;
    Ok(suite + "\n" + &csv_text(&rows)?)
}

fn names(parts: &[&[&str]]) -> Vec<String> {
    parts.concat().iter().map(|name| (*name).to_owned()).collect()
}

/// Whether a check has a form here.
pub(super) fn is_kept(check: &CheckSpec, test: &str, warnings: &mut Vec<String>) -> bool {
    let by_rule = check.extract.as_ref().is_some_and(|extract| extract.prompt.is_none());
    let by_id = check.condition.as_ref().is_some_and(|condition| condition.operator.is_empty());
    let why = match check {
        _ if check.operator.is_empty() => "a set of checks",
        _ if by_rule => "an extraction without a prompt",
        _ if by_id => "a condition on another check",
        _ if check.min.is_some() || check.max.is_some() => "bounds",
        _ => return true,
    };
    warnings.push(format!("test {test:?}: {} is left out: {why} has no form in this format", check.operator));
    false
}

fn write_test(test: &TestSpec, checks: &[&CheckSpec], rows: &mut Vec<Vec<String>>) {
    let of_checks: Vec<Vec<String>> = checks.iter().flat_map(|check| write_check(check)).collect();
    let context: Vec<(&String, String)> =
        test.context.iter().map(|(key, value)| (key, plain(value))).collect();
    let height = [1, test.tags.len(), test.files.len(), context.len(), of_checks.len()].into_iter().max();
    for at in 0..height.unwrap_or(1) {
        let first = |text: String| if at == 0 { text } else { String::new() };
        let right = test.right_answer.as_ref().map(plain).unwrap_or_default();
        let (key, value) =
            context.get(at).cloned().map(|(key, value)| (key.clone(), value)).unwrap_or_default();
        let mut row = vec![
            first(test.id.clone()),
            first(plain(&test.input)),
            first(right),
            test.tags.get(at).cloned().unwrap_or_default(),
            test.files.get(at).cloned().unwrap_or_default(),
            key,
            value,
        ];
        row.extend(of_checks.get(at).cloned().unwrap_or_else(|| vec![String::new(); CHECK.len()]));
        rows.push(row);
    }
}

/// A row for the check, with its first example, and one for each further example.
fn write_check(check: &CheckSpec) -> Vec<Vec<String>> {
    let weight = if check.optional && check.weight.is_none_or(|weight| weight > 0.0) {
        Some(0.0)
    } else {
        check.weight
    };
    let condition = check.condition.clone().unwrap_or_default();
    let list = |criteria: &Json| match criteria {
        Json::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join("; "),
        other => plain(other),
    };
    let mut rows = vec![vec![
        check.operator.clone(),
        check.criteria.as_ref().map(list).unwrap_or_default(),
        weight.map(|weight| weight.to_string()).unwrap_or_default(),
        check.category.clone(),
        check.extract.as_ref().and_then(|extract| extract.prompt.clone()).unwrap_or_default(),
        condition.operator,
        condition.criteria.as_ref().map(list).unwrap_or_default(),
    ]];
    for (at, example) in check.examples.iter().enumerate() {
        if at > 0 {
            rows.push(vec![String::new(); CHECK.len() - 2]);
        }
        rows[at].extend([example.kind.clone(), example.text.clone()]);
    }
    rows[0].resize(CHECK.len(), String::new());
    rows
}
