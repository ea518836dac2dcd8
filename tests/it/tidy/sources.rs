//! The sources as parsed modules, and which of them are test code.

use std::collections::BTreeMap;
use std::path::Path;
use syn::{Attribute, Expr, ExprLit, File, Item, Lit, Meta};

/// One file of `src/`.
pub(super) struct Source {
    /// Path below `src/`, with `/`.
    pub path: String,
    pub text: String,
    pub code: File,
    /// Declared under `#[cfg(test)]`, itself or a module above it.
    pub is_test: bool,
}

/// All files of a crate by module path; the root is the empty path.
pub(super) struct Tree {
    pub modules: BTreeMap<Vec<String>, Source>,
}

impl Tree {
    /// The sources of this package.
    pub fn of_package() -> Self {
        let mut files = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        walk(&root, &root, &mut files);
        assert!(files.len() > 50, "the sources were not found");
        Self::parse(files)
    }

    /// Files as (path below `src/`, text).
    pub fn parse(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut modules = BTreeMap::new();
        for (path, text) in files {
            let code = syn::parse_file(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
            modules.insert(module_of(&path), Source { path, text, code, is_test: false });
        }
        let mut tree = Self { modules };
        tree.mark_tests();
        tree
    }

    fn mark_tests(&mut self) {
        let mut tests = Vec::new();
        for (module, source) in &self.modules {
            for item in &source.code.items {
                if let Item::Mod(declared) = item
                    && declared.content.is_none()
                    && is_test(&declared.attrs)
                {
                    tests.push(match path_attribute(&declared.attrs) {
                        // Such a path begins at the folder of the file that declares it.
                        Some(file) => module_of(&match source.path.rsplit_once('/') {
                            Some((folder, _)) => format!("{folder}/{file}"),
                            None => file,
                        }),
                        None => [module.as_slice(), &[declared.ident.to_string()]].concat(),
                    });
                }
            }
        }
        for (module, source) in &mut self.modules {
            source.is_test = tests.iter().any(|test| module.starts_with(test));
        }
    }

    /// The files that are not test code.
    pub fn product(&self) -> impl Iterator<Item = (&Vec<String>, &Source)> {
        self.modules.iter().filter(|(_, source)| !source.is_test)
    }

    /// The module in whose file `path` is defined: the longest part of it that is a file.
    pub fn file_of(&self, path: &[String]) -> Vec<String> {
        let mut length = path.len();
        while length > 0 && !self.modules.contains_key(&path[..length]) {
            length -= 1;
        }
        path[..length].to_vec()
    }
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(root, &path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let below = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            files.push((below, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

fn module_of(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}

/// The file that `#[path = "…"]` names.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// The room of a module path: its first name, or `lib` for the root.
pub(super) fn room(module: &[String]) -> &str {
    module.first().map_or("lib", String::as_str)
}

/// `#[test]`, `#[tokio::test]`, `#[cfg(test)]`.
pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        meta => meta.path().segments.last().is_some_and(|last| last.ident == "test"),
    })
}
