//! Identification of languages: right, wrong, or not told.

use super::super::language::identify;
use super::measure::{Measured, cpu_seconds};
use super::rows::{Dataset, Row};
use crate::stats::ranking::{Classified, FIGURES, Quality, Ranking};

/// ISO 639-1 and 639-3 codes of one language; Chinese and Persian by the name under which they are identified.
const CODES: &[(&str, &str)] = &[
    ("af", "afr"),
    ("ar", "ara"),
    ("az", "aze"),
    ("be", "bel"),
    ("bg", "bul"),
    ("bn", "ben"),
    ("bs", "bos"),
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
    ("eu", "eus"),
    ("fa", "pes"),
    ("fi", "fin"),
    ("fr", "fra"),
    ("ga", "gle"),
    ("gu", "guj"),
    ("he", "heb"),
    ("hi", "hin"),
    ("hr", "hrv"),
    ("hu", "hun"),
    ("hy", "hye"),
    ("id", "ind"),
    ("is", "isl"),
    ("it", "ita"),
    ("ja", "jpn"),
    ("jv", "jav"),
    ("ka", "kat"),
    ("kk", "kaz"),
    ("kn", "kan"),
    ("ko", "kor"),
    ("la", "lat"),
    ("lg", "lug"),
    ("lt", "lit"),
    ("lv", "lav"),
    ("mi", "mri"),
    ("mk", "mkd"),
    ("ml", "mal"),
    ("mn", "mon"),
    ("mr", "mar"),
    ("ms", "msa"),
    ("nb", "nob"),
    ("nl", "nld"),
    ("nn", "nno"),
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
    ("so", "som"),
    ("sq", "sqi"),
    ("sr", "srp"),
    ("st", "sot"),
    ("sv", "swe"),
    ("sw", "swa"),
    ("ta", "tam"),
    ("te", "tel"),
    ("th", "tha"),
    ("tl", "tgl"),
    ("tn", "tsn"),
    ("tr", "tur"),
    ("ts", "tso"),
    ("uk", "ukr"),
    ("ur", "urd"),
    ("vi", "vie"),
    ("xh", "xho"),
    ("yi", "yid"),
    ("yo", "yor"),
    ("zh", "cmn"),
    ("zu", "zul"),
];

/// All rows, then each kind of row. Accuracy counts an unknown language and a text without an answer as wrong; precision counts what was answered.
pub fn identification(dataset: &Dataset, rows: &[Row]) -> Vec<Measured> {
    let mut kinds: Vec<&str> = rows.iter().filter_map(|row| row.kind.as_deref()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let of = |kind: &str| {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.kind.as_deref() == Some(kind)).collect();
        measured(dataset, &rows, format!("identification of {kind} (recall: answered)"))
    };
    let whole =
        measured(dataset, &rows.iter().collect::<Vec<_>>(), "identification (recall: answered)".to_owned());
    std::iter::once(whole).chain(kinds.into_iter().map(of)).collect()
}

fn measured(dataset: &Dataset, rows: &[&Row], metric: String) -> Measured {
    let before = cpu_seconds();
    let mut items = Vec::new();
    let mut answered = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let guess = identify(row.text.as_deref().unwrap_or_default()).ok();
        let wanted = row.lang.as_deref().and_then(|lang| CODES.iter().find(|(two, _)| *two == lang));
        let code = guess.as_ref().and_then(|guess| guess.code);
        let right = wanted.is_some_and(|(_, three)| code == Some(three));
        let item = Classified { positive: true, score: 1.0, predicted: right, group: at as u32 };
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
        metric,
        threshold: None,
        scored: sure.counts().0,
        positives: rows.len(),
        unscored: rows.len() - sure.counts().0,
        quality,
        intervals,
        reliability: Vec::new(),
        rows: Vec::new(),
        rows_per_cpu_second: spent.map(|seconds| rows.len() as f64 / seconds),
    }
}
