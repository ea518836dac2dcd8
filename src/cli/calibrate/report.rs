//! What was learned, for people and for programs.

use super::fit::Fitted;
use super::labels::Labels;
use crate::stats::calibration::{Bin, Curve, FOLDS};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Text for a person.
pub fn text(labels: &Labels, fitted: &Fitted) -> String {
    let calibrated = &fitted.calibrated;
    let good = labels.items.iter().filter(|item| item.good).count();
    let mut out = format!(
        "{} of {} {}: {} labels, {good} pass and {} fail; {} drawn with a known probability\n",
        calibrated.metric,
        calibrated.evaluator,
        calibrated.evaluator_version,
        labels.items.len(),
        labels.items.len() - good,
        labels.drawn
    );
    for (other, count) in &labels.others {
        let _ = writeln!(out, "left out: {count} labels of {other} (--evaluator, --evaluator-version)");
    }
    let _ = writeln!(out, "\n{:12}{:>20}{:>10}", "method", "calibration error", "Brier");
    for wrong in &fitted.compared {
        let _ = writeln!(out, "{:12}{:>20.3}{:>10.3}", wrong.method, wrong.ece, wrong.brier);
    }
    let _ = writeln!(
        out,
        "{} is taken: {}. Errors are those on labels that a curve was not fitted to, in {FOLDS} parts.",
        fitted.method.as_str(),
        curve(&calibrated.curve)
    );
    let _ = writeln!(out, "\n{:>14}{:>10}{:>10}{:>10}", "P(pass) said", "found", "labels", "of all");
    for bin in bins(fitted) {
        let _ =
            writeln!(out, "{:>14.2}{:>10.2}{:>10}{:>9.0} %", bin.said, bin.found, bin.n, 100.0 * bin.share);
    }
    match fitted.band {
        Some(band) => {
            let _ = write!(
                out,
                "\nabstains between {} and {}: {:.0} % of items; {:.1} % of the other verdicts are wrong, {:.1} % without abstaining",
                band.low,
                band.high,
                100.0 * band.abstains,
                100.0 * band.wrong_outside,
                100.0 * band.wrong
            );
        }
        None => out.push_str("\nnever abstains"),
    }
    out
}

fn curve(curve: &Curve) -> String {
    match curve {
        Curve::Platt { slope, intercept } => format!("slope {slope:.4}, intercept {intercept:.4}"),
        Curve::Isotonic(knots) => format!("{} knots", knots.len()),
    }
}

fn bins(fitted: &Fitted) -> &[Bin] {
    let of = fitted.compared.iter().find(|wrong| wrong.method == fitted.method.as_str());
    of.map_or(&[], |wrong| wrong.bins.as_slice())
}

/// One object with every figure.
pub fn object(labels: &Labels, fitted: &Fitted) -> Value {
    let calibrated = &fitted.calibrated;
    json!({
        "metric": calibrated.metric, "evaluator": calibrated.evaluator, "evaluator_version": calibrated.evaluator_version,
        "labels": labels.items.len(), "pass": labels.items.iter().filter(|item| item.good).count(),
        "drawn": labels.drawn, "left_out": labels.others, "method": fitted.method.as_str(), "compared": fitted.compared,
        "reliability": bins(fitted), "abstain": fitted.band,
        "curve": match &calibrated.curve {
            Curve::Platt { slope, intercept } => json!({"platt": [slope, intercept]}),
            Curve::Isotonic(knots) => json!({"isotonic": knots}),
        },
    })
}
