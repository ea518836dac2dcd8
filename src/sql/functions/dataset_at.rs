//! `dataset_at('refunds', 7)`: the items of a dataset as they were at a version.

use crate::sql::error::SqlError;
use crate::sql::tables::{LakeTable, items_at};
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

/// Registers the function, over the view `datasets_latest`, which must be there, and all rows of `items`.
///
/// # Errors
/// A plan error if the view is missing.
pub fn register(context: &SessionContext, items: Arc<LakeTable>) -> Result<()> {
    let datasets = context
        .table_provider("datasets_latest")
        .now_or_never()
        .ok_or_else(|| DataFusionError::Internal("looking up datasets_latest had to wait".to_owned()))??;
    context.register_udtf(NAME, Arc::new(DatasetAt { datasets, items }));
    Ok(())
}

struct DatasetAt {
    datasets: Arc<dyn TableProvider>,
    items: Arc<LakeTable>,
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
        let items = items_at(self.datasets.clone(), &self.items, (&name, version))?;
        Ok(Arc::new(ViewTable::new(items, None)))
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
