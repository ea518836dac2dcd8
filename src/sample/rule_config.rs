//! Settings of a rule: what it selects, with which probability, and their faults.

use crate::units::{Time, words};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A window of strata is at least as long as the steps in which its counts are restored after a restart.
const SHORTEST_WINDOW: Duration = Duration::from_mins(1);
/// Counts of a longer window would not be restored whole.
const LONGEST_WINDOW: Duration = Duration::from_hours(24);

/// What a rule selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Whole traces in which a span passes the filter.
    #[default]
    Trace,
    /// Each span that passes the filter.
    Span,
}

/// What a weight means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
pub enum WeightKind {
    /// The probability is the rate times the weight.
    #[default]
    Factor,
    /// The probability is the rate times the square of the outlier score: how many standard deviations the logarithm of
    /// the weight is away from its mean among earlier items of the stratum.
    Outlier,
}

/// A higher probability for what matters more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Boost {
    /// SQL as in the rule's filter. A trace is meant if it holds for any of its spans.
    pub when: String,
    /// The probability then, if it is above what holds otherwise.
    pub rate: f64,
}

/// How much a rule may select. It is kept by pacing: the probability falls as the budget is used, and is recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Items a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_per_minute: Option<f64>,
    /// Items a day (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_per_day: Option<f64>,
    /// Items a month (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_per_month: Option<f64>,
    /// US dollars a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_minute: Option<f64>,
    /// US dollars a day (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_day: Option<f64>,
    /// US dollars a month (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_month: Option<f64>,
    /// What one item costs, US dollars, until judges have told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_item: Option<f64>,
}

/// One sampling rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// Its name, unique.
    pub name: String,
    /// SQL over the columns of `spans`, such as `operation = 'llm' AND service_name = 'shop'`; of a rule with `after`
    /// over the columns of `scores`.
    #[serde(default)]
    pub filter: String,
    /// Whole traces, or single spans.
    #[serde(default)]
    pub target: Target,
    /// The probability with which a match is selected, above 0 and up to 1.
    pub rate: f64,
    /// Rules with the same salt draw the same numbers; the rule's name if empty.
    #[serde(default)]
    pub salt: String,
    /// The evaluators, by id; `*` stands for every one that is registered.
    pub evaluators: Vec<String>,
    /// Higher probabilities under conditions; the highest that holds counts.
    #[serde(default)]
    pub boosts: Vec<Boost>,
    /// SQL that gives a number above 0: the rate is multiplied by it. Of a trace the highest of its matches counts.
    #[serde(default)]
    pub weight: String,
    /// What the weight means.
    #[serde(default)]
    pub weight_kind: WeightKind,
    /// SQL that names the stratum of a match; of a trace its first match counts.
    #[serde(default)]
    pub stratify_by: String,
    /// The first so many items of each stratum in each window are selected with certainty.
    #[serde(default)]
    pub min_per_stratum: u32,
    /// The windows of `min_per_stratum`, counted from 1970 UTC; whole minutes, up to a day.
    #[serde(default = "default_window", with = "Time")]
    pub stratum_window: Duration,
    /// How much it may select.
    #[serde(default)]
    pub budget: Budget,
    /// A second phase: its matches are the items that this earlier rule has scored.
    #[serde(default)]
    pub after: String,
    /// A shadow: its matches are the items that this earlier rule has selected, at the same moment.
    #[serde(default)]
    pub shadow_of: String,
}

fn default_window() -> Duration {
    Duration::from_hours(1)
}

impl Budget {
    /// Items a minute, whatever they are given in, at so many US dollars an item.
    pub fn per_minute(&self, price: Option<f64>) -> Option<f64> {
        least(self.items_per_minute, items_for(self.usd_per_minute, price))
    }

    /// Items a day, whatever they are given in, at so many US dollars an item.
    pub fn per_day(&self, price: Option<f64>) -> Option<f64> {
        least(self.items_per_day, items_for(self.usd_per_day, price))
    }

    /// Items a month, whatever they are given in, at so many US dollars an item.
    pub fn per_month(&self, price: Option<f64>) -> Option<f64> {
        least(self.items_per_month, items_for(self.usd_per_month, price))
    }

    /// Whether it is, in part, given in money.
    pub fn is_in_money(&self) -> bool {
        [self.usd_per_minute, self.usd_per_day, self.usd_per_month].iter().any(Option::is_some)
    }

    /// Whether it limits anything.
    fn is_given(&self) -> bool {
        let items = [self.items_per_minute, self.items_per_day, self.items_per_month];
        self.is_in_money() || items.iter().any(Option::is_some)
    }

    /// As text, for the fingerprint of a rule: keys that came later stand in it only where they are given, so that a rule
    /// without them is the one that it was.
    fn text(&self) -> String {
        let Self { items_per_minute, items_per_day, items_per_month, .. } = self;
        let Self { usd_per_minute, usd_per_day, usd_per_month, usd_per_item, .. } = self;
        let mut text = format!(
            "Budget {{ items_per_minute: {items_per_minute:?}, items_per_day: {items_per_day:?}, \
             usd_per_minute: {usd_per_minute:?}, usd_per_day: {usd_per_day:?}, usd_per_item: {usd_per_item:?} }}"
        );
        if items_per_month.is_some() || usd_per_month.is_some() {
            text += &format!("{:?}", (items_per_month, usd_per_month));
        }
        text
    }

    fn faults(&self, wrong: &mut dyn FnMut(String)) {
        let amounts = [
            ("items_per_minute", self.items_per_minute),
            ("items_per_day", self.items_per_day),
            ("items_per_month", self.items_per_month),
            ("usd_per_minute", self.usd_per_minute),
            ("usd_per_day", self.usd_per_day),
            ("usd_per_month", self.usd_per_month),
            ("usd_per_item", self.usd_per_item),
        ];
        for (key, amount) in amounts {
            if let Some(amount) = amount.filter(|amount| !(*amount > 0.0 && amount.is_finite())) {
                wrong(format!(
                    "budget.{key} is {amount}: it is a number above 0; leave it out for no budget, or remove the rule to \
                     select nothing"
                ));
            }
        }
        if self.is_in_money() && self.usd_per_item.is_none() {
            wrong("budget in dollars without budget.usd_per_item: say what an item costs".to_owned());
        }
    }
}

fn items_for(usd: Option<f64>, price: Option<f64>) -> Option<f64> {
    Some(usd? / price?)
}

fn least(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::min)
}

impl RuleConfig {
    /// A rule on traces without more.
    pub fn new(name: &str, filter: &str, rate: f64, evaluators: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            filter: filter.to_owned(),
            target: Target::Trace,
            rate,
            salt: String::new(),
            evaluators: evaluators.iter().map(|id| (*id).to_owned()).collect(),
            boosts: Vec::new(),
            weight: String::new(),
            weight_kind: WeightKind::Factor,
            stratify_by: String::new(),
            min_per_stratum: 0,
            stratum_window: default_window(),
            budget: Budget::default(),
            after: String::new(),
            shadow_of: String::new(),
        }
    }

    /// The salt of its draw.
    pub fn salt(&self) -> &str {
        if self.salt.is_empty() { &self.name } else { &self.salt }
    }

    /// The rule whose items it takes, if it has none of its own.
    pub fn first(&self) -> Option<&str> {
        [&self.after, &self.shadow_of].into_iter().find(|name| !name.is_empty()).map(String::as_str)
    }

    /// Whether the probability depends on what was selected before.
    pub fn has_memory(&self) -> bool {
        self.min_per_stratum > 0
            || self.budget.is_given()
            || (self.weight_kind == WeightKind::Outlier && !self.weight.is_empty())
    }

    /// What it has beyond filter, target, rate and evaluators, as text; empty if that is nothing.
    pub(super) fn design(&self) -> String {
        let plain = Self {
            filter: self.filter.clone(),
            target: self.target,
            salt: self.salt.clone(),
            evaluators: self.evaluators.clone(),
            ..Self::new(&self.name, "", self.rate, &[])
        };
        if plain == *self {
            return String::new();
        }
        let drawn = (&self.boosts, &self.weight, self.weight_kind, &self.stratify_by);
        let (window, budget) = (words(self.stratum_window), self.budget.text());
        let held = format!("({}, {window:?}, {budget})", self.min_per_stratum);
        format!("{drawn:?}{held}{:?}", (&self.after, &self.shadow_of))
    }

    /// Its faults, without the key in front; `earlier` are the rules before it. Expressions are checked by
    /// [`super::compile`].
    pub(super) fn faults(&self, earlier: &[RuleConfig], wrong: &mut dyn FnMut(String)) {
        if self.name.is_empty() {
            wrong(".name is empty: name the rule".to_owned());
        } else if earlier.iter().any(|rule| rule.name == self.name) {
            wrong(format!(".name {:?} is taken: rule names are unique", self.name));
        }
        if !is_probability(self.rate) {
            wrong(format!(
                ".rate is {}: it is a probability above 0 and up to 1; remove the rule to select nothing",
                self.rate
            ));
        }
        if self.evaluators.is_empty() {
            wrong(".evaluators is empty: name some, or \"*\" for all".to_owned());
        }
        if self.filter.trim().is_empty() && self.first().is_none() {
            wrong(".filter is empty: write true for every span".to_owned());
        }
        for (at, boost) in self.boosts.iter().enumerate() {
            if !is_probability(boost.rate) {
                wrong(format!(
                    ".boosts[{at}].rate is {}: it is a probability above 0 and up to 1",
                    boost.rate
                ));
            } else if boost.rate <= self.rate {
                wrong(format!(
                    ".boosts[{at}].rate is {}, not above the rule's rate ({}): it would change nothing",
                    boost.rate, self.rate
                ));
            }
        }
        self.stratum_faults(wrong);
        self.budget.faults(&mut |fault| wrong(format!(".{fault}")));
        self.source_faults(earlier, wrong);
    }

    fn stratum_faults(&self, wrong: &mut dyn FnMut(String)) {
        if self.min_per_stratum > 0 && self.stratify_by.is_empty() {
            wrong(".min_per_stratum without stratify_by: name the strata".to_owned());
        }
        if self.weight_kind == WeightKind::Outlier && self.weight.is_empty() {
            wrong(".weight_kind = \"outlier\" without weight: name the number".to_owned());
        }
        let window = self.stratum_window;
        let is_whole = window.as_nanos().is_multiple_of(SHORTEST_WINDOW.as_nanos());
        if !(SHORTEST_WINDOW..=LONGEST_WINDOW).contains(&window) || !is_whole {
            wrong(format!(
                ".stratum_window is {}: whole minutes, {} to {}",
                words(window),
                words(SHORTEST_WINDOW),
                words(LONGEST_WINDOW)
            ));
        }
    }

    /// Faults of a rule that takes the items of another one.
    fn source_faults(&self, earlier: &[RuleConfig], wrong: &mut dyn FnMut(String)) {
        let Some(name) = self.first() else { return };
        let key = if self.after.is_empty() { "shadow_of" } else { "after" };
        if !self.after.is_empty() && !self.shadow_of.is_empty() {
            wrong(".after and .shadow_of are both set: a rule has one source of items".to_owned());
        }
        let Some(first) = earlier.iter().find(|rule| rule.name == name) else {
            wrong(format!(".{key} = {name:?}: no rule before it has that name"));
            return;
        };
        if first.first().is_some() {
            wrong(format!(".{key} = {name:?}: that rule takes the items of another one itself"));
        }
        if first.target != self.target {
            wrong(format!(".target is not that of {name:?}, whose items it takes: give it the same"));
        }
        if first.salt() == self.salt() {
            wrong(format!(
                ".salt draws the numbers of {name:?} again, and then its probability is not the product of both rates: \
                 leave it out"
            ));
        }
        if self.after.is_empty() {
            self.shadow_faults(first, wrong);
        }
    }

    fn shadow_faults(&self, first: &RuleConfig, wrong: &mut dyn FnMut(String)) {
        let plain = Self {
            target: self.target,
            salt: self.salt.clone(),
            evaluators: self.evaluators.clone(),
            shadow_of: self.shadow_of.clone(),
            ..Self::new(&self.name, "", self.rate, &[])
        };
        if plain != *self {
            wrong(format!(
                " is a shadow of {:?} and has that rule's items: beside rate, salt and evaluators it sets nothing",
                first.name
            ));
        }
        let all = "*".to_owned();
        for id in self.evaluators.iter().filter(|id| first.evaluators.contains(id) || **id == all) {
            wrong(format!(
                ".evaluators has {id:?}: a shadow names other evaluators than {:?}, or scores would count twice",
                first.name
            ));
        }
    }
}

/// Whether it is above 0 and up to 1.
fn is_probability(rate: f64) -> bool {
    rate > 0.0 && rate <= 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(rules: &[RuleConfig]) -> Vec<String> {
        let mut faults = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            rule.faults(&rules[..at], &mut |fault| faults.push(fault));
        }
        faults
    }

    fn plain() -> RuleConfig {
        RuleConfig::new("r", "true", 0.5, &["looping"])
    }

    #[test]
    fn every_fault_is_told_with_its_key() {
        let boost = |rate| vec![Boost { when: "true".to_owned(), rate }];
        let budget = |budget: Budget| RuleConfig { budget, ..plain() };
        let cases = [
            (RuleConfig { rate: 0.0, ..plain() }, ".rate is 0"),
            (RuleConfig { rate: 1.5, ..plain() }, ".rate is 1.5"),
            (RuleConfig { rate: f64::NAN, ..plain() }, ".rate is NaN"),
            (RuleConfig { filter: " ".to_owned(), ..plain() }, ".filter is empty"),
            (RuleConfig { boosts: boost(1.2), ..plain() }, ".boosts[0].rate is 1.2"),
            (RuleConfig { boosts: boost(0.5), ..plain() }, "it would change nothing"),
            (RuleConfig { min_per_stratum: 3, ..plain() }, ".min_per_stratum without stratify_by"),
            (RuleConfig { weight_kind: WeightKind::Outlier, ..plain() }, ".weight_kind"),
            (RuleConfig { stratum_window: Duration::from_secs(90), ..plain() }, ".stratum_window is 90s"),
            (RuleConfig { stratum_window: Duration::from_hours(48), ..plain() }, ".stratum_window is 2d"),
            (budget(Budget { items_per_day: Some(0.0), ..Budget::default() }), ".budget.items_per_day is 0"),
            (
                budget(Budget { usd_per_day: Some(f64::NAN), ..Budget::default() }),
                ".budget.usd_per_day is NaN",
            ),
            (budget(Budget { usd_per_day: Some(1.0), ..Budget::default() }), "without budget.usd_per_item"),
            (RuleConfig { after: "no".to_owned(), ..plain() }, ".after = \"no\": no rule"),
        ];
        for (rule, told) in cases {
            let found = faults(std::slice::from_ref(&rule));
            assert!(found.iter().any(|fault| fault.contains(told)), "{told}: {found:?}");
        }
        assert_eq!(faults(&[plain()]), Vec::<String>::new());
    }

    #[test]
    fn a_rule_on_the_items_of_another_one_is_held_to_it() {
        let second = RuleConfig { after: "r".to_owned(), ..RuleConfig::new("s", "", 0.1, &["bleu"]) };
        let shadow = RuleConfig { shadow_of: "r".to_owned(), ..RuleConfig::new("t", "", 1.0, &["bleu"]) };
        assert_eq!(faults(&[plain(), second.clone(), shadow.clone()]), Vec::<String>::new());
        let same = |evaluators: &[&str]| RuleConfig {
            evaluators: evaluators.iter().map(|id| (*id).to_owned()).collect(),
            ..shadow.clone()
        };
        let cases = [
            (RuleConfig { salt: "r".to_owned(), ..second.clone() }, ".salt draws the numbers"),
            (RuleConfig { target: Target::Span, ..second.clone() }, ".target is not that of \"r\""),
            (RuleConfig { shadow_of: "r".to_owned(), ..second.clone() }, "both set"),
            (same(&["looping"]), "scores would count twice"),
            (same(&["*"]), "scores would count twice"),
            (RuleConfig { filter: "true".to_owned(), ..shadow.clone() }, "sets nothing"),
        ];
        for (rule, told) in cases {
            let found = faults(&[plain(), rule]);
            assert!(found.iter().any(|fault| fault.contains(told)), "{told}: {found:?}");
        }
        let third = RuleConfig { after: "s".to_owned(), ..RuleConfig::new("u", "", 0.1, &["bleu"]) };
        let found = faults(&[plain(), second, third]);
        assert!(found.iter().any(|fault| fault.contains("itself")), "{found:?}");
    }

    #[test]
    fn a_budget_in_dollars_is_one_in_items() {
        let budget = Budget { usd_per_day: Some(5.0), usd_per_item: Some(0.02), ..Budget::default() };
        let items = |budget: &Budget| budget.per_day(budget.usd_per_item);
        assert_eq!((items(&budget), budget.per_minute(budget.usd_per_item)), (Some(250.0), None));
        let budget = Budget { items_per_day: Some(100.0), ..budget };
        assert_eq!(items(&budget), Some(100.0));
        let month = Budget { usd_per_month: Some(50.0), ..budget };
        assert_eq!(month.per_month(month.usd_per_item), Some(2_500.0));
    }

    #[test]
    fn a_rule_with_no_budget_of_a_month_has_the_fingerprint_that_it_had() {
        let budget = Budget { items_per_day: Some(100.0), ..Budget::default() };
        let rule = RuleConfig { budget, ..plain() };
        let known = "(0, \"1h\", Budget { items_per_minute: None, items_per_day: Some(100.0), usd_per_minute: None, \
                     usd_per_day: None, usd_per_item: None })";
        assert!(rule.design().contains(known), "{}", rule.design());
        let budget = Budget { items_per_month: Some(9.0), ..rule.budget.clone() };
        assert_ne!(RuleConfig { budget, ..rule.clone() }.design(), rule.design());
    }
}
