//! Alerts of a running server: how they stand, and baselines that are learned anew.

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
    /// Have a baseline learned anew, as after a change that is meant.
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
}

/// Runs it.
pub async fn run(verb: AlertsVerb) -> ExitCode {
    let done = match verb {
        AlertsVerb::List { server } => server.get("/v1/alerts").await.map(|answer| table(&answer)),
        AlertsVerb::Rebase { server, alert, slice } => {
            let body = json!({"alert": alert, "slice": slice});
            let sent = server.post("/v1/alerts/rebase", &body).await;
            sent.map(|_| format!("the baseline of {alert} is learned anew"))
        }
        AlertsVerb::Acknowledge { server, alert, slice, lasts, by, note } => {
            let body = json!({"alert": alert, "slice": slice, "for": lasts, "by": by, "note": note});
            let sent = server.post("/v1/alerts/acknowledge", &body).await;
            sent.map(|answer| {
                let count = answer["acknowledged"].as_array().map_or(0, Vec::len);
                format!("{count} of {alert} acknowledged for {lasts}")
            })
        }
    };
    match done {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("groundline alerts: {error}");
            ExitCode::from(1)
        }
    }
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
    let all: Vec<[String; 8]> = std::iter::once(HEADER.map(str::to_owned)).chain(rows).collect();
    let widths: Vec<usize> =
        (0..8).map(|at| all.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; 8]| {
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
}
