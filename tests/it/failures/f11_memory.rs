//! F11 and F13: more than the server can take, and requests that unpack to more than they look like.

use super::oracle::{Oracle, Writing, is_retryable};
use super::server::eventually;
use super::{alone, small};
use crate::support::{request, span};
use prost::Message;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long each load lasts; GROUNDLINE_OVERLOAD_MS makes it more.
fn duration() -> Duration {
    let millis = std::env::var("GROUNDLINE_OVERLOAD_MS").map_or(1_500, |n| n.parse().unwrap());
    Duration::from_millis(millis)
}

/// What the settings of `small` allow to be held: 8 MiB in flight as bytes and decoded, 8 MiB queued, 8 MiB hot, 8 MiB
/// of open traces, 8 MiB of items, 64 MiB of queries; each allocation twice for what is being built from it.
const LIMITS_MIB: u64 = 2 * (8 * 6 + 64);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f11_overload_stays_within_its_memory() {
    let _alone = alone().await;
    for (name, batch, payload) in [("24 KB spans", 40, 48_000), ("1 MB spans", 1, 1_900_000)] {
        let folder = tempfile::tempdir().unwrap();
        let mut server = small(folder.path()).start();
        let url = format!("http://{}/v1/traces", server.otlp_http);
        let writing = Writing { batch, payload, scored: 0, pause: Duration::ZERO, insist: true };
        let oracle = Arc::new(Oracle::default());
        let idle = server.memory_mib("VmRSS");
        // Twelve senders of up to 2 MB each want three times what may be in flight.
        let writers: Vec<_> = (0..12)
            .map(|_| {
                let (oracle, url) = (Arc::clone(&oracle), url.clone());
                tokio::spawn(async move { oracle.write(url, writing).await })
            })
            .collect();
        tokio::time::sleep(duration()).await;
        // A slow machine gets the time that it needs for a first one.
        eventually("something is accepted", 120, async || oracle.acknowledged() > 0).await;
        oracle.stop.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.await.unwrap();
        }
        let peak = server.memory_mib("VmHWM");
        let answers = oracle.answers();
        println!("{name}: idle {idle} MiB, peak {peak} MiB, limits {LIMITS_MIB} MiB, {answers:?}");
        assert!(server.alive(), "{}", server.log());
        for answer in answers.keys() {
            let status: u16 = answer.parse().unwrap_or_else(|_| panic!("{name}: {answers:?}"));
            assert!(status == 200 || is_retryable(status), "{name}: {answers:?}");
        }
        assert!(oracle.acknowledged() > 0, "nothing was accepted");
        assert!(peak < idle + LIMITS_MIB, "{name}: {peak} MiB, idle {idle} MiB");
        let verdict = oracle.check(&server, writing, |_| ()).await;
        assert!(verdict.is_clean(), "{:?} lost, {:?} doubled", verdict.lost, verdict.doubled);
    }
}

fn percentile(mut millis: Vec<f64>, share: f64) -> f64 {
    millis.sort_by(f64::total_cmp);
    millis[((millis.len() - 1) as f64 * share) as usize]
}

/// The times of small requests, one after the other, milliseconds.
async fn times(url: &str, requests: u64) -> Vec<f64> {
    let client = reqwest::Client::new();
    let mut times = Vec::new();
    for number in 0..requests {
        let body = request("f13", vec![span(number, number, vec![])]).encode_to_vec();
        let began = Instant::now();
        let post = client.post(url).header("content-type", "application/x-protobuf").body(body);
        assert_eq!(post.send().await.unwrap().status(), 200);
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times
}

/// The 99th percentile of the times of small requests while bombs are sent, milliseconds, and how many were.
async fn beside_bombs(url: &str, bomb: &[u8]) -> (f64, u32) {
    let stop = Arc::new(AtomicBool::new(false));
    let bomber = tokio::spawn({
        let (stop, url, bomb) = (Arc::clone(&stop), url.to_owned(), bomb.to_vec());
        async move {
            let (client, mut bombs) = (reqwest::Client::new(), 0);
            while !stop.load(Ordering::Relaxed) {
                let post = client.post(&url).header("content-type", "application/x-protobuf");
                let answer = post.header("content-encoding", "gzip").body(bomb.clone()).send().await.unwrap();
                assert_eq!(answer.status(), 413);
                bombs += 1;
            }
            bombs
        }
    });
    let bombed = percentile(times(url, 150).await, 0.99);
    stop.store(true, Ordering::Relaxed);
    (bombed, bomber.await.unwrap())
}

/// Requests that unpack to a thousand times their size are refused for good, and others hardly feel them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f13_a_gzip_bomb_costs_others_little() {
    let _alone = alone().await;
    let folder = tempfile::tempdir().unwrap();
    let server = small(folder.path()).start();
    let url = format!("http://{}/v1/traces", server.otlp_http);
    times(&url, 20).await;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![0u8; 64 << 20]).unwrap();
    let bomb = encoder.finish().unwrap();
    // What bombs cost, they cost in every round; what other programs of the machine take, only in some.
    let mut rounds = Vec::new();
    let is_little = |(alone, bombed): (f64, f64)| bombed < (2.0 * alone).max(250.0);
    while rounds.len() < 10 && !rounds.iter().copied().any(is_little) {
        let alone = percentile(times(&url, 150).await, 0.99);
        let (bombed, bombs) = beside_bombs(&url, &bomb).await;
        println!(
            "p99 of others: {alone:.1} ms alone, {bombed:.1} ms beside {bombs} bombs of {} KB",
            bomb.len() >> 10
        );
        assert!(bombs > 0);
        rounds.push((alone, bombed));
    }
    assert!(rounds.iter().copied().any(is_little), "{rounds:?}");
    let peak = server.memory_mib("VmHWM");
    assert!(peak < server.memory_mib("VmRSS") + 64, "a bomb took memory: {peak} MiB");
}
