//! Every change of a suite: read what was sent, compare, write one frame.

use super::super::fault::Faults;
use super::super::load::{StoredItems, Suite, build};
use super::content::Content;
use super::reading::{self, SuiteHead};
use super::redaction::redacted;
use super::sent::{self, Sent, SentForm, refused};
use crate::lab::dataset::{
    Absent, Datasets, Equals, ExportFormat, Import, Item, Mapping, Others, Outcome, Reference, Taking,
    checked_name, find as find_dataset,
};
use crate::lab::error::{Fault, LabError};
use crate::lab::rows::FileFormat;
use crate::lab::store::{Store, Who};
use crate::lab::zip::Limits;
use crate::schema::batch::{SuiteRow, suite_checks_to_batch, suite_tests_to_batch, suites_to_batch};
use crate::schema::columns::Table;
use crate::schema::frame::Part;
use bytes::Bytes;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The suites of all tenants. Cheap to clone.
#[derive(Clone)]
pub struct Suites {
    datasets: Datasets,
    /// One change at a time: each begins with the revision that the one before it made.
    changing: Arc<Mutex<()>>,
}

/// A suite that is to be kept, as it was sent.
#[derive(Debug, Clone, Default)]
pub struct NewSuite {
    /// The file.
    pub bytes: Bytes,
    /// What it is called; empty if nobody says.
    pub file: String,
    /// What it is.
    pub form: SentForm,
    /// The suite's name in the place of the file's.
    pub name: Option<String>,
    /// Whether tests that are wrong are left out.
    pub partial: bool,
    /// Whether it is only tried.
    pub dry_run: bool,
    /// Why.
    pub message: Option<String>,
    /// The revision that this is based on.
    pub if_revision: Option<i64>,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuiteOutcome {
    /// The suite.
    pub suite_id: String,
    /// Its name.
    pub name: String,
    /// Its newest revision now.
    pub revision: i64,
    /// Its version.
    pub version: i64,
    /// Whether the next run makes another version of it.
    pub draft: bool,
    /// How many tests it has.
    pub tests: i64,
    /// How many checks they have.
    pub checks: i64,
    /// The hash of what it says.
    pub content_hash: String,
    /// Whether anything was stored; not where it says what it said before.
    pub changed: bool,
    /// What was read in another way than it looks, or is not kept.
    pub warnings: Vec<String>,
    /// Tests that were wrong.
    pub left_out: Vec<String>,
}

/// What was sent, as a suite.
struct Ready {
    suite: Suite,
    content: Content,
    warnings: Vec<String>,
    left_out: Faults,
}

impl Suites {
    /// Over `datasets`, which have the tests as items.
    pub fn new(datasets: Datasets) -> Self {
        Self { datasets, changing: Arc::default() }
    }

    /// The tables behind it.
    pub fn store(&self) -> &Store {
        self.datasets.store()
    }

    /// The datasets.
    pub fn datasets(&self) -> &Datasets {
        &self.datasets
    }

    /// Keeps a suite: as a new one, or as the next revision of the one that has its name; as nothing if that says the
    /// same. When it returns, it is durable and visible.
    ///
    /// # Errors
    /// [`LabError::Faults`] with everything that is wrong, [`LabError::Moved`] if `if_revision` is not the newest one.
    pub async fn import(&self, who: &Who, new: NewSuite) -> Result<SuiteOutcome, LabError> {
        let (message, if_revision, dry_run) = (new.message.clone(), new.if_revision, new.dry_run);
        let source = json!({
            "file": Some(&new.file).filter(|file| !file.is_empty()),
            "sha256": hex::encode(Sha256::digest(&new.bytes)),
            "bytes": new.bytes.len(),
        });
        let ready = self.ready(who, new).await?;
        let _changing = self.changing.lock().await;
        let before = reading::newest(self.store(), &who.tenant, ready.suite.name()).await?;
        check_revision(ready.suite.name(), before.as_ref(), if_revision)?;
        let mut row = self.next(who, before.as_ref(), &ready);
        (row.source, row.message) = (Some(source.to_string()), message);
        let is_same = match &before {
            Some(head) if head.content_hash == ready.content.hash => {
                reading::is_whole(self.store(), &who.tenant, head).await?
            }
            _ => false,
        };
        if let Some(head) = before.as_ref().filter(|_| is_same) {
            row = head.row.clone();
        } else if !dry_run {
            self.keep(who, &mut row, &ready).await?;
        }
        Ok(SuiteOutcome {
            suite_id: row.suite_id,
            name: row.name,
            revision: row.revision,
            version: row.version,
            draft: row.draft,
            tests: row.tests,
            checks: row.checks,
            content_hash: row.content_hash,
            changed: !is_same && !dry_run,
            warnings: ready.warnings,
            left_out: ready.left_out.lines().to_vec(),
        })
    }

    /// The revision that a run asks, as a version: one that was edited since its last version becomes the next.
    ///
    /// # Errors
    /// [`LabError::Missing`] without the suite or its version.
    pub async fn run(&self, who: &Who, reference: &Reference) -> Result<SuiteHead, LabError> {
        let _changing = self.changing.lock().await;
        let head = reading::find(self.store(), &who.tenant, reference).await?;
        if !head.draft {
            return Ok(head);
        }
        let row = SuiteRow {
            version: head.version + 1,
            draft: false,
            change: "run".to_owned(),
            message: None,
            made: self.store().made(who),
            ..head.row
        };
        let batch = suites_to_batch(std::slice::from_ref(&row)).map_err(broken)?;
        self.store().write(vec![Part::Rows(Table::Suites, batch)]).await?;
        let version = Reference { name: row.name, version: Some(row.version) };
        reading::find(self.store(), &who.tenant, &version).await
    }

    /// Reads and compiles what was sent.
    async fn ready(&self, who: &Who, new: NewSuite) -> Result<Ready, LabError> {
        let file = if new.file.is_empty() { "the suite".to_owned() } else { new.file };
        let (bytes, form, name) = (new.bytes.to_vec(), new.form, file.clone());
        let limits = Limits::of(self.datasets.config());
        let read = blocking(move || sent::read(bytes, &name, form, limits)).await?;
        let mut sent = read.map_err(|faults| refused(&faults))?;
        if !sent.faults.is_empty() && !new.partial {
            return Err(refused(&sent.faults));
        }
        if let Some(name) = new.name {
            sent.spec.suite.name = name;
        }
        checked_name(&format!("suite/{}", sent.spec.suite.name)).map_err(|why| {
            let why = format!("the suite cannot be kept by its name; say another, name=NAME: {why}");
            LabError::Faults(vec![Fault::new(why).at("name")])
        })?;
        if let Some(redact) = self.datasets.redaction() {
            redacted(&mut sent.spec, &mut sent.tests, redact);
        }
        let items = self.stored(who, &sent).await?;
        let most = self.datasets.config().max_items;
        blocking(move || built(sent, &items, &file, (new.partial, most))).await?
    }

    /// The items of the stored datasets that a suite names. It may name nothing else: no file of the server is ever read.
    async fn stored(&self, who: &Who, sent: &Sent) -> Result<StoredItems, LabError> {
        let mut items = StoredItems::new();
        for name in sent.spec.suite.dataset.iter().flat_map(|names| names.names()) {
            let wrong = |why: String| LabError::Faults(vec![Fault::new(why).at("suite.dataset")]);
            if !name.contains('@') {
                let why = format!(
                    "{name:?} is a file beside the suite, and only the suite was sent: groundline suite import sends its \
                     cases with it; a stored dataset is named with its version, NAME@VERSION"
                );
                return Err(wrong(why));
            }
            let plain = name.strip_suffix("@latest").unwrap_or(name);
            let reference: Reference = plain.parse().map_err(wrong)?;
            let head = find_dataset(self.store(), &who.tenant, &reference).await?;
            self.datasets.must_be_whole(who, &head).await?;
            let rows = self.datasets.items_at(who, &head).await?;
            let all: Vec<Item> = rows.iter().map(Item::of_row).collect();
            let text = ExportFormat::Jsonl.write(&all).map_err(LabError::Broken)?;
            items.insert(name.clone(), Bytes::from(text));
        }
        Ok(items)
    }

    /// The row of the next revision; of which dataset it is asked is still open.
    fn next(&self, who: &Who, before: Option<&SuiteHead>, ready: &Ready) -> SuiteRow {
        let head = &ready.suite.head;
        let said =
            head.version.and_then(|version| i64::try_from(version).ok()).filter(|version| *version > 0);
        let (version, draft) = match (before, said) {
            (None, said) => (said.unwrap_or(1), false),
            // Where it comes from it has been run since.
            (Some(before), Some(said)) if said > before.version => (said, false),
            (Some(before), _) => (before.version, true),
        };
        SuiteRow {
            suite_id: before.map_or_else(|| uuid::Uuid::now_v7().to_string(), |head| head.suite_id.clone()),
            revision: before.map_or(0, |head| head.revision) + 1,
            version,
            draft,
            change: if before.is_none() { "import" } else { "edit" }.to_owned(),
            name: head.name.clone(),
            description: Some(head.description.clone()).filter(|text| !text.is_empty()),
            spec: ready.content.spec.clone(),
            dataset_id: String::new(),
            dataset_version: 0,
            tests: i64::try_from(ready.suite.tests()).unwrap_or(i64::MAX),
            checks: i64::try_from(ready.suite.checks()).unwrap_or(i64::MAX),
            content_hash: ready.content.hash.clone(),
            source: None,
            message: None,
            made: self.store().made(who),
        }
    }

    /// Writes a revision: its tests as a version of their dataset, then the suite as one frame.
    async fn keep(&self, who: &Who, row: &mut SuiteRow, ready: &Ready) -> Result<(), LabError> {
        let (outcome, items) = self.items(who, &ready.suite, row.revision).await?;
        (row.dataset_id, row.dataset_version) = (outcome.dataset_id, outcome.version);
        let content = ready.content.clone().with_items(&items);
        // Nothing is purged between this look and the frame.
        let _still = self.datasets.still().await;
        if let Some(test) =
            content.tests.iter().find(|test| self.datasets.is_purged(&who.tenant, &test.item_id))
        {
            let why = format!("the test {:?} was purged while the suite was imported", test.test_id);
            return Err(LabError::Moved { error: why, version: row.revision - 1 });
        }
        let at = (row.suite_id.as_str(), row.revision);
        let mut parts = vec![
            Part::Rows(Table::Suites, suites_to_batch(std::slice::from_ref(&*row)).map_err(broken)?),
            Part::Rows(
                Table::SuiteTests,
                suite_tests_to_batch(&content.tests, at, &row.made).map_err(broken)?,
            ),
        ];
        if !content.checks.is_empty() {
            let checks = suite_checks_to_batch(&content.checks, at, &row.made).map_err(broken)?;
            parts.push(Part::Rows(Table::SuiteChecks, checks));
        }
        self.store().write(parts).await
    }

    /// The tests as a version of the suite's dataset, and the items that they are.
    async fn items(
        &self,
        who: &Who,
        suite: &Suite,
        revision: i64,
    ) -> Result<(Outcome, HashMap<String, String>), LabError> {
        let lines = Bytes::from(suite.items());
        let import = Import::read(&lines, Some(FileFormat::Jsonl), &Mapping::default())?;
        let taking = Taking {
            equals: Equals::Each,
            others: Others::Go,
            absent: Absent::Made,
            source: Some(json!({ "suite": suite.name(), "revision": revision })),
            ..Taking::default()
        };
        let outcome = self.datasets.import(who, &suite.dataset(), import, taking).await?;
        let rows = self.datasets.items_of(who, &outcome.dataset_id, outcome.version).await?;
        let items = rows.into_iter().filter_map(|row| Some((row.external_id?, row.item_id)));
        Ok((outcome, items.collect()))
    }
}

/// What was sent as a suite. `partial` leaves out tests that are wrong.
fn built(
    sent: Sent,
    items: &StoredItems,
    file: &str,
    (partial, most): (bool, usize),
) -> Result<Ready, LabError> {
    let (suite, mut left_out) = build(sent.spec, sent.tests, (Path::new(""), items), file, partial)
        .map_err(|faults| refused(&faults))?;
    left_out.join(sent.faults);
    if suite.tests() > most {
        let why = format!("the suite has {} tests, at most {most} (lab.max_items)", suite.tests());
        return Err(LabError::Limit(why));
    }
    let content = Content::of(&suite).map_err(LabError::Wrong)?;
    Ok(Ready { suite, content, warnings: sent.warnings, left_out })
}

fn check_revision(name: &str, before: Option<&SuiteHead>, wanted: Option<i64>) -> Result<(), LabError> {
    let there = before.map_or(0, |head| head.revision);
    match wanted {
        Some(wanted) if wanted != there => Err(LabError::Moved {
            error: format!(
                "the suite {name:?} is in revision {there}, not {wanted}: read it again, then change it; nothing was changed"
            ),
            version: there,
        }),
        _ => Ok(()),
    }
}

fn broken(error: arrow::error::ArrowError) -> LabError {
    LabError::Broken(error.to_string())
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, LabError> {
    tokio::task::spawn_blocking(work).await.map_err(|e| LabError::Broken(e.to_string()))
}
