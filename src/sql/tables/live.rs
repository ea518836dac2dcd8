//! Tables that are not in the lake: what the server holds at the moment of the query.

use super::snapshots::QuerySnapshots;
use crate::net::Scope;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::TableType;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use std::fmt;
use std::sync::Arc;

/// Gives the present rows of one tenant, or of all.
pub type LiveRows = Arc<dyn Fn(Option<&str>) -> Result<RecordBatch, arrow::error::ArrowError> + Send + Sync>;

/// A table whose rows are asked for anew by each scan. The rows of other tenants are not even in the plan.
pub struct LiveTable {
    schema: SchemaRef,
    rows: LiveRows,
}

impl LiveTable {
    /// A table of `schema`, which is what `rows` gives.
    pub fn new(schema: SchemaRef, rows: LiveRows) -> Self {
        Self { schema, rows }
    }
}

impl fmt::Debug for LiveTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveTable").field("schema", &self.schema).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for LiveTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // What runs outside of a query is ours and not a client's.
        let scope = state.config().get_extension::<QuerySnapshots>().map(|taken| taken.scope().clone());
        let tenant = match &scope {
            Some(Scope::Tenant(tenant)) => Some(tenant.as_ref()),
            Some(Scope::All) | None => None,
        };
        let rows = (self.rows)(tenant).map_err(DataFusionError::from)?;
        let source = MemorySourceConfig::try_new(&[vec![rows]], self.schema.clone(), projection.cloned())?
            .with_limit(limit);
        Ok(DataSourceExec::from_data_source(source))
    }
}
