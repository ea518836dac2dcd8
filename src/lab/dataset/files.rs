//! The items of a file.

use super::super::config::Config;
use super::super::error::{Fault, LabError, MAX_FAULTS};
use super::super::place::Place;
use super::super::rows::{self, FileFormat, Limits, Read};
use super::attached;
use super::fields::{self, Mapping};
use super::item::Item;
use super::packed::{Packed, split_of};
use super::schema;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use serde_json::Value;
use std::ops::Range;

/// The items of a file, each with its line or place, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct Import {
    /// Items, in the order of the file.
    pub items: Vec<(Place, Item)>,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// Items that their system had archived.
    pub archived: usize,
    /// The archive that the files of the items are in.
    pub packed: Option<Packed>,
    /// Which items are made of the texts of cells.
    pub cells: Vec<Range<usize>>,
}

impl Import {
    /// Reads a file; `format` none to find out. Faults of single items are collected.
    ///
    /// # Errors
    /// [`LabError::Wrong`] for a file of which no item can be read.
    pub fn read(bytes: &Bytes, format: Option<FileFormat>, mapping: &Mapping) -> Result<Self, LabError> {
        let mut import = Self::default();
        import.take(rows::read(bytes, format, Limits::default())?, mapping);
        Ok(import.in_order())
    }

    /// Reads a ZIP archive of a table of items, or of the parts of one, and of the files that its rows name.
    ///
    /// # Errors
    /// [`LabError::Wrong`] with the name of what is refused.
    pub fn unpack(bytes: Bytes, mapping: &Mapping, config: &Config) -> Result<Self, LabError> {
        let packed = Packed::open(bytes, config)?;
        let tables = packed.tables()?;
        let mut import = Self { packed: Some(packed.clone()), ..Self::default() };
        for (name, split) in &tables {
            let in_table = |error| match error {
                LabError::Wrong(why) => LabError::Wrong(format!("{name}: {why}")),
                other => other,
            };
            let (items, faults) = (import.items.len(), import.faults.len());
            let read = rows::read(&packed.table(name)?, None, Limits::default()).map_err(in_table)?;
            import.take(read, mapping);
            for (_, item) in import.items.iter_mut().skip(items) {
                item.split = item.split.take().or_else(|| split.clone());
            }
            // Where there are several, a line alone does not say where it stands.
            for fault in import.faults.iter_mut().skip(faults).filter(|_| tables.len() > 1) {
                fault.message = format!("{name}: {}", fault.message);
            }
        }
        if let Some(packed) = &import.packed {
            packed.check_others(&tables)?;
        }
        Ok(if tables.len() > 1 { import.cut() } else { import.in_order() })
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
        let mut import = Self::default();
        import.take(Read::from(rows::of_batches(schema, batches)?), mapping);
        Ok(import.in_order())
    }

    /// Gives items without a split the one that a part of a Hugging Face dataset is named after: `train-00000-of-00002.parquet`.
    pub fn split_by_name(&mut self, file: &str) {
        let Some(split) = split_of(file).filter(|_| file.contains("-of-")) else { return };
        for (_, item) in &mut self.items {
            item.split.get_or_insert_with(|| split.to_owned());
        }
    }

    /// Whether items are made of the texts of cells, which know no numbers.
    pub fn has_cells(&self) -> bool {
        !self.cells.is_empty()
    }

    /// Texts of cells become what `schemas` say that they are, those of inputs, expected answers and metadata.
    pub fn typed(&mut self, schemas: [Option<&Value>; 3]) {
        for cells in &self.cells {
            for (_, item) in self.items.get_mut(cells.clone()).into_iter().flatten() {
                schema::typed(item, schemas);
            }
        }
    }

    /// Adds the items of `read`, and what is wrong with the others.
    fn take(&mut self, read: Read, mapping: &Mapping) {
        self.faults.extend(read.faults);
        let first = self.items.len();
        for (place, mut fields) in read.rows {
            let files = match &mut self.packed {
                _ if mapping.has("files") => Ok(Vec::new()),
                Some(packed) => packed.taken(&mut fields),
                None => Ok(attached::taken(&mut fields)),
            };
            let item = files.and_then(|files| Ok((files, fields::item(fields, mapping)?)));
            match item {
                Ok((files, Some(item))) => self.items.push((place, Item { files, ..item })),
                Ok((_, None)) => self.archived += 1,
                Err(faults) => self.faults.extend(faults.into_iter().map(|fault| fault.on(place))),
            }
        }
        if read.has_cells {
            self.cells.push(first..self.items.len());
        }
    }

    /// The same with its faults in the order of the file.
    fn in_order(mut self) -> Self {
        self.faults.sort_by_key(|fault| (fault.line, fault.item));
        self.cut()
    }

    fn cut(mut self) -> Self {
        self.faults.truncate(MAX_FAULTS);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_part_of_a_dataset_is_named_after_its_split() {
        assert_eq!(split_of("data/train-00000-of-00002.parquet"), Some("train"));
        assert_eq!(split_of("train.csv"), Some("train"));
        for other in ["mine.csv", "a-of-b.parquet", "train-00000-of-00002.csv", "-00000-of-00002.parquet"] {
            assert_eq!(split_of(other), None, "{other}");
        }
    }

    fn zipped(files: &[(&str, &str)]) -> Bytes {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
        Bytes::from(crate::lab::zip::write(&files).unwrap())
    }

    #[test]
    fn parts_of_a_folder_are_one_dataset_with_splits() {
        let parts = [
            ("train.jsonl", "{\"input\":\"a\"}\n"),
            ("test.csv", "input,split\nb,\nc,own\n"),
            ("README.md", "x"),
        ];
        let import = Import::unpack(zipped(&parts), &Mapping::default(), &Config::default()).unwrap();
        let of = |(_, item): &(Place, Item)| (item.input.clone().unwrap(), item.split.clone().unwrap());
        let told: Vec<_> = import.items.iter().map(of).collect();
        let wanted = [("b", "test"), ("c", "own"), ("a", "train")];
        assert_eq!(told, wanted.map(|(input, split)| (serde_json::Value::from(input), split.to_owned())));
        let bad = [("train.jsonl", "{\"input\":\"a\"}\nx\n"), ("test.csv", "input\nb\n")];
        let import = Import::unpack(zipped(&bad), &Mapping::default(), &Config::default()).unwrap();
        assert!(import.faults[0].to_string().starts_with("line 2: train.jsonl: not JSON"), "{import:?}");
    }

    #[test]
    fn a_file_that_the_archive_lacks_is_told_with_its_row() {
        let table = "input,files\na,a.txt\nb,\"[\"\"b.txt\"\"]\"\nc,\n";
        let files = [("items.csv", table), ("documents/a.txt", "A")];
        let import = Import::unpack(zipped(&files), &Mapping::default(), &Config::default()).unwrap();
        assert_eq!(import.items.iter().map(|(_, item)| item.files.len()).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(import.faults[0].to_string(), "line 3: files: the archive has no file \"b.txt\"");
    }

    #[test]
    fn damage_of_a_file_is_told_with_the_row_that_names_it() {
        let table = "input,files\na,a.txt\nb,\nc,a.txt\n";
        let mut damaged = zipped(&[("items.csv", table), ("a.txt", "A text")]).to_vec();
        damaged[36] ^= 0x40;
        let import = Import::unpack(damaged.into(), &Mapping::default(), &Config::default()).unwrap();
        let told: Vec<_> = import.faults.iter().map(ToString::to_string).collect();
        let of_line = |line: u32| format!("line {line}: files: \"a.txt\" is damaged in the ZIP archive");
        assert_eq!(told, [of_line(2), of_line(4)]);
        assert_eq!(import.items.len(), 1, "the other row is as it was");
    }

    #[test]
    fn cells_are_numbers_where_the_schema_says_so() {
        let table = "input.question,input.count,metadata.level,metadata.is_hard,metadata.code\n\
                     Where?,3,2.5,TRUE,007\nWho?,many,x,no,8\n";
        let unpacked = |part: (&str, &str)| {
            Import::unpack(zipped(&[part]), &Mapping::default(), &Config::default()).unwrap()
        };
        let mut import = unpacked(("items.csv", table));
        let asked = json!({"properties": {"count": {"type": "integer"}, "question": {"type": "string"}}});
        let known = json!({"properties": {"level": {"type": ["number", "null"]}, "is_hard": {"type": "boolean"},
            "code": {"type": ["string", "integer"]}}});
        import.typed([Some(&asked), None, Some(&known)]);
        let of = |at: usize| {
            let item = &import.items[at].1;
            (item.input.clone().unwrap(), item.metadata.clone().map(Value::Object).unwrap_or_default())
        };
        assert!(import.has_cells());
        let level = json!({"level": 2.5, "is_hard": true, "code": "007"});
        assert_eq!(of(0), (json!({"question": "Where?", "count": 3}), level));
        // What is none stays a text, which the schema refuses.
        let level = json!({"level": "x", "is_hard": "no", "code": "8"});
        assert_eq!(of(1), (json!({"question": "Who?", "count": "many"}), level));
        assert!(
            !unpacked(("items.jsonl", "{\"input\":{\"count\":\"3\"}}\n")).has_cells(),
            "a text of JSON is one"
        );
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
