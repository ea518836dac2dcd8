//! What clients ask the catalogue that cannot be installed here: `tests/fixtures/pg`, one file a client.
//!
//! A block is a line `-- N what`, a statement, and `-- $ a | b` with the values of its parameters if it has any; it must answer
//! at least N rows.

use super::port;
use crate::pg::Pg;
use crate::readme::pages::root;
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
