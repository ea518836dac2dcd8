//! The server.

use crate::app::{App, AppError, findings, plan};
use crate::config::Config;
use crate::console::Files;
use crate::drift::{Alerts, AnchorConfig};
use crate::sql::Sql;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;
use tokio::sync::watch::Sender;
use tracing_subscriber::EnvFilter;

/// Runs until a signal or a failure, with the console's files of `console_dir` if one is named. Exit code 2 if it did not
/// start, 1 if it failed later.
pub async fn run(file: Option<PathBuf>, data_dir: Option<PathBuf>, console_dir: Option<PathBuf>) -> ExitCode {
    let mut config = match Config::load(file.as_deref()) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    if let Some(data_dir) = data_dir {
        config.server.data_dir = data_dir;
    }
    let server = config.server.clone();
    let files = match console_dir
        .map_or(Ok(Files::embedded()), |folder| Files::of_folder(&folder, server.http_listen))
    {
        Ok(files) => files,
        Err(error) => {
            eprintln!("groundline: {error}");
            return ExitCode::from(2);
        }
    };
    log(&config.server.log);
    if let Err(error) = super::memory::trim() {
        tracing::warn!(%error, "free memory is not given back: the thread for it does not start");
    }
    // Before the server says that it is ready: a signal right after must find it listening.
    let (signals, reloads) = (Signals::listen(), Reloads::listen());
    // A start waits for a bucket or reads a long journal, and nothing was taken yet that would be lost.
    let starting = tokio::spawn(Signals::listen().end_at_once());
    let started = App::start_with(config, files).await;
    starting.abort();
    let _ = starting.await;
    let mut app = match started {
        Ok(app) => app,
        Err(error) => {
            eprintln!("groundline: {error}");
            return ExitCode::from(2);
        }
    };
    let at = app.addresses;
    tracing::info!(otlp_grpc = %at.grpc, otlp_http = %at.otlp_http, http = %at.http, pg = %at.pg, "ready");
    // The log goes to standard error. Who closed standard output wants no greeting.
    let _ = write!(std::io::stdout(), "{}", super::welcome::text(&server, at));
    let (alerts, anchors, sql) = (app.alerts.clone(), app.anchors.clone(), app.sql.clone());
    let reloaded = file;
    reloads.then(app.reload.clone(), move || reload(reloaded.as_deref(), &alerts, &anchors, &sql));
    let failure = tokio::select! {
        error = app.failed() => Some(error),
        () = signals.told_to_stop() => None,
    };
    ended(app, failure).await
}

/// Reads alerts, receivers, anchors and calibrations again. A file with a fault changes nothing.
fn reload(file: Option<&Path>, alerts: &Alerts, anchors: &Sender<Vec<AnchorConfig>>, sql: &Sql) {
    let read = Config::load(file).map_err(|e| e.to_string());
    let planned = read.and_then(|config| Ok((plan(&config).map_err(|e| e.to_string())?, config)));
    match planned {
        Ok((plan, config)) => {
            let (alert_count, curves) = (plan.definitions.len(), config.labels.calibrations.len());
            tracing::info!(
                alerts = alert_count,
                curves,
                anchors = config.anchors.len(),
                "alerts, receivers, anchors and calibrations were read again"
            );
            findings(&config).log();
            alerts.replace(plan);
            anchors.send_replace(config.anchors.clone());
            sql.set_calibrations(config.labels.calibrated());
        }
        Err(error) => tracing::error!(error, "alerts, receivers, anchors and calibrations stay as they were"),
    }
}

async fn ended(app: App, failure: Option<AppError>) -> ExitCode {
    if let Some(error) = &failure {
        tracing::error!(%error, "stopping because of a failure");
    }
    let stopped = app.stop().await;
    if let Err(error) = &stopped {
        tracing::error!(%error, "stopped with an error; the journal keeps what was not flushed");
    }
    if failure.is_some() || stopped.is_err() { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

/// SIGHUP, by which a server is told to read its files again.
pub struct Reloads(std::io::Result<Signal>);

impl Reloads {
    /// Listens from now on: SIGHUP no longer ends the process, it waits for [`Reloads::then`].
    pub fn listen() -> Self {
        Self(signal(SignalKind::hangup()))
    }

    /// Each SIGHUP makes the server look at its certificates and tokens at once, and calls `also`. So does one that came since
    /// [`Reloads::listen`].
    pub fn then(self, reload: Arc<Notify>, also: impl Fn() + Send + 'static) {
        match self.0 {
            Ok(mut hangup) => {
                tokio::spawn(async move {
                    while hangup.recv().await.is_some() {
                        reload.notify_one();
                        tokio::task::block_in_place(&also);
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "SIGHUP cannot be listened for; files are looked at by time only")
            }
        }
    }
}

/// The signals that stop the server.
pub struct Signals(std::io::Result<(Signal, Signal)>);

impl Signals {
    /// Listens from now on.
    pub fn listen() -> Self {
        Self(signal(SignalKind::terminate()).and_then(|term| Ok((term, signal(SignalKind::interrupt())?))))
    }

    /// Ends the process at the first SIGINT or SIGTERM, as one that was stopped. Returns only where they cannot be listened for.
    pub async fn end_at_once(self) {
        let Ok((mut term, mut int)) = self.0 else { return };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        tracing::info!("stopped before it was ready");
        std::process::exit(0);
    }

    /// Returns at the first SIGINT or SIGTERM; a second one ends the process at once.
    pub async fn told_to_stop(self) {
        let (mut term, mut int) = match self.0 {
            Ok(both) => both,
            Err(error) => {
                tracing::error!(%error, "signals cannot be listened for");
                return std::future::pending().await;
            }
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        tracing::info!("stopping; a second signal ends it at once");
        tokio::spawn(async move {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
            std::process::exit(1);
        });
    }
}

/// What libraries say at `info` is about themselves; a filter that names them still gets it.
const QUIET: &str = "buoyant_kernel=warn,buoyant_kernel_engine=warn,deltalake=warn,deltalake_core=warn";

/// Logs go to standard error; a second call changes nothing.
pub fn log(filter: &str) {
    let filter = EnvFilter::try_new(format!("{QUIET},{filter}")).unwrap_or_else(|_| EnvFilter::new("info"));
    let format = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // It would tell them on standard error, by a macro that panics where nothing can be written.
    let format = format.log_internal_errors(false);
    // Colours are for people; in files and collectors of logs they are noise. NO_COLOR holds on a terminal.
    let format = if std::io::stderr().is_terminal() { format } else { format.with_ansi(false) };
    if format.try_init().is_err() {
        tracing::debug!("logging was set up before");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever starts a server may signal it as soon as it says that it is ready.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_hangup_before_anybody_waits_for_it_is_not_lost() {
        let reloads = Reloads::listen();
        let id = std::process::id().to_string();
        assert!(std::process::Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
        let (look, (came, mut comes)) = (Arc::new(Notify::new()), tokio::sync::mpsc::unbounded_channel());
        reloads.then(look.clone(), move || came.send(()).unwrap());
        look.notified().await;
        comes.recv().await.unwrap();
    }
}
