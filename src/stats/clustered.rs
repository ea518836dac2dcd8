//! A ratio Σw·y / Σw over values that come in clusters: repetitions of one test, checks of one answer.
//!
//! Values of a cluster are alike, so they say less than as many independent ones. The variance is that of the linearised
//! ratio between clusters, k/(k−1) · Σ(Σw(y − R))² / (Σw)² (Kish and Frankel 1974). A mean gets Student's interval on k − 1
//! degrees of freedom. A rate gets the mid-P interval of [`proportion`](super::proportion) at the effective sample size
//! n·(p(1−p)/(n−1))/variance, cut by (t(n−1)/t(k−1))² for the degrees of freedom (Korn and Graubard 1998) and never above n.
//! Where all values are equal nothing tells how alike they are: then each cluster counts once.

use super::estimate::Estimate;
use super::{proportion, student};

/// Collects clusters, in any order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clustered {
    /// Σw and Σw·y of each.
    clusters: Vec<(f64, f64)>,
    items: u64,
}

impl Clustered {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the values of one cluster with their weights; what has no weight above zero, or is no finite number, is left out.
    pub fn push(&mut self, values: &[(f64, f64)]) {
        let (mut weight, mut sum) = (0.0, 0.0);
        for (value, w) in values.iter().filter(|(value, w)| value.is_finite() && w.is_finite() && *w > 0.0) {
            weight += w;
            sum += w * value;
            self.items += 1;
        }
        if weight > 0.0 {
            self.clusters.push((weight, sum));
        }
    }

    /// How many values were counted.
    pub fn n(&self) -> u64 {
        self.items
    }

    /// Σw, the ratio, and its variance; none when nothing was pushed. The variance of one cluster is not known, and 0 here.
    fn ratio(&self) -> Option<(f64, f64, f64)> {
        let weight: f64 = self.clusters.iter().map(|(weight, _)| weight).sum();
        if self.clusters.is_empty() {
            return None;
        }
        let ratio = self.clusters.iter().map(|(_, sum)| sum).sum::<f64>() / weight;
        let k = self.clusters.len() as f64;
        let spread: f64 = self.clusters.iter().map(|(w, sum)| (sum - ratio * w).powi(2)).sum();
        let variance = if k > 1.0 { k / (k - 1.0) * spread / (weight * weight) } else { 0.0 };
        Some((weight, ratio, variance))
    }

    /// Kish's effective number of clusters.
    fn worth(&self, weight: f64) -> f64 {
        weight * weight / self.clusters.iter().map(|(w, _)| w * w).sum::<f64>()
    }

    /// The mean in the unit of the values, at the confidence `level`; no bounds for a single cluster. None when nothing was
    /// pushed.
    pub fn mean(&self, level: f64) -> Option<Estimate> {
        let (weight, ratio, variance) = self.ratio()?;
        let k = self.clusters.len();
        let half = (k > 1).then(|| student::critical(level, k as f64 - 1.0) * variance.sqrt());
        Some(Estimate {
            estimate: ratio,
            lower: half.map(|half| ratio - half),
            upper: half.map(|half| ratio + half),
            n: self.items,
            n_eff: self.worth(weight),
        })
    }

    /// The share of values that are one, for values in 0..=1, at the confidence `level`. None when nothing was pushed.
    pub fn rate(&self, level: f64) -> Option<Estimate> {
        let (weight, ratio, variance) = self.ratio()?;
        let (n, k) = (self.items as f64, self.clusters.len() as f64);
        let rate = ratio.clamp(0.0, 1.0);
        let binomial = rate * (1.0 - rate);
        let n_eff = if k < 2.0 || binomial <= 0.0 {
            self.worth(weight)
        } else if variance > 0.0 {
            let freedom = student::critical(level, n - 1.0) / student::critical(level, k - 1.0);
            (n * (binomial / (n - 1.0)) / variance * freedom * freedom).min(n)
        } else {
            n
        };
        let (lower, upper) = proportion::interval(rate * n_eff, (1.0 - rate) * n_eff, level);
        Some(Estimate { estimate: rate, lower: Some(lower), upper: Some(upper), n: self.items, n_eff })
    }
}

#[cfg(test)]
mod tests {
    use super::super::seeded::Seeded;
    use super::super::{Rate, Weighted};
    use super::*;

    #[test]
    fn clusters_of_one_are_plain_items() {
        let (mut clustered, mut rate, mut mean) = (Clustered::new(), Rate::new(), Weighted::new());
        for at in 0..40 {
            let one = at % 5 == 0;
            clustered.push(&[(f64::from(one), 1.0)]);
            assert!(rate.push(one, 1.0) && mean.push(f64::from(one), 1.0));
        }
        let (a, b) = (clustered.rate(0.95).unwrap(), rate.estimate(0.95).unwrap());
        assert!((a.estimate - b.estimate).abs() < 1e-12 && (a.n_eff - 40.0).abs() < 1e-9, "{a:?}");
        assert!((a.lower.unwrap() - b.lower.unwrap()).abs() < 1e-9, "{a:?} {b:?}");
        let (a, b) = (clustered.mean(0.95).unwrap(), mean.mean(0.95).unwrap());
        assert!((a.upper.unwrap() - b.upper.unwrap()).abs() < 1e-9, "{a:?} {b:?}");
    }

    /// What docs/sql.md has for items that are alike: the mean of the clusters, each with the weight of its items.
    #[test]
    fn the_mean_of_clusters_is_that_of_items_in_clusters() {
        let (mut clustered, mut means) = (Clustered::new(), Weighted::new());
        for at in 0..40_u32 {
            let values = [f64::from(at % 5), f64::from(at % 3), f64::from(at % 2)];
            clustered.push(&values.map(|value| (value, 2.0)));
            assert!(means.push(values.iter().sum::<f64>() / 3.0, 1.0 / 6.0));
        }
        let (a, b) = (clustered.mean(0.95).unwrap(), means.mean(0.95).unwrap());
        assert!((a.estimate - b.estimate).abs() < 1e-12 && (a.n_eff - b.n_eff).abs() < 1e-9, "{a:?} {b:?}");
        assert!((a.upper.unwrap() - b.upper.unwrap()).abs() < 1e-9, "{a:?} {b:?}");
    }

    #[test]
    fn repetitions_that_always_agree_count_once() {
        let mut clustered = Clustered::new();
        for at in 0..10 {
            let value = f64::from(at < 5);
            clustered.push(&[(value, 1.0); 4]);
        }
        let got = clustered.rate(0.95).unwrap();
        assert_eq!((got.estimate, got.n), (0.5, 40));
        assert!(got.n_eff < 11.0, "{got:?}");
        let all = (0..10).fold(Clustered::new(), |mut all, _| {
            all.push(&[(1.0, 1.0); 4]);
            all
        });
        assert!((all.rate(0.95).unwrap().n_eff - 10.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_has_no_estimate_and_one_cluster_no_spread() {
        let mut clustered = Clustered::new();
        assert_eq!((clustered.mean(0.95), clustered.rate(0.95)), (None, None));
        clustered.push(&[(f64::NAN, 1.0), (1.0, 0.0)]);
        assert_eq!(clustered.n(), 0);
        clustered.push(&[(2.0, 1.0), (4.0, 3.0)]);
        let got = clustered.mean(0.95).unwrap();
        assert_eq!((got.estimate, got.lower, got.upper), (3.5, None, None));
    }

    /// Tests differ in how hard they are, so repetitions of one agree more than chance.
    #[test]
    fn the_interval_of_a_clustered_rate_covers() {
        let mut random = Seeded::new(7);
        let held = (0..600)
            .filter(|_| {
                let mut clustered = Clustered::new();
                for _ in 0..40 {
                    let ease = 0.4 + 0.6 * random.unit();
                    let runs: Vec<(f64, f64)> =
                        (0..3).map(|_| (f64::from(random.unit() < ease), 1.0)).collect();
                    clustered.push(&runs);
                }
                let got = clustered.rate(0.95).unwrap();
                got.lower.unwrap() <= 0.7 && 0.7 <= got.upper.unwrap()
            })
            .count();
        let share = held as f64 / 600.0;
        assert!((0.93..=0.975).contains(&share), "{share}");
    }
}
