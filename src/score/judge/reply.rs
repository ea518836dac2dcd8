//! The one JSON object of a reply.

use serde::de::DeserializeOwned;

/// What a model thinks before it answers, where the server leaves that in the text.
const THOUGHT: (&str, &str) = ("<think>", "</think>");

/// Reads the one JSON object that stands in `text`. Words and code fences around it mean nothing.
///
/// # Errors
/// When there is none or more than one, when it names a member twice, or when it is not a `T`.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let objects = objects(without_thought(text));
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

/// Every object of the outermost level that is whole JSON. What only begins like one is text.
fn objects(text: &str) -> Vec<&str> {
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
            Some(Err(error)) if error.is_eof() => return found,
            _ => from = at + 1,
        }
    }
    found
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
            (r#"{"rating":true}"#, "not as asked"),
            (r#"[{"rating":"yes"},{"rating":"yes"}]"#, "2 JSON objects"),
        ] {
            let error = rating(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
