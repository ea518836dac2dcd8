//! Identification of languages: right, wrong, or not told.

use super::measure::{Measured, cpu_seconds};
use super::rows::{Dataset, Row};
use crate::score::language_of;
use crate::stats::ranking::{FIGURES, Judged, Quality, Ranking};

/// ISO 639-1 and 639-3 codes of one language; Norwegian and Chinese by the name under which they are identified.
const CODES: &[(&str, &str)] = &[
    ("af", "afr"),
    ("ar", "ara"),
    ("az", "aze"),
    ("be", "bel"),
    ("bg", "bul"),
    ("bn", "ben"),
    ("ca", "cat"),
    ("cs", "ces"),
    ("cy", "cym"),
    ("da", "dan"),
    ("de", "deu"),
    ("el", "ell"),
    ("en", "eng"),
    ("eo", "epo"),
    ("es", "spa"),
    ("et", "est"),
    ("fa", "pes"),
    ("fi", "fin"),
    ("fr", "fra"),
    ("gu", "guj"),
    ("he", "heb"),
    ("hi", "hin"),
    ("hr", "hrv"),
    ("hu", "hun"),
    ("hy", "hye"),
    ("id", "ind"),
    ("it", "ita"),
    ("ja", "jpn"),
    ("jv", "jav"),
    ("ka", "kat"),
    ("kn", "kan"),
    ("ko", "kor"),
    ("la", "lat"),
    ("lt", "lit"),
    ("lv", "lav"),
    ("mk", "mkd"),
    ("ml", "mal"),
    ("mr", "mar"),
    ("nb", "nob"),
    ("nl", "nld"),
    ("or", "ori"),
    ("pa", "pan"),
    ("pl", "pol"),
    ("pt", "por"),
    ("ro", "ron"),
    ("ru", "rus"),
    ("si", "sin"),
    ("sk", "slk"),
    ("sl", "slv"),
    ("sn", "sna"),
    ("sr", "srp"),
    ("sv", "swe"),
    ("ta", "tam"),
    ("te", "tel"),
    ("th", "tha"),
    ("tl", "tgl"),
    ("tr", "tur"),
    ("uk", "ukr"),
    ("ur", "urd"),
    ("vi", "vie"),
    ("yi", "yid"),
    ("zh", "cmn"),
    ("zu", "zul"),
];

/// Accuracy counts an unknown language and a text without an answer as wrong; precision counts what was answered.
pub fn measure(dataset: &Dataset, rows: &[Row]) -> Measured {
    let before = cpu_seconds();
    let mut items = Vec::new();
    let mut answered = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let guess = language_of(row.text.as_deref().unwrap_or_default());
        let wanted = row.lang.as_deref().and_then(|lang| CODES.iter().find(|(two, _)| *two == lang));
        let right = guess.is_some_and(|guess| wanted.is_some_and(|(_, three)| guess.code == *three));
        let item = Judged { positive: true, score: 1.0, predicted: right, group: at as u32 };
        if guess.is_some_and(|guess| guess.is_sure) {
            answered.push(item);
        }
        items.push(item);
    }
    let spent = cpu_seconds().zip(before).map(|(after, before)| after - before).filter(|s| *s > 0.0);
    let (all, sure) = (Ranking::new(items), Ranking::new(answered));
    // The share of right answers stands where a yes or no has its recall.
    let quality = Quality {
        accuracy: all.quality().recall,
        precision: sure.quality().recall,
        recall: Some(sure.counts().0 as f64 / rows.len().max(1) as f64),
        ..Quality::default()
    };
    let (whole, part) = (all.intervals(1_000, 7), sure.intervals(1_000, 7));
    let mut intervals = [None; FIGURES.len()];
    (intervals[3], intervals[5]) = (whole[6], part[6]);
    Measured {
        task: dataset.task.clone(),
        dataset: dataset.name.clone(),
        evaluator: "language_mismatch".to_owned(),
        version: String::new(),
        metric: "identification (recall: answered)".to_owned(),
        threshold: None,
        scored: sure.counts().0,
        positives: rows.len(),
        unscored: rows.len() - sure.counts().0,
        quality,
        intervals,
        reliability: Vec::new(),
        rows_per_cpu_second: spent.map(|seconds| rows.len() as f64 / seconds),
    }
}
