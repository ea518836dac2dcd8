//! A dataset's name, labels and schemas, and what its items must look like.

use super::change::Edit;
use super::datasets::Datasets;
use super::reading::{self, Head, Reference, checked_name};
use super::schema::{Schemas, Violations};
use crate::lab::error::LabError;
use crate::lab::place::Place;
use crate::lab::store::Who;

impl Datasets {
    /// Changes the name, the description or the labels, or puts the dataset away: a version with the same items.
    ///
    /// # Errors
    /// [`LabError::Moved`] if the new name is taken or `if_version` is not the newest version.
    pub async fn edit(&self, who: &Who, name: &str, edit: Edit) -> Result<Head, LabError> {
        let _changing = self.changing.lock().await;
        let head = self.based_on(who, name, edit.if_version).await?;
        let new_name = edit.name.clone().unwrap_or_else(|| name.to_owned());
        if new_name != name {
            checked_name(&new_name).map_err(LabError::Wrong)?;
            if let Some(other) = reading::newest(self.store(), &who.tenant, &new_name).await? {
                let error = format!("the dataset {new_name:?} is there already");
                return Err(LabError::Moved { error, version: other.version });
            }
        }
        let change = match (edit.archived, new_name != name) {
            (Some(true), _) => "archive",
            (_, true) => "rename",
            _ => "schema",
        };
        let mut row = self.following(who, &head, change);
        if edit.has_schema() {
            row.schemas = edit.schemas(&head);
            self.must_match(who, &head, &row.schemas).await?;
        }
        row.name.clone_from(&new_name);
        row.description = edit.description.or(row.description);
        row.labels = edit.labels.unwrap_or(row.labels);
        row.message = edit.message;
        self.write(row, Vec::new()).await?;
        reading::find(self.store(), &who.tenant, &Reference { name: new_name, version: None }).await
    }

    /// That the items of a version match `schemas`, but for those that only warn.
    async fn must_match(
        &self,
        who: &Who,
        head: &Head,
        schemas: &[Option<String>; 3],
    ) -> Result<(), LabError> {
        let schemas = Schemas::of(schemas).map_err(LabError::Faults)?;
        let mut told = Violations::default();
        for item in self.items_at(who, head).await? {
            let before = told.strict.len();
            schemas.check(Place::default(), &item, &mut told);
            let name = item.external_id.unwrap_or(item.item_id);
            for fault in told.strict.iter_mut().skip(before) {
                fault.message = format!("item {name:?}: {}", fault.message);
            }
        }
        if told.strict.is_empty() { Ok(()) } else { Err(LabError::Faults(told.strict)) }
    }
}
