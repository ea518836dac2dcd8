//! All of it, as JSON; a later run reads it as its baseline.

use super::super::analysis::{Analyses, by_judge, counted, failed};
use super::super::bench::Bench;
use super::super::gate::{Code, Decided};
use super::super::load::Suite;
use super::super::outcome::Outcome;
use super::super::summary::Summary;
use serde::Serialize;

/// The name of this form; it changes when a reader of the old one could not read the new one.
pub const FORMAT: &str = "groundline-suite-report/1";

/// A run of a suite, whole.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The form's name.
    pub format: &'static str,
    /// The suite.
    pub suite: String,
    /// Its version, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The name or kind of the target.
    pub target: String,
    /// When the first test was asked, RFC 3339.
    pub started_at: String,
    /// When the last verdict was there, RFC 3339.
    pub completed_at: String,
    /// How it ended.
    pub verdict: Code,
    /// The exit code.
    pub exit_code: u8,
    /// The confidence level of all intervals.
    pub level: f64,
    /// The gates.
    pub gates: Vec<Decided>,
    /// What all runs say together.
    pub summary: Summary,
    /// What the failed checks have in common, if any failed, behind a mark: counted, or judge with the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// Whether a judge was to write the analysis.
    #[serde(skip)]
    pub is_analysed: bool,
    /// Every run, in the order of the tests.
    pub runs: Vec<Outcome>,
}

impl Report {
    /// The report of `runs` of `suite`, made from `times`, its start and end.
    pub fn new(
        suite: &Suite,
        times: (String, String),
        gates: Vec<Decided>,
        summary: Summary,
        verdict: Code,
        runs: Vec<Outcome>,
    ) -> Self {
        let spec = &suite.target;
        let kind = format!("{:?}", spec.kind).to_lowercase();
        let target = [&spec.name, &spec.model, &spec.url, &kind].into_iter().find(|name| !name.is_empty());
        let analysis = Some(counted(&failed(&runs))).filter(|text| !text.is_empty());
        Self {
            format: FORMAT,
            suite: suite.head.name.clone(),
            version: suite.head.version,
            target: target.cloned().unwrap_or_default(),
            started_at: times.0,
            completed_at: times.1,
            verdict,
            exit_code: verdict.number(),
            level: suite.head.level,
            gates,
            summary,
            analysis,
            is_analysed: false,
            runs,
        }
    }

    /// Has the judge of `bench` write the analysis, if any check failed; what `kept` has of the same is taken. Where the judge
    /// does not, the counted one stays and says why. Blocks; a runtime must be entered.
    pub fn analyse(&mut self, bench: &Bench<'_>, kept: &Analyses) {
        let failed = failed(&self.runs);
        if failed.is_empty() {
            return;
        }
        let told = by_judge(&failed, bench, kept);
        self.analysis = Some(match told {
            Ok(analysis) => analysis,
            Err(why) => format!("{}; no analysis by a judge: {why}", counted(&failed)),
        });
        self.is_analysed = true;
    }

    /// As JSON text.
    ///
    /// # Errors
    /// Never in practice: every part is plain data.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
