//! The server is killed during an import, an experiment and a review: no half version, no run lost or doubled, and what was
//! leased is free again.

use crate::support::{Process, count, query, request, send, span, text, until};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use prost::Message;
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How often each is killed; GROUNDLINE_KILL_CYCLES makes it more.
const CYCLES: usize = 4;
const ITEMS: usize = 400;
const BUSY: &str =
    "[lake]\nflush_interval = \"100ms\"\nmaintenance_interval = \"200ms\"\ncompact_min_files = 2\n";

fn cycles() -> usize {
    std::env::var("GROUNDLINE_KILL_CYCLES").map_or(CYCLES, |n| n.parse().unwrap())
}

/// Status and answer; none from a server that is gone.
async fn ask(
    server: &Process,
    method: &str,
    path: &str,
    body: Option<(&str, String)>,
) -> Option<(u16, Json)> {
    ask_at(server.http, method, path, body).await
}

/// The same where the server dies before it answers.
async fn ask_at(
    http: SocketAddr,
    method: &str,
    path: &str,
    body: Option<(&str, String)>,
) -> Option<(u16, Json)> {
    let url = format!("http://{http}/v1/{path}");
    let mut request = reqwest::Client::new().request(method.parse().unwrap(), url);
    if let Some((kind, body)) = body {
        request = request.header("content-type", kind.to_owned()).body(body);
    }
    let answer = request.send().await.ok()?;
    let status = answer.status().as_u16();
    Some((status, answer.json().await.ok()?))
}

async fn told(server: &Process, path: &str) -> Json {
    let (status, answer) = ask(server, "GET", path, None).await.unwrap();
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

/// Does `work` again and again, and kills the server when `enough` of it was acknowledged, a little later each time.
async fn until_killed(
    mut server: Process,
    cycle: usize,
    enough: usize,
    work: impl AsyncFn(&Process, &AtomicUsize),
) {
    let heard = Arc::new(AtomicUsize::new(0));
    let pid = server.child.id().to_string();
    let killer = tokio::spawn({
        let heard = heard.clone();
        async move {
            while heard.load(Ordering::Relaxed) < enough {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            // The moment wanders through the next piece of work.
            tokio::time::sleep(Duration::from_millis(7 + 29 * cycle as u64 % 120)).await;
            assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        }
    });
    work(&server, &heard).await;
    killer.await.unwrap();
    server.kill();
}

/// Every item of an import says its number, so that half of one would show.
fn numbered(import: usize, items: usize) -> String {
    (0..items).map(|n| format!("{{\"external_id\":\"{n}\",\"input\":\"{import} of {n}\"}}\n")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_during_imports_leaves_no_half_version() {
    let folder = tempfile::tempdir().unwrap();
    let import = AtomicUsize::new(0);
    let acknowledged = parking_lot::Mutex::new(Vec::new());
    for cycle in 0..cycles() {
        let server = Process::start_with(folder.path(), BUSY);
        until_killed(server, cycle, 2, async |server, heard| {
            loop {
                let lines = numbered(import.fetch_add(1, Ordering::Relaxed), ITEMS);
                let path = "lab/datasets/d/import?create=true&replace=true";
                let Some((status, told)) =
                    ask(server, "POST", path, Some(("application/x-ndjson", lines))).await
                else {
                    return;
                };
                assert_eq!(status, 200, "{told}");
                acknowledged.lock().push((told["version"].as_i64().unwrap(), told["content_hash"].clone()));
                heard.fetch_add(1, Ordering::Relaxed);
            }
        })
        .await;
    }
    let server = Process::start_with(folder.path(), BUSY);
    let versions = told(&server, "lab/datasets/d/versions").await["versions"].as_array().unwrap().clone();
    let acknowledged = acknowledged.into_inner();
    assert!(acknowledged.len() >= 2 * cycles(), "{} imports: the test saw nothing", acknowledged.len());
    for (version, hash) in &acknowledged {
        let stored = versions.iter().find(|one| one["version"] == *version);
        assert_eq!(stored.map(|one| &one["content_hash"]), Some(hash), "version {version} is lost");
    }
    let numbers: Vec<i64> = versions.iter().map(|one| one["version"].as_i64().unwrap()).collect();
    let last = i64::try_from(versions.len()).unwrap();
    assert_eq!(numbers, (1..=last).rev().collect::<Vec<_>>(), "each version is there once");
    for version in 1..=last {
        let sql = format!(
            "SELECT count(*) AS n, count(DISTINCT split_part(input, ' of ', 1)) AS imports FROM dataset_at('d', {version})"
        );
        let rows = query(server.http, &sql).await;
        assert_eq!((&rows[0]["n"], &rows[0]["imports"]), (&json!(ITEMS), &json!(1)), "version {version}");
    }
    // What is stored explains every hash: an archive is checked against all of them.
    let archived = reqwest::Client::new().post(format!("http://{}/v1/lab/archive", server.http));
    let bytes = archived.json(&json!({"names": ["d"]})).send().await.unwrap().bytes().await.unwrap();
    let restore = reqwest::Client::new().post(format!("http://{}/v1/lab/restore", server.http));
    let restored = restore.header("content-type", "application/zip").body(bytes).send().await.unwrap();
    assert_eq!(restored.status(), 200, "{}", restored.text().await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_during_an_experiment_loses_and_doubles_no_run() {
    // More than is answered before the server is killed for the last time.
    let items = 600 * cycles();
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start_with(folder.path(), BUSY);
    let json = |body: &Json| Some(("application/json", body.to_string()));
    let path = "lab/datasets/d/import?create=true";
    ask(&server, "POST", path, Some(("application/x-ndjson", numbered(0, items)))).await.unwrap();
    let body =
        json!({"name": "v1", "dataset": "d", "target": {"kind": "function"}, "evaluators": ["looping"]});
    let made = ask(&server, "POST", "lab/experiments", json(&body)).await.unwrap().1;
    let id = made["experiment_id"].as_str().unwrap().to_owned();
    drop(server);

    let (acknowledged, named) = (AtomicUsize::new(0), parking_lot::Mutex::new(HashSet::new()));
    let id_of = |run: &Json| run["run_id"].as_str().unwrap().to_owned();
    let answer = |run: &Json| json!({"item_id": run["item_id"], "output": "A lamp. It is bright.", "scores": [{"name": "mine", "value": 1.0}]});
    let work = async |server: &Process, heard: &AtomicUsize, batch: usize, most: usize| {
        loop {
            let Some((_, todo)) =
                ask(server, "GET", &format!("lab/experiments/{id}/todo?limit={batch}"), None).await
            else {
                return;
            };
            // However late the kill comes, it leaves something to do.
            if heard.load(Ordering::Relaxed) >= most {
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            }
            let answers: Vec<Json> = todo.as_array().unwrap().iter().map(answer).collect();
            if answers.is_empty() {
                return;
            }
            let path = format!("lab/experiments/{id}/runs");
            let Some((status, told)) = ask(server, "POST", &path, json(&json!(answers))).await else {
                return;
            };
            assert_eq!((status, &told["refused"]), (200, &json!([])), "{told}");
            named.lock().extend(todo.as_array().unwrap().iter().map(id_of));
            acknowledged
                .fetch_add(usize::try_from(told["stored"].as_u64().unwrap()).unwrap(), Ordering::Relaxed);
            heard.fetch_add(1, Ordering::Relaxed);
        }
    };
    for cycle in 0..cycles() {
        let server = Process::start_with(folder.path(), BUSY);
        until_killed(server, cycle, 3, async |server, heard| work(server, heard, 9, 60).await).await;
    }
    let server = Process::start_with(folder.path(), BUSY);
    let counted = async |sql: &str| usize::try_from(count(server.http, sql).await).unwrap();
    let (stored, heard) = (counted("SELECT count(*) FROM runs").await, acknowledged.load(Ordering::Relaxed));
    assert!(
        heard >= 9 * 3 * cycles() && (heard..items).contains(&stored),
        "{heard} acknowledged, {stored} stored"
    );
    // Counts alone would let a run that was stored unheard stand for one that is lost.
    let there: HashSet<String> =
        query(server.http, "SELECT run_id FROM runs").await.iter().map(id_of).collect();
    assert_eq!(named.lock().difference(&there).count(), 0, "runs are lost that were acknowledged");
    work(&server, &AtomicUsize::new(0), 500, usize::MAX).await;
    assert_eq!(counted("SELECT count(*) FROM runs").await, items);
    assert_eq!(counted("SELECT count(DISTINCT run_id) FROM runs").await, items);
    // Each run has the scores that its frame had, once.
    let uneven = "SELECT count(*) FROM (SELECT run_id, count(*) AS n, count(DISTINCT metric) AS metrics FROM scores \
                  WHERE source = 'experiment' GROUP BY run_id) WHERE n <> metrics OR n < 2";
    assert_eq!(counted(uneven).await, 0);
    assert_eq!(counted("SELECT count(DISTINCT run_id) FROM scores WHERE source = 'experiment'").await, items);
    let shown = told(&server, &format!("lab/experiments/{id}")).await;
    assert_eq!(shown["status"], "success");
}

async fn traces(server: &Process, spans: u64) {
    let chat = |n: u64| {
        let said = |role: &str, text: &str| {
            json!([{"role": role, "parts": [{"type": "text", "content": text}]}]).to_string()
        };
        span(
            n,
            0,
            vec![
                text("gen_ai.operation.name", "chat"),
                text("gen_ai.input.messages", &said("user", "What is it?")),
                text("gen_ai.output.messages", &said("assistant", &format!("The lamp number {n}."))),
            ],
        )
    };
    let url = format!("http://{}/v1/traces", server.otlp_http);
    let body = request("shop", (1..=spans).map(chat).collect()).encode_to_vec();
    let sent = reqwest::Client::new().post(url).header("content-type", "application/x-protobuf").body(body);
    assert_eq!(sent.send().await.unwrap().status(), 200);
}

/// The ids of the items that a reviewer gets.
async fn leased(server: &Process, who: &str) -> HashSet<String> {
    let items = told(server, &format!("labels/next?metric=pii_leakage&reviewer={who}&count=10")).await;
    let id = |item: &Json| item["item"].as_str().unwrap().to_owned();
    items["items"].as_array().unwrap().iter().map(id).collect()
}

async fn answered(server: &Process, item: &str, id: &str) -> (u16, Json) {
    let body = json!({"item": item, "name": "pii_leakage", "label": "pass", "annotator": "ana", "annotation_id": id});
    ask(server, "POST", "annotations", Some(("application/json", body.to_string()))).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_during_a_review_keeps_answers_and_gives_leases_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Process::start_with(folder.path(), BUSY);
    traces(&server, 6).await;
    let http = server.http;
    let scored = "SELECT count(DISTINCT trace_id) FROM scores_latest WHERE metric = 'pii_leakage' AND passed IS NOT NULL";
    until("six traces with a verdict", async || count(http, scored).await == 6).await;
    let mut open = leased(&server, "ana").await;
    assert_eq!((open.len(), leased(&server, "ben").await.len()), (6, 0), "one person has them all");
    for round in 0..4 {
        let item = open.iter().next().unwrap().clone();
        let (status, told) = answered(&server, &item, &format!("answer {round}")).await;
        assert_eq!(status, 200, "{told}");
        server.kill();
        server = Process::start_with(folder.path(), BUSY);
        // The same answer again is the one that is there, and the rest is free for anybody.
        assert_eq!(answered(&server, &item, &format!("answer {round}")).await, (200, told));
        open.remove(&item);
        let who = format!("reviewer {round}");
        assert_eq!(leased(&server, &who).await, open, "round {round}");
    }
    let rows =
        query(server.http, "SELECT count(*) AS n, count(DISTINCT item) AS items FROM review_answers").await;
    assert_eq!((&rows[0]["n"], &rows[0]["items"]), (&json!(4), &json!(4)));
    assert_eq!(count(server.http, "SELECT count(*) FROM annotations WHERE name = 'pii_leakage'").await, 4);
}

/// Fewest rounds in which the server is killed, and the most until one of them cut an answer off.
const ROUNDS: (usize, usize) = (2, 6);
/// What one reviewer gets at once.
const LEASED: usize = 10;

/// A queue over spans, each of which one answer labels.
async fn queue(server: &Process, spans: usize) -> String {
    let calls = (1..=spans as u64).map(|n| span(n, 0, vec![text("gen_ai.operation.name", "chat")])).collect();
    assert!(send(server.otlp_http, calls).await);
    let stored = async || count(server.http, "SELECT count(*) FROM spans").await;
    until("the spans", async || usize::try_from(stored().await) == Ok(spans)).await;
    let new = json!({"name": "spans", "source": {"sql": "SELECT trace_id, span_id FROM spans"}, "auto_evals": false,
        "templates": [{"name": "useful", "type": "categorical", "categories": ["pass", "fail"]}]});
    let new = Some(("application/json", new.to_string()));
    let (status, made) = ask(server, "POST", "lab/queues", new).await.unwrap();
    assert_eq!((status, &made["items"]), (200, &json!(spans)), "{made}");
    made["queue_id"].as_str().unwrap().to_owned()
}

/// The items that a reviewer gets of a queue.
async fn claimed(server: &Process, queue: &str, who: &str) -> Vec<String> {
    let wish = Some(("application/json", json!({"reviewer": who, "count": LEASED}).to_string()));
    let (status, given) = ask(server, "POST", &format!("lab/queues/{queue}/claim"), wish).await.unwrap();
    assert_eq!(status, 200, "{given}");
    given["items"].as_array().unwrap().iter().map(|item| item["item"].as_str().unwrap().to_owned()).collect()
}

/// An answer under the id that its item gives it; what it was told, if it was.
async fn says(http: SocketAddr, queue: &str, who: &str, item: String) -> (String, Option<(u16, Json)>) {
    let path = format!("lab/queues/{queue}/items/{item}/answer");
    let said = json!({"reviewer": who, "answer_id": format!("of {item}"), "templates": {"useful": "pass"}});
    let told = ask_at(http, "POST", &path, Some(("application/json", said.to_string()))).await;
    (item, told)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_in_the_middle_of_answers_loses_and_doubles_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Process::start_with(folder.path(), BUSY);
    let queue = queue(&server, ROUNDS.1 * LEASED).await;
    let (mut answered, mut cut_off) = (HashSet::new(), 0);
    for round in 0..ROUNDS.1 {
        let who = format!("reviewer {round}");
        let items = claimed(&server, &queue, &who).await;
        assert_eq!(items.len(), LEASED, "leases end with the process");
        assert!(items.iter().all(|item| !answered.contains(item)), "what is answered is not asked again");

        // All of them at once; the first one that is acknowledged finds the others on their way.
        let mut sent: FuturesUnordered<_> =
            items.into_iter().map(|item| says(server.http, &queue, &who, item)).collect();
        let mut heard = vec![sent.next().await.unwrap()];
        server.kill();
        heard.extend(sent.collect::<Vec<_>>().await);
        cut_off += heard.iter().filter(|(_, told)| told.is_none()).count();

        server = Process::start_with(folder.path(), BUSY);
        let rows = query(server.http, "SELECT item FROM review_answers").await;
        let stored: Vec<&str> = rows.iter().map(|row| row["item"].as_str().unwrap()).collect();
        assert_eq!(stored.iter().collect::<HashSet<_>>().len(), stored.len(), "an answer is there twice");
        for (item, told) in heard {
            if let Some((status, told)) = &told {
                assert_eq!((*status, &told["state"]), (200, &json!("final")), "{told}");
                assert!(stored.contains(&item.as_str()), "the answer to {item} is lost");
            }
            // Sent again, whatever became of it, it is one answer, and the one that was acknowledged.
            let again = says(server.http, &queue, &who, item.clone()).await.1.unwrap();
            assert_eq!((again.0, &again.1["answers"][1]), (200, &Json::Null), "{}", again.1);
            assert_eq!(told.unwrap_or_else(|| again.clone()), again);
            answered.insert(item);
        }
        if cut_off > 0 && round + 1 >= ROUNDS.0 {
            break;
        }
    }
    assert!(cut_off > 0, "every answer was acknowledged before the server was dead");
    let labels =
        "SELECT count(*) AS n, count(DISTINCT trace_id) AS items FROM annotations WHERE name = 'useful'";
    let answers = "SELECT count(*) AS n, count(DISTINCT item) AS items FROM review_answers";
    for sql in [labels, answers] {
        let rows = query(server.http, sql).await;
        let all = json!(answered.len());
        assert_eq!((&rows[0]["n"], &rows[0]["items"]), (&all, &all), "{sql}");
    }
}
