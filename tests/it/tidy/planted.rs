//! Each rule finds a fault that was put there, and says nothing where there is none.

use super::circles::circles;
use super::floors::{May, Room};
use super::imports::{order, unused, upward};
use super::references::references;
use super::shape::{defining_mods, long_files, long_functions, panics};
use super::sources::Tree;

const LOW: Room = Room { name: "low", floor: 1, may: May::Only(&[]) };
const HIGH: Room = Room { name: "high", floor: 2, may: May::Only(&["low"]) };
const LIB: Room = Room { name: "lib", floor: 3, may: May::Below };
const HOUSE: &[Room] = &[LOW, HIGH, LIB];

fn tree(files: &[(&str, &str)]) -> Tree {
    Tree::parse(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())))
}

/// What the rule about floors says of `code` in `low/deep.rs`.
fn upward_in(code: &str) -> Vec<String> {
    let tree = tree(&[
        ("lib.rs", "pub mod low; pub mod high;"),
        ("low/mod.rs", "mod deep; mod near;"),
        ("low/deep.rs", code),
        ("low/near.rs", "pub struct Near;"),
        ("high.rs", "pub struct Top; pub mod inner { pub fn f() {} }"),
    ]);
    upward(HOUSE, &references(&tree))
}

#[test]
fn an_upward_import_is_found_in_every_form() {
    for code in [
        "use crate::high::Top;",
        "use crate::{\n    low::near::Near,\n    high::{\n        Top,\n    },\n};",
        "use super::super::high::Top;",
        "use super::super::{high, low::near};",
        "fn f() { crate::high::inner::f() }",
        "fn f(_: &crate::high::Top) {}",
        "type T = Vec<Option<super::super::high::Top>>;",
        "mod inner { use super::super::super::high::Top; }",
        "fn f() { use crate::high as h; h::inner::f() }",
        "fn f() { println!(\"{}\", crate::high::inner::f()) }",
        "fn f() { run! { use crate::{low, high::Top}; } }",
        "#[serde(default = \"crate::high::inner::f\")] struct S;",
        "impl crate::high::Top {}",
        "use crate as root; fn f() { root::high::inner::f() }",
        "use super::super as root; use root::high as top; fn f() { top::inner::f() }",
    ] {
        assert!(!upward_in(code).is_empty(), "not found: {code}");
    }
    let told = upward_in("\n\nuse crate::high::Top;");
    assert_eq!(told, ["low/deep:3: low may not import high::Top"]);
}

#[test]
fn what_is_no_upward_import_is_let_pass() {
    for code in [
        "use super::near::Near;",
        "use crate::low::near::Near;",
        "use high::Top;",
        "pub(in crate::high) struct S;",
        "/// Like `crate::high::Top`.\nstruct S;",
        "fn f() { let high = 1; high; g(\"crate::high is above\") }",
        "#[cfg(test)]\nmod tests { use crate::high::Top; }",
        "#[test]\nfn t() { crate::high::inner::f() }",
    ] {
        assert_eq!(upward_in(code), [] as [&str; 0], "{code}");
    }
}

#[test]
fn a_permission_that_nobody_uses_is_found() {
    let idle =
        tree(&[("lib.rs", ""), ("low.rs", ""), ("high.rs", "#[cfg(test)] mod tests { use crate::low; }")]);
    assert_eq!(
        unused(HOUSE, &references(&idle)),
        ["high may import low and does not: take the permission away"]
    );
    let busy = tree(&[("lib.rs", ""), ("low.rs", ""), ("high.rs", "fn f() { crate::low::f() }")]);
    assert_eq!(unused(HOUSE, &references(&busy)), [] as [&str; 0]);
}

/// How many circles the files of one room have.
fn circles_in(files: &[(&str, &str)]) -> usize {
    let tree = tree(files);
    circles(&tree, &references(&tree)).len()
}

#[test]
fn a_circle_inside_a_room_is_found() {
    let a = ("low/a.rs", "use super::b::B; pub struct A;");
    let mod_rs = ("low/mod.rs", "mod a; mod b; mod c; pub use a::A;");
    let two = [mod_rs, a, ("low/b.rs", "pub struct B; fn f(_: super::a::A) {}")];
    assert_eq!(circles_in(&two), 1);
    let three = [mod_rs, a, ("low/b.rs", "use super::c::C;"), ("low/c.rs", "fn f() { super::a::f() }")];
    assert_eq!(circles_in(&three), 1);
    let through_the_mod = [mod_rs, ("low/a.rs", "pub struct A;"), ("low/c.rs", "use super::A;")];
    assert_eq!(circles_in(&through_the_mod), 0, "the mod.rs does not import c");
    let from_its_own_mod = [mod_rs, ("low/a.rs", "use super::b::B;"), ("low/b.rs", "use super::A;")];
    assert_eq!(circles_in(&from_its_own_mod), 1);
}

#[test]
fn what_is_no_circle_is_let_pass() {
    let mod_rs = ("low/mod.rs", "mod a; mod b; #[cfg(test)] mod tests; pub use a::A; pub use b::B;");
    let straight = [mod_rs, ("low/a.rs", "use super::b::B;"), ("low/b.rs", "pub struct B;")];
    assert_eq!(circles_in(&straight), 0);
    let only_in_tests = [
        mod_rs,
        ("low/a.rs", "use super::b::B;"),
        ("low/b.rs", "#[cfg(test)] #[path = \"b_tests.rs\"] mod tests;"),
        ("low/b_tests.rs", "use super::super::A;"),
        ("low/tests.rs", "use super::A;"),
    ];
    assert_eq!(circles_in(&only_in_tests), 0);
}

#[test]
fn a_module_out_of_the_order_of_the_floors_is_found() {
    let house = |lib: &str| order(HOUSE, &tree(&[("lib.rs", lib)]));
    assert_eq!(house("pub mod low; pub mod high;"), [] as [&str; 0]);
    assert_eq!(house("pub mod high; pub mod low;"), ["lib.rs: low is on floor 1 and stands after floor 2"]);
    assert_eq!(house("pub mod low;"), ["room high has a floor and no module in lib.rs"]);
    assert_eq!(house("pub mod low; pub mod high; fn f() {}"), ["lib.rs has more than mod lines"]);
}

#[test]
fn what_is_too_long_is_found() {
    let lines = |count: usize| format!("fn f() {{\n{}}}\n", "    g();\n".repeat(count - 2));
    let of = |text: String| tree(&[("low.rs", &text)]);
    assert_eq!(long_functions(&of(lines(70))), [] as [&str; 0]);
    assert_eq!(long_functions(&of(lines(71))), ["low.rs:1: f has 71 lines, at most 70"]);
    let method = format!("impl S {{\n/// A comment does not count.\n{}}}\n", lines(71));
    assert_eq!(long_functions(&of(method)), ["low.rs:3: f has 71 lines, at most 70"]);
    assert_eq!(long_files(&of("\n".repeat(500))), [] as [&str; 0]);
    assert_eq!(long_files(&of("\n".repeat(501))), ["low.rs: 501 lines, at most 500"]);
}

#[test]
fn what_panics_is_found() {
    for code in [
        "fn f() { g().unwrap() }",
        "fn f() { format!(\"{}\", g().unwrap()) }",
        "fn f() { g().map(Option::unwrap) }",
        "fn f() { panic!(\"no\") }",
        "fn f() { println!(\"no\") }",
        "fn f() { run! { todo!() } }",
        "impl S { fn f() { unimplemented!() } }",
        "#[allow(dead_code)] fn f() {}",
    ] {
        assert_eq!(panics(&tree(&[("low.rs", code)])).len(), 1, "{code}");
    }
    let fine = "fn f() { g().unwrap_or(1); Status::unimplemented() } // panic!\n#[cfg(test)] mod tests { fn f() { g().unwrap() } }";
    assert_eq!(panics(&tree(&[("low.rs", fine)])), [] as [&str; 0]);
}

#[test]
fn a_mod_that_defines_something_is_found() {
    let mod_rs = |text: &str| defining_mods(&tree(&[("low/mod.rs", text)])).len();
    assert_eq!(
        mod_rs("//! The room.\nmod a;\n#[cfg(test)]\nmod tests;\npub use a::A;\npub(crate) use a::B;\n"),
        0
    );
    assert_eq!(mod_rs("mod a;"), 1, "no purpose");
    for item in [
        "const A: u8 = 1;",
        "pub type T = u8;",
        "mod a { }",
        "use a::A;",
        "macro_rules! m { () => {} }",
        "trait T {}",
    ] {
        assert_eq!(mod_rs(&format!("//! The room.\n{item}")), 1, "{item}");
    }
}
