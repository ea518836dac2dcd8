//! One of the forms in which a plug-in is asked.

use super::config::{PluginConfig, PluginKind};
use super::describe::Description;
use super::fault::Fault;
use super::grpc::Grpc;
use super::http::Http;
use super::ledger::Ledger;
use super::process::Process;
use std::sync::Arc;

/// What one worker asks through.
pub(super) enum Link {
    /// A process of the worker's own.
    Process(Box<Process>),
    /// An address.
    Http(Box<Http>),
    /// An address of a gRPC server.
    Grpc(Box<Grpc>),
}

impl Link {
    /// # Errors
    /// When the address cannot be used.
    pub(super) fn new(config: &Arc<PluginConfig>) -> Result<Self, String> {
        Ok(match config.form() {
            PluginKind::Process => Link::Process(Box::new(Process::new(config.clone()))),
            PluginKind::Http => Link::Http(Box::new(Http::new(config)?)),
            PluginKind::Grpc => Link::Grpc(Box::new(Grpc::new(config)?)),
        })
    }

    /// What the plug-in says of itself. A process is started for it.
    ///
    /// # Errors
    /// When nobody answers, or nothing that can be kept to.
    pub(super) async fn describe(&mut self) -> Result<Description, String> {
        match self {
            Link::Process(process) => process.describe().await,
            Link::Http(http) => http.describe().await,
            Link::Grpc(grpc) => grpc.describe().await,
        }
    }

    /// Asks for what is open in the ledger. What was answered stands, whatever comes after it.
    ///
    /// # Errors
    /// Why some of it has no answer.
    pub(super) async fn score(&mut self, ledger: &mut Ledger) -> Result<(), Fault> {
        match self {
            Link::Process(process) => process.score(ledger).await,
            Link::Http(http) => http.score(ledger).await,
            Link::Grpc(grpc) => grpc.score(ledger).await,
        }
    }

    /// Ends what was started.
    pub(super) async fn close(&mut self) {
        if let Link::Process(process) = self {
            process.close().await;
        }
    }
}
