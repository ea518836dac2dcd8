//! The bytes of each column, from the footers of the files.

use crate::Failed;
use crate::fill::Filled;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fs::File;

/// Bytes that a span of services may take on the disk.
const GOAL: f64 = 48.0;

/// Bytes of one column in all files.
#[derive(Default)]
struct Column {
    compressed: i64,
    encoded: i64,
    bloom: i64,
    encodings: String,
}

/// Prints bytes a span, and with `all` those of every column. Gives what makes the figures worthless.
pub fn print(filled: &Filled, all: bool) -> Result<Vec<String>, Failed> {
    let (mut total, mut rows, mut groups) = (0, 0, 0);
    let mut columns: BTreeMap<String, Column> = BTreeMap::new();
    for path in &filled.files {
        total += std::fs::metadata(path)?.len();
        let reader = SerializedFileReader::new(File::open(path)?)?;
        rows += u64::try_from(reader.metadata().file_metadata().num_rows())?;
        groups += reader.metadata().num_row_groups();
        for group in reader.metadata().row_groups() {
            for chunk in group.columns() {
                let column = columns.entry(chunk.column_path().string()).or_default();
                column.compressed += chunk.compressed_size();
                column.encoded += chunk.uncompressed_size();
                column.bloom += i64::from(chunk.bloom_filter_length().unwrap_or(0));
                column.encodings = chunk.encodings().map(|e| e.to_string()).collect::<Vec<_>>().join(" ");
            }
        }
    }
    let a_span = |bytes: f64| bytes / rows as f64;
    let chunks: i64 = columns.values().map(|c| c.compressed + c.bloom).sum();
    let verdict = if a_span(total as f64) <= GOAL { "met" } else { "NOT met" };
    println!(
        "{:.2} B a span on the disk, goal {GOAL} {verdict}; {:.2} of it footers and indexes; {} files, {groups} row groups",
        a_span(total as f64),
        a_span(total as f64 - chunks as f64),
        filled.files.len()
    );
    if all {
        let mut sorted: Vec<_> = columns.iter().collect();
        sorted.sort_by_key(|(_, c)| -(c.compressed + c.bloom));
        println!("{:<28}{:>12}{:>12}{:>12}  encodings", "column", "B/span", "encoded", "bloom");
        for (name, c) in sorted {
            println!(
                "{name:<28}{:>12.3}{:>12.3}{:>12.3}  {}",
                a_span(c.compressed as f64),
                a_span(c.encoded as f64),
                a_span(c.bloom as f64),
                c.encodings
            );
        }
    }
    let mut faults = Vec::new();
    if rows != filled.spans {
        faults.push(format!("files have {rows} rows, SQL counts {}", filled.spans));
    }
    Ok(faults)
}
