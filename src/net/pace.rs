//! Bodies that come too slowly end: whoever sends a byte now and then would hold memory and a connection for ever.

use axum::BoxError;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// The body came too slowly.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the body came too slowly (server.body_grace, server.body_min_rate)")]
pub struct TooSlow;

impl TooSlow {
    /// Whether `error`, or what caused it, is this.
    pub fn caused(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut at = Some(error);
        while let Some(error) = at {
            if error.is::<TooSlow>() {
                return true;
            }
            at = error.source();
        }
        false
    }
}

/// How slow is too slow: `grace`, and a second for every `rate` bytes that came.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// What every body may take.
    pub grace: Duration,
    /// Bytes a second beyond it.
    pub rate: u64,
}

impl Pace {
    fn allows(&self, received: u64) -> Duration {
        self.grace.saturating_add(Duration::from_secs_f64(received as f64 / self.rate.max(1) as f64))
    }
}

/// A body that ends with [`TooSlow`] when it does.
pub struct Paced<B = Incoming> {
    body: B,
    pace: Pace,
    began: Option<Instant>,
    received: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<B> Paced<B> {
    /// The time runs from the first read on.
    pub fn new(body: B, pace: Pace) -> Self {
        Self { body, pace, began: None, received: 0, timer: None }
    }
}

impl<B> Body for Paced<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let began = *self.began.get_or_insert_with(Instant::now);
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                self.received = self.received.saturating_add(bytes as u64);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                let deadline = began + self.pace.allows(self.received);
                let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
                if timer.deadline() != deadline {
                    timer.as_mut().reset(deadline);
                }
                timer.as_mut().poll(cx).map(|()| Some(Err(TooSlow.into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::StreamExt;
    use http_body_util::{BodyExt, StreamBody};

    /// Bytes that come one piece each `every`.
    fn dripping(piece: usize, every: Duration) -> impl Body<Data = Bytes, Error = BoxError> + Unpin {
        let pieces = futures::stream::repeat(()).then(move |()| async move {
            tokio::time::sleep(every).await;
            Ok::<_, BoxError>(Frame::data(Bytes::from(vec![0; piece])))
        });
        StreamBody::new(Box::pin(pieces.take(600)))
    }

    #[tokio::test]
    async fn a_trickle_ends_and_a_slow_line_does_not() {
        let grace = Duration::from_millis(200);
        let began = Instant::now();
        let slow = Paced::new(dripping(100, Duration::from_millis(20)), Pace { grace, rate: 1_000_000 });
        let error = slow.collect().await.unwrap_err();
        assert!(TooSlow::caused(&*error), "{error}");
        assert!(began.elapsed() >= grace);
        // Each piece of this one buys five seconds, and it lasts longer than its grace.
        let pace = Pace { grace: Duration::from_secs(1), rate: 1_000 };
        let steady = Paced::new(dripping(5_000, Duration::from_millis(3)), pace);
        assert_eq!(steady.collect().await.unwrap().to_bytes().len(), 3_000_000);
        let silent = Paced::new(dripping(1, Duration::from_secs(3_600)), Pace { grace, rate: 1 });
        assert!(silent.collect().await.is_err());
    }
}
