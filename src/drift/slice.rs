//! One part of the traffic under one alert: what was seen of it, and the state of the alert there.
//!
//! Everything here follows from the scores in their order: the same scores give the same states, so a loop that reads some
//! of them again after a crash comes to the same end.

use super::burn::Burn;
use super::config::{AlertConfig, BOUNDS, Method};
use super::window::MovingWindow;
use crate::stats::betting::{Betting, ChangePoint, Stakes};
use crate::stats::{Estimate, Rate};
use crate::units::nanos;
use serde::{Deserialize, Serialize};

/// Confidence of the intervals that are shown.
const LEVEL: f64 = 0.95;
/// One-sided confidence with which the learned baseline is bounded from above.
const BASELINE_LEVEL: f64 = 0.95;
/// Scores of a slice that only tell how much a score can weigh, before there are bets against an objective; `min_n` if that is
/// less.
const WEIGHED: u64 = 100;
/// Failures that are kept as examples.
const EXAMPLES: usize = 3;

/// Whether an alert fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing is wrong, as far as is known.
    #[default]
    Ok,
    /// It exceeds, but not for long enough yet.
    Pending,
    /// It fires.
    Firing,
}

/// A failure to look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Example {
    /// The trace, hex.
    pub trace_id: String,
    /// The value in the metric's scale.
    pub value: Option<f64>,
    /// Why it failed.
    pub rationale: String,
    /// How far the value lies from its threshold.
    pub(super) distance: f64,
}

/// One score, as alerts see it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    /// When it was evaluated, nanoseconds since 1970.
    pub at: i64,
    pub failed: bool,
    /// The inclusion probability.
    pub pi: f64,
    /// What a person would look at, if it failed.
    pub example: Option<Example>,
}

/// What a method keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Watch {
    /// The baseline is not known yet.
    Learning(Rate),
    /// Bets against a bound.
    Bets(Box<Betting>),
    /// One window.
    Window(MovingWindow),
    /// Burn rates.
    Burn(Burn),
}

/// What was seen since there is evidence.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Recent {
    seen: Rate,
    /// When the first of it was evaluated, nanoseconds since 1970.
    since: i64,
    examples: Vec<Example>,
}

/// One part of the traffic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Slice {
    n: u64,
    watch: Watch,
    point: Option<ChangePoint>,
    recent: Recent,
    /// The time of the latest score.
    pub(super) last: i64,
    /// The part of the capital of all slices that is this one's, for bets with a capital that comes in once.
    #[serde(default = "whole")]
    share: f64,
    /// How much capital had come in for each slice when it had its latest score, for bets with a steady one.
    #[serde(default)]
    credit: f64,
    pub(super) phase: Phase,
    /// Since when it is in this phase.
    pub(super) since: i64,
}

fn whole() -> f64 {
    1.0
}

/// What is known of a slice at a moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// The test statistic: evidence with the part of α that is the slice's (alarm at 1/α or above), or how far beyond the bound
    /// (alarm above 1).
    pub statistic: f64,
    /// The share that fails, since there is evidence or in the window, with its 95 % interval.
    pub estimate: Option<Estimate>,
    /// The share that may fail; none while the baseline is learned.
    pub bound: Option<f64>,
    /// Scores that were counted in all.
    pub n: u64,
    /// Since when there is evidence, nanoseconds since 1970.
    pub since: i64,
    /// When the latest score was evaluated, nanoseconds since 1970.
    pub last: i64,
}

impl Slice {
    /// A slice whose first score comes at `first`, with its `share` of the capital of all, and what has come in until then.
    pub(super) fn new(config: &AlertConfig, first: i64, share: f64, credit: f64) -> Self {
        let mut slice = Self {
            n: 0,
            watch: Watch::Learning(Rate::new()),
            point: None,
            recent: Recent::default(),
            last: first,
            share,
            credit,
            phase: Phase::Ok,
            since: first,
        };
        match (config.method, config.bound()) {
            (Method::Objective, Some(bound)) => slice.bet(bound, config),
            (Method::Threshold, _) => slice.watch = Watch::Window(MovingWindow::new(nanos(config.window))),
            (Method::BurnRate, _) => slice.watch = Watch::Burn(Burn::new()),
            // While the baseline is learned it keeps the greatest weight.
            (Method::Change, _) => slice.point = Some(ChangePoint::new(BOUNDS.0)),
            _ => {}
        }
        if let (Method::Threshold | Method::BurnRate, Some(bound)) = (config.method, config.bound()) {
            slice.point = Some(ChangePoint::new(bound.clamp(BOUNDS.0, BOUNDS.1)));
        }
        slice
    }

    fn bet(&mut self, bound: f64, config: &AlertConfig) {
        let stakes = if config.method == Method::Objective { Stakes::Once } else { Stakes::Steady };
        let bound = bound.clamp(BOUNDS.0, BOUNDS.1);
        if let Some(mut bets) = Betting::new(bound, config.max_weight, stakes) {
            let weight = self.point.as_ref().map_or(0.0, ChangePoint::weight);
            bets.know(weight);
            self.watch = Watch::Bets(Box::new(bets));
            self.point = Some(ChangePoint::knowing(bound, weight));
        }
    }

    /// Takes over what an earlier release wrote, where each of `count` slices had a capital of its own: now it is a share of
    /// one capital, of which `share` is this slice's.
    pub(super) fn adopt(&mut self, share: f64, count: usize) {
        self.share = share;
        if let Watch::Bets(bets) = &mut self.watch
            && bets.stakes() == Stakes::Steady
        {
            bets.scale(1.0 / count.max(1) as f64);
        }
    }

    /// Counts one score. `credit` is how much capital has come in for each slice until now, and the `most` of it that one score
    /// of a slice bets: what came in while the slice had no scores is no evidence.
    pub(super) fn push(&mut self, mut seen: Seen, config: &AlertConfig, (credit, most): (f64, f64)) {
        // Bets count no greater weight, so neither may what they are against, nor what ends them. The intervals of windows know how
        // much their weights differ.
        if matches!(config.method, Method::Change | Method::Objective) {
            seen.pi = seen.pi.max(1.0 / config.max_weight);
            // An earlier release kept greater ones.
            if let Some(point) = &mut self.point {
                point.limit(config.max_weight);
            }
        }
        let elapsed = (seen.at - self.last).max(0) as f64 / nanos(config.per) as f64;
        let fresh = (credit - std::mem::replace(&mut self.credit, credit)).min(most);
        self.last = self.last.max(seen.at);
        self.n += 1;
        match &mut self.watch {
            Watch::Learning(baseline) => {
                // Who reads the scores has looked at the probability.
                let _ = baseline.push(seen.failed, seen.pi);
                // An earlier release wrote none.
                self.point.get_or_insert_with(|| ChangePoint::new(BOUNDS.0)).weigh(seen.pi);
                let learned =
                    baseline.estimate(2.0 * BASELINE_LEVEL - 1.0).filter(|e| e.n >= config.baseline_n);
                // Where nearly everything fails it cannot become worse, and bets against less would win: it learns on.
                let bound = learned.and_then(|e| e.upper).filter(|bound| *bound <= BOUNDS.1);
                if let Some(bound) = bound {
                    self.bet(bound, config);
                }
                return;
            }
            // Bets are fair once the greatest weight is known; a baseline has told it.
            Watch::Bets(bets) if bets.stakes() == Stakes::Once && self.n <= config.min_n.min(WEIGHED) => {
                bets.weigh(seen.pi);
            }
            Watch::Bets(bets) => {
                // An earlier release forgot the weight with the capital, but not here.
                bets.know(self.point.as_ref().map_or(0.0, ChangePoint::weight));
                // As above; whether the capital has reached 1/α is asked when it is read.
                let time = if bets.stakes() == Stakes::Steady { fresh } else { elapsed };
                let _ = bets.push(seen.failed, seen.pi, time);
            }
            Watch::Window(window) => window.push(seen.at, seen.failed, seen.pi),
            Watch::Burn(burn) => burn.push(seen.at, seen.failed, seen.pi),
        }
        self.trace_back(seen, config);
    }

    /// The clock was set back to `at`: nothing is later than that. What lies in windows after it was counted at times that were
    /// none, and is left out.
    pub(super) fn set_back(&mut self, at: i64) {
        for time in [&mut self.last, &mut self.since, &mut self.recent.since] {
            *time = (*time).min(at);
        }
        match &mut self.watch {
            Watch::Window(window) => window.set_back(at),
            Watch::Burn(burn) => burn.set_back(at),
            Watch::Learning(_) | Watch::Bets(_) => {}
        }
    }

    /// Keeps what was seen since there is evidence.
    fn trace_back(&mut self, seen: Seen, config: &AlertConfig) {
        let most = (1.0 / config.alpha).ln();
        let Some(point) = &mut self.point else { return };
        if point.push(seen.failed, seen.pi, most) && self.phase == Phase::Ok {
            self.recent = Recent { since: seen.at, ..Recent::default() };
            return;
        }
        // Who reads the scores has looked at the probability.
        let _ = self.recent.seen.push(seen.failed, seen.pi);
        if let Some(example) = seen.example {
            let all = &mut self.recent.examples;
            all.push(example);
            all.sort_by(|a, b| b.distance.total_cmp(&a.distance));
            all.truncate(EXAMPLES);
        }
    }

    /// The failures that stand farthest from their threshold, since there is evidence.
    pub(super) fn examples(&self) -> &[Example] {
        &self.recent.examples
    }

    /// Forgets the examples.
    pub(super) fn drop_examples(&mut self) {
        self.recent.examples.clear();
    }

    /// What is known now. `shared` is how many slices share α.
    pub(super) fn read(&self, config: &AlertConfig, shared: usize) -> Reading {
        let confidence = 1.0 - 2.0 * config.alpha / shared.max(1) as f64;
        let mut reading = Reading {
            statistic: 0.0,
            estimate: self.recent.seen.estimate(LEVEL),
            bound: config.bound(),
            n: self.n,
            since: self.recent.since,
            last: self.last,
        };
        match &self.watch {
            Watch::Learning(baseline) => (reading.estimate, reading.bound) = (baseline.estimate(LEVEL), None),
            Watch::Bets(bets) => {
                (reading.statistic, reading.bound) = (self.worth(bets), Some(bets.bound()));
            }
            Watch::Window(window) => {
                let total = window.total();
                (reading.estimate, reading.since) =
                    (total.estimate(LEVEL), window.begins().unwrap_or(self.last));
                let enough = |e: &Estimate| e.n >= config.min_n && e.n_eff >= config.min_n as f64 / 2.0;
                let lower = total.estimate(confidence).filter(enough).and_then(|e| e.lower);
                reading.statistic = lower.unwrap_or(0.0) / config.bound().unwrap_or(1.0);
            }
            Watch::Burn(burn) => {
                if let Some(worst) = config.bound().and_then(|b| burn.worst(b, confidence, config.min_n)) {
                    reading.statistic = worst.excess;
                    reading.estimate = Some(worst.estimate);
                    reading.bound = Some(worst.allowed);
                }
            }
        }
        reading
    }

    /// The evidence of bets with the part of α that is this slice's, once there are enough scores; none for other methods.
    pub(super) fn evidence(&self, config: &AlertConfig) -> Option<f64> {
        match &self.watch {
            Watch::Bets(bets) if self.n >= config.min_n => Some(self.worth(bets)),
            _ => None,
        }
    }

    /// What the capital is worth among that of all slices: a steady one came in as a part of what all got.
    fn worth(&self, bets: &Betting) -> f64 {
        match bets.stakes() {
            Stakes::Steady => bets.evidence(),
            Stakes::Once => self.share * bets.evidence(),
        }
    }

    /// What was seen since there is evidence, for when the definition is gone: the share that fails and the bound of bets.
    pub(super) fn remembered(&self) -> Reading {
        let bound = match &self.watch {
            Watch::Bets(bets) => Some(bets.bound()),
            _ => None,
        };
        let estimate = self.recent.seen.estimate(LEVEL);
        Reading { statistic: 0.0, estimate, bound, n: self.n, since: self.recent.since, last: self.last }
    }

    /// Whether it exceeds by a window; false for bets, whose evidence is weighed against that of other slices.
    pub(super) fn exceeds(&self, config: &AlertConfig, shared: usize) -> bool {
        match &self.watch {
            Watch::Window(_) | Watch::Burn(_) => self.read(config, shared).statistic > 1.0,
            Watch::Learning(_) | Watch::Bets(_) => false,
        }
    }

    /// Whether a firing alert has nothing left to fire for.
    fn is_over(&self, config: &AlertConfig) -> bool {
        match &self.watch {
            Watch::Learning(_) => true,
            // The evidence is used up: the sum that stood at ln(1/α) has come down to 0.
            Watch::Bets(_) => self.point.as_ref().is_none_or(ChangePoint::is_quiet),
            // The share is no longer above what is allowed.
            Watch::Window(window) => {
                let found = window.total().estimate(LEVEL);
                found.is_none_or(|e| config.bound().is_some_and(|bound| e.estimate <= bound))
            }
            Watch::Burn(burn) => config.bound().is_none_or(|bound| !burn.still_burns(bound)),
        }
    }

    /// The phase that it is time for, if it is another one.
    pub(super) fn due(&self, config: &AlertConfig, exceeds: bool) -> Option<Phase> {
        let lasts = |wanted: Option<std::time::Duration>| {
            self.last.saturating_sub(self.since) >= wanted.map_or(0, nanos)
        };
        let next = match (self.phase, exceeds) {
            (Phase::Ok, true) if config.pending_for.is_some_and(|d| !d.is_zero()) => Phase::Pending,
            (Phase::Ok, true) => Phase::Firing,
            (Phase::Pending, true) if lasts(config.pending_for) => Phase::Firing,
            (Phase::Pending, false) => Phase::Ok,
            // Capital that was won stays: what counts is whether the cause has gone.
            (Phase::Firing, _) if self.is_over(config) && lasts(config.keep_firing) => Phase::Ok,
            (same, _) => same,
        };
        (next != self.phase).then_some(next)
    }

    /// Goes to `next`, at `now`: that is the latest score, unless it is the want of one.
    pub(super) fn enter(&mut self, next: Phase, now: i64, config: &AlertConfig) {
        let before = self.phase;
        (self.phase, self.since) = (next, now);
        if let (Phase::Firing, Some(point)) = (next, &mut self.point) {
            point.fill((1.0 / config.alpha).ln());
        }
        if before == Phase::Firing {
            self.recent = Recent { since: now, ..Recent::default() };
            if let Watch::Bets(bets) = &mut self.watch {
                bets.reset();
            }
        }
    }

    /// Forgets the baseline and learns it anew, `now`; only for alerts on a change. What fired or was pending is at an end.
    pub(super) fn rebase(&mut self, config: &AlertConfig, now: i64) {
        *self = Self::new(config, self.last, self.share, self.credit);
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(more: &str) -> AlertConfig {
        toml::from_str(&format!("name = \"a\"\nmetric = \"hallucination\"\n{more}")).unwrap()
    }

    fn push(slice: &mut Slice, config: &AlertConfig, second: i64, (failed, pi): (bool, f64)) {
        let seen = Seen { at: second * 1_000_000_000, failed, pi, example: None };
        slice.push(seen, config, (second as f64 / 3_600.0, 1.0));
    }

    /// One in a hundred fails; all of these are selected, and of the others one in 10,000, which counts as `max_weight` items only.
    /// Against the share by their true weights the bets won without a change.
    #[test]
    fn a_baseline_counts_no_greater_weight_than_the_bets_against_it() {
        let config = config("method = \"change\"\nbaseline_n = 2020");
        let mut slice = Slice::new(&config, 0, 1.0, 0.0);
        for second in 0..6_000 {
            let failed = second % 101 != 0;
            push(&mut slice, &config, second, (failed, if failed { 1.0 } else { 1e-4 }));
            let evidence = slice.evidence(&config).unwrap_or(0.0);
            assert!(evidence < 10.0, "{evidence} after {second} scores");
        }
        assert!(slice.evidence(&config).is_some(), "it bets");
    }

    /// Beside the one heavy score no other would use any evidence up. An earlier release wrote it down.
    #[test]
    fn what_fires_ends_also_after_a_score_of_more_than_the_greatest_weight() {
        let config = config("method = \"objective\"\nobjective = 0.9");
        for is_stored in [false, true] {
            let mut slice = Slice::new(&config, 0, 1.0, 0.0);
            push(&mut slice, &config, 0, (false, 1e-9));
            if is_stored {
                slice.point = Some(ChangePoint::knowing(0.1, 1e9));
            }
            slice.enter(Phase::Firing, slice.last, &config);
            assert_eq!(slice.due(&config, true), None);
            let ended = (1..2_000).find(|second| {
                push(&mut slice, &config, *second, (false, 0.01));
                slice.due(&config, false) == Some(Phase::Ok)
            });
            assert!(ended.is_some_and(|after| after > 100), "{is_stored}: {ended:?}");
        }
    }

    #[test]
    fn windows_count_weights_as_they_are() {
        let config = config("method = \"threshold\"\nobjective = 0.9");
        let mut slice = Slice::new(&config, 0, 1.0, 0.0);
        push(&mut slice, &config, 1, (true, 1.0));
        push(&mut slice, &config, 2, (false, 1e-4));
        for found in [slice.read(&config, 1).estimate, slice.remembered().estimate] {
            assert!(found.is_some_and(|e| (e.estimate - 1.0 / 10_001.0).abs() < 1e-9), "{found:?}");
        }
    }
}
