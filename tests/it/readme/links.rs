//! Every relative link leads to a file, and every anchor to a heading of it.

use super::pages::{self, Page, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Folders with pages; the documents are a site of their own.
const FOLDERS: &[&str] = &["", "docs", "benches", "models", "training"];

/// The anchor of a heading, as mdBook and the usual hosts of source make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_lowercase().to_string()),
        c if c.is_whitespace() => Some("-".to_owned()),
        _ => None,
    });
    kept.collect()
}

/// The anchors of a page; of two equal headings the second one gets a number.
fn anchors(page: &Page) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let prose = page.prose();
    let headings = prose.lines().filter(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#'));
    headings
        .map(|heading| {
            let base = anchor(heading);
            let times = seen.entry(base.clone()).or_default();
            *times += 1;
            if *times == 1 { base } else { format!("{base}-{}", *times - 1) }
        })
        .collect()
}

/// The targets of `[text](target)`.
fn targets(page: &Page) -> Vec<String> {
    let prose = page.prose();
    // What stands between backticks is no link.
    let plain: String = prose.lines().flat_map(|l| l.split('`').step_by(2).chain(["\n"])).collect();
    plain.split("](").skip(1).filter_map(|rest| rest.split(')').next().map(str::to_owned)).collect()
}

/// `folder/../x` without the dots.
fn resolved(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(out.pop(), "{} leaves the repository", path.display()),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// What is wrong with one link.
fn fault(page: &Page, target: &str, pages: &BTreeMap<PathBuf, BTreeSet<String>>) -> Option<String> {
    let (file, heading) = target.split_once('#').map_or((target, None), |(f, h)| (f, Some(h)));
    let path = match file {
        "" => page.path.clone(),
        file => resolved(&page.path.parent().unwrap().join(file)),
    };
    if !root().join(&path).exists() {
        return Some("there is no such file".to_owned());
    }
    if page.path.starts_with("docs") && !path.starts_with("docs") {
        return Some("it leaves the site: name the file as text".to_owned());
    }
    let heading = heading?;
    match pages.get(&path) {
        None => Some("it has no headings".to_owned()),
        Some(known) if known.contains(heading) => None,
        Some(known) => Some(format!("no such heading; there are {known:?}")),
    }
}

#[test]
fn every_link_leads_somewhere() {
    let all: Vec<Page> = FOLDERS.iter().flat_map(|folder| pages::of(folder)).collect();
    let known = all.iter().map(|page| (page.path.clone(), anchors(page))).collect();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in &all {
        for target in targets(page).iter().filter(|t| !t.contains("://")) {
            seen += 1;
            if let Some(why) = fault(page, target, &known) {
                wrong.push(format!("{}: ({target}): {why}", page.path.display()));
            }
        }
    }
    assert!(seen > 40, "only {seen} links: the pages were not read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_link_that_leads_nowhere_is_seen() {
    let text = "# One two\n\n## A, `b` & c\n\n[x](sql.md#questions) `[no](link)`\n\n# One two\n".to_owned();
    let page = Page { path: PathBuf::from("docs/x.md"), text };
    assert_eq!(anchors(&page), BTreeSet::from(["one-two", "one-two-1", "a-b--c"].map(str::to_owned)));
    assert_eq!(targets(&page), ["sql.md#questions"]);
    let known = BTreeMap::from([(PathBuf::from("docs/sql.md"), BTreeSet::from(["limits".to_owned()]))]);
    for target in ["sql.md#questions", "nothing.md", "../README.md", "book.toml#x"] {
        assert!(fault(&page, target, &known).is_some(), "{target}");
    }
    assert_eq!(fault(&page, "sql.md#limits", &known), None);
}

/// The site's table of contents has every page once.
#[test]
fn the_summary_names_every_page() {
    let pages = pages::of("docs");
    let summary = pages.iter().find(|p| p.path.ends_with("SUMMARY.md")).unwrap();
    let mut named = targets(summary);
    named.sort();
    let there: Vec<String> =
        pages.iter().map(|p| p.path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    let there: Vec<String> = there.into_iter().filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(named, there);
}

/// Nobody finds a page that the first one does not name. The README leads to that one.
#[test]
fn the_first_page_says_what_each_page_is_for() {
    let pages = pages::of("docs");
    let of = |name: &str| {
        let page = pages.iter().find(|p| p.path.ends_with(name)).unwrap();
        targets(page).into_iter().filter(|target| target != "README.md").collect::<BTreeSet<_>>()
    };
    assert_eq!(of("README.md"), of("SUMMARY.md"));
    let readme = pages::of("").into_iter().find(|p| p.path == Path::new("README.md")).unwrap();
    let named = targets(&readme);
    for page in ["docs/README.md", "docs/console.md", "docs/compatibility.md"] {
        assert!(named.iter().any(|target| target == page), "README.md does not name {page}");
    }
}

#[test]
fn pictures_of_the_readme_are_there() {
    let readme = pages::read("README.md");
    let pictures: Vec<&str> =
        readme.split("<img src=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(pictures.len(), 2);
    for picture in pictures {
        assert!(root().join(picture).exists(), "{picture}");
    }
}

#[test]
fn the_readme_is_short() {
    let lines = pages::read("README.md").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines, at most 150: move something to docs/");
}
