//! The ten minutes of docs/lab.md, as they are typed; and the demo of the lab.

use crate::readme::pages::{of, root};
use crate::support::{config, start};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::process::Command;

/// A line as a shell runs it, with the program in the path; exit code, standard output, standard error.
async fn typed(line: &str, folder: &Path) -> (i32, String, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_groundline")).parent().unwrap().display().to_string();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).env("PATH", path);
    // The workflow writes there.
    shell.env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
    let done = shell.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ten_minutes_of_the_page_end_with_a_gate() {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(root().join("examples/lab")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let app = start(config(&folder.path().join("data"))).await;
    let mut page = of("docs").into_iter().find(|page| page.path.ends_with("lab.md")).unwrap();
    let from = page.text.find("## From a CSV").unwrap();
    let until = page.text.find("## Where it works").unwrap();
    page.text = page.text[from..until].to_owned();
    let gate = std::fs::read_to_string(folder.path().join("gate.toml")).unwrap();
    assert_eq!(page.blocks("toml,suite").concat().trim_end(), gate.trim_end());
    let workflow = page.blocks("yaml").concat();
    let steps: Vec<&str> = workflow
        .lines()
        .filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("run: "))
        .collect();
    assert_eq!(steps.len(), 3, "{workflow}");

    let blocks = page.blocks("sh").concat();
    let mut compared = String::new();
    let mut ran = 0;
    for line in blocks.lines().chain(steps) {
        let wanted = line.split_once("# exit code ").map_or(0, |(_, code)| code.parse().unwrap());
        let words: Vec<&str> = line.split_whitespace().collect();
        let asks_server = words[0] == "groundline" && ["dataset", "experiment"].contains(&words[1]);
        let line = match asks_server {
            // The server of this test has another port than the one of the page.
            true => format!("{line} --url http://{}", app.addresses.http),
            false if words.get(1) == Some(&"serve") => continue,
            false => line.to_owned(),
        };
        let (code, out, err) = typed(&line, folder.path()).await;
        assert_eq!(code, wanted, "{line}: {out}{err}");
        if words.get(2) == Some(&"compare") {
            compared = out;
        }
        ran += 1;
    }
    assert!(ran >= 11, "the page was not read: {ran}");
    app.stop().await.unwrap();
    let large = compared.lines().find(|line| line.starts_with("tag=large")).unwrap_or(&compared);
    assert!(large.contains("worse"), "{compared}");
    assert!(
        !compared.lines().any(|line| line.starts_with("tag=small") && line.contains("worse")),
        "{compared}"
    );
    assert!(compared.contains("baseline: 56") && compared.contains("new: about 5 tens"), "{compared}");
    let summary = std::fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(summary.contains("| tests\\_passed min 0.8 | held |"), "{summary}");
}

/// It asks two versions and prints the regressions of the second, in less time than one looks on; the limit is that of the
/// release build, and a debug build beside other tests has eight times as long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_of_the_lab_shows_what_got_worse() {
    let started = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = typed("groundline demo --lab", folder.path()).await;
    let took = started.elapsed();
    assert_eq!(code, 0, "{out}{err}");
    // Each item is of a trace that is stored.
    let dataset = out.lines().find(|line| line.starts_with("The dataset demo@1 has ")).unwrap_or(&out);
    let numbers: Vec<usize> = dataset.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(matches!(numbers[..], [items, traces] if items == traces && items >= 5), "{dataset}");
    assert!(out.contains("v2 against v1") && out.contains("regression: "), "{out}");
    let limit = Duration::from_secs(if cfg!(debug_assertions) { 120 } else { 15 });
    assert!(took < limit, "{took:?}: {out}");
}
