//! Whether a plug-in may be asked now, or is away.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// The wait before the first probe; it doubles with each that fails.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait between two probes.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Default)]
struct State {
    /// Why it is away, and the wait before the next probe.
    away: Option<(String, Duration)>,
    /// Nobody is asked before this.
    shut_until: Option<Instant>,
}

/// A plug-in is there while it describes itself; its description is the probe.
#[derive(Debug, Default)]
pub(super) struct Presence {
    state: Mutex<State>,
}

impl Presence {
    /// Why nobody is asked at `now`, if so.
    pub(super) fn shut(&self, now: Instant) -> Option<String> {
        let state = self.state.lock();
        let is_shut = state.shut_until.is_some_and(|until| until > now);
        let why = || state.away.as_ref().map_or("it asked to be left alone for a while", |(why, _)| why);
        is_shut.then(|| why().to_owned())
    }

    /// Whether it must describe itself before it is asked again.
    pub(super) fn is_away(&self) -> bool {
        self.state.lock().away.is_some()
    }

    /// It has described itself. True if it was away.
    pub(super) fn there(&self) -> bool {
        std::mem::take(&mut *self.state.lock()).away.is_some()
    }

    /// It does not describe itself. True if it was there before.
    pub(super) fn gone(&self, why: &str, now: Instant) -> bool {
        let mut state = self.state.lock();
        let before = state.away.as_ref().map(|(_, wait)| *wait);
        let wait = before.map_or(FIRST_WAIT, |wait| wait.saturating_mul(2).min(LONGEST_WAIT));
        *state = State { away: Some((why.to_owned(), wait)), shut_until: Some(now + wait) };
        before.is_none()
    }

    /// It asks that nothing comes before `until`.
    pub(super) fn pause(&self, until: Instant) {
        let mut state = self.state.lock();
        state.shut_until = Some(state.shut_until.map_or(until, |before| before.max(until)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_become_rarer_until_it_is_back() {
        let (presence, start) = (Presence::default(), Instant::now());
        assert!(presence.shut(start).is_none() && !presence.is_away());
        assert!(presence.gone("refused", start) && !presence.gone("again", start));
        assert_eq!(presence.shut(start + FIRST_WAIT).as_deref(), Some("again"));
        assert!(presence.shut(start + 2 * FIRST_WAIT).is_none() && presence.is_away());
        for _ in 0..9 {
            presence.gone("again", start);
        }
        assert!(presence.shut(start + LONGEST_WAIT).is_none());
        assert!(presence.there() && !presence.there() && presence.shut(start).is_none());
    }

    #[test]
    fn a_pause_is_kept_and_is_no_absence() {
        let (presence, now) = (Presence::default(), Instant::now());
        presence.pause(now + LONGEST_WAIT);
        presence.pause(now + FIRST_WAIT);
        assert!(presence.shut(now + FIRST_WAIT).is_some() && !presence.is_away());
        assert!(presence.shut(now + LONGEST_WAIT).is_none());
    }
}
