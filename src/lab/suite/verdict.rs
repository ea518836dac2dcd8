//! A run judged by its checks.

use super::ask::Answered;
use super::bench::{Bench, metric_name};
use super::check::{Bounds, Check, Condition, Test};
use super::compile::MAX_VOTES;
use super::exact::Seen;
use super::item::Item;
use super::load::{Case, Suite};
use super::operator::Local;
use super::outcome::{CheckOutcome, Confidence, Outcome, Scored, Status};
use super::reply::Reply;
use super::spec::Unmet;
use crate::domain::document::Document;
use crate::domain::score::{Score, ScoreStatus};
use crate::domain::trace::EvalInput;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Evaluators whose value is a calibrated probability, and where in the middle of it nobody is sure.
const CALIBRATED: &[&str] = &["hallucination", "answer_relevance"];
const UNSURE: std::ops::RangeInclusive<f64> = 0.3..=0.7;
/// What is missing for a judged check.
const NEEDS_JUDGE: &str = "it needs a judge: configure [[judges]], see docs/judges.md";

/// Judges one run by the checks of its test. Blocks; where an evaluator waits for others, a runtime must be entered.
pub fn judge(suite: &Suite, answered: &Answered, bench: &Bench<'_>) -> Outcome {
    let case = &suite.cases[answered.case];
    let item = &case.item;
    let (checks, scores) = match &answered.reply {
        Err(why) => (case.checks.iter().map(|check| unanswered(check, why)).collect(), Vec::new()),
        Ok(reply) => judged((case, answered.repetition), reply, bench, suite.head.condition),
    };
    let threshold = item.spec.threshold.or(suite.head.threshold);
    let (status, score) = verdict(&checks, threshold, answered.reply.is_err());
    let mut outcome = Outcome {
        test: item.spec.id.clone(),
        place: item.place.to_string(),
        hash: item.hash.clone(),
        checks_hash: case.checks_hash.clone(),
        group: item.spec.group.clone(),
        tags: item.spec.tags.clone(),
        weight: item.spec.weight.unwrap_or(1.0),
        repetition: answered.repetition,
        run_id: answered.run_id.clone(),
        trace_id: answered.trace_id.clone(),
        input: item.spec.input.clone(),
        reply: answered.reply.as_ref().ok().cloned(),
        error: answered.reply.as_ref().err().cloned(),
        status,
        score,
        checks,
        scores,
        values: BTreeMap::new(),
    };
    outcome.values = values(&outcome);
    outcome
}

fn judged(
    (case, repetition): (&Case, u32),
    reply: &Reply,
    bench: &Bench<'_>,
    unmet: Unmet,
) -> (Vec<CheckOutcome>, Vec<Scored>) {
    let mut input = case.item.input();
    // Votes of one repetition are told apart by what lies between.
    input.asking = repetition.saturating_sub(1).saturating_mul(MAX_VOTES);
    input.answer = Some(reply.output.clone());
    if let Some(contexts) = &reply.contexts {
        input.contexts.clone_from(contexts);
    }
    let judge = Judge { bench, item: &case.item, reply, input, unmet, known: RefCell::default() };
    let mut checks: Vec<CheckOutcome> = Vec::with_capacity(case.checks.len());
    for check in &case.checks {
        checks.push(judge.check(check, &checks));
    }
    let scores = bench.named().iter().flat_map(|id| judge.scored(id)).collect();
    (checks, scores)
}

/// One check of a text that nobody has answered, its condition left out.
pub(super) fn judge_text(case: &Case, check: &Check, text: &str, bench: &Bench<'_>) -> CheckOutcome {
    let reply = Reply::text(text);
    let input = EvalInput { answer: Some(text.to_owned()), ..case.item.input() };
    let known = RefCell::default();
    let judge = Judge { bench, item: &case.item, reply: &reply, input, unmet: Unmet::Skip, known };
    judge.check(&Check { condition: None, ..check.clone() }, &[])
}

/// How the test ended, and the share of the weight that passed. Where a counted check has no verdict the test has none.
pub(super) fn verdict(
    checks: &[CheckOutcome],
    threshold: Option<f64>,
    is_unanswered: bool,
) -> (Status, Option<f64>) {
    let counted = || checks.iter().filter(|check| check.counts && check.status != Status::Skipped);
    let weight: f64 = counted().map(|check| check.weight).sum();
    let passed: f64 = counted().filter(|check| check.status == Status::Pass).map(|check| check.weight).sum();
    let score = (weight > 0.0).then(|| passed / weight);
    let status = match (score, threshold) {
        _ if is_unanswered => Status::Error,
        (None, _) => Status::Skipped,
        _ if counted().any(|check| check.status == Status::Error) => Status::Error,
        // A threshold of 0 is one: every answer reaches it.
        (Some(score), Some(threshold)) if score >= threshold => Status::Pass,
        (Some(_), None) if counted().all(|check| check.status == Status::Pass) => Status::Pass,
        _ => Status::Fail,
    };
    (status, score)
}

/// The run's value of each metric; what has no value is not there.
pub(super) fn values(outcome: &Outcome) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    if outcome.status != Status::Skipped {
        values.insert("tests_passed".to_owned(), f64::from(u8::from(outcome.status == Status::Pass)));
    }
    values.extend(outcome.score.map(|score| ("checks_passed".to_owned(), score)));
    let reply = outcome.reply.as_ref();
    for (name, value) in [
        ("duration_ms", reply.and_then(|reply| reply.duration_ms)),
        ("cost_usd", reply.and_then(|reply| reply.cost_usd)),
        ("in_tokens", reply.and_then(|reply| reply.in_tokens).map(|tokens| tokens as f64)),
        ("out_tokens", reply.and_then(|reply| reply.out_tokens).map(|tokens| tokens as f64)),
    ] {
        values.extend(value.map(|value| (name.to_owned(), value)));
    }
    values.extend(outcome.scores.iter().filter_map(|scored| Some((scored.metric.clone(), scored.value?))));
    values
}

/// A check before it has a verdict.
fn blank(check: &Check) -> CheckOutcome {
    CheckOutcome {
        id: check.id.clone(),
        operator: check.operator.clone(),
        criteria: check.criteria.clone(),
        category: check.category.clone(),
        weight: check.weight,
        counts: check.counts(),
        status: Status::Error,
        value: None,
        engine: String::new(),
        feedback: String::new(),
        extracted: None,
        condition_met: None,
        confidence: None,
        of: Vec::new(),
    }
}

fn unanswered(check: &Check, why: &str) -> CheckOutcome {
    CheckOutcome { feedback: format!("no answer: {why}"), ..blank(check) }
}

/// What a test found.
struct Found {
    status: Status,
    value: Option<f64>,
    engine: String,
    why: String,
    confidence: Option<Confidence>,
    of: Vec<CheckOutcome>,
}

impl Found {
    fn new(status: Status, engine: &str, why: impl Into<String>) -> Self {
        let engine = engine.to_owned();
        Self { status, value: None, engine, why: why.into(), confidence: None, of: Vec::new() }
    }

    fn passed(passed: bool, engine: &str, why: impl Into<String>) -> Self {
        Self::new(if passed { Status::Pass } else { Status::Fail }, engine, why)
    }

    /// A pass is a fail and the other way round; what is no verdict stays none.
    fn negated(self, is_negated: bool) -> Self {
        let status = match self.status {
            Status::Pass if is_negated => Status::Fail,
            Status::Fail if is_negated => Status::Pass,
            other => other,
        };
        Self { status, ..self }
    }
}

/// One answer, and what evaluators have said of it already.
struct Judge<'a> {
    bench: &'a Bench<'a>,
    item: &'a Item,
    reply: &'a Reply,
    input: EvalInput,
    unmet: Unmet,
    known: RefCell<BTreeMap<String, Option<Vec<Score>>>>,
}

impl Judge<'_> {
    fn check(&self, check: &Check, earlier: &[CheckOutcome]) -> CheckOutcome {
        self.check_part(check, None, earlier)
    }

    /// A check of the answer, or of the part of it that the set around it has extracted.
    fn check_part(&self, check: &Check, part: Option<&str>, earlier: &[CheckOutcome]) -> CheckOutcome {
        let mut outcome = blank(check);
        match check.condition.as_ref().map(|condition| self.is_met(condition, earlier)) {
            None => {}
            Some(Ok(true)) => outcome.condition_met = Some(true),
            Some(Ok(false)) => {
                outcome.condition_met = Some(false);
                outcome.feedback = "its condition is not met".to_owned();
                outcome.status = match self.unmet {
                    Unmet::Skip => Status::Skipped,
                    Unmet::Pass => Status::Pass,
                };
                return outcome;
            }
            Some(Err(found)) => {
                outcome.feedback = format!("its condition: {}", found.why);
                (outcome.status, outcome.engine) = (found.status, found.engine);
                return outcome;
            }
        }
        let whole = part.unwrap_or(&self.reply.output);
        let extracted = match check.extract.as_ref().map(|extract| extract.part(whole)) {
            None => None,
            Some(Ok(Some(part))) => Some(part),
            Some(Ok(None)) => {
                outcome.status = Status::Fail;
                outcome.feedback = "nothing was extracted from the answer".to_owned();
                return outcome;
            }
            Some(Err(why)) => {
                outcome.feedback = why;
                return outcome;
            }
        };
        let found = self.voted(check, extracted.as_deref().or(part));
        CheckOutcome {
            status: found.status,
            value: found.value,
            engine: found.engine,
            feedback: found.why,
            confidence: found.confidence,
            of: found.of,
            extracted,
            ..outcome
        }
    }

    /// Whether a condition is met; what gives no verdict is told as it is.
    fn is_met(&self, condition: &Condition, earlier: &[CheckOutcome]) -> Result<bool, Found> {
        match condition {
            Condition::Earlier { id, status } => {
                Ok(earlier.iter().any(|check| check.id == *id && check.status == *status))
            }
            Condition::Holds(test) => {
                let found = self.test(test, None);
                match found.status {
                    Status::Pass => Ok(true),
                    Status::Fail => Ok(false),
                    Status::Skipped | Status::Error => Err(found),
                }
            }
        }
    }

    /// The verdict that most votes of a judge have; a draw is none.
    fn voted(&self, check: &Check, part: Option<&str>) -> Found {
        if check.votes < 2 || !matches!(check.test, Test::Judge { .. }) {
            return self.test(&check.test, part);
        }
        let votes: Vec<Found> = (0..check.votes).map(|vote| self.vote(&check.test, part, vote)).collect();
        let count = |status| votes.iter().filter(|vote| vote.status == status).count();
        let (passes, fails) = (count(Status::Pass), count(Status::Fail));
        let status = match passes.cmp(&fails) {
            std::cmp::Ordering::Greater => Status::Pass,
            std::cmp::Ordering::Less => Status::Fail,
            std::cmp::Ordering::Equal => Status::Error,
        };
        let said = votes.iter().find(|vote| vote.status == status).or(votes.first());
        let why = said.map(|vote| vote.why.clone()).unwrap_or_default();
        let is_agreed = passes.max(fails) == votes.len();
        let told = format!("{passes} of {} votes pass. {why}", votes.len());
        Found {
            value: Some(passes as f64 / votes.len() as f64),
            confidence: Some(if is_agreed { Confidence::High } else { Confidence::Low }),
            ..Found::new(status, "judge", told)
        }
    }

    /// One test of the answer, or of the part of it that was extracted.
    fn test(&self, test: &Test, part: Option<&str>) -> Found {
        self.vote(test, part, 0)
    }

    /// The same as one of several votes, from 0: a judge is asked for each.
    fn vote(&self, test: &Test, part: Option<&str>, vote: u32) -> Found {
        let text = part.unwrap_or(&self.reply.output);
        match test {
            Test::Exact { run, criteria, is_negated } => {
                match run.run(&Seen { text, reply: self.reply }, criteria) {
                    Ok(found) => {
                        Found { value: found.value, ..Found::passed(found.passed, "exact", found.why) }
                            .negated(*is_negated)
                    }
                    Err(why) => Found::new(Status::Error, "exact", why),
                }
            }
            Test::Local { local, criteria, bounds, is_negated } => {
                self.local(*local, criteria, *bounds, text).negated(*is_negated)
            }
            Test::Evaluator { id, metric, bounds } => {
                let scores = match part {
                    None => self.known(id),
                    Some(_) => self.bench.scores(id, &self.read(text), &self.item.expected),
                };
                read(id, metric.as_deref(), scores.as_deref(), *bounds)
            }
            Test::Judge { id, is_negated, .. } => {
                let input = EvalInput { asking: self.input.asking + vote, ..self.read(text) };
                match self.bench.scores(id, &input, &[]) {
                    None => Found::new(Status::Error, "judge", NEEDS_JUDGE),
                    Some(scores) => {
                        let found = read(id, None, Some(&scores), Bounds::default());
                        Found { engine: "judge".to_owned(), ..found }.negated(*is_negated)
                    }
                }
            }
            Test::Set { checks, at_least } => self.set(checks, *at_least, part),
            Test::Missing(why) => Found::new(Status::Skipped, "", why),
            Test::Unknown(why) => Found::new(Status::Error, "", why),
        }
    }

    /// At least so many of a set pass. What has no verdict may have been a pass: then the set has none either.
    fn set(&self, checks: &[Check], at_least: usize, part: Option<&str>) -> Found {
        let mut of: Vec<CheckOutcome> = Vec::with_capacity(checks.len());
        for check in checks {
            of.push(self.check_part(check, part, &of));
        }
        let count = |status| of.iter().filter(|check| check.status == status).count();
        let (passes, errors, skipped) = (count(Status::Pass), count(Status::Error), count(Status::Skipped));
        let status = match at_least {
            _ if passes >= at_least => Status::Pass,
            _ if passes + errors >= at_least => Status::Error,
            _ if skipped == of.len() => Status::Skipped,
            _ => Status::Fail,
        };
        let failed = of.iter().filter(|check| check.status != Status::Pass);
        let why = failed
            .map(|check| format!("{}: {}", check.name(), check.feedback))
            .collect::<Vec<_>>()
            .join("; ");
        let engine = if of.iter().any(|check| check.engine == "judge") { "judge" } else { "set" };
        let told = format!("{passes} of {} pass, {at_least} must. {why}", of.len());
        Found { of, ..Found::new(status, engine, told.trim_end()) }
    }

    /// The answer's text in its place.
    fn read(&self, text: &str) -> EvalInput {
        EvalInput { answer: Some(text.to_owned()), ..self.input.clone() }
    }

    /// What an evaluator says of the whole answer; it is asked once.
    fn known(&self, id: &str) -> Option<Vec<Score>> {
        if let Some(known) = self.known.borrow().get(id) {
            return known.clone();
        }
        let scores = self.bench.scores(id, &self.input, &self.item.expected);
        self.known.borrow_mut().insert(id.to_owned(), scores.clone());
        scores
    }

    fn local(&self, local: Local, criteria: &[String], bounds: Bounds, text: &str) -> Found {
        let id = local.evaluator();
        let first = criteria.first().map(String::as_str).unwrap_or_default();
        // Does `context` say what `claim` says?
        let says = |claim: &str, context: &str| {
            let document = Document { content: Some(context.to_owned()), ..Document::default() };
            let input = EvalInput {
                answer: Some(claim.to_owned()),
                contexts: vec![document],
                ..EvalInput::default()
            };
            self.bench.scores(id, &input, &[])
        };
        let ask = |scores: Option<Vec<Score>>| read(id, None, scores.as_deref(), bounds);
        match local {
            Local::Says => ask(says(first, text)),
            Local::SaysOnly => ask(says(text, first)),
            Local::Same => worse(ask(says(first, text)), || ask(says(text, first))),
            Local::SaysAny => {
                let mut best: Option<Found> = None;
                for one in criteria {
                    let found = ask(says(one, text));
                    if found.status == Status::Pass {
                        return found;
                    }
                    best = Some(best.unwrap_or(found));
                }
                best.unwrap_or_else(|| Found::new(Status::Error, id, "the criteria list nothing"))
            }
            Local::Similar => {
                let input = EvalInput { expected: Some(first.to_owned()), ..self.read(text) };
                ask(self.bench.scores(id, &input, &[]))
            }
            Local::Answers | Local::Supported => ask(self.bench.scores(id, &self.read(text), &[])),
            Local::Safe => every(id, self.bench.scores(id, &self.read(text), &[]).as_deref(), bounds),
        }
    }

    /// The metrics of an evaluator that scores every answer.
    fn scored(&self, id: &str) -> Vec<Scored> {
        let scores = self.known(id).unwrap_or_default();
        let scored = |score: Score| Scored {
            metric: metric_name(id, &score.metric),
            version: self.bench.version(id),
            value: score.value,
            label: score.label,
            passed: score.passed,
            status: score.status.as_str().into(),
            why: score.error.or(score.rationale),
        };
        scores.into_iter().map(scored).collect()
    }
}

/// The second is asked only where the first passes; the lower value of both is told.
fn worse(first: Found, second: impl FnOnce() -> Found) -> Found {
    if first.status != Status::Pass {
        return first;
    }
    let second = second();
    let is_second = second.status != Status::Pass || second.value < first.value;
    if is_second { second } else { first }
}

/// The verdict of an evaluator's metric, the first one if none is named.
fn read(id: &str, metric: Option<&str>, scores: Option<&[Score]>, bounds: Bounds) -> Found {
    let Some(scores) = scores else {
        return Found::new(Status::Error, id, missing(id));
    };
    let score = match metric {
        None => scores.first(),
        Some(metric) => scores.iter().find(|score| score.metric == metric),
    };
    let Some(score) = score else {
        let there: Vec<&str> = scores.iter().map(|score| score.metric.as_str()).collect();
        return Found::new(Status::Error, id, format!("no such metric; it has {}", there.join(", ")));
    };
    of_score(id, score, bounds)
}

/// The verdict of all metrics: the first that fails.
fn every(id: &str, scores: Option<&[Score]>, bounds: Bounds) -> Found {
    let Some(scores) = scores else { return Found::new(Status::Error, id, missing(id)) };
    let mut found = scores.iter().map(|score| of_score(id, score, bounds));
    let first = found.next().unwrap_or_else(|| Found::new(Status::Error, id, "no score"));
    if first.status != Status::Pass {
        return first;
    }
    found.find(|found| found.status != Status::Pass).unwrap_or(first)
}

fn missing(id: &str) -> String {
    if crate::eval::asks_judge(id) {
        return NEEDS_JUDGE.to_owned();
    }
    format!("no evaluator {id:?} here: is it disabled, or a plug-in that is not configured?")
}

fn of_score(id: &str, score: &Score, bounds: Bounds) -> Found {
    let why = score.error.clone().or_else(|| score.rationale.clone()).unwrap_or_default();
    let held = score.value.and_then(|value| bounds.hold(value)).or(score.passed);
    let found = match (score.status, held) {
        (ScoreStatus::Skipped, _) => Found::new(Status::Skipped, id, format!("not there: {why}")),
        (ScoreStatus::Error, _) => Found::new(Status::Error, id, why),
        (ScoreStatus::Ok, Some(passed)) => Found::passed(passed, id, why),
        (ScoreStatus::Ok, None) => {
            Found::new(Status::Error, id, "it has no verdict of its own: give the check min or max")
        }
    };
    let is_calibrated = CALIBRATED.contains(&id) && score.status == ScoreStatus::Ok;
    let confidence = score
        .value
        .filter(|_| is_calibrated)
        .map(|value| if UNSURE.contains(&value) { Confidence::Low } else { Confidence::High });
    Found { value: score.value, confidence, ..found }
}
