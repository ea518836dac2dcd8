//! The loop that follows the scores and sends them.

use super::config::Config;
use super::record;
use crate::journal::{Frame, Journal, JournalError, Reader};
use crate::schema::columns::Table;
use crate::schema::frame::{self, FrameKind, Part};
use bytes::Bytes;
use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use prost::Message;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The name of the journal cursor behind which everything has left.
const CURSOR: &str = "emit";
/// How often the journal is looked at.
const TICK: Duration = Duration::from_millis(200);
/// How often the cursor moves.
const SAVE: Duration = Duration::from_secs(2);
/// Waits between attempts: the first, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// The loop, and what it owns.
pub struct Emitter {
    journal: Journal,
    config: Config,
    reader: Reader,
    client: reqwest::Client,
    saved: u64,
}

/// How an attempt ended.
enum Sent {
    /// It was taken; so many records were not.
    Taken(i64),
    /// The same again would be refused again.
    Refused(String),
    /// Another attempt may help.
    Failed(String),
}

impl Emitter {
    /// Stands where it stood before. Without an endpoint it only lets the journal go on.
    ///
    /// # Errors
    /// Those of reading the journal.
    pub fn open(journal: Journal, config: Config) -> Result<Self, JournalError> {
        let saved = journal.cursor(CURSOR)?;
        let reader = journal.reader(saved)?;
        let client = reqwest::Client::builder()
            .timeout(config.timeout)
            // A redirect would carry the results to whom nobody has named.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap_or_default();
        Ok(Self { journal, config, reader, client, saved })
    }

    /// Runs until `stop`.
    ///
    /// # Errors
    /// When the journal can no longer be read.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), JournalError> {
        let mut last = tokio::time::Instant::now();
        while !stop.is_cancelled() {
            if self.config.otlp_endpoint.is_empty() {
                // Nothing leaves: what is durable needs no look.
                self.reader = self.journal.reader(self.journal.durable())?;
            }
            let frame = tokio::task::block_in_place(|| self.reader.next())?;
            let is_idle = frame.is_none();
            // One may have become durable since that look.
            if let Some(frame) = frame.filter(|_| !self.config.otlp_endpoint.is_empty()) {
                self.pass_on(&frame, &stop).await;
            }
            if stop.is_cancelled() {
                break;
            }
            if last.elapsed() > SAVE {
                tokio::task::block_in_place(|| self.save())?;
                last = tokio::time::Instant::now();
            }
            if is_idle {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(TICK) => {}
                }
            }
        }
        Ok(())
    }

    /// Moves the cursor to what was passed on.
    fn save(&mut self) -> Result<(), JournalError> {
        let at = self.reader.position();
        if at <= self.saved {
            return Ok(());
        }
        match self.journal.set_cursor(CURSOR, at) {
            Ok(()) => self.saved = at,
            Err(error) if error.is_retryable() => tracing::warn!(%error, "the cursor is moved later"),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Sends the results of a frame. Returns when they were taken, refused, or left out.
    async fn pass_on(&self, frame: &Frame, stop: &CancellationToken) {
        if !FrameKind(frame.kind).meets(FrameKind::of(Table::Scores)) {
            return;
        }
        for (request, count) in requests(frame) {
            let body = Bytes::from(request.encode_to_vec());
            let mut wait = WAITS.0;
            loop {
                let sent = tokio::select! {
                    () = stop.cancelled() => return,
                    sent = self.send(body.clone()) => sent,
                };
                match sent {
                    Sent::Taken(rejected) => {
                        told("sent", count as u64 - rejected.clamp(0, count as i64) as u64);
                        told("rejected", rejected.clamp(0, count as i64) as u64);
                        break;
                    }
                    Sent::Refused(why) => {
                        tracing::error!(why, count, "evaluation results were refused and are left out");
                        told("refused", count as u64);
                        break;
                    }
                    Sent::Failed(why) if self.is_full() => {
                        tracing::error!(
                            why,
                            count,
                            "the journal has reached emit.max_disk_size: results are left out"
                        );
                        told("dropped", count as u64);
                        break;
                    }
                    Sent::Failed(why) => {
                        tracing::warn!(why, "evaluation results are sent again in {wait:?}");
                        tokio::select! {
                            () = stop.cancelled() => return,
                            () = tokio::time::sleep(wait) => {}
                        }
                        wait = (wait * 2).min(WAITS.1);
                    }
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.journal.stats().bytes_on_disk > self.config.max_disk_size.bytes()
    }

    async fn send(&self, body: Bytes) -> Sent {
        let url = format!("{}/v1/logs", self.config.otlp_endpoint.trim_end_matches('/'));
        let mut request = self.client.post(url).header("content-type", "application/x-protobuf").body(body);
        if !self.config.token_file.as_os_str().is_empty() {
            // It is read each time, so that it may change.
            match tokio::fs::read_to_string(&self.config.token_file).await {
                Ok(token) => request = request.bearer_auth(token.trim()),
                Err(error) => return Sent::Failed(format!("emit.token_file: {error}")),
            }
        }
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => return Sent::Failed(error.without_url().to_string()),
        };
        let status = answer.status();
        let bytes = answer.bytes().await.unwrap_or_default();
        if status.is_success() {
            let partial = ExportLogsServiceResponse::decode(bytes).ok().and_then(|r| r.partial_success);
            return Sent::Taken(partial.map_or(0, |p| p.rejected_log_records));
        }
        let why =
            format!("{status}: {}", String::from_utf8_lossy(&bytes).chars().take(300).collect::<String>());
        // What the OTLP specification lets a client try again, and what an operator may still put right.
        match matches!(status.as_u16(), 401 | 403 | 404 | 408 | 429 | 500..=599) {
            true => Sent::Failed(why),
            false => Sent::Refused(why),
        }
    }
}

fn told(outcome: &'static str, count: u64) {
    metrics::counter!("groundline_emitted_total", "outcome" => outcome).increment(count);
}

/// The results of a frame, as requests.
fn requests(frame: &Frame) -> Vec<(ExportLogsServiceRequest, usize)> {
    let parts = frame::decode(&frame.payload, FrameKind::of(Table::Scores)).unwrap_or_else(|error| {
        metrics::counter!("groundline_frames_unreadable_total").increment(1);
        tracing::error!(seq = frame.seq, %error, "journal frame is not emitted");
        Vec::new()
    });
    let batches = parts.into_iter().filter_map(|part| match part {
        Part::Rows(Table::Scores, batch) => record::request(&batch),
        _ => None,
    });
    batches.collect()
}
