//! Curves, and how wrong they are on labels that they have not seen.

use super::args::MethodName;
use super::labels::Labels;
use crate::stats::calibration::{Bin, Calibrated, Method, Said, brier, crossed, ece, reliability};

/// Fewer labels of either kind calibrate nothing: it would be chance.
pub const LEAST: usize = 10;
const SEED: u64 = 7;

/// How far said probabilities are from labels.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Wrong {
    /// The method; `none` for the scores as they are.
    pub method: &'static str,
    /// Expected calibration error.
    pub ece: f64,
    /// Brier's score.
    pub brier: f64,
    /// What was said and what was found.
    #[serde(skip)]
    pub bins: Vec<Bin>,
}

/// What abstaining does, on labels that the curve has not seen.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Band {
    /// It abstains above this probability and below the next.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// The share of items on which it abstains.
    pub abstains: f64,
    /// The share of wrong verdicts of all that it gives.
    pub wrong_outside: f64,
    /// The same without abstaining.
    pub wrong: f64,
}

/// What was learned.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The curve.
    pub calibrated: Calibrated,
    /// The method that made it.
    pub method: Method,
    /// The scores as they are, if they are shares, and each method on labels that it has not seen.
    pub compared: Vec<Wrong>,
    /// What abstaining does; none where it never does.
    pub band: Option<Band>,
}

/// Fits what `asked` names; the best is the one with the lower Brier score by cross-validation.
///
/// # Errors
/// Too few labels of a kind, or a `max_error` that is none.
pub fn fit(labels: &Labels, metric: &str, asked: MethodName, max_error: f64) -> Result<Fitted, String> {
    if !(max_error > 0.0 && max_error <= 0.5) {
        return Err(format!("--max-error is {max_error}, must be above 0 and at most 0.5"));
    }
    let good = labels.items.iter().filter(|item| item.good).count();
    let bad = labels.items.len() - good;
    if good < LEAST || bad < LEAST {
        return Err(format!(
            "{good} labels pass and {bad} fail; a calibration needs at least {LEAST} of each, and a hundred in all to be worth much"
        ));
    }
    let alike = "all scores are alike, or a fifth of the labels has none of a kind: nothing can be learned";
    let mut tried = Vec::new();
    for method in Method::ALL {
        tried.push((method, crossed(&labels.items, method, SEED).ok_or(alike)?));
    }
    let wanted = match asked {
        MethodName::Platt => Method::Platt,
        MethodName::Isotonic => Method::Isotonic,
        MethodName::Best => {
            let better =
                |a: &&(Method, Vec<Said>), b: &&(Method, Vec<Said>)| brier(&a.1).total_cmp(&brier(&b.1));
            tried.iter().min_by(better).map_or(Method::Platt, |(method, _)| *method)
        }
    };
    let curve = wanted.fit(&labels.items).ok_or(alike)?;
    let mut compared: Vec<Wrong> =
        as_they_are(labels, curve.rises()).map(|said| wrong("none", &said)).into_iter().collect();
    compared.extend(tried.iter().map(|(method, said)| wrong(method.as_str(), said)));
    let said = tried.iter().find(|(method, _)| *method == wanted).map(|(_, said)| said.as_slice());
    let abstain = (max_error < 0.5).then_some((max_error, 1.0 - max_error));
    let calibrated = Calibrated {
        evaluator: labels.evaluator.clone(),
        evaluator_version: labels.version.clone(),
        metric: metric.to_owned(),
        curve,
        abstain,
    };
    let band = abstain.zip(said).map(|((low, high), said)| band(low, high, said));
    Ok(Fitted { calibrated, method: wanted, compared, band })
}

/// Scores taken for probabilities; none if they are no shares.
fn as_they_are(labels: &Labels, rises: bool) -> Option<Vec<Said>> {
    let is_share = labels.items.iter().all(|item| (0.0..=1.0).contains(&item.value));
    let said = |item: &crate::stats::calibration::Labelled| Said {
        probability: if rises { item.value } else { 1.0 - item.value },
        good: item.good,
        weight: item.weight,
    };
    is_share.then(|| labels.items.iter().map(said).collect())
}

fn wrong(method: &'static str, said: &[Said]) -> Wrong {
    let bins = reliability(said);
    Wrong { method, ece: ece(&bins), brier: brier(said), bins }
}

/// The verdict at one half, with and without the band.
fn band(low: f64, high: f64, said: &[Said]) -> Band {
    let sum = |of: &dyn Fn(&Said) -> bool| -> f64 {
        said.iter().filter(|s| of(s)).fold(0.0, |all, s| all + s.weight)
    };
    let inside = |s: &Said| low < s.probability && s.probability < high;
    let is_wrong = |s: &Said| (s.probability >= 0.5) != s.good;
    let (all, within) = (sum(&|_| true), sum(&inside));
    let outside = all - within;
    Band {
        low,
        high,
        abstains: within / all,
        wrong_outside: if outside > 0.0 { sum(&|s| is_wrong(s) && !inside(s)) / outside } else { 0.0 },
        wrong: sum(&is_wrong) / all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::calibration::Labelled;
    use crate::stats::seeded::Seeded;

    fn labels(n: usize) -> Labels {
        let mut random = Seeded::new(4);
        let one = |_| {
            let truth = random.unit();
            let odds = (truth / (1.0 - truth)).powi(3);
            Labelled { value: odds / (1.0 + odds), good: random.unit() < truth, weight: 1.0 }
        };
        let items: Vec<Labelled> = (0..n).map(one).collect();
        let (evaluator, version) = ("e".to_owned(), "1".to_owned());
        Labels { evaluator, version, items, drawn: n, others: Vec::new() }
    }

    #[test]
    fn the_better_curve_is_taken_and_the_band_keeps_its_promise() {
        let found = fit(&labels(800), "m", MethodName::Best, 0.2).unwrap();
        let of = |name: &str| found.compared.iter().find(|wrong| wrong.method == name).unwrap();
        let chosen = of(found.method.as_str());
        assert!(chosen.ece < of("none").ece / 2.0, "{:?}", found.compared);
        assert!(chosen.brier <= of("platt").brier && chosen.brier <= of("isotonic").brier);
        let band = found.band.unwrap();
        assert!(band.wrong_outside < band.wrong && band.wrong_outside < 0.2, "{band:?}");
        assert!((0.2..0.8).contains(&band.abstains), "{band:?}");
        assert!(fit(&labels(800), "m", MethodName::Platt, 0.5).unwrap().band.is_none());
    }

    #[test]
    fn too_few_labels_are_told() {
        let error = fit(&labels(12), "m", MethodName::Best, 0.2).unwrap_err();
        assert!(error.contains("at least 10 of each"), "{error}");
        assert!(fit(&labels(100), "m", MethodName::Best, 0.9).unwrap_err().contains("--max-error"));
    }
}
