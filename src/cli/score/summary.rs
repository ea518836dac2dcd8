//! What all rows say together, and what they cost.

use crate::eval::{NO_VERDICT, OfflineRow, scale_of, tells_origin};
use crate::stats::confusion::{Confusion, LabelQuality};
use crate::stats::{Estimate, Rate, Weighted};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

const LEVEL: f64 = 0.95;
/// A larger confusion matrix is not printed.
const MAX_LABELS: usize = 12;

/// The rows of one metric.
#[derive(Default)]
struct Line {
    values: Weighted,
    passes: Rate,
    scored: u64,
    skipped: u64,
    errors: u64,
    has_threshold: bool,
}

/// One metric over all rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aggregate<'a> {
    pub evaluator: &'a str,
    pub metric: &'a str,
    /// Whether it has a scale with a threshold, and not a verdict alone.
    pub has_threshold: bool,
    /// The mean; none without a value.
    pub mean: Option<f64>,
    /// The share that passes; none without a verdict.
    pub passed: Option<f64>,
}

/// What judges took for an evaluator.
#[derive(Default)]
struct Spent {
    requests: u64,
    input_tokens: i64,
    output_tokens: i64,
    usd: f64,
}

/// What an evaluator took of this machine.
#[derive(Default)]
struct Worked {
    items: u32,
    cpu: Duration,
}

/// Where the fails of an evaluator came from.
#[derive(Default)]
struct Origins {
    passes: u64,
    retrieval: u64,
    generation: u64,
    /// The judge's own: no reply could be read.
    unread: u64,
}

/// All rows.
#[derive(Default)]
pub struct Summary {
    lines: BTreeMap<(String, String), Line>,
    origins: BTreeMap<String, Origins>,
    worked: BTreeMap<String, Worked>,
    spent: BTreeMap<String, Spent>,
    labels: Confusion,
}

impl Origins {
    fn add(&mut self, row: &OfflineRow) {
        let is_unread = || row.error.as_deref().is_some_and(|error| error.contains(NO_VERDICT));
        match (row.status, row.label.as_deref()) {
            ("error", _) => self.unread += u64::from(is_unread()),
            ("ok", Some("retrieval")) => self.retrieval += 1,
            ("ok", Some("generation")) => self.generation += 1,
            ("ok", _) => self.passes += u64::from(row.passed == Some(true)),
            _ => {}
        }
    }
}

impl Summary {
    /// Counts a row.
    pub fn add(&mut self, row: &OfflineRow) {
        let line = self.lines.entry((row.evaluator.clone(), row.metric.clone())).or_default();
        match row.status {
            "skipped" => line.skipped += 1,
            "error" => line.errors += 1,
            _ => {
                line.scored += 1;
                line.has_threshold |= row.threshold.is_some();
                // Every line stands for itself.
                row.value.map(|value| line.values.push(value, 1.0));
                row.passed.map(|passed| line.passes.push(passed, 1.0));
            }
        }
        if tells_origin(&row.evaluator) {
            self.origins.entry(row.evaluator.clone()).or_default().add(row);
        }
        if let Some(usage) = &row.usage {
            let spent = self.spent.entry(row.evaluator.clone()).or_default();
            spent.requests += 1;
            spent.input_tokens += usage.input_tokens.unwrap_or_default();
            spent.output_tokens += usage.output_tokens.unwrap_or_default();
            spent.usd += usage.cost_usd.unwrap_or_default();
        }
        if let Some(cpu) = row.cpu {
            let worked = self.worked.entry(row.evaluator.clone()).or_default();
            worked.items += 1;
            worked.cpu += cpu;
        }
        let label = row.label.as_deref().filter(|_| row.evaluator == "classification");
        if let Some((expected, answered)) = label.and_then(|label| label.split_once(" -> ")) {
            self.labels.add(expected, answered);
        }
    }

    /// Every metric.
    pub(super) fn aggregates(&self) -> impl Iterator<Item = Aggregate<'_>> {
        self.lines.iter().map(|((evaluator, metric), line)| Aggregate {
            evaluator,
            metric,
            has_threshold: line.has_threshold,
            mean: line.values.mean(LEVEL).map(|mean| mean.estimate),
            passed: line.passes.estimate(LEVEL).map(|share| share.estimate),
        })
    }

    /// How many rows have an error where none has a score: nothing was measured, and it shall not look like success.
    pub fn only_errors(&self) -> Option<u64> {
        let errors: u64 = self.lines.values().map(|line| line.errors).sum();
        let is_scored = self.lines.values().any(|line| line.scored > 0);
        (errors > 0 && !is_scored).then_some(errors)
    }

    /// For a person to read; empty without rows.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if !self.lines.is_empty() {
            self.tell_metrics(&mut out);
        }
        self.tell_origins(&mut out);
        self.tell_worked(&mut out);
        for (evaluator, spent) in &self.spent {
            let Spent { requests, input_tokens, output_tokens, usd } = spent;
            let _ = writeln!(
                out,
                "{evaluator}: {requests} judged by request, {input_tokens} tokens read, {output_tokens} written, {usd:.4} US dollars"
            );
        }
        if self.labels.total() > 0 {
            tell_labels(&self.labels, &mut out);
        }
        out
    }

    fn tell_origins(&self, out: &mut String) {
        let width = self.origins.keys().map(String::len).max().unwrap_or(0).max(9);
        if !self.origins.is_empty() {
            let _ = writeln!(
                out,
                "{:width$} {:>7} {:>10} {:>11} {:>6}",
                "fails of", "passed", "retrieval", "generation", "parse"
            );
        }
        for (evaluator, Origins { passes, retrieval, generation, unread }) in &self.origins {
            let _ =
                writeln!(out, "{evaluator:width$} {passes:>7} {retrieval:>10} {generation:>11} {unread:>6}");
        }
    }

    /// Items without the evaluator's input are in it: they take next to nothing, and a server has them too.
    fn tell_worked(&self, out: &mut String) {
        let width = self.worked.keys().map(String::len).max().unwrap_or(0).max(9);
        if !self.worked.is_empty() {
            let _ = writeln!(out, "{:width$} {:>7} {:>12}", "evaluator", "items", "CPU ms/item");
        }
        for (evaluator, Worked { items, cpu }) in &self.worked {
            let each = cpu.as_secs_f64() * 1e3 / f64::from((*items).max(1));
            let _ = writeln!(out, "{evaluator:width$} {items:>7} {each:>12.3}");
        }
    }

    fn tell_metrics(&self, out: &mut String) {
        let names = self.lines.keys().map(|(evaluator, metric)| name(evaluator, metric));
        let width = names.map(|name| name.len()).max().unwrap_or(0).max(6);
        let _ = writeln!(
            out,
            "{:width$} {:>7} {:>24} {:>24} {:>8} {:>7}",
            "metric", "scored", "mean, 95 % interval", "passed", "skipped", "errors"
        );
        for ((evaluator, metric), line) in &self.lines {
            let (mean, passed) = (line.values.mean(LEVEL), line.passes.estimate(LEVEL));
            let mean = match scale_of(evaluator, metric) {
                Some(scale) => mean.map(|mean| mean.within((scale.least, scale.most))),
                None => mean,
            };
            let _ = writeln!(
                out,
                "{:width$} {:>7} {:>24} {:>24} {:>8} {:>7}",
                name(evaluator, metric),
                line.values.n(),
                interval(mean),
                interval(passed),
                line.skipped,
                line.errors
            );
        }
    }
}

fn name(evaluator: &str, metric: &str) -> String {
    if evaluator == metric { metric.to_owned() } else { format!("{evaluator} {metric}") }
}

fn interval(estimate: Option<Estimate>) -> String {
    match estimate {
        None => "-".to_owned(),
        Some(Estimate { estimate, lower: Some(lower), upper: Some(upper), .. }) => {
            format!("{estimate:.3} [{lower:.3}, {upper:.3}]")
        }
        Some(Estimate { estimate, .. }) => format!("{estimate:.3}"),
    }
}

/// The figures of each label, their macro average, and the confusion matrix of up to [`MAX_LABELS`] labels.
fn tell_labels(summary: &Confusion, out: &mut String) {
    let labels = summary.labels();
    let _ = writeln!(out, "{:24} {:>9} {:>9} {:>9}", "label", "precision", "recall", "f1");
    let mut line = |name: &str, q: LabelQuality| {
        let _ = writeln!(out, "{name:24} {:>9.3} {:>9.3} {:>9.3}", q.precision, q.recall, q.f1);
    };
    labels.iter().take(MAX_LABELS).for_each(|label| line(label, summary.of(label)));
    if let Some(mean) = summary.macro_average() {
        line("macro average", mean);
    }
    let _ = writeln!(out, "accuracy {:.3} of {}", summary.accuracy().unwrap_or_default(), summary.total());
    if labels.len() <= MAX_LABELS {
        *out += "expected \\ answered";
        labels.iter().for_each(|label| *out += &format!("\t{label}"));
        for expected in &labels {
            let _ = write!(out, "\n{expected}");
            labels.iter().for_each(|answered| *out += &format!("\t{}", summary.count(expected, answered)));
        }
        *out += "\n";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::OfflineUsage;

    fn row(status: &'static str, value: Option<f64>, usd: Option<f64>) -> OfflineRow {
        OfflineRow {
            id: 1.into(),
            evaluator: "faithfulness".to_owned(),
            evaluator_version: "1".to_owned(),
            metric: "faithfulness".to_owned(),
            value,
            label: None,
            passed: value.map(|value| value >= 0.5),
            threshold: Some(0.5),
            status,
            rationale: None,
            error: None,
            evidence: Vec::new(),
            ratings: Vec::new(),
            rationales: Vec::new(),
            latency_ms: 1.0,
            usage: usd.map(|usd| OfflineUsage {
                judge_model: "m".to_owned(),
                input_tokens: Some(100),
                output_tokens: None,
                cost_usd: Some(usd),
            }),
            cpu: value.map(|_| Duration::from_millis(3)),
        }
    }

    #[test]
    fn fails_are_counted_by_where_they_came_from() {
        let mut summary = Summary::default();
        let told = |label: &str, passed| OfflineRow {
            evaluator: "sexism".to_owned(),
            metric: "sexism".to_owned(),
            label: Some(label.to_owned()),
            passed: Some(passed),
            ..row("ok", Some(0.0), None)
        };
        let failed = |why: &str| OfflineRow {
            evaluator: "sexism".to_owned(),
            error: Some(why.to_owned()),
            ..row("error", None, None)
        };
        for row in
            [told("none", true), told("none", true), told("retrieval", false), told("generation", false)]
        {
            summary.add(&row);
        }
        summary.add(&failed(&format!("2 replies of the judge {NO_VERDICT}; the last: it is empty")));
        summary.add(&failed("judge main: it is away"));
        summary.add(&OfflineRow { evaluator: "sexism".to_owned(), ..row("skipped", None, None) });
        let text = summary.text();
        let line = text.lines().skip_while(|line| !line.starts_with("fails of ")).nth(1).unwrap();
        let line: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(line, ["sexism", "2", "1", "1", "1"], "{text}");
    }

    #[test]
    fn errors_alone_are_told_and_those_beside_a_score_are_none() {
        let mut summary = Summary::default();
        summary.add(&row("skipped", None, None));
        assert_eq!(summary.only_errors(), None);
        (0..2).for_each(|_| summary.add(&row("error", None, None)));
        assert_eq!(summary.only_errors(), Some(2));
        summary.add(&row("ok", Some(0.5), None));
        assert_eq!(summary.only_errors(), None);
    }

    #[test]
    fn rows_are_counted_by_how_they_ended_and_money_once() {
        let mut summary = Summary::default();
        assert_eq!(summary.text(), "");
        for (status, value, usd) in [
            ("ok", Some(0.8), Some(0.25)),
            ("ok", Some(0.2), Some(0.5)),
            ("skipped", None, None),
            ("error", None, None),
        ] {
            summary.add(&row(status, value, usd));
        }
        let text = summary.text();
        let line: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!((line[0], line[1], line[2]), ("faithfulness", "2", "0.500"), "{text}");
        assert_eq!(line[line.len() - 2..], ["1", "1"], "{text}");
        // Student's interval of two values reaches far beyond a share.
        assert!(text.contains("0.500 [0.000, 1.000]"), "{text}");
        assert!(
            text.contains("evaluator      items  CPU ms/item\nfaithfulness       2        3.000\n"),
            "{text}"
        );
        assert!(
            text.contains("2 judged by request, 200 tokens read, 0 written, 0.7500 US dollars"),
            "{text}"
        );
    }
}
