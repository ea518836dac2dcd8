//! Imports go down the floors; no permission without a use; `lib.rs` stands in the order of the floors.

use super::floors::{May, Room, room_of};
use super::references::Reference;
use super::sources::{Tree, room};
use std::collections::BTreeSet;
use syn::Item;

/// References to rooms that their room may not import.
pub(super) fn upward(rooms: &'static [Room], references: &[Reference]) -> Vec<String> {
    let mut wrong = Vec::new();
    for reference in references {
        let (from, to) = (room_of(rooms, room(&reference.from)), room(&reference.to));
        let Some(to) = rooms.iter().find(|room| room.name == to).filter(|to| to.name != from.name) else {
            continue;
        };
        let fine = match from.may {
            May::Only(names) => names.contains(&to.name),
            May::Below => to.floor < from.floor,
        };
        if !fine {
            let (place, path) = (reference.from.join("/"), reference.to.join("::"));
            wrong.push(format!("{place}:{}: {} may not import {path}", reference.line, from.name));
        }
    }
    wrong
}

/// Permissions that no import needs.
pub(super) fn unused(rooms: &'static [Room], references: &[Reference]) -> Vec<String> {
    let used: BTreeSet<_> = references.iter().map(|r| (room(&r.from), room(&r.to))).collect();
    let mut wrong = Vec::new();
    for from in rooms {
        let May::Only(names) = from.may else { continue };
        for to in names.iter().filter(|to| !used.contains(&(from.name, **to))) {
            wrong.push(format!("{} may import {to} and does not: take the permission away", from.name));
        }
    }
    wrong
}

/// Modules of `lib.rs` that do not stand in the order of the floors, and rooms that it does not have.
pub(super) fn order(rooms: &'static [Room], tree: &Tree) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut declared = Vec::new();
    let mut highest = 0;
    for item in &tree.modules[[].as_slice()].code.items {
        let Item::Mod(module) = item else {
            wrong.push("lib.rs has more than mod lines".to_owned());
            continue;
        };
        let name = module.ident.to_string();
        let floor = room_of(rooms, &name).floor;
        if floor < highest {
            wrong.push(format!("lib.rs: {name} is on floor {floor} and stands after floor {highest}"));
        }
        highest = highest.max(floor);
        declared.push(name);
    }
    for room in rooms.iter().filter(|room| !["main", "lib"].contains(&room.name)) {
        if !declared.iter().any(|name| name == room.name) {
            wrong.push(format!("room {} has a floor and no module in lib.rs", room.name));
        }
    }
    wrong
}
