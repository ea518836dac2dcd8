//! COPY and cursors of the PostgreSQL port: the limits, the tenant and the guard of every query.

use super::{fixture, isolation};
use crate::pg::Pg;
use groundline::net::{Access, TokenSet};
use groundline::sql::pg::{PgEndpoint, serve};
use groundline::sql::{Config, Sql};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

async fn login(sql: Arc<Sql>, access: Access, password: Option<&str>) -> Pg<TcpStream> {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let at = listener.local_addr().expect("an address");
    let endpoint = PgEndpoint { access, tls: None, allow_plain: false };
    tokio::spawn(serve(listener, sql, endpoint, CancellationToken::new()));
    Pg::login(TcpStream::connect(at).await.expect("connected"), password).await.expect("let in")
}

async fn limited(config: Config) -> Pg<TcpStream> {
    login(fixture::limited(config).await, Access::open("default"), None).await
}

#[tokio::test]
async fn copies_and_cursors_see_one_tenant() {
    let digest = hex::encode(Sha256::digest(b"secret"));
    let file = format!("[[tokens]]\nname = 'x'\nsha256 = '{digest}'\nroles = ['query']\ntenant = 'a'\n");
    let access = Access::tokens(TokenSet::parse(&file).expect("tokens"));
    let mut pg = login(isolation::sql().await, access, Some("secret")).await;
    for table in ["spans", "scores", "annotations", "log_records", "scores_latest"] {
        for options in ["", "CSV HEADER", "(FORMAT binary)"] {
            let told = pg.query(&format!("COPY {table} TO STDOUT {options}")).await;
            assert!(!told.contains(isolation::SECRET) && told.contains("plain"), "{table} {options}: {told}");
        }
        pg.query("BEGIN").await;
        assert_eq!(pg.query(&format!("DECLARE c CURSOR FOR SELECT * FROM {table}")).await, "");
        let told = pg.query("FETCH ALL FROM c").await;
        assert!(!told.contains(isolation::SECRET) && told.contains("plain"), "{table}: {told}");
        pg.query("COMMIT").await;
    }
    let told = pg.query("COPY (EXPLAIN SELECT 1) TO STDOUT").await;
    assert!(told.contains("ERROR"), "{told}");
}

#[tokio::test]
async fn copies_and_cursors_have_the_limits_of_queries() {
    let mut pg = limited(Config { max_rows: 1000, ..Config::default() }).await;
    for sql in ["COPY (SELECT * FROM generate_series(1, 2000)) TO STDOUT", "SELECT 1"] {
        let told = pg.query(sql).await;
        assert_eq!(told.contains("sql.max_rows"), sql.starts_with("COPY"), "{told}");
    }
    pg.query("BEGIN").await;
    pg.query("DECLARE c CURSOR FOR SELECT * FROM generate_series(1, 2000)").await;
    assert!(pg.query("FETCH ALL FROM c").await.contains("sql.max_rows"));
    assert!(pg.query("FETCH ALL FROM c").await.contains("25P02"), "the transaction has failed");
    pg.query("ROLLBACK").await;
    for sql in [
        "COPY spans TO '/tmp/groundline-no'",
        "COPY spans TO PROGRAM 'cat'",
        "COPY spans FROM STDIN",
        "COPY (DELETE FROM spans) TO STDOUT",
        "BEGIN; DECLARE c CURSOR FOR SELECT 1 INTO t",
    ] {
        let told = pg.query(sql).await;
        assert!(told.contains("ERROR"), "{sql}: {told}");
        pg.query("ROLLBACK").await;
    }
}

#[tokio::test]
async fn cursors_are_few_and_give_their_place_back() {
    let config = Config { max_concurrent: 1, timeout: Duration::from_secs(60), ..Config::default() };
    let mut pg = limited(config).await;
    pg.query("BEGIN").await;
    for number in 0..16 {
        assert_eq!(
            pg.query(&format!("DECLARE c{number} CURSOR FOR SELECT value FROM generate_series(1, 900000)"))
                .await,
            ""
        );
    }
    assert!(pg.query("DECLARE c16 CURSOR FOR SELECT 1").await.contains("53400"));
    pg.query("ROLLBACK").await;
    pg.query("BEGIN; DECLARE c CURSOR FOR SELECT value FROM generate_series(1, 900000)").await;
    assert_eq!(pg.query("FETCH 2 FROM c").await.lines().count(), 2);
    assert_eq!(pg.query("FETCH FORWARD 3 FROM c").await.lines().count(), 3);
    for (fetch, rows) in [("FETCH 2 c", 2), ("FETCH NEXT c", 1), ("FETCH FORWARD 3 c", 3), ("FETCH c", 1)] {
        assert_eq!(pg.query(fetch).await.lines().count(), rows, "{fetch}");
    }
    assert_eq!(pg.query("MOVE FORWARD 7 c").await, "");
    assert!(pg.query("FETCH FROM c").await.contains("20"), "2, 3, 7 and 7 rows were passed");
    // It has the only place.
    assert_eq!(pg.query("CLOSE c").await, "");
    assert!(pg.query("SELECT 'next'").await.contains("next"));
    assert_eq!(pg.query("DECLARE d CURSOR FOR SELECT value FROM generate_series(1, 900000)").await, "");
    assert!(pg.query("FETCH 1 FROM d").await.contains('1'));
    assert_eq!(pg.query("COMMIT").await, "");
    assert!(pg.query("SELECT 'after'").await.contains("after"));
    assert!(pg.query("FETCH 1 FROM d").await.contains("34000"));
}
