//! Every change of a dataset: read the newest version, plan, write one frame.

use super::super::config::Config;
use super::super::error::{Fault, LabError, MAX_FAULTS};
use super::super::place::Place;
use super::super::store::{Store, Who};
use super::canonical;
use super::change::{Absent, Change, Changed, Difference, End, Faulty, New, Outcome, Taking};
use super::files::Import;
use super::item::Item;
use super::plan::{self, Ids, Plan, Wanted};
use super::reading::{self, Depth, Head, Page, Reference, checked_name};
use super::schema::{Schemas, matching};
use crate::domain::id::TenantId;
use crate::schema::batch::{DatasetRow, ItemRow, dataset_items_to_batch, datasets_to_batch};
use crate::schema::columns::Table;
use crate::schema::frame::Part;
use parking_lot::RwLock;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Redacts what must not be stored.
pub type Redact = Arc<dyn Fn(&mut String) + Send + Sync>;

/// The datasets of all tenants. Cheap to clone.
#[derive(Clone)]
pub struct Datasets {
    store: Store,
    config: Arc<Config>,
    redact: Option<Redact>,
    /// One change at a time: each begins with the version that the one before it made.
    pub(super) changing: Arc<Mutex<()>>,
    /// Items that were purged since the start, by tenant: what is on its way may still have them.
    pub(super) purged: Arc<RwLock<HashMap<TenantId, BTreeSet<String>>>>,
}

/// A version on its way to be written.
struct Next<'a> {
    change: &'static str,
    message: Option<String>,
    source: Option<&'a Value>,
}

impl Datasets {
    /// Over `store`. With `redact`, no text of an item is stored that it would redact.
    pub fn new(store: Store, config: Arc<Config>, redact: Option<Redact>) -> Self {
        Self { store, config, redact, changing: Arc::default(), purged: Arc::default() }
    }

    /// The tables behind it.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// How many items were purged since the start, so that who keeps items knows when to read them again.
    pub fn purges(&self) -> usize {
        self.purged.read().values().map(BTreeSet::len).sum()
    }

    /// Whether the item of `tenant` was purged since the start: an archive gives another one an item of the same id.
    pub fn is_purged(&self, tenant: &str, item_id: &str) -> bool {
        self.purged.read().get(tenant).is_some_and(|items| items.contains(item_id))
    }

    /// Lets no dataset be changed as long as it is held.
    pub async fn still(&self) -> OwnedMutexGuard<()> {
        self.changing.clone().lock_owned().await
    }

    /// What redacts what must not be stored; none where nothing is redacted.
    pub fn redaction(&self) -> Option<&Redact> {
        self.redact.as_ref()
    }

    /// Takes out of a text what must not be stored.
    pub fn redact(&self, text: &mut String) {
        if let Some(redact) = &self.redact {
            redact(text);
        }
    }

    /// Whether the item has something that must not be stored.
    pub fn would_redact(&self, item: &Item) -> bool {
        self.redact.as_ref().is_some_and(|redact| {
            let mut changed = item.clone();
            redacted(&mut changed, redact);
            changed != *item
        })
    }

    /// The limits.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Makes a dataset without items. When it returns, it is durable and visible.
    ///
    /// # Errors
    /// [`LabError::Moved`] if the name is taken.
    pub async fn create(&self, who: &Who, new: New) -> Result<Head, LabError> {
        checked_name(&new.name).map_err(LabError::Wrong)?;
        let _changing = self.changing.lock().await;
        if let Some(head) = reading::newest(&self.store, &who.tenant, &new.name).await? {
            let error = format!("the dataset {:?} is there already, in version {}", new.name, head.version);
            return Err(LabError::Moved { error, version: head.version });
        }
        let name = new.name.clone();
        let mut row = self.first(who, &new.name);
        row.schemas = new.schemas();
        Schemas::of(&row.schemas).map_err(LabError::Faults)?;
        (row.description, row.labels, row.message) = (new.description, new.labels, new.message);
        self.write(row, Vec::new()).await?;
        reading::find(&self.store, &who.tenant, &Reference { name, version: None }).await
    }

    /// Puts items in and takes items out, as one version; none is made if nothing changes.
    ///
    /// # Errors
    /// [`LabError::Faults`] with every fault, [`LabError::Moved`] if `if_version` is not the newest version.
    pub async fn change(&self, who: &Who, name: &str, change: Change) -> Result<Outcome, LabError> {
        let mut items: Vec<(Place, Item)> = (1..).map(Place::item).zip(change.put).collect();
        let mut faults = self.with_lengths(who, &mut items, None).await?;
        let put = self.rows(items, &mut faults);
        if !faults.is_empty() {
            faults.truncate(MAX_FAULTS);
            return Err(LabError::Faults(faults));
        }
        let change_name = if put.is_empty() { "delete" } else { "put" };
        let _changing = self.changing.lock().await;
        let head = self.based_on(who, name, change.if_version).await?;
        let (put, violations) = matching(&head, put)?;
        if !violations.strict.is_empty() {
            return Err(LabError::Faults(violations.strict));
        }
        let wanted = Wanted { put, delete: change.delete, ..Wanted::default() };
        let known = self.outline(who, &head).await?;
        let plan = self.planned(&known, wanted)?;
        self.keep(who, &plan.rows, None).await?;
        let next = Next { change: change_name, message: change.message, source: None };
        let outcome = self.next(who, &head, plan, next).await?;
        Ok(Outcome { warnings: violations.warnings, ..outcome })
    }

    /// Takes the items of a file or a query, as one version; none is made if nothing changes.
    ///
    /// # Errors
    /// [`LabError::Faults`] with the faults of the file unless the good items are to be taken; else as
    /// [`Datasets::change`].
    pub async fn import(
        &self,
        who: &Who,
        name: &str,
        mut import: Import,
        taking: Taking,
    ) -> Result<Outcome, LabError> {
        if import.has_cells()
            && let Some(head) = reading::newest(&self.store, &who.tenant, name).await?
        {
            import.typed(head.schemas());
        }
        let (mut faults, mut items, packed) = (import.faults, import.items, import.packed.as_ref());
        faults.extend(self.with_lengths(who, &mut items, packed).await?);
        let put = self.rows(items, &mut faults);
        faults.truncate(MAX_FAULTS);
        if !faults.is_empty() && taking.faulty == Faulty::Nothing {
            return Err(LabError::Faults(faults));
        }
        let _changing = self.changing.lock().await;
        let (head, is_new) = match reading::newest(&self.store, &who.tenant, name).await? {
            Some(head) => (head, false),
            None if taking.absent == Absent::Made && taking.if_version.is_none() => {
                checked_name(name).map_err(LabError::Wrong)?;
                (unborn(&self.first(who, name)), true)
            }
            None => (self.based_on(who, name, None).await?, false),
        };
        check_version(name, &head, taking.if_version)?;
        let (put, violations) = matching(&head, put)?;
        if !violations.strict.is_empty() && taking.faulty == Faulty::Nothing {
            return Err(LabError::Faults(violations.strict));
        }
        faults.extend(violations.strict);
        faults.truncate(MAX_FAULTS);
        let (equals, others, ids) = (taking.equals, taking.others, Ids::Any);
        let wanted = Wanted { put, delete: Vec::new(), equals, others, ids };
        let known = if is_new { Vec::new() } else { self.outline(who, &head).await? };
        let plan = self.planned(&known, wanted)?;
        let next = Next { change: "import", message: taking.message, source: taking.source.as_ref() };
        let mut outcome = match taking.end {
            End::Tried => outcome(&head, &plan),
            End::Stored => {
                self.keep(who, &plan.rows, packed).await?;
                self.next(who, &head, plan, next).await?
            }
        };
        (outcome.faults, outcome.archived) = (faults, import.archived);
        outcome.warnings = violations.warnings;
        Ok(outcome)
    }

    /// Makes a version whose content is that of version `to`; none is made if it is like that already.
    ///
    /// # Errors
    /// [`LabError::Missing`] without such a version.
    pub async fn revert(
        &self,
        who: &Who,
        name: &str,
        to: i64,
        message: Option<String>,
    ) -> Result<Outcome, LabError> {
        let _changing = self.changing.lock().await;
        let head = self.based_on(who, name, None).await?;
        let reference = Reference { name: name.to_owned(), version: Some(to) };
        let target = reading::find(&self.store, &who.tenant, &reference).await?;
        let known = self.outline(who, &head).await?;
        let then = self.items_at(who, &target).await?;
        let message = message.or_else(|| Some(format!("back to version {to}")));
        self.next(who, &head, plan::revert(&known, &then), Next { change: "revert", message, source: None })
            .await
    }

    /// What is different between two versions of a dataset.
    ///
    /// # Errors
    /// [`LabError::Missing`] without the dataset or one of the versions.
    pub async fn diff(&self, who: &Who, name: &str, from: i64, to: i64) -> Result<Difference, LabError> {
        let at = |version| Reference { name: name.to_owned(), version: Some(version) };
        let (from, to) = (
            reading::find(&self.store, &who.tenant, &at(from)).await?,
            reading::find(&self.store, &who.tenant, &at(to)).await?,
        );
        let (before, after) = (self.items_at(who, &from).await?, self.items_at(who, &to).await?);
        let mut earlier: HashMap<&str, &ItemRow> =
            before.iter().map(|item| (item.item_id.as_str(), item)).collect();
        let mut difference = Difference::default();
        for item in &after {
            match earlier.remove(item.item_id.as_str()) {
                None => difference.added.push(Item::of_row(item)),
                Some(then) if then == item => {}
                Some(then) => difference.changed.push(Changed {
                    item_id: item.item_id.clone(),
                    before: Item::of_row(then),
                    after: Item::of_row(item),
                }),
            }
        }
        let is_gone = |item: &&ItemRow| earlier.contains_key(item.item_id.as_str());
        difference.removed = before.iter().filter(is_gone).map(Item::of_row).collect();
        Ok(difference)
    }

    /// The items of a version, in their order.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn items_at(&self, who: &Who, head: &Head) -> Result<Vec<ItemRow>, LabError> {
        self.items_of(who, &head.dataset_id, head.version).await
    }

    /// As [`Datasets::items_at`], by the id of the dataset.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn items_of(
        &self,
        who: &Who,
        dataset_id: &str,
        version: i64,
    ) -> Result<Vec<ItemRow>, LabError> {
        reading::items(&self.store, &who.tenant, (dataset_id, version), Depth::Content, Page::ALL).await
    }

    /// How many of the items of a version were purged since, at most 1,000.
    ///
    /// # Errors
    /// The limits of queries.
    pub async fn purged_at(&self, who: &Who, dataset_id: &str, version: i64) -> Result<usize, LabError> {
        Ok(reading::purged(&self.store, &who.tenant, (dataset_id, version)).await?.len())
    }

    /// That nothing of a version was purged: what is measured on the rest is not measured on that version.
    ///
    /// # Errors
    /// [`LabError::Wrong`] that names the version, some of the items, and what to do.
    pub async fn must_be_whole(&self, who: &Who, head: &Head) -> Result<(), LabError> {
        let gone = reading::purged(&self.store, &who.tenant, (&head.dataset_id, head.version)).await?;
        match gone.as_slice() {
            [] => Ok(()),
            [first, ..] => Err(LabError::Wrong(format!(
                "{}@{}: {} of its {} items were purged, such as {first}: it is not what it was. Name a later version, which \
                 says which items it has",
                head.name,
                head.version,
                gone.len(),
                head.items
            ))),
        }
    }

    pub(super) async fn outline(&self, who: &Who, head: &Head) -> Result<Vec<ItemRow>, LabError> {
        let at = (head.dataset_id.as_str(), head.version);
        reading::items(&self.store, &who.tenant, at, Depth::Outline, Page::ALL).await
    }

    /// The newest version, which must be `version` if that is said.
    pub(super) async fn based_on(
        &self,
        who: &Who,
        name: &str,
        version: Option<i64>,
    ) -> Result<Head, LabError> {
        let newest = Reference { name: name.to_owned(), version: None };
        let head = reading::find(&self.store, &who.tenant, &newest).await?;
        check_version(name, &head, version)?;
        Ok(head)
    }

    /// The items as rows, but for those with faults, which are added to `faults`.
    fn rows(&self, items: Vec<(Place, Item)>, faults: &mut Vec<Fault>) -> Vec<(Place, ItemRow)> {
        let mut rows = Vec::with_capacity(items.len());
        for (place, item) in items {
            match self.row(item) {
                Ok(row) => rows.push((place, row)),
                Err(wrong) => faults.extend(wrong.into_iter().map(|fault| fault.on(place))),
            }
        }
        rows
    }

    /// The item as a row; redacted first, so that its hash is that of what is stored.
    fn row(&self, mut item: Item) -> Result<ItemRow, Vec<Fault>> {
        if let Some(redact) = &self.redact {
            redacted(&mut item, redact);
        }
        item.into_row(self.config.max_item_size)
    }

    pub(super) fn planned(&self, known: &[ItemRow], wanted: Wanted) -> Result<Plan, LabError> {
        let new_id = || uuid::Uuid::now_v7().to_string();
        let plan = plan::plan(known, wanted, new_id).map_err(|mut faults| {
            faults.truncate(MAX_FAULTS);
            LabError::Faults(faults)
        })?;
        let most = self.config.max_items;
        match plan.items > most {
            true => Err(LabError::Limit(format!(
                "the dataset would have {} items, at most {most} (lab.max_items)",
                plan.items
            ))),
            false => Ok(plan),
        }
    }

    /// Writes what `plan` does to `head` as its next version, if it does anything.
    async fn next(&self, who: &Who, head: &Head, plan: Plan, next: Next<'_>) -> Result<Outcome, LabError> {
        let mut outcome = outcome(head, &plan);
        if plan.rows.is_empty() && head.version > 0 {
            return Ok(outcome);
        }
        let mut row = self.following(who, head, next.change);
        row.items = i64::try_from(plan.items).unwrap_or(i64::MAX);
        row.content_hash = plan.content_hash;
        row.source = next.source.map(Value::to_string);
        row.message = next.message;
        outcome.version = row.version;
        self.write(row, plan.rows).await?;
        Ok(outcome)
    }

    pub(super) async fn write(&self, row: DatasetRow, items: Vec<ItemRow>) -> Result<(), LabError> {
        let broken = |e: arrow::error::ArrowError| LabError::Broken(e.to_string());
        let version = datasets_to_batch(std::slice::from_ref(&row)).map_err(broken)?;
        let mut parts = vec![Part::Rows(Table::Datasets, version)];
        if !items.is_empty() {
            let items = dataset_items_to_batch(&items, &row.dataset_id, row.version, &row.made);
            parts.push(Part::Rows(Table::DatasetItems, items.map_err(broken)?));
        }
        self.store.write(parts).await
    }

    /// The first version of a dataset.
    fn first(&self, who: &Who, name: &str) -> DatasetRow {
        DatasetRow {
            dataset_id: uuid::Uuid::now_v7().to_string(),
            version: 1,
            parent_version: None,
            change: "create".to_owned(),
            name: name.to_owned(),
            description: None,
            labels: Vec::new(),
            schemas: [None, None, None],
            items: 0,
            content_hash: canonical::hash_of_all(std::iter::empty()),
            source: None,
            message: None,
            made: self.store.made(who),
        }
    }

    /// The version behind `head`, with the same content.
    pub(super) fn following(&self, who: &Who, head: &Head, change: &'static str) -> DatasetRow {
        DatasetRow {
            dataset_id: head.dataset_id.clone(),
            version: head.version + 1,
            parent_version: Some(head.version).filter(|version| *version > 0),
            change: change.to_owned(),
            description: head.description.clone(),
            labels: head.labels.clone(),
            schemas: head.schemas().map(|schema| schema.map(ToString::to_string)),
            items: head.items,
            content_hash: head.content_hash.clone(),
            ..self.first(who, &head.name)
        }
    }
}

fn check_version(name: &str, head: &Head, wanted: Option<i64>) -> Result<(), LabError> {
    match wanted {
        Some(version) if version != head.version => Err(LabError::Moved {
            error: format!(
                "{name:?} is in version {}, not {version}: read it again, then change it; nothing was changed",
                head.version
            ),
            version: head.version,
        }),
        _ => Ok(()),
    }
}

/// What stands before the first version of a dataset that an import makes.
fn unborn(first: &DatasetRow) -> Head {
    Head {
        dataset_id: first.dataset_id.clone(),
        name: first.name.clone(),
        version: 0,
        parent_version: None,
        change: String::new(),
        description: None,
        labels: Vec::new(),
        items: 0,
        content_hash: first.content_hash.clone(),
        source: None,
        message: None,
        created_at: String::new(),
        created_by: String::new(),
        purged: Vec::new(),
        input_schema: None,
        expected_schema: None,
        metadata_schema: None,
    }
}

fn outcome(head: &Head, plan: &Plan) -> Outcome {
    Outcome {
        dataset_id: head.dataset_id.clone(),
        version: head.version,
        content_hash: plan.content_hash.clone(),
        items: plan.items,
        put: plan.put,
        deleted: plan.deleted,
        unchanged: plan.unchanged,
        duplicates: plan.duplicates,
        archived: 0,
        faults: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Redacts every text of an item, however nested; ids are not touched.
fn redacted(item: &mut Item, redact: &Redact) {
    let values = [&mut item.input, &mut item.expected].into_iter().flatten();
    values.for_each(|value| redact_json(value, redact));
    item.metadata
        .iter_mut()
        .flat_map(serde_json::Map::values_mut)
        .for_each(|value| redact_json(value, redact));
    item.contexts.iter_mut().chain(&mut item.constraints).for_each(|value| redact_json(value, redact));
    item.tags.iter_mut().for_each(|tag| redact(tag));
    // Their names only: what is in a file is stored as it came.
    for file in &mut item.files {
        redact(&mut file.name);
        file.path.iter_mut().for_each(|path| redact(path));
    }
}

/// Redacts every text of a value, however nested.
pub fn redact_json(value: &mut Value, redact: &Redact) {
    match value {
        Value::String(text) => redact(text),
        Value::Array(values) => values.iter_mut().for_each(|value| redact_json(value, redact)),
        Value::Object(fields) => fields.values_mut().for_each(|value| redact_json(value, redact)),
        _ => {}
    }
}
