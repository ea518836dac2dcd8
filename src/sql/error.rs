//! What can go wrong with a query, and whose fault it is.

use arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use parquet::errors::ParquetError;

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
            DataFusionError::ParquetError(inner) if is_of_a_filter(inner) => {
                SqlError::Wrong(error.strip_backtrace())
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
            _ => SqlError::Wrong(without_rules(&error)),
        }
    }
}

/// What an error says, without the names of the planner's rules that met it.
fn without_rules(error: &DataFusionError) -> String {
    match error {
        DataFusionError::Context(rule, inner) if rule.contains("rule") => without_rules(inner),
        other => other.strip_backtrace(),
    }
}

/// Whether a filter failed on a value while a file was read: the statement asked for it, as it does over rows in memory.
fn is_of_a_filter(error: &ParquetError) -> bool {
    let ParquetError::External(inner) = error else { return false };
    matches!(inner.downcast_ref::<ArrowError>(), Some(ArrowError::ComputeError(_)))
}

impl From<ArrowError> for SqlError {
    fn from(error: ArrowError) -> Self {
        SqlError::from(DataFusionError::from(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_the_planner_are_not_told() {
        let inner = DataFusionError::Plan("a column of text".to_owned());
        let met = inner.context("Optimizer rule 'simplify_expressions' failed");
        assert_eq!(
            SqlError::from(met),
            SqlError::Wrong("Error during planning: a column of text".to_owned())
        );
    }

    #[test]
    fn a_filter_that_fails_in_a_file_is_the_senders_fault_and_a_damaged_file_is_not() {
        let inner = ArrowError::ComputeError("Cannot cast string 'a' to value of Int64 type".to_owned());
        let read = |inner: ParquetError| SqlError::from(DataFusionError::ParquetError(Box::new(inner)));
        assert!(matches!(read(ParquetError::External(Box::new(inner))), SqlError::Wrong(_)));
        assert!(matches!(read(ParquetError::General("bad magic".to_owned())), SqlError::Internal(_)));
        let io = std::io::Error::other("gone");
        assert!(matches!(read(ParquetError::External(Box::new(io))), SqlError::Internal(_)));
    }
}
