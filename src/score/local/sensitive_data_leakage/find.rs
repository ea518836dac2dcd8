//! Runs the shapes and the key words over a text.

use super::shape::Shape;
use super::{keyword, providers, providers_ai, structures};
use crate::score::local::leakage::{Finding, without_overlap};
use regex::Regex;
use std::sync::LazyLock;

static SHAPES: LazyLock<Vec<(&'static Shape, Regex)>> = LazyLock::new(|| {
    let all = providers::SHAPES.iter().chain(providers_ai::SHAPES).chain(structures::SHAPES);
    all.map(|shape| {
        (shape, Regex::new(shape.regex).expect("the shapes are constants that the tests compile"))
    })
    .collect()
});

/// The credentials in `text`, in order, without overlap.
pub fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (shape, regex) in SHAPES.iter() {
        shape.search(regex, text, &mut found);
    }
    keyword::find(text, &mut found);
    without_overlap(found)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
