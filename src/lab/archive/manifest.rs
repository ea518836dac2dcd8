//! What an archive says of itself.

use super::tables::MORE;
use crate::lab::zip::{Archive, Limits};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};

/// The name of the file.
pub const MANIFEST: &str = "manifest.json";
/// What tells an archive of the lab from any other ZIP.
const KIND: &str = "groundline-lab-archive";
/// Counts the changes of archives that an older release could not read. Columns that a later release adds are not
/// among them: they are NULL in what was archived before.
const FORMAT: u64 = 3;
/// The format of an archive without spans. A release that does not know of them would leave them out and not say so.
const SPANLESS: u64 = 2;
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

impl Entry {
    /// That of a file, which has so many rows where it is a table.
    pub fn of(bytes: &[u8], rows: Option<u64>) -> Self {
        Self { sha256: digest(bytes), bytes: bytes.len() as u64, rows }
    }
}

/// What an archive has of the traces of its runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfTraces {
    /// Traces of which it has spans.
    pub traces: u64,
    /// Those spans.
    pub spans: u64,
    /// Traces that its runs name and that were not made for them, such as those of production: they are not in it.
    pub left_out: u64,
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
    /// The traces of its runs, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<OfTraces>,
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
            (name.clone(), Entry::of(bytes, rows.get(name.as_str()).copied()))
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
        let format = if has_more { SPANLESS } else { PLAIN };
        Self { kind: KIND.to_owned(), format, datasets, experiments, traces: None, commands, entries }
    }

    /// The same of an archive that was asked for the traces of its runs, and has `files` of their spans.
    #[must_use]
    pub fn with_traces(mut self, traces: OfTraces, files: BTreeMap<String, Entry>) -> Self {
        if !files.is_empty() {
            self.format = FORMAT;
        }
        if let Some(archive) = self.commands.first_mut() {
            archive.push_str(" --with-traces");
        }
        self.entries.extend(files);
        Self { traces: Some(traces), ..self }
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

    /// The manifest among `files`, of which each is what it says. Of them and `others` none is missing or too much; what
    /// those have is held against it by [`Manifest::holds`].
    ///
    /// # Errors
    /// Which file is not what the manifest says; that a later release made it.
    pub fn read(files: &Files, others: &[String]) -> Result<Self, String> {
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
        for name in files.keys().chain(others).filter(|name| *name != MANIFEST) {
            if !manifest.entries.contains_key(name) {
                return Err(format!("{name:?} is in the archive, and not in its {MANIFEST}"));
            }
        }
        // An archive may have a hundred thousand files.
        let apart: HashSet<&str> = others.iter().map(String::as_str).collect();
        for name in manifest.entries.keys().filter(|name| !apart.contains(name.as_str())) {
            let bytes = files.get(name).ok_or_else(|| format!("{name:?} is missing in the archive"))?;
            manifest.holds(name, bytes)?;
        }
        Ok(manifest)
    }

    /// Whether a file is what the manifest says.
    ///
    /// # Errors
    /// That it is not.
    pub fn holds(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        if self.entries.get(name).is_some_and(|entry| entry.sha256 == digest(bytes)) {
            return Ok(());
        }
        let why = "its SHA-256 is not that of the manifest: it was damaged or changed";
        Err(format!("{name:?}: {why}; take the archive from where it was made"))
    }
}

/// What the manifest of an archive says of the traces of its runs; none where it was not asked for them.
pub fn traces_of(archive: &[u8]) -> Option<OfTraces> {
    let bytes = Archive::open(archive, Limits::default()).ok()?.unpacked(MANIFEST).ok()?;
    serde_json::from_slice::<Manifest>(&bytes).ok()?.traces
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
        assert!(Manifest::read(&whole(), &[]).is_ok());
        let told = |change: &dyn Fn(&mut Files)| {
            let mut files = whole();
            change(&mut files);
            Manifest::read(&files, &[]).unwrap_err()
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
        let later = text.replace("\"format\": 1", "\"format\": 4, \"more\": {}").replace("sha256", "sha512");
        files.insert(MANIFEST.to_owned(), later.into_bytes());
        let why = Manifest::read(&files, &[]).unwrap_err();
        assert!(why.contains("format 4") && why.contains("up to 3") && why.contains("newer"), "{why}");
    }

    #[test]
    fn only_an_archive_with_spans_is_refused_by_releases_that_do_not_know_them() {
        let bare = || Manifest::of(Vec::new(), Vec::new(), &files(), &BTreeMap::new());
        let told = OfTraces { traces: 1, spans: 2, left_out: 3 };
        assert_eq!(bare().with_traces(told, BTreeMap::new()).format, PLAIN);
        let spans = BTreeMap::from([("spans/00001.parquet".to_owned(), Entry::of(&[4], Some(2)))]);
        let manifest = bare().with_traces(told, spans);
        assert_eq!((manifest.format, manifest.traces), (FORMAT, Some(told)));
        assert!(manifest.commands[0].ends_with(" --with-traces"));
        let mut all = files();
        all.insert(MANIFEST.to_owned(), manifest.bytes().unwrap());
        let apart = ["spans/00001.parquet".to_owned()];
        let read = Manifest::read(&all, &apart).unwrap();
        assert_eq!(read, manifest);
        assert!(read.holds(&apart[0], &[4]).is_ok());
        assert!(read.holds(&apart[0], &[5]).unwrap_err().contains("its SHA-256"));
        assert!(Manifest::read(&all, &[]).unwrap_err().contains("is missing"));
        let archive = crate::lab::zip::write(&all).unwrap();
        assert_eq!((traces_of(&archive), traces_of(b"PK")), (Some(told), None));
    }
}
