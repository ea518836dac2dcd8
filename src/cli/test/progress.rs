//! The bar.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// A bar on a terminal; nothing where nobody looks.
pub fn bar(length: usize, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length as u64).with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{msg:8} {bar:40} {pos}/{len} {elapsed} eta {eta}") {
        bar.set_style(style);
    }
    bar
}
