//! Sends requests that are encoded already, so that the generator uses little of the machine.

use crate::args::Door;
use crate::server::Failed;
use bytes::{Buf, BufMut, Bytes};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// What the server said.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Acknowledged, but so many spans refused.
    Taken(u64),
    /// Come back later.
    Later,
}

/// A door of a server.
#[derive(Debug, Clone)]
pub struct Target {
    /// Which protocol.
    pub door: Door,
    /// Such as `http://127.0.0.1:4317`.
    pub address: String,
    /// Headers that this server wants with each request over HTTP.
    pub headers: Vec<(&'static str, &'static str)>,
}

impl Target {
    /// A door that wants no headers.
    pub fn new(door: Door, address: String) -> Self {
        Self { door, address, headers: Vec::new() }
    }
}

/// One connection of a kind.
#[derive(Clone)]
pub enum Client {
    /// OTLP/gRPC.
    Grpc(Grpc<Channel>),
    /// OTLP/HTTP with protobuf: the client and the address.
    Http(reqwest::Client, String, Vec<(&'static str, &'static str)>),
}

impl Client {
    /// Connects to `target`.
    pub async fn connect(target: &Target) -> Result<Self, Failed> {
        match target.door {
            Door::Grpc => {
                let endpoint = Endpoint::from_shared(target.address.clone())?.tcp_nodelay(true);
                let endpoint =
                    endpoint.initial_connection_window_size(8 << 20).initial_stream_window_size(8 << 20);
                Ok(Self::Grpc(Grpc::new(endpoint.connect().await?)))
            }
            Door::Http => {
                let client = reqwest::Client::builder().tcp_nodelay(true).no_proxy().build()?;
                Ok(Self::Http(client, format!("{}/v1/traces", target.address), target.headers.clone()))
            }
        }
    }

    /// Sends one request and waits for its answer.
    pub async fn send(&mut self, body: Bytes) -> Result<Answer, Failed> {
        match self {
            Self::Grpc(grpc) => {
                grpc.ready().await?;
                let path = PathAndQuery::from_static(EXPORT);
                match grpc.unary(Request::new(body), path, Encoded).await {
                    Ok(answer) => taken(answer.into_inner()),
                    Err(status) if status.code() == Code::Unavailable => Ok(Answer::Later),
                    Err(status) => Err(status.into()),
                }
            }
            Self::Http(client, url, headers) => {
                let mut request = client.post(url.as_str()).header("content-type", "application/x-protobuf");
                for (name, value) in headers {
                    request = request.header(*name, *value);
                }
                let answer = request.body(body).send().await?;
                match answer.status().as_u16() {
                    429 | 502 | 503 | 504 => Ok(Answer::Later),
                    _ => taken(answer.error_for_status()?.bytes().await?),
                }
            }
        }
    }
}

fn taken(body: Bytes) -> Result<Answer, Failed> {
    let answer = ExportTraceServiceResponse::decode(body)?;
    let rejected = answer.partial_success.map_or(0, |p| p.rejected_spans);
    Ok(Answer::Taken(u64::try_from(rejected)?))
}

/// A codec for messages that are bytes on both sides.
#[derive(Clone, Copy)]
struct Encoded;

impl Codec for Encoded {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Encoded {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put(item);
        Ok(())
    }
}

impl Decoder for Encoded {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}
