//! What an archive says of itself.

use super::tables::MORE;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The name of the file.
pub const MANIFEST: &str = "manifest.json";
/// What tells an archive of the lab from any other ZIP.
const KIND: &str = "groundline-lab-archive";
/// Counts the changes of archives that an older release could not read. Columns that a later release adds are not
/// among them: they are NULL in what was archived before.
const FORMAT: u64 = 2;
/// The format of an archive without suites and reviews, which earlier releases read.
const PLAIN: u64 = 1;

/// The files of an archive by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A dataset in an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfDataset {
    /// The dataset.
    pub dataset_id: String,
    /// Its name in its newest version.
    pub name: String,
    /// Its versions, from 1.
    pub versions: i64,
}

/// An experiment in an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfExperiment {
    /// The experiment.
    pub experiment_id: String,
    /// Its name.
    pub name: String,
    /// Its dataset.
    pub dataset_id: String,
}

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// SHA-256 of its bytes, hexadecimal.
    pub sha256: String,
    /// How many they are.
    pub bytes: u64,
    /// Its rows, where it is a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
}

/// The manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    kind: String,
    format: u64,
    /// Datasets, by id.
    pub datasets: Vec<OfDataset>,
    /// Experiments, by id.
    pub experiments: Vec<OfExperiment>,
    /// What makes the same file again, and what puts it back.
    commands: Vec<String>,
    /// Every other file.
    entries: BTreeMap<String, Entry>,
}

impl Manifest {
    /// Of `files`, whose tables have so many `rows`.
    pub fn of(
        datasets: Vec<OfDataset>,
        experiments: Vec<OfExperiment>,
        files: &Files,
        rows: &BTreeMap<&str, u64>,
    ) -> Self {
        let entry = |(name, bytes): (&String, &Vec<u8>)| {
            let rows = rows.get(name.as_str()).copied();
            (name.clone(), Entry { sha256: digest(bytes), bytes: bytes.len() as u64, rows })
        };
        let named = datasets.iter().map(|one| quoted("dataset", &one.dataset_id));
        let named = named.chain(experiments.iter().map(|one| quoted("experiment", &one.experiment_id)));
        let names: Vec<String> = named.collect();
        let commands = vec![
            format!("groundline lab archive {} --output archive.zip", names.join(" ")),
            "groundline lab restore archive.zip".to_owned(),
        ];
        let entries = files.iter().map(entry).collect();
        let has_more = MORE.iter().any(|kept| files.contains_key(kept.file));
        let format = if has_more { FORMAT } else { PLAIN };
        Self { kind: KIND.to_owned(), format, datasets, experiments, commands, entries }
    }

    /// As the bytes of its file.
    ///
    /// # Errors
    /// When memory does.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        let mut bytes = serde_json::to_vec_pretty(self).map_err(|e| e.to_string())?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The manifest among `files`, of which each is what it says and none is missing or too much.
    ///
    /// # Errors
    /// Which file is not what the manifest says; that a later release made it.
    pub fn read(files: &Files) -> Result<Self, String> {
        let bytes = files.get(MANIFEST).ok_or_else(|| {
            format!(
                "there is no {MANIFEST}: this is no archive of the lab (groundline lab archive makes them)"
            )
        })?;
        let wrong = |e: serde_json::Error| format!("{MANIFEST}: {e}");
        let told: Value = serde_json::from_slice(bytes).map_err(wrong)?;
        if told["kind"] != KIND {
            return Err(format!("{MANIFEST} is not that of an archive of the lab: kind is not {KIND:?}"));
        }
        let format = told["format"].as_u64().unwrap_or_default();
        if format > FORMAT {
            return Err(format!(
                "the archive has format {format}, and this release reads up to {FORMAT}: a later release made it; \
                 restore it with that one or a newer one"
            ));
        }
        let manifest: Self = serde_json::from_value(told).map_err(wrong)?;
        for name in files.keys().filter(|name| *name != MANIFEST) {
            if !manifest.entries.contains_key(name) {
                return Err(format!("{name:?} is in the archive, and not in its {MANIFEST}"));
            }
        }
        for (name, entry) in &manifest.entries {
            let bytes = files.get(name).ok_or_else(|| format!("{name:?} is missing in the archive"))?;
            if digest(bytes) != entry.sha256 {
                let why = "its SHA-256 is not that of the manifest: it was damaged or changed";
                return Err(format!("{name:?}: {why}; take the archive from where it was made"));
            }
        }
        Ok(manifest)
    }
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// What names one thing for ever, as an argument of a shell.
fn quoted(what: &str, id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    match id.chars().all(is_plain) {
        true => format!("{what}:{id}"),
        false => format!("'{what}:{}'", id.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        Files::from([("a.parquet".to_owned(), vec![1, 2]), ("b/c.json".to_owned(), vec![3])])
    }

    fn whole() -> Files {
        let mut all = files();
        let manifest = Manifest::of(Vec::new(), Vec::new(), &all, &BTreeMap::from([("a.parquet", 7)]));
        assert_eq!(manifest.entries["a.parquet"].rows, Some(7));
        all.insert(MANIFEST.to_owned(), manifest.bytes().unwrap());
        all
    }

    #[test]
    fn every_file_is_what_the_manifest_says_or_it_is_told() {
        assert!(Manifest::read(&whole()).is_ok());
        let told = |change: &dyn Fn(&mut Files)| {
            let mut files = whole();
            change(&mut files);
            Manifest::read(&files).unwrap_err()
        };
        assert!(told(&|f| drop(f.remove(MANIFEST))).contains("no archive of the lab"));
        assert!(told(&|f| drop(f.insert(MANIFEST.to_owned(), b"{}".to_vec()))).contains("kind"));
        assert!(told(&|f| drop(f.remove("b/c.json"))).contains("\"b/c.json\" is missing"));
        assert!(told(&|f| f.get_mut("a.parquet").unwrap()[0] = 9).contains("\"a.parquet\": its SHA-256"));
        assert!(
            told(&|f| drop(f.insert("more".to_owned(), Vec::new()))).contains("\"more\" is in the archive")
        );
    }

    #[test]
    fn what_a_later_release_made_is_said_to_be_newer() {
        let mut files = whole();
        let text = String::from_utf8(files[MANIFEST].clone()).unwrap();
        let later = text.replace("\"format\": 1", "\"format\": 3, \"more\": {}").replace("sha256", "sha512");
        files.insert(MANIFEST.to_owned(), later.into_bytes());
        let why = Manifest::read(&files).unwrap_err();
        assert!(why.contains("format 3") && why.contains("up to 2") && why.contains("newer"), "{why}");
    }
}
