//! Items that may be worked on, by what they wait for.

use super::event::Item;
use std::collections::{BTreeMap, BTreeSet};

/// When an item was queued, and its id: who waits longer goes first.
type Place = (i64, String);

/// Items of a kind name the same evaluators: where those of one kind cannot be worked on, the others go on.
#[derive(Default)]
pub(super) struct Ready {
    kinds: BTreeMap<Vec<String>, BTreeSet<Place>>,
    /// Nothing that is here could be worked on when it was last asked for.
    is_refused: bool,
}

impl Ready {
    pub(super) fn insert(&mut self, item: &Item) {
        let place = (item.queued_at, item.id.clone());
        match self.kinds.get_mut(&item.evaluators) {
            Some(places) => drop(places.insert(place)),
            None => drop(self.kinds.insert(item.evaluators.clone(), BTreeSet::from([place]))),
        }
        self.is_refused = false;
    }

    pub(super) fn remove(&mut self, item: &Item) {
        let Some(places) = self.kinds.get_mut(&item.evaluators) else { return };
        places.remove(&(item.queued_at, item.id.clone()));
        if places.is_empty() {
            self.kinds.remove(&item.evaluators);
        }
    }

    /// Whether there is an item that could be worked on, as far as is known.
    pub(super) fn has_some(&self) -> bool {
        !self.kinds.is_empty() && !self.is_refused
    }

    /// Takes out the item that has waited longest among the first of each kind that `fits`; its id.
    pub(super) fn pop_first(&mut self, fits: impl Fn(&str) -> bool) -> Option<String> {
        let firsts = self.kinds.iter().filter_map(|(kind, places)| Some((places.first()?, kind)));
        let found = firsts.filter(|((_, id), _)| fits(id)).min();
        let found = found.map(|(place, kind)| (place.clone(), kind.clone()));
        self.is_refused = found.is_none();
        let ((queued_at, id), kind) = found?;
        let places = self.kinds.get_mut(&kind)?;
        places.remove(&(queued_at, id.clone()));
        if places.is_empty() {
            self.kinds.remove(&kind);
        }
        Some(id)
    }
}
