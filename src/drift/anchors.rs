//! Frozen items that are scored again: what moves there is the evaluator, and what moves elsewhere alone the application.

use super::slice::Reading;
use crate::stats::{Estimate, Paired};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

const LEVEL: f64 = 0.95;

/// A score of an anchor, as `groundline score` writes it.
#[derive(Debug, Clone, Deserialize)]
pub struct AnchorScore {
    id: Value,
    evaluator: String,
    evaluator_version: String,
    metric: String,
    value: Option<f64>,
    passed: Option<bool>,
    status: String,
}

/// What became of one metric.
#[derive(Debug, Clone, Serialize)]
pub struct AnchorMetric {
    /// The metric.
    pub metric: String,
    /// The evaluator.
    pub evaluator: String,
    /// Its versions then and now.
    pub versions: [String; 2],
    /// Anchors with a score then and now.
    pub anchors: usize,
    /// Anchors with a score on one side, which were skipped or are not there on the other.
    pub unpaired: usize,
    /// Anchors that it failed to score, then or now: a judge that did not answer says nothing about its scores.
    pub errors: usize,
    /// Verdicts that changed.
    pub flipped: usize,
    /// Share that passes now less that of then.
    pub rate: Option<Estimate>,
    /// Mean value now less that of then.
    pub mean: Option<Estimate>,
    /// Whether an interval of the two leaves out 0, or scores came or went.
    pub moved: bool,
}

/// Reads a scoring, one object a line.
///
/// # Errors
/// The line that is none.
pub fn read_anchors(text: &str) -> Result<Vec<AnchorScore>, String> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| serde_json::from_str(line).map_err(|e| format!("line {number}: {e}")))
        .collect()
}

/// The scores of then at `path`, with what they lack from those of `now`, which are JSON lines: what was an error then, or is a
/// new anchor, is frozen now. Gives how many were added as well. When it returns, the file has them, and no errors.
///
/// # Errors
/// The file that cannot be read or written, or the line that is none.
pub fn freeze_anchors(path: &Path, now: &str) -> Result<(Vec<AnchorScore>, usize), String> {
    let named = |error: &dyn ToString| format!("{}: {}", path.display(), error.to_string());
    let then = match std::fs::read_to_string(path) {
        Ok(then) => then,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(named(&error)),
    };
    let rows = read_anchors(&then).map_err(|error| named(&error))?;
    let known: BTreeSet<_> = rows.iter().filter(|row| !row.is_error()).map(AnchorScore::key).collect();
    let mut lines: Vec<&str> =
        texts(&then).zip(&rows).filter(|(_, row)| !row.is_error()).map(|(line, _)| line).collect();
    let (before, kept) = (rows.len(), lines.len());
    let fresh = read_anchors(now)?;
    let is_added = |row: &AnchorScore| !row.is_error() && !known.contains(&row.key());
    lines.extend(texts(now).zip(&fresh).filter(|(_, row)| is_added(row)).map(|(line, _)| line));
    let added = lines.len() - kept;
    if added > 0 || kept < before || !path.exists() {
        let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        write_whole(path, &text).map_err(|error| named(&error))?;
    }
    let kept = rows.iter().filter(|row| !row.is_error()).cloned();
    Ok((kept.chain(fresh.iter().filter(|row| is_added(row)).cloned()).collect(), added))
}

/// Lets the scores of `now`, JSON lines, be those of then at `path`. What is an error now has none until a scoring freezes it. When it
/// returns, the file has them.
///
/// # Errors
/// The line that is none, or the file that cannot be written, which is as it was then.
pub fn accept_anchors(path: &Path, now: &str) -> Result<(), String> {
    let rows = read_anchors(now)?;
    let kept = texts(now).zip(&rows).filter(|(_, row)| !row.is_error());
    let text: String = kept.flat_map(|(line, _)| [line, "\n"]).collect();
    write_whole(path, &text).map_err(|error| format!("{}: {error}", path.display()))
}

/// A crash leaves what was there before, or all of `text`.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = std::fs::File::create(&beside)?;
    file.write_all(text.as_bytes())?;
    // A name that is durable before what it names would be an empty file.
    file.sync_all()?;
    std::fs::rename(&beside, path)
}

/// The lines that [`read_anchors`] reads.
fn texts(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

impl AnchorScore {
    fn is_ok(&self) -> bool {
        self.status == "ok"
    }

    fn is_error(&self) -> bool {
        self.status == "error"
    }

    fn key(&self) -> (String, String, String) {
        (self.id.to_string(), self.evaluator.clone(), self.metric.clone())
    }
}

/// Compares what was scored `then` with what is scored `now`, by metric. Anchors that have no row of then are left out.
pub fn compare_anchors(then: &[AnchorScore], now: &[AnchorScore]) -> Vec<AnchorMetric> {
    type Sides<'a> = [BTreeMap<String, &'a AnchorScore>; 2];
    let mut metrics: BTreeMap<(&str, &str), Sides<'_>> = BTreeMap::new();
    for (side, rows) in [then, now].into_iter().enumerate() {
        for row in rows {
            let sides = metrics.entry((&row.evaluator, &row.metric)).or_default();
            sides[side].insert(row.id.to_string(), row);
        }
    }
    let all = metrics.into_iter().map(|((evaluator, metric), sides)| one(evaluator, metric, &sides));
    // Nothing was said on either side.
    all.filter(|one| one.anchors + one.unpaired + one.errors > 0).collect()
}

fn one(evaluator: &str, metric: &str, [then, now]: &[BTreeMap<String, &AnchorScore>; 2]) -> AnchorMetric {
    let (mut verdicts, mut values) = (Paired::new(), Paired::new());
    let (mut anchors, mut unpaired, mut flipped) = (0, 0, 0);
    let fails =
        |side: &BTreeMap<String, &AnchorScore>, id: &String| side.get(id).is_some_and(|row| row.is_error());
    let errors = then.keys().filter(|id| fails(then, id) || fails(now, id)).count()
        + now.keys().filter(|id| !then.contains_key(*id) && fails(now, id)).count();
    for (id, before) in then {
        let after = now.get(id);
        if before.is_error() || after.is_some_and(|after| after.is_error()) {
            continue;
        }
        let is_after = after.is_some_and(|after| after.is_ok());
        unpaired += usize::from(before.is_ok() != is_after);
        let Some(after) = after.filter(|_| before.is_ok() && is_after) else { continue };
        anchors += 1;
        if let (Some(was), Some(is)) = (before.passed, after.passed) {
            flipped += usize::from(was != is);
            let share = |passed: bool| f64::from(u8::from(passed));
            // A probability of 1 is always counted.
            let _counted = verdicts.push(share(is), share(was), 1.0);
        }
        if let (Some(was), Some(is)) = (before.value, after.value) {
            let _counted = values.push(is, was, 1.0);
        }
    }
    let (rate, mean) = (verdicts.rate(LEVEL), values.mean(LEVEL));
    let leaves_out = |estimate: &Option<Estimate>| {
        estimate
            .is_some_and(|e| e.lower.is_some_and(|low| low > 0.0) || e.upper.is_some_and(|high| high < 0.0))
    };
    let version = |side: &BTreeMap<String, &AnchorScore>| {
        // An error may have no version of who would have answered.
        let row = side.values().find(|row| row.is_ok()).or_else(|| side.values().next());
        row.map(|row| row.evaluator_version.clone()).unwrap_or_default()
    };
    AnchorMetric {
        metric: metric.to_owned(),
        evaluator: evaluator.to_owned(),
        versions: [version(then), version(now)],
        anchors,
        unpaired,
        errors,
        flipped,
        moved: leaves_out(&rate) || leaves_out(&mean) || unpaired > 0,
        rate,
        mean,
    }
}

/// What the anchors say, and when they were scored.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Anchors {
    /// By metric.
    pub metrics: Vec<AnchorMetric>,
    /// Nanoseconds since 1970.
    pub scored_at: i64,
}

impl Anchors {
    /// Who moved, the evaluator of `metric` or the application, as far as the anchors can tell that by the side of an alert; none
    /// without anchors of the metric.
    pub(super) fn said(&self, metric: &str, reading: &Reading) -> Option<String> {
        let found = self.metrics.iter().filter(|one| one.metric == metric).max_by_key(|one| one.anchors)?;
        let rate = found.rate?;
        // Shares that fail, where the rates are of those that pass.
        let (low, high) = (-rate.upper?, -rate.lower?);
        let signed = |share: f64| format!("{:+.1} %", share * 100.0);
        let shift = format!("{} [{}, {}]", signed(-rate.estimate), signed(low), signed(high));
        let [then, now] = &found.versions;
        let version = if then == now { String::new() } else { format!(" from version {then} to {now}") };
        let on = format!("on {} anchors the failing share moved{version} by {shift}", found.anchors);
        let excess = reading.estimate.zip(reading.bound).map_or(0.0, |(e, bound)| e.estimate - bound);
        Some(if low > 0.0 {
            format!("{on}: the evaluator moved, look at it first")
        } else if high < excess {
            format!("{on}, and what is too much is {}: the application moved", signed(excess))
        } else {
            format!("{on}: too few to tell the application from the evaluator")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scored(n: usize, version: &str, value: f64) -> AnchorScore {
        let row = json!({"id": n, "evaluator": "e", "evaluator_version": version, "metric": "m", "value": value,
            "passed": value >= 0.5, "status": "ok"});
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn an_evaluator_that_says_the_same_did_not_move() {
        let then: Vec<AnchorScore> = (0..50).map(|n| scored(n, "1", n as f64 / 50.0)).collect();
        let same = &compare_anchors(&then, &then)[0];
        assert!(!same.moved && same.anchors == 50 && same.flipped == 0, "{same:?}");
        // Noise of a judge, as often up as down, is no movement.
        let noisy: Vec<AnchorScore> = (0..50)
            .map(|n| scored(n, "1", n as f64 / 50.0 + if n % 2 == 0 { 0.02 } else { -0.02 }))
            .collect();
        assert!(!compare_anchors(&then, &noisy)[0].moved);
    }

    #[test]
    fn a_shift_of_values_or_verdicts_is_seen_and_so_are_missing_scores() {
        let then: Vec<AnchorScore> = (0..50).map(|n| scored(n, "1", n as f64 / 50.0)).collect();
        let shifted: Vec<AnchorScore> = (0..50).map(|n| scored(n, "2", n as f64 / 50.0 + 0.2)).collect();
        let found = &compare_anchors(&then, &shifted)[0];
        assert!(found.moved && found.flipped == 10 && found.versions == ["1", "2"], "{found:?}");
        let rate = found.rate.unwrap();
        assert!((rate.estimate - 0.2).abs() < 1e-9 && rate.lower.unwrap() > 0.0, "{rate:?}");
        let fewer = &compare_anchors(&then, &then[..40])[0];
        assert!(fewer.moved && fewer.unpaired == 10, "{fewer:?}");
        assert!(read_anchors("{}\n").unwrap_err().starts_with("line 1"));
    }

    #[test]
    fn errors_are_no_movement_and_are_filled_by_the_next_scoring() {
        let line = |n: usize, status: &str, value: f64| {
            let row = json!({"id": n, "evaluator": "e", "evaluator_version": "1", "metric": "m", "value": value,
                "passed": status == "ok", "status": status});
            format!("{row}\n")
        };
        let text = |status: &dyn Fn(usize) -> &'static str| -> String {
            (0..50).map(|n| line(n, status(n), n as f64)).collect()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.jsonl");
        let (first, whole) = (text(&|n| if n < 20 { "error" } else { "ok" }), text(&|_| "ok"));
        let (then, added) = freeze_anchors(&path, &first).unwrap();
        assert_eq!((then.len(), added), (30, 30));
        assert!(!std::fs::read_to_string(&path).unwrap().contains("error"));
        let found = &compare_anchors(&then, &read_anchors(&first).unwrap())[0];
        assert!(!found.moved && (found.anchors, found.errors, found.unpaired) == (30, 20, 0), "{found:?}");
        // The next scoring fills what failed, and freezes nothing a second time.
        let (then, added) = freeze_anchors(&path, &whole.replace("29.0", "0.5")).unwrap();
        assert_eq!((then.len(), added), (50, 20));
        assert_eq!(freeze_anchors(&path, &whole).unwrap().1, 0);
        assert!(std::fs::read_to_string(&path).unwrap().contains("29.0"));
        // One timeout later on.
        let late = read_anchors(&text(&|n| if n == 7 { "error" } else { "ok" })).unwrap();
        let found = &compare_anchors(&then, &late)[0];
        assert!(!found.moved && (found.anchors, found.errors, found.unpaired) == (49, 1, 0), "{found:?}");
        // Who answers that there is nothing to judge says something else than then.
        let silent = read_anchors(&text(&|n| if n == 7 { "skipped" } else { "ok" })).unwrap();
        let found = &compare_anchors(&then, &silent)[0];
        assert!(found.moved && (found.errors, found.unpaired) == (0, 1), "{found:?}");
        // What an earlier release froze as an error goes as well.
        std::fs::write(&path, &first).unwrap();
        assert_eq!(freeze_anchors(&path, &whole).unwrap().1, 20);
        assert!(compare_anchors(&read_anchors(&first).unwrap(), &late)[0].errors == 20);
        assert!(freeze_anchors(&path, "{}").unwrap_err().starts_with("line 1"));
    }

    /// The scores of then were deleted first, and gone where those of now could not be written.
    #[test]
    fn scores_that_cannot_be_written_leave_those_of_then() {
        let line = |n: usize, status: &str| {
            let row = json!({"id": n, "evaluator": "e", "evaluator_version": "1", "metric": "m", "value": 0.5,
                "passed": true, "status": status});
            format!("{row}\n")
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.jsonl");
        std::fs::write(&path, line(1, "ok")).unwrap();
        let (now, in_the_way) = (line(2, "ok") + &line(3, "error"), folder.path().join("scores.jsonl.new"));
        std::fs::create_dir(&in_the_way).unwrap();
        assert!(accept_anchors(&path, &now).unwrap_err().contains("scores.jsonl: "));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), line(1, "ok"));
        std::fs::remove_dir(&in_the_way).unwrap();
        accept_anchors(&path, &now).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), line(2, "ok"), "and no errors");
    }

    #[test]
    fn it_is_told_who_moved() {
        let side = |passing: usize, of: usize| -> Vec<AnchorScore> {
            (0..of).map(|n| scored(n, "1", if n < passing { 0.9 } else { 0.1 })).collect()
        };
        let said = |then: usize, now: usize, of: usize, share: f64| {
            let metrics = compare_anchors(&side(then, of), &side(now, of));
            let metric = metrics[0].metric.clone();
            let estimate = Estimate { estimate: share, lower: None, upper: None, n: 100, n_eff: 100.0 };
            let reading = Reading {
                statistic: 0.0,
                estimate: Some(estimate),
                bound: Some(0.07),
                n: 100,
                since: 0,
                last: 0,
            };
            Anchors { metrics, scored_at: 0 }.said(&metric, &reading).unwrap()
        };
        assert!(said(180, 180, 200, 0.15).ends_with("what is too much is +8.0 %: the application moved"));
        assert!(said(180, 150, 200, 0.15).ends_with("the evaluator moved, look at it first"));
        assert!(said(18, 18, 20, 0.15).ends_with("too few to tell the application from the evaluator"));
        let reading = Reading { statistic: 0.0, estimate: None, bound: None, n: 0, since: 0, last: 0 };
        assert_eq!(Anchors::default().said("m", &reading), None);
    }
}
