//! One judge behind its limits, and what stands in for it.

use super::breaker::{Breaker, Gate};
use super::budget::{Budget, Rate, Reservation, wait_until};
use super::cache::Cache;
use super::config::{JudgeConfig, chain};
use super::likelihood::Abilities;
use super::manner::Learned;
use super::question::Question;
use super::transport::{Answer, Fault, Transport};
use crate::detect::Policy;
use crate::domain::score::Usage;
use crate::domain::time::Clock;
use crate::eval::{Away, Forecast, Places};
use crate::score::egress::{Allowed, Egress};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

/// Requests for one question, where no other judge stands in.
const TRIES: u32 = 3;
/// The wait before the second one; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Nobody who asks again loses more than this by coming too late; a probe that is under way may end at any time.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Why nobody is asked while a judge is away or paused.
const SHUT: &str = "it did not answer the last requests, or asked for time, and is probed from time to time";

/// What a judge wrote.
pub(super) struct Completion {
    /// The reply's text.
    pub text: String,
    /// Why it may be no answer.
    pub note: Option<&'static str>,
    /// The mean negative log-likelihood that was asked for, nats, or why the answer does not tell it.
    pub nats: Option<Result<f64, String>>,
    /// What it took.
    pub usage: Usage,
    /// Whether another judge wrote it than the one that was asked.
    pub stood_in: bool,
}

/// Why there is no reply.
#[derive(Debug)]
pub(super) enum Failed {
    /// The same would fail again.
    Never(String),
    /// The budget of the day or month is spent.
    Spent(String),
    /// Nobody gets an answer until somebody changes something: a key, an address, a bill.
    Closed(String),
    /// Another try later may help.
    Away(Away),
}

impl Failed {
    /// What this means where `before` is what came of those for whom this judge stands in.
    fn after(self, before: Option<Self>) -> Self {
        match (before, self) {
            // One that may come back is waited for, whoever stands in for it.
            (Some(Failed::Away(_)), Failed::Closed(why)) => gone(why),
            (Some(Failed::Away(away)), Failed::Spent(why) | Failed::Never(why)) => {
                Failed::Away(Away { why: format!("{}; {why}", away.why), ..away })
            }
            (_, last) => last,
        }
    }
}

/// Who is asked where a judge has no answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// Nobody: it is asked again.
    Nobody,
    /// Another judge.
    Another,
}

/// One judge behind its limits.
struct Judge {
    config: JudgeConfig,
    /// What its evaluators share places as.
    of: String,
    transport: Transport,
    breaker: Breaker,
    requests: Rate,
    tokens: Rate,
    budget: Budget,
    permits: Semaphore,
    /// How the server takes requests.
    learned: Learned,
    abilities: Abilities,
    clock: Arc<dyn Clock>,
}

/// Every configured judge.
pub(super) struct Panel {
    judges: Vec<Judge>,
    /// For each judge, who is asked in which order.
    chains: Vec<Vec<usize>>,
    /// For each judge, what may be sent to it and to those that stand in for it.
    egress: Vec<Egress>,
    cache: Option<Cache>,
}

impl Panel {
    /// # Errors
    /// When a key is not there, or a setting cannot be used.
    pub(super) fn new(
        configs: &[JudgeConfig],
        clock: &Arc<dyn Clock>,
        policy: &Arc<Policy>,
        cache: Option<Cache>,
    ) -> Result<Self, String> {
        let mut judges = Vec::new();
        for config in configs {
            let told = |why: String| format!("judges {:?}: {why}", config.name);
            judges.push(Judge {
                transport: Transport::new(config).map_err(told)?,
                breaker: Breaker::new(),
                requests: Rate::new(config.max_requests_per_minute),
                tokens: Rate::new(config.max_tokens_per_minute),
                budget: Budget::new(config.max_usd_per_day, config.max_usd_per_month),
                permits: Semaphore::new(config.max_concurrent),
                learned: Learned::default(),
                abilities: Abilities::default(),
                clock: clock.clone(),
                of: format!("judge {}", config.name),
                config: config.clone(),
            });
        }
        let chains = (0..configs.len()).map(|at| chain(configs, at)).collect::<Result<Vec<_>, _>>()?;
        let allowed =
            |at: &usize| Allowed { tenants: configs[*at].tenants.as_deref(), redact: &configs[*at].redact };
        let egress = |chain: &Vec<usize>| Egress::new(chain.iter().map(allowed), policy, "judges.tenants");
        let egress = chains.iter().map(egress).collect();
        Ok(Self { judges, chains, egress, cache })
    }

    /// The place of the judge called `name`; the first one if it is empty.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.judges.iter().position(|judge| name.is_empty() || judge.config.name == name)
    }

    /// The settings of the judge at `place`.
    pub(super) fn config(&self, place: usize) -> &JudgeConfig {
        &self.judges[place].config
    }

    /// Items in work at once for all judges together.
    pub(super) fn at_once(&self) -> usize {
        self.judges.iter().map(Judge::at_once).sum()
    }

    /// Items that may be in work at once for the judge at `place`, now, and the name that its evaluators share.
    pub(super) fn places(&self, place: usize) -> Places<'_> {
        let judge = &self.judges[place];
        let places = |judge: &Judge| match judge.breaker.shut(judge.clock.instant()) {
            Some(_) => 0,
            // One is enough to find out whether it is back.
            None if judge.breaker.is_away() => 1,
            None => judge.at_once(),
        };
        // Who stands in for it takes no more than it does itself.
        let most = self.chains[place].iter().map(|at| places(&self.judges[*at])).max().unwrap_or_default();
        Places { of: &judge.of, most: most.min(judge.at_once()) }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.judges.len()
    }

    /// What may be sent to the judge at `place`.
    pub(super) fn egress(&self, place: usize) -> &Egress {
        &self.egress[place]
    }

    /// What the judge at `place` can tell of likelihoods.
    pub(super) fn abilities(&self, place: usize) -> &Abilities {
        &self.judges[place].abilities
    }

    /// Replies that are kept.
    pub(super) fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// Counts a verdict that was found in the cache.
    pub(super) fn count_cached(&self, place: usize) {
        self.judges[place].count("cached");
    }

    /// Counts `today` and `month`, US dollars, as spent by those whose model `model` is, and by all where nobody knows it: what
    /// was spent before a restart. Servers answer with a longer name than the one that was asked for, such as one with a date.
    pub(super) fn spent(&self, model: &str, today: f64, month: f64) {
        let fit = |judge: &Judge| model.starts_with(&judge.config.model).then_some(judge.config.model.len());
        let best = self.judges.iter().filter_map(fit).max();
        for judge in self.judges.iter().filter(|judge| best.is_none() || fit(judge) == best) {
            judge.budget.count(today, month, judge.clock.now());
        }
    }

    /// Whether one of them has a budget.
    pub(super) fn has_budget(&self) -> bool {
        self.judges.iter().any(|judge| judge.config.has_budget())
    }

    /// Asks the judge at `place`, or who stands in for it, until `until`.
    pub(super) async fn complete(
        &self,
        place: usize,
        question: &Question<'_>,
        until: Instant,
    ) -> Result<Completion, Failed> {
        let chain = &self.chains[place];
        let mut last = None;
        for (at, judge) in chain.iter().enumerate() {
            let behind = if at + 1 < chain.len() { Behind::Another } else { Behind::Nobody };
            match self.judges[*judge].complete(question, until, behind).await {
                Ok(done) => return Ok(Completion { stood_in: at > 0, ..done }),
                // Nobody stands in for a judge that is there and refuses.
                Err(failed @ Failed::Never(_)) if last.is_none() => return Err(failed),
                Err(failed) => last = Some(failed.after(last)),
            }
        }
        Err(last.unwrap_or_else(|| Failed::Never("no judge is configured".to_owned())))
    }

    /// Asks the judge at `place` and nobody else, until `until`.
    pub(super) async fn complete_at(
        &self,
        place: usize,
        question: &Question<'_>,
        until: Instant,
    ) -> Result<Completion, Failed> {
        self.judges[place].complete(question, until, Behind::Nobody).await
    }
}

impl Judge {
    /// Items in work at once: as many as may be asked about, and as many that begin, or are written down, meanwhile.
    fn at_once(&self) -> usize {
        self.config.max_concurrent * 2
    }

    /// Asks until there is a reply; once only where another judge stands in.
    async fn complete(
        &self,
        question: &Question<'_>,
        until: Instant,
        behind: Behind,
    ) -> Result<Completion, Failed> {
        let mut tries = 0;
        let most = self.config.forecast(question);
        // A request that goes out later would be ended before the judge's own time is over.
        let latest = until.checked_sub(self.config.timeout).unwrap_or(until);
        loop {
            let (permit, taken) = self.enter(&most, latest).await?;
            let reserved = self.reserve(&most).inspect_err(|_| self.tokens.give_back(taken))?;
            let fault = match timeout_at(until, self.sent(question)).await {
                Ok(Ok(answer)) => return Ok(self.answered(answer, reserved.usd(), taken)),
                Ok(Err(fault)) => Some(fault),
                Err(_) => None,
            };
            // Only what a server has answered is counted against its tokens.
            self.tokens.give_back(taken);
            drop((reserved, permit));
            let Some(fault) = fault else {
                // The item's time is over, and nothing is said against the judge.
                self.count("late");
                return Err(self.away("no answer in time (score.slow_timeout)"));
            };
            self.count(fault.word());
            tries += 1;
            let (why, wait, is_passing) = self.faulted(fault, tries)?;
            if let Some(until) = self.breaker.shut(self.clock.instant()).filter(|_| self.breaker.is_away()) {
                return Err(self.shut(&why, until));
            }
            if behind == Behind::Another || tries >= TRIES || Instant::now() + wait >= latest {
                // A judge that answers others may fail by this very input.
                return Err(Failed::Away(Away::new(self.named(&why), is_passing, None)));
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Sends one request in the first manner that the server does not refuse. It keeps its place meanwhile, so that those
    /// who wait for one know what was found out.
    async fn sent(&self, question: &Question<'_>) -> Result<Answer, Fault> {
        let has_schema = matches!(question, Question::Verdict { .. });
        let mut manner = self.learned.manner(self.clock.instant());
        loop {
            let fault = match self.transport.send(question, manner).await {
                Ok(answer) => {
                    self.learned.keep(manner, self.clock.instant());
                    return Ok(answer);
                }
                Err(fault) => fault,
            };
            let Fault::Unknown(words) = &fault else { return Err(fault) };
            let Some(next) = manner.next(words, has_schema) else { return Err(fault) };
            self.count(fault.word());
            self.there();
            manner = next;
        }
    }

    /// What a fault means: why, how long to wait, and whether it is one that this very input may cause.
    fn faulted(&self, fault: Fault, tries: u32) -> Result<(String, Duration, bool), Failed> {
        let backoff = jittered(FIRST_WAIT * 2u32.saturating_pow(tries - 1));
        match fault {
            Fault::Unknown(why) | Fault::Refused(why) => {
                self.there();
                Err(Failed::Never(self.named(&why)))
            }
            Fault::Closed(why) => {
                self.failed(&why);
                Err(Failed::Closed(self.named(&why)))
            }
            Fault::Busy(why, wait) => {
                let wait = wait.map_or(backoff, |wait| jittered(wait).max(wait));
                self.breaker.pause(self.clock.instant() + wait);
                Ok((why, wait, false))
            }
            Fault::Passing(why, wait) => {
                self.failed(&why);
                let wait = wait.map(|wait| jittered(wait).max(wait));
                if let Some(wait) = wait {
                    self.breaker.pause(self.clock.instant() + wait);
                }
                Ok((why, backoff.max(wait.unwrap_or_default()), true))
            }
        }
    }

    /// Waits until a request may go out: a free place, its rates, a judge that is there; for that nobody waits. Gives the
    /// place, and the tokens that were taken of the rate.
    async fn enter(&self, most: &Forecast, latest: Instant) -> Result<(SemaphorePermit<'_>, u32), Failed> {
        if let Some(until) = self.breaker.shut(self.clock.instant()) {
            return Err(self.shut(SHUT, until));
        }
        let permit = match timeout_at(latest, self.permits.acquire()).await {
            Ok(Ok(permit)) if Instant::now() <= latest => permit,
            _ => return Err(self.late()),
        };
        let tokens = u32::try_from(most.input_tokens + most.output_tokens).unwrap_or(u32::MAX);
        let now = Instant::now();
        let Some(first) = self.tokens.take(tokens, now, latest) else {
            return Err(self.away("its tokens are spread over the minute (judges.max_tokens_per_minute)"));
        };
        let Some(then) = self.requests.take(1, now, latest) else {
            self.tokens.give_back(tokens);
            return Err(self.away("its requests are spread over the minute (judges.max_requests_per_minute)"));
        };
        wait_until(first.max(then)).await;
        let lasts = self.config.timeout + Duration::from_secs(1);
        if let Gate::Shut(until) = self.breaker.gate(self.clock.instant(), lasts) {
            self.tokens.give_back(tokens);
            self.requests.give_back(1);
            return Err(self.shut(SHUT, until));
        }
        Ok((permit, tokens))
    }

    /// A request would be given up before the judge's own time is over: it is not made, and nothing is said against the judge.
    fn late(&self) -> Failed {
        let why =
            "other requests left it no time (judges.max_concurrent, judges.timeout, score.slow_timeout)";
        Failed::Away(Away::new(self.named(why), false, Some(FIRST_WAIT)))
    }

    /// Nobody is asked before `until`.
    fn shut(&self, why: &str, until: std::time::Instant) -> Failed {
        let wait = until.saturating_duration_since(self.clock.instant()).min(LONGEST_WAIT);
        Failed::Away(Away::new(self.named(why), false, Some(wait)))
    }

    /// Reserves what the question may cost at most.
    fn reserve(&self, most: &Forecast) -> Result<Reservation<'_>, Failed> {
        let usd = most.usd.unwrap_or_default();
        self.budget.reserve(usd, self.clock.now()).map_err(|(period, limit)| {
            self.count("spent");
            let (key, ends) = (period.key(), period.ends());
            Failed::Spent(self.named(&format!(
                "{key} = {limit} is spent or would be: this question may cost {usd:.6} US dollars; it is counted anew {ends}"
            )))
        })
    }

    /// Counts what an answer took. `most` is what it might have cost, US dollars, and `taken` the tokens that it might have had.
    fn answered(&self, answer: Answer, most: f64, taken: u32) -> Completion {
        self.there();
        self.count("answered");
        let (input, output) = (answer.input_tokens, answer.output_tokens);
        let cost = input.zip(output).and_then(|(input, output)| self.config.cost(input, output));
        for (kind, tokens) in [("input", input), ("output", output)] {
            let tokens = tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or_default();
            metrics::counter!("groundline_judge_tokens_total", "judge" => self.config.name.clone(), "kind" => kind)
                .increment(tokens);
        }
        if let Some((input, output)) = input.zip(output) {
            let used = u32::try_from(input.saturating_add(output)).unwrap_or(u32::MAX);
            self.tokens.give_back(taken.saturating_sub(used));
            self.tokens.add(used.saturating_sub(taken), Instant::now());
        }
        // A server that does not say what it took must not be free.
        let spent = self.budget.spend(cost.unwrap_or(most), self.clock.now());
        metrics::gauge!("groundline_judge_spent_usd", "judge" => self.config.name.clone()).set(spent);
        let usage = Usage { model: answer.model, input_tokens: input, output_tokens: output, cost_usd: cost };
        let Answer { text, note, nats, .. } = answer;
        Completion { text, note, nats, usage, stood_in: false }
    }

    fn there(&self) {
        if self.breaker.answered() {
            tracing::info!(judge = self.config.name, "the judge answers again");
        }
        self.show();
    }

    fn failed(&self, why: &str) {
        if self.breaker.failed(self.clock.instant()) {
            tracing::warn!(
                judge = self.config.name,
                why,
                "the judge is away; it is probed from time to time"
            );
        }
        self.show();
    }

    fn show(&self) {
        let away = if self.breaker.is_away() { 1.0 } else { 0.0 };
        metrics::gauge!("groundline_judge_away", "judge" => self.config.name.clone()).set(away);
    }

    fn count(&self, outcome: &'static str) {
        metrics::counter!("groundline_judge_requests_total", "judge" => self.config.name.clone(), "outcome" => outcome)
            .increment(1);
    }

    fn named(&self, why: &str) -> String {
        format!("judge {}: {why}", self.config.name)
    }

    /// There is no answer, for no fault of the item.
    fn away(&self, why: &str) -> Failed {
        gone(self.named(why))
    }
}

/// There is no answer, and nobody knows how long.
fn gone(why: String) -> Failed {
    Failed::Away(Away::new(why, false, None))
}

/// Half to one and a half times as long: those who failed together do not come back together.
fn jittered(wait: Duration) -> Duration {
    let random = uuid::Uuid::new_v4().as_bytes()[0];
    wait.mul_f64(0.5 + f64::from(random) / 256.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away(why: &str, counts: bool) -> Failed {
        Failed::Away(Away::new(why, counts, Some(FIRST_WAIT)))
    }

    #[test]
    fn a_judge_that_may_come_back_is_waited_for_whatever_its_stand_in_says() {
        let told = |failed: Failed| match failed {
            Failed::Away(away) => (away.why, Some((away.counts, away.wait))),
            Failed::Never(why) | Failed::Spent(why) | Failed::Closed(why) => (why, None),
        };
        let (spent, never) = (Failed::Spent("spent".to_owned()), Failed::Never("too long".to_owned()));
        assert_eq!(
            told(spent.after(Some(away("main", false)))),
            ("main; spent".to_owned(), Some((false, Some(FIRST_WAIT))))
        );
        // It may be this very input that the judge does not bear.
        assert_eq!(
            told(never.after(Some(away("main", true)))),
            ("main; too long".to_owned(), Some((true, Some(FIRST_WAIT))))
        );
        let closed = Failed::Closed("no key".to_owned());
        assert_eq!(told(closed.after(Some(away("main", true)))), ("no key".to_owned(), Some((false, None))));
        // Who has spent its budget does not come back today.
        let before = || Some(Failed::Spent("spent".to_owned()));
        assert_eq!(told(Failed::Never("no".to_owned()).after(before())), ("no".to_owned(), None));
        assert_eq!(told(away("spare", false).after(before())).0, "spare");
    }
}
