//! Circles of imports between the files of a room.

use super::references::Reference;
use super::sources::{Tree, room};
use std::collections::{BTreeMap, BTreeSet};

/// One line for each circle, with the imports that close it.
///
/// A mod.rs that re-exports its children is no circle; a child that imports from the mod.rs above it makes one.
pub(super) fn circles(tree: &Tree, references: &[Reference]) -> Vec<String> {
    let mut lines: BTreeMap<(Vec<String>, Vec<String>), usize> = BTreeMap::new();
    for reference in references.iter().filter(|r| room(&r.from) == room(&r.to)) {
        lines.entry((reference.from.clone(), tree.file_of(&reference.to))).or_insert(reference.line);
    }
    let mut below: BTreeMap<&[String], BTreeSet<&[String]>> = BTreeMap::new();
    for (from, to) in lines.keys() {
        below.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<&[String], BTreeSet<&[String]>> =
        below.keys().map(|from| (*from, reached_from(from, &below))).collect();
    let mut told: BTreeSet<&[String]> = BTreeSet::new();
    let mut wrong = Vec::new();
    for (from, to) in &reached {
        if !to.contains(from) || told.contains(from) {
            continue;
        }
        let circle: BTreeSet<&[String]> = to
            .iter()
            .filter(|other| reached.get(**other).is_some_and(|r| r.contains(from)))
            .copied()
            .collect();
        let mut text = String::from("circle of imports:");
        for ((from, to), line) in &lines {
            if circle.contains(from.as_slice()) && circle.contains(to.as_slice()) {
                text.push_str(&format!("\n  {}:{line} imports {}", from.join("/"), to.join("/")));
            }
        }
        wrong.push(text);
        told.extend(circle);
    }
    wrong
}

fn reached_from<'a>(
    from: &'a [String],
    below: &BTreeMap<&'a [String], BTreeSet<&'a [String]>>,
) -> BTreeSet<&'a [String]> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for next in below.get(at).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}
