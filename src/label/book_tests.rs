use super::*;
use crate::domain::id::TraceId;
use crate::label::draw::SENT;

const LEASE: Duration = Duration::from_mins(15);

fn drawn(n: u8) -> Entry {
    let item = ReviewItem {
        item: format!("item{n}"),
        draw: "d".to_owned(),
        metric: "m".to_owned(),
        trace_id: TraceId([n + 1; 16]),
        span_id: None,
        span_time: UnixNanos(0),
        evaluator: "e".to_owned(),
        evaluator_version: "1".to_owned(),
        value: Some(0.5),
        threshold: Some(0.5),
        passed: Some(true),
        inclusion_probability: 1.0,
        label_probability: 0.5,
        uncertainty: 1.0,
        population: 8,
        population_from: UnixNanos(0),
        population_until: UnixNanos(9),
        drawn_at: UnixNanos(10),
        tenant: "t".into(),
        of_queue: None,
    };
    Entry::new(item, Vec::new(), u64::from(n))
}

fn book(items: u8, needed: usize) -> Book {
    let mut book = Book::new(needed);
    book.add((0..items).map(drawn).collect());
    book
}

fn says(book: &mut Book, who: &str, item: &str, passed: bool) -> State {
    let (_, kind) = book.accept(item, who, AnswerKind::Answer).unwrap();
    let answer = Answer {
        id: format!("{who}{item}"),
        reviewer: who.to_owned(),
        kind,
        passed: Some(passed),
        comment: None,
        flagged: false,
        at: UnixNanos(0),
    };
    let entry = book.apply(item, answer).unwrap().clone();
    book.state_of(&entry)
}

fn asked(book: &mut Book, who: &str, count: usize, now: i64) -> Vec<String> {
    book.next(who, count, Wanted::Open, UnixNanos(now), LEASE).into_iter().map(|e| e.drawn.item).collect()
}

#[test]
fn two_people_do_not_get_the_same_item_until_the_lease_ends() {
    let mut book = book(3, 1);
    assert_eq!(asked(&mut book, "ana", 2, 0), ["item0", "item1"]);
    assert_eq!(asked(&mut book, "ben", 2, 0), ["item2"]);
    // Who asks again has what was given, and more only if more is wanted.
    assert_eq!(asked(&mut book, "ana", 2, 1), ["item0", "item1"]);
    assert_eq!(says(&mut book, "ana", "item0", true), State::Final(true));
    let later = 2 + crate::units::nanos(LEASE);
    assert_eq!(asked(&mut book, "ben", 3, later), ["item1", "item2"]);
    assert!(!book.is_worked_off());
}

#[test]
fn a_reviewer_gets_an_item_once_and_differing_answers_go_to_a_third() {
    let mut book = book(1, 2);
    assert_eq!(says(&mut book, "ana", "item0", true), State::Open);
    assert!(asked(&mut book, "ana", 1, 0).is_empty());
    let twice = book.accept("item0", "ana", AnswerKind::Answer).unwrap_err();
    assert!(twice.to_string().contains("undo"), "{twice}");
    assert_eq!(asked(&mut book, "ben", 1, 0), ["item0"]);
    assert_eq!(says(&mut book, "ben", "item0", false), State::Adjudicate);
    let mut differ = |who: &str| book.next(who, 1, Wanted::Differing, UnixNanos(0), LEASE).len();
    assert_eq!((differ("ana"), differ("ben"), differ("eva")), (0, 0, 1));
    assert_eq!(says(&mut book, "eva", "item0", false), State::Final(false));
    assert_eq!((book.agreed("ana"), book.agreed("ben")), ((1, 0), (1, 1)));
    let counts = Counts { drawn: 1, labelled: 1, mine: 1, ..Counts::default() };
    assert_eq!((book.counts("eva"), book.is_worked_off()), (counts, true));
}

#[test]
fn a_skipped_item_goes_to_others_and_does_not_hold_up_the_next_draw() {
    let mut book = book(1, 1);
    let skip = Answer {
        id: "s".to_owned(),
        reviewer: "ana".to_owned(),
        kind: AnswerKind::Skip,
        passed: None,
        comment: None,
        flagged: false,
        at: UnixNanos(0),
    };
    let undo = Answer { id: "u".to_owned(), kind: AnswerKind::Undo, ..skip.clone() };
    book.apply("item0", skip);
    assert!(book.is_worked_off() && asked(&mut book, "ana", 1, 0).is_empty());
    assert_eq!(asked(&mut book, "ben", 1, 0), ["item0"]);
    assert!(book.accept("item0", "ben", AnswerKind::Undo).is_err());
    assert!(book.accept("item0", "ana", AnswerKind::Undo).is_ok());
    book.apply("item0", undo);
    assert!(!book.is_worked_off());
    let known = |id: &str, who: &str| book.known("item0", id, who).map(|found| found.is_some());
    assert!(matches!((known("s", "ana"), known("x", "ana")), (Ok(true), Ok(false))));
    assert!(matches!(known("s", "ben"), Err(Refused::Taken(_))), "an id shows nothing to others");
    assert!(matches!(book.accept("other", "ana", AnswerKind::Answer), Err(Refused::Unknown(_))));
}

#[test]
fn an_item_that_was_sent_by_hand_is_drawn_all_the_same_and_keeps_its_answers() {
    let mut sent = drawn(0);
    (sent.drawn.draw, sent.drawn.label_probability) = (SENT.to_owned(), 0.0);
    let mut book = Book::new(1);
    book.add(vec![sent.clone()]);
    assert!(book.get("item0").is_some() && !book.has_drawn("item0") && !book.is_worked_off());
    assert_eq!(says(&mut book, "ana", "item0", true), State::Final(true));
    book.add(vec![drawn(0)]);
    // Rows are read in any order.
    book.add(vec![sent]);
    let entry = book.get("item0").unwrap();
    assert_eq!(
        (entry.drawn.draw.as_str(), entry.drawn.label_probability, entry.answers.len()),
        ("d", 0.5, 1)
    );
    assert!(book.has_drawn("item0") && book.is_worked_off());
}
