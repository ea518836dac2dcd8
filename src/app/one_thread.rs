//! A runtime of one thread, for what waits for hundreds of answers: each then wakes one thread, not first the one that hears
//! it and then another that works on it.

use std::future::Future;
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Its thread ends when this is dropped; what runs there then is dropped at its next wait.
pub(super) struct OneThread {
    handle: Handle,
    _end: DropGuard,
}

impl OneThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread, or nothing to wait with.
    pub(super) fn start(name: &str) -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().thread_name(name).build()?;
        let (handle, end) = (runtime.handle().clone(), CancellationToken::new());
        let ended = end.clone();
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            runtime.block_on(ended.cancelled());
            // An evaluator may hold a thread for long; a stop does not wait for it.
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, _end: end.drop_guard() })
    }

    /// Runs `task` there. It must not block, nor ask for that: the thread is the only one.
    pub(super) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.handle.spawn(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use tokio::sync::oneshot;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn all_of_it_runs_on_one_thread_until_it_is_dropped() {
        let one = OneThread::start("one").unwrap();
        let name = || std::thread::current().id();
        let tasks = (0..20).map(|_| async move { tokio::spawn(async move { name() }).await.unwrap() });
        let mut threads = HashSet::from([name()]);
        for task in tasks.map(|task| one.spawn(task)).collect::<Vec<_>>() {
            threads.insert(task.await.unwrap());
        }
        assert_eq!(threads.len(), 2, "this one and that one");
        let (told, heard) = oneshot::channel::<()>();
        let waits = one.spawn(async move {
            let _told = told;
            std::future::pending::<()>().await;
        });
        drop(one);
        assert!(heard.await.is_err(), "what waits there is dropped");
        assert!(waits.await.unwrap_err().is_cancelled());
    }
}
