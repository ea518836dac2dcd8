//! Hostile queries: each ends in an error within the time limit, nothing is written, no file is read.

use super::fixture;
use crate::support::PATIENCE;
use futures::{StreamExt, TryStreamExt};
use groundline::sql::{Config, Format, Sql, SqlError, encode};
use groundline::units::ByteSize;
use std::time::{Duration, Instant};

fn small() -> Config {
    Config {
        timeout: Duration::from_secs(3),
        max_memory: ByteSize::mib(64),
        max_rows: 1000,
        ..Config::default()
    }
}

/// How much longer than the limit an answer may take on a busy machine.
const GRACE: Duration = Duration::from_secs(3);
/// Rounds of which one must be in time: what a busy machine takes for an answer, it does not take every time. What does not end at
/// its limit, ends late in every round.
const ROUNDS: usize = 4;

/// Whether another round is needed: none was in `limit` and the grace.
fn is_late(rounds: &[Duration], limit: Duration) -> bool {
    rounds.iter().all(|took| *took >= limit + GRACE)
}

/// How long a statement takes to fail.
async fn fails(sql: &Sql, statement: &str) -> Duration {
    let began = Instant::now();
    let result = sql.collect(statement).await;
    let took = began.elapsed();
    let why = result.as_ref().err().map(|e| first(&e.to_string()));
    println!("{:>6} ms  {statement:.120}: {why:?}", took.as_millis());
    assert!(result.is_err(), "{statement:.120} must fail");
    took
}

/// Paths that look at each with each, that go down in every way, that are deep, or whose expressions are large.
fn of_paths() -> [String; 4] {
    [
        "SELECT jsonb_path_exists(concat('[', repeat('1,', 5000), value, ']'), 'strict $[*] ? ($[*] > @)') FROM generate_series(1, 3)"
            .to_owned(),
        format!("SELECT jsonb_path_query_array(concat(repeat('[', 100), value, repeat(']', 100)), '${}') FROM generate_series(1, 3)", ".**".repeat(9)),
        format!("SELECT jsonb_path_exists('1', '{}1{}')", "(".repeat(6000), ")".repeat(6000)),
        r#"SELECT jsonb_path_exists('"a"', '$ like_regex "(\\w{900}){900}"')"#.to_owned(),
    ]
}

#[tokio::test]
async fn each_ends_in_an_error_within_the_timeout() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(at("secret.csv"), "a,b\n1,2\n").expect("written");
    let sql = fixture::limited(small()).await;
    let cross =
        "FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b, generate_series(1, 9000000) c";
    let statements = [
        format!("SELECT count(*) {cross} WHERE a.value + b.value + c.value = 7"),
        format!("SELECT * {cross}"),
        format!("SELECT sum(a.value * b.value) {cross}"),
        "SELECT * FROM generate_series(1, 1000000000000)".to_owned(),
        "SELECT * FROM range(1, 1000000000000)".to_owned(),
        "SELECT range(1, 1000000000000)".to_owned(),
        "SELECT generate_series(1, 1000000000)".to_owned(),
        "SELECT unnest(range(0, 5000000)) AS n".to_owned(),
        "SELECT repeat('x', 2000000000)".to_owned(),
        "SELECT lpad('x', 2000000000)".to_owned(),
        "SELECT array_repeat(1, 2000000000)".to_owned(),
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT * FROM t".to_owned(),
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t".to_owned(),
        "SELECT * FROM (SELECT a.value AS n, repeat('x', 1000) AS s FROM generate_series(1, 9000000) a) ORDER BY s, n"
            .to_owned(),
        "SELECT array_agg(repeat('x', 1000)) FROM generate_series(1, 9000000)".to_owned(),
        format!("COPY (SELECT 1) TO '{}'", at("out.csv")),
        format!("COPY spans TO '{}'", at("out.parquet")),
        format!("CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '{}'", at("secret.csv")),
        "CREATE TABLE x AS SELECT 1".to_owned(),
        "SELECT * INTO x FROM spans".to_owned(),
        "CREATE VIEW x AS SELECT 1".to_owned(),
        "CREATE SCHEMA x".to_owned(),
        "INSERT INTO spans SELECT * FROM spans".to_owned(),
        "DELETE FROM spans".to_owned(),
        "UPDATE spans SET name = 'x'".to_owned(),
        "TRUNCATE TABLE spans".to_owned(),
        "DROP TABLE spans".to_owned(),
        "EXPLAIN ANALYZE INSERT INTO spans SELECT * FROM spans".to_owned(),
        "SET datafusion.execution.target_partitions = 1000".to_owned(),
        "SELECT 1; SELECT 2".to_owned(),
        format!("SELECT * FROM '{}'", at("secret.csv")),
        format!("SELECT * FROM \"{}\"", at("secret.csv")),
        format!("SELECT * FROM \"file://{}\"", at("secret.csv")),
        "SELECT * FROM 'groundline-lake://spans/old.parquet'".to_owned(),
        format!("SELECT * FROM read_csv('{}')", at("secret.csv")),
        format!("SELECT * FROM parquet_metadata('{}')", at("secret.csv")),
        format!("SELECT pg_read_file('{}')", at("secret.csv")),
        format!("SELECT {}1", "-".repeat(50_001).replace("--", "- -")),
        format!("SELECT 1{}", " + 1".repeat(100_000)),
        format!("SELECT 1{}", " NOTNULL".repeat(100_000)),
        format!("{}SELECT 1", "EXPLAIN ".repeat(100_000)),
        // Constants that are worked out once and copied into every row.
        "SELECT arrow_cast(repeat('x', 16000000), 'LargeUtf8') FROM generate_series(1, 900)".to_owned(),
        "SELECT repeat('x', 200000), value FROM generate_series(1, 900)".to_owned(),
        "SELECT levenshtein(repeat('x', 16000000), repeat('y', 16000000))".to_owned(),
    ];
    for statement in statements.iter().chain(&of_paths()) {
        let mut rounds = Vec::new();
        while rounds.len() < ROUNDS && is_late(&rounds, small().timeout) {
            rounds.push(fails(&sql, statement).await);
        }
        assert!(!is_late(&rounds, small().timeout), "{statement:.120} took {rounds:?}");
    }
    let left: Vec<_> = std::fs::read_dir(dir.path()).expect("folder").collect();
    assert_eq!(left.len(), 1, "nothing is written");
    let alive = sql.collect("SELECT count(*) FROM spans").await;
    assert!(alive.is_ok(), "the engine still answers: {alive:?}");
}

#[tokio::test]
async fn nothing_keeps_a_query_thread() {
    let config = Config { timeout: Duration::from_millis(700), target_partitions: 1, ..Config::default() };
    let sql = fixture::limited(config).await;
    let chain = |n: usize, part: &dyn Fn(usize) -> String| (1..=n).map(part).collect::<String>();
    let statements = [
        // Joins whose rows are all filtered out again, so that no batch ever comes out.
        "SELECT count(*) FROM generate_series(1, 900000) a, generate_series(1, 900000) b WHERE a.value + b.value < 0"
            .to_owned(),
        "SELECT count(*) FROM generate_series(1, 900000) a JOIN generate_series(1, 900000) b \
         ON a.value < b.value AND a.value > b.value"
            .to_owned(),
        "SELECT count(*) FROM (SELECT value % 1 AS k, value AS v FROM generate_series(1, 900000)) a \
         JOIN (SELECT value % 1 AS k, value AS v FROM generate_series(1, 900000)) b ON a.k = b.k AND a.v + b.v < 0"
            .to_owned(),
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t".to_owned(),
        // Plans and texts that double with each step.
        format!(
            "WITH a0 AS (SELECT 1 x){} SELECT * FROM a30",
            chain(30, &|i| format!(", a{i} AS (SELECT l.x FROM a{} l, a{} r)", i - 1, i - 1))
        ),
        format!(
            "WITH a0 AS (SELECT name x FROM spans){} SELECT * FROM a40",
            chain(40, &|i| format!(", a{i} AS (SELECT x || x AS x FROM a{})", i - 1))
        ),
        "SELECT levenshtein(repeat('x', 1000000), repeat('y', 1000000))".to_owned(),
        // Regular expressions that a text is in thousands of places of, and that read it to its end for each match.
        "SELECT repeat('a', 1000000) ~ '([ab]{100}){100}c'".to_owned(),
        "SELECT count(*) FROM generate_series(1, 900000) WHERE repeat('ab', 20 + value % 9) ~* '([ab]{100}){100}c'"
            .to_owned(),
        "SELECT sum(regexp_count(repeat('A', 300000 + value), '.*[^A-Z]|[A-Z]')) FROM generate_series(1, 40)"
            .to_owned(),
        // Trees deeper than a stack.
        format!("SELECT 1{}", " + 1".repeat(100_000)),
        format!("SELECT * FROM spans{}", chain(1000, &|i| format!(" CROSS JOIN spans s{i}"))),
        format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(10_000)),
    ];
    for statement in &statements {
        let short: String = statement.chars().take(100).collect();
        assert!(sql.collect(statement).await.is_err(), "{short} must fail");
        let began = Instant::now();
        while sql.collect("SELECT 1").await.is_err() {
            // A kept thread is kept for ever; a machine that is busy with more takes its time.
            assert!(began.elapsed() < Duration::from_secs(120), "{short} keeps the only thread");
        }
    }
}

fn first(text: &str) -> String {
    text.chars().take(100).collect()
}

#[tokio::test]
async fn limits_name_their_keys() {
    // Each limit by itself: on a busy machine another one may be reached first.
    let few = Config { max_rows: 10, timeout: Duration::from_secs(300), ..Config::default() };
    let soon = Config { timeout: Duration::from_millis(500), ..Config::default() };
    let cramped =
        Config { max_memory: ByteSize::mib(16), timeout: Duration::from_secs(300), ..Config::default() };
    let clusters = "quality_rate(true, 1, CAST(value AS TEXT))['n']";
    for (config, statement, key) in [
        (&few, "SELECT * FROM generate_series(1, 11)".to_owned(), "sql.max_rows"),
        (&few, format!("SELECT '{}'", "x".repeat(2 << 20)), "sql.max_sql_size"),
        (&soon, ENDLESS.to_owned(), "sql.timeout"),
        // What an aggregate keeps of each cluster counts.
        (&cramped, format!("SELECT {clusters} FROM generate_series(1, 1000000)"), "sql.max_memory"),
    ] {
        match fixture::limited(config.clone()).await.collect(&statement).await {
            Err(SqlError::Limit(why)) => assert!(why.contains(key), "{why}"),
            other => panic!("{key}: {other:?}"),
        }
    }
    let tight = fixture::limited(Config { max_result_size: ByteSize::new(1000), ..Config::default() }).await;
    match tight.collect("SELECT value, repeat('x', 100) FROM generate_series(1, 100)").await {
        Err(SqlError::Limit(why)) => assert!(why.contains("sql.max_result_size"), "{why}"),
        other => panic!("{other:?}"),
    }
    // Texts behind views count like others.
    let views = fixture::limited(Config { max_result_size: ByteSize::new(3000), ..Config::default() }).await;
    let text = "arrow_cast(concat(repeat('x', 100), value), 'Utf8View')";
    match views.collect(&format!("SELECT {text} FROM generate_series(1, 100)")).await {
        Err(SqlError::Limit(why)) => assert!(why.contains("sql.max_result_size"), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// The names of columns are in no limit of the result's values.
#[tokio::test]
async fn an_encoded_result_is_bounded() {
    let sql = fixture::limited(Config::default()).await;
    let name = "n".repeat(1000);
    let asked = format!("SELECT value AS \"{name}\" FROM generate_series(1, 1000)");
    let (schema, batches) = sql.collect(&asked).await.expect("rows");
    for format in [Format::Json, Format::Csv, Format::Arrow, Format::Parquet] {
        assert!(encode(format, &schema, &batches, 2 << 20).is_ok(), "{format:?}");
        match encode(format, &schema, &batches, 500) {
            Err(SqlError::Limit(why)) => assert!(why.contains("sql.max_result_size"), "{why}"),
            other => panic!("{format:?}: {:?}", other.map(|bytes| bytes.len())),
        }
    }
    assert!(matches!(encode(Format::Json, &schema, &batches, 500_000), Err(SqlError::Limit(_))));
}

const ENDLESS: &str = "SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b";

#[tokio::test]
async fn fifty_at_once_end_busy_or_at_a_limit() {
    // All fifty are there before the first ones end, on a busy machine too.
    let timeout = Duration::from_secs(4);
    let sql = fixture::limited(Config { timeout, max_concurrent: 4, ..Config::default() }).await;
    let mut rounds = Vec::new();
    while rounds.len() < ROUNDS && is_late(&rounds, timeout) {
        let began = Instant::now();
        let all = futures::future::join_all((0..50).map(|_| sql.collect(ENDLESS))).await;
        rounds.push(began.elapsed());
        let busy = all.iter().filter(|r| matches!(r, Err(SqlError::Busy))).count();
        let limit = all.iter().filter(|r| matches!(r, Err(SqlError::Limit(_)))).count();
        assert_eq!(busy + limit, 50);
        assert!(busy >= 30, "4 run and 16 wait, so 30 are turned away at once: {busy}");
    }
    assert!(!is_late(&rounds, timeout), "{rounds:?}");
    let after = tokio::time::timeout(PATIENCE, sql.collect("SELECT 1")).await.expect("in time");
    assert!(after.is_ok(), "permits came back: {after:?}");
}

#[tokio::test]
async fn a_dropped_stream_frees_its_place() {
    // A place that is kept is kept for longer than anybody waits here.
    let config = Config { max_concurrent: 1, timeout: 2 * PATIENCE, ..Config::default() };
    let sql = fixture::limited(config).await;
    for _ in 0..3 {
        let mut rows = sql.query("SELECT a.value FROM generate_series(1, 9000000) a").await.expect("begun");
        assert!(rows.next().await.expect("a batch").is_ok());
        drop(rows);
    }
    let answer = tokio::time::timeout(PATIENCE, sql.collect("SELECT 1")).await.expect("in time");
    assert!(answer.is_ok(), "{answer:?}");
}

#[tokio::test]
async fn a_slow_reader_sees_the_timeout() {
    // Time enough for a first batch on a busy machine.
    let timeout = Duration::from_secs(3);
    let sql = fixture::limited(Config { timeout, max_concurrent: 1, ..Config::default() }).await;
    let mut rows = sql.query("SELECT a.value FROM generate_series(1, 900000) a").await.expect("begun");
    assert!(rows.next().await.expect("a batch").is_ok());
    tokio::time::sleep(timeout + Duration::from_millis(200)).await;
    let other = tokio::time::timeout(PATIENCE, sql.collect("SELECT 1")).await.expect("in time");
    assert!(other.is_ok(), "a reader that sleeps keeps no place behind the limit: {other:?}");
    let rest: Result<Vec<_>, _> = rows.try_collect().await;
    assert!(matches!(rest, Err(SqlError::Limit(_))), "{:?}", rest.map(|b| b.len()));
}
