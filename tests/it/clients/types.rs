//! Values of every type, in text and in binary, as results and as parameters, with their type declared and without.

use super::{is_there, port, program, told};
use crate::sdk::python;
use std::process::Command;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_of_every_type_go_and_come() {
    let python = python();
    let found = Command::new(&python).args(["-c", "import psycopg"]).status().is_ok_and(|s| s.success());
    if !is_there(&python.with_file_name("psycopg"), found) {
        return;
    }
    let (at, _shutdown) = port().await;
    let run = move || Command::new(python).arg(program("values.py")).arg(at.port().to_string()).output();
    let output = tokio::task::spawn_blocking(run).await.unwrap().unwrap();
    assert!(output.status.success() && told(&output).contains("all ok"), "{}", told(&output));
}
