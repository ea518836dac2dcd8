//! What the parser does not read, spelled so that it does.

use super::commands::{fetched, quoted_all};

/// Functions that give a struct, by how their names begin.
const OF_STRUCTS: [&str; 3] = ["quality_", "ppi_", "rogan_gladen"];

/// The fields of such a struct.
const FIELDS: [&str; 5] = ["estimate", "lower", "upper", "n", "n_eff"];

/// What asyncpg asks of types that it does not know itself, such as lists of numbers. Its own query goes down to the parts of a type by
/// a recursion that the engine does not plan; the types of results here are lists of types that it knows.
const OF_TYPES: &str = "SELECT t.oid, n.nspname AS ns, t.typname AS name, t.typtype AS kind, \
CAST(NULL AS INT) AS basetype, NULLIF(t.typelem, 0) AS elemtype, t.typdelim AS elemdelim, \
CAST(NULL AS INT) AS range_subtype, CAST(NULL AS TEXT) AS attrtypoids, CAST(NULL AS TEXT) AS attrnames, 0 AS depth, \
CAST(NULL AS TEXT) AS basetype_name, format_type(NULLIF(t.typelem, 0), CAST(NULL AS INT)) AS elemtype_name, \
CAST(NULL AS TEXT) AS range_subtype_name \
FROM pg_catalog.pg_type AS t JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace \
WHERE array_has(oids(CAST($1 AS INT[])), t.oid)";

/// Parts of that query, in the order in which they come.
const ASKS_OF_TYPES: [&str; 4] =
    ["WITH RECURSIVE typeinfo_tree(", "typebases(oid, depth)", "ti.oid = any($1::oid[])", "depth DESC"];

/// Marks the first end in `BETWEEN SYMMETRIC low AND high`: an operator that the parser reads, and that nothing has.
pub const SYMMETRIC: &str = "!!";

/// `sql` in words that the parser has; none if it has them already.
pub fn spelled_out(sql: &str) -> Option<String> {
    whole_table(sql)
        .or_else(|| fetched(sql))
        .or_else(|| quoted_all(sql))
        .or_else(|| types(sql))
        .or_else(|| symmetric(sql))
        .or_else(|| fields(sql))
}

/// `BETWEEN SYMMETRIC` with a mark before the first end, and `BETWEEN ASYMMETRIC` without its second word.
fn symmetric(sql: &str) -> Option<String> {
    // In lower case it has as many bytes.
    let lower = sql.to_ascii_lowercase();
    let goes_on = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (mut out, mut copied, mut seen, mut quote) = (String::new(), 0, 0, None);
    for (at, word) in lower.match_indices("symmetric") {
        let (begin, mark) = match lower.get(..at)?.strip_suffix('a') {
            Some(before) => (before.len(), ""),
            None => (at, SYMMETRIC),
        };
        for byte in lower.bytes().take(begin).skip(seen) {
            quote = match (quote, byte) {
                (Some(open), _) if open == byte => None,
                (None, b'\'' | b'"') => Some(byte),
                (quote, _) => quote,
            };
        }
        seen = begin;
        let (before, end) = (lower.get(..begin)?, at + word.len());
        let behind =
            before.trim_end().strip_suffix("between").filter(|_| before.ends_with(char::is_whitespace));
        let is_word = behind.is_some_and(|behind| !behind.ends_with(goes_on));
        if quote.is_none() && is_word && !lower.get(end..)?.starts_with(goes_on) {
            out.push_str(sql.get(copied..begin)?);
            out.push_str(mark);
            out.push(' ');
            copied = end;
        }
    }
    out.push_str(sql.get(copied..)?);
    (copied > 0).then_some(out)
}

/// What stands for the query of asyncpg.
fn types(sql: &str) -> Option<String> {
    let mut rest = sql.trim_start().strip_prefix(ASKS_OF_TYPES[0])?;
    for part in &ASKS_OF_TYPES[1..] {
        rest = rest.split_once(part)?.1;
    }
    Some(OF_TYPES.to_owned())
}

/// `TABLE name` as the query that it stands for.
fn whole_table(sql: &str) -> Option<String> {
    let word = sql.trim_start();
    let (first, rest) = word.split_at_checked(5)?;
    let is_word = first.eq_ignore_ascii_case("table") && rest.starts_with(char::is_whitespace);
    is_word.then(|| format!("SELECT * FROM{rest}"))
}

/// `(quality_rate(…)).*` as the fields of its struct.
fn fields(sql: &str) -> Option<String> {
    let mut out = String::new();
    let (mut copied, mut opened, mut quote) = (0, Vec::new(), None);
    for (at, byte) in sql.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(') => opened.push(at),
            (None, b')') => {
                let open = opened.pop()?;
                let Some(star) = star_behind(sql.get(at + 1..)?) else { continue };
                let inner = sql.get(open + 1..at)?.trim();
                let lower = inner.to_lowercase();
                if open < copied || !OF_STRUCTS.iter().any(|begin| lower.starts_with(begin)) {
                    continue;
                }
                let each = FIELDS.map(|field| format!("({inner}).{field}"));
                out.push_str(sql.get(copied..open)?);
                out.push_str(&each.join(", "));
                copied = at + 1 + star;
            }
            _ => {}
        }
    }
    out.push_str(sql.get(copied..)?);
    (copied > 0).then_some(out)
}

/// Where `.*` ends that `rest` begins with.
fn star_behind(rest: &str) -> Option<usize> {
    let star = rest.trim_start().strip_prefix('.')?.trim_start().strip_prefix('*')?;
    Some(rest.len() - star.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_gets_the_types_that_it_asks_for() {
        let asked = "WITH RECURSIVE typeinfo_tree(\n oid, depth)\nAS (SELECT (WITH RECURSIVE typebases(oid, depth) AS (SELECT 1)) \
             FROM pg_type AS ti WHERE\n ti.oid = any($1::oid[])\n) SELECT * FROM typeinfo_tree ORDER BY\n depth DESC";
        assert_eq!(spelled_out(asked).as_deref(), Some(OF_TYPES));
        assert_eq!(spelled_out(&asked.replace("any($1", "any($2")), None);
    }

    #[test]
    fn structs_are_spelled_by_their_fields() {
        let spelled = spelled_out("SELECT m, (quality_rate(passed, 1)) . * FROM t WHERE a = ').*'").unwrap();
        let call = "(quality_rate(passed, 1))";
        let all = FIELDS.map(|field| format!("{call}.{field}")).join(", ");
        assert_eq!(spelled, format!("SELECT m, {all} FROM t WHERE a = ').*'"));
        assert_eq!(spelled_out("TABLE spans").as_deref(), Some("SELECT * FROM spans"));
        assert_eq!(
            spelled_out(
                "SELECT 'between symmetric', a BETWEEN\n Symmetric 1 AND 2, b NOT BETWEEN ASYMMETRIC 3 AND 4"
            )
            .as_deref(),
            Some("SELECT 'between symmetric', a BETWEEN\n !!  1 AND 2, b NOT BETWEEN   3 AND 4")
        );
        assert_eq!(spelled_out("FETCH 3 c").as_deref(), Some("FETCH 3 FROM c"));
        for own in [
            "SELECT 1",
            "MOVE 1 IN c; SELECT 1",
            "SELECT count(*) FROM t",
            "SELECT symmetric, a.between symmetric_b, inbetween symmetric FROM t",
            "SELECT (t).* FROM t",
            "SELECT '(quality_rate(1)).*'",
            "))((",
            "(",
        ] {
            assert_eq!(spelled_out(own), None, "{own}");
        }
    }
}
