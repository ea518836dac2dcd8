//! Reviews of a file into a queue: all of them as one frame, or none.

use super::answer::{Answer, Edit};
use super::book::{Book, Counts, Entry};
use super::definition::is_name;
use super::export::operator;
use super::file::FileReview;
use super::queues::{Queues, admitted, rows, written};
use super::sent::{Reviewer, Said};
use super::shown::{Texts, texts};
use super::stored::Queue;
use super::template::{Template, TemplateKind};
use crate::domain::time::UnixNanos;
use crate::lab::error::{Fault, LabError, MAX_FAULTS};
use crate::lab::experiment::AutoEval;
use crate::lab::store::Who;
use crate::schema::batch::{Annotation, AnswerKind, ReviewAnswer};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Most reviews of a file.
const MAX_REVIEWS: usize = 20_000;
/// Most answers to one item, skips and those that were taken back among them: each looks at those before it.
const MAX_ANSWERS: usize = 200;
/// The times of two answers to one item differ by so much at least, so that their order stays.
const APART: i64 = 1_000;

/// What came of a file.
#[derive(Debug, Serialize)]
pub struct ImportedReviews {
    /// The queue.
    pub queue_id: String,
    /// Its name.
    pub name: String,
    /// Reviews that are stored now.
    pub stored: usize,
    /// Reviews that an earlier import of them stored.
    pub there: usize,
    /// How many items stand where.
    pub counts: Counts,
}

/// What is about to be written.
#[derive(Default)]
struct Next {
    answers: Vec<ReviewAnswer>,
    labels: Vec<Annotation>,
    there: usize,
}

impl Queues {
    /// Takes the reviews of a file as answers of those whom it names, at the times that it tells, and redacted as others. When it
    /// returns they are on the disk, with the labels that they make. What was taken before is left as it is.
    ///
    /// # Errors
    /// [`LabError::Faults`] with everything that is wrong, by line: nothing is stored then. [`LabError::Conflict`] in a queue
    /// that is closed.
    pub async fn import(
        &self,
        who: &Who,
        named: &str,
        reviews: Vec<FileReview>,
    ) -> Result<ImportedReviews, LabError> {
        if reviews.len() > MAX_REVIEWS {
            let why = format!("{} reviews, at most {MAX_REVIEWS}: cut the file in parts", reviews.len());
            return Err(LabError::Limit(why));
        }
        let queue = self.open(who, named).await?;
        let entries: Vec<Entry> =
            self.entries(who, &queue).await?.into_iter().map(|(entry, _)| entry).collect();
        let known = Places::of(&entries, &texts(self.experiments(), who, &queue, &entries).await?);
        let shelf = self.shelf(&queue);
        let mut slot = shelf.lock().await;
        // Whoever closes it waits for the shelf, too.
        let queue = self.open(who, &queue.row.queue_id).await?;
        // A copy: what is wrong leaves the book as it is, and who holds which item.
        let mut book = self.read(&mut slot, who, &queue).await?.clone();
        let mut next = Next::default();
        let faults = self.taken(who, (&queue, &mut book), known.placed(reviews), &mut next);
        if !faults.is_empty() {
            return Err(LabError::Faults(faults));
        }
        let (stored, counts) = (next.answers.len(), book.counts(&who.name));
        let done = match written(&next.answers, &next.labels) {
            Ok(parts) if stored > 0 => self.store().write(parts).await,
            made => made.map(|_| ()),
        };
        if let Err(error) = done {
            // What is stored then is not known here: it is read again.
            *slot = None;
            return Err(error);
        }
        *slot = Some(book);
        let (queue_id, name) = (queue.row.queue_id.clone(), queue.row.name.clone());
        Ok(ImportedReviews { queue_id, name, stored, there: next.there, counts })
    }

    /// Puts reviews into the book, one after the other; what is wrong with them.
    fn taken(
        &self,
        who: &Who,
        (queue, book): (&Queue, &mut Book),
        reviews: Vec<(FileReview, Option<String>)>,
        next: &mut Next,
    ) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (review, item) in reviews {
            let Some(item) = item else {
                let why = format!(
                    "the queue has no item of the run {:?}, and none or several that ask {:?}",
                    review.of, review.question
                );
                faults.push(Fault::new(why).on(review.place));
                continue;
            };
            match self.one(who, (queue, &*book), (&review, &item), next) {
                Ok(None) => next.there += 1,
                Ok(Some(answer)) => book.apply(&item, answer),
                Err(LabError::Faults(wrong)) => {
                    faults.extend(wrong.into_iter().map(|fault| fault.on(review.place)));
                }
                Err(error) => faults.push(Fault::new(error.to_string()).on(review.place)),
            }
        }
        faults.truncate(MAX_FAULTS);
        faults
    }

    /// The answer that a review is, with its rows; none if it is there.
    fn one(
        &self,
        who: &Who,
        (queue, book): (&Queue, &Book),
        (review, item): (&FileReview, &str),
        next: &mut Next,
    ) -> Result<Option<Answer>, LabError> {
        let entry = book.find(item)?;
        let said =
            said(review, (queue.templates.as_slice(), entry.asked.as_slice()), id(queue, item, review));
        if entry.answers.iter().any(|one| Some(&one.id) == said.answer_id.as_ref()) {
            return Ok(None);
        }
        if entry.answers.len() >= MAX_ANSWERS {
            return Err(LabError::Limit(format!(
                "the item {item:?} has {MAX_ANSWERS} answers: no more are read"
            )));
        }
        if !is_name(&review.reviewer) {
            let why = format!("the name of the reviewer {:?} is too long, or empty", review.reviewer);
            return Err(LabError::Wrong(why));
        }
        let reviewer =
            Reviewer { who: who.clone(), name: review.reviewer.clone(), is_chief: true, sees_all: true };
        let kind = match review.kind {
            None | Some(AnswerKind::Answer | AnswerKind::Adjudication) => AnswerKind::Answer,
            Some(kind) => kind,
        };
        let kind = book.accept(entry, &reviewer.name, kind)?;
        admitted(queue, &reviewer, kind == AnswerKind::Adjudication)?;
        let mut answer = self.answer(&reviewer, (queue, entry), kind, said)?;
        let now = answer.at;
        let last = entry.answers.last().map_or(i64::MIN, |last| last.at.0.saturating_add(APART));
        answer.at = UnixNanos(review.at().map_or(now, |at| at.min(now)).0.max(last));
        let (before, after) = (book.state_of(entry), book.after(entry, &answer));
        let (row, labels) = rows(queue, entry, &answer, (&before, &after));
        next.answers.push(row);
        next.labels.extend(labels);
        Ok(Some(answer))
    }
}

/// Which item a review is of.
struct Places {
    by_id: HashMap<String, Option<String>>,
    by_question: HashMap<String, Option<String>>,
}

impl Places {
    fn of(entries: &[Entry], texts: &Texts) -> Self {
        let mut places = Self { by_id: HashMap::new(), by_question: HashMap::new() };
        // What names several items names none.
        let put = |into: &mut HashMap<String, Option<String>>, key: String, item: &str| {
            let known = into.entry(key).or_insert_with(|| Some(item.to_owned()));
            if known.as_deref() != Some(item) {
                *known = None;
            }
        };
        for entry in entries {
            let item = entry.chosen.item.as_str();
            let id = entry.run_id().map_or_else(|| entry.chosen.trace_id.to_string(), str::to_owned);
            put(&mut places.by_id, id, item);
            if let Some(asked) = texts.get(item).and_then(|shown| shown.content.question.as_deref()) {
                put(&mut places.by_question, asked.trim().to_owned(), item);
            }
        }
        places
    }

    /// Each review with its item, those of one item in the order of their times.
    fn placed(&self, reviews: Vec<FileReview>) -> Vec<(FileReview, Option<String>)> {
        let item = |review: &FileReview| {
            let found = self.by_id.get(&review.of).or_else(|| self.by_question.get(review.question.trim()));
            found.cloned().flatten()
        };
        let mut placed: Vec<(FileReview, Option<String>)> = reviews
            .into_iter()
            .map(|review| {
                let item = item(&review);
                (review, item)
            })
            .collect();
        // One without a time comes last.
        placed.sort_by_key(|(review, _)| review.at().unwrap_or(UnixNanos(i64::MAX)));
        placed
    }
}

/// What a review says, in the words of the queue.
fn said(review: &FileReview, (templates, asked): (&[Template], &[AutoEval]), answer_id: String) -> Said {
    let mut auto_evals = review.edits.clone();
    let mut left: Vec<&AutoEval> = asked.iter().collect();
    for (name, verdict) in &review.verdicts {
        let at = left.iter().position(|one| operator(one) == *name || one.key() == *name);
        // What is not asked for is told by its own name.
        let key = at.map_or_else(|| name.clone(), |at| left.remove(at).key());
        auto_evals.insert(key, Edit { response: *verdict, feedback: None });
    }
    let value = |(name, value): (&String, &Value)| {
        let kind = templates.iter().find(|template| template.name == *name).map(|template| template.kind);
        let number = value.as_str().and_then(|text| text.trim().parse::<f64>().ok());
        let value = match (kind, number) {
            (Some(TemplateKind::Numerical), Some(number)) => json!(number),
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    Said {
        answer_id: Some(answer_id),
        templates: review.templates.iter().map(value).collect(),
        auto_evals,
        comment: review.comment.clone(),
        flagged: review.flagged,
        seconds: review.seconds,
        ..Said::default()
    }
}

/// Identity of an imported answer: the same review is the same one, whichever of its forms it comes in.
fn id(queue: &Queue, item: &str, review: &FileReview) -> String {
    let at = review.at().map(UnixNanos::millis);
    let text = format!("import\0{}\0{item}\0{}\0{at:?}", queue.row.queue_id, review.reviewer);
    hex::encode(&Sha256::digest(text)[..16])
}

#[cfg(test)]
mod tests {
    use super::super::answer::Verdict;
    use super::*;

    #[test]
    fn verdicts_are_of_the_checks_that_have_their_operator_in_their_order() {
        let named = |at: usize, operator: &str| {
            let name = format!("check/{at}/{operator}");
            AutoEval::named(&format!("client/{name}"), &name)
        };
        let asked = [named(0, "includes"), named(1, "includes"), AutoEval::named("rouge", "rouge_l")];
        let templates: Vec<Template> =
            serde_json::from_value(json!([{"name": "grade", "type": "numerical"}])).unwrap();
        let review = FileReview {
            verdicts: ["includes", "rouge/rouge_l", "includes", "other"]
                .iter()
                .zip([Verdict::Pass, Verdict::Pass, Verdict::Fail, Verdict::Fail])
                .map(|(name, verdict)| ((*name).to_owned(), verdict))
                .collect(),
            templates: [("grade".to_owned(), json!(" 4.5 "))].into(),
            ..FileReview::default()
        };
        let said = said(&review, (&templates[..], &asked[..]), "a".to_owned());
        let told: Vec<(&str, Verdict)> =
            said.auto_evals.iter().map(|(key, edit)| (key.as_str(), edit.response)).collect();
        let wanted = [
            ("client/check/0/includes", Verdict::Pass),
            ("client/check/1/includes", Verdict::Fail),
            ("other", Verdict::Fail),
            ("rouge/rouge_l", Verdict::Pass),
        ];
        assert_eq!((told.as_slice(), &said.templates["grade"]), (&wanted[..], &json!(4.5)));
    }
}
