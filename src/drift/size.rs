//! How large the state of alerts can become: it is written whole, as one frame of the journal.

use super::burn;
use super::config::{AlertConfig, Method};
use super::delivery;
use super::slice_name;
use super::window::{BUCKET_BYTES, BUCKETS};
use crate::units::ByteSize;

/// Bytes of a slice without its name, examples and windows: twelve bets, sums, times.
const SLICE: usize = 1_500;
/// Bytes of three examples: each with 400 characters of a rationale, of two bytes on average, a trace id and a value.
const EXAMPLES: usize = 3 * 1_000;
/// Bytes of a message that waits for a receiver, or stands for one that was told.
const MESSAGE: usize = 2_000;
/// Bytes of what came of the last message to a receiver, without the slice's name: an error of 300 characters, times, names.
const OUTCOME: usize = 1_000;

/// The most bytes that the name of a slice is reckoned with: a character has two on average, and the name of a column some twenty.
fn name_of(alert: &AlertConfig) -> usize {
    alert.slices.len() * (2 * slice_name::MOST + 20)
}

/// The most bytes that the state of an alert is reckoned with, without what came of its messages.
fn most(alert: &AlertConfig) -> usize {
    let name = name_of(alert);
    let windows = match alert.method {
        Method::Threshold => BUCKETS.unsigned_abs() as usize * BUCKET_BYTES,
        Method::BurnRate => burn::COUNT * burn::BUCKETS.unsigned_abs() as usize * BUCKET_BYTES,
        Method::Objective | Method::Change => 0,
    };
    let slices = if alert.slices.is_empty() { 1 } else { alert.max_slices };
    slices.saturating_mul(SLICE + EXAMPLES + name + windows + alert.receivers.len() * MESSAGE)
}

/// The most bytes that what came of the messages of all alerts is reckoned with.
fn outcomes(alerts: &[AlertConfig]) -> usize {
    // Slices that left are among them.
    let told = |alert: &AlertConfig| {
        let slices = if alert.slices.is_empty() { 1 } else { delivery::MOST };
        slices.saturating_mul(alert.receivers.len())
    };
    let all = alerts.iter().map(told).fold(0_usize, usize::saturating_add).min(delivery::MOST);
    all * (OUTCOME + alerts.iter().map(name_of).max().unwrap_or_default())
}

/// Faults of alerts whose state may become larger than a frame of the journal, which holds `limit` (`journal.max_frame_size`).
pub fn state_faults(alerts: &[AlertConfig], limit: ByteSize) -> Vec<String> {
    let all = alerts.iter().map(most).fold(outcomes(alerts), usize::saturating_add);
    if all <= limit.in_memory() {
        return Vec::new();
    }
    let largest = alerts.iter().max_by_key(|alert| most(alert)).map_or("", |alert| alert.name.as_str());
    vec![format!(
        "alerts: their state may become {}, and journal.max_frame_size is {limit}: it is written as one frame. Lower max_slices, \
         first of alert {largest:?}, whose state is the largest",
        ByteSize::mib(all.div_ceil(1 << 20) as u64)
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(method: &str, slices: usize) -> AlertConfig {
        let text = format!(
            "name = \"a\"\nmetric = \"m\"\nobjective = 0.9\nmethod = \"{method}\"\nslices = [\"tenant\"]\nmax_slices = {slices}"
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn what_may_not_fit_into_a_frame_is_a_fault() {
        let limit = ByteSize::mib(192);
        assert_eq!(state_faults(&[alert("burn_rate", 200), alert("threshold", 10_000)], limit), [""; 0]);
        let [fault] = state_faults(&vec![alert("burn_rate", 10_000); 2], limit).try_into().unwrap();
        assert!(fault.contains("max_frame_size is 192MiB") && fault.contains("\"a\""), "{fault}");
        // Without slices there is one, whatever their most.
        let whole = AlertConfig { slices: Vec::new(), ..alert("burn_rate", 10_000) };
        assert_eq!(state_faults(&vec![whole; 100], limit), [""; 0]);
    }

    #[test]
    fn what_came_of_messages_has_one_limit_for_all_alerts() {
        let told = AlertConfig { receivers: vec!["r".to_owned()], ..alert("threshold", 200) };
        let one = outcomes(std::slice::from_ref(&told));
        assert!(one > delivery::MOST * OUTCOME, "{one}");
        assert_eq!(outcomes(&vec![told.clone(); 100]), one);
        let whole = AlertConfig { slices: Vec::new(), ..told };
        assert_eq!(outcomes(&vec![whole; 3]), 3 * OUTCOME);
        assert_eq!(outcomes(&[alert("threshold", 200)]), 0, "nobody is told");
    }
}
