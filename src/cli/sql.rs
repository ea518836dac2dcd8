//! One query, against a running server or straight on a data directory.

use super::pipe::ended;
use super::remote::unreached;
use super::trust::Trust;
use crate::app::{open_queue, open_sql, open_storage};
use crate::config::Config;
use crate::domain::time::SystemClock;
use crate::journal::Journal;
use crate::lake::FlushHandle;
use crate::queue::Follower;
use crate::sql::{Format, Sql, encode};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use clap::{Args, ValueEnum};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct SqlArgs {
    /// A running server.
    #[arg(long, default_value = "http://127.0.0.1:4320", conflicts_with = "data_dir")]
    url: String,
    /// A token of the server with the role query or admin, if it has tokens.
    #[arg(long, env = "GROUNDLINE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    #[command(flatten)]
    trust: Trust,
    /// A data directory that no server uses now.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Configuration file, for a data directory whose tables are on S3.
    #[arg(long, requires = "data_dir")]
    config: Option<PathBuf>,
    /// How the answer is written; a table on a terminal, else JSON.
    #[arg(long, value_enum)]
    format: Option<SqlFormat>,
    /// The query.
    query: String,
}

/// The formats by their names on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SqlFormat {
    /// Readable.
    Table,
    /// Rows as objects.
    Json,
    /// Comma separated.
    Csv,
    /// Arrow stream.
    Arrow,
    /// Parquet file.
    Parquet,
}

/// Runs it.
pub async fn run(args: SqlArgs) -> ExitCode {
    let terminal = std::io::stdout().is_terminal();
    let format = match args.format {
        Some(SqlFormat::Table) => Format::Table,
        Some(SqlFormat::Json) => Format::Json,
        Some(SqlFormat::Csv) => Format::Csv,
        Some(SqlFormat::Arrow) => Format::Arrow,
        Some(SqlFormat::Parquet) => Format::Parquet,
        None if terminal => Format::Table,
        None => Format::Json,
    };
    let answer = match &args.data_dir {
        Some(data_dir) => offline(data_dir.clone(), args.config.as_deref(), &args.query).await,
        None => online(&args.url, args.token.as_deref(), &args.trust, &args.query).await,
    };
    let written = answer.and_then(|(schema, batches)| {
        let bytes = encode(format, &schema, &batches, usize::MAX).map_err(|e| e.to_string())?;
        let mut out = std::io::stdout().lock();
        let is_text = matches!(format, Format::Table | Format::Json | Format::Csv);
        let end: &[u8] = if is_text && !bytes.ends_with(b"\n") { b"\n" } else { b"" };
        ended(out.write_all(&bytes).and_then(|()| out.write_all(end)).and_then(|()| out.flush()))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("groundline sql: {error}");
            ExitCode::from(1)
        }
    }
}

/// Asks a server for an Arrow stream; over https it is one that `trust` takes.
pub async fn online(
    url: &str,
    token: Option<&str>,
    trust: &Trust,
    query: &str,
) -> Result<(SchemaRef, Vec<RecordBatch>), String> {
    let address = format!("{}/v1/sql", url.trim_end_matches('/'));
    let mut request = trust.client()?.post(&address);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let response = request
        .header("accept", "application/vnd.apache.arrow.stream")
        .json(&serde_json::json!({ "sql": query }))
        .send()
        .await
        .map_err(|e| unreached(&address, e))?;
    let status = response.status();
    let body = response.bytes().await.map_err(|e| format!("{address}: {e}"))?;
    if !status.is_success() {
        let text = String::from_utf8_lossy(&body);
        let error = serde_json::from_str::<serde_json::Value>(&text).ok();
        let error = error.as_ref().and_then(|e| e.get("error")?.as_str()).unwrap_or(&text);
        return Err(error.to_owned());
    }
    let reader = arrow::ipc::reader::StreamReader::try_new(body.as_ref(), None).map_err(|e| e.to_string())?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    Ok((schema, batches))
}

/// Asks the tables of a data directory that no server uses now.
pub async fn offline(
    data_dir: PathBuf,
    file: Option<&Path>,
    query: &str,
) -> Result<(SchemaRef, Vec<RecordBatch>), String> {
    let opened = Opened::open(data_dir, file).await?;
    let answer = opened.ask(query).await;
    opened.close();
    answer
}

/// The tables of a data directory that no server uses now.
pub struct Opened {
    sql: Arc<Sql>,
    journal: Journal,
    /// Hot rows and waiting items are shown as long as these are there.
    _flush: FlushHandle,
    _follower: Follower,
}

impl Opened {
    /// Opens the tables; `file` is the configuration, for tables on S3 and limits of queries.
    pub async fn open(data_dir: PathBuf, file: Option<&Path>) -> Result<Self, String> {
        if !data_dir.join("journal").is_dir() {
            return Err(format!("{}: no data directory of a server", data_dir.display()));
        }
        let mut config = Config::load(file).map_err(|e| e.to_string())?;
        config.server.data_dir = data_dir;
        let (journal, lake, flush) =
            open_storage(&config, Arc::new(SystemClock)).await.map_err(|e| e.to_string())?;
        let (queue, follower) = open_queue(&config, &journal).map_err(|e| e.to_string())?;
        let sql = open_sql(lake, queue, &config).map_err(|e| e.to_string())?;
        Ok(Self { sql, journal, _flush: flush, _follower: follower })
    }

    /// Runs one query.
    pub async fn ask(&self, query: &str) -> Result<(SchemaRef, Vec<RecordBatch>), String> {
        self.sql.collect(query).await.map_err(|e| e.to_string())
    }

    /// Closes the journal.
    pub fn close(&self) {
        self.journal.close();
    }
}
