//! What was said in a session before a trace: conversations are judged as a whole, and each trace holds a turn of them.

use crate::domain::trace::{EvalInput, Session};
use crate::eval::Away;
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use futures::future::BoxFuture;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Earlier traces of a session that are read; of more, the latest.
const MAX_TRACES: usize = 100;

/// How far back a session is read, nanoseconds.
const REACH: i64 = 86_400 * 1_000_000_000;

/// SQL: the spans of a session's earlier traces that say something. `$1` is the session, `$2` the tenant, `$3` the trace that is
/// judged, and `$4` and `$5` the time between which they began.
const EARLIER: &str = "SELECT CAST(trace_id AS VARCHAR) AS trace, CAST(start_time AS BIGINT) AS start, \
                       CAST(question AS VARCHAR) AS question, CAST(answer AS VARCHAR) AS answer FROM spans \
                       WHERE session_id = $1 AND tenant = $2 AND trace_id <> $3 \
                       AND NOT is_experiment(trace_id) \
                       AND start_time >= to_timestamp_nanos(CAST($4 AS BIGINT)) AND start_time < to_timestamp_nanos(CAST($5 AS BIGINT)) \
                       AND operation IN ('llm', 'agent', 'chain') AND (question IS NOT NULL OR answer IS NOT NULL) \
                       ORDER BY start_time DESC LIMIT 2000";

/// A query, the values of its `$1`, `$2` …, and its rows.
pub type SessionQuery = Arc<
    dyn Fn(&'static str, Vec<serde_json::Value>) -> BoxFuture<'static, Result<Vec<RecordBatch>, String>>
        + Send
        + Sync,
>;

/// Where earlier traces are read from; from nowhere without a server.
#[derive(Default)]
pub(super) struct Sessions {
    reader: OnceLock<SessionQuery>,
}

impl Sessions {
    /// Reads them with `reader` from now on. The first one stays.
    pub(super) fn read_with(&self, reader: SessionQuery) {
        let _ = self.reader.set(reader);
    }

    /// The input with what was said in its session before, if more is stored of that than its history has.
    ///
    /// # Errors
    /// When it cannot be read now.
    pub(super) async fn with_earlier<'a>(&self, input: &'a EvalInput) -> Result<Cow<'a, EvalInput>, Away> {
        let (Some(reader), Some(session)) = (self.reader.get(), &input.session) else {
            return Ok(Cow::Borrowed(input));
        };
        let Session { id, trace_id, start } = session;
        let tenant = input.tenant.as_deref().unwrap_or_default();
        let since = start.saturating_sub(REACH);
        let values =
            vec![id.as_str().into(), tenant.into(), trace_id.as_str().into(), since.into(), (*start).into()];
        let rows = reader(EARLIER, values).await;
        let told =
            |why: String| Away::new(format!("the session {id:?} could not be read: {why}"), true, None);
        let rows = rows.map_err(told)?;
        let history = turns(&rows);
        if history.len() <= input.history.len() {
            return Ok(Cow::Borrowed(input));
        }
        Ok(Cow::Owned(EvalInput { history, ..input.clone() }))
    }
}

/// One trace: when it began, its question, its answer.
#[derive(Default)]
struct Trace {
    start: i64,
    question: Option<String>,
    answer: Option<String>,
}

/// The turns of the traces in `rows`, oldest first. Many spans of a trace repeat what was asked inside pages of context, so its
/// question is the shortest; its answer is the one of the span that began first, which is the outermost.
fn turns(rows: &[RecordBatch]) -> Vec<String> {
    let mut traces: BTreeMap<String, Trace> = BTreeMap::new();
    for batch in rows {
        let text = |name: &str| {
            let column = batch.column_by_name(name).and_then(|column| cast(column, &DataType::Utf8).ok());
            column.map(|column| column.as_string::<i32>().clone())
        };
        let start = batch.column_by_name("start").and_then(|c| c.as_primitive_opt::<Int64Type>().cloned());
        let (Some(ids), Some(questions), Some(answers), Some(starts)) =
            (text("trace"), text("question"), text("answer"), start)
        else {
            continue;
        };
        for (((id, question), answer), start) in ids.iter().zip(&questions).zip(&answers).zip(&starts) {
            let (Some(id), Some(start)) = (id, start) else { continue };
            let trace = traces.entry(id.to_owned()).or_insert_with(|| Trace { start, ..Trace::default() });
            let shortest = trace.question.as_ref().map_or(usize::MAX, String::len);
            if let Some(question) = question.filter(|question| question.len() < shortest) {
                trace.question = Some(question.to_owned());
            }
            if let Some(answer) = answer.filter(|_| trace.answer.is_none() || start < trace.start) {
                trace.answer = Some(answer.to_owned());
            }
            trace.start = trace.start.min(start);
        }
    }
    let mut traces: Vec<Trace> = traces.into_values().collect();
    traces.sort_by_key(|trace| trace.start);
    let skip = traces.len().saturating_sub(MAX_TRACES);
    let said = |trace: Trace| {
        let asked = trace.question.map(|text| format!("user: {text}"));
        asked.into_iter().chain(trace.answer.map(|text| format!("assistant: {text}")))
    };
    traces.into_iter().skip(skip).flat_map(said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array, StringArray};

    fn rows() -> RecordBatch {
        let text = |texts: Vec<Option<&str>>| -> ArrayRef { Arc::new(StringArray::from(texts)) };
        let columns = [
            ("trace", text(vec![Some("b"), Some("a"), Some("b"), Some("a")])),
            ("start", Arc::new(Int64Array::from(vec![30, 12, 31, 10])) as ArrayRef),
            ("question", text(vec![Some("And then?"), Some("Context: pages. Hi"), None, Some("Hi")])),
            ("answer", text(vec![Some("Done."), Some("Inner."), Some("Late."), Some("Hello.")])),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    #[test]
    fn a_trace_is_its_shortest_question_and_its_outermost_answer() {
        let wanted = ["user: Hi", "assistant: Hello.", "user: And then?", "assistant: Done."];
        assert_eq!(turns(&[rows()]), wanted);
        assert_eq!(turns(&[rows().slice(0, 1), rows().slice(1, 3)]), wanted);
    }

    #[tokio::test]
    async fn the_longer_account_of_a_conversation_is_judged() {
        let sessions = Sessions::default();
        let session = Session { id: "s".to_owned(), trace_id: "c".to_owned(), start: 40 };
        let input =
            EvalInput { session: Some(session), tenant: Some("t".to_owned()), ..EvalInput::default() };
        assert!(sessions.with_earlier(&input).await.unwrap().history.is_empty());
        sessions.read_with(Arc::new(|sql, values| {
            assert!(sql.contains("$5") && values.len() == 5);
            Box::pin(async { Ok(vec![rows()]) })
        }));
        assert_eq!(sessions.with_earlier(&input).await.unwrap().history.len(), 4);
        // A sender that sends the conversation with each call knows more.
        let history = vec!["user: x".to_owned(); 5];
        let told = EvalInput { history, ..input.clone() };
        assert_eq!(sessions.with_earlier(&told).await.unwrap().history[0], "user: x");
        assert_eq!(sessions.with_earlier(&EvalInput::default()).await.unwrap().history.len(), 0);
        let broken = Sessions::default();
        broken.read_with(Arc::new(|_, _| Box::pin(async { Err("busy".to_owned()) })));
        assert!(broken.with_earlier(&input).await.unwrap_err().why.contains("busy"));
    }
}
