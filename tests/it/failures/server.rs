//! A server as a process of its own, which can be killed, starved and measured. Tests and the soak run share this file.

use socket2::{Domain, Socket, Type};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How a server is started; every start from the same settings is the same server again.
#[derive(Clone)]
pub struct Settings {
    binary: PathBuf,
    data_dir: PathBuf,
    environment: Vec<(String, String)>,
    /// Sockets that are bound and do not listen: they keep the fixed ports while no server runs.
    ports: Vec<Arc<Socket>>,
}

/// A running server, killed when it is dropped.
pub struct Server {
    child: Child,
    log: Arc<Mutex<String>>,
    pub grpc: SocketAddr,
    pub otlp_http: SocketAddr,
    pub http: SocketAddr,
}

impl Settings {
    /// The binary on `data_dir`, on free ports.
    pub fn new(binary: &Path, data_dir: &Path) -> Self {
        let (binary, data_dir) = (binary.to_owned(), data_dir.to_owned());
        let me = Self { binary, data_dir, environment: Vec::new(), ports: Vec::new() };
        let keys = ["SERVER__HTTP_LISTEN", "SERVER__PG_LISTEN", "INGEST__HTTP_LISTEN", "INGEST__GRPC_LISTEN"];
        keys.iter().fold(me, |me, key| me.set(key, "127.0.0.1:0"))
    }

    /// One key of the configuration, such as `LAKE__FLUSH_INTERVAL`.
    pub fn set(mut self, key: &str, value: impl ToString) -> Self {
        self.environment.push((format!("GROUNDLINE_{key}"), value.to_string()));
        self
    }

    /// A variable of the environment itself.
    pub fn variable(mut self, key: &str, value: impl ToString) -> Self {
        self.environment.push((key.to_owned(), value.to_string()));
        self
    }

    /// The OTLP ports stay the same over restarts, because SDKs do not look for a server that moved.
    pub fn fixed_ports(mut self) -> Self {
        for key in ["INGEST__HTTP_LISTEN", "INGEST__GRPC_LISTEN"] {
            let held = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            held.set_reuse_address(true).unwrap();
            held.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
            self = self.set(key, held.local_addr().unwrap().as_socket().unwrap());
            self.ports.push(Arc::new(held));
        }
        self
    }

    /// Starts it; when this returns, every receiver answers.
    pub fn start(&self) -> Server {
        self.try_start().unwrap_or_else(|log| panic!("the server ended before it was ready:\n{log}"))
    }

    /// As [`Settings::start`]; the error is what the server said before it ended.
    pub fn try_start(&self) -> Result<Server, String> {
        let mut child = Command::new(&self.binary)
            .args(["serve", "--data-dir"])
            .arg(&self.data_dir)
            .env("NO_COLOR", "1")
            .envs(self.environment.iter().map(|(key, value)| (key, value)))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", self.binary.display()));
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let (mut seen, mut ready) = (String::new(), String::new());
        while !ready.contains("otlp_http=") {
            ready.clear();
            if lines.read_line(&mut ready).unwrap_or(0) == 0 {
                let _ = child.wait();
                return Err(seen);
            }
            seen.push_str(&ready);
        }
        let log = Arc::new(Mutex::new(seen));
        let to = Arc::clone(&log);
        // A pipe that nobody reads would stop the server once it is full.
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let mut log = to.lock().unwrap();
                if log.len() < 1 << 20 {
                    log.push_str(&line);
                    log.push('\n');
                }
            }
        });
        let address = |key: &str| -> SocketAddr {
            let rest = ready.split(&format!(" {key}=")).nth(1).unwrap_or_default();
            rest.split_whitespace().next().unwrap_or_default().parse().unwrap()
        };
        Ok(Server {
            log,
            grpc: address("otlp_grpc"),
            otlp_http: address("otlp_http"),
            http: address("http"),
            child,
        })
    }
}

impl Server {
    /// SIGKILL: nothing is flushed, nothing is closed.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// SIGTERM, and waits until it has stopped by itself.
    pub fn stop(&mut self) -> bool {
        let told = Command::new("kill").arg(self.child.id().to_string()).status();
        told.is_ok_and(|s| s.success()) && self.child.wait().is_ok_and(|s| s.success())
    }

    /// Whether the process is still there.
    pub fn alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote to its log so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Resident memory now (`VmRSS`) or at its highest (`VmHWM`), MiB.
    pub fn memory_mib(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }

    /// The value of a metric, summed over its labels; 0 if it is not there.
    pub async fn metric(&self, name: &str) -> f64 {
        let text = reqwest::get(format!("http://{}/metrics", self.http)).await.unwrap().text().await.unwrap();
        let samples = text.lines().filter_map(|line| line.strip_prefix(name));
        samples
            .filter(|rest| rest.starts_with(['{', ' ']))
            .filter_map(|rest| rest.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }

    /// The rows of a query; the error is the answer's body.
    pub async fn query(&self, sql: &str) -> Result<Vec<serde_json::Value>, String> {
        let post = reqwest::Client::new().post(format!("http://{}/v1/sql", self.http));
        let answer = post.json(&serde_json::json!({ "sql": sql })).send().await.map_err(|e| e.to_string())?;
        let good = answer.status().is_success();
        let body: serde_json::Value = answer.json().await.map_err(|e| e.to_string())?;
        body.as_array().filter(|_| good).cloned().ok_or_else(|| body.to_string())
    }

    /// The one number of a query.
    pub async fn number(&self, sql: &str) -> i64 {
        let rows = self.query(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        rows[0].as_object().and_then(|row| row.values().next()?.as_i64()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits until `holds`, at most `seconds`.
pub async fn eventually<F: Future<Output = bool>>(what: &str, seconds: u64, mut holds: impl FnMut() -> F) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < Duration::from_secs(seconds), "not within {seconds} s: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
