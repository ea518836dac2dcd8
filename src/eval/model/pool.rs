//! A bounded set of things that threads borrow one at a time.

use std::ops::{Deref, DerefMut};

use parking_lot::{Condvar, Mutex};

/// Holds the things that nobody has borrowed.
pub(super) struct Pool<T> {
    free: Mutex<Vec<T>>,
    returned: Condvar,
    size: usize,
}

/// One borrowed thing; it goes back when this is dropped.
pub(super) struct Borrowed<'a, T> {
    pool: &'a Pool<T>,
    item: Option<T>,
}

impl<T> Pool<T> {
    /// A pool of these things, all free.
    pub(super) fn new(items: Vec<T>) -> Self {
        Self { size: items.len(), free: Mutex::new(items), returned: Condvar::new() }
    }

    /// How many things there are, free or borrowed.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Borrows one; blocks until one is free. A thread that holds one must not ask for a second.
    pub(super) fn borrow(&self) -> Borrowed<'_, T> {
        let mut free = self.free.lock();
        loop {
            if let Some(item) = free.pop() {
                return Borrowed { pool: self, item: Some(item) };
            }
            self.returned.wait(&mut free);
        }
    }
}

impl<T> Deref for Borrowed<'_, T> {
    type Target = T;

    #[expect(clippy::expect_used, reason = "the item leaves only in drop")]
    fn deref(&self) -> &T {
        self.item.as_ref().expect("the item leaves only in drop")
    }
}

impl<T> DerefMut for Borrowed<'_, T> {
    #[expect(clippy::expect_used, reason = "the item leaves only in drop")]
    fn deref_mut(&mut self) -> &mut T {
        self.item.as_mut().expect("the item leaves only in drop")
    }
}

impl<T> Drop for Borrowed<'_, T> {
    fn drop(&mut self) {
        if let Some(item) = self.item.take() {
            self.pool.free.lock().push(item);
            self.pool.returned.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn never_lends_more_than_it_has() {
        let pool = Pool::new(vec![(), ()]);
        let (held, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _one = pool.borrow();
                        most.fetch_max(held.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        held.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 2);
        assert_eq!(pool.free.lock().len(), 2);
    }
}
