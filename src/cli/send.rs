//! OTLP files to a server.

use super::pipe::say;
use super::remote::unreached;
use super::trust::Trust;
use clap::{Args, ValueEnum};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::logs::v1::logs_service_client::LogsServiceClient;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_client::MetricsServiceClient;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_client::TraceServiceClient;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

/// Arguments of the verb.
#[derive(Debug, Args)]
pub struct SendArgs {
    /// The server; http://127.0.0.1:4318 for http, http://127.0.0.1:4317 for grpc if left out.
    #[arg(long)]
    endpoint: Option<String>,
    /// The transport.
    #[arg(long, value_enum, default_value = "http")]
    protocol: Protocol,
    /// A token of the server with the role ingest, if it has tokens.
    #[arg(long, env = "GROUNDLINE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    #[command(flatten)]
    trust: Trust,
    /// The files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// The two transports of OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// OTLP/gRPC.
    Grpc,
    /// OTLP/HTTP.
    Http,
}

/// What a file holds, by its name: `x.logs.pb`, `x.metrics.json`, else traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    Traces,
    Logs,
    Metrics,
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Json,
    Protobuf,
}

/// How often a request that the server cannot take now is sent again.
const ATTEMPTS: u32 = 5;

/// Runs it: every file is tried, exit code 1 if one was not accepted whole.
pub async fn run(args: SendArgs) -> ExitCode {
    let default =
        if args.protocol == Protocol::Grpc { "http://127.0.0.1:4317" } else { "http://127.0.0.1:4318" };
    let endpoint = args.endpoint.unwrap_or_else(|| default.to_owned());
    let mut failed = 0u32;
    let (token, trust) = (args.token.as_deref(), &args.trust);
    let to = To { endpoint: &endpoint, protocol: args.protocol, token, trust };
    for file in &args.files {
        match send_to(to, file).await {
            Ok(answer) => {
                failed += u32::from(answer.rejected > 0);
                let said = if answer.message.is_empty() { "accepted" } else { answer.message.as_str() };
                say(format_args!("{}: {said}", file.display()));
            }
            Err(error) => {
                failed += 1;
                eprintln!("{}: {error}", file.display());
            }
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// What the server said beside yes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Spans or log records that were refused one by one.
    pub rejected: i64,
    /// Why, or a warning; empty if there is nothing to say.
    pub message: String,
}

/// Sends one file; gives what the server said beside yes. Tries again while the server says "later".
pub async fn send_file(endpoint: &str, protocol: Protocol, file: &Path) -> Result<Answer, String> {
    send_to(To { endpoint, protocol, token: None, trust: &Trust::default() }, file).await
}

/// Where requests go, with which token, and whose signatures are taken there.
#[derive(Clone, Copy)]
struct To<'a> {
    endpoint: &'a str,
    protocol: Protocol,
    token: Option<&'a str>,
    trust: &'a Trust,
}

async fn send_to(to: To<'_>, file: &Path) -> Result<Answer, String> {
    let bytes = std::fs::read(file).map_err(|e| e.to_string())?;
    let name = file.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let encoding = match (name.ends_with(".json"), name.ends_with(".pb")) {
        (true, _) => Encoding::Json,
        (_, true) => Encoding::Protobuf,
        _ => return Err("not an OTLP file: the name must end in .pb or .json".to_owned()),
    };
    let signal = if name.contains(".logs.") {
        Signal::Logs
    } else if name.contains(".metrics.") {
        Signal::Metrics
    } else {
        Signal::Traces
    };
    let mut said = Answer::default();
    for body in bodies(&bytes, encoding) {
        let answer = send_body(to, (signal, encoding), body).await?;
        said.rejected = said.rejected.saturating_add(answer.rejected);
        if said.message.is_empty() {
            said.message = answer.message;
        }
    }
    Ok(said)
}

/// The requests of a file: a file of OTLP/JSON may hold several, one a line.
fn bodies(bytes: &[u8], encoding: Encoding) -> Vec<&[u8]> {
    if encoding == Encoding::Protobuf {
        return vec![bytes];
    }
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<serde::de::IgnoredAny>();
    let (mut bodies, mut start) = (Vec::new(), 0);
    while let Some(Ok(_)) = stream.next() {
        bodies.push(&bytes[start..stream.byte_offset()]);
        start = stream.byte_offset();
    }
    // What is not JSON goes as it is: the server says best what is wrong with it.
    if !bytes[start..].trim_ascii().is_empty() || bodies.is_empty() {
        bodies.push(&bytes[start..]);
    }
    bodies
}

async fn send_body(
    to: To<'_>,
    (signal, encoding): (Signal, Encoding),
    bytes: &[u8],
) -> Result<Answer, String> {
    let mut wait = Duration::from_millis(200);
    for attempt in 1.. {
        let sent = match to.protocol {
            Protocol::Http => send_http(to, signal, encoding, bytes.to_vec()).await,
            Protocol::Grpc => send_grpc(to, signal, encoding, bytes).await,
        };
        match sent {
            Err((true, _)) if attempt < ATTEMPTS => {
                tokio::time::sleep(wait).await;
                wait *= 2;
            }
            Ok(said) => return Ok(said),
            Err((_, error)) => return Err(error),
        }
    }
    Err("no attempt was made".to_owned())
}

type Sent = Result<Answer, (bool, String)>;

async fn send_http(to: To<'_>, signal: Signal, encoding: Encoding, bytes: Vec<u8>) -> Sent {
    let path = match signal {
        Signal::Traces => "v1/traces",
        Signal::Logs => "v1/logs",
        Signal::Metrics => "v1/metrics",
    };
    let url = format!("{}/{path}", to.endpoint.trim_end_matches('/'));
    let kind = match encoding {
        Encoding::Json => "application/json",
        Encoding::Protobuf => "application/x-protobuf",
    };
    let client = to.trust.client().map_err(|e| (false, e))?;
    let mut request = client.post(&url).header("content-type", kind).body(bytes);
    if let Some(token) = to.token {
        request = request.bearer_auth(token);
    }
    let response = request.send().await.map_err(|e| (true, unreached(&url, e)))?;
    let status = response.status();
    let body = response.bytes().await.map_err(|e| (true, format!("{url}: {e}")))?;
    if status.is_success() {
        return answer_of(encoding, &body).ok_or((false, format!("{url}: the answer is not OTLP")));
    }
    // In protobuf the message is readable enough among its length bytes.
    let text = String::from_utf8_lossy(&body).chars().filter(|c| !c.is_control()).collect::<String>();
    let retryable = matches!(status.as_u16(), 429 | 502 | 503 | 504);
    Err((retryable, format!("{url}: {status}: {text}")))
}

/// Reads the answer to a request; its three forms differ only in names.
fn answer_of(encoding: Encoding, body: &[u8]) -> Option<Answer> {
    if encoding == Encoding::Protobuf {
        let partial = ExportTraceServiceResponse::decode(body).ok()?.partial_success.unwrap_or_default();
        return Some(Answer { rejected: partial.rejected_spans, message: partial.error_message });
    }
    let answer: serde_json::Value = serde_json::from_slice(body).ok()?;
    let partial = &answer["partialSuccess"];
    let names = ["rejectedSpans", "rejectedLogRecords", "rejectedDataPoints"];
    let rejected = names.iter().find_map(|name| match &partial[*name] {
        serde_json::Value::String(text) => text.parse().ok(),
        other => other.as_i64(),
    });
    let message = partial["errorMessage"].as_str().unwrap_or_default().to_owned();
    Some(Answer { rejected: rejected.unwrap_or(0), message })
}

/// `message` with the token beside it.
fn with_token<T>(token: Option<&str>, message: T) -> Result<tonic::Request<T>, (bool, String)> {
    let mut request = tonic::Request::new(message);
    if let Some(token) = token {
        let value = format!("Bearer {token}").parse();
        let value =
            value.map_err(|_| (false, "the token has characters that no header may have".to_owned()))?;
        request.metadata_mut().insert("authorization", value);
    }
    Ok(request)
}

/// An OTLP/gRPC address; over TLS where it is an https one.
fn grpc_address(to: To<'_>) -> Result<Endpoint, String> {
    let told = |error: tonic::transport::Error| format!("{}: {error}", to.endpoint);
    let address = Endpoint::from_shared(to.endpoint.to_owned()).map_err(told)?;
    if !to.endpoint.starts_with("https://") {
        return Ok(address);
    }
    let mut tls = ClientTlsConfig::new().with_webpki_roots();
    if let Some(pem) = to.trust.pem()? {
        tls = tls.ca_certificate(Certificate::from_pem(pem));
    }
    address.tls_config(tls).map_err(told)
}

async fn send_grpc(to: To<'_>, signal: Signal, encoding: Encoding, bytes: &[u8]) -> Sent {
    let token = to.token;
    let address = grpc_address(to).map_err(|e| (false, e))?;
    let channel = address.connect().await.map_err(|e| (true, format!("{}: {e}", to.endpoint)))?;
    let undecodable = |e: crate::ingest::decode::DecodeError| (false, e.to_string());
    let status =
        |s: tonic::Status| (s.code() == tonic::Code::Unavailable, format!("{:?}: {}", s.code(), s.message()));
    match signal {
        Signal::Traces => {
            let request: ExportTraceServiceRequest = if encoding == Encoding::Json {
                crate::ingest::decode::traces_from_json(bytes).map_err(undecodable)?
            } else {
                crate::ingest::decode::from_protobuf(bytes).map_err(undecodable)?
            };
            let answer =
                TraceServiceClient::new(channel).export(with_token(token, request)?).await.map_err(status)?;
            let partial = answer.into_inner().partial_success.unwrap_or_default();
            Ok(Answer { rejected: partial.rejected_spans, message: partial.error_message })
        }
        Signal::Logs => {
            let request: ExportLogsServiceRequest = if encoding == Encoding::Json {
                crate::ingest::decode::logs_from_json(bytes).map_err(undecodable)?
            } else {
                crate::ingest::decode::from_protobuf(bytes).map_err(undecodable)?
            };
            let answer =
                LogsServiceClient::new(channel).export(with_token(token, request)?).await.map_err(status)?;
            let partial = answer.into_inner().partial_success.unwrap_or_default();
            Ok(Answer { rejected: partial.rejected_log_records, message: partial.error_message })
        }
        Signal::Metrics if encoding == Encoding::Json => {
            Err((false, "metrics in JSON go over HTTP only".to_owned()))
        }
        Signal::Metrics => {
            let request: ExportMetricsServiceRequest =
                crate::ingest::decode::from_protobuf(bytes).map_err(undecodable)?;
            let answer = MetricsServiceClient::new(channel)
                .export(with_token(token, request)?)
                .await
                .map_err(status)?;
            let partial = answer.into_inner().partial_success.unwrap_or_default();
            Ok(Answer { rejected: partial.rejected_data_points, message: partial.error_message })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_file_may_hold_several_requests() {
        let two = b"{\"a\": 1}\n{\n}\n";
        assert_eq!(bodies(two, Encoding::Json), [&b"{\"a\": 1}"[..], b"\n{\n}"]);
        assert_eq!(bodies(b"", Encoding::Json), [b""]);
        assert_eq!(bodies(b"{} nonsense", Encoding::Json), [&b"{}"[..], b" nonsense"]);
        assert_eq!(bodies(b"{}{}", Encoding::Protobuf), [b"{}{}"]);
    }
}
