//! What a verdict's key holds, which replies are none, and what they cost.

use super::super::client::Panel;
use super::super::shape::Choice;
use super::*;
use crate::domain::document::Document;
use crate::domain::time::{Clock, SystemClock};
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

fn asking(judge: JudgeConfig, prompt: &str, shape: Shape) -> Verdict {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let panel = Panel::new(&[judge], &clock, &Arc::default(), None).unwrap();
    Verdict::new("m", prompt, shape, Desk::new(Arc::new(panel), 0), None).unwrap()
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

#[tokio::test]
async fn a_reply_that_could_not_be_read_is_paid_once_though_the_judge_goes_away_behind_it() {
    let said = |text: &str| {
        let usage = serde_json::json!({"prompt_tokens": 100, "completion_tokens": 7});
        let choice = serde_json::json!({"message": {"content": text}, "finish_reason": "stop"});
        (200, serde_json::json!({"choices": [choice], "usage": usage}).to_string())
    };
    let good = r#"{"rationale":"r","problems":[],"rating":"yes"}"#;
    let answers = vec![said("Well."), (401, String::new()), said(good), said(good)];
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
