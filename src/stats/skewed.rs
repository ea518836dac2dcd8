//! The lower end of an interval of unequal weights, where few ones were seen.
//!
//! If the outcome had nothing to do with the weights, the weight T of the ones at the rate p is the sum of all weights, each of which
//! counts with the probability p. n, Σw, Σw² and Σw³ of all items are those of two weights, each of some items (the quadrature of Gauss
//! with two nodes): of the weights themselves where there are only two. So T is a sum of two binomial counts, each times a weight.
//!
//! Heavy weights that are few skew T to the right: a light sum may be one that lacks the heavy ones by chance, and the upper end errs less
//! often than a scaled Poisson count says. It errs with A, the probability of the sums whose upper end lies below p. The lower end has
//! what this leaves: a sum is too heavy for p where A and its mid-P tail are `error` together at most, or its tail is so small that it is
//! left in any case (see `shared`, which does the same for whole counts).
//!
//! Sums of two weights lie on a lattice, and a mid-P tail counts half of the sum that was seen. Sums of more weights lie between: there the
//! tail goes in straight lines from one number of light ones to the next.

use super::shared::MIDDLE;
use super::{normal, root};

/// Where the ones are worth more counts, a heavy one is a small step, and the ends need not share.
pub const FEW: f64 = 20.0;

/// Weights whose variance is less of their squared mean are taken for equal: their third powers are told from the others by no digit.
const EQUAL: f64 = 1e-6;

/// Numbers that differ from those of a lattice by so much of themselves differ by rounding.
const ROUNDING: f64 = 1e-6;

/// The most ones that are expected at a rate: beyond, the probability of none has no digits.
const MOST: f64 = 500.0;

/// The logarithm of a rate below which no bound is looked for.
const LEAST: f64 = -600.0;

/// Bounds are found up to this part of themselves.
const ACCURACY: f64 = 1e-10;

/// Steps between the rates where the lower end may lie.
const STEPS: i32 = 8;

/// So many items of one weight; neither number need be whole.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    n: f64,
    weight: f64,
}

/// The ones of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ones {
    /// How many there are, at least one.
    pub n: f64,
    /// Σw.
    pub weight: f64,
    /// Σw².
    pub square: f64,
}

/// Two weights that stand for all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    light: Part,
    heavy: Part,
}

impl Weights {
    /// Those of `n` items with Σw, Σw² and Σw³. None where all weights are as good as equal, or the sums are not those of weights.
    pub fn of(n: f64, sums: [f64; 3]) -> Option<Self> {
        let [mean, square, cube] = sums.map(|sum| sum / n);
        let variance = square - mean * mean;
        if !(variance > EQUAL * mean * mean && cube.is_finite()) {
            return None;
        }
        // The nodes are the roots of x² − sum·x + product, which is orthogonal to 1 and x.
        let sum = (cube - mean * square) / variance;
        let product = sum * mean - square;
        let half = (0.25 * sum * sum - product).sqrt();
        let (light, heavy) = (0.5 * sum - half, 0.5 * sum + half);
        let many = n * (mean - light) / (heavy - light);
        let are_weights = light > 0.0 && many > 0.0 && many < n && heavy.is_finite();
        are_weights.then_some(Self {
            light: Part { n: n - many, weight: light },
            heavy: Part { n: many, weight: heavy },
        })
    }

    /// Whether there are only these weights, as far as the ones tell.
    fn are_all(&self, ones: &Ones) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= ROUNDING * b.abs().max(1.0);
        let (light, heavy) = (self.light.weight, self.heavy.weight);
        let n = ones.n;
        let many = (ones.weight - n * light) / (heavy - light);
        let square = (n - many) * light * light + many * heavy * heavy;
        let whole = [self.light.n, self.heavy.n, many].into_iter().all(|n| near(n, n.round()));
        whole && many > -0.5 && many < n + 0.5 && (square - ones.square).abs() <= ROUNDING * ones.square
    }
}

/// What the sum of the ones may be at a rate.
struct Sums {
    weights: Weights,
    /// The probabilities of fewer light ones than 0, 1, …
    fewer_light: Vec<f64>,
    /// The probabilities of 0, 1, … heavy ones.
    heavy: Vec<f64>,
}

impl Sums {
    fn new(weights: Weights, p: f64) -> Self {
        let mut fewer_light = counts(weights.light.n, p);
        let mut sum = 0.0;
        for chance in &mut fewer_light {
            let fewer = sum;
            sum += *chance;
            *chance = fewer;
        }
        fewer_light.push(sum);
        Self { weights, fewer_light, heavy: counts(weights.heavy.n, p) }
    }

    /// The sum over numbers of heavy ones of what `of` says of them and of the light ones that the rest of `weight` is worth.
    fn over_heavy(&self, weight: f64, of: impl Fn(usize, f64) -> f64) -> f64 {
        let left =
            |heavy: usize| (weight - heavy as f64 * self.weights.heavy.weight) / self.weights.light.weight;
        self.heavy.iter().enumerate().map(|(heavy, chance)| chance * of(heavy, left(heavy))).sum()
    }

    /// The probability of fewer than `count` light ones, a whole number.
    fn fewer(&self, count: f64) -> f64 {
        let last = self.fewer_light.len() - 1;
        if count <= 0.0 { 0.0 } else { self.fewer_light[(count as usize).min(last)] }
    }

    /// The probability of a sum below `weight`.
    fn below(&self, weight: f64) -> f64 {
        self.over_heavy(weight, |_, light| self.fewer(light.ceil()))
    }

    /// The mid-P tail of the sum `weight`, one of the lattice.
    fn tail_of_lattice(&self, weight: f64) -> f64 {
        let near = ROUNDING * weight;
        1.0 - 0.5 * (self.below(weight - near) + self.below(weight + near))
    }

    /// The mid-P tail of the sum `weight`, which may lie between those of the lattice. A sum above 0 is more than that of no ones.
    fn tail(&self, weight: f64) -> f64 {
        let middle = |count: f64| 0.5 * (self.fewer(count) + self.fewer(count + 1.0));
        let between = |heavy: usize, light: f64| {
            let (count, part) = (light.floor(), light - light.floor());
            let at_count = if heavy == 0 && count == 0.0 { self.fewer(1.0) } else { middle(count) };
            (1.0 - part) * at_count + part * middle(count + 1.0)
        };
        1.0 - self.over_heavy(weight, between)
    }
}

/// The probabilities of 0, 1, … of `n` items, which need not be a whole number, as far as they change any digit.
fn counts(n: f64, p: f64) -> Vec<f64> {
    let n = if (n - n.round()).abs() <= ROUNDING * n { n.round() } else { n };
    let mean = n * p;
    let most = mean + 9.0 * mean.sqrt() + 12.0;
    let (mut all, mut count, mut chance) = (Vec::new(), 0.0, (n * (-p).ln_1p()).exp());
    while chance > 0.0 && count <= most {
        all.push(chance);
        chance *= (n - count) / (count + 1.0) * p / (1.0 - p);
        count += 1.0;
    }
    all
}

/// What was seen, and how often the interval may err.
#[derive(Debug, Clone, Copy)]
pub struct Skewed {
    /// The weights of all items.
    pub weights: Weights,
    /// The ones.
    pub ones: Ones,
    /// Kish's size of all items.
    pub size: f64,
    /// What a count weighs for the upper end: Σw²/Σw of all items.
    pub scale: f64,
    /// How often the interval may err.
    pub error: f64,
    /// How often the lower end may err in any case.
    pub spare: f64,
}

impl Skewed {
    /// The least rate that the ones are not too heavy for. None where it is not below one half, or more ones are expected than
    /// are counted here.
    pub fn lower(&self) -> Option<f64> {
        let is_lattice = self.weights.are_all(&self.ones);
        let high = self.root(self.error, is_lattice)?;
        // No sample is too light for the rates below the upper bound of one without ones.
        let first = -((self.error).ln() / self.size).exp_m1();
        if high <= first {
            return Some(high);
        }
        let mut from = self.root(self.spare, is_lattice)?.max(first);
        if self.over(from, is_lattice) > 0.0 {
            return Some(from);
        }
        let step = (high / from).powf(1.0 / f64::from(STEPS));
        let mut to = high;
        for _ in 1..STEPS {
            let next = from * step;
            if self.over(next, is_lattice) > 0.0 {
                to = next;
                break;
            }
            from = next;
        }
        while to - from > ACCURACY * to {
            let middle = 0.5 * (from + to);
            if self.over(middle, is_lattice) > 0.0 { to = middle } else { from = middle }
        }
        Some(to)
    }

    /// The mid-P tail of the ones at the rate `p`.
    fn tail(&self, p: f64, is_lattice: bool) -> f64 {
        self.tail_of(&Sums::new(self.weights, p), is_lattice)
    }

    fn tail_of(&self, sums: &Sums, is_lattice: bool) -> f64 {
        if is_lattice { sums.tail_of_lattice(self.ones.weight) } else { sums.tail(self.ones.weight) }
    }

    /// How much more than it may the interval would err if the ones were too heavy for the rate `p`.
    fn over(&self, p: f64, is_lattice: bool) -> f64 {
        let sums = Sums::new(self.weights, p);
        sums.below(self.scale * self.too_low(p)) + self.tail_of(&sums, is_lattice) - self.error
    }

    /// The number of counts, of as many as the size says, whose upper end is `p`, about (the expansion of Cornish and Fisher 1938
    /// with the skewness of a binomial); not above 0 where that of no ones is not below it.
    fn too_low(&self, p: f64) -> f64 {
        let (mean, z) = (self.size * p, normal::critical(1.0 - self.error));
        mean - z * (mean * (1.0 - p)).sqrt() + (1.0 - 2.0 * p) * (z * z - 1.0) / 6.0
    }

    /// The rate below one half at which the mid-P tail of the ones is `tail`.
    fn root(&self, tail: f64, is_lattice: bool) -> Option<f64> {
        let all = self.weights.light.n + self.weights.heavy.n;
        let most = MIDDLE.min(MOST / all).ln();
        let apart = |ln_p: f64| (self.tail(ln_p.exp(), is_lattice).max(f64::MIN_POSITIVE) / tail).ln();
        let mut high = (self.ones.weight / (self.size * self.scale)).ln().min(most);
        while apart(high) < 0.0 {
            if high >= most {
                return None;
            }
            high = (high + 0.5).min(most);
        }
        let mut low = high - 1.0;
        while apart(low) > 0.0 {
            if low < LEAST {
                return None;
            }
            low -= 1.0;
        }
        Some(root::between((low, apart(low)), (high, apart(high)), ACCURACY, apart).exp())
    }
}

#[cfg(test)]
#[path = "skewed_tests.rs"]
mod tests;
