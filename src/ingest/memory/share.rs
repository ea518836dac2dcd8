//! What one request holds of the budget.

use super::super::receipt::Refusal;
use super::budget::Budget;
use tokio::sync::OwnedSemaphorePermit;

/// The share of `ingest.max_in_flight_size` that one request holds. It grows with the bytes that really came, so that
/// a claimed length alone holds nothing, and with what these decode to.
pub struct Share {
    budget: Budget,
    permit: Option<OwnedSemaphorePermit>,
    bytes: usize,
    /// How much of that is for what the bytes decode to.
    decoded: usize,
}

/// Decoding asks for this part of all bytes at most. A request that needed all of them would be refused each time that it
/// comes while others are worked on.
const DECODED_PART: usize = 4;

/// Shares grow in steps, so that not every network packet counts.
pub const SHARE_STEP: usize = 16 << 10;

impl Share {
    /// A share of nothing.
    pub fn new(budget: Budget) -> Self {
        Self { budget, permit: None, bytes: 0, decoded: 0 }
    }

    /// The refusal that asks the client to come back.
    pub fn overloaded(&self, reason: &str) -> Refusal {
        self.budget.overloaded(reason)
    }

    /// Makes it at least `bytes`, or refuses. A request that is alone may hold everything and is not refused for being
    /// larger than that: waiting would not help it.
    pub fn hold(&mut self, bytes: usize) -> Result<(), Refusal> {
        let wanted = bytes.next_multiple_of(SHARE_STEP).min(self.budget.capacity());
        if wanted <= self.bytes {
            return Ok(());
        }
        let more = self.budget.reserve(wanted - self.bytes)?;
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        self.bytes = wanted;
        Ok(())
    }

    /// Makes it at least `bytes`, which is what the request decodes to, as far as a request may ask for that.
    pub fn hold_decoded(&mut self, bytes: usize) -> Result<(), Refusal> {
        let before = self.bytes;
        self.hold(bytes.min(self.budget.capacity() / DECODED_PART))?;
        let more = self.bytes - before;
        // This is asked for every row, and what it would count in belongs to all requests.
        if more > 0 {
            self.decoded += more;
            self.budget.note_decoded(more);
        }
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.forget_decoded(self.decoded);
    }
}
