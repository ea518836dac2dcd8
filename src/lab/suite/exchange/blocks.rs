//! CSV files of several tables, one below the other, each with a head of its own.

use super::super::fault::Faults;

/// So many names of columns in a row are a head wherever they stand.
const MANY: usize = 3;

/// One table.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    heads: Vec<String>,
    /// Line and cells of each row that is not blank.
    pub rows: Vec<(usize, Vec<String>)>,
}

impl Block {
    /// Whether it has this column.
    pub fn has(&self, head: &str) -> bool {
        self.heads.iter().any(|other| other == head)
    }

    /// The cell of a row; empty where the column or the cell is missing.
    pub fn cell<'a>(&self, row: &'a [String], head: &str) -> &'a str {
        let at = self.heads.iter().position(|other| other == head);
        at.and_then(|at| row.get(at)).map_or("", String::as_str)
    }
}

/// The tables of a text. A row is a head if all its cells are names of `known` columns, and it stands first or below a blank
/// row; or has several of them.
pub(super) fn blocks(text: &str, known: &[&[&str]], name: &str, faults: &mut Faults) -> Vec<Block> {
    let is_known = |cell: &str| known.iter().any(|names| names.contains(&cell.trim()));
    let mut blocks: Vec<Block> = Vec::new();
    for (first, segment) in segments(text) {
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(segment.as_bytes());
        for (at, record) in reader.records().enumerate() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    faults.add(format!("{name}: {error}"));
                    continue;
                }
            };
            let line = record.position().map_or(0, |place| usize::try_from(place.line()).unwrap_or(0));
            let line = first + line.saturating_sub(1);
            let cells: Vec<&str> = record.iter().filter(|cell| !cell.trim().is_empty()).collect();
            let is_head = cells.iter().all(|cell| is_known(cell)) && (at == 0 || cells.len() >= MANY);
            match blocks.last_mut() {
                _ if is_head => {
                    let heads = record.iter().map(|cell| cell.trim().to_owned()).collect();
                    blocks.push(Block { heads, rows: Vec::new() });
                }
                Some(block) => block.rows.push((line, record.iter().map(str::to_owned).collect())),
                None => {
                    faults.add(format!(
                        "{name}:{line}: no head: the first row names the columns, such as Test Input"
                    ));
                    return Vec::new();
                }
            }
        }
    }
    blocks
}

/// The parts of a text between blank rows, each with its first line. Rows inside of quotes are not blank.
fn segments(text: &str) -> Vec<(usize, &str)> {
    let (mut segments, mut is_quoted, mut start, mut at) = (Vec::new(), false, None::<(usize, usize)>, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_blank = line.chars().all(|c| c == ',' || c.is_whitespace());
        if is_blank && !is_quoted {
            segments.extend(start.take().map(|(first, from)| (first, &text[from..at])));
        } else if start.is_none() {
            start = Some((number + 1, at));
        }
        // Quotes inside of quotes are doubled, so only their number matters.
        is_quoted ^= line.matches('"').count() % 2 == 1;
        at += line.len();
    }
    segments.extend(start.map(|(first, from)| (first, &text[from..])));
    segments
}

/// Rows as CSV text with plain ends of lines.
pub(super) fn csv_text(rows: &[Vec<String>]) -> Result<String, String> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).map_err(|e| e.to_string())?;
    }
    let bytes = writer.into_inner().map_err(|e| e.to_string())?;
    String::from_utf8(bytes).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_below_each_other() {
        let text = "Title,Id\nA,1\n\nTest Input,Tags,Extra\n\"two\n\nlines\",t,x\n,,\nTest Input\nlast\n";
        let mut faults = Faults::default();
        let known: &[&[&str]] = &[&["Title", "Id"], &["Test Input", "Tags", "Extra"]];
        let blocks = blocks(text, known, "f", &mut faults);
        assert!(faults.is_empty() && blocks.len() == 3, "{blocks:?}");
        let (line, row) = &blocks[1].rows[0];
        assert_eq!(
            (*line, blocks[1].cell(row, "Test Input"), blocks[1].cell(row, "Tags")),
            (5, "two\n\nlines", "t")
        );
        assert_eq!((blocks[1].cell(row, "Title"), blocks[2].rows[0].0), ("", 10));
        let mut faults = Faults::default();
        assert!(super::blocks("a,b\n1,2\n", known, "f", &mut faults).is_empty());
        assert!(faults.to_string().contains("f:1: no head"), "{faults}");
    }
}
