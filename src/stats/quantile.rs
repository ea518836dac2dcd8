//! Quantiles of values that were drawn with unequal, known probabilities.
//!
//! The q-quantile is the smallest value v whose weighted distribution function F(v) = Σ(w: y ≤ v) / Σw reaches q. Its
//! interval is Woodruff's (1952) in the form of a test inversion (Francisco and Fuller 1991): it holds the values at which
//! the interval of the rate F(v) holds q. So it needs no density, and its coverage is that of [`Rate`].
//!
//! Up to [`EXACT`] distinct values are kept, so a state has at most 256 KiB and the answer is exact. Beyond, neighbours are
//! put together as in a t-digest (Dunning and Ertl 2019, scale function k₁): a cluster near rank q holds at most about
//! π√(q(1−q))/2,048 of the weight, 0.08 % at the median and less towards the ends, and that is how far off the rank of an
//! answer may be; the interval's ends are then taken one cluster further out. DataFusion's own t-digest does not keep Σw²,
//! without which there is no interval.

use super::estimate::{Estimate, is_probability};
use super::rate::{Class, Rate};

/// Distinct values that are kept as they are.
pub const EXACT: usize = 8_192;

/// Clusters that are left of more values: at most this many.
const CLUSTERS: f64 = 4_096.0;

/// Items with one value, or with values that lie near each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The value, or the weighted mean of the values.
    pub value: f64,
    /// The items.
    pub items: Class,
}

/// Collects values with their inclusion probabilities, in any order and in any number of parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quantiles {
    /// In order of value but for those after `sorted`.
    points: Vec<Point>,
    sorted: usize,
    clustered: bool,
}

impl Quantiles {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value that was selected with probability `pi`.
    ///
    /// Returns false and leaves everything as it was unless `value` is finite and `pi` above 0 and at most 1.
    #[must_use = "a probability outside (0, 1] is not counted"]
    pub fn push(&mut self, value: f64, pi: f64) -> bool {
        if !(is_probability(pi) && value.is_finite()) {
            return false;
        }
        let weight = 1.0 / pi;
        self.add(Point { value, items: Class { n: 1, weight, square: weight * weight } });
        true
    }

    fn add(&mut self, point: Point) {
        self.points.push(point);
        if self.points.len() >= EXACT + EXACT / 2 {
            self.settle();
        }
    }

    /// Adds everything that `points`, of one state of [`Quantiles::parts`], and the mark whether they are clusters say.
    pub fn merge(&mut self, points: impl IntoIterator<Item = Point>, clustered: bool) {
        self.clustered |= clustered;
        for point in points {
            self.add(point);
        }
    }

    /// The state in order of value, and whether values were put together.
    pub fn parts(&mut self) -> (&[Point], bool) {
        self.settle();
        (&self.points, self.clustered)
    }

    /// Bytes that the state takes.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.points.capacity() * size_of::<Point>()
    }

    /// Sorts, puts equal values together, and near ones where there are too many.
    fn settle(&mut self) {
        if self.sorted == self.points.len() {
            return;
        }
        self.points.sort_by(|a, b| a.value.total_cmp(&b.value));
        self.points.dedup_by(|next, kept| {
            // 0.0 and -0.0 are one value.
            let same = next.value == kept.value;
            if same {
                kept.items.merge(&next.items);
            }
            same
        });
        if self.points.len() > EXACT {
            self.points = cluster(&self.points);
            self.clustered = true;
        }
        self.sorted = self.points.len();
    }

    /// The `q`-quantile, 0 < q < 1, with its interval at the confidence `level`, in the unit of the values; none when nothing
    /// was pushed. An end is none where the sample is too small to bound the quantile on that side.
    pub fn estimate(&mut self, q: f64, level: f64) -> Option<Estimate> {
        self.settle();
        let below = self.sums();
        let all = *below.last()?;
        // A hair less than q, because sums of equal weights are rounded.
        let at = below.partition_point(|sum| sum.weight < q * all.weight * (1.0 - 1e-12));
        let interval = |sum: &Class| rate_below(sum, &all).interval(level);
        let value = |at: usize| self.points.get(at).map(|point| point.value);
        let further = usize::from(self.clustered);
        let none_below = Class::default();
        let low = if interval(&none_below).1 >= q {
            None
        } else {
            below.partition_point(|sum| interval(sum).1 < q).checked_sub(further)
        };
        let high = below.partition_point(|sum| interval(sum).0 < q);
        let high = (high < below.len()).then(|| (high + further).min(below.len() - 1));
        Some(Estimate {
            estimate: value(at.min(below.len() - 1))?,
            lower: low.and_then(value),
            upper: high.and_then(value),
            n: all.n,
            n_eff: all.weight * all.weight / all.square,
        })
    }

    /// What lies at or below each point.
    fn sums(&self) -> Vec<Class> {
        let mut sum = Class::default();
        let add = |point: &Point| {
            sum.merge(&point.items);
            sum
        };
        self.points.iter().map(add).collect()
    }
}

fn rate_below(below: &Class, all: &Class) -> Rate {
    let above = Class {
        n: all.n - below.n,
        weight: (all.weight - below.weight).max(0.0),
        square: (all.square - below.square).max(0.0),
    };
    Rate::of(if above.n == 0 { Class::default() } else { above }, *below)
}

/// Puts neighbours together while they span at most one unit of k₁(q) = δ/2π · asin(2q − 1).
fn cluster(points: &[Point]) -> Vec<Point> {
    let total: f64 = points.iter().map(|point| point.items.weight).sum();
    let scale = |weight: f64| {
        let q = (weight / total).clamp(0.0, 1.0);
        CLUSTERS / std::f64::consts::TAU * (2.0 * q - 1.0).asin()
    };
    let mut kept: Vec<Point> = Vec::with_capacity(EXACT);
    let (mut before, mut start) = (0.0, scale(0.0));
    for point in points {
        let after = before + point.items.weight;
        match kept.last_mut() {
            Some(last) if scale(after) - start <= 1.0 => {
                let weight = last.items.weight + point.items.weight;
                last.value += (point.value - last.value) * (point.items.weight / weight);
                last.items.merge(&point.items);
            }
            _ => {
                start = scale(before);
                kept.push(*point);
            }
        }
        before = after;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::seeded::Seeded;
    use super::*;

    fn of(values: impl IntoIterator<Item = (f64, f64)>) -> Quantiles {
        let mut all = Quantiles::new();
        for (value, pi) in values {
            assert!(all.push(value, pi));
        }
        all
    }

    #[test]
    fn by_hand() {
        let got = of([(10.0, 1.0), (20.0, 0.5), (30.0, 1.0)]).estimate(0.5, 0.95).unwrap();
        // Weights 1, 2, 1: F(10) = 0.25, F(20) = 0.75.
        assert_eq!((got.estimate, got.lower, got.upper, got.n), (20.0, None, None, 3));
        let hundred = |q: f64| of((1..=100).map(|i| (f64::from(i), 1.0))).estimate(q, 0.95).unwrap();
        let median = hundred(0.5);
        // Order statistics 40 and 61 hold the median with 0.9648 (Conover 1999), 41 and 60 with 0.943.
        assert_eq!(median.estimate, 50.0);
        assert!((40.0..=41.0).contains(&median.lower.unwrap()), "{median:?}");
        assert!((60.0..=61.0).contains(&median.upper.unwrap()), "{median:?}");
        assert_eq!(hundred(0.99).upper, None);
        assert_eq!(hundred(0.01).lower, None);
        assert_eq!(Quantiles::new().estimate(0.5, 0.95), None);
        let mut refused = Quantiles::new();
        assert!(!refused.push(f64::NAN, 0.5) && !refused.push(1.0, 0.0));
    }

    #[test]
    fn parts_say_the_same_in_any_order() {
        let mut random = Seeded::new(3);
        let values: Vec<(f64, f64)> =
            (0..3000).map(|_| ((random.unit() * 500.0).floor(), 0.1 + 0.9 * random.unit())).collect();
        let mut merged = Quantiles::new();
        for part in values.rchunks(700) {
            let mut part = of(part.iter().copied());
            let (points, clustered) = part.parts();
            merged.merge(points.iter().copied(), clustered);
        }
        let (a, b) = (of(values).estimate(0.9, 0.95).unwrap(), merged.estimate(0.9, 0.95).unwrap());
        assert_eq!((a.estimate, a.lower, a.upper, a.n), (b.estimate, b.lower, b.upper, b.n));
        assert!(!merged.clustered);
    }

    #[test]
    fn many_values_stay_bounded_and_near() {
        let mut random = Seeded::new(5);
        let mut all = Quantiles::new();
        for _ in 0..100_000 {
            assert!(all.push(random.unit(), 0.2 + 0.8 * random.unit()));
        }
        assert!(all.parts().0.len() <= EXACT && all.clustered);
        for q in [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999] {
            let got = all.estimate(q, 0.95).unwrap();
            // Six standard errors and the size of a cluster.
            let near = 6.0 * (q * (1.0 - q) / 60_000.0f64).sqrt() + 8e-4;
            assert!((got.estimate - q).abs() < near, "{q}: {got:?}");
            assert!(got.lower.unwrap() <= got.estimate && got.estimate <= got.upper.unwrap(), "{q}: {got:?}");
        }
    }

    #[test]
    fn intervals_hold_the_quantile() {
        for q in [0.5, 0.9] {
            let mut random = Seeded::new(11);
            let held = (0..400)
                .filter(|_| {
                    let mut sample = Quantiles::new();
                    for _ in 0..300 {
                        let value = random.unit();
                        // Large values are drawn more often.
                        let pi = 0.1 + 0.8 * value;
                        if random.unit() < pi {
                            assert!(sample.push(value, pi));
                        }
                    }
                    let got = sample.estimate(q, 0.95).unwrap();
                    got.lower.is_none_or(|low| low <= q) && got.upper.is_none_or(|high| q <= high)
                })
                .count();
            let share = held as f64 / 400.0;
            assert!((0.92..=0.98).contains(&share), "{q}: {share}");
        }
    }
}
