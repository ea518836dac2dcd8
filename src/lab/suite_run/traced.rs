//! The spans of runs' traces, as checks of suites read them.

use crate::domain::id::TraceId;
use crate::lab::cells::Row;
use crate::lab::error::LabError;
use crate::lab::store::Store;
use crate::lab::suite::{RunSpan, Spans, TRACES_AT_ONCE};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Most spans of the traces that are read at once.
const MAX_SPANS: usize = 100_000;

/// The spans of a tenant's traces; a trace without a span is not there.
///
/// # Errors
/// [`LabError::Wrong`] for an id that is none, [`LabError::Limit`] for too many traces or spans at once, and the limits of
/// queries.
pub(super) async fn read(
    store: &Store,
    tenant: &str,
    traces: &[&str],
) -> Result<BTreeMap<String, Vec<RunSpan>>, LabError> {
    if traces.len() > TRACES_AT_ONCE {
        return Err(LabError::Limit(format!("{} traces at once, at most {TRACES_AT_ONCE}", traces.len())));
    }
    let id = |trace: &&str| match TraceId::from_hex(trace) {
        Ok(id) => Ok(format!("'{id}'")),
        Err(why) => Err(LabError::Wrong(format!("{trace:?}: {why}"))),
    };
    let ids = traces.iter().map(id).collect::<Result<Vec<String>, LabError>>()?;
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let sql = format!(
        "SELECT trace_id, span_id, name, duration_ns, status_code = 'error' OR error_type IS NOT NULL AS is_error \
         FROM spans WHERE trace_id IN ({}) ORDER BY start_time, span_id LIMIT {}",
        ids.join(", "),
        MAX_SPANS + 1
    );
    let rows = store.ask(tenant, &sql, Vec::new()).await?;
    let (mut found, mut seen) = (BTreeMap::<String, Vec<RunSpan>>::new(), HashSet::new());
    // A sender that was not answered sends a span twice.
    for row in rows.iter().filter(|row| seen.insert((row.text("trace_id"), row.text("span_id")))) {
        found.entry(row.text("trace_id")).or_default().push(span(row));
    }
    if seen.len() > MAX_SPANS {
        let why =
            format!("these {} traces have more than {MAX_SPANS} spans: too many to check", traces.len());
        return Err(LabError::Limit(why));
    }
    Ok(found)
}

fn span(row: Row<'_>) -> RunSpan {
    RunSpan {
        name: row.text("name"),
        duration_ms: row.int("duration_ns").unwrap_or_default() as f64 / 1e6,
        is_error: row.flag("is_error").unwrap_or_default(),
    }
}

/// The same of any number of traces, each with its spans or why there are none.
pub(super) async fn all(store: &Store, tenant: &str, traces: &[&str]) -> HashMap<String, Spans> {
    let mut found = HashMap::with_capacity(traces.len());
    for some in traces.chunks(TRACES_AT_ONCE) {
        let read = read(store, tenant, some).await;
        for trace in some {
            let spans = match &read {
                Ok(read) => Spans::of(trace, read.get(*trace).cloned().unwrap_or_default()),
                Err(why) => Spans::Missing(format!("the spans of this run cannot be read: {why}")),
            };
            found.insert((*trace).to_owned(), spans);
        }
    }
    found
}
