//! Human review of experiments and spans: queues, blind answers, decisions between them, agreement, files, tenants.

use super::verbs::{verb, well};
use super::{done, send};
use crate::access::{tokens, with_tokens};
use crate::support::{Process, config, count, query, send as send_spans, span, start, text, until};
use groundline::app::App;
use groundline::net::Role;
use serde_json::{Value as Json, json};
use std::net::SocketAddr;

/// An experiment over a dataset `d` of so many items, whose evaluator `mine` passes every second answer and cannot tell about
/// the first one.
async fn experiment(app: &App, items: usize) -> String {
    done(app, "POST", "datasets", &json!({"name": "d"})).await;
    let put: Vec<Json> = (0..items)
        .map(|n| {
            let (input, expected) = (format!("Question {n}?"), format!("answer {n}"));
            let tags = [if n % 2 == 0 { "even" } else { "odd" }];
            json!({"external_id": n.to_string(), "input": input, "expected": expected, "tags": tags})
        })
        .collect();
    done(app, "POST", "datasets/d/items", &json!({ "put": put })).await;
    let body = json!({"name": "v1", "dataset": "d", "target": {"kind": "function"}, "evaluators": []});
    let id = done(app, "POST", "experiments", &body).await["experiment_id"].as_str().unwrap().to_owned();
    let todo = done(app, "GET", &format!("experiments/{id}/todo"), &Json::Null).await;
    let runs: Vec<Json> = todo.as_array().unwrap().iter().map(run).collect();
    let stored = done(app, "POST", &format!("experiments/{id}/runs"), &json!(runs)).await;
    assert_eq!((&stored["stored"], &stored["refused"]), (&json!(items), &json!([])));
    id
}

fn run(todo: &Json) -> Json {
    let n: usize = todo["external_id"].as_str().unwrap().parse().unwrap();
    let label = if n == 0 { json!("undetermined") } else { Json::Null };
    json!({"item_id": todo["item_id"], "output": format!("answer {n}"),
        "scores": [{"name": "mine", "value": n, "passed": n % 2 == 1, "label": label, "rationale": "a secret verdict"}]})
}

/// What a reviewer is given.
async fn claim(app: &App, queue: &str, who: &str, decides: bool) -> Vec<Json> {
    let body = json!({"reviewer": who, "count": 10, "adjudicate": decides});
    let given = done(app, "POST", &format!("queues/{queue}/claim"), &body).await;
    given["items"].as_array().unwrap().clone()
}

fn says(who: &str, verdict: &str, tone: &str) -> Json {
    json!({"reviewer": who, "templates": {"tone": tone, "grade": 4}, "comment": format!("said by {who}"),
        "auto_evals": {"client/mine": {"response": verdict, "feedback": "it is so"}}})
}

async fn answer(app: &App, queue: &str, item: &Json, said: &Json) -> (u16, Json) {
    let path = format!("queues/{queue}/items/{}/answer", item["item"].as_str().unwrap());
    send(app, "POST", &path, None, said).await
}

fn wanted(source: Json) -> Json {
    json!({"name": "review of v1 by two", "source": source, "reviews_per_item": 2, "instructions": "Be strict.",
        "templates": [{"name": "tone", "type": "categorical", "categories": ["polite", "rude"]},
            {"name": "grade", "type": "numerical", "min": 1, "max": 5, "step": 1, "tolerance": 1},
            {"name": "note", "type": "free_text", "optional": true}]})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_review_an_experiment_blind_and_a_third_decides() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let http = app.addresses.http;
    let run = experiment(&app, 4).await;
    let before = query(http, "SELECT count(*) AS n FROM scores_latest").await;
    let made = done(&app, "POST", "queues", &wanted(json!({"experiment": "v1"}))).await;
    let queue = made["queue_id"].as_str().unwrap().to_owned();
    assert_eq!(made["items"], 4);
    let first = ana_answers(&app, &queue).await;
    ben_differs_and_cleo_decides(&app, &queue, &first).await;
    labels_are_annotations_of_the_runs(http).await;
    assert_eq!(query(http, "SELECT count(*) AS n FROM scores_latest").await, before);
    let online =
        reqwest::get(format!("http://{http}/v1/labels")).await.unwrap().json::<Json>().await.unwrap();
    assert_eq!(online["queues"], json!([]), "the online queue does not know of it");

    // A restart keeps it.
    app.stop().await.unwrap();
    let app = start(config(folder.path())).await;
    let shown = done(&app, "GET", &format!("queues/{queue}?reviewer=ana"), &Json::Null).await;
    let counts = &shown["counts"];
    assert_eq!(
        (&counts["final"], &counts["open"], &counts["mine"], &counts["agreed"]),
        (&json!(3), &json!(1), &json!(4), &json!(2))
    );
    its_files_and_its_agreement(&app, &queue, &run).await;
    app.stop().await.unwrap();
}

/// Blind: nothing of what the evaluator or others said. The first item that she was given.
async fn ana_answers(app: &App, queue: &str) -> Json {
    let mine = claim(app, queue, "ana", false).await;
    assert_eq!(mine.len(), 4);
    let first = &mine[0];
    assert!(
        first["content"]["question"].as_str().unwrap().contains("Question 0?"),
        "what is urgent comes first: {first}"
    );
    assert_eq!((&first["content"]["answer"], &first["expected"]), (&json!("answer 0"), &json!(["answer 0"])));
    assert_eq!(
        first["auto_evals"],
        json!([{"key": "client/mine", "evaluator": "client/mine", "metric": "mine"}])
    );
    assert!(!first.to_string().contains("secret") && first["answers"].is_null() && first["reason"].is_null());
    for item in &mine {
        let (status, told) = answer(app, queue, item, &says("ana", "pass", "Polite")).await;
        assert_eq!((status, &told["state"]), (200, &json!("open")), "{told}");
        assert_eq!(told["auto_evals"][0]["rationale"], "a secret verdict", "now it is told");
    }
    let twice = answer(app, queue, first, &says("ana", "pass", "polite")).await;
    assert!(twice.0 == 409 && twice.1["error"].as_str().unwrap().contains("undo"), "{twice:?}");
    assert!(claim(app, queue, "ana", false).await.is_empty());
    first.clone()
}

/// They differ about the first, agree about two, and one answer is taken back. Grades a step apart agree.
async fn ben_differs_and_cleo_decides(app: &App, queue: &str, first: &Json) {
    let theirs = claim(app, queue, "ben", false).await;
    assert_eq!(theirs.len(), 4);
    let skip = json!({"reviewer": "ben", "kind": "skip"});
    let (_, told) = answer(app, queue, &theirs[3], &skip).await;
    assert_eq!((&told["state"], &told["answers"]), (&json!("open"), &json!([])), "a skip shows nothing");
    let mut near = says("ben", "pass", "polite");
    near["templates"]["grade"] = json!(5);
    near["answer_id"] = json!("ben's");
    let (_, told) = answer(app, queue, &theirs[1], &near).await;
    assert_eq!((&told["state"], &told["answers"].as_array().unwrap().len()), (&json!("final"), &2));
    assert_eq!(
        answer(app, queue, &theirs[1], &near).await,
        (200, told),
        "the same answer again is taken once"
    );
    near["reviewer"] = json!("eve");
    let (status, told) = answer(app, queue, &theirs[1], &near).await;
    assert!(status == 409 && told["auto_evals"].is_null() && told["answers"].is_null(), "{told}");
    answer(app, queue, &theirs[2], &says("ben", "fail", "polite")).await;
    let undo = json!({"reviewer": "ben", "kind": "undo"});
    assert_eq!(answer(app, queue, &theirs[2], &undo).await.1["state"], "open");
    answer(app, queue, &theirs[2], &says("ben", "pass", "polite")).await;
    let (_, told) = answer(app, queue, first, &says("ben", "fail", "rude")).await;
    assert_eq!(told["state"], "adjudicate");
    assert!(claim(app, queue, "ben", true).await.is_empty(), "who answered does not decide");
    let differing = claim(app, queue, "cleo", true).await;
    assert_eq!((differing.len(), differing[0]["answers"].as_array().unwrap().len()), (1, 2));
    let (_, told) = answer(app, queue, &differing[0], &says("cleo", "fail", "rude")).await;
    assert_eq!((&told["state"], &told["label"]["templates"]["tone"]), (&json!("final"), &json!("rude")));
}

/// Labels are annotations of the runs, and move nothing of production.
async fn labels_are_annotations_of_the_runs(http: SocketAddr) {
    let labels = "SELECT a.name, a.label, a.value, a.annotator FROM annotations a JOIN review_items i ON a.item = i.item \
                  JOIN runs r ON r.run_id = i.run_id WHERE i.reason = 'undetermined' ORDER BY a.name";
    let rows = query(http, labels).await;
    let told: Vec<_> = rows.iter().map(|r| (&r["name"], &r["label"], &r["value"], &r["annotator"])).collect();
    let (grade, mine, tone) = (json!("grade"), json!("mine"), json!("tone"));
    let (fail, rude, four, cleo) = (json!("fail"), json!("rude"), json!(4.0), json!("cleo"));
    let none = Json::Null;
    assert_eq!(
        told,
        [(&grade, &none, &four, &cleo), (&mine, &fail, &none, &cleo), (&tone, &rude, &none, &cleo)]
    );
    assert_eq!(count(http, "SELECT count(*) FROM labelled_scores").await, 0);
    let corrects = "SELECT count(*) FROM annotations a JOIN review_items i ON a.item = i.item JOIN scores s \
                    ON s.run_id = i.run_id AND s.metric = a.name WHERE a.label_probability = 1 AND s.source = 'experiment'";
    assert_eq!(count(http, corrects).await, 3, "a query corrects the experiment's own rate");
}

/// What was written is read into other queues: the same answers and labels, once, and all of a file or nothing.
async fn its_files_come_back(app: &App, queue: &str, csv: &str) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}", app.addresses.http);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let json = done(app, "GET", &format!("queues/{queue}/export?format=json"), &Json::Null).await;
    std::fs::write(path("review.json"), json.to_string()).unwrap();
    std::fs::write(path("review.csv"), csv).unwrap();
    std::fs::write(path("wrong.csv"), csv.replacen(",ana,", ",,", 1)).unwrap();
    for (name, file, more) in [("again", "review.json", true), ("third", "review.csv", false)] {
        let mut body = wanted(json!({"experiment": "v1"}));
        body["name"] = json!(name);
        done(app, "POST", "queues", &body).await;
        let said = well(&["review", "queue", "import", name, &path(file)], &["--url", &url]).await;
        assert_eq!(said, format!("{name}: 8 reviews stored, 0 were there; 3 of 4 items labelled\n"));
        let said = well(&["review", "queue", "import", name, &path(file)], &["--url", &url]).await;
        assert_eq!(said, format!("{name}: 0 reviews stored, 8 were there; 3 of 4 items labelled\n"));
        let back = done(app, "GET", &format!("queues/{name}/export?format=json"), &Json::Null).await;
        for item in json["items"].as_array().unwrap() {
            let same = |one: &&Json| one["run_id"] == item["run_id"];
            let found = back["items"].as_array().unwrap().iter().find(same).unwrap();
            assert_eq!(
                (&found["state"], &found["label"]["templates"]),
                (&item["state"], &item["label"]["templates"])
            );
            assert!(!more || found["answers"] == item["answers"], "{found} {item}");
        }
        let (code, _, err) =
            verb(&["review", "queue", "import", name, &path("wrong.csv")], &["--url", &url]).await;
        assert!(code == 1 && err.contains("wrong.csv: line 5: Completed By is missing"), "{err}");
    }
}

/// The file has the blocks of its head, and the edited score beside what the evaluator said.
async fn its_files_and_its_agreement(app: &App, queue: &str, run: &str) {
    let url = format!("http://{}", app.addresses.http);
    let csv = well(&["review", "queue", "export", queue], &["--url", &url]).await;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("Run Id,Run Name,Run Review Status,Run Review Created By"), "{csv}");
    assert!(lines[1].starts_with(&format!("{run},v1,in progress,")) && lines[2].is_empty(), "{csv}");
    assert!(
        lines[3].starts_with("Test Result Id,Test Input,LLM Output,Files,Completed At,Completed By"),
        "{csv}"
    );
    let of = |word: &str| lines.iter().filter(|line| line.contains(word)).count();
    assert_eq!(
        (of("Auto-eval review"), of(",categorical,tone,"), of(",numerical,grade,")),
        (8, 8, 8),
        "{csv}"
    );
    let edits = well(&["review", "queue", "export", queue, "--part", "edits"], &["--url", &url]).await;
    assert!(edits.contains("client/mine,,fail,fail,it is so,cleo,"), "{edits}");
    its_files_come_back(app, queue, &csv).await;
    let measures = done(app, "GET", &format!("queues/{queue}/agreement"), &Json::Null).await;
    let rows = measures["measures"].as_array().unwrap();
    assert!(
        rows.iter().all(|row| row["estimate"].is_null()),
        "fewer than twenty items tell nothing: {rows:?}"
    );
    assert!(
        rows.iter()
            .any(|row| row["field"] == "tone" && row["measure"] == "krippendorff_alpha" && row["items"] == 3)
    );

    its_agreement_has_slices(app, queue, &url).await;
    let listed = well(&["review", "queue", "list"], &["--url", &url]).await;
    assert!(listed.contains("review of v1 by two  experiment  open    4"), "{listed}");
    well(&["review", "queue", "close", queue], &["--url", &url]).await;
    let (status, closed) = send(app, "POST", &format!("queues/{queue}/claim"), None, &json!({})).await;
    assert!(status == 409 && closed["error"].as_str().unwrap().contains("is closed"), "{closed}");
}

async fn its_agreement_has_slices(app: &App, queue: &str, url: &str) {
    let path = format!("queues/{queue}/agreement?slice=tag");
    let told = done(app, "GET", &path, &Json::Null).await;
    let slices: Vec<String> = told["slices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|slice| format!("{}={}:{}", slice["by"], slice["value"], slice["items"]).replace('"', ""))
        .collect();
    assert_eq!(slices, ["tag=even:2", "tag=odd:2"], "{told}");
    let shown = well(&["review", "queue", "show", queue, "--slice", "tag"], &["--url", url]).await;
    assert!(shown.lines().any(|line| line.starts_with("tag=odd ") && line.ends_with('-')), "{shown}");
    let wrong = format!("queues/{queue}/agreement?slice=colour");
    let (status, told) = send(app, "GET", &wrong, None, &Json::Null).await;
    assert!(status == 400 && told["error"].as_str().unwrap().contains("metadata.KEY"), "{status} {told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_could_tell_waits_for_a_person_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let http = app.addresses.http;
    let id = experiment(&app, 3).await;
    let listed = done(&app, "GET", "queues", &Json::Null).await;
    let own = &listed["queues"][0];
    assert_eq!((&own["name"], &own["counts"]["items"]), (&json!("review of v1"), &json!(1)), "{listed}");
    let queue = own["queue_id"].as_str().unwrap().to_owned();
    let given = claim(&app, &queue, "ana", false).await;
    let item = &given[0];
    let todo = json!({"external_id": "1", "item_id": query(http, "SELECT item_id FROM dataset_at('d') WHERE external_id = '1'").await[0]["item_id"]});

    // Another attempt that says so joins it; one that takes the place of an unsure answer leaves it.
    let mut unsure = run(&todo);
    unsure["attempt"] = json!(2);
    unsure["scores"][0]["needs_review"] = json!("votes differ");
    done(&app, "POST", &format!("experiments/{id}/runs"), &json!([unsure])).await;
    let told = claim(&app, &queue, "ben", false).await;
    assert_eq!(told.len(), 1, "the other one is ana's");
    let rows =
        query(http, "SELECT reason, count(*) AS n FROM review_items GROUP BY reason ORDER BY reason").await;
    assert_eq!(rows, [json!({"reason": "undetermined", "n": 1}), json!({"reason": "votes differ", "n": 1})]);
    let verdict = json!({"reviewer": "ana", "auto_evals": {"client/mine": {"response": "pass"}}});
    assert_eq!(answer(&app, &queue, item, &verdict).await.1["state"], "final");
    unsure["attempt"] = json!(3);
    unsure["scores"][0]["needs_review"] = Json::Null;
    done(&app, "POST", &format!("experiments/{id}/runs"), &json!([unsure])).await;
    let counts = done(&app, "GET", &format!("queues/{queue}"), &Json::Null).await["counts"].clone();
    assert_eq!((&counts["items"], &counts["final"]), (&json!(1), &json!(1)), "{counts}");

    // A purge takes what was shown and said.
    let reviewed = query(http, "SELECT item_id FROM review_answers").await;
    done(&app, "POST", "datasets/d/purge", &json!({"items": [reviewed[0]["item_id"]]})).await;
    until("its review is gone", async || count(http, "SELECT count(*) FROM review_answers").await == 0).await;
    assert_eq!(count(http, "SELECT count(*) FROM review_items WHERE reason = 'undetermined'").await, 0);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_belongs_to_a_tenant_and_to_its_reviewers() {
    let folder = tempfile::tempdir().unwrap();
    let who = tokens(&[
        ("lab-a", Some("a"), &[Role::Lab, Role::Query]),
        ("ana", Some("a"), &[Role::Review]),
        ("ben", Some("a"), &[Role::Review]),
        ("lab-b", Some("b"), &[Role::Lab, Role::Query, Role::Review]),
    ]);
    let app = with_tokens(folder.path(), &who).await;
    let as_lab = async |path: &str, body: Json| {
        let (status, told) = send(&app, "POST", path, Some("lab-a"), &body).await;
        assert_eq!(status, 200, "{path}: {told}");
        told
    };
    as_lab("datasets", json!({"name": "d"})).await;
    as_lab("datasets/d/items", json!({"put": [{"external_id": "1", "input": "q"}]})).await;
    let body = json!({"name": "v1", "dataset": "d", "target": {"kind": "function"}, "evaluators": []});
    let id = as_lab("experiments", body).await["experiment_id"].as_str().unwrap().to_owned();
    let (_, todo) = send(&app, "GET", &format!("experiments/{id}/todo"), Some("lab-a"), &Json::Null).await;
    as_lab(&format!("experiments/{id}/runs"), json!([run(&todo[0])])).await;
    let mut new = wanted(json!({"experiment": "v1"}));
    (new["reviews_per_item"], new["reviewers"]) = (json!(1), json!(["ana"]));
    let queue = as_lab("queues", new.clone()).await["queue_id"].as_str().unwrap().to_owned();

    let (claims, reads) = (format!("queues/{queue}/claim"), format!("queues/{queue}/agreement"));
    for (token, method, path, sent, status) in [
        ("lab-b", "GET", format!("queues/{queue}"), Json::Null, 404),
        ("lab-b", "POST", claims.clone(), json!({}), 404),
        ("lab-b", "POST", "queues".to_owned(), new.clone(), 404),
        ("lab-b", "POST", format!("queues/{queue}/close"), json!({}), 404),
        ("ben", "POST", claims.clone(), json!({}), 403),
        ("ben", "GET", format!("queues/{queue}"), Json::Null, 403),
        ("ana", "GET", reads.clone(), Json::Null, 403),
        ("ana", "POST", "queues".to_owned(), new.clone(), 403),
        ("lab-a", "POST", claims.clone(), json!({}), 403),
        ("lab-a", "GET", reads, Json::Null, 200),
        ("ana", "POST", claims.clone(), json!({}), 200),
    ] {
        let (got, answer) = send(&app, method, &path, Some(token), &sent).await;
        assert_eq!(got, status, "{token} {method} {path}: {answer}");
    }
    let listed = async |token: &str| send(&app, "GET", "queues", Some(token), &Json::Null).await;
    assert_eq!(listed("lab-b").await.1["queues"], json!([]));
    assert_eq!(listed("ben").await.1["queues"], json!([]));
    assert_eq!(listed("ana").await.1["queues"].as_array().unwrap().len(), 1);
    // The name of an answer is the token's, whatever is sent.
    let (_, given) = send(&app, "POST", &claims, Some("ana"), &json!({"reviewer": "somebody"})).await;
    assert_eq!((&given["reviewer"], given["items"].as_array().unwrap().len()), (&json!("ana"), 1));

    // What is wrong is told, all of it at once.
    let path = format!("queues/{queue}/items/{}/answer", given["items"][0]["item"].as_str().unwrap());
    let odd = json!({"templates": {"tone": "odd", "grade": 9, "size": 1}, "auto_evals": {"other": {"response": "pass"}}});
    let (status, told) = send(&app, "POST", &path, Some("ana"), &odd).await;
    let error = told["faults"].to_string();
    assert_eq!((status, told["faults"].as_array().unwrap().len()), (400, 5), "{told}");
    assert!(error.contains("it may be polite, rude") && error.contains("from 1 to 5"), "{error}");
    for (sent, said) in [
        (json!({"name": "", "source": {"sql": "SELECT 1"}, "reviews_per_item": 99}), "reviews_per_item"),
        (json!({"name": "q", "source": {"nothing": 1}}), "unknown variant"),
        (json!({"name": "q", "source": {"experiment": "v9"}}), "there is no experiment"),
        (json!({"name": "q", "source": {"sql": "SELECT 1 AS a"}}), "row 1 of the query has no trace"),
        (json!({"name": "q", "source": {"sql": "DROP TABLE spans"}}), "DROP"),
        (json!({"name": "q", "source": {"sql": "SELECT * FROM spans"}}), "nothing of it is to be reviewed"),
        (json!({"name": "q", "source": {"proposal": "nothing"}}), "nothing of it is to be reviewed"),
        (json!({"name": "q", "source": {"experiment": "v1"}, "more": 1}), "unknown field"),
    ] {
        let (status, told) = send(&app, "POST", "queues", Some("lab-a"), &sent).await;
        let error = told["error"].as_str().unwrap_or_default();
        assert!(
            (400..500).contains(&status) && error.to_lowercase().contains(&said.to_lowercase()),
            "{sent}: {told}"
        );
    }
    app.stop().await.unwrap();
}

async fn an_export_that_nobody_reads_ends_quietly(http: SocketAddr) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let export = tokio::process::Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args(["export", "--url", &format!("http://{http}")])
        .stdout(writer)
        .stderr(std::process::Stdio::piped())
        .spawn();
    let done = export.unwrap().wait_with_output().await.unwrap();
    assert_eq!((done.status.code(), &*String::from_utf8_lossy(&done.stderr)), (Some(0), ""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_of_a_query_are_reviewed_and_a_kill_loses_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Process::start(folder.path());
    let spans = (1..=3).map(|n| span(n, 0, vec![text("gen_ai.operation.name", "chat")])).collect();
    assert!(send_spans(server.otlp_http, spans).await);
    until("three spans", async || count(server.http, "SELECT count(*) FROM spans").await == 3).await;
    an_export_that_nobody_reads_ends_quietly(server.http).await;
    let post = async |server: &Process, path: &str, body: Json| {
        let url = format!("http://{}/v1/lab/{path}", server.http);
        let answer = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Json>().await.unwrap())
    };
    let new = json!({"name": "spans", "source": {"sql": "SELECT trace_id, span_id FROM spans"}, "auto_evals": false,
        "templates": [{"name": "useful", "type": "categorical", "categories": ["pass", "fail"]}]});
    let (status, made) = post(&server, "queues", new).await;
    assert_eq!((status, &made["items"]), (200, &json!(3)), "{made}");
    let queue = made["queue_id"].as_str().unwrap().to_owned();
    let url = format!("http://{}/v1/lab/queues/{queue}/agreement?slice=tag", server.http);
    let refused = reqwest::get(url).await.unwrap();
    assert_eq!(refused.status().as_u16(), 400);
    assert!(refused.text().await.unwrap().contains("reviews no experiment"), "spans have no dataset");
    for round in 0..3 {
        let claim = json!({"reviewer": format!("reviewer {round}"), "count": 10});
        let (_, given) = post(&server, &format!("queues/{queue}/claim"), claim).await;
        assert_eq!(
            given["items"].as_array().unwrap().len(),
            3 - round,
            "leases end with the process: {given}"
        );
        let path = format!("queues/{queue}/items/{}/answer", given["items"][0]["item"].as_str().unwrap());
        let said = json!({"reviewer": format!("reviewer {round}"), "answer_id": format!("answer {round}"),
            "templates": {"useful": "pass"}});
        let first = post(&server, &path, said.clone()).await;
        assert_eq!((first.0, &first.1["state"]), (200, &json!("final")));
        server.kill();
        server = Process::start(folder.path());
        assert_eq!(post(&server, &path, said).await, first, "the same answer again is the one that is there");
    }
    let labels = "SELECT count(DISTINCT trace_id) FROM annotations WHERE name = 'useful' AND label = 'pass' AND label_probability IS NULL";
    assert_eq!(count(server.http, labels).await, 3);
    assert_eq!(count(server.http, "SELECT count(*) FROM review_answers").await, 3);
    assert_eq!(
        count(server.http, "SELECT count(*) FROM review_queues_latest WHERE status = 'open'").await,
        1
    );
}
