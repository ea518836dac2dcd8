//! How far reviewers agree with each other, and evaluators with the label that they gave.

use super::answer::{Answer, State, Verdict, standing};
use super::book::Entry;
use super::template::{Template, TemplateKind};
use crate::lab::experiment::{Dimension, Slice, slices};
use crate::schema::batch::{AnswerKind, ItemRow};
use crate::stats::agreement::{
    Level, Measured, Unit, Weights, cohen, gwet, krippendorff, percent, with_interval,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Draws of the bootstrap.
const DRAWS: usize = 1_000;
const SEED: u64 = 7;
/// Most numbers of a template that are compared by their distance.
const MAX_NUMBERS: usize = 100;
/// pass and fail.
const VERDICTS: usize = 2;
const PASS: u32 = 1;
/// The evaluator and the label, as the two raters of an item.
const EVALUATOR: u32 = 0;
const LABEL: u32 = 1;
/// How the verdicts of all evaluators together are called.
const ALL: &str = "auto_evals";

/// What is compared, as categories from 0.
struct Field<'a> {
    name: &'a str,
    level: Level,
    categories: usize,
}

/// Every measure of every field with its interval, over items that were answered at least twice: NULL below twenty of them,
/// and where a measure is not defined. Texts are not compared.
pub fn agreement(entries: &[(Entry, State)], templates: &[Template]) -> Value {
    let raters = raters(entries);
    let mut rows = Vec::new();
    for template in templates {
        let categories = categories(template);
        if template.kind == TemplateKind::FreeText || categories == 0 {
            continue;
        }
        let level = match (template.kind, template.ordered) {
            (TemplateKind::Numerical, _) => Level::Interval,
            (_, true) => Level::Ordinal,
            (_, false) => Level::Nominal,
        };
        let unit = |(entry, _): &(Entry, State)| -> Unit {
            let of = |one: &&Answer| {
                let said = one.response.templates.get(&template.name)?;
                Some((*raters.get(one.reviewer.as_str())?, place(template, said)?))
            };
            votes(entry).iter().filter_map(of).collect()
        };
        let units: Vec<Unit> = entries.iter().map(unit).collect();
        people(&Field { name: &template.name, level, categories }, &units, &mut rows);
    }
    let verdicts = verdicts(entries, &raters);
    if !verdicts.is_empty() {
        people(&Field { name: ALL, level: Level::Nominal, categories: VERDICTS }, &verdicts, &mut rows);
    }
    for (key, units) in against(entries) {
        evaluator(&key, &units, &mut rows);
    }
    Value::from(rows)
}

/// The same within each slice of the dataset whose runs are reviewed, and how many slices were left out.
pub fn sliced(
    entries: &[(Entry, State)],
    templates: &[Template],
    items: &[ItemRow],
    dimensions: &[Dimension],
) -> (Vec<Value>, usize) {
    let reviewed: HashSet<&str> = entries.iter().filter_map(|(entry, _)| entry.item_id()).collect();
    let items = items.iter().filter(|item| reviewed.contains(item.item_id.as_str()));
    let (slices, beyond) = slices(items, dimensions);
    let one = |slice: Slice<'_>| {
        let is_in = |(entry, _): &&(Entry, State)| entry.item_id().is_some_and(|id| slice.items.contains(id));
        let within: Vec<(Entry, State)> = entries.iter().filter(is_in).cloned().collect();
        let measures = agreement(&within, templates);
        json!({"by": slice.by, "value": slice.value, "items": within.len(), "measures": measures})
    };
    (slices.into_iter().map(one).collect(), beyond)
}

/// A number for each who answered.
fn raters(entries: &[(Entry, State)]) -> BTreeMap<&str, u32> {
    let who: BTreeSet<&str> =
        entries.iter().flat_map(|(entry, _)| votes(entry)).map(|one| one.reviewer.as_str()).collect();
    who.into_iter().zip(0u32..).collect()
}

/// The reviewers' own answers, without those that decided between them.
pub fn votes(entry: &Entry) -> Vec<&Answer> {
    standing(&entry.answers).into_iter().filter(|one| one.kind == AnswerKind::Answer).collect()
}

/// How many answers a template has; 0 where they are too many to be compared by their distance.
fn categories(template: &Template) -> usize {
    match (template.kind, template.min, template.max, template.step) {
        (TemplateKind::Categorical, ..) => template.categories.len(),
        (TemplateKind::Numerical, Some(min), Some(max), Some(step)) => {
            let steps = ((max - min) / step).round();
            if steps < MAX_NUMBERS as f64 { steps as usize + 1 } else { 0 }
        }
        _ => 0,
    }
}

/// The place of an answer among those of its template.
fn place(template: &Template, said: &Value) -> Option<u32> {
    match template.kind {
        TemplateKind::Categorical => {
            let at = template.categories.iter().position(|one| Some(one.as_str()) == said.as_str())?;
            u32::try_from(at).ok()
        }
        TemplateKind::Numerical => {
            let steps = (said.as_f64()? - template.min?) / template.step?;
            (steps >= -0.5).then(|| steps.round() as u32)
        }
        TemplateKind::FreeText => None,
    }
}

/// One unit for each score that people answered.
fn verdicts(entries: &[(Entry, State)], raters: &BTreeMap<&str, u32>) -> Vec<Unit> {
    let of = |(entry, _): &(Entry, State)| -> Vec<Unit> {
        let unit = |key: String| -> Unit {
            let said = |one: &&Answer| {
                let edit = one.response.auto_evals.get(&key)?;
                Some((*raters.get(one.reviewer.as_str())?, u32::from(edit.response == Verdict::Pass)))
            };
            votes(entry).iter().filter_map(said).collect()
        };
        entry.asked.iter().map(|one| unit(one.key())).collect()
    };
    entries.iter().flat_map(of).collect()
}

/// The verdicts of each evaluator beside the label, where both are there; and of all together.
fn against(entries: &[(Entry, State)]) -> BTreeMap<String, Vec<Unit>> {
    let mut units: BTreeMap<String, Vec<Unit>> = BTreeMap::new();
    for (entry, state) in entries {
        let Some(label) = state.label() else { continue };
        for one in &entry.asked {
            let (Some(passed), Some(edit)) = (one.verdict(), label.auto_evals.get(&one.key())) else {
                continue;
            };
            let said = u32::from(edit.response == Verdict::Pass);
            let unit: Unit = vec![(EVALUATOR, u32::from(passed)), (LABEL, said)];
            units.entry(one.key()).or_default().push(unit.clone());
            units.entry(ALL.to_owned()).or_default().push(unit);
        }
    }
    units
}

fn measured(units: &[Unit], measure: impl Fn(&[&Unit]) -> Option<f64>) -> Option<Measured> {
    with_interval(units, DRAWS, SEED, measure)
}

fn people(field: &Field<'_>, units: &[Unit], rows: &mut Vec<Value>) {
    let who: BTreeSet<u32> = units.iter().flatten().map(|(rater, _)| *rater).collect();
    let (level, categories, raters) = (field.level, field.categories, who.len());
    let mut put = |measure: &str, found: Option<Measured>| {
        rows.push(row(field, ("reviewers", measure), raters, units, found));
    };
    put("percent", measured(units, percent));
    if let (Some(first), Some(second), 2) = (who.iter().next(), who.iter().nth(1), raters) {
        let pair = (*first, *second);
        put("cohen_kappa", measured(units, |units| cohen(units, pair, categories, Weights::Plain)));
        if level != Level::Nominal {
            let weighted = measured(units, |units| cohen(units, pair, categories, Weights::Quadratic));
            put("weighted_kappa", weighted);
        }
    }
    put("krippendorff_alpha", measured(units, |units| krippendorff(units, categories, level)));
    put("gwet_ac1", measured(units, |units| gwet(units, categories)));
}

fn evaluator(key: &str, units: &[Unit], rows: &mut Vec<Value>) {
    let field = Field { name: key, level: Level::Nominal, categories: VERDICTS };
    let mut put = |measure: &str, found: Option<Measured>| {
        rows.push(row(&field, ("evaluator and label", measure), 2, units, found));
    };
    put("percent", measured(units, percent));
    let pair = (EVALUATOR, LABEL);
    put("cohen_kappa", measured(units, |units| cohen(units, pair, VERDICTS, Weights::Plain)));
    put("sensitivity", measured(units, |units| found_of(units, 1 - PASS)));
    put("specificity", measured(units, |units| found_of(units, PASS)));
}

/// The share of the items with this label of which the evaluator says the same: of fails what it finds, of passes what it lets
/// pass.
fn found_of(units: &[&Unit], label: u32) -> Option<f64> {
    let meant: Vec<&&Unit> = units.iter().filter(|unit| unit.contains(&(LABEL, label))).collect();
    let found = meant.iter().filter(|unit| unit.contains(&(EVALUATOR, label))).count();
    (!meant.is_empty()).then(|| found as f64 / meant.len() as f64)
}

fn row(
    field: &Field<'_>,
    (between, measure): (&str, &str),
    raters: usize,
    units: &[Unit],
    found: Option<Measured>,
) -> Value {
    let level = match field.level {
        Level::Nominal => "nominal",
        Level::Ordinal => "ordinal",
        Level::Interval => "interval",
    };
    json!({
        "field": field.name, "between": between, "measure": measure, "level": level, "raters": raters,
        "items": units.iter().filter(|unit| unit.len() > 1).count(), "estimate": found.map(|m| m.estimate),
        "lower": found.map(|m| m.lower), "upper": found.map(|m| m.upper),
    })
}

/// The share of pairs of answers to one question that are the same; none without such a pair.
pub fn same(entries: &[(Entry, State)], templates: &[Template]) -> Option<f64> {
    let raters = raters(entries);
    let mut units = verdicts(entries, &raters);
    for template in templates.iter().filter(|template| template.kind == TemplateKind::Categorical) {
        units.extend(entries.iter().map(|(entry, _)| -> Unit {
            let of = |one: &&Answer| {
                let said = one.response.templates.get(&template.name)?;
                Some((*raters.get(one.reviewer.as_str())?, place(template, said)?))
            };
            votes(entry).iter().filter_map(of).collect()
        }));
    }
    percent(&units.iter().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::UnixNanos;
    use crate::lab::experiment::{AutoEval, Chosen, ForQueue};
    use crate::lab::review::answer::{Edit, Response};

    fn entry(n: usize, says: [bool; 2], evaluator: bool) -> (Entry, State) {
        let into = ForQueue { queue_id: "q", name: "q", tenant: "t", population: 1, now: UnixNanos(0) };
        let asked = AutoEval { passed: Some(evaluator), ..AutoEval::named("rouge", "rouge") };
        let (trace_id, item_id) = (format!("{:032x}", n + 1), Some(n.to_string()));
        let chosen = Chosen { trace_id, item_id, asked: vec![asked], ..Chosen::default() };
        let answer = |(reviewer, passed): (&str, bool)| {
            let response = if passed { Verdict::Pass } else { Verdict::Fail };
            let edit = Edit { response, feedback: None };
            let templates = BTreeMap::from([("grade".to_owned(), json!(if passed { 4 } else { 2 }))]);
            let auto_evals = BTreeMap::from([("rouge".to_owned(), edit)]);
            let (id, reviewer) = (format!("{reviewer}{n}"), reviewer.to_owned());
            Answer {
                id,
                reviewer,
                kind: AnswerKind::Answer,
                response: Response { templates, auto_evals },
                comment: None,
                flagged: false,
                seconds: None,
                at: UnixNanos(0),
            }
        };
        let answers: Vec<Answer> = ["ana", "ben"].into_iter().zip(says).map(answer).collect();
        let label = answers[1].response.clone();
        (Entry::new(chosen.row(into).unwrap(), answers), State::Final(label))
    }

    /// Of 40 items people differ about 4; the evaluator finds 15 of 20 fails and lets 18 of 20 pass.
    fn forty() -> Vec<(Entry, State)> {
        let of = |n: usize| {
            let label = n.is_multiple_of(2);
            let evaluator = if label { n >= 4 } else { n < 10 };
            entry(n, [if n < 36 { label } else { !label }, label], evaluator)
        };
        (0..40).map(of).collect()
    }

    #[test]
    fn slices_are_measured_by_themselves_and_small_ones_are_not() {
        let split = |n: usize| match n {
            0..25 => Some("a".to_owned()),
            39 => None,
            _ => Some("b".to_owned()),
        };
        let item = |n: usize| ItemRow { item_id: n.to_string(), split: split(n), ..ItemRow::default() };
        // Nobody reviews the last ten.
        let items: Vec<ItemRow> = (0..50).map(item).collect();
        let (found, beyond) = sliced(&forty(), &[], &items, &Dimension::list(Some("split")).unwrap());
        let heads: Vec<(&Value, &Value, &Value)> =
            found.iter().map(|slice| (&slice["by"], &slice["value"], &slice["items"])).collect();
        let split = json!("split");
        assert_eq!(heads, [(&split, &json!("a"), &json!(25)), (&split, &json!("b"), &json!(14))]);
        assert_eq!(beyond, 0);
        let of = |slice: &Value, measure: &str| -> Value {
            let mut all = slice["measures"].as_array().unwrap().iter();
            let is = |row: &&Value| row["between"] == "evaluator and label" && row["measure"] == measure;
            all.find(|row| row["field"] == "rouge" && is(row)).cloned().unwrap()
        };
        // In the first 25 it finds 7 of 12 fails, and lets 11 of 13 pass.
        let near = |row: &Value, wanted: f64| (row["estimate"].as_f64().unwrap() - wanted).abs() < 1e-12;
        assert!(near(&of(&found[0], "sensitivity"), 7.0 / 12.0), "{}", found[0]);
        assert!(near(&of(&found[0], "specificity"), 11.0 / 13.0), "{}", found[0]);
        let small = of(&found[1], "cohen_kappa");
        assert_eq!((&small["items"], &small["estimate"]), (&json!(14), &Value::Null));
    }

    #[test]
    fn people_and_evaluators_are_measured_with_intervals() {
        let grade = json!([{"name": "grade", "type": "numerical", "min": 1, "max": 5, "step": 1}]);
        let templates: Vec<Template> = serde_json::from_value(grade).unwrap();
        let entries = forty();
        let rows = agreement(&entries, &templates);
        let of = |field: &str, between: &str, measure: &str| -> Value {
            let all = rows.as_array().unwrap().iter();
            let mut found = all.filter(|row| row["field"] == field && row["between"] == between);
            found.find(|row| row["measure"] == measure).cloned().unwrap_or_default()
        };
        let percent = of("grade", "reviewers", "percent");
        assert_eq!(
            (&percent["estimate"], &percent["items"], &percent["raters"]),
            (&json!(0.9), &json!(40), &json!(2))
        );
        assert!(percent["lower"].as_f64().unwrap() < 0.9 && percent["upper"].as_f64().unwrap() > 0.9);
        assert_eq!(of("grade", "reviewers", "weighted_kappa")["level"], "interval");
        assert_eq!(of("auto_evals", "reviewers", "percent")["estimate"], 0.9);
        assert_eq!(of("rouge", "evaluator and label", "sensitivity")["estimate"], 0.75);
        assert_eq!(of("rouge", "evaluator and label", "specificity")["estimate"], 0.9);
        assert_eq!(same(&entries, &templates), Some(0.9));
        let few = agreement(&entries[..19], &templates);
        assert!(few.as_array().unwrap().iter().all(|row| row["estimate"].is_null()), "{few}");
        assert_eq!(agreement(&[], &[]), json!([]));
    }
}
