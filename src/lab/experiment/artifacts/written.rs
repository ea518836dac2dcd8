//! Tables as CSV, Parquet, Markdown and HTML.

use arrow::array::{ArrayRef, Float64Array, ListBuilder, RecordBatch, StringArray, StringBuilder};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Rows with a value for each column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The columns in their order.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Map<String, Value>>,
}

impl Table {
    fn cells<'a>(&'a self, row: &'a Map<String, Value>) -> impl Iterator<Item = String> + 'a {
        self.columns.iter().map(|column| cell(row.get(column).unwrap_or(&Value::Null)))
    }

    /// As CSV with a header; lists and objects are JSON text.
    ///
    /// # Errors
    /// When memory does.
    pub fn csv(&self) -> Result<String, String> {
        let mut out = csv::Writer::from_writer(Vec::new());
        out.write_record(&self.columns).map_err(|e| e.to_string())?;
        for row in &self.rows {
            out.write_record(self.cells(row)).map_err(|e| e.to_string())?;
        }
        let bytes = out.into_inner().map_err(|e| e.to_string())?;
        String::from_utf8(bytes).map_err(|e| e.to_string())
    }

    /// As Parquet: columns of numbers are doubles, columns of lists of texts are those, and every other is text as in CSV.
    ///
    /// # Errors
    /// When memory does.
    pub fn parquet(&self) -> Result<Vec<u8>, String> {
        self.to_parquet().map_err(|e| e.to_string())
    }

    fn to_parquet(&self) -> Result<Vec<u8>, ParquetError> {
        let columns = self.columns.iter().map(|name| (name.as_str(), self.column(name), true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
        writer.write(&batch)?;
        writer.into_inner()
    }

    fn column(&self, name: &str) -> ArrayRef {
        let values = || self.rows.iter().map(|row| row.get(name).unwrap_or(&Value::Null));
        let told = || values().filter(|value| !value.is_null());
        let is_texts = |value: &Value| {
            value.as_array().is_some_and(|all| all.iter().all(|one| one.is_string() || one.is_null()))
        };
        if told().next().is_some() && told().all(Value::is_number) {
            return Arc::new(values().map(Value::as_f64).collect::<Float64Array>());
        }
        if told().next().is_some() && told().all(is_texts) {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for value in values() {
                let texts = value.as_array();
                texts.into_iter().flatten().for_each(|text| lists.values().append_option(text.as_str()));
                lists.append(texts.is_some());
            }
            return Arc::new(lists.finish());
        }
        Arc::new(values().map(|value| (!value.is_null()).then(|| cell(value))).collect::<StringArray>())
    }

    /// As a table of Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| {
            let cells: Vec<String> =
                cells.iter().map(|cell| cell.replace('|', "\\|").replace(['\n', '\r'], " ")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = format!("|{}\n", "---|".repeat(self.columns.len()));
        let rows = self.rows.iter().map(|row| line(self.cells(row).collect()));
        line(self.columns.clone()) + &rule + &rows.collect::<String>()
    }

    /// As a table of HTML, without a script. Numbers from 0 to 1 have a colour beside their digits.
    pub fn html(&self) -> String {
        let head: String = self.columns.iter().map(|name| format!("<th>{}</th>", escaped(name))).collect();
        let row = |row: &Map<String, Value>| {
            let cells = self.columns.iter().map(|column| {
                let value = row.get(column).unwrap_or(&Value::Null);
                let colour = value
                    .as_f64()
                    .filter(|share| (0.0..=1.0).contains(share))
                    .map(|share| format!(" style=\"background:hsl({:.0} 60% 85%)\"", share * 120.0));
                format!("<td{}>{}</td>", colour.unwrap_or_default(), escaped(&cell(value)))
            });
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        let rows: String = self.rows.iter().map(row).collect();
        format!("<table>\n<tr>{head}</tr>\n{rows}</table>\n")
    }
}

/// A value in a cell: a text as it is, nothing for null.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => format!("{:.6}", number.as_f64().unwrap_or_default())
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        other => other.to_string(),
    }
}

/// A text in HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_is_written_so_that_nothing_in_it_is_markup() {
        let row = |name: &str, value: Value| json!({"name": name, "m": value}).as_object().cloned().unwrap();
        let columns = vec!["name".to_owned(), "m".to_owned()];
        let rows = vec![row("<b>|x", json!(0.5)), row("a,\n\"b\"", json!([1]))];
        let table = Table { columns, rows };
        assert_eq!(table.csv().unwrap(), "name,m\n<b>|x,0.5\n\"a,\n\"\"b\"\"\",[1]\n");
        assert_eq!(table.markdown(), "| name | m |\n|---|---|\n| <b>\\|x | 0.5 |\n| a, \"b\" | [1] |\n");
        assert!(
            table.html().contains("<td>&lt;b&gt;|x</td><td style=\"background:hsl(60 60% 85%)\">0.5</td>")
        );
    }

    #[test]
    fn parquet_has_numbers_lists_and_texts() {
        let row = |value: Value| value.as_object().cloned().unwrap();
        let columns = ["n", "l", "o", "e"].map(str::to_owned).to_vec();
        let rows = vec![
            row(json!({"n": 1, "l": ["a", null], "o": {"k": 1}, "e": null})),
            row(json!({"n": null, "l": [], "o": "text"})),
        ];
        let bytes = Table { columns, rows }.parquet().unwrap();
        let reader =
            parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes));
        let batches: Vec<RecordBatch> = reader.unwrap().build().unwrap().map(Result::unwrap).collect();
        let shown = arrow::util::pretty::pretty_format_batches(&batches).unwrap().to_string();
        let wanted = [
            "| n   | l     | o       | e |",
            "| 1.0 | [a, ] | {\"k\":1} |   |",
            "|     | []    | text    |   |",
        ];
        assert!(wanted.iter().all(|line| shown.contains(line)), "{shown}");
        assert_eq!(batches[0].column(0).data_type(), &arrow::datatypes::DataType::Float64);
    }
}
