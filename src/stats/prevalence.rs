//! The rate behind an evaluator of known sensitivity and specificity.
//!
//! Rogan and Gladen 1978: (p + Sp − 1)/(Se + Sp − 1), where p is the share that the evaluator calls positive. The interval is
//! that of Lang and Reiczigel 2014 (Preventive Veterinary Medicine 113, 13–22) for Se and Sp that were themselves
//! estimated, from labels that are independent of p: counts with one item more of each kind (z²/2 for p), the variance of all
//! three, and a shift for the skewness.
//!
//! [`Ppi`](super::Ppi) needs no independent labels and no such division, and is narrower; this is for an evaluator whose
//! quality was measured elsewhere.

use super::estimate::Estimate;
use super::normal;

/// A count of hits among trials; both may be effective counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Items that are as they should be.
    pub hits: f64,
    /// Items that were looked at.
    pub of: f64,
}

impl Share {
    /// The share after `extra` items of either kind; NaN without items.
    fn with(self, extra: f64) -> f64 {
        (self.hits + extra) / (self.of + 2.0 * extra)
    }
}

/// The corrected rate with its interval at the confidence `level`, all in 0..=1.
///
/// `called` are items that the evaluator calls positive, `sensitivity` positives that it calls so among labelled positives,
/// `specificity` negatives among labelled negatives. `n` and `n_eff` of the answer are the items of `called`. None without
/// items in one of the three, or if sensitivity and specificity together do not exceed 1: the evaluator then says nothing.
pub fn corrected(called: Share, sensitivity: Share, specificity: Share, level: f64) -> Option<Estimate> {
    let shares = [called, sensitivity, specificity];
    if shares.iter().any(|share| !(share.of > 0.0 && (0.0..=share.of).contains(&share.hits))) {
        return None;
    }
    let z = normal::critical(level);
    let rogan_gladen = |p: f64, se: f64, sp: f64| (p + sp - 1.0) / (se + sp - 1.0);
    let (p, se, sp) = (called.with(0.5 * z * z), sensitivity.with(1.0), specificity.with(1.0));
    let plain = rogan_gladen(called.with(0.0), sensitivity.with(0.0), specificity.with(0.0));
    let power = se + sp - 1.0;
    if power <= 0.0 || sensitivity.with(0.0) + specificity.with(0.0) <= 1.0 {
        return None;
    }
    let rate = rogan_gladen(p, se, sp);
    let of_p = p * (1.0 - p) / (called.of + z * z);
    let of_se = se * (1.0 - se) / (sensitivity.of + 2.0);
    let of_sp = sp * (1.0 - sp) / (specificity.of + 2.0);
    let error = (of_p + rate * rate * of_se + (1.0 - rate) * (1.0 - rate) * of_sp).sqrt() / power;
    let shift = 2.0 * z * z * (rate * of_se - (1.0 - rate) * of_sp);
    let bound = |side: f64| Some((rate + shift + side * z * error).clamp(0.0, 1.0));
    Some(Estimate {
        estimate: plain.clamp(0.0, 1.0),
        lower: bound(-1.0),
        upper: bound(1.0),
        n: called.of.round() as u64,
        n_eff: called.of,
    })
}

#[cfg(test)]
mod tests {
    use super::super::seeded::Seeded;
    use super::*;

    fn share(hits: f64, of: f64) -> Share {
        Share { hits, of }
    }

    #[test]
    fn by_hand_and_without_an_answer() {
        let got = corrected(share(250.0, 1000.0), share(70.0, 100.0), share(90.0, 100.0), 0.95).unwrap();
        assert!((got.estimate - 0.15 / 0.6).abs() < 1e-12);
        assert!(got.lower.unwrap() > 0.1 && got.upper.unwrap() < 0.4, "{got:?}");
        let known = corrected(share(250.0, 1000.0), share(7e8, 1e9), share(9e8, 1e9), 0.95).unwrap();
        // With sensitivity and specificity known it is Agresti and Coull's interval, stretched.
        let (low, high) = super::super::wilson::interval(0.25, 1000.0, 0.95).unwrap();
        assert!((known.lower.unwrap() - (low - 0.1) / 0.6).abs() < 1e-3, "{known:?}");
        assert!((known.upper.unwrap() - (high - 0.1) / 0.6).abs() < 1e-3);
        assert_eq!(corrected(share(1.0, 10.0), share(5.0, 10.0), share(5.0, 10.0), 0.95), None);
        assert_eq!(corrected(share(1.0, 10.0), share(0.0, 0.0), share(5.0, 10.0), 0.95), None);
        assert_eq!(corrected(share(11.0, 10.0), share(9.0, 10.0), share(5.0, 10.0), 0.95), None);
    }

    #[test]
    fn it_holds_the_rate() {
        for (rate, se, sp) in [(0.05, 0.7, 0.9), (0.3, 0.6, 0.7)] {
            let mut random = Seeded::new(2);
            let mut draw = |p: f64, n: u32| {
                let hits = (0..n).filter(|_| random.unit() < p).count();
                share(hits as f64, f64::from(n))
            };
            let held = (0..500)
                .filter(|_| {
                    let called = draw(rate * se + (1.0 - rate) * (1.0 - sp), 1000);
                    corrected(called, draw(se, 100), draw(sp, 100), 0.95)
                        .is_some_and(|got| got.lower.unwrap() <= rate && rate <= got.upper.unwrap())
                })
                .count();
            assert!((0.93..=0.985).contains(&(held as f64 / 500.0)), "{rate}: {held}");
        }
    }
}
