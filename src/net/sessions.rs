//! Browsers that have logged in: whose token stands behind a cookie, and for how long.
//!
//! A cookie is 256 random bits, and the server keeps their SHA-256 with the digest of the token: what is in memory opens
//! nothing. Sessions are gone when the server stops.

use super::tokens::{TokenDigest, digest_of, random_hex};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// A session ends when it was not used for so long.
const IDLE: Duration = Duration::from_hours(12);

/// A session ends after so long, however much it is used.
pub(super) const LONGEST: Duration = Duration::from_hours(7 * 24);

/// Most sessions at once; beyond it the one that was unused for longest ends.
const MAX_SESSIONS: usize = 10_000;

struct Session {
    token: TokenDigest,
    began: Instant,
    used: Instant,
}

impl Session {
    fn is_over(&self, now: Instant) -> bool {
        let since = |then: Instant| now.saturating_duration_since(then);
        since(self.used) >= IDLE || since(self.began) >= LONGEST
    }
}

/// Every session, by the SHA-256 of its cookie.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<[u8; 32], Session>>);

impl Sessions {
    /// Begins a session of the token and gives the cookie; none if the system gives no random numbers.
    pub(super) fn begin(&self, token: TokenDigest, now: Instant) -> Option<String> {
        let cookie = random_hex()?;
        let mut known = self.0.lock();
        if known.len() >= MAX_SESSIONS {
            known.retain(|_, session| !session.is_over(now));
        }
        if known.len() >= MAX_SESSIONS
            && let Some(idle) = known.iter().min_by_key(|(_, session)| session.used).map(|(id, _)| *id)
        {
            known.remove(&idle);
        }
        known.insert(digest_of(cookie.as_bytes()), Session { token, began: now, used: now });
        Some(cookie)
    }

    /// The digest of the token behind `cookie`, which counts as a use; none if there is no such session or it is over.
    pub(super) fn token_of(&self, cookie: &str, now: Instant) -> Option<TokenDigest> {
        let id = digest_of(cookie.as_bytes());
        let mut known = self.0.lock();
        let session = known.get_mut(&id)?;
        if session.is_over(now) {
            known.remove(&id);
            return None;
        }
        session.used = now;
        Some(session.token)
    }

    /// Ends the session of `cookie`, if there is one.
    pub(super) fn end(&self, cookie: &str) {
        self.0.lock().remove(&digest_of(cookie.as_bytes()));
    }

    /// Ends the sessions of tokens that are not `kept`.
    pub(super) fn keep(&self, kept: impl Fn(&TokenDigest) -> bool) {
        self.0.lock().retain(|_, session| kept(&session.token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lasts_while_it_is_used_and_seven_days_at_most() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let (used, idle) = (sessions.begin([1; 32], start).unwrap(), sessions.begin([2; 32], start).unwrap());
        assert!(used != idle && used.len() == 64);
        let hours = |hours| start + Duration::from_hours(hours);
        for passed in (11..168).step_by(11) {
            assert_eq!(sessions.token_of(&used, hours(passed)), Some([1; 32]), "after {passed} hours");
        }
        assert_eq!(sessions.token_of(&idle, hours(12)), None);
        assert_eq!(sessions.token_of(&used, hours(168)), None);
        assert!(sessions.0.lock().is_empty(), "what is over is forgotten");
    }

    #[test]
    fn a_session_ends_with_its_logout_or_its_token() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let [a, b, c] = [1, 2, 2].map(|token| sessions.begin([token; 32], now).unwrap());
        sessions.end(&a);
        sessions.end("nothing");
        assert_eq!(sessions.token_of(&a, now), None);
        assert_eq!(sessions.token_of(&b, now), Some([2; 32]));
        sessions.keep(|token| *token != [2; 32]);
        assert_eq!((sessions.token_of(&b, now), sessions.token_of(&c, now)), (None, None));
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let first = sessions.begin([0; 32], start).unwrap();
        let second = sessions.begin([0; 32], start).unwrap();
        let later = start + Duration::from_secs(1);
        assert!(sessions.token_of(&first, later).is_some());
        for _ in 0..MAX_SESSIONS - 1 {
            sessions.begin([0; 32], later).unwrap();
        }
        assert_eq!(sessions.0.lock().len(), MAX_SESSIONS);
        assert_eq!(sessions.token_of(&second, later), None, "the one that was unused for longest");
        assert!(sessions.token_of(&first, later).is_some());
    }
}
