//! The queue's log is compacted while a slow judge is asked, and the server is killed around it.

use super::server::Server;
use super::{ask, configured};
use crate::support::{PATIENCE, Process, query, until, until_within};
use groundline::journal::{Config, Journal};
use groundline::schema::FORMAT;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// How often the server is killed; GROUNDLINE_KILL_CYCLES makes it more.
const CYCLES: u64 = 3;
/// Items of each cycle. The judge answers about as many in it, so that they do not heap up.
const CALLS: u64 = 12;

async fn compactions(running: &Process) -> u64 {
    let scraped =
        reqwest::get(format!("http://{}/metrics", running.http)).await.unwrap().text().await.unwrap();
    let sample = scraped.lines().find_map(|line| line.strip_prefix("groundline_queue_compactions_total "));
    sample.map_or(0, |count| count.parse().unwrap())
}

/// Items that the log of a server that is gone has as a compaction writes them.
fn kept(dir: &Path) -> usize {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let log = Journal::open(copy.path(), Config::default(), FORMAT).unwrap();
    let (mut reader, mut found) = (log.reader(0).unwrap(), 0);
    while let Some(frame) = reader.next().unwrap() {
        let events: Vec<Value> = serde_json::from_slice(&frame.payload[1..]).unwrap();
        found += events.iter().filter(|event| event["kept"].is_object()).count();
    }
    log.close();
    found
}

/// Items are neither lost nor judged twice. Every other time the kill comes as soon as a compaction is told, before or while
/// the cursor moves; else at a moment that wanders.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_around_compactions_of_the_queues_log_loses_and_doubles_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server { takes: Duration::from_millis(330), ..Server::default() };
    let text =
        configured("\"safety\"", server.listen().await, "max_concurrent = 2\n[queue]\ncompact_after = 0");
    let cycles = std::env::var("GROUNDLINE_KILL_CYCLES").map_or(CYCLES, |n| n.parse().unwrap());
    let (mut compacted, mut next) = (0, 0);
    for cycle in 0..cycles {
        let mut running = Process::start_with(folder.path(), &text);
        // The first time twice as many, so that something waits whenever the log is looked at.
        let calls = if cycle == 0 { 2 * CALLS } else { CALLS };
        assert!(ask(running.otlp_http, next..next + calls).await);
        next += calls;
        if cycle % 2 == 0 {
            until("a compaction", async || {
                // More, where a busy machine looks at the log when all are judged.
                if server.requests() as u64 >= next {
                    assert!(ask(running.otlp_http, next..next + CALLS).await);
                    next += CALLS;
                }
                compactions(&running).await > 0
            })
            .await;
        } else {
            tokio::time::sleep(Duration::from_millis(1_500 + cycle * 137 % 1_000)).await;
        }
        compacted += compactions(&running).await;
        running.kill();
    }
    assert!(compacted >= cycles.div_ceil(2), "the log was compacted {compacted} times: the test saw nothing");
    assert!(kept(&folder.path().join("queue")) > 0, "the log has nothing that a compaction wrote");
    let mut running = Process::start_with(folder.path(), &text);
    let wanted = next;
    let counted =
        "SELECT count(*) AS rows, count(DISTINCT trace_id) AS traces FROM scores WHERE status = 'ok'";
    let limit = PATIENCE + Duration::from_secs(cycles * 2);
    until_within(limit, "all scores", async || query(running.http, counted).await[0]["traces"] == wanted)
        .await;
    // What would come twice waits in the queue: when it is empty, all has come.
    until("the end", async || query(running.http, "SELECT count(*) AS n FROM queue").await[0]["n"] == 0)
        .await;
    let found = query(running.http, counted).await;
    assert_eq!((&found[0]["rows"], &found[0]["traces"]), (&json!(wanted), &json!(wanted)));
    let scraped =
        reqwest::get(format!("http://{}/metrics", running.http)).await.unwrap().text().await.unwrap();
    for lane in ["fast", "slow"] {
        assert!(scraped.contains(&format!("groundline_queue_items{{lane=\"{lane}\"}} 0")), "{scraped}");
    }
    assert!(scraped.contains("groundline_queue_max_age_seconds{lane=\"slow\"} 86400"), "{scraped}");
    assert!(scraped.contains("groundline_queue_max_age_seconds{lane=\"fast\"} 3600"), "{scraped}");
    running.kill();
}
