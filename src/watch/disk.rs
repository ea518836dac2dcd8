//! How full the disk of the data directory is, and how long it lasts as it fills now.

use crate::domain::time::{Clock, SECOND, UnixNanos};
use chrono::{DateTime, SecondsFormat};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often it is looked at.
const EVERY: Duration = Duration::from_mins(1);
/// How long a look is remembered, nanoseconds. A merge writes before it deletes, so minutes say nothing.
const REMEMBERED: i64 = 6 * 3600 * SECOND;
/// The least time between the first and the last look by which is judged, nanoseconds.
const LEAST: i64 = 3600 * SECOND;
/// What lasts longer than this has no end worth telling, seconds.
const FAR: f64 = 10.0 * 365.25 * 86_400.0;

/// The disk of a folder. Cheap to clone; every clone remembers the same looks.
#[derive(Clone)]
pub struct Disk {
    folder: Arc<Path>,
    clock: Arc<dyn Clock>,
    looks: Arc<Mutex<Looks>>,
}

impl Disk {
    /// The disk on which `folder` is.
    pub fn new(folder: &Path, clock: Arc<dyn Clock>) -> Self {
        Self { folder: folder.into(), clock, looks: Arc::default() }
    }

    /// Looks at it once a minute, until `stop`.
    pub async fn watch(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Some(room) = room(&self.folder) {
                self.looks.lock().add(self.clock.now(), room.free);
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Sets the gauges to what is free now.
    pub(super) fn set_gauges(&self) {
        if let Some(room) = room(&self.folder) {
            metrics::gauge!("groundline_disk_free_bytes").set(room.free as f64);
            metrics::gauge!("groundline_disk_total_bytes").set(room.total as f64);
        }
    }

    /// What is free now, how fast it fills, and when it is full at that rate; null where the system does not say.
    pub(super) fn told(&self) -> Value {
        let Some(room) = room(&self.folder) else { return Value::Null };
        let looks = self.looks.lock();
        let growth = looks.growth();
        let full = growth.and_then(|growth| full(self.clock.now(), room.free, growth));
        let full =
            full.map(|at| DateTime::from_timestamp_nanos(at.0).to_rfc3339_opts(SecondsFormat::Secs, true));
        json!({
            "free_bytes": room.free, "total_bytes": room.total,
            "observed_seconds": looks.span() / SECOND, "growth_per_day_bytes": growth.map(|each| (each * 86_400.0) as i64),
            "full_at": full,
        })
    }
}

/// What was free at some moments, the oldest first.
#[derive(Default)]
struct Looks(VecDeque<(UnixNanos, u64)>);

impl Looks {
    /// Remembers a look, and forgets those that are too old, or later than this one because the clock was set back.
    fn add(&mut self, now: UnixNanos, free: u64) {
        self.0.retain(|(at, _)| (0..=REMEMBERED).contains(&now.since(*at)));
        self.0.push_back((now, free));
    }

    /// Nanoseconds between the first and the last.
    fn span(&self) -> i64 {
        self.0.front().zip(self.0.back()).map_or(0, |(first, last)| last.0.since(first.0))
    }

    /// Bytes a second by which the disk fills, by least squares; negative where it empties. None before there was enough
    /// time to judge by.
    fn growth(&self) -> Option<f64> {
        if self.span() < LEAST {
            return None;
        }
        let (begin, first) = *self.0.front()?;
        // From the first look on, so that the numbers are small.
        let point = |(at, free): &(UnixNanos, u64)| {
            (at.since(begin) as f64 / SECOND as f64, *free as f64 - first as f64)
        };
        let points: Vec<(f64, f64)> = self.0.iter().map(point).collect();
        let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / points.len() as f64;
        let (time, free) = (mean(|point| point.0), mean(|point| point.1));
        let both: f64 = points.iter().map(|(at, here)| (at - time) * (here - free)).sum();
        let square: f64 = points.iter().map(|(at, _)| (at - time) * (at - time)).sum();
        Some(-both / square)
    }
}

/// When `free` bytes are used up at `growth` bytes a second; none where that is far away, or never.
fn full(now: UnixNanos, free: u64, growth: f64) -> Option<UnixNanos> {
    let seconds = free as f64 / growth;
    (growth > 0.0 && seconds < FAR).then(|| UnixNanos(now.0.saturating_add((seconds * 1e9) as i64)))
}

/// Bytes that may be written, and all.
struct Room {
    free: u64,
    total: u64,
}

/// Room on the disk of `folder`; none where the system does not say.
fn room(folder: &Path) -> Option<Room> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    let mut told = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends with a zero byte, and `told` has room for what the call writes.
    let answer = unsafe { libc::statvfs(path.as_ptr(), told.as_mut_ptr()) };
    if answer != 0 {
        return None;
    }
    // SAFETY: the call has succeeded, so it has written all of it.
    let told = unsafe { told.assume_init() };
    Some(Room { free: told.f_bavail * told.f_frsize, total: told.f_blocks * told.f_frsize })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60 * SECOND;

    /// Looks once a minute, from minute 0 to `last`.
    fn looked(last: i64, free: impl Fn(i64) -> u64) -> Looks {
        let mut looks = Looks::default();
        (0..=last).for_each(|minute| looks.add(UnixNanos(minute * MINUTE), free(minute)));
        looks
    }

    #[test]
    fn a_disk_that_fills_evenly_ends_when_its_rest_is_used() {
        let looks = looked(120, |minute| 1_000_000_000 - 60_000 * minute as u64);
        let growth = looks.growth().unwrap();
        assert!((growth - 1_000.0).abs() < 1e-6, "{growth}");
        let (now, rest) = (UnixNanos(120 * MINUTE), 1_000_000_000 - 60_000 * 120);
        let end = full(now, rest, growth).unwrap();
        assert!((end.since(now) / SECOND - 992_800).abs() <= 1, "{end:?}");
    }

    #[test]
    fn what_a_merge_writes_and_deletes_hides_no_trend() {
        // Every half hour 100 MB more for five minutes.
        let merge = |minute: i64| if minute % 30 < 5 { 100_000_000 } else { 0 };
        assert_eq!(looked(360, |_| 1 << 40).growth(), Some(0.0));
        let looks = looked(360, |minute| 10_000_000_000 - merge(minute) - 600_000 * minute as u64);
        let growth = looks.growth().unwrap();
        assert!((9_000.0..11_000.0).contains(&growth), "{growth}");
    }

    #[test]
    fn nothing_is_told_too_early_of_a_disk_that_empties_or_lasts_for_years() {
        assert_eq!(looked(59, |minute| 1_000_000 - minute as u64).growth(), None);
        assert!(looked(60, |minute| 1_000_000 - minute as u64).growth().is_some());
        assert_eq!(Looks::default().growth(), None);
        let emptier = looked(90, |minute| 1_000_000 + minute as u64).growth().unwrap();
        assert!(emptier < 0.0);
        for growth in [emptier, 0.0, 1e-6, f64::NAN] {
            assert_eq!(full(UnixNanos(0), 1 << 40, growth), None, "{growth}");
        }
    }

    #[test]
    fn old_looks_are_forgotten_and_so_are_those_of_a_clock_that_was_set_back() {
        let mut looks = looked(24 * 60, |_| 5);
        assert_eq!((looks.0.len(), looks.span()), (361, REMEMBERED));
        looks.add(UnixNanos(0), 5);
        assert_eq!((looks.0.len(), looks.span()), (1, 0));
    }

    #[test]
    fn the_disk_of_a_folder_has_room_and_a_missing_folder_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let told = room(folder.path()).unwrap();
        assert!(told.free <= told.total && told.total > 0);
        assert!(room(&folder.path().join("nothing")).is_none());
    }
}
