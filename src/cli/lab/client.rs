//! The routes of the lab: of a running server, or in this process on a data directory that no server uses now.

use crate::app::{Laboratory, lab_routes, open_queue, open_sql, open_storage};
use crate::cli::evaluators::Scorers;
use crate::cli::remote::unreached;
use crate::cli::trust::Trust;
use crate::config::Config;
use crate::detect::Policy;
use crate::domain::time::{Clock, SystemClock};
use crate::ingest::Redactor;
use crate::journal::Journal;
use crate::lab::Production;
use crate::lake::LakeError;
use crate::net::Access;
use crate::queue::Follower;
use crate::units::ByteSize;
use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use clap::Args;
use http::{Method, Request, StatusCode, header};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use url::Url;

/// Where the datasets are.
#[derive(Debug, Clone, Args)]
pub struct Where {
    /// A running server.
    #[arg(long, default_value = "http://127.0.0.1:4320", conflicts_with = "data_dir")]
    url: String,
    /// A token of the server with the role query to read and lab to write, if it has tokens.
    #[arg(long, env = "GROUNDLINE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    #[command(flatten)]
    trust: Trust,
    /// A data directory that no server uses now.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Configuration file, for a data directory.
    #[arg(long, requires = "data_dir")]
    config: Option<PathBuf>,
}

impl Where {
    /// A running server; over https one that `trust` takes.
    pub fn server(url: String, token: Option<String>, trust: Trust) -> Self {
        Self { url, token, trust, data_dir: None, config: None }
    }

    /// A data directory that no server uses now.
    pub fn folder(dir: PathBuf, config: Option<PathBuf>) -> Self {
        Self { url: String::new(), token: None, trust: Trust::default(), data_dir: Some(dir), config }
    }
}

/// What a request says.
pub struct Asked<'a> {
    /// The method.
    pub method: Method,
    /// The parts of the path below `/v1/lab`.
    pub path: &'a [&'a str],
    /// What stands behind the question mark.
    pub params: Vec<(&'static str, String)>,
    /// The media type and the body; none without one.
    pub body: Option<(&'static str, Vec<u8>)>,
}

impl<'a> Asked<'a> {
    /// A request that reads.
    pub fn get(path: &'a [&'a str]) -> Self {
        Self { method: Method::GET, path, params: Vec::new(), body: None }
    }

    /// A request that writes JSON.
    pub fn json(method: Method, path: &'a [&'a str], body: &Value) -> Self {
        Self {
            method,
            path,
            params: Vec::new(),
            body: Some(("application/json", body.to_string().into_bytes())),
        }
    }

    /// The same with a parameter.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.params.push((name, value.to_string()));
        self
    }

    /// The same with a parameter, if there is one.
    #[must_use]
    pub fn maybe(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.params.extend(value.map(|value| (name, value.to_string())));
        self
    }
}

/// Why a request was refused.
#[derive(Debug)]
pub struct Refused {
    /// One sentence.
    pub error: String,
    /// What is wrong with what was sent, place by place.
    pub faults: Vec<Value>,
}

impl From<String> for Refused {
    fn from(error: String) -> Self {
        Self { error, faults: Vec::new() }
    }
}

/// The routes of the lab.
pub enum LabClient {
    /// Of a running server.
    Remote {
        /// Where it is.
        url: String,
        /// What lets us in.
        token: Option<String>,
        /// The connections.
        client: reqwest::Client,
    },
    /// In this process.
    Local(Box<Local>),
}

/// A data directory that is open here.
pub struct Local {
    router: Router,
    journal: Journal,
    scorers: Scorers,
    stop: CancellationToken,
    flush: JoinHandle<Result<(), LakeError>>,
    /// Items that wait are shown as long as this is there.
    _follower: Follower,
}

impl LabClient {
    /// Opens what `place` names.
    ///
    /// # Errors
    /// When a data directory is none, is used by a server, or cannot be opened; or `--ca-file` cannot be used.
    pub async fn open(place: &Where) -> Result<Self, String> {
        Self::open_for(place, 0).await
    }

    /// The same for a body of so many bytes: a data directory takes it whatever its configuration allows a request, which
    /// keeps others from filling the memory of a server.
    ///
    /// # Errors
    /// As [`LabClient::open`].
    pub async fn open_for(place: &Where, bytes: u64) -> Result<Self, String> {
        match &place.data_dir {
            Some(dir) => {
                let local = Local::open(dir.clone(), place.config.clone(), ByteSize::new(bytes)).await?;
                Ok(Self::Local(Box::new(local)))
            }
            None => Ok(Self::Remote {
                url: place.url.clone(),
                token: place.token.clone(),
                client: place.trust.client()?,
            }),
        }
    }

    /// What the route answers.
    ///
    /// # Errors
    /// What the route refuses, with its faults.
    pub async fn ask(&self, asked: Asked<'_>) -> Result<Bytes, Refused> {
        let (status, bytes) = match self {
            Self::Remote { url, token, client } => remote(client, url, token.as_deref(), asked).await?,
            Self::Local(local) => local.ask(asked).await?,
        };
        if status.is_success() {
            return Ok(bytes);
        }
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let error = answer["error"].as_str().unwrap_or(&text).to_owned();
        Err(Refused { error, faults: answer["faults"].as_array().cloned().unwrap_or_default() })
    }

    /// What the route answers, as JSON.
    ///
    /// # Errors
    /// As [`LabClient::ask`].
    pub async fn value(&self, asked: Asked<'_>) -> Result<Value, Refused> {
        let bytes = self.ask(asked).await?;
        serde_json::from_slice(&bytes).map_err(|e| Refused::from(format!("the answer is no JSON: {e}")))
    }

    /// Closes a data directory. When it returns, all that was written is in files.
    ///
    /// # Errors
    /// When files cannot be written; the rows are in the journal then.
    pub async fn close(self) -> Result<(), String> {
        let Self::Local(local) = self else { return Ok(()) };
        let local = *local;
        local.scorers.ended().await;
        local.stop.cancel();
        let flushed = local.flush.await.map_err(|e| e.to_string())?;
        local.journal.close();
        flushed.map_err(|e| e.to_string())
    }
}

fn address(base: &str, asked: &Asked<'_>) -> Result<Url, String> {
    let wrong = |why: &dyn ToString| format!("{base:?} is no address: {}", why.to_string());
    let mut url = Url::parse(base).map_err(|e| wrong(&e))?;
    // Names may have slashes; a segment is escaped as a whole.
    url.path_segments_mut()
        .map_err(|()| wrong(&"it has no path"))?
        .pop_if_empty()
        .extend(["v1", "lab"])
        .extend(asked.path);
    if !asked.params.is_empty() {
        url.query_pairs_mut().extend_pairs(&asked.params);
    }
    Ok(url)
}

async fn remote(
    client: &reqwest::Client,
    base: &str,
    token: Option<&str>,
    asked: Asked<'_>,
) -> Result<(StatusCode, Bytes), String> {
    let url = address(base, &asked)?;
    let mut request = client.request(asked.method, url.clone());
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    if let Some((kind, body)) = asked.body {
        request = request.header(header::CONTENT_TYPE, kind).body(body);
    }
    let response = request.send().await.map_err(|e| unreached(url.as_str(), e))?;
    let status = response.status();
    let bytes = response.bytes().await.map_err(|e| format!("{url}: {e}"))?;
    Ok((status, bytes))
}

impl Local {
    async fn open(dir: PathBuf, file: Option<PathBuf>, body: ByteSize) -> Result<Self, String> {
        let mut config = Config::load(file.as_deref()).map_err(|e| e.to_string())?;
        config.server.data_dir = dir;
        config.lab.max_import_size = config.lab.max_import_size.max(body);
        let told = |e: crate::app::AppError| e.to_string();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (journal, lake, flush) = open_storage(&config, clock.clone()).await.map_err(told)?;
        let (queue, follower) = open_queue(&config, &journal).map_err(told)?;
        let sql = open_sql(lake.clone(), queue, &config).map_err(told)?;
        let scorers = Scorers::open(&config).map_err(|(_, error)| error)?;
        let policy = Arc::new(Policy::new(&config.detect));
        let lab = Laboratory {
            journal: journal.clone(),
            lake,
            sql,
            clock,
            registry: scorers.registry.clone(),
            desk: scorers.desk(),
            redactor: Redactor::new(&config.ingest.redact, policy).map(Arc::new),
            production: Production::none(),
            access: Access::open(&config.ingest.default_tenant),
            writer: scorers.writer(),
        };
        let stop = CancellationToken::new();
        let flush = tokio::spawn(flush.run(stop.clone()));
        // Spans that targets did not send are made when the server starts again.
        let (router, _) = lab_routes(lab, &config.lab);
        Ok(Self { router, journal, scorers, stop, flush, _follower: follower })
    }

    async fn ask(&self, asked: Asked<'_>) -> Result<(StatusCode, Bytes), String> {
        let url = address("http://localhost", &asked)?;
        let path = &url[url::Position::BeforePath..];
        let mut request = Request::builder().method(asked.method).uri(path);
        let mut body = Body::empty();
        if let Some((kind, bytes)) = asked.body {
            request = request.header(header::CONTENT_TYPE, kind);
            body = Body::from(bytes);
        }
        let request = request.body(body).map_err(|e| e.to_string())?;
        // The routes cannot fail: they answer.
        let response = match self.router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let status = response.status();
        let bytes =
            axum::body::to_bytes(response.into_body(), usize::MAX).await.map_err(|e| e.to_string())?;
        Ok((status, bytes))
    }
}
