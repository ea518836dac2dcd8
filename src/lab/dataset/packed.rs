//! A ZIP archive of a table of items and the files that its rows name.
//!
//! The table stands at the root: CSV, JSON lines, JSON or Parquet. Several are read where each is a part of a dataset, as
//! folders of Hugging Face have them. Files are unpacked one by one, so that the whole is never in memory.

use super::attached::Attached;
use crate::lab::config::Config;
use crate::lab::error::{Fault, LabError};
use crate::lab::zip::{Archive, Limits};
use bytes::Bytes;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How the name of a table ends.
const TABLES: &[&str] = &[".jsonl", ".ndjson", ".json", ".csv", ".parquet"];
/// Tables of these names are parts of a dataset, and the name is the split.
const SPLITS: &[&str] = &["train", "test", "validation", "valid", "val", "dev", "eval"];
/// The folder in which files lie that are named without one.
const FOLDER: &str = "documents/";
/// What programs for archives add.
const FOREIGN: &[&str] = &["__MACOSX/", ".DS_Store"];

/// An archive whose rows are read.
#[derive(Clone)]
pub struct Packed {
    archive: Arc<Archive<Bytes>>,
    /// The folder that everything lies in; empty where it is none.
    base: String,
    /// Files that rows name, by their path: hash and length.
    named: BTreeMap<String, (String, u64)>,
    /// Where each of them lies, by its hash.
    by_hash: BTreeMap<String, String>,
    /// Why files that rows name cannot be read, by their path: they are faults of these rows.
    damaged: BTreeMap<String, String>,
}

/// Its content is not shown.
impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packed").field("named", &self.named).finish_non_exhaustive()
    }
}

impl Packed {
    /// Opens an archive within the limits of `config`.
    ///
    /// # Errors
    /// [`LabError::Wrong`] with the name of what is refused.
    pub fn open(bytes: Bytes, config: &Config) -> Result<Self, LabError> {
        let archive = Archive::open(bytes, Limits::of(config)).map_err(LabError::Wrong)?;
        let base = base(&archive);
        Ok(Self {
            archive: Arc::new(archive),
            base,
            named: BTreeMap::new(),
            by_hash: BTreeMap::new(),
            damaged: BTreeMap::new(),
        })
    }

    /// The tables whose rows are items, each with its split.
    ///
    /// # Errors
    /// [`LabError::Wrong`] where there is none, or where it cannot be told which it is.
    pub fn tables(&self) -> Result<Vec<(String, Option<String>)>, LabError> {
        let is_foreign = |name: &str| FOREIGN.iter().any(|foreign| name.contains(*foreign));
        let own = self.archive.names().filter_map(|name| name.strip_prefix(&self.base));
        let tables: Vec<&str> = own.filter(|name| !is_foreign(name) && end_of(name).is_some()).collect();
        let part = |name: &&str| split_of(name).is_some();
        let root: Vec<&str> = tables.iter().copied().filter(|name| !name.contains('/')).collect();
        let named = root.iter().find(|name| name.starts_with("items.")).map(std::slice::from_ref);
        let chosen: Vec<&str> = match (root.as_slice(), named) {
            ([only], _) => vec![*only],
            (_, Some(named)) => named.to_vec(),
            ([], _) => tables.into_iter().filter(|name| part(name)).collect(),
            (all, _) if all.iter().all(part) => all.to_vec(),
            (all, _) => {
                let why = format!(
                    "{} may each be the table of the items: call it items.jsonl (or .csv, .json, .parquet)",
                    all.join(", ")
                );
                return Err(LabError::Wrong(why));
            }
        };
        if chosen.is_empty() {
            let why = "no table at the root of the archive: put items.jsonl (or .csv, .json, .parquet) there, and the \
                       files below documents/";
            return Err(LabError::Wrong(why.to_owned()));
        }
        let of = |name: &str| (name.to_owned(), split_of(name).map(str::to_owned));
        Ok(chosen.into_iter().map(of).collect())
    }

    /// The content of a file by the name that [`Packed::tables`] gave.
    ///
    /// # Errors
    /// [`LabError::Wrong`] with the name of what is damaged.
    pub fn table(&self, name: &str) -> Result<Bytes, LabError> {
        let content = self.archive.unpacked(&format!("{}{name}", self.base));
        content.map(Bytes::from).map_err(LabError::Wrong)
    }

    /// That what is neither one of `tables` nor named by a row is what the archive says, too.
    ///
    /// # Errors
    /// [`LabError::Wrong`] with the name of what is damaged.
    pub fn check_others(&self, tables: &[(String, Option<String>)]) -> Result<(), LabError> {
        let tables: BTreeSet<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
        let is_read = |entry: &str| {
            let own = entry.strip_prefix(self.base.as_str());
            let is_told = |name: &str| self.named.contains_key(name) || self.damaged.contains_key(name);
            own.is_some_and(|name| tables.contains(name) || is_told(name))
        };
        self.archive.check_others(is_read).map_err(LabError::Wrong)
    }

    /// Takes the files out of a row, with their hashes: paths, or objects with `path`, in `files`; or one that a column
    /// `file_name` names.
    ///
    /// # Errors
    /// Every file that the archive does not have, or that is not what the row says.
    pub fn taken(&mut self, fields: &mut Map<String, Value>) -> Result<Vec<Attached>, Vec<Fault>> {
        let said = match fields.shift_remove("files") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(empty)) if empty.trim().is_empty() => Vec::new(),
            Some(Value::Array(all)) => all,
            Some(one) => vec![one],
        };
        let (mut files, mut faults) = (Vec::with_capacity(said.len()), Vec::new());
        let mut wrong = |why: String| faults.push(Fault::new(why).at("files"));
        for value in said {
            match self.resolved(value) {
                Ok(file) => files.push(file),
                Err(why) => wrong(why),
            }
        }
        let named = fields.get("file_name").and_then(Value::as_str).and_then(|path| self.place(path));
        if let Some(path) = named.filter(|_| files.is_empty()) {
            match self.resolved(path.into()) {
                Ok(file) => files.push(file),
                Err(why) => wrong(why),
            }
            fields.shift_remove("file_name");
        }
        if faults.is_empty() { Ok(files) } else { Err(faults) }
    }

    fn resolved(&mut self, value: Value) -> Result<Attached, String> {
        let mut file: Attached = match value {
            Value::String(path) => Attached { path: Some(path), ..Attached::default() },
            object @ Value::Object(_) => {
                serde_json::from_value(object).map_err(|e| format!("a file: {e}"))?
            }
            other => return Err(format!("{other} is no file: write its path in the archive")),
        };
        if let Some(place) = file.path.as_deref().and_then(|path| self.place(path)) {
            let (sha256, bytes) = self.hashed(&place)?;
            if !file.sha256.is_empty() && file.sha256 != sha256 {
                return Err(format!("{place:?} has the SHA-256 {sha256}, and the row says {}", file.sha256));
            }
            (file.sha256, file.bytes, file.path) = (sha256, bytes, Some(place));
        } else if file.sha256.is_empty() {
            // One that is named by its hash may be stored already.
            return Err(match file.path {
                Some(path) => format!("the archive has no file {path:?}"),
                None => "a file has neither a path nor a sha256".to_owned(),
            });
        }
        file.completed();
        Ok(file)
    }

    /// Where a file lies that a row calls so.
    fn place(&self, path: &str) -> Option<String> {
        let path = path.strip_prefix("./").unwrap_or(path);
        let is_there = |path: &String| self.archive.has(&format!("{}{path}", self.base));
        Some(path.to_owned()).filter(is_there).or_else(|| Some(format!("{FOLDER}{path}")).filter(is_there))
    }

    /// Hash and length of a file.
    fn hashed(&mut self, place: &str) -> Result<(String, u64), String> {
        if let Some(known) = self.named.get(place) {
            return Ok(known.clone());
        }
        // A million rows may name it.
        if let Some(why) = self.damaged.get(place) {
            return Err(why.clone());
        }
        let entry = format!("{}{place}", self.base);
        let content = match self.archive.unpacked(&entry) {
            Ok(content) => content,
            Err(why) => {
                self.damaged.insert(place.to_owned(), why.clone());
                return Err(why);
            }
        };
        let hash = hex::encode(Sha256::digest(&content));
        let told = (hash.clone(), content.len() as u64);
        self.named.insert(place.to_owned(), told.clone());
        self.by_hash.insert(hash, entry);
        Ok(told)
    }

    /// Whether a row names a file of that hash.
    pub fn has(&self, sha256: &str) -> bool {
        self.by_hash.contains_key(sha256)
    }

    /// The content of a file of that hash; none if no row names one.
    ///
    /// # Errors
    /// [`LabError::Wrong`] with the name of what is damaged.
    pub async fn content(&self, sha256: &str) -> Result<Option<Bytes>, LabError> {
        let Some(entry) = self.by_hash.get(sha256).cloned() else { return Ok(None) };
        let archive = self.archive.clone();
        let unpacked = tokio::task::spawn_blocking(move || archive.unpacked(&entry)).await;
        let content = unpacked.map_err(|e| LabError::Broken(e.to_string()))?.map_err(LabError::Wrong)?;
        Ok(Some(content.into()))
    }
}

/// The one folder at the root, where everything lies in it and a table at its own root.
fn base(archive: &Archive<Bytes>) -> String {
    let mut folders = archive.names().filter(|name| !FOREIGN.iter().any(|foreign| name.contains(*foreign)));
    let first = folders.next().and_then(|name| name.split_once('/')).map(|(folder, _)| format!("{folder}/"));
    let of_all = first.filter(|folder| folders.all(|name| name.starts_with(folder.as_str())));
    of_all.unwrap_or_default()
}

/// How the name of a table ends; none for what is no table.
fn end_of(name: &str) -> Option<&'static str> {
    TABLES.iter().copied().find(|end| name.ends_with(*end))
}

/// The split that a part of a dataset is named after: `train-00000-of-00002.parquet`, `train.csv`.
pub fn split_of(file: &str) -> Option<&str> {
    let name = file.rsplit('/').next()?;
    let stem = name.strip_suffix(end_of(name)?)?;
    if SPLITS.contains(&stem) {
        return Some(stem);
    }
    let (before, of) = stem.rsplit_once("-of-").filter(|_| name.ends_with(".parquet"))?;
    let (split, part) = before.rsplit_once('-')?;
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(of) && is_number(part) && !split.is_empty()).then_some(split)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::zip;
    use serde_json::json;

    fn packed(names: &[&str]) -> Packed {
        let files =
            names.iter().map(|name| ((*name).to_owned(), format!("of {name}").into_bytes())).collect();
        Packed::open(zip::write(&files).unwrap().into(), &Config::default()).unwrap()
    }

    fn tables(names: &[&str]) -> Result<Vec<(String, Option<String>)>, String> {
        packed(names).tables().map_err(|e| e.to_string())
    }

    #[test]
    fn the_table_of_an_archive_is_found_or_what_to_do_is_told() {
        let one = |name: &str| Ok(vec![(name.to_owned(), None)]);
        assert_eq!(tables(&["cases.csv", "documents/a.csv", "documents/b.json"]), one("cases.csv"));
        assert_eq!(tables(&["items.jsonl", "more.csv"]), one("items.jsonl"));
        assert_eq!(tables(&["refunds/cases.csv", "refunds/a.pdf", "__MACOSX/x"]), one("cases.csv"));
        let parts = ["README.md", "data/test-00000-of-00001.parquet", "data/train-00000-of-00001.parquet"];
        let split = |name: &str, split: &str| (name.to_owned(), Some(split.to_owned()));
        assert_eq!(tables(&parts), Ok(vec![split(parts[1], "test"), split(parts[2], "train")]));
        assert_eq!(
            tables(&["test.csv", "train.csv"]),
            Ok(vec![split("test.csv", "test"), split("train.csv", "train")])
        );
        assert!(tables(&["a.csv", "b.csv"]).unwrap_err().contains("a.csv, b.csv may each be"));
        assert!(tables(&["documents/a.csv", "x.txt"]).unwrap_err().contains("no table at the root"));
    }

    #[test]
    fn files_are_named_by_their_paths_and_must_be_there() {
        let mut packed = packed(&["d/items.csv", "d/a.txt", "d/documents/b.txt", "d/c.txt"]);
        let mut of = |value: Value| {
            let Value::Object(mut fields) = value else { panic!("an object") };
            let files = packed.taken(&mut fields).map_err(|all| all[0].to_string())?;
            let told = files.into_iter().map(|file| (file.name, file.path.unwrap_or_default(), file.bytes));
            Ok::<_, String>((told.collect::<Vec<_>>(), fields.len()))
        };
        let a = ("a.txt".to_owned(), "a.txt".to_owned(), 10);
        let b = ("b.txt".to_owned(), "documents/b.txt".to_owned(), 20);
        assert_eq!(of(json!({"files": ["a.txt", {"path": "./b.txt"}], "x": 1})), Ok((vec![a.clone(), b], 1)));
        assert_eq!(of(json!({"files": "a.txt"})), Ok((vec![a.clone()], 0)));
        assert_eq!(of(json!({"file_name": "a.txt", "x": 1})), Ok((vec![a], 1)));
        assert_eq!(of(json!({"file_name": "z.txt", "files": ""})), Ok((Vec::new(), 1)));
        assert!(of(json!({"files": ["z.txt"]})).unwrap_err().contains("no file \"z.txt\""));
        let other = json!({"files": [{"path": "a.txt", "sha256": "00"}]});
        assert!(of(other).unwrap_err().contains("the row says 00"));
        assert!(
            of(json!({"files": [{"name": "a.txt"}]})).unwrap_err().contains("neither a path nor a sha256")
        );
        let a = hex::encode(Sha256::digest(b"of d/a.txt"));
        let c = hex::encode(Sha256::digest(b"of d/c.txt"));
        assert!(packed.has(&a) && !packed.has(&c), "what no row names is not stored");
    }

    #[test]
    fn damage_is_told_of_files_that_no_row_names() {
        let files = ["items.csv", "a.txt"].map(|name| (name.to_owned(), format!("of {name}").into_bytes()));
        let good = zip::write(&BTreeMap::from(files)).unwrap();
        let checked = |bytes: Vec<u8>| {
            let packed = Packed::open(bytes.into(), &Config::default()).unwrap();
            packed.check_others(&packed.tables().unwrap()).map_err(|e| e.to_string())
        };
        assert_eq!(checked(good.clone()), Ok(()));
        let mut damaged = good;
        damaged[36] ^= 0x40;
        assert_eq!(checked(damaged), Err("\"a.txt\" is damaged in the ZIP archive".to_owned()));
    }

    #[test]
    fn archives_that_harm_are_refused_by_the_name_of_the_entry_and_the_limit() {
        let open = |files: &[(&str, usize)], config: &Config| {
            let files = files.iter().map(|(name, bytes)| ((*name).to_owned(), vec![0u8; *bytes])).collect();
            Packed::open(zip::write(&files).unwrap().into(), config).unwrap_err().to_string()
        };
        let usual = Config::default();
        assert!(open(&[("../items.csv", 1)], &usual).contains("\"../items.csv\" leads out"));
        let small = Config { max_file_size: crate::units::ByteSize::kib(1), ..Config::default() };
        assert!(open(&[("items.csv", 2_000)], &small).contains("\"items.csv\" claims 2000 bytes"));
        assert!(open(&[("items.csv", 2_000)], &small).contains("lab.max_file_size"));
        let small = Config { max_zip_size: crate::units::ByteSize::kib(1), ..Config::default() };
        assert!(open(&[("a", 600), ("b", 600)], &small).contains("lab.max_zip_size"));
        let few = Config { max_zip_entries: 1, ..Config::default() };
        assert!(open(&[("a", 1), ("b", 1)], &few).contains("2 files, at most 1 (lab.max_zip_entries)"));
    }
}
