//! The rooms, their floors and what each may import: the table of ARCHITECTURE.md as data.

/// A folder or file of `src/`, on a floor.
pub(super) struct Room {
    pub name: &'static str,
    pub floor: u8,
    pub may: May,
}

/// Which rooms a room may import.
pub(super) enum May {
    /// These, and each of them is used.
    Only(&'static [&'static str]),
    /// All of lower floors.
    Below,
}

const fn room(floor: u8, name: &'static str, may: May) -> Room {
    Room { name, floor, may }
}

/// In the order of the floors.
pub(super) const ROOMS: &[Room] = &[
    room(0, "units", May::Only(&[])),
    room(1, "detect", May::Only(&[])),
    room(1, "domain", May::Only(&[])),
    room(1, "journal", May::Only(&["units"])),
    room(1, "net", May::Only(&["units"])),
    room(1, "stats", May::Only(&[])),
    room(2, "eval", May::Only(&["domain", "detect", "stats"])),
    room(2, "schema", May::Only(&["domain"])),
    room(3, "ingest", May::Only(&["units", "domain", "schema", "journal", "net", "detect"])),
    room(3, "lake", May::Only(&["units", "domain", "schema", "journal"])),
    room(3, "queue", May::Only(&["units", "domain", "schema", "journal", "net"])),
    room(4, "sample", May::Only(&["units", "domain", "schema", "journal", "queue"])),
    room(4, "sql", May::Only(&["units", "schema", "stats", "net", "lake"])),
    room(5, "drift", May::Only(&["units", "domain", "schema", "journal", "stats", "net"])),
    room(5, "emit", May::Only(&["units", "domain", "schema", "journal", "ingest"])),
    room(5, "label", May::Only(&["units", "domain", "schema", "stats", "net", "ingest", "sql"])),
    room(
        5,
        "score",
        May::Only(&["units", "detect", "domain", "schema", "journal", "eval", "queue", "sample"]),
    ),
    room(6, "console", May::Only(&["net"])),
    room(
        6,
        "lab",
        May::Only(&["units", "domain", "schema", "journal", "net", "eval", "stats", "lake", "sql", "label"]),
    ),
    room(6, "watch", May::Below),
    room(7, "config", May::Below),
    room(8, "app", May::Below),
    room(9, "cli", May::Below),
    room(10, "main", May::Below),
    room(10, "lib", May::Below),
];

/// The room of that name.
pub(super) fn room_of(rooms: &'static [Room], name: &str) -> &'static Room {
    rooms
        .iter()
        .find(|room| room.name == name)
        .unwrap_or_else(|| panic!("room {name} has no floor: add it to the table and to ARCHITECTURE.md"))
}
