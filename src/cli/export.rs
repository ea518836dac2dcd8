//! Stored spans as OTLP, against a running server or straight on a data directory.

use super::pipe::hung_up;
use super::sql::{offline, online};
use super::trust::Trust;
use crate::ingest::encode::{COLUMNS, spans_to_request, traces_to_json};
use arrow::array::RecordBatch;
use clap::{Args, ValueEnum};
use prost::Message;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// A running server.
    #[arg(long, default_value = "http://127.0.0.1:4320", conflicts_with = "data_dir")]
    url: String,
    /// A data directory that no server uses now.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// A token of the server with the role query or admin, if it has tokens.
    #[arg(long, env = "GROUNDLINE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    #[command(flatten)]
    trust: Trust,
    /// Configuration file, for a data directory whose tables are on S3.
    #[arg(long, requires = "data_dir")]
    config: Option<PathBuf>,
    /// What is written.
    #[arg(long, value_enum, default_value = "otlp-json")]
    format: ExportFormat,
    /// Where to; standard output if left out.
    #[arg(long)]
    output: Option<PathBuf>,
    /// Spans of one request in otlp-json.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch_spans: u32,
    /// Which spans: SQL over the columns of the table spans, with or without the word WHERE; all if left out.
    #[arg(default_value = "")]
    filter: String,
}

/// The formats by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// A line of OTLP/JSON a request, as collectors' file exporters write it.
    OtlpJson,
    /// One ExportTraceServiceRequest in protobuf.
    OtlpProto,
}

/// Runs it. Exit code 0 when every selected span is written, or the reader of standard output had enough; 1 otherwise.
pub async fn run(args: ExportArgs) -> ExitCode {
    match export(&args).await {
        Ok(Some(spans)) => {
            eprintln!("groundline export: {spans} spans");
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("groundline export: {error}");
            ExitCode::from(1)
        }
    }
}

/// The query behind `filter`.
fn query(filter: &str) -> String {
    let filter = filter.trim();
    let rest = match filter.get(..5) {
        Some(word) if word.eq_ignore_ascii_case("where") => filter[5..].trim(),
        _ => filter,
    };
    let columns = COLUMNS.join(", ");
    if rest.is_empty() {
        return format!("SELECT {columns} FROM spans");
    }
    format!("SELECT {columns} FROM spans WHERE {rest}")
}

/// How many spans were written; none if the reader hung up before the end. The answer is held in memory; the server's limits on
/// rows and bytes of a result hold, and name their keys.
async fn export(args: &ExportArgs) -> Result<Option<usize>, String> {
    let query = query(&args.filter);
    let (_, batches) = match &args.data_dir {
        Some(data_dir) => offline(data_dir.clone(), args.config.as_deref(), &query).await,
        None => online(&args.url, args.token.as_deref(), &args.trust, &query).await,
    }?;
    match &args.output {
        Some(path) => File::create(path)
            .and_then(|file| write(args, &batches, &mut BufWriter::new(file)))
            .map_err(|e| format!("{}: {e}", path.display()))?,
        None => {
            let written = write(args, &batches, &mut BufWriter::new(io::stdout().lock()));
            if written.as_ref().is_err_and(hung_up) {
                return Ok(None);
            }
            written.map_err(|e| e.to_string())?;
        }
    }
    Ok(Some(batches.iter().map(RecordBatch::num_rows).sum()))
}

/// What cannot be encoded is told as what cannot be written.
fn write(args: &ExportArgs, batches: &[RecordBatch], out: &mut dyn Write) -> io::Result<()> {
    if args.format == ExportFormat::OtlpProto {
        let request = spans_to_request(batches).map_err(io::Error::other)?;
        out.write_all(&request.encode_to_vec())?;
        return out.flush();
    }
    for part in parts(batches, usize::try_from(args.batch_spans).unwrap_or(usize::MAX)) {
        let request = spans_to_request(&part).map_err(io::Error::other)?;
        writeln!(out, "{}", traces_to_json(&request))?;
    }
    out.flush()
}

/// The rows in parts of at most `size`.
fn parts(batches: &[RecordBatch], size: usize) -> Vec<Vec<RecordBatch>> {
    let (mut parts, mut part, mut rows) = (Vec::new(), Vec::new(), 0);
    for batch in batches {
        let mut at = 0;
        while at < batch.num_rows() {
            let take = (size - rows).min(batch.num_rows() - at);
            part.push(batch.slice(at, take));
            (at, rows) = (at + take, rows + take);
            if rows == size {
                parts.push(std::mem::take(&mut part));
                rows = 0;
            }
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array};
    use std::sync::Arc;

    #[test]
    fn the_word_where_may_be_left_out() {
        for filter in ["WHERE a = 1", "where a = 1", "  a = 1 "] {
            assert!(query(filter).ends_with("FROM spans WHERE a = 1"), "{}", query(filter));
        }
        assert!(query(" ").ends_with("FROM spans") && query("WHERE").ends_with("FROM spans"));
    }

    #[test]
    fn parts_have_the_size_and_all_rows() {
        let batch = |n: i64| {
            let column: ArrayRef = Arc::new((0..n).collect::<Int64Array>());
            RecordBatch::try_from_iter([("n", column)]).unwrap()
        };
        let sizes = |size| -> Vec<usize> {
            let parts = parts(&[batch(5), batch(0), batch(4)], size);
            parts.iter().map(|part| part.iter().map(RecordBatch::num_rows).sum()).collect()
        };
        assert_eq!(sizes(4), [4, 4, 1]);
        assert_eq!(sizes(9), [9]);
        assert_eq!(sizes(100), [9]);
    }
}
