//! A run judged by its checks.

use super::ask::Answered;
use super::bench::{Bench, metric_name};
use super::check::{Bounds, Check, Condition, Extract, Test};
use super::compile::MAX_VOTES;
use super::exact::{Exact, Seen};
use super::found::{Found, NEEDS_JUDGE, every, read, worse};
use super::item::Item;
use super::load::{Case, Suite};
use super::operator::Local;
use super::outcome::{CheckOutcome, Confidence, Outcome, Scored, Status};
use super::reply::Reply;
use super::spec::Unmet;
use crate::domain::document::Document;
use crate::domain::score::Score;
use crate::domain::trace::EvalInput;
use crate::eval::{Unwritten, Written};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What is said of a check that reads a part which is not there.
const NOTHING: &str = "nothing was extracted from the answer";

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
    input.tenant = bench.tenant().map(str::to_owned);
    input.answer = Some(reply.output.clone());
    if let Some(contexts) = &reply.contexts {
        input.contexts.clone_from(contexts);
    }
    let judge = Judge::new(bench, &case.item, reply, input, unmet);
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
    let judge = Judge::new(bench, &case.item, &reply, input, Unmet::Skip);
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

/// One answer, and what evaluators have said of it already.
struct Judge<'a> {
    bench: &'a Bench<'a>,
    item: &'a Item,
    reply: &'a Reply,
    input: EvalInput,
    unmet: Unmet,
    known: RefCell<BTreeMap<String, Option<Vec<Score>>>>,
    /// What a judge took out of texts, by its author's words and the text.
    parts: RefCell<BTreeMap<(String, String), Part>>,
}

/// What a judge took out of a text; none without a judge.
type Part = Option<Result<Written, Unwritten>>;

impl<'a> Judge<'a> {
    fn new(bench: &'a Bench<'a>, item: &'a Item, reply: &'a Reply, input: EvalInput, unmet: Unmet) -> Self {
        let (known, parts) = (RefCell::default(), RefCell::default());
        Self { bench, item, reply, input, unmet, known, parts }
    }

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
        let extracted = match check.extract.as_ref().map(|extract| self.extracted(extract, whole)).transpose()
        {
            Ok(extracted) => extracted,
            Err(found) => {
                (outcome.status, outcome.engine, outcome.feedback) = (found.status, found.engine, found.why);
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

    /// The part of a text that a check reads; without one, what becomes of the check.
    fn extracted(&self, extract: &Extract, whole: &str) -> Result<String, Found> {
        let words = match extract {
            Extract::Rule(rule) => {
                let part = rule.part(whole).map_err(|why| Found::new(Status::Error, "", why))?;
                return part.ok_or_else(|| Found::new(Status::Fail, "", NOTHING));
            }
            Extract::Prompt(words) => words,
        };
        let told = |status, why: String| Err(Found::new(status, "judge", why));
        match self.asked_for(words, whole) {
            None => told(
                Status::Error,
                format!("extract.prompt: {NEEDS_JUDGE}; regex, json_path and between need none"),
            ),
            Some(Ok(Written { text: Some(part), .. })) => Ok(part),
            Some(Ok(Written { text: None, .. })) => told(Status::Fail, NOTHING.to_owned()),
            Some(Err(Unwritten::Missing(what))) => told(Status::Skipped, format!("not there: {what}")),
            Some(Err(Unwritten::Failed(why))) => told(Status::Error, format!("extract.prompt: {why}")),
        }
    }

    /// What a judge takes out of a text, asked once for all checks that read the same; none without a judge. It is given
    /// nothing but the text.
    fn asked_for(&self, words: &str, whole: &str) -> Part {
        let key = (words.to_owned(), whole.to_owned());
        if let Some(known) = self.parts.borrow().get(&key) {
            return known.clone();
        }
        let input = EvalInput {
            answer: Some(whole.to_owned()),
            tenant: self.input.tenant.clone(),
            asking: self.input.asking,
            ..EvalInput::default()
        };
        let part = self.bench.part(words, &input);
        self.parts.borrow_mut().insert(key, part.clone());
        part
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
                let seen = Seen { text, reply: self.reply };
                if let Some(why) = Exact::nothing(&seen, criteria) {
                    return Found::new(Status::Skipped, "exact", why);
                }
                match run.run(&seen, criteria) {
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
                match self.bench.scores(id, &input, &self.item.expected) {
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

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "local_tests.rs"]
mod local_tests;
