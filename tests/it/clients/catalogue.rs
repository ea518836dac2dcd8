//! What clients ask the catalogue that cannot be installed here: `tests/fixtures/pg`, one file a client.
//!
//! A block is a line `-- N what`, a statement, and `-- $ a | b` with the values of its parameters if it has any; it must answer
//! at least N rows.

use super::port;
use crate::pg::Pg;
use crate::readme::pages::root;
use crate::sql::fixture;
use groundline::net::Scope;
use groundline::schema::columns::Table;
use groundline::sql::{Config, Sql, Work};
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_catalogue_answers_what_tools_ask() {
    let (at, _shutdown) = port().await;
    let mut pg = Pg::login(TcpStream::connect(at).await.unwrap(), None).await.unwrap();
    let mut files: Vec<_> = std::fs::read_dir(root().join("tests/fixtures/pg")).unwrap().collect();
    assert!(!files.is_empty(), "tests/fixtures/pg has files");
    files.sort_by_key(|file| file.as_ref().unwrap().path());
    let mut faults = Vec::new();
    for file in files {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for block in text.split("\n\n").skip(1) {
            let (least, what, sql, values) = read(block);
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let fault = match pg.rows(&sql, &values).await {
                Ok(rows) if rows.len() >= least => None,
                Ok(rows) => Some(format!("{} rows, not {least}", rows.len())),
                Err(why) => Some(why),
            };
            faults.extend(fault.map(|fault| format!("{}, {what}: {fault}", path.display())));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

fn read(block: &str) -> (usize, String, String, Vec<String>) {
    let mut lines = block.trim().lines();
    let head = lines.next().and_then(|line| line.strip_prefix("-- ")).expect(block);
    let (least, what) = head.split_once(' ').expect(block);
    let (mut sql, mut values) = (Vec::new(), Vec::new());
    for line in lines {
        match line.strip_prefix("-- $ ") {
            Some(given) => values.extend(given.split(" | ").map(str::to_owned)),
            None => sql.push(line),
        }
    }
    (least.parse().expect(block), what.to_owned(), sql.join("\n"), values)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sizes_are_those_of_the_files() {
    let snapshots = fixture::snapshots().await;
    let sql = Sql::new(snapshots.clone(), Config::default()).unwrap();
    let bytes = |table: Table| snapshots(table).files.iter().map(|file| file.bytes).sum::<u64>();
    let all = Table::ALL.map(bytes).iter().sum();
    assert!(bytes(Table::Spans) > 0 && all > bytes(Table::Spans), "the rows lie in files");
    for (query, told) in [
        ("SELECT pg_total_relation_size('spans')", bytes(Table::Spans)),
        ("SELECT pg_table_size('public.spans')", bytes(Table::Spans)),
        (
            "SELECT pg_relation_size(oid) FROM pg_catalog.pg_class WHERE relname = 'spans'",
            bytes(Table::Spans),
        ),
        ("SELECT pg_relation_size('spans', 'main')", bytes(Table::Spans)),
        ("SELECT pg_total_relation_size('traces')", 0),
        ("SELECT pg_database_size('groundline')", all),
    ] {
        for (scope, told) in [(Scope::All, told), (Scope::Tenant("a".into()), 0)] {
            let work = Work::Text(query.to_owned());
            let found = sql.collect_from("test", &scope, work, None).await.unwrap();
            let cell = arrow::util::display::array_value_to_string(found.batches[0].column(0), 0).unwrap();
            assert_eq!(cell, told.to_string(), "{query} for {scope:?}");
        }
    }
    let (_, none) = sql.collect("SELECT pg_table_size('nope') IS NULL").await.unwrap();
    assert_eq!(arrow::util::display::array_value_to_string(none[0].column(0), 0).unwrap(), "true");
}
