//! Alerts of a running server: how they stand, and baselines that are learned anew.

use super::pipe::say;
use super::remote::Server;
use clap::Subcommand;
use serde_json::{Value, json};
use std::process::ExitCode;

/// What is done.
#[derive(Debug, Subcommand)]
pub enum AlertsVerb {
    /// Show every slice of every alert: its state, the share that fails, and the evidence.
    List {
        #[command(flatten)]
        server: Server,
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
        #[arg(long = "for", default_value = "4h")]
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
        #[arg(long = "for", default_value = "2h", conflicts_with = "until")]
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

/// Runs it.
pub async fn run(verb: AlertsVerb) -> ExitCode {
    let done = match verb {
        AlertsVerb::List { server } => server.get("/v1/alerts").await.map(|answer| table(&answer)),
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

const HEADER: [&str; 8] =
    ["alert", "slice", "state", "failing", "95 % interval", "allowed", "scores", "evidence"];

/// The slices as a table, those that fire first.
fn table(answer: &Value) -> String {
    let none = Vec::new();
    let alerts = answer["alerts"].as_array().unwrap_or(&none);
    if alerts.is_empty() {
        return "no alert has seen a score; [[alerts]] of the configuration defines them".to_owned();
    }
    let mut rows: Vec<[String; 8]> = alerts.iter().map(row).collect();
    rows.sort_by_key(|row| (!row[2].starts_with("firing"), row[2] != "pending"));
    aligned(HEADER, rows)
}

/// A table whose columns are as wide as what stands in them.
fn aligned<const N: usize>(header: [&str; N], rows: Vec<[String; N]>) -> String {
    let all: Vec<[String; N]> = std::iter::once(header.map(str::to_owned)).chain(rows).collect();
    let widths: Vec<usize> =
        (0..N).map(|at| all.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn row(alert: &Value) -> [String; 8] {
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
