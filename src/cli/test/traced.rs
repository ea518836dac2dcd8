//! The spans of runs, where checks of a suite read them.

use super::super::lab::{Asked, LabClient, Where};
use crate::lab::suite::{Answered, RunSpan, Spans, Suite, TRACES_AT_ONCE, asks_for_spans};
use serde::Deserialize;
use std::collections::HashMap;
use std::time::Duration;

/// What the server tells of traces; one without a span is not there.
#[derive(Deserialize)]
struct Told {
    traces: HashMap<String, Vec<RunSpan>>,
}

/// Gives each answer the spans that `place` has of its trace, or why it has none. Senders hold spans back, so it waits first where
/// the answers are of now. Checks say themselves where nobody looked.
pub async fn traced(suite: &Suite, answered: &mut [Answered], place: Option<&Where>, wait: Duration) {
    let Some(place) = place.filter(|_| asks_for_spans(suite)) else { return };
    if suite.is_asked() && !wait.is_zero() {
        eprintln!(
            "groundline test: waiting {} s for the spans of the runs (lab.span_wait)",
            wait.as_secs_f64()
        );
        tokio::time::sleep(wait).await;
    }
    let client = LabClient::open(place).await;
    let mut runs: Vec<&mut Answered> = answered.iter_mut().filter(|run| run.traced().is_some()).collect();
    for some in runs.chunks_mut(TRACES_AT_ONCE) {
        let told = match &client {
            Ok(client) => spans(client, some).await,
            Err(why) => Err(why.clone()),
        };
        for run in some {
            let trace = run.traced().unwrap_or_default().to_owned();
            run.see(match &told {
                Ok(told) => Spans::of(&trace, told.get(&trace).cloned().unwrap_or_default()),
                Err(why) => Spans::Missing(format!("the spans of this run cannot be read: {why}")),
            });
        }
    }
    if let Ok(client) = client
        && let Err(why) = client.close().await
    {
        eprintln!("groundline test: {why}");
    }
}

async fn spans(client: &LabClient, runs: &[&mut Answered]) -> Result<HashMap<String, Vec<RunSpan>>, String> {
    let traces: Vec<&str> = runs.iter().filter_map(|run| run.traced()).collect();
    let asked = Asked::get(&["spans"]).with("traces", traces.join(","));
    let told = client.value(asked).await.map_err(|refused| refused.error)?;
    let told: Told =
        serde_json::from_value(told).map_err(|e| format!("the answer is not what is expected: {e}"))?;
    Ok(told.traces)
}
