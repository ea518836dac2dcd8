use super::super::config::{AlertConfig, Method};
use super::*;
use crate::domain::time::SECOND;

fn notice(id: u64, receiver: &str, is_firing: bool) -> Notice {
    let config = AlertConfig::new("a", "hallucination", Method::Objective);
    let text = serde_json::json!({
        "id": id, "receiver": receiver, "alert": config.name, "slice": "request_model=m", "is_firing": is_firing,
        "fired": 0, "at": 0, "since": 0, "severity": "page", "labels": {}, "summary": "it fails", "numbers": null,
        "examples": [], "query": "SELECT 1",
    });
    serde_json::from_value(text).unwrap()
}

fn tried(notice: &Notice, counts: bool, delivered: Delivered) -> Tried {
    Tried { notice: notice.clone(), counts, delivered }
}

fn at(seconds: i64) -> UnixNanos {
    UnixNanos(seconds * SECOND)
}

/// Receiver, status, outcome, failed attempts, last attempt, next attempt, error.
fn shown(all: &[Delivery]) -> Vec<String> {
    let one = |d: &Delivery| {
        let text = |value: &Option<String>| value.clone().unwrap_or("-".to_owned());
        let (last, next) = (text(&d.attempted_at), text(&d.next_attempt_at));
        format!("{} {} {:?} {} {last} {next} {}", d.receiver, d.status, d.outcome, d.failed, text(&d.error))
    };
    all.iter().map(one).map(|line| line.replace("1970-01-01T00:", "")).collect()
}

#[test]
fn what_was_taken_what_waits_and_what_nobody_took_are_told_apart() {
    let mut deliveries = Deliveries::default();
    let (taken, refused, old) = (notice(1, "am", true), notice(2, "chat", true), notice(3, "pager", true));
    deliveries.note(tried(&taken, true, Delivered::Taken), at(1));
    deliveries.note(tried(&refused, true, Delivered::Lost(Lost::Refused, "400".into())), at(2));
    deliveries.note(tried(&old, true, Delivered::Lost(Lost::GivenUp, "503".into())), at(3));
    // One that has failed once, and one behind it, of the same receiver.
    let mut first = notice(4, "hook", true);
    let failed = Delivered::Failed { why: "connection refused".into(), not_before: at(5).0 };
    deliveries.note(tried(&first, true, failed), at(4));
    (first.failed, first.not_before) = (1, at(5).0);
    let waiting = VecDeque::from([first, notice(5, "hook", false)]);
    let firing = [taken.clone(), refused, old, waiting[0].clone(), notice(6, "mail", true)];
    let held = [notice(7, "team", true)];
    assert_eq!(
        shown(&deliveries.all(&waiting, &firing, &held)),
        [
            "am firing Delivered 0 00:01Z - -",
            "chat firing Refused 1 00:02Z - 400",
            "hook firing Waiting 1 00:04Z 00:05Z connection refused",
            "hook resolved Waiting 0 - - -",
            "mail firing Unknown 0 - - -",
            "pager firing GivenUp 1 00:03Z - 503",
            "team firing Silenced 0 - - -",
        ]
    );
    // All of it is stored.
    let stored = serde_json::to_string(&deliveries).unwrap();
    let read: Deliveries = serde_json::from_str(&stored).unwrap();
    assert_eq!(read.all(&waiting, &firing, &held), deliveries.all(&waiting, &firing, &held));
    // Of an earlier release what waits is known with its attempts, and not why they failed.
    let anew = shown(&Deliveries::default().all(&waiting, &firing[..1], &[]));
    assert_eq!(
        anew,
        ["am firing Unknown 0 - - -", "hook firing Waiting 1 - 00:05Z -", "hook resolved Waiting 0 - - -"]
    );
    // The end takes the place of the beginning.
    deliveries.note(tried(&notice(8, "am", false), true, Delivered::Taken), at(60));
    assert_eq!(shown(&deliveries.all(&VecDeque::new(), &[], &[]))[0], "am resolved Delivered 0 01:00Z - -");
}

#[test]
fn a_repetition_tells_that_a_receiver_knows_or_no_longer_hears() {
    let mut deliveries = Deliveries::default();
    let told = notice(1, "am", true);
    let firing = [told.clone()];
    let all = |deliveries: &Deliveries| shown(&deliveries.all(&VecDeque::new(), &firing, &[]));
    assert_eq!(all(&deliveries), ["am firing Unknown 0 - - -"], "as of an earlier release");
    let away = Delivered::Failed { why: "connection refused".into(), not_before: at(1).0 };
    deliveries.note(tried(&told, false, away), at(0));
    assert_eq!(all(&deliveries), ["am firing Unknown 0 00:00Z 00:01Z connection refused"]);
    deliveries.note(tried(&told, false, Delivered::Taken), at(1));
    assert_eq!(all(&deliveries), ["am firing Delivered 0 00:01Z - -"]);
    let failed = Delivered::Failed { why: "connection refused".into(), not_before: at(61).0 };
    deliveries.note(tried(&told, false, failed), at(31));
    assert_eq!(all(&deliveries), ["am firing Delivered 0 00:01Z 01:01Z connection refused"]);
    deliveries.note(tried(&told, false, Delivered::Taken), at(61));
    assert_eq!(all(&deliveries), ["am firing Delivered 0 01:01Z - -"]);
}

/// What is stored is read as it was written first, and what nobody asks for is forgotten.
#[test]
fn what_is_stored_is_read_and_forgotten_with_its_alert_and_its_message() {
    let stored = serde_json::json!({
        "settled": [{"id": 1, "at": 1, "delivery": {
            "alert": "a", "slice": "request_model=m", "receiver": "am", "status": "firing", "outcome": "given_up",
            "changed_at": "c", "attempted_at": "t", "failed": 2, "next_attempt_at": null, "error": "503",
        }}],
        "faults": {"hook": {"id": 4, "at": 4, "why": "connection refused"}},
    });
    let mut read: Deliveries = serde_json::from_value(stored.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), stored);
    read.fit(|alert| alert == "a", &VecDeque::from([notice(4, "hook", true)]));
    assert_eq!(serde_json::to_value(&read).unwrap(), stored);
    read.fit(|alert| alert == "b", &VecDeque::from([notice(5, "hook", true)]));
    assert!(read.is_empty(), "{read:?}");
}

#[test]
fn what_came_of_messages_has_a_limit() {
    let mut deliveries = Deliveries::default();
    for n in 0..MOST as u64 + 3 {
        let told = notice(n, &format!("r{n:04}"), true);
        deliveries.note(tried(&told, true, Delivered::Taken), at(n as i64));
    }
    let all = deliveries.all(&VecDeque::new(), &[], &[]);
    assert_eq!((all.len(), all[0].receiver.as_str()), (MOST, "r0003"), "the oldest went first");
}
