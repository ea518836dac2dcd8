//! Alerts as metrics.

use super::slice::Phase;
use super::state::Standing;
use std::collections::BTreeSet;

/// Slices beyond this number have no gauges: Prometheus keeps a series for each.
const MOST: usize = 2_000;

/// The gauges of every slice.
#[derive(Default)]
pub(super) struct Gauges {
    /// Alert and slice of what has gauges.
    shown: BTreeSet<(String, String)>,
}

impl Gauges {
    /// Sets the gauges of every slice; one that is watched no longer does not fire.
    pub(super) fn show(&mut self, standings: &[Standing]) {
        let mut shown = BTreeSet::new();
        for standing in standings.iter().take(MOST) {
            let slice = (standing.alert.clone(), standing.slice.clone());
            let firing = if standing.state == Phase::Firing { 1.0 } else { 0.0 };
            let share = standing.reading.estimate.map_or(f64::NAN, |e| e.estimate);
            let last = standing.reading.last as f64 / 1e9;
            set(&slice, [firing, standing.reading.statistic, share, last]);
            shown.insert(slice);
        }
        for gone in self.shown.difference(&shown) {
            set(gone, [0.0, f64::NAN, f64::NAN, f64::NAN]);
        }
        self.shown = shown;
    }
}

fn set((alert, slice): &(String, String), [firing, statistic, share, last]: [f64; 4]) {
    let labels = [("alert", alert.clone()), ("slice", slice.clone())];
    metrics::gauge!("groundline_alert_firing", &labels).set(firing);
    metrics::gauge!("groundline_alert_statistic", &labels).set(statistic);
    metrics::gauge!("groundline_alert_failing_share", &labels).set(share);
    metrics::gauge!("groundline_alert_last_score_timestamp_seconds", &labels).set(last);
}
