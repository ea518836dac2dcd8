//! What labels say of an evaluator, for a person to read, and the threshold that goes into the configuration.

use super::super::rewrite::{implicit, rewrite};
use crate::domain::score::Better;
use crate::stats::ranking::{FIGURES, Judged, Ranking};
use crate::stats::threshold::{Counts, Goal, Labelled, choose, crossed};
use crate::stats::wilson;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

const LEVEL: f64 = 0.95;
const SEED: u64 = 7;
/// Fewer faults, or fewer sound answers, choose no threshold: it would be chance.
const LEAST: usize = 10;

/// The scores of one metric, each with what a person said.
pub struct Column {
    /// The evaluator.
    pub evaluator: String,
    /// Its version.
    pub version: String,
    /// Which way is good.
    pub better: Better,
    /// The threshold in force; none for a metric that only passes or fails.
    pub threshold: Option<f64>,
    /// Value, the evaluator's verdict, and whether a person found a fault.
    pub rows: Vec<(f64, Option<bool>, bool)>,
    /// Lines without a score: skipped, or failed.
    pub unscored: usize,
}

impl Column {
    /// The rows as the choice of a threshold wants them.
    pub fn labelled(&self) -> Vec<Labelled> {
        let suspicion = |value: f64| if self.better == Better::Higher { -value } else { value };
        self.rows
            .iter()
            .map(|(value, _, is_fault)| Labelled { suspicion: suspicion(*value), is_fault: *is_fault })
            .collect()
    }
}

/// One metric against a person's verdicts.
pub struct Advice {
    metric: String,
    evaluator: String,
    version: String,
    threshold: Option<f64>,
    unscored: usize,
    /// At the threshold in force.
    now: Counts,
    auroc: (Option<f64>, Option<(f64, f64)>),
    ece: Option<f64>,
    /// Mean P(fault), share of faults and rows of each bin; empty for a score that is no probability.
    reliability: Vec<(f64, f64, usize)>,
    goal: Option<Goal>,
    choice: Option<Choice>,
    why_none: &'static str,
}

/// A threshold, in the metric's own scale.
struct Choice {
    threshold: f64,
    here: Counts,
    elsewhere: Counts,
}

impl Advice {
    /// Measures `column`; with a goal, chooses the threshold that meets it.
    pub fn of(metric: &str, column: &Column, goal: Option<Goal>, draws: usize) -> Self {
        let items = column.labelled();
        let mut now = Counts::default();
        for (_, passed, is_fault) in &column.rows {
            now.add(*is_fault, *passed == Some(false));
        }
        let is_share = column.rows.iter().all(|(value, _, _)| (0.0..=1.0).contains(value));
        let ranking = Ranking::new(judged(column, is_share));
        let faults = items.iter().filter(|item| item.is_fault).count();
        let is_enough = faults >= LEAST && items.len() - faults >= LEAST;
        let wanted = goal.filter(|_| is_enough && column.threshold.is_some());
        let choice = wanted.and_then(|goal| {
            let cut = choose(&items, goal)?;
            let threshold = rounded(if column.better == Better::Higher { -cut } else { cut });
            let cut = if column.better == Better::Higher { -threshold } else { threshold };
            // "Passes at the threshold" and "fails at it": a rounded value is no value of a row.
            Some(Choice { threshold, here: Counts::of(&items, cut), elsewhere: crossed(&items, goal, SEED) })
        });
        Self {
            metric: metric.to_owned(),
            evaluator: column.evaluator.clone(),
            version: column.version.clone(),
            threshold: column.threshold,
            unscored: column.unscored,
            now,
            auroc: (ranking.quality().auroc, ranking.intervals(draws, SEED)[0]),
            ece: ranking.quality().ece.filter(|_| is_share && column.threshold.is_some()),
            reliability: if is_share { ranking.reliability() } else { Vec::new() },
            goal,
            choice,
            why_none: why_none(column, is_enough),
        }
    }

    /// One object with every figure.
    pub fn json(&self) -> Json {
        let choice = self.choice.as_ref().map(|choice| {
            json!({
                "threshold": choice.threshold, "here": counts_json(choice.here),
                "on_rows_that_did_not_choose": counts_json(choice.elsewhere),
            })
        });
        json!({
            "evaluator": self.evaluator, "evaluator_version": self.version, "metric": self.metric,
            "threshold": self.threshold, "no_score": self.unscored, "now": counts_json(self.now),
            "auroc": self.auroc.0, "auroc_interval": self.auroc.1, FIGURES[8]: self.ece,
            "reliability": self.reliability, "chosen": choice,
        })
    }
}

fn judged(column: &Column, is_share: bool) -> Vec<Judged> {
    let row = |(at, (value, passed, is_fault)): (usize, &(f64, Option<bool>, bool))| Judged {
        positive: *is_fault,
        score: match (column.better, is_share) {
            (Better::Higher, true) => 1.0 - value,
            (Better::Higher, false) => -value,
            (Better::Lower, _) => *value,
        },
        predicted: *passed == Some(false),
        group: at as u32,
    };
    column.rows.iter().enumerate().map(row).collect()
}

fn why_none(column: &Column, is_enough: bool) -> &'static str {
    match (column.threshold, is_enough) {
        (None, _) => "this metric has no threshold: it passes or fails",
        (_, false) => "a threshold needs at least 10 faulty and 10 sound answers",
        _ => "no threshold meets it on these answers",
    }
}

/// To a digit that a person would write, if that parts the rows alike.
fn rounded(threshold: f64) -> f64 {
    (threshold * 1e4).round() / 1e4
}

fn share((part, whole): (u64, u64)) -> String {
    let rate = part as f64 / whole as f64;
    match wilson::interval(rate, whole as f64, LEVEL) {
        Some((lower, upper)) => format!("{rate:.2} [{lower:.2}, {upper:.2}] ({part} of {whole})"),
        None => "- (0 of 0)".to_owned(),
    }
}

fn line(counts: Counts) -> String {
    format!(
        "precision {}   recall {}   false alarms {}",
        share(counts.precision()),
        share(counts.recall()),
        share(counts.false_alarm_rate())
    )
}

fn counts_json(counts: Counts) -> Json {
    let with = |(part, whole): (u64, u64)| {
        let rate = (whole > 0).then(|| part as f64 / whole as f64);
        json!({"share": rate, "interval": rate.and_then(|rate| wilson::interval(rate, whole as f64, LEVEL))})
    };
    json!({
        "caught": counts.caught, "missed": counts.missed, "false_alarms": counts.false_alarms, "passed": counts.passed,
        "precision": with(counts.precision()), "recall": with(counts.recall()),
        "false_alarm_rate": with(counts.false_alarm_rate()),
    })
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (faults, sound) = (self.now.recall().1, self.now.false_alarm_rate().1);
        writeln!(
            f,
            "{} of {} {}: {faults} faulty and {sound} sound answers, {} without a score",
            self.metric, self.evaluator, self.version, self.unscored
        )?;
        if let (Some(auroc), Some((lower, upper))) = self.auroc {
            write!(f, "AUROC {auroc:.3} [{lower:.3}, {upper:.3}]")?;
            self.ece.map_or(writeln!(f), |ece| writeln!(f, "   calibration error {ece:.3}"))?;
        }
        writeln!(f, "\n{:16}{:>10}{:>10}", "", "it fails", "it passes")?;
        writeln!(f, "{:16}{:>10}{:>10}", "faulty", self.now.caught, self.now.missed)?;
        writeln!(f, "{:16}{:>10}{:>10}", "sound", self.now.false_alarms, self.now.passed)?;
        let at = self.threshold.map_or(String::new(), |threshold| format!(" at threshold {threshold}"));
        writeln!(f, "{}{at}", line(self.now))?;
        if !self.reliability.is_empty() && self.ece.is_some() {
            writeln!(f, "\n{:>16}{:>10}{:>10}", "P(fault) said", "faulty", "answers")?;
            for (said, found, n) in &self.reliability {
                writeln!(f, "{said:>16.2}{found:>10.2}{n:>10}")?;
            }
        }
        self.tell_choice(f)
    }
}

impl Advice {
    fn tell_choice(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = match self.goal {
            None => return Ok(()),
            Some(Goal::Precision(least)) => format!("precision of {least} or more"),
            Some(Goal::Recall(least)) => format!("recall of {least} or more"),
        };
        let Some(choice) = &self.choice else {
            return writeln!(f, "\nNo threshold for a {wanted}: {}.", self.why_none);
        };
        writeln!(f, "\nFor a {wanted}: threshold {}", choice.threshold)?;
        writeln!(f, "  on these answers:          {}", line(choice.here))?;
        writeln!(f, "  on those that chose not:   {}", line(choice.elsewhere))
    }
}

/// The thresholds that were chosen, by metric.
pub fn chosen(advised: &[Advice]) -> Result<BTreeMap<String, f64>, String> {
    let found: BTreeMap<String, f64> = advised
        .iter()
        .filter_map(|advice| Some((advice.metric.clone(), advice.choice.as_ref()?.threshold)))
        .collect();
    if found.is_empty() {
        Err("nothing is written, because no threshold was chosen".to_owned())
    } else {
        Ok(found)
    }
}

/// Sets `eval.thresholds` of a configuration file, whose comments and order stay. The file is whole at any moment.
pub fn write(path: &Path, thresholds: &BTreeMap<String, f64>) -> Result<(), String> {
    rewrite(path, |text| with_thresholds(text, thresholds))?;
    for (metric, threshold) in thresholds {
        println!("{}: eval.thresholds.{metric} = {threshold}", path.display());
    }
    Ok(())
}

fn with_thresholds(text: &str, thresholds: &BTreeMap<String, f64>) -> Result<String, String> {
    let mut document: toml_edit::DocumentMut =
        text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let eval = document.entry("eval").or_insert_with(implicit);
    let eval = eval.as_table_like_mut().ok_or("eval is no table")?;
    let list = eval.entry("thresholds").or_insert_with(toml_edit::table);
    let list = list.as_table_like_mut().ok_or("eval.thresholds is no table")?;
    for (metric, threshold) in thresholds {
        list.insert(metric, toml_edit::value(*threshold));
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(better: Better) -> Column {
        // Sound answers from 0.5 up, faulty ones up to 0.6: they overlap.
        let rows = (0..60).map(|i| {
            let (value, is_fault) =
                if i % 3 == 0 { (f64::from(i) / 100.0, true) } else { (0.5 + f64::from(i) / 130.0, false) };
            let value = if better == Better::Higher { value } else { 1.0 - value };
            let passed = if better == Better::Higher { value >= 0.5 } else { value < 0.5 };
            (value, Some(passed), is_fault)
        });
        Column {
            evaluator: "hallucination".to_owned(),
            version: "1".to_owned(),
            better,
            threshold: Some(0.5),
            rows: rows.collect(),
            unscored: 2,
        }
    }

    #[test]
    fn both_directions_tell_the_same() {
        let [up, down] = [Better::Higher, Better::Lower]
            .map(|better| Advice::of("m", &column(better), Some(Goal::Precision(0.9)), 100));
        assert_eq!(up.now, down.now);
        assert_eq!(up.auroc.0, down.auroc.0);
        let (up, down) = (up.choice.unwrap(), down.choice.unwrap());
        assert_eq!(up.here, down.here);
        assert!((up.threshold + down.threshold - 1.0).abs() < 2e-4, "{} {}", up.threshold, down.threshold);
        let (right, flagged) = up.here.precision();
        assert!(right as f64 / flagged as f64 >= 0.9 && right >= 10, "{:?}", up.here);
    }

    #[test]
    fn too_few_labels_choose_nothing_and_say_so() {
        let mut few = column(Better::Higher);
        few.rows.truncate(12);
        let advice = Advice::of("m", &few, Some(Goal::Recall(0.9)), 100);
        assert!(advice.choice.is_none());
        assert!(advice.to_string().contains("at least 10 faulty and 10 sound"), "{advice}");
        assert!(chosen(&[advice]).is_err());
    }

    #[test]
    fn a_configuration_keeps_its_comments() {
        let thresholds = BTreeMap::from([("hallucination".to_owned(), 0.62)]);
        let text = "# ours\n[eval] # evaluators\ndisabled = []\n\n[score]\n";
        let changed = with_thresholds(text, &thresholds).unwrap();
        assert!(changed.starts_with("# ours\n[eval] # evaluators\n"), "{changed}");
        assert!(changed.contains("[eval.thresholds]\nhallucination = 0.62\n"), "{changed}");
        let again = with_thresholds(&changed, &BTreeMap::from([("hallucination".to_owned(), 0.7)])).unwrap();
        assert_eq!(again.matches("hallucination").count(), 1, "{again}");
        assert_eq!(with_thresholds("", &thresholds).unwrap(), "[eval.thresholds]\nhallucination = 0.62\n");
        assert!(with_thresholds("eval = 3", &thresholds).is_err());
    }

    #[test]
    fn the_file_is_replaced_and_its_permissions_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("groundline.toml");
        std::fs::write(&path, "[eval]\n").unwrap();
        write(&path, &BTreeMap::from([("toxicity".to_owned(), 0.3)])).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("toxicity = 0.3"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write(&folder.path().join("none.toml"), &BTreeMap::new()).unwrap_err().contains("none.toml"));
    }
}
