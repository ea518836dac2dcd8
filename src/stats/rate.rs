//! The rate of ones among items that were drawn with unequal, known probabilities.
//!
//! The estimate is Hájek's ratio Σw·y / Σw with w = 1/π. Its interval goes by effective counts. A weighted count W₁ = Σw of
//! the ones with S₁ = Σw² behaves like a Poisson count that is scaled by c₁ = S₁/W₁ (Fay and Feuer 1997), so it is worth
//! W₁/c₁ ones, and the zeros likewise; given their sum, the ones are binomial with probability θ, and the rate is
//! c₁θ / (c₁θ + c₀(1−θ)). θ gets the mid-P interval of [`proportion`](super::proportion).
//!
//! Which c? Where the outcome had nothing to do with the selection, one c = Σw²/Σw for both classes is right (Korn and
//! Graubard 1998), and a c of its own for a class of a few items is wrong by chance: if the heavy ones were missed, both the
//! rate and c are too small. Where the outcome steered the selection (failures kept with 0.9, the rest with 0.1) the classes
//! differ truly, and one c is wrong by a factor. Each class therefore takes the share B of the common c, and 1 − B of its
//! own; B = min(1, 4·v/d²) shrinks with the square of the difference d between the classes' mean weights beside the variance
//! v that d would have by chance (James and Stein 1961, positive part). The interval that is meant as a whole also compares the means
//! of 1/w, which sets light weights further apart, and takes the less of both B.
//!
//! Each end of that interval may err in (1 − level)/2 of the samples. At a rate so low that not even a sample without a one
//! excludes it from above, only the lower end can err, and the interval holds 97.5 % where 95 % were asked for. [`Rate::two_sided`]
//! inverts one test instead of two (Sterne 1954; Agresti and Min 2001): for such rates all of what may err is the lower end's, and
//! for rates so high the upper end's. Counts take few values there, so it goes by the exact tail and lets it be a fifth larger.
//! Unequal weights take values between whole counts, on average n_eff/n of a count apart: the exact tail would leave room that
//! nothing fills, and the tail counts so much less of what was seen ([`proportion::stepped`]). At rates that both ends can miss, whole
//! counts, those of equal weights or of equal weights of either outcome, give one end what the other leaves (`shared`). So do sums of
//! weights that the outcome has nothing to do with, where few ones were seen (`skewed`); B says how far that is so.

use super::estimate::{Estimate, is_probability};
use super::proportion;
use super::shared::{self, Shared};
use super::skewed::{self, Ones, Skewed, Weights};

/// Differences of two standard errors and less are taken for chance.
const CHANCE: f64 = 4.0;

/// By how much the exact tail of an end that errs alone, and those of both ends of whole counts together, may exceed 1 − level: a
/// nominal 95 % holds 94 % of equal weights at least.
const LEEWAY: f64 = 1.2;

/// Weights that differ more do not narrow an end that errs alone further: few of the ones are heavy then, and the values that their
/// sum takes lie in heaps. With 0 instead, the least that samples with π 1 and 0.05 hold of a rate for 0.95 is 0.937, with this 0.946.
const LEAST_STEP: f64 = 0.5;

/// Counts that differ from whole ones by so much of themselves differ by rounding.
const ROUNDING: f64 = 1e-9;

/// Collects outcomes with their inclusion probabilities, in any order and in any number of parts.
///
/// Two that have the same zeros and ones are equal.
#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rate {
    zeros: Class,
    ones: Class,
    /// Not stored with alerts: they go by one end, which needs no shape.
    #[serde(skip, default = "Shape::unknown")]
    shape: Shape,
}

impl PartialEq for Rate {
    fn eq(&self, other: &Self) -> bool {
        self.classes() == other.classes()
    }
}

/// How the weights of a sample are spread, for [`Rate::two_sided`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shape {
    /// Σw³ of all items; infinite where it is not known.
    pub cube: f64,
    /// Σ1/w of the zeros and of the ones.
    pub inverses: [f64; 2],
    /// Σ1/w² of all items.
    pub inverse_square: f64,
}

impl Shape {
    /// That of a sample of which only the classes are known.
    pub fn unknown() -> Self {
        Self { cube: f64::INFINITY, ..Self::default() }
    }

    fn is_known(&self) -> bool {
        self.cube.is_finite()
    }

    fn merge(&mut self, other: &Self) {
        self.cube += other.cube;
        self.inverses[0] += other.inverses[0];
        self.inverses[1] += other.inverses[1];
        self.inverse_square += other.inverse_square;
    }
}

/// What is kept of the items with one outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Class {
    /// How many there are.
    pub n: u64,
    /// Σw.
    pub weight: f64,
    /// Σw².
    pub square: f64,
}

/// The c of either class.
#[derive(Clone, Copy)]
struct Scales {
    zero: f64,
    one: f64,
}

impl Scales {
    /// The rate at which the share `theta` of the counts are ones.
    fn rate(self, theta: f64) -> f64 {
        let Self { zero, one } = self;
        one * theta / (one * theta + zero * (1.0 - theta))
    }
}

impl Class {
    /// Adds everything of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.weight += other.weight;
        self.square += other.square;
    }

    /// Σ(w − mean)².
    fn spread(&self) -> f64 {
        if self.n == 0 { 0.0 } else { (self.square - self.weight * self.weight / self.n as f64).max(0.0) }
    }

    fn mean(&self) -> f64 {
        self.weight / self.n as f64
    }
}

impl Rate {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rate of the ones among two classes, whose shape is not known.
    pub fn of(zeros: Class, ones: Class) -> Self {
        Self::of_shape(zeros, ones, Shape::unknown())
    }

    /// The rate of the ones among two classes of a sample of this shape.
    pub fn of_shape(zeros: Class, ones: Class, shape: Shape) -> Self {
        Self { zeros, ones, shape }
    }

    /// How the weights are spread.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Zeros and ones.
    pub fn classes(&self) -> [Class; 2] {
        [self.zeros, self.ones]
    }

    /// Adds an outcome that was selected with probability `pi`.
    ///
    /// Returns false and leaves everything as it was unless `pi` is above 0 and at most 1.
    #[must_use = "a probability outside (0, 1] is not counted"]
    pub fn push(&mut self, one: bool, pi: f64) -> bool {
        if !is_probability(pi) {
            return false;
        }
        let weight = 1.0 / pi;
        let class = if one { &mut self.ones } else { &mut self.zeros };
        class.n += 1;
        class.weight += weight;
        class.square += weight * weight;
        self.shape.cube += weight * weight * weight;
        self.shape.inverses[usize::from(one)] += pi;
        self.shape.inverse_square += pi * pi;
        true
    }

    /// Adds everything that `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        self.shape.merge(&other.shape);
        self.zeros.merge(&other.zeros);
        self.ones.merge(&other.ones);
    }

    /// How many outcomes were pushed.
    pub fn n(&self) -> u64 {
        self.zeros.n + self.ones.n
    }

    /// Kish's effective sample size; 0 when nothing was pushed.
    pub fn n_eff(&self) -> f64 {
        let weight = self.zeros.weight + self.ones.weight;
        if self.n() == 0 { 0.0 } else { weight * weight / (self.zeros.square + self.ones.square) }
    }

    /// The weighted share of ones with its interval at the confidence `level`, for who goes by one end, as alerts and quantiles
    /// do: either end may err in (1 − level)/2 of the samples. None when nothing was pushed.
    ///
    /// Where no item of one outcome was seen, the design cannot be told from the other outcome: the interval is too short
    /// if just the missing outcome was drawn with smaller probabilities.
    pub fn estimate(&self, level: f64) -> Option<Estimate> {
        self.with(self.interval(level))
    }

    /// The weighted share of ones with an interval that is meant as a whole, at the confidence `level`: that of
    /// [`Rate::estimate`], and shorter where few ones or few zeros were seen, because where one end cannot err the other may
    /// err in more than (1 − level)/2 of the samples. At the level 0.95 and with equal weights it errs in 6 % of the samples at
    /// most, at every rate. None when nothing was pushed.
    pub fn two_sided(&self, level: f64) -> Option<Estimate> {
        self.with(self.two_sided_interval(level))
    }

    fn with(&self, (lower, upper): (f64, f64)) -> Option<Estimate> {
        (self.n() > 0).then(|| Estimate {
            estimate: self.share_of_ones(),
            lower: Some(lower),
            upper: Some(upper),
            n: self.n(),
            n_eff: self.n_eff(),
        })
    }

    /// The bounds of [`Rate::two_sided`]; (0, 1) when nothing was pushed.
    pub fn two_sided_interval(&self, level: f64) -> (f64, f64) {
        self.two_sided_interval_worth(1.0, level)
    }

    /// [`Rate::two_sided`] of items that are worth `gain` times as many independent ones, above 0 and at most 1; `n_eff` is Kish's
    /// size times `gain`. None when nothing was pushed.
    pub fn two_sided_worth(&self, gain: f64, level: f64) -> Option<Estimate> {
        let found = self.with(self.two_sided_interval_worth(gain, level))?;
        Some(Estimate { n_eff: found.n_eff * gain, ..found })
    }

    fn two_sided_interval_worth(&self, gain: f64, level: f64) -> (f64, f64) {
        if self.n() == 0 {
            return (0.0, 1.0);
        }
        let share = self.common_share().min(self.common_share_by_inverses());
        let scales = self.scales(share);
        let [zeros, ones] = self.counts(scales).map(|count| count * gain);
        let (lower, upper) = self.around(scales, (self.share_of_ones(), gain), level);
        let (low, high) = self.unexcluded(scales, gain, level);
        let mut ends = (lower, upper);
        if lower < low || upper > high {
            let tail = (LEEWAY * (1.0 - level)).min(0.5);
            let step = ((ones + zeros) / self.n() as f64).clamp(LEAST_STEP, 1.0);
            let alone = proportion::stepped(ones, zeros, 1.0 - 2.0 * tail, step);
            ends = (lower.max(scales.rate(alone.0).min(low)), upper.min(scales.rate(alone.1).max(high)));
        }
        // Counts of items that are alike are no whole ones, and their sums not those of independent ones.
        if gain < 1.0 {
            return ends;
        }
        let (lower, upper) = self.shared(scales, ends, level);
        // Of equal weights of either outcome nothing is chance but rounding.
        if share <= ROUNDING {
            return (lower, upper);
        }
        let (skewed_lower, skewed_upper) = self.skewed((lower, upper), level);
        (lower + share * (skewed_lower - lower), upper + share * (skewed_upper - upper))
    }

    /// `ends`, of which one has what the other leaves where weights differ that the outcome has nothing to do with, and few ones, or
    /// few zeros, were seen.
    fn skewed(&self, (mut lower, mut upper): (f64, f64), level: f64) -> (f64, f64) {
        let (weight, square) = (self.zeros.weight + self.ones.weight, self.zeros.square + self.ones.square);
        let (error, spare) = (1.0 - level, (LEEWAY - 1.0) * (1.0 - level));
        let weights = Weights::of(self.n() as f64, [weight, square, self.shape.cube]);
        let Some(weights) = weights.filter(|_| spare > 0.0 && LEEWAY * error <= 0.5) else {
            return (lower, upper);
        };
        let (size, scale) = (weight * weight / square, square / weight);
        let lower_of = |class: &Class| {
            let are_few = class.n > 0 && class.weight <= skewed::FEW * scale;
            let ones = Ones { n: class.n as f64, weight: class.weight, square: class.square };
            let sample = Skewed { weights, ones, size, scale, error, spare };
            if are_few { sample.lower() } else { None }
        };
        if let Some(found) = lower_of(&self.ones) {
            lower = found;
        }
        if let Some(found) = lower_of(&self.zeros) {
            upper = 1.0 - found;
        }
        (lower, upper)
    }

    /// `ends`, of which one beyond the rates that a sample without ones, or without zeros, excludes has what the other end leaves.
    ///
    /// Of whole counts only: where weights differ their sums take many values (see `skewed`).
    fn shared(&self, scales: Scales, (mut lower, mut upper): (f64, f64), level: f64) -> (f64, f64) {
        let is_whole =
            |class: &Class, count: f64| (count - class.n as f64).abs() <= ROUNDING * class.n as f64;
        let [zeros, ones] = self.counts(scales);
        let (error, most) = (1.0 - level, LEEWAY * (1.0 - level));
        if most > 0.5 || !is_whole(&self.zeros, zeros) || !is_whole(&self.ones, ones) {
            return (lower, upper);
        }
        let (zeros, ones) = (self.zeros.n as f64, self.ones.n as f64);
        let first = without(zeros + ones, level);
        if first >= shared::MIDDLE {
            return (lower, upper);
        }
        let middle = scales.rate(shared::MIDDLE);
        if (1.0..=shared::MANY).contains(&ones) && lower >= scales.rate(first) {
            let found = Shared { ones, zeros, error, most }.lower();
            lower = found.map_or(lower.max(middle), |theta| scales.rate(theta));
        }
        if (1.0..=shared::MANY).contains(&zeros) && upper <= scales.rate(1.0 - first) {
            let found = Shared { ones: zeros, zeros: ones, error, most }.lower();
            upper = found.map_or(upper.min(middle), |theta| scales.rate(1.0 - theta));
        }
        (lower, upper)
    }

    /// The rates below the first are excluded from above, and those over the second from below, by no sample of this size. The
    /// first is at most one half, the second at least.
    ///
    /// The bounds of a sample without ones: as many effective counts all zeros, or the zeros that were seen alone, whichever is
    /// less; without ones nothing would tell that these weigh more.
    fn unexcluded(&self, scales: Scales, gain: f64, level: f64) -> (f64, f64) {
        let of = |counts: f64| without(gain * counts, level);
        let alone =
            |class: &Class| if class.n == 0 { 0.0 } else { class.weight * class.weight / class.square };
        let all = of(self.counts(scales).iter().sum());
        let low = scales.rate(all).min(of(alone(&self.zeros)));
        let high = scales.rate(1.0 - all).max(1.0 - of(alone(&self.ones)));
        (low.min(0.5), high.max(0.5))
    }

    /// The bounds of [`Rate::estimate`]; (0, 1) when nothing was pushed.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        self.interval_at(self.share_of_ones(), 1.0, level)
    }

    /// The bounds around the rate `at` of an estimate that is worth `gain` times this sample; (0, 1) when nothing was pushed.
    pub fn interval_at(&self, at: f64, gain: f64, level: f64) -> (f64, f64) {
        if self.n() == 0 {
            return (0.0, 1.0);
        }
        self.around(self.scales(self.common_share()), (at, gain), level)
    }

    /// [`Rate::interval_at`] of a sample that is not empty.
    fn around(&self, scales: Scales, (at, gain): (f64, f64), level: f64) -> (f64, f64) {
        let Scales { zero, one } = scales;
        let counts = self.counts(scales).iter().sum::<f64>() * gain;
        let theta = at * zero / (at * zero + (1.0 - at) * one);
        let (lower, upper) = proportion::interval(theta * counts, (1.0 - theta) * counts, level);
        (scales.rate(lower), scales.rate(upper))
    }

    /// The weighted share of ones; NaN when nothing was pushed.
    fn share_of_ones(&self) -> f64 {
        self.ones.weight / (self.zeros.weight + self.ones.weight)
    }

    /// What the zeros and the ones are worth in counts.
    fn counts(&self, scales: Scales) -> [f64; 2] {
        [self.zeros.weight / scales.zero, self.ones.weight / scales.one]
    }

    /// How many items of a plain sample give the rate as precisely; 0 when nothing was pushed. Kish's size where the outcome
    /// did not steer the selection.
    pub fn worth(&self) -> f64 {
        let weight = self.zeros.weight + self.ones.weight;
        let Scales { zero, one } = self.scales(self.common_share());
        if self.n() == 0 {
            0.0
        } else {
            weight * weight / (self.zeros.weight * one + self.ones.weight * zero)
        }
    }

    /// The c of the zeros and of the ones, of which the share `shared` is the common one.
    fn scales(&self, shared: f64) -> Scales {
        let common = (self.zeros.square + self.ones.square) / (self.zeros.weight + self.ones.weight);
        let of = |class: &Class| {
            if class.n == 0 { common } else { shared * common + (1.0 - shared) * class.square / class.weight }
        };
        Scales { zero: of(&self.zeros), one: of(&self.ones) }
    }

    /// B: how much of the difference between the classes' weights may be chance.
    fn common_share(&self) -> f64 {
        if self.zeros.n == 0 || self.ones.n == 0 {
            return 1.0;
        }
        let apart = (self.ones.mean() - self.zeros.mean()).powi(2);
        let common = (self.zeros.weight + self.ones.weight) / self.n() as f64;
        let within = (self.zeros.spread() + self.ones.spread()) / (self.n() as f64 - 2.0).max(1.0);
        let chance = within * (1.0 / self.zeros.n as f64 + 1.0 / self.ones.n as f64);
        // Equal weights differ by rounding only.
        if apart <= 1e-18 * common * common { 1.0 } else { (CHANCE * chance / apart).min(1.0) }
    }

    /// The same by the means of 1/w, which sets light weights further apart; 1 where they are not known.
    fn common_share_by_inverses(&self) -> f64 {
        let [zeros, ones] = self.classes().map(|class| class.n as f64);
        if zeros == 0.0 || ones == 0.0 || !self.shape.is_known() {
            return 1.0;
        }
        let Shape { inverses: [of_zeros, of_ones], inverse_square, .. } = self.shape;
        let apart = (of_ones / ones - of_zeros / zeros).powi(2);
        let common = (of_zeros + of_ones) / (zeros + ones);
        let squares = inverse_square - of_zeros * of_zeros / zeros - of_ones * of_ones / ones;
        let chance = squares.max(0.0) / (zeros + ones - 2.0).max(1.0) * (1.0 / zeros + 1.0 / ones);
        if apart <= 1e-18 * common * common { 1.0 } else { (CHANCE * chance / apart).min(1.0) }
    }
}

/// The upper bound of so many counts without ones; 0 without counts.
fn without(counts: f64, level: f64) -> f64 {
    if counts > 0.0 { -((1.0 - level).ln() / counts).exp_m1() } else { 0.0 }
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
