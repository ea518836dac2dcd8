//! `evaluators()`: what each evaluator needs and what it tells, a row a metric.

use crate::domain::score::Better;
use crate::eval::{Evaluator, Registry, Scale, fit_of, scale_of};
use crate::sql::{Sql, SqlError};
use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, ListBuilder, RecordBatch, StringArray, StringBuilder,
};
use arrow::error::ArrowError;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use std::fmt;
use std::sync::Arc;

/// The name of the function.
const NAME: &str = "evaluators";

/// Gives queries of `sql` the function, with the evaluators of `registry`.
///
/// # Errors
/// When memory does.
pub fn register(sql: &Sql, registry: &Registry) -> Result<()> {
    let rows = rows(registry)?;
    let table = Arc::new(MemTable::try_new(rows.schema(), vec![vec![rows]])?);
    sql.session().register_udtf(NAME, Arc::new(OfEvaluators(table)));
    Ok(())
}

struct OfEvaluators(Arc<MemTable>);

impl fmt::Debug for OfEvaluators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)
    }
}

impl TableFunctionImpl for OfEvaluators {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            let why = "evaluators takes no arguments: SELECT * FROM evaluators()".to_owned();
            return Err(DataFusionError::External(Box::new(SqlError::Wrong(why))));
        }
        Ok(self.0.clone())
    }
}

/// A row a metric, by evaluator; the first metric of each is its primary one.
fn rows(registry: &Registry) -> Result<RecordBatch, ArrowError> {
    let all = registry.select(&registry.ids()).unwrap_or_default();
    let each = || {
        let metrics = |one: &Arc<dyn Evaluator>| {
            let one = one.clone();
            let count = one.metrics().len();
            (0..count).map(move |at| (one.clone(), at)).collect::<Vec<_>>()
        };
        all.iter().flat_map(metrics)
    };
    let text = |get: &dyn Fn(&dyn Evaluator, usize) -> Option<String>| -> ArrayRef {
        Arc::new(each().map(|(one, at)| get(one.as_ref(), at)).collect::<StringArray>())
    };
    let flag = |get: &dyn Fn(&dyn Evaluator, usize) -> Option<bool>| -> ArrayRef {
        Arc::new(each().map(|(one, at)| get(one.as_ref(), at)).collect::<BooleanArray>())
    };
    let number = |get: &dyn Fn(&dyn Evaluator, usize) -> Option<f64>| -> ArrayRef {
        Arc::new(each().map(|(one, at)| get(one.as_ref(), at)).collect::<Float64Array>())
    };
    let mut needs = ListBuilder::new(StringBuilder::new());
    for (one, _) in each() {
        // Of an evaluator of the user's own it is not known what it needs.
        let fit = fit_of(one.id());
        fit.iter().flat_map(|fit| fit.needs).for_each(|need| needs.values().append_value(need.name()));
        needs.append(fit.is_some());
    }
    let better = |one: &dyn Evaluator, at: usize| match one.metrics()[at].better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    };
    let of_scale = |get: &dyn Fn(&Scale) -> Option<f64>| {
        number(&|one, at| scale_of(one.id(), &one.metrics()[at].name).and_then(get))
    };
    RecordBatch::try_from_iter_with_nullable([
        ("evaluator", text(&|one, _| Some(one.id().to_owned())), false),
        ("evaluator_version", text(&|one, _| Some(one.version().to_owned())), false),
        ("evaluator_group", text(&|one, _| fit_of(one.id()).map(|fit| fit.group.name().to_owned())), true),
        ("needs", Arc::new(needs.finish()) as ArrayRef, true),
        ("is_for_llm", flag(&|one, _| fit_of(one.id()).map(|fit| fit.is_for_llm())), true),
        ("asks_judge", flag(&|one, _| fit_of(one.id()).map(|fit| fit.asks_judge())), true),
        ("waits_for_others", flag(&|one, _| Some(one.waits().is_some())), false),
        ("is_by_name_only", flag(&|one, _| Some(one.is_by_name_only())), false),
        ("metric", text(&|one, at| Some(one.metrics()[at].name.to_string())), false),
        ("is_primary", flag(&|_, at| Some(at == 0)), false),
        ("better", text(&|one, at| Some(better(one, at).to_owned())), false),
        ("min_value", of_scale(&|scale| Some(scale.least)), true),
        ("max_value", of_scale(&|scale| Some(scale.most)), true),
        ("default_threshold", number(&|one, at| one.metrics()[at].threshold), true),
        ("threshold", number(&|one, at| registry.threshold(one, &one.metrics()[at])), true),
        ("h2o_threshold", of_scale(&|scale| scale.h2o), true),
    ])
}
