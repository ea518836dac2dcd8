//! Labelled files as rows.

use crate::domain::document::Document;
use crate::domain::trace::EvalInput;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value as Json;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A longer line is refused, bytes.
const MAX_LINE: usize = 64 << 20;

/// One file of labelled rows.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The folder's name.
    pub task: String,
    /// The file's name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// One row. Which fields are there depends on the task.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Row {
    /// Rows of one group are not independent.
    pub group: String,
    /// train, dev or test.
    pub split: String,
    /// The class.
    pub label: Json,
    /// The language's ISO 639-1 code.
    pub lang: Option<String>,
    /// What kind of row it is.
    pub kind: Option<String>,
    /// A single text.
    pub text: Option<String>,
    /// Marked places.
    pub spans: Option<Vec<Span>>,
    question: Option<String>,
    answer: Option<String>,
    passage: Option<String>,
    context: Json,
    sent_more: Option<String>,
    sent_less: Option<String>,
}

/// A marked place in a text, in characters.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Span {
    /// Its first character; below 0 where the annotator gave no place.
    pub start: i64,
    /// Just behind its last character.
    pub end: i64,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: String,
}

impl Row {
    /// What an evaluator is given: a single text counts as the answer, a passage as the context, and each text of a list as
    /// a document of its own.
    pub fn input(&self) -> EvalInput {
        let document = |text: String| Document { content: Some(text), ..Document::default() };
        let contexts: Vec<String> = match &self.context {
            Json::String(text) => vec![text.clone()],
            Json::Array(parts) => parts.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            _ => self.passage.iter().cloned().collect(),
        };
        EvalInput {
            question: self.question.clone().filter(|text| !text.trim().is_empty()),
            answer: self.answer.clone().or_else(|| self.text.clone()),
            contexts: contexts.into_iter().map(document).collect(),
            ..EvalInput::default()
        }
    }

    /// The answer as a summary of the context, which is the question then.
    pub fn summary(&self) -> EvalInput {
        let EvalInput { answer, contexts, .. } = self.input();
        let source: Vec<String> = contexts.into_iter().filter_map(|document| document.content).collect();
        let question = (!source.is_empty()).then(|| source.join("\n"));
        EvalInput { question, answer, ..EvalInput::default() }
    }

    /// A pair of sentences, the more stereotyped one first, as two rows with labels.
    fn pair(&self) -> Option<[Row; 2]> {
        let row =
            |text: &String, label: i32| Row { text: Some(text.clone()), label: label.into(), ..self.clone() };
        Some([row(self.sent_more.as_ref()?, 1), row(self.sent_less.as_ref()?, 0)])
    }
}

/// Every `<task>/<dataset>.jsonl.gz` of a folder, by name.
///
/// # Errors
/// When the folder, or one in it, cannot be read.
pub fn datasets(folder: &Path) -> Result<Vec<Dataset>, String> {
    let list = |path: &Path| -> Result<Vec<PathBuf>, String> {
        let told = |e: std::io::Error| format!("{}: {e}", path.display());
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(path).map_err(told)? {
            paths.push(entry.map_err(told)?.path());
        }
        paths.sort();
        Ok(paths)
    };
    let mut found = Vec::new();
    for task in list(folder)?.into_iter().filter(|path| path.is_dir()) {
        for path in list(&task)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(name) = name.strip_suffix(".jsonl.gz") {
                let task = task.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.push(Dataset { task, name: name.to_owned(), path });
            }
        }
    }
    Ok(found)
}

/// The rows of a split (`all` for every one), at most `limit` of them.
///
/// # Errors
/// When the file cannot be read, or a line is too long or no row.
pub fn read(dataset: &Dataset, split: &str, limit: Option<usize>) -> Result<Vec<Row>, String> {
    let named = |e: &dyn ToString| format!("{}: {}", dataset.path.display(), e.to_string());
    let file = File::open(&dataset.path).map_err(|e| named(&e))?;
    let mut rows = Vec::new();
    for (number, line) in BufReader::new(MultiGzDecoder::new(file)).lines().enumerate() {
        let line = line.map_err(|e| named(&e))?;
        if line.len() > MAX_LINE {
            return Err(named(&format!("line {} is longer than {MAX_LINE} bytes", number + 1)));
        }
        let row: Row =
            serde_json::from_str(&line).map_err(|e| named(&format!("line {}: {e}", number + 1)))?;
        if split == "all" || row.split == split {
            match row.pair() {
                Some(pair) => rows.extend(pair),
                None => rows.push(row),
            }
        }
    }
    if let Some(limit) = limit.filter(|limit| *limit < rows.len()) {
        let key = |row: &Row| {
            let mut hasher = DefaultHasher::new();
            row.group.hash(&mut hasher);
            hasher.finish()
        };
        rows.sort_by_key(key);
        rows.truncate(limit);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn reads_what_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bias")).unwrap();
        let path = folder.path().join("bias/pairs.jsonl.gz");
        let mut file =
            flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
        writeln!(file, r#"{{"group":"a","split":"test","sent_more":"x","sent_less":"y","label":"age"}}"#)
            .unwrap();
        writeln!(file, r#"{{"group":"a","split":"train","spans":[{{"start":-1,"end":-1,"type":"x"}}]}}"#)
            .unwrap();
        writeln!(file, r#"{{"group":"b","split":"dev","sent_more":"x","sent_less":"y","label":"age"}}"#)
            .unwrap();
        file.finish().unwrap();
        std::fs::write(folder.path().join("bias/notes.md"), "no data").unwrap();
        let found = datasets(folder.path()).unwrap();
        assert_eq!((found.len(), found[0].task.as_str(), found[0].name.as_str()), (1, "bias", "pairs"));
        let rows = read(&found[0], "test", None).unwrap();
        assert_eq!(rows.iter().map(|r| r.label.as_i64()).collect::<Vec<_>>(), [Some(1), Some(0)]);
        assert_eq!(read(&found[0], "all", Some(3)).unwrap().len(), 3);
        assert_eq!(read(&found[0], "train", None).unwrap()[0].spans.as_ref().unwrap()[0].start, -1);
        std::fs::write(&path, "no gzip").unwrap();
        assert!(read(&found[0], "test", None).unwrap_err().contains("pairs.jsonl.gz"));
        assert!(datasets(&folder.path().join("none")).is_err());
    }

    #[test]
    fn each_text_of_a_list_is_a_document() {
        let texts = |row: &str| {
            let input = serde_json::from_str::<Row>(row).unwrap().input();
            input.contexts.into_iter().filter_map(|document| document.content).collect::<Vec<_>>()
        };
        assert_eq!(texts(r#"{"context":["One.","Two."],"passage":"x"}"#), ["One.", "Two."]);
        assert_eq!(texts(r#"{"context":"One. Two."}"#), ["One. Two."]);
        assert_eq!(texts(r#"{"passage":"One."}"#), ["One."]);
        assert!(texts("{}").is_empty());
    }

    #[test]
    fn the_source_of_a_summary_is_the_question() {
        let summary = |row: &str| serde_json::from_str::<Row>(row).unwrap().summary();
        let found = summary(r#"{"question":"What?","context":["One.","Two."],"answer":"Both."}"#);
        assert_eq!((found.question.as_deref(), found.answer.as_deref()), (Some("One.\nTwo."), Some("Both.")));
        assert!(found.contexts.is_empty());
        assert_eq!(summary(r#"{"question":"What?","answer":"Both."}"#).question, None);
    }
}
