//! What became of items, made durable: alone, or together with what ends in the same moment.
//!
//! A frame names all its columns and costs a sync, whatever it holds. Of hundreds of items whose judges answer at the same
//! time each waits a moment for the others; a local evaluator takes longer than a frame and waits for nobody.

use crate::domain::decision::Decision;
use crate::domain::score::ScoreRow;
use crate::journal::{Journal, JournalError};
use crate::queue::QueueEvent;
use crate::schema::batch::{decisions_to_batch, scores_to_batch};
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameError, FrameKind, Part};
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use std::vec::IntoIter;
use tokio::sync::oneshot;

/// How long an end waits for others. Short beside what a judge takes, long beside a sync; a frame costs as much as a request.
const MOMENT: Duration = Duration::from_millis(60);
/// Ends in one frame, at most.
const MOST: usize = 256;

/// What becomes of an item, as a frame.
pub(super) type Encode =
    fn(&[ScoreRow], &[Decision], &[QueueEvent]) -> Result<(FrameKind, Bytes), FrameError>;

/// What came of writing the end of an item.
#[derive(Debug, Clone)]
pub(super) enum Written {
    /// It is durable.
    Yes,
    /// It can never be written like that.
    Never(String),
}

/// What became of one item.
#[derive(Debug, Default)]
pub(super) struct End {
    /// Its scores.
    pub rows: Vec<ScoreRow>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// What the queue is told.
    pub events: Vec<QueueEvent>,
}

/// An end and who waits for it.
struct Waiting {
    end: End,
    told: oneshot::Sender<(Result<Written, JournalError>, End)>,
}

/// What several ends have, in their order.
struct Joined {
    rows: IntoIter<ScoreRow>,
    decisions: IntoIter<Decision>,
    events: IntoIter<QueueEvent>,
}

/// Writes ends to the journal.
pub(super) struct Together {
    journal: Journal,
    /// How an end is written down. Another one stands here in tests only.
    encode: Encode,
    waiting: Mutex<Vec<Waiting>>,
}

impl Together {
    /// A writer into `journal`.
    pub(super) fn new(journal: Journal) -> Self {
        Self { journal, encode: encoded, waiting: Mutex::default() }
    }

    /// The same with another way of writing down.
    #[cfg(test)]
    pub(super) fn with_encode(self, encode: Encode) -> Self {
        Self { encode, ..self }
    }

    /// Writes an end at once, as a frame of its own. It is durable when this returns [`Written::Yes`].
    pub(super) async fn alone(
        &self,
        rows: &[ScoreRow],
        decisions: &[Decision],
        events: &[QueueEvent],
    ) -> Result<Written, JournalError> {
        let (kind, payload) = match (self.encode)(rows, decisions, events) {
            Ok(frame) => frame,
            Err(error) => return Ok(Written::Never(error.to_string())),
        };
        match self.journal.append_durably(kind.0, payload).await {
            Ok(_) => Ok(Written::Yes),
            Err(error @ JournalError::FrameTooLarge { .. }) => Ok(Written::Never(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// Writes an end in one frame with those that come in the same moment, and gives it back. It is durable when this returns
    /// [`Written::Yes`]; one that can never be written takes no other with it.
    pub(super) async fn with_others(self: &Arc<Self>, end: End) -> (Result<Written, JournalError>, End) {
        let (told, heard) = oneshot::channel();
        let is_first = {
            let mut waiting = self.waiting.lock();
            waiting.push(Waiting { end, told });
            waiting.len() == 1
        };
        if is_first {
            // Whoever was first may be given up: the others are written all the same.
            let writer = self.clone();
            tokio::spawn(async move {
                tokio::time::sleep(MOMENT).await;
                writer.write_all().await;
            });
        }
        heard.await.unwrap_or((Err(JournalError::Closed), End::default()))
    }

    /// Writes all that wait, and tells them.
    async fn write_all(&self) {
        let mut waiting = std::mem::take(&mut *self.waiting.lock());
        while !waiting.is_empty() {
            let rest = waiting.split_off(waiting.len().min(MOST));
            self.write(std::mem::replace(&mut waiting, rest)).await;
        }
    }

    async fn write(&self, mut group: Vec<Waiting>) {
        let mut all = End::default();
        let sizes: Vec<_> = group.iter().map(|one| one.end.sizes()).collect();
        for one in &mut group {
            all.append(&mut one.end);
        }
        let answer = self.alone(&all.rows, &all.decisions, &all.events).await;
        // One of them cannot be written, or all together are too large.
        let is_each_alone = group.len() > 1 && matches!(answer, Ok(Written::Never(_)));
        let mut all = all.joined();
        for (one, sizes) in group.into_iter().zip(sizes) {
            let end = all.next(sizes);
            let answer = match is_each_alone {
                true => self.alone(&end.rows, &end.decisions, &end.events).await,
                false => answer.clone(),
            };
            // Who does not wait any more asks the queue, or leaves the item to its lease.
            drop(one.told.send((answer, end)));
        }
    }
}

impl End {
    /// How many rows, decisions and events it has.
    fn sizes(&self) -> (usize, usize, usize) {
        (self.rows.len(), self.decisions.len(), self.events.len())
    }

    /// Takes all that the other one has.
    fn append(&mut self, other: &mut Self) {
        self.rows.append(&mut other.rows);
        self.decisions.append(&mut other.decisions);
        self.events.append(&mut other.events);
    }

    /// To be taken apart again.
    fn joined(self) -> Joined {
        let Self { rows, decisions, events } = self;
        Joined { rows: rows.into_iter(), decisions: decisions.into_iter(), events: events.into_iter() }
    }
}

impl Joined {
    /// The next end, of which the sizes are known.
    fn next(&mut self, (rows, decisions, events): (usize, usize, usize)) -> End {
        End {
            rows: self.rows.by_ref().take(rows).collect(),
            decisions: self.decisions.by_ref().take(decisions).collect(),
            events: self.events.by_ref().take(events).collect(),
        }
    }
}

/// Scores, decisions and what the queue is told, as one frame.
pub(super) fn encoded(
    rows: &[ScoreRow],
    decisions: &[Decision],
    events: &[QueueEvent],
) -> Result<(FrameKind, Bytes), FrameError> {
    let mut parts = Vec::new();
    if !rows.is_empty() {
        parts.push(Part::Rows(Table::Scores, scores_to_batch(rows)?));
    }
    if !decisions.is_empty() {
        parts.push(Part::Rows(Table::Decisions, decisions_to_batch(decisions)?));
    }
    let event =
        QueueEvent::encode(events).map_err(|e| arrow::error::ArrowError::ExternalError(Box::new(e)))?;
    parts.push(Part::Queue(event));
    frame::encode(&parts)
}

#[cfg(test)]
#[path = "together_tests.rs"]
mod tests;
