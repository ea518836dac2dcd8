//! `summarization`: is the summary faithful to its source, and does it cover it?
//!
//! Laban et al. 2022 (SummaC): the entailment of every sentence of the summary by every sentence of the source, here with
//! the one before it. "Zero
//! shot" takes the mean of the best ones; "conv" weighs a histogram of all of them.

use super::english::not_english;
use crate::domain::score::{Better, Score};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};
use crate::eval::evidence::Combiner;
use crate::eval::model::{
    ENCODER_VERSION, ModelError, Models, SUMMARY_COMBINER_VERSION, Slot, excerpt, segments, unit_cosine,
    unit_mean,
};
use std::sync::Arc;

const ID: &str = "summarization";
const MAX_SOURCE_SENTENCES: usize = 1_000;
const MAX_SUMMARY_SENTENCES: usize = 30;
/// For each sentence of the summary, only the source sentences that are most similar are read; the others would land in
/// the histogram's lowest bins.
const NEAREST: usize = 12;
/// Bins of the histogram of entailment probabilities.
const BINS: usize = 10;
/// A sentence that some source sentence entails this surely is faithful.
const FAITHFUL: f64 = 0.5;

const fn metric(name: &'static str, threshold: f64) -> Metric {
    Metric::new(name, Better::Higher, Some(threshold))
}

/// Three values from 0 to 1. `faithfulness_zs` is the mean over the summary's sentences of the highest probability that a
/// sentence of the source entails it; `faithfulness_conv` is the probability that the whole is consistent, by a
/// learned weight for each bin of the histograms; `completeness` is the similarity of the source to the part of the
/// summary that is faithful, 0 if none is. The source is the question.
pub struct Summarization {
    models: Arc<Models>,
    combiner: Combiner,
    metrics: [Metric; 3],
    version: String,
}

impl Summarization {
    /// With the stored weights of the histogram.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn new(models: Arc<Models>) -> Result<Self, ModelError> {
        let damaged = |e: serde_json::Error| ModelError::Open { model: ID, reason: e.to_string() };
        let stored: Combiner = serde_json::from_str(models.summary_combiner()).map_err(damaged)?;
        let combiner = stored.checked(|name| bin_of(name).is_some())?;
        let metrics = [
            metric("faithfulness_conv", combiner.threshold),
            metric("faithfulness_zs", 0.75),
            metric("completeness", 0.75),
        ];
        let entailment = models.version(Slot::Entailment);
        let version = format!("3+{ENCODER_VERSION}+{entailment}+{SUMMARY_COMBINER_VERSION}");
        Ok(Self { models, combiner, metrics, version })
    }

    fn judge(&self, source: &str, summary: &str) -> Result<Vec<Score>, ModelError> {
        let reads_english = self.models.is_english(Slot::Entailment);
        if reads_english && let Some(why) = not_english([summary, source])? {
            return Ok(self.skip(&why));
        }
        let source = segments(source, MAX_SOURCE_SENTENCES);
        let summary = segments(summary, MAX_SUMMARY_SENTENCES);
        if source.pieces.is_empty() || summary.pieces.is_empty() {
            return Ok(self.fail("the source or the summary has no sentence"));
        }
        let vectors = self.models.encoder.embed(&source.pieces)?;
        let said = self.models.encoder.embed(&summary.pieces)?;
        let matrix = self.entailment(&source.pieces, &vectors, &summary.pieces, &said)?;
        let best: Vec<f64> = matrix.iter().map(|row| row.iter().copied().fold(0.0, f64::max)).collect();
        let zero_shot = best.iter().sum::<f64>() / best.len() as f64;
        let histogram = histogram(&matrix);
        let (conv, _) = self.combiner.probability(|name| bin_of(name).map(|bin| histogram[bin]));
        let kept: Vec<&Vec<f32>> =
            said.iter().zip(&best).filter(|(_, p)| **p >= FAITHFUL).map(|(v, _)| v).collect();
        let completeness = similarity(&vectors, &kept);
        let worst = best.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(at, _)| at);
        let mut why = format!(
            "{} of {} sentences are faithful; least: \"{}\" (entailed {:.2}).",
            kept.len(),
            best.len(),
            excerpt(summary.pieces[worst]),
            best[worst]
        );
        if source.left_out + summary.left_out > 0 {
            why += &format!(
                " Only the first {MAX_SOURCE_SENTENCES} sentences of the source and {MAX_SUMMARY_SENTENCES} of the \
                 summary were read."
            );
        }
        let score = |(metric, value): (&Metric, f64)| {
            Score::measured(&metric.name, value, metric.threshold.unwrap_or(0.75), metric.better)
                .because(&why)
        };
        Ok(self.metrics.iter().zip([conv, zero_shot, completeness]).map(score).collect())
    }

    /// For each sentence of the summary, the probability that each of the nearest source sentences entails it.
    fn entailment(
        &self,
        source: &[&str],
        vectors: &[Vec<f32>],
        summary: &[&str],
        said: &[Vec<f32>],
    ) -> Result<Vec<Vec<f64>>, ModelError> {
        let mut pairs = Vec::new();
        let mut counts = Vec::with_capacity(summary.len());
        for (sentence, vector) in summary.iter().zip(said) {
            let mut near: Vec<(f32, usize)> =
                vectors.iter().map(|other| unit_cosine(vector, other)).zip(0..).collect();
            near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            near.truncate(NEAREST);
            counts.push(near.len());
            // The sentence before tells whom "it" and "she" mean.
            let premise = |at: usize| source[at.saturating_sub(1)..=at].join(" ");
            pairs.extend(near.into_iter().map(|(_, at)| (premise(at), (*sentence).to_owned())));
        }
        let logits = self.models.entailment()?.of_pairs(&pairs)?;
        let mut rows = logits.iter().map(|row| entailed(row));
        Ok(counts.into_iter().map(|count| rows.by_ref().take(count).collect()).collect())
    }
}

fn entailed(logits: &[f32]) -> f64 {
    let first = f64::from(logits.first().copied().unwrap_or(f32::MIN));
    let total: f64 = logits.iter().map(|logit| (f64::from(*logit) - first).exp()).sum();
    1.0 / total
}

/// The mean over the summary's sentences of ln(1 + count) in each bin.
fn histogram(matrix: &[Vec<f64>]) -> [f64; BINS] {
    let mut mean = [0.0; BINS];
    for row in matrix {
        let mut counts = [0.0; BINS];
        row.iter().for_each(|p| counts[((p * BINS as f64) as usize).min(BINS - 1)] += 1.0);
        mean.iter_mut().zip(counts).for_each(|(sum, count): (&mut f64, f64)| *sum += count.ln_1p());
    }
    mean.map(|sum| sum / matrix.len().max(1) as f64)
}

fn bin_of(name: &str) -> Option<usize> {
    name.strip_prefix("bin_")?.parse().ok().filter(|bin| *bin < BINS)
}

/// The cosine of the mean vectors, 0 or more; 0 if one side has none.
fn similarity(a: &[Vec<f32>], b: &[&Vec<f32>]) -> f64 {
    if a.is_empty() || b.is_empty() {
        0.0
    } else {
        f64::from(unit_cosine(&unit_mean(a), &unit_mean(b))).max(0.0)
    }
}

impl Evaluator for Summarization {
    fn id(&self) -> &str {
        ID
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn is_by_name_only(&self) -> bool {
        true
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let Some(source) = input.asked() else { return self.skip("question (the source)") };
        let Some(summary) = input.answered() else { return self.skip("answer (the summary)") };
        self.or_failed(self.judge(source, summary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(source: &str, summary: &str) -> Vec<f64> {
        let input = EvalInput {
            question: Some(source.to_owned()),
            answer: Some(summary.to_owned()),
            ..EvalInput::default()
        };
        let evaluator = Summarization::new(Models::embedded(1).unwrap()).unwrap();
        evaluator.evaluate(&input).into_iter().map(|score| score.value.unwrap()).collect()
    }

    const SOURCE: &str = "The city council met on Tuesday. It decided to close the bridge for repairs until May. Buses \
        will take another way. The mayor said that the work costs two million euros.";

    #[test]
    fn a_faithful_summary_is_above_a_false_one() {
        let good = values(SOURCE, "The council decided to close the bridge for repairs until May.");
        let bad = values(SOURCE, "The council decided to open a second airport next to the stadium.");
        assert!(good[0] > bad[0] && good[1] > bad[1] + 0.3, "{good:?} {bad:?}");
        assert!(good[2] > 0.4 && good[2] > bad[2], "{good:?} {bad:?}");
    }

    #[test]
    fn histograms_are_means_of_logarithms() {
        let found = histogram(&[vec![0.05, 0.05, 0.95], vec![1.0]]);
        assert!((found[0] - 3f64.ln() / 2.0).abs() < 1e-12 && (found[9] - 2f64.ln()).abs() < 1e-12);
        assert_eq!((bin_of("bin_3"), bin_of("bin_10"), bin_of("x")), (Some(3), None, None));
    }
}
