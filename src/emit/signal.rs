//! What the three loops differ in.

use super::record;
use crate::ingest::encode::{logs_to_request, spans_to_request};
use crate::schema::columns::Table;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::TimestampMicrosecondType;
use bytes::Bytes;
use prost::Message;

/// What leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// Evaluation results, as log events.
    Results,
    /// Spans as they came.
    Spans,
    /// Log records as they came.
    Logs,
}

impl Signal {
    /// The section of its settings, and the name of its journal cursor.
    pub(super) fn section(self) -> &'static str {
        match self {
            Self::Results => "emit",
            Self::Spans => "forward",
            Self::Logs => "forward_logs",
        }
    }

    /// Whose rows are sent.
    pub(super) fn table(self) -> Table {
        match self {
            Self::Results => Table::Scores,
            Self::Spans => Table::Spans,
            Self::Logs => Table::LogRecords,
        }
    }

    /// What one row is called.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Results => "evaluation results",
            Self::Spans => "spans",
            Self::Logs => "log records",
        }
    }

    /// Behind the endpoint of OTLP/HTTP.
    pub(super) fn http_path(self) -> &'static str {
        match self {
            Self::Results | Self::Logs => "v1/logs",
            Self::Spans => "v1/traces",
        }
    }

    /// The method of OTLP/gRPC.
    pub(super) fn grpc_path(self) -> &'static str {
        match self {
            Self::Results | Self::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
            Self::Spans => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        }
    }

    /// The rows as the bytes of an export request.
    ///
    /// # Errors
    /// Why the rows are none that were ever stored.
    pub(super) fn request(self, rows: &[RecordBatch]) -> Result<Bytes, String> {
        match self {
            Self::Results => Ok(record::request(rows).encode_to_vec().into()),
            Self::Spans => {
                let request = spans_to_request(rows).map_err(|error| error.to_string())?;
                Ok(request.encode_to_vec().into())
            }
            Self::Logs => {
                let request = logs_to_request(rows).map_err(|error| error.to_string())?;
                Ok(request.encode_to_vec().into())
            }
        }
    }

    /// How many of the rows leave.
    pub(super) fn count(self, rows: &[RecordBatch]) -> u64 {
        let one = |batch: &RecordBatch| match self {
            Self::Results => record::results(batch).count(),
            Self::Spans | Self::Logs => batch.num_rows(),
        };
        rows.iter().map(one).sum::<usize>() as u64
    }

    /// When the last of the rows came, microseconds since 1970; none without rows.
    pub(super) fn newest(self, rows: &[RecordBatch]) -> Option<i64> {
        let name = match self {
            Self::Results => "evaluated_at",
            Self::Spans | Self::Logs => "received_at",
        };
        let newest = |batch: &RecordBatch| {
            let times = batch.column_by_name(name)?.as_primitive_opt::<TimestampMicrosecondType>()?;
            (0..times.len()).filter(|row| times.is_valid(*row)).map(|row| times.value(row)).max()
        };
        rows.iter().filter_map(newest).max()
    }

    /// Counts rows by what became of them.
    pub(super) fn told(self, outcome: &'static str, count: u64) {
        match self {
            Self::Results => {
                metrics::counter!("groundline_emitted_total", "outcome" => outcome).increment(count)
            }
            Self::Spans => {
                metrics::counter!("groundline_forwarded_total", "outcome" => outcome).increment(count)
            }
            Self::Logs => {
                metrics::counter!("groundline_forwarded_logs_total", "outcome" => outcome).increment(count)
            }
        }
    }
}
