//! The loop that scores frozen items again, so that an alert can say whether the application or the evaluator moved.

use crate::domain::time::Clock;
use crate::drift::{Alerts, AnchorConfig, AnchorMetric, AnchorScore, Anchors, compare_anchors, read_anchors};
use crate::eval::{Evaluator, Registry, score_line};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
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
    /// Runs until `stop`: every set is scored at once, and then as often as it says. What fails is logged and counted, and what
    /// the set said before goes on to hold.
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
        let mut due = vec![Instant::now(); sets.len()];
        let mut found: BTreeMap<usize, Vec<AnchorMetric>> = BTreeMap::new();
        while !stop.is_cancelled() {
            for (at, set) in sets.iter().enumerate() {
                if Instant::now() < due[at] || stop.is_cancelled() {
                    continue;
                }
                let (registry, of, cancelled) = (self.registry.clone(), set.clone(), stop.clone());
                let scored = tokio::task::spawn_blocking(move || scored(&registry, &of, &cancelled)).await;
                match scored.map_err(|error| error.to_string()).and_then(|scored| scored) {
                    Ok(metrics) => {
                        found.insert(at, metrics);
                        let metrics: Vec<AnchorMetric> = found.values().flatten().cloned().collect();
                        forget(&self.alerts.anchors().metrics);
                        show(&metrics);
                        self.alerts.set_anchors(Anchors { metrics, scored_at: self.clock.now().0 });
                    }
                    Err(_) if stop.is_cancelled() => {}
                    Err(error) => {
                        metrics::counter!("groundline_anchor_errors_total").increment(1);
                        tracing::error!(items = %set.items.display(), error, "anchors could not be scored");
                    }
                }
                due[at] = Instant::now() + set.every;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                Ok(()) = self.sets.changed() => return,
                () = tokio::time::sleep(TICK) => {}
            }
        }
    }
}

/// Nobody has moved whose anchors are gone.
fn forget(metrics: &[AnchorMetric]) {
    for one in metrics {
        let (evaluator, metric) = (one.evaluator.clone(), one.metric.clone());
        metrics::gauge!("groundline_anchors_moved", "evaluator" => evaluator, "metric" => metric).set(0.0);
    }
}

fn show(metrics: &[AnchorMetric]) {
    for one in metrics {
        let (evaluator, metric) = (one.evaluator.clone(), one.metric.clone());
        metrics::gauge!("groundline_anchors_moved", "evaluator" => evaluator, "metric" => metric)
            .set(f64::from(u8::from(one.moved)));
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

/// The metrics of a set, compared with their scores of then; none yet if these are written now.
fn scored(
    registry: &Registry,
    set: &AnchorConfig,
    stop: &CancellationToken,
) -> Result<Vec<AnchorMetric>, String> {
    let evaluators = registry.select(&set.evaluators).map_err(|error| error.to_string())?;
    let text = score(registry, &evaluators, &set.items, stop)?;
    let named = |error: &dyn ToString| format!("{}: {}", set.scores.display(), error.to_string());
    if !set.scores.exists() {
        std::fs::write(&set.scores, &text).map_err(|error| named(&error))?;
        tracing::info!(scores = %set.scores.display(), "the scores of the anchors are frozen");
    }
    let then = std::fs::read_to_string(&set.scores).map_err(|error| named(&error))?;
    let then: Vec<AnchorScore> = read_anchors(&then).map_err(|error| named(&error))?;
    Ok(compare_anchors(&then, &read_anchors(&text)?))
}

/// The scores of every anchor as JSON lines, one anchor after the other: production goes before.
fn score(
    registry: &Registry,
    evaluators: &[Arc<dyn Evaluator>],
    items: &Path,
    stop: &CancellationToken,
) -> Result<String, String> {
    let named = |error: &dyn ToString| format!("{}: {}", items.display(), error.to_string());
    let file = std::fs::File::open(items).map_err(|error| named(&error))?;
    let mut out = String::new();
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(|error| named(&error))?;
        if stop.is_cancelled() {
            return Err("the server stops".to_owned());
        }
        if number > MAX_ANCHORS || line.len() > MAX_LINE {
            return Err(named(&format!(
                "line {number}: at most {MAX_ANCHORS} lines of {MAX_LINE} bytes are taken"
            )));
        }
        if line.trim().is_empty() {
            continue;
        }
        let (is_read, rows) = score_line(registry, evaluators, number, line.trim());
        if !is_read {
            return Err(named(&rows.into_iter().find_map(|row| row.error).unwrap_or_default()));
        }
        for row in rows {
            out.push_str(&serde_json::to_string(&row).map_err(|error| named(&error))?);
            out.push('\n');
        }
    }
    Ok(out)
}
