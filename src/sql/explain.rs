//! `EXPLAIN (FORMAT JSON)`: the plan that runs, in one column of JSON, as tools read it that draw plans. Nodes have the engine's names
//! and no costs, which nobody knows; with ANALYZE they have what was counted while it ran.

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{AnalyzeFormat, AnalyzeFormatKind, Statement as Ast, UtilityOption};
use futures::{TryStreamExt, stream};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The key of a column's metadata that says that its texts are JSON.
pub const IS_JSON: &str = "groundline.json";

/// What is told of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Told {
    /// What would run.
    Plan,
    /// What ran, and what was counted.
    Run,
}

/// Whether an EXPLAIN with these words asks for JSON.
pub fn is_json(format: Option<&AnalyzeFormatKind>, options: Option<&[UtilityOption]>) -> bool {
    let by_option = |option: &UtilityOption| {
        let told = option.arg.as_ref().map(ToString::to_string);
        option.name.value.eq_ignore_ascii_case("format")
            && told.is_some_and(|told| told.trim_matches('\'').eq_ignore_ascii_case("json"))
    };
    let by_word = matches!(
        format,
        Some(
            AnalyzeFormatKind::Keyword(AnalyzeFormat::JSON)
                | AnalyzeFormatKind::Assignment(AnalyzeFormat::JSON)
        )
    );
    by_word || options.unwrap_or_default().iter().any(by_option)
}

/// The statement that is explained as JSON, and what is told of it; any other as it is.
pub fn asked(statement: Statement) -> (Statement, Option<Told>) {
    match statement {
        Statement::Statement(whole) => match *whole {
            Ast::Explain { analyze, statement, format, options, .. }
                if is_json(format.as_ref(), options.as_deref()) =>
            {
                (Statement::Statement(statement), Some(if analyze { Told::Run } else { Told::Plan }))
            }
            other => (Statement::Statement(Box::new(other)), None),
        },
        other => (other, None),
    }
}

/// The plan of an EXPLAIN of `input`.
///
/// # Errors
/// None are expected; the type is that of schemas.
pub fn explained(input: LogicalPlan, told: Told) -> Result<LogicalPlan> {
    let schema = Arc::new(DFSchema::try_from(columns())?);
    Ok(LogicalPlan::Extension(Extension { node: Arc::new(Explained { input, told, schema }) }))
}

/// The plan that is to run, and what is told of it where that is asked.
pub fn opened(plan: LogicalPlan) -> (LogicalPlan, Option<Told>) {
    match node(&plan) {
        Some(explained) => (explained.input.clone(), Some(explained.told)),
        None => (plan, None),
    }
}

/// Whether a part of a plan is such an EXPLAIN.
pub fn is_explained(plan: &LogicalPlan) -> bool {
    node(plan).is_some()
}

fn node(plan: &LogicalPlan) -> Option<&Explained> {
    let LogicalPlan::Extension(Extension { node }) = plan else { return None };
    node.as_any().downcast_ref()
}

/// The rows of `plan`, or the one with what is told of it.
///
/// # Errors
/// Those of the plan's beginning.
pub fn rows(
    plan: Arc<dyn ExecutionPlan>,
    told: Option<Told>,
    context: Arc<TaskContext>,
) -> Result<SendableRecordBatchStream> {
    match told {
        None => execute_stream(plan, context),
        Some(told) => {
            let row = stream::once(row(plan, told, context));
            Ok(Box::pin(RecordBatchStreamAdapter::new(columns(), row)))
        }
    }
}

async fn row(plan: Arc<dyn ExecutionPlan>, told: Told, context: Arc<TaskContext>) -> Result<RecordBatch> {
    if told == Told::Run {
        let mut rows = execute_stream(plan.clone(), context)?;
        while rows.try_next().await?.is_some() {}
    }
    let shown = match told {
        Told::Plan => DisplayableExecutionPlan::new(plan.as_ref()),
        Told::Run => DisplayableExecutionPlan::with_metrics(plan.as_ref()),
    };
    let mut json = String::new();
    write!(json, "{}", shown.pgjson(false))
        .map_err(|_| DataFusionError::Internal("the plan has no JSON".to_owned()))?;
    let json: ArrayRef = Arc::new(StringArray::from(vec![json]));
    Ok(RecordBatch::try_new(columns(), vec![json])?)
}

fn columns() -> SchemaRef {
    let is_json = HashMap::from([(IS_JSON.to_owned(), "true".to_owned())]);
    let plan = Field::new("QUERY PLAN", DataType::Utf8, false).with_metadata(is_json);
    Arc::new(Schema::new(vec![plan]))
}

/// It is opened before anything is optimized.
#[derive(Debug)]
struct Explained {
    input: LogicalPlan,
    told: Told,
    schema: DFSchemaRef,
}

impl PartialEq for Explained {
    fn eq(&self, other: &Self) -> bool {
        self.told == other.told && self.input == other.input
    }
}

impl Eq for Explained {}

impl Hash for Explained {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.told.hash(state);
        self.input.hash(state);
    }
}

impl PartialOrd for Explained {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.told.cmp(&other.told).then(self.input.partial_cmp(&other.input)?))
    }
}

impl UserDefinedLogicalNodeCore for Explained {
    fn name(&self) -> &str {
        "ExplainJson"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![]
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExplainJson")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        let none = || DataFusionError::Internal("ExplainJson has one input".to_owned());
        let input = inputs.pop().ok_or_else(none)?;
        Ok(Self { input, told: self.told, schema: self.schema.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::SessionContext;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    fn parsed(sql: &str) -> Statement {
        let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
        Statement::Statement(Box::new(statements.remove(0)))
    }

    #[test]
    fn json_is_asked_by_a_word() {
        for (sql, inner, told) in [
            ("EXPLAIN (FORMAT JSON, COSTS off) SELECT 1", "SELECT 1", Some(Told::Plan)),
            ("EXPLAIN (format 'json') SELECT 1", "SELECT 1", Some(Told::Plan)),
            ("EXPLAIN ANALYZE FORMAT JSON SELECT 1", "SELECT 1", Some(Told::Run)),
            ("EXPLAIN SELECT 1", "EXPLAIN SELECT 1", None),
            ("EXPLAIN (FORMAT TEXT) SELECT 1", "EXPLAIN (FORMAT TEXT) SELECT 1", None),
            ("SELECT 1", "SELECT 1", None),
        ] {
            let (statement, found) = asked(parsed(sql));
            assert_eq!((statement.to_string().as_str(), found), (inner, told), "{sql}");
        }
    }

    #[tokio::test]
    async fn a_plan_is_told_as_json() {
        let context = SessionContext::new();
        let sql = "SELECT x FROM (VALUES (1), (2), (3)) AS t(x) WHERE x > 1 ORDER BY x";
        for told in [Told::Plan, Told::Run] {
            let plan = explained(context.state().create_logical_plan(sql).await.unwrap(), told).unwrap();
            assert!(is_explained(&plan));
            let (plan, found) = opened(plan);
            assert_eq!((is_explained(&plan), found), (false, Some(told)));
            let plan = context.state().create_physical_plan(&plan).await.unwrap();
            let rows = rows(plan, found, context.task_ctx()).unwrap();
            let batches: Vec<RecordBatch> = rows.try_collect().await.unwrap();
            let text = arrow::util::display::array_value_to_string(batches[0].column(0), 0).unwrap();
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            let top = &json[0]["Plan"];
            assert!(top["Node Type"].is_string() && top["Plans"].is_array(), "{text}");
            assert_eq!(text.contains("\"Actual Rows\": 2"), told == Told::Run, "{text}");
            assert!(!text.contains("Cost"), "{text}");
        }
    }
}
