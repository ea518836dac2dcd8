//! How far reviewers agree with each other, and the evaluator with the label that they gave.

use super::book::Entry;
use super::item::{State, standing};
use crate::schema::batch::AnswerKind;
use crate::stats::agreement::{
    Level, Measured, Unit, Weights, cohen, gwet, krippendorff, percent, with_interval,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Draws of the bootstrap.
const DRAWS: usize = 1_000;
const SEED: u64 = 7;
/// pass and fail.
const CATEGORIES: usize = 2;
/// The evaluator and the label, as the two raters of an item.
const EVALUATOR: (u32, u32) = (0, 1);

/// Every measure with its interval; NULL below twenty items with two answers, and where a measure is not defined: κ for other than
/// two reviewers, chance-corrected ones where only one label was ever given.
pub fn agreement(entries: &[(Entry, State)]) -> Value {
    let (units, raters) = votes(entries);
    let of = |what: &str, measure: &str, raters: usize, units: &[Unit], found: Option<Measured>| {
        json!({
            "between": what, "measure": measure, "level": "nominal", "raters": raters,
            "items": units.iter().filter(|unit| unit.len() > 1).count(),
            "estimate": found.map(|m| m.estimate), "lower": found.map(|m| m.lower), "upper": found.map(|m| m.upper),
        })
    };
    let measured = |units: &[Unit], measure: &dyn Fn(&[&Unit]) -> Option<f64>| {
        with_interval(units, DRAWS, SEED, measure)
    };
    let kappa = |units: &[&Unit]| cohen(units, (0, 1), CATEGORIES, Weights::Plain);
    let alpha = |units: &[&Unit]| krippendorff(units, CATEGORIES, Level::Nominal);
    let ac1 = |units: &[&Unit]| gwet(units, CATEGORIES);
    let people = |measure: &str, found| of("reviewers", measure, raters, &units, found);
    let against: Vec<Unit> = entries.iter().filter_map(|(entry, state)| against(entry, *state)).collect();
    let evaluator = |measure: &str, found| of("evaluator and label", measure, 2, &against, found);
    json!([
        people("percent", measured(&units, &percent)),
        people("cohen_kappa", measured(&units, &kappa).filter(|_| raters == 2)),
        people("krippendorff_alpha", measured(&units, &alpha)),
        people("gwet_ac1", measured(&units, &ac1)),
        evaluator("percent", measured(&against, &percent)),
        evaluator("cohen_kappa", measured(&against, &kappa)),
    ])
}

/// The reviewers' own answers, without those that decided between them, and how many reviewers there are.
fn votes(entries: &[(Entry, State)]) -> (Vec<Unit>, usize) {
    let mut raters: BTreeMap<String, u32> = BTreeMap::new();
    let mut units = Vec::with_capacity(entries.len());
    for (entry, _) in entries {
        let mut unit = Unit::new();
        for one in standing(&entry.answers) {
            let next = u32::try_from(raters.len()).unwrap_or(u32::MAX);
            if let (AnswerKind::Answer, Some(passed)) = (one.kind, one.passed) {
                unit.push((*raters.entry(one.reviewer.clone()).or_insert(next), u32::from(passed)));
            }
        }
        units.push(unit);
    }
    (units, raters.len())
}

fn against(entry: &Entry, state: State) -> Option<Unit> {
    let (passed, label) = (entry.drawn.passed?, state.label()?);
    Some(vec![(EVALUATOR.0, u32::from(passed)), (EVALUATOR.1, u32::from(label))])
}
