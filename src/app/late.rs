//! What the tables know of traces that were decided before, for the loop of sampling.

use crate::domain::id::TraceId;
use crate::lake::Lake;
use crate::net::Scope;
use crate::sample::{DECIDED, SPANS, StoredTrace, Tables, VERSIONS};
use crate::sql::{Sql, Work};
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// The longest wait until the tables have what sampling has read.
const VISIBLE: Duration = Duration::from_secs(30);

/// The tables, asked over `sql` when `lake` has what is asked for.
pub fn tables(sql: Arc<Sql>, lake: Arc<Lake>) -> Tables {
    let asked = sql.clone();
    Tables {
        trace: Arc::new(move |trace, until| {
            let (sql, lake) = (asked.clone(), lake.clone());
            Box::pin(async move {
                let is_visible = {
                    let mut applied = lake.watch_applied();
                    let seen = tokio::time::timeout(VISIBLE, applied.wait_for(|at| *at >= until)).await;
                    matches!(seen, Ok(Ok(_)))
                };
                if !is_visible {
                    return Err("what came late is not visible yet".to_owned());
                }
                Ok(StoredTrace {
                    decided: ask(&sql, DECIDED, trace).await?,
                    versions: ask(&sql, VERSIONS, trace).await?,
                    spans: ask(&sql, SPANS, trace).await?,
                })
            })
        }),
        decided: Arc::new(move |traces| {
            let sql = sql.clone();
            Box::pin(async move { decided(&sql, &traces).await })
        }),
    }
}

async fn ask(sql: &Sql, query: &str, trace: TraceId) -> Result<Vec<RecordBatch>, String> {
    let work = Work::Bound(query.to_owned(), vec![ScalarValue::Utf8(Some(trace.to_string()))]);
    let rows = sql.collect_from("local", &Scope::All, work, None).await;
    rows.map(|rows| rows.batches).map_err(|error| error.to_string())
}

/// Those among `traces` that were decided about.
async fn decided(sql: &Sql, traces: &[TraceId]) -> Result<HashSet<TraceId>, String> {
    // Ids are hex: there is nothing to quote.
    let ids: Vec<String> = traces.iter().map(|id| format!("'{id}'")).collect();
    let query = format!("SELECT DISTINCT trace_id FROM decisions WHERE trace_id IN ({})", ids.join(", "));
    let (_, batches) = sql.collect(&query).await.map_err(|error| error.to_string())?;
    let mut found = HashSet::new();
    for batch in &batches {
        let column = cast(batch.column(0), &DataType::Utf8).map_err(|error| error.to_string())?;
        let ids = column.as_string::<i32>().iter().flatten();
        found.extend(ids.filter_map(|id| TraceId::from_hex(id).ok()));
    }
    Ok(found)
}
