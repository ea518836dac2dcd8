//! Parts of answers that a judge is asked for.

use super::super::load::{StoredItems, build, parsed};
use super::*;
use crate::eval::{Away, CustomConfig, Evaluator, JudgeDesk, Registry, Writing};
use async_trait::async_trait;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use tokio::time::Instant;

const SUITE: &str = "[suite]\nname = \"s\"\nrepetitions = 2\n[[test]]\nid = \"a\"\ninput = \"How long?\"\ncheck = [\n\
    { operator = \"equals_exactly\", criteria = \"14 days\", extract = { prompt = \"the period\" } },\n\
    { any_of = [{ operator = \"contains\", criteria = \"within\" }, { operator = \"regex\", criteria = \"^14\" }], \
    extract = { prompt = \"the period\" } },\n\
    { operator = \"contains\", criteria = \"within\" },\n]\n";

/// What a judge says, whatever it is asked, and what it was asked.
struct Says {
    says: Result<Option<&'static str>, Unwritten>,
    asked: Mutex<Vec<(String, EvalInput)>>,
}

#[async_trait]
impl JudgeDesk for Says {
    fn evaluator(&self, _: &CustomConfig) -> Result<Arc<dyn Evaluator>, String> {
        Err("it only writes".to_owned())
    }

    async fn write(
        &self,
        what: Writing<'_>,
        input: &EvalInput,
        _: Instant,
    ) -> Result<Result<Written, Unwritten>, Away> {
        let Writing::Part(words) = what else { panic!("{what:?}") };
        self.asked.lock().push((words.to_owned(), input.clone()));
        let written = |text: Option<&str>| Written { text: text.map(str::to_owned), model: "m".to_owned() };
        Ok(self.says.clone().map(written))
    }
}

/// What became of the second repetition, and what the judge was asked.
fn ended(says: Result<Option<&'static str>, Unwritten>, answer: &str) -> (Outcome, Vec<(String, EvalInput)>) {
    let registry = Registry::of(Vec::new());
    let desk = Arc::new(Says { says, asked: Mutex::default() });
    let bench = Bench::new(&registry, Vec::new(), Vec::new()).with_desk(Some(desk.clone()));
    let outcome = outcome(&bench.for_tenant("t", Instant::now()), answer);
    let asked = desk.asked.lock().clone();
    (outcome, asked)
}

fn outcome(bench: &Bench<'_>, answer: &str) -> Outcome {
    let (spec, tests) = parsed(SUITE, "s").unwrap();
    let (suite, _) = build(spec, tests, (Path::new(""), &StoredItems::new()), "s", false).unwrap();
    let (run_id, trace_id) = ("r".to_owned(), "t".to_owned());
    let reply = Ok(Reply::text(answer));
    judge(&suite, &Answered { case: 0, repetition: 2, run_id, trace_id, reply }, bench)
}

#[test]
fn a_judge_is_asked_once_for_a_part_and_checks_read_what_it_copied() {
    let (outcome, asked) = ended(Ok(Some("14 days")), "within 14 days");
    let told: Vec<(Status, Option<&str>)> =
        outcome.checks.iter().map(|check| (check.status, check.extracted.as_deref())).collect();
    let part = Some("14 days");
    assert_eq!(told, [(Status::Pass, part), (Status::Pass, part), (Status::Pass, None)]);
    assert_eq!(outcome.checks[1].of[0].status, Status::Fail, "a set reads the part, too");
    let [(words, input)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((words.as_str(), input.answer.as_deref()), ("the period", Some("within 14 days")));
    // Repetitions are asked one by one, and nothing but the answer is sent.
    assert_eq!(
        (input.asking, input.tenant.as_deref(), input.question.as_deref()),
        (MAX_VOTES, Some("t"), None)
    );
}

#[test]
fn without_a_part_no_check_reads_the_whole_answer() {
    let first = |says, answer| {
        let (outcome, asked) = ended(says, answer);
        let check = outcome.checks[0].clone();
        assert_eq!(check.extracted, None);
        (check.status, check.feedback, check.engine, asked.len())
    };
    let judge = || "judge".to_owned();
    assert_eq!(first(Ok(None), "14 days"), (Status::Fail, NOTHING.to_owned(), judge(), 1));
    assert_eq!(first(Ok(Some("x")), " "), (Status::Fail, NOTHING.to_owned(), judge(), 0));
    let (status, why, ..) = first(Err(Unwritten::Failed("no money".to_owned())), "14 days");
    assert_eq!((status, why.as_str()), (Status::Error, "extract.prompt: no money"));
    let (status, why, ..) = first(Err(Unwritten::Missing("leave".to_owned())), "14 days");
    assert_eq!((status, why.as_str()), (Status::Skipped, "not there: leave"));
    let registry = Registry::of(Vec::new());
    let outcome = outcome(&Bench::new(&registry, Vec::new(), Vec::new()), "14 days");
    let check = &outcome.checks[0];
    assert!(check.status == Status::Error && check.feedback.contains("needs a judge"), "{check:?}");
}
