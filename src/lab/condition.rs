//! Conditions such as `"15,969" AND ("million" OR regexp(^A.*))`, as lists of constraints: all of the list must hold, and one
//! of each list in it.

use serde_json::Value as Json;

/// Deepest parentheses: more are no condition that a person wrote.
const MAX_DEPTH: usize = 50;
/// What stands before an expression in a constraint.
const REGEXP: &str = "REGEXP:";

/// The constraints of a condition.
///
/// # Errors
/// When it has something that constraints cannot say: NOT, or AND inside of OR.
pub fn constraints_of(text: &str) -> Result<Json, String> {
    let mut reader = ConditionParser { rest: text.trim(), depth: 0 };
    let all = reader.all()?;
    if !reader.rest.is_empty() {
        return Err(format!("{:?} is no part of it", reader.rest));
    }
    Ok(Json::Array(all))
}

struct ConditionParser<'a> {
    rest: &'a str,
    depth: usize,
}

impl ConditionParser<'_> {
    /// Terms with AND between: the members of the list.
    fn all(&mut self) -> Result<Vec<Json>, String> {
        let mut all = self.any()?;
        while self.word("AND") {
            all.extend(self.any()?);
        }
        Ok(all)
    }

    /// Terms with OR between: one member that is a list, if there are several.
    fn any(&mut self) -> Result<Vec<Json>, String> {
        let first = self.term()?;
        if !self.rest.starts_with("OR") {
            return Ok(first);
        }
        let mut any = one_of(first)?;
        while self.word("OR") {
            any.extend(one_of(self.term()?)?);
        }
        Ok(vec![Json::Array(any)])
    }

    fn term(&mut self) -> Result<Vec<Json>, String> {
        if let Some(rest) = self.rest.strip_prefix('(') {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(format!("more than {MAX_DEPTH} parentheses"));
            }
            self.rest = rest.trim_start();
            let inner = self.all()?;
            self.rest = self.rest.strip_prefix(')').ok_or("a parenthesis is not closed")?.trim_start();
            self.depth -= 1;
            return Ok(inner);
        }
        if let Some(rest) = self.rest.strip_prefix('"') {
            let (text, rest) = quoted(rest).ok_or("a quotation mark is not closed")?;
            self.rest = rest.trim_start();
            return Ok(vec![Json::String(text)]);
        }
        if let Some(rest) = self.rest.strip_prefix("regexp(") {
            let end = closing(rest).ok_or("regexp( is not closed")?;
            self.rest = rest.get(end + 1..).unwrap_or_default().trim_start();
            return Ok(vec![Json::String(format!("{REGEXP}{}", &rest[..end]))]);
        }
        Err(format!("{:?} is no text in quotation marks, no regexp(…) and no parenthesis", self.rest))
    }

    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word).filter(|rest| rest.starts_with([' ', '(', '"']));
        if let Some(rest) = rest {
            self.rest = rest.trim_start();
        }
        rest.is_some()
    }
}

fn one_of(term: Vec<Json>) -> Result<Vec<Json>, String> {
    match <[Json; 1]>::try_from(term) {
        Ok([Json::Array(any)]) => Ok(any),
        Ok([one]) => Ok(vec![one]),
        Err(_) => Err("AND inside of OR".to_owned()),
    }
}

/// The text up to the quotation mark that closes it, and what stands behind.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut out, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &text[at + 1..])),
            '\\' => out.push(chars.next()?.1),
            other => out.push(other),
        }
    }
    None
}

/// The place of the parenthesis that closes an expression, which may have some of its own.
fn closing(text: &str) -> Option<usize> {
    let (mut open, mut is_marked) = (0usize, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_marked => is_marked = false,
            '\\' => is_marked = true,
            '(' => open += 1,
            ')' if open == 0 => return Some(at),
            ')' => open -= 1,
            _ => {}
        }
    }
    None
}

/// The condition of a list of constraints.
///
/// # Errors
/// When they are no such list.
pub fn text_of(constraints: &Json) -> Result<String, String> {
    let all = constraints.as_array().ok_or("constraints are a list")?;
    let parts: Result<Vec<String>, String> = all
        .iter()
        .map(|one| match one {
            Json::Array(any) => {
                let any: Result<Vec<String>, String> = any.iter().map(term_of).collect();
                Ok(format!("({})", any?.join(" OR ")))
            }
            other => term_of(other),
        })
        .collect();
    // A single list needs no parentheses around it.
    let parts = parts?;
    Ok(match parts.as_slice() {
        [one] => one.strip_prefix('(').and_then(|one| one.strip_suffix(')')).unwrap_or(one).to_owned(),
        _ => parts.join(" AND "),
    })
}

fn term_of(term: &Json) -> Result<String, String> {
    let text = term.as_str().ok_or("a constraint is a text")?;
    Ok(match text.strip_prefix(REGEXP) {
        Some(expression) => format!("regexp({expression})"),
        None => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_are_read_and_written() {
        for (text, wanted) in [
            ("\"a\"", json!(["a"])),
            ("\"a\" AND \"b\"", json!(["a", "b"])),
            ("\"a\" OR \"b\"", json!([["a", "b"]])),
            ("\"a\" AND (\"b\" OR regexp(^c(d|e)$))", json!(["a", ["b", "REGEXP:^c(d|e)$"]])),
            ("\"say \\\"hi\\\"\"", json!(["say \"hi\""])),
        ] {
            let read = constraints_of(text).unwrap();
            assert_eq!((&read, text_of(&read).unwrap().as_str()), (&wanted, text));
        }
        assert_eq!(constraints_of("((\"a\") AND (\"b\"))").unwrap(), json!(["a", "b"]));
        for (text, part) in [
            ("NOT \"a\"", "NOT"),
            ("(\"a\" AND \"b\") OR \"c\"", "AND inside of OR"),
            ("\"a", "not closed"),
            ("(\"a\"", "parenthesis"),
            ("\"a\" \"b\"", "no part of it"),
            ("", "no text in quotation marks"),
        ] {
            assert!(constraints_of(text).unwrap_err().contains(part), "{text}");
        }
        assert!(constraints_of(&"(".repeat(100_000)).unwrap_err().contains("50 parentheses"));
    }
}
