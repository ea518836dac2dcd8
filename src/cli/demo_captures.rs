//! The bundled captures, and waiting until what was sent is scored.

use super::pipe::say;
use crate::app::App;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Captured requests: (library, file name, bytes).
pub(super) static CAPTURES: &[(&str, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/captures.rs"));

/// The demo fails when the scores are not there by then.
const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until everything that was sent is visible, decided and scored.
pub(super) async fn wait(app: &App) -> Result<(), String> {
    let started = Instant::now();
    let bar = progress("scoring traces", 0);
    loop {
        let (frames, open, items) = app.unfinished();
        bar.set_message(format!("{open} open traces, {items} to score"));
        if (frames, open, items) == (0, 0, 0) {
            break;
        }
        if started.elapsed() > PATIENCE {
            return Err(format!(
                "after {PATIENCE:?} there are {open} open traces and {items} items to score"
            ));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bar.finish_and_clear();
    say(format_args!(
        "Every sampled trace was scored {} ms after the last capture.",
        started.elapsed().as_millis()
    ));
    Ok(())
}

pub(super) fn progress(what: &'static str, length: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    let template = if length > 0 { "{prefix} {bar:40} {pos}/{len}" } else { "{prefix} {spinner} {msg}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_prefix(what);
    bar
}
