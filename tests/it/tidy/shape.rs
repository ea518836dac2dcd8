//! What a file looks like by itself: lengths, mod.rs files, and nothing that panics on purpose.

use super::sources::{Tree, is_test};
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Expr, ExprMethodCall, ImplItemFn, Item, ItemFn, ItemMod, Macro, Signature, TraitItemFn,
};

const MAX_FILE_LINES: usize = 500;
const MAX_FUNCTION_LINES: usize = 70;

/// Methods that end the process, or the task, where an error belongs. What `expect` is for, clippy is told with a reason.
const METHODS: [&str; 3] = ["unwrap", "unwrap_err", "expect_err"];
/// Macros that do; the last two where the reader of standard output hung up.
const MACROS: [&str; 5] = ["todo", "unimplemented", "panic", "print", "println"];

/// Files of more than 500 lines, tests included.
pub(super) fn long_files(tree: &Tree) -> Vec<String> {
    let lengths = tree.modules.values().map(|source| (&source.path, source.text.lines().count()));
    let long = lengths.filter(|(_, lines)| *lines > MAX_FILE_LINES);
    long.map(|(path, lines)| format!("{path}: {lines} lines, at most {MAX_FILE_LINES}")).collect()
}

/// Functions of more than 70 lines from `fn` to the closing brace.
pub(super) fn long_functions(tree: &Tree) -> Vec<String> {
    faults(tree, |shape| &shape.long)
}

/// `unwrap`, `panic!` and their like, and `#[allow]`.
pub(super) fn panics(tree: &Tree) -> Vec<String> {
    faults(tree, |shape| &shape.panics)
}

/// Items of a `mod.rs` other than modules in files of their own and re-exports.
pub(super) fn defining_mods(tree: &Tree) -> Vec<String> {
    let mut wrong = Vec::new();
    for source in tree.modules.values().filter(|source| source.path.ends_with("/mod.rs")) {
        if !source.text.starts_with("//!") {
            wrong.push(format!("{}: a mod.rs says what its room is for", source.path));
        }
        for item in &source.code.items {
            let fine = match item {
                Item::Mod(module) => module.content.is_none(),
                Item::Use(used) => !matches!(used.vis, syn::Visibility::Inherited),
                _ => false,
            };
            if !fine {
                wrong.push(format!(
                    "{}: a mod.rs has mod lines and re-exports only, not {}",
                    source.path,
                    kind(item)
                ));
            }
        }
    }
    wrong
}

fn kind(item: &Item) -> &'static str {
    match item {
        Item::Mod(_) => "an inline module",
        Item::Use(_) => "an import of its own",
        Item::Fn(_) => "a function",
        Item::Const(_) | Item::Static(_) => "a constant",
        Item::Macro(_) => "a macro",
        Item::Impl(_) => "an impl",
        _ => "a type",
    }
}

fn faults(tree: &Tree, of: fn(&Shape) -> &Vec<(usize, String)>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (_, source) in tree.product() {
        let mut shape = Shape::default();
        shape.visit_file(&source.code);
        wrong.extend(of(&shape).iter().map(|(line, what)| format!("{}:{line}: {what}", source.path)));
    }
    wrong
}

/// The faults of one file, by line.
#[derive(Default)]
struct Shape {
    long: Vec<(usize, String)>,
    panics: Vec<(usize, String)>,
}

impl Shape {
    fn measure(&mut self, signature: &Signature, block: &Block) {
        let first = signature.fn_token.span.start().line;
        let lines = block.brace_token.span.close().end().line - first + 1;
        if lines > MAX_FUNCTION_LINES {
            let name = &signature.ident;
            self.long.push((first, format!("{name} has {lines} lines, at most {MAX_FUNCTION_LINES}")));
        }
    }

    fn name(&mut self, ident: &Ident, wrong: &[&str]) {
        let name = ident.to_string();
        if wrong.contains(&name.as_str()) {
            self.panics.push((
                ident.span().start().line,
                format!("{name}: return an error instead; verbs print by cli/pipe"),
            ));
        }
    }

    /// `.unwrap(` and `panic!` in the tokens of a macro.
    fn scan(&mut self, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let is = |at: Option<usize>, sign| is_sign(at.and_then(|at| tokens.get(at)), sign);
            match token {
                TokenTree::Ident(ident) if is(at.checked_sub(1), '.') => self.name(ident, &METHODS),
                TokenTree::Ident(ident) if is(Some(at + 1), '!') => self.name(ident, &MACROS),
                TokenTree::Group(group) => self.scan(&group.stream()),
                _ => {}
            }
        }
    }
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

impl<'a> Visit<'a> for Shape {
    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        if !is_test(&function.attrs) {
            self.measure(&function.sig, &function.block);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        if !is_test(&function.attrs) {
            self.measure(&function.sig, &function.block);
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'a TraitItemFn) {
        if let Some(block) = &function.default {
            self.measure(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        self.name(&call.method, &METHODS);
        visit::visit_expr_method_call(self, call);
    }

    /// `Option::unwrap` given as a function.
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Path(path) = expression
            && path.path.segments.len() > 1
            && let Some(last) = path.path.segments.last()
        {
            self.name(&last.ident, &METHODS);
        }
        visit::visit_expr(self, expression);
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        if let Some(last) = called.path.segments.last() {
            self.name(&last.ident, &MACROS);
        }
        self.scan(&called.tokens);
    }

    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        if attribute.path().is_ident("allow") {
            let line = attribute.pound_token.span.start().line;
            self.panics.push((
                line,
                "#[allow]: #[expect(…, reason = …)] says when it is no longer needed".to_owned(),
            ));
        }
    }
}
