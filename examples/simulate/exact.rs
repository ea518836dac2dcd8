//! Coverage of equal weights and of equal weights of either outcome, summed over all outcomes instead of simulated, and what any interval
//! could have, of two weights too.

use crate::coverage::{BAND, LEVEL, RATES, SIZES, header, mark};
use groundline::stats::Rate;
use groundline::stats::rate::Class;

/// The sizes of the table with a random number of items; in larger ones every cell is in the band.
const RANDOM_SIZES: [u32; 3] = [30, 100, 300];

/// The sizes of the tables of two weights, and of the cells of weights by outcome; in larger ones every cell is in the band.
const WEIGHTED_SIZES: [u32; 4] = [30, 100, 300, 1_000];

/// Of the designs of two weights, the share of the items and the probability of either.
const TWO_WEIGHTS: [(&str, [(f64, f64); 2]); 2] =
    [("two strata", [(0.3, 0.9), (0.7, 0.2)]), ("skewed", [(0.5, 1.0), (0.5, 0.05)])];

/// The designs whose weights go by the outcome alone: π of zeros and of ones.
const BY_OUTCOME: [(&str, [f64; 2]); 3] =
    [("uniform", [0.5; 2]), ("failures oversampled", [0.1, 0.9]), ("failures undersampled", [1.0, 0.3])];

/// Chances below this change no digit that is printed.
const NOTHING: f64 = 1e-9;

/// Prints the tables.
pub fn print() {
    println!(
        "### Coverage of a fixed number of items, exact; in brackets the nearest that any interval can have\n"
    );
    header("items");
    for size in SIZES {
        let shares = RATES.map(|rate| {
            let chances = binomial(size, rate);
            format!("{} ({:.3})", mark(held(&chances, rate)), nearest(&chances))
        });
        println!("| {size} | {} |", shares.join(" | "));
    }
    beyond();
    println!(
        "\n### Exact coverage of uniform sampling, π 0.5; in brackets the least that an interval can have that holds 0.94 at \
         every number of items\n"
    );
    header("n_eff");
    for size in RANDOM_SIZES {
        let shares = RATES.map(|rate| {
            let ours = coverage(size, [0.5; 2], rate);
            format!("{} ({:.3})", mark(ours), over_items(size, [0.5; 2], rate, least))
        });
        println!("| {size} | {} |", shares.join(" | "));
    }
    println!();
    beyond_by_outcome();
    without_failures();
    for (name, strata) in TWO_WEIGHTS {
        println!("### The least that an interval can have that knows both weights, {name}\n");
        header("n_eff");
        for size in WEIGHTED_SIZES {
            let shares = RATES.map(|rate| mark(least_of_sums(size, strata, rate)));
            println!("| {size} | {} |", shares.join(" | "));
        }
        println!();
    }
}

/// Prints the cells of a fixed number of items that no interval has in the band, and how many of the others ours has.
fn beyond() {
    let cells: Vec<_> = SIZES.into_iter().flat_map(|size| RATES.map(|rate| (size, rate))).collect();
    println!("\n### Cells of a fixed number of items that no interval has from 0.94 to 0.965\n");
    println!("| items | rate | `quality_rate` | most below | least above |");
    println!("|---|---|---|---|---|");
    let (mut inside, mut missed, mut out_of_reach) = (0, 0, 0);
    for (size, rate) in &cells {
        let chances = binomial(*size, *rate);
        let (ours, reach) = (held(&chances, *rate), Reach::of(&chances));
        if BAND.contains(&ours) {
            inside += 1;
        } else if reach.is_inside {
            missed += 1;
        } else {
            out_of_reach += 1;
            println!("| {size} | {} % | {ours:.3} | {:.4} | {:.4} |", rate * 100.0, reach.below, reach.above);
        }
    }
    println!(
        "\n{inside} of {} cells lie from 0.94 to 0.965, {out_of_reach} cannot, {missed} could and do not.",
        cells.len()
    );
}

/// Prints the cells of designs by outcome that no interval with 0.94 at every number of items has in the band, and the others that ours
/// has outside.
fn beyond_by_outcome() {
    println!("### Cells outside of 0.94 to 0.965, weights by outcome, exact\n");
    println!(
        "| design | n_eff | rate | `quality_rate` | the least of an interval with 0.94 at every number of items |"
    );
    println!("|---|---|---|---|---|");
    let (mut cannot, mut short, mut wide) = (0, 0, 0);
    for (name, pi) in BY_OUTCOME {
        for (size, rate) in WEIGHTED_SIZES.into_iter().flat_map(|size| RATES.map(|rate| (size, rate))) {
            let ours = coverage(size, pi, rate);
            if BAND.contains(&ours) {
                continue;
            }
            let least = over_items(size, pi, rate, least);
            let says = if least > *BAND.end() {
                cannot += 1;
                "out of reach"
            } else if ours < *BAND.start() {
                short += 1;
                "too little"
            } else {
                wide += 1;
                "too much"
            };
            println!("| {name} | {size} | {} % | {ours:.4} | {least:.4}: {says} |", rate * 100.0);
        }
    }
    println!("\n{cannot} cells are out of reach, {wide} hold too much without need, {short} too little.\n");
}

/// Prints what cells of undersampled failures that hold too little lack: the samples in which no failure is seen. Their weights are
/// equal, and so are those of a sample of as many items of which none fails, drawn evenly.
fn without_failures() {
    println!("### Failures undersampled: what samples without a failure would have to hold\n");
    println!("| n_eff | rate | `quality_rate` | samples without a failure | their upper end | the rate |");
    println!("|---|---|---|---|---|---|");
    let (_, pi) = BY_OUTCOME[2];
    for (size, rate) in WEIGHTED_SIZES.into_iter().flat_map(|size| RATES.map(|rate| (size, rate))) {
        let ours = coverage(size, pi, rate);
        if ours >= *BAND.start() {
            continue;
        }
        let none = over_items(size, pi, rate, |chances| chances[0]);
        // So many items are seen without a failure on average.
        let zeros = over_items(size, pi, rate, |chances| chances[0] * (chances.len() - 1) as f64) / none;
        let upper = 1.0 - (1.0 - LEVEL).powf(1.0 / zeros);
        println!(
            "| {size} | {} % | {ours:.3} | {none:.3} | {:.2}/n | {:.2}/n |",
            rate * 100.0,
            upper * zeros,
            rate * zeros
        );
    }
    println!();
}

/// What our interval holds of a rate, where zeros and ones are drawn with the probabilities `pi` from as many items as are needed for the
/// effective size.
pub fn coverage(size: u32, pi: [f64; 2], rate: f64) -> f64 {
    over_items(size, pi, rate, |chances| held_of(chances, pi, rate))
}

/// What sets of neighbouring counts hold. An interval whose bounds rise with the count holds a rate for one such set.
struct Reach {
    /// The most that is below the band.
    below: f64,
    /// Whether a set is in the band.
    is_inside: bool,
    /// The least that is above the band.
    above: f64,
}

impl Reach {
    fn of(chances: &[f64]) -> Self {
        let likely: Vec<f64> = chances.iter().copied().filter(|chance| *chance > NOTHING * NOTHING).collect();
        let mut reach = Self { below: 0.0, is_inside: false, above: f64::INFINITY };
        for low in 0..likely.len() {
            let mut sum = 0.0;
            for chance in &likely[low..] {
                sum += chance;
                if sum > *BAND.end() {
                    reach.above = reach.above.min(sum);
                    break;
                }
                if sum < *BAND.start() {
                    reach.below = reach.below.max(sum);
                } else {
                    reach.is_inside = true;
                }
            }
        }
        reach
    }
}

/// The least that neighbouring sums of weights of the ones hold together where the band allows it, with as many items of either
/// weight as are expected.
fn least_of_sums(size: u32, strata: [(f64, f64); 2], rate: f64) -> f64 {
    let inverse: f64 = strata.iter().map(|(share, pi)| share / pi).sum();
    let [one, other] = strata.map(|(share, pi)| {
        let items = (f64::from(size) * inverse * share * pi).round() as u32;
        let likely = (0_u32..).zip(binomial(items, rate)).filter(|(_, chance)| *chance > NOTHING);
        likely.map(|(ones, chance)| (f64::from(ones) / pi, chance)).collect::<Vec<(f64, f64)>>()
    });
    let mut sums: Vec<(f64, f64)> = Vec::with_capacity(one.len() * other.len());
    for (weight, chance) in &one {
        sums.extend(other.iter().map(|(more, with)| (weight + more, chance * with)));
    }
    sums.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Sums that differ by rounding only are one outcome.
    let outcomes = sums.chunk_by(|a, b| b.0 - a.0 < NOTHING);
    let chances: Vec<f64> = outcomes.map(|same| same.iter().map(|(_, chance)| chance).sum::<f64>()).collect();
    least(&chances)
}

/// The mean of `of`, which sees the probabilities of 0, 1, … ones, over the numbers of items that are drawn where zeros and
/// ones are drawn with the probabilities `pi`, from as many items as are needed for the effective size.
fn over_items(size: u32, [zero, one]: [f64; 2], rate: f64, of: impl Fn(&[f64]) -> f64) -> f64 {
    let drawn = rate * one + (1.0 - rate) * zero;
    let window = (f64::from(size) * ((1.0 - rate) / zero + rate / one)).round() as u32;
    let numbers = (0_u32..).zip(binomial(window, drawn));
    let likely = numbers.filter(|(items, chance)| *items > 0 && *chance > NOTHING);
    likely.map(|(items, chance)| chance * of(&binomial(items, rate * one / drawn))).sum()
}

/// What our interval of equal weights holds, given the probabilities of 0, 1, … ones.
fn held(chances: &[f64], rate: f64) -> f64 {
    held_of(chances, [1.0; 2], rate)
}

/// What our interval holds, given the probabilities of 0, 1, … ones, and those with which zeros and ones were drawn.
fn held_of(chances: &[f64], pi: [f64; 2], rate: f64) -> f64 {
    let items = chances.len() - 1;
    let class =
        |n: usize, pi: f64| Class { n: n as u64, weight: n as f64 / pi, square: n as f64 / (pi * pi) };
    let holds = |ones: usize| {
        let sample = Rate::of(class(items - ones, pi[0]), class(ones, pi[1]));
        let (lower, upper) = sample.two_sided_interval(LEVEL);
        lower <= rate && rate <= upper
    };
    let likely = chances.iter().enumerate().filter(|(_, chance)| **chance > NOTHING);
    likely.filter(|(ones, _)| holds(*ones)).map(|(_, chance)| chance).sum()
}

/// The least sum of neighbouring chances that the band allows: a set of outcomes that holds less is no answer.
fn least(chances: &[f64]) -> f64 {
    let mut best = f64::INFINITY;
    for low in 0..chances.len() {
        let mut sums = chances[low..].iter().scan(0.0, |sum, chance| {
            *sum += chance;
            Some(*sum)
        });
        match sums.find(|sum| sum >= BAND.start()) {
            Some(sum) => best = best.min(sum),
            None => break,
        }
    }
    best
}

/// The probabilities of 0, 1, … ones.
fn binomial(size: u32, rate: f64) -> Vec<f64> {
    let mut ln = f64::from(size) * (-rate).ln_1p();
    (0..=size)
        .map(|ones| {
            let chance = ln.exp();
            ln += (f64::from(size - ones) / f64::from(ones + 1) * rate / (1.0 - rate)).ln();
            chance
        })
        .collect()
}

/// The sum of neighbouring chances, the likeliest among them, that is nearest to the level.
fn nearest(chances: &[f64]) -> f64 {
    let top = (0..chances.len()).max_by(|a, b| chances[*a].total_cmp(&chances[*b])).unwrap_or(0);
    let mut best = f64::INFINITY;
    let mut below = 0.0;
    for low in (0..=top).rev() {
        below += chances[low];
        let mut sum = below;
        for chance in std::iter::once(&0.0).chain(&chances[top + 1..]) {
            sum += chance;
            if (sum - LEVEL).abs() < (best - LEVEL).abs() {
                best = sum;
            }
            if sum > LEVEL + 0.05 {
                break;
            }
        }
    }
    best
}
