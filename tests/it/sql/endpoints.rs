//! HTTP and the PostgreSQL wire protocol.

use super::fixture;
use crate::support::PATIENCE;
use arrow::ipc::reader::StreamReader;
use groundline::net::{Access, TokenSet};
use groundline::schema::columns::Table;
use groundline::sql::pg::{PgEndpoint, serve};
use groundline::sql::{Config, Sql, http};
use groundline::units::ByteSize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

async fn http_at(sql: Arc<Sql>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let at = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, http::router(sql, Access::open("default"))).await });
    format!("http://{at}/v1/sql")
}

async fn post(url: &str, accept: &str, body: String) -> (u16, String, Vec<u8>) {
    let request = reqwest::Client::new().post(url).header("accept", accept).body(body);
    let answer = request.send().await.expect("an answer");
    let kind = answer.headers()["content-type"].to_str().expect("text").to_owned();
    (answer.status().as_u16(), kind, answer.bytes().await.expect("a body").to_vec())
}

fn body(sql: &str) -> String {
    serde_json::json!({ "sql": sql }).to_string()
}

#[tokio::test]
async fn http_answers_in_every_format() {
    let url = http_at(fixture::sql().await).await;
    let select =
        "SELECT span_id, start_time, input_tokens, documents FROM spans ORDER BY start_time DESC LIMIT 3";
    let (status, kind, json) = post(&url, "*/*", body(select)).await;
    assert_eq!((status, kind.as_str()), (200, "application/json"));
    let rows: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(rows[0]["start_time"], "2026-01-01T03:00:00.123456789Z");
    assert_eq!(rows[0]["input_tokens"], 7);
    assert!(rows[0]["documents"].is_null());
    assert_eq!(rows[2]["documents"][0]["content"], "text \"one\"");
    let (status, _, csv) = post(&url, "text/csv", body("SELECT 1 AS a, [1, 2] AS b")).await;
    assert_eq!((status, String::from_utf8_lossy(&csv).as_ref()), (200, "a,b\n1,\"[1,2]\"\n"));
    let (status, kind, arrow) = post(&url, "application/vnd.apache.arrow.stream", body(select)).await;
    assert_eq!((status, kind.as_str()), (200, "application/vnd.apache.arrow.stream"));
    let reader = StreamReader::try_new(arrow.as_slice(), None).expect("a stream");
    assert_eq!(reader.map(|b| b.expect("a batch").num_rows()).sum::<usize>(), 3);
    let (status, _, parquet) = post(&url, "application/vnd.apache.parquet", body(select)).await;
    assert_eq!((status, &parquet[..4]), (200, b"PAR1".as_slice()));
    let (_, _, empty) = post(&url, "*/*", body("SELECT 1 AS a WHERE false")).await;
    assert_eq!(empty, b"[]");
}

#[tokio::test]
async fn http_answers_in_gzip_to_who_takes_it() {
    let url = http_at(fixture::sql().await).await;
    let client = reqwest::Client::new();
    let many = "SELECT value, 'a text' AS t FROM generate_series(1, 5000) ORDER BY value";
    for (accept, sql, is_gzip) in [
        ("application/json", many, true),
        ("text/csv", many, true),
        ("application/vnd.apache.arrow.stream", many, true),
        ("application/vnd.apache.parquet", many, false),
        ("application/json", "SELECT 1 AS a", false),
        ("application/json", "SELECT nope", false),
    ] {
        let (_, _, plain) = post(&url, accept, body(sql)).await;
        let request = client.post(&url).header("accept", accept).header("accept-encoding", "br, gzip;q=0.8");
        let answer = request.body(body(sql)).send().await.expect("an answer");
        let coding = answer.headers().get("content-encoding").map(|coding| coding.to_str().expect("text"));
        assert_eq!(coding, is_gzip.then_some("gzip"), "{accept}: {sql}");
        let sent = answer.bytes().await.expect("a body").to_vec();
        if is_gzip {
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(sent.as_slice()).read_to_end(&mut unpacked).expect("gzip");
            assert!(unpacked == plain && sent.len() * 2 < plain.len(), "{accept}: {} bytes", sent.len());
        } else {
            assert_eq!(sent.len(), plain.len(), "{accept}: {sql}");
        }
    }
}

#[tokio::test]
async fn http_errors_have_their_status() {
    let config = Config { max_rows: 10, max_sql_size: ByteSize::new(1000), ..Config::default() };
    let url = http_at(fixture::limited(config).await).await;
    for (accept, body, status, part) in [
        ("*/*", body("SELECT nope FROM spans"), 400, "spans.trace_id"),
        ("*/*", body("DROP TABLE spans"), 400, "read-only"),
        ("*/*", body("SELECT 9223372036854775807 * 2"), 400, "bigint out of range"),
        ("*/*", body("SELECT 'a' 'b'"), 400, "syntax error at or near"),
        ("*/*", "{".to_owned(), 400, "the body must be"),
        ("*/*", r#"{"text": "SELECT 1"}"#.to_owned(), 400, "unknown field"),
        ("*/*", r#"{"sql": "SELECT 1", "query": "SELECT 1"}"#.to_owned(), 400, "duplicate field"),
        ("image/png", body("SELECT 1"), 406, "text/csv"),
        ("*/*", body("SELECT * FROM generate_series(1, 11)"), 422, "sql.max_rows"),
        ("*/*", body(&format!("SELECT '{}'", "x".repeat(1000))), 422, "sql.max_sql_size"),
        ("*/*", " ".repeat(1 << 20), 413, ""),
    ] {
        let (got, _, text) = post(&url, accept, body.clone()).await;
        let text = String::from_utf8_lossy(&text);
        assert_eq!(got, status, "{text}");
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Every cell of every table and view is the same by rows and by columns, but for integers that a browser would round.
#[tokio::test]
async fn http_answers_by_columns() {
    let url = http_at(fixture::sql().await).await;
    let views =
        ["scores_latest", "traces", "quality_hourly", "evaluator_quality", "evaluation_hourly", "queue"];
    let mut cells = 0;
    for table in Table::ALL.map(Table::name).into_iter().chain(views).chain(["table_columns"]) {
        let select = body(&format!("SELECT * FROM {table}"));
        let (status, kind, columns) = post(&url, "application/json; shape=columns", select.clone()).await;
        let columns: Value = serde_json::from_slice(&columns).expect("JSON");
        assert_eq!((status, kind.as_str()), (200, "application/json; shape=columns"), "{table}: {columns}");
        let (_, _, rows) = post(&url, "application/json", select).await;
        let rows: Vec<Value> = serde_json::from_slice(&rows).expect("JSON");
        assert_eq!(columns["rows"], rows.len(), "{table}");
        let names = columns["columns"].as_array().expect("columns");
        assert!(
            names.iter().all(|n| n["type"].as_str().is_some_and(|t| !t.contains('('))
                || n["type"].as_str().is_some_and(|t| t.contains("struct("))),
            "{table}: {names:?}"
        );
        let by_columns = (0..rows.len()).map(|row| {
            let cell = |at: usize| columns["data"][at][row].clone();
            let cells =
                names.iter().enumerate().map(|(at, n)| (n["name"].as_str().unwrap().to_owned(), cell(at)));
            Value::Object(cells.collect())
        });
        let texts = |rows: Vec<Value>| {
            let mut texts: Vec<String> = rows.iter().map(Value::to_string).collect();
            texts.sort();
            texts
        };
        let mut by_columns: Vec<Value> = by_columns.collect();
        let mut rows = rows;
        for cell in rows.iter_mut().flat_map(|row| row.as_object_mut().unwrap().values_mut()) {
            if cell.as_i64().is_some_and(|n| n.unsigned_abs() >= 1 << 53) {
                *cell = Value::from(cell.to_string());
            }
            cells += 1;
        }
        by_columns.iter_mut().chain(&mut rows).for_each(plain_numbers);
        assert_eq!(texts(by_columns), texts(rows), "{table}");
    }
    assert!(cells > 500, "only {cells} cells: the rows were not read");
    let odd = "SELECT 'NaN'::double AS a, '-Infinity'::double AS b, 1 AS n, 2 AS m, NULL AS x, '2026-01-01'::date AS d";
    let (_, _, odd) = post(&url, "application/json; shape=columns", body(odd)).await;
    let mut odd: Value = serde_json::from_slice(&odd).expect("JSON");
    assert!(odd.as_object_mut().unwrap().remove("elapsed_ms").is_some_and(|ms| ms.is_u64()));
    let column = |name: &str, kind: &str| serde_json::json!({"name": name, "type": kind});
    let columns =
        [("a", "double"), ("b", "double"), ("n", "bigint"), ("m", "bigint"), ("x", "null"), ("d", "date")]
            .map(|(name, kind)| column(name, kind));
    let data = serde_json::json!([["NaN"], ["-Infinity"], [1], [2], [null], ["2026-01-01"]]);
    assert_eq!(odd, serde_json::json!({"columns": columns, "data": data, "rows": 1, "final_until": null}));
}

/// `1.0` and `1` are one number to a browser. A sum over partitions has no order: its last digits may differ.
fn plain_numbers(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(plain_numbers),
        Value::Object(values) => values.values_mut().for_each(plain_numbers),
        Value::Number(number) => *value = Value::from(number.as_f64().map(|number| format!("{number:.12e}"))),
        _ => {}
    }
}

#[tokio::test]
async fn http_cuts_at_the_limit_of_the_request() {
    let url = http_at(fixture::sql().await).await;
    let ask = async |limit: u64| {
        let sent = serde_json::json!({"query": "SELECT * FROM generate_series(1, 20000)", "limit": limit});
        let (status, _, answer) = post(&url, "application/json; shape=columns", sent.to_string()).await;
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        assert_eq!(status, 200, "{answer}");
        (answer["rows"].clone(), answer.get("limit").cloned())
    };
    assert_eq!(ask(10).await, (Value::from(10), Some(Value::from(10))));
    assert_eq!(ask(20_000).await, (Value::from(20_000), None));
    assert_eq!(ask(10_000).await, (Value::from(10_000), Some(Value::from(10_000))));
    let (_, _, csv) = post(&url, "text/csv", r#"{"query": "VALUES (1), (2)", "limit": 1}"#.to_owned()).await;
    assert_eq!(String::from_utf8_lossy(&csv).lines().count(), 2, "a header and one row");
    let (status, ..) = post(&url, "*/*", r#"{"query": "SELECT 1", "limit": 0}"#.to_owned()).await;
    assert_eq!(status, 400);
}

/// Just enough of the protocol to send texts and read what comes back.
struct Pg(TcpStream);

impl Pg {
    async fn connect(at: SocketAddr, password: Option<&str>) -> (Self, Vec<(u8, Vec<u8>)>) {
        let mut pg = Pg(TcpStream::connect(at).await.expect("connected"));
        let mut startup = 196_608i32.to_be_bytes().to_vec();
        startup.extend_from_slice(b"user\0me\0database\0groundline\0\0");
        pg.0.write_i32(startup.len() as i32 + 4).await.expect("written");
        pg.0.write_all(&startup).await.expect("written");
        if let Some(password) = password {
            let (kind, _) = pg.message().await.expect("a request for a password");
            assert_eq!(kind, b'R');
            pg.send(b'p', format!("{password}\0").as_bytes()).await;
        }
        let hello = pg.until_ready().await;
        (pg, hello)
    }

    async fn send(&mut self, kind: u8, body: &[u8]) {
        self.0.write_u8(kind).await.expect("written");
        self.0.write_i32(body.len() as i32 + 4).await.expect("written");
        self.0.write_all(body).await.expect("written");
    }

    async fn message(&mut self) -> Option<(u8, Vec<u8>)> {
        let kind = self.0.read_u8().await.ok()?;
        let len = self.0.read_i32().await.ok()?;
        let mut body = vec![0; len as usize - 4];
        self.0.read_exact(&mut body).await.ok()?;
        Some((kind, body))
    }

    /// Everything up to ReadyForQuery, or up to the end of the connection.
    async fn until_ready(&mut self) -> Vec<(u8, Vec<u8>)> {
        let mut all = Vec::new();
        while let Some(message) = self.message().await {
            let ready = message.0 == b'Z';
            all.push(message);
            if ready {
                break;
            }
        }
        all
    }

    async fn query(&mut self, sql: &str) -> String {
        self.send(b'Q', format!("{sql}\0").as_bytes()).await;
        text(&self.until_ready().await)
    }

    /// What the server says that a statement has done.
    async fn tag(&mut self, sql: &str) -> String {
        self.send(b'Q', format!("{sql}\0").as_bytes()).await;
        let told = self.until_ready().await;
        let done = told.iter().find(|m| m.0 == b'C').expect(sql);
        String::from_utf8_lossy(&done.1).trim_end_matches('\0').to_owned()
    }

    async fn parse(&mut self, statement: &str, sql: &str) {
        self.send(b'P', format!("{statement}\0{sql}\0\0\0").as_bytes()).await;
    }

    async fn bind(&mut self, portal: &str, statement: &str) {
        self.send(b'B', format!("{portal}\0{statement}\0\0\0\0\0\0\0").as_bytes()).await;
    }

    async fn execute(&mut self, portal: &str, max_rows: i32) {
        let mut body = format!("{portal}\0").into_bytes();
        body.extend_from_slice(&max_rows.to_be_bytes());
        self.send(b'E', &body).await;
    }

    async fn sync(&mut self) -> Vec<(u8, Vec<u8>)> {
        self.send(b'S', b"").await;
        self.until_ready().await
    }
}

/// The password `secret` lets in.
fn one_token() -> Access {
    let digest = hex::encode(Sha256::digest(b"secret"));
    let file = format!("[[tokens]]\nname = 'x'\nsha256 = '{digest}'\nroles = ['admin']\n");
    Access::tokens(TokenSet::parse(&file).expect("tokens"))
}

/// A client that has been asked for its password and has not said it.
async fn asked_for_a_password(at: SocketAddr) -> Pg {
    let mut pg = Pg(TcpStream::connect(at).await.expect("connected"));
    let mut startup = 196_608i32.to_be_bytes().to_vec();
    startup.extend_from_slice(b"user\0me\0\0");
    pg.0.write_i32(startup.len() as i32 + 4).await.expect("written");
    pg.0.write_all(&startup).await.expect("written");
    assert_eq!(pg.message().await.map(|m| m.0), Some(b'R'));
    pg
}

/// The kinds of messages, one letter each.
fn kinds(messages: &[(u8, Vec<u8>)]) -> String {
    messages.iter().map(|m| char::from(m.0)).collect()
}

/// How many rows came, and the error after them.
fn rows_and_error(messages: &[(u8, Vec<u8>)]) -> (usize, String) {
    let rows = messages.iter().filter(|m| m.0 == b'D').count();
    let error = messages.iter().find(|m| m.0 == b'E');
    (rows, error.map(|m| String::from_utf8_lossy(&m.1).into_owned()).unwrap_or_default())
}

/// Rows and errors as one text.
fn text(messages: &[(u8, Vec<u8>)]) -> String {
    let told = messages.iter().filter(|m| matches!(m.0, b'D' | b'E'));
    told.map(|m| String::from_utf8_lossy(&m.1).into_owned()).collect::<Vec<_>>().join("\n")
}

async fn pg_at(
    sql: Arc<Sql>,
    access: Access,
) -> (SocketAddr, CancellationToken, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let at = listener.local_addr().expect("an address");
    let shutdown = CancellationToken::new();
    let endpoint = PgEndpoint { access, tls: None, allow_plain: false };
    let served = tokio::spawn(serve(listener, sql, endpoint, shutdown.clone()));
    (at, shutdown, served)
}

/// As asyncpg's `forward` asks: of a portal that was bound, in a simple query.
#[tokio::test]
async fn rows_of_a_portal_are_passed_over() {
    let (at, ..) = pg_at(fixture::sql().await, Access::open("default")).await;
    let (mut pg, _) = Pg::connect(at, None).await;
    pg.query("BEGIN").await;
    pg.parse("s", "SELECT value + 100 FROM generate_series(1, 20) ORDER BY value").await;
    pg.bind("p", "s").await;
    pg.sync().await;
    assert_eq!(pg.tag("MOVE FORWARD 10 p").await, "MOVE 10");
    pg.execute("p", 1).await;
    assert!(text(&pg.sync().await).contains("111"));
    for (sql, tag) in [("MOVE 4 IN p", "MOVE 4"), ("MOVE ALL p", "MOVE 5"), ("MOVE 1 p", "MOVE 0")] {
        assert_eq!(pg.tag(sql).await, tag);
    }
    assert!(pg.query("MOVE 1 nope").await.contains("34000"));
}

#[tokio::test]
async fn postgres_answers_with_the_same_limits() {
    let config = Config { max_rows: 1000, timeout: Duration::from_secs(8), ..Config::default() };
    let (at, shutdown, served) = pg_at(fixture::limited(config).await, Access::open("default")).await;
    let (mut pg, _) = Pg::connect(at, None).await;
    assert!(pg.query("SELECT name FROM spans WHERE span_id = 'b000000000000001'").await.contains("agent"));
    let rate = pg.query("SELECT quality_rate(passed, inclusion_probability) FROM scores").await;
    assert!(rate.contains(r#"{"estimate":0.375,"#), "{rate}");
    let lower =
        pg.query("SELECT quality_rate(passed, inclusion_probability, 0.9)['lower'] FROM scores").await;
    assert!(lower.contains("0.0883") && !lower.contains("estimate"), "{lower}");
    let median = pg.query("SELECT quality_quantile(value, 0.5, 1)['estimate'] FROM scores").await;
    assert!(median.contains("0.8"), "{median}");
    assert!(
        pg.query("SELECT finish_reasons FROM spans WHERE finish_reasons IS NOT NULL")
            .await
            .contains("{stop}")
    );
    for (statement, part) in [
        ("SELECT nope FROM spans", "spans.trace_id"),
        ("CREATE TABLE x (a int)", "read-only"),
        ("COPY spans TO '/tmp/x'", "read-only"),
        ("SET datafusion.execution.batch_size = 1", "refused"),
        ("DECLARE c CURSOR FOR SELECT 1", "transaction blocks"),
        ("SELECT * FROM generate_series(1, 2000)", "sql.max_rows"),
        ("SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b", "sql.timeout"),
    ] {
        let told = pg.query(statement).await;
        assert!(told.contains(part), "{statement}: {told}");
    }
    let began = std::time::Instant::now();
    pg.query("SET statement_timeout = '200ms'").await;
    let endless = "SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b";
    assert!(pg.query(endless).await.contains("200ms (sql.timeout)"));
    assert!(began.elapsed() < Duration::from_secs(8), "its own limit is the shorter one");
    shutdown.cancel();
    served.await.expect("ended");
    assert!(pg.message().await.is_none(), "connections are closed");
}

#[tokio::test]
async fn postgres_asks_for_a_token() {
    let (at, _, _) = pg_at(fixture::sql().await, one_token()).await;
    let (mut pg, _) = Pg::connect(at, Some("secret")).await;
    assert!(pg.query("SELECT 'let in'").await.contains("let in"));
    let (_, told) = Pg::connect(at, Some("wrong")).await;
    assert!(text(&told).contains("28P01"), "{}", text(&told));
    // A query instead of a password is not answered.
    let mut rude = asked_for_a_password(at).await;
    rude.send(b'Q', b"SELECT 'leak'\0").await;
    let more = tokio::time::timeout(std::time::Duration::from_millis(500), rude.message()).await;
    assert!(!matches!(more, Ok(Some((b'D' | b'T', _)))), "{more:?}");
}

#[tokio::test]
async fn postgres_connections_are_capped() {
    let config = Config { max_connections: 2, ..Config::default() };
    let (at, _, _) = pg_at(fixture::limited(config).await, Access::open("default")).await;
    let (first, _) = Pg::connect(at, None).await;
    let (_second, _) = Pg::connect(at, None).await;
    let (_, told) = Pg::connect(at, None).await;
    assert!(text(&told).contains("53300"), "{}", text(&told));
    drop(first);
    let began = std::time::Instant::now();
    let mut third = loop {
        // The server sees a moment later that it is gone.
        match Pg::connect(at, None).await {
            (third, told) if kinds(&told).starts_with('R') => break third,
            _ => assert!(began.elapsed() < PATIENCE, "no place came back"),
        }
    };
    assert!(third.query("SELECT 42").await.contains("42"));
}

#[tokio::test]
async fn postgres_sends_rows_as_they_come() {
    let config = Config { max_rows: 10_000, ..Config::default() };
    let (at, _, _) = pg_at(fixture::limited(config).await, Access::open("default")).await;
    let (mut pg, _) = Pg::connect(at, None).await;
    pg.parse("", "SELECT value FROM generate_series(1, 20000)").await;
    pg.bind("", "").await;
    pg.execute("", 0).await;
    let (rows, error) = rows_and_error(&pg.sync().await);
    assert!(rows > 0, "the first rows do not wait for the last");
    assert!(error.contains("sql.max_rows"), "{error}");
    // In pages, as long as the transaction lasts.
    pg.query("BEGIN").await;
    pg.parse("s", "SELECT value FROM generate_series(1, 12)").await;
    pg.bind("p", "s").await;
    pg.execute("p", 5).await;
    assert_eq!(kinds(&pg.sync().await), "12DDDDDsZ");
    for (max_rows, told) in [(5, "DDDDDsZ"), (0, "DDCZ"), (0, "CZ")] {
        pg.execute("p", max_rows).await;
        assert_eq!(kinds(&pg.sync().await), told);
    }
    pg.query("COMMIT").await;
    pg.execute("p", 5).await;
    assert_eq!(kinds(&pg.sync().await), "EZ", "the portal is gone");
}

#[tokio::test]
async fn postgres_frees_the_place_of_a_slow_reader() {
    // Time enough for the first rows on a busy machine.
    let timeout = Duration::from_secs(3);
    let sql = fixture::limited(Config { timeout, max_concurrent: 1, ..Config::default() }).await;
    let (at, _, _) = pg_at(sql.clone(), Access::open("default")).await;
    let (mut pg, _) = Pg::connect(at, None).await;
    pg.parse("", "SELECT value, repeat('x', 1000) FROM generate_series(1, 900000)").await;
    pg.bind("", "").await;
    pg.execute("", 0).await;
    tokio::time::sleep(timeout + Duration::from_millis(200)).await;
    let other = tokio::time::timeout(PATIENCE, sql.collect("SELECT 1")).await;
    assert!(matches!(other, Ok(Ok(_))), "{other:?}");
    let (rows, error) = rows_and_error(&pg.sync().await);
    assert!(rows > 0 && rows < 900_000, "{rows}");
    assert!(error.contains("sql.timeout"), "{error}");
}

#[tokio::test]
async fn postgres_keeps_a_bounded_number_of_names() {
    let (at, _, _) = pg_at(fixture::sql().await, Access::open("default")).await;
    let (mut pg, _) = Pg::connect(at, None).await;
    for number in 0..2_048 {
        pg.parse(&format!("s{number}"), "").await;
    }
    assert_eq!(kinds(&pg.sync().await), "1".repeat(2_048) + "Z");
    pg.parse("more", "").await;
    assert!(text(&pg.sync().await).contains("53400"));
    pg.parse("s0", "SELECT 1").await;
    pg.parse("", "SELECT 1").await;
    pg.send(b'C', b"Ss1\0").await;
    pg.parse("more", "").await;
    assert_eq!(kinds(&pg.sync().await), "1131Z");
    assert_eq!(pg.query("DEALLOCATE ALL").await, "");
    pg.parse("s1", "").await;
    assert_eq!(kinds(&pg.sync().await), "1Z");
}

#[tokio::test]
async fn postgres_takes_long_messages_only_after_the_login() {
    let (at, _, _) = pg_at(fixture::sql().await, one_token()).await;
    let (mut pg, _) = Pg::connect(at, Some("secret")).await;
    assert!(pg.query(&format!("SELECT 41 + 1 -- {}", "x".repeat(100_000))).await.contains("42"));
    assert!(pg.query(&"x".repeat(2 << 20)).await.contains("sql.max_sql_size"));
    assert!(pg.query("SELECT 'still here'").await.contains("still here"));
    let mut rude = asked_for_a_password(at).await;
    rude.0.write_u8(b'Q').await.expect("written");
    rude.0.write_i32(1 << 29).await.expect("written");
    let part = vec![b'x'; 1 << 16];
    let mut taken = 0;
    while taken < 64 << 20 && rude.0.write_all(&part).await.is_ok() {
        taken += part.len();
    }
    assert!(taken < 64 << 20, "the connection is closed");
}
