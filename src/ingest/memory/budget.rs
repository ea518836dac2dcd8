//! How much memory all requests in flight may take together, and when those that find none should come back.

use super::super::config::Config;
use super::super::receipt::Refusal;
use super::drain::Drain;
use crate::domain::time::Clock;
use crate::journal::Journal;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// `ingest.max_in_flight_size`, shared by all requests. Cheap to clone.
#[derive(Clone)]
pub struct Budget {
    shared: Arc<Shared>,
}

struct Shared {
    journal: Journal,
    clock: Arc<dyn Clock>,
    in_flight: Arc<Semaphore>,
    permits: usize,
    /// What of that is held for decoded requests beyond the bytes that came.
    decoded: AtomicUsize,
    drain: Drain,
    least: Duration,
    most: Duration,
}

/// Permits count kibibytes: a semaphore holds fewer permits than a large limit has bytes.
const PERMIT_BYTES: usize = 1024;

impl Budget {
    /// The whole budget of `config`, of which nothing is held; what waits in `journal` is in front of new requests.
    pub fn new(journal: Journal, clock: Arc<dyn Clock>, config: &Config) -> Self {
        let permits = config.max_in_flight_size.in_memory() / PERMIT_BYTES;
        let shared = Shared {
            journal,
            clock,
            in_flight: Arc::new(Semaphore::new(permits)),
            permits,
            decoded: AtomicUsize::new(0),
            drain: Drain::default(),
            least: config.retry_after,
            most: config.retry_after_max,
        };
        Self { shared: Arc::new(shared) }
    }

    /// The most bytes that can be reserved at once.
    pub fn capacity(&self) -> usize {
        self.shared.permits * PERMIT_BYTES
    }

    /// Reserves room for a request of `bytes`; refuses at once when there is none.
    pub fn reserve(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let permits = u32::try_from(bytes.div_ceil(PERMIT_BYTES).max(1)).unwrap_or(u32::MAX);
        self.shared.in_flight.clone().try_acquire_many_owned(permits).map_err(|_| {
            metrics::counter!("groundline_requests_refused_total", "reason" => "in_flight_bytes")
                .increment(1);
            self.overloaded("too many bytes are being received (ingest.max_in_flight_size)")
        })
    }

    /// The refusal that asks the client to come back.
    pub fn overloaded(&self, reason: &str) -> Refusal {
        Refusal::Overloaded { reason: reason.to_owned(), retry_after: self.retry_after() }
    }

    /// When the requests that are in front of a new one will be done.
    fn retry_after(&self) -> Duration {
        let Shared { drain, clock, least, most, .. } = &*self.shared;
        drain.hint(self.in_front(), clock.now(), *least, *most)
    }

    /// The bytes that came and are not durable yet. What they decode to takes memory, and is not written.
    pub fn in_front(&self) -> u64 {
        let free = self.shared.in_flight.available_permits().saturating_mul(PERMIT_BYTES);
        let held = self.capacity().saturating_sub(free);
        let came = held.saturating_sub(self.shared.decoded.load(Ordering::Relaxed)) as u64;
        came.saturating_add(self.shared.journal.stats().queued_bytes)
    }

    /// A request in flight takes `bytes` more than came.
    pub(super) fn note_decoded(&self, bytes: usize) {
        self.shared.decoded.fetch_add(bytes, Ordering::Relaxed);
    }

    /// `bytes` of [`Budget::note_decoded`] are given back.
    pub(super) fn forget_decoded(&self, bytes: usize) {
        self.shared.decoded.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// `bytes` have become durable now.
    pub fn note_drained(&self, bytes: usize) {
        self.shared.drain.note(bytes, self.shared.clock.now());
    }
}
