//! Health, metrics, and the dashboards that name them.

mod prometheus;

use crate::support::{config, request, settled, span, start, text, until};
use groundline::watch::{METRICS, MetricKind};
use prost::Message;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn dashboards() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards")
}

/// Every word in a text that looks like one of our metrics.
fn metric_names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    // A name with a colon is that of a recording rule.
    words.filter(|w| w.starts_with("groundline_") && !w.contains(':')).map(str::to_owned).collect()
}

/// The names under which a metric appears in the text format.
fn exposed(name: &str) -> Option<&'static str> {
    let plain = ["_bucket", "_sum", "_count"].iter().find_map(|s| name.strip_suffix(s));
    METRICS.iter().map(|m| (m.name, m.kind)).find_map(|(known, kind)| {
        let histogram = kind == MetricKind::Histogram && plain == Some(known);
        (known == name || histogram).then_some(known)
    })
}

#[test]
fn dashboards_and_rules_name_metrics_that_exist() {
    let mut seen = 0;
    for entry in std::fs::read_dir(dashboards()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for name in metric_names(&text) {
            assert!(exposed(&name).is_some(), "{}: no metric {name}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} metrics are named: the files were not read");
}

/// Every metric that the dashboards name is exposed by a server that has done some work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_working_server_exposes_what_the_dashboards_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut quick = config(folder.path());
    quick.watch.quality_interval = Duration::from_millis(200);
    quick.lake.flush_interval = Duration::from_millis(200);
    let app = start(quick).await;
    let base = format!("http://{}", app.addresses.http);
    for (path, expected) in [("/health/live", "alive"), ("/health/ready", "ready"), ("/", "Groundline")] {
        let answer = reqwest::get(format!("{base}{path}")).await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert!(answer.text().await.unwrap().contains(expected), "{path}");
    }
    let attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text(
            "gen_ai.output.messages",
            r#"[{"role":"assistant","parts":[{"type":"text","content":"All is well here."}]}]"#,
        ),
    ];
    // One alone has no rate (`sql.min_n_eff`).
    let calls = (1..3).map(|n| span(n, 1, attributes.clone())).collect();
    let body = request("watched", calls).encode_to_vec();
    let client = reqwest::Client::new();
    let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
    let sent =
        client.post(url).header("content-type", "application/x-protobuf").body(body).send().await.unwrap();
    assert_eq!(sent.status(), 200);
    settled(&app).await;
    crate::support::query(app.addresses.http, "SELECT 1").await;
    let rate = "groundline_quality_pass_rate{tenant=\"default\",service=\"watched\",evaluator=\"pii_leakage\",metric=\"pii_leakage\"} 1";
    // These appear only when something goes wrong or comes twice, has gathered for long, or where there are
    // certificates, tokens, redaction, alerts, judges, labels or backends.
    let rare = [
        "refused",
        "duplicate",
        "late",
        "unjoined",
        "unreadable",
        "unusable",
        "errors",
        "reloads",
        "certificate",
        "compaction_seconds",
        "redacted",
        "alert_",
        "emitted",
        "forwarded",
        "anchor",
        "usd_per_item",
        "backend_",
        "judge_",
        "plugin_",
        "labels_",
        "queue_compactions",
    ];
    let scraped = async || reqwest::get(format!("{base}/metrics")).await.unwrap().text().await.unwrap();
    until("the pass rate", async || scraped().await.contains(rate)).await;
    // Each loop shows its own when it comes to it.
    for metric in METRICS.iter().filter(|m| !rare.iter().any(|word| m.name.contains(word))) {
        let is_there = |text: &str| metric_names(text).iter().any(|name| exposed(name) == Some(metric.name));
        until(metric.name, async || is_there(&scraped().await)).await;
    }
    app.stop().await.unwrap();
}

/// What Grafana puts in for its macros and the variables of the dashboard.
fn as_grafana_sends_it(sql: &str, trace: &str) -> String {
    let mut out = sql
        .replace("$metric", "'pii_leakage'")
        .replace("$service", "'watched','other'")
        .replace("$trace", trace);
    while let Some(at) = out.find("$__timeFilter(") {
        let open = at + "$__timeFilter(".len();
        let close = open + out[open..].find(')').unwrap();
        let column = out[open..close].to_owned();
        out.replace_range(
            at..=close,
            &format!("{column} BETWEEN '2026-01-01T00:00:00Z' AND '2100-01-01T00:00:00Z'"),
        );
    }
    assert!(!out.contains('$'), "{out}");
    out
}

/// Types by their numbers in PostgreSQL: timestamps, numbers, texts.
const TIMES: [i32; 2] = [1114, 1184];
const NUMBERS: [i32; 5] = [20, 21, 23, 700, 701];
const TEXTS: [i32; 2] = [25, 1043];

/// Every query of the SQL dashboard runs over the port that Grafana asks, and has the columns that its panel needs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queries_of_the_sql_dashboard_run_over_the_postgresql_port() {
    let folder = tempfile::tempdir().unwrap();
    let mut quick = config(folder.path());
    quick.watch.quality_interval = Duration::from_millis(200);
    let app = start(quick).await;
    let message = r#"[{"role":"assistant","parts":[{"type":"text","content":"The card 4111 1111 1111 1111 was charged."}]}]"#;
    let attributes = vec![text("gen_ai.operation.name", "chat"), text("gen_ai.output.messages", message)];
    let body = request("other", vec![span(1, 1, attributes)]).encode_to_vec();
    let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
    let client = reqwest::Client::new();
    let sent =
        client.post(url).header("content-type", "application/x-protobuf").body(body).send().await.unwrap();
    assert_eq!(sent.status(), 200);
    settled(&app).await;
    let stream = tokio::net::TcpStream::connect(app.addresses.pg).await.unwrap();
    let mut pg = crate::pg::Pg::login(stream, None).await.unwrap();
    let board: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(dashboards().join("quality.json")).unwrap()).unwrap();
    let trace = "aaaaaaaaaaaaaaaa0000000000000001";
    let panels = board["panels"].as_array().unwrap();
    for panel in panels {
        let target = &panel["targets"][0];
        let sql = as_grafana_sends_it(target["rawSql"].as_str().unwrap(), trace);
        let (columns, rows) =
            pg.columns(&sql).await.unwrap_or_else(|error| panic!("{}: {error}", panel["title"]));
        // Nothing fires here, and nothing waits.
        let may_be_empty = ["Alerts", "Alerts: evidence over time", "What waits for its evaluators"];
        let is_shown = rows > 0 || may_be_empty.iter().any(|title| panel["title"] == *title);
        assert!(is_shown, "{}: no row\n{sql}", panel["title"]);
        if target["format"] == "time_series" {
            assert_eq!(columns[0].0, "time", "{sql}");
            assert!(TIMES.contains(&columns[0].1), "{columns:?}");
            let rest = || columns[1..].iter().map(|(_, oid)| oid);
            assert!(rest().any(|oid| NUMBERS.contains(oid)), "{columns:?}");
            assert!(rest().all(|oid| NUMBERS.contains(oid) || TEXTS.contains(oid)), "{columns:?}");
        }
    }
    assert!(panels.len() >= 16);
    let variables = board["templating"]["list"].as_array().unwrap();
    for query in variables.iter().filter(|v| v["type"] == "query").map(|v| v["query"].as_str().unwrap()) {
        let (columns, rows) = pg.columns(query).await.unwrap();
        assert!(rows > 0 && TEXTS.contains(&columns[0].1), "{query}: {columns:?}");
    }
    // One score has no rate, in the gauges as in the views (`sql.min_n_eff`), and is counted.
    let labels = "{tenant=\"default\",service=\"other\",evaluator=\"pii_leakage\",metric=\"pii_leakage\"}";
    let gauges = ["pass_rate", "pass_rate_upper", "scores"].into_iter().zip(["NaN", "NaN", "1"]);
    let gauges: Vec<String> =
        gauges.map(|(name, value)| format!("groundline_quality_{name}{labels} {value}\n")).collect();
    let scrape = format!("http://{}/metrics", app.addresses.http);
    crate::support::until("gauges of one score", async || {
        let text = reqwest::get(&scrape).await.unwrap().text().await.unwrap();
        gauges.iter().all(|sample| text.contains(sample))
    })
    .await;
    app.stop().await.unwrap();
}

/// `promtool`, from Debian's package prometheus: it checks the rules, and holds them against series. The CI set-up installs it.
#[test]
fn promtool_accepts_the_rules_and_their_tests() {
    let tests = dashboards().with_file_name("tests").join("fixtures/prometheus/rules.test.yml");
    for (verb, file) in [("check", dashboards().join("groundline.rules.yml")), ("test", tests)] {
        let Ok(output) = Command::new("promtool").args([verb, "rules"]).arg(&file).output() else {
            assert!(std::env::var("CI").is_err(), "promtool is not installed: run tests/setup");
            eprintln!("promtool is not installed; run tests/setup to check the rules");
            return;
        };
        let told = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{verb}: {}", String::from_utf8_lossy(&told));
    }
}
