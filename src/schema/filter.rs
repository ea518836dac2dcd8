//! SQL over the columns of a table, ready to run on its batches: the filters of sampling rules and of alerts.

use super::columns::Table;
use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, DataFusionError};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// A compiled filter.
#[derive(Debug, Clone)]
pub struct Filter(Arc<dyn PhysicalExpr>);

impl Filter {
    /// Compiles `text` over the stored columns of `table`.
    ///
    /// # Errors
    /// What is wrong with it, on one line: a column that is not there, a fault of syntax, or an answer that is not true or false.
    pub fn new(context: &SessionContext, table: Table, text: &str) -> Result<Self, String> {
        // One fault is one line.
        let fault = |e: DataFusionError| e.strip_backtrace().replace('\n', " ");
        let schema = table.schema();
        let names = DFSchema::try_from(schema.as_ref().clone()).map_err(fault)?;
        let made = context.parse_sql_expr(text, &names).and_then(|expr| {
            let plan = SimplifyContext::builder().with_schema(Arc::new(names.clone())).build();
            let simplifier = ExprSimplifier::new(plan);
            // Some functions (coalesce) are there only until they are simplified to what can be run.
            let expr = simplifier.simplify(simplifier.coerce(expr, &names)?)?;
            context.create_physical_expr(expr, &names)
        });
        let made = made.map_err(fault)?;
        let kind = made.data_type(&schema).map_err(fault)?;
        match kind {
            DataType::Boolean => Ok(Self(made)),
            other => Err(format!("it gives {other}, not true or false")),
        }
    }

    /// Which rows pass; NULL counts as no.
    ///
    /// # Errors
    /// When the filter fails on a row.
    pub fn matches(&self, batch: &RecordBatch) -> Result<BooleanArray, DataFusionError> {
        let value = self.0.evaluate(batch)?.into_array(batch.num_rows())?;
        Ok(value.as_boolean().iter().map(|passes| Some(passes.unwrap_or(false))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::new_null_array;

    #[test]
    fn functions_that_planning_replaces_run_too() {
        let (context, schema) = (SessionContext::new(), Table::Scores.schema());
        let nullable = |f: &Arc<arrow::datatypes::Field>| f.as_ref().clone().with_nullable(true);
        let fields: Vec<_> = schema.fields().iter().map(nullable).collect();
        let columns = fields.iter().map(|f| new_null_array(f.data_type(), 2)).collect();
        let batch = RecordBatch::try_new(Arc::new(arrow::datatypes::Schema::new(fields)), columns).unwrap();
        for (text, passes) in [
            ("coalesce(service_name, 'none') = 'none'", true),
            ("nullif(service_name, 'x') IS NULL", true),
            ("service_name IN ('a', 'b')", false),
            ("service_name LIKE 'a%' OR 1 = 1", true),
            ("CASE WHEN passed THEN true ELSE false END", false),
        ] {
            let found = Filter::new(&context, Table::Scores, text).unwrap().matches(&batch).unwrap();
            assert_eq!(found.true_count(), if passes { 2 } else { 0 }, "{text}");
        }
        for text in ["nothing = 1", "service_name", "1 +", "service_name = "] {
            assert!(Filter::new(&context, Table::Scores, text).is_err(), "{text}");
        }
    }
}
