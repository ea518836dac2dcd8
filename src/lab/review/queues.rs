//! Making queues, giving items, taking answers.

use super::answer::{Answer, Response, State};
use super::book::{Book, Counts, Entry};
use super::definition::{NewQueue, Source};
use super::labels::annotations;
use super::sent::{Reviewer, Said, Wish};
use super::shown::{shown, texts, told};
use super::source;
use super::stored::{self, Queue};
use crate::lab::error::{Fault, LabError};
use crate::lab::experiment::{Experiments, find_experiment};
use crate::lab::store::{Store, Who};
use crate::schema::batch::{
    Annotation, AnswerKind, AnswerOfQueue, ReviewAnswer, ReviewItem, ReviewQueueRow, annotations_to_batch,
    answers_to_batch, items_to_batch, queues_to_batch,
};
use crate::schema::columns::Table;
use crate::schema::frame::Part;
use parking_lot::Mutex as Lock;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// How long an item is its reviewer's.
const LEASE: Duration = Duration::from_mins(15);
/// Most items that are given at once.
pub const MAX_COUNT: usize = 10;
/// Most queues whose items are held in memory.
const MAX_BOOKS: usize = 200;
/// Longest comment and longest id of an answer, bytes.
const MAX_COMMENT: usize = 20_000;
const MAX_ID: usize = 128;

/// A book, or none before it was read from the tables.
type Shelf = Arc<Mutex<Option<Book>>>;

/// The queues of all tenants. Cheap to clone.
#[derive(Clone)]
pub struct Queues {
    all: Experiments,
    books: Arc<Lock<HashMap<(String, String), Shelf>>>,
}

fn broken(error: arrow::error::ArrowError) -> LabError {
    LabError::Broken(error.to_string())
}

impl Queues {
    /// Over `all` experiments.
    pub fn new(all: Experiments) -> Self {
        Self { all, books: Arc::default() }
    }

    /// The experiments, and the tables behind them.
    pub fn experiments(&self) -> &Experiments {
        &self.all
    }

    pub(super) fn store(&self) -> &Store {
        self.all.store()
    }

    /// Makes a queue and fills it, and says how many items it has. Both are one frame.
    ///
    /// # Errors
    /// [`LabError::Faults`] with everything that is wrong, [`LabError::Wrong`] where there is nothing to review.
    pub async fn create(&self, who: &Who, new: NewQueue) -> Result<(Queue, usize), LabError> {
        let faults = new.faults();
        if !faults.is_empty() {
            return Err(LabError::Faults(faults));
        }
        let mut chosen = new.chosen();
        let mut experiment_id = None;
        if let Source::Experiment(name) = &new.source {
            let found = find_experiment(self.store(), &who.tenant, name).await?;
            chosen.source = Source::Experiment(found.experiment_id.clone());
            experiment_id = Some(found.experiment_id);
        }
        let made = self.store().made(who);
        let row = ReviewQueueRow {
            queue_id: uuid::Uuid::now_v7().to_string(),
            revision: 1,
            name: new.name,
            source_kind: new.source.kind().to_owned(),
            experiment_id,
            source: json!(chosen).to_string(),
            templates: (!new.templates.is_empty()).then(|| json!(new.templates).to_string()),
            instructions: new.instructions.filter(|text| !text.trim().is_empty()),
            reviews_per_item: i64::try_from(new.reviews_per_item).unwrap_or(i64::MAX),
            reviewers: new.reviewers,
            blind: new.blind,
            status: "open".to_owned(),
            opened_at: made.at,
            opened_by: made.by.clone(),
            completed_at: None,
            made,
        };
        let mut queue = Queue::new(row, chosen, new.templates);
        let found = source::items(&self.all, who, &queue).await?;
        queue.chosen.drawn = found.drawn;
        queue.row.source = json!(queue.chosen).to_string();
        if found.items.is_empty() && !queue.chosen.follows() {
            let why = "nothing of it is to be reviewed: no row, or no verdict where no template asks for one";
            return Err(LabError::Wrong(why.to_owned()));
        }
        let mut parts = vec![state(&queue.row)?];
        parts.extend(filled(&found.items)?);
        self.store().write(parts).await?;
        Ok((queue, found.items.len()))
    }

    /// The queue of that id or name.
    ///
    /// # Errors
    /// [`LabError::Missing`] if the tenant has none.
    pub async fn find(&self, who: &Who, named: &str) -> Result<Queue, LabError> {
        stored::find(self.store(), &who.tenant, named).await
    }

    /// The same, if it gives items and takes answers.
    ///
    /// # Errors
    /// As [`Queues::find`], and [`LabError::Conflict`] for one that is closed.
    pub(super) async fn open(&self, who: &Who, named: &str) -> Result<Queue, LabError> {
        let queue = self.find(who, named).await?;
        match queue.is_open() {
            true => Ok(queue),
            false => Err(LabError::Conflict(format!("the queue {:?} is closed", queue.row.name))),
        }
    }

    /// The queues that `reviewer` may see, with what stands where.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn list(&self, reviewer: &Reviewer) -> Result<Vec<(Queue, Counts)>, LabError> {
        let mut listed = Vec::new();
        for queue in stored::list(self.store(), &reviewer.who.tenant).await? {
            if reviewer.sees_all || queue.admits(&reviewer.name) {
                let counts = self.counts(reviewer, &queue).await?;
                listed.push((queue, counts));
            }
        }
        Ok(listed)
    }

    /// How many items of a queue stand where, for `reviewer`.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn counts(&self, reviewer: &Reviewer, queue: &Queue) -> Result<Counts, LabError> {
        let shelf = self.shelf(queue);
        let mut slot = shelf.lock().await;
        let book = self.read(&mut slot, &reviewer.who, queue).await?;
        if queue.chosen.automatic {
            self.refresh(book, &reviewer.who, queue).await?;
        }
        Ok(book.counts(&reviewer.name))
    }

    /// Items for a reviewer, each leased for a quarter of an hour; in a queue over an experiment those of runs that came since,
    /// too.
    ///
    /// # Errors
    /// [`LabError::Denied`] in a queue of others, [`LabError::Conflict`] in one that is closed.
    pub async fn claim(&self, reviewer: &Reviewer, named: &str, wish: Wish) -> Result<Value, LabError> {
        let queue = self.open(&reviewer.who, named).await?;
        admitted(&queue, reviewer, wish.decides)?;
        let (given, counts) = {
            let shelf = self.shelf(&queue);
            let mut slot = shelf.lock().await;
            let book = self.read(&mut slot, &reviewer.who, &queue).await?;
            let asked = (wish.count, wish.decides);
            let mut given = book.claim(&reviewer.name, asked, self.store().now(), LEASE);
            if given.is_empty() && !wish.decides {
                self.refresh(book, &reviewer.who, &queue).await?;
                given = book.claim(&reviewer.name, asked, self.store().now(), LEASE);
            }
            let given: Vec<(Entry, State)> = given
                .into_iter()
                .map(|entry| {
                    let state = book.state_of(&entry);
                    (entry, state)
                })
                .collect();
            (given, book.counts(&reviewer.name))
        };
        let entries: Vec<Entry> = given.iter().map(|(entry, _)| entry.clone()).collect();
        let texts = texts(&self.all, &reviewer.who, &queue, &entries).await?;
        let items: Vec<Value> =
            given.iter().map(|(entry, state)| shown(&queue, entry, state, &texts)).collect();
        let mut answer = queue.told();
        answer["reviewer"] = json!(reviewer.name);
        answer["lease_seconds"] = json!(LEASE.as_secs());
        answer["counts"] = json!(counts);
        answer["why_none"] = json!(items.is_empty().then(|| why_none(wish, counts)));
        answer["items"] = Value::from(items);
        Ok(answer)
    }

    /// Takes what a reviewer says of an item, and tells where the item stands then, what evaluators said and what others did.
    /// When it returns it is on the disk, with the label if it made one.
    ///
    /// # Errors
    /// [`LabError::Faults`] with everything that is wrong with the answer, [`LabError::Denied`] in a queue of others,
    /// [`LabError::Conflict`] for an item that was answered, or in a queue that is closed.
    pub async fn take(
        &self,
        reviewer: &Reviewer,
        named: &str,
        item: &str,
        sent: Said,
    ) -> Result<Value, LabError> {
        let found = self.find(&reviewer.who, named).await?;
        let shelf = self.shelf(&found);
        let mut slot = shelf.lock().await;
        // Whoever closes it waits for the shelf, too.
        let queue = self.open(&reviewer.who, &found.row.queue_id).await?;
        let book = self.read(&mut slot, &reviewer.who, &queue).await?;
        let entry = book.find(item)?;
        let state = book.state_of(entry);
        let known = entry.answers.iter().find(|one| Some(&one.id) == sent.answer_id.as_ref());
        if let Some(known) = known {
            // What others said of an item is told to who answered it, not to who knows the id of an answer.
            if known.reviewer != reviewer.name {
                let why = format!("the answer_id is that of another reviewer's answer to {item:?}");
                return Err(LabError::Conflict(why));
            }
            return Ok(told(entry, &state, known.kind));
        }
        let kind = book.accept(entry, &reviewer.name, sent.kind.unwrap_or(AnswerKind::Answer))?;
        admitted(&queue, reviewer, kind == AnswerKind::Adjudication || kind == AnswerKind::Undo)?;
        let answer = self.answer(reviewer, (&queue, entry), kind, sent)?;
        let after = book.after(entry, &answer);
        let (row, labels) = rows(&queue, entry, &answer, (&state, &after));
        let parts = written(std::slice::from_ref(&row), &labels)?;
        if let Err(error) = self.store().write(parts).await {
            // What is stored then is not known here: it is read again.
            *slot = None;
            return Err(error);
        }
        metrics::counter!("groundline_labels_answers_total", "kind" => kind.as_str()).increment(1);
        book.apply(item, answer);
        let entry = book.find(item)?;
        Ok(told(entry, &book.state_of(entry), kind))
    }

    pub(super) fn answer(
        &self,
        reviewer: &Reviewer,
        (queue, entry): (&Queue, &Entry),
        kind: AnswerKind,
        mut sent: Said,
    ) -> Result<Answer, LabError> {
        let redact = |text: &mut String| self.all.datasets().redact(text);
        sent.comment.iter_mut().for_each(redact);
        sent.auto_evals.values_mut().filter_map(|edit| edit.feedback.as_mut()).for_each(redact);
        for value in sent.templates.values_mut() {
            if let Value::String(text) = value {
                redact(text);
            }
        }
        let mut faults = Vec::new();
        if sent.comment.as_ref().is_some_and(|text| text.len() > MAX_COMMENT) {
            faults.push(Fault::new(format!("longer than {MAX_COMMENT} bytes")).at("comment"));
        }
        if sent.answer_id.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_ID) {
            faults.push(Fault::new(format!("must have 1 to {MAX_ID} bytes")).at("answer_id"));
        }
        let is_answer = matches!(kind, AnswerKind::Answer | AnswerKind::Adjudication);
        let response = match is_answer {
            true => Response::taken(
                &sent.templates,
                sent.auto_evals,
                (queue.templates.as_slice(), entry.asked.as_slice()),
            ),
            false => Ok(Response::default()),
        };
        let response = response.unwrap_or_else(|wrong| {
            faults.extend(wrong);
            Response::default()
        });
        if !faults.is_empty() {
            return Err(LabError::Faults(faults));
        }
        Ok(Answer {
            id: sent.answer_id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string()),
            reviewer: reviewer.name.clone(),
            kind,
            response,
            comment: sent.comment.filter(|text| !text.trim().is_empty()),
            flagged: sent.flagged,
            seconds: sent.seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0),
            at: self.store().now(),
        })
    }

    /// Every item of a queue with its state.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn entries(&self, who: &Who, queue: &Queue) -> Result<Vec<(Entry, State)>, LabError> {
        let shelf = self.shelf(queue);
        let mut slot = shelf.lock().await;
        Ok(self.read(&mut slot, who, queue).await?.all())
    }

    /// Closes a queue: it gives no items and takes no answers any longer; its labels stay.
    ///
    /// # Errors
    /// [`LabError::Conflict`] for one that is closed.
    pub async fn close(&self, who: &Who, named: &str) -> Result<Queue, LabError> {
        let found = self.find(who, named).await?;
        let shelf = self.shelf(&found);
        // No answer comes in between.
        let _slot = shelf.lock().await;
        let mut queue = self.find(who, &found.row.queue_id).await?;
        if !queue.is_open() {
            return Err(LabError::Conflict(format!("the queue {:?} is closed already", queue.row.name)));
        }
        let made = self.store().made(who);
        queue.row.status = "closed".to_owned();
        queue.row.revision += 1;
        queue.row.completed_at = Some(made.at);
        queue.row.made = made;
        self.store().write(vec![state(&queue.row)?]).await?;
        Ok(queue)
    }

    pub(super) fn shelf(&self, queue: &Queue) -> Shelf {
        let mut books = self.books.lock();
        let key = (queue.row.made.tenant.clone(), queue.row.queue_id.clone());
        if books.len() >= MAX_BOOKS && !books.contains_key(&key) {
            // Those that nobody uses now are read again when they are wanted.
            books.retain(|_, shelf| Arc::strong_count(shelf) > 1);
        }
        books.entry(key).or_default().clone()
    }

    /// The book in `slot`, read from the tables if it was not yet; without items that were purged since.
    pub(super) async fn read<'a>(
        &self,
        slot: &'a mut Option<Book>,
        who: &Who,
        queue: &Queue,
    ) -> Result<&'a mut Book, LabError> {
        let restores = self.store().restores.now();
        let mut book = match slot.take() {
            Some(book) if book.restores == restores => book,
            before => {
                let mut book = stored::book(self.store(), &who.tenant, queue).await?;
                book.restores = restores;
                self.retire(&mut book, who, queue).await?;
                // Whoever's archive was restored: who holds an item goes on with it.
                before.into_iter().for_each(|before| book.keep_leases(before));
                book
            }
        };
        let item = |entry: &Entry| entry.chosen.of_queue.as_ref().and_then(|of| of.item_id.clone());
        book.retain(|entry| item(entry).is_some_and(|id| self.all.datasets().is_purged(&who.tenant, &id)));
        Ok(slot.insert(book))
    }

    /// Adds what came since. What an experiment adds to its own queue is in the tables; a queue over an experiment takes its
    /// new runs.
    async fn refresh(&self, book: &mut Book, who: &Who, queue: &Queue) -> Result<(), LabError> {
        let mut new = if queue.chosen.automatic {
            stored::items(self.store(), &who.tenant, &queue.row.queue_id).await?
        } else if queue.chosen.follows() {
            source::items(&self.all, who, queue).await?.items
        } else {
            return Ok(());
        };
        new.retain(|item| !book.has(&item.item));
        new.truncate(stored::MAX_ITEMS.saturating_sub(book.items()));
        if !queue.chosen.automatic
            && let Some(part) = filled(&new)?
        {
            self.store().write(vec![part]).await?;
        }
        book.add(new.into_iter().map(|item| Entry::new(item, Vec::new())).collect());
        self.retire(book, who, queue).await
    }

    /// Takes out runs that were asked again since, as far as nobody has answered.
    async fn retire(&self, book: &mut Book, who: &Who, queue: &Queue) -> Result<(), LabError> {
        let Some(id) = &queue.row.experiment_id else { return Ok(()) };
        let last = stored::attempts(self.store(), &who.tenant, id).await?;
        book.retain(|entry| {
            let attempt = entry.chosen.of_queue.as_ref().and_then(|of| of.attempt).unwrap_or(i64::MAX);
            let newer = entry.run_id().and_then(|run| last.get(run)).is_some_and(|last| *last > attempt);
            newer && entry.answers.is_empty()
        });
        Ok(())
    }
}

/// Items as a part of a frame; none without any.
fn filled(items: &[ReviewItem]) -> Result<Option<Part>, LabError> {
    if items.is_empty() {
        return Ok(None);
    }
    Ok(Some(Part::Rows(Table::ReviewItems, items_to_batch(items).map_err(broken)?)))
}

/// Who is not named by a queue decides in it at most, and with the role lab.
pub(super) fn admitted(queue: &Queue, reviewer: &Reviewer, decides: bool) -> Result<(), LabError> {
    if queue.admits(&reviewer.name) || (decides && reviewer.is_chief) {
        return Ok(());
    }
    Err(LabError::Denied(format!(
        "the queue {:?} has its own reviewers and {:?} is none of them: ask {}, who made it",
        queue.row.name, reviewer.name, queue.row.opened_by
    )))
}

/// What an answer writes: itself, and what it changes about the label.
pub(super) fn rows(
    queue: &Queue,
    entry: &Entry,
    answer: &Answer,
    states: (&State, &State),
) -> (ReviewAnswer, Vec<Annotation>) {
    let chosen = &entry.chosen;
    let of = chosen.of_queue.as_ref();
    let response = &answer.response;
    let row = ReviewAnswer {
        answer_id: answer.id.clone(),
        item: chosen.item.clone(),
        metric: chosen.metric.clone(),
        trace_id: chosen.trace_id,
        span_id: chosen.span_id,
        reviewer: answer.reviewer.clone(),
        kind: answer.kind,
        label: None,
        comment: answer.comment.clone(),
        flagged: answer.flagged,
        seconds: answer.seconds,
        created_at: answer.at,
        tenant: chosen.tenant.clone(),
        of_queue: Some(AnswerOfQueue {
            queue_id: queue.row.queue_id.clone(),
            run_id: of.and_then(|of| of.run_id.clone()),
            item_id: of.and_then(|of| of.item_id.clone()),
            response: (!response.templates.is_empty()).then(|| json!(response.templates).to_string()),
            auto_evals: (!response.auto_evals.is_empty()).then(|| json!(response.auto_evals).to_string()),
        }),
    };
    (row, annotations(queue, entry, answer, states))
}

/// The same as parts of a frame.
pub(super) fn written(answers: &[ReviewAnswer], labels: &[Annotation]) -> Result<Vec<Part>, LabError> {
    let mut parts = vec![Part::Rows(Table::ReviewAnswers, answers_to_batch(answers).map_err(broken)?)];
    if !labels.is_empty() {
        parts.push(Part::Rows(Table::Annotations, annotations_to_batch(labels).map_err(broken)?));
    }
    Ok(parts)
}

fn state(row: &ReviewQueueRow) -> Result<Part, LabError> {
    Ok(Part::Rows(Table::ReviewQueues, queues_to_batch(std::slice::from_ref(row)).map_err(broken)?))
}

fn why_none(wish: Wish, counts: Counts) -> String {
    match (wish.decides, counts) {
        (true, _) => "no item has answers that differ and that you did not give".to_owned(),
        (_, Counts { items: 0, .. }) => "the queue has no items yet".to_owned(),
        (_, Counts { open: 0, adjudicate: 0, .. }) => "every item has its label".to_owned(),
        (_, Counts { open: 0, adjudicate, .. }) => {
            format!("every item is answered; {adjudicate} wait for somebody who decides")
        }
        (_, Counts { open, .. }) => {
            format!("{open} items wait for others; those you have answered or skipped")
        }
    }
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
