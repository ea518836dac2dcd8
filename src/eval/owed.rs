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

    /// Whether tokens or a cost stand on it.
    fn is_open(&self) -> bool {
        let has_some = |usage: &Usage| {
            usage.input_tokens.is_some() || usage.output_tokens.is_some() || usage.cost_usd.is_some()
        };
        self.0.lock().as_ref().is_some_and(has_some)
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

    /// With those of a later try. Those of before that somebody has taken are let go, and none stands there twice.
    pub fn renew(&mut self, later: Self) {
        let is_in_later = |bill: &Bill| later.0.iter().any(|other| Arc::ptr_eq(&bill.0, &other.0));
        self.0.retain(|bill| bill.is_open() && !is_in_later(bill));
        self.0.extend(later.0);
    }

    /// Whether tokens or a cost stand on them that nobody has taken.
    pub fn is_open(&self) -> bool {
        self.0.iter().any(Bill::is_open)
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

    #[test]
    fn a_later_try_keeps_what_is_still_owed_and_nothing_twice() {
        let (taken, open, both, new) = (bill(1), bill(10), bill(100), bill(1_000));
        let mut owed = Owed(vec![taken.clone(), open, both.clone()]);
        assert!(owed.is_open() && !Owed::default().is_open());
        taken.take();
        owed.renew(Owed(vec![both, new]));
        assert_eq!(owed.0.len(), 3);
        assert_eq!(owed.take().and_then(|usage| usage.input_tokens), Some(1_110));
        assert!(!owed.is_open());
        owed.renew(Owed::default());
        assert_eq!(owed.take(), None);
    }
}
