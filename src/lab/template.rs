//! `{{…}}` in criteria and prompts: `{{input}}`, `{{input.question}}`, `{{expected}}`, `{{metadata.lang}}`; and how values are
//! told as texts.

use serde_json::Value as Json;

/// `text` with what `scope` has in the place of each `{{path}}`.
///
/// # Errors
/// When a placeholder is not closed, or leads nowhere; the message says what there is.
pub(super) fn render(text: &str, scope: &Json) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((path, after)) = after.split_once("}}") else {
            return Err("a placeholder {{ is not closed by }}".to_owned());
        };
        let path = path.trim();
        let found = find(scope, path).ok_or_else(|| unknown(scope, path))?;
        if found.is_null() {
            return Err(format!("this case has no {{{{{path}}}}}"));
        }
        out.push_str(before);
        out.push_str(&plain(found));
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// The first names of all places of `text`.
///
/// # Errors
/// When a placeholder is not closed.
pub(super) fn places(text: &str) -> Result<Vec<&str>, String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((_, after)) = rest.split_once("{{") {
        let (path, after) = after.split_once("}}").ok_or("a placeholder {{ is not closed by }}")?;
        found.extend(path.trim().split('.').next());
        rest = after;
    }
    Ok(found)
}

/// What stands at `path`, keys and places with points between.
pub(super) fn find<'a>(scope: &'a Json, path: &str) -> Option<&'a Json> {
    if path.is_empty() {
        return Some(scope);
    }
    path.split('.').try_fold(scope, |at, part| match at {
        Json::Array(items) => items.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}

/// A text as it is, anything else as JSON.
pub(super) fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A text for a message: its beginning.
pub(super) fn brief(text: &str) -> String {
    const LONGEST: usize = 120;
    let plain = text.trim().replace('\n', " ");
    if plain.chars().count() <= LONGEST {
        return plain;
    }
    plain.chars().take(LONGEST - 1).collect::<String>() + "…"
}

fn unknown(scope: &Json, path: &str) -> String {
    let (mut at, mut walked) = (scope, Vec::new());
    for part in path.split('.') {
        let Some(next) = find(at, part) else { break };
        (at, walked) = (next, [walked, vec![part]].concat());
    }
    let there = match at.as_object() {
        Some(keys) if !keys.is_empty() => keys.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        _ => "nothing below it".to_owned(),
    };
    let holder =
        if walked.is_empty() { "the case".to_owned() } else { format!("{{{{{}}}}}", walked.join(".")) };
    format!("no {{{{{path}}}}}: {holder} has {there}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn placeholders_are_filled_or_the_fault_says_what_there_is() {
        let scope = json!({"input": {"question": "Who?", "n": 3, "list": ["a", "b"]}, "expected": "Stoker"});
        let text = render("{{ input.question }} {{input.n}} {{input.list.1}} {{expected}}", &scope).unwrap();
        assert_eq!(text, "Who? 3 b Stoker");
        assert_eq!(render("no placeholder }}", &scope).unwrap(), "no placeholder }}");
        let told = render("{{input.answer}}", &scope).unwrap_err();
        assert_eq!(told, "no {{input.answer}}: {{input}} has question, n, list");
        let lacks = json!({"expected": null});
        assert_eq!(render("{{expected}}", &lacks).unwrap_err(), "this case has no {{expected}}");
        assert!(render("{{nothing}}", &scope).unwrap_err().contains("the case has input, expected"));
        assert!(render("{{input", &scope).unwrap_err().contains("not closed"));
    }
}
