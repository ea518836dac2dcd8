//! An alert without a journal, a clock or receivers: for simulations of what it does on known streams.

use super::alert::Alert;
use super::config::AlertConfig;
use super::slice::Seen;

/// An alert that is fed by hand.
pub struct DryAlert {
    config: AlertConfig,
    alert: Alert,
}

impl DryAlert {
    /// One that has seen nothing.
    pub fn new(config: AlertConfig) -> Self {
        Self { alert: Alert::new(&config), config }
    }

    /// Counts a score that was evaluated `at` nanoseconds since 1970 and selected with probability `pi`. Scores of slices beyond
    /// the most that there may be are left out.
    pub fn push(&mut self, slice: &str, at: i64, failed: bool, pi: f64) {
        self.alert.push(slice, Seen { at, failed, pi, example: None }, &self.config);
    }

    /// Looks at all slices: those that begin to fire now.
    pub fn fires(&mut self) -> Vec<String> {
        let changes = self.alert.look(&self.config);
        changes.into_iter().filter(|change| change.state == "firing").map(|change| change.slice).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Method;
    use super::*;
    use crate::stats::seeded::Seeded;
    use std::time::Duration;

    const HOUR: i64 = 3_600 * 1_000_000_000;
    /// Scores of an hour.
    const UNIT: usize = 100;

    /// Hours until the first alarm of a stream without a change, whose baseline is learned and whose scores are weighted and,
    /// where they fail, late; at most `most`.
    fn run_length(seed: u64, alpha: f64, most: usize) -> f64 {
        let mut config = AlertConfig { alpha, ..AlertConfig::new("a", "m", Method::Change) };
        config.per = Duration::from_nanos(HOUR.unsigned_abs());
        let (mut alert, mut random) = (DryAlert::new(config), Seeded::new(seed));
        let mut waiting: Vec<(f64, bool, f64)> = Vec::new();
        // Half of the items are scored, so a baseline of 1,000 scores takes 2,000 items.
        let before = 2_000;
        for n in 0..before + most * UNIT {
            let bad = random.unit() < 0.5;
            let failed = random.unit() < if bad { 0.09 } else { 0.01 };
            let pi = if bad { 0.9 } else { 0.1 };
            if random.unit() < pi {
                let mean = if failed { 200.0 } else { 20.0 };
                waiting.push((n as f64 - mean * (1.0 - random.unit()).ln(), failed, pi));
            }
            let at = n as i64 * HOUR / UNIT as i64;
            for (_, failed, pi) in waiting.extract_if(.., |(known, _, _)| *known <= n as f64) {
                alert.push("", at, failed, pi);
            }
            if n % 5 == 0 && !alert.fires().is_empty() {
                return n.saturating_sub(before) as f64 / UNIT as f64;
            }
        }
        most as f64
    }

    /// A small version of a row of docs/statistics.md.
    #[test]
    fn weighted_and_late_scores_keep_the_time_between_false_alarms() {
        let (alpha, streams) = (0.1, 60);
        let mean = (0..streams).map(|seed| run_length(seed, alpha, 40)).sum::<f64>() / streams as f64;
        assert!(mean >= 1.0 / alpha, "{mean} hours on average, {} are promised", 1.0 / alpha);
    }
}
