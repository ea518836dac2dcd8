//! Files of items: what an item says of them. Their bytes lie beside the tables, once for each tenant and hash.

use crate::lab::zip::stays;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Most files of an item.
const MAX_FILES: usize = 100;
/// Longest name and longest path, bytes.
const MAX_NAME: usize = 255;
const MAX_PATH: usize = 1_024;
/// The hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;
/// What a file is of which nobody has said it, by the end of its name.
const MEDIA_TYPES: &[(&str, &str)] = &[
    ("csv", "text/csv"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webp", "image/webp"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
];

/// A file of an item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Attached {
    /// What it is called.
    pub name: String,
    /// Where it lay in the archive that it came in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The SHA-256 of its content, hexadecimal.
    pub sha256: String,
    /// Its length; what is sent is not looked at.
    pub bytes: u64,
    /// What it is, such as `application/pdf`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

impl Attached {
    /// Fills what can be told from the path: the name, and what the file is.
    pub fn completed(&mut self) {
        if self.name.is_empty() {
            let path = self.path.as_deref().unwrap_or(&self.sha256);
            self.name = path.rsplit('/').next().unwrap_or_default().to_owned();
        }
        if self.media_type.is_none() {
            let end = self.name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
            let known = MEDIA_TYPES.iter().find(|(known, _)| end.as_deref() == Some(*known));
            self.media_type = known.map(|(_, media_type)| (*media_type).to_owned());
        }
    }

    fn fault(&self) -> Option<String> {
        let is_long = |text: &str, most: usize| text.len() > most || text.chars().any(char::is_control);
        if !is_sha256(&self.sha256) {
            return Some(format!(
                "{:?} is no SHA-256: it has {DIGITS} hexadecimal digits, a to f small",
                self.sha256
            ));
        }
        if !stays(&self.name) || self.name.contains('/') || is_long(&self.name, MAX_NAME) {
            return Some(format!("{:?} is no name of a file of 1 to {MAX_NAME} bytes", self.name));
        }
        if let Some(path) = self.path.as_ref().filter(|path| !stays(path) || is_long(path, MAX_PATH)) {
            return Some(format!("the path {path:?} leads out of the archive's folder, or is too long"));
        }
        let media_type = self.media_type.as_ref().filter(|text| is_long(text, MAX_NAME));
        media_type.map(|text| format!("media_type {text:?} is too long"))
    }
}

/// Whether a text is a SHA-256 as we write it.
pub fn is_sha256(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// What is wrong with the files of an item.
pub fn faults(files: &[Attached]) -> Vec<String> {
    if files.len() > MAX_FILES {
        return vec![format!("{} files, at most {MAX_FILES} of an item", files.len())];
    }
    files.iter().filter_map(Attached::fault).collect()
}

/// The files that the column of a row says.
pub fn of_column(text: Option<&str>) -> Vec<Attached> {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The hashes of the files of columns.
pub fn hashes<'a>(columns: impl Iterator<Item = Option<&'a str>>) -> BTreeSet<String> {
    columns.flat_map(of_column).map(|file| file.sha256).collect()
}

/// Takes the files out of a line that names them by their hash. A column of that name that says something else is left: it
/// is the author's own.
pub fn taken(fields: &mut Map<String, Value>) -> Vec<Attached> {
    let is_file = |value: &Value| value.get("sha256").is_some_and(Value::is_string);
    let all = fields.get("files").and_then(Value::as_array).filter(|all| all.iter().all(is_file));
    let Some(mut files) =
        all.and_then(|all| serde_json::from_value::<Vec<Attached>>(all.as_slice().into()).ok())
    else {
        return Vec::new();
    };
    fields.shift_remove("files");
    files.iter_mut().for_each(Attached::completed);
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_names_hashes_is_taken_for_files() {
        let sha256 = "0a".repeat(32);
        let of = |value: Value| {
            let Value::Object(mut fields) = json!({ "files": value }) else { panic!("an object") };
            let files = taken(&mut fields);
            (files, fields.contains_key("files"))
        };
        let (files, is_left) = of(json!([{"name": "a.PDF", "sha256": sha256}]));
        assert_eq!((files[0].media_type.as_deref(), is_left), (Some("application/pdf"), false));
        for other in [json!(["a.py"]), json!("a.py"), json!([{"sha256": sha256, "owner": 1}]), json!(3)] {
            assert_eq!(of(other.clone()), (Vec::new(), true), "{other}");
        }
    }

    #[test]
    fn names_hashes_and_paths_that_harm_are_refused() {
        let file = |name: &str, path: Option<&str>, sha256: &str| Attached {
            name: name.to_owned(),
            path: path.map(str::to_owned),
            sha256: sha256.to_owned(),
            ..Attached::default()
        };
        let good = "0a".repeat(32);
        assert_eq!(faults(&[file("a b.txt", Some("documents/a b.txt"), &good)]), [""; 0]);
        for (wrong, told) in [
            (file("a", None, "../../etc/passwd"), "no SHA-256"),
            (file("a", None, &"0A".repeat(32)), "no SHA-256"),
            (file("", None, &good), "no name"),
            (file("a/b", None, &good), "no name"),
            (file("..", None, &good), "no name"),
            (file("a\nb", None, &good), "no name"),
            (file("a", Some("../a"), &good), "leads out"),
        ] {
            assert!(faults(std::slice::from_ref(&wrong))[0].contains(told), "{wrong:?}");
        }
        let many = vec![file("a", None, &good); MAX_FILES + 1];
        assert!(faults(&many)[0].starts_with("101 files"));
    }
}
