//! The server as a child process on free ports, and what it has stored.

use crate::common::system;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value as Json;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use url::Url;

/// What goes wrong in a measurement ends it.
pub type Failed = Box<dyn std::error::Error + Send + Sync>;

/// How long the server may take to write everything to files when it is told to stop.
const STOP: Duration = Duration::from_secs(120);

/// No sampling rule: what is measured is taking in and storing, not evaluation.
const CONFIG: &str = "[sample]\nrules = []\n[server]\nlog = \"info\"\n";

/// A running server with an empty data directory.
pub struct Server {
    child: Child,
    data: TempDir,
    /// OTLP/gRPC.
    pub grpc: String,
    /// OTLP/HTTP.
    pub otlp_http: String,
    sql: String,
    client: reqwest::Client,
}

/// What a stopped server has left behind.
pub struct Left {
    /// CPU seconds since its start.
    pub cpu: f64,
    /// When it had ended.
    pub ended: Instant,
    /// Bytes of the Parquet files of `spans`.
    pub file_bytes: u64,
    /// Rows in them, as their footers say.
    pub file_rows: u64,
    /// How many files.
    pub files: usize,
}

impl Server {
    /// Starts `program` with its data below `folder`. When it returns, every door answers.
    pub fn start(program: &Path, folder: &Path) -> Result<Self, Failed> {
        let data = tempfile::Builder::new().prefix("bench-ingest-").tempdir_in(folder)?;
        let config = data.path().join("groundline.toml");
        File::create(&config)?.write_all(CONFIG.as_bytes())?;
        let mut child = Command::new(program)
            .arg("serve")
            .args([Path::new("--config"), &config])
            .args([Path::new("--data-dir"), &data.path().join("data")])
            .env("GROUNDLINE_SERVER__HTTP_LISTEN", "127.0.0.1:0")
            .env("GROUNDLINE_SERVER__PG_LISTEN", "127.0.0.1:0")
            .env("GROUNDLINE_INGEST__HTTP_LISTEN", "127.0.0.1:0")
            .env("GROUNDLINE_INGEST__GRPC_LISTEN", "127.0.0.1:0")
            .env("NO_COLOR", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        let log = child.stderr.take().ok_or("the server has no standard error")?;
        let ready = match ready_line(log) {
            Ok(ready) => ready,
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
        };
        let address = |key: &str| -> Result<String, Failed> {
            let found = ready.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            Ok(format!("http://{}", found.ok_or_else(|| format!("no {key} in {ready:?}"))?))
        };
        let (grpc, otlp_http, http) = (address("otlp_grpc")?, address("otlp_http")?, address("http")?);
        let client = reqwest::Client::new();
        Ok(Self { child, data, grpc, otlp_http, sql: format!("{http}/v1/sql"), client })
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The only number of a query's answer.
    pub async fn number(&self, sql: &str) -> Result<u64, Failed> {
        let body = serde_json::json!({ "sql": sql });
        let answer: Json =
            self.client.post(&self.sql).json(&body).send().await?.error_for_status()?.json().await?;
        let first = answer.get(0).and_then(Json::as_object).and_then(|row| row.values().next());
        first.and_then(Json::as_u64).ok_or_else(|| format!("{sql}: {answer}").into())
    }

    /// The spans that SQL counts, as soon as they are `expected`, or what it counts after a minute.
    pub async fn stored(&self, expected: u64) -> Result<u64, Failed> {
        let started = Instant::now();
        loop {
            let stored = self.number("SELECT count(*) AS n FROM spans").await?;
            if stored == expected || started.elapsed() > Duration::from_secs(60) {
                return Ok(stored);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Stops the server as an operator does. When it returns, every row is in a Parquet file.
    pub async fn stop(mut self) -> Result<Left, Failed> {
        let pid = self.child.id();
        let told = Command::new("kill").args(["-TERM", &pid.to_string()]).status()?;
        if !told.success() {
            return Err("the server ended by itself".into());
        }
        let started = Instant::now();
        while !system::has_ended(pid) {
            if started.elapsed() > STOP {
                return Err("the server did not stop".into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let ended = Instant::now();
        // Until somebody waits for it, the system remembers what it used.
        let cpu = system::cpu_seconds(pid);
        let status = self.child.wait()?;
        if !status.success() {
            return Err(format!("the server ended with {status}").into());
        }
        let (mut file_bytes, mut file_rows) = (0, 0);
        let files = table_files(&self.data.path().join("data/lake/spans")).await?;
        for path in &files {
            file_bytes += std::fs::metadata(path)?.len();
            let footer = SerializedFileReader::new(File::open(path)?)?;
            file_rows += u64::try_from(footer.metadata().file_metadata().num_rows())?;
        }
        Ok(Left { cpu, ended, file_bytes, file_rows, files: files.len() })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The line of the log that names the addresses. What comes after it is thrown away.
fn ready_line(log: std::process::ChildStderr) -> Result<String, Failed> {
    let (mut log, mut seen) = (BufReader::new(log), String::new());
    loop {
        let mut line = String::new();
        if log.read_line(&mut line)? == 0 {
            return Err(format!("the server ended before it was ready:\n{seen}").into());
        }
        if line.contains("otlp_http=") {
            // A pipe that nobody reads would stop the server when it is full.
            std::thread::spawn(move || {
                for line in log.lines().map_while(Result::ok) {
                    if line.contains("ERROR") || line.contains("WARN") {
                        eprintln!("server: {line}");
                    }
                }
            });
            return Ok(line);
        }
        seen.push_str(&line);
    }
}

/// The files that the last commit of the table in `folder` names. Those that were merged stay on the disk for a while,
/// for queries that read them.
async fn table_files(folder: &Path) -> Result<Vec<PathBuf>, Failed> {
    let url = Url::from_directory_path(folder).map_err(|()| "the folder of the table has no URL")?;
    let table = deltalake::open_table(url).await?;
    let files = table.snapshot()?.log_data();
    Ok(files.iter().map(|file| folder.join(file.path().as_ref())).collect())
}
