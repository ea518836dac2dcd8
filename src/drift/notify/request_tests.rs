use super::*;
use crate::drift::Acknowledgement;
use crate::drift::config::AlertConfig;
use std::collections::BTreeMap;

fn notice(is_firing: bool) -> Notice {
    Notice {
        id: 7,
        receiver: "r".into(),
        alert: "hallucination".into(),
        slice: "request_model=m<1>".into(),
        is_firing,
        fired: 1_767_225_600_000_000_000,
        at: 1_767_225_600_000_000_000 + if is_firing { 0 } else { 60_000_000_000 },
        since: 1_767_225_540_000_000_000,
        severity: "page".into(),
        labels: BTreeMap::from([("team".to_owned(), "search".to_owned())]),
        summary: "12.0 % of the hallucination scores fail".into(),
        numbers: json!({"failing": 0.12}),
        examples: vec![json!({"trace_id": "ab", "value": 0.1, "rationale": "see <!channel> & ```x```"})],
        query: "SELECT 1".into(),
        acknowledged: None,
        failed: 0,
        not_before: 0,
    }
}

fn receiver(kind: &str, more: &str) -> ReceiverConfig {
    toml::from_str(&format!("name = \"r\"\nkind = \"{kind}\"\nurl = \"http://127.0.0.1:9/x\"\n{more}"))
        .unwrap()
}

fn sent(receiver: &ReceiverConfig, is_firing: bool) -> (Message, Value) {
    let now = UnixNanos(1_767_225_700_000_000_000);
    let message = build(receiver, &Config::default(), &notice(is_firing), now).unwrap();
    let body = serde_json::from_slice(&message.body).unwrap();
    (message, body)
}

/// RFC 4231, test cases 1, 2 and 6.
#[test]
fn signatures_agree_with_the_rfc() {
    assert_eq!(
        hmac(&[0x0b; 20], b"Hi There"),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    );
    assert_eq!(
        hmac(b"Jefe", b"what do ya want for nothing?"),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    assert_eq!(
        hmac(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First"),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    );
}

#[test]
fn alertmanager_gets_the_same_labels_until_the_end() {
    let am = receiver("alertmanager", "");
    let ((message, firing), (_, resolved)) = (sent(&am, true), sent(&am, false));
    assert_eq!(message.url, "http://127.0.0.1:9/x/api/v2/alerts");
    assert_eq!(firing[0]["labels"], resolved[0]["labels"]);
    assert_eq!(firing[0]["labels"]["alertname"], "hallucination");
    assert_eq!(firing[0]["labels"]["team"], "search");
    assert_eq!(firing[0]["startsAt"], resolved[0]["startsAt"]);
    assert_eq!(resolved[0]["endsAt"], "2026-01-01T00:01:00Z");
    assert!(firing[0]["endsAt"].as_str().unwrap() > "2026-01-01T00:04:00Z");
}

/// Alertmanager refuses an alert that ends before it starts, and a refused message is not sent again.
#[test]
fn no_alert_ends_before_it_starts_where_the_clock_was_set_back() {
    let (am, hour) = (receiver("alertmanager", ""), 3_600_000_000_000);
    for is_firing in [true, false] {
        let told = notice(is_firing);
        let notice = Notice { at: told.fired - hour, ..told };
        let now = UnixNanos(notice.fired - hour);
        let message = build(&am, &Config::default(), &notice, now).unwrap();
        let body: Value = serde_json::from_slice(&message.body).unwrap();
        assert_eq!(body[0]["endsAt"], body[0]["startsAt"], "{body}");
    }
}

/// Who heeds the key takes what comes with one that it has for the same message: the end must not be taken for the start.
#[test]
fn the_idempotency_key_is_that_of_the_message_and_the_key_that_of_the_time_of_firing() {
    let hook = receiver("webhook", "");
    let key = |message: &Message| message.headers["idempotency-key"].to_str().unwrap().to_owned();
    let ((first, firing), (again, _), (end, resolved)) =
        (sent(&hook, true), sent(&hook, true), sent(&hook, false));
    assert_eq!(key(&first), key(&again));
    assert_ne!(key(&first), key(&end));
    assert_eq!(firing["key"], resolved["key"]);
}

#[test]
fn a_webhook_is_signed_with_its_time() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "key\n").unwrap();
    let hook = receiver("webhook", &format!("secret_file = {:?}", file.path()));
    let (message, body) = sent(&hook, true);
    let header = |name: &str| message.headers[name].to_str().unwrap().to_owned();
    let signed = [header("groundline-timestamp").as_bytes(), b".", &message.body].concat();
    assert_eq!(header("groundline-signature"), format!("v1={}", hmac(b"key", &signed)));
    assert_eq!((body["status"].as_str(), body["sql"].as_str()), (Some("firing"), Some("SELECT 1")));
    assert_eq!(message.secrets, ["http://127.0.0.1:9/x", "key"], "neither is shown or stored");
    let gone = receiver("webhook", "secret_file = \"/nowhere/key\"");
    let error = build(&gone, &Config::default(), &notice(true), UnixNanos(0)).err().unwrap();
    assert!(error.contains("/nowhere/key"), "{error}");
}

#[test]
fn a_senders_words_call_nobody_in_slack() {
    let (_, body) = sent(&receiver("slack", ""), true);
    let text = body.to_string();
    assert!(!text.contains("<!channel>") && text.contains("&lt;!channel&gt;"), "{text}");
    assert!(body["text"].as_str().unwrap().starts_with("[FIRING] hallucination"));
}

#[test]
fn pagerduty_is_told_of_one_incident() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "routing").unwrap();
    let pager: ReceiverConfig =
        toml::from_str(&format!("name = \"r\"\nkind = \"pagerduty\"\nsecret_file = {:?}", file.path()))
            .unwrap();
    let ((message, trigger), (_, resolve)) = (sent(&pager, true), sent(&pager, false));
    assert_eq!(message.url, PAGERDUTY);
    assert_eq!(trigger["dedup_key"], resolve["dedup_key"]);
    assert_eq!((&trigger["event_action"], &resolve["event_action"]), (&json!("trigger"), &json!("resolve")));
    assert_eq!(
        (&trigger["routing_key"], &trigger["payload"]["severity"]),
        (&json!("routing"), &json!("critical"))
    );
}

#[test]
fn who_acknowledged_is_told_and_alertmanager_waits_until_then() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let now = UnixNanos(1_767_225_700_000_000_000);
    let known = Acknowledgement {
        alert: "hallucination".into(),
        slice: "m".into(),
        by: "Ada".into(),
        note: "rolled back".into(),
        at: now.0,
        until: 1_767_312_000_000_000_000,
    };
    let notice = Notice { acknowledged: Some(known), ..notice(true) };
    let sent = |receiver: &ReceiverConfig| -> Value {
        let message = build(receiver, &Config::default(), &notice, now).unwrap();
        serde_json::from_slice(&message.body).unwrap()
    };
    let am = sent(&receiver("alertmanager", ""));
    assert!(am[0]["endsAt"].as_str().unwrap() > "2026-01-02T00:00:00Z", "{am}");
    let summary = am[0]["annotations"]["summary"].as_str().unwrap();
    assert!(
        summary.starts_with("acknowledged by Ada until 2026-01-02T00:00:00Z: rolled back; 12.0 %"),
        "{summary}"
    );
    assert_eq!(sent(&receiver("webhook", ""))["status"], "acknowledged");
    let pager = receiver("pagerduty", &format!("secret_file = {:?}", file.path()));
    assert_eq!(sent(&pager)["event_action"], "acknowledge");
}

#[test]
fn faults_are_told_with_their_key() {
    let alert: AlertConfig = toml::from_str(
        "name = \"a\"\nmetric = \"\"\nmethod = \"objective\"\nalpha = 2.0\nmax_weight = 0.0\nreceivers = [\"x\"]\nsilences = [\"soon\"]",
    )
    .unwrap();
    let wrong: ReceiverConfig = toml::from_str("name = \"\"\nkind = \"slack\"\nurl = \"ftp://x\"").unwrap();
    let pager: ReceiverConfig = toml::from_str("name = \"p\"\nkind = \"pagerduty\"").unwrap();
    let found = crate::drift::faults(&Config::default(), &[alert.clone(), alert], &[wrong, pager]).join("\n");
    for part in [
        "metric is empty",
        "alpha is 2",
        "objective is missing",
        "max_weight is 0",
        "\"x\" is not among",
        "\"soon\" is not two",
        "taken",
        "receivers[0]",
        "http://host:port",
        "secret_file is missing",
    ] {
        assert!(found.contains(part), "{part} is not in\n{found}");
    }
}

/// With this one `threshold` and `burn_rate` were silent, whatever failed: 1 − α was 1.
#[test]
fn an_alpha_that_no_confidence_has_digits_for_is_a_fault() {
    let faults = |alpha: &str| {
        let text =
            format!("name = \"a\"\nmetric = \"m\"\nmethod = \"threshold\"\nobjective = 0.9\nalpha = {alpha}");
        let alert: AlertConfig = toml::from_str(&text).unwrap();
        crate::drift::faults(&Config::default(), &[alert], &[])
    };
    let [fault] = faults("1e-17").try_into().unwrap();
    assert!(fault.contains("it is a probability from 0.000000001 to below 1"), "{fault}");
    assert_eq!(faults("1e-9"), [""; 0]);
    assert_eq!(faults("nan").len(), 1);
}

/// Bets against a smaller share than the one that is allowed would win while the objective is kept.
#[test]
fn an_objective_that_nobody_can_bet_against_is_a_fault() {
    let faults = |method: &str, objective: f64| {
        let text = format!("name = \"a\"\nmetric = \"m\"\nmethod = \"{method}\"\nobjective = {objective:?}");
        let alert: AlertConfig = toml::from_str(&text).unwrap();
        crate::drift::faults(&Config::default(), &[alert], &[])
    };
    let [fault] = faults("objective", 0.01).try_into().unwrap();
    assert!(fault.contains("0.02 or more"), "{fault}");
    assert_eq!(faults("objective", 0.02), [""; 0]);
    assert_eq!(faults("threshold", 0.01), [""; 0]);
}
