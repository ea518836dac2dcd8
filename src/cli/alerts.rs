//! Alerts of a running server: how they stand, who was told, and baselines that are learned anew.

use super::alert_deliveries;
use super::pipe::say;
use super::remote::Server;
use super::table::aligned;
use crate::units::Time;
use clap::Subcommand;
use serde::de::value::StrDeserializer;
use serde_json::{Value, json};
use std::process::ExitCode;

/// What is done.
#[derive(Debug, Subcommand)]
pub enum AlertsVerb {
    /// Show every slice of every alert: its state, the share that fails, the evidence, and who was told.
    List {
        #[command(flatten)]
        server: Server,
    },
    /// Show one alert: its slices, and of each receiver what was delivered when, what waits for which attempt and why, and what is
    /// not tried again.
    Show {
        #[command(flatten)]
        server: Server,
        /// The alert.
        alert: String,
        /// One slice, as the list shows it; all of them if it is left out.
        #[arg(long)]
        slice: Option<String>,
    },
    /// Have the baseline of an alert with the method change learned anew, as after a change that is meant: what fires there ends.
    Rebase {
        #[command(flatten)]
        server: Server,
        /// The alert.
        alert: String,
        /// One slice, as the list shows it; all of them if it is left out.
        #[arg(long)]
        slice: Option<String>,
    },
    /// Say that somebody knows of what fires: it goes on firing, and nobody is told again until the time is over.
    Acknowledge {
        #[command(flatten)]
        server: Server,
        /// The alert.
        alert: String,
        /// One slice, as the list shows it; all that fire if it is left out.
        #[arg(long)]
        slice: Option<String>,
        /// For how long, up to 30d.
        #[arg(long = "for", default_value = "4h", value_parser = time)]
        lasts: String,
        /// Who; a server with tokens takes the token's name.
        #[arg(long, env = "USER", hide_env_values = true, default_value = "")]
        by: String,
        /// Why, or what is done.
        #[arg(long, default_value = "")]
        note: String,
    },
    /// Have nobody told of an alert for a time; what still fires when it ends is told then.
    Silence {
        #[command(flatten)]
        server: Server,
        /// The alert; every alert if it is left out.
        alert: Option<String>,
        /// A column of the slice and its value, such as `request_model=m`; may be given again. Every slice without it.
        #[arg(long)]
        slice: Vec<String>,
        /// For how long.
        #[arg(long = "for", default_value = "2h", conflicts_with = "until", value_parser = time)]
        lasts: String,
        /// Until when, as RFC 3339 writes it, such as 2026-12-24T00:00:00Z.
        #[arg(long)]
        until: Option<String>,
        /// Who; a server with tokens takes the token's name.
        #[arg(long, env = "USER", hide_env_values = true, default_value = "")]
        by: String,
        /// Why.
        #[arg(long, default_value = "")]
        comment: String,
    },
    /// Show the silences that are not over, those of the configuration included.
    Silences {
        #[command(flatten)]
        server: Server,
    },
    /// End a silence that was asked for.
    Unsilence {
        #[command(flatten)]
        server: Server,
        /// Its id, as `silences` shows it.
        id: String,
    },
}

/// A time as the server reads it; it stays text, as somebody wrote it.
fn time(text: &str) -> Result<String, String> {
    let read = Time::deserialize(StrDeserializer::<serde::de::value::Error>::new(text));
    read.map(|_| text.to_owned())
        .map_err(|_| "write numbers with their units, such as 30m or \"1h 30m\"".to_owned())
}

/// Runs it.
pub async fn run(verb: AlertsVerb) -> ExitCode {
    let done = match verb {
        AlertsVerb::List { server } => server.get("/v1/alerts").await.map(|answer| table(&answer)),
        AlertsVerb::Show { server, alert, slice } => {
            let answer = server.get("/v1/alerts").await;
            answer.and_then(|answer| one(&answer, &alert, slice.as_deref()))
        }
        AlertsVerb::Rebase { server, alert, slice } => {
            let body = json!({"alert": alert, "slice": slice});
            let sent = server.post("/v1/alerts/rebase", &body).await;
            let whose = slice.map_or_else(|| "in every slice".to_owned(), |slice| format!("in {slice}"));
            sent.map(|_| {
                format!("the baseline of {alert} is learned anew {whose}, from the next scores; what fires there ends")
            })
        }
        AlertsVerb::Acknowledge { server, alert, slice, lasts, by, note } => {
            let body = json!({"alert": alert, "slice": slice, "for": lasts, "by": by, "note": note});
            let sent = server.post("/v1/alerts/acknowledge", &body).await;
            sent.map(|answer| {
                let count = answer["acknowledged"].as_array().map_or(0, Vec::len);
                format!("{count} of {alert} acknowledged for {lasts}")
            })
        }
        AlertsVerb::Silence { server, alert, slice, lasts, until, by, comment } => {
            let ends = until.map_or(("for", lasts), |until| ("until", until));
            match silence(alert, &slice, ends, &by, &comment) {
                Ok(body) => {
                    let sent = server.post("/v1/alerts/silences", &body).await;
                    sent.map(|made| format!("silence {} until {}", word(&made["id"]), word(&made["until"])))
                }
                Err(why) => Err(why),
            }
        }
        AlertsVerb::Silences { server } => {
            server.get("/v1/alerts/silences").await.map(|answer| silences(&answer))
        }
        AlertsVerb::Unsilence { server, id } => {
            let asked: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
            let sent = server.delete(&format!("/v1/alerts/silences/{asked}")).await;
            sent.map(|_| format!("silence {id} is over"))
        }
    };
    match done {
        Ok(text) => {
            say(text);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("groundline alerts: {error}");
            ExitCode::from(1)
        }
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The body that asks for a silence.
fn silence(
    alert: Option<String>,
    slice: &[String],
    (key, ends): (&str, String),
    by: &str,
    comment: &str,
) -> Result<Value, String> {
    let mut columns = serde_json::Map::new();
    for part in slice {
        let (column, value) = part
            .split_once('=')
            .ok_or(format!("--slice {part:?} is not a column and a value, such as tenant=a"))?;
        columns.insert(column.to_owned(), value.into());
    }
    let slice = if columns.is_empty() { Value::Null } else { Value::Object(columns) };
    Ok(json!({"alert": alert, "slice": slice, key: ends, "by": by, "comment": comment}))
}

/// The silences as a table.
fn silences(answer: &Value) -> String {
    let row = |one: &Value| {
        let slice = one["slice"].as_object().map_or_else(
            || "every slice".to_owned(),
            |all| all.iter().map(|(c, v)| format!("{c}={}", word(v))).collect::<Vec<_>>().join(", "),
        );
        let alert = one["alert"].as_str().unwrap_or("every alert").to_owned();
        [
            word(&one["id"]),
            &alert,
            &slice,
            word(&one["since"]),
            word(&one["until"]),
            word(&one["by"]),
            word(&one["comment"]),
        ]
        .map(str::to_owned)
    };
    let rows: Vec<[String; 7]> = answer["silences"].as_array().into_iter().flatten().map(row).collect();
    if rows.is_empty() {
        return "nothing is silenced".to_owned();
    }
    aligned(["id", "alert", "slice", "since", "until", "by", "comment"], rows)
}

const HEADER: [&str; 9] =
    ["alert", "slice", "state", "failing", "95 % interval", "allowed", "scores", "evidence", "told"];

/// The slices as a table, those that fire first.
fn table(answer: &Value) -> String {
    let none = Vec::new();
    let alerts = answer["alerts"].as_array().unwrap_or(&none);
    if alerts.is_empty() {
        return "no alert has seen a score; [[alerts]] of the configuration defines them".to_owned();
    }
    let mut rows: Vec<[String; 9]> = alerts.iter().map(|alert| row(alert, answer)).collect();
    rows.sort_by_key(|row| (!row[2].starts_with("firing"), row[2] != "pending"));
    aligned(HEADER, rows)
}

/// One alert: its slices, and who was told of them.
fn one(answer: &Value, alert: &str, slice: Option<&str>) -> Result<String, String> {
    let is_it = |one: &&Value| one["alert"] == alert && slice.is_none_or(|slice| one["slice"] == slice);
    let of = |key: &str| -> Vec<Value> {
        answer[key].as_array().into_iter().flatten().filter(is_it).cloned().collect()
    };
    let (standings, told) = (of("alerts"), of("deliveries"));
    if standings.is_empty() && told.is_empty() {
        return Err(format!(
            "nothing is known of {alert:?} there: groundline alerts list shows the alerts and slices that have seen a score"
        ));
    }
    let shown = table(&json!({"alerts": standings, "deliveries": told}));
    Ok(format!("{shown}\n\n{}", alert_deliveries::table(answer, alert, slice)))
}

/// The row of a slice, with who was told of it as `answer` has it.
fn row(alert: &Value, answer: &Value) -> [String; 9] {
    let text = |key: &str| alert[key].as_str().unwrap_or_default().to_owned();
    let share =
        |value: &Value| value.as_f64().map_or_else(|| "-".to_owned(), |v| format!("{:.1} %", v * 100.0));
    let estimate = &alert["estimate"];
    let interval = match estimate["lower"].is_null() {
        true => "-".to_owned(),
        false => format!("{} to {}", share(&estimate["lower"]), share(&estimate["upper"])),
    };
    [
        text("alert"),
        text("slice"),
        match alert["acknowledged"]["by"].as_str() {
            Some(by) => format!("{} (known to {by})", text("state")),
            None => text("state"),
        },
        share(&estimate["estimate"]),
        interval,
        share(&alert["bound"]),
        alert["n"].to_string(),
        format!("{:.3}", alert["statistic"].as_f64().unwrap_or_default()),
        alert_deliveries::short(answer, word(&alert["alert"]), word(&alert["slice"])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fires_stands_first() {
        let slice = |name: &str, state: &str| {
            json!({"alert": "a", "slice": name, "state": state, "n": 7, "statistic": 2.5, "bound": 0.1,
                "estimate": {"estimate": 0.2, "lower": 0.1, "upper": null}})
        };
        let shown = table(&json!({"alerts": [slice("one", "ok"), slice("two", "firing")]}));
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            lines[0].starts_with("alert  slice") && lines[1].contains("two") && lines[2].contains("one"),
            "{shown}"
        );
        assert!(lines[1].contains("20.0 %") && lines[1].contains("10.0 % to -"), "{shown}");
        assert!(table(&json!({"alerts": []})).contains("[[alerts]]"));
        assert!(one(&json!({"alerts": []}), "a", None).unwrap_err().contains("alerts list"));
        let told =
            json!({"alert": "a", "slice": "two", "receiver": "am", "outcome": "waiting", "error": "refused"});
        let answer = json!({"alerts": [slice("one", "ok"), slice("two", "firing")], "deliveries": [told]});
        let listed = table(&answer);
        assert!(listed.lines().nth(1).unwrap().ends_with("am waiting!"), "{listed}");
        let shown = one(&answer, "a", Some("two")).unwrap();
        assert!(!shown.contains("one") && shown.ends_with("refused"), "{shown}");
    }

    #[test]
    fn a_time_that_is_none_is_told_its_form() {
        let read = |lasts: &str| {
            let verb = AlertsVerb::augment_subcommands(clap::Command::new("alerts"));
            verb.try_get_matches_from(["alerts", "silence", "a", "--for", lasts]).map_err(|e| e.to_string())
        };
        let why = read("never").unwrap_err();
        assert!(why.contains("'never'") && why.contains("such as 30m or \"1h 30m\""), "{why}");
        assert!(read("1h 30m").is_ok());
    }

    #[test]
    fn silences_are_asked_for_and_shown() {
        let ends = || ("for", "2h".to_owned());
        let body = silence(Some("a".into()), &["tenant=x=y".into()], ends(), "Ada", "").unwrap();
        assert_eq!(
            body,
            json!({"alert": "a", "slice": {"tenant": "x=y"}, "for": "2h", "by": "Ada", "comment": ""})
        );
        assert!(silence(None, &["tenant".into()], ends(), "", "").unwrap_err().contains("tenant=a"));
        let one = json!({"id": "7", "alert": null, "slice": {"tenant": "x"}, "since": "s", "until": "u", "by": "Ada",
            "comment": "known", "source": "http"});
        let shown = silences(&json!({"silences": [one]}));
        assert!(shown.contains("every alert  tenant=x  s") && shown.ends_with("known"), "{shown}");
        assert_eq!(silences(&json!({"silences": []})), "nothing is silenced");
    }
}
