//! What can go wrong with a query, and whose fault it is.

use datafusion::error::DataFusionError;

/// Why a query has no (complete) answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// The query is wrong; its sender can repair it.
    #[error("{0}")]
    Wrong(String),
    /// The query met a limit; the text names the limit and its key.
    #[error("{0}")]
    Limit(String),
    /// Too many queries run already; the same query may succeed later.
    #[error("too many queries at once (sql.max_concurrent); try again later")]
    Busy,
    /// The fault is ours.
    #[error("{0}")]
    Internal(String),
}

impl SqlError {
    /// The word that the metrics use for it.
    pub fn outcome(&self) -> &'static str {
        match self {
            SqlError::Wrong(_) => "wrong",
            SqlError::Limit(_) => "limit",
            SqlError::Busy => "busy",
            SqlError::Internal(_) => "internal",
        }
    }

    /// Whether the same query may succeed later without a change.
    pub fn is_retryable(&self) -> bool {
        matches!(self, SqlError::Busy)
    }
}

impl From<DataFusionError> for SqlError {
    fn from(error: DataFusionError) -> Self {
        match error.find_root() {
            DataFusionError::ResourcesExhausted(why) => {
                SqlError::Limit(format!("the query needs more memory than sql.max_memory allows: {why}"))
            }
            DataFusionError::IoError(_)
            | DataFusionError::ObjectStore(_)
            | DataFusionError::ParquetError(_)
            | DataFusionError::Internal(_)
            | DataFusionError::ExecutionJoin(_) => SqlError::Internal(error.strip_backtrace()),
            DataFusionError::SQL(parser, _) => SqlError::Wrong(parser.to_string()),
            DataFusionError::External(inner) => match inner.downcast_ref::<SqlError>() {
                Some(own) => own.clone(),
                None => SqlError::Internal(error.strip_backtrace()),
            },
            _ => SqlError::Wrong(error.strip_backtrace()),
        }
    }
}

impl From<arrow::error::ArrowError> for SqlError {
    fn from(error: arrow::error::ArrowError) -> Self {
        SqlError::from(DataFusionError::from(error))
    }
}
