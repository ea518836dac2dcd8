//! The Markdown files of the repository.

use std::path::{Path, PathBuf};

/// A page of text.
pub struct Page {
    /// Where it is, from the root of the repository.
    pub path: PathBuf,
    /// Its text, with what mdBook includes in the place of the directive.
    pub text: String,
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every `.md` file of `folder`, which is named from the root; "" is the root itself. Not of the folders in it.
pub fn of(folder: &str) -> Vec<Page> {
    let mut pages: Vec<Page> = std::fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .map(|path| {
            let text = included(&path, &std::fs::read_to_string(&path).unwrap());
            Page { path: path.strip_prefix(root()).unwrap().to_owned(), text }
        })
        .collect();
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!pages.is_empty(), "{folder}: the pages were not found");
    pages
}

/// The README and the documents.
pub fn for_users() -> Vec<Page> {
    let readme = of("").into_iter().filter(|page| page.path == Path::new("README.md"));
    readme.chain(of("docs")).collect()
}

fn included(page: &Path, text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}")) {
        Some(file) => {
            let file = page.parent().unwrap().join(file);
            std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
        }
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

impl Page {
    /// The code blocks of a language.
    pub fn blocks(&self, language: &str) -> Vec<String> {
        let (mut blocks, mut open): (Vec<(String, Vec<&str>)>, bool) = (Vec::new(), false);
        for line in self.text.lines() {
            match line.trim_start().strip_prefix("```") {
                Some(_) if open => open = false,
                Some(kind) => {
                    open = true;
                    blocks.push((kind.trim().to_owned(), Vec::new()));
                }
                None if open => blocks.last_mut().unwrap().1.push(line),
                None => {}
            }
        }
        assert!(!open, "{}: a code block does not end", self.path.display());
        let wanted = blocks.into_iter().filter(|(kind, _)| kind == language);
        wanted.map(|(_, lines)| dedented(&lines)).collect()
    }

    /// The text outside of code blocks.
    pub fn prose(&self) -> String {
        let mut open = false;
        let mut lines = Vec::new();
        for line in self.text.lines() {
            if line.trim_start().starts_with("```") {
                open = !open;
            } else if !open {
                lines.push(line);
            }
        }
        lines.join("\n")
    }

    /// What stands between backticks outside of code blocks.
    pub fn quoted(&self) -> Vec<String> {
        self.prose().lines().flat_map(|l| l.split('`').skip(1).step_by(2).map(str::to_owned)).collect()
    }
}

/// Blocks in a list are set in.
fn dedented(lines: &[&str]) -> String {
    let depth = |line: &&str| line.len() - line.trim_start().len();
    let least = lines.iter().filter(|l| !l.trim().is_empty()).map(depth).min().unwrap_or(0);
    lines.iter().map(|l| format!("{}\n", l.get(least..).unwrap_or_default())).collect()
}

/// The part of `text` under a heading, up to the next one of any level.
pub fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let start = text.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no heading {heading:?}"));
    let body = &text[start + heading.len() + 2..];
    body.find("\n#").map_or(body, |end| &body[..end])
}

/// Holds the only table of a part of a page against `wanted`; `UPDATE_GOLDEN=1` writes it anew.
pub fn hold_table(file: &str, heading: &str, wanted: &[String]) {
    let text = read(file);
    let part = section(&text, heading);
    let table: String = part.lines().filter(|l| l.starts_with('|')).map(|l| format!("{l}\n")).collect();
    let wanted = wanted.join("\n") + "\n";
    if table == wanted {
        return;
    }
    if std::env::var("UPDATE_GOLDEN").is_ok() {
        assert!(part.contains(&table), "{file}, {heading}: the table is not in one piece");
        std::fs::write(root().join(file), text.replace(part, &part.replace(&table, &wanted))).unwrap();
        return;
    }
    panic!("{file}, {heading}: run with UPDATE_GOLDEN=1 and read it; the table must be\n{wanted}");
}
