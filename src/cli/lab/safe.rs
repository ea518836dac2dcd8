//! Files for spreadsheets.

use crate::lab::safe_cells;

/// A CSV file in which no cell is taken for a formula.
///
/// # Errors
/// For a file that is no CSV.
pub fn spreadsheet(bytes: &[u8], is_csv: bool) -> Result<Vec<u8>, String> {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_csv => Ok(safe_cells(text).into_bytes()),
        _ => Err("--safe-cells is for --format csv".to_owned()),
    }
}
