//! An experiment beside others, with what was answered.

use super::super::reading::{Answered, Key, Scored};
use super::super::summary::{self, Data, Of};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An experiment, and its name in the files.
pub struct Side<'a> {
    /// The experiment.
    pub data: Data<'a>,
    /// The last answer of each run.
    pub answers: &'a HashMap<Key, Answered>,
}

/// The name of each side: that of its experiment, with its id where several have it.
pub fn keys(sides: &[Side<'_>]) -> Vec<String> {
    let name = |side: &Side<'_>| side.data.experiment.name.clone();
    let key = |side: &Side<'_>| {
        let is_only = sides.iter().filter(|other| name(other) == name(side)).count() == 1;
        if is_only { name(side) } else { format!("{} {}", name(side), side.data.experiment.experiment_id) }
    };
    sides.iter().map(key).collect()
}

/// The scores of a side by evaluator and metric.
pub fn by_metric<'a>(data: &Data<'a>) -> BTreeMap<Of, Vec<&'a Scored>> {
    summary::by_metric(data.scores.iter())
}

/// The name of each metric of the sides: its own, with its evaluator before it where several have it.
pub fn metric_names(sides: &[Side<'_>]) -> BTreeMap<Of, String> {
    let all: BTreeSet<Of> = sides.iter().flat_map(|side| by_metric(&side.data).into_keys()).collect();
    let name = |of: &Of| {
        let is_only = all.iter().filter(|other| other.1 == of.1).count() == 1;
        if is_only { of.1.clone() } else { format!("{}/{}", of.0, of.1) }
    };
    all.iter().map(|of| (of.clone(), name(of))).collect()
}
