//! What an item of a rule costs: the configured price at first, and more and more what judges told.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The configured price counts as much as so many items.
const PRIOR_ITEMS: f64 = 30.0;
/// No item is cheaper, US dollars: a budget would be divided by nothing.
const LEAST: f64 = 1e-9;

/// What items of the last day have cost, by rule: what [`Prices::learn`] reads. An item without a cost is one that no judge
/// was asked about yet, or ever: to leave it out makes items dearer, and never overdraws a budget.
pub const COSTS: &str = "SELECT CAST(rule AS VARCHAR) AS rule, CAST(sum(cost_usd) AS DOUBLE) AS usd, \
    CAST(count(DISTINCT concat(trace_id, '/', span_id)) AS BIGINT) AS items FROM scores \
    WHERE source = 'rule' AND rule IS NOT NULL AND cost_usd IS NOT NULL \
    AND evaluated_at >= now() - INTERVAL '1 day' GROUP BY rule";

/// The prices of now. Clones share them.
#[derive(Clone, Default)]
pub struct Prices(Arc<Inner>);

#[derive(Default)]
struct Inner {
    version: AtomicU64,
    /// US dollars and items of the last day, by rule.
    told: RwLock<HashMap<String, (f64, f64)>>,
}

impl Prices {
    /// Takes in the answer to [`COSTS`]; what was learned before is forgotten.
    pub fn learn(&self, rows: &[RecordBatch]) {
        let mut told = HashMap::new();
        for batch in rows {
            let column = |name: &str, kind| cast(batch.column_by_name(name)?, &kind).ok();
            let (Some(rules), Some(usd), Some(items)) = (
                column("rule", DataType::Utf8),
                column("usd", DataType::Float64),
                column("items", DataType::Int64),
            ) else {
                continue;
            };
            let (rules, usd) = (rules.as_string::<i32>(), usd.as_primitive::<Float64Type>());
            let items = items.as_primitive::<Int64Type>();
            for row in (0..batch.num_rows()).filter(|row| usd.is_valid(*row) && usd.value(*row) >= 0.0) {
                told.insert(rules.value(row).to_owned(), (usd.value(row), items.value(row).max(0) as f64));
            }
        }
        *self.0.told.write() = told;
        self.0.version.fetch_add(1, Ordering::Release);
    }

    /// Changes whenever something was learned.
    pub(super) fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    /// What an item of `rule` costs, US dollars: the mean of what was told, with `prior` as the price of thirty items more.
    pub(super) fn of(&self, rule: &str, prior: f64) -> f64 {
        let (usd, items) = self.0.told.read().get(rule).copied().unwrap_or_default();
        let price = ((prior * PRIOR_ITEMS + usd) / (PRIOR_ITEMS + items)).max(LEAST);
        metrics::gauge!("groundline_sampling_usd_per_item", "rule" => rule.to_owned()).set(price);
        price
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};

    fn told(rule: &str, usd: f64, items: i64) -> RecordBatch {
        let columns: [(&str, ArrayRef); 3] = [
            ("rule", Arc::new(StringArray::from(vec![rule]))),
            ("usd", Arc::new(Float64Array::from(vec![usd]))),
            ("items", Arc::new(Int64Array::from(vec![items]))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    #[test]
    fn what_was_told_outweighs_what_was_configured() {
        let prices = Prices::default();
        assert_eq!((prices.version(), prices.of("judged", 0.01)), (0, 0.01));
        prices.learn(&[told("judged", 0.9, 30)]);
        assert_eq!(prices.version(), 1);
        assert!((prices.of("judged", 0.01) - 0.02).abs() < 1e-12, "the mean of 0.01 and 0.03");
        prices.learn(&[told("judged", 300.0, 10_000)]);
        assert!((prices.of("judged", 0.01) - 0.03).abs() < 1e-4);
        assert_eq!(prices.of("another", 0.01), 0.01);
        // A judge that costs nothing leaves a price to divide by.
        prices.learn(&[told("judged", 0.0, i64::MAX)]);
        assert!(prices.of("judged", 0.01) > 0.0);
        prices.learn(&[told("judged", f64::NAN, 3)]);
        assert_eq!(prices.of("judged", 0.01), 0.01);
    }
}
