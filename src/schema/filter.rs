//! SQL over the columns of a table, ready to run on its batches: the filters of sampling rules and of alerts, and the
//! expressions that name a stratum or a weight.

use super::columns::Table;
use super::faults::said;
use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::compute::{can_cast_types, cast};
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{DFSchema, DataFusionError};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::prelude::SessionContext;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A compiled filter.
#[derive(Debug, Clone)]
pub struct Filter(Compiled);

/// A compiled expression whose values are read as text.
#[derive(Debug, Clone)]
pub struct TextOf(Compiled);

/// A compiled expression whose values are numbers.
#[derive(Debug, Clone)]
pub struct NumberOf(Compiled);

impl Filter {
    /// Compiles `text` over the stored columns of `table`.
    ///
    /// # Errors
    /// What is wrong with it, on one line: a column that is not there, a fault of syntax, or an answer that is not true or false.
    pub fn new(context: &SessionContext, table: Table, text: &str) -> Result<Self, String> {
        let made = Compiled::new(context, table, text)?;
        match made.kind {
            DataType::Boolean => Ok(Self(made)),
            other => Err(format!("it gives {other}, not true or false")),
        }
    }

    /// Which rows pass; NULL counts as no.
    ///
    /// # Errors
    /// When the filter fails on a row.
    pub fn matches(&self, batch: &RecordBatch) -> Result<BooleanArray, DataFusionError> {
        let value = self.0.expr.evaluate(batch)?.into_array(batch.num_rows())?;
        Ok(value.as_boolean().iter().map(|passes| Some(passes.unwrap_or(false))).collect())
    }

    /// The columns that it reads.
    pub fn columns(&self) -> BTreeSet<String> {
        self.0.columns()
    }
}

impl TextOf {
    /// Compiles `text` over the stored columns of `table`.
    ///
    /// # Errors
    /// As [`Filter::new`], or an answer that has no text.
    pub fn new(context: &SessionContext, table: Table, text: &str) -> Result<Self, String> {
        let made = Compiled::new(context, table, text)?;
        match can_cast_types(&made.kind, &DataType::Utf8) && !made.kind.is_nested() {
            true => Ok(Self(made)),
            false => Err(format!("it gives {}, not a text or a number", made.kind)),
        }
    }

    /// The text of each row; none for NULL.
    ///
    /// # Errors
    /// When the expression fails on a row.
    pub fn values(&self, batch: &RecordBatch) -> Result<Vec<Option<Arc<str>>>, DataFusionError> {
        let value = self.0.expr.evaluate(batch)?.into_array(batch.num_rows())?;
        let texts = cast(&value, &DataType::Utf8)?;
        Ok(texts.as_string::<i32>().iter().map(|text| text.map(Arc::from)).collect())
    }

    /// The columns that it reads.
    pub fn columns(&self) -> BTreeSet<String> {
        self.0.columns()
    }
}

impl NumberOf {
    /// Compiles `text` over the stored columns of `table`.
    ///
    /// # Errors
    /// As [`Filter::new`], or an answer that is no number.
    pub fn new(context: &SessionContext, table: Table, text: &str) -> Result<Self, String> {
        let made = Compiled::new(context, table, text)?;
        match made.kind.is_numeric() {
            true => Ok(Self(made)),
            false => Err(format!("it gives {}, not a number", made.kind)),
        }
    }

    /// The number of each row; NaN for NULL.
    ///
    /// # Errors
    /// When the expression fails on a row.
    pub fn values(&self, batch: &RecordBatch) -> Result<Vec<f64>, DataFusionError> {
        let value = self.0.expr.evaluate(batch)?.into_array(batch.num_rows())?;
        let numbers = cast(&value, &DataType::Float64)?;
        Ok(numbers.as_primitive::<Float64Type>().iter().map(|number| number.unwrap_or(f64::NAN)).collect())
    }

    /// The columns that it reads.
    pub fn columns(&self) -> BTreeSet<String> {
        self.0.columns()
    }
}

/// An expression that can be run, and the type of its answers.
#[derive(Debug, Clone)]
struct Compiled {
    expr: Arc<dyn PhysicalExpr>,
    kind: DataType,
}

impl Compiled {
    fn new(context: &SessionContext, table: Table, text: &str) -> Result<Self, String> {
        // One fault is one line.
        let fault = |e: DataFusionError| said(&e).replace('\n', " ");
        let schema = table.schema();
        let names = DFSchema::try_from(schema.as_ref().clone()).map_err(fault)?;
        let made = context.parse_sql_expr(text, &names).and_then(|expr| {
            let plan = SimplifyContext::builder().with_schema(Arc::new(names.clone())).build();
            let simplifier = ExprSimplifier::new(plan);
            // Some functions (coalesce) are there only until they are simplified to what can be run.
            let expr = simplifier.simplify(simplifier.coerce(expr, &names)?)?;
            context.create_physical_expr(expr, &names)
        });
        let expr = made.map_err(fault)?;
        let kind = expr.data_type(&schema).map_err(fault)?;
        Ok(Self { expr, kind })
    }

    fn columns(&self) -> BTreeSet<String> {
        collect_columns(&self.expr).iter().map(|column| column.name().to_owned()).collect()
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

    #[test]
    fn what_is_wrong_is_told_without_the_words_of_the_engine() {
        let context = SessionContext::new();
        for (text, told) in [
            ("nothing = 1", "No field named nothing"),
            ("1 +", "syntax error: "),
            ("service_name = 'a", "syntax error: "),
            ("nope(service_name)", "Invalid function 'nope'"),
        ] {
            let why = Filter::new(&context, Table::Scores, text).unwrap_err();
            assert!(why.starts_with(told) && !why.contains("(\""), "{text}: {why}");
        }
    }

    #[test]
    fn texts_and_numbers_are_read_and_other_answers_refused() {
        let context = SessionContext::new();
        let text = |sql: &str| TextOf::new(&context, Table::Spans, sql);
        let number = |sql: &str| NumberOf::new(&context, Table::Spans, sql);
        for sql in
            ["request_model", "coalesce(user_id, 'none')", "duration_ns / 1000", "status_code = 'error'"]
        {
            assert!(text(sql).is_ok(), "{sql}: {:?}", text(sql).err());
        }
        for sql in ["documents", "nothing", "1 +"] {
            assert!(text(sql).is_err(), "{sql}");
        }
        assert!(number("duration_ns").is_ok() && number("duration_ns / 1e9").is_ok());
        for sql in ["name", "status_code = 'error'", "documents", "nothing * 2"] {
            assert!(number(sql).is_err(), "{sql}");
        }
        let read = number("duration_ns + input_tokens").unwrap().columns();
        assert_eq!(read.into_iter().collect::<Vec<_>>(), ["duration_ns", "input_tokens"]);
    }
}
