//! `grpc.health.v1` and server reflection, beside OTLP/gRPC.
//!
//! Health is open to everybody, as over HTTP: load balancers have no token. Reflection tells what OTLP publishes anyway.

use super::health::Health;
use axum::Router;
use futures::stream::{self, BoxStream};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::{Health as HealthRpc, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tonic_reflection::server::Builder;

/// The descriptors of the three OTLP services and of all that they use, as protoc makes them of the protocol's files
/// (`--include_imports --descriptor_set_out`). They are stored because a build needs no protoc.
const OTLP: &[u8] = include_bytes!("../../schemas/otlp.binpb");

/// The services whose health can be asked for; "" is the server as a whole.
const SERVICES: &[&str] = &[
    "",
    "opentelemetry.proto.collector.trace.v1.TraceService",
    "opentelemetry.proto.collector.logs.v1.LogsService",
    "opentelemetry.proto.collector.metrics.v1.MetricsService",
];

/// Largest request for health, bytes: it holds the name of a service, and whoever sends it needs no token.
const MAX_ASKED: usize = 4 << 10;

/// How often a watched status is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// The routes. Streams end at `stop`, so that they hold up no stop.
///
/// # Errors
/// If the stored descriptors cannot be read, which a test excludes.
pub fn grpc_routes(
    health: Health,
    stop: CancellationToken,
) -> Result<Router, tonic_reflection::server::Error> {
    let descriptors = || {
        Builder::configure()
            .register_encoded_file_descriptor_set(OTLP)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let health = HealthServer::new(Service { health, stop }).max_decoding_message_size(MAX_ASKED);
    Ok(Router::new()
        .route_service("/grpc.health.v1.Health/{method}", health)
        .route_service("/grpc.reflection.v1.ServerReflection/{method}", descriptors().build_v1()?)
        // Most clients still ask for this one.
        .route_service("/grpc.reflection.v1alpha.ServerReflection/{method}", descriptors().build_v1alpha()?))
}

struct Service {
    health: Health,
    stop: CancellationToken,
}

impl Service {
    fn status(health: &Health, name: &str) -> ServingStatus {
        match health.not_ready() {
            _ if !SERVICES.contains(&name) => ServingStatus::ServiceUnknown,
            None => ServingStatus::Serving,
            Some(_) => ServingStatus::NotServing,
        }
    }
}

fn answer(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}

#[tonic::async_trait]
impl HealthRpc for Service {
    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        match Self::status(&self.health, &request.get_ref().service) {
            ServingStatus::ServiceUnknown => {
                let named = SERVICES[1..].join(", ");
                Err(Status::not_found(format!("no such service; ask for \"\" or {named}")))
            }
            status => Ok(Response::new(answer(status))),
        }
    }

    type WatchStream = BoxStream<'static, Result<HealthCheckResponse, Status>>;

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let name = request.into_inner().service;
        let begin = (self.health.clone(), self.stop.clone(), None);
        let changes = stream::unfold(begin, move |(health, stop, last)| {
            let name = name.clone();
            async move {
                loop {
                    let ends = stop.is_cancelled();
                    let now = Service::status(&health, &name);
                    if last != Some(now) {
                        return Some((Ok(answer(now)), (health, stop, Some(now))));
                    }
                    if ends {
                        return None;
                    }
                    tokio::select! {
                        () = stop.cancelled() => {}
                        () = tokio::time::sleep(LOOK) => {}
                    }
                }
            }
        });
        Ok(Response::new(Box::pin(changes)))
    }
}
