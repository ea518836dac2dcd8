//! The service `groundline.evaluator.v1.Evaluator`, and the health of its server where it tells that.

use super::config::PluginConfig;
use super::describe::{Description, PROTOCOL, RawDescription, RawMetric};
use super::fault::Fault;
use super::item::{Answer, Item, RawScore};
use super::ledger::Ledger;
use super::pb;
use crate::domain::trace::{Constraint, Step};
use crate::score::secret::Secret;
use crate::score::wire::{read_secret, said};
use crate::units::words;
use http::uri::PathAndQuery;
use prost::Message;
use serde::Deserialize;
use serde_json::Value as Json;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tonic::client::Grpc as Client;
use tonic::metadata::AsciiMetadataValue;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tonic_prost::ProstCodec;

const SERVICE: &str = "groundline.evaluator.v1.Evaluator";
const DESCRIBE: &str = "/groundline.evaluator.v1.Evaluator/Describe";
const SCORE: &str = "/groundline.evaluator.v1.Evaluator/Score";
const HEALTH: &str = "/grpc.health.v1.Health/Check";
/// Longest answer to a batch, bytes.
const MAX_ANSWER: usize = 16 << 20;

/// One plug-in's address.
pub(super) struct Grpc {
    channel: Channel,
    config: Arc<PluginConfig>,
}

impl Grpc {
    /// # Errors
    /// When the address cannot be used.
    pub(super) fn new(config: &Arc<PluginConfig>) -> Result<Self, String> {
        let url = config.address().map_err(|why| format!("url {why}"))?;
        let wrong = |e: tonic::transport::Error| format!("url is no address for gRPC: {e}");
        let mut endpoint = Endpoint::from_shared(url.to_string()).map_err(wrong)?;
        endpoint = endpoint.connect_timeout(config.timeout);
        if url.scheme() == "https" {
            let mut tls = ClientTlsConfig::new().with_webpki_roots();
            if let Some(pem) = config.authorities()? {
                tls = tls.ca_certificate(Certificate::from_pem(pem));
            }
            endpoint = endpoint.tls_config(tls).map_err(wrong)?;
        }
        Ok(Self { channel: endpoint.connect_lazy(), config: config.clone() })
    }

    /// # Errors
    /// When nobody answers, or nothing that can be kept to.
    pub(super) async fn describe(&self) -> Result<Description, String> {
        let limit = self.config.start_timeout;
        let question = HealthCheckRequest { service: SERVICE.to_owned() };
        let health = self.call::<_, HealthCheckResponse>(HEALTH, question, limit).await;
        match health {
            Ok(health) if health.status() != ServingStatus::Serving => {
                return Err(format!("its health is {}", health.status().as_str_name()));
            }
            // Health is for who wants to tell it.
            Ok(_) | Err(Refusal::Status(Code::Unimplemented | Code::NotFound, _)) => {}
            Err(refusal) => return Err(format!("its health is not known: {}", refusal.why())),
        }
        let question = pb::DescribeRequest { protocol: PROTOCOL };
        let told = self.call::<_, pb::DescribeResponse>(DESCRIBE, question, limit).await;
        raw(told.map_err(|refusal| format!("it does not describe itself: {}", refusal.why()))?).checked()
    }

    /// # Errors
    /// Why some items have no answer.
    pub(super) async fn score(&self, ledger: &mut Ledger) -> Result<(), Fault> {
        let question = pb::ScoreRequest { protocol: PROTOCOL, items: ledger.items().map(sent).collect() };
        let told = self.call::<_, pb::ScoreResponse>(SCORE, question, self.config.timeout).await;
        let told = told.map_err(Refusal::fault)?;
        if told.version != ledger.version() {
            return Err(Fault::Stale);
        }
        for answer in told.answers {
            let _ = ledger.take(read(answer));
        }
        if ledger.is_done() {
            return Ok(());
        }
        Err(Fault::Broken(format!("an item has no answer{}", ledger.strays())))
    }

    async fn call<Q, A>(&self, path: &'static str, question: Q, limit: Duration) -> Result<A, Refusal>
    where
        Q: Message + Send + Sync + 'static,
        A: Message + Default + Send + Sync + 'static,
    {
        let mut request = Request::new(question);
        request.set_timeout(limit);
        let token = read_secret("secret_file", &self.config.secret_file).await.map_err(Refusal::Away)?;
        if let Some(token) = &token {
            let bearer = AsciiMetadataValue::try_from(format!("Bearer {}", token.reveal()));
            let wrong = "secret_file: the token has characters that HTTP does not take";
            let mut bearer = bearer.map_err(|_| Refusal::Away(wrong.to_owned()))?;
            bearer.set_sensitive(true);
            request.metadata_mut().insert("authorization", bearer);
        }
        let mut client = Client::new(self.channel.clone()).max_decoding_message_size(MAX_ANSWER);
        let asked = async {
            client.ready().await.map_err(|e| Status::from_error(Box::new(e)))?;
            client.unary(request, PathAndQuery::from_static(path), ProstCodec::default()).await
        };
        // A server may not keep to the deadline that it is told.
        let late = || Refusal::Status(Code::DeadlineExceeded, format!("no answer in {}", words(limit)));
        let status = match tokio::time::timeout(limit, asked).await {
            Ok(Ok(answer)) => return Ok(answer.into_inner()),
            Ok(Err(status)) => status,
            Err(_) => return Err(late()),
        };
        if status.code() == Code::DeadlineExceeded || is_caused_by::<tonic::TimeoutExpired>(&status) {
            return Err(late());
        }
        let why = told(&status, token.as_ref());
        // Where nobody was reached at all, no item can be the cause.
        let is_away = is_caused_by::<tonic::ConnectError>(&status);
        Err(if is_away { Refusal::Away(why) } else { Refusal::Status(status.code(), why) })
    }
}

/// Why a call has no answer.
enum Refusal {
    Away(String),
    Status(Code, String),
}

impl Refusal {
    fn why(self) -> String {
        match self {
            Refusal::Away(why) | Refusal::Status(_, why) => why,
        }
    }

    fn fault(self) -> Fault {
        match self {
            Refusal::Away(why) => Fault::Away(why),
            Refusal::Status(Code::ResourceExhausted, why) => Fault::Busy(why, None),
            Refusal::Status(Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange, why) => {
                Fault::Refused(why)
            }
            Refusal::Status(Code::Unauthenticated | Code::PermissionDenied | Code::Unimplemented, why) => {
                Fault::Away(why)
            }
            Refusal::Status(_, why) => Fault::Broken(why),
        }
    }
}

/// Whether an error of this kind is behind the status.
fn is_caused_by<E: Error + 'static>(status: &Status) -> bool {
    let mut cause = status.source();
    while let Some(inner) = cause {
        if inner.is::<E>() {
            return true;
        }
        cause = inner.source();
    }
    false
}

fn told(status: &Status, token: Option<&Secret>) -> String {
    let why = match status.source() {
        Some(cause) => causes(cause),
        None => status.message().to_owned(),
    };
    format!("gRPC {:?}: {}", status.code(), said(&why, token))
}

fn causes(error: &dyn Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}

fn raw(told: pb::DescribeResponse) -> RawDescription {
    let input = |input: pb::Input| if input.optional { input.name + "?" } else { input.name };
    let metric = |metric: pb::Metric| RawMetric {
        better: match pb::Direction::try_from(metric.better) {
            Ok(pb::Direction::Unspecified | pb::Direction::Higher) => "higher".to_owned(),
            Ok(pb::Direction::Lower) => "lower".to_owned(),
            Err(_) => format!("direction {}", metric.better),
        },
        name: metric.name,
        threshold: metric.threshold,
    };
    RawDescription {
        protocol: told.protocol,
        name: told.name,
        version: told.version,
        inputs: told.inputs.into_iter().map(input).collect(),
        metrics: told.metrics.into_iter().map(metric).collect(),
    }
}

fn read(answer: pb::Answer) -> Answer {
    let score = |score: pb::Score| RawScore {
        metric: score.metric,
        value: score.value,
        label: score.label,
        passed: score.passed,
        rationale: score.rationale,
        skipped: score.skipped,
        error: score.error,
    };
    let said = match answer.error {
        Some(error) => Err(error),
        None => Ok(answer.scores.into_iter().map(score).collect()),
    };
    Answer { id: answer.id, said }
}

/// The inputs of an item as a message.
fn sent(item: &Item) -> pb::Item {
    let inputs = &item.inputs;
    let text = |name: &str| inputs.get(name).and_then(Json::as_str).map(str::to_owned);
    let list = |name: &str| inputs.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
    let texts = |name: &str| list(name).iter().filter_map(Json::as_str).map(str::to_owned).collect();
    let constraints =
        list("constraints").into_iter().filter_map(|json| Constraint::deserialize(json).ok()).map(constraint);
    pb::Item {
        id: item.id.clone(),
        question: text("question"),
        answer: text("answer"),
        contexts: list("contexts").iter().map(context).collect(),
        expected: text("expected"),
        expected_documents: texts("expected_documents"),
        constraints: constraints.collect(),
        system_prompt: text("system_prompt"),
        history: texts("history"),
        tenant: text("tenant"),
        steps: list("steps").into_iter().filter_map(|json| Step::deserialize(json).ok()).map(step).collect(),
        expected_answers: texts("expected_answers"),
    }
}

fn step(from: Step) -> pb::Step {
    let Step { tool, arguments, result, failed } = from;
    pb::Step { tool, arguments, result, failed }
}

fn context(json: &Json) -> pb::Context {
    let text = |name: &str| json[name].as_str().map(str::to_owned);
    let metadata = Some(&json["metadata"]).filter(|metadata| !metadata.is_null());
    pb::Context {
        id: text("id"),
        uri: text("uri"),
        text: text("text"),
        rank: json["rank"].as_i64().and_then(|rank| i32::try_from(rank).ok()),
        score: json["score"].as_f64(),
        tenant: text("tenant"),
        metadata: metadata.map(Json::to_string),
    }
}

fn constraint(from: Constraint) -> pb::Constraint {
    let kind = match from {
        Constraint::Text(text) => pb::Kind::Text(text),
        Constraint::AnyOf(several) => {
            pb::Kind::AnyOf(pb::Constraints { constraints: several.into_iter().map(constraint).collect() })
        }
    };
    pb::Constraint { kind: Some(kind) }
}
