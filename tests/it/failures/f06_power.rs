//! F6: a power cut. The server works on a file system in an image file; what a copy of the image holds at one moment is
//! what the disk would hold if the power went then. What was only written and not synced is not in it.

use super::disk::Mount;
use super::oracle::{Oracle, Writing};
use super::server::eventually;
use super::small;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often the power goes; GROUNDLINE_POWER_CUTS makes it more.
const CUTS: u64 = 1;

fn make(image: &Path) -> bool {
    std::fs::File::create(image).unwrap().set_len(96 << 20).unwrap();
    let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(image).status();
    made.is_ok_and(|status| status.success())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f06_a_power_cut_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let writing = Writing { batch: 3, payload: 1_500, scored: 0, pause: Duration::ZERO, insist: true };
    let cuts = std::env::var("GROUNDLINE_POWER_CUTS").map_or(CUTS, |n| n.parse().unwrap());
    for cut in 0..cuts {
        let (image, copy) = (folder.path().join("live.img"), folder.path().join("copy.img"));
        if !make(&image) {
            eprintln!("mkfs.ext4 is not installed; this test does nothing");
            return;
        }
        let Some(live) = Mount::image(&folder.path().join("live"), &image) else { return };
        let mut server = small(&live.0.join("data")).start();
        let oracle = Arc::new(Oracle::default());
        let url = format!("http://{}/v1/traces", server.otlp_http);
        let writer = tokio::spawn({
            let oracle = Arc::clone(&oracle);
            async move { oracle.write(url, writing).await }
        });
        // Long enough for files of the lake; the moment wanders through the flush interval.
        tokio::time::sleep(Duration::from_millis(1_200 + cut * 37 % 400)).await;
        eventually("spans are acknowledged", 120, async || oracle.acknowledged() > 50).await;
        // The control: without a sync, this must not survive.
        std::fs::write(live.0.join("never-synced"), [7u8; 4_096]).unwrap();
        let stopped = Command::new("kill").arg("-STOP").arg(server.pid().to_string()).status().unwrap();
        assert!(stopped.success());
        // Nothing is acknowledged from here on. What is on its way through the socket is.
        std::fs::copy(&image, &copy).unwrap();
        oracle.stop.store(true, Ordering::Relaxed);
        server.kill();
        writer.await.unwrap();
        drop((server, live));

        let Some(after) = Mount::image(&folder.path().join("after"), &copy) else { return };
        let control = std::fs::read(after.0.join("never-synced")).unwrap_or_default();
        assert_ne!(control, [7u8; 4_096], "the copy has what was never synced: it models no power cut");
        let server = small(&after.0.join("data")).start();
        let verdict = oracle.check(&server, writing, |_| ()).await;
        assert!(verdict.is_clean() && verdict.acknowledged > 50, "cut {cut}: {verdict:?}");
        let committed = std::fs::read_dir(after.0.join("data/lake/spans/_delta_log")).unwrap().count();
        println!(
            "cut {cut}: {} acknowledged, {} stored, {committed} commits",
            verdict.acknowledged, verdict.stored
        );
    }
}
