//! What ARCHITECTURE.md must name.

use super::floors::{May, ROOMS};
use std::path::Path;

fn architecture() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md")).unwrap()
}

#[test]
fn every_promise_stands_in_the_architecture() {
    let text = architecture();
    for promise in groundline::domain::promise::Promise::ALL {
        assert!(text.contains(&format!("**{}**", promise.code())), "{} is not explained", promise.code());
    }
}

#[test]
fn the_table_of_rooms_is_the_one_that_is_held() {
    let text = architecture();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains(" | `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    for room in ROOMS.iter().filter(|room| !["main", "lib"].contains(&room.name)) {
        let row = rows.iter().find(|row| row.len() == 4 && row[1] == format!("`{}`", room.name));
        let row = row.unwrap_or_else(|| panic!("room {} is not in the table of ARCHITECTURE.md", room.name));
        assert_eq!(row[0], room.floor.to_string(), "floor of {}", room.name);
        if let May::Only(names) = room.may {
            let mut told: Vec<&str> = match row[3].split(':').next().unwrap() {
                "nothing of ours" => Vec::new(),
                some => some.split(", ").collect(),
            };
            let mut held = names.to_vec();
            told.sort_unstable();
            held.sort_unstable();
            assert_eq!(told, held, "what {} may import", room.name);
        }
    }
}
