//! How deep a query can become, told from its tokens before it is parsed.
//!
//! A chain such as `1 + 1 + …` or `a JOIN a JOIN …` parses into a tree as deep as it is long. Everything after the parser
//! walks that tree recursively, and a stack that overflows ends the whole process, not only the query.

use super::error::SqlError;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

/// Operators and joins that may lie one inside the other.
pub const MAX_DEPTH: usize = 300;

/// What a join or a set operation counts as: planning time grows with the cube of their number.
const CHAIN: usize = 4;

/// Steps that the parser may take, roughly. It reads the arguments of a call first as named ones and then once more, so
/// that each level of parentheses doubles the work for what is inside: 22 levels took minutes.
const MAX_STEPS: u64 = 4_000_000;

/// One level of parentheses.
#[derive(Default)]
struct Level {
    /// Operators of the present expression.
    operators: usize,
    /// Joins and set operations of the present query, which chain up across expressions.
    chain: usize,
    /// Whether a comma here joins tables.
    in_from: bool,
}

/// Refuses text whose tree could be deeper than [`MAX_DEPTH`].
///
/// # Errors
/// [`SqlError::Wrong`] for text without valid tokens, [`SqlError::Limit`] for one that is too deep.
pub fn check(sql: &str) -> Result<(), SqlError> {
    let tokens =
        Tokenizer::new(&PostgreSqlDialect {}, sql).tokenize().map_err(|error| SqlError::syntax(&error))?;
    let mut levels = vec![Level::default()];
    let (mut depth, mut steps) = (0, 0u64);
    for token in &tokens {
        step(&mut levels, &mut depth, token);
        let doubled = u32::try_from(levels.len() - 1).unwrap_or(u32::MAX);
        steps = steps.saturating_add(1u64.checked_shl(doubled).unwrap_or(u64::MAX));
        if steps > MAX_STEPS {
            return Err(SqlError::Limit(format!(
                "the query nests parentheses too deep for its length ({} levels here); use WITH for the inner parts",
                levels.len() - 1
            )));
        }
        if depth + levels.len() > MAX_DEPTH {
            return Err(SqlError::Limit(format!(
                "the query nests or chains more than {MAX_DEPTH} operators or parentheses, or {} joins; use IN or VALUES",
                MAX_DEPTH / CHAIN
            )));
        }
    }
    Ok(())
}

/// Takes one token; `depth` is the sum over all open levels.
fn step(levels: &mut Vec<Level>, depth: &mut usize, token: &Token) {
    let Some(level) = levels.last_mut() else { return };
    match token {
        Token::LParen | Token::LBracket | Token::LBrace => {
            // A subscript deepens the expression that it follows.
            level.operators += 1;
            *depth += 1;
            levels.push(Level::default());
        }
        Token::RParen | Token::RBracket | Token::RBrace => {
            *depth -= level.operators + level.chain;
            levels.pop();
            if levels.is_empty() {
                levels.push(Level::default());
            }
        }
        Token::SemiColon => {
            *depth -= level.operators + level.chain;
            *level = Level::default();
        }
        Token::Comma => {
            *depth -= level.operators;
            level.operators = 0;
            if level.in_from {
                level.chain += CHAIN;
                *depth += CHAIN;
            }
        }
        Token::Word(word) => keyword(level, depth, word.keyword),
        Token::Whitespace(_)
        | Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::Placeholder(_)
        | Token::EOF => {}
        _ => {
            level.operators += 1;
            *depth += 1;
        }
    }
}

fn keyword(level: &mut Level, depth: &mut usize, keyword: Keyword) {
    if resets(keyword) {
        *depth -= level.operators;
        level.operators = 0;
    }
    if chains(keyword) {
        level.chain += CHAIN;
        *depth += CHAIN;
    }
    if operates(keyword) {
        level.operators += 1;
        *depth += 1;
    }
    match keyword {
        Keyword::FROM => level.in_from = true,
        Keyword::SELECT | Keyword::WHERE | Keyword::GROUP | Keyword::ORDER => level.in_from = false,
        _ => {}
    }
}

/// Whether an expression ends here.
fn resets(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::SELECT
            | Keyword::FROM
            | Keyword::WHERE
            | Keyword::GROUP
            | Keyword::HAVING
            | Keyword::ORDER
            | Keyword::LIMIT
            | Keyword::UNION
            | Keyword::INTERSECT
            | Keyword::EXCEPT
            | Keyword::MINUS
            | Keyword::JOIN
            | Keyword::STRAIGHT_JOIN
            | Keyword::APPLY
    )
}

/// Whether a join or a set operation begins.
fn chains(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::UNION
            | Keyword::INTERSECT
            | Keyword::EXCEPT
            | Keyword::MINUS
            | Keyword::JOIN
            | Keyword::STRAIGHT_JOIN
            | Keyword::APPLY
            | Keyword::LATERAL
            | Keyword::PIVOT
            | Keyword::UNPIVOT
            | Keyword::MATCH_RECOGNIZE
    )
}

/// Whether an expression becomes deeper.
fn operates(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::AND
            | Keyword::OR
            | Keyword::NOT
            | Keyword::IS
            | Keyword::IN
            | Keyword::LIKE
            | Keyword::ILIKE
            | Keyword::SIMILAR
            | Keyword::BETWEEN
            | Keyword::COLLATE
            | Keyword::AT
            | Keyword::CASE
            | Keyword::WHEN
            | Keyword::OVERLAPS
            | Keyword::DIV
            | Keyword::XOR
            | Keyword::RLIKE
            | Keyword::REGEXP
            | Keyword::NOTNULL
            | Keyword::MATCH
            | Keyword::MEMBER
            | Keyword::OPERATOR
            | Keyword::EXPLAIN
            | Keyword::DESCRIBE
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_queries_pass() {
        let long_list = format!("SELECT 1 WHERE 1 IN (1{})", ", 2".repeat(10_000));
        let wide = format!("SELECT 1 + 1{}", ", a + b".repeat(2000));
        for sql in ["SELECT a.b::int FROM t, u WHERE x = 1 AND y LIKE 'z%'", &long_list, &wide] {
            assert_eq!(check(sql), Ok(()), "{}", &sql[..40.min(sql.len())]);
        }
    }

    #[test]
    fn every_kind_of_chain_is_counted() {
        for link in [
            " + 1",
            " OR a = 1",
            " IS NULL",
            "::int",
            "[1]",
            " AT TIME ZONE 'UTC'",
            " UNION ALL SELECT 1",
            " FROM t JOIN u ON a = b",
            " FROM t, u, v",
            "->'a'",
            " NOT IN (1)",
            ".a",
            " NOTNULL",
            " RLIKE 'a'",
            " REGEXP 'a'",
            " MEMBER OF(1)",
            " OPERATOR(+) 1",
            " MINUS SELECT 1",
            " FROM t CROSS APPLY u",
            " FROM t, LATERAL u",
        ] {
            let sql = format!("SELECT 1{}", link.repeat(MAX_DEPTH + 1));
            assert!(matches!(check(&sql), Err(SqlError::Limit(_))), "{link}");
        }
        assert!(matches!(check(&format!("SELECT {}1", "(".repeat(400))), Err(SqlError::Limit(_))));
        assert!(matches!(check(&format!("SELECT {}1", "- ".repeat(400))), Err(SqlError::Limit(_))));
        for before in ["EXPLAIN ", "DESCRIBE ", "EXPLAIN ANALYZE "] {
            let sql = format!("{}SELECT 1", before.repeat(131_000));
            assert!(matches!(check(&sql), Err(SqlError::Limit(_))), "{before}");
        }
        assert!(matches!(check(&format!("SELECT {}true", "NOT ".repeat(400))), Err(SqlError::Limit(_))));
        assert!(matches!(check(&format!("SELECT * FROM t{}", ", t".repeat(400))), Err(SqlError::Limit(_))));
    }

    #[test]
    fn what_doubles_the_work_of_the_parser_is_bounded() {
        let calls = |levels: usize| format!("SELECT {}1{}", "abs(".repeat(levels), ")".repeat(levels));
        assert_eq!(check(&calls(12)), Ok(()));
        for hostile in [calls(25), format!("SELECT {}", "a(".repeat(25)), calls(14).repeat(200)] {
            assert!(matches!(check(&hostile), Err(SqlError::Limit(_))), "{}", hostile.len());
        }
        let since = std::time::Instant::now();
        assert!(crate::sql::guard::parse(&calls(12)).is_ok());
        assert!(since.elapsed().as_secs() < 20, "{:?}", since.elapsed());
    }

    #[test]
    fn unbalanced_text_does_not_confuse_the_count() {
        assert_eq!(check(")))(("), Ok(()));
        assert!(matches!(check("SELECT 'open"), Err(SqlError::Wrong(_))));
    }
}
