//! YAML as JSON values. Aliases, depth and size are bounded by the parser's budget, so that a small text cannot become a
//! large value.

use serde_json::Value as Json;

/// The only document of `text` as a value.
///
/// # Errors
/// What is wrong and where, or which limit it meets.
pub fn value(text: &str) -> Result<Json, String> {
    serde_saphyr::from_str(text).map_err(|e| e.to_string())
}

/// Why a text is no YAML that says more than a plain text; none where it is.
pub fn fault(text: &str) -> Option<String> {
    match value(text) {
        Err(why) => Some(format!("no YAML: {why}")),
        Ok(Json::Object(_) | Json::Array(_)) => None,
        // Any sentence is YAML, a text.
        Ok(_) => Some("neither a mapping nor a list: any plain text would be YAML".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn yaml_is_read_as_json() {
        let text = "# a comment\nname: Anna\nages: [1, 2.5]\nnone: ~\nyes: true\ntext: |\n  one\n  two\n";
        let wanted =
            json!({"name": "Anna", "ages": [1, 2.5], "none": null, "yes": true, "text": "one\ntwo\n"});
        assert_eq!(value(text), Ok(wanted));
        assert!(fault("- one\n- two").is_none() && fault("just a sentence").is_some());
        assert!(value("a: [1").is_err() && value("a: 1\na: 2").is_err());
    }

    #[test]
    fn aliases_that_multiply_are_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..12 {
            let again = vec![format!("*a{}", n - 1); 10].join(", ");
            text.push_str(&format!("a{n}: &a{n} [{again}]\n"));
        }
        let why = value(&text).unwrap_err();
        assert!(why.contains("budget") && why.contains("line"), "{why}");
    }
}
