//! What can go wrong with a query, and whose fault it is.

use crate::schema::{said, syntax};
use arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use parquet::errors::ParquetError;
use std::fmt::Display;

/// What the engine says before an error of a filter in a file. It keeps of that error only what Rust spells of it, as text.
const OF_FILTER: &str = "Error evaluating filter predicate: ";

/// Errors that carry another one, as Rust spells them.
const AROUND: [&str; 4] = ["ArrowError(", "External(", "ExternalError(", "Shared("];

/// How errors begin that carry none, and what is said before their text.
const SPELLED: [(&str, &str); 10] = [
    ("Execution(\"", ""),
    ("Plan(\"", ""),
    ("Wrong(\"", ""),
    ("NotImplemented(\"", "This feature is not implemented: "),
    ("NotYetImplemented(\"", "Not yet implemented: "),
    ("CastError(\"", "Cast error: "),
    ("ParseError(\"", "Parser error: "),
    ("ComputeError(\"", "Compute error: "),
    ("ArithmeticOverflow(\"", "Arithmetic overflow: "),
    ("InvalidArgumentError(\"", "Invalid argument error: "),
];

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
    /// A text that is no statement, and why the parser says so.
    pub fn syntax(why: &impl Display) -> Self {
        SqlError::Wrong(syntax(why))
    }

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
            DataFusionError::ResourcesExhausted(why) => memory(why),
            DataFusionError::ParquetError(inner) if is_of_a_filter(inner) => wrong(&error),
            DataFusionError::IoError(_)
            | DataFusionError::ObjectStore(_)
            | DataFusionError::ParquetError(_)
            | DataFusionError::Internal(_)
            | DataFusionError::ExecutionJoin(_) => SqlError::Internal(said(&error)),
            DataFusionError::SQL(parser, _) => SqlError::syntax(parser),
            DataFusionError::External(inner) => match inner.downcast_ref::<SqlError>() {
                Some(own) => own.clone(),
                None => SqlError::Internal(said(&error)),
            },
            _ => wrong(&error),
        }
    }
}

fn memory(why: &str) -> SqlError {
    SqlError::Limit(format!("the query needs more memory than sql.max_memory allows: {why}"))
}

/// An error that the sender of the query can repair, or a limit that its filter met.
fn wrong(error: &DataFusionError) -> SqlError {
    let text = said(error);
    of_a_filter(&text).unwrap_or(SqlError::Wrong(text))
}

/// Whether a filter failed on a value while a file was read: the statement asked for it, as it does over rows in memory.
fn is_of_a_filter(error: &ParquetError) -> bool {
    let ParquetError::External(inner) = error else { return false };
    matches!(inner.downcast_ref::<ArrowError>(), Some(ArrowError::ComputeError(_)))
}

/// What a filter said that failed while a file was read; none of other errors.
fn of_a_filter(text: &str) -> Option<SqlError> {
    let (_, mut spelled) = text.split_once(OF_FILTER)?;
    while let Some(inner) = carried(spelled) {
        spelled = inner;
    }
    if spelled.starts_with("DivideByZero") {
        return Some(SqlError::Wrong("Divide by zero error".to_owned()));
    }
    let told = |begin: &str| spelled.strip_prefix(begin).and_then(unquoted).map(|(told, _)| told);
    let wrong = || {
        SPELLED
            .iter()
            .find_map(|&(begin, before)| told(begin).map(|told| SqlError::Wrong(format!("{before}{told}"))))
    };
    told("Limit(\"")
        .map(SqlError::Limit)
        .or_else(|| told("ResourcesExhausted(\"").map(|why| memory(&why)))
        .or_else(|| told("Internal(\"").map(SqlError::Internal))
        .or_else(wrong)
        .or_else(|| Some(SqlError::Wrong(spelled.to_owned())))
}

/// The error that another one carries, as Rust spells both; none if it carries none.
fn carried(spelled: &str) -> Option<&str> {
    match spelled.strip_prefix("Context(\"") {
        Some(context) => unquoted(context)?.1.strip_prefix(", "),
        None => AROUND.iter().find_map(|around| spelled.strip_prefix(*around)),
    }
}

/// A text as Rust spells it, up to its closing quote, and what comes behind that.
fn unquoted(spelled: &str) -> Option<(String, &str)> {
    let (mut text, mut letters) = (String::new(), spelled.chars());
    loop {
        let letter = match letters.next()? {
            '"' => return Some((text, letters.as_str())),
            '\\' => match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                'u' => {
                    let code: String = letters.by_ref().skip(1).take_while(|letter| *letter != '}').collect();
                    char::from_u32(u32::from_str_radix(&code, 16).ok()?)?
                }
                other => other,
            },
            other => other,
        };
        text.push(letter);
    }
}

impl From<ArrowError> for SqlError {
    fn from(error: ArrowError) -> Self {
        SqlError::from(DataFusionError::from(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::parser::ParserError;
    use std::sync::Arc;

    #[test]
    fn rules_of_the_planner_are_not_told() {
        let inner = DataFusionError::Plan("a column of text".to_owned());
        let met = inner.context("type_coercion").context("Optimizer rule 'simplify_expressions' failed");
        assert_eq!(SqlError::from(met), SqlError::Wrong("a column of text".to_owned()));
        let known = DataFusionError::Plan("a column of text".to_owned()).context("in a part of it");
        assert_eq!(SqlError::from(known).to_string(), "in a part of it\ncaused by\na column of text");
    }

    #[test]
    fn an_error_is_told_without_the_words_of_the_engine() {
        let execution = || DataFusionError::Execution("bigint out of range".to_owned());
        let arrow = |inner: ArrowError| DataFusionError::ArrowError(Box::new(inner), None);
        for (error, told) in [
            (execution(), "bigint out of range"),
            (arrow(ArrowError::ExternalError(Box::new(execution()))), "bigint out of range"),
            (arrow(ArrowError::CastError("Cannot cast".to_owned())), "Cast error: Cannot cast"),
            (DataFusionError::Shared(Arc::new(execution())), "bigint out of range"),
            (DataFusionError::NotImplemented("x".to_owned()), "This feature is not implemented: x"),
            (
                DataFusionError::SQL(Box::new(ParserError::ParserError("Expected: a name".to_owned())), None),
                "syntax error: Expected: a name",
            ),
        ] {
            assert_eq!(SqlError::from(error), SqlError::Wrong(told.to_owned()));
        }
    }

    #[test]
    fn a_filter_in_a_file_says_what_it_says_elsewhere() {
        let own = |error: SqlError| DataFusionError::External(Box::new(error));
        let wrong = |why: &str| SqlError::Wrong(why.to_owned());
        let execution = |why: &str| DataFusionError::Execution(why.to_owned());
        for (error, told) in [
            (DataFusionError::Execution("no \"a\\b\"\n ü \u{7}".to_owned()), wrong("no \"a\\b\"\n ü \u{7}")),
            (own(wrong("not 'so'")), wrong("not 'so'")),
            (own(SqlError::Limit("too much".to_owned())), SqlError::Limit("too much".to_owned())),
            (
                DataFusionError::from(ArrowError::CastError("Cannot cast string 'a'".to_owned())),
                wrong("Cast error: Cannot cast string 'a'"),
            ),
            (DataFusionError::from(ArrowError::DivideByZero), wrong("Divide by zero error")),
            (
                DataFusionError::from(ArrowError::ExternalError(Box::new(execution("bigint out of range")))),
                wrong("bigint out of range"),
            ),
            (DataFusionError::Shared(Arc::new(execution("deep"))), wrong("deep")),
            (execution("deep").context("in \"a\" part"), wrong("deep")),
            (DataFusionError::NotImplemented("x".to_owned()), wrong("This feature is not implemented: x")),
            (DataFusionError::Internal("ours".to_owned()), SqlError::Internal("ours".to_owned())),
            (DataFusionError::ResourcesExhausted("1 KB".to_owned()), memory("1 KB")),
        ] {
            let met = ArrowError::ComputeError(format!("{OF_FILTER}{error:?}"));
            let read = DataFusionError::ParquetError(Box::new(ParquetError::External(Box::new(met))));
            assert_eq!(SqlError::from(read), told);
        }
    }

    #[test]
    fn a_filter_that_fails_in_a_file_is_the_senders_fault_and_a_damaged_file_is_not() {
        let inner = ArrowError::ComputeError("Cannot cast string 'a' to value of Int64 type".to_owned());
        let read = |inner: ParquetError| SqlError::from(DataFusionError::ParquetError(Box::new(inner)));
        let cast = SqlError::Wrong("Compute error: Cannot cast string 'a' to value of Int64 type".to_owned());
        assert_eq!(read(ParquetError::External(Box::new(inner))), cast);
        assert!(matches!(read(ParquetError::General("bad magic".to_owned())), SqlError::Internal(_)));
        let io = std::io::Error::other("gone");
        assert!(matches!(read(ParquetError::External(Box::new(io))), SqlError::Internal(_)));
    }
}
