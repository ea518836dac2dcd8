//! Items that wait, failed or expired: what there is, put back, forget.

use super::pipe::say;
use super::remote::Server;
use super::sql::online;
use crate::sql::{Format, encode};
use clap::{Args, Subcommand, ValueEnum};
use std::process::ExitCode;

/// What is done.
#[derive(Debug, Subcommand)]
pub enum QueueVerb {
    /// Show items, the oldest first.
    List {
        #[command(flatten)]
        server: Server,
        /// Only items in this state.
        #[arg(long, value_enum)]
        state: Option<State>,
        /// Most items that are shown.
        #[arg(long, default_value_t = 100)]
        limit: usize,
    },
    /// Put items back that failed or expired; their next scores have the next score_version.
    Retry {
        #[command(flatten)]
        server: Server,
        #[command(flatten)]
        which: Which,
    },
    /// Forget items that failed or expired.
    Drop {
        #[command(flatten)]
        server: Server,
        #[command(flatten)]
        which: Which,
    },
}

/// Which items.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Which {
    /// Ids, as `groundline queue list` shows them.
    items: Vec<String>,
    /// All that failed or expired.
    #[arg(long)]
    all: bool,
}

/// The states of items.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum State {
    /// It may be leased, now or later.
    Waiting,
    /// A worker has it.
    Leased,
    /// Every attempt failed.
    Failed,
    /// It waited too long.
    Expired,
}

/// Runs it.
pub async fn run(verb: QueueVerb) -> ExitCode {
    let done = match verb {
        QueueVerb::List { server, state, limit } => list(&server, state, limit).await,
        QueueVerb::Retry { server, which } => post(&server, "retry", &which, "put back").await,
        QueueVerb::Drop { server, which } => post(&server, "drop", &which, "forgotten").await,
    };
    match done {
        Ok(text) => {
            say(text);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("groundline queue: {error}");
            ExitCode::from(1)
        }
    }
}

async fn list(server: &Server, state: Option<State>, limit: usize) -> Result<String, String> {
    let state = state.and_then(|state| state.to_possible_value());
    let filter = state.map_or_else(String::new, |state| format!("WHERE state = '{}'", state.get_name()));
    let query = format!(
        "SELECT item, lane, state, attempt, rule, evaluators, trace_id, queued_at, not_before, error FROM queue \
         {filter} ORDER BY queued_at, item LIMIT {limit}"
    );
    let (schema, batches) = online(&server.url, server.token.as_deref(), &server.trust, &query).await?;
    let bytes = encode(Format::Table, &schema, &batches, usize::MAX).map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

async fn post(server: &Server, what: &str, which: &Which, done: &str) -> Result<String, String> {
    let body = match which.all {
        true => serde_json::json!({ "all": true }),
        false => serde_json::json!({ "items": which.items }),
    };
    let items = server.post(&format!("/v1/queue/{what}"), &body).await?["items"].as_u64();
    told(items.unwrap_or_default(), which, done)
}

/// What became of so many items. Where some were named and none was there, that is an error: a wrong id would look like success.
fn told(items: u64, which: &Which, done: &str) -> Result<String, String> {
    match items {
        0 if !which.all => Err(format!(
            "nothing was {done}: of {} none failed or expired; `groundline queue list` shows the ids",
            which.items.join(", ")
        )),
        1 => Ok(format!("1 item {done}")),
        items => Ok(format!("{items} items {done}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_are_not_there_are_told() {
        let named = Which { items: vec!["zzz".to_owned(), "y".to_owned()], all: false };
        let why = told(0, &named, "forgotten").unwrap_err();
        assert!(why.starts_with("nothing was forgotten: of zzz, y none failed or expired"), "{why}");
        assert_eq!(told(1, &named, "put back").unwrap(), "1 item put back");
        let all = Which { items: Vec::new(), all: true };
        assert_eq!(told(0, &all, "forgotten").unwrap(), "0 items forgotten");
    }
}
