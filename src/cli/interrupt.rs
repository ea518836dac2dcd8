//! Ctrl-C in verbs that ask others for long: the first ends the asking, the next one the process.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code of a process that SIGINT has ended, as shells tell it.
const INTERRUPTED: i32 = 130;

/// SIGINT, as often as it comes.
pub struct Interrupts(Signal);

impl Interrupts {
    /// Listens from now on. The first one cancels `stop`, and `told` stands on standard error. One that comes when `stop` is
    /// cancelled ends the process: a judge may take long then, and the signal itself ends nothing where it is listened for.
    pub fn cancel(stop: &CancellationToken, told: &'static str) {
        match signal(SignalKind::interrupt()) {
            Ok(signal) => drop(tokio::spawn(Self(signal).heard(stop.clone(), told))),
            Err(error) => eprintln!("groundline: Ctrl-C ends everything at once: {error}"),
        }
    }

    async fn heard(mut self, stop: CancellationToken, told: &'static str) {
        while self.0.recv().await.is_some() {
            if stop.is_cancelled() {
                std::process::exit(INTERRUPTED);
            }
            eprintln!("{told}");
            stop.cancel();
        }
    }
}
