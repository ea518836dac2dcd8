//! The table and the JSON.

use crate::eval::bench::Measured;
use crate::stats::ranking::FIGURES;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

/// Columns of the table: a heading and the figure behind it.
const COLUMNS: [(&str, usize); 4] = [("AUROC", 0), ("AUPRC", 1), ("bal. acc.", 2), ("accuracy", 3)];
const PLAIN: [(&str, usize); 5] = [("F1", 4), ("prec.", 5), ("recall", 6), ("FPR", 7), ("ECE", 8)];

/// A Markdown table, one line a dataset and metric, with 95 % intervals in brackets.
pub fn table(rows: &[Measured]) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut head: Vec<String> =
        ["dataset", "metric", "version", "n (label 1)", "no score", "threshold"].map(str::to_owned).to_vec();
    head.extend(COLUMNS.iter().chain(&PLAIN).map(|(name, _)| (*name).to_owned()));
    head.push("rows / CPU-s".to_owned());
    lines.push(head);
    for row in rows {
        let figures = row.quality.figures();
        let mut line = vec![
            format!("{}/{}", row.task, row.dataset),
            row.metric.clone(),
            row.version.clone(),
            format!("{} ({})", row.scored, row.positives),
            row.unscored.to_string(),
            row.threshold.map_or("-".to_owned(), |value| format!("{value}")),
        ];
        line.extend(COLUMNS.iter().map(|(_, at)| with_interval(figures[*at], row.intervals[*at])));
        line.extend(PLAIN.iter().map(|(_, at)| number(figures[*at])));
        line.push(row.rows_per_cpu_second.map_or("-".to_owned(), |value| format!("{value:.1}")));
        lines.push(line);
    }
    lay_out(&lines)
}

fn lay_out(lines: &[Vec<String>]) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(&widths) {
            let _ = write!(out, "| {cell:width$} ");
        }
        out.push_str("|\n");
        if at == 0 {
            for width in &widths {
                let _ = write!(out, "|{:-<1$}", "", width + 2);
            }
            out.push_str("|\n");
        }
    }
    out
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

fn with_interval(value: Option<f64>, interval: Option<(f64, f64)>) -> String {
    match interval {
        Some((low, high)) if value.is_some() => format!("{} [{low:.3}, {high:.3}]", number(value)),
        _ => number(value),
    }
}

/// The models of a version, each with the first digits of the SHA-256 of its file: what stands behind the number of the
/// evaluator's own version. None for an evaluator without a model.
fn model_hash(version: &str) -> Option<&str> {
    version.split_once('+').map(|(_, models)| models)
}

/// One object a row with a score, so that two programs can be compared row by row.
pub fn row_lines(measured: &Measured) -> impl Iterator<Item = Json> {
    measured.rows.iter().map(|(at, group, judged)| {
        json!({
            "task": measured.task, "dataset": measured.dataset, "evaluator": measured.evaluator,
            "evaluator_version": measured.version, "model_hash": model_hash(&measured.version),
            "metric": measured.metric, "id": at, "group": group,
            "label": u8::from(judged.positive), "score": judged.score, "predicted": u8::from(judged.predicted),
        })
    })
}

/// One object with every figure, its interval and the reliability curve.
pub fn json(row: &Measured) -> Json {
    let mut figures = Map::new();
    for ((name, value), interval) in FIGURES.iter().zip(row.quality.figures()).zip(row.intervals) {
        let bounds = interval.map_or(Json::Null, |(low, high)| json!([low, high]));
        figures.insert((*name).to_owned(), json!({ "value": value, "interval": bounds }));
    }
    let bins: Vec<Json> = row
        .reliability
        .iter()
        .map(|(score, share, n)| json!({"score": score, "share": share, "n": n}))
        .collect();
    json!({
        "task": row.task, "dataset": row.dataset, "evaluator": row.evaluator,
        "evaluator_version": row.version, "model_hash": model_hash(&row.version), "metric": row.metric,
        "threshold": row.threshold, "n": row.scored, "positives": row.positives,
        "unscored": row.unscored, "figures": figures, "reliability": bins,
        "rows_per_cpu_second": row.rows_per_cpu_second,
    })
}
