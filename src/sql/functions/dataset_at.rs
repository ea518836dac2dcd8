//! `dataset_at('refunds', 7)`: the items of a dataset as they were at a version.

use crate::sql::error::SqlError;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::datasource::ViewTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Expr;
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use futures::FutureExt;
use std::fmt;
use std::sync::Arc;

/// The name of the function.
const NAME: &str = "dataset_at";

/// Registers the function, over the tables `datasets` and `dataset_items`, which must be there.
///
/// # Errors
/// A plan error if one of the tables is missing.
pub fn register(context: &SessionContext) -> Result<()> {
    // A session of its own: one that held itself would never go.
    let tables =
        SessionContext::new_with_config(context.copied_config().with_create_default_catalog_and_schema(true));
    for name in ["datasets", "dataset_items"] {
        let table = context
            .table_provider(name)
            .now_or_never()
            .ok_or_else(|| DataFusionError::Internal(format!("looking up {name} had to wait")))??;
        tables.register_table(name, table)?;
    }
    context.register_udtf(NAME, Arc::new(DatasetAt { tables }));
    Ok(())
}

struct DatasetAt {
    tables: SessionContext,
}

impl fmt::Debug for DatasetAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)
    }
}

impl TableFunctionImpl for DatasetAt {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let (name, version) = match args.exprs() {
            [name] => (text(name), Some(i64::MAX)),
            [name, version] => (text(name), whole(version)),
            _ => (None, None),
        };
        let (Some(name), Some(version)) = (name, version) else {
            let why = "dataset_at takes the name of a dataset and a version: dataset_at('refunds', 7)";
            return Err(DataFusionError::External(Box::new(SqlError::Wrong(why.to_owned()))));
        };
        let sql = include_str!("dataset_at.sql")
            .replace("{name}", &name.replace('\'', "''"))
            .replace("{version}", &version.to_string());
        let state = self.tables.state();
        let plan = state
            .create_logical_plan(&sql)
            .now_or_never()
            .ok_or_else(|| DataFusionError::Internal("planning dataset_at had to wait".to_owned()))??;
        Ok(Arc::new(ViewTable::new(plan, None)))
    }
}

fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Literal(
            ScalarValue::Utf8(Some(text))
            | ScalarValue::LargeUtf8(Some(text))
            | ScalarValue::Utf8View(Some(text)),
            _,
        ) => Some(text.clone()),
        _ => None,
    }
}

fn whole(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(number)), _) => Some(*number),
        Expr::Literal(ScalarValue::Int32(Some(number)), _) => Some(i64::from(*number)),
        _ => None,
    }
}
