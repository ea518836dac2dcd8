//! The words in parentheses behind EXPLAIN: the engine hears none of them. FORMAT JSON is heard when the statement is planned.

use datafusion::sql::sqlparser::ast::{Statement, UtilityOption};

/// Makes `EXPLAIN (ANALYZE, VERBOSE)` the same as `EXPLAIN ANALYZE VERBOSE`. Other words change nothing.
pub fn hear(statement: &mut Statement) {
    let Statement::Explain { analyze, verbose, options: Some(options), .. } = statement else { return };
    *analyze |= is_on(options, "analyze");
    *verbose |= is_on(options, "verbose");
}

fn is_on(options: &[UtilityOption], name: &str) -> bool {
    options.iter().any(|option| {
        let told = option.arg.as_ref().map(|told| told.to_string().to_lowercase());
        let is_off = matches!(told.as_deref(), Some("false" | "off" | "0"));
        option.name.value.eq_ignore_ascii_case(name) && !is_off
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    #[test]
    fn words_in_parentheses_are_heard() {
        for (sql, is) in [
            ("EXPLAIN (ANALYZE, VERBOSE) SELECT 1", (true, true)),
            ("EXPLAIN (analyze true, COSTS off) SELECT 1", (true, false)),
            ("EXPLAIN (ANALYZE false) SELECT 1", (false, false)),
            ("EXPLAIN ANALYZE SELECT 1", (true, false)),
            ("EXPLAIN SELECT 1", (false, false)),
        ] {
            let mut statement = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0);
            hear(&mut statement);
            let Statement::Explain { analyze, verbose, .. } = statement else { panic!("{sql}") };
            assert_eq!((analyze, verbose), is, "{sql}");
        }
    }
}
