//! FETCH, MOVE and COPY with the words that PostgreSQL lets out or takes, and the parser does not.

/// Where FETCH puts rows that nobody reads, as the parser prints it: the parser has no word for MOVE.
pub const MOVED: &str = "\"MOVE\"";

/// The name in FORCE_QUOTE that stands for every column.
pub const EVERY: &str = "*";

/// `FETCH 3 c`, `FETCH c` and `FETCH FORWARD FROM c` with all of their words; `MOVE 3 IN c` as a FETCH of rows that nobody reads.
pub fn fetched(sql: &str) -> Option<String> {
    let (first, rest) = word(sql);
    let is_move = first.eq_ignore_ascii_case("move");
    if !is_move && !first.eq_ignore_ascii_case("fetch") || rest.contains(';') && !ends_there(rest) {
        return None;
    }
    let rest = rest.trim_end().trim_end_matches(';').trim_end();
    let (direction, behind) = direction(rest)?;
    let (next, name) = word(behind);
    let has_word = ["from", "in"].iter().any(|known| next.eq_ignore_ascii_case(known)) && !name.is_empty();
    let name = if has_word { name } else { behind };
    // On a line of its own: the statement may end with a comment.
    let ending = if is_move { format!("\nINTO {MOVED}") } else { String::new() };
    (is_move || !has_word || direction.is_made)
        .then(|| format!("FETCH {} FROM {name}{ending}", direction.words))
}

/// Whether only blanks stand behind the first semicolon.
fn ends_there(rest: &str) -> bool {
    rest.split_once(';').is_none_or(|(_, behind)| behind.trim().is_empty())
}

/// Which rows a FETCH wants.
struct Direction {
    words: String,
    /// Whether the words are others than those that were written.
    is_made: bool,
}

/// The direction that `rest` begins with, and what comes behind it: at least a name. Without a word it is the next row.
fn direction(rest: &str) -> Option<(Direction, &str)> {
    let made = |words: &str| Direction { words: words.to_owned(), is_made: true };
    let written = |words: String| Direction { words, is_made: false };
    let (first, behind) = word(rest);
    if behind.is_empty() {
        return (!first.is_empty()).then(|| (made("NEXT"), rest));
    }
    let is_count = |word: &str| word.eq_ignore_ascii_case("all") || word.parse::<i64>().is_ok();
    match first.to_ascii_lowercase().as_str() {
        "from" | "in" => Some((made("NEXT"), rest)),
        "next" | "prior" | "first" | "last" => Some((written(first.to_owned()), behind)),
        "absolute" | "relative" => {
            let (count, behind) = word(behind);
            Some((written(format!("{first} {count}")), behind))
        }
        one @ ("forward" | "backward") => {
            let (count, further) = word(behind);
            if is_count(count) {
                return Some((written(format!("{first} {count}")), further));
            }
            Some((made(if one == "forward" { "NEXT" } else { "PRIOR" }), behind))
        }
        count if is_count(count) => Some((written(first.to_owned()), behind)),
        _ => None,
    }
}

/// The first word of a text, and what comes behind it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

/// `COPY … FORCE_QUOTE *` with a name for the star: the parser wants names.
pub fn quoted_all(sql: &str) -> Option<String> {
    // In lower case it has as many bytes.
    let lower = sql.to_ascii_lowercase();
    if !lower.trim_start().starts_with("copy") {
        return None;
    }
    [("force_quote", format!("(\"{EVERY}\")")), ("force quote", format!("\"{EVERY}\""))].into_iter().find_map(
        |(words, all)| {
            let at = lower.rfind(words)?;
            let star = lower.get(at + words.len()..)?.trim_start();
            let before = sql.get(..at)?;
            // What stands between quotes is a value.
            let is_outside = |quote: char| before.matches(quote).count() % 2 == 0;
            if !star.starts_with('*') || !is_outside('\'') || !is_outside('"') {
                return None;
            }
            Some(format!("{before}{words} {all}{}", sql.get(sql.len() - star.len() + 1..)?))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetch_has_all_of_its_words() {
        for (sql, whole) in [
            ("FETCH 3 c", "FETCH 3 FROM c"),
            ("fetch next c;", "FETCH next FROM c"),
            ("FETCH c", "FETCH NEXT FROM c"),
            ("FETCH FROM c", "FETCH NEXT FROM c"),
            ("FETCH FORWARD FROM c", "FETCH NEXT FROM c"),
            ("FETCH FORWARD c", "FETCH NEXT FROM c"),
            ("FETCH FORWARD 10 \"my c\"", "FETCH FORWARD 10 FROM \"my c\""),
            ("FETCH FORWARD ALL c", "FETCH FORWARD ALL FROM c"),
            ("FETCH ALL c", "FETCH ALL FROM c"),
            ("FETCH BACKWARD c", "FETCH PRIOR FROM c"),
            ("move 3 IN c ;", "FETCH 3 FROM c\nINTO \"MOVE\""),
            ("MOVE FORWARD 5 c -- on", "FETCH FORWARD 5 FROM c -- on\nINTO \"MOVE\""),
            ("MOVE c", "FETCH NEXT FROM c\nINTO \"MOVE\""),
        ] {
            assert_eq!(fetched(sql).as_deref(), Some(whole), "{sql}");
        }
        for own in
            ["FETCH 3 FROM c", "FETCH FORWARD 3 IN c", "FETCH NEXT FROM c;", "MOVE 1 IN c; SELECT 1", "FETCH"]
        {
            assert_eq!(fetched(own), None, "{own}");
        }
    }

    #[test]
    fn a_star_in_force_quote_is_a_name() {
        for (sql, named) in [
            (
                "COPY t TO STDOUT (FORMAT csv, FORCE_QUOTE *, HEADER)",
                "COPY t TO STDOUT (FORMAT csv, force_quote (\"*\"), HEADER)",
            ),
            ("copy t TO STDOUT CSV FORCE QUOTE *", "copy t TO STDOUT CSV force quote \"*\""),
        ] {
            assert_eq!(quoted_all(sql).as_deref(), Some(named), "{sql}");
        }
        for own in [
            "COPY t TO STDOUT (FORMAT csv, FORCE_QUOTE (a))",
            "COPY (SELECT 'FORCE_QUOTE *') TO STDOUT",
            "SELECT force_quote * 2 FROM t",
        ] {
            assert_eq!(quoted_all(own), None, "{own}");
        }
    }
}
