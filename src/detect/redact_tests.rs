use super::*;

fn redaction() -> Redaction {
    Redaction::new(Kinds::all(), Arc::default(), "[{kind}]".to_owned())
}

fn clean(name: &str, text: &str) -> String {
    redaction().text(name, text, &mut Counts::new()).into_owned()
}

#[test]
fn plain_text() {
    let text = "Write to jane.doe@example.org, card 4111 1111 1111 1111, key AKIAIOSFODNN7EXAMPLE.";
    let mut counts = Counts::new();
    let clean = redaction().text("", text, &mut counts);
    assert_eq!(clean, "Write to [EMAIL], card [CREDIT_CARD], key [AWS_ACCESS_KEY_ID].");
    assert_eq!(counts.values().sum::<u64>(), 3);
    assert_eq!(redact(text, &Kinds::all()), clean);
    let emails = Kinds::of(&["email".to_owned()]);
    assert!(redact(text, &emails).contains("4111"));
    assert!(matches!(redact("nothing is here", &Kinds::all()), Cow::Borrowed(_)));
    let site = "see https://intra.example.org/a?b=c now";
    assert!(matches!(redact(site, &Kinds::all()), Cow::Borrowed(_)));
    assert_eq!(redact(site, &Kinds::of(&["url".to_owned()])), "see [URL] now");
}

#[test]
fn the_key_is_context() {
    assert_eq!(clean("user.ssn", "412551120"), "[US_SSN]");
    assert_eq!(clean("db.password", "hunter2!x"), "[PASSWORD]");
    assert_eq!(clean("part", "412551120"), "412551120");
    let mut counts = Counts::new();
    assert_eq!(redaction().number("card", "4111111111111111", &mut counts).as_deref(), Some("[CREDIT_CARD]"));
    assert_eq!(redaction().number("gen_ai.usage.input_tokens", "12345678", &mut counts), None);
}

#[test]
fn json_stays_json() {
    let inner = serde_json::json!({"to": "jane@example.org", "n": 3}).to_string();
    let text = serde_json::json!([
        {"role": "user", "content": "line\n4111111111111111\nend \"q\""},
        {"password": "hunter2!x", "card": 4111111111111111u64, "arguments": inner, "jane@example.org": 1.5},
    ])
    .to_string();
    let out = clean("gen_ai.input.messages", &text);
    let json: Value = serde_json::from_str(&out).expect("is JSON");
    assert_eq!(json[0]["content"], "line\n[CREDIT_CARD]\nend \"q\"");
    assert_eq!(json[1]["password"], "[PASSWORD]");
    assert_eq!(json[1]["card"], "[CREDIT_CARD]");
    assert_eq!(json[1]["arguments"], r#"{"to":"[EMAIL]","n":3}"#);
    assert_eq!(json[1]["[EMAIL]"], 1.5);
    for part in ["4111", "hunter2", "jane"] {
        assert!(!out.contains(part), "{out}");
    }
    // What is cut off is no JSON any more, but escapes are still none of a word.
    let cut = &text[..text.len() - 3];
    assert!(!clean("", cut).contains("4111111111111111"), "{}", clean("", cut));
    let same = "{ \"a\" : 1.50 }";
    assert!(matches!(redaction().text("", same, &mut Counts::new()), Cow::Borrowed(_)));
}

#[test]
fn a_key_that_stands_twice_hides_nothing() {
    let mut counts = Counts::new();
    let text = r#"{"k":"AKIAIOSFODNN7EXAMPLE","k":"x"}"#;
    let out = redaction().text("note", text, &mut counts);
    assert_eq!(out, r#"{"k":"[AWS_ACCESS_KEY_ID]","k":"x"}"#);
    assert_eq!(counts.values().sum::<u64>(), 1);
    // Inside a string of JSON, and as a number, whose replacement would be no JSON.
    let inner = serde_json::json!({"n": 1, "arguments": text}).to_string();
    assert!(!clean("note", &inner).contains("AKIA"), "{}", clean("note", &inner));
    assert_eq!(clean("note", r#"{"card": 4111111111111111, "card": 1}"#), r#"{"card":1}"#);
}

#[test]
fn redacting_twice_changes_nothing_more() {
    let text =
        "jane@example.org 4111 1111 1111 1111 password: hunter2!x AKIAIOSFODNN7EXAMPLE +44 20 7946 0958";
    let once = clean("note", text);
    assert_eq!(clean("note", &once), once);
}
