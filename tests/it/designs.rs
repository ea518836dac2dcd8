//! Sampling designs over a running server: what is selected, with which probability, and the same again.

use crate::judges::server::Server;
use crate::support::{config, query, request, settled, span, start, text};
use groundline::app::App;
use groundline::config::Config;
use groundline::sample::{Boost, RuleConfig};
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use prost::Message;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};

const LEAK: &str = "My card is 4111 1111 1111 1111.";
const SOUND: &str = "All is well here.";

fn call(trace: u64, model: &str, answer: &str) -> Span {
    let said = serde_json::json!([{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]);
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.request.model", model),
        text("gen_ai.output.messages", &said.to_string()),
    ];
    span(trace, 1, attributes)
}

async fn post(app: &App, spans: Vec<Span>) {
    let sent = reqwest::Client::new()
        .post(format!("http://{}/v1/traces", app.addresses.otlp_http))
        .header("content-type", "application/x-protobuf")
        .body(request("shop", spans).encode_to_vec())
        .send()
        .await
        .unwrap();
    assert_eq!(sent.status(), 200);
}

/// 400 calls: a rare model, some that fail, some that leak.
fn traffic() -> Vec<Span> {
    let one = |n: u64| {
        let model = if n.is_multiple_of(50) { "rare" } else { "common" };
        let span = call(n, model, if n.is_multiple_of(4) { LEAK } else { SOUND });
        let status = n.is_multiple_of(10).then(|| Status { code: 2, ..Status::default() });
        Span { status, ..span }
    };
    (1..=400).map(one).collect()
}

fn rules() -> Vec<RuleConfig> {
    let boost = |when: &str, rate| vec![Boost { when: when.to_owned(), rate }];
    vec![
        RuleConfig {
            boosts: boost("status_code = 'error'", 1.0),
            stratify_by: "request_model".to_owned(),
            min_per_stratum: 6,
            ..RuleConfig::new("first", "operation = 'llm'", 0.5, &["pii_leakage"])
        },
        RuleConfig {
            after: "first".to_owned(),
            boosts: boost("metric = 'pii_leakage' AND NOT passed", 1.0),
            ..RuleConfig::new("second", "status = 'ok'", 0.25, &["sensitive_data_leakage"])
        },
        RuleConfig { shadow_of: "first".to_owned(), ..RuleConfig::new("shadow", "", 1.0, &["looping"]) },
    ]
}

fn toml(rules: &[RuleConfig]) -> String {
    let rules: Vec<Value> = rules.iter().map(|rule| serde_json::to_value(rule).unwrap()).collect();
    let sample = serde_json::json!({ "sample": { "rules": rules } });
    toml::to_string(&sample).unwrap()
}

async fn replay(http: SocketAddr, folder: &Path, rules: &[RuleConfig]) -> (Output, Value) {
    let file = folder.join("rules.toml");
    std::fs::write(&file, toml(rules)).unwrap();
    let url = format!("http://{http}");
    let run = move || {
        Command::new(env!("CARGO_BIN_EXE_groundline"))
            .args(["replay-decisions", "--json", "--url", &url, "--config"])
            .arg(file)
            .output()
            .unwrap()
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let told = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output, told)
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap_or_else(|| panic!("{column}: {row}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strata_phases_and_shadows_select_with_known_probabilities_and_are_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = config(folder.path());
    settings.sample.rules = rules();
    assert_eq!(settings.faults(), Vec::<String>::new());
    let app = start(settings).await;
    post(&app, traffic()).await;
    settled(&app).await;
    let http = app.addresses.http;

    let first = query(http, "SELECT * FROM decisions WHERE rule = 'first' AND decision <> 'scored'").await;
    assert_eq!(first.len(), 400);
    let certain = |row: &&Value| number(row, "inclusion_probability") == 1.0;
    let of = |model: &str| first.iter().filter(move |row| row["stratum"] == model).collect::<Vec<_>>();
    assert_eq!((of("rare").len(), of("common").len()), (8, 392));
    // Each eighth is rare and all of these fail; of the common ones 32 fail, and six more may be the first of all.
    let common = of("common").into_iter().filter(certain).count();
    assert!((32..=38).contains(&common), "{common}");
    assert_eq!(of("rare").into_iter().filter(certain).count(), 8);
    assert!(first.iter().filter(certain).all(|row| row["decision"] == "queued"));

    // Leaks have a row a kind beside that of the whole answer.
    let scores = query(http, "SELECT * FROM scores WHERE metric = evaluator OR rule = 'shadow'").await;
    let by = |rule: &str| scores.iter().filter(|row| row["rule"] == rule).collect::<Vec<_>>();
    let queued = first.iter().filter(|row| row["decision"] == "queued").count();
    assert_eq!(by("first").len(), queued);
    // Whatever leaks is judged by the second phase too, with the probability of the first.
    let leaks = by("first").iter().filter(|row| row["passed"] == false).count();
    let second = query(http, "SELECT * FROM decisions WHERE rule = 'second' AND decision <> 'scored'").await;
    assert_eq!(second.len(), queued);
    let pi_of = |row: &Value| {
        let one = by("first").into_iter().find(|one| one["trace_id"] == row["trace_id"]);
        number(one.unwrap(), "inclusion_probability")
    };
    let mut boosted = 0;
    for row in &second {
        let (pi, first) = (number(row, "inclusion_probability"), pi_of(row));
        assert!(pi == first || pi == first * 0.25, "{row}");
        boosted += usize::from(pi == first);
    }
    assert!(leaks > 40 && boosted == leaks, "{leaks} {boosted}");
    let judged = by("second");
    assert!(judged.len() >= leaks && judged.len() < queued, "{} of {queued}", judged.len());
    assert!(judged.iter().all(|row| row["sampling_reason"].as_str().unwrap().starts_with("rate ")));

    // The shadow has the very items of its rule.
    let traces = |rows: Vec<&Value>| {
        let key = |row: &&Value| (row["trace_id"].to_string(), row["inclusion_probability"].to_string());
        rows.iter().map(key).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(traces(by("shadow")), traces(by("first")));

    replayed(http, folder.path(), queued, judged.len()).await;
    app.stop().await.unwrap();
}

/// Replays the day with the rules of then and with changed ones; so many items were `queued`, and the second phase judged so many.
async fn replayed(http: SocketAddr, folder: &Path, queued: usize, judged: usize) {
    let (output, told) = replay(http, folder, &rules()).await;
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    for rule in told["rules"].as_array().unwrap() {
        assert_eq!(
            (&rule["rule_is"], &rule["different"], &rule["unknown"]),
            (&"the same".into(), &0.into(), &0.into())
        );
        assert_eq!(rule["same"], rule["decisions"], "{rule}");
    }
    assert_eq!(told["rules"].as_array().unwrap().len(), 3);
    // A changed rule is told, with what it would have selected.
    let mut changed = rules();
    changed.truncate(1);
    changed[0].boosts.clear();
    changed[0].rate = 0.05;
    changed[0].budget.usd_per_item = Some(0.5);
    let (output, told) = replay(http, folder, &changed).await;
    assert!(output.status.success(), "{told}");
    let rule = &told["rules"][0];
    assert_eq!((&rule["rule_is"], &rule["items_then"]), (&"changed".into(), &queued.into()));
    assert!(rule["items_now"].as_u64().unwrap() < queued as u64 / 2, "{rule}");
    assert_eq!(number(rule, "usd_then"), queued as f64 * 0.5);
    // A second phase that has changed is decided again from the scores of then, and so is a new one.
    let mut changed = rules();
    changed[1].boosts.clear();
    changed[1].rate = 0.5;
    let third = RuleConfig::new("third", "metric = 'pii_leakage' AND NOT passed", 1.0, &["looping"]);
    changed.push(RuleConfig { after: "first".to_owned(), ..third });
    let (output, told) = replay(http, folder, &changed).await;
    assert!(output.status.success(), "{told}");
    let of = |name: &str| {
        told["rules"].as_array().unwrap().iter().find(|rule| rule["rule"] == name).unwrap().clone()
    };
    let (second, third) = (of("second"), of("third"));
    assert_eq!(second["rule_is"], "changed", "{second}");
    assert_eq!((second["unknown"].as_u64(), second["decisions"].as_u64()), (Some(0), Some(queued as u64)));
    assert_eq!(second["items_then"], judged, "{second}");
    assert!(second["gained"].as_u64() > Some(0) && second["lost"].as_u64() > Some(0), "{second}");
    let leaking = "SELECT count(DISTINCT trace_id) AS n FROM scores WHERE rule = 'first' AND metric = 'pii_leakage' AND NOT passed";
    let leaking = query(http, leaking).await[0]["n"].clone();
    assert_eq!(
        (&third["rule_is"], &third["items_now"], &third["gained"]),
        (&"new".into(), &leaking, &leaking)
    );
}

/// All decisions of a day, from the tables of a data directory, come out as they were: 1,000 traces, or as many as
/// `GROUNDLINE_REPLAY_TRACES` says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decisions_are_replayed_from_the_tables() {
    const AT_ONCE: u64 = 2_000;
    let traces: u64 = std::env::var("GROUNDLINE_REPLAY_TRACES").map_or(1_000, |n| n.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let failing = vec![Boost { when: "status_code = 'error'".to_owned(), rate: 0.3 }];
    let rules = vec![
        RuleConfig::new("plain", "operation = 'llm'", 0.05, &["looping"]),
        RuleConfig {
            boosts: failing,
            stratify_by: "request_model".to_owned(),
            min_per_stratum: 3,
            ..RuleConfig::new("strata", "operation = 'llm'", 0.02, &["looping"])
        },
        RuleConfig::new("nothing", "operation = 'agent'", 1.0, &["looping"]),
    ];
    let mut settings = config(&data);
    settings.sample.rules = rules.clone();
    let app = start(settings).await;
    for from in (0..traces).step_by(AT_ONCE as usize) {
        let one = |n: u64| {
            let span = call(n, if n.is_multiple_of(50) { "rare" } else { "common" }, SOUND);
            let status = n.is_multiple_of(10).then(|| Status { code: 2, ..Status::default() });
            Span { status, ..span }
        };
        post(&app, (from..traces.min(from + AT_ONCE)).map(one).collect()).await;
        settled(&app).await;
    }
    app.stop().await.unwrap();
    let file = folder.path().join("rules.toml");
    std::fs::write(&file, toml(&rules)).unwrap();
    let run = move || {
        Command::new(env!("CARGO_BIN_EXE_groundline"))
            .args(["replay-decisions", "--json", "--data-dir"])
            .arg(data)
            .arg("--config")
            .arg(file)
            .output()
            .unwrap()
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = told["rules"].as_array().unwrap();
    assert_eq!(found.len(), 3, "{told}");
    for rule in found {
        let counts = ["decisions", "same", "different", "unknown"].map(|key| rule[key].as_u64().unwrap());
        assert_eq!(counts, [traces, traces, 0, 0], "{rule}");
        println!("{}: {} decisions, all the same", rule["rule"], traces);
    }
}

/// What judges cost is learned: a price that was configured too low is put right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_price_is_learned_from_what_judges_told() {
    let today = || chrono::Utc::now().date_naive();
    let (folder, day, judge) = (tempfile::tempdir().unwrap(), today(), Server::default());
    let address = judge.listen().await;
    // 100 tokens in and 20 out: 1.2 dollars an answer, where a thousandth was configured.
    let judge = format!(
        "[[judges]]\nname = \"main\"\nbase_url = \"http://{address}/v1\"\nmodel = \"m\"\n\
         price_input_usd = 10000.0\nprice_output_usd = 10000.0\n"
    );
    let mut rule = RuleConfig::new("judged", "operation = 'llm'", 1.0, &["safety"]);
    (rule.budget.usd_per_day, rule.budget.usd_per_item) = (Some(20.0), Some(0.001));
    let mut queued = Vec::new();
    for part in 0..2 {
        let mut settings = Config::from_text("judges", &judge, std::iter::empty()).unwrap();
        let usual = config(folder.path());
        (settings.server, settings.ingest) = (usual.server, usual.ingest);
        (settings.sample.idle, settings.sample.rootless_idle) =
            (usual.sample.idle, usual.sample.rootless_idle);
        settings.sample.rules = vec![rule.clone()];
        let app = start(settings).await;
        let asked = |n: u64| {
            let mut span = call(1_000 * (part + 1) + n, "m", SOUND);
            let said = r#"[{"role":"user","parts":[{"type":"text","content":"How is it?"}]}]"#;
            span.attributes.push(text("gen_ai.input.messages", said));
            span
        };
        // The second time more than the whole budget: in the last minutes of a day all that it leaves may be spent at once.
        post(&app, (0..20 + 40 * part).map(asked).collect()).await;
        settled(&app).await;
        let sql = "SELECT count(*) FILTER (WHERE decision = 'queued') AS queued, \
                   count(*) FILTER (WHERE decision = 'over_budget') AS over, \
                   (SELECT sum(cost_usd) FROM scores) AS usd FROM decisions";
        let row = query(app.addresses.http, sql).await.remove(0);
        assert!((number(&row, "usd") - number(&row, "queued") * 1.2).abs() < 1e-6, "{row}");
        queued.push((number(&row, "queued"), number(&row, "over")));
        app.stop().await.unwrap();
    }
    assert_eq!(queued[0], (20.0, 0.0), "the configured price allows 20,000");
    // 30 items at 0.001 and 20 at 1.2 dollars: 0.48 an item, so that 41 may be selected at most, of which 20 are.
    if today() == day {
        assert!(queued[1].1 > 0.0 && queued[1].0 <= 41.0, "{queued:?}");
    }
}

/// A restart gives nobody a new budget.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_lasts_over_a_restart() {
    let today = || chrono::Utc::now().date_naive();
    let (folder, day, mut queued) = (tempfile::tempdir().unwrap(), today(), Vec::new());
    for part in 0..2 {
        let mut settings = config(folder.path());
        let mut rule = RuleConfig::new("held", "operation = 'llm'", 1.0, &["looping"]);
        rule.budget.items_per_day = Some(20.0);
        // It looks further back than the other one.
        let mut month = RuleConfig::new("month", "operation = 'llm'", 1.0, &["looping"]);
        month.budget.items_per_month = Some(20.0);
        settings.sample.rules = vec![rule, month];
        let app = start(settings).await;
        post(&app, (0..300).map(|n| call(1_000 * (part + 1) + n, "m", SOUND)).collect()).await;
        settled(&app).await;
        let sql =
            "SELECT rule, decision, inclusion_probability AS pi FROM decisions WHERE decision <> 'scored'";
        let rows = query(app.addresses.http, sql).await;
        let count = |rule: &str, kind: &str| {
            rows.iter().filter(|row| row["rule"] == rule && row["decision"] == kind).count()
        };
        let rules = ["held", "month"];
        queued.push(rules.map(|rule| count(rule, "queued")));
        let over: usize = rules.iter().map(|rule| count(rule, "over_budget")).sum();
        assert_eq!(queued[part as usize].iter().sum::<usize>() + over, rows.len());
        assert!(rows.iter().all(|row| number(row, "pi") > 0.0));
        app.stop().await.unwrap();
    }
    // The first items of a new day have its budget.
    if today() == day {
        assert!(queued[0].iter().all(|n| *n > 0) && queued[1].iter().all(|n| *n <= 20), "{queued:?}");
    }
}
