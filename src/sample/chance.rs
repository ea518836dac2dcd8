//! With which probability a match is selected, and why: what does not depend on what was selected before.

use super::rule::Rule;
use super::rule_config::WeightKind;

/// A weight below or above counts as this: an item with a hundredth of the rate stands for a hundred times as many, and
/// more would let single items carry an estimate.
const LEAST_WEIGHT: f64 = 0.01;
const MOST_WEIGHT: f64 = 1e6;

/// A probability and its reason.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chance {
    /// Above 0 and up to 1.
    pub p: f64,
    /// Where it comes from.
    pub why: Why,
}

/// Where a probability comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// The rule's rate.
    Rate,
    /// A boost, by its number in the rule.
    Boost(usize),
    /// The rate times this weight.
    Weight(f64),
    /// The weight is no number above 0, so the rate holds.
    NoWeight,
    /// The rate times the square of this outlier score.
    Outlier(f64),
    /// The stratum has not had its least number of items yet.
    Minimum,
    /// The items of another rule.
    Shadow,
}

impl Chance {
    /// By the rule's rate, its boosts and weights; `boosts` are bits of all rules, `weight` is NaN for none.
    pub fn new(rule: &Rule, boosts: u64, weight: f64) -> Self {
        let by_weight = match rule.config.weight_kind {
            _ if rule.weight.is_none() => Self { p: rule.config.rate, why: Why::Rate },
            _ if !is_weight(weight) => {
                faulty(rule, "weight");
                Self { p: rule.config.rate, why: Why::NoWeight }
            }
            WeightKind::Factor => Self::times(rule, weight, Why::Weight(weight)),
            // The score is not known yet: it depends on earlier items.
            WeightKind::Outlier => Self { p: rule.config.rate, why: Why::Rate },
        };
        by_weight.boosted(rule, boosts)
    }

    /// By an outlier score, at least that of the rate.
    pub fn by_outlier(rule: &Rule, score: f64, boosts: u64) -> Self {
        let usual = Self { p: rule.config.rate, why: Why::Rate };
        let far = Self::times(rule, score * score, Why::Outlier(score));
        if far.p > usual.p { far } else { usual }.boosted(rule, boosts)
    }

    /// The rate times `factor`, kept above 0 and up to 1.
    fn times(rule: &Rule, factor: f64, why: Why) -> Self {
        let factor = factor.clamp(LEAST_WEIGHT, MOST_WEIGHT);
        Self { p: (rule.config.rate * factor).clamp(f64::MIN_POSITIVE, 1.0), why }
    }

    /// With the highest boost that holds, if it is higher.
    fn boosted(self, rule: &Rule, boosts: u64) -> Self {
        let mut best = self;
        for (at, boost) in rule.config.boosts.iter().enumerate() {
            let holds =
                boosts.checked_shr(u32::try_from(rule.boost_at + at).unwrap_or(u32::MAX)).unwrap_or(0) & 1;
            if holds == 1 && boost.rate > best.p {
                best = Self { p: boost.rate, why: Why::Boost(at) };
            }
        }
        best
    }

    /// For a person to read; it holds the probability in full.
    pub fn said(&self, rule: &Rule) -> String {
        let (p, config) = (self.p, &rule.config);
        match self.why {
            Why::Rate => format!("rate {p}"),
            Why::Boost(at) => {
                let when = config.boosts.get(at).map_or("", |boost| boost.when.as_str());
                format!("rate {p} where {when}")
            }
            Why::Weight(weight) => format!("rate {p} by weight {weight}"),
            Why::NoWeight => format!("rate {p}: its weight is no number above 0"),
            Why::Outlier(score) => format!("rate {p} by outlier score {score:.2}"),
            Why::Minimum => format!("rate 1 for the first {} of a stratum", config.min_per_stratum),
            Why::Shadow => format!("rate {p} of the items of {}", config.shadow_of),
        }
    }
}

/// Whether it can weigh anything.
pub fn is_weight(weight: f64) -> bool {
    weight > 0.0 && weight.is_finite()
}

/// Counts an input of a design that could not be used as it is.
pub fn faulty(rule: &Rule, what: &'static str) {
    metrics::counter!("groundline_sampling_inputs_unusable_total", "rule" => rule.config.name.clone(), "input" => what)
        .increment(1);
}

#[cfg(test)]
mod tests {
    use super::super::rule::compile;
    use super::super::rule_config::{Boost, RuleConfig};
    use super::*;

    fn boosted() -> Vec<Rule> {
        let boost = |when: &str, rate| Boost { when: when.to_owned(), rate };
        let first = RuleConfig {
            boosts: vec![boost("status_code = 'error'", 1.0), boost("duration_ns > 1000", 0.3)],
            ..RuleConfig::new("a", "true", 0.1, &["*"])
        };
        let second = RuleConfig {
            boosts: vec![boost("input_tokens > 9", 0.5)],
            weight: "duration_ns".to_owned(),
            ..RuleConfig::new("b", "true", 0.1, &["*"])
        };
        compile(&[first, second]).ok().unwrap()
    }

    #[test]
    fn the_highest_boost_that_holds_counts() {
        let rules = boosted();
        let chance = |boosts| Chance::new(&rules[0], boosts, f64::NAN);
        assert_eq!((chance(0).p, chance(0).why), (0.1, Why::Rate));
        assert_eq!((chance(0b10).p, chance(0b10).why), (0.3, Why::Boost(1)));
        assert_eq!((chance(0b111).p, chance(0b111).why), (1.0, Why::Boost(0)));
        // The third bit is another rule's.
        assert_eq!(chance(0b100).why, Why::Rate);
        assert_eq!(Chance::new(&rules[1], 0b100, 1.0).why, Why::Boost(0));
        assert_eq!(chance(0b01).said(&rules[0]), "rate 1 where status_code = 'error'");
    }

    #[test]
    fn weights_scale_the_rate_and_what_is_no_weight_leaves_it() {
        let rules = boosted();
        let chance = |weight| Chance::new(&rules[1], 0, weight);
        assert_eq!((chance(3.0).p, chance(3.0).why), (0.1 * 3.0, Why::Weight(3.0)));
        assert_eq!((chance(50.0).p, chance(1e-9).p), (1.0, 0.1 * LEAST_WEIGHT));
        for wrong in [f64::NAN, f64::INFINITY, 0.0, -2.0] {
            assert_eq!(chance(wrong), Chance { p: 0.1, why: Why::NoWeight }, "{wrong}");
        }
        let outlier = Chance::by_outlier(&rules[1], 3.0, 0);
        assert!((outlier.p - 0.9).abs() < 1e-12 && outlier.why == Why::Outlier(3.0));
        assert_eq!(Chance::by_outlier(&rules[1], 0.5, 0).why, Why::Rate);
    }
}
