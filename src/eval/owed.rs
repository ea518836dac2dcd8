//! What was paid for answers that wait for others.

use crate::domain::score::Usage;
use parking_lot::Mutex;
use std::sync::Arc;

/// What one answer took. It is told once: by who comes again and has the answer, or by who gives up.
#[derive(Debug, Clone, Default)]
pub struct Bill(Arc<Mutex<Option<Usage>>>);

impl Bill {
    /// What an answer took; none if nobody was asked.
    pub fn new(usage: Option<Usage>) -> Self {
        Self(Arc::new(Mutex::new(usage)))
    }

    /// Takes what is on it. The model stays, without tokens and cost: who has the answer still says who wrote it.
    pub fn take(&self) -> Option<Usage> {
        let mut usage = self.0.lock();
        let model = usage.as_ref().map(|usage| Usage { model: usage.model.clone(), ..Usage::default() });
        std::mem::replace(&mut *usage, model)
    }

    fn told(&self) -> Option<Usage> {
        self.0.lock().clone()
    }
}

/// What several answers took that wait for others.
#[derive(Debug, Clone, Default)]
pub struct Owed(Vec<Bill>);

impl Owed {
    /// With one more.
    pub fn add(&mut self, bill: Bill) {
        self.0.push(bill);
    }

    /// With all of those.
    pub fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Takes what is on all of them together; none if nobody was asked. What somebody else has told meanwhile is not in it.
    pub fn take(&self) -> Option<Usage> {
        together(self.0.iter().filter_map(Bill::take))
    }
}

impl PartialEq for Owed {
    fn eq(&self, other: &Self) -> bool {
        let told = |owed: &Self| together(owed.0.iter().filter_map(Bill::told));
        told(self) == told(other)
    }
}

fn together(all: impl Iterator<Item = Usage>) -> Option<Usage> {
    all.reduce(|mut sum, more| {
        sum.add(more);
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bill(tokens: i64) -> Bill {
        Bill::new(Some(Usage { model: "m".to_owned(), input_tokens: Some(tokens), ..Usage::default() }))
    }

    #[test]
    fn a_bill_is_told_once_whoever_takes_it() {
        let (one, two) = (bill(10), bill(5));
        let mut owed = Owed::default();
        assert_eq!(owed.take(), None);
        owed.add(one.clone());
        let mut more = Owed::default();
        more.add(two);
        owed.extend(more);
        let (mut same, mut other) = (Owed::default(), Owed::default());
        same.add(bill(15));
        other.add(bill(14));
        assert!(owed == same && owed != other);
        assert_eq!(one.take().and_then(|usage| usage.input_tokens), Some(10), "who comes again has it");
        let given_up = owed.take().unwrap();
        assert_eq!((given_up.model.as_str(), given_up.input_tokens), ("m", Some(5)));
        let nothing = Usage { model: "m".to_owned(), ..Usage::default() };
        assert_eq!((one.take(), owed.take()), (Some(nothing.clone()), Some(nothing)));
        assert_eq!(Bill::new(None).take(), None);
    }
}
