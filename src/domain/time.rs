//! Nanoseconds since 1970-01-01 UTC, and the clock that tells them.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Nanoseconds in a second.
pub const SECOND: i64 = 1_000_000_000;

/// A moment in nanoseconds since 1970-01-01 UTC. The type reaches to the year 2262.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UnixNanos(pub i64);

impl UnixNanos {
    /// Microseconds, rounded down: the resolution that table formats share.
    pub fn micros(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// Milliseconds, rounded down.
    pub fn millis(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// How many nanoseconds have passed since `earlier`; negative if it is later.
    pub fn since(self, earlier: UnixNanos) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Where the time comes from. A trait because tests need to stop it.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> UnixNanos;

    /// The time now on a clock that nobody sets: for waits.
    fn instant(&self) -> Instant {
        Instant::now()
    }
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UnixNanos {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UnixNanos(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
    }
}

/// What a clock that is moved by hand counts its waits from.
static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A clock that moves only when told to.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at `now`.
    pub fn at(now: UnixNanos) -> Self {
        Self(AtomicI64::new(now.0))
    }

    /// Moves the clock forward by `nanos`.
    pub fn advance(&self, nanos: i64) {
        self.0.fetch_add(nanos, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> UnixNanos {
        UnixNanos(self.0.load(Ordering::SeqCst))
    }

    fn instant(&self) -> Instant {
        *FIRST + Duration::from_nanos(u64::try_from(self.now().0).unwrap_or_default())
    }
}
