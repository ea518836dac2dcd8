//! Settings of labels: `[labels]` and `[[labels.calibrations]]`.

use crate::stats::calibration::{Calibrated, Curve};
use crate::units::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Most answers an item may need.
const MAX_REVIEWS: usize = 10;
/// Most knots of one curve.
const MAX_KNOTS: usize = 1_000;

/// Settings of the queue of items to label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Items that a draw chooses on average.
    pub draw_size: usize,
    /// How far back a draw looks.
    #[serde(with = "Time")]
    pub window: Duration,
    /// Most items that a draw looks at one by one; of more it looks at a random part.
    pub max_population: usize,
    /// The share of a draw that does not look at the uncertainty, above 0 and up to 1; 1 draws evenly.
    pub even_share: f64,
    /// People who answer an item, each without seeing what others said.
    pub reviews_per_item: usize,
    /// How long an item is kept for who was given it.
    #[serde(with = "Time")]
    pub lease: Duration,
    /// What is asked of a reviewer, by metric.
    pub questions: BTreeMap<String, String>,
    /// What scores mean as probabilities, learned from labels; `groundline calibrate` writes them.
    pub calibrations: Vec<CalibrationConfig>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            draw_size: 50,
            window: Duration::from_hours(7 * 24),
            max_population: 100_000,
            even_share: 0.3,
            reviews_per_item: 1,
            lease: Duration::from_mins(15),
            questions: BTreeMap::new(),
            calibrations: Vec::new(),
        }
    }
}

/// The curve of one metric of one version of an evaluator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationConfig {
    /// The evaluator's id.
    pub evaluator: String,
    /// Its version; scores of others have no probability.
    pub evaluator_version: String,
    /// The metric.
    pub metric: String,
    /// Slope and intercept of a logistic curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platt: Option<[f64; 2]>,
    /// Knots of value and probability, by rising value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub isotonic: Vec<[f64; 2]>,
    /// Between these probabilities the evaluator abstains; none for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstain: Option<[f64; 2]>,
    /// Labels that it was learned from.
    #[serde(default)]
    pub labels: usize,
}

impl CalibrationConfig {
    /// The curve; none where neither form is given.
    pub fn curve(&self) -> Option<Curve> {
        match (self.platt, self.isotonic.as_slice()) {
            (Some([slope, intercept]), []) => Some(Curve::Platt { slope, intercept }),
            (None, knots) if !knots.is_empty() => Some(Curve::Isotonic(
                knots.iter().map(|[value, probability]| (*value, *probability)).collect(),
            )),
            _ => None,
        }
    }

    fn faults(&self, at: usize) -> Vec<String> {
        let key = format!(
            "labels.calibrations {at} ({} {} {})",
            self.evaluator, self.evaluator_version, self.metric
        );
        let mut faults = Vec::new();
        if self.curve().is_none() {
            faults.push(format!(
                "{key}: give either platt = [slope, intercept] or isotonic = [[value, probability], …]"
            ));
        }
        let finite = self.platt.iter().flatten().chain(self.isotonic.iter().flatten()).all(|x| x.is_finite());
        let rising = self.isotonic.windows(2).all(|pair| pair[0][0] < pair[1][0]);
        let up = self.isotonic.windows(2).all(|pair| pair[0][1] <= pair[1][1]);
        let down = self.isotonic.windows(2).all(|pair| pair[0][1] >= pair[1][1]);
        let shares = self.isotonic.iter().all(|knot| (0.0..=1.0).contains(&knot[1]));
        if !(finite && rising && (up || down) && shares) || self.isotonic.len() > MAX_KNOTS {
            faults.push(format!(
                "{key}: isotonic needs at most {MAX_KNOTS} knots by rising value, whose probabilities lie in 0..=1 and only \
                 rise or only fall"
            ));
        }
        if let Some([low, high]) = self.abstain
            && !(0.0 <= low && low < high && high <= 1.0)
        {
            faults.push(format!("{key}: abstain is [{low}, {high}], must be two rising probabilities"));
        }
        faults
    }
}

impl Config {
    /// The curves, ready to be used; those with a fault are left out.
    pub fn calibrated(&self) -> Vec<Calibrated> {
        let one = |one: &CalibrationConfig| {
            Some(Calibrated {
                evaluator: one.evaluator.clone(),
                evaluator_version: one.evaluator_version.clone(),
                metric: one.metric.clone(),
                curve: one.curve()?,
                abstain: one.abstain.map(|[low, high]| (low, high)),
            })
        };
        self.calibrations.iter().filter_map(one).collect()
    }

    /// Every fault, each with the key and what to do.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.draw_size == 0 || self.draw_size > self.max_population {
            faults.push("labels.draw_size must be 1 to labels.max_population".to_owned());
        }
        if self.max_population > 1_000_000 {
            faults.push("labels.max_population is above 1000000: a draw is held in memory".to_owned());
        }
        if !(self.even_share > 0.0 && self.even_share <= 1.0) {
            faults.push(format!(
                "labels.even_share is {}, must be above 0 and at most 1: at 0 items that the evaluator is sure of could not \
                 be drawn",
                self.even_share
            ));
        }
        if !(1..=MAX_REVIEWS).contains(&self.reviews_per_item) {
            faults.push(format!("labels.reviews_per_item must be 1 to {MAX_REVIEWS}"));
        }
        if self.lease < Duration::from_secs(10) {
            faults.push("labels.lease is below 10s: nobody answers so soon".to_owned());
        }
        if self.window < Duration::from_mins(1) {
            faults.push("labels.window is below 1m: there would be nothing to draw from".to_owned());
        }
        faults.extend(self.calibrations.iter().enumerate().flat_map(|(at, one)| one.faults(at + 1)));
        for (at, one) in self.calibrations.iter().enumerate() {
            let is_same = |other: &&CalibrationConfig| {
                (&other.evaluator, &other.evaluator_version, &other.metric)
                    == (&one.evaluator, &one.evaluator_version, &one.metric)
            };
            if self.calibrations.iter().take(at).any(|other| is_same(&other)) {
                faults.push(format!("labels.calibrations {}: {} is there twice", at + 1, one.metric));
            }
        }
        faults
    }
}
