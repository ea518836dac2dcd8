//! Who was told of an alert, as a running server tells it.

use super::table::aligned;
use serde_json::Value;

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

/// What a server says of deliveries, those of an alert and, if one is named, of a slice.
fn of<'a>(answer: &'a Value, alert: &str, slice: Option<&str>) -> Vec<&'a Value> {
    let all = answer["deliveries"].as_array().into_iter().flatten();
    all.filter(|one| one["alert"] == alert && slice.is_none_or(|slice| one["slice"] == slice)).collect()
}

/// Receivers and what came of their messages, in one cell.
pub(super) fn short(answer: &Value, alert: &str, slice: &str) -> String {
    let one = |told: &&Value| {
        let (receiver, outcome) = (word(&told["receiver"]), outcome(told));
        match told["error"].is_null() {
            true => format!("{receiver} {outcome}"),
            false => format!("{receiver} {outcome}!"),
        }
    };
    let all: Vec<String> = of(answer, alert, Some(slice)).iter().map(one).collect();
    if all.is_empty() { "-".to_owned() } else { all.join(", ") }
}

fn outcome(told: &Value) -> String {
    word(&told["outcome"]).replace('_', " ")
}

/// Who was told of an alert, in all slices or in one, as a table.
pub(super) fn table(answer: &Value, alert: &str, slice: Option<&str>) -> String {
    let row = |told: &&Value| {
        [
            word(&told["slice"]).to_owned(),
            word(&told["receiver"]).to_owned(),
            word(&told["status"]).to_owned(),
            word(&told["changed_at"]).to_owned(),
            outcome(told),
            word(&told["attempted_at"]).to_owned(),
            told["failed"].to_string(),
            word(&told["next_attempt_at"]).to_owned(),
            word(&told["error"]).to_owned(),
        ]
    };
    let rows: Vec<[String; 9]> = of(answer, alert, slice).iter().map(row).collect();
    if rows.is_empty() {
        return "nobody was told, and no message waits".to_owned();
    }
    let header =
        ["slice", "receiver", "message", "of", "outcome", "last attempt", "failed", "next attempt", "error"];
    aligned(header, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_waits_is_shown_with_its_attempts_and_why() {
        let told = |receiver: &str, outcome: &str, error: Value| {
            json!({"alert": "a", "slice": "s", "receiver": receiver, "status": "firing", "outcome": outcome, "failed": 2,
                "changed_at": "c", "attempted_at": "t", "next_attempt_at": null, "error": error})
        };
        let all = [
            told("am", "delivered", Value::Null),
            told("chat", "given_up", json!("503 Service Unavailable")),
        ];
        let answer = json!({"deliveries": all});
        assert_eq!(short(&answer, "a", "s"), "am delivered, chat given up!");
        assert_eq!(short(&answer, "a", "other"), "-");
        let shown = table(&answer, "a", None);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            lines.len() == 3 && lines[2].ends_with("2       -             503 Service Unavailable"),
            "{shown}"
        );
        assert!(table(&answer, "a", Some("other")).starts_with("nobody was told"));
    }
}
