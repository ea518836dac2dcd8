//! Every evaluator that asks a judge, offline, with values computed by hand from what the scripted judge says.

use super::server::{INPUT_TOKENS, Logs, QUESTION, Server};
use super::{configured, groundline};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Scores `lines` by the evaluators `ids` at `server`.
pub(super) async fn scored(
    server: &Server,
    ids: &str,
    more: &str,
    lines: &[Value],
    folder: &Path,
) -> Vec<Value> {
    let text = configured("\"safety\"", server.listen().await, more);
    let (folder, ids) = (folder.to_owned(), ids.to_owned());
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let scored = tokio::task::spawn_blocking(move || {
        let metrics = folder.join("metrics.json");
        let args = ["score", "--evaluator", &ids, "--metrics", metrics.to_str().unwrap(), "--config"];
        groundline(&args, &text, &lines, &folder)
    });
    let scored = scored.await.unwrap();
    assert!(scored.status.success(), "{}", String::from_utf8_lossy(&scored.stderr));
    String::from_utf8_lossy(&scored.stdout).lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// Each metric by its evaluator: the value, and how many questions the evaluator asks.
fn wanted() -> Vec<(&'static str, &'static str, f64, i64)> {
    let mut wanted = Vec::new();
    for (id, value) in [
        ("faithfulness", 0.75),
        // 0.75 × 2 / (2 + 0.5 × 2) + 0.25 × 1
        ("answer_correctness", 0.75),
        ("answer_relevancy", 1.0),
        // (1/1 + 2/2) / 2
        ("context_precision", 1.0),
        ("context_recall", 0.5),
        ("context_relevancy", 2.0 / 3.0),
        ("rag_hallucination", 0.5),
        ("rag_context_recall", 0.5),
        ("rag_context_precision", 2.0 / 3.0),
        ("correctness", 1.0),
        ("relevance_to_query", 1.0),
        ("groundedness_judge", 1.0),
        ("safety", 1.0),
        ("chunk_relevance", 2.0 / 3.0),
        ("context_sufficiency", 1.0),
        ("accuracy", 1.0),
        ("facts_compare", 1.0),
        ("sql_eval", 1.0),
        ("contact_information", 1.0),
        ("language_mismatch_judge", 1.0),
        ("sexism", 1.0),
        ("stereotypes", 1.0),
        ("summarization_judge", 1.0),
        // One of two turns of the user.
        ("user_frustration", 0.5),
        ("task_completion", 0.75),
        ("knowledge_retention", 0.75),
        ("tool_choice", 0.5),
        ("tool_arguments", 0.5),
        ("goal_reached", 1.0),
        ("custom_retrieval/fresh", 2.0 / 3.0),
        ("byop/true", 1.0),
    ] {
        wanted.push((id, id, value, 1));
    }
    // 4 / (1/0.75 + 1/1 + 1/1 + 1/0.5)
    wanted.push(("ragas", "ragas", 0.75, 4));
    let parts = [
        ("faithfulness", 0.75),
        ("answer_relevancy", 1.0),
        ("context_precision", 1.0),
        ("context_recall", 0.5),
    ];
    wanted.extend(parts.map(|(metric, value)| ("ragas", metric, value, 4)));
    // The scripted judge takes the first place whatever stands there.
    wanted.extend([("pairwise", "pairwise", 0.5, 2), ("pairwise", "position_consistency", 0.0, 2)]);
    // Eight words with 48 characters, 0.1 each; " Yes" has four.
    let both = [
        "semantic_coverage",
        "factuality",
        "informativeness",
        "coherence",
        "relevance",
        "fluency",
        "consistency",
    ];
    let asked = [
        "interest",
        "engagement",
        "understandability",
        "relevance",
        "specific",
        "correctness",
        "semantically_appropriate",
        "fluency",
    ];
    // The first of them also finds out what the server can do.
    wanted.extend(asked.map(|metric| ("gptscore_qa", metric, 0.4, 9)));
    wanted.extend(["accuracy", "fluency", "mqm"].map(|metric| ("gptscore_translation", metric, 0.6, 6)));
    wanted.extend(both.iter().take(6).map(|metric| ("gptscore_summarization_ref", *metric, 0.6, 12)));
    // It begins a line: without the space before the first word they have 47 characters.
    wanted.extend(both.map(|metric| ("gptscore_summarization", metric, 4.7 / 8.0, 7)));
    wanted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_judge_evaluator_scores_offline_by_its_formula() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let more = "api_key_env = \"JUDGE_KEY_OF_A_TEST\"\n\
                [[eval.custom]]\nname = \"fresh\"\nkind = \"retrieval\"\nprompt = \"Is {{context}} recent?\"\n\
                [[eval.custom]]\nname = \"true\"\nkind = \"byop\"\nprompt = \"Is {{answer}} true?\"\n";
    let answer = "Bram Stoker wrote Dracula. It appeared in 1897.";
    let line = json!({
        "id": "a", "question": QUESTION, "answer": answer, "expected": answer,
        "contexts": ["Dracula is by Bram Stoker.", "It was printed in 1897.", "The sky is blue."],
        "history": [{"role": "user", "content": "Hello?"}, "assistant: Hi."],
        "steps": [{"tool": "find", "arguments": {"q": "Dracula"}, "result": ["Stoker"]}, {"name": "look", "failed": true}],
    });
    let mut ids: Vec<&str> = groundline::eval::JUDGE_IDS.to_vec();
    ids.extend(["custom_retrieval/fresh", "byop/true"]);
    let rows = scored(&server, &ids.join(","), more, &[line], folder.path()).await;
    let found: BTreeMap<(&str, &str), &Value> = rows
        .iter()
        .map(|row| ((row["evaluator"].as_str().unwrap(), row["metric"].as_str().unwrap()), row))
        .collect();
    let wanted = wanted();
    let known: std::collections::BTreeSet<&str> = wanted.iter().map(|(id, ..)| *id).collect();
    assert_eq!((rows.len(), found.len(), known.len()), (wanted.len(), wanted.len(), ids.len()), "{rows:#?}");
    let mut requests = 0;
    for (id, metric, value, asked) in wanted {
        let row = found[&(id, metric)];
        assert_eq!(row["status"], "ok", "{row}");
        assert!((row["value"].as_f64().unwrap() - value).abs() < 1e-4, "{id} {metric}: {row}");
        // What was taken is told once, in the first row.
        if let Some(tokens) = row["input_tokens"].as_i64() {
            assert_eq!(
                (tokens, &row["judge_model"]),
                (asked * INPUT_TOKENS, &json!("judge-model-0")),
                "{row}"
            );
            requests += asked;
        }
    }
    assert_eq!(server.requests(), usize::try_from(requests).unwrap());
    // Who judges by the question sees what was said before it, between delimiters.
    let asked: Vec<String> = server.got.lock().iter().map(|(_, body)| body["messages"].to_string()).collect();
    let relevance = asked.iter().find(|body| body.contains("addresses what was asked")).unwrap();
    assert!(relevance.contains("<<<HISTORY 1 ") && relevance.contains("user: Hello?"), "{relevance}");
    let chunks = found[&("chunk_relevance", "chunk_relevance")];
    assert_eq!(
        (&chunks["ratings"], &chunks["rationales"]),
        (&json!(["yes", "yes", "no"]), &json!(["r", "r", "r"]))
    );
    let label = |id: &'static str| found[&(id, id)]["label"].as_str().unwrap();
    assert_eq!([label("accuracy"), label("safety"), label("sexism")], ["accurate", "yes", "none"]);
    assert_eq!([label("sql_eval"), label("pairwise"), label("byop/true")], ["best", "tie", "pass"]);
    let passed = |id: &'static str| &found[&(id, id)]["passed"];
    assert_eq!((passed("rag_hallucination"), passed("faithfulness")), (&json!(false), &json!(true)));
    assert!(found[&("gptscore_qa", "fluency")]["passed"].is_null(), "a likelihood alone is no verdict");
    assert!(server.got.lock().iter().all(|(headers, _)| headers["authorization"] == "Bearer sk-secret"));
    metrics_have_the_names_of_mlflow(folder.path());
}

/// The file of aggregates that the run has written.
fn metrics_have_the_names_of_mlflow(folder: &Path) {
    let text = std::fs::read_to_string(folder.join("metrics.json")).unwrap();
    let metrics: BTreeMap<String, f64> = serde_json::from_str(&text).unwrap();
    for (name, value) in [
        ("response/llm_judged/correctness/rating/percentage", 1.0),
        ("response/llm_judged/groundedness/rating/percentage", 1.0),
        ("response/llm_judged/faithfulness/average", 0.75),
        ("response/llm_judged/ragas/context_recall/average", 0.5),
        ("retrieval/llm_judged/chunk_relevance/precision/average", 2.0 / 3.0),
        ("retrieval/llm_judged/custom_retrieval/fresh/precision/average", 2.0 / 3.0),
        ("retrieval/llm_judged/context_sufficiency/rating/percentage", 1.0),
    ] {
        let found = metrics.get(name).unwrap_or_else(|| panic!("{name} is not in {metrics:#?}"));
        assert!((found - value).abs() < 1e-4, "{name}: {found}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_better_answer_wins_in_both_places() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server { reads: true, ..Server::default() });
    let line =
        |answer: &str, expected: &str| json!({"question": "When?", "answer": answer, "expected": expected});
    let lines = [
        line("At nine.", "At noon."),
        line("At noon.", "At nine."),
        json!({"question": "When?", "answer": "At nine."}),
    ];
    let rows = scored(&server, "pairwise", "", &lines, folder.path()).await;
    let told: Vec<_> =
        rows.iter().map(|row| (row["metric"].as_str().unwrap(), row["label"].as_str())).collect();
    let agree = ("position_consistency", Some("pass"));
    let missing = [("pairwise", None), ("position_consistency", None)];
    let decided = [("pairwise", Some("win")), agree, ("pairwise", Some("loss")), agree];
    assert_eq!(told, [&decided[..], &missing[..]].concat());
    assert!(rows[4..].iter().all(|row| row["status"] == "skipped" && row["error"] == "expected answer"));
    // In the first order the answer is the first one, in the second order the other.
    assert_eq!(server.requests(), 4);
    let texts: Vec<String> =
        server.got.lock().iter().map(|(_, b)| b["messages"][1]["content"].to_string()).collect();
    assert!(
        texts.iter().all(|text| text.find("ANSWER 1") < text.find("ANSWER 2") && !text.contains("EXPECTED"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_runs_of_a_pair_are_asked_again_and_compared() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server { reads: true, ..Server::default() });
    let line = json!({"question": "When?", "answer": "At nine.", "expected": "At noon."});
    // The cache answers no second run with the first one's verdict.
    let more = "[eval]\npairwise_runs = 3\n[score.judge_cache]\nsize = \"8MiB\"";
    let rows = scored(&server, "pairwise", more, &[line], folder.path()).await;
    let told: Vec<_> =
        rows.iter().map(|row| (row["metric"].as_str().unwrap(), row["value"].as_f64())).collect();
    assert_eq!(
        told,
        [("pairwise", Some(1.0)), ("position_consistency", Some(1.0)), ("repeat_agreement", Some(1.0))]
    );
    assert_eq!(server.requests(), 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_that_are_the_same_ask_nobody() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let line = |answer: &str| json!({"answer": answer, "expected": "SELECT a FROM t WHERE b = 1 AND c = 2"});
    let lines = [line("select A from T where (c=2) and b=1;"), line("SELECT a FROM t WHERE b = 1")];
    let rows = scored(&server, "sql_eval", "", &lines, folder.path()).await;
    assert_eq!(
        (&rows[0]["label"], &rows[1]["label"], server.requests()),
        (&json!("best"), &json!("best"), 1)
    );
    assert!(rows[0]["rationale"].as_str().unwrap().contains("no judge was asked"));
    assert!(rows[0]["judge_model"].is_null() && rows[1]["judge_model"] == "judge-model-0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_log_probabilities_says_which() {
    let line = json!({"question": "Who?", "answer": "Stoker.", "expected": "Bram Stoker."});
    let ids = "gptscore_qa,gptscore_translation";
    for (logs, asked, why) in [
        (Logs::Answers, Ok(0.75), "HTTP 404"),
        (Logs::NoEcho, Ok(0.75), "HTTP 500: Only no echo is supported"),
        (Logs::Shifted, Ok(0.75), "not of the tokens beside it"),
        (Logs::Nothing, Err("top_logprobs"), "does not repeat the prompt"),
    ] {
        let (folder, server) = (tempfile::tempdir().unwrap(), Server { logs, ..Server::default() });
        let rows = scored(&server, ids, "", std::slice::from_ref(&line), folder.path()).await;
        let (qa, translation): (Vec<&Value>, _) =
            rows.iter().partition(|row| row["evaluator"] == "gptscore_qa");
        assert_eq!((qa.len(), translation.len()), (8, 3));
        for row in qa {
            match asked {
                Ok(p) => assert!((row["value"].as_f64().unwrap() + f64::ln(p)).abs() < 1e-9, "{row}"),
                Err(part) => assert!(row["error"].as_str().unwrap().contains(part), "{row}"),
            }
        }
        for row in translation {
            let error = row["error"].as_str().unwrap();
            assert!(
                row["status"] == "error"
                    && error.contains("judge main gives no log-probabilities")
                    && error.contains(why),
                "{row}"
            );
        }
        // It is found out once: two questions, and eight where they can be asked.
        assert_eq!(server.requests(), if asked.is_ok() { 10 } else { 2 });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn likelihoods_leave_out_what_a_model_refuses() {
    let line = json!({"question": "Who?", "answer": "Stoker."});
    let refuses_members: &[&str] = &["max_tokens", "temperature"];
    let (folder, server) =
        (tempfile::tempdir().unwrap(), Server { logs: Logs::Answers, refuses_members, ..Server::default() });
    let rows = scored(&server, "gptscore_qa", "", std::slice::from_ref(&line), folder.path()).await;
    assert!(rows.len() == 8 && rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
    let got = server.got.lock();
    let taken = got
        .iter()
        .filter(|(_, body)| body["max_completion_tokens"] == 1 && body.get("temperature").is_none());
    // Two are refused before the first is taken, at each of the two paths: they are tried to find out what the server can do.
    assert_eq!((got.len(), taken.count()), (14, 10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_that_fails_fails_the_mean_and_the_others_stand() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::default();
    let line = json!({"question": "Who?", "answer": "Stoker.", "contexts": ["Stoker."]});
    let rows = scored(&server, "ragas", "", &[line], folder.path()).await;
    let told: Vec<_> =
        rows.iter().map(|row| (row["metric"].as_str().unwrap(), row["status"].as_str().unwrap())).collect();
    let wanted = [
        ("ragas", "skipped"),
        ("faithfulness", "ok"),
        ("answer_relevancy", "ok"),
        ("context_precision", "skipped"),
        ("context_recall", "skipped"),
    ];
    assert_eq!((told.as_slice(), &rows[0]["error"]), (wanted.as_slice(), &json!("expected answer")));
    assert_eq!((server.requests(), &rows[0]["input_tokens"]), (2, &json!(2 * INPUT_TOKENS)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_parts_than_a_request_takes_are_asked_about_in_groups() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::default());
    let long: String = (0..301).map(|n| format!("Sentence number {n} is about something. ")).collect();
    let line = json!({"question": "Who?", "answer": "Stoker.", "contexts": [long]});
    let rows = scored(&server, "context_relevancy", "", &[line], folder.path()).await;
    assert_eq!((rows.len(), server.requests()), (1, 2));
    // The last of the first group is no; one alone is yes.
    assert!((rows[0]["value"].as_f64().unwrap() - 300.0 / 301.0).abs() < 1e-9, "{}", rows[0]["value"]);
    assert!(
        rows[0]["rationale"]
            .as_str()
            .unwrap()
            .starts_with("Asked in 2 groups of up to 300. 300 of 301 yes: 1 yes")
    );
    let ratings: Vec<&str> =
        rows[0]["ratings"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(
        (ratings.len(), ratings[299], ratings[300], &rows[0]["input_tokens"]),
        (301, "no", "yes", &json!(2 * INPUT_TOKENS))
    );
    // Each group has all other texts beside it.
    assert!(
        server
            .got
            .lock()
            .iter()
            .all(|(_, body)| body["messages"][1]["content"].as_str().unwrap().contains("<<<QUESTION "))
    );
    let line = json!({"question": "Who?", "answer": "Stoker.", "contexts": [long.repeat(10)]});
    let rows = scored(&server, "context_relevancy", "", &[line], folder.path()).await;
    assert!(
        rows[0]["error"]
            .as_str()
            .unwrap()
            .contains("3010 parts are too many to judge one by one, at most 3000"),
        "{rows:?}"
    );
}
