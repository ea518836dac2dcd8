//! What the allocator keeps of memory that was given back.

/// Blocks from this size on come straight from the system and go straight back to it, bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_FROM: libc::c_int = 1 << 20;

/// Free memory at the end of a heap beyond this goes back to the system, bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_FREE: libc::c_int = 4 << 20;

/// Heaps that threads share.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS: libc::c_int = 4;

/// How often free memory inside of the heaps goes back too.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const TRIMMED_EVERY: std::time::Duration = std::time::Duration::from_secs(2);

/// Tells the allocator to give memory back; call it before threads start. [`trim`] does the rest.
///
/// glibc raises the size from which it maps blocks to that of the largest block that was freed, up to 32 MiB, and gives
/// each thread a heap of its own. Columns of a batch are such blocks: at 10,000 spans a second the heaps then held
/// 680 MiB after a minute where 150 MiB were in use. But each block that is mapped anew costs a page fault for every four
/// kilobytes, which was a third of the time of receiving prompts: so blocks of one request come from the heaps.
/// Elsewhere than on glibc this does nothing.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (option, value) in [
        (libc::M_MMAP_THRESHOLD, MAPPED_FROM),
        (libc::M_TRIM_THRESHOLD, KEPT_FREE),
        (libc::M_ARENA_MAX, HEAPS),
    ] {
        // SAFETY: mallopt takes two integers and touches the allocator's own settings only. An option that it does not
        // know changes nothing and is answered with 0, which is as good as the default.
        unsafe { libc::mallopt(option, value) };
    }
}

/// Gives free pages between blocks that are in use back to the system, every two seconds until the process ends. Without
/// that, heaps stay as large as they were at the busiest moment.
pub fn trim() -> std::io::Result<()> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    std::thread::Builder::new().name("memory".to_owned()).spawn(|| {
        loop {
            std::thread::sleep(TRIMMED_EVERY);
            // SAFETY: it takes a number of bytes to keep and touches free memory only.
            unsafe { libc::malloc_trim(0) };
        }
    })?;
    Ok(())
}
