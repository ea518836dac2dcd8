//! Other intervals of weighted rates beside ours, on the same samples.

use crate::coverage::{BAND, LEVEL};
use groundline::stats::{Rate, normal, proportion, student, wilson};

/// A way to an interval.
pub struct Way {
    name: &'static str,
    /// Whether the interval of a sample holds a rate.
    pub holds: fn(&Rate, f64) -> bool,
}

/// How many [`WAYS`] there are.
pub const COUNT: usize = WAYS.len();

/// Ours first.
pub const WAYS: [Way; 10] = [
    Way {
        name: "`quality_rate`: exact tail where one end cannot err, else mid-P, shared by both ends of whole counts; effective counts",
        holds: |sample, rate| within(sample.two_sided_interval(LEVEL), rate),
    },
    Way {
        name: "mid-P, equal tails; effective counts",
        holds: |sample, rate| within(sample.interval(LEVEL), rate),
    },
    Way {
        name: "mid-P, equal tails; Kish's size",
        holds: |sample, rate| {
            counts(sample).is_none_or(|[ones, zeros]| within(proportion::interval(ones, zeros, LEVEL), rate))
        },
    },
    Way {
        name: "Clopper and Pearson; Kish's size (Korn and Graubard 1998)",
        holds: |sample, rate| {
            counts(sample).is_none_or(|[ones, zeros]| within(proportion::exact(ones, zeros, LEVEL), rate))
        },
    },
    Way {
        name: "Wilson; Kish's size",
        holds: |sample, rate| wilson_holds(share(sample), sample.n_eff(), rate),
    },
    Way {
        name: "Wilson; effective size",
        holds: |sample, rate| wilson_holds(share(sample), sample.worth(), rate),
    },
    Way { name: "Agresti and Coull 1998; effective size", holds: agresti_coull_holds },
    Way { name: "arcsine (Anscombe 1948); effective size", holds: arcsine_holds },
    Way { name: "logit with Student's t; linearised variance", holds: logit_holds },
    Way { name: "pseudo-empirical likelihood (Wu and Rao 2006); Kish's size", holds: likelihood_holds },
];

fn within((lower, upper): (f64, f64), rate: f64) -> bool {
    lower <= rate && rate <= upper
}

/// The weighted share of ones; NaN for an empty sample.
fn share(sample: &Rate) -> f64 {
    let [zeros, ones] = sample.classes();
    ones.weight / (zeros.weight + ones.weight)
}

/// Ones and zeros that Kish's size is shared out to; none for an empty sample.
fn counts(sample: &Rate) -> Option<[f64; 2]> {
    let (share, size) = (share(sample), sample.n_eff());
    (size > 0.0).then_some([share * size, (1.0 - share) * size])
}

/// An empty sample has the interval from 0 to 1.
fn wilson_holds(share: f64, size: f64, rate: f64) -> bool {
    within(wilson::interval(share, size, LEVEL).unwrap_or((0.0, 1.0)), rate)
}

/// Wald's interval after z²/2 more of either kind.
fn agresti_coull_holds(sample: &Rate, rate: f64) -> bool {
    let (size, z) = (sample.worth(), normal::critical(LEVEL));
    if size <= 0.0 {
        return true;
    }
    let more = size + z * z;
    let middle = (share(sample) * size + 0.5 * z * z) / more;
    (middle - rate).abs() <= z * (middle * (1.0 - middle) / more).sqrt()
}

fn arcsine_holds(sample: &Rate, rate: f64) -> bool {
    let size = sample.worth();
    if size <= 0.0 {
        return true;
    }
    let middle = ((share(sample) * size + 0.375) / (size + 0.75)).sqrt().asin();
    (middle - rate.sqrt().asin()).abs() <= 0.5 * normal::critical(LEVEL) / (size + 0.5).sqrt()
}

/// Without a zero or a one there is no variance; the interval is then the exact one.
fn logit_holds(sample: &Rate, rate: f64) -> bool {
    let ([zeros, ones], share) = (sample.classes(), share(sample));
    if zeros.n == 0 || ones.n == 0 {
        return counts(sample)
            .is_none_or(|[ones, zeros]| within(proportion::exact(ones, zeros, LEVEL), rate));
    }
    let weight = zeros.weight + ones.weight;
    let squares = (1.0 - share).powi(2) * ones.square + share.powi(2) * zeros.square;
    let error = squares.sqrt() / weight / (share * (1.0 - share));
    let logit = |p: f64| (p / (1.0 - p)).ln();
    // Each class tells of its own weights: the smaller one limits what is known of the variance.
    let freedom = zeros.n.min(ones.n) as f64;
    (logit(share) - logit(rate)).abs() <= student::critical(LEVEL, freedom) * error
}

/// Twice the logarithm of the likelihood ratio of as many plain items as Kish's size says.
fn likelihood_holds(sample: &Rate, rate: f64) -> bool {
    let part = |count: f64, seen: f64, p: f64| if count > 0.0 { count * (seen / p).ln() } else { 0.0 };
    counts(sample).is_none_or(|[ones, zeros]| {
        let seen = share(sample);
        let ratio = part(ones, seen, rate) + part(zeros, 1.0 - seen, 1.0 - rate);
        2.0 * ratio <= normal::critical(LEVEL).powi(2)
    })
}

/// Prints how many cells each way holds between the bounds of the band; `cells` says of each cell whether failures were
/// sampled less than the rest, and what each way held.
pub fn print<'a>(cells: impl Iterator<Item = (bool, &'a [f64; COUNT])>) {
    let (less, rest): (Vec<_>, Vec<_>) = cells.partition(|(undersampled, _)| *undersampled);
    println!("### Ways to an interval, cells of the tables above\n");
    println!(
        "| way | {} cells: inside | below 0.94 | above 0.965 | lowest | undersampled, {} cells: inside | below | above |",
        rest.len(),
        less.len()
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (at, way) in WAYS.iter().enumerate() {
        let of = |cells: &[(bool, &[f64; COUNT])]| -> [usize; 3] {
            let held = || cells.iter().map(|(_, ways)| ways[at]);
            let below = held().filter(|held| held < BAND.start()).count();
            let above = held().filter(|held| held > BAND.end()).count();
            [cells.len() - below - above, below, above]
        };
        let ([inside, below, above], [fits, short, wide]) = (of(&rest), of(&less));
        let lowest = rest.iter().map(|(_, ways)| ways[at]).fold(f64::INFINITY, f64::min);
        println!("| {} | {inside} | {below} | {above} | {lowest:.3} | {fits} | {short} | {wide} |", way.name);
    }
    println!();
}
