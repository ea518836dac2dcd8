//! An oracle (F4): every span has a number and a payload that follows from it; what was acknowledged is noted, and must
//! be found afterwards, once and equal. Tests and the soak run share this file.

use super::server::{Server, eventually};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Numbers, obligations, and what the server said.
#[derive(Default)]
pub struct Oracle {
    next: AtomicU64,
    acknowledged: Mutex<BTreeSet<u64>>,
    answers: Mutex<BTreeMap<String, u64>>,
    pub stop: AtomicBool,
}

/// What the check found.
#[derive(Debug, Default)]
pub struct Verdict {
    pub acknowledged: u64,
    pub stored: u64,
    pub lost: Vec<u64>,
    pub doubled: Vec<u64>,
    pub wrong: Vec<u64>,
}

impl Verdict {
    pub fn is_clean(&self) -> bool {
        self.lost.is_empty() && self.doubled.is_empty() && self.wrong.is_empty()
    }
}

/// How a writer behaves.
#[derive(Clone, Copy)]
pub struct Writing {
    /// Spans of one request.
    pub batch: u64,
    /// Bytes of the longest payload.
    pub payload: u64,
    /// One trace in so many is of calls of a model, which are scored; 0 for none.
    pub scored: u64,
    /// Rest between two requests.
    pub pause: Duration,
    /// Sends a refused request again; else its numbers are given up.
    pub insist: bool,
}

/// Text that follows from the number, of a length that does too.
fn payload(number: u64, longest: u64) -> String {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let length = state % longest.max(1);
    let mut text = String::with_capacity(usize::try_from(length).unwrap_or(0) + 16);
    while (text.len() as u64) < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&format!("{state:016x}"));
    }
    text
}

fn text(key: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(any_value::Value::StringValue(value.to_owned())) };
    KeyValue { key: key.to_owned(), value: Some(value), ..KeyValue::default() }
}

/// The attributes of a span by its number.
fn attributes(number: u64, writing: Writing) -> Vec<(&'static str, String)> {
    let mut all = vec![("oracle.payload", payload(number, writing.payload))];
    if writing.scored > 0 && (number / 4).is_multiple_of(writing.scored) {
        all.push(("gen_ai.operation.name", "chat".to_owned()));
        all.push(("gen_ai.request.model", "m".to_owned()));
    }
    all
}

/// The stored text of those attributes.
fn stored_text(number: u64, writing: Writing) -> String {
    let pairs = attributes(number, writing).into_iter().map(|(key, value)| (key.to_owned(), value.into()));
    serde_json::Value::Object(pairs.collect()).to_string()
}

/// A request with the spans of these numbers, four to a trace.
fn request(numbers: std::ops::Range<u64>, writing: Writing) -> Vec<u8> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_nanos()).unwrap_or(0);
    let span = |number: u64| Span {
        trace_id: [&[0xCC; 8][..], &(number / 4).to_be_bytes()].concat(),
        span_id: (number + 1).to_be_bytes().to_vec(),
        name: "oracle".to_owned(),
        start_time_unix_nano: now - 1_000_000,
        end_time_unix_nano: now,
        attributes: attributes(number, writing).iter().map(|(key, value)| text(key, value)).collect(),
        ..Span::default()
    };
    let scope_spans = vec![ScopeSpans { spans: numbers.map(span).collect(), ..ScopeSpans::default() }];
    let resource = Some(Resource { attributes: vec![text("service.name", "oracle")], ..Resource::default() });
    let resource_spans = vec![ResourceSpans { resource, scope_spans, ..ResourceSpans::default() }];
    ExportTraceServiceRequest { resource_spans }.encode_to_vec()
}

/// The codes of HTTP that OTLP calls retryable.
pub fn is_retryable(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

impl Oracle {
    /// Sends requests to `url` until told to stop.
    pub async fn write(&self, url: String, writing: Writing) {
        let client = client();
        while !self.stop.load(Ordering::Relaxed) {
            let first = self.next.fetch_add(writing.batch, Ordering::Relaxed);
            let body = request(first..first + writing.batch, writing);
            loop {
                let said = self.send(&client, &url, body.clone()).await;
                if said == Some(200) {
                    self.acknowledged.lock().unwrap().extend(first..first + writing.batch);
                }
                // Without an answer nobody knows: it may be there, once.
                let again = said.is_none_or(is_retryable) && writing.insist;
                if said == Some(200) || !again || self.stop.load(Ordering::Relaxed) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            tokio::time::sleep(writing.pause).await;
        }
    }

    async fn send(&self, client: &reqwest::Client, url: &str, body: Vec<u8>) -> Option<u16> {
        let post = client.post(url).header("content-type", "application/x-protobuf").body(body);
        let said = post.send().await.ok().map(|answer| answer.status().as_u16());
        let name = said.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
        *self.answers.lock().unwrap().entry(name).or_default() += 1;
        said
    }

    /// Sends one request with `batch` spans; true if it was acknowledged.
    pub async fn once(&self, url: &str, writing: Writing) -> Option<u16> {
        let first = self.next.fetch_add(writing.batch, Ordering::Relaxed);
        let said = self.send(&client(), url, request(first..first + writing.batch, writing)).await;
        if said == Some(200) {
            self.acknowledged.lock().unwrap().extend(first..first + writing.batch);
        }
        said
    }

    /// How often the server gave each answer.
    pub fn answers(&self) -> BTreeMap<String, u64> {
        self.answers.lock().unwrap().clone()
    }

    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.lock().unwrap().len() as u64
    }

    /// Holds what the server has against what it acknowledged, page by page. After an overload the tables may be behind
    /// the journal; it waits for them first.
    pub async fn check(&self, server: &Server, writing: Writing, progress: impl Fn(u64)) -> Verdict {
        const PAGE: u64 = 5_000;
        eventually("the tables have the journal", 300, async || {
            server.metric("groundline_journal_unapplied_frames").await == 0.0
        })
        .await;
        let (acknowledged, end) =
            (self.acknowledged.lock().unwrap().clone(), self.next.load(Ordering::Relaxed));
        let mut verdict = Verdict { acknowledged: acknowledged.len() as u64, ..Verdict::default() };
        let mut rows_found = 0;
        for first in (0..end).step_by(PAGE as usize) {
            // The range of traces spares the files of others; the sum below finds a row that lies in neither.
            let (ids, traces) = (first + 1..first + PAGE + 1, trace_text(first)..trace_text(first + PAGE));
            let range = format!(
                "span_id >= '{:016x}' AND span_id < '{:016x}' AND trace_id >= '{}' AND trace_id < '{}'",
                ids.start, ids.end, traces.start, traces.end
            );
            let sql = format!(
                "SELECT span_id, trace_id, count(*) AS n, min(attributes) AS a, max(attributes) AS b FROM spans \
                 WHERE service_name = 'oracle' AND {range} GROUP BY 1, 2"
            );
            let rows = server.query(&sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
            let mut found = BTreeSet::new();
            for row in rows {
                let number = u64::from_str_radix(row["span_id"].as_str().unwrap(), 16).unwrap() - 1;
                let expected = stored_text(number, writing);
                let equal = row["a"] == expected.as_str() && row["b"] == expected.as_str();
                if !equal || row["trace_id"] != trace_text(number).as_str() {
                    verdict.wrong.push(number);
                }
                rows_found += row["n"].as_i64().unwrap();
                if row["n"] != 1 {
                    verdict.doubled.push(number);
                }
                found.insert(number);
            }
            verdict.stored += found.len() as u64;
            verdict.lost.extend(acknowledged.range(first..first + PAGE).filter(|n| !found.contains(n)));
            progress(first + PAGE);
        }
        let all = server.number("SELECT count(*) AS n FROM spans WHERE service_name = 'oracle'").await;
        assert_eq!(rows_found, all, "every row of the senders belongs to a number and its trace");
        verdict
    }
}

/// The trace of a number, as it is stored.
fn trace_text(number: u64) -> String {
    format!("{}{:016x}", "cc".repeat(8), number / 4)
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().timeout(Duration::from_secs(180)).build().unwrap()
}
