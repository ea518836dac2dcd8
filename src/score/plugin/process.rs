//! JSON lines over the pipes of a process: one object an item in, one with the same id out.
//!
//! The process runs in a group of its own, which is killed as a whole; it sees the variables that are named and no others.
//! It is started again when it has died, after a wait that doubles until it answers.

use super::config::PluginConfig;
use super::describe::{Description, PROTOCOL};
use super::fault::Fault;
use super::ledger::Ledger;
use super::lines::Lines;
use crate::units::words;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use std::pin::pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

/// Longest line of an answer, bytes.
const MAX_LINE: usize = 1 << 20;
/// Longest line of the log, bytes; longer ones are told in pieces.
const MAX_LOG_LINE: usize = 2_048;
/// Lines of the log that are told in [`LOG_TIME`]; the others are counted.
const LOG_LINES: u32 = 50;
const LOG_TIME: Duration = Duration::from_secs(10);
/// So much of the last line stands in an error, characters.
const MAX_LAST_WORDS: usize = 200;
/// Lines before the description, such as those that a library prints.
const MAX_PREFACE: usize = 1_000;
/// The wait before a second start; it doubles with each death that no answer parts from the last.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long a process may take to end by itself.
const LAST: Duration = Duration::from_secs(1);

/// One process, which runs or will be started.
pub(super) struct Process {
    config: Arc<PluginConfig>,
    running: Option<Running>,
    /// Deaths since the last answer.
    deaths: u32,
    restart_at: Option<Instant>,
}

struct Running {
    child: Child,
    /// The process group, which has the number of the process.
    group: Option<i32>,
    stdin: Option<ChildStdin>,
    lines: Lines<ChildStdout>,
    log: JoinHandle<()>,
    last_words: Arc<Mutex<String>>,
}

impl Process {
    pub(super) fn new(config: Arc<PluginConfig>) -> Self {
        Self { config, running: None, deaths: 0, restart_at: None }
    }

    /// Starts the process anew unless one runs, and asks it what it is.
    ///
    /// # Errors
    /// When it does not start, or says nothing that can be kept to. Then none runs.
    pub(super) async fn describe(&mut self) -> Result<Description, String> {
        if let Some(at) = self.restart_at.take() {
            sleep_until(at).await;
        }
        self.kill().await;
        let running = match Running::start(&self.config) {
            Ok(running) => self.running.insert(running),
            Err(why) => {
                self.died();
                return Err(why);
            }
        };
        let limit = self.config.start_timeout;
        let described = match timeout(limit, running.describe()).await {
            Ok(described) => described,
            Err(_) => Err(format!("no description in {} (plugins.start_timeout)", words(limit))),
        };
        match described {
            Ok(description) => Ok(description),
            Err(why) => Err(self.ended(&why).await),
        }
    }

    /// Sends what is open in the ledger and takes answers until all have one.
    ///
    /// # Errors
    /// When the process ends, hangs or floods. Then it is killed, and what it has answered stands.
    pub(super) async fn score(&mut self, ledger: &mut Ledger) -> Result<(), Fault> {
        let Some(running) = &mut self.running else {
            return Err(Fault::Broken("it does not run".to_owned()));
        };
        let before = ledger.items().count();
        let done = running.exchange(ledger, self.config.timeout).await;
        if ledger.items().count() < before {
            self.deaths = 0;
        }
        match done {
            Ok(()) => Ok(()),
            Err(why) => Err(Fault::Broken(self.ended(&why).await + &ledger.strays())),
        }
    }

    /// Ends the process, with the time to do so by itself.
    pub(super) async fn close(&mut self) {
        let Some(running) = &mut self.running else { return };
        drop(running.stdin.take());
        running.signal(libc::SIGTERM);
        let _ = timeout(LAST, running.child.wait()).await;
        self.kill().await;
    }

    /// Kills what runs; why it ended, in words.
    async fn ended(&mut self, why: &str) -> String {
        self.died();
        let Some(running) = &mut self.running else { return why.to_owned() };
        let mut told = why.to_owned();
        // One that has closed its pipes is about to end: how says more than that it was killed.
        if why == CLOSED
            && let Ok(Ok(status)) = timeout(LAST, running.child.wait()).await
        {
            told = format!("it ended ({status}) before it answered");
        }
        running.signal(libc::SIGKILL);
        let _ = timeout(LAST, &mut running.log).await;
        let last = running.last_words.lock().clone();
        if !last.is_empty() {
            told.push_str(&format!("; its last words: {last}"));
        }
        self.kill().await;
        told
    }

    fn died(&mut self) {
        let wait = FIRST_WAIT.saturating_mul(2u32.saturating_pow(self.deaths.min(16))).min(LONGEST_WAIT);
        self.deaths += 1;
        self.restart_at = Some(Instant::now() + wait);
        metrics::counter!("groundline_plugin_deaths_total", "plugin" => self.config.name.clone())
            .increment(1);
    }

    async fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.signal(libc::SIGKILL);
            let _ = timeout(LAST, running.child.wait()).await;
        }
    }
}

/// What is said of a process that has closed its pipe.
const CLOSED: &str = "it closed its output before it answered";

impl Running {
    fn start(config: &PluginConfig) -> Result<Self, String> {
        let (program, arguments) = config.command.split_first().ok_or("command is empty")?;
        let seen = config.environment.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(seen).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !config.directory.as_os_str().is_empty() {
            command.current_dir(&config.directory);
        }
        let mut child = command.spawn().map_err(|e| format!("command {program:?} does not start: {e}"))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(format!("command {program:?} has no pipes"));
        };
        let last_words = Arc::new(Mutex::new(String::new()));
        let log = tokio::spawn(log(config.name.clone(), stderr, last_words.clone()));
        let (stdin, lines) = (child.stdin.take(), Lines::new(stdout, MAX_LINE));
        tracing::info!(plugin = config.name, process = group, "a plug-in has started");
        Ok(Self { child, group, stdin, lines, log, last_words })
    }

    async fn describe(&mut self) -> Result<Description, String> {
        let stdin = self.stdin.as_mut().ok_or(CLOSED)?;
        let question = json!({"type": "describe", "protocol": PROTOCOL}).to_string() + "\n";
        // One that has ended meanwhile is told by its output.
        let _ = stdin.write_all(question.as_bytes()).await;
        let _ = stdin.flush().await;
        for _ in 0..MAX_PREFACE {
            let line = self.lines.next().await.map_err(|e| format!("its output cannot be read: {e}"))?;
            let line = line.ok_or(CLOSED)?;
            if line.is_cut {
                return Err(too_long());
            }
            match serde_json::from_slice::<Json>(&line.bytes) {
                Ok(json) if json["type"] == "description" => return Description::from_json(json),
                _ => {}
            }
        }
        Err(format!("it wrote {MAX_PREFACE} lines and no description"))
    }

    /// Writes and reads at once: a process that answers while it is still being asked must not wait for who waits for it.
    async fn exchange(&mut self, ledger: &mut Ledger, wait: Duration) -> Result<(), String> {
        let stdin = self.stdin.as_mut().ok_or(CLOSED)?;
        let mut text = Vec::new();
        for item in ledger.items() {
            text.extend_from_slice(item.json().to_string().as_bytes());
            text.push(b'\n');
        }
        let mut write = pin!(async {
            stdin.write_all(&text).await?;
            stdin.flush().await
        });
        let (mut is_written, mut until) = (false, Instant::now() + wait);
        while !(is_written && ledger.is_done()) {
            let line = tokio::select! {
                // What it answered before it closed its input still counts.
                _ = &mut write, if !is_written => { is_written = true; continue }
                line = timeout_at(until, self.lines.next()) => line,
            };
            let Ok(line) = line else {
                return Err(format!("no answer in {} (plugins.timeout)", words(wait)));
            };
            let line = line.map_err(|e| format!("its output cannot be read: {e}"))?.ok_or(CLOSED)?;
            if line.is_cut {
                return Err(too_long());
            }
            if ledger.read(&line.bytes) {
                until = Instant::now() + wait;
            }
            ledger.bounded()?;
        }
        Ok(())
    }

    /// Sends a signal to the process and all that it has started.
    fn signal(&self, signal: i32) {
        let Some(group) = self.group else { return };
        // SAFETY: kill takes two numbers and touches no memory. The group is that of our own child, which is waited for
        // only beside this call, so its number belongs to nobody else.
        let _ = unsafe { libc::kill(-group, signal) };
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(libc::SIGKILL);
        self.log.abort();
    }
}

fn too_long() -> String {
    format!("it wrote a line of more than {MAX_LINE} bytes")
}

/// Tells what a process writes to its standard error, as much as a log can bear, and reads all of it: a full pipe would
/// stop the process.
async fn log(plugin: String, from: impl AsyncRead + Unpin, last_words: Arc<Mutex<String>>) {
    let mut lines = Lines::new(from, MAX_LOG_LINE);
    let (mut since, mut told, mut kept) = (Instant::now(), 0, 0u64);
    while let Ok(Some(line)) = lines.next().await {
        let text = String::from_utf8_lossy(&line.bytes).trim_end().to_owned();
        if text.is_empty() {
            continue;
        }
        if since.elapsed() > LOG_TIME {
            if kept > 0 {
                tracing::warn!(plugin, lines = kept, "lines of a plug-in's standard error were left out");
            }
            (since, told, kept) = (Instant::now(), 0, 0);
        }
        if told < LOG_LINES {
            told += 1;
            tracing::info!(plugin, "{text}");
        } else {
            kept += 1;
        }
        *last_words.lock() = text.chars().take(MAX_LAST_WORDS).collect();
    }
}
