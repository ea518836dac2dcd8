//! Errors say what is wrong, and not of what kind the engine holds it: over rows in memory and in files alike.

use super::fixture;
use groundline::sql::SqlError;

#[tokio::test]
async fn errors_are_told_without_the_words_of_the_engine() {
    let sql = fixture::sql().await;
    for (query, told) in [
        ("SELECT 9223372036854775807 + 1", "bigint out of range"),
        ("SELECT max(duration_ns + 9223372036854775807) FROM spans", "bigint out of range"),
        ("SELECT count(*) FROM spans WHERE duration_ns + 9223372036854775807 > 0", "bigint out of range"),
        ("SELECT attributes #> 'a' FROM spans", "malformed array literal"),
        ("SELECT name::int FROM spans", "Cast error: Cannot cast string "),
        ("SELECT nope FROM spans", "No field named nope."),
        ("SELECT * FROM nope", "table 'groundline.public.nope' not found; the nearest is"),
        ("SELECT nope(1)", "Invalid function 'nope'."),
        ("SELECT 1 FROM", "syntax error: Expected"),
        ("SELECT 'a' 'b'", "syntax error at or near"),
        ("SELECT 'a", "syntax error: Unterminated"),
    ] {
        match sql.collect(query).await {
            Err(SqlError::Wrong(text)) => assert!(text.starts_with(told), "{query}: {text}"),
            other => panic!("{query}: {other:?}"),
        }
    }
}
