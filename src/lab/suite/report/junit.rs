//! For a build server: JUnit XML, a test case a check, gates as a suite of their own.

use super::super::gate::{Decided, Verdict};
use super::super::outcome::{CheckOutcome, Outcome, Status};
use super::document::Report;
use super::lines::repetitions;
use crate::stats::Estimate;
use std::fmt::Write as _;

/// Longest message of one case, characters: build servers keep all of them.
const MAX_MESSAGE: usize = 10_000;

/// The report as JUnit XML.
pub fn junit(report: &Report) -> String {
    let repetitions = repetitions(report);
    let mut body = String::new();
    let mut tally = Tally::default();
    for run in &report.runs {
        let name = match repetitions {
            1 => run.test.clone(),
            _ => format!("{} #{}", run.test, run.repetition),
        };
        cases(&mut body, &mut tally, &format!("{}.{name}", report.suite), run);
    }
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"{}\">", escaped(&report.suite));
    let suite = format!("{} ({})", report.suite, report.target);
    let _ = writeln!(out, "  <testsuite name=\"{}\" {}>", escaped(&suite), tally.attributes());
    properties(&mut out, report);
    out += &body;
    out += "  </testsuite>\n";
    gates(&mut out, report);
    out + "</testsuites>\n"
}

/// How many cases there are, by how they ended.
#[derive(Default)]
struct Tally {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
}

impl Tally {
    fn add(&mut self, status: Status) {
        self.tests += 1;
        match status {
            Status::Pass => {}
            Status::Fail => self.failures += 1,
            Status::Skipped => self.skipped += 1,
            Status::Error => self.errors += 1,
        }
    }

    fn attributes(&self) -> String {
        let Self { tests, failures, errors, skipped } = self;
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
    }
}

fn properties(out: &mut String, report: &Report) {
    *out += "    <properties>\n";
    for line in &report.summary.metrics {
        let Some(estimate) = &line.estimate else { continue };
        measured(out, "      ", &line.name, estimate);
    }
    *out += "    </properties>\n";
}

fn measured(out: &mut String, indent: &str, name: &str, estimate: &Estimate) {
    let values = [
        ("estimate", Some(estimate.estimate)),
        ("lower", estimate.lower),
        ("upper", estimate.upper),
        ("n", Some(estimate.n as f64)),
    ];
    for (what, value) in values {
        let Some(value) = value else { continue };
        let _ = writeln!(out, "{indent}<property name=\"{}.{what}\" value=\"{value}\"/>", escaped(name));
    }
}

/// The cases of one run: its checks; the run itself where nothing checks it, or where it has no answer.
fn cases(out: &mut String, tally: &mut Tally, class: &str, run: &Outcome) {
    let seconds = run.reply.as_ref().and_then(|reply| reply.duration_ms).map(|ms| ms / 1e3);
    if run.checks.is_empty() || run.error.is_some() {
        let status = if run.has_error() { Status::Error } else { run.status };
        let scored = run.scores.iter().find(|scored| scored.status == "error").and_then(|s| s.why.as_deref());
        let why = run.error.as_deref().or(scored).unwrap_or("nothing was checked");
        tally.add(status);
        case(out, class, "answer", seconds, status, why);
        return;
    }
    for check in &run.checks {
        // What does not count must not break a build; it is told.
        let (status, note) = match (check.counts, check.status) {
            (false, Status::Fail) => (Status::Skipped, "does not count; failed: "),
            _ => (check.status, ""),
        };
        tally.add(status);
        case(out, class, &check.name(), seconds, status, &format!("{note}{}", told(check)));
    }
}

fn told(check: &CheckOutcome) -> String {
    match &check.extracted {
        Some(part) => format!("{}\nextracted: {part}", check.feedback),
        None => check.feedback.clone(),
    }
}

fn case(out: &mut String, class: &str, name: &str, seconds: Option<f64>, status: Status, why: &str) {
    let time = seconds.map(|seconds| format!(" time=\"{seconds:.3}\"")).unwrap_or_default();
    let _ = write!(out, "    <testcase classname=\"{}\" name=\"{}\"{time}", escaped(class), escaped(name));
    let element = match status {
        Status::Pass => {
            *out += "/>\n";
            return;
        }
        Status::Fail => "failure",
        Status::Error => "error",
        Status::Skipped => "skipped",
    };
    let why: String = why.chars().take(MAX_MESSAGE).collect();
    let _ = writeln!(out, "><{element} message=\"{}\"/></testcase>", escaped(&why));
}

fn gates(out: &mut String, report: &Report) {
    let count = |verdict| report.gates.iter().filter(|gate| gate.verdict == verdict).count();
    let _ = writeln!(
        out,
        "  <testsuite name=\"gates\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">",
        report.gates.len(),
        count(Verdict::Broken),
        count(Verdict::Undecided)
    );
    report.gates.iter().for_each(|gate| one_gate(out, gate));
    *out += "  </testsuite>\n";
}

fn one_gate(out: &mut String, gate: &Decided) {
    let _ = write!(out, "    <testcase classname=\"gates\" name=\"{}\">", escaped(&gate.name));
    if let Some(estimate) = &gate.estimate {
        *out += "\n      <properties>\n";
        measured(out, "        ", "gate", estimate);
        *out += "      </properties>\n    ";
    }
    let why = format!("{} {}", super::lines::interval(gate.estimate.as_ref()), gate.why);
    match gate.verdict {
        Verdict::Held => {}
        Verdict::Broken => *out += &format!("<failure message=\"{}\"/>", escaped(&why)),
        Verdict::Undecided => *out += &format!("<skipped message=\"{}\"/>", escaped(&why)),
    }
    *out += "</testcase>\n";
}

/// A text in an attribute. What XML 1.0 cannot have at all becomes the replacement character.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // In an attribute they would be read as spaces.
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_xml_cannot_have_is_replaced() {
        assert_eq!(
            super::escaped("a<b>&\"\u{1b}[1m\n\u{ffff}"),
            "a&lt;b&gt;&amp;&quot;\u{fffd}[1m&#10;\u{fffd}"
        );
    }
}
