//! What breaks around the server, and what must hold all the same. The numbers are those of the failure tests.
//!
//! Others have their tests elsewhere: F5 in `recovery`, F18 and the seam of the files in the journal's own tests, F20 in
//! `sql/hostile`.

mod disk;
mod f02_lossless;
mod f03_clients;
mod f06_power;
mod f07_damage;
mod f08_storage;
mod f11_memory;
mod f15_shapes;
pub mod oracle;
pub mod server;

use server::Settings;
use std::path::Path;
use tokio::sync::{Mutex, MutexGuard};

/// The machine for one test at a time: those that measure time or memory should not measure each other.
async fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::const_new(());
    MACHINE.lock().await
}

/// A server whose limits are small, so that a test reaches them soon.
fn small(data_dir: &Path) -> Settings {
    Settings::new(Path::new(env!("CARGO_BIN_EXE_groundline")), data_dir)
        .set("INGEST__MAX_REQUEST_SIZE", 2 << 20)
        .set("INGEST__MAX_IN_FLIGHT_SIZE", 8 << 20)
        .set("JOURNAL__MAX_FRAME_SIZE", 3 << 20)
        .set("JOURNAL__SEGMENT_SIZE", 4 << 20)
        .set("JOURNAL__MAX_QUEUED_SIZE", 8 << 20)
        .set("JOURNAL__MAX_DISK_SIZE", 24 << 20)
        .set("LAKE__FLUSH_INTERVAL", "200ms")
        .set("LAKE__FLUSH_SIZE", 2 << 20)
        .set("LAKE__MAX_HOT_SIZE", 8 << 20)
        .set("SAMPLE__IDLE", "300ms")
        .set("SAMPLE__ROOTLESS_IDLE", "300ms")
        .set("SAMPLE__MAX_OPEN_SIZE", 8 << 20)
        .set("QUEUE__FAST__MAX_SIZE", 8 << 20)
        .set("SQL__MAX_MEMORY", 64 << 20)
}
