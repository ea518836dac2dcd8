//! The house rules as a test, over parsed sources: floors, circles, lengths, mod.rs files, no panics.
//!
//! | file | what |
//! |---|---|
//! | `sources` | the files, parsed; which are test code |
//! | `floors` | the rooms and what each may import |
//! | `references` | every path from one file to another |
//! | `imports` | upward imports, permissions without use, the order of `lib.rs` |
//! | `circles` | circles of imports inside a room |
//! | `shape` | lengths, mod.rs files, panics |
//! | `promises` | what ARCHITECTURE.md must name |
//! | `planted` | each rule finds a fault that was put there |

mod circles;
mod floors;
mod imports;
mod planted;
mod promises;
mod references;
mod shape;
mod sources;

use floors::ROOMS;
use references::references;
use sources::Tree;

#[track_caller]
fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_go_down_the_floors() {
    none(&imports::upward(ROOMS, &references(&Tree::of_package())));
}

#[test]
fn every_permission_is_used() {
    none(&imports::unused(ROOMS, &references(&Tree::of_package())));
}

#[test]
fn the_modules_of_the_crate_stand_in_the_order_of_the_floors() {
    none(&imports::order(ROOMS, &Tree::of_package()));
}

#[test]
fn no_circle_inside_a_room() {
    let tree = Tree::of_package();
    none(&circles::circles(&tree, &references(&tree)));
}

#[test]
fn files_and_functions_are_short() {
    let tree = Tree::of_package();
    none(&shape::long_files(&tree));
    none(&shape::long_functions(&tree));
}

#[test]
fn nothing_panics_on_purpose_outside_of_tests() {
    none(&shape::panics(&Tree::of_package()));
}

#[test]
fn a_mod_defines_nothing() {
    none(&shape::defining_mods(&Tree::of_package()));
}
