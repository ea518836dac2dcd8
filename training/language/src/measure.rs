//! Held-out text: the temperature, and what is right from which probability on.

use crate::counts::Map;
use crate::held_out::Line;
use crate::languages::LANGUAGES;
use crate::table::Stored;
use std::collections::BTreeMap;

struct Scored<'a> {
    line: &'a Line,
    wanted: usize,
    scores: Vec<f32>,
    letters: usize,
    /// Of all lines of this language and kind.
    weight: f64,
}

fn scored<'a>(stored: &Stored, lines: &'a [Line]) -> Vec<Scored<'a>> {
    let index: Map<u32> = stored.index();
    let mut counts: BTreeMap<(usize, &str), f64> = BTreeMap::new();
    lines.iter().for_each(|l| *counts.entry((l.language, l.kind)).or_default() += 1.0);
    let place = |l: &Line| stored.group.languages.iter().position(|at| *at == l.language);
    lines
        .iter()
        .filter_map(|line| {
            let wanted = place(line)?;
            // The program takes a text with Japanese syllables for Japanese.
            if line.text.chars().any(|c| ('\u{3041}'..='\u{30ff}').contains(&c)) {
                return None;
            }
            let (scores, letters) = stored.scores(&index, &line.text);
            let weight = 1.0 / counts[&(line.language, line.kind)].max(20.0);
            (letters > 0).then_some(Scored { line, wanted, scores, letters, weight })
        })
        .collect()
}

fn probability(s: &Scored, temperature: f32, of: usize) -> f64 {
    let z = s.scores[of];
    1.0 / s.scores.iter().map(|x| f64::from((x - z) / temperature).exp()).sum::<f64>()
}

fn best(scores: &[f32]) -> usize {
    (0..scores.len()).rev().max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(0)
}

/// Chooses scale and exponent by the likelihood of the held-out lines, every language and kind alike.
pub fn calibrate(stored: &mut Stored, lines: &[Line]) {
    let all = scored(stored, lines);
    let mut least = f64::INFINITY;
    for exponent in [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7] {
        for scale in (0..30).map(|i| 0.2 * 1.15f32.powi(i)) {
            let loss = |s: &Scored| {
                let t = scale * (s.letters as f32).powf(exponent);
                -s.weight * probability(s, t, s.wanted).max(1e-4).ln()
            };
            let sum: f64 = all.iter().map(loss).sum();
            if sum < least {
                least = sum;
                (stored.scale, stored.exponent) = (scale, exponent);
            }
        }
    }
    println!("  temperature {} * letters^{}", stored.scale, stored.exponent);
}

/// Prints accuracy by kind and language, and precision by probability.
pub fn report(stored: &Stored, lines: &[Line]) {
    let all = scored(stored, lines);
    let mut by: BTreeMap<(&str, usize), (f64, f64)> = BTreeMap::new();
    let mut wrong: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for s in &all {
        let e = by.entry((s.line.kind, s.wanted)).or_default();
        let guess = best(&s.scores);
        e.0 += f64::from(u8::from(guess == s.wanted));
        e.1 += 1.0;
        if guess != s.wanted {
            *wrong.entry((s.wanted, guess)).or_default() += 1;
        }
    }
    let code = |at: usize| LANGUAGES[stored.group.languages[at]].1;
    for kind in ["single-words", "word-pairs", "sentences"] {
        let of: Vec<f64> =
            by.iter().filter(|(k, v)| k.0 == kind && v.1 >= 20.0).map(|(_, v)| v.0 / v.1).collect();
        println!("  {kind}: {:.4} mean of {} languages", of.iter().sum::<f64>() / of.len() as f64, of.len());
        for least in [0.8, 0.9, 0.95, 0.97, 0.98, 0.99] {
            let (mut right, mut answered, mut whole) = (0.0, 0.0, 0.0);
            for s in all.iter().filter(|s| s.line.kind == kind) {
                whole += s.weight;
                let t = stored.scale * (s.letters as f32).powf(stored.exponent);
                let guess = best(&s.scores);
                if probability(s, t, guess) >= least {
                    answered += s.weight;
                    right += if guess == s.wanted { s.weight } else { 0.0 };
                }
            }
            println!("    from {least}: precision {:.4}, answered {:.4}", right / answered, answered / whole);
        }
    }
    for at in 0..stored.group.languages.len() {
        let of = |kind| by.get(&(kind, at)).map_or("-".into(), |v| format!("{:.3}", v.0 / v.1));
        let mut w: Vec<_> = wrong.iter().filter(|(k, _)| k.0 == at).collect();
        w.sort_by_key(|x| std::cmp::Reverse(*x.1));
        let w: Vec<String> = w.iter().take(4).map(|(k, n)| format!("{} {n}", code(k.1))).collect();
        println!(
            "    {} {} {} {} as {}",
            code(at),
            of("single-words"),
            of("word-pairs"),
            of("sentences"),
            w.join(", ")
        );
    }
}

/// The lines in the form that `groundline evalbench` reads.
pub fn json_lines(lines: &[Line]) -> String {
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let code = match LANGUAGES[line.language].2 {
            "zh_CN" => "zh",
            two => two,
        };
        let text = line.text.replace('\\', " ").replace('"', " ");
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        out.push_str(&format!(
            "{{\"id\":\"{at}\",\"split\":\"test\",\"group\":\"{at}\",\"text\":\"{text}\",\"lang\":\"{code}\",\"kind\":\"{0}\",\"label\":\"{0}\"}}\n",
            line.kind
        ));
    }
    out
}
