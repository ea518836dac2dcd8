//! The loop that scores frozen items again, so that an alert can say whether the application or the evaluator moved.

use crate::domain::time::Clock;
use crate::domain::trace::EvalInput;
use crate::drift::{
    Alerts, AnchorConfig, AnchorMetric, Anchors, compare_anchors, freeze_anchors, read_anchors,
};
use crate::eval::{Evaluator, PATIENCE, Registry, Said, score_input, score_line_by};
use crate::units::words;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Most anchors of a file: all their scores are held until the end.
const MAX_ANCHORS: usize = 100_000;
/// Longest line, bytes.
const MAX_LINE: usize = 16 << 20;
/// How often it is looked whether scoring is due.
const TICK: Duration = Duration::from_millis(500);
/// Longest that a set is scored, however seldom it is due: others wait for it.
const LONGEST: Duration = Duration::from_hours(6);
/// When a set is tried again where a judge or plug-in was away; twice as long each time, up to how often it is due.
const AGAIN: Duration = Duration::from_mins(1);
/// The wait grows no further.
const MAX_DOUBLINGS: u32 = 12;

/// The loop.
pub struct AnchorLoop {
    /// Files, evaluators and when; what is sent anew is scored at once.
    pub sets: watch::Receiver<Vec<AnchorConfig>>,
    /// The evaluators of the server, its judges and plug-ins included.
    pub registry: Arc<Registry>,
    /// Who is told.
    pub alerts: Alerts,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl AnchorLoop {
    /// Runs until `stop`: every set is scored at once, then as often as it says, and when one of its evaluators, such as a
    /// plug-in, tells another version. What fails is logged and counted, and what the set said before goes on to hold.
    pub async fn run(mut self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let sets = self.sets.borrow_and_update().clone();
            if sets.is_empty() {
                forget(&self.alerts.anchors().metrics);
                self.alerts.set_anchors(Anchors::default());
            }
            self.follow(&sets, &stop).await;
        }
    }

    /// Scores `sets` until others are sent.
    async fn follow(&mut self, sets: &[AnchorConfig], stop: &CancellationToken) {
        let mut plans: Vec<Due> = sets.iter().map(|_| Due::at_once()).collect();
        let mut found: BTreeMap<usize, Vec<AnchorMetric>> = BTreeMap::new();
        while !stop.is_cancelled() {
            for (at, (set, due)) in sets.iter().zip(&mut plans).enumerate() {
                if stop.is_cancelled()
                    || !due.begins(&versions(&self.registry, set), set.every, Instant::now())
                {
                    continue;
                }
                let scoring = Scoring::new(self.registry.clone(), set.clone(), stop.clone());
                let scored = tokio::task::spawn_blocking(move || scoring.metrics()).await;
                let scored = scored.unwrap_or_else(|error| Err(Unscored::Failed(error.to_string())));
                let mut wait = set.every;
                match scored {
                    Ok(metrics) => {
                        due.away = 0;
                        found.insert(at, metrics);
                        self.tell(found.values().flatten().cloned().collect());
                    }
                    Err(Unscored::Stopped) => {}
                    Err(Unscored::Away(why)) => {
                        wait = again(due.away, set.every);
                        due.away += 1;
                        metrics::counter!("groundline_anchor_errors_total").increment(1);
                        let next = words(wait);
                        tracing::warn!(items = %set.items.display(), why, next, "anchors wait: an evaluator is away");
                    }
                    Err(Unscored::Failed(error)) => {
                        metrics::counter!("groundline_anchor_errors_total").increment(1);
                        tracing::error!(items = %set.items.display(), error, "anchors could not be scored");
                    }
                }
                due.ends(versions(&self.registry, set), wait, Instant::now());
            }
            tokio::select! {
                () = stop.cancelled() => {}
                Ok(()) = self.sets.changed() => return,
                () = tokio::time::sleep(TICK) => {}
            }
        }
    }

    fn tell(&self, metrics: Vec<AnchorMetric>) {
        forget(&self.alerts.anchors().metrics);
        show(&metrics);
        self.alerts.set_anchors(Anchors { metrics, scored_at: self.clock.now().0 });
    }
}

/// Evaluators and their versions; empty for one that has not told its version yet.
type Versions = BTreeMap<String, String>;

/// The versions of the evaluators of a set, as they are known now. None if one of them is unknown: scoring tells which.
fn versions(registry: &Registry, set: &AnchorConfig) -> Versions {
    let all = registry.select(&set.evaluators).unwrap_or_default();
    all.iter().map(|one| (one.id().to_owned(), one.version().to_owned())).collect()
}

/// When a set is scored again: at its time, and when an evaluator tells another version than the last scoring began with.
struct Due {
    at: Instant,
    /// When the last scoring was over; none before the first.
    scored: Option<Instant>,
    /// What the last scoring was done with.
    versions: Versions,
    /// How often in a row it was scored because of a version: two versions that answer by turns must not keep it busy.
    changes: u32,
    /// How often in a row an evaluator was away.
    away: u32,
}

impl Due {
    fn at_once() -> Self {
        Self { at: Instant::now(), scored: None, versions: Versions::new(), changes: 0, away: 0 }
    }

    /// Whether a scoring begins at `now`, with evaluators of the versions `known`. If so, it has begun.
    fn begins(&mut self, known: &Versions, every: Duration, now: Instant) -> bool {
        let is_time = now >= self.at;
        let is_changed = self.differs(known) && self.has_rested(every, now);
        if !is_time && !is_changed {
            return false;
        }
        self.changes = if is_time { 0 } else { self.changes + 1 };
        self.versions = known.clone();
        true
    }

    /// Whether an evaluator has another version than the last scoring was done with.
    fn differs(&self, known: &Versions) -> bool {
        known.iter().any(|(id, version)| self.versions.get(id).is_some_and(|scored| scored != version))
    }

    /// The first new version is scored at once, the next ones with growing waits between them.
    fn has_rested(&self, every: Duration, now: Instant) -> bool {
        let wait = self.changes.checked_sub(1).map_or(Duration::ZERO, |times| again(times, every));
        self.scored.is_none_or(|at| now.saturating_duration_since(at) >= wait)
    }

    /// The scoring was over at `now`, when the versions were `known`; the next one is due after `wait`.
    fn ends(&mut self, known: Versions, wait: Duration, now: Instant) {
        for (id, version) in known {
            let begun = self.versions.entry(id).or_default();
            // Who tells its version when it is asked first has changed nothing.
            if begun.is_empty() {
                *begun = version;
            }
        }
        (self.scored, self.at) = (Some(now), now + wait);
    }
}

/// How long a set waits that has found an evaluator away `times` times before.
fn again(times: u32, every: Duration) -> Duration {
    every.min(AGAIN * 2_u32.pow(times.min(MAX_DOUBLINGS)))
}

/// Nobody has moved whose anchors are gone.
fn forget(metrics: &[AnchorMetric]) {
    for one in metrics {
        let (evaluator, metric) = (one.evaluator.clone(), one.metric.clone());
        metrics::gauge!("groundline_anchors_moved", "evaluator" => evaluator.clone(), "metric" => metric.clone()).set(0.0);
        metrics::gauge!("groundline_anchors_unscored", "evaluator" => evaluator, "metric" => metric).set(0.0);
    }
}

fn show(metrics: &[AnchorMetric]) {
    for one in metrics {
        let (evaluator, metric) = (one.evaluator.clone(), one.metric.clone());
        metrics::gauge!("groundline_anchors_moved", "evaluator" => evaluator.clone(), "metric" => metric.clone())
            .set(f64::from(u8::from(one.moved)));
        metrics::gauge!("groundline_anchors_unscored", "evaluator" => evaluator, "metric" => metric)
            .set(one.errors as f64);
        if one.errors > 0 {
            tracing::warn!(
                metric = one.metric,
                errors = one.errors,
                "an evaluator failed to score some of its anchors"
            );
        }
        if one.moved {
            let [then, now] = &one.versions;
            tracing::warn!(
                metric = one.metric,
                then,
                now,
                flipped = one.flipped,
                "an evaluator moved on its anchors"
            );
        }
    }
}

/// Why a set has no scores now.
#[derive(Debug, PartialEq, Eq)]
enum Unscored {
    /// The server stops.
    Stopped,
    /// A judge or plug-in answers nobody.
    Away(String),
    /// A file, or the time that there is.
    Failed(String),
}

impl From<String> for Unscored {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// One scoring of a set.
struct Scoring {
    registry: Arc<Registry>,
    set: AnchorConfig,
    stop: CancellationToken,
    /// How long it may take.
    limit: Duration,
    until: tokio::time::Instant,
}

impl Scoring {
    /// One that begins now.
    fn new(registry: Arc<Registry>, set: AnchorConfig, stop: CancellationToken) -> Self {
        let limit = set.every.clamp(PATIENCE, LONGEST);
        Self { registry, set, stop, limit, until: tokio::time::Instant::now() + limit }
    }

    /// The metrics, compared with their scores of then. What has none yet gets those of now.
    fn metrics(&self) -> Result<Vec<AnchorMetric>, Unscored> {
        let evaluators = self.registry.select(&self.set.evaluators).map_err(|error| error.to_string())?;
        let text = self.score(&evaluators)?;
        let (then, added) = freeze_anchors(&self.set.scores, &text)?;
        if added > 0 {
            tracing::info!(scores = %self.set.scores.display(), added, "scores of anchors are frozen");
        }
        Ok(compare_anchors(&then, &read_anchors(&text)?))
    }

    /// The scores of every anchor as JSON lines, one anchor after the other: production goes before.
    fn score(&self, evaluators: &[Arc<dyn Evaluator>]) -> Result<String, Unscored> {
        let items = &self.set.items;
        let named = |error: &dyn ToString| format!("{}: {}", items.display(), error.to_string());
        let file = std::fs::File::open(items).map_err(|error| named(&error))?;
        let mut out = String::new();
        for (number, line) in (1..).zip(BufReader::new(file).lines()) {
            let line = line.map_err(|error| named(&error))?;
            if self.stop.is_cancelled() {
                return Err(Unscored::Stopped);
            }
            if number > MAX_ANCHORS || line.len() > MAX_LINE {
                let most =
                    format!("line {number}: at most {MAX_ANCHORS} lines of {MAX_LINE} bytes are taken");
                return Err(named(&most).into());
            }
            if tokio::time::Instant::now() >= self.until {
                let late = format!(
                    "line {number}: scoring took longer than {}; take fewer anchors",
                    words(self.limit)
                );
                return Err(named(&late).into());
            }
            if line.trim().is_empty() {
                continue;
            }
            let ask = |evaluator: &dyn Evaluator, input: &EvalInput| self.ask(evaluator, input);
            let (is_read, rows) = score_line_by(evaluators, number, line.trim(), ask)?;
            if !is_read {
                return Err(named(&rows.into_iter().find_map(|row| row.error).unwrap_or_default()).into());
            }
            for row in rows {
                out.push_str(&serde_json::to_string(&row).map_err(|error| named(&error))?);
                out.push('\n');
            }
        }
        Ok(out)
    }

    /// What `evaluator` says of `input`. One that waits for others is asked once: who answers nobody is away for the other
    /// anchors too. Blocks until then, or until the server stops.
    fn ask(&self, evaluator: &dyn Evaluator, input: &EvalInput) -> Result<Said, Unscored> {
        let Some(waits) = evaluator.waits() else { return Ok(score_input(&self.registry, evaluator, input)) };
        let until = self.until.min(tokio::time::Instant::now() + PATIENCE);
        let asked = futures::executor::block_on(async {
            tokio::select! {
                () = self.stop.cancelled() => None,
                asked = self.registry.ask(evaluator, waits, input, until) => Some(asked),
            }
        });
        match asked {
            None => Err(Unscored::Stopped),
            Some(Ok(said)) => Ok(said),
            // Others get answers: this anchor alone has none.
            Some(Err(away)) if away.counts => {
                Ok(Said { scores: evaluator.fail(&away.why), usage: away.owed.take(), version: None })
            }
            Some(Err(away)) => Err(Unscored::Away(away.why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::score::{Better, Score};
    use crate::domain::time::SystemClock;
    use crate::drift::{Config as DriftConfig, Plan, Watcher};
    use crate::eval::{Away, Metric, Waits};
    use crate::journal::{Config as JournalConfig, Journal};
    use crate::schema::FORMAT;
    use async_trait::async_trait;
    use parking_lot::Mutex;

    static METRICS: [Metric; 1] = [Metric::new("m", Better::Higher, None)];

    #[derive(Clone, Copy)]
    enum Says {
        Passes,
        IsAway,
        HasNoneForThis,
        Nothing,
    }

    struct Probe {
        version: Mutex<&'static str>,
        says: Mutex<Says>,
        asked: Mutex<usize>,
        stop: CancellationToken,
    }

    impl Probe {
        fn new(says: Says, stop: &CancellationToken) -> Self {
            let (version, says) = (Mutex::new("1"), Mutex::new(says));
            Self { version, says, asked: Mutex::new(0), stop: stop.clone() }
        }
    }

    impl Evaluator for Probe {
        fn id(&self) -> &str {
            "probe"
        }

        fn version(&self) -> &str {
            *self.version.lock()
        }

        fn metrics(&self) -> &[Metric] {
            &METRICS
        }

        fn evaluate(&self, _: &EvalInput) -> Vec<Score> {
            self.fail("it waits")
        }

        fn waits(&self) -> Option<&dyn Waits> {
            Some(self)
        }
    }

    #[async_trait]
    impl Waits for Probe {
        async fn ask(&self, _: &EvalInput, _: tokio::time::Instant) -> Result<Said, Away> {
            *self.asked.lock() += 1;
            let says = *self.says.lock();
            let away = |counts| Away::new("nobody is there", counts, Some(TICK));
            match says {
                Says::Passes => {
                    Ok(Said { scores: vec![Score::verdict("m", true)], usage: None, version: None })
                }
                Says::IsAway => Err(away(false)),
                Says::HasNoneForThis => Err(away(true)),
                Says::Nothing => {
                    // The server stops while the judge thinks.
                    self.stop.cancel();
                    std::future::pending().await
                }
            }
        }
    }

    #[test]
    fn who_is_away_ends_a_scoring_and_no_fault_is_frozen_or_a_movement() {
        let folder = tempfile::tempdir().unwrap();
        let [items, scores] = ["items.jsonl", "scores.jsonl"].map(|name| folder.path().join(name));
        let lines: Vec<String> = (0..20).map(|n| format!("{{\"id\": {n}, \"answer\": \"a\"}}")).collect();
        std::fs::write(&items, lines.join("\n")).unwrap();
        let stop = CancellationToken::new();
        let probe = Arc::new(Probe::new(Says::IsAway, &stop));
        let registry = Arc::new(Registry::of(vec![probe.clone() as Arc<dyn Evaluator>]));
        let every = Duration::from_hours(1);
        let set = AnchorConfig { items, scores: scores.clone(), evaluators: vec!["probe".to_owned()], every };
        let scored = |says: Says| {
            (*probe.says.lock(), *probe.asked.lock()) = (says, 0);
            let said = Scoring::new(registry.clone(), set.clone(), stop.clone()).metrics();
            (said, *probe.asked.lock())
        };
        let (said, asked) = scored(Says::IsAway);
        assert_eq!((said.unwrap_err(), asked), (Unscored::Away("nobody is there".to_owned()), 1));
        assert!(!scores.exists(), "nothing was scored, so nothing is frozen");
        let (said, asked) = scored(Says::HasNoneForThis);
        let found = &said.unwrap()[0];
        assert!(asked == 20 && !found.moved && (found.errors, found.anchors) == (20, 0), "{found:?}");
        assert_eq!(std::fs::read_to_string(&scores).unwrap(), "", "an error is no score of then");
        let found = &scored(Says::Passes).0.unwrap()[0];
        assert!(!found.moved && (found.errors, found.anchors) == (0, 20), "{found:?}");
        let found = &scored(Says::HasNoneForThis).0.unwrap()[0];
        assert!(!found.moved && (found.errors, found.unpaired) == (20, 0), "{found:?}");
        let mut late = Scoring::new(registry.clone(), set.clone(), stop.clone());
        late.until = tokio::time::Instant::now();
        let said = late.metrics().unwrap_err();
        assert!(matches!(&said, Unscored::Failed(why) if why.contains("took longer than 1h")), "{said:?}");
        assert_eq!(scored(Says::Nothing).0.unwrap_err(), Unscored::Stopped);
    }

    #[tokio::test]
    async fn another_version_is_scored_while_the_server_runs() {
        let folder = tempfile::tempdir().unwrap();
        let [items, scores] = ["items.jsonl", "scores.jsonl"].map(|name| folder.path().join(name));
        std::fs::write(&items, "{\"id\": 1, \"answer\": \"a\"}").unwrap();
        let journal =
            Journal::open(&folder.path().join("journal"), JournalConfig::default(), FORMAT).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let watcher = Watcher::open(journal, Plan::default(), DriftConfig::default(), clock.clone()).unwrap();
        let (alerts, stop) = (watcher.alerts(), CancellationToken::new());
        let probe = Arc::new(Probe::new(Says::Passes, &stop));
        let registry = Arc::new(Registry::of(vec![probe.clone() as Arc<dyn Evaluator>]));
        let every = Duration::from_hours(24);
        let set = AnchorConfig { items, scores, evaluators: vec!["probe".to_owned()], every };
        let (_sender, sets) = watch::channel(vec![set]);
        let scored = AnchorLoop { sets, registry, alerts: alerts.clone(), clock };
        let running = tokio::spawn(scored.run(stop.clone()));
        for (version, times) in [("1", 1), ("2", 2)] {
            *probe.version.lock() = version;
            let is_told = || alerts.anchors().metrics.iter().any(|one| one.versions == ["1", version]);
            while !is_told() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(*probe.asked.lock(), times, "each version once");
        }
        stop.cancel();
        running.await.unwrap();
    }

    #[test]
    fn versions_that_answer_by_turns_are_scored_more_and_more_seldom() {
        let known = |version: &str| Versions::from([("plugin/a".to_owned(), version.to_owned())]);
        let (day, minute, start) = (Duration::from_hours(24), Duration::from_mins(1), Instant::now());
        let mut due = Due::at_once();
        assert!(due.begins(&known(""), day, Instant::now()), "at the start");
        // It tells its version when it is asked first.
        due.ends(known("1"), day, start);
        assert!(!due.begins(&known("1"), day, start + minute));
        let mut at = start + minute;
        let waits = ["2", "1", "2", "1"].map(|version| {
            let before = at;
            while !due.begins(&known(version), day, at) {
                at += minute;
            }
            due.ends(known(version), day, at);
            (at - before).as_secs() / 60
        });
        assert_eq!(waits, [0, 1, 2, 4]);
        // A change in the middle of a scoring is a change.
        assert!(due.begins(&known("2"), day, at + day), "its time has come");
        due.ends(known("3"), day, at + day);
        assert!(due.begins(&known("3"), day, at + day), "and the waits begin anew");
        assert!(!Due::at_once().differs(&known("1")), "the first scoring is due by its time");
    }

    #[test]
    fn who_is_away_is_asked_again_soon_and_then_as_seldom_as_the_set_is_due() {
        let day = Duration::from_hours(24);
        let waits: Vec<u64> = [0, 1, 2, 11, 99].map(|times| again(times, day).as_secs() / 60).to_vec();
        assert_eq!(waits, [1, 2, 4, 1440, 1440]);
        assert_eq!(again(0, Duration::from_secs(1)), Duration::from_secs(1));
    }
}
