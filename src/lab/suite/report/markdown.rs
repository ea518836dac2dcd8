//! For a pull request.

use super::super::summary::Line;
use super::document::Report;
use super::lines::{MAX_TOLD, interval, misses, repetitions, verdict};
use std::fmt::Write as _;

/// The report as Markdown: gates first, because that is what a reviewer reads.
pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    let summary = &report.summary;
    let _ = writeln!(out, "## {}: {}\n", cell(&report.suite), verdict(report));
    let tests = summary.tests;
    let _ = writeln!(
        out,
        "{} runs against {}: {} pass, {} fail, {} skipped, {} error.\n",
        summary.runs,
        cell(&report.target),
        tests.pass,
        tests.fail,
        tests.skipped,
        tests.error
    );
    if !report.gates.is_empty() {
        out += "| gate | verdict | measured | note |\n|---|---|---|---|\n";
    }
    for gate in &report.gates {
        let found = interval(gate.estimate.as_ref());
        let _ = writeln!(
            out,
            "| {} | {} | {found} | {} |",
            cell(&gate.name),
            gate.verdict.word(),
            cell(&gate.why)
        );
    }
    let percent = report.level * 100.0;
    for (what, lines) in
        [("metric", &summary.metrics), ("category", &summary.categories), ("tag", &summary.tags)]
    {
        rows(&mut out, what, percent, lines);
    }
    let misses = misses(report);
    if !misses.is_empty() {
        out += "\n| test | check | verdict | why |\n|---|---|---|---|\n";
    }
    let repetitions = repetitions(report);
    for miss in misses.iter().take(MAX_TOLD) {
        let (test, name) = (cell(&miss.test(repetitions)), cell(&miss.name()));
        let _ = writeln!(out, "| {test} | {name} | {} | {} |", miss.status().word(), cell(&miss.why));
    }
    if misses.len() > MAX_TOLD {
        let _ = writeln!(out, "\n{} more are not shown.", misses.len() - MAX_TOLD);
    }
    if let Some(analysis) = &report.analysis {
        let _ = writeln!(out, "\nWhat failed, {}", cell(analysis));
    }
    out
}

fn rows(out: &mut String, what: &str, percent: f64, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    let _ =
        writeln!(out, "\n| {what} | {percent:.0} % interval | n | skipped | errors |\n|---|---|---|---|---|");
    for line in lines {
        let n = line.estimate.map_or(0, |estimate| estimate.n);
        let found = interval(line.estimate.as_ref());
        let _ =
            writeln!(out, "| {} | {found} | {n} | {} | {} |", cell(&line.name), line.skipped, line.errors);
    }
}

/// A text that ends no cell and opens no element: what an application answered is nobody's markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!' => {
                out.push('\\');
                out.push(c);
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_text_is_no_markup() {
        assert_eq!(super::cell("a|b\n<i> `c` ![x](y)"), "a\\|b &lt;i> \\`c\\` \\!\\[x\\](y)");
    }
}
