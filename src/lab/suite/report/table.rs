//! For a terminal.

use super::super::gate::Verdict;
use super::super::summary::{Counts, Line};
use super::document::Report;
use super::lines::{MAX_TOLD, interval, misses, repetitions, verdict};
use std::fmt::Write as _;

/// The report for a person to read: gates last, because that is where a terminal ends.
pub fn table(report: &Report) -> String {
    let mut out = String::new();
    let summary = &report.summary;
    let repetitions = repetitions(report);
    let _ = writeln!(out, "{} against {}: {} runs", report.suite, report.target, summary.runs);
    let _ = writeln!(out, "tests   {}", counts(summary.tests));
    let _ = writeln!(out, "checks  {}", counts(summary.checks));
    if summary.passed_by_condition > 0 {
        let _ = writeln!(
            out,
            "        {} pass only because their condition was not met",
            summary.passed_by_condition
        );
    }
    if summary.needs_review > 0.0 {
        let _ =
            writeln!(out, "review  {:.1} % of the runs have an unsure verdict", summary.needs_review * 100.0);
    }
    let percent = format!("{:.0} % interval", report.level * 100.0);
    lines(&mut out, "metric", &percent, &summary.metrics);
    lines(&mut out, "category", &percent, &summary.categories);
    lines(&mut out, "tag", &percent, &summary.tags);
    let misses = misses(report);
    if !misses.is_empty() {
        out += "\n";
    }
    for miss in misses.iter().take(MAX_TOLD) {
        let (word, test) = (miss.status().word(), miss.test(repetitions));
        let _ = writeln!(out, "{word:5} {test}: {}: {}", miss.name(), miss.why);
    }
    if misses.len() > MAX_TOLD {
        let _ = writeln!(out, "… and {} more; --json has all", misses.len() - MAX_TOLD);
    }
    if let Some(analysis) = report.analysis.as_ref().filter(|_| report.is_analysed) {
        let _ = writeln!(out, "\nwhat failed, {analysis}");
    }
    gates(&mut out, report);
    out
}

fn gates(out: &mut String, report: &Report) {
    if !report.gates.is_empty() {
        *out += "\n";
    }
    for gate in &report.gates {
        let mark = match gate.verdict {
            Verdict::Held => "ok",
            Verdict::Broken => "BROKEN",
            Verdict::Undecided => "warning",
        };
        let found = interval(gate.estimate.as_ref());
        let _ = writeln!(out, "gate {:7} {}: {found} {}", mark, gate.name, gate.why);
    }
    let _ = writeln!(out, "{} (exit code {})", verdict(report), report.exit_code);
}

fn counts(counts: Counts) -> String {
    let Counts { pass, fail, skipped, error } = counts;
    format!("{pass} pass, {fail} fail, {skipped} skipped, {error} error")
}

fn lines(out: &mut String, what: &str, percent: &str, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    let width = lines.iter().map(|line| line.name.len()).max().unwrap_or(0).max(what.len());
    let _ = writeln!(out, "\n{what:width$} {percent:>26} {:>7} {:>7} {:>7}", "n", "skipped", "errors");
    for line in lines {
        let found = interval(line.estimate.as_ref());
        let n = line.estimate.map_or(0, |estimate| estimate.n);
        let _ =
            writeln!(out, "{:width$} {found:>26} {n:>7} {:>7} {:>7}", line.name, line.skipped, line.errors);
    }
}
