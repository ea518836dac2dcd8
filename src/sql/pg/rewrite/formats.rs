//! Formats of times: PostgreSQL writes `YYYY-MM-DD`, the engine `%Y-%m-%d`.

/// What stands for a part of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A format of the engine, or signs that stand for themselves.
    Plain(String),
    /// A format of the engine, of which the letters become capitals.
    Upper(&'static str),
    /// A format of the engine, of which the letters become small.
    Lower(&'static str),
    /// The quarter of the year, for which the engine has no format.
    Quarter,
}

/// Parts that are written alike in capitals and in small letters. What begins with another one comes first.
const PARTS: &[(&str, &str)] = &[
    ("YYYY", "%Y"),
    ("IYYY", "%G"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("DDD", "%j"),
    ("FF3", "%3f"),
    ("FF6", "%6f"),
    ("YY", "%y"),
    ("IY", "%g"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("MS", "%3f"),
    ("US", "%6f"),
    ("IW", "%V"),
    ("ID", "%u"),
    ("OF", "%:::z"),
];

/// Parts whose own letters, capitals or small ones, say how theirs are written.
const WORDS: &[(&str, &str)] = &[("MONTH", "%B"), ("MON", "%b"), ("DAY", "%A"), ("DY", "%a")];

/// Parts that have one form.
const FIXED: &[(&str, &str)] = &[
    ("Month", "%B"),
    ("Mon", "%b"),
    ("Day", "%A"),
    ("Dy", "%a"),
    ("AM", "%p"),
    ("PM", "%p"),
    ("am", "%P"),
    ("pm", "%P"),
    ("TZ", "%Z"),
];

/// Parts that the engine cannot write, and that begin with others.
const UNKNOWN: &[&str] = &["SSSS", "IDDD", "TZH", "TZM"];

/// Parts of digits, which have no zeros in front of them behind `FM`.
const PADDED: &str = "ymdjHIMSVg";

/// `format` as the engine writes it, piece by piece; none if it has a part that the engine cannot write.
pub fn pieces(format: &str) -> Option<Vec<Piece>> {
    let (mut pieces, mut rest, mut is_tight) = (Vec::new(), format, false);
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = part_of(rest, "FM") {
            (rest, is_tight) = (after, true);
            continue;
        }
        if UNKNOWN.iter().any(|part| part_of(rest, part).is_some()) {
            return None;
        }
        if let Some((own, after)) = numbers(rest) {
            let kind = own.strip_prefix('%').filter(|kind| is_tight && PADDED.contains(kind));
            add(&mut pieces, &kind.map_or_else(|| own.to_owned(), |kind| format!("%-{kind}")));
            rest = after;
        } else if let Some((word, after)) = words(rest) {
            pieces.push(word);
            rest = after;
        } else if letter == '"' {
            let (literal, after) = rest[1..].split_once('"')?;
            add(&mut pieces, literal);
            rest = after;
        } else if letter.is_alphanumeric() && !matches!(letter, 'T' | 'Z') {
            return None;
        } else {
            let after = &rest[letter.len_utf8()..];
            add(&mut pieces, &rest[..letter.len_utf8()]);
            rest = after;
        }
        is_tight = false;
    }
    Some(pieces)
}

/// The part of [`PARTS`] or [`FIXED`] that `rest` begins with, as the engine writes it, and what comes behind it.
fn numbers(rest: &str) -> Option<(&'static str, &str)> {
    let alike = PARTS.iter().find_map(|(part, own)| Some((*own, part_of(rest, part)?)));
    alike.or_else(|| FIXED.iter().find_map(|(part, own)| Some((*own, rest.strip_prefix(part)?))))
}

/// The word that `rest` begins with, and what comes behind it.
fn words(rest: &str) -> Option<(Piece, &str)> {
    let upper = WORDS.iter().find_map(|(part, own)| Some((Piece::Upper(own), rest.strip_prefix(part)?)));
    let lower = || WORDS.iter().find_map(|(part, own)| Some((Piece::Lower(own), part_of(rest, part)?)));
    upper.or_else(lower).or_else(|| Some((Piece::Quarter, part_of(rest, "Q")?)))
}

/// What comes behind `part`, which is written in capitals, if `rest` begins with it in capitals or in small letters.
fn part_of<'a>(rest: &'a str, part: &str) -> Option<&'a str> {
    rest.strip_prefix(part).or_else(|| rest.strip_prefix(part.to_lowercase().as_str()))
}

/// Adds to the last piece, if that is plain.
fn add(pieces: &mut Vec<Piece>, own: &str) {
    match pieces.last_mut() {
        Some(Piece::Plain(text)) => text.push_str(own),
        _ => pieces.push(Piece::Plain(own.to_owned())),
    }
}

/// `format` as the engine reads it; none if it is in that form already, or has a part that the engine cannot read.
pub fn engine_format(format: &str) -> Option<String> {
    if format.contains('%') {
        return None;
    }
    let own = |piece: Piece| match piece {
        Piece::Plain(own) => Some(own),
        Piece::Upper(own) | Piece::Lower(own) => Some(own.to_owned()),
        Piece::Quarter => None,
    };
    pieces(format)?.into_iter().map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_respelled() {
        for (format, own) in [
            ("YYYY-MM-DD HH24:MI:SS", Some("%Y-%m-%d %H:%M:%S")),
            ("yyyy-mm-dd hh24:mi:ss", Some("%Y-%m-%d %H:%M:%S")),
            ("YYYY-MM-DD\"T\"HH24:MI:SS.MS", Some("%Y-%m-%dT%H:%M:%S.%3f")),
            ("FMMonth DD, YYYY", Some("%B %d, %Y")),
            ("FMDD.FMMM.YYYY HH12:MI am", Some("%-d.%-m.%Y %I:%M %P")),
            ("FMMS HH24 OF", Some("%3f %H %:::z")),
            ("DD MON YYYY", Some("%d %b %Y")),
            ("YYYY-Q", None),
            ("%Y-%m", None),
            ("999.99", None),
            ("J", None),
            ("SSSSS", None),
            ("IDDD", None),
            ("DDth", None),
        ] {
            assert_eq!(engine_format(format).as_deref(), own, "{format}");
        }
    }

    #[test]
    fn words_are_written_as_their_parts_are() {
        let plain = |own: &str| Piece::Plain(own.to_owned());
        for (format, wanted) in [
            ("DD MON YYYY", vec![plain("%d "), Piece::Upper("%b"), plain(" %Y")]),
            ("dy, month", vec![Piece::Lower("%a"), plain(", "), Piece::Lower("%B")]),
            ("YYYY-\"Q\"Q", vec![plain("%Y-Q"), Piece::Quarter]),
            ("Day Mon", vec![plain("%A %b")]),
        ] {
            assert_eq!(pieces(format), Some(wanted), "{format}");
        }
    }
}
