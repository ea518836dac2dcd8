//! What a long result takes of the server, however the client reads it: a few batches, not the rows.

use crate::failures::server::{Server, Settings};
use ::tokio_postgres::{Client, NoTls, connect};
use futures::{StreamExt, TryStreamExt};
use std::path::Path;

/// 200,000 rows of more than a kilobyte: 200 MB, of which nobody must hold much.
const ROWS: usize = 200_000;
const LARGE: &str =
    "SELECT value, repeat('x', 1000 + value % 7) AS text FROM generate_series(1, 200000) AS t(value)";
/// Most MiB that reading them adds. COPY added 56, a few batches of 8 MiB in each of its stages; beyond that there is room for what
/// an allocator keeps of pages that it gave out before. It is less than half of the rows: who held them would be seen.
const MOST: u64 = 96;

async fn connected(server: &Server) -> Client {
    let log = server.log();
    let rest = log.split(" pg=").nth(1).unwrap();
    let port = rest.split_whitespace().next().unwrap().rsplit(':').next().unwrap().to_owned();
    let config = format!("host=127.0.0.1 port={port} user=me dbname=groundline");
    let (client, connection) = connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// By COPY: bytes.
async fn copied(client: &mut Client) -> usize {
    let rows = client.copy_out(&format!("COPY ({LARGE}) TO STDOUT")).await.unwrap();
    rows.try_fold(0, |sum, part| async move { Ok(sum + part.len()) }).await.unwrap()
}

/// By a cursor of SQL, 1,000 rows at a time.
async fn fetched(client: &mut Client) -> usize {
    let transaction = client.transaction().await.unwrap();
    transaction.batch_execute(&format!("DECLARE c NO SCROLL CURSOR FOR {LARGE}")).await.unwrap();
    let (mut rows, mut bytes) = (0, 0);
    while rows < ROWS {
        let part = transaction.query("FETCH 1000 FROM c", &[]).await.unwrap();
        assert!(!part.is_empty(), "{rows} rows");
        rows += part.len();
        bytes += part.iter().map(|row| row.get::<_, &str>("text").len()).sum::<usize>();
    }
    transaction.commit().await.unwrap();
    bytes
}

/// By a portal, 1,000 rows at a time.
async fn suspended(client: &mut Client) -> usize {
    let transaction = client.transaction().await.unwrap();
    let portal = transaction.bind(LARGE, &[]).await.unwrap();
    let (mut rows, mut bytes) = (0, 0);
    while rows < ROWS {
        let part = transaction.query_portal(&portal, 1000).await.unwrap();
        assert!(!part.is_empty(), "{rows} rows");
        rows += part.len();
        bytes += part.iter().map(|row| row.get::<_, &str>(1).len()).sum::<usize>();
    }
    transaction.commit().await.unwrap();
    bytes
}

/// All at once, by a client that reads them one by one.
async fn streamed(client: &mut Client) -> usize {
    let none: [&str; 0] = [];
    let mut rows = Box::pin(client.query_raw(LARGE, none).await.unwrap());
    let mut bytes = 0;
    while let Some(row) = rows.next().await {
        bytes += row.unwrap().get::<_, &str>(1).len();
    }
    bytes
}

/// How many MiB reading everything adds at most.
async fn added(server: &Server, client: &mut Client, way: &str) -> u64 {
    // The highest mark begins anew.
    std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5").unwrap();
    let before = server.memory_mib("VmHWM");
    let bytes = match way {
        "COPY" => copied(client).await,
        "a cursor" => fetched(client).await,
        "a portal" => suspended(client).await,
        _ => streamed(client).await,
    };
    assert!(bytes > ROWS * 1000, "{way}: {bytes} bytes");
    server.memory_mib("VmHWM") - before
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_result_takes_a_few_batches() {
    let folder = tempfile::tempdir().unwrap();
    let server = Settings::new(Path::new(env!("CARGO_BIN_EXE_groundline")), folder.path())
        .set("SQL__MAX_RESULT_SIZE", "1GiB")
        .set("SQL__TIMEOUT", "10m")
        .start();
    let mut client = connected(&server).await;
    // What a first query makes once is not counted.
    client
        .query("SELECT repeat('x', 1000 + value % 7) FROM generate_series(1, 20000) AS t(value)", &[])
        .await
        .unwrap();
    let mut told = Vec::new();
    for way in ["COPY", "a cursor", "a portal", "a stream"] {
        // Pages that the allocator gave back a moment before count as added. Who held the rows would need them each time.
        let mut least = u64::MAX;
        for _ in 0..3 {
            least = least.min(added(&server, &mut client, way).await);
            if least <= MOST {
                break;
            }
        }
        told.push((way, least));
    }
    println!("MiB added at most: {told:?}");
    assert!(told.iter().all(|(.., added)| *added <= MOST), "{told:?}");
}
