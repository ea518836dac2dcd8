//! A model file of the user: as a verb tells of it, in a server, and measured beside the program's own.

use crate::support::{config, query, send, settled, span, start, text};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A network with random weights, and what PyTorch gives for it.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models/bert").join(name)
}

/// A text, and the probability of its first label.
fn known(at: usize) -> (String, f64) {
    let all: Value = serde_json::from_str(&fs::read_to_string(fixture("expected.json")).unwrap()).unwrap();
    let one = &all["texts"][at];
    let logit = one["logits"][0].as_f64().unwrap();
    (one["text"].as_str().unwrap().to_owned(), 1.0 / (1.0 + (-logit).exp()))
}

/// The file as the model of toxicity: its labels say nothing, and each has a place.
fn settings() -> String {
    format!(
        "[models.toxicity]\npath = {:?}\nlabels = [\"toxicity\", \"insult\", \"threat\"]\n",
        fixture("model.onnx")
    )
}

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_groundline")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_verb_tells_what_a_file_is_and_where_it_fits() {
    let path = fixture("model.onnx");
    let check = |more: &[&str]| {
        run(&[&["model", "check", path.to_str().unwrap(), "--seconds", "0"][..], more].concat())
    };
    let (code, told, error) = check(&[]);
    assert_eq!(code, Some(0), "{told}{error}");
    for part in [
        "family      bert\n",
        "inputs      input_ids",
        "labels      CONTRADICTION, NEUTRAL, ENTAILMENT\n",
        "max tokens  128\n",
        "entailment  fits: model-",
        "embedding   fits: model-",
        "of 12 plain samples told right",
        "relevance   no: ",
        "give models.relevance.labels",
        "toxicity    no: ",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let (code, told, _) = check(&["--as", "toxicity", "--labels", "toxicity,insult,threat"]);
    assert!(code == Some(0) && told.contains("toxicity    fits: model-"), "{told}");
    assert!(!told.contains("entailment"), "only as what was asked: {told}");
    let (code, told, _) = check(&["--as", "relevance"]);
    assert!(code == Some(1) && told.contains("relevance   no: "), "{told}");
    let (code, _, error) = run(&["model", "check", fixture("tokenizer.json").to_str().unwrap()]);
    assert!(code == Some(1) && error.contains("is no ONNX file"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_scores_by_a_file_of_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let (answer, wanted) = known(0);
    let rule = "[[sample.rules]]\nname = \"r\"\nfilter = \"operation = 'llm'\"\nrate = 1.0\nevaluators = [\"toxicity\"]\n";
    let made = format!("{rule}{}", settings());
    let mut made = groundline::config::Config::from_text("test", &made, std::iter::empty()).unwrap();
    let usual = config(folder.path());
    (made.server, made.sample.idle, made.sample.rootless_idle) =
        (usual.server, usual.sample.idle, usual.sample.rootless_idle);
    (made.ingest.grpc_listen, made.ingest.http_listen) = (usual.ingest.grpc_listen, usual.ingest.http_listen);
    let app = start(made).await;
    let message = json!([{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]).to_string();
    let call = vec![text("gen_ai.operation.name", "chat"), text("gen_ai.output.messages", &message)];
    assert!(send(app.addresses.otlp_http, vec![span(1, 1, call)]).await);
    settled(&app).await;
    let rows = query(
        app.addresses.http,
        "SELECT metric, status, value, error, evaluator_version FROM scores WHERE evaluator = 'toxicity'",
    )
    .await;
    app.stop().await.unwrap();
    let of = |metric: &str| rows.iter().find(|row| row["metric"] == metric).unwrap();
    let (toxicity, other) = (of("toxicity"), of("identity_attack"));
    assert!((toxicity["value"].as_f64().unwrap() - wanted).abs() < 1e-3, "{wanted}: {toxicity}");
    assert!(toxicity["evaluator_version"].as_str().unwrap().contains("+model-"), "{toxicity}");
    // It has no such label.
    assert_eq!((&other["status"], &other["value"]), (&json!("skipped"), &Value::Null), "{other}");
    assert!(other["error"].as_str().unwrap().contains("[models.toxicity]"), "{other}");
}

#[test]
fn a_file_is_measured_beside_the_models_of_the_program() {
    const ROWS: usize = 5;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("toxicity")).unwrap();
    let set = File::create(folder.path().join("toxicity/own.jsonl.gz")).unwrap();
    let mut set = GzEncoder::new(set, Compression::fast());
    for at in 0..ROWS {
        let row = json!({"group": at.to_string(), "split": "test", "label": at % 2, "text": known(at).0});
        writeln!(set, "{row}").unwrap();
    }
    set.finish().unwrap();
    let (config, rows) = (folder.path().join("c.toml"), folder.path().join("rows.jsonl"));
    fs::write(&config, settings()).unwrap();
    let data = folder.path().to_str().unwrap();
    let files = ["--config", config.to_str().unwrap(), "--rows", rows.to_str().unwrap()];
    let (code, told, error) =
        run(&[&["evalbench", "--data", data, "--json", "--draws", "20"][..], &files[..]].concat());
    assert_eq!(code, Some(0), "{error}");
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let models: Vec<&str> = told
        .iter()
        .filter(|row| row["metric"] == "toxicity" && row["n"] == ROWS)
        .map(|row| row["model_hash"].as_str().unwrap())
        .collect();
    // The program's own first.
    assert!(models.len() == 2 && models[0].starts_with("toxicity-"), "{told:#?}");
    assert!(models[1].starts_with("model-"), "{told:#?}");
    let rows = fs::read_to_string(rows).unwrap();
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let own: Vec<Value> =
        rows.filter(|row| row["metric"] == "toxicity" && row["model_hash"] == models[1]).collect();
    assert_eq!(own.len(), ROWS);
    for (at, row) in own.iter().enumerate() {
        assert!((row["score"].as_f64().unwrap() - known(at).1).abs() < 1e-3, "{row}");
    }
}

#[test]
fn a_summary_is_measured_against_its_source_where_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("groundedness")).unwrap();
    let set = File::create(folder.path().join("groundedness/own.jsonl.gz")).unwrap();
    let mut set = GzEncoder::new(set, Compression::fast());
    for (label, answer) in
        [(0, "The museum opens at nine."), (1, "The museum opens at eleven and is free of charge.")]
    {
        let context = ["The museum opens at nine in the morning.", "Tickets cost twelve euros."];
        let row =
            json!({"group": answer, "split": "test", "label": label, "context": context, "answer": answer});
        writeln!(set, "{row}").unwrap();
    }
    set.finish().unwrap();
    let measured = |more: &[&str]| {
        let data = folder.path().to_str().unwrap();
        let (code, told, error) =
            run(&[&["evalbench", "--data", data, "--json", "--draws", "20"][..], more].concat());
        assert_eq!(code, Some(0), "{error}");
        let rows = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.filter(|row| row["metric"].is_string()).collect::<Vec<_>>()
    };
    assert!(measured(&[]).iter().all(|row| row["evaluator"] != "summarization"));
    let named = measured(&["--evaluator", "summarization"]);
    let metrics: Vec<&str> = named.iter().map(|row| row["metric"].as_str().unwrap()).collect();
    assert_eq!(metrics, ["faithfulness_conv", "faithfulness_zs"]);
    assert!(named.iter().all(|row| row["n"] == 2 && row["figures"]["auroc"]["value"] == 1.0), "{named:#?}");
}
