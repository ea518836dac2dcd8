//! Checks as they are written into checks that run.

use super::check::{Bounds, Check, Condition, Extract, Rule, Test};
use super::exact::{Criteria, Exact};
use super::operator::{Engine, Operator, find, nearest};
use super::outcome::Status;
use super::pattern::Pattern;
use super::schema::Schema;
use super::spans::{Measure, Wanted};
use super::spec::{CheckSpec, ConditionSpec, ExtractSpec};
use crate::eval::{CustomConfig, CustomKind, IDS, asks_judge, is_plugin, without_placeholders};
use crate::lab::template::{plain, render};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Most votes of a judge: more cost and say no more.
pub(super) const MAX_VOTES: u32 = 25;
/// What a case has that `{{…}}` may name.
const ROOTS: &[&str] = &["input", "expected", "metadata", "context"];
/// The whole criteria that stand for each accepted answer.
const EXPECTED: &str = "{{expected}}";

/// What a case gives its checks.
pub(super) struct Source<'a> {
    /// What `{{…}}` may name.
    pub scope: &'a Json,
    /// Accepted answers.
    pub expected: &'a [String],
    /// Files of other systems name what is unknown here: it is kept, and gives an error when it runs.
    pub is_lenient: bool,
}

/// The checks of a case, or every fault of them, each with its place in the list.
pub(super) fn compile(specs: &[CheckSpec], source: &Source<'_>) -> Result<Vec<Check>, Vec<String>> {
    let (mut checks, mut faults) = (Vec::<Check>::new(), Vec::new());
    for (at, spec) in specs.iter().enumerate() {
        let name = if spec.operator.is_empty() { "set" } else { &spec.operator };
        let mut wrong = |why: String| faults.push(format!("check {} ({name}): {why}", at + 1));
        if let Some(earlier) = unknown_earlier(spec, &checks) {
            wrong(format!("if.check = {earlier:?} is no id of an earlier check of this test"));
        }
        if !spec.id.is_empty() && checks.iter().any(|check| check.id == spec.id) {
            wrong(format!("the id {:?} is taken by an earlier check", spec.id));
        }
        match one(spec, source) {
            Ok(check) => checks.push(check),
            Err(why) => wrong(why),
        }
    }
    if faults.is_empty() { Ok(checks) } else { Err(faults) }
}

fn unknown_earlier<'a>(spec: &'a CheckSpec, earlier: &[Check]) -> Option<&'a str> {
    let id = spec.condition.as_ref().map(|condition| condition.check.as_str()).filter(|id| !id.is_empty())?;
    earlier.iter().all(|check| check.id != id).then_some(id)
}

fn one(spec: &CheckSpec, source: &Source<'_>) -> Result<Check, String> {
    let weight = spec.weight.unwrap_or(1.0);
    if !weight.is_finite() || (weight < 0.0 && !source.is_lenient) {
        return Err(format!("weight is {weight}, must be 0 or more; optional = true only shows a check"));
    }
    let votes = spec.votes.unwrap_or(1);
    if !(1..=MAX_VOTES).contains(&votes) {
        return Err(format!("votes is {votes}, must be 1 to {MAX_VOTES}"));
    }
    let (test, category) = if spec.operator.is_empty() {
        (set(spec, source)?, "")
    } else if !spec.any_of.is_empty() || !spec.all_of.is_empty() {
        return Err("a check has an operator, or a set (any_of, all_of), not both".to_owned());
    } else {
        single(spec, source)?
    };
    Ok(Check {
        id: spec.id.clone(),
        operator: shown_operator(spec),
        criteria: shown_criteria(spec, source),
        weight,
        is_optional: spec.optional || weight < 0.0,
        category: if spec.category.is_empty() { category } else { &spec.category }.to_owned(),
        condition: spec.condition.as_ref().map(|condition| condition_of(condition, source)).transpose()?,
        extract: spec.extract.as_ref().map(extract_of).transpose()?,
        test,
        votes,
        examples: spec.examples.clone(),
    })
}

fn shown_operator(spec: &CheckSpec) -> String {
    match (spec.operator.as_str(), spec.any_of.is_empty()) {
        ("", true) => "all_of".to_owned(),
        ("", false) => "any_of".to_owned(),
        (operator, _) => operator.to_owned(),
    }
}

fn shown_criteria(spec: &CheckSpec, source: &Source<'_>) -> Option<String> {
    let bounds = [("min", spec.min), ("max", spec.max)];
    let bounds: Vec<String> =
        bounds.iter().filter_map(|(name, value)| Some(format!("{name} {}", (*value)?))).collect();
    let criteria = spec.criteria.as_ref().map(plain).map(|text| render(&text, source.scope).unwrap_or(text));
    let of: Vec<String> = spec.any_of.iter().chain(&spec.all_of).map(shown_operator).collect();
    let parts = [criteria, Some(bounds.join(" ")), Some(of.join(", "))];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn set(spec: &CheckSpec, source: &Source<'_>) -> Result<Test, String> {
    let (specs, usual) = match (spec.any_of.is_empty(), spec.all_of.is_empty()) {
        (true, true) => return Err("no operator: name one, or a set with any_of or all_of".to_owned()),
        (false, false) => {
            return Err("a set has any_of or all_of, not both: put one into the other".to_owned());
        }
        (false, true) => (&spec.any_of, 1),
        (true, false) => (&spec.all_of, spec.all_of.len()),
    };
    let at_least = spec.at_least.unwrap_or(usual);
    if !(1..=specs.len()).contains(&at_least) {
        return Err(format!("at_least is {at_least}, must be 1 to {}", specs.len()));
    }
    let checks = compile(specs, source).map_err(|faults| faults.join("; "))?;
    Ok(Test::Set { checks, at_least })
}

/// The test of one operator, and its category.
fn single(spec: &CheckSpec, source: &Source<'_>) -> Result<(Test, &'static str), String> {
    let bounds = Bounds { min: spec.min, max: spec.max };
    let name = spec.operator.as_str();
    let Some(operator) = find(name) else {
        return match (evaluator(name), source.is_lenient) {
            (Some((id, metric)), _) => Ok((Test::Evaluator { id, metric, bounds }, "Correctness")),
            (None, true) => Ok((Test::Unknown(format!("no operator {name:?} here")), "")),
            (None, false) => Err(unknown(name)),
        };
    };
    if let Some(measure) = operator.measure() {
        return Ok((of_spans(measure, spec, source, operator.is_negated)?, operator.category));
    }
    let test = match (&spec.criteria, operator.is_unary) {
        (_, true) => of_operator(&operator, spec, "", Vec::new())?,
        (None, false) if has_bounds_instead(&operator, bounds) => {
            of_operator(&operator, spec, "", Vec::new())?
        }
        (None, false) => {
            return Err(format!("{name} needs criteria; criteria = {EXPECTED:?} takes the expected answer"));
        }
        (Some(Json::String(text)), _) if text.trim() == EXPECTED && source.expected.len() > 1 => {
            any_expected(&operator, spec, source)?
        }
        (Some(criteria), false) => match filled(criteria, source) {
            Ok((text, list)) => of_operator(&operator, spec, &text, list)?,
            Err(Gap::Fault(why)) => return Err(why),
            Err(Gap::Missing(why)) => Test::Missing(why),
        },
    };
    Ok((test, operator.category))
}

fn unknown(name: &str) -> String {
    match nearest(name) {
        Some(near) => format!("no operator {name:?}; did you mean {near:?}?"),
        None => format!("no operator {name:?}: docs/suites.md has them all"),
    }
}

/// An evaluator's id, and the metric behind it.
fn evaluator(name: &str) -> Option<(String, Option<String>)> {
    let is_known = |id: &str| IDS.contains(&id) || asks_judge(id) || is_plugin(id);
    if is_known(name) {
        return Some((name.to_owned(), None));
    }
    let (id, metric) = name.rsplit_once('/')?;
    is_known(id).then(|| (id.to_owned(), Some(metric.to_owned())))
}

fn has_bounds_instead(operator: &Operator, bounds: Bounds) -> bool {
    let is_counted = matches!(operator.engine, Engine::Exact(exact) if exact.has_number());
    is_counted && bounds != Bounds::default()
}

/// A check that passes with any accepted answer.
fn any_expected(operator: &Operator, spec: &CheckSpec, source: &Source<'_>) -> Result<Test, String> {
    let checks: Result<Vec<Check>, String> = source
        .expected
        .iter()
        .map(|expected| {
            let spec = CheckSpec { criteria: None, condition: None, extract: None, ..spec.clone() };
            Ok(Check {
                id: String::new(),
                operator: spec.operator.clone(),
                criteria: Some(expected.clone()),
                weight: 1.0,
                is_optional: false,
                category: String::new(),
                condition: None,
                extract: None,
                test: of_operator(operator, &spec, expected, split(expected))?,
                votes: spec.votes.unwrap_or(1),
                examples: Vec::new(),
            })
        })
        .collect();
    // With a negation none of them may be there.
    let checks = checks?;
    let at_least = if operator.is_negated { checks.len() } else { 1 };
    Ok(Test::Set { checks, at_least })
}

/// Why criteria cannot be filled in.
enum Gap {
    /// They are written wrongly.
    Fault(String),
    /// This case lacks what they name.
    Missing(String),
}

fn filled(criteria: &Json, source: &Source<'_>) -> Result<(String, Vec<String>), Gap> {
    let fill = |text: &str| {
        render(text, source.scope).map_err(|why| match wrong_root(text) {
            Some(root) => Gap::Fault(format!("no {{{{{root}}}}}: there are {}", ROOTS.join(", "))),
            None if why.contains("not closed") => Gap::Fault(why),
            None => Gap::Missing(why),
        })
    };
    match criteria {
        Json::Array(items) => {
            let list = items.iter().map(|item| fill(&plain(item))).collect::<Result<Vec<_>, _>>()?;
            Ok((list.join("; "), list))
        }
        other => {
            let text = fill(&plain(other))?;
            let list = split(&text);
            Ok((text, list))
        }
    }
}

/// The first placeholder whose root no case ever has.
fn wrong_root(text: &str) -> Option<&str> {
    let paths = text.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0.trim()));
    paths.map(|path| path.split('.').next().unwrap_or(path)).find(|root| !ROOTS.contains(root))
}

/// The items of a list that stands in one text.
fn split(text: &str) -> Vec<String> {
    let mark = ['\n', ';', ','].into_iter().find(|mark| text.contains(*mark)).unwrap_or(',');
    text.split(mark).map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

fn of_operator(operator: &Operator, spec: &CheckSpec, text: &str, list: Vec<String>) -> Result<Test, String> {
    let is_negated = operator.is_negated;
    let bounds = Bounds { min: spec.min, max: spec.max };
    match (operator.engine, spec.engine.as_str()) {
        (Engine::Exact(run), "" | "exact") => {
            if run.has_number() && !text.trim().is_empty() && text.trim().parse::<f64>().is_err() {
                return Err(format!("criteria {text:?} must be a number"));
            }
            let pattern = if run.has_pattern() { Some(Pattern::new(text)?) } else { None };
            let schema = if run.has_schema() { Some(Schema::new(text)?) } else { None };
            let (text, min, max) = (text.to_owned(), spec.min, spec.max);
            let criteria = Box::new(Criteria { text, list, pattern, schema, spans: None, min, max });
            run.check(&criteria)?;
            Ok(Test::Exact { run, criteria, is_negated })
        }
        (Engine::Local(local), "" | "local") => {
            let criteria = match local {
                super::operator::Local::SaysAny => list,
                _ if operator.is_unary => Vec::new(),
                _ => vec![text.to_owned()],
            };
            Ok(Test::Local { local, criteria, bounds, is_negated })
        }
        (Engine::Local(local), "judge") => Ok(judged(local.judged(), text, spec, is_negated)),
        (Engine::Judge(question), "" | "judge") => Ok(judged(question, text, spec, is_negated)),
        (_, engine) => Err(format!("engine {engine:?} does not answer {}", spec.operator)),
    }
}

/// A test of the run's spans.
fn of_spans(
    measure: Measure,
    spec: &CheckSpec,
    source: &Source<'_>,
    is_negated: bool,
) -> Result<Test, String> {
    if !matches!(spec.engine.as_str(), "" | "exact") {
        return Err(format!("engine {:?} does not answer {}", spec.engine, spec.operator));
    }
    let mut wanted = Wanted::new(measure, spec.criteria.as_ref(), (spec.min, spec.max))?;
    match filled(&Json::String(wanted.pattern.clone()), source) {
        Ok((pattern, _)) => wanted.pattern = pattern,
        Err(Gap::Fault(why)) => return Err(why),
        Err(Gap::Missing(why)) => return Ok(Test::Missing(why)),
    }
    let criteria = Box::new(Criteria { spans: Some(wanted), ..Criteria::default() });
    Ok(Test::Exact { run: Exact::Spans(measure), criteria, is_negated })
}

/// The question with criteria and examples in it, and the evaluator that will ask it.
fn judged(question: &str, criteria: &str, spec: &CheckSpec, is_negated: bool) -> Test {
    // What the suite's author writes is no placeholder of the judge's prompt.
    let mut prompt = question.replace("{{criteria}}", &without_placeholders(criteria));
    for example in &spec.examples {
        let rating = if example.kind == "negative" { "no" } else { "yes" };
        let text = without_placeholders(&example.text);
        prompt.push_str(&format!("\n\nFor example, the rating of this is {rating}: {text}"));
    }
    let id = format!("custom_answer/{}", name_of(&prompt));
    Test::Judge { id, question: prompt, is_negated }
}

/// A name that the same question always has.
fn name_of(question: &str) -> String {
    format!("suite-{}", hex::encode(&Sha256::digest(question)[..8]))
}

/// The evaluator of a judged check as a configuration would have it.
pub(super) fn custom(question: &str) -> CustomConfig {
    CustomConfig {
        name: name_of(question),
        kind: CustomKind::Answer,
        prompt: question.to_owned(),
        prompt_file: PathBuf::new(),
        judge: String::new(),
    }
}

fn condition_of(spec: &ConditionSpec, source: &Source<'_>) -> Result<Condition, String> {
    match (spec.check.is_empty(), spec.operator.is_empty()) {
        (false, true) => {
            let status = match spec.is.as_str() {
                "" | "pass" => Status::Pass,
                "fail" => Status::Fail,
                other => return Err(format!("if.is = {other:?}, must be pass or fail")),
            };
            Ok(Condition::Earlier { id: spec.check.clone(), status })
        }
        (true, false) => {
            let check = CheckSpec {
                operator: spec.operator.clone(),
                criteria: spec.criteria.clone(),
                min: spec.min,
                max: spec.max,
                ..CheckSpec::default()
            };
            let (test, _) = single(&check, source).map_err(|why| format!("if: {why}"))?;
            Ok(Condition::Holds(Box::new(test)))
        }
        _ => Err("if has an operator, or the id of an earlier check: one of them".to_owned()),
    }
}

fn extract_of(spec: &ExtractSpec) -> Result<Extract, String> {
    let mut found = Vec::new();
    if let Some(regex) = &spec.regex {
        let pattern = Pattern::new(regex).map_err(|why| format!("extract.regex: {why}"))?;
        found.push(Extract::Rule(Rule::Pattern(pattern)));
    }
    found.extend(spec.json_path.clone().map(|path| Extract::Rule(Rule::JsonPath(path))));
    found.extend(spec.between.clone().map(|[before, after]| Extract::Rule(Rule::Between(before, after))));
    if spec.prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) {
        return Err("extract.prompt is blank: say which part of the answer is meant".to_owned());
    }
    found.extend(spec.prompt.clone().map(Extract::Prompt));
    match found.pop() {
        Some(extract) if found.is_empty() => Ok(extract),
        _ => Err("extract has one of regex, json_path, between, prompt".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn compiled(toml: &str, is_lenient: bool) -> Result<Vec<Check>, String> {
        #[derive(serde::Deserialize)]
        struct Wrapped {
            check: Vec<CheckSpec>,
        }
        let specs = toml::from_str::<Wrapped>(&format!("check = [{toml}]")).unwrap().check;
        let scope = json!({"input": {"q": "Who?"}, "expected": "a", "metadata": {}, "context": {}});
        let expected = ["a".to_owned(), "b".to_owned()];
        let source = Source { scope: &scope, expected: &expected, is_lenient };
        compile(&specs, &source).map_err(|faults| faults.join("\n"))
    }

    #[test]
    fn faults_say_what_to_do_and_all_are_told() {
        for (toml, part) in [
            ("{ operator = \"include_exactly\", criteria = \"x\" }", "did you mean \"includes_exactly\""),
            ("{ operator = \"contains\" }", "needs criteria"),
            ("{ operator = \"contains\", criteria = \"x\", weight = -1 }", "weight is -1"),
            ("{ operator = \"regex\", criteria = \"(\" }", "unclosed group"),
            ("{ operator = \"word-count\", criteria = \"many\" }", "must be a number"),
            ("{ operator = \"contains\", criteria = \"{{inptu.q}}\" }", "no {{inptu}}: there are input"),
            (
                "{ operator = \"contains\", criteria = \"x\", if = { check = \"first\" } }",
                "no id of an earlier",
            ),
            ("{ operator = \"contains\", criteria = \"x\", engine = \"judge\" }", "does not answer contains"),
            ("{ operator = \"contains\", criteria = \"x\", extract = {} }", "one of regex"),
            (
                "{ operator = \"contains\", criteria = \"x\", extract = { prompt = \" \\n\" } }",
                "extract.prompt is blank",
            ),
            ("{ any_of = [{ operator = \"is-json\" }], at_least = 2 }", "must be 1 to 1"),
            ("{ weight = 2 }", "no operator: name one"),
            (
                "{ operator = \"not-trace-span-count\", criteria = \"a*\" }",
                "check 1 (not-trace-span-count): it needs min, max or both",
            ),
            ("{ operator = \"trace-span-duration\", min = 1 }", "it has no \"min\""),
            ("{ operator = \"trace-error-spans\", engine = \"judge\" }", "does not answer trace-error-spans"),
            (
                "{ operator = \"trace-error-spans\", criteria = { pattern = \"{{inptu.q}}\" } }",
                "no {{inptu}}: there are input",
            ),
            ("{ operator = \"is_polite\", votes = 0 }", "votes is 0"),
        ] {
            let told = compiled(toml, false).unwrap_err();
            assert!(told.contains(part), "{toml}: {told}");
        }
        let both =
            compiled("{ operator = \"contains\" }, { operator = \"nothing-like-it\" }", false).unwrap_err();
        assert!(both.contains("check 1") && both.contains("check 2"), "{both}");
    }

    #[test]
    fn what_a_case_lacks_is_missing_and_what_nobody_knows_is_kept_when_it_is_imported() {
        let checks =
            compiled("{ operator = \"contains\", criteria = \"{{metadata.lang}}\" }", false).unwrap();
        assert!(matches!(checks[0].test, Test::Missing(_)));
        let checks = compiled("{ operator = \"their_own\", criteria = \"x\", weight = -1 }", true).unwrap();
        assert!(matches!(checks[0].test, Test::Unknown(_)) && checks[0].is_optional);
        let checks = compiled("{ operator = \"rouge/rouge_l\", min = 0.3 }", false).unwrap();
        assert!(
            matches!(&checks[0].test, Test::Evaluator { metric: Some(metric), .. } if metric == "rouge_l")
        );
    }

    #[test]
    fn the_expected_answer_stands_for_all_that_are_accepted() {
        let at_least = |toml: &str| match &compiled(toml, false).unwrap()[0].test {
            Test::Set { checks, at_least } => (checks.len(), *at_least),
            other => panic!("{other:?}"),
        };
        assert_eq!(at_least("{ operator = \"contains\", criteria = \"{{expected}}\" }"), (2, 1));
        assert_eq!(at_least("{ operator = \"not-contains\", criteria = \"{{expected}}\" }"), (2, 2));
    }

    #[test]
    fn a_judged_check_asks_what_its_author_wrote_and_no_placeholder_more() {
        let toml = "{ operator = \"satisfies_statement\", criteria = \"says {{input.q}}\", examples = [{ type = \"negative\", text = \"{{answer}}\" }] }";
        let checks = compiled(toml, false).unwrap();
        let Test::Judge { id, question, .. } = &checks[0].test else { panic!("{checks:?}") };
        assert!(
            question.contains("says Who?") && question.contains("rating of this is no: { {answer}}"),
            "{question}"
        );
        assert_eq!(*id, custom(question).id());
    }
}
