//! What labels say of an evaluator, for a person to read; and the threshold, into the configuration.

use super::super::rewrite::{implicit, rewrite};
use crate::cli::pipe::say;
use crate::eval::bench::Advice;
use crate::stats::ranking::FIGURES;
use crate::stats::threshold::{Counts, Goal};
use crate::stats::wilson;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

const LEVEL: f64 = 0.95;

/// An [`Advice`] as it is told.
pub struct Told<'a>(pub &'a Advice);

impl Told<'_> {
    /// One object with every figure.
    pub fn json(&self) -> Json {
        let choice = self.0.choice.as_ref().map(|choice| {
            json!({
                "threshold": choice.threshold, "here": counts_json(choice.here),
                "on_rows_that_did_not_choose": counts_json(choice.elsewhere),
            })
        });
        json!({
            "evaluator": self.0.evaluator, "evaluator_version": self.0.version, "metric": self.0.metric,
            "threshold": self.0.threshold, "no_score": self.0.unscored, "now": counts_json(self.0.now),
            "auroc": self.0.auroc.0, "auroc_interval": self.0.auroc.1, FIGURES[8]: self.0.ece,
            "reliability": self.0.reliability, "chosen": choice,
        })
    }
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

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (faults, sound) = (self.0.now.recall().1, self.0.now.false_alarm_rate().1);
        writeln!(
            f,
            "{} of {} {}: {faults} faulty and {sound} sound answers, {} without a score",
            self.0.metric, self.0.evaluator, self.0.version, self.0.unscored
        )?;
        if let (Some(auroc), Some((lower, upper))) = self.0.auroc {
            write!(f, "AUROC {auroc:.3} [{lower:.3}, {upper:.3}]")?;
            self.0.ece.map_or(writeln!(f), |ece| writeln!(f, "   calibration error {ece:.3}"))?;
        }
        writeln!(f, "\n{:16}{:>10}{:>10}", "", "it fails", "it passes")?;
        writeln!(f, "{:16}{:>10}{:>10}", "faulty", self.0.now.caught, self.0.now.missed)?;
        writeln!(f, "{:16}{:>10}{:>10}", "sound", self.0.now.false_alarms, self.0.now.passed)?;
        let at = self.0.threshold.map_or(String::new(), |threshold| format!(" at threshold {threshold}"));
        writeln!(f, "{}{at}", line(self.0.now))?;
        if !self.0.reliability.is_empty() && self.0.ece.is_some() {
            writeln!(f, "\n{:>16}{:>10}{:>10}", "P(fault) said", "faulty", "answers")?;
            for (said, found, n) in &self.0.reliability {
                writeln!(f, "{said:>16.2}{found:>10.2}{n:>10}")?;
            }
        }
        self.tell_choice(f)
    }
}

impl Told<'_> {
    fn tell_choice(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = match self.0.goal {
            None => return Ok(()),
            Some(Goal::Precision(least)) => format!("precision of {least} or more"),
            Some(Goal::Recall(least)) => format!("recall of {least} or more"),
        };
        let Some(choice) = &self.0.choice else {
            return writeln!(f, "\nNo threshold for a {wanted}: {}.", self.0.why_none);
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
        say(format_args!("{}: eval.thresholds.{metric} = {threshold}", path.display()));
    }
    Ok(())
}

fn with_thresholds(text: &str, thresholds: &BTreeMap<String, f64>) -> Result<String, String> {
    let mut document: toml_edit::DocumentMut =
        text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let eval = document.entry("eval").or_insert_with(implicit);
    let eval = eval.as_table_like_mut().ok_or("eval is no table")?;
    let list = eval.entry("thresholds").or_insert_with(toml_edit::table);
    let list = list.as_table_like_mut().ok_or(
        "eval.thresholds is no table by metric: leave it out there, or set metric_threshold of [evaluator.<id>] by hand",
    )?;
    for (metric, threshold) in thresholds {
        list.insert(metric, toml_edit::value(*threshold));
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::score::Better;
    use crate::eval::bench::Column;

    #[test]
    fn no_choice_is_told_with_its_reason() {
        let rows = (0..12).map(|i| (f64::from(i) / 12.0, Some(i > 5), i < 6)).collect();
        let column = Column {
            evaluator: "hallucination".to_owned(),
            version: "1".to_owned(),
            better: Better::Higher,
            threshold: Some(0.5),
            rows,
            unscored: 2,
        };
        let advice = Advice::of("m", &column, Some(Goal::Recall(0.9)), 100);
        let told = Told(&advice).to_string();
        assert!(told.contains("at least 10 faulty and 10 sound"), "{told}");
        assert!(told.contains("6 faulty and 6 sound answers, 2 without a score"), "{told}");
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
