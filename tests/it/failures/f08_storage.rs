//! F8, F9 and F10: a disk that is full, a sync that fails, storage that hangs.

use super::disk::{Fault, Mount};
use super::oracle::{Oracle, Writing, is_retryable};
use super::server::{Server, eventually};
use super::{alone, small};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const WRITING: Writing =
    Writing { batch: 4, payload: 4_000, scored: 0, pause: Duration::from_millis(2), insist: true };

fn start_with(fault: &Fault, data_dir: &Path) -> super::server::Settings {
    let [(preload, library), (name, control)] = fault.variables();
    small(data_dir).fixed_ports().variable(preload, library).variable(name, control)
}

/// Every answer was yes or "later".
fn assert_retryable(oracle: &Oracle) {
    for (answer, times) in oracle.answers() {
        let status: u16 = answer.parse().unwrap_or(503);
        assert!(status == 200 || is_retryable(status), "{times} times {answer}");
    }
}

async fn queries_go_on(server: &Server) {
    let began = Instant::now();
    server.number("SELECT count(*) AS n FROM spans").await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

async fn refused(server: &Server) -> f64 {
    server.metric("groundline_requests_refused_total").await
}

/// No space at each place that is written: the journal's segments, cursors, files of the lake and their commits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f08_a_full_disk_at_each_write_site() {
    let _alone = alone().await;
    let folder = tempfile::tempdir().unwrap();
    let Some(fault) = Fault::new(folder.path()) else { return };
    let settings = start_with(&fault, &folder.path().join("data"));
    let mut server = settings.start();
    let url = format!("http://{}/v1/traces", server.otlp_http);
    let oracle = Arc::new(Oracle::default());
    let writer = tokio::spawn({
        let (oracle, url) = (Arc::clone(&oracle), url.clone());
        async move { oracle.write(url, WRITING).await }
    });
    for (site, of_journal) in [(".seg", true), (".parquet", false), ("_delta_log", false), ("cursor", false)]
    {
        let (refused_before, errors_before) =
            (refused(&server).await, server.metric("groundline_flush_errors_total").await);
        fault.set("full", site);
        if of_journal {
            eventually("a request is refused", 120, async || refused(&server).await > refused_before).await;
            let acknowledged = oracle.acknowledged();
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert_eq!(oracle.acknowledged(), acknowledged, "an acknowledgement without space");
        } else {
            eventually("a flush fails", 120, async || {
                server.metric("groundline_flush_errors_total").await > errors_before
            })
            .await;
            let acknowledged = oracle.acknowledged();
            eventually("the receiver goes on", 120, async || oracle.acknowledged() > acknowledged).await;
        }
        queries_go_on(&server).await;
        assert!(server.alive(), "{site}: {}", server.log());
        fault.off();
        let (acknowledged, flushed) =
            (oracle.acknowledged(), server.metric("groundline_flush_bytes_total").await);
        eventually("it goes on without a restart", 120, async || {
            oracle.acknowledged() > acknowledged
                && server.metric("groundline_flush_bytes_total").await > flushed
        })
        .await;
        println!("{site}: full and freed, {} acknowledged", oracle.acknowledged());
    }
    // A slow machine gets the time that it needs for enough of them.
    eventually("enough is acknowledged", 120, async || oracle.acknowledged() > 50).await;
    oracle.stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
    assert_retryable(&oracle);
    server.kill();
    let verdict = oracle.check(&settings.start(), WRITING, |_| ()).await;
    assert!(verdict.is_clean() && verdict.acknowledged > 50, "{verdict:?}");
}

/// A real file system that is full to the last byte, several times, and freed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f08_a_full_file_system_and_freed() {
    let _alone = alone().await;
    let folder = tempfile::tempdir().unwrap();
    let Some(memory) = Mount::memory(&folder.path().join("disk"), 24) else { return };
    let settings = small(&memory.0.join("data")).fixed_ports();
    let mut server = settings.start();
    let url = format!("http://{}/v1/traces", server.otlp_http);
    let oracle = Arc::new(Oracle::default());
    let writer = tokio::spawn({
        let (oracle, url) = (Arc::clone(&oracle), url.clone());
        async move { oracle.write(url, WRITING).await }
    });
    let ballast = memory.0.join("ballast");
    for round in 0..3 {
        let before = oracle.acknowledged();
        eventually("spans are acknowledged", 120, async || oracle.acknowledged() > before + 8).await;
        let refused_before = refused(&server).await;
        // Until not one byte more fits; what the server frees meanwhile is taken again.
        let began = Instant::now();
        while refused(&server).await == refused_before {
            assert!(began.elapsed() < Duration::from_secs(120), "the file system does not fill up");
            fill(&ballast);
        }
        queries_go_on(&server).await;
        assert!(server.alive(), "{}", server.log());
        std::fs::remove_file(&ballast).unwrap();
        let acknowledged = oracle.acknowledged();
        eventually("it goes on without a restart", 120, async || oracle.acknowledged() > acknowledged).await;
        println!("round {round}: {} acknowledged", oracle.acknowledged());
    }
    oracle.stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
    assert_retryable(&oracle);
    server.kill();
    let verdict = oracle.check(&settings.start(), WRITING, |_| ()).await;
    assert!(verdict.is_clean() && verdict.acknowledged > 24, "{verdict:?}");
}

fn fill(ballast: &Path) {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(ballast).unwrap();
    for size in [1 << 20, 64 << 10, 4 << 10, 1] {
        while file.write(&vec![0xEE; size]).is_ok_and(|n| n > 0) {}
    }
}

/// A sync that fails once: nobody knows what is on the disk, so nothing is acknowledged any more, although syncs would
/// work again. After a restart everything goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f09_no_acknowledgement_after_a_failed_sync() {
    let folder = tempfile::tempdir().unwrap();
    let Some(fault) = Fault::new(folder.path()) else { return };
    let settings = start_with(&fault, &folder.path().join("data"));
    let mut server = settings.start();
    let url = format!("http://{}/v1/traces", server.otlp_http);
    let oracle = Oracle::default();
    for _ in 0..10 {
        assert_eq!(oracle.once(&url, WRITING).await, Some(200));
    }
    fault.set("sync", ".seg");
    let first = oracle.once(&url, WRITING).await;
    assert!(first.is_none_or(is_retryable), "{first:?}");
    fault.off();
    let mut answers = Vec::new();
    for _ in 0..20 {
        let said = oracle.once(&url, WRITING).await;
        assert!(said.is_none_or(is_retryable), "acknowledged after a failed sync: {said:?}");
        answers.push(said);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("alive {}, last answer {:?}", server.alive(), answers.last());
    eventually("the log says why", 60, async || server.log().contains("disk")).await;
    server.kill();
    let server = settings.start();
    assert_eq!(oracle.once(&format!("http://{}/v1/traces", server.otlp_http), WRITING).await, Some(200));
    let verdict = oracle.check(&server, WRITING, |_| ()).await;
    assert!(verdict.is_clean() && verdict.acknowledged == 44, "{verdict:?}");
}

/// A sync of a file or of a commit of the lake that fails: it does not count as written, the rows stay in the journal
/// and are written again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f09_a_failed_sync_of_the_lake_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(fault) = Fault::new(folder.path()) else { return };
    let settings = start_with(&fault, &folder.path().join("data"));
    let mut server = settings.start();
    let url = format!("http://{}/v1/traces", server.otlp_http);
    let oracle = Oracle::default();
    for site in [".parquet", "_delta_log"] {
        let errors = server.metric("groundline_flush_errors_total").await;
        fault.set("sync", site);
        for _ in 0..10 {
            assert_eq!(oracle.once(&url, WRITING).await, Some(200));
        }
        eventually(site, 120, async || server.metric("groundline_flush_errors_total").await > errors).await;
        let flushed = server.metric("groundline_flush_bytes_total").await;
        fault.off();
        eventually("it is written", 120, async || {
            server.metric("groundline_flush_bytes_total").await > flushed
        })
        .await;
    }
    server.kill();
    let verdict = oracle.check(&settings.start(), WRITING, |_| ()).await;
    assert!(verdict.is_clean() && verdict.acknowledged == 80, "{verdict:?}");
}

/// The lake's storage hangs: the journal takes what its limit allows, then the receiver says "later"; memory stays where it
/// is; when the storage answers again everything goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f10_storage_that_hangs() {
    let _alone = alone().await;
    let folder = tempfile::tempdir().unwrap();
    let Some(fault) = Fault::new(folder.path()) else { return };
    let settings = start_with(&fault, &folder.path().join("data"));
    let mut server = settings.start();
    let url = format!("http://{}/v1/traces", server.otlp_http);
    let large = Writing { batch: 16, payload: 20_000, pause: Duration::ZERO, ..WRITING };
    let oracle = Arc::new(Oracle::default());
    assert_eq!(oracle.once(&url, large).await, Some(200));
    fault.set("hang", "/lake/");
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let (oracle, url) = (Arc::clone(&oracle), url.clone());
            tokio::spawn(async move { oracle.write(url, large).await })
        })
        .collect();
    eventually("the journal is full", 120, async || refused(&server).await > 20.0).await;
    let (full, acknowledged) = (server.memory_mib("VmRSS"), oracle.acknowledged());
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let later = server.memory_mib("VmRSS");
    let bytes = server.metric("groundline_journal_bytes").await;
    println!(
        "hung: RSS {full} MiB, 1.5 s of overload later {later} MiB, journal {bytes} bytes, {acknowledged} acknowledged"
    );
    assert!(later < full + 48, "memory grows while storage hangs: {full} to {later} MiB");
    assert!(bytes < 28e6, "{bytes}");
    fault.off();
    let before = oracle.acknowledged();
    eventually("it goes on", 120, async || oracle.acknowledged() > before + 100).await;
    oracle.stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    assert_retryable(&oracle);
    server.kill();
    let verdict = oracle.check(&settings.start(), large, |_| ()).await;
    assert!(verdict.is_clean() && verdict.acknowledged > 100, "{verdict:?}");
}
