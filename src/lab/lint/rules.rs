//! The rules.

use super::finding::{Finding, Severity};
use super::near;
use super::seen::{Seen, folded};
use crate::eval::Input;
use crate::lab::dataset::Item;
use std::collections::{BTreeMap, BTreeSet};

/// Most items whose texts are compared with each other.
const MAX_COMPARED: usize = 100_000;
/// Most different expected answers that are classes, and how often each must come on average.
const MAX_CLASSES: usize = 20;
const CLASS_ITEMS: usize = 5;
/// Share of the most frequent class from which always saying it looks good.
const IMBALANCED: f64 = 0.8;
/// Shortest expected answer, characters, whose words in the question are no accident.
const LEAK: usize = 4;
/// An expected answer says more than the minimum from so many words on, and so many times the usual number.
const MANY_WORDS: usize = 60;
const TIMES: usize = 4;
/// What stands where something was to be filled in.
const PLACES: &[(&str, &str)] =
    &[("{{", "}}"), ("${", "}"), ("[insert", "]"), ("<insert", ">"), ("[your ", "]"), ("<your ", ">")];
/// Texts that were never written.
const UNWRITTEN: &[&str] = &["todo", "tbd", "xxx", "fixme", "n/a", "lorem ipsum"];

/// What is asked of a dataset.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// What evaluators need of an item, each with those who do.
    pub needs: BTreeMap<Input, Vec<String>>,
    /// Most characters of what is asked.
    pub longest: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { needs: BTreeMap::new(), longest: 32_000 }
    }
}

/// What is suspicious about `items`, errors first.
pub fn lint(items: &[Item], wanted: &Wanted) -> Vec<Finding> {
    let all: Vec<Seen<'_>> = items.iter().map(Seen::of).collect();
    let mut found = Vec::new();
    found.extend(missing(&all, wanted));
    found.extend(each(&all, wanted));
    found.extend(alike(&all));
    found.extend(classes(&all));
    found.extend(long_answers(&all));
    found.sort_by(|a, b| (a.severity, a.rule, &a.items).cmp(&(b.severity, b.rule, &b.items)));
    found
}

/// What evaluators need and items lack.
fn missing(all: &[Seen<'_>], wanted: &Wanted) -> Vec<Finding> {
    let lacks = |seen: &Seen<'_>, input: Input| match input {
        Input::Expected => seen.expected.is_empty(),
        Input::Contexts => seen.item.contexts.is_empty(),
        Input::Constraints => seen.item.constraints.is_empty(),
        Input::Question => seen.asked.is_empty(),
        Input::ExpectedDocuments => {
            let known =
                |key: &str| seen.item.metadata.as_ref().is_some_and(|fields| fields.contains_key(key));
            !known("expected_documents") && !known("expected_retrieved_context")
        }
        // The target brings these.
        Input::Answer | Input::SystemPrompt | Input::ToolCalls | Input::Tenant | Input::Conversation => false,
    };
    let of = |(input, who): (&Input, &Vec<String>)| {
        let ids: Vec<&str> = all.iter().filter(|seen| lacks(seen, *input)).map(|seen| seen.id).collect();
        let (name, who) = (input.name(), who.join(", "));
        // Context may come from the target as well.
        let severity = if *input == Input::Contexts { Severity::Warning } else { Severity::Error };
        let told = match *input {
            Input::Contexts => format!(
                "no {name}, which {who} needs: it is skipped unless the target tells what it retrieved"
            ),
            _ => format!("no {name}, which {who} needs: it is skipped there"),
        };
        (!ids.is_empty()).then(|| Finding::new("missing", severity, &ids, told))
    };
    let mut found: Vec<Finding> = wanted.needs.iter().filter_map(of).collect();
    let without: Vec<&str> = all.iter().filter(|seen| seen.expected.is_empty()).map(|seen| seen.id).collect();
    if !without.is_empty() && without.len() < all.len() && !wanted.needs.contains_key(&Input::Expected) {
        let told = format!("no expected answer, and {} others have one", all.len() - without.len());
        found.push(Finding::new("missing", Severity::Warning, &without, told));
    }
    found
}

/// Rules that look at one item alone.
fn each(all: &[Seen<'_>], wanted: &Wanted) -> Vec<Finding> {
    let class = class_counts(all).is_some();
    let told = |rule, severity, holds: &dyn Fn(&Seen<'_>) -> bool, message: String| {
        let ids: Vec<&str> = all.iter().filter(|seen| holds(seen)).map(|seen| seen.id).collect();
        (!ids.is_empty()).then(|| Finding::new(rule, severity, &ids, message))
    };
    let (error, warning) = (Severity::Error, Severity::Warning);
    let blank = |text: &String| text.trim().is_empty();
    let unfilled = |seen: &Seen<'_>| {
        is_unfilled(&seen.asked) || seen.expected.iter().any(|text| is_unfilled(&folded(text)))
    };
    let reasons = all.iter().find_map(|seen| seen.unreadable.clone()).unwrap_or_default();
    [
        told(
            "empty",
            error,
            &|seen| seen.asked.is_empty(),
            "nothing is asked: write it, or take the item out".to_owned(),
        ),
        told(
            "empty",
            error,
            &|seen| seen.expected.iter().any(blank),
            "the expected answer is blank: write it, or leave it out".to_owned(),
        ),
        told("unreadable", error, &|seen| seen.unreadable.is_some(), reasons),
        told(
            "unfilled",
            // Code has such places, too.
            warning,
            &unfilled,
            "a place that nobody filled, such as {{name}} or TODO".to_owned(),
        ),
        told(
            "long",
            warning,
            &|seen| seen.length > wanted.longest,
            format!("more than {} characters are asked: is it one question?", wanted.longest),
        ),
        told(
            "leak",
            warning,
            // Classes are often listed in the question.
            &|seen| !class && seen.expected.iter().any(|text| is_in(&folded(text), &seen.asked)),
            "the expected answer stands in what is asked: whoever copies passes".to_owned(),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether `text` is, or has, what was to be replaced.
fn is_unfilled(text: &str) -> bool {
    let has_place = |(open, close): &(&str, &str)| {
        text.split_once(open)
            .is_some_and(|(_, rest)| rest.split_once(close).is_some_and(|(name, _)| name.len() < 80))
    };
    PLACES.iter().any(has_place)
        || UNWRITTEN.contains(&text.trim_matches(['.', ' ']))
        || text.contains("lorem ipsum dolor")
}

/// Whether all words of `answer` stand in `asked` in a row.
fn is_in(answer: &str, asked: &str) -> bool {
    if answer.chars().count() < LEAK || !answer.chars().any(char::is_alphabetic) {
        return false;
    }
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let answer = answer.trim_end_matches('.');
    asked.match_indices(answer).any(|(at, found)| {
        ends(asked[..at].chars().next_back()) && ends(asked[at + found.len()..].chars().next())
    })
}

/// The same, or nearly the same, more than once.
fn alike(all: &[Seen<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut same: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, seen) in all.iter().enumerate().filter(|(_, seen)| !seen.asked.is_empty()) {
        same.entry(&seen.asked).or_default().push(at);
    }
    let ids = |group: &[usize]| group.iter().map(|at| all[*at].id).collect::<Vec<_>>();
    for group in same.values().filter(|group| group.len() > 1) {
        let answers: BTreeSet<Vec<String>> = group
            .iter()
            .map(|at| all[*at].expected.iter().map(|text| folded(text)).collect())
            .filter(|answers: &Vec<String>| !answers.is_empty())
            .collect();
        found.push(match answers.len() {
            0 | 1 => {
                let told = "the same is asked: take all but one out, or give them one group_id";
                Finding::new("duplicate", Severity::Warning, &ids(group), told)
            }
            many => {
                let told = format!("the same is asked, and {many} different answers are expected: {{\"any_of\": […]}} takes several");
                Finding::new("conflict", Severity::Error, &ids(group), told)
            }
        });
        found.extend(between_splits(all, group));
    }
    // One of each group of equal ones stands for them.
    let firsts: Vec<usize> = same.values().map(|group| group[0]).take(MAX_COMPARED).collect();
    let texts: Vec<&str> = firsts.iter().map(|at| all[*at].asked.as_str()).collect();
    for group in near::groups(&texts) {
        let mut group: Vec<usize> = group.into_iter().map(|at| firsts[at]).collect();
        group.sort_unstable();
        // Perturbed items are near copies on purpose, and items of one group count as one.
        let one = |at: &usize| all[*at].item.group_id.as_deref();
        if one(&group[0]).is_some() && group.iter().all(|at| one(at) == one(&group[0])) {
            continue;
        }
        let told = "nearly the same is asked: items that are not independent make intervals too narrow; give them one group_id";
        found.push(Finding::new("near_duplicate", Severity::Warning, &ids(&group), told));
        found.extend(between_splits(all, &group));
    }
    if same.len() > MAX_COMPARED {
        let told = format!("near duplicates were looked for among the first {MAX_COMPARED} questions only");
        found.push(Finding::new("near_duplicate", Severity::Warning, &[], told));
    }
    found
}

/// Items of a group in several splits: what was learnt from one is asked in the other.
fn between_splits(all: &[Seen<'_>], group: &[usize]) -> Option<Finding> {
    let splits: BTreeSet<&str> = group.iter().filter_map(|at| all[*at].item.split.as_deref()).collect();
    let ids: Vec<&str> = group.iter().map(|at| all[*at].id).collect();
    let told = format!(
        "the same, or nearly, is in the splits {}: what was learnt in one is asked in the other",
        splits.iter().copied().collect::<Vec<_>>().join(" and ")
    );
    (splits.len() > 1).then(|| Finding::new("split_overlap", Severity::Error, &ids, told))
}

/// How often each expected answer comes, if they are classes.
fn class_counts(all: &[Seen<'_>]) -> Option<BTreeMap<String, usize>> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for seen in all.iter().filter(|seen| seen.expected.len() == 1) {
        *counts.entry(folded(&seen.expected[0])).or_default() += 1;
        if counts.len() > MAX_CLASSES {
            return None;
        }
    }
    let total: usize = counts.values().sum();
    (counts.len() > 1 && total >= CLASS_ITEMS * counts.len()).then_some(counts)
}

fn classes(all: &[Seen<'_>]) -> Option<Finding> {
    let counts = class_counts(all)?;
    let total: usize = counts.values().sum();
    let (class, most) = counts.iter().max_by_key(|(_, count)| **count)?;
    let share = *most as f64 / total as f64;
    let told = format!(
        "{most} of {total} items expect {class:?}: whoever always says it is right in {:.0} %",
        share * 100.0
    );
    let of = |seen: &&Seen<'_>| seen.expected.first().is_some_and(|text| folded(text) == *class);
    let ids: Vec<&str> = all.iter().filter(of).map(|seen| seen.id).collect();
    (share >= IMBALANCED).then(|| Finding::new("imbalance", Severity::Warning, &ids, told))
}

/// Expected answers hold the least that must be said: what is much longer asks for more than is needed.
fn long_answers(all: &[Seen<'_>]) -> Option<Finding> {
    let words = |text: &String| text.split_whitespace().count();
    // Of several that are enough the shortest tells what must be said.
    let shortest = |seen: &Seen<'_>| seen.expected.iter().map(words).min();
    let mut usual: Vec<usize> = all.iter().filter_map(shortest).collect();
    usual.sort_unstable();
    let median = *usual.get(usual.len() / 2)?;
    let is_long = |seen: &&Seen<'_>| {
        let longest = seen.expected.iter().map(words).max().unwrap_or_default();
        let line = if seen.expected.len() > 1 { shortest(seen).unwrap_or_default() } else { median };
        longest >= MANY_WORDS && longest > TIMES * line.max(1)
    };
    let ids: Vec<&str> = all.iter().filter(is_long).map(|seen| seen.id).collect();
    let told = format!(
        "the expected answer has {MANY_WORDS} words or more, and over {TIMES} times those of the shortest accepted one, or of the \
         others: an answer that leaves something out fails; expect the least that must be said"
    );
    (!ids.is_empty()).then(|| Finding::new("long_expected", Severity::Warning, &ids, told))
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
