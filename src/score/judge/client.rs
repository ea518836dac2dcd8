//! One judge behind its limits, and what stands in for it.

use super::breaker::{Breaker, Gate};
use super::budget::{Budget, Rate, Reservation};
use super::config::{JudgeConfig, chain};
use super::transport::{Answer, Fault, Question, Transport};
use crate::domain::score::Usage;
use crate::domain::time::Clock;
use crate::eval::Away;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until, timeout_at};

/// Requests for one question, where no other judge stands in.
const TRIES: u32 = 3;
/// The wait before the second one; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// What a judge wrote.
pub(super) struct Completion {
    /// The reply's text.
    pub text: String,
    /// Why it may be no answer.
    pub note: Option<&'static str>,
    /// What it took.
    pub usage: Usage,
}

/// Why there is no reply.
#[derive(Debug)]
pub(super) enum Failed {
    /// The same would fail again.
    Never(String),
    /// The budget of the day is spent.
    Spent(String),
    /// Another try later may help.
    Away(Away),
}

/// One judge behind its limits.
struct Judge {
    config: JudgeConfig,
    transport: Transport,
    breaker: Breaker,
    rate: Rate,
    budget: Budget,
    permits: Semaphore,
    /// The server has refused a schema.
    no_schema: AtomicBool,
    clock: Arc<dyn Clock>,
}

/// Every configured judge.
pub(super) struct Panel {
    judges: Vec<Judge>,
    /// For each judge, who is asked in which order.
    chains: Vec<Vec<usize>>,
}

impl Panel {
    pub(super) fn new(configs: &[JudgeConfig], clock: &Arc<dyn Clock>) -> Result<Self, String> {
        let mut judges = Vec::new();
        for config in configs {
            let told = |why: String| format!("judges {:?}: {why}", config.name);
            judges.push(Judge {
                transport: Transport::new(config).map_err(told)?,
                breaker: Breaker::new(),
                rate: Rate::new(config.max_requests_per_minute),
                budget: Budget::new(config.max_usd_per_day),
                permits: Semaphore::new(config.max_concurrent),
                no_schema: AtomicBool::new(false),
                clock: clock.clone(),
                config: config.clone(),
            });
        }
        let chains = (0..configs.len()).map(|at| chain(configs, at)).collect::<Result<_, _>>()?;
        Ok(Self { judges, chains })
    }

    /// The place of the judge called `name`; the first one if it is empty.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.judges.iter().position(|judge| name.is_empty() || judge.config.name == name)
    }

    /// The settings of the judge at `place`.
    pub(super) fn config(&self, place: usize) -> &JudgeConfig {
        &self.judges[place].config
    }

    /// Requests at once to all judges together.
    pub(super) fn at_once(&self) -> usize {
        self.judges.iter().map(|judge| judge.config.max_concurrent).sum()
    }

    /// Counts `usd` as spent today by those whose model `model` is, and by all where nobody knows it: what was spent before a
    /// restart. Servers answer with a longer name than the one that was asked for, such as one with a date.
    pub(super) fn spent(&self, model: &str, usd: f64) {
        let fit = |judge: &Judge| model.starts_with(&judge.config.model).then_some(judge.config.model.len());
        let best = self.judges.iter().filter_map(fit).max();
        for judge in self.judges.iter().filter(|judge| best.is_none() || fit(judge) == best) {
            judge.budget.spend(usd, judge.clock.now());
        }
    }

    /// Whether one of them has a budget.
    pub(super) fn has_budget(&self) -> bool {
        self.judges.iter().any(|judge| judge.config.max_usd_per_day.is_some())
    }

    /// Asks the judge at `place`, or who stands in for it, until `until`.
    pub(super) async fn complete(
        &self,
        place: usize,
        question: &Question<'_>,
        until: Instant,
    ) -> Result<Completion, Failed> {
        let chain = &self.chains[place];
        let mut last = Failed::Never("no judge is configured".to_owned());
        for (at, judge) in chain.iter().enumerate() {
            let has_another = at + 1 < chain.len();
            match self.judges[*judge].complete(question, until, has_another).await {
                Err(failed @ (Failed::Away(_) | Failed::Spent(_))) => last = failed,
                done => return done,
            }
        }
        Err(last)
    }
}

impl Judge {
    /// Asks until there is a reply; once only where another judge stands in.
    async fn complete(
        &self,
        question: &Question<'_>,
        until: Instant,
        has_another: bool,
    ) -> Result<Completion, Failed> {
        let (mut tries, mut with_schema) = (0, !self.no_schema.load(Ordering::Relaxed));
        loop {
            let permit = self.enter(until, has_another).await?;
            let reserved = self.reserve(question)?;
            let fault = match timeout_at(until, self.transport.send(question, with_schema)).await {
                Ok(Ok(answer)) => {
                    if !with_schema {
                        self.no_schema.store(true, Ordering::Relaxed);
                    }
                    return Ok(self.answered(answer, reserved.usd()));
                }
                Ok(Err(fault)) => fault,
                Err(_) => Fault::Passing("no answer in time (score.slow_timeout)".to_owned()),
            };
            drop((reserved, permit));
            self.count(fault.word());
            if with_schema && matches!(fault, Fault::Unknown(_)) {
                self.there();
                with_schema = false;
                continue;
            }
            tries += 1;
            let (why, wait, is_passing) = self.faulted(fault, tries)?;
            let is_last = has_another || tries >= TRIES;
            if is_last || Instant::now() + wait >= until {
                // A judge that answers others may fail by this very input.
                return Err(self.away(&why, is_passing && !self.breaker.is_away()));
            }
            tokio::time::sleep(wait).await;
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
                Err(self.away(&why, false))
            }
            Fault::Busy(why, wait) => {
                let wait = wait.map_or(backoff, |wait| jittered(wait).max(wait));
                self.breaker.pause(Instant::now() + wait);
                Ok((why, wait, false))
            }
            Fault::Passing(why) => {
                self.failed(&why);
                Ok((why, backoff, true))
            }
        }
    }

    /// Waits until a request may go out: a free place, a judge that is there, its rate.
    async fn enter(&self, until: Instant, has_another: bool) -> Result<SemaphorePermit<'_>, Failed> {
        let Ok(Ok(permit)) = timeout_at(until, self.permits.acquire()).await else {
            return Err(self.away("no request ended in time for another one (judges.max_concurrent)", false));
        };
        let lasts = self.config.timeout + Duration::from_secs(1);
        while let Gate::Shut(at) = self.breaker.gate(Instant::now(), lasts) {
            if has_another || at >= until {
                return Err(
                    self.away("it did not answer the last requests, and is probed from time to time", false)
                );
            }
            sleep_until(at).await;
        }
        let Some(at) = self.rate.take(Instant::now(), until) else {
            return Err(
                self.away("its requests are spread over the minute (judges.max_requests_per_minute)", false)
            );
        };
        sleep_until(at).await;
        Ok(permit)
    }

    /// Reserves what the question may cost at most.
    fn reserve(&self, question: &Question<'_>) -> Result<Reservation<'_>, Failed> {
        let most = self.config.forecast(question.system, question.user).usd.unwrap_or_default();
        self.budget.reserve(most, self.clock.now()).ok_or_else(|| {
            self.count("spent");
            let limit = self.config.max_usd_per_day.unwrap_or_default();
            Failed::Spent(self.named(&format!(
                "judges.max_usd_per_day = {limit} is spent or would be: this question may cost {most:.6} US dollars; it is counted anew at midnight UTC"
            )))
        })
    }

    fn answered(&self, answer: Answer, most: f64) -> Completion {
        self.there();
        self.count("answered");
        let (input, output) = (answer.input_tokens, answer.output_tokens);
        let cost = input.zip(output).and_then(|(input, output)| self.config.cost(input, output));
        for (kind, tokens) in [("input", input), ("output", output)] {
            let tokens = tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or_default();
            metrics::counter!("groundline_judge_tokens_total", "judge" => self.config.name.clone(), "kind" => kind)
                .increment(tokens);
        }
        // A server that does not say what it took must not be free.
        let spent = self.budget.spend(cost.unwrap_or(most), self.clock.now());
        metrics::gauge!("groundline_judge_spent_usd", "judge" => self.config.name.clone()).set(spent);
        let usage = Usage { model: answer.model, input_tokens: input, output_tokens: output, cost_usd: cost };
        Completion { text: answer.text, note: answer.note, usage }
    }

    fn there(&self) {
        if self.breaker.answered() {
            tracing::info!(judge = self.config.name, "the judge answers again");
        }
        self.show();
    }

    fn failed(&self, why: &str) {
        if self.breaker.failed(Instant::now()) {
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

    fn away(&self, why: &str, counts: bool) -> Failed {
        Failed::Away(Away { why: self.named(why), counts })
    }
}

/// Half to one and a half times as long: those who failed together do not come back together.
fn jittered(wait: Duration) -> Duration {
    let random = uuid::Uuid::new_v4().as_bytes()[0];
    wait.mul_f64(0.5 + f64::from(random) / 256.0)
}
