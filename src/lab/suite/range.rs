//! Which values a metric can have.

use crate::eval::scale_of;

/// The least and the greatest value of a metric by the name that gates have for it; none where nobody tells a range, such as of
/// plug-ins.
pub(super) fn range_of(metric: &str) -> Option<(f64, f64)> {
    match metric {
        "tests_passed" | "checks_passed" => return Some((0.0, 1.0)),
        "duration_ms" | "cost_usd" | "in_tokens" | "out_tokens" => return Some((0.0, f64::INFINITY)),
        _ => {}
    }
    let behind = || metric.rsplit_once('/').and_then(|(evaluator, name)| scale_of(evaluator, name));
    let scale = scale_of(metric, metric).or_else(behind)?;
    Some((scale.least, scale.most))
}
