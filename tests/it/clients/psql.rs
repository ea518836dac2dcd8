//! psql, by its commands.

use super::{hold_aspects, is_missing, port, shows, told};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn started(at: SocketAddr) -> Command {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-h", "127.0.0.1", "-p", &at.port().to_string(), "-U", "me", "groundline"]);
    psql
}

/// What psql says to `commands`, one after the other on one connection.
async fn psql_says(at: SocketAddr, commands: &[&str]) -> Option<String> {
    let mut psql = started(at);
    for command in commands {
        psql.args(["-c", command]);
    }
    match tokio::task::spawn_blocking(move || psql.output()).await.unwrap() {
        Ok(output) => Some(told(&output)),
        Err(_) => {
            is_missing(Path::new("psql"));
            None
        }
    }
}

/// Commands of psql, each with a part of what it says; none must be an error but where it is meant.
const PSQL: &[(&str, &str)] = &[
    (r"\d", "quality_hourly"),
    (r"\d spans", "trace_id"),
    (r"\d+ scores", "The metric."),
    (r"\dt", "spans"),
    (r"\dt+ sp*", "One row a span"),
    (r"\dv", "traces"),
    (r"\dv+", "traces"),
    (r"\dn", "public"),
    (r"\dn+", "public"),
    (r"\df", "quality_rate"),
    (r"\df+ attr", "json text, key text"),
    (r"\da", "quality_mean"),
    (r"\sf attr", "FUNCTION public.attr(json text, key text)"),
    (r"\du", "postgres"),
    (r"\l", "groundline"),
    (r"\l+", "groundline"),
    (r"\dT", "Name"),
    (r"\dT+", "Name"),
    (r"\di", "relations"),
    (r"\dp", "Access privileges"),
    (r"\z spans", "spans"),
    (r"\dx", "Version"),
    (r"\db", "Location"),
    (r"\db+", ""),
    (r"\dd", ""),
    (r"\dL", ""),
    (r"\dL+", ""),
    (r"\dconfig", "configuration parameters"),
    (r"\dconfig+ work*", ""),
    (r"\df+", "quality_rate"),
    (r"\dn+", "public"),
    (r"\du+", "postgres"),
    (r"\dg", ""),
    (r"\ddp", ""),
    (r"\drds", ""),
    (r"\dF", ""),
    (r"\dF+", ""),
    (r"\dm", ""),
    (r"\dE", ""),
    (r"\ds", ""),
    (r"\dA", ""),
    (r"\dc+", ""),
    (r"\dC+", ""),
    (r"\dD+", ""),
    (r"\do+", ""),
    (r"\dX", ""),
    (r"\dAc", ""),
    (r"\deu", ""),
    (r"\dS", ""),
    (r"\d pg_stat_activity", "query_start"),
    (r"\d information_schema.columns", "data_type"),
    (r"\sv traces", "CREATE OR REPLACE VIEW"),
    (r"\copy (SELECT 1, 'a b') TO STDOUT CSV", "1,a b"),
    ("SELECT version()", "PostgreSQL 16.0 (Groundline"),
    ("SHOW server_version", "16.0 (Groundline"),
    ("SELECT 'spans'::regclass::oid", "16"),
    ("SELECT obj_description('spans'::regclass)", "One row a span"),
    ("SELECT pg_size_pretty(10485760::bigint)", "10 MB"),
    ("SELECT '2026-11-23'::date, LOCALTIMESTAMP > '2020-01-01'", "| t"),
    (r#"SELECT '{"a":{"b":[1,"x"]}}'::text #>> '{a,b,1}'"#, "x"),
    (r#"SELECT '{"a":{"b":1}}'::text -> 'a' ->> 'b'"#, "1"),
    ("SELECT count(*) FROM spans", "count"),
    ("COPY (SELECT 1) TO '/tmp/groundline-no'", "read-only"),
    ("COPY (SELECT 1) TO PROGRAM 'cat'", "read-only"),
    ("COPY spans FROM STDIN", "read-only"),
    ("FETCH 1 FROM nope", "does not exist"),
    ("DECLARE c CURSOR FOR SELECT 1", "transaction"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn psql() {
    let (at, _shutdown) = port().await;
    if psql_says(at, &["SELECT 1"]).await.is_none() {
        return;
    }
    let said = [
        shows("metadata: backslash commands", commands(at)).await,
        shows("types: `\\gdesc`", described(at)).await,
        shows("large: `FETCH_COUNT`", in_parts(at)).await,
        shows("large: `\\copy`", copied(at)).await,
        shows("errors: SQLSTATE", refused(at)).await,
        shows("cancel: Ctrl-C", ends_in_time(at)).await,
    ];
    hold_aspects("psql", &said.concat());
}

async fn commands(at: SocketAddr) {
    for (command, part) in PSQL {
        let said = psql_says(at, &[command]).await.unwrap();
        let refused = *part == "read-only" || command.contains("nope") || command.starts_with("DECLARE");
        assert!(said.contains(part) && said.contains("ERROR") == refused, "{command}: {said}");
    }
    let commands = [
        "BEGIN",
        "DECLARE c CURSOR FOR SELECT value FROM generate_series(1, 9) ORDER BY 1",
        "FETCH 2 FROM c",
        "FETCH ALL FROM c",
        "CLOSE c",
        "COMMIT",
    ];
    let said = psql_says(at, &commands).await.unwrap();
    assert!(said.contains("(2 rows)") && said.contains("(7 rows)") && !said.contains("ERROR"), "{said}");
}

async fn described(at: SocketAddr) {
    let said =
        scripted(at, "SELECT name, start_time, duration_ns, finish_reasons FROM spans \\gdesc\n").await;
    for column in ["name | text", "start_time | timestamp with time zone", "duration_ns | bigint", "text[]"] {
        let plain: Vec<&str> = said.split_whitespace().collect();
        assert!(plain.join(" ").contains(column), "{column}: {said}");
    }
}

const SERIES: &str = "FROM generate_series(1, 100000) ORDER BY 1";

async fn in_parts(at: SocketAddr) {
    let script = format!("\\set FETCH_COUNT 1000\n\\pset format unaligned\n\\t on\nSELECT value {SERIES};\n");
    let said = scripted(at, &script).await;
    let numbers: Vec<u32> = said.lines().filter_map(|line| line.parse().ok()).collect();
    assert!(numbers.iter().copied().eq(1..=100_000), "{} numbers", numbers.len());
}

async fn copied(at: SocketAddr) {
    let said = scripted(at, &format!("\\copy (SELECT value {SERIES}) TO STDOUT\n")).await;
    assert_eq!(said.lines().filter(|line| line.parse::<u32>().is_ok()).count(), 100_000);
}

async fn refused(at: SocketAddr) {
    let said = scripted(at, "\\set VERBOSITY verbose\nSELECT nope FROM spans;\n").await;
    assert!(said.contains("42703"), "{said}");
}

/// What a busy machine takes for it, it does not take every time.
async fn ends_in_time(at: SocketAddr) {
    let mut taken = Vec::new();
    while taken.len() < 10 && taken.iter().all(|one| *one >= Duration::from_secs(1)) {
        taken.push(interrupted(at).await);
    }
    assert!(taken.iter().any(|one| *one < Duration::from_secs(1)), "cancelled after {taken:?}");
}

/// What psql says to a script on its standard input.
async fn scripted(at: SocketAddr, script: &str) -> String {
    let (mut psql, script) = (started(at), script.to_owned());
    psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = move || {
        let mut running = psql.spawn().unwrap();
        running.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        running.wait_with_output().unwrap()
    };
    told(&tokio::task::spawn_blocking(run).await.unwrap())
}

/// How long an endless query goes on after Ctrl-C.
async fn interrupted(at: SocketAddr) -> Duration {
    let mut psql = started(at);
    let endless = "SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b";
    psql.args(["-At", "-c", "SELECT 'begun'", "-c", endless]);
    psql.stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = move || {
        let mut running = psql.spawn().unwrap();
        let mut begun = [0; 5];
        running.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
        assert_eq!(&begun, b"begun");
        let first = Instant::now();
        // Until the query runs there is nothing to cancel, and psql takes the signal for nothing.
        while running.try_wait().unwrap().is_none() {
            let sent = Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
            assert!(sent.success() || running.try_wait().unwrap().is_some());
            std::thread::sleep(Duration::from_millis(50));
        }
        let taken = first.elapsed();
        let said = told(&running.wait_with_output().unwrap());
        assert!(said.contains("canceling statement due to user request"), "{said}");
        taken
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}
