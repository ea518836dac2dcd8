//! The same load against other servers, each a program of its own from the Python package index.
//!
//! What each of them promises with its answer differs, so the report says it beside the figures.

use crate::args::{Args, Door, Mix};
use crate::client::Target;
use crate::common::system;
use crate::load::{self, Input};
use crate::report::PeerRow;
use crate::server::Failed;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a peer may take until its door answers.
const START: Duration = Duration::from_secs(180);

/// How long one measurement of a peer may take from its start.
const MOST: Duration = Duration::from_secs(300);

/// How long a peer may take to store what it has acknowledged.
const STORE: Duration = Duration::from_secs(120);

/// A server to compare with.
pub struct Peer {
    name: &'static str,
    package: &'static str,
    version: &'static str,
    /// What its "yes" means.
    yes: &'static str,
    doors: &'static [Door],
    /// Spans of services, and model calls, that it gets; fewer for those that take minutes for more.
    spans: (usize, usize),
    connections: usize,
}

/// All of them, with the versions that were tried.
pub const PEERS: [Peer; 3] = [
    Peer {
        name: "rotel, blackhole",
        package: "rotel",
        version: "0.0.1a15",
        yes: "in a queue in memory; then decoded, batched and dropped: nothing is stored",
        doors: &[Door::Grpc, Door::Http],
        spans: (1_000_000, 20_000),
        connections: 16,
    },
    Peer {
        name: "phoenix, sqlite",
        package: "arize-phoenix",
        version: "20.26.1",
        yes: "in a queue in memory; written to SQLite later",
        doors: &[Door::Grpc, Door::Http],
        spans: (5_000, 500),
        connections: 2,
    },
    Peer {
        name: "mlflow, sqlite",
        package: "mlflow",
        version: "3.17.2",
        yes: "committed to SQLite",
        doors: &[Door::Http],
        spans: (1_000, 100),
        connections: 2,
    },
];

/// A running peer.
struct Running {
    child: Child,
    folder: TempDir,
    grpc: u16,
    http: u16,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Servers of Python have children of their own.
        for pid in system::tree(self.child.id()) {
            let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).stderr(Stdio::null()).status();
        }
        let _ = self.child.wait();
    }
}

/// What the peers did, and which of them did not start and why.
pub async fn all(args: &Args) -> (Vec<PeerRow>, Vec<String>) {
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for peer in &PEERS {
        let bin = match installed(peer) {
            Ok(bin) => bin,
            Err(error) => {
                missing.push(format!("{}: not installed: {error}", peer.name));
                continue;
            }
        };
        for mix in args.mixes() {
            for door in args.doors().into_iter().filter(|door| peer.doors.contains(door)) {
                eprintln!("{} {} {}", peer.name, mix.name(), door.name());
                let row = tokio::time::timeout(MOST, measured(args, peer, &bin, mix, door)).await;
                match row.unwrap_or_else(|_| Err(format!("not done within {MOST:?}").into())) {
                    Ok(row) => rows.push(row),
                    Err(error) => {
                        missing.push(format!("{} {} {}: {error}", peer.name, mix.name(), door.name()))
                    }
                }
            }
        }
    }
    (rows, missing)
}

async fn measured(args: &Args, peer: &Peer, bin: &Path, mix: Mix, door: Door) -> Result<PeerRow, Failed> {
    let running = start(args, peer, bin).await?;
    let pid = running.child.id();
    let (services, models) = peer.spans;
    let spans = match mix {
        Mix::Services => services.min(args.closed_spans(mix)),
        Mix::Models => models.min(args.closed_spans(mix)),
    };
    let input = Arc::new(Input::new(mix, 1, spans));
    let port = if door == Door::Grpc { running.grpc } else { running.http };
    let mut target = Target::new(door, format!("http://127.0.0.1:{port}"));
    if peer.package == "mlflow" {
        // Its OTLP door wants to be told which experiment; 0 is the one that is always there.
        target.headers.push(("x-mlflow-experiment-id", "0"));
    }
    let cpu = system::cpu_seconds_of_tree(pid);
    let seen = load::closed(&target, &input, peer.connections).await?;
    let stored = stored(peer, &running, seen.acknowledged).await?;
    let cpu = system::cpu_seconds_of_tree(pid) - cpu;
    let spans = seen.acknowledged as f64;
    if spans == 0.0 || cpu <= 0.0 {
        return Err("nothing was acknowledged".into());
    }
    let disk: u64 = match stored {
        Some(_) => system::files(running.folder.path())
            .iter()
            .filter_map(|f| f.metadata().ok())
            .map(|m| m.len())
            .sum(),
        None => 0,
    };
    Ok(PeerRow {
        peer: peer.name,
        version: version(peer, bin),
        yes: peer.yes,
        mix: mix.name(),
        door: door.name(),
        connections: peer.connections,
        acknowledged: seen.acknowledged,
        stored,
        spans_a_second: spans / seen.wall.as_secs_f64(),
        spans_a_cpu_second: spans / cpu,
        mb_a_cpu_second: seen.bytes as f64 / 1e6 / cpu,
        p50_ms: seen.quantile_ms(0.5),
        p99_ms: seen.quantile_ms(0.99),
        rss_mib: system::status_mib(pid, "VmRSS"),
        disk_bytes_a_span: disk as f64 / spans,
    })
}

/// Starts the peer on free ports with an empty folder. When it returns, its door answers.
async fn start(args: &Args, peer: &Peer, bin: &Path) -> Result<Running, Failed> {
    let folder = tempfile::Builder::new().prefix("bench-peer-").tempdir_in(&args.folder)?;
    let at = folder.path();
    let (grpc, http) = (free_port()?, free_port()?);
    let mut command = match peer.package {
        "rotel" => {
            let mut command = Command::new(rotel(bin)?);
            command.args(["start", "--exporter", "blackhole"]);
            command.args(["--otlp-grpc-endpoint", &format!("127.0.0.1:{grpc}")]);
            command.args(["--otlp-http-endpoint", &format!("127.0.0.1:{http}")]);
            command.arg("--pid-file").arg(at.join("pid")).arg("--log-file").arg(at.join("log"));
            command
        }
        "arize-phoenix" => {
            let mut command = Command::new(bin.join("phoenix"));
            command.arg("serve").env("PHOENIX_WORKING_DIR", at).env("PHOENIX_HOST", "127.0.0.1");
            command.env("PHOENIX_PORT", http.to_string()).env("PHOENIX_GRPC_PORT", grpc.to_string());
            command.env("PHOENIX_TELEMETRY_ENABLED", "false");
            command
        }
        _ => {
            let mut command = Command::new(bin.join("mlflow"));
            command.args(["server", "--host", "127.0.0.1", "--port", &http.to_string(), "--workers", "2"]);
            command.arg("--backend-store-uri").arg(format!("sqlite:///{}", at.join("mlflow.db").display()));
            command.arg("--default-artifact-root").arg(at.join("artifacts"));
            command
        }
    };
    let log = std::fs::File::create(at.join("output"))?;
    // Its own programs come first: mlflow starts others by name.
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    command.env("PATH", path).current_dir(at).stdout(log.try_clone()?).stderr(log);
    let mut running = Running { child: command.spawn()?, folder, grpc, http };
    let (client, started) = (reqwest::Client::new(), Instant::now());
    loop {
        if let Some(status) = running.child.try_wait()? {
            let said = std::fs::read_to_string(running.folder.path().join("output")).unwrap_or_default();
            let end: Vec<&str> = said.lines().rev().take(3).collect();
            return Err(format!("ended with {status}: {}", end.join(" / ")).into());
        }
        // Any answer will do: not every one of them has a page there.
        let answers =
            client.get(format!("http://127.0.0.1:{http}/")).timeout(Duration::from_secs(2)).send().await;
        if answers.is_ok() {
            return Ok(running);
        }
        if started.elapsed() > START {
            return Err(format!("did not answer within {START:?}").into());
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

/// The spans in the peer's database, as soon as they are `expected`; `None` for one that stores nothing.
async fn stored(peer: &Peer, running: &Running, expected: u64) -> Result<Option<u64>, Failed> {
    if peer.package == "rotel" {
        return Ok(None);
    }
    let database = system::files(running.folder.path())
        .into_iter()
        .find(|f| f.extension().is_some_and(|e| e == "db"))
        .ok_or("no database")?;
    let started = Instant::now();
    loop {
        let script = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1], timeout=30).execute('SELECT count(*) FROM spans').fetchone()[0])";
        let output = Command::new("python3").args(["-c", script]).arg(&database).output()?;
        let count: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(0);
        if count >= expected || started.elapsed() > STORE {
            return Ok(Some(count));
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

fn free_port() -> Result<u16, Failed> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The folder of a virtual environment's programs with the peer in it; it is made if it is not there.
fn installed(peer: &Peer) -> Result<PathBuf, Failed> {
    let venv = PathBuf::from(std::env::var("HOME")?).join(".cache/groundline-bench-peers").join(peer.package);
    let (bin, python) = (venv.join("bin"), venv.join("bin/python"));
    let has = Command::new(&python)
        .args(["-m", "pip", "show", "--quiet", peer.package])
        .stderr(Stdio::null())
        .status();
    if has.is_ok_and(|status| status.success()) {
        return Ok(bin);
    }
    let wanted = match peer.version {
        "" => peer.package.to_owned(),
        version => format!("{}=={version}", peer.package),
    };
    eprintln!("installing {wanted} into {}", venv.display());
    ran(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    ran(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--pre", &wanted]))?;
    Ok(bin)
}

fn ran(command: &mut Command) -> Result<(), Failed> {
    let status = command.stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// Rotel's program lies inside of its Python package.
fn rotel(bin: &Path) -> Result<PathBuf, Failed> {
    let lib = bin.parent().ok_or("no folder")?.join("lib");
    let found = system::files(&lib).into_iter().find(|f| f.file_name().is_some_and(|n| n == "rotel-agent"));
    found.ok_or_else(|| "the package has no rotel-agent".into())
}

fn version(peer: &Peer, bin: &Path) -> String {
    let shown = Command::new(bin.join("python")).args(["-m", "pip", "show", peer.package]).output();
    let text = shown.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().find_map(|l| l.strip_prefix("Version: ")).unwrap_or("?").to_owned()
}
