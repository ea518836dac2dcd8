use super::super::config::{AlertConfig, Method};
use super::super::scores::compile;
use super::super::scores::tests::{FAILS, PASSES, START, score};
use super::super::silence::Ends;
use super::*;
use crate::domain::time::SECOND;
use crate::schema::batch::scores_to_batch;
use std::collections::BTreeMap;
use std::time::Duration;

const HOUR: i64 = 3_600 * SECOND;

fn at(seconds: i64) -> UnixNanos {
    UnixNanos(START + seconds * SECOND)
}

fn definitions(change: impl Fn(&mut AlertConfig)) -> Vec<Definition> {
    let mut config = AlertConfig {
        objective: Some(0.9),
        slices: vec!["request_model".into()],
        min_n: 20,
        receivers: vec!["pager".into(), "chat".into()],
        ..AlertConfig::new("a", "hallucination", Method::Objective)
    };
    change(&mut config);
    compile(&[config]).map_err(|e| e[0].to_string()).unwrap()
}

/// A state that follows scores, a second each.
struct Followed {
    state: State,
    definitions: Vec<Definition>,
    seconds: i64,
}

impl Followed {
    fn new(definitions: Vec<Definition>) -> Self {
        let mut state = State::default();
        assert!(state.fit(&definitions, at(0)).is_empty());
        Self { state, definitions, seconds: 0 }
    }

    /// So many scores, of which every `every`th fails; the states that follow.
    fn go(&mut self, scores: i64, every: i64) -> Vec<&'static str> {
        let mut states = Vec::new();
        for _ in 0..scores {
            self.seconds += 1;
            let row = score(self.seconds, if self.seconds % every == 0 { FAILS } else { PASSES });
            let batch = scores_to_batch(&[row]).unwrap();
            let rows = self.state.apply(&self.definitions, &batch, &Anchors::default(), at(self.seconds));
            states.extend(rows.iter().map(|row| row.state));
        }
        states
    }

    /// What is in line since the last call, by receiver and status.
    fn told(&mut self) -> Vec<String> {
        self.state.notices.drain(..).map(|one| format!("{} {}", one.receiver, one.status())).collect()
    }

    fn expire(&mut self, seconds: i64) -> bool {
        self.state.expire(&self.definitions, &Anchors::default(), at(seconds))
    }

    fn silence(&mut self, ends: Ends, slice: &str) -> Silence {
        let slice = BTreeMap::from([("request_model".to_owned(), slice.to_owned())]);
        let (by, comment) = ("Ada".to_owned(), String::new());
        let wish = SilenceWish { alert: Some("a".into()), slice: Some(slice), ends, by, comment };
        self.state.silence(wish, at(self.seconds)).unwrap()
    }
}

fn firing() -> [&'static str; 2] {
    ["pager firing", "chat firing"]
}

fn resolved() -> [&'static str; 2] {
    ["pager resolved", "chat resolved"]
}

#[test]
fn what_still_fires_when_a_silence_of_the_configuration_ends_is_told_then() {
    let day = "2026-01-01T00:00:00Z/2026-01-01T01:00:00Z";
    let mut followed = Followed::new(definitions(|config| config.silences = vec![day.into()]));
    assert_eq!(followed.go(200, 2), ["firing"]);
    assert_eq!(followed.told(), [""; 0]);
    assert!(!followed.expire(3_599), "it is silent");
    assert!(followed.expire(3_600));
    assert_eq!(followed.told(), firing());
    assert!(!followed.expire(3_601), "once");
    // It is told with what is known now, and with the key of the time when it began to fire.
    let told = followed.state.firing[0].clone();
    assert!(told.summary.contains("of the hallucination scores fail"), "{told:?}");
    assert!(told.fired < at(200).0 && told.at == at(3_600).0, "{told:?}");
    assert_eq!(followed.go(900, 10_000), ["resolved"]);
    assert_eq!(followed.told(), resolved());
}

#[test]
fn what_begins_and_ends_in_a_silence_is_told_to_nobody() {
    let mut followed = Followed::new(definitions(|_| {}));
    followed.silence(Ends::After(Duration::from_hours(2)), "m");
    assert_eq!(followed.go(200, 2), ["firing"]);
    assert_eq!(followed.go(900, 10_000), ["resolved"]);
    followed.expire(3 * 3_600);
    assert_eq!(followed.told(), [""; 0]);
    assert!(followed.state.silences.is_empty() && followed.state.held.is_empty());
}

#[test]
fn who_was_told_is_told_of_an_end_in_a_silence() {
    let mut followed = Followed::new(definitions(|_| {}));
    assert_eq!(followed.go(200, 2), ["firing"]);
    assert_eq!(followed.told(), firing());
    followed.silence(Ends::After(Duration::from_hours(2)), "m");
    assert_eq!(followed.go(900, 10_000), ["resolved"]);
    assert_eq!(followed.told(), resolved());
}

#[test]
fn a_silence_of_another_slice_keeps_nothing_back_and_one_that_is_ended_no_longer() {
    let mut followed = Followed::new(definitions(|_| {}));
    followed.silence(Ends::After(Duration::from_hours(2)), "other");
    let made = followed.silence(Ends::At(at(7_200)), "m");
    assert_eq!(followed.go(200, 2), ["firing"]);
    assert!(!followed.expire(300) && followed.told().is_empty());
    assert!(followed.state.unsilence(&made.id) && !followed.state.unsilence(&made.id));
    assert!(followed.expire(300));
    assert_eq!(followed.told(), firing());
    assert_eq!(followed.go(900, 10_000), ["resolved"]);
    assert_eq!(followed.go(200, 2), ["firing"]);
    assert_eq!(followed.told(), [resolved(), firing()].concat(), "the other silence still holds");
    for _ in 0..MOST - 1 {
        followed.silence(Ends::After(Duration::from_hours(1)), "other");
    }
    let full = SilenceWish {
        alert: None,
        slice: None,
        ends: Ends::After(Duration::from_hours(1)),
        by: "Ada".into(),
        comment: String::new(),
    };
    assert_eq!(followed.state.silence(full, at(0)), Err(SilenceFault::Full));
}

#[test]
fn an_acknowledgement_that_ends_in_a_silence_waits_for_its_end() {
    let mut followed = Followed::new(definitions(|_| {}));
    assert_eq!(followed.go(200, 2), ["firing"]);
    let wish = super::super::acknowledge::Wish {
        alert: "a".into(),
        slice: None,
        by: "Ada".into(),
        note: String::new(),
        lasts: Duration::from_secs(600),
    };
    let definitions = followed.definitions.clone();
    assert_eq!(followed.state.acknowledge(&definitions, &wish, at(200)).0.len(), 1);
    followed.told();
    followed.silence(Ends::At(at(7_200)), "m");
    assert!(followed.expire(900), "nobody knows of it any more");
    assert_eq!(followed.told(), [""; 0]);
    assert!(followed.expire(7_200));
    assert_eq!(followed.told(), firing());
    assert_eq!(followed.state.firing.len(), 2, "one a receiver");
}

#[test]
fn a_definition_that_is_changed_or_removed_ends_what_fires_with_the_reason() {
    for (left, word) in [
        (definitions(|config| config.alpha = 0.01), "the definition of the alert was changed"),
        (Vec::new(), "the alert is no longer defined"),
    ] {
        let mut followed = Followed::new(definitions(|_| {}));
        assert_eq!(followed.go(200, 2), ["firing"]);
        let key = followed.state.firing[0].key();
        followed.told();
        let rows = followed.state.fit(&left, at(300));
        let said: Vec<_> = rows.iter().map(|row| (row.state, row.slice.as_str(), row.method)).collect();
        assert_eq!(said, [("resolved", "request_model=m", "objective")]);
        assert!(rows[0].message.contains(word) && rows[0].evaluated_at == at(300), "{rows:?}");
        assert_eq!((rows[0].metric.as_str(), rows[0].alpha), ("hallucination", Some(0.001)));
        assert!(rows[0].estimate.is_some_and(|share| share > 0.4), "{rows:?}");
        let last = followed.state.notices[0].clone();
        assert!(last.summary.contains(word) && last.key() == key, "{last:?}");
        assert_eq!(followed.told(), resolved());
        assert!(followed.state.firing.is_empty() && followed.state.fit(&left, at(400)).is_empty(), "once");
    }
}

#[test]
fn a_receiver_that_leaves_is_told_of_the_end_and_a_new_one_of_what_fires() {
    let mut followed = Followed::new(definitions(|_| {}));
    assert_eq!(followed.go(200, 2), ["firing"]);
    followed.told();
    let other = definitions(|config| config.receivers = vec!["chat".into(), "mail".into()]);
    assert!(followed.state.fit(&other, at(300)).is_empty());
    followed.definitions = other;
    assert_eq!(followed.told(), ["pager resolved"]);
    assert!(followed.expire(300));
    assert_eq!(followed.told(), ["mail firing"]);
    assert_eq!(followed.go(900, 10_000), ["resolved"]);
    assert_eq!(followed.told(), ["chat resolved", "mail resolved"]);
}

#[test]
fn a_slice_without_data_ends_and_its_receivers_are_told_why() {
    let mut followed = Followed::new(definitions(|_| {}));
    assert_eq!(followed.go(200, 2), ["firing"]);
    followed.told();
    let late = UnixNanos(at(200).0 + 6 * HOUR + SECOND);
    let definitions = followed.definitions.clone();
    let rows = followed.state.end_without_data(&definitions, &Anchors::default(), at(0), late);
    assert_eq!((rows.len(), rows[0].state, rows[0].evaluated_at), (1, "resolved", late));
    assert!(rows[0].message.contains("no data: no score for 6h"), "{rows:?}");
    assert_eq!(followed.told(), resolved());
}
