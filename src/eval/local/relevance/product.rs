//! Features as one probability: several things must hold at once.

use crate::eval::evidence::Combiner;
use crate::eval::model::ModelError;
use serde::Deserialize;

/// A probability is taken no nearer to 1 than this before its logit.
const CLIP: f64 = 1e-9;

/// The factor that is told where it fails, however little the others hold: a refusal addresses no question either.
const TOLD_FIRST: &str = "no_refusal";

/// Logistic regressions whose probabilities are multiplied; then the logit is stretched and moved so that the result is
/// the share of relevant texts (Platt scaling).
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Product {
    factors: Vec<Factor>,
    slope: f64,
    offset: f64,
    /// From this probability on the verdict is good.
    pub threshold: f64,
}

/// One thing that must hold.
#[derive(Debug, Clone, Deserialize)]
struct Factor {
    name: String,
    #[serde(flatten)]
    combiner: Combiner,
}

/// What a product says of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgement<'a> {
    /// The probability that all holds, from 0 to 1.
    pub probability: f64,
    /// The name of the factor that holds least; `no_refusal` where that fails.
    pub weakest: &'a str,
}

impl Product {
    /// Checks the stored form; `knows` tells whether a feature of a name can be measured.
    ///
    /// # Errors
    /// When it is damaged or names a feature that this program does not know.
    pub fn checked(self, knows: impl Fn(&str) -> bool) -> Result<Self, ModelError> {
        let damaged = |reason: &str| ModelError::Open { model: "relevance", reason: reason.to_owned() };
        if self.factors.is_empty() {
            return Err(damaged("a combiner has no factors"));
        }
        if self.slope <= 0.0 {
            return Err(damaged("a slope is not above 0"));
        }
        let check =
            |factor: Factor| Ok(Factor { name: factor.name, combiner: factor.combiner.checked(&knows)? });
        let factors = self.factors.into_iter().map(check).collect::<Result<Vec<_>, ModelError>>()?;
        Ok(Self { factors, ..self })
    }

    /// Judges by the values of the features. A feature without a value counts as its mean.
    pub fn judge(&self, value: impl Fn(&str) -> Option<f64>) -> Judgement<'_> {
        let (mut all, mut least, mut weakest) = (1.0, f64::INFINITY, "");
        for factor in &self.factors {
            let (probability, _) = factor.combiner.probability(&value);
            all *= probability;
            let is_told = factor.name == TOLD_FIRST && probability < 0.5;
            let rank = if is_told { f64::NEG_INFINITY } else { probability };
            if rank < least {
                (least, weakest) = (rank, factor.name.as_str());
            }
        }
        let all = all.clamp(f64::MIN_POSITIVE, 1.0 - CLIP);
        let logit = self.slope * (all / (1.0 - all)).ln() + self.offset;
        Judgement { probability: 1.0 / (1.0 + (-logit).exp()), weakest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTOR: &str = r#""means": [0], "scales": [1], "weights": [1], "bias": 0, "threshold": 0.5"#;

    fn read(json: &str) -> Result<Product, ModelError> {
        let parsed: Product = serde_json::from_str(json).unwrap();
        parsed.checked(|name| matches!(name, "a" | "b"))
    }

    /// Two factors of these names, the first of the feature `a`, the second of `b`.
    fn two(first: &str, second: &str) -> Product {
        let json = format!(
            r#"{{"factors": [{{"name": "{first}", "features": ["a"], {FACTOR}}}, {{"name": "{second}", "features": ["b"], {FACTOR}}}],
                "slope": 1.0, "offset": 0.0, "threshold": 0.4}}"#
        );
        read(&json).unwrap()
    }

    #[test]
    fn multiplies_what_must_hold() {
        let product = two("x", "y");
        let judged = product.judge(|name| Some(if name == "a" { 0.0 } else { 3f64.ln() }));
        assert!((judged.probability - 0.375).abs() < 1e-12, "{judged:?}");
        assert_eq!(judged.weakest, "x");
        let certain = product.judge(|_| Some(1e6));
        assert!(certain.probability > 0.999 && certain.probability <= 1.0);
        assert!(product.judge(|_| Some(-1e6)).probability >= 0.0);
    }

    #[test]
    fn a_refusal_is_told_first() {
        let product = two("addresses", "no_refusal");
        let weakest = |a: f64, b: f64| product.judge(|name| Some(if name == "a" { a } else { b })).weakest;
        assert_eq!(
            [weakest(-3.0, -1.0), weakest(-3.0, 1.0), weakest(3.0, 1.0)],
            ["no_refusal", "addresses", "no_refusal"]
        );
    }

    #[test]
    fn a_damaged_form_is_refused() {
        for (features, slope) in [("c", 1), ("a", 0)] {
            let json = format!(
                r#"{{"factors": [{{"name": "x", "features": ["{features}"], {FACTOR}}}], "slope": {slope}, "offset": 0,
                    "threshold": 0.4}}"#
            );
            assert!(read(&json).is_err(), "{json}");
        }
        assert!(read(r#"{"factors": [], "slope": 1, "offset": 0, "threshold": 0.4}"#).is_err());
    }
}
