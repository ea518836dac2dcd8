//! The items of a file.

use super::super::error::{Fault, LabError, MAX_FAULTS};
use super::super::place::Place;
use super::super::rows::{self, FileFormat, Limits, Read};
use super::fields::{self, Mapping};
use super::item::Item;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;

/// The items of a file, each with its line or place, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct Import {
    /// Items, in the order of the file.
    pub items: Vec<(Place, Item)>,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// Items that their system had archived.
    pub archived: usize,
}

impl Import {
    /// Reads a file; `format` none to find out. Faults of single items are collected.
    ///
    /// # Errors
    /// [`LabError::Wrong`] for a file of which no item can be read.
    pub fn read(bytes: &Bytes, format: Option<FileFormat>, mapping: &Mapping) -> Result<Self, LabError> {
        Ok(Self::of(rows::read(bytes, format, Limits::default())?, mapping))
    }

    /// The items of the rows of a query.
    ///
    /// # Errors
    /// [`LabError::Wrong`] for a column type that has no JSON.
    pub fn of_batches(
        schema: &SchemaRef,
        batches: &[RecordBatch],
        mapping: &Mapping,
    ) -> Result<Self, LabError> {
        let rows = rows::of_batches(schema, batches)?;
        Ok(Self::of(Read::from(rows), mapping))
    }

    /// Gives items without a split the one that a part of a Hugging Face dataset is named after: `train-00000-of-00002.parquet`.
    pub fn split_by_name(&mut self, file: &str) {
        let Some(split) = split_of(file) else { return };
        for (_, item) in &mut self.items {
            item.split.get_or_insert_with(|| split.to_owned());
        }
    }

    fn of(read: Read, mapping: &Mapping) -> Self {
        let mut import = Self { faults: read.faults, ..Self::default() };
        for (place, fields) in read.rows {
            match fields::item(fields, mapping) {
                Ok(Some(item)) => import.items.push((place, item)),
                Ok(None) => import.archived += 1,
                Err(faults) => import.faults.extend(faults.into_iter().map(|fault| fault.on(place))),
            }
        }
        import.faults.sort_by_key(|fault| (fault.line, fault.item));
        import.faults.truncate(MAX_FAULTS);
        import
    }
}

fn split_of(file: &str) -> Option<&str> {
    let name = file.rsplit('/').next()?.strip_suffix(".parquet")?;
    let (before, of) = name.rsplit_once("-of-")?;
    let (split, part) = before.rsplit_once('-')?;
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(of) && is_number(part) && !split.is_empty()).then_some(split)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_dataset_is_named_after_its_split() {
        assert_eq!(split_of("data/train-00000-of-00002.parquet"), Some("train"));
        for other in
            ["train.parquet", "a-of-b.parquet", "train-00000-of-00002.csv", "-00000-of-00002.parquet"]
        {
            assert_eq!(split_of(other), None, "{other}");
        }
    }

    #[test]
    fn items_and_faults_of_a_file_keep_their_places() {
        let text = Bytes::from_static(b"input,weight,status\na,1,\nb\nc,heavy,\nd,2,ARCHIVED\n");
        let import = Import::read(&text, None, &Mapping::default()).unwrap();
        assert_eq!((import.items.len(), import.archived), (1, 1));
        assert_eq!((import.items[0].0, import.items[0].1.weight), (Place::line(2), Some(1.0)));
        let told: Vec<String> = import.faults.iter().map(ToString::to_string).collect();
        assert!(told[0].starts_with("line 3: 1 cells, and the header has 3"), "{told:?}");
        assert_eq!(told[1], "line 4: weight: it must be a number");
    }
}
