use super::super::answer::Response;
use super::*;
use crate::domain::id::TraceId;
use crate::schema::batch::ItemOfQueue;
use serde_json::json;

const LEASE: Duration = Duration::from_mins(15);

fn chosen(n: u8, priority: i64) -> Entry {
    let item = ReviewItem {
        item: format!("item{n}"),
        draw: "q".to_owned(),
        metric: "q".to_owned(),
        trace_id: TraceId([n + 1; 16]),
        span_id: None,
        span_time: UnixNanos(0),
        evaluator: String::new(),
        evaluator_version: String::new(),
        value: None,
        threshold: None,
        passed: None,
        inclusion_probability: 1.0,
        label_probability: 1.0,
        uncertainty: 1.0,
        population: 3,
        population_from: UnixNanos(0),
        population_until: UnixNanos(0),
        drawn_at: UnixNanos(0),
        tenant: "t".into(),
        of_queue: Some(ItemOfQueue { queue_id: "q".to_owned(), priority, ..ItemOfQueue::default() }),
    };
    Entry::new(item, Vec::new())
}

fn book(needed: usize) -> Book {
    let tone = json!([{"name": "tone", "type": "categorical", "categories": ["polite", "rude"]}]);
    let mut book = Book::new(Rules { needed, templates: serde_json::from_value(tone).unwrap() });
    book.add((0..3).map(|n| chosen(n, i64::from(n == 2))).collect());
    book
}

fn says(book: &mut Book, who: &str, item: &str, kind: AnswerKind, tone: &str) {
    let kind = book.accept(book.find(item).unwrap(), who, kind).unwrap();
    let mut response = Response::default();
    response.templates.insert("tone".to_owned(), json!(tone));
    let (id, reviewer) = (format!("{who}{item}"), who.to_owned());
    let answer = Answer {
        id,
        reviewer,
        kind,
        response,
        comment: None,
        flagged: false,
        seconds: None,
        at: UnixNanos(0),
    };
    book.apply(item, answer);
}

fn ids(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.chosen.item.as_str()).collect()
}

#[test]
fn two_people_do_not_get_the_same_item_until_the_lease_ends() {
    let (mut book, now) = (book(1), UnixNanos(1_000));
    assert_eq!(ids(&book.claim("ana", (1, false), now, LEASE)), ["item2"], "what is urgent comes first");
    assert_eq!(ids(&book.claim("ben", (5, false), now, LEASE)), ["item0", "item1"]);
    assert_eq!(ids(&book.claim("ana", (5, false), now, LEASE)), ["item2"], "who has an item gets it again");
    let later = UnixNanos(now.0 + crate::units::nanos(LEASE) + 1);
    assert_eq!(ids(&book.claim("ben", (5, false), later, LEASE)), ["item2", "item0", "item1"]);
}

#[test]
fn answers_that_differ_go_to_somebody_who_gave_none() {
    let (mut book, now) = (book(2), UnixNanos(0));
    says(&mut book, "ana", "item0", AnswerKind::Answer, "polite");
    assert!(!ids(&book.claim("ana", (5, false), now, LEASE)).contains(&"item0"), "nobody gets an item twice");
    says(&mut book, "ben", "item0", AnswerKind::Answer, "rude");
    assert!(book.claim("ana", (5, true), now, LEASE).is_empty());
    assert_eq!(ids(&book.claim("cleo", (5, true), now, LEASE)), ["item0"]);
    says(&mut book, "cleo", "item0", AnswerKind::Answer, "rude");
    let counts = book.counts("ben");
    assert_eq!((counts.items, counts.open, counts.adjudicate, counts.labelled), (3, 2, 0, 1));
    assert_eq!((counts.mine, counts.with_label, counts.agreed), (1, 1, 1));
    assert_eq!(book.counts("ana").agreed, 0);

    let entry = book.find("item0").unwrap();
    assert!(matches!(book.accept(entry, "ben", AnswerKind::Answer), Err(LabError::Conflict(_))));
    assert!(matches!(book.accept(entry, "dan", AnswerKind::Undo), Err(LabError::Conflict(_))));
    assert!(matches!(book.find("nothing"), Err(LabError::Missing(_))));
    says(&mut book, "cleo", "item0", AnswerKind::Undo, "");
    assert_eq!(book.state_of(book.find("item0").unwrap()), State::Adjudicate);
}
