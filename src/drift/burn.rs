//! Burn rates: how many times faster than allowed the error budget is used up.
//!
//! Windows and factors are those of Beyer et al., "The Site Reliability Workbook", chapter 5, table 5-8: 2 % of a month's
//! budget in an hour, 5 % in six hours, 10 % in three days. The short window ends the alert soon after the cause has gone.

use super::window::MovingWindow;
use crate::stats::Estimate;
use serde::{Deserialize, Serialize};

const MINUTE: i64 = 60 * 1_000_000_000;

/// A long and a short window, and how fast the budget burns.
#[derive(Debug, Clone, Copy)]
pub(super) struct BurnRate {
    long: i64,
    short: i64,
    /// How many times the allowed share fails.
    pub factor: f64,
}

/// The greatest factor.
pub(super) const FASTEST: f64 = 14.4;

/// The pairs, fastest first.
pub(super) const BURN_RATES: [BurnRate; 3] = [
    BurnRate { long: 60 * MINUTE, short: 5 * MINUTE, factor: FASTEST },
    BurnRate { long: 6 * 60 * MINUTE, short: 30 * MINUTE, factor: 6.0 },
    BurnRate { long: 3 * 24 * 60 * MINUTE, short: 6 * 60 * MINUTE, factor: 1.0 },
];

/// The windows of one slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Burn {
    pairs: Vec<(MovingWindow, MovingWindow)>,
}

/// The pair that burns most beyond its factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Burning {
    /// The burn rate over its factor, by the lower bound of the long window: above 1 it is too fast.
    pub excess: f64,
    /// The share that fails in the long window.
    pub estimate: Estimate,
    /// The share that fails in the short window.
    pub short: f64,
    /// The rate that the factor allows.
    pub allowed: f64,
}

impl Burn {
    pub(super) fn new() -> Self {
        Self {
            pairs: BURN_RATES
                .iter()
                .map(|pair| (MovingWindow::new(pair.long), MovingWindow::new(pair.short)))
                .collect(),
        }
    }

    pub(super) fn push(&mut self, at: i64, failed: bool, pi: f64) {
        for (long, short) in &mut self.pairs {
            long.push(at, failed, pi);
            short.push(at, failed, pi);
        }
    }

    /// Whether a pair burns too fast in both windows, by their estimates: what ends an alert must not waver with a bound.
    pub(super) fn still_burns(&self, bound: f64) -> bool {
        let above = |window: &MovingWindow, allowed: f64| {
            window.total().estimate(0.95).is_some_and(|found| found.estimate > allowed)
        };
        let mut pairs = self.pairs.iter().zip(BURN_RATES);
        pairs.any(|((long, short), rate)| {
            above(long, rate.factor * bound) && above(short, rate.factor * bound)
        })
    }

    /// The pair that stands worst; none while no long window has `min_n` scores.
    pub(super) fn worst(&self, bound: f64, level: f64, min_n: u64) -> Option<Burning> {
        let pairs = self.pairs.iter().zip(BURN_RATES);
        let all = pairs.filter_map(|((long, short), rate)| {
            let (long, allowed) = (long.total(), rate.factor * bound);
            let estimate = long.estimate(level).filter(|e| e.n >= min_n && e.n_eff >= min_n as f64 / 2.0)?;
            let short = short.total().estimate(level).map_or(0.0, |e| e.estimate);
            // The short window has few scores: its estimate alone must agree.
            let low = if short > allowed { estimate.lower.unwrap_or(0.0) } else { 0.0 };
            Some(Burning { excess: low / allowed, estimate, short, allowed })
        });
        all.max_by(|a, b| a.excess.total_cmp(&b.excess))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_windows_must_burn() {
        let mut burn = Burn::new();
        let second = 1_000_000_000;
        for at in 0..3_600 {
            burn.push(at * second, at % 5 == 0, 1.0);
        }
        // A fifth fails; one in a hundred may.
        let hot = burn.worst(0.01, 0.998, 100).unwrap();
        assert!(hot.excess > 1.0, "{hot:?}");
        assert!((hot.estimate.estimate - 0.2).abs() < 0.01, "{hot:?}");
        for at in 3_600..4_000 {
            burn.push(at * second, false, 1.0);
        }
        let after = burn.worst(0.01, 0.998, 100).unwrap();
        // The fast pair is quiet; the slow one, whose short window is half an hour, still burns.
        assert!(after.allowed < 0.1 && after.excess > 1.0, "{after:?}");
        assert!(Burn::new().worst(0.01, 0.998, 100).is_none());
    }
}
