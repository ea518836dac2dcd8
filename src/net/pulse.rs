//! What a connection does, and when that is too little.
//!
//! HTTP/1 and HTTP/2 are watched in the same way, from outside: bytes that come and go, and requests that begin and end.

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// How HTTP/2 begins.
const HTTP2: &[u8] = b"PRI";

/// Fewer bytes are no part of an answer that a client took: pings and settings are written as well.
const LEAST_TAKEN: u64 = 1 << 10;

/// What is known of a connection. Times are milliseconds since it began, plus one; 0 is never.
pub struct Pulse {
    began: Instant,
    requests: AtomicUsize,
    /// When the last request ended.
    quiet_since: AtomicU64,
    /// When a byte came that no request was there for: the head of the next one has begun.
    head_since: AtomicU64,
    /// Since when the client takes nothing of what is written.
    stuck_since: AtomicU64,
    /// Answers of which a piece waits until the client has room for it.
    offered: AtomicUsize,
    /// Bytes that were written.
    written: AtomicU64,
    /// Since when answers wait and the client takes nothing of them, and what was written until then.
    untaken_since: AtomicU64,
    taken: AtomicU64,
    spoke: AtomicBool,
    is_http2: AtomicBool,
    /// Tests do not wait: they set the time forward, milliseconds.
    #[cfg(test)]
    ahead: AtomicU64,
}

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The head of a request, and the first byte of a connection.
    pub header: Duration,
    /// Between two requests.
    pub idle: Duration,
    /// Until the client takes something of an answer.
    pub write: Duration,
}

/// What to do with a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Look again then.
    Fine(Duration),
    /// Nothing is asked: it may be closed politely.
    Idle,
    /// The client does too little; the word says what.
    Slow(&'static str),
}

impl Pulse {
    /// A connection that begins now.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            requests: AtomicUsize::new(0),
            quiet_since: AtomicU64::new(1),
            head_since: AtomicU64::new(0),
            stuck_since: AtomicU64::new(0),
            offered: AtomicUsize::new(0),
            written: AtomicU64::new(0),
            untaken_since: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            spoke: AtomicBool::new(false),
            is_http2: AtomicBool::new(false),
            #[cfg(test)]
            ahead: AtomicU64::new(0),
        })
    }

    fn now(&self) -> u64 {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        #[cfg(test)]
        let now = now.saturating_add(self.ahead.load(Ordering::Relaxed));
        now
    }

    fn came(&self) {
        self.spoke.store(true, Ordering::Relaxed);
        if self.requests.load(Ordering::Relaxed) == 0 && self.head_since.load(Ordering::Relaxed) == 0 {
            self.head_since.store(self.now(), Ordering::Relaxed);
        }
    }

    fn went(&self, done: bool) {
        let since = self.stuck_since.load(Ordering::Relaxed);
        match (done, since) {
            (true, 1..) => self.stuck_since.store(0, Ordering::Relaxed),
            (false, 0) => self.stuck_since.store(self.now(), Ordering::Relaxed),
            _ => {}
        }
    }

    fn wrote(&self, outcome: &Poll<io::Result<usize>>) {
        self.went(outcome.is_ready());
        if let Poll::Ready(Ok(bytes)) = outcome {
            self.written.fetch_add(u64::try_from(*bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// A piece of an answer waits until there is room for it.
    fn offer(&self) {
        if self.offered.load(Ordering::Relaxed) == 0 {
            self.note_taken();
        }
        self.offered.fetch_add(1, Ordering::Relaxed);
    }

    fn note_taken(&self) {
        self.taken.store(self.written.load(Ordering::Relaxed), Ordering::Relaxed);
        self.untaken_since.store(self.now(), Ordering::Relaxed);
    }

    /// Whether nothing of the answers that wait was taken for `most`. On HTTP/2 a client that reads nothing leaves no room in
    /// its windows, and writing to it never gets stuck.
    fn is_untaken(&self, most: Duration) -> bool {
        if !self.is_http2.load(Ordering::Relaxed) || self.offered.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let taken = self.taken.load(Ordering::Relaxed);
        if self.written.load(Ordering::Relaxed).saturating_sub(taken) >= LEAST_TAKEN {
            self.note_taken();
        }
        let since = self.untaken_since.load(Ordering::Relaxed);
        Duration::from_millis(self.now().saturating_sub(since)) >= most
    }

    /// What to do with the connection now.
    pub fn verdict(&self, patience: &Patience) -> Verdict {
        let now = self.now();
        // What is left of `most` since `since`.
        let left = |since: u64, most: Duration| {
            most.checked_sub(Duration::from_millis(now.saturating_sub(since))).filter(|d| !d.is_zero())
        };
        let stuck = self.stuck_since.load(Ordering::Relaxed);
        if stuck > 0 && left(stuck, patience.write).is_none() || self.is_untaken(patience.write) {
            return Verdict::Slow("write");
        }
        // Things may begin at any moment, so nothing is left unwatched for longer than the shortest patience.
        let soon = patience.header.min(patience.write);
        if self.requests.load(Ordering::Relaxed) > 0 {
            return Verdict::Fine(soon);
        }
        let head = match self.head_since.load(Ordering::Relaxed) {
            0 if !self.spoke.load(Ordering::Relaxed) => Some(1),
            0 => None,
            since => Some(since),
        };
        // On HTTP/2 bytes between requests are pings and settings; its heads are bounded in size.
        if let Some(since) = head.filter(|_| !self.is_http2.load(Ordering::Relaxed)) {
            return left(since, patience.header)
                .map_or(Verdict::Slow("header"), |d| Verdict::Fine(d.min(soon)));
        }
        let quiet = self.quiet_since.load(Ordering::Relaxed);
        left(quiet, patience.idle).map_or(Verdict::Idle, |d| Verdict::Fine(d.min(soon)))
    }
}

/// A request that is being answered.
pub struct Asked(Arc<Pulse>);

impl Asked {
    /// Begins now, and ends when this is dropped.
    pub fn begin(pulse: &Arc<Pulse>) -> Self {
        pulse.requests.fetch_add(1, Ordering::Relaxed);
        pulse.head_since.store(0, Ordering::Relaxed);
        Self(pulse.clone())
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.quiet_since.store(self.0.now(), Ordering::Relaxed);
        self.0.head_since.store(0, Ordering::Relaxed);
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of an answer; the request ends with it.
pub struct Answer {
    body: Body,
    asked: Asked,
    /// Whether its last piece may still wait.
    is_offered: bool,
}

impl Answer {
    /// `body`, which answers the request.
    pub fn new(body: Body, asked: Asked) -> Self {
        Self { body, asked, is_offered: false }
    }

    /// Its last piece went on its way: who sends it asks for the next one.
    fn went_on(&mut self) {
        if std::mem::take(&mut self.is_offered) {
            self.asked.0.offered.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.went_on();
    }
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.went_on();
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(polled, Poll::Ready(Some(Ok(_)))) {
            self.is_offered = true;
            self.asked.0.offer();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream whose bytes are noted.
pub struct Noted<S> {
    stream: S,
    pulse: Arc<Pulse>,
    /// The first bytes, until they tell the protocol.
    first: Option<Vec<u8>>,
}

impl<S> Noted<S> {
    /// Notes in `pulse` what comes and goes on `stream`.
    pub fn new(stream: S, pulse: Arc<Pulse>) -> Self {
        Self { stream, pulse, first: Some(Vec::with_capacity(HTTP2.len())) }
    }

    fn note(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(first) = &mut self.first {
            first.extend(bytes.iter().take(HTTP2.len() - first.len()));
            if first.len() == HTTP2.len() {
                self.pulse.is_http2.store(first == HTTP2, Ordering::Relaxed);
                self.first = None;
            }
        }
        self.pulse.came();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Noted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, into);
        if matches!(read, Poll::Ready(Ok(()))) {
            self.note(&into.filled()[before..]);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Noted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, from);
        self.pulse.wrote(&wrote);
        wrote
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, from);
        self.pulse.wrote(&wrote);
        wrote
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Fine, Idle, Slow};

    const PATIENCE: Patience = Patience {
        header: Duration::from_secs(10),
        idle: Duration::from_secs(300),
        write: Duration::from_secs(30),
    };

    fn pass(pulse: &Pulse, seconds: u64) {
        pulse.ahead.fetch_add(seconds * 1_000, Ordering::Relaxed);
    }

    #[test]
    fn a_head_that_does_not_end_is_too_slow() {
        for bytes in [&b""[..], b"P", b"POST /v1/tra"] {
            let pulse = Pulse::new();
            let mut noted = Noted::new(tokio::io::empty(), pulse.clone());
            noted.note(bytes);
            pass(&pulse, 8);
            // More bytes of the same head change nothing.
            noted.note(bytes);
            assert!(matches!(pulse.verdict(&PATIENCE), Fine(_)));
            pass(&pulse, 2);
            assert_eq!(pulse.verdict(&PATIENCE), Slow("header"));
        }
    }

    #[test]
    fn between_requests_a_connection_may_be_idle() {
        for start in [&b"POST / HTTP/1.1"[..], b"PRI * HTTP/2.0"] {
            let pulse = Pulse::new();
            let mut noted = Noted::new(tokio::io::empty(), pulse.clone());
            noted.note(start);
            let asked = Asked::begin(&pulse);
            pass(&pulse, 1_000);
            assert!(matches!(pulse.verdict(&PATIENCE), Fine(_)), "a request may take long");
            drop(asked);
            pass(&pulse, 298);
            assert!(matches!(pulse.verdict(&PATIENCE), Fine(_)));
            pass(&pulse, 2);
            assert_eq!(pulse.verdict(&PATIENCE), Idle);
        }
        // The pings of an idle HTTP/2 connection are no head, and no request either.
        let pulse = Pulse::new();
        let mut noted = Noted::new(tokio::io::empty(), pulse.clone());
        for _ in 0..30 {
            noted.note(HTTP2);
            assert!(matches!(pulse.verdict(&PATIENCE), Fine(_)));
            pass(&pulse, 10);
        }
        assert_eq!(pulse.verdict(&PATIENCE), Idle);
    }

    #[test]
    fn a_client_that_reads_nothing_is_too_slow() {
        let pulse = Pulse::new();
        let _asked = Asked::begin(&pulse);
        pulse.went(false);
        pass(&pulse, 28);
        pulse.went(false);
        assert!(matches!(pulse.verdict(&PATIENCE), Fine(_)));
        pass(&pulse, 2);
        assert_eq!(pulse.verdict(&PATIENCE), Slow("write"));
        pulse.went(true);
        assert!(matches!(pulse.verdict(&PATIENCE), Fine(_)));
    }

    #[test]
    fn a_client_of_http2_that_leaves_no_room_is_too_slow() {
        for (start, ends) in [(HTTP2, true), (&b"GET"[..], false)] {
            let pulse = Pulse::new();
            Noted::new(tokio::io::empty(), pulse.clone()).note(start);
            let mut answer = Answer::new(Body::from("found"), Asked::begin(&pulse));
            let mut poll = || {
                let mut cx = Context::from_waker(std::task::Waker::noop());
                hyper::body::Body::poll_frame(Pin::new(&mut answer), &mut cx)
            };
            assert!(matches!(poll(), Poll::Ready(Some(Ok(_)))));
            pass(&pulse, 28);
            assert!(matches!(pulse.verdict(&PATIENCE), Fine(_)));
            // Some of it is taken: the time runs anew.
            pulse.wrote(&Poll::Ready(Ok(2_000)));
            assert!(matches!(pulse.verdict(&PATIENCE), Fine(_)));
            pass(&pulse, 28);
            // A ping is no part of it.
            pulse.wrote(&Poll::Ready(Ok(17)));
            assert!(matches!(pulse.verdict(&PATIENCE), Fine(_)));
            pass(&pulse, 2);
            let verdict = pulse.verdict(&PATIENCE);
            // On HTTP/1 writing to such a client gets stuck, which is watched by itself.
            assert!(if ends { verdict == Slow("write") } else { matches!(verdict, Fine(_)) }, "{verdict:?}");
            // All of it is on its way.
            assert!(matches!(poll(), Poll::Ready(None)));
            assert!(matches!(pulse.verdict(&PATIENCE), Fine(_)));
        }
    }
}
