//! Text that no statistics were made of: translated messages of installed programs.

use crate::languages::LANGUAGES;
use crate::sample::Random;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A text with the language that its catalogue says.
pub struct Line {
    pub language: usize,
    pub kind: &'static str,
    pub text: String,
}

fn catalogues(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            catalogues(&path, out);
        } else if path.extension().is_some_and(|e| e == "mo") {
            out.push(path);
        }
    }
}

/// Pairs of message and translation of one compiled catalogue.
fn messages(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    if word(0)? != 0x9504_12de {
        return None;
    }
    let (n, ids, texts) = (word(8)?, word(12)?, word(16)?);
    let text = |table: usize, i: usize| {
        let (len, at) = (word(table + 8 * i)?, word(table + 8 * i + 4)?);
        let whole = bytes.get(at..at + len)?;
        let first = whole.split(|b| *b == 0).next()?;
        Some(String::from_utf8_lossy(first).into_owned())
    };
    (0..n).map(|i| Some((text(ids, i)?, text(texts, i)?))).collect()
}

/// Without marks of menus, places for values, tags and options.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for word in text.replace(['_', '&'], "").split_whitespace() {
        let is_code = word.contains(['%', '<', '>', '{', '}', '=', '/', '\\', '$', '@', '|', '`', '\''])
            || word.starts_with('-')
            || word.chars().filter(|c| c.is_uppercase()).count() > 1
            || word.chars().any(|c| c.is_ascii_digit());
        if !is_code {
            out.push_str(word);
            out.push(' ');
        }
    }
    out.trim_end().to_owned()
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphabetic()).count()
}

/// Up to `most` lines of each kind and language.
pub fn lines(root: &Path, most: usize) -> Vec<Line> {
    let mut out = Vec::new();
    for (language, (_, _, folder, script)) in LANGUAGES.iter().enumerate() {
        let mut paths = Vec::new();
        let source = if *folder == "en" { "de" } else { folder };
        catalogues(&root.join(source), &mut paths);
        match *folder {
            "pt" => catalogues(&root.join("pt_BR"), &mut paths),
            "zh_CN" => catalogues(&root.join("zh_TW"), &mut paths),
            _ => {}
        }
        let mut english: HashSet<String> = HashSet::new();
        let mut texts: Vec<String> = Vec::new();
        for path in paths {
            let Some(pairs) = std::fs::read(path).ok().and_then(|b| messages(&b)) else { continue };
            for (id, text) in pairs {
                let lower = id.to_lowercase();
                english.extend(lower.split(|c: char| !c.is_alphabetic()).map(str::to_owned));
                if id.is_empty() || (*folder != "en" && id == text) {
                    continue;
                }
                texts.push(plain(if *folder == "en" { &id } else { &text }));
            }
        }
        texts.sort();
        texts.dedup();
        let mut random = Random(11 + language as u64);
        for i in (1..texts.len()).rev() {
            texts.swap(i, random.below(i + 1));
        }
        if *script == crate::languages::Script::Han {
            texts.retain(|t| t.chars().any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c)));
        }
        if *folder == "en" {
            english.clear();
        }
        add(language, &texts, &english, most, &mut out);
    }
    out
}

fn add(language: usize, texts: &[String], english: &HashSet<String>, most: usize, out: &mut Vec<Line>) {
    let own = |text: &String| {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphabetic()).filter(|w| w.len() > 2).collect();
        words.iter().filter(|w| english.contains(**w)).count() * 4 <= words.len()
    };
    let sentences = texts.iter().filter(|t| letters(t) >= 40 && letters(t) < 300 && own(t)).take(most);
    out.extend(sentences.map(|t| Line { language, kind: "sentences", text: t.clone() }));
    let mut words: Vec<String> = Vec::new();
    for text in texts {
        for word in text.to_lowercase().split(' ') {
            let bare = word.trim_matches(|c: char| c.is_ascii_punctuation() || "«»„“”’…".contains(c));
            let is_word = bare.chars().count() >= 5 && bare.chars().all(char::is_alphabetic);
            if is_word && !english.contains(bare) {
                words.push(bare.to_owned());
            }
        }
    }
    let step = (words.len() / (3 * most)).max(1);
    let chosen: Vec<&String> = words.iter().step_by(step).collect();
    for three in chosen.chunks_exact(3).take(most) {
        out.push(Line { language, kind: "single-words", text: three[0].clone() });
        out.push(Line { language, kind: "word-pairs", text: format!("{} {}", three[1], three[2]) });
    }
}
