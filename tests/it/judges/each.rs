//! Every evaluator that asks a judge, without each of its inputs, with replies that are none, and with bad verdicts: what is
//! missing is named, what cannot be read is no pass, and what is bad has the value that the formula gives.

use super::formulas::scored;
use super::server::{Logs, QUESTION, Server};
use groundline::eval::JUDGE_IDS;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ANSWER: &str = "Bram Stoker wrote Dracula. It appeared in 1897.";

/// Inputs that are taken away together, and what is then said to be missing.
const PARTS: [(&str, &[&str], &str); 6] = [
    ("question", &["question"], "question"),
    ("answer", &["answer"], "answer"),
    ("expected", &["expected"], "expected answer"),
    ("contexts", &["contexts"], "context"),
    ("steps", &["steps"], "tool calls"),
    ("conversation", &["question", "answer", "history"], "conversation"),
];

/// Each evaluator with what it needs of these, and the value that the worst verdicts give.
const EACH: [(&str, &[&str], f64); 35] = [
    ("faithfulness", &["answer", "contexts"], 0.0),
    // 0.75 × 0 + 0.25 × 1: the answer is the expected one.
    ("answer_correctness", &["question", "answer", "expected"], 0.25),
    // The judge asks back nothing but the question of another story.
    ("answer_relevancy", &["question", "answer"], f64::NAN),
    ("context_precision", &["question", "expected", "contexts"], 0.0),
    ("context_recall", &["expected", "contexts"], 0.0),
    ("context_relevancy", &["question", "contexts"], 0.0),
    // A part is 0.
    ("ragas", &["question", "answer", "expected", "contexts"], 0.0),
    ("rag_hallucination", &["answer", "contexts"], 1.0),
    ("rag_context_recall", &["answer", "contexts"], 0.0),
    ("rag_context_precision", &["question", "contexts"], 0.0),
    ("correctness", &["question", "answer", "expected"], 0.0),
    ("relevance_to_query", &["question", "answer"], 0.0),
    ("groundedness_judge", &["question", "answer", "contexts"], 0.0),
    ("safety", &["question", "answer"], 0.0),
    ("chunk_relevance", &["question", "contexts"], 0.0),
    ("context_sufficiency", &["question", "expected", "contexts"], 0.0),
    ("accuracy", &["answer", "expected"], 0.0),
    ("facts_compare", &["answer", "expected"], 0.0),
    // The other answer is better in both places.
    ("pairwise", &["question", "answer", "expected"], 0.0),
    ("sql_eval", &["answer", "expected"], 0.0),
    ("contact_information", &["answer"], 0.0),
    ("language_mismatch_judge", &["question", "answer"], 0.0),
    ("sexism", &["answer"], 0.0),
    ("stereotypes", &["question", "answer"], 0.0),
    ("summarization_judge", &["question", "answer"], 0.0),
    // Every turn of the user is angry.
    ("user_frustration", &["conversation"], 1.0),
    ("task_completion", &["conversation"], 0.0),
    ("knowledge_retention", &["conversation"], 0.0),
    ("tool_choice", &["question", "steps"], 0.0),
    ("tool_arguments", &["question", "steps"], 0.0),
    ("goal_reached", &["question", "answer", "steps"], 0.0),
    // Eight words with 48 characters, 0.5 nats each; " Yes" has four.
    ("gptscore_translation", &["answer", "expected"], 3.0),
    ("gptscore_qa", &["question", "answer"], 2.0),
    ("gptscore_summarization_ref", &["answer", "expected"], 3.0),
    // It begins a line, without a space.
    ("gptscore_summarization", &["question", "answer"], 0.5 * 47.0 / 8.0),
];

fn line(id: &str) -> Value {
    json!({
        "id": id, "question": QUESTION, "answer": ANSWER, "expected": ANSWER,
        "contexts": ["Dracula is by Bram Stoker.", "It was printed in 1897."],
        "history": ["user: Hello?", "assistant: Hi."], "steps": [{"tool": "find", "result": "Stoker"}],
    })
}

/// The rows by line and evaluator, in the order of the metrics.
async fn rows(server: &Server, lines: &[Value]) -> BTreeMap<(String, String), Vec<Value>> {
    let folder = tempfile::tempdir().unwrap();
    let mut found = BTreeMap::<_, Vec<Value>>::new();
    for row in scored(server, &JUDGE_IDS.join(","), "", lines, folder.path()).await {
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        found.entry((text("id"), text("evaluator"))).or_default().push(row);
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_input_every_judge_evaluator_is_skipped_and_names_it() {
    assert_eq!(EACH.map(|(id, ..)| id), *JUDGE_IDS);
    let mut lines = vec![line("whole")];
    for (name, fields, _) in PARTS {
        let mut without = line(name);
        fields.iter().for_each(|field| drop(without.as_object_mut().unwrap().remove(*field)));
        lines.push(without);
    }
    let found = rows(&Server::default(), &lines).await;
    assert_eq!(found.len(), lines.len() * EACH.len());
    for (id, needs, _) in EACH {
        let of = |line: &str| &found[&(line.to_owned(), id.to_owned())];
        assert!(of("whole").iter().all(|row| row["status"] == "ok"), "{id}: {:?}", of("whole"));
        for (part, fields, word) in PARTS {
            // Of a conversation, the parts alone are not missed, and with it what else is needed is missing too.
            let row = &of(part)[0];
            let is_missed = needs.contains(&part) || needs.iter().any(|need| fields.contains(need));
            if !is_missed {
                assert_eq!(row["status"], "ok", "{id} needs no {part}: {row}");
                continue;
            }
            assert_eq!(
                (&row["status"], row["value"].is_null(), row["passed"].is_null()),
                (&json!("skipped"), true, true),
                "{id}: {row}"
            );
            let words = ["question", "answer"];
            let named = row["error"].as_str().unwrap();
            assert!(
                named == word || part == "conversation" && words.contains(&named),
                "{id} without {part}: {row}"
            );
            assert!(row["judge_model"].is_null() || id == "ragas", "nobody is paid for it: {row}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_that_are_none_pass_for_no_judge_evaluator() {
    // No JSON, JSON of another schema, and a text that says yes.
    let garbage: [fn(&Value) -> String; 3] = [
        |_| "I would rather not say.".to_owned(),
        |_| json!({"score": 1.0, "verdict": "yes", "passed": true}).to_string(),
        |_| "yes\nyes\n{\"rating\": \"yes\"".to_owned(),
    ];
    for answers in garbage {
        let server = Server { answers: Some(answers), logs: Logs::Nothing, ..Server::default() };
        let found = rows(&server, &[line("a")]).await;
        assert_eq!(found.len(), EACH.len());
        for ((_, id), rows) in &found {
            for row in rows {
                assert_eq!(
                    (&row["status"], row["value"].is_null(), row["passed"].is_null()),
                    (&json!("error"), true, true),
                    "{id}: {row}"
                );
                let why = row["error"].as_str().unwrap();
                assert!(why.contains("no verdict") || why.contains("log-probabilities"), "{id}: {row}");
            }
        }
        // Each question twice, and what finds out about likelihoods.
        let asked = server.got.lock().iter().filter(|(_, body)| body["response_format"].is_object()).count();
        assert_eq!(asked, 2 * (29 + 4 + 2));
    }
}

/// The worst that a judge may say.
fn worst(body: &Value) -> String {
    let text = |at: usize| body["messages"][at]["content"].as_str().unwrap();
    let schema: Value = serde_json::from_str(text(0).split("JSON schema: ").nth(1).unwrap().trim()).unwrap();
    let properties = &schema["properties"];
    let statement =
        |n: usize, verdict: &str| json!({"statement": format!("s{n}"), "reason": "r", "verdict": verdict});
    if properties.get("rating").is_some() {
        return json!({"rationale": "It is bad.", "problems": ["it is bad"], "rating": "no"}).to_string();
    }
    if let Some(choice) = properties.get("choice") {
        let all = choice["enum"].as_array().unwrap();
        // Of a pair the other answer, which is the longer one.
        let first = text(1).split("<<<ANSWER 2 ").next().unwrap();
        let worst = match all[0] == "answer_1" {
            true if first.contains("longer") => "answer_1",
            true => "answer_2",
            false => all.last().unwrap().as_str().unwrap(),
        };
        return json!({"rationale": "It is bad.", "choice": worst}).to_string();
    }
    if properties.get("questions").is_some() {
        return json!({"questions": vec!["How deep should basil seeds be sown in spring?"; 3]}).to_string();
    }
    if let Some(statements) = properties.get("statements") {
        let verdicts = match statements["items"]["properties"]["verdict"]["enum"][0] == "TP" {
            true => ["FP", "FN"],
            false => ["no", "no"],
        };
        let all: Vec<Value> = verdicts.iter().enumerate().map(|(n, verdict)| statement(n, verdict)).collect();
        return json!({"statements": all}).to_string();
    }
    let name = text(0).split("one item for each ").nth(1).and_then(|t| t.split(',').next()).unwrap();
    let verdict = if text(0).contains("shows frustration") { "yes" } else { "no" };
    let count = text(1).matches(&format!("<<<{name} ")).count();
    let all: Vec<Value> =
        (1..=count).map(|n| json!({"number": n, "reason": "r", "verdict": verdict})).collect();
    json!({"items": all}).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worst_verdicts_have_the_value_that_each_formula_gives() {
    let server = Server { answers: Some(worst), logs: Logs::Unlikely, ..Server::default() };
    let mut pair = line("pair");
    pair["expected"] = json!(format!("{ANSWER} This one is longer."));
    let found = rows(&server, &[line("a"), pair]).await;
    for (id, _, value) in EACH {
        let line = if id == "pairwise" { "pair" } else { "a" };
        let row = &found[&(line.to_owned(), id.to_owned())][0];
        assert_eq!(row["status"], "ok", "{id}: {row}");
        let is_likelihood = id.starts_with("gptscore");
        assert!(row["passed"] == false || is_likelihood && row["passed"].is_null(), "{id}: {row}");
        let found = row["value"].as_f64().unwrap();
        match value.is_nan() {
            // How near two questions are is no affair of ours here; it is far below the threshold.
            true => assert!(found < 0.5, "{id}: {row}"),
            false => assert!((found - value).abs() < 1e-4, "{id}: {row}"),
        }
    }
}

/// What a judge says of a question of the user's own: whose fault it is stands in the answer, or nothing that can be read.
fn told_fault(body: &Value) -> String {
    let user = body["messages"][1]["content"].as_str().unwrap();
    match ["none", "retrieval", "generation"]
        .into_iter()
        .find(|fault| user.contains(&format!("fault: {fault}")))
    {
        Some(fault) => json!({"rationale": "r", "failure": fault, "result": fault == "none"}).to_string(),
        None => "It depends.".to_owned(),
    }
}

/// The five metrics of the row are shares of these: passes, failures, those of retrieval and of generation, and what could not be
/// read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_of_ones_own_is_true_false_by_its_fault_or_not_read() {
    let (folder, server) =
        (tempfile::tempdir().unwrap(), Server { answers: Some(told_fault), ..Server::default() });
    let more = "[[eval.custom]]\nname = \"tone\"\nkind = \"byop\"\n\
                prompt = \"To {{question}} the answer is {{expected}}, by {{context}}: does {{answer}} say so?\"\n";
    let lines = ["none", "retrieval", "generation", "unclear"].map(|fault| {
        let mut line = line(fault);
        line["answer"] = json!(format!("fault: {fault}"));
        line
    });
    let rows = scored(&server, "byop/tone", more, &lines, folder.path()).await;
    let told: BTreeMap<&str, (&Value, &Value, &Value)> = rows
        .iter()
        .map(|row| (row["id"].as_str().unwrap(), (&row["status"], &row["passed"], &row["label"])))
        .collect();
    assert_eq!((rows.len(), told.len()), (4, 4), "{rows:#?}");
    let (ok, fails) = (json!("ok"), json!(false));
    assert_eq!(told["none"], (&ok, &json!(true), &json!("pass")));
    assert_eq!(told["retrieval"], (&ok, &fails, &json!("retrieval")));
    assert_eq!(told["generation"], (&ok, &fails, &json!("generation")));
    assert_eq!((told["unclear"].0, told["unclear"].1), (&json!("error"), &Value::Null));
    // The prompt may name each of the four texts, and each is shown in its place.
    let got = server.got.lock();
    let asked = got[0].1["messages"][1]["content"].as_str().unwrap();
    for name in ["QUESTION", "EXPECTED", "CONTEXT", "ANSWER"] {
        assert!(asked.contains(&format!("<<<{name} ")), "{name}: {asked}");
    }
}
