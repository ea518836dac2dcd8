//! Whether a judge may be asked now, or is away.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// So many faults in a row, and the judge counts as away.
const FAULTS: u32 = 5;
/// The wait before the first probe; it doubles with each probe that fails.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// The longest wait between two probes.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Whether a request may go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// It may; the one of a probe too.
    Open,
    /// Not before this.
    Shut(Instant),
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// It answers; so many faults in a row.
    There(u32),
    /// It is away. The next request after `until` is a probe; the wait that led to it; whether a probe is under way.
    Away { until: Instant, wait: Duration, is_probed: bool },
}

/// A circuit breaker: after some faults in a row one request at a time probes whether the judge is back.
#[derive(Debug)]
pub(super) struct Breaker {
    state: Mutex<State>,
    /// The server asked to be left alone until then.
    paused: Mutex<Option<Instant>>,
}

impl Breaker {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State::There(0)), paused: Mutex::new(None) }
    }

    /// Whether a request may go out at `now`. One that goes out while the judge is away is a probe, and takes up to `lasts`:
    /// until then no other one goes out.
    pub(super) fn gate(&self, now: Instant, lasts: Duration) -> Gate {
        if let Some(until) = self.paused.lock().filter(|until| *until > now) {
            return Gate::Shut(until);
        }
        match &mut *self.state.lock() {
            State::There(_) => Gate::Open,
            State::Away { until, .. } if *until > now => Gate::Shut(*until),
            // A probe that never comes to its end must not shut it for ever.
            State::Away { until, is_probed, .. } => {
                (*until, *is_probed) = (now + lasts, true);
                Gate::Open
            }
        }
    }

    /// Until when no request may go out at `now`, if so. A probe that is under way shuts it too.
    pub(super) fn shut(&self, now: Instant) -> Option<Instant> {
        let paused = self.paused.lock().filter(|until| *until > now);
        paused.or(match *self.state.lock() {
            State::Away { until, .. } if until > now => Some(until),
            State::Away { .. } | State::There(_) => None,
        })
    }

    /// The judge answered. True if it was away.
    pub(super) fn answered(&self) -> bool {
        let before = std::mem::replace(&mut *self.state.lock(), State::There(0));
        matches!(before, State::Away { .. })
    }

    /// The judge did not answer, or with a fault of its own. True if it counts as away from now on.
    pub(super) fn failed(&self, now: Instant) -> bool {
        let mut state = self.state.lock();
        match *state {
            State::There(faults) if faults + 1 < FAULTS => *state = State::There(faults + 1),
            State::There(_) => {
                *state = State::Away { until: now + FIRST_WAIT, wait: FIRST_WAIT, is_probed: false };
                return true;
            }
            State::Away { wait, is_probed: true, .. } => {
                let wait = wait.saturating_mul(2).min(LONGEST_WAIT);
                *state = State::Away { until: now + wait, wait, is_probed: false };
            }
            // One that went out before it counted as away: many end together, and say the same.
            State::Away { .. } => {}
        }
        false
    }

    /// The server asks that nothing comes before `until`. If a probe was told so, the next one goes out then.
    pub(super) fn pause(&self, until: Instant) {
        let mut paused = self.paused.lock();
        *paused = Some(paused.map_or(until, |before| before.max(until)));
        drop(paused);
        if let State::Away { until: next, is_probed, .. } = &mut *self.state.lock()
            && *is_probed
        {
            (*next, *is_probed) = (until, false);
        }
    }

    /// Whether it counts as away.
    pub(super) fn is_away(&self) -> bool {
        matches!(*self.state.lock(), State::Away { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LASTS: Duration = Duration::from_secs(10);

    #[test]
    fn one_request_probes_whether_it_is_back() {
        let (breaker, start) = (Breaker::new(), Instant::now());
        for fault in 1..FAULTS {
            assert!(!breaker.failed(start), "{fault}");
        }
        assert_eq!(breaker.gate(start, LASTS), Gate::Open);
        assert!(breaker.failed(start));
        assert_eq!(breaker.gate(start, LASTS), Gate::Shut(start + FIRST_WAIT));
        let later = start + FIRST_WAIT;
        // Who only looks is no probe.
        assert_eq!((breaker.shut(start), breaker.shut(later)), (Some(later), None));
        assert_eq!(breaker.gate(later, LASTS), Gate::Open);
        assert_eq!(breaker.shut(later), Some(later + LASTS));
        assert_eq!(breaker.gate(later, LASTS), Gate::Shut(later + LASTS));
        breaker.failed(later);
        assert_eq!(breaker.gate(later, LASTS), Gate::Shut(later + FIRST_WAIT * 2));
        assert!(breaker.is_away() && breaker.answered());
        assert_eq!(breaker.gate(later, LASTS), Gate::Open);
    }

    #[test]
    fn what_was_under_way_before_makes_no_wait_longer() {
        let (breaker, start) = (Breaker::new(), Instant::now());
        // A hundred went out together, and none came back.
        for _ in 0..100 {
            breaker.failed(start);
        }
        assert_eq!(breaker.shut(start), Some(start + FIRST_WAIT));
    }

    #[test]
    fn a_probe_that_is_asked_for_time_is_followed_by_the_next_one_then() {
        let (breaker, start) = (Breaker::new(), Instant::now());
        for _ in 0..FAULTS {
            breaker.failed(start);
        }
        let later = start + FIRST_WAIT;
        assert_eq!(breaker.gate(later, LASTS), Gate::Open);
        let then = later + Duration::from_secs(1);
        breaker.pause(then);
        assert_eq!((breaker.shut(later), breaker.shut(then)), (Some(then), None));
        assert!(breaker.is_away());
        assert_eq!(
            (breaker.gate(then, LASTS), breaker.gate(then, LASTS)),
            (Gate::Open, Gate::Shut(then + LASTS))
        );
    }

    #[test]
    fn faults_between_answers_do_not_add_up() {
        let breaker = Breaker::new();
        for _ in 0..3 * FAULTS {
            assert!(!breaker.failed(Instant::now()));
            breaker.answered();
        }
    }

    #[test]
    fn a_pause_is_kept() {
        let (breaker, now) = (Breaker::new(), Instant::now());
        breaker.pause(now + LASTS);
        breaker.pause(now + FIRST_WAIT);
        assert_eq!(breaker.gate(now, LASTS), Gate::Shut(now + LASTS));
        assert_eq!(breaker.gate(now + LASTS, LASTS), Gate::Open);
        assert!(!breaker.is_away());
    }
}
