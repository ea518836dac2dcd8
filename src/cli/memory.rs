//! What the allocator keeps of memory that was given back.

/// Blocks from this size on come straight from the system and go straight back to it, bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_FROM: libc::c_int = 256 << 10;

/// Free memory at the end of a heap beyond this goes back to the system, bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_FREE: libc::c_int = 1 << 20;

/// Heaps that threads share.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS: libc::c_int = 4;

/// Tells the allocator to give memory back; call it before threads start.
///
/// glibc raises the size from which it maps blocks to that of the largest block that was freed, up to 32 MiB, and gives
/// each thread a heap of its own. Columns of a batch are such blocks: at 10,000 spans a second the heaps then held
/// 680 MiB after a minute where 150 MiB were in use. Elsewhere than on glibc this does nothing.
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
