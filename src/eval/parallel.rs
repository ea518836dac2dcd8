//! Work spread over threads, results in order.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` makes of each item, in the order of the items, on at most `workers` threads. Blocks until all are done.
pub fn map<T: Sync, R: Send>(items: &[T], workers: usize, work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    let run = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let result = work(at, item);
            done.lock()[at] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers.min(items.len()) {
            scope.spawn(run);
        }
        run();
    });
    done.into_inner().into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_items() {
        let items: Vec<usize> = (0..1_000).collect();
        for workers in [0, 1, 3] {
            let doubled = map(&items, workers, |at, item| at + item);
            assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
        assert!(map(&[] as &[u8], 4, |_, item| *item).is_empty());
    }
}
