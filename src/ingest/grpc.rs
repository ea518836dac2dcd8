//! OTLP/gRPC.

use super::admit::{Door, Receipt, Refusal};
use super::http::{logs_response, metrics_response, trace_response};
use axum::http::HeaderValue;
use opentelemetry_proto::tonic::collector::logs::v1::logs_service_server::{LogsService, LogsServiceServer};
use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use tonic::codec::CompressionEncoding::{Gzip, Zstd};
use tonic::service::Routes;
use tonic::{Code, Request, Response, Status};

/// The three OTLP services behind one door.
pub fn grpc_router(door: Door) -> Routes {
    let limit = door.config().max_request_bytes;
    let traces = TraceServiceServer::new(Service(door.clone()))
        .accept_compressed(Gzip)
        .accept_compressed(Zstd)
        .send_compressed(Gzip)
        .max_decoding_message_size(limit);
    let logs = LogsServiceServer::new(Service(door.clone()))
        .accept_compressed(Gzip)
        .accept_compressed(Zstd)
        .send_compressed(Gzip)
        .max_decoding_message_size(limit);
    let metrics = MetricsServiceServer::new(Service(door))
        .accept_compressed(Gzip)
        .accept_compressed(Zstd)
        .send_compressed(Gzip)
        .max_decoding_message_size(limit);
    Routes::new(traces).add_service(logs).add_service(metrics)
}

/// Mends the status of an oversize message: tonic answers OUT_OF_RANGE, which OTLP calls retryable, so that a client
/// would send a request that can never fit again and again.
pub fn limits_layer<B>(mut response: axum::http::Response<B>) -> axum::http::Response<B> {
    let out_of_range = HeaderValue::from(Code::OutOfRange as i32);
    if response.headers().get("grpc-status") == Some(&out_of_range) {
        let exhausted = HeaderValue::from(Code::ResourceExhausted as i32);
        response.headers_mut().insert("grpc-status", exhausted);
    }
    response
}

struct Service(Door);

#[tonic::async_trait]
impl TraceService for Service {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let request = request.into_inner();
        let _permit = self.0.reserve(request.encoded_len()).map_err(status)?;
        let receipt: Receipt = self.0.spans(request).await.map_err(status)?;
        Ok(Response::new(trace_response(&receipt)))
    }
}

#[tonic::async_trait]
impl LogsService for Service {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        let request = request.into_inner();
        let _permit = self.0.reserve(request.encoded_len()).map_err(status)?;
        let receipt = self.0.logs(request).await.map_err(status)?;
        Ok(Response::new(logs_response(&receipt)))
    }
}

#[tonic::async_trait]
impl MetricsService for Service {
    async fn export(
        &self,
        _request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        Ok(Response::new(metrics_response()))
    }
}

/// `google.rpc.RetryInfo`, the detail that tells a client when to come back.
#[derive(Clone, PartialEq, Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<ProtoDuration>,
}

#[derive(Clone, PartialEq, Message)]
struct ProtoDuration {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

#[derive(Clone, PartialEq, Message)]
struct ProtoAny {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<ProtoAny>,
}

/// The only place where a gRPC status is made.
fn status(refusal: Refusal) -> Status {
    let message = refusal.to_string();
    match refusal {
        Refusal::Invalid(_) => Status::invalid_argument(message),
        Refusal::Broken(_) => Status::internal(message),
        Refusal::Overloaded { retry_after, .. } => {
            let retry_delay = Some(ProtoDuration {
                seconds: i64::try_from(retry_after.as_secs()).unwrap_or(i64::MAX),
                nanos: i32::try_from(retry_after.subsec_nanos()).unwrap_or(0),
            });
            let detail = ProtoAny {
                type_url: "type.googleapis.com/google.rpc.RetryInfo".to_owned(),
                value: RetryInfo { retry_delay }.encode_to_vec(),
            };
            let code = Code::Unavailable;
            let body = RpcStatus { code: code as i32, message: message.clone(), details: vec![detail] };
            Status::with_details(code, message, body.encode_to_vec().into())
        }
    }
}
