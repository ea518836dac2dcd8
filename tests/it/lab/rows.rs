//! The table of docs/compatibility.md: every row is there, and every test that it names.

use std::collections::BTreeSet;
use std::path::Path;

/// The names of all tests below `folder`: the functions behind `#[test]` and `#[tokio::test]`.
fn tests(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let (text, mut is_test) = (std::fs::read_to_string(&path).unwrap(), false);
            for line in text.lines().map(str::trim_start) {
                is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
                if let Some((_, rest)) = line.split_once("fn ")
                    && std::mem::take(&mut is_test)
                {
                    names.extend(rest.split(['(', '<']).next().map(str::to_owned));
                }
            }
        }
    }
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_row_names_its_test_or_says_that_it_is_missing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/compatibility.md")).unwrap();
    let mut names = BTreeSet::new();
    tests(&root.join("src"), &mut names);
    tests(&root.join("tests/it"), &mut names);
    let mut counts = [0; 3];
    for row in 1..=100 {
        let head = format!("| L{row} | ");
        let lines: Vec<&str> = page.lines().filter(|line| line.starts_with(&head)).collect();
        assert_eq!(lines.len(), 1, "L{row}");
        let cells: Vec<&str> = lines[0].trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, _, state, held] = cells[..] else { panic!("L{row}: four cells, not {}", cells.len()) };
        let named = held.split(';').next().unwrap();
        let at = ["whole", "part", "missing"].iter().position(|known| *known == state);
        counts[at.unwrap_or_else(|| panic!("L{row}: {state:?}"))] += 1;
        let unknown: Vec<&str> = quoted(named).filter(|name| !names.contains(*name)).collect();
        assert!(unknown.is_empty(), "L{row}: no test is called {unknown:?}");
        match state {
            "missing" => assert_eq!(held, "missing", "L{row}"),
            "part" => assert!(quoted(named).count() > 0 && held.contains(';'), "L{row}: {held}"),
            _ => assert!(quoted(named).count() > 0 && !held.contains(';'), "L{row}: {held}"),
        }
    }
    let told =
        format!("{} rows are\nthere as a whole, {} in part, {} are missing", counts[0], counts[1], counts[2]);
    assert!(page.contains(&told), "the page should say: {told}");
}
