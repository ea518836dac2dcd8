//! The one JSON object of a reply.

use serde::de::DeserializeOwned;

/// What a model thinks before it answers, where the server leaves that in the text.
const THOUGHT: (&str, &str) = ("<think>", "</think>");

/// Reads the one JSON object that stands in `text`. Words and code fences around it mean nothing.
///
/// # Errors
/// When there is none or more than one, when one has begun and does not end, when it names a member twice, or when it is not
/// a `T`.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let (objects, is_cut) = objects(without_thought(text));
    // A reply that was cut may have quoted the text that it judges, and not come to its own answer.
    if is_cut && !objects.is_empty() {
        return Err("the reply has another JSON object, which does not end".to_owned());
    }
    let [object] = objects.as_slice() else {
        return Err(match objects.len() {
            0 => "the reply has no JSON object".to_owned(),
            many => format!("the reply has {many} JSON objects, and one is meant"),
        });
    };
    serde_json::from_str(object).map_err(|e| format!("the reply is not as asked: {e}"))
}

fn without_thought(text: &str) -> &str {
    let (begin, end) = THOUGHT;
    let text = text.trim();
    match text.strip_prefix(begin).and_then(|thought| thought.split_once(end)) {
        Some((_, answer)) => answer,
        None => text,
    }
}

/// Every object of the outermost level that is whole JSON, and whether another one begins behind them and does not end. What
/// only looks like one is text.
fn objects(text: &str) -> (Vec<&str>, bool) {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| from + at) {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<serde::de::IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                let end = at + values.byte_offset();
                found.push(&text[at..end]);
                from = end;
            }
            // An object that ends too early hides what stands in it.
            Some(Err(error)) if error.is_eof() => {
                let is_begun = text[at + 1..].trim_start().starts_with('"');
                return (found, is_begun);
            }
            _ => from = at + 1,
        }
    }
    (found, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Rating {
        rating: String,
    }

    fn rating(text: &str) -> Result<String, String> {
        read::<Rating>(text).map(|read| read.rating)
    }

    #[test]
    fn the_one_object_is_read_whatever_stands_around_it() {
        for text in [
            r#"{"rating":"yes"}"#,
            "Sure! Here it is:\n```json\n{\"rating\": \"yes\"}\n```\nHope that {helps}.",
            "{\"rating\": \"yes\"} for now {",
            "<think>{\"rating\":\"no\"} or yes?</think>\n{\"rating\":\"yes\",\"more\":{\"rating\":\"no\"}}",
        ] {
            assert_eq!(rating(text), Ok("yes".to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_not_one_object_is_an_error() {
        for (text, part) in [
            ("", "no JSON object"),
            ("The rating is yes.", "no JSON object"),
            (r#"{"rating":"yes"} {"rating":"no"}"#, "2 JSON objects"),
            (r#"{"rating":"yes","rating":"no"}"#, "duplicate"),
            (r#"{"verdict":"yes"}"#, "missing field"),
            (r#"{"rating":"yes""#, "no JSON object"),
            // Quoted out of the text, and then cut before the judge's own answer ends.
            (r#"It says {"rating":"yes"}, but: {"rating": "n"#, "does not end"),
            (r#"{"rating":"yes"} { "rat"#, "does not end"),
            (r#"{"rating":true}"#, "not as asked"),
            (r#"[{"rating":"yes"},{"rating":"yes"}]"#, "2 JSON objects"),
        ] {
            let error = rating(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
