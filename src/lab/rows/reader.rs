//! A file into rows.

use super::super::error::{Fault, LabError, MAX_FAULTS};
use super::super::place::Place;
use super::cell::{cell, nest};
use super::columns::{Placed, of_parquet};
use super::format::{FileFormat, list_of, recognised, without_mark};
use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// How much is read.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most rows.
    pub rows: usize,
    /// Largest row, bytes.
    pub row_size: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rows: usize::MAX, row_size: usize::MAX }
    }
}

/// What a file has.
#[derive(Debug, Default)]
pub struct Read {
    /// Its rows, in their order.
    pub rows: Vec<Placed>,
    /// What is wrong with the others, the first 200.
    pub faults: Vec<Fault>,
    /// Whether its values are the texts of cells.
    pub has_cells: bool,
    limits: Limits,
}

impl From<Vec<Placed>> for Read {
    fn from(rows: Vec<Placed>) -> Self {
        Self { rows, ..Self::default() }
    }
}

/// Reads a file; `format` none to find out. Faults of single rows are collected.
///
/// # Errors
/// [`LabError::Wrong`] for a file of which no row can be read.
pub fn read(bytes: &Bytes, format: Option<FileFormat>, limits: Limits) -> Result<Read, LabError> {
    let mut read = Read { limits, ..Read::default() };
    match format.map_or_else(|| recognised(bytes), Ok)? {
        FileFormat::Csv => {
            read.has_cells = true;
            read.csv(without_mark(bytes))?;
        }
        FileFormat::Jsonl => read.lines(without_mark(bytes)),
        FileFormat::Json => read.json(without_mark(bytes))?,
        FileFormat::Parquet => read.rows = of_parquet(bytes)?,
    }
    if read.rows.len() > limits.rows {
        let why = format!("{} rows, at most {}: cut the file in parts", read.rows.len(), limits.rows);
        read.faults.push(Fault::new(why));
        read.rows.truncate(limits.rows);
    }
    Ok(read)
}

impl Read {
    fn wrong(&mut self, place: Place, fault: Fault) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault.on(place));
        }
    }

    /// Whether a row of so many bytes may be read; if not that is told.
    fn is_small(&mut self, place: Place, bytes: usize) -> bool {
        let is_small = bytes <= self.limits.row_size;
        if !is_small {
            self.wrong(
                place,
                Fault::new(format!("the row has {bytes} bytes, at most {}", self.limits.row_size)),
            );
        }
        is_small
    }

    fn lines(&mut self, bytes: &[u8]) {
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            let place = Place::line(number);
            if line.trim_ascii().is_empty() || !self.is_small(place, line.len()) {
                continue;
            }
            match serde_json::from_slice::<Value>(line) {
                Ok(Value::Object(fields)) => self.rows.push((place, fields)),
                Ok(_) => self.wrong(place, Fault::new("not a JSON object: write one object a line")),
                Err(error) => {
                    let why = format!("not JSON, at column {}: {}", error.column(), bare(&error));
                    self.wrong(place, Fault::new(why));
                }
            }
        }
    }

    /// An array, an object with one, or a single object. Each has the line on which it begins.
    fn json(&mut self, bytes: &[u8]) -> Result<(), LabError> {
        let wrong = |e: serde_json::Error| {
            LabError::Wrong(format!("line {}, column {}: not JSON: {}", e.line(), e.column(), bare(&e)))
        };
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = bytes[..e.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
            LabError::Wrong(format!("line {line} is not UTF-8: save the file as UTF-8"))
        })?;
        if let Some(rows) = zipped(bytes) {
            self.rows = (1..).zip(rows).map(|(number, row)| (Place::item(number), row)).collect();
            return Ok(());
        }
        let values: Vec<&RawValue> = match text.trim_start().as_bytes().first() {
            Some(b'{') => match list_of(bytes) {
                Some(list) => serde_json::from_str(list.get()).map_err(wrong)?,
                None => vec![serde_json::from_str(text).map_err(wrong)?],
            },
            Some(b'[') => serde_json::from_str(text).map_err(wrong)?,
            _ => return Err(LabError::Wrong("the file is neither a JSON array nor an object".to_owned())),
        };
        let (mut seen, mut line) = (0, 1);
        for (number, value) in (1..).zip(values) {
            let start = (value.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            line += text.get(seen..start).map_or(0, |between| between.matches('\n').count() as u64);
            seen = start;
            let place = Place { line: Some(line), item: Some(number) };
            if !self.is_small(place, value.get().len()) {
                continue;
            }
            match serde_json::from_str(value.get()) {
                Ok(Value::Object(fields)) => self.rows.push((place, fields)),
                Ok(text @ Value::String(_)) => {
                    self.rows.push((place, Map::from_iter([("input".to_owned(), text)])));
                }
                _ => self.wrong(place, Fault::new("neither a JSON object nor a text")),
            }
        }
        Ok(())
    }

    fn csv(&mut self, bytes: &[u8]) -> Result<(), LabError> {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(true)
            .delimiter(separator(bytes))
            .from_reader(bytes);
        let wrong =
            |e: csv::Error| LabError::Wrong(format!("the first line is no header of a CSV file: {e}"));
        let header: Vec<String> =
            reader.headers().map_err(wrong)?.iter().map(str::trim).map(str::to_owned).collect();
        let is_twice = |(at, name): &(usize, &String)| !name.is_empty() && header[..*at].contains(name);
        if let Some((_, name)) = header.iter().enumerate().find(is_twice) {
            return Err(LabError::Wrong(format!("line 1: the column {name:?} is there twice; rename one")));
        }
        for record in reader.into_byte_records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let line = error.position().map_or(0, csv::Position::line);
                    self.wrong(Place::line(line), Fault::new(error.to_string()));
                    continue;
                }
            };
            let place = Place::line(record.position().map_or(0, csv::Position::line));
            let is_blank = record.iter().all(|cell| cell.trim_ascii().is_empty());
            if is_blank || !self.is_small(place, record.as_slice().len()) {
                continue;
            }
            match row(&header, &record) {
                Ok(fields) => self.rows.push((place, fields)),
                Err(fault) => self.wrong(place, fault),
            }
        }
        Ok(())
    }
}

/// What stands between the cells: a comma, but where the header has none and semicolons or tabs instead, as spreadsheets of
/// many countries write and copy tables.
fn separator(bytes: &[u8]) -> u8 {
    let (mut is_quoted, mut found) = (false, b',');
    for byte in bytes.trim_ascii_start() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b',' => return b',',
            b'\n' | b'\r' => break,
            b';' => found = b';',
            b'\t' if found == b',' => found = b'\t',
            _ => {}
        }
    }
    found
}

/// The rows of lists that stand beside each other, `{"inputs": […], "outputs": […], "metadata": […]}`, as Phoenix takes them.
fn zipped(bytes: &[u8]) -> Option<Vec<Map<String, Value>>> {
    #[derive(serde::Deserialize)]
    struct Lists {
        inputs: Vec<Value>,
        outputs: Vec<Value>,
        #[serde(default)]
        metadata: Vec<Value>,
    }
    let Lists { inputs, outputs, metadata } = serde_json::from_slice(bytes).ok()?;
    let metadata = metadata.into_iter().map(Some).chain(std::iter::repeat(None));
    let is_whole = inputs.len() == outputs.len();
    let row = |((input, output), metadata): ((Value, Value), Option<Value>)| {
        let fields = [("input", Some(input)), ("output", Some(output)), ("metadata", metadata)];
        fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    };
    is_whole.then(|| inputs.into_iter().zip(outputs).zip(metadata).map(row).collect())
}

/// The error without its place, which is told in front of it.
fn bare(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

/// The fields of a row of a CSV file.
fn row(header: &[String], record: &csv::ByteRecord) -> Result<Map<String, Value>, Fault> {
    if record.len() != header.len() {
        let why = format!(
            "{} cells, and the header has {}; put quotation marks around cells with commas",
            record.len(),
            header.len()
        );
        return Err(Fault::new(why));
    }
    let mut fields = Map::new();
    for (name, bytes) in header.iter().zip(record) {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Fault::new("not UTF-8; save the file as UTF-8").at(name))?;
        if text.contains('\0') {
            return Err(Fault::new("it has a NUL byte: this is no text file, or it is damaged").at(name));
        }
        if !text.is_empty() {
            nest(&mut fields, name, cell(text));
        }
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good(text: &str) -> Read {
        read(&Bytes::copy_from_slice(text.as_bytes()), None, Limits::default()).unwrap()
    }

    fn inputs(text: &str) -> Vec<Value> {
        good(text).rows.iter().map(|(_, row)| row["input"].clone()).collect()
    }

    fn told(read: &Read) -> Vec<String> {
        read.faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_csv_file_nests_its_columns() {
        let text = "\u{feff}input.question,input.city,expected,weight\n\"Where,\nexactly?\",Rome,There.,2\n,,,\nWhen?,,\"{\"\"answer\"\": 7}\",\n";
        let read = good(text);
        assert_eq!(read.faults, []);
        let wanted = [json!({"question": "Where,\nexactly?", "city": "Rome"}), json!({"question": "When?"})];
        assert_eq!(inputs(text), wanted);
        assert_eq!(read.rows[1].0, Place::line(5));
        assert_eq!(read.rows[1].1["expected"], json!({"answer": 7}));
    }

    #[test]
    fn cells_stand_between_what_the_header_has_between_its_names() {
        let wanted = [json!({"question": "Where, exactly; here?"})];
        for (text, expected) in [
            ("\u{feff}input.question;expected\r\n\"Where, exactly; here?\";There.\r\n", "There."),
            ("input.question\texpected\nWhere, exactly; here?\tThere.\n", "There."),
            ("input.question;\"expected\"\n\"Where, exactly; here?\";\"a\tb\"\n", "a\tb"),
            ("input.question,\"expected\"\n\"Where, exactly; here?\",There;\n", "There;"),
        ] {
            assert_eq!((inputs(text).as_slice(), good(text).faults), (&wanted[..], Vec::new()), "{text:?}");
            assert_eq!(good(text).rows[0].1["expected"], json!(expected), "{text:?}");
        }
        // One column is one, whatever its cells say.
        assert_eq!(inputs("input\n\"Where; here?\"\n"), [json!("Where; here?")]);
        assert_eq!(good("\"a;b\"\nx;y\n").rows[0].1["a;b"], json!("x;y"));
    }

    #[test]
    fn every_fault_of_a_file_names_its_line_and_column() {
        let read = good("input,weight\na,1\nb\nd\0,1\n");
        assert!(read.rows.len() == 1 && told(&read)[0].starts_with("line 3: 1 cells, and the header has 2"));
        assert!(told(&read)[1].starts_with("line 4: input: it has a NUL byte"), "{:?}", told(&read));
        let read = good("{\"input\": 1}\n\n{\"input\": }\n[1]\n");
        assert!(told(&read)[0].starts_with("line 3: not JSON, at column 11"), "{:?}", told(&read));
        assert!(told(&read)[1].starts_with("line 4: not a JSON object"), "{:?}", told(&read));
        let read = good("[{\"input\": 1},\n\n7]");
        assert_eq!(told(&read), ["line 3: item 2: neither a JSON object nor a text"]);
    }

    #[test]
    fn the_format_is_told_by_what_is_in_the_file() {
        assert_eq!(inputs("[{\"input\": \"a\"}, \"b\"]"), [json!("a"), json!("b")]);
        for list in ["items", "tests", "data", "samples"] {
            assert_eq!(inputs(&format!("{{\"{list}\": [{{\"input\": \"a\"}}]}}")), [json!("a")]);
        }
        assert_eq!(good("{\"input\": \"a\"}").rows[0].0, Place::line(1));
        assert_eq!(inputs("{\n\"input\": \"a\"\n}"), [json!("a")]);
        let lines = good("{\"items\": [\n{\"input\": 1},\n\n{\"input\": 2}]}");
        assert_eq!(lines.rows[1].0, Place { line: Some(4), item: Some(2) });
        let zip = read(&Bytes::from_static(b"PK\x03\x04"), None, Limits::default()).unwrap_err();
        assert!(zip.to_string().contains("unpack it"), "{zip}");
        assert!(read(&Bytes::new(), None, Limits::default()).is_err());
    }

    #[test]
    fn lists_beside_each_other_are_rows() {
        let read = good(
            r#"{"inputs": [{"q": 1}, {"q": 2}], "outputs": [{"a": 1}, {"a": 2}], "metadata": [{"k": 1}]}"#,
        );
        assert_eq!(
            Value::Object(read.rows[0].1.clone()),
            json!({"input": {"q": 1}, "output": {"a": 1}, "metadata": {"k": 1}})
        );
        assert_eq!((read.rows.len(), read.rows[1].0), (2, Place::item(2)));
    }

    #[test]
    fn too_much_is_told_and_the_rest_is_read() {
        let bytes = Bytes::from_static(
            b"{\"input\": 1}\n{\"input\": \"0123456789\"}\n{\"input\": 2}\n{\"input\": 3}\n",
        );
        let read = read(&bytes, None, Limits { rows: 2, row_size: 15 }).unwrap();
        assert_eq!(read.rows.len(), 2);
        assert!(told(&read)[0].starts_with("line 2: the row has 23 bytes"), "{:?}", told(&read));
        assert!(told(&read)[1].starts_with("3 rows, at most 2"), "{:?}", told(&read));
    }
}
