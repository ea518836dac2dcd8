//! Perturbed items whose verdict is not that of their source. Answers vary by themselves, so a flip counts only against the
//! flips of plain copies, and all metrics and methods of a report share a false-discovery rate. Items that another system
//! perturbed have no copies: their flips are told, and nothing is certain of them.

use super::reading::Scored;
use super::summary::{LEVEL, Of, by_item, by_metric, verdict};
use crate::schema::batch::ItemRow;
use crate::stats::{Estimate, Paired, matched, multiple};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// The method that changes nothing.
const COPY: &str = "copy";
/// The method of what another system perturbed: it tells the source alone.
const ELSEWHERE: &str = "perturbation_source";

/// Flips of a metric under a method, beyond those of copies.
#[derive(Debug, Serialize)]
pub struct Flips {
    /// The evaluator.
    pub evaluator: String,
    /// The metric.
    pub metric: String,
    /// The method with its intensity, `keyboard_typos@high`.
    pub method: String,
    /// Items with verdicts of source, copy and perturbed item.
    pub n: usize,
    /// Of them those whose perturbed item flipped.
    pub flipped: usize,
    /// Of them those whose copy flipped.
    pub copies_flipped: usize,
    /// Whether there are copies; without them it is not known how much answers vary by themselves.
    pub has_copies: bool,
    /// Items of which only the perturbed one flipped, and only the copy.
    #[serde(skip)]
    only: (u64, u64),
    /// The share of flips minus that of copies.
    pub difference: Option<Estimate>,
    /// McNemar's exact p of no more flips than those of copies.
    pub p: f64,
    /// The same, adjusted for the number of metrics and methods that were tried.
    pub p_adjusted: f64,
    /// `certain` where there are more flips than of copies at an adjusted p below 0.05, else `possible`; none without a flip.
    pub certainty: Option<&'static str>,
    /// Each flipped case: source and perturbed item.
    pub cases: Vec<Case>,
}

/// A flipped case.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub struct Case {
    /// The item as it was.
    pub source: String,
    /// The perturbed item.
    pub item_id: String,
    /// The verdict of the source; the perturbed item has the other.
    pub passed: bool,
}

/// An item that was made of another one.
struct Made<'a> {
    source: String,
    method: String,
    is_copy: bool,
    item: &'a ItemRow,
}

/// Flips by metric and method, those with the most flips first.
pub fn flips(items: &[ItemRow], scores: &[Scored]) -> Vec<Flips> {
    let names: HashMap<&str, &str> = items
        .iter()
        .map(|item| (item.external_id.as_deref().unwrap_or(&item.item_id), item.item_id.as_str()))
        .collect();
    let made: Vec<Made<'_>> = items.iter().filter_map(made).collect();
    let has_copies = made.iter().any(|one| one.is_copy);
    let mut all = Vec::new();
    for (of, scores) in by_metric(scores.iter()) {
        let values = by_item(&scores, verdict);
        // With repetitions the verdict is that of most of them.
        let passed = |item: &str| {
            let values = values.get(item).filter(|values| !values.is_empty())?;
            Some(values.iter().sum::<f64>() / values.len() as f64 > 0.5)
        };
        let copies: HashMap<&str, bool> = made
            .iter()
            .filter(|one| one.is_copy)
            .filter_map(|one| Some((one.source.as_str(), passed(&one.item.item_id)?)))
            .collect();
        let mut methods: BTreeMap<&str, Vec<&Made<'_>>> = BTreeMap::new();
        for one in made.iter().filter(|one| !one.is_copy) {
            methods.entry(&one.method).or_default().push(one);
        }
        for (method, items) in methods {
            let (mut paired, mut flips) = (Paired::new(), Flips { has_copies, ..empty(&of, method) });
            for one in items {
                let source = names.get(one.source.as_str()).copied();
                let found = source.and_then(|id| Some((id, passed(id)?, passed(&one.item.item_id)?)));
                let Some((id, was, now)) = found else { continue };
                match copies.get(one.source.as_str()) {
                    Some(copy) => flips.add((id, &one.item.item_id), (was, now, *copy), &mut paired),
                    None if has_copies => {}
                    None => flips.alone((id, &one.item.item_id), (was, now)),
                }
            }
            flips.difference = paired.rate(LEVEL);
            flips.p = matched::p(flips.only.0, flips.only.1);
            all.push(flips);
        }
    }
    // The more methods and metrics are tried, the more of them flip by chance.
    let adjusted = multiple::adjusted(&all.iter().map(|one| one.p).collect::<Vec<_>>());
    for (one, p) in all.iter_mut().zip(adjusted) {
        one.p_adjusted = p;
        let is_certain = p < 1.0 - LEVEL && one.only.0 > one.only.1;
        one.certainty = (one.flipped > 0).then_some(if is_certain { "certain" } else { "possible" });
    }
    all.sort_by_key(|flip| std::cmp::Reverse(flip.flipped));
    all
}

fn empty(of: &Of, method: &str) -> Flips {
    Flips {
        evaluator: of.0.clone(),
        metric: of.1.clone(),
        method: method.to_owned(),
        n: 0,
        flipped: 0,
        copies_flipped: 0,
        has_copies: true,
        only: (0, 0),
        difference: None,
        p: 1.0,
        p_adjusted: 1.0,
        certainty: None,
        cases: Vec::new(),
    }
}

impl Flips {
    /// An item whose source has no copy.
    fn alone(&mut self, (source, item): (&str, &str), (was, now): (bool, bool)) {
        self.n += 1;
        self.flipped += usize::from(was != now);
        if was != now {
            self.cases.push(Case { source: source.to_owned(), item_id: item.to_owned(), passed: was });
        }
    }

    fn add(
        &mut self,
        (source, item): (&str, &str),
        (was, now, copy): (bool, bool, bool),
        paired: &mut Paired,
    ) {
        let (flipped, copy_flipped) = (was != now, was != copy);
        self.n += 1;
        self.flipped += usize::from(flipped);
        self.copies_flipped += usize::from(copy_flipped);
        self.only.0 += u64::from(flipped && !copy_flipped);
        self.only.1 += u64::from(copy_flipped && !flipped);
        // A probability of 1 is counted.
        let _ = paired.push(f64::from(u8::from(flipped)), f64::from(u8::from(copy_flipped)), 1.0);
        if flipped {
            self.cases.push(Case { source: source.to_owned(), item_id: item.to_owned(), passed: was });
        }
    }
}

fn made(item: &ItemRow) -> Option<Made<'_>> {
    let metadata: Value = serde_json::from_str(item.metadata.as_deref()?).ok()?;
    let Some(told) = metadata.get("perturbation") else {
        let relations = metadata.get("relationships").or_else(|| metadata.pointer("/h2o/relationships"))?;
        let source = relations.as_array()?.iter().find(|one| one["type"] == ELSEWHERE)?;
        let source = source["target"].as_str()?.to_owned();
        return Some(Made { source, method: ELSEWHERE.to_owned(), is_copy: false, item });
    };
    let method = told["method"].as_str()?;
    let intensity = told["intensity"].as_str().unwrap_or("medium");
    Some(Made {
        source: told["source"].as_str()?.to_owned(),
        method: format!("{method}@{intensity}"),
        is_copy: method == COPY,
        item,
    })
}

#[cfg(test)]
#[path = "flips_tests.rs"]
mod tests;
