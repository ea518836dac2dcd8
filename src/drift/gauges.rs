//! Alerts as metrics.

use super::slice::Phase;
use super::state::Standing;

/// Slices beyond this number have no gauges: Prometheus keeps a series for each.
const MOST: usize = 2_000;

/// Sets the gauges of every slice.
pub(super) fn show(standings: &[Standing]) {
    for standing in standings.iter().take(MOST) {
        let labels = [("alert", standing.alert.clone()), ("slice", standing.slice.clone())];
        let firing = if standing.state == Phase::Firing { 1.0 } else { 0.0 };
        metrics::gauge!("groundline_alert_firing", &labels).set(firing);
        metrics::gauge!("groundline_alert_statistic", &labels).set(standing.reading.statistic);
        let share = standing.reading.estimate.map_or(f64::NAN, |e| e.estimate);
        metrics::gauge!("groundline_alert_failing_share", &labels).set(share);
    }
}
