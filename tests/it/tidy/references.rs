//! Every path in a file that leads to another module of the crate: in `use` trees, expressions, types, attributes and
//! the arguments of macros.

use super::sources::{Tree, is_test};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Path, UseTree, Visibility};

/// A use of one module by another.
pub(super) struct Reference {
    pub from: Vec<String>,
    /// The path from the crate's root, module names first.
    pub to: Vec<String>,
    pub line: usize,
}

/// All references of the product's code; what is in the same file is left out.
pub(super) fn references(tree: &Tree) -> Vec<Reference> {
    let mut found = Vec::new();
    for (module, source) in tree.product() {
        let mut names = Names { here: module.clone(), bound: BTreeMap::new() };
        names.visit_file(&source.code);
        let mut paths = Paths { here: module.clone(), names: names.bound, found: Vec::new() };
        paths.visit_file(&source.code);
        for (to, line) in paths.found {
            if tree.file_of(&to) != *module {
                found.push(Reference { from: module.clone(), to, line });
            }
        }
    }
    found
}

/// Names of a file, each by the module where it stands.
type Bindings = BTreeMap<(Vec<String>, String), Bound>;

enum Bound {
    /// A module of the file, from the crate's root.
    Module(Vec<String>),
    /// An import, as it is written.
    Import(Vec<String>),
}

/// What names a file binds: its modules and its imports.
struct Names {
    here: Vec<String>,
    bound: Bindings,
}

impl<'a> Visit<'a> for Names {
    fn visit_item(&mut self, item: &'a Item) {
        match item {
            Item::Mod(module) if !is_test(&module.attrs) => {
                let inner = joined(&self.here, &module.ident.to_string());
                let name = (self.here.clone(), module.ident.to_string());
                self.bound.insert(name, Bound::Module(inner.clone()));
                let outer = std::mem::replace(&mut self.here, inner);
                visit::visit_item_mod(self, module);
                self.here = outer;
            }
            Item::Use(used) => {
                for (path, name) in flattened(used) {
                    // `use a;` binds `a` to itself: nothing is learnt from it.
                    if path.len() > 1 || path[0] != name {
                        self.bound.insert((self.here.clone(), name), Bound::Import(path));
                    }
                }
            }
            Item::Mod(_) => {}
            other => visit::visit_item(self, other),
        }
    }
}

/// The paths of a file, told from the crate's root; paths into other crates are left out.
struct Paths {
    here: Vec<String>,
    names: Bindings,
    found: Vec<(Vec<String>, usize)>,
}

impl Paths {
    fn note(&mut self, path: &[String], line: usize) {
        if let Some(to) = self.resolved(path, 8) {
            self.found.push((to, line));
        }
    }

    /// `depth` ends imports that name each other.
    fn resolved(&self, path: &[String], depth: usize) -> Option<Vec<String>> {
        let (first, mut rest) = path.split_first()?;
        let mut base = self.here.clone();
        match first.as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => {
                base.pop();
            }
            name => {
                base = match self.names.get(&(self.here.clone(), name.to_owned()))? {
                    Bound::Module(module) => module.clone(),
                    Bound::Import(_) if depth == 0 => return None,
                    Bound::Import(path) => self.resolved(path, depth - 1)?,
                };
            }
        }
        while let Some((_, after)) = rest.split_first().filter(|(next, _)| *next == "super") {
            base.pop();
            rest = after;
        }
        base.extend(rest.iter().filter(|name| *name != "self").cloned());
        Some(base)
    }

    /// Paths in tokens that are not parsed: `a::b`, also inside groups and in text such as `with = "crate::a"`. Those
    /// of a group after `a::` go on from `before`.
    fn scan(&mut self, tokens: &TokenStream, before: &[String]) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens.clone() {
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) if colons == 2 && !path.is_empty() => path.push(ident.to_string()),
                TokenTree::Group(group) if colons == 2 => self.scan(&group.stream(), &path),
                other => {
                    self.note(&std::mem::take(&mut path), line);
                    line = other.span().start().line;
                    match other {
                        TokenTree::Ident(ident) => path = joined(before, &ident.to_string()),
                        TokenTree::Group(group) => self.scan(&group.stream(), &[]),
                        TokenTree::Literal(text) => self.scan_text(&text.to_string(), line),
                        TokenTree::Punct(_) => {}
                    }
                }
            }
            colons = 0;
        }
        self.note(&path, line);
    }

    fn scan_text(&mut self, literal: &str, line: usize) {
        let path: Vec<String> = literal.trim_matches('"').split("::").map(str::to_owned).collect();
        let is_name = |part: &String| part.chars().all(|c| c.is_alphanumeric() || c == '_');
        if path.len() > 1 && ["crate", "super"].contains(&path[0].as_str()) && path.iter().all(is_name) {
            self.note(&path, line);
        }
    }
}

impl<'a> Visit<'a> for Paths {
    fn visit_item(&mut self, item: &'a Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        let inner = joined(&self.here, &module.ident.to_string());
        let outer = std::mem::replace(&mut self.here, inner);
        visit::visit_item_mod(self, module);
        self.here = outer;
    }

    fn visit_item_use(&mut self, used: &'a ItemUse) {
        let line = used.use_token.span.start().line;
        for (path, _) in flattened(used) {
            self.note(&path, line);
        }
    }

    fn visit_path(&mut self, path: &'a Path) {
        if path.leading_colon.is_none() {
            let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
            self.note(&names, path.segments[0].ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    /// `pub(in crate::room)` says who may see, not what is used.
    fn visit_visibility(&mut self, _: &'a Visibility) {}

    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        if !attribute.path().is_ident("doc") {
            visit::visit_attribute(self, attribute);
            if let syn::Meta::NameValue(pair) = &attribute.meta
                && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value
            {
                self.scan_text(&text.value(), text.span().start().line);
            }
        }
    }

    fn visit_token_stream(&mut self, tokens: &'a TokenStream) {
        self.scan(tokens, &[]);
    }
}

fn joined(module: &[String], name: &str) -> Vec<String> {
    [module, &[name.to_owned()]].concat()
}

/// Every path of a `use`, with the name that it binds; `*` binds `*`.
fn flattened(used: &ItemUse) -> Vec<(Vec<String>, String)> {
    fn walk(tree: &UseTree, before: &[String], found: &mut Vec<(Vec<String>, String)>) {
        match tree {
            UseTree::Path(path) => walk(&path.tree, &joined(before, &path.ident.to_string()), found),
            UseTree::Name(name) if name.ident == "self" => {
                found.push((before.to_vec(), before.last().cloned().unwrap_or_default()));
            }
            UseTree::Name(name) => {
                found.push((joined(before, &name.ident.to_string()), name.ident.to_string()))
            }
            UseTree::Rename(renamed) if renamed.ident == "self" => {
                found.push((before.to_vec(), renamed.rename.to_string()));
            }
            UseTree::Rename(renamed) => {
                found.push((joined(before, &renamed.ident.to_string()), renamed.rename.to_string()));
            }
            UseTree::Glob(_) => found.push((before.to_vec(), "*".to_owned())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| walk(tree, before, found)),
        }
    }
    let mut found = Vec::new();
    if used.leading_colon.is_none() {
        walk(&used.tree, &[], &mut found);
    }
    found.retain(|(path, _)| !path.is_empty());
    found
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}
