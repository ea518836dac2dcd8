//! Which items to draw, when some are worth more than others.
//!
//! Poisson sampling with probabilities proportional to size (Särndal, Swensson and Wretman 1992, section 3.5): an item of
//! size s is drawn with min(1, c·s), on its own, and c is such that the expected number of draws is what is wanted.

/// The probability of each item, so that `wanted` items are drawn on average; all 1 if there are no more than that.
///
/// Sizes must be above 0 and finite; one that is not counts as the smallest number above 0, so that no probability is 0.
pub fn chances(sizes: &[f64], wanted: f64) -> Vec<f64> {
    let sizes: Vec<f64> = sizes
        .iter()
        .map(|s| if s.is_finite() { s.max(f64::MIN_POSITIVE) } else { f64::MIN_POSITIVE })
        .collect();
    if wanted >= sizes.len() as f64 {
        return vec![1.0; sizes.len()];
    }
    let mut falling = sizes.clone();
    falling.sort_by(|a, b| b.total_cmp(a));
    // What each and all smaller ones come to, from the smallest on: a large one less itself would leave nothing of small ones.
    let mut rests: Vec<f64> = falling.iter().rev().scan(0.0, |sum, size| Some(added(sum, *size))).collect();
    rests.reverse();
    // Items so large that c·s would be above 1 are certain; the rest of what is wanted is shared by the others.
    let (mut left, mut scale) = (wanted.max(0.0), 0.0_f64);
    for (size, rest) in falling.iter().zip(rests) {
        // It rises, but for rounding where nothing is left for the smaller ones.
        scale = scale.max((left / rest).min(f64::MAX));
        if scale * size < 1.0 {
            break;
        }
        left = (left - 1.0).max(0.0);
    }
    sizes.iter().map(|size| (scale * size).clamp(f64::MIN_POSITIVE, 1.0)).collect()
}

fn added(sum: &mut f64, size: f64) -> f64 {
    *sum += size;
    *sum
}

#[cfg(test)]
mod tests {
    use super::super::ppi::{Item, Ppi};
    use super::super::seeded::Seeded;
    use super::*;

    #[test]
    fn the_expected_number_is_what_is_wanted_and_sizes_decide() {
        let sizes = [1.0, 2.0, 3.0, 4.0];
        let shares = chances(&sizes, 1.0);
        assert!(shares.iter().zip([0.1, 0.2, 0.3, 0.4]).all(|(a, b)| (a - b).abs() < 1e-12), "{shares:?}");
        let capped = chances(&[1.0, 1.0, 1.0, 97.0], 2.0);
        assert_eq!(capped[3], 1.0);
        assert!((capped.iter().sum::<f64>() - 2.0).abs() < 1e-12, "{capped:?}");
        assert!((capped[0] - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(chances(&sizes, 4.0), [1.0; 4]);
        assert_eq!(chances(&[], 3.0), Vec::<f64>::new());
        assert!(chances(&[0.0, f64::NAN, 1.0], 1.0).iter().all(|p| *p > 0.0 && *p <= 1.0));
        assert!(chances(&[1.0, 1.0], 0.0).iter().all(|p| *p > 0.0));
    }

    /// A size beside which all others are no digit: what they come to was 0, and so was no probability a number.
    #[test]
    fn a_size_beside_which_the_others_are_nothing_is_certain_alone() {
        for sizes in [[0.9, 0.0, 0.0], [1e20, 1.0, 1.0], [1e4, 1e-13, 1e-13]] {
            let shares = chances(&sizes, 1.0);
            assert!((shares[0] - 1.0).abs() < 1e-9, "{shares:?}");
            assert!(shares[1..].iter().all(|p| *p > 0.0 && *p < 1e-9), "{shares:?}");
        }
        assert_eq!(chances(&[1e20, 1.0, 1.0], 1.5), [1.0, 0.25, 0.25]);
        assert_eq!(chances(&[0.0; 3], 2.0).len(), 3);
        assert!(chances(&[0.0; 3], 2.0).iter().all(|p| (p - 2.0 / 3.0).abs() < 1e-9));
    }

    /// A population whose evaluator is unsure of some items and wrong most often there.
    fn truth(random: &mut Seeded, n: usize) -> Vec<(bool, bool, f64, f64)> {
        let one = |_| {
            let p = if random.unit() < 0.2 { 0.2 + 0.6 * random.unit() } else { 0.98 };
            let label = random.unit() < p;
            // Verdict at one half; failures are sampled more often.
            let passed = p >= 0.5;
            (label, passed, p, if passed { 0.4 } else { 0.9 })
        };
        (0..n).map(one).collect()
    }

    /// Labels that are drawn by uncertainty, with the probability of the draw: the corrected rate holds the truth, and is
    /// narrower than with as many labels that were drawn blindly.
    #[test]
    fn labels_by_uncertainty_give_a_corrected_rate_that_holds() {
        let mut random = Seeded::new(11);
        let (mut held, mut naive, runs) = (0, 0, 400);
        let mut widths = [0.0, 0.0];
        for _ in 0..runs {
            let all = truth(&mut random, 6_000);
            let rate = all.iter().filter(|i| i.0).count() as f64 / all.len() as f64;
            let sampled: Vec<_> = all.iter().filter(|i| random.unit() < i.3).collect();
            for (at, by_uncertainty) in [true, false].into_iter().enumerate() {
                let unsure = |p: f64| 2.0 * (p * (1.0 - p)).sqrt();
                let size = |i: &(bool, bool, f64, f64)| {
                    if by_uncertainty { (0.1 + unsure(i.2)) / i.3 } else { 1.0 / i.3 }
                };
                let sizes: Vec<f64> = sampled.iter().map(|i| size(i)).collect();
                let mut found = Ppi::new();
                for (item, pi) in sampled.iter().zip(chances(&sizes, 200.0)) {
                    let label = (random.unit() < pi).then(|| (f64::from(u8::from(item.0)), pi));
                    assert!(found.push(Item { score: f64::from(u8::from(item.1)), pi: item.3, label }));
                }
                let got = found.rate(0.95).unwrap();
                widths[at] += got.upper.unwrap() - got.lower.unwrap();
                held +=
                    usize::from(by_uncertainty && got.lower.unwrap() <= rate && rate <= got.upper.unwrap());
            }
            let passed = all.iter().filter(|i| i.1).count() as f64 / all.len() as f64;
            naive += usize::from((passed - rate).abs() < 0.01);
        }
        let share = held as f64 / runs as f64;
        assert!((0.92..=0.99).contains(&share), "held {share}");
        assert!(naive < runs / 2, "the evaluator alone is right {naive} times");
        assert!(widths[0] < 0.9 * widths[1], "{widths:?}");
    }
}
