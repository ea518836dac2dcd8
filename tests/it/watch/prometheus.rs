//! A real Prometheus scrapes the server, evaluates the rules, and is asked every query of the boards.

use crate::support::{Process, Reserved, count, send, span, text, until};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Prometheus from Debian's package, on a free port.
struct Prometheus(Child, SocketAddr);

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Prometheus {
    /// One that scrapes `target` all the time, with our rules.
    async fn start(dir: &Path, target: SocketAddr) -> Option<Self> {
        let rules = super::dashboards().join("groundline.rules.yml");
        let config = format!(
            "global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}\n\
             rule_files: [{:?}]\nscrape_configs:\n  - job_name: groundline\n    static_configs: [{{targets: [\"{target}\"]}}]\n",
            rules.display().to_string()
        );
        let file = dir.join("prometheus.yml");
        std::fs::write(&file, config).unwrap();
        let port = Reserved::new();
        let address = port.address;
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", dir.join("tsdb").display()))
            .arg(format!("--web.listen-address={address}"))
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        let Ok(child) = child else {
            assert!(std::env::var("CI").is_err(), "Prometheus is not installed: run tests/setup");
            eprintln!("Prometheus is not installed; run tests/setup to test with it");
            return None;
        };
        let started = Self(child, address);
        let ready = format!("http://{address}/-/ready");
        until("Prometheus", async || reqwest::get(&ready).await.is_ok_and(|a| a.status() == 200)).await;
        Some(started)
    }

    async fn ask(&self, path: &str) -> Value {
        let url = format!("http://{}/api/v1/{path}", self.1);
        reqwest::get(url).await.unwrap().json().await.unwrap()
    }

    /// How many series answer a query; an error that it makes ends the test.
    async fn series(&self, query: &str) -> usize {
        let asked: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let answer = self.ask(&format!("query?query={asked}")).await;
        assert_eq!(answer["status"], "success", "{query}: {answer}");
        answer["data"]["result"].as_array().map_or(0, Vec::len)
    }
}

/// Every query of the board, with what Grafana puts in for its variables.
fn queries() -> Vec<String> {
    let board = std::fs::read_to_string(super::dashboards().join("groundline.json")).unwrap();
    let board: Value = serde_json::from_str(&board).unwrap();
    let panels = board["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap().clone());
    let exprs = targets.map(|target| target["expr"].as_str().unwrap().to_owned());
    exprs.map(|expr| expr.replace("$service", ".*").replace("$metric", ".*")).collect()
}

/// A rule, and an alert that fires on it.
const WATCHED: &str = "
[watch]
quality_interval = \"300ms\"
[lake]
flush_interval = \"300ms\"
[[sample.rules]]
name = \"leaks\"
filter = \"operation = 'llm'\"
rate = 1.0
evaluators = [\"pii_leakage\", \"answer_relevance\"]
[[alerts]]
name = \"leaks\"
metric = \"pii_leakage\"
method = \"objective\"
objective = 0.9
min_n = 20
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prometheus_answers_every_query_of_the_board_and_evaluates_every_rule() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let server = Process::start_with(&data, WATCHED);
    let message = r#"[{"role":"assistant","parts":[{"type":"text","content":"The card 4111 1111 1111 1111 was charged."}]}]"#;
    let call = |n: u64| {
        let attributes = vec![text("gen_ai.operation.name", "chat"), text("gen_ai.output.messages", message)];
        span(n, 1, attributes)
    };
    // Rates begin with the first scrape, and what has grown since then has one: the first half is judged before it.
    assert!(send(server.otlp_http, (0..60).map(call).collect()).await);
    let judged = "SELECT count(*) FROM decisions WHERE decision = 'scored'";
    until("the first scores", async || count(server.http, judged).await == 60).await;
    let Some(prometheus) = Prometheus::start(folder.path(), server.http).await else { return };
    let scored = |n| format!("sum(groundline_items_total{{outcome=\"scored\"}}) == {n}");
    until("a scrape", async || prometheus.series(&scored(60)).await == 1).await;
    assert!(send(server.otlp_http, (60..120).map(call).collect()).await);
    until("the scores", async || prometheus.series(&scored(120)).await == 1).await;
    until("the alert", async || prometheus.series("groundline_alert_firing == 1").await == 1).await;
    // These appear only when something goes wrong or comes twice, or where there are anchors or backends.
    let rare = ["rejected", "refused", "duplicate", "anchors", "lost", "backend_held", "late_traces"];
    let is_usual = |query: &&String| !rare.iter().any(|word| query.contains(word));
    let all = queries();
    for query in &all {
        prometheus.series(query).await;
    }
    let usual: Vec<&String> = all.iter().filter(is_usual).collect();
    assert!(all.len() > 30 && usual.len() > 20, "{} queries, {} of them usual", all.len(), usual.len());
    for query in usual {
        until(query, async || prometheus.series(query).await > 0).await;
    }
    // Every rule was evaluated without an error, and those that record have recorded.
    let rules = async || {
        let answer = prometheus.ask("rules").await;
        let groups = answer["data"]["groups"].as_array().unwrap().clone();
        groups.iter().flat_map(|group| group["rules"].as_array().unwrap().clone()).collect::<Vec<Value>>()
    };
    until("all rules", async || rules().await.iter().all(|rule| rule["health"] != "unknown")).await;
    let evaluated = rules().await;
    assert!(evaluated.len() > 20, "{} rules", evaluated.len());
    for rule in &evaluated {
        assert_eq!(rule["health"], "ok", "{}: {}", rule["name"], rule["lastError"]);
        if rule["type"] == "recording" {
            let name = rule["name"].as_str().unwrap();
            until(name, async || prometheus.series(name).await > 0).await;
        }
    }
    let coverage = "groundline:evaluation_coverage:ratio_rate1h > 0.99 and groundline:evaluation_coverage:ratio_rate1h < 1.01";
    until("the coverage", async || prometheus.series(coverage).await == 1).await;
}
