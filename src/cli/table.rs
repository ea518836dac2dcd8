//! Tables of texts.

/// A table whose columns are as wide as what stands in them.
pub(super) fn aligned<const N: usize>(header: [&str; N], rows: Vec<[String; N]>) -> String {
    let all: Vec<[String; N]> = std::iter::once(header.map(str::to_owned)).chain(rows).collect();
    let widths: Vec<usize> =
        (0..N).map(|at| all.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}
