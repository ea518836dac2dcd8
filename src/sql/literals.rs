//! Text literals that a line break parts are one, as the standard says. The parser takes the second for the name of a column.

use super::error::SqlError;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, Tokenizer, Whitespace};
use std::borrow::Cow;
use std::str::CharIndices;

/// `sql` with one literal for those that only a line break parts.
///
/// # Errors
/// [`SqlError::Wrong`] for two literals that are parted by blanks alone. What has no valid tokens is left for the parser to tell.
pub fn joined(sql: &str) -> Result<Cow<'_, str>, SqlError> {
    if !may_have_two(sql) {
        return Ok(Cow::Borrowed(sql));
    }
    let cuts = cuts(sql)?;
    Ok(without(sql, &cuts).map_or(Cow::Borrowed(sql), Cow::Owned))
}

/// Whether between two quotes is only what can part two literals. Most statements have nothing of the kind.
fn may_have_two(sql: &str) -> bool {
    let parts = |between: &str| {
        !between.is_empty()
            && (between.contains("--") || between.contains("/*") || between.trim_ascii().is_empty())
    };
    sql.split('\'').any(parts)
}

/// From the end of a literal to the beginning of the one that goes on with it.
fn cuts(sql: &str) -> Result<Vec<(Location, Location)>, SqlError> {
    let Ok(tokens) = Tokenizer::new(&PostgreSqlDialect {}, sql).tokenize_with_location() else {
        return Ok(vec![]);
    };
    let (mut cuts, mut before) = (Vec::new(), None);
    let (mut has_break, mut has_comment) = (false, false);
    for token in &tokens {
        match (&token.token, before) {
            (Token::Whitespace(Whitespace::Newline | Whitespace::SingleLineComment { .. }), _) => {
                has_break = true;
                continue;
            }
            (Token::Whitespace(Whitespace::MultiLineComment(_)), _) => {
                has_comment = true;
                continue;
            }
            (Token::Whitespace(_), _) => continue,
            (Token::SingleQuotedString(_), Some(end)) if has_break && !has_comment => {
                cuts.push((end, token.span.start));
            }
            (Token::SingleQuotedString(_), Some(_)) => {
                let why = format!("syntax error at or near \"{}\"", token.token);
                return Err(SqlError::Wrong(why));
            }
            _ => {}
        }
        before = is_literal(&token.token).then_some(token.span.end);
        (has_break, has_comment) = (false, false);
    }
    Ok(cuts)
}

/// Whether a literal may go on in the next line.
fn is_literal(token: &Token) -> bool {
    matches!(
        token,
        Token::SingleQuotedString(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::NationalStringLiteral(_)
            | Token::HexStringLiteral(_)
            | Token::SingleQuotedByteStringLiteral(_)
    )
}

/// `sql` without what stands at `cuts`, and without the quotes around it; none where there is nothing to cut.
fn without(sql: &str, cuts: &[(Location, Location)]) -> Option<String> {
    let mut places = Places { chars: sql.char_indices(), at: Location { line: 1, column: 1 } };
    let (mut out, mut copied) = (String::with_capacity(sql.len()), 0);
    for (end, start) in cuts {
        let quote = places.find(*end)?.checked_sub(1)?;
        out.push_str(sql.get(copied..quote)?);
        copied = places.find(*start)? + 1;
    }
    out.push_str(sql.get(copied..)?);
    (!cuts.is_empty()).then_some(out)
}

/// Where in a text lines and columns are.
struct Places<'a> {
    chars: CharIndices<'a>,
    at: Location,
}

impl Places<'_> {
    /// The byte at which `wanted` is; places are asked for in their order.
    fn find(&mut self, wanted: Location) -> Option<usize> {
        while self.at != wanted {
            let (_, letter) = self.chars.next()?;
            // As the tokenizer counts.
            if letter == '\n' {
                self.at = Location { line: self.at.line + 1, column: 1 };
            } else {
                self.at.column += 1;
            }
        }
        Some(self.chars.offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_joins() {
        for (sql, one) in [
            ("SELECT 'a'\n'b'", "SELECT 'ab'"),
            ("SELECT 'é',\n 'a'  \r\n\t 'b'\n-- and it's\n'c' || 'd'", "SELECT 'é',\n 'abc' || 'd'"),
            ("SELECT E'a\\n'\n'\\t', 'it''s'\n' so'", "SELECT E'a\\n\\t', 'it''s so'"),
            ("SELECT 'a\nb' -- c\n 'd' AS x", "SELECT 'a\nbd' AS x"),
            ("SELECT ''\n''", "SELECT ''"),
        ] {
            assert_eq!(joined(sql).as_deref(), Ok(one), "{sql}");
        }
    }

    #[test]
    fn blanks_do_not() {
        for (sql, near) in [
            ("SELECT 'a' 'b'", "'b'"),
            ("SELECT 'a'\t'b c'", "'b c'"),
            ("SELECT 'a' /* \n */ 'b'", "'b'"),
            ("SELECT 'a'\n'b' 'c'", "'c'"),
        ] {
            let why = SqlError::Wrong(format!("syntax error at or near \"{near}\""));
            assert_eq!(joined(sql), Err(why), "{sql}");
        }
    }

    #[test]
    fn anything_else_is_left_alone() {
        for sql in [
            "SELECT ' ', 'a'",
            "SELECT 'a' AS \"b\"\n, 'c'",
            "SELECT 'a' || -- c\n 'b'",
            "SELECT 1\n'b'",
            "SELECT '\n' || ' -- '",
            "SELECT $$ 'a' 'b' $$",
            "SELECT \"'a' 'b'\" FROM t",
            "-- it's 'a' 'b'\nSELECT 1",
            "SELECT 'a' '",
            "",
        ] {
            assert_eq!(joined(sql).as_deref(), Ok(sql), "{sql}");
        }
    }
}
