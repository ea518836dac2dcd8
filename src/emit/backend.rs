//! Requests over HTTP and gRPC, with headers, TLS and compression.

use super::config::{Compression, Config, Protocol};
use super::signal::Signal;
use super::verdict::{self, Verdict, told};
use crate::units::words;
use bytes::{BufMut, Bytes};
use flate2::write::GzEncoder;
use http::uri::PathAndQuery;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::io::Write;
use std::path::Path;
use tonic::codec::{Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::MetadataMap;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Response, Status};

/// So much of an answer is read, bytes.
const MAX_ANSWER: usize = 64 << 10;

/// One backend.
pub(super) struct Backend {
    signal: Signal,
    config: Config,
    /// None before the first attempt, and after one that failed: certificates and addresses may have changed.
    connection: Option<Connection>,
}

#[derive(Clone)]
enum Connection {
    Http(reqwest::Client),
    Grpc(Channel),
}

impl Backend {
    /// Nothing is opened before the first request.
    pub(super) fn new(signal: Signal, config: Config) -> Self {
        Self { signal, config, connection: None }
    }

    /// Sends an export request. Returns within the timeout.
    pub(super) async fn send(&mut self, body: Bytes) -> Verdict {
        let timeout = self.config.timeout;
        let later = |why: String| Verdict::Later { why, pause: None };
        let verdict = match tokio::time::timeout(timeout, self.attempt(body)).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(why)) => later(why),
            Err(_) => later(format!("no answer in {}", words(timeout))),
        };
        if matches!(verdict, Verdict::Later { .. }) {
            self.connection = None;
        }
        verdict
    }

    async fn attempt(&mut self, body: Bytes) -> Result<Verdict, String> {
        let headers = self.headers().await?;
        let connection = match &self.connection {
            Some(connection) => connection.clone(),
            None => {
                let made = connect(&self.config).await?;
                self.connection.insert(made).clone()
            }
        };
        match connection {
            Connection::Http(client) => self.over_http(client, headers, body).await,
            Connection::Grpc(channel) => self.over_grpc(channel, headers, body).await,
        }
    }

    async fn headers(&self) -> Result<HeaderMap, String> {
        let section = self.signal.section();
        let mut headers = HeaderMap::new();
        let mut put = |key: &str, name: &str, value: &str| {
            let name =
                HeaderName::try_from(name).map_err(|_| format!("{section}.{key}: {name} is no header"))?;
            let mut value = HeaderValue::try_from(value).map_err(|_| {
                format!("{section}.{key}: the value of {name} has characters that HTTP does not take")
            })?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok::<(), String>(())
        };
        for (name, value) in &self.config.headers {
            put("headers", name, value)?;
        }
        for (name, path) in &self.config.header_files {
            put("header_files", name, read(section, "header_files", path).await?.trim())?;
        }
        if !is_empty(&self.config.token_file) {
            let token = read(section, "token_file", &self.config.token_file).await?;
            put("token_file", AUTHORIZATION.as_str(), &format!("Bearer {}", token.trim()))?;
        }
        Ok(headers)
    }

    async fn over_http(
        &self,
        client: reqwest::Client,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Verdict, String> {
        let url = format!("{}/{}", self.config.otlp_endpoint.trim_end_matches('/'), self.signal.http_path());
        let mut request = client.post(url).headers(headers).header(CONTENT_TYPE, "application/x-protobuf");
        request = match self.config.compression {
            Compression::None => request.body(body),
            Compression::Gzip => {
                let small = tokio::task::block_in_place(|| gzip(&body)).map_err(|e| e.to_string())?;
                request.header(CONTENT_ENCODING, "gzip").body(small)
            }
        };
        let unsent = |error: reqwest::Error| told(&error.without_url());
        let mut answer = request.send().await.map_err(unsent)?;
        let mut said = Vec::new();
        while said.len() < MAX_ANSWER
            && let Some(chunk) = answer.chunk().await.map_err(unsent)?
        {
            said.extend_from_slice(&chunk[..chunk.len().min(MAX_ANSWER - said.len())]);
        }
        Ok(verdict::of_http(answer.status().as_u16(), answer.headers(), &said))
    }

    async fn over_grpc(&self, channel: Channel, headers: HeaderMap, body: Bytes) -> Result<Verdict, String> {
        let mut request = Request::from_parts(MetadataMap::from_headers(headers), Default::default(), body);
        request.set_timeout(self.config.timeout);
        let mut client = tonic::client::Grpc::new(channel).max_decoding_message_size(MAX_ANSWER);
        if self.config.compression == Compression::Gzip {
            client = client.send_compressed(CompressionEncoding::Gzip);
        }
        client.ready().await.map_err(|error| told(&error))?;
        let path = PathAndQuery::from_static(self.signal.grpc_path());
        let answer = client.unary(request, path, Export).await;
        Ok(verdict::of_grpc(answer.map(Response::into_inner)))
    }
}

fn is_empty(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

async fn read(section: &str, key: &str, path: &Path) -> Result<String, String> {
    let text = tokio::fs::read_to_string(path).await;
    text.map_err(|error| format!("{section}.{key} {}: {error}", path.display()))
}

/// The files of TLS, where they are named.
struct Files {
    ca: Option<String>,
    certificate: Option<(String, String)>,
}

impl Files {
    async fn read(config: &Config) -> Result<Self, String> {
        let one = async |path: &Path| match tokio::fs::read_to_string(path).await {
            Ok(text) => Ok(text),
            Err(error) => Err(format!("{}: {error}", path.display())),
        };
        let ca = if is_empty(&config.ca_file) { None } else { Some(one(&config.ca_file).await?) };
        let certificate = match is_empty(&config.cert_file) {
            true => None,
            false => Some((one(&config.cert_file).await?, one(&config.key_file).await?)),
        };
        Ok(Self { ca, certificate })
    }
}

/// Makes what requests go through; a connection is opened by the first of them.
async fn connect(config: &Config) -> Result<Connection, String> {
    let files = Files::read(config).await?;
    match config.protocol {
        Protocol::Http => over_http(&files).map(Connection::Http).map_err(|error| told(&error)),
        Protocol::Grpc => over_grpc(config, files).map(Connection::Grpc).map_err(|error| told(&error)),
    }
}

fn over_http(files: &Files) -> Result<reqwest::Client, reqwest::Error> {
    let mut builder = reqwest::Client::builder()
        // A redirect would carry the data to whom nobody has named.
        .redirect(reqwest::redirect::Policy::none());
    if let Some(ca) = &files.ca {
        builder = builder.tls_built_in_root_certs(false);
        for one in reqwest::Certificate::from_pem_bundle(ca.as_bytes())? {
            builder = builder.add_root_certificate(one);
        }
    }
    if let Some((certificate, key)) = &files.certificate {
        builder = builder.identity(reqwest::Identity::from_pem(format!("{key}\n{certificate}").as_bytes())?);
    }
    builder.build()
}

fn over_grpc(config: &Config, files: Files) -> Result<Channel, tonic::transport::Error> {
    let mut endpoint = Endpoint::from_shared(config.otlp_endpoint.clone())?
        .connect_timeout(config.timeout)
        .tcp_nodelay(true);
    if config.otlp_endpoint.starts_with("https://") {
        let mut tls = match files.ca {
            Some(ca) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca)),
            None => ClientTlsConfig::new().with_webpki_roots(),
        };
        if let Some((certificate, key)) = files.certificate {
            tls = tls.identity(Identity::from_pem(certificate, key));
        }
        endpoint = endpoint.tls_config(tls)?;
    }
    Ok(endpoint.connect_lazy())
}

fn gzip(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

/// Bytes of a request that is written already, and the answer. Those to spans and to log records have the same form.
struct Export;

impl Codec for Export {
    type Encode = Bytes;
    type Decode = ExportTraceServiceResponse;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Export {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, body: Bytes, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put(body);
        Ok(())
    }
}

impl Decoder for Export {
    type Item = ExportTraceServiceResponse;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Self::Item>, Status> {
        let answer = ExportTraceServiceResponse::decode(from);
        // Made here, of what a backend sent: no reason to think that it took the request.
        answer.map(Some).map_err(|error| Status::from_error(Box::new(error)))
    }
}
