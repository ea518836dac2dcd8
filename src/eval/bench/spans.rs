//! Personal data by place and kind: a finding is right if it overlaps a marked value of its kind.

use super::measure::{Measured, cpu_seconds};
use super::rows::{Dataset, Row};
use crate::detect::{REPORTED, pii};
use crate::stats::ranking::{FIGURES, Quality, draws};
use serde::Deserialize;
use std::collections::HashMap;

/// Which kinds of ours answer to the types of the open sets.
const TYPES: &str = include_str!("pii_types.json");

#[derive(Deserialize)]
struct Types {
    /// Confidence from which a kind counts, where it is not [`REPORTED`].
    least: HashMap<String, f64>,
    /// By dataset and type.
    pii: HashMap<String, HashMap<String, Vec<String>>>,
}

/// What was counted in the rows of one group.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    marked: f64,
    marked_found: f64,
    findings: f64,
    findings_right: f64,
}

/// Precision, recall and F1 of the structured kinds, with intervals of `resamples` draws; none if nothing is known of the
/// dataset's types.
///
/// # Errors
/// When the stored table of types is damaged.
pub fn spans(dataset: &Dataset, rows: &[Row], resamples: usize) -> Result<Option<Measured>, String> {
    let types: Types = serde_json::from_str(TYPES).map_err(|e| format!("pii_types.json: {e}"))?;
    let Some(kinds) = types.pii.get(&dataset.name) else { return Ok(None) };
    let before = cpu_seconds();
    let (mut groups, mut counts): (HashMap<&str, usize>, Vec<Counts>) = Default::default();
    for row in rows {
        let next = counts.len();
        let at = *groups.entry(row.group.as_str()).or_insert(next);
        if at == next {
            counts.push(Counts::default());
        }
        count(row, kinds, &types.least, &mut counts[at]);
    }
    let spent = cpu_seconds().zip(before).map(|(after, before)| after - before).filter(|s| *s > 0.0);
    let everything = vec![1; counts.len()];
    let marked = counts.iter().map(|c| c.marked).sum::<f64>();
    let resampled: Vec<Quality> =
        draws(counts.len(), resamples, 7).map(|times| quality(&counts, &times)).collect();
    let mut intervals = [None; FIGURES.len()];
    for (at, interval) in intervals.iter_mut().enumerate() {
        let mut values: Vec<f64> = resampled.iter().filter_map(|q| q.figures()[at]).collect();
        values.sort_by(f64::total_cmp);
        let bound = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        *interval = (values.len() > 1).then(|| (bound(0.025), bound(0.975)));
    }
    Ok(Some(Measured {
        task: dataset.task.clone(),
        dataset: dataset.name.clone(),
        evaluator: "pii_leakage".to_owned(),
        version: String::new(),
        metric: "spans of structured kinds".to_owned(),
        threshold: Some(REPORTED),
        scored: rows.len(),
        positives: marked as usize,
        unscored: 0,
        quality: quality(&counts, &everything),
        intervals,
        reliability: Vec::new(),
        rows: Vec::new(),
        rows_per_cpu_second: spent.map(|seconds| rows.len() as f64 / seconds),
    }))
}

fn quality(counts: &[Counts], times: &[u32]) -> Quality {
    let sum = |figure: fn(&Counts) -> f64| -> f64 {
        counts.iter().zip(times).map(|(c, times)| figure(c) * f64::from(*times)).sum()
    };
    let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    let precision = share(sum(|c| c.findings_right), sum(|c| c.findings));
    let recall = share(sum(|c| c.marked_found), sum(|c| c.marked));
    let f1 = precision.zip(recall).map(|(p, r)| if p + r > 0.0 { 2.0 * p * r / (p + r) } else { 0.0 });
    Quality { precision, recall, f1, ..Quality::default() }
}

fn count(row: &Row, kinds: &HashMap<String, Vec<String>>, least: &HashMap<String, f64>, counts: &mut Counts) {
    let text = row.text.as_deref().unwrap_or_default();
    let enough = |kind: &str| least.get(kind).copied().unwrap_or(REPORTED);
    let findings: Vec<_> = pii::findings(text)
        .into_iter()
        .filter(|f| f.confidence >= enough(f.kind) && kinds.values().flatten().any(|kind| kind == f.kind))
        .collect();
    // The marks are in characters, the findings in bytes.
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let byte = |character: i64| {
        usize::try_from(character).map_or(0, |at| bytes.get(at).copied().unwrap_or(text.len()))
    };
    let marks: Vec<(usize, usize, &Vec<String>)> = row
        .spans
        .iter()
        .flatten()
        .filter_map(|span| Some((byte(span.start), byte(span.end), kinds.get(span.kind.as_str())?)))
        .collect();
    let is_match = |f: &crate::detect::Finding, mark: &(usize, usize, &Vec<String>)| {
        f.start < mark.1 && mark.0 < f.end && mark.2.iter().any(|kind| kind == f.kind)
    };
    counts.marked += marks.len() as f64;
    counts.marked_found +=
        marks.iter().filter(|mark| findings.iter().any(|f| is_match(f, mark))).count() as f64;
    counts.findings += findings.len() as f64;
    counts.findings_right +=
        findings.iter().filter(|f| marks.iter().any(|mark| is_match(f, mark))).count() as f64;
}
