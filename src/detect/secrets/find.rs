//! Runs the shapes and the key words over a text.

use super::shape::{Compiled, Shape};
use super::{keyword, providers, providers_ai, providers_more, structures, structures_more, vendor};
use crate::detect::finding::{Finding, without_overlap};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;

struct Engine {
    shapes: Vec<Compiled>,
    /// All hints and key words in one automaton: one walk over the text tells where which of them stand.
    search: AhoCorasick,
    /// What each pattern of it is of.
    meaning: Vec<Meaning>,
}

/// A pattern is the hint of some shapes, and it may be a key word too.
#[derive(Debug, Default, Clone)]
struct Meaning {
    shapes: Vec<usize>,
    is_keyword: bool,
    is_vendor: bool,
    is_short: bool,
}

/// A hint of fewer letters stands everywhere; it counts only at the begin of a long piece.
const SHORT: usize = 4;
/// A piece of this many bytes without a blank is long.
const LONG_PIECE: usize = 14;

#[expect(clippy::expect_used, reason = "constants that the tests compile")]
static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let tables = [
        providers::SHAPES,
        providers_ai::SHAPES,
        providers_more::SHAPES,
        structures::SHAPES,
        structures_more::SHAPES,
    ];
    let shapes: Vec<&'static Shape> = tables.into_iter().flatten().collect();
    let mut patterns: Vec<String> = Vec::new();
    let mut meaning: Vec<Meaning> = Vec::new();
    let mut of = |pattern: &str| -> usize {
        let pattern = pattern.to_ascii_lowercase();
        let known = patterns.iter().position(|p| *p == pattern);
        known.unwrap_or_else(|| {
            let is_short = pattern.len() < SHORT;
            patterns.push(pattern);
            meaning.push(Meaning { is_short, ..Meaning::default() });
            patterns.len() - 1
        })
    };
    let hints: Vec<Vec<usize>> =
        shapes.iter().map(|shape| shape.hints.iter().map(|hint| of(hint)).collect()).collect();
    let keywords: Vec<usize> = keyword::keywords().iter().map(|word| of(word)).collect();
    let vendors: Vec<usize> = [vendor::NAMES, vendor::WORDS]
        .into_iter()
        .flat_map(str::split_ascii_whitespace)
        .map(&mut of)
        .collect();
    for (shape, hints) in hints.into_iter().enumerate() {
        for hint in hints {
            meaning[hint].shapes.push(shape);
        }
    }
    for word in keywords {
        meaning[word].is_keyword = true;
    }
    for name in vendors {
        meaning[name].is_vendor = true;
    }
    let search = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(patterns)
        .expect("the hints are constants that the tests build");
    let shapes = shapes
        .into_iter()
        .map(|shape| Compiled::new(shape).expect("the shapes are constants that the tests compile"));
    Engine { shapes: shapes.collect(), search, meaning }
});

/// Every kind that there is.
pub fn kinds() -> Vec<&'static str> {
    let others = keyword::KINDS.into_iter().chain([vendor::KIND]);
    ENGINE.shapes.iter().map(|compiled| compiled.shape.kind).chain(others).collect()
}

/// The credentials in `text`, in order, without overlap.
pub fn find(text: &str) -> Vec<Finding> {
    let engine = &*ENGINE;
    let mut found = Vec::new();
    let mut done = vec![0; engine.shapes.len()];
    let mut keywords = keyword::Finder::new(text);
    let mut vendors_done = 0;
    for hit in engine.search.find_overlapping_iter(text) {
        let meaning = &engine.meaning[hit.pattern().as_usize()];
        let place = (hit.start(), hit.end());
        if meaning.is_keyword {
            keywords.note(place, &mut found);
        }
        if meaning.is_vendor && place.0 >= vendors_done {
            vendors_done = vendor::look(text, place, &mut found).unwrap_or(vendors_done);
        }
        for at in &meaning.shapes {
            let is_prefix = engine.shapes[*at].shape.before == 0;
            if meaning.is_short && is_prefix && !is_long_piece(text, place.0) {
                continue;
            }
            done[*at] = engine.shapes[*at].look(text, place, done[*at], &mut found);
        }
    }
    keywords.end(&mut found);
    without_overlap(found)
}

/// Whether many bytes without a blank follow.
fn is_long_piece(text: &str, start: usize) -> bool {
    let piece = text.as_bytes()[start..].iter().take(LONG_PIECE);
    piece.take_while(|b| b.is_ascii_graphic()).count() == LONG_PIECE
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
