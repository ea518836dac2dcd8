//! Burn rates: how many times faster than allowed the error budget is used up.
//!
//! Windows and factors are those of Beyer et al., "The Site Reliability Workbook", chapter 5, table 5-8: 2 % of a month's
//! budget in an hour, 5 % in six hours, 10 % in three days. The short window ends the alert soon after the cause has gone.

use super::window::MovingWindow;
use crate::stats::{Estimate, Rate};
use serde::{Deserialize, Serialize};

const MINUTE: i64 = 60 * 1_000_000_000;

/// The windows, nanoseconds; the longest last.
const WINDOWS: [i64; 5] = [5 * MINUTE, 30 * MINUTE, 60 * MINUTE, 6 * 60 * MINUTE, LONGEST];
/// The longest window.
pub(super) const LONGEST: i64 = 3 * 24 * 60 * MINUTE;
/// How many windows there are.
pub(super) const COUNT: usize = WINDOWS.len();
/// Buckets of a window, so that it is too long by 4 % at most.
pub(super) const BUCKETS: i64 = 24;

/// A long and a short window, and how fast the budget burns.
#[derive(Debug, Clone, Copy)]
pub(super) struct BurnRate {
    /// Their places among [`WINDOWS`].
    long: usize,
    short: usize,
    /// How many times the allowed share fails.
    pub factor: f64,
}

/// The greatest factor.
pub(super) const FASTEST: f64 = 14.4;

/// The pairs, fastest first: 1 h and 5 min, 6 h and 30 min, 3 d and 6 h.
pub(super) const BURN_RATES: [BurnRate; 3] = [
    BurnRate { long: 2, short: 0, factor: FASTEST },
    BurnRate { long: 3, short: 1, factor: 6.0 },
    BurnRate { long: 4, short: 3, factor: 1.0 },
];

/// The windows of one slice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(from = "Stored")]
pub(super) struct Burn {
    windows: [MovingWindow; WINDOWS.len()],
}

/// What this and earlier releases wrote; those had the windows in pairs, one of them twice.
#[derive(Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum Stored {
    Windows { windows: [MovingWindow; WINDOWS.len()] },
    Pairs { pairs: [(MovingWindow, MovingWindow); BURN_RATES.len()] },
}

impl From<Stored> for Burn {
    fn from(stored: Stored) -> Self {
        let windows = match stored {
            Stored::Windows { windows } => windows,
            Stored::Pairs { pairs: [(hour, five), (six, thirty), (days, _)] } => {
                [five, thirty, hour, six, days]
            }
        };
        Self { windows }
    }
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
        Self { windows: WINDOWS.map(|length| MovingWindow::with(length, BUCKETS)) }
    }

    pub(super) fn push(&mut self, at: i64, failed: bool, pi: f64) {
        self.windows.iter_mut().for_each(|window| window.push(at, failed, pi));
    }

    /// Forgets what lies after `at`: the clock was set back.
    pub(super) fn set_back(&mut self, at: i64) {
        self.windows.iter_mut().for_each(|window| window.set_back(at));
    }

    /// What is in each window.
    fn totals(&self) -> [Rate; WINDOWS.len()] {
        self.windows.each_ref().map(MovingWindow::total)
    }

    /// Whether a pair burns too fast in both windows, by their estimates: what ends an alert must not waver with a bound.
    pub(super) fn still_burns(&self, bound: f64) -> bool {
        let shares = self.totals().map(|total| total.estimate(0.95).map_or(0.0, |found| found.estimate));
        BURN_RATES.iter().any(|rate| {
            let allowed = rate.factor * bound;
            shares[rate.long] > allowed && shares[rate.short] > allowed
        })
    }

    /// The pair that stands worst; none while no long window has `min_n` scores.
    pub(super) fn worst(&self, bound: f64, level: f64, min_n: u64) -> Option<Burning> {
        let totals = self.totals();
        let all = BURN_RATES.iter().filter_map(|rate| {
            let (long, allowed) = (totals[rate.long], rate.factor * bound);
            let estimate = long.estimate(level).filter(|e| e.n >= min_n && e.n_eff >= min_n as f64 / 2.0)?;
            let short = totals[rate.short].estimate(level).map_or(0.0, |e| e.estimate);
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

    #[test]
    fn pairs_of_earlier_releases_are_read() {
        let mut burn = Burn::new();
        (0..5_000).for_each(|at| burn.push(at * MINUTE, at % 9 == 0, 0.5));
        let json = serde_json::to_value(&burn).unwrap();
        let at = |place: usize| json["windows"][place].clone();
        let old = serde_json::json!({"pairs": [[at(2), at(0)], [at(3), at(1)], [at(4), at(3)]]});
        assert_eq!(serde_json::from_value::<Burn>(old).unwrap(), burn);
        assert_eq!(serde_json::from_value::<Burn>(json).unwrap(), burn);
    }
}
