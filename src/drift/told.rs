//! Who is told of what, and what a silence keeps back.
//!
//! `firing` are the last messages about what fires to those who were told of it; `held` are messages that a silence keeps
//! back. Who was told that something fires is told of its end, silence or not; who was not, is not.

use super::acknowledge::Acknowledgement;
use super::alert::Change;
use super::anchors::Anchors;
use super::message::{Notice, sentence};
use super::scores::Definition;
use super::silence::{self, MOST, Silence, SilenceFault, SilenceWish, configured};
use super::state::State;
use crate::domain::time::UnixNanos;

/// Messages that wait; the oldest go first beyond it.
const MOST_NOTICES: usize = 1_000;

impl State {
    /// Whether nobody is to be told of a slice at `now`.
    fn is_silent(&self, definition: &Definition, slice: &str, now: UnixNanos) -> bool {
        let config = &definition.config;
        let holds = |one: &Silence| one.holds(&config.name, &config.slices, slice, now);
        configured(&config.name, &config.silences).iter().any(holds) || self.silences.iter().any(holds)
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Tells of a change to `firing` or `resolved`: puts messages in line, or keeps them back while it is silent.
    pub(super) fn tell(
        &mut self,
        definition: &Definition,
        change: &Change,
        anchors: Option<&str>,
        now: UnixNanos,
    ) {
        let config = &definition.config;
        match change.state {
            "firing" => {
                self.forget_slice(&config.name, &change.slice);
                let is_silent = self.is_silent(definition, &change.slice, now);
                for receiver in &config.receivers {
                    let notice = Notice::new(self.number(), receiver, config, change, anchors);
                    if is_silent {
                        self.held.push(notice);
                    } else {
                        self.firing.push(notice.clone());
                        self.notices.push_back(notice);
                    }
                }
            }
            "resolved" => self.tell_end(&config.name, change, &sentence(config, change, anchors)),
            _ => return,
        }
        self.shorten();
    }

    /// Tells those who were told that a slice fires of its end.
    pub(super) fn tell_end(&mut self, alert: &str, change: &Change, summary: &str) {
        for told in self.forget_slice(alert, &change.slice) {
            let at = UnixNanos(change.since);
            let ended = told.ended(self.number(), summary.to_owned(), at).with(change);
            self.notices.push_back(ended);
        }
        self.shorten();
    }

    /// Forgets who was told of a slice, and who knows of it; the last messages to those who were told that it fires.
    fn forget_slice(&mut self, alert: &str, slice: &str) -> Vec<Notice> {
        self.held.retain(|old| !old.is_about(alert, slice));
        self.acknowledged.retain(|known| !known.is_about(alert, slice));
        self.firing.extract_if(.., |old| old.is_about(alert, slice)).collect()
    }

    /// Tells receivers that are no longer among those of their alert that it ends for them, and has new ones told of what fires.
    pub(super) fn follow_receivers(&mut self, definitions: &[Definition], now: UnixNanos) {
        let is_theirs = |notice: &Notice| {
            let of = definitions.iter().find(|definition| definition.config.name == notice.alert);
            of.is_none_or(|definition| definition.config.receivers.contains(&notice.receiver))
        };
        self.held.retain(is_theirs);
        let gone: Vec<Notice> = self.firing.extract_if(.., |notice| !is_theirs(notice)).collect();
        for told in gone {
            let why = super::alert::Ended::Unsubscribed.words(std::time::Duration::ZERO);
            let ended = told.ended(self.number(), why, now);
            self.notices.push_back(ended);
        }
        let mut new = Vec::new();
        for definition in definitions {
            let config = &definition.config;
            let Some(alert) = self.alerts.get(&config.name) else { continue };
            for slice in alert.firing_slices() {
                let is_told = |receiver: &&String| {
                    let mut all = self.firing.iter().chain(&self.held);
                    all.any(|old| old.receiver == **receiver && old.is_about(&config.name, slice))
                };
                let Some(change) = alert.firing(slice, config) else { continue };
                let missing = config.receivers.iter().filter(|receiver| !is_told(receiver));
                new.extend(missing.map(|receiver| Notice::new(0, receiver, config, &change, None)));
            }
        }
        self.held.extend(new);
        self.shorten();
    }

    /// Drops the oldest messages beyond the most that may wait.
    fn shorten(&mut self) {
        while self.notices.len() > MOST_NOTICES {
            self.notices.pop_front();
            metrics::counter!("groundline_alert_messages_lost_total", "reason" => "too many").increment(1);
        }
    }

    /// Does what is due at `now`: silences and acknowledgements end, and everybody is told of what still fires. True if
    /// anything changed.
    pub(super) fn expire(&mut self, definitions: &[Definition], anchors: &Anchors, now: UnixNanos) -> bool {
        let silences = self.silences.len();
        self.silences.retain(|silence| now.0 < silence.until);
        let over: Vec<Acknowledgement> =
            self.acknowledged.extract_if(.., |known| known.until <= now.0).collect();
        for known in &over {
            self.tell_again(definitions, (&known.alert, &known.slice), None, now);
        }
        let is_released = self.release(definitions, anchors, now);
        silences > self.silences.len() || !over.is_empty() || is_released
    }

    /// Puts messages in line that no silence keeps back any more, with what is known now. True if there were any.
    fn release(&mut self, definitions: &[Definition], anchors: &Anchors, now: UnixNanos) -> bool {
        let mut released = Vec::new();
        for held in std::mem::take(&mut self.held) {
            let definition = definitions.iter().find(|definition| definition.config.name == held.alert);
            match definition.filter(|definition| !self.is_silent(definition, &held.slice, now)) {
                Some(definition) => released.push((held, definition)),
                None => self.held.push(held),
            }
        }
        let any = !released.is_empty();
        for (held, definition) in released {
            let config = &definition.config;
            let alert = self.alerts.get(&config.name);
            let Some(change) = alert.and_then(|alert| alert.firing(&held.slice, config)) else { continue };
            let said = anchors.said(&config.metric, &change.reading);
            let mut notice = Notice::new(self.number(), &held.receiver, config, &change, said.as_deref());
            (notice.at, notice.fired, notice.acknowledged) = (now.0, held.fired, held.acknowledged);
            self.firing
                .retain(|old| old.receiver != notice.receiver || !old.is_about(&notice.alert, &notice.slice));
            self.firing.push(notice.clone());
            self.notices.push_back(notice);
        }
        self.shorten();
        any
    }

    /// Puts the last messages about a slice that fires in line once more: somebody knows of it, or no longer. That nobody
    /// knows of it any more is kept back in a silence.
    pub(super) fn tell_again(
        &mut self,
        definitions: &[Definition],
        (alert, slice): (&str, &str),
        known: Option<&Acknowledgement>,
        now: UnixNanos,
    ) {
        let definition = definitions.iter().find(|definition| definition.config.name == alert);
        let is_silent = definition.is_some_and(|definition| self.is_silent(definition, slice, now));
        for held in self.held.iter_mut().filter(|held| held.is_about(alert, slice)) {
            held.acknowledged = known.cloned();
        }
        let is_held = is_silent && known.is_none();
        if is_held {
            self.held.retain(|held| !held.is_about(alert, slice));
        }
        let mut next = self.next;
        for notice in self.firing.iter_mut().filter(|old| old.is_about(alert, slice)) {
            notice.id = next;
            next += 1;
            (notice.at, notice.acknowledged) = (now.0, known.cloned());
            (notice.failed, notice.not_before) = (0, 0);
            if is_held {
                self.held.push(notice.clone());
            } else {
                self.notices.push_back(notice.clone());
            }
        }
        self.next = next;
        self.shorten();
    }

    /// Begins a silence.
    ///
    /// # Errors
    /// When there are too many, or its time is none.
    pub(super) fn silence(&mut self, wish: SilenceWish, now: UnixNanos) -> Result<Silence, SilenceFault> {
        if self.silences.len() >= MOST {
            return Err(SilenceFault::Full);
        }
        let number = self.number();
        let made = wish.begin(silence::id(number, now), now)?;
        self.silences.push(made.clone());
        Ok(made)
    }

    /// Ends a silence that was asked for; false if there is none of this id.
    pub(super) fn unsilence(&mut self, id: &str) -> bool {
        let before = self.silences.len();
        self.silences.retain(|silence| silence.id != id);
        self.silences.len() < before
    }
}

#[cfg(test)]
#[path = "told_tests.rs"]
mod tests;
