//! Many simulations on all cores, with a progress bar.

use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `one` makes of each of `cells`, in their order. Each cell has a seed of its own, so the answers do not depend on
/// the number of cores.
pub fn all<C: Sync, R: Send>(name: &'static str, cells: &[C], one: impl Fn(&C) -> R + Sync) -> Vec<R> {
    let bar = ProgressBar::new(cells.len() as u64).with_message(name);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((at, cell)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, cells.get(at)?)))
        {
            let made = one(cell);
            if let Ok(mut done) = done.lock() {
                done.push((at, made));
            }
            bar.inc(1);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    bar.finish_and_clear();
    let mut made = done.into_inner().unwrap_or_default();
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, made)| made).collect()
}
