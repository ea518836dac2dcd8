//! Questions in other words, which a judge writes.

use super::verbs::{example, well};
use crate::judges::server::{Act, Server};
use crate::support::{config, query, start};
use groundline::app::App;
use groundline::config::Config;
use serde_json::{Value, json};

/// What the judge writes of the text that stands between its delimiters; of one it changes nothing. What is no text to write
/// is a check, which passes.
fn writes(sent: &Value) -> String {
    let text = |at: usize| sent["messages"][at]["content"].as_str().unwrap();
    if !text(0).contains("# What you write") {
        return json!({"rationale": "It is.", "problems": [], "rating": "yes"}).to_string();
    }
    let asked = text(1).lines().nth(1).unwrap();
    let new = if text(0).contains("false or misleading") {
        "Rivers flow uphill.".to_owned()
    } else if asked.contains("official language") {
        asked.to_owned()
    } else {
        asked.replace("Which river flows", "Which stream runs").replace("is", "may be")
    };
    json!({"text": new}).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_judge_writes_what_no_rule_can_and_what_it_does_not_write_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server { answers: Some(writes), ..Server::default() };
    let judge = format!(
        "[[judges]]\nname = \"main\"\nbase_url = \"http://{}/v1\"\nmodel = \"m\"\n",
        server.listen().await
    );
    let mut made = config(&folder.path().join("data"));
    made.judges = Config::from_text("test", &judge, std::iter::empty()).unwrap().judges;
    let app = start(made).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    well(&["dataset", "import", "geography", &example()], &place).await;
    let methods = "synonym@high,contextual_misinformation,case";
    let said = well(&["perturb", "geography", "--with", methods], &place).await;
    // Six items, each as it is, copied and changed in three ways, but for the one that was not written.
    assert!(said.starts_with("geography-perturbed: version 1, 29 items"), "{said}");
    assert!(said.contains("not written: g5 synonym@high: the judge changed nothing\n"), "{said}");
    assert!(said.contains("written by judge-model-0: 1200 tokens read, 240 written"), "{said}");
    assert_eq!(server.requests(), 12);
    let asked = |words: &str| server.got.lock().iter().any(|(_, sent)| sent.to_string().contains(words));
    assert!(asked("1 of its 6 words replaced by synonyms") && asked("Write 1 short statement"));
    let sql = "SELECT external_id, input, metadata FROM dataset_at('geography-perturbed') \
               WHERE external_id LIKE 'g2~%' ORDER BY external_id";
    let rows = query(app.addresses.http, sql).await;
    let ids: Vec<&str> = rows.iter().map(|row| row["external_id"].as_str().unwrap()).collect();
    let wanted =
        ["g2~case@medium", "g2~contextual_misinformation@medium", "g2~copy@medium", "g2~synonym@high"];
    assert_eq!(ids, wanted);
    let input = |at: usize| rows[at]["input"].as_str().unwrap();
    assert!(input(1).contains("Rivers flow uphill. Which river flows through Vienna?"), "{rows:?}");
    assert!(input(3).contains("Which stream runs through Vienna?"), "{rows:?}");
    let metadata: Value = serde_json::from_str(rows[3]["metadata"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&metadata["perturbation"]["model"], &metadata["relationships"][0]["target"]),
        (&json!("judge-model-0"), &json!("g2"))
    );
    judged_once(&app, &server).await;
    // A judge that takes no request is no matter of time.
    server.script.lock().extend(vec![Act::Status(401); 12]);
    let body = json!({"dataset": "geography", "with": ["antonym"]});
    let (status, told) = super::send(&app, "POST", "perturb", None, &body).await;
    assert!(status == 422 && told["error"].as_str().unwrap().contains("HTTP 401"), "{status} {told}");
    app.stop().await.unwrap();
}

/// Answers of a suite that come twice, at the same time and later, are judged once.
async fn judged_once(app: &App, server: &Server) {
    let suite = "[suite]\nname = \"kind\"\n[[test]]\nid = \"a\"\ninput = \"Where?\"\ncheck = [{ operator = \"is_polite\" }]\n";
    let url = format!("http://{}/v1/lab/suites/import?format=toml", app.addresses.http);
    let sent = reqwest::Client::new().post(url).header("content-type", "application/toml").body(suite);
    assert_eq!(sent.send().await.unwrap().status(), 200);
    let begun = super::done(app, "POST", "suites/kind/run", &json!({"target": {"kind": "function"}})).await;
    let path = format!("suites/kind/run?experiment={}", begun["experiment_id"].as_str().unwrap());
    let (before, answers) = (server.requests(), json!({"answers": [{"test": "a", "output": "Here."}]}));
    let send = async || super::done(app, "POST", &path, &answers).await;
    let (one, two) = tokio::join!(send(), send());
    let sum = |key: &str| one[key].as_u64().unwrap() + two[key].as_u64().unwrap();
    assert_eq!((sum("stored"), sum("duplicate"), server.requests()), (1, 1, before + 1), "{one} {two}");
    let again = send().await;
    assert_eq!((&again["duplicate"], &again["missing"]), (&json!(1), &json!(0)), "{again}");
    assert_eq!(server.requests(), before + 1);
}
