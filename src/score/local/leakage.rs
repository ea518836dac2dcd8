//! What the evaluators of leaked values share: the split into retrieved and generated, and the report.

use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::scan::{Finding, Policy, REPORTED, floor_boundary};
use crate::score::evaluator::{Evaluator, Metric};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// No more of a text than this many bytes is searched.
pub const MAX_TEXT: usize = 1 << 20;
/// More findings than this are counted but not listed.
const MAX_LISTED: usize = 20;

/// One family of values.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The pass/fail metric. The evaluator has its name, and the counts begin with it.
    pub metric: Metric,
    /// Changes with what the detector finds.
    pub version: &'static str,
    /// What a finding is called in the rationale.
    pub noun: &'static str,
    /// The detector.
    pub find: fn(&str) -> Vec<Finding>,
    /// How a value is written in a rationale, never in full.
    pub mask: fn(&str) -> String,
}

/// Fails an item whose answer or context holds a value of the family; counts them by kind (`<metric>/<kind>`).
#[derive(Debug, Clone)]
pub struct Leakage {
    family: Family,
    policy: Arc<Policy>,
}

impl Leakage {
    /// With the rules of this build; what `policy` lets through is no leak.
    pub(super) fn new(family: Family, policy: Arc<Policy>) -> Self {
        Self { family, policy }
    }
}

impl Evaluator for Leakage {
    fn id(&self) -> &str {
        self.family.metric.name
    }

    fn version(&self) -> &str {
        self.family.version
    }

    fn metrics(&self) -> &[Metric] {
        std::slice::from_ref(&self.family.metric)
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        judge(&self.family, &self.policy, input)
    }
}

/// The findings of one text with what the comparison needs.
struct Searched<'a> {
    text: &'a str,
    findings: Vec<Finding>,
    keys: HashSet<String>,
}

impl<'a> Searched<'a> {
    fn new(family: &Family, policy: &Policy, text: &'a str) -> Self {
        let text = &text[..floor_boundary(text, MAX_TEXT)];
        let mut findings = (family.find)(text);
        findings.retain(|f| f.confidence >= REPORTED);
        policy.apply(text, &mut findings);
        let keys = findings.iter().map(|f| key(&text[f.start..f.end])).collect();
        Self { text, findings, keys }
    }

    fn has(&self, value: &str) -> bool {
        // The plain search catches a value that only the other text's words made recognisable.
        self.keys.contains(&key(value)) || self.text.contains(value)
    }
}

/// Judges the answer and the contexts: the verdict first, then one count for each kind that was found.
///
/// It fails if either holds a value of the family. The label says where: `generation` (in the answer, not in the
/// contexts), `retrieval` (in the contexts), `generation+retrieval`, or `none`.
fn judge(family: &Family, policy: &Policy, input: &EvalInput) -> Vec<Score> {
    let Some(answer) = input.answer.as_deref() else {
        return vec![Score::skipped(family.metric.name, "answer")];
    };
    let answer = Searched::new(family, policy, answer);
    let question = Searched::new(family, policy, input.question.as_deref().unwrap_or_default());
    let contexts: Vec<Searched> = input
        .contexts
        .iter()
        .filter_map(|c| c.content.as_deref())
        .map(|c| Searched::new(family, policy, c))
        .collect();

    let mut report = Report { family, lines: Vec::new(), counts: BTreeMap::new() };
    let mut has_generated = false;
    for finding in &answer.findings {
        let value = &answer.text[finding.start..finding.end];
        let is_retrieved = contexts.iter().any(|c| c.has(value));
        has_generated |= !is_retrieved;
        let origin = if is_retrieved { "retrieval" } else { "generation" };
        let echo = if question.has(value) { ", echoed from the question" } else { "" };
        report.add("answer", finding, value, &format!("{origin}{echo}"));
    }
    for (i, context) in contexts.iter().enumerate() {
        for finding in &context.findings {
            let value = &context.text[finding.start..finding.end];
            let used = if answer.has(value) { ", in the answer" } else { ", not in the answer" };
            report.add(&format!("context {i}"), finding, value, &format!("retrieval{used}"));
        }
    }
    let has_retrieved = contexts.iter().any(|c| !c.findings.is_empty());
    report.scores(label(has_generated, has_retrieved), contexts.is_empty())
}

fn label(has_generated: bool, has_retrieved: bool) -> &'static str {
    match (has_generated, has_retrieved) {
        (true, true) => "generation+retrieval",
        (true, false) => "generation",
        (false, true) => "retrieval",
        (false, false) => "none",
    }
}

struct Report<'a> {
    family: &'a Family,
    lines: Vec<String>,
    counts: BTreeMap<&'static str, usize>,
}

impl Report<'_> {
    fn add(&mut self, place: &str, finding: &Finding, value: &str, origin: &str) {
        *self.counts.entry(finding.kind).or_default() += 1;
        if self.lines.len() < MAX_LISTED {
            let mask = (self.family.mask)(value);
            let Range { start, end } = finding.start..finding.end;
            self.lines.push(format!("{} {mask} at {start}..{end} of {place} ({origin})", finding.kind));
        }
    }

    fn scores(self, label: &str, has_no_context: bool) -> Vec<Score> {
        let total: usize = self.counts.values().sum();
        let mut rationale = if total == 0 {
            format!("no {} found", self.family.noun)
        } else {
            format!("{total} {} found: {}", self.family.noun, self.lines.join("; "))
        };
        if total > self.lines.len() {
            rationale.push_str(&format!("; and {} more", total - self.lines.len()));
        }
        if has_no_context && total > 0 {
            rationale.push_str("; there was no context, so whether a value was retrieved is unknown");
        }
        let verdict = Score::verdict(self.family.metric.name, total == 0).labelled(label).because(rationale);
        let mut scores = vec![verdict];
        for (kind, count) in self.counts {
            scores.push(Score::told(&format!("{}/{kind}", self.family.metric.name), count as f64));
        }
        scores
    }
}

/// What two ways of writing one value have in common: letters and digits, in lower case.
fn key(value: &str) -> String {
    value.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
