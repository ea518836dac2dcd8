//! What can go wrong with a query, and whose fault it is.

use arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use parquet::errors::ParquetError;
use std::fmt::Display;

/// What the engine says before its errors and ours of what kind they are; the classes of PostgreSQL and the statuses of HTTP say it.
const PREFIXES: [&str; 5] =
    ["Error during planning: ", "Execution error: ", "Schema error: ", "Arrow error: ", "External error: "];

/// What the engine says before an error of a filter in a file, which it spells as Rust does.
const OF_FILTER: &str = "Error evaluating filter predicate: ";

/// How such errors begin, and what is said before their text.
const SPELLED: [(&str, &str); 8] = [
    ("Execution(\"", ""),
    ("Plan(\"", ""),
    ("External(Wrong(\"", ""),
    ("ArrowError(CastError(\"", "Cast error: "),
    ("ArrowError(ParseError(\"", "Parser error: "),
    ("ArrowError(ComputeError(\"", "Compute error: "),
    ("ArrowError(ArithmeticOverflow(\"", "Arithmetic overflow: "),
    ("ArrowError(InvalidArgumentError(\"", "Invalid argument error: "),
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
        let why = why.to_string();
        let why = why.strip_prefix("sql parser error: ").unwrap_or(&why);
        SqlError::Wrong(format!("syntax error: {why}"))
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
            DataFusionError::ResourcesExhausted(why) => {
                SqlError::Limit(format!("the query needs more memory than sql.max_memory allows: {why}"))
            }
            DataFusionError::ParquetError(inner) if is_of_a_filter(inner) => wrong(&error),
            DataFusionError::IoError(_)
            | DataFusionError::ObjectStore(_)
            | DataFusionError::ParquetError(_)
            | DataFusionError::Internal(_)
            | DataFusionError::ExecutionJoin(_) => SqlError::Internal(error.strip_backtrace()),
            DataFusionError::SQL(parser, _) => SqlError::syntax(parser),
            DataFusionError::External(inner) => match inner.downcast_ref::<SqlError>() {
                Some(own) => own.clone(),
                None => SqlError::Internal(error.strip_backtrace()),
            },
            _ => wrong(&error),
        }
    }
}

/// An error that the sender of the query can repair, or a limit that its filter met.
fn wrong(error: &DataFusionError) -> SqlError {
    let text = said(error);
    of_a_filter(&text).unwrap_or(SqlError::Wrong(text))
}

/// What an error says, without the names of the planner's rules that met it and without [`PREFIXES`].
fn said(error: &DataFusionError) -> String {
    match error {
        // Some rules are told by their name alone.
        DataFusionError::Context(rule, inner) if rule.contains("rule") || !rule.contains(' ') => said(inner),
        DataFusionError::Context(what, inner) => format!("{what}\ncaused by\n{}", said(inner)),
        other => {
            let text = other.strip_backtrace();
            let mut text = text.as_str();
            while let Some(rest) = PREFIXES.iter().find_map(|prefix| text.strip_prefix(*prefix)) {
                text = rest;
            }
            text.to_owned()
        }
    }
}

/// Whether a filter failed on a value while a file was read: the statement asked for it, as it does over rows in memory.
fn is_of_a_filter(error: &ParquetError) -> bool {
    let ParquetError::External(inner) = error else { return false };
    matches!(inner.downcast_ref::<ArrowError>(), Some(ArrowError::ComputeError(_)))
}

/// What a filter said that failed while a file was read; none of other errors, and if it is spelled in another way.
fn of_a_filter(text: &str) -> Option<SqlError> {
    let (_, spelled) = text.split_once(OF_FILTER)?;
    if let Some(limit) = spelled.strip_prefix("External(Limit(\"") {
        return unquoted(limit).map(SqlError::Limit);
    }
    if spelled.starts_with("ArrowError(DivideByZero") {
        return Some(SqlError::Wrong("Divide by zero error".to_owned()));
    }
    let (before, rest) = SPELLED
        .iter()
        .find_map(|(begin, before)| spelled.strip_prefix(*begin).map(|rest| (*before, rest)))?;
    unquoted(rest).map(|said| SqlError::Wrong(format!("{before}{said}")))
}

/// A text as Rust spells it, up to its closing quote.
fn unquoted(spelled: &str) -> Option<String> {
    let (mut text, mut letters) = (String::new(), spelled.chars());
    loop {
        let letter = match letters.next()? {
            '"' => return Some(text),
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
        for (error, told) in [
            (DataFusionError::Execution("no \"a\\b\"\n ü \u{7}".to_owned()), wrong("no \"a\\b\"\n ü \u{7}")),
            (own(wrong("not 'so'")), wrong("not 'so'")),
            (own(SqlError::Limit("too much".to_owned())), SqlError::Limit("too much".to_owned())),
            (
                DataFusionError::from(ArrowError::CastError("Cannot cast string 'a'".to_owned())),
                wrong("Cast error: Cannot cast string 'a'"),
            ),
            (DataFusionError::from(ArrowError::DivideByZero), wrong("Divide by zero error")),
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
        assert!(matches!(read(ParquetError::External(Box::new(inner))), SqlError::Wrong(_)));
        assert!(matches!(read(ParquetError::General("bad magic".to_owned())), SqlError::Internal(_)));
        let io = std::io::Error::other("gone");
        assert!(matches!(read(ParquetError::External(Box::new(io))), SqlError::Internal(_)));
    }
}
