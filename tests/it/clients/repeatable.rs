//! A transaction reads one snapshot, and a request to cancel ends what is slow to end.

use crate::pg::Pg;
use crate::support::{config, count, send, span, start, until};
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_reads_one_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let addresses = app.addresses;
    let sent = async |number: u64| {
        assert!(send(addresses.otlp_http, vec![span(number, 1, vec![])]).await);
        let all = async || count(addresses.http, "SELECT count(*) FROM spans").await;
        until("a span", async || all().await == number as i64).await;
    };
    sent(1).await;
    let login = async || Pg::login(TcpStream::connect(addresses.pg).await.unwrap(), None).await.unwrap();
    let mut readers = Vec::new();
    for (begin, sees) in [
        ("BEGIN ISOLATION LEVEL REPEATABLE READ", "1"),
        ("BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY", "1"),
        ("BEGIN READ ONLY", "1"),
        ("BEGIN", "2"),
        ("SELECT 1", "2"),
    ] {
        let mut pg = login().await;
        pg.query(begin).await;
        assert_eq!(first(&mut pg).await, "1", "{begin}");
        readers.push((begin, sees, pg));
    }
    sent(2).await;
    for (begin, sees, pg) in &mut readers {
        assert_eq!(first(pg).await, *sees, "{begin}");
        // A cursor of the transaction reads the same snapshot.
        pg.query("DECLARE c CURSOR WITH HOLD FOR SELECT count(*)::text FROM spans").await;
        let fetched = pg.query("FETCH ALL FROM c").await;
        assert!(fetched.ends_with(*sees), "{begin}: {fetched}");
        pg.query("COMMIT").await;
        assert_eq!(first(pg).await, "2", "{begin}: the next transaction reads anew");
    }
    app.stop().await.unwrap();
}

async fn first(pg: &mut Pg<TcpStream>) -> String {
    let rows = pg.rows("SELECT count(*)::text FROM spans", &[]).await.unwrap();
    rows[0][0].clone().unwrap()
}
