//! The queue of items to label: loads what was drawn and answered, draws more, leases, takes answers.

use super::ask::{rows, text};
use super::book::{Book, Counts, Entry, Refused, Wanted};
use super::config::Config;
use super::content::{Content, content};
use super::draw::{Draw, Scored, by_hand, is_sent, item_id, numbers};
use super::fault::LabelError;
use super::item::{Answer, State, standing};
use super::rows::load;
use super::verdict::{FAIL, PASS, WITHDRAWN, verdict, word};
use crate::domain::time::UnixNanos;
use crate::ingest::Receiver;
use crate::schema::batch::{Annotation, AnswerKind, ReviewAnswer, ReviewItem};
use crate::sql::Sql;
use crate::stats::calibration::Calibrated;
use datafusion::common::ScalarValue;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Most items that are given at once.
pub const MAX_COUNT: usize = 10;
/// Most metrics whose items are held.
const MAX_BOOKS: usize = 1_000;
/// Longest name of a metric, bytes.
const MAX_NAME: usize = 256;

/// The columns of [`Scored`].
const SCORED: &str = "trace_id, span_id, CAST(span_time AS BIGINT) AS span_time, evaluator, evaluator_version, value, threshold, \
     passed, inclusion_probability";

/// A book, or none before it was read from the tables.
type Shelf = Arc<tokio::sync::Mutex<Option<Book>>>;

/// The queue of items to label.
pub struct Review {
    sql: Arc<Sql>,
    receiver: Receiver,
    config: Config,
    books: Mutex<HashMap<(String, String), Shelf>>,
}

/// Who asks for items, and for which.
#[derive(Debug, Clone)]
pub struct Wish<'a> {
    /// Whose items.
    pub tenant: &'a str,
    /// The metric.
    pub metric: &'a str,
    /// Who answers.
    pub reviewer: &'a str,
    /// How many.
    pub count: usize,
    /// Whether items are wanted whose answers differ.
    pub adjudicates: bool,
}

/// What is said of an item.
#[derive(Debug, Clone)]
pub struct Said<'a> {
    /// Whose item.
    pub tenant: &'a str,
    /// The metric.
    pub metric: &'a str,
    /// The item.
    pub item: &'a str,
    /// Who says it.
    pub reviewer: &'a str,
    /// Identity of the answer.
    pub id: String,
    /// What it does.
    pub kind: AnswerKind,
    /// The label of an answer.
    pub label: Option<String>,
    /// Why.
    pub comment: Option<String>,
    /// Whether it should be looked at again.
    pub flagged: bool,
    /// How long it took, seconds.
    pub seconds: Option<f64>,
}

/// What somebody sends to the queue.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// The metric.
    pub metric: String,
    /// The trace, as hexadecimal text.
    pub trace_id: String,
    /// The span that was judged; without it the one that was judged last.
    #[serde(default)]
    pub span_id: Option<String>,
}

impl Review {
    /// The queue over `sql`, whose calibrations tell where an evaluator is unsure; what it writes goes through `receiver`.
    pub fn new(sql: Arc<Sql>, receiver: Receiver, config: Config) -> Self {
        Self { sql, receiver, config, books: Mutex::default() }
    }

    /// The engine of queries.
    pub fn sql(&self) -> &Sql {
        &self.sql
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Items for a reviewer, each leased; draws new ones where none is left. When it returns, what was drawn is on the disk.
    ///
    /// # Errors
    /// [`LabelError`].
    pub async fn next(&self, wish: &Wish<'_>) -> Result<Value, LabelError> {
        let shelf = self.shelf(wish.tenant, wish.metric)?;
        let (given, states, counts, agreed) = {
            let mut slot = shelf.lock().await;
            let book = self.read(&mut slot, wish.tenant, wish.metric).await?;
            let (now, lease) = (self.receiver.now(), self.config.lease);
            let wanted = if wish.adjudicates { Wanted::Differing } else { Wanted::Open };
            let mut given = book.next(wish.reviewer, wish.count, wanted, now, lease);
            if given.is_empty() && !wish.adjudicates && book.is_worked_off() {
                self.draw(book, wish.tenant, wish.metric).await?;
                given = book.next(wish.reviewer, wish.count, Wanted::Open, now, lease);
            }
            let states: Vec<State> = given.iter().map(|entry| book.state_of(entry)).collect();
            (given, states, book.counts(wish.reviewer), book.agreed(wish.reviewer))
        };
        let mut items = Vec::with_capacity(given.len());
        for (entry, state) in given.iter().zip(states) {
            let content = content(&self.sql, wish.tenant, entry.drawn.trace_id, entry.drawn.span_id).await?;
            items.push(shown(entry, state, &content));
        }
        Ok(json!({
            "metric": wish.metric, "reviewer": wish.reviewer, "question": self.question(wish.metric),
            "labels": [PASS[0], FAIL[0]], "reviews_per_item": self.config.reviews_per_item,
            "lease_seconds": self.config.lease.as_secs(), "items": items, "counts": counts,
            "own": {"answered": counts.mine, "with_label": agreed.0, "agreed": agreed.1},
            "why_none": items.is_empty().then(|| why_none(wish, counts)),
        }))
    }

    /// Puts an item into the queue because somebody wants a label for it, unless it is there, and tells where it stands. When it
    /// returns, it is on the disk.
    ///
    /// # Errors
    /// [`LabelError`], also where the metric has no verdict on it.
    pub async fn send(&self, tenant: &str, chosen: &Chosen) -> Result<Value, LabelError> {
        let metric = chosen.metric.as_str();
        let shelf = self.shelf(tenant, metric)?;
        let scored = self.verdict_on(tenant, chosen).await?;
        let id = item_id(tenant, metric, &scored.trace_id, scored.span_id.as_deref());
        let mut slot = shelf.lock().await;
        let book = self.read(&mut slot, tenant, metric).await?;
        let is_new = book.get(&id).is_none();
        if is_new {
            let item = by_hand(tenant, metric, scored, self.receiver.now());
            let item = item.ok_or_else(|| LabelError::Wrong("trace_id or span_id is no id".to_owned()))?;
            self.receiver.labels(std::slice::from_ref(&item), &[], &[]).await?;
            book.add(vec![Entry::new(item, Vec::new(), 0)]);
        }
        let state = book.get(&id).map_or(State::Open, |entry| book.state_of(entry));
        Ok(json!({"item": id, "metric": metric, "state": state.as_str(), "is_new": is_new}))
    }

    /// The newest score of what was chosen.
    async fn verdict_on(&self, tenant: &str, chosen: &Chosen) -> Result<Scored, LabelError> {
        let query = format!(
            "SELECT {SCORED} FROM scores_latest WHERE metric = $1 AND trace_id = $2 AND coalesce(span_id = $3, true) \
             AND status = 'ok' AND passed IS NOT NULL ORDER BY evaluated_at DESC, evaluator, span_id LIMIT 1"
        );
        let span = ScalarValue::Utf8(chosen.span_id.clone());
        let values = vec![text(&chosen.metric), text(&chosen.trace_id), span];
        let found: Vec<Scored> = rows(&self.sql, tenant, &query, values).await?;
        let Some(scored) = found.into_iter().next() else {
            return Err(LabelError::Wrong(format!(
                "{:?} has no verdict on this trace and span, so there is nothing to label: scores_latest tells what was judged",
                chosen.metric
            )));
        };
        Ok(scored)
    }

    /// Takes what a reviewer says of an item, and tells where the item stands then, what the evaluator said and what others
    /// did. When it returns, it is on the disk. The same id sent again is taken once.
    ///
    /// # Errors
    /// [`LabelError`].
    pub async fn take(&self, sent: Said<'_>) -> Result<Value, LabelError> {
        let passed = passed(&sent)?;
        let shelf = self.shelf(sent.tenant, sent.metric)?;
        let mut slot = shelf.lock().await;
        let book = self.read(&mut slot, sent.tenant, sent.metric).await?;
        if let Some(entry) = book.known(sent.item, &sent.id, sent.reviewer)? {
            return Ok(told(entry, book.state_of(entry)));
        }
        let (entry, kind) = book.accept(sent.item, sent.reviewer, sent.kind)?;
        let at = self.receiver.now();
        let answer = Answer {
            id: sent.id.clone(),
            reviewer: sent.reviewer.to_owned(),
            kind,
            passed,
            comment: sent.comment.clone(),
            flagged: sent.flagged,
            at,
        };
        let (before, after) = book.change(entry, &answer);
        let final_label = (before.label() != after.label()).then(|| annotation(entry, &answer, after));
        let row = ReviewAnswer {
            answer_id: sent.id,
            item: entry.drawn.item.clone(),
            metric: entry.drawn.metric.clone(),
            trace_id: entry.drawn.trace_id,
            span_id: entry.drawn.span_id,
            reviewer: answer.reviewer.clone(),
            kind,
            label: passed.map(word),
            comment: sent.comment,
            flagged: sent.flagged,
            seconds: sent.seconds.filter(|s| s.is_finite() && *s >= 0.0),
            created_at: at,
            tenant: sent.tenant.into(),
            of_queue: None,
        };
        self.receiver.labels(&[], &[row], &final_label.into_iter().collect::<Vec<_>>()).await?;
        metrics::counter!("groundline_labels_answers_total", "kind" => kind.as_str()).increment(1);
        let entry =
            book.apply(sent.item, answer).ok_or_else(|| Refused::Unknown(sent.item.to_owned()))?.clone();
        Ok(told(&entry, book.state_of(&entry)))
    }

    /// Every item that was drawn for `metric`, with its answers and its state.
    ///
    /// # Errors
    /// [`LabelError`].
    pub async fn entries(&self, tenant: &str, metric: &str) -> Result<Vec<(Entry, State)>, LabelError> {
        let shelf = self.shelf(tenant, metric)?;
        let mut slot = shelf.lock().await;
        Ok(self.read(&mut slot, tenant, metric).await?.all())
    }

    /// How many items of `metric` stand where, for `reviewer`.
    ///
    /// # Errors
    /// [`LabelError`].
    pub async fn counts(&self, tenant: &str, metric: &str, reviewer: &str) -> Result<Counts, LabelError> {
        let shelf = self.shelf(tenant, metric)?;
        let mut slot = shelf.lock().await;
        Ok(self.read(&mut slot, tenant, metric).await?.counts(reviewer))
    }

    /// What is asked of a reviewer.
    pub fn question(&self, metric: &str) -> String {
        let ours = || format!("Does the answer pass on {}?", metric.replace('_', " "));
        self.config.questions.get(metric).cloned().unwrap_or_else(ours)
    }

    fn shelf(&self, tenant: &str, metric: &str) -> Result<Shelf, LabelError> {
        if metric.is_empty() || metric.len() > MAX_NAME {
            return Err(LabelError::Wrong(format!(
                "metric must have 1 to {MAX_NAME} bytes, such as hallucination"
            )));
        }
        let mut books = self.books.lock();
        let key = (tenant.to_owned(), metric.to_owned());
        if !books.contains_key(&key) && books.len() >= MAX_BOOKS {
            return Err(LabelError::Wrong(format!(
                "more than {MAX_BOOKS} metrics are labelled; is {metric:?} one?"
            )));
        }
        Ok(books.entry(key).or_default().clone())
    }

    /// The book in `slot`, read from the tables if it was not yet.
    async fn read<'a>(
        &self,
        slot: &'a mut Option<Book>,
        tenant: &str,
        metric: &str,
    ) -> Result<&'a mut Book, LabelError> {
        let book = match slot.take() {
            Some(book) => book,
            None => load(&self.sql, tenant, metric, self.config.reviews_per_item).await?,
        };
        Ok(slot.insert(book))
    }

    /// Draws from what was evaluated since the last draw. The drawn items are durable before they are in the book.
    async fn draw(&self, book: &mut Book, tenant: &str, metric: &str) -> Result<(), LabelError> {
        let now = self.receiver.now();
        let earliest = now.0.saturating_sub(crate::units::nanos(self.config.window));
        let from = UnixNanos(book.until().map_or(earliest, |until| until.0.max(earliest)));
        const WHERE: &str = "FROM scores_latest WHERE metric = $1 AND status = 'ok' AND passed IS NOT NULL AND evaluated_at > $2";
        let values = vec![text(metric), moment(from)];
        let query = format!("SELECT count(*) AS n, max(CAST(evaluated_at AS BIGINT)) AS until {WHERE}");
        let found: Vec<Population> = rows(&self.sql, tenant, &query, values.clone()).await?;
        let Some(Population { n, until: Some(until) }) = found.into_iter().next() else { return Ok(()) };
        let until = UnixNanos(until.saturating_mul(1_000));
        let part = (self.config.max_population as f64 / n as f64).min(1.0);
        // Ids of scores are digests: those below a bound are a random part.
        let bound =
            if part < 1.0 { format!("{:08x}", (part * f64::from(u32::MAX)) as u32) } else { "g".to_owned() };
        let query = format!(
            "SELECT {SCORED} {WHERE} AND evaluated_at <= $3 AND score_id < $4 AND trace_id IS NOT NULL \
             ORDER BY evaluated_at DESC"
        );
        let values = values.into_iter().chain([moment(until), text(&bound)]).collect();
        let scored: Vec<Scored> = rows(&self.sql, tenant, &query, values).await?;
        let id = uuid::Uuid::now_v7().to_string();
        let draw = Draw {
            id: &id,
            tenant,
            metric,
            from,
            until,
            population: n,
            part,
            wanted: self.config.draw_size,
            even_share: self.config.even_share,
            now,
        };
        // Those of now: they may have been read again since the last draw.
        let curves = self.sql.calibrations();
        let mut drawn = draw.choose(scored, |row| probability(&curves, metric, row));
        // An item is asked about once, however often it is evaluated. One that was sent by hand is drawn like any other: a draw
        // that left it out would bend the rate.
        drawn.retain(|item| !book.has_drawn(&item.item));
        if drawn.is_empty() {
            return Ok(());
        }
        let labels: Vec<Annotation> = drawn.iter().filter_map(|item| label_before(book, item, now)).collect();
        self.receiver.labels(&drawn, &[], &labels).await?;
        metrics::counter!("groundline_labels_drawn_total").increment(drawn.len() as u64);
        let entry = |item: ReviewItem| {
            let order = numbers(&id, &item.item).1;
            Entry::new(item, Vec::new(), order)
        };
        book.add(drawn.into_iter().map(entry).collect());
        Ok(())
    }
}

/// The probability that a person passes the item, where its evaluator is calibrated.
fn probability(curves: &[Calibrated], metric: &str, row: &Scored) -> Option<f64> {
    let curve = curves.iter().find(|one| one.is_of(&row.evaluator, &row.evaluator_version, metric))?;
    Some(curve.curve.probability(row.value?))
}

/// The verdict of an answer that must have one.
fn passed(sent: &Said<'_>) -> Result<Option<bool>, LabelError> {
    match (sent.kind, &sent.label) {
        (AnswerKind::Answer | AnswerKind::Adjudication, Some(label)) => match verdict(label) {
            Some(passed) => Ok(Some(passed)),
            None => {
                Err(LabelError::Wrong(format!("label is {label:?}: an item is answered with pass or fail")))
            }
        },
        (AnswerKind::Answer | AnswerKind::Adjudication, None) => {
            Err(LabelError::Wrong("label is missing: an item is answered with pass or fail".to_owned()))
        }
        (AnswerKind::Skip | AnswerKind::Undo, _) => Ok(None),
    }
}

/// The row of `annotations` that an item's new state asks for: its label, or that it has none any longer.
fn annotation(entry: &Entry, answer: &Answer, state: State) -> Annotation {
    let drawn = &entry.drawn;
    let label = state.label().map_or(WITHDRAWN, word);
    let mut who: Vec<&str> = standing(&entry.answers)
        .into_iter()
        .filter(|one| one.kind == AnswerKind::Answer && answer.kind == AnswerKind::Answer)
        .map(|one| one.reviewer.as_str())
        .collect();
    who.push(&answer.reviewer);
    Annotation {
        annotation_id: uuid::Uuid::now_v7().to_string(),
        trace_id: drawn.trace_id,
        span_id: drawn.span_id,
        name: drawn.metric.clone(),
        label: Some(label.to_owned()),
        value: None,
        comment: answer.comment.clone(),
        annotator: Some(who.join(", ")),
        created_at: answer.at,
        tenant: drawn.tenant.clone(),
        item: (!is_sent(drawn)).then(|| drawn.item.clone()),
        label_probability: (!is_sent(drawn)).then_some(drawn.label_probability),
    }
}

/// The label of an item that had it before a draw chose it: from now on it counts with the probability of the draw.
fn label_before(book: &Book, item: &ReviewItem, now: UnixNanos) -> Option<Annotation> {
    let entry = book.get(&item.item)?;
    let state = book.state_of(entry);
    state.label()?;
    let last = standing(&entry.answers).into_iter().rfind(|one| one.kind != AnswerKind::Skip)?;
    let others = entry.answers.iter().filter(|one| one.id != last.id).cloned().collect();
    let answer = Answer { at: now, ..last.clone() };
    Some(annotation(&Entry::new(item.clone(), others, 0), &answer, state))
}

fn why_none(wish: &Wish<'_>, counts: Counts) -> String {
    match (wish.adjudicates, counts) {
        (true, _) => "no item has answers that differ and that you did not give".to_owned(),
        (_, Counts { drawn: 0, .. }) => format!(
            "no score of {:?} has a verdict in the time of labels.window; SELECT DISTINCT metric FROM scores_latest tells what there is",
            wish.metric
        ),
        (_, Counts { open: 0, .. }) => {
            "every item is labelled, and nothing was evaluated since the last draw".to_owned()
        }
        (_, Counts { open, .. }) => {
            format!("{open} items wait for others; those you have answered or skipped")
        }
    }
}

/// An item as a reviewer may see it before having answered: not what the evaluator said, and of others' answers nothing
/// unless they are to be decided between.
fn shown(entry: &Entry, state: State, content: &Content) -> Value {
    let drawn = &entry.drawn;
    let mut shown = json!({
        "item": drawn.item, "metric": drawn.metric, "trace_id": drawn.trace_id.to_string(),
        "span_id": drawn.span_id.map(|id| id.to_string()), "label_probability": drawn.label_probability,
        "state": state.as_str(), "content": content,
    });
    if state == State::Adjudicate {
        shown["answers"] = answers(entry);
    }
    shown
}

/// An item as who has answered it may see it.
fn told(entry: &Entry, state: State) -> Value {
    let drawn = &entry.drawn;
    json!({
        "item": drawn.item, "state": state.as_str(), "label": state.label().map(word),
        "evaluator": {"evaluator": drawn.evaluator, "version": drawn.evaluator_version, "value": drawn.value,
            "threshold": drawn.threshold, "passed": drawn.passed},
        "answers": answers(entry),
    })
}

fn answers(entry: &Entry) -> Value {
    let one = |answer: &Answer| {
        json!({"reviewer": answer.reviewer, "kind": answer.kind, "label": answer.passed.map(word),
            "comment": answer.comment, "flagged": answer.flagged})
    };
    standing(&entry.answers).into_iter().map(one).collect()
}

/// A moment as a value of a query.
fn moment(at: UnixNanos) -> ScalarValue {
    ScalarValue::TimestampMicrosecond(Some(at.micros()), Some("UTC".into()))
}

#[derive(Deserialize)]
struct Population {
    n: u64,
    #[serde(default)]
    until: Option<i64>,
}
