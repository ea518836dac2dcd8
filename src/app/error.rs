//! Why a server does not start, or stopped.

use super::askers::AskersError;
use crate::drift::AlertError;
use crate::eval::ModelError;
use crate::journal::JournalError;
use crate::lake::LakeError;
use crate::sample::RuleError;
use crate::sql::SqlError;
use std::net::SocketAddr;

/// Why the server does not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// An address cannot be listened on.
    #[error("{key} = {address}: cannot listen: {source}; stop the other program or set another port")]
    Bind {
        /// The configuration key.
        key: &'static str,
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The data directory cannot be used.
    #[error("server.data_dir {path:?}: {source}")]
    DataDir {
        /// The directory.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The journal.
    #[error("journal: {0}")]
    Journal(#[from] JournalError),
    /// The lake.
    #[error("lake: {0}")]
    Lake(#[from] LakeError),
    /// The models.
    #[error("models: {0}")]
    Model(#[from] ModelError),
    /// Judges and plug-ins.
    #[error("{0}")]
    Askers(#[from] AskersError),
    /// SQL.
    #[error("sql: {0}")]
    Sql(#[from] SqlError),
    /// Rules.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Rules(Vec<RuleError>),
    /// Alerts.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Alerts(Vec<AlertError>),
    /// The metrics exporter.
    #[error("metrics: {0}")]
    Metrics(#[from] metrics_exporter_prometheus::BuildError),
    /// Certificates or tokens.
    #[error("{0}")]
    Net(String),
    /// The descriptors of the gRPC services.
    #[error("gRPC reflection: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
    /// An endpoint or loop ended that should not have.
    #[error("{0} ended: {1}")]
    Ended(&'static str, String),
}
