//! Is the server alive, is it ready.

use super::disk::Disk;
use crate::domain::time::Clock;
use crate::journal::Journal;
use crate::lake::Lake;
use crate::net::Tls;
use crate::queue::{Lane, Queue};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What health and the gauges of other rooms are read from.
#[derive(Clone)]
pub struct Health {
    /// The journal.
    pub journal: Journal,
    /// The lake.
    pub lake: Arc<Lake>,
    /// The queue.
    pub queue: Arc<Queue>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Whether every room is open.
    pub ready: Arc<AtomicBool>,
    /// The disk of the data directory.
    pub disk: Disk,
    /// The certificates; none without TLS.
    pub tls: Option<Tls>,
}

/// Frames that may be durable and not yet visible before readiness is withdrawn.
const MAX_UNAPPLIED: u64 = 50_000;

impl Health {
    /// None if the server is ready, else why it is not.
    pub fn not_ready(&self) -> Option<String> {
        if !self.ready.load(Ordering::Acquire) {
            return Some("starting or stopping".to_owned());
        }
        if let Some(why) = self.journal.failure() {
            return Some(why.to_string());
        }
        let unapplied = self.unapplied();
        (unapplied > MAX_UNAPPLIED)
            .then(|| format!("{unapplied} journal frames are durable but not visible to SQL yet"))
    }

    /// What of the journal was found damaged, if anything. The server is ready all the same: it serves the rest.
    pub fn damage(&self) -> Option<String> {
        let journal = self.journal.stats();
        (journal.quarantined_segments + journal.quarantined_frames > 0).then(|| {
            format!(
                "damaged: {} journal frames cannot be read, in {} segments; check the disk, the log names the files",
                journal.quarantined_frames, journal.quarantined_segments
            )
        })
    }

    fn unapplied(&self) -> u64 {
        self.journal.durable().saturating_sub(self.lake.applied())
    }

    /// Sets the gauges that are read, not counted.
    pub fn set_gauges(&self) {
        let journal = self.journal.stats();
        metrics::gauge!("groundline_journal_bytes").set(journal.bytes_on_disk as f64);
        metrics::gauge!("groundline_journal_segments").set(journal.segments as f64);
        metrics::gauge!("groundline_journal_queued_bytes").set(journal.queued_bytes as f64);
        metrics::gauge!("groundline_journal_torn_bytes").set(journal.torn_bytes_cut as f64);
        let quarantined = journal.quarantined_segments + journal.quarantined_frames;
        metrics::gauge!("groundline_journal_quarantined").set(quarantined as f64);
        metrics::gauge!("groundline_journal_unapplied_frames").set(self.unapplied() as f64);
        for lane in Lane::ALL {
            let (queue, name) = (self.queue.lane_stats(lane, self.clock.now()), lane.as_str());
            metrics::gauge!("groundline_queue_items", "lane" => name).set(queue.items as f64);
            metrics::gauge!("groundline_queue_bytes", "lane" => name).set(queue.bytes as f64);
            let oldest = queue.oldest_nanos as f64 / 1e9;
            metrics::gauge!("groundline_queue_oldest_seconds", "lane" => name).set(oldest);
            let max_age = self.queue.config().lane(lane).max_age.as_secs_f64();
            metrics::gauge!("groundline_queue_max_age_seconds", "lane" => name).set(max_age);
        }
        self.disk.set_gauges();
        if let Some(end) = self.tls.as_ref().and_then(Tls::end) {
            metrics::gauge!("groundline_certificate_not_after_timestamp_seconds").set(end as f64);
        }
        if let Some(bytes) = resident_bytes() {
            metrics::gauge!("groundline_process_resident_bytes").set(bytes as f64);
        }
    }
}

/// Resident memory, from Linux's `/proc`; none elsewhere.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
