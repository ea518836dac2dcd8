//! The curve into the configuration.

use super::super::rewrite::{implicit, rewrite};
use crate::stats::calibration::{Calibrated, Curve};
use std::path::Path;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, value};

/// Puts the curve, learned from `labels` labels, into a configuration file, in the place of an earlier one of the same version
/// and metric. Comments and order stay, and the file is whole at any moment.
///
/// # Errors
/// What is wrong, with the file's name.
pub fn write(path: &Path, calibrated: &Calibrated, labels: usize) -> Result<(), String> {
    rewrite(path, |text| with_curve(text, calibrated, labels))
}

fn with_curve(text: &str, calibrated: &Calibrated, labels: usize) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let section = document.entry("labels").or_insert_with(implicit);
    let section = section.as_table_like_mut().ok_or("labels is no table")?;
    let list = tables(section)?;
    let said = |table: &Table, key: &str, what: &str| table.get(key).and_then(Item::as_str) == Some(what);
    let same = list.iter().position(|table| {
        said(table, "evaluator", &calibrated.evaluator)
            && said(table, "evaluator_version", &calibrated.evaluator_version)
            && said(table, "metric", &calibrated.metric)
    });
    if let Some(at) = same {
        list.remove(at);
    }
    list.push(table(calibrated, labels));
    Ok(document.to_string())
}

/// `[[labels.calibrations]]`; an empty `calibrations = []` becomes one.
fn tables(section: &mut dyn TableLike) -> Result<&mut ArrayOfTables, String> {
    let is_empty = section.get("calibrations").and_then(Item::as_array).is_some_and(Array::is_empty);
    if is_empty || section.get("calibrations").is_none() {
        section.insert("calibrations", Item::ArrayOfTables(ArrayOfTables::new()));
    }
    let list = section.get_mut("calibrations").and_then(Item::as_array_of_tables_mut);
    list.ok_or_else(|| "labels.calibrations must be written as [[labels.calibrations]]".to_owned())
}

fn table(calibrated: &Calibrated, labels: usize) -> Table {
    let mut table = Table::new();
    table.insert("evaluator", value(calibrated.evaluator.as_str()));
    table.insert("evaluator_version", value(calibrated.evaluator_version.as_str()));
    table.insert("metric", value(calibrated.metric.as_str()));
    let pair = |(a, b): (f64, f64)| -> Array { [rounded(a), rounded(b)].into_iter().collect() };
    match &calibrated.curve {
        Curve::Platt { slope, intercept } => table.insert("platt", value(pair((*slope, *intercept)))),
        Curve::Isotonic(knots) => {
            table.insert("isotonic", value(knots.iter().map(|knot| pair(*knot)).collect::<Array>()))
        }
    };
    if let Some(band) = calibrated.abstain {
        table.insert("abstain", value(pair(band)));
    }
    table.insert("labels", value(i64::try_from(labels).unwrap_or(i64::MAX)));
    table
}

/// To twelve digits after the point: more would only be noise to read.
fn rounded(number: f64) -> f64 {
    (number * 1e12).round() / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn calibrated(curve: Curve) -> Calibrated {
        let (evaluator, evaluator_version) = ("hallucination".to_owned(), "2".to_owned());
        let metric = evaluator.clone();
        Calibrated { evaluator, evaluator_version, metric, curve, abstain: Some((0.2, 0.8)) }
    }

    #[test]
    fn the_configuration_is_read_back_and_an_older_curve_is_replaced() {
        let before = "# ours\n[labels] # people\ndraw_size = 20\n\n[score]\nworkers = 1\n";
        let platt = calibrated(Curve::Platt { slope: 8.25, intercept: -4.0 });
        let text = with_curve(before, &platt, 120).unwrap();
        assert!(text.starts_with("# ours\n[labels] # people\ndraw_size = 20\n"), "{text}");
        let read = |text: &str| Config::from_text("f", text, std::iter::empty()).unwrap().labels.calibrated();
        assert_eq!(read(&text), [platt]);
        let isotonic = calibrated(Curve::Isotonic(vec![(0.1, 0.05), (0.9, 0.95)]));
        let again = with_curve(&text, &isotonic, 200).unwrap();
        assert_eq!(read(&again), std::slice::from_ref(&isotonic));
        assert_eq!(read(&with_curve("", &isotonic, 200).unwrap()), std::slice::from_ref(&isotonic));
        assert_eq!(read(&with_curve(crate::config::EXAMPLE, &isotonic, 1).unwrap()), [isotonic]);
    }
}
