//! How much of the processor a thread has had, those that worked for it included: what an evaluator costs, whatever runs beside it.

use std::cell::Cell;
use std::time::Duration;

thread_local! {
    /// What others have worked for this thread.
    static HELPED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// CPU time of this thread since it began, and of what others did for it; none where the system does not tell.
pub fn spent() -> Option<Duration> {
    Some(own()? + HELPED.get())
}

/// CPU time of this thread alone; none where the system does not tell.
pub(super) fn own() -> Option<Duration> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a place for what the call writes, and it lives until the call returns.
        let answer = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
        (answer == 0).then(|| Duration::new(seconds, nanos))
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    None
}

/// Counts what another thread has worked for this one.
pub(super) fn helped(worked: Duration) {
    HELPED.set(HELPED.get() + worked);
}

/// From `before` to `after`; nothing where one of them is not known.
pub(super) fn between(before: Option<Duration>, after: Option<Duration>) -> Duration {
    before.zip(after).map_or(Duration::ZERO, |(before, after)| after.saturating_sub(before))
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod tests {
    use super::*;

    /// Works until this thread has had so much of the processor.
    fn work(least: Duration) {
        let begun = own().unwrap();
        while own().unwrap() - begun < least {}
    }

    #[test]
    fn work_counts_whoever_does_it_and_waiting_does_not() {
        let before = spent();
        std::thread::sleep(Duration::from_millis(200));
        let waited = between(before, spent());
        assert!(waited < Duration::from_millis(100), "{waited:?}");
        let other = std::thread::spawn(|| {
            work(Duration::from_millis(20));
            spent().unwrap()
        });
        let helper = other.join().unwrap();
        let before = spent();
        helped(helper);
        work(Duration::from_millis(5));
        let both = between(before, spent());
        assert!(both >= helper + Duration::from_millis(5), "{both:?} {helper:?}");
        // What was done for one thread is not told by another.
        let alone = std::thread::spawn(|| spent().unwrap()).join().unwrap();
        assert!(alone < helper, "{alone:?}");
    }
}
