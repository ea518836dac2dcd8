//! Reviews of a file: our own export as CSV or JSON, or another system's CSV with these columns.

use super::answer::{Edit, Verdict};
use super::export::AUTO;
use crate::domain::time::UnixNanos;
use crate::lab::error::{Fault, MAX_FAULTS};
use crate::lab::place::Place;
use crate::schema::batch::AnswerKind;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// What one person said of a test, as a file tells it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileReview {
    /// Where it stands.
    pub place: Place,
    /// The run or trace.
    pub of: String,
    /// What was asked.
    pub question: String,
    /// Who.
    pub reviewer: String,
    /// What it does; an answer where the file does not tell.
    pub kind: Option<AnswerKind>,
    /// When, as the file says it.
    pub completed_at: String,
    /// What else was said.
    pub comment: Option<String>,
    /// Whether it should be looked at again.
    pub flagged: bool,
    /// How long it took, seconds.
    pub seconds: Option<f64>,
    /// By name of the template.
    pub templates: BTreeMap<String, Value>,
    /// By evaluator and metric.
    pub edits: BTreeMap<String, Edit>,
    /// By operator, in their order, where the file does not name the evaluator.
    pub verdicts: Vec<(String, Verdict)>,
}

impl FileReview {
    /// When it was given, if the file tells it.
    pub fn at(&self) -> Option<UnixNanos> {
        let at = chrono::DateTime::parse_from_rfc3339(self.completed_at.trim()).ok()?;
        at.timestamp_nanos_opt().map(UnixNanos)
    }
}

/// The reviews of a file, in their order.
///
/// # Errors
/// Every fault with its line or number.
pub fn read(bytes: &[u8]) -> Result<Vec<FileReview>, Vec<Fault>> {
    let text = std::str::from_utf8(bytes).map_err(|_| vec![Fault::new("the file is no UTF-8 text")])?;
    let text = text.trim_start_matches('\u{feff}');
    let reviews = if text.trim_start().starts_with('{') { of_json(text)? } else { of_csv(text)? };
    match reviews.is_empty() {
        false => Ok(reviews),
        true => Err(vec![Fault::new(
            "no reviews: a CSV has a table with Test Result Id, Completed By and Reviewer Response, JSON has items with answers",
        )]),
    }
}

#[derive(Deserialize)]
struct Document {
    items: Vec<OfItem>,
}

#[derive(Deserialize)]
struct OfItem {
    run_id: Option<String>,
    trace_id: Option<String>,
    question: Option<String>,
    #[serde(default)]
    answers: Vec<OfAnswer>,
}

#[derive(Deserialize)]
struct OfAnswer {
    reviewer: String,
    kind: Option<AnswerKind>,
    #[serde(default)]
    response: OfResponse,
    comment: Option<String>,
    #[serde(default)]
    flagged: bool,
    seconds: Option<f64>,
    completed_at: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OfResponse {
    templates: BTreeMap<String, Value>,
    auto_evals: BTreeMap<String, Edit>,
}

fn of_json(text: &str) -> Result<Vec<FileReview>, Vec<Fault>> {
    let document: Document =
        serde_json::from_str(text).map_err(|e| vec![Fault::new(format!("no reviews as JSON: {e}"))])?;
    let mut reviews = Vec::new();
    for (number, item) in (1u64..).zip(document.items) {
        let of = item.run_id.or(item.trace_id).unwrap_or_default();
        let question = item.question.unwrap_or_default();
        for answer in item.answers {
            reviews.push(FileReview {
                place: Place::item(number),
                of: of.clone(),
                question: question.clone(),
                reviewer: answer.reviewer,
                kind: answer.kind,
                completed_at: answer.completed_at.unwrap_or_default(),
                comment: answer.comment,
                flagged: answer.flagged,
                seconds: answer.seconds,
                templates: answer.response.templates,
                edits: answer.response.auto_evals,
                verdicts: Vec::new(),
            });
        }
    }
    Ok(reviews)
}

fn of_csv(text: &str) -> Result<Vec<FileReview>, Vec<Fault>> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(text.as_bytes());
    let (mut reviews, mut faults, mut heads) = (Vec::new(), Vec::new(), None);
    let (mut line, mut counted) = (1u64, 0);
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                faults.push(Fault::new(error.to_string()));
                continue;
            }
        };
        // The reader's own line is that of the blank lines before a row.
        let from = record.position().map_or(0, |place| usize::try_from(place.byte()).unwrap_or(0));
        let blank = text.bytes().skip(from).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        line += text[counted..from + blank].matches('\n').count() as u64;
        counted = from + blank;
        let has = |name: &str| record.iter().any(|cell| cell.trim() == name);
        if has("Reviewer Response") && (has("Test Result Id") || has("Test Input")) {
            let places = record.iter().enumerate().map(|(at, cell)| (cell.trim().to_owned(), at));
            heads = Some(places.collect::<HashMap<String, usize>>());
        } else if has("Run Review Status") {
            // The table of the run is recomputed from its reviews.
            heads = None;
        } else if let Some(heads) = &heads {
            let row = Row { heads, record: &record };
            if let Err(why) = row.add(line, &mut reviews) {
                faults.push(Fault::new(why).on(Place::line(line)));
            }
        }
    }
    faults.truncate(MAX_FAULTS);
    if faults.is_empty() { Ok(reviews) } else { Err(faults) }
}

/// A row below its head.
struct Row<'a> {
    heads: &'a HashMap<String, usize>,
    record: &'a csv::StringRecord,
}

impl Row<'_> {
    fn cell(&self, name: &str) -> &str {
        self.heads.get(name).and_then(|at| self.record.get(*at)).unwrap_or_default()
    }

    /// A review begins where its test or its reviewer stands; else the row goes on with the one above.
    fn add(&self, line: u64, reviews: &mut Vec<FileReview>) -> Result<(), String> {
        if self.record.iter().all(|cell| cell.trim().is_empty()) {
            return Ok(());
        }
        let (of, reviewer) = (self.cell("Test Result Id").trim(), self.cell("Completed By").trim());
        let (question, completed_at) = (self.cell("Test Input"), self.cell("Completed At").trim());
        let begins = ![of, reviewer, question.trim()].iter().all(|cell| cell.is_empty());
        // A flat table has the test's columns in every row.
        let is_same = reviews.last().is_some_and(|last| {
            (last.of.as_str(), last.reviewer.as_str()) == (of, reviewer)
                && (last.question.as_str(), last.completed_at.as_str()) == (question, completed_at)
        });
        if begins && !is_same {
            if reviewer.is_empty() {
                return Err("Completed By is missing: who said it?".to_owned());
            }
            let comment = Some(self.cell("Test Review Feedback")).filter(|text| !text.trim().is_empty());
            reviews.push(FileReview {
                place: Place::line(line),
                of: of.to_owned(),
                question: question.to_owned(),
                reviewer: reviewer.to_owned(),
                completed_at: completed_at.to_owned(),
                comment: comment.map(str::to_owned),
                ..FileReview::default()
            });
        }
        let review = reviews.last_mut().ok_or("no review stands above this row")?;
        let (kind, said) = (self.cell("Check Type").trim(), self.cell("Reviewer Response").trim());
        let name = self.cell("Metric Name").trim();
        if kind.eq_ignore_ascii_case(AUTO) {
            let verdict = match said.to_ascii_lowercase().as_str() {
                "pass" => Verdict::Pass,
                "fail" => Verdict::Fail,
                _ => return Err(format!("Reviewer Response {said:?} is neither pass nor fail")),
            };
            review.verdicts.push((self.cell("Operator").trim().to_owned(), verdict));
        } else if !name.is_empty() && !said.is_empty() {
            let twice = review.templates.insert(name.to_owned(), said.into()).is_some();
            if twice {
                return Err(format!("{name:?} is answered twice by {:?}", review.reviewer));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const CSV: &str = "Run Id,Run Name,Run Review Status,Number Of Reviews\nr,v1,completed,2\n\n\
        Test Result Id,Test Input,LLM Output,Files,Completed At,Completed By,Test Review Feedback,Check Type,Metric Name,Operator,Criteria,Auto Eval,Reviewer Response\n\
        t1,Where?,There,,2026-01-02T03:04:05.678Z,ana,\"so,\nand so\",Auto-eval review,,includes,,pass,Fail\n\
        ,,,,,,,categorical,tone,,,,rude\n\
        t1,Where?,There,,2026-01-02T03:05:05.678Z,ben,,Auto-eval review,,includes,,pass,pass\n\
        ,,,,,,,numerical,grade,,,,4\n";

    #[test]
    fn reviews_of_a_file_are_read_in_each_of_its_forms() {
        let of_csv = read(CSV.as_bytes()).unwrap();
        assert_eq!(of_csv.len(), 2);
        let (ana, ben) = (&of_csv[0], &of_csv[1]);
        assert_eq!((ana.of.as_str(), ana.reviewer.as_str(), ana.place.line), ("t1", "ana", Some(5)));
        assert_eq!(ana.comment.as_deref(), Some("so,\nand so"));
        assert_eq!(ana.verdicts, [("includes".to_owned(), Verdict::Fail)]);
        assert_eq!((&ana.templates["tone"], &ben.templates["grade"]), (&json!("rude"), &json!("4")));
        assert_eq!(ana.at().map(UnixNanos::millis), Some(1_767_323_045_678));
        // One table with everything in each row says the same.
        let flat = "Run Id,Run Review Status,Test Result Id,Test Input,Completed At,Completed By,Check Type,Metric Name,Operator,Reviewer Response\n\
            r,completed,t1,Where?,,ana,Auto-eval review,,includes,fail\nr,completed,t1,Where?,,ana,categorical,tone,,rude\n\
            r,completed,t1,Where?,,ben,categorical,tone,,polite\n";
        let flat = read(flat.as_bytes()).unwrap();
        assert_eq!((flat.len(), flat[0].verdicts.len(), flat[0].templates.len()), (2, 1, 1));
        let document = json!({"queue": {}, "items": [{"run_id": "t1", "question": "Where?", "answers": [
            {"reviewer": "ana", "kind": "answer", "flagged": true, "seconds": 3.5,
             "response": {"templates": {"tone": "rude"}, "auto_evals": {"client/mine": {"response": "fail", "feedback": "no"}}}}]}]});
        let of_json = read(document.to_string().as_bytes()).unwrap();
        assert_eq!((of_json[0].seconds, of_json[0].flagged), (Some(3.5), true));
        assert_eq!(of_json[0].edits["client/mine"].feedback.as_deref(), Some("no"));
    }

    /// The columns are those of a public file; its README tells which. A run has many checks of one operator there.
    #[test]
    fn a_public_file_of_reviews_is_read_whole() {
        let reviews = read(include_bytes!("../../../tests/fixtures/vals/reviews.csv")).unwrap();
        let of =
            |review: &FileReview| (review.reviewer.clone(), review.comment.clone(), review.verdicts.clone());
        let said = |pass: Verdict, then: Verdict| {
            let one = |verdict| ("satisfies_statement".to_owned(), verdict);
            vec![one(pass), one(then)]
        };
        let wanted = [
            ("ana@example.com".to_owned(), None, said(Verdict::Pass, Verdict::Fail)),
            ("ben@example.com".to_owned(), Some("Close call".to_owned()), said(Verdict::Fail, Verdict::Pass)),
        ];
        assert_eq!(reviews.iter().map(of).collect::<Vec<_>>(), wanted);
        assert_eq!(reviews[0].question, "Fill in the form.\n\nFare:\nClass:");
        assert_eq!(reviews[0].at().map(UnixNanos::millis), Some(1_762_556_466_256));
    }

    #[test]
    fn every_fault_of_reviews_has_its_line() {
        let wrong = CSV.replace(",Fail\n", ",perhaps\n").replace(",ben,", ",,");
        let told: Vec<String> = read(wrong.as_bytes()).unwrap_err().iter().map(ToString::to_string).collect();
        assert!(told[0].contains("line 5: Reviewer Response \"perhaps\""), "{told:?}");
        assert!(told[1].contains("line 8: Completed By is missing"), "{told:?}");
        for (text, said) in
            [("a,b\n1,2\n", "no reviews"), ("{\"items\": 5}", "no reviews as JSON"), ("", "no reviews")]
        {
            assert!(read(text.as_bytes()).unwrap_err()[0].message.contains(said), "{text}");
        }
    }
}
