//! What the failed checks of a run have in common: counted, or written by a judge.

use super::bench::Bench;
use super::found::NEEDS_JUDGE;
use super::outcome::{Outcome, Status};
use crate::domain::document::Document;
use crate::domain::trace::EvalInput;
use crate::eval::{Unwritten, Written};
use parking_lot::Mutex;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::str::FromStr;
use std::sync::Arc;

/// Examples of each operator: the shortest ones.
const SHORTEST: usize = 3;
/// Operators, categories and tags that are told by name: the most frequent ones.
const MOST_NAMED: usize = 20;
/// Failed checks that a judge reads: together they fit its window where that is not set lower.
const MOST_READ: usize = 40;
/// Characters of their feedback, and of each other part.
const MOST_CHARS: usize = 400;
const OTHER_CHARS: usize = 150;
/// Analyses that are kept for the files of a run.
const MOST_KEPT: usize = 64;

/// Who writes the analysis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnalysisBy {
    /// Nobody: failed checks are counted.
    #[default]
    Counting,
    /// The first judge.
    Judge,
}

impl FromStr for AnalysisBy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "counted" => Ok(Self::Counting),
            "judge" => Ok(Self::Judge),
            other => Err(format!("analysis is {other:?}; it may be counted or judge")),
        }
    }
}

/// A failed check.
#[derive(Debug, Default)]
pub(super) struct Failed<'a> {
    operator: &'a str,
    criteria: &'a str,
    category: &'a str,
    tags: Vec<&'a str>,
    feedback: &'a str,
}

/// The failed checks of runs, in their order.
pub(super) fn failed(runs: &[Outcome]) -> Vec<Failed<'_>> {
    let mut all = Vec::new();
    for run in runs {
        let tags: Vec<&str> = run.tags.iter().map(String::as_str).collect();
        for check in run.checks.iter().filter(|check| check.status == Status::Fail) {
            all.push(Failed {
                operator: &check.operator,
                criteria: check.criteria.as_deref().unwrap_or_default(),
                category: &check.category,
                tags: tags.clone(),
                feedback: &check.feedback,
            });
        }
    }
    all
}

/// The failed checks of the runs of a report.
pub(super) fn failed_in(runs: &[Json]) -> Vec<Failed<'_>> {
    let mut all = Vec::new();
    for run in runs {
        let tags: Vec<&str> = run["tags"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        for check in run["checks"].as_array().into_iter().flatten().filter(|check| check["status"] == "fail")
        {
            all.push(Failed {
                operator: text(check, "operator"),
                criteria: text(check, "criteria"),
                category: text(check, "category"),
                tags: tags.clone(),
                feedback: text(check, "feedback"),
            });
        }
    }
    all
}

fn text<'a>(check: &'a Json, key: &str) -> &'a str {
    check[key].as_str().unwrap_or_default()
}

/// How many failed, by operator with the shortest feedback of each, by category and by tag; nothing where nothing failed.
pub(super) fn counted(failed: &[Failed<'_>]) -> String {
    if failed.is_empty() {
        return String::new();
    }
    let operators = told(&grouped(failed, |one| vec![one.operator]), |name, of| {
        let mut why: Vec<&str> = of.iter().map(|one| one.feedback).filter(|why| !why.is_empty()).collect();
        why.sort_by_key(|why| (why.len(), *why));
        why.dedup();
        why.truncate(SHORTEST);
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
        format!("{name} {}{why}", of.len())
    });
    let mut parts = vec![operators];
    for (what, groups) in [
        ("category", grouped(failed, |one| vec![one.category])),
        ("tag", grouped(failed, |one| one.tags.clone())),
    ] {
        if !groups.is_empty() {
            let counts = told(&groups, |name, of| format!("{name} {}", of.len()));
            parts.push(format!("by {what} {counts}"));
        }
    }
    format!("counted: {}", parts.join("; "))
}

/// The checks of each name, the most frequent one first.
type Groups<'a> = Vec<(&'a str, Vec<&'a Failed<'a>>)>;

fn grouped<'a>(failed: &'a [Failed<'a>], names: impl Fn(&'a Failed<'a>) -> Vec<&'a str>) -> Groups<'a> {
    let mut by_name: BTreeMap<&'a str, Vec<&'a Failed<'a>>> = BTreeMap::new();
    for one in failed {
        for name in names(one).into_iter().filter(|name| !name.is_empty()) {
            by_name.entry(name).or_default().push(one);
        }
    }
    let mut groups: Groups<'a> = by_name.into_iter().collect();
    groups.sort_by_key(|(_, of)| std::cmp::Reverse(of.len()));
    groups
}

fn told(groups: &[(&str, Vec<&Failed<'_>>)], one: impl Fn(&str, &[&Failed<'_>]) -> String) -> String {
    let mut all: Vec<String> = groups.iter().take(MOST_NAMED).map(|(name, of)| one(name, of)).collect();
    if groups.len() > MOST_NAMED {
        all.push(format!("{} more", groups.len() - MOST_NAMED));
    }
    all.join(", ")
}

/// What the judge of `bench` writes of failed checks, marked with its model and how much it was given; what `kept` has of
/// the same is not asked for again. Blocks; a runtime must be entered.
///
/// # Errors
/// Why it wrote nothing.
pub(super) fn by_judge(failed: &[Failed<'_>], bench: &Bench<'_>, kept: &Analyses) -> Result<String, String> {
    let chosen = in_turn(failed);
    let texts: Vec<(String, bool)> = chosen.iter().map(|one| written_out(one)).collect();
    let cut = texts.iter().filter(|(_, is_cut)| *is_cut).count();
    let mut marks = format!("{} of {} failed checks", texts.len(), failed.len());
    if cut > 0 {
        marks.push_str(&format!(", {cut} of them cut"));
    }
    let key = key(bench.tenant().unwrap_or_default(), &marks, &texts);
    if let Some(known) = kept.get(&key) {
        return Ok(known);
    }
    let document = |(text, _): (String, bool)| Document { content: Some(text), ..Document::default() };
    let input = EvalInput {
        contexts: texts.into_iter().map(document).collect(),
        tenant: bench.tenant().map(str::to_owned),
        ..EvalInput::default()
    };
    let Written { text, model } = match bench.analysis(&input) {
        None => return Err(NEEDS_JUDGE.to_owned()),
        Some(Ok(written)) => written,
        Some(Err(Unwritten::Missing(what))) => return Err(format!("not there: {what}")),
        Some(Err(Unwritten::Failed(why))) => return Err(why),
    };
    let analysis = format!("judge ({model}, {marks}): {}", text.unwrap_or_default());
    kept.put(key, analysis.clone());
    Ok(analysis)
}

/// As many as a judge reads: the first of each operator, then the second of each, so that one that fails often does not hide
/// the others.
fn in_turn<'a>(failed: &'a [Failed<'a>]) -> Vec<&'a Failed<'a>> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, &Failed<'_>)> = Vec::with_capacity(failed.len());
    for one in failed {
        let rank = seen.entry(one.operator).or_default();
        *rank += 1;
        ranked.push((*rank, one));
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(MOST_READ).map(|(_, one)| one).collect()
}

/// A failed check in lines, and whether a part of it was cut.
fn written_out(one: &Failed<'_>) -> (String, bool) {
    let tags = one.tags.join(", ");
    let (mut lines, mut is_cut) = (Vec::new(), false);
    for (name, text, most) in [
        ("operator", one.operator, OTHER_CHARS),
        ("criteria", one.criteria, OTHER_CHARS),
        ("category", one.category, OTHER_CHARS),
        ("tags", tags.as_str(), OTHER_CHARS),
        ("feedback", one.feedback, MOST_CHARS),
    ] {
        match text.char_indices().nth(most) {
            _ if text.is_empty() => {}
            None => lines.push(format!("{name}: {text}")),
            Some((at, _)) => {
                is_cut = true;
                lines.push(format!("{name}: {} […]", &text[..at]));
            }
        }
    }
    (lines.join("\n"), is_cut)
}

/// What an analysis is kept by.
type Key = [u8; 32];

fn key(tenant: &str, marks: &str, texts: &[(String, bool)]) -> Key {
    let mut hash = Sha256::new();
    for text in [tenant, marks].into_iter().chain(texts.iter().map(|(text, _)| text.as_str())) {
        // Lengths keep the parts apart.
        hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

/// Analyses that judges wrote, the latest ones: all files of a run have the same, and it is paid for once. Cheap to clone.
#[derive(Clone, Default)]
pub struct Analyses(Arc<Mutex<VecDeque<(Key, String)>>>);

impl Analyses {
    fn get(&self, key: &Key) -> Option<String> {
        let kept = self.0.lock();
        kept.iter().find(|(known, _)| known == key).map(|(_, analysis)| analysis.clone())
    }

    fn put(&self, key: Key, analysis: String) {
        let mut kept = self.0.lock();
        if kept.len() >= MOST_KEPT {
            kept.pop_front();
        }
        kept.push_back((key, analysis));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Registry;
    use serde_json::json;

    fn checks(of: &[(&str, &str, &str)]) -> Json {
        let check = |(operator, category, feedback): &(&str, &str, &str)| json!({"operator": operator, "category": category, "feedback": feedback, "status": "fail"});
        of.iter().map(check).collect()
    }

    #[test]
    fn failed_checks_are_counted_by_operator_category_and_tag() {
        let runs = [
            json!({"tags": ["Bay", "Easy"], "checks": checks(&[("contains", "Correctness", "no Nevada"), ("is-json", "", "no JSON")])}),
            json!({"tags": ["Bay"], "checks": checks(&[
                ("contains", "Correctness", "no"), ("contains", "Style", "it is not there"), ("contains", "Style", "no"), ("contains", "Style", "never"),
            ])}),
            json!({"checks": [{"operator": "contains", "status": "pass"}]}),
        ];
        let failed = failed_in(&runs);
        assert_eq!(
            counted(&failed),
            "counted: contains 5 (no; never; no Nevada), is-json 1 (no JSON); by category Style 3, Correctness 2; by tag Bay 6, Easy 2"
        );
        assert_eq!(counted(&failed_in(&runs[2..])), "");
        let many: Vec<String> = (0..MOST_NAMED + 2).map(|n| format!("o{n:02}")).collect();
        let failed: Vec<Failed<'_>> =
            many.iter().map(|operator| Failed { operator, ..Failed::default() }).collect();
        assert!(counted(&failed).ends_with("o19 1, 2 more"), "{}", counted(&failed));
    }

    #[test]
    fn a_judge_reads_some_of_each_operator_and_what_is_cut_is_counted() {
        let long = "x".repeat(MOST_CHARS + 1);
        let mut failed: Vec<Failed<'_>> =
            (0..100).map(|_| Failed { operator: "often", feedback: "f", ..Failed::default() }).collect();
        failed.push(Failed {
            operator: "seldom",
            feedback: &long,
            tags: vec!["a", "b"],
            ..Failed::default()
        });
        let chosen = in_turn(&failed);
        assert_eq!((chosen.len(), chosen[0].operator, chosen[1].operator), (MOST_READ, "often", "seldom"));
        assert_eq!(written_out(chosen[0]), ("operator: often\nfeedback: f".to_owned(), false));
        let (text, is_cut) = written_out(chosen[1]);
        assert!(is_cut && text.contains("tags: a, b\n") && text.ends_with("x […]"), "{text}");
        assert_eq!(text.matches('x').count(), MOST_CHARS);
        let registry = Registry::of(Vec::new());
        let bench = Bench::new(&registry, Vec::new(), Vec::new());
        assert_eq!(by_judge(&failed, &bench, &Analyses::default()), Err(NEEDS_JUDGE.to_owned()));
    }

    #[test]
    fn the_latest_analyses_are_kept() {
        let kept = Analyses::default();
        let of = |n: usize| key("t", &n.to_string(), &[("a".to_owned(), false)]);
        for n in 0..=MOST_KEPT {
            kept.put(of(n), n.to_string());
        }
        assert_eq!((kept.get(&of(0)), kept.get(&of(1))), (None, Some("1".to_owned())));
        assert_ne!(of(1), key("t1", "", &[("a".to_owned(), false)]));
    }
}
