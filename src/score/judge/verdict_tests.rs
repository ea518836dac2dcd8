//! What a verdict's key holds, which replies are none, and what they cost.

use super::super::client::Panel;
use super::super::evaluator::{JudgeEvaluator, Way};
use super::super::gptscore::{GptScore, Likely};
use super::super::pairwise;
use super::super::shape::Choice;
use super::*;
use crate::domain::document::Document;
use crate::domain::score::Better;
use crate::domain::time::{Clock, SystemClock};
use crate::eval::{Metric, Waits};
use crate::score::secret::Secret;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const SPLIT: &[Choice] =
    &[Choice { label: "none", passes: true }, Choice { label: "retrieval", passes: false }];

fn judge() -> JudgeConfig {
    JudgeConfig::new("main", "http://127.0.0.1:1/v1", "m")
}

fn desk(judge: JudgeConfig) -> Desk {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Desk::new(Arc::new(Panel::new(&[judge], &clock, &Arc::default(), None).unwrap()), 0)
}

fn asking(judge: JudgeConfig, prompt: &str, shape: Shape) -> Verdict {
    Verdict::new("m", prompt, shape, desk(judge), None).unwrap()
}

fn input(contexts: &[&str]) -> EvalInput {
    let chunk = |text: &&str| Document { content: Some((*text).to_owned()), ..Document::default() };
    EvalInput {
        answer: Some("Ann.".to_owned()),
        contexts: contexts.iter().map(chunk).collect(),
        ..EvalInput::default()
    }
}

#[test]
fn all_that_chooses_the_model_is_in_the_key() {
    let key = |judge: JudgeConfig| {
        let verdict = asking(judge, "{{answer}}", Shape::Rating);
        verdict.key(&verdict.fill(&input(&[])).unwrap(), 0)
    };
    let plain = key(judge());
    assert_eq!(plain, key(judge()));
    let headers = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), Secret::new(value))]);
    let parameters = BTreeMap::from([("seed".to_owned(), serde_json::Value::from(1))]);
    let others = [
        JudgeConfig { model: "n".to_owned(), ..judge() },
        JudgeConfig { parameters, ..judge() },
        JudgeConfig { headers: headers("x-route", "small"), ..judge() },
        JudgeConfig { headers: headers("x-route", "large"), ..judge() },
        JudgeConfig { header_files: BTreeMap::from([("x-route".to_owned(), "route".into())]), ..judge() },
    ];
    let keys: std::collections::BTreeSet<String> = others.into_iter().map(key).collect();
    assert!(keys.len() == 5 && !keys.contains(&plain), "{keys:?}");
}

#[test]
fn nothing_that_was_not_retrieved_is_to_blame() {
    let verdict = asking(judge(), "{{answer}} {{context?}}", Shape::Choice(SPLIT));
    let reply = r#"{"rationale":"r","choice":"retrieval"}"#;
    let read = |contexts: &[&str]| verdict.read(reply, &verdict.fill(&input(contexts)).unwrap());
    assert_eq!(read(&["Ann."]).unwrap().label.as_deref(), Some("retrieval"));
    assert!(read(&[]).unwrap_err().contains("contradicts itself"));
    let none = verdict.fill(&input(&[])).unwrap();
    assert!(verdict.read(r#"{"rationale":"r","choice":"none"}"#, &none).is_ok());
}

/// Answers one request after the other with these statuses and bodies.
async fn answering(answers: Vec<(u16, String)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (mut got, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
            // The request ends with its JSON object.
            while !got.ends_with(b"}") {
                let read = stream.read(&mut buffer).await.unwrap();
                assert!(read > 0, "the request breaks off");
                got.extend_from_slice(&buffer[..read]);
            }
            let head =
                format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).await.unwrap();
        }
    });
    format!("http://{address}/v1")
}

/// An answer of 100 tokens to a question, and 7 of its own.
fn said(text: &str) -> (u16, String) {
    let usage = serde_json::json!({"prompt_tokens": 100, "completion_tokens": 7});
    let choice = serde_json::json!({"message": {"content": text}, "finish_reason": "stop"});
    (200, serde_json::json!({"choices": [choice], "usage": usage}).to_string())
}

const GOOD: &str = r#"{"rationale":"r","problems":[],"rating":"yes"}"#;

fn tokens(usage: Option<Usage>) -> (Option<i64>, Option<i64>) {
    usage.map_or((None, None), |usage| (usage.input_tokens, usage.output_tokens))
}

#[tokio::test]
async fn a_reply_that_could_not_be_read_is_paid_once_though_the_judge_goes_away_behind_it() {
    let answers = vec![said("Well."), (401, String::new()), said(GOOD), said(GOOD)];
    let verdict =
        asking(JudgeConfig { base_url: answering(answers).await, ..judge() }, "{{answer}}", Shape::Rating);
    let (input, until) = (input(&[]), Instant::now() + Duration::from_mins(1));
    assert!(verdict.ask(&input, until).await.is_err());
    let took = |asked: Asked| {
        let usage = asked.usage.unwrap();
        (asked.found.unwrap().value, usage.input_tokens, usage.output_tokens)
    };
    assert_eq!(took(verdict.ask(&input, until).await.unwrap()), (1.0, Some(200), Some(14)));
    assert_eq!(took(verdict.ask(&input, until).await.unwrap()), (1.0, Some(100), Some(7)), "once");
}

#[tokio::test]
async fn who_gives_up_counts_a_reply_that_could_not_be_read_and_who_asks_then_does_not() {
    let answers = vec![said("Well."), (401, String::new()), said(GOOD)];
    let verdict =
        asking(JudgeConfig { base_url: answering(answers).await, ..judge() }, "{{answer}}", Shape::Rating);
    let (input, until) = (input(&[]), Instant::now() + Duration::from_mins(1));
    let away = verdict.ask(&input, until).await.err().unwrap();
    assert_eq!(tokens(away.owed.take()), (Some(100), Some(7)));
    assert_eq!(tokens(verdict.ask(&input, until).await.ok().unwrap().usage), (Some(100), Some(7)));
}

#[tokio::test]
async fn of_several_questions_of_which_one_fails_the_others_are_counted_once() {
    let closed = || (401, String::new());
    let answers = vec![said(GOOD), closed(), closed(), said(GOOD)];
    let verdict =
        asking(JudgeConfig { base_url: answering(answers).await, ..judge() }, "{{answer}}", Shape::Rating);
    let input = EvalInput { expected: Some("Bob.".to_owned()), ..input(&[]) };
    let metrics = [Metric::new("pairwise", Better::Higher, Some(pairwise::TIE))];
    let (partial, until) = (Partial::default(), Instant::now() + Duration::from_mins(1));
    let ask = || pairwise::ask(&metrics, (&verdict, 1), &partial, &input, until);
    let first = ask().await.err().unwrap();
    let second = ask().await.err().unwrap();
    assert_eq!(tokens(first.owed.take()), (None, None), "it was tried again with what it took");
    assert_eq!(tokens(second.owed.take()), (Some(100), Some(7)), "given up");
    // Another evaluation of the same texts: four requests, two answers, and two of them paid.
    let told = ask().await.ok().unwrap();
    assert_eq!(tokens(told.usage), (Some(100), Some(7)));
}

#[tokio::test]
async fn what_was_paid_to_find_out_what_a_judge_can_tell_is_counted_with_the_rest() {
    let answers = vec![said("x"), (401, String::new()), said("x"), said("x")];
    let desk = desk(JudgeConfig { base_url: answering(answers).await, ..judge() });
    let gptscore = GptScore::new(Likely::Yes, "## a\n{{question}} {{answer}}", &["a"]).unwrap();
    let (metrics, way) = (gptscore.metrics(), Way::Likelihood(gptscore));
    let evaluator = JudgeEvaluator::new("gptscore", metrics, way, desk, Arc::default());
    let input = EvalInput { question: Some("Who?".to_owned()), ..input(&[]) };
    let until = Instant::now() + Duration::from_mins(1);
    let away = evaluator.ask(&input, until).await.unwrap_err();
    let told = evaluator.ask(&input, until).await.unwrap();
    assert_eq!(tokens(told.usage), (Some(300), Some(21)));
    assert_eq!(tokens(away.owed.take()), (None, None), "it was tried again");
}
