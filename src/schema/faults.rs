//! What errors of the engine say to people, without its words for the kind of them.

use datafusion::error::DataFusionError;
use std::fmt::Display;

/// What the engine says before its errors and ours of what kind they are; the classes of PostgreSQL and the statuses of HTTP say it.
const PREFIXES: [&str; 7] = [
    "Error during planning: ",
    "Execution error: ",
    "Schema error: ",
    "Arrow error: ",
    "Parquet error: ",
    "External error: ",
    "External: ",
];

/// What `error` says on one line or more, without the names of the planner's rules that met it and without [`PREFIXES`].
pub fn said(error: &DataFusionError) -> String {
    match error {
        // Some rules are told by their name alone.
        DataFusionError::Context(rule, inner) if rule.contains("rule") || !rule.contains(' ') => said(inner),
        DataFusionError::Context(what, inner) => format!("{what}\ncaused by\n{}", said(inner)),
        DataFusionError::Diagnostic(_, inner) => said(inner),
        DataFusionError::Shared(inner) => said(inner),
        // The engine spells this one as Rust does.
        DataFusionError::SQL(parser, _) => syntax(parser),
        // The engine asks to tell its authors, who do not know this program.
        DataFusionError::Internal(why) => format!("internal error: {why}"),
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

/// That a text is no SQL, and why the parser says so.
pub fn syntax(why: &impl Display) -> String {
    let why = why.to_string();
    format!("syntax error: {}", why.strip_prefix("sql parser error: ").unwrap_or(&why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::parser::ParserError;
    use std::sync::Arc;

    #[test]
    fn errors_say_what_is_wrong_and_not_of_what_kind_it_is() {
        let parser = ParserError::ParserError("Expected: a \"name\"".to_owned());
        for (error, told) in [
            (DataFusionError::SQL(Box::new(parser), None), "syntax error: Expected: a \"name\""),
            (
                DataFusionError::Internal("a column is missing".to_owned()),
                "internal error: a column is missing",
            ),
            (DataFusionError::Plan("no such thing".to_owned()).context("type_coercion"), "no such thing"),
            (
                DataFusionError::Shared(Arc::new(DataFusionError::Execution("too large".to_owned()))),
                "too large",
            ),
        ] {
            assert_eq!(said(&error), told);
        }
    }
}
