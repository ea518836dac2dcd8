//! Every route of the server is on a page.

use super::pages::{self, root};
use std::collections::BTreeSet;
use std::path::Path;

/// `path` without the names in braces, which pages may choose themselves.
fn plain(path: &str) -> String {
    let parts = path.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
    parts.collect::<Vec<_>>().join("*")
}

/// The routes that stand in the sources of a folder. That of the command line has an application of its own, for the demo.
fn routes(folder: &Path, found: &mut BTreeSet<String>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            if !path.ends_with("cli") {
                routes(&path, found);
            }
        } else if !path.to_str().unwrap().ends_with("_tests.rs") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let product = text.split("#[cfg(test)]").next().unwrap();
            let parts = product.split(".route(").skip(1);
            let literal = parts.filter_map(|part| part.trim_start().strip_prefix('"')?.split('"').next());
            found.extend(literal.map(plain));
        }
    }
}

/// The addresses that pages name. Those of the lab stand there without `/v1/lab`.
fn named() -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for page in pages::for_users() {
        let quoted = page.quoted().join(" ");
        for word in quoted.split([' ', ',']).filter(|word| word.starts_with('/')) {
            let path = plain(&word.split('?').next().unwrap().replace("[@v]", ""));
            named.insert(format!("/v1/lab{path}"));
            named.insert(path);
        }
    }
    named
}

#[test]
fn every_route_is_on_a_page() {
    let (mut found, named) = (BTreeSet::new(), named());
    routes(&root().join("src"), &mut found);
    assert!(found.len() > 50, "only {} routes: the sources were not read", found.len());
    let missing: Vec<&String> = found.difference(&named).collect();
    assert!(missing.is_empty(), "no page names {missing:?}");
}
