//! Prediction-powered inference: an evaluator's score f of every sampled item, a trusted label y of a few of them.
//!
//! PPI++ (Angelopoulos, Duchi and Zrnic 2023): θ = λ·F + (Y − λ·F′), where F is the mean of f over all sampled items, F′ and Y
//! are the means of f and y over the labelled ones. It is right on average for every λ; the better f follows y, the more of
//! the variance of Y is taken away. λ minimises the variance and is clipped to 0..=1: at 0 the labels stand alone.
//!
//! Here every mean is Hájek's: an item of the sample weighs w = 1/π, a labelled one v = 1/(π·π_label) (two-phase sampling,
//! Särndal, Swensson and Wretman 1992, chapter 9). The labelled items are part of the sample, so the variance is that of the sum
//! of each item's influence, λw(f − F)/Σw plus, if it is labelled, v(y − Y − λ(f − F′))/Σv:
//!
//! ```text
//! Var(λ) = λ²(A + C_ff − 2·D_ff) − 2λ(C_fy − D_fy) + C_yy,    λ* = (C_fy − D_fy) / (A + C_ff − 2·D_ff)
//! ```
//!
//! with A = Σw²(f−F)²/(Σw)² over all items, C = Σv²(·)(·)/(Σv)² around F′ and Y, and D = Σwv(f−F)(·)/(ΣwΣv) over the labelled.

use super::comoments::Comoments;
use super::estimate::{Estimate, is_probability};
use super::rate::Rate;
use super::student;
use super::weighted::Weighted;

/// Labels that are imagined for each pair of verdict and label, when a rate's variance is estimated: with 50 labels and a rate of
/// 30 % the interval holds 0.936 instead of 0.896, and from 200 on it is as wide as without.
const MISTAKES: f64 = 2.0;

/// What is known of one item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    /// The evaluator's score.
    pub score: f64,
    /// Probability with which the item was sampled.
    pub pi: f64,
    /// The trusted label, and the probability with which a sampled item such as this one was labelled.
    pub label: Option<(f64, f64)>,
}

/// Collects items, in any order and in any number of parts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ppi {
    all: Weighted,
    /// Pairs of score and label: weighed by v, by v² and by w·v.
    plain: Comoments,
    square: Comoments,
    cross: Comoments,
    /// Labels above one half, and the others.
    labels: Rate,
}

/// The best λ, and what it makes of the variance.
#[derive(Debug, Clone, Copy)]
struct Tuned {
    lambda: f64,
    variance: f64,
    /// The variance of the labels alone.
    alone: f64,
}

impl Ppi {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an item.
    ///
    /// Returns false and leaves everything as it was unless each probability is above 0 and at most 1.
    #[must_use = "a probability outside (0, 1] is not counted"]
    pub fn push(&mut self, item: Item) -> bool {
        if !is_probability(item.pi) || item.label.is_some_and(|(_, pi)| !is_probability(pi)) {
            return false;
        }
        if let Some((label, pi_label)) = item.label {
            let (w, v) = (1.0 / item.pi, 1.0 / (item.pi * pi_label));
            self.plain.push(item.score, label, v);
            self.square.push(item.score, label, v * v);
            self.cross.push(item.score, label, w * v);
            // A product of two probabilities may be rounded to 0; then v is not finite, and no estimate either.
            let _counted = self.labels.push(label > 0.5, item.pi * pi_label);
        }
        self.all.push(item.score, item.pi)
    }

    /// Adds everything that `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        self.plain.merge(&other.plain);
        self.square.merge(&other.square);
        self.cross.merge(&other.cross);
        self.labels.merge(&other.labels);
    }

    /// How many items have a label.
    pub fn labelled(&self) -> u64 {
        self.labels.n()
    }

    /// The corrected mean with Student's interval on the effective number of labels less one degree of freedom, in the unit of
    /// the labels. `n` and `n_eff` count labels. None without a label, no bounds below three effective labels.
    pub fn mean(&self, level: f64) -> Option<Estimate> {
        let tuned = self.tuned()?;
        let (value, n_eff) = (self.value(tuned.lambda), self.labels.n_eff());
        // Two numbers, the mean and λ, were taken from the labels.
        let half = (n_eff >= 3.0).then(|| {
            let unbiased = n_eff / (n_eff - 2.0);
            student::critical(level, n_eff - 1.0) * (tuned.variance * unbiased).sqrt()
        });
        let (lower, upper) = (half.map(|half| value - half), half.map(|half| value + half));
        Some(Estimate { estimate: value, lower, upper, n: self.labels.n(), n_eff })
    }

    /// The corrected rate, for scores and labels that are 0 or 1, kept in 0..=1.
    ///
    /// Its interval is that of the labels alone, [`Rate::interval_at`], around the estimate and on more of them: by the factor
    /// by which its variance is less. Near 0 and 1 it keeps its level where Student's would not. Few labels may show no
    /// mistake of the evaluator by chance, and the factor would be far too large; so it and λ are those after [`MISTAKES`]
    /// imagined labels are mixed in for each pair of verdict and label. `n` and `n_eff` count labels. None without a label.
    pub fn rate(&self, level: f64) -> Option<Estimate> {
        let tuned = self.doubted().tuned()?;
        let gain = if tuned.variance > 0.0 { (tuned.alone / tuned.variance).max(1.0) } else { 1.0 };
        // Labels of all items would be worth no more than the items.
        let most = (self.all.n_eff() / self.labels.worth()).max(1.0);
        let value = self.value(tuned.lambda).clamp(0.0, 1.0);
        let (lower, upper) = self.labels.interval_at(value, gain.min(most), level);
        let (n, n_eff) = (self.labels.n(), self.labels.n_eff());
        Some(Estimate { estimate: value, lower: Some(lower), upper: Some(upper), n, n_eff })
    }

    /// As many labels, of which a few are of every kind.
    fn doubted(&self) -> Self {
        let share = MISTAKES / self.labels.n().max(1) as f64;
        let doubt = |mut sum: Comoments| {
            let (each, rest) = (sum.weight() * share, 1.0 / (1.0 + 4.0 * share));
            for (score, label) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)] {
                sum.push(score, label, each);
            }
            sum.scaled(rest)
        };
        Self { plain: doubt(self.plain), square: doubt(self.square), cross: doubt(self.cross), ..*self }
    }

    fn value(&self, lambda: f64) -> f64 {
        let (score, label) = self.plain.means();
        label + lambda * (self.all.value() - score)
    }

    fn tuned(&self) -> Option<Tuned> {
        let (v, w) = (self.plain.weight(), self.all.total());
        if self.labels.n() == 0 || !v.is_finite() {
            return None;
        }
        let mean = self.all.value();
        let (f, y) = self.plain.means();
        let (c_ff, c_fy, c_yy) = (self.square.xx(f, f), self.square.xy(f, y), self.square.yy(y, y));
        let (c_ff, c_fy, c_yy) = (c_ff / (v * v), c_fy / (v * v), c_yy / (v * v));
        let (d_ff, d_fy) = (self.cross.xx(mean, f) / (v * w), self.cross.xy(mean, y) / (v * w));
        let spread = self.all.variance() + c_ff - 2.0 * d_ff;
        let shared = c_fy - d_fy;
        // Where every item is labelled there is nothing to gain: the two means are one.
        let useful = spread > 1e-12 * c_ff;
        let lambda = if useful { (shared / spread).clamp(0.0, 1.0) } else { 0.0 };
        let variance = (lambda * lambda * spread - 2.0 * lambda * shared + c_yy).max(0.0);
        Some(Tuned { lambda, variance, alone: c_yy })
    }

    /// The states of the parts: all scores; pairs weighed by v, by v², by w·v; labels.
    pub fn parts(&self) -> (Weighted, [[f64; 6]; 3], Rate) {
        (self.all, [self.plain, self.square, self.cross].map(|part| part.parts()), self.labels)
    }

    /// The state that [`Ppi::parts`] gave.
    pub fn from_parts(all: Weighted, pairs: [[f64; 6]; 3], labels: Rate) -> Self {
        let [plain, square, cross] = pairs.map(Comoments::from_parts);
        Self { all, plain, square, cross, labels }
    }
}

#[cfg(test)]
#[path = "ppi_tests.rs"]
mod tests;
