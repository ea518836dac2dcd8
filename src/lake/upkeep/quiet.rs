//! Work that may wait: it yields the processor to everything that receives, stores and answers.

use super::super::error::LakeError;

/// The niceness of the thread. Beside a thread that wants the same core this one gets about a tenth of it, so
/// merges go on under full load as well.
#[cfg(target_os = "linux")]
const NICER: libc::c_int = 10;

/// Runs `work` on a thread of its own with a lower priority, and gives what it gave. A thread cannot raise its priority
/// again, so no pool has it.
pub async fn run<T, F>(work: F) -> Result<T, LakeError>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let waiting = tokio::task::spawn_blocking(move || {
        let thread = std::thread::Builder::new().name("merge".to_owned()).spawn(move || {
            lower_priority();
            work()
        });
        // A panic goes on in the task that waits, and is an error there.
        thread.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    waiting.await?.map_err(LakeError::Thread)
}

/// Only Linux has a niceness for each thread; elsewhere it is the process's, which stays as it is.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    // SAFETY: integers in and out; 0 stands for the calling thread. Failing leaves the priority as it was.
    unsafe {
        // A process that was started nicer yet stays so.
        let nice = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, nice.max(NICER));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn only_the_thread_of_the_work_is_nicer() {
        // SAFETY: integers in and out.
        let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = nice();
        assert_eq!(run(nice).await.unwrap(), before.max(NICER));
        assert_eq!(nice(), before);
        assert_eq!(tokio::task::spawn_blocking(nice).await.unwrap(), before);
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let failed = run(|| assert!(std::hint::black_box(false), "on purpose")).await;
        assert!(matches!(failed, Err(LakeError::Task(error)) if error.is_panic()));
    }
}
