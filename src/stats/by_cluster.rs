//! Rates, means and differences of items of which some are alike: those of one cluster, such as a trace.
//!
//! The estimate is that of the items, R = Σwy / Σw. Its variance is that of the linearised ratio between the k clusters,
//! k/(k−1) · Σ(Σw(y − R))² / (Σw)² (Kish and Frankel 1974).
//!
//! A mean gets Student's interval on Kish's effective number of clusters less one. A rate gets the interval of
//! [`Rate::two_sided`] at fewer items by the factor d/f², the same for the difference of two rates. d is the design effect, that
//! variance over the one of independent items, and f = t(n−1)/t(k−1) cuts for the degrees of freedom (Korn and Graubard 1998). Few
//! ones or few zeros tell little about how alike items are, so d is the mean of what m clusters say and of one more whose items are
//! all alike, m the number of clusters with a one or of those with a zero, whichever is less. Where all items are equal each cluster
//! therefore counts once. An item is worth no more than an independent one.
//!
//! With one item in each cluster all of it is what the items alone give.

use super::estimate::Estimate;
use super::paired::Paired;
use super::rate::Rate;
use super::student;
use super::weighted::Weighted;
use std::collections::HashMap;

/// What the items of one cluster come to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cluster {
    /// Σw.
    pub weight: f64,
    /// Σwy / Σw.
    pub mean: f64,
}

impl Cluster {
    fn add(&mut self, other: Self) {
        let weight = self.weight + other.weight;
        if weight > 0.0 {
            self.mean += (other.mean - self.mean) * (other.weight / weight);
            self.weight = weight;
        }
    }
}

/// An estimator of independent items, as far as clusters need it. A difference is that of its pairs.
pub trait Items: Default {
    /// How many there are.
    fn count(&self) -> u64;

    /// Σw, and Σw².
    fn weights(&self) -> [f64; 2];

    /// Σwy / Σw; any number without items.
    fn ratio(&self) -> f64;

    /// Σw²(y − at)².
    fn spread(&self, at: f64) -> f64;

    /// Adds everything of `other`.
    fn add(&mut self, other: &Self);
}

impl Items for Rate {
    fn count(&self) -> u64 {
        self.n()
    }

    fn weights(&self) -> [f64; 2] {
        let [zeros, ones] = self.classes();
        [zeros.weight + ones.weight, zeros.square + ones.square]
    }

    fn ratio(&self) -> f64 {
        let [zeros, ones] = self.classes();
        ones.weight / (zeros.weight + ones.weight)
    }

    fn spread(&self, at: f64) -> f64 {
        let [zeros, ones] = self.classes();
        zeros.square * at * at + ones.square * (1.0 - at) * (1.0 - at)
    }

    fn add(&mut self, other: &Self) {
        self.merge(other);
    }
}

impl Items for Weighted {
    fn count(&self) -> u64 {
        self.n()
    }

    fn weights(&self) -> [f64; 2] {
        let (_, [weight, _, square, ..]) = self.parts();
        [weight, square]
    }

    fn ratio(&self) -> f64 {
        self.value()
    }

    fn spread(&self, at: f64) -> f64 {
        let (_, [_, _, square, square_mean, square_spread]) = self.parts();
        square_spread + square * (square_mean - at) * (square_mean - at)
    }

    fn add(&mut self, other: &Self) {
        self.merge(other);
    }
}

impl Items for Paired {
    fn count(&self) -> u64 {
        self.parts()[0].n()
    }

    fn weights(&self) -> [f64; 2] {
        self.parts()[0].weights()
    }

    fn ratio(&self) -> f64 {
        self.parts()[0].ratio()
    }

    fn spread(&self, at: f64) -> f64 {
        self.parts()[0].spread(at)
    }

    fn add(&mut self, other: &Self) {
        self.merge(other);
    }
}

/// Collects items with the numbers of their clusters, in any order and in any number of parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByCluster<E> {
    items: E,
    /// Those of `items` that are clusters of their own.
    alone: E,
    clusters: HashMap<u128, Cluster>,
}

/// Sums of so many parts are equal up to this share of them.
const ROUNDING: f64 = 1e-9;

/// A sum that does not depend on the order of its parts, as good as always: clusters come in that of a hash map, which is another one
/// in each run.
#[derive(Clone, Copy)]
struct Sum {
    all: f64,
    /// What rounding took from it (Knuth's two-sum).
    lost: f64,
}

impl Sum {
    fn plus(self, part: f64) -> Self {
        let all = self.all + part;
        let added = all - self.all;
        Self { all, lost: self.lost + (self.all - (all - added)) + (part - added) }
    }

    fn value(self) -> f64 {
        // What is too large for a number has lost nothing that could be told.
        if self.all.is_finite() { self.all + self.lost } else { self.all }
    }
}

/// What clusters say around a ratio.
struct Between {
    k: f64,
    /// Σ(Σw)² over clusters.
    square: f64,
    /// Σ(Σw(y − R))².
    spread: f64,
}

impl<E: Items> ByCluster<E> {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self { items: E::default(), alone: E::default(), clusters: HashMap::new() }
    }

    /// Adds the items of `one` to the cluster `key`; each is a cluster of its own without a key.
    pub fn push(&mut self, key: Option<u128>, one: &E) {
        if one.count() == 0 {
            return;
        }
        self.items.add(one);
        match key {
            None => self.alone.add(one),
            Some(key) => {
                let [weight, _] = one.weights();
                self.clusters.entry(key).or_default().add(Cluster { weight, mean: one.ratio() });
            }
        }
    }

    /// Adds what [`ByCluster::items`], [`ByCluster::alone`] and [`ByCluster::clusters`] of another collection gave.
    pub fn merge(&mut self, items: &E, alone: &E, clusters: impl IntoIterator<Item = (u128, Cluster)>) {
        self.items.add(items);
        self.alone.add(alone);
        for (key, cluster) in clusters {
            self.clusters.entry(key).or_default().add(cluster);
        }
    }

    /// All items.
    pub fn items(&self) -> &E {
        &self.items
    }

    /// The items that are clusters of their own.
    pub fn alone(&self) -> &E {
        &self.alone
    }

    /// The clusters with a key, in no order.
    pub fn clusters(&self) -> impl ExactSizeIterator<Item = (u128, Cluster)> {
        self.clusters.iter().map(|(key, cluster)| (*key, *cluster))
    }

    /// Bytes that the clusters take beside the value itself, about.
    pub fn size(&self) -> usize {
        // One slot in eight stays empty, and each has a byte of its own.
        let slots = self.clusters.capacity().saturating_mul(8) / 7;
        slots.saturating_mul(size_of::<(u128, Cluster)>() + 1)
    }

    fn between(&self, ratio: f64) -> Between {
        let (alone, [_, square]) = (self.alone.count() as f64, self.alone.weights());
        let none = [square, self.alone.spread(ratio)].map(|all| Sum { all, lost: 0.0 });
        let [square, spread] = self.clusters.values().fold(none, |[square, spread], cluster| {
            let apart = cluster.weight * (cluster.mean - ratio);
            [square.plus(cluster.weight * cluster.weight), spread.plus(apart * apart)]
        });
        let k = alone + self.clusters.len() as f64;
        Between { k, square: square.value(), spread: spread.value() }
    }

    /// What an item is worth beside an independent one, above 0 and at most 1, after `telling` clusters that say how alike items
    /// are.
    fn gain(&self, telling: f64, level: f64) -> f64 {
        let (n, ratio) = (self.items.count() as f64, self.items.ratio());
        let between = self.between(ratio);
        let alike = between.square / self.items.weights()[1];
        let within = self.items.spread(ratio) * n / (n - 1.0);
        if !(telling > 0.0 && between.k > 1.0 && within > 0.0) {
            return (1.0 / alike).min(1.0);
        }
        let seen = between.spread * between.k / (between.k - 1.0) / within;
        let inflation = (telling * seen + alike) / (telling + 1.0);
        let freedom = student::critical(level, n - 1.0) / student::critical(level, between.k - 1.0);
        let gain = freedom * freedom / inflation;
        // One item in each cluster is a sample of independent ones, whatever rounding says.
        if gain > 1.0 - ROUNDING { 1.0 } else { gain }
    }

    /// The mean with Student's interval, in the unit of the values; none without items, and no bounds below two effective clusters.
    fn student(&self, level: f64) -> Option<Estimate> {
        if self.items.count() == 0 {
            return None;
        }
        let (ratio, [weight, _]) = (self.items.ratio(), self.items.weights());
        let between = self.between(ratio);
        let n_eff = weight * weight / between.square;
        let half = (n_eff >= 2.0).then(|| {
            let unbiased = n_eff / (n_eff - 1.0);
            student::critical(level, n_eff - 1.0) * (between.spread * unbiased).sqrt() / weight
        });
        Some(Estimate {
            estimate: ratio,
            lower: half.map(|half| ratio - half),
            upper: half.map(|half| ratio + half),
            n: self.items.count(),
            n_eff,
        })
    }
}

impl ByCluster<Rate> {
    /// The weighted share of ones at the confidence `level`, as [`Rate::two_sided`] for items of which some are alike; `n_eff` is
    /// how many independent items are worth as much. None without items.
    pub fn rate(&self, level: f64) -> Option<Estimate> {
        let [zeros, ones] = self.alone.classes().map(|class| class.n as f64);
        let (mut with_zero, mut with_one) = (zeros, ones);
        for cluster in self.clusters.values() {
            with_zero += f64::from(u8::from(cluster.mean < 1.0));
            with_one += f64::from(u8::from(cluster.mean > 0.0));
        }
        self.items.two_sided_worth(self.gain(with_zero.min(with_one), level), level)
    }
}

impl ByCluster<Weighted> {
    /// The mean at the confidence `level`, as [`Weighted::mean`] for items of which some are alike; `n_eff` is Kish's effective
    /// number of clusters. None without items.
    pub fn mean(&self, level: f64) -> Option<Estimate> {
        self.student(level)
    }
}

impl ByCluster<Paired> {
    /// The mean of a − b, as that of [`ByCluster<Weighted>`].
    pub fn mean(&self, level: f64) -> Option<Estimate> {
        self.student(level)
    }

    /// The rate of a minus that of b, as [`Paired::rate`] for items of which some are alike; `n_eff` is how many independent
    /// items are worth as much. None without items.
    pub fn rate(&self, level: f64) -> Option<Estimate> {
        let [_, distance] = self.alone.parts();
        let alone = distance.value() * distance.n() as f64;
        let apart = self.clusters.values().filter(|cluster| cluster.mean != 0.0).count();
        self.items.rate_worth(self.gain(alone + apart as f64, level), level)
    }
}

#[cfg(test)]
#[path = "by_cluster_tests.rs"]
mod tests;
