//! CSV for spreadsheets, which take some cells for formulas.

/// What a formula begins with.
const RISKY: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// The same with an apostrophe before each cell that a spreadsheet would take for a formula; numbers stay as they are. It
/// changes data: what is read again has the apostrophes.
pub fn safe_cells(csv: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(csv.len()), csv);
    while !rest.is_empty() {
        let (cell, after) = rest.split_at(end_of_cell(rest));
        let (quote, inner) = cell.strip_prefix('"').map_or(("", cell), |inner| ("\"", inner));
        let text = inner.trim_end_matches(['"', '\r']);
        out.push_str(quote);
        if text.starts_with(RISKY) && text.parse::<f64>().is_err() {
            out.push('\'');
        }
        out.push_str(inner);
        let mut separator = after.chars();
        out.extend(separator.next());
        rest = separator.as_str();
    }
    out
}

/// Where the first cell of `text` ends.
fn end_of_cell(text: &str) -> usize {
    let mut is_quoted = false;
    let ends = |(_, byte): &(usize, u8)| match byte {
        b'"' => {
            is_quoted = !is_quoted;
            false
        }
        b',' | b'\n' => !is_quoted,
        _ => false,
    };
    text.bytes().enumerate().find(ends).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_marked_and_nothing_else_is_changed() {
        for (csv, wanted) in [
            ("a,=1+1,@x\n", "a,'=1+1,'@x\n"),
            ("\"=HYPERLINK(\"\"x\"\",1)\",\"a\n=b\"\n", "\"'=HYPERLINK(\"\"x\"\",1)\",\"a\n=b\"\n"),
            ("-1,+2.5,-1e-3,-x,+\n", "-1,+2.5,-1e-3,'-x,'+\n"),
            ("\n\nx,\r\n-5\r\n", "\n\nx,\r\n-5\r\n"),
            ("\"\tx\",\u{ff1d}1,,\"\"", "\"'\tx\",'\u{ff1d}1,,\"\""),
            ("", ""),
        ] {
            assert_eq!(safe_cells(csv), wanted, "{csv:?}");
        }
        let plain = "Test Input,Tags\n\"a, b\",\"[\"\"x\"\"]\"\n\nRun Id,x\n";
        assert_eq!(safe_cells(plain), plain);
    }
}
