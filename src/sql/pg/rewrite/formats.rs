//! Formats of times: PostgreSQL writes `YYYY-MM-DD`, the engine `%Y-%m-%d`.

/// The longest first, because `MM` begins `MMM`, not the other way round.
const PARTS: &[(&str, &str)] = &[
    ("YYYY", "%Y"),
    ("IYYY", "%G"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("Month", "%B"),
    ("MONTH", "%B"),
    ("month", "%B"),
    ("DDD", "%j"),
    ("Day", "%A"),
    ("DAY", "%A"),
    ("day", "%A"),
    ("Mon", "%b"),
    ("MON", "%b"),
    ("mon", "%b"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("Dy", "%a"),
    ("DY", "%a"),
    ("dy", "%a"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("MS", "%3f"),
    ("US", "%6f"),
    ("AM", "%p"),
    ("PM", "%p"),
    ("IW", "%V"),
    ("ID", "%u"),
    ("TZ", "%Z"),
    ("OF", "%:z"),
    ("FM", ""),
];

/// `format` as the engine writes it; none if it is in that form already, or has a part that the engine cannot write.
pub fn engine_format(format: &str) -> Option<String> {
    if format.contains('%') {
        return None;
    }
    let mut out = String::new();
    let mut rest = format;
    while let Some(letter) = rest.chars().next() {
        if let Some((part, own)) = PARTS.iter().find(|(part, _)| rest.starts_with(part)) {
            out.push_str(own);
            rest = &rest[part.len()..];
        } else if letter == '"' {
            let (literal, after) = rest[1..].split_once('"')?;
            out.push_str(literal);
            rest = after;
        } else if letter.is_alphanumeric() && !matches!(letter, 'T' | 'Z') {
            return None;
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::engine_format;

    #[test]
    fn formats_are_respelled() {
        for (format, own) in [
            ("YYYY-MM-DD HH24:MI:SS", Some("%Y-%m-%d %H:%M:%S")),
            ("YYYY-MM-DD\"T\"HH24:MI:SS.MS", Some("%Y-%m-%dT%H:%M:%S.%3f")),
            ("FMMonth DD, YYYY", Some("%B %d, %Y")),
            ("%Y-%m", None),
            ("999.99", None),
            ("J", None),
        ] {
            assert_eq!(engine_format(format).as_deref(), own, "{format}");
        }
    }
}
