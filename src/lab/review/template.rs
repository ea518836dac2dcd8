//! What is asked of an item: a class, a number or a text.

use crate::lab::error::Fault;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// Most templates of a queue.
pub const MAX_TEMPLATES: usize = 20;
/// Most classes of a template.
const MAX_CATEGORIES: usize = 20;
/// Longest name of a template or a class, bytes.
const MAX_NAME: usize = 100;
/// Longest text that a reviewer writes, bytes.
pub const MAX_TEXT: usize = 20_000;
/// How far a number may lie beside a step, in steps.
const STEP_ERROR: f64 = 1e-6;

/// What kind of answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateKind {
    /// One of several classes.
    Categorical,
    /// A number.
    Numerical,
    /// A text, which nothing is measured of.
    FreeText,
}

impl TemplateKind {
    /// Its name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            TemplateKind::Categorical => "categorical",
            TemplateKind::Numerical => "numerical",
            TemplateKind::FreeText => "free_text",
        }
    }
}

/// A question about each item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// Its name: that of the annotations that it makes.
    pub name: String,
    /// What kind of answer it asks for.
    #[serde(rename = "type")]
    pub kind: TemplateKind,
    /// What the reviewer is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Whether it may stay unanswered.
    #[serde(default)]
    pub optional: bool,
    /// The classes, in the order in which they are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Whether the classes are ranks, the lowest first.
    #[serde(default)]
    pub ordered: bool,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Numbers are `min`, or 0 without one, and so many steps more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// How far numbers of several people may lie apart and still agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

/// Everything that is wrong with the templates of a queue.
pub fn faults(templates: &[Template]) -> Vec<Fault> {
    let mut faults = Vec::new();
    if templates.len() > MAX_TEMPLATES {
        let why = format!("{} templates, at most {MAX_TEMPLATES}", templates.len());
        faults.push(Fault::new(why).at("templates"));
    }
    let mut names = BTreeSet::new();
    for (number, template) in (1u64..).zip(templates) {
        let wrong = template.faults().into_iter();
        faults
            .extend(wrong.map(|message| Fault { item: Some(number), ..Fault::new(message).at("templates") }));
        if !names.insert(&template.name) {
            let why = format!("the name {:?} is there twice", template.name);
            faults.push(Fault { item: Some(number), ..Fault::new(why).at("templates") });
        }
    }
    faults
}

impl Template {
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.name.trim().is_empty() || self.name.len() > MAX_NAME {
            faults.push(format!("name must have 1 to {MAX_NAME} bytes"));
        }
        let numbers = [self.min, self.max, self.step, self.tolerance];
        if self.kind != TemplateKind::Numerical && numbers.iter().any(Option::is_some) {
            faults.push("min, max, step and tolerance belong to the type numerical".to_owned());
        }
        if self.kind != TemplateKind::Categorical && (!self.categories.is_empty() || self.ordered) {
            faults.push("categories and ordered belong to the type categorical".to_owned());
        }
        match self.kind {
            TemplateKind::Categorical => faults.extend(self.wrong_categories()),
            TemplateKind::Numerical => faults.extend(self.wrong_numbers()),
            TemplateKind::FreeText => {}
        }
        faults
    }

    fn wrong_categories(&self) -> Option<String> {
        let is_name = |name: &String| !name.trim().is_empty() && name.len() <= MAX_NAME;
        let different: BTreeSet<String> = self.categories.iter().map(|name| name.to_lowercase()).collect();
        let count = self.categories.len();
        if !(2..=MAX_CATEGORIES).contains(&count) {
            return Some(format!("categories has {count} classes: give 2 to {MAX_CATEGORIES}"));
        }
        (different.len() < count || !self.categories.iter().all(is_name))
            .then(|| format!("categories must differ, each of 1 to {MAX_NAME} bytes"))
    }

    fn wrong_numbers(&self) -> Option<String> {
        let given = [self.min, self.max, self.step, self.tolerance];
        if given.into_iter().flatten().any(|number| !number.is_finite()) {
            return Some("min, max, step and tolerance must be finite numbers".to_owned());
        }
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min >= max
        {
            return Some(format!("min is {min} and max {max}: min must be below max"));
        }
        if self.step.is_some_and(|step| step <= 0.0) || self.tolerance.is_some_and(|apart| apart < 0.0) {
            return Some("step must be above 0 and tolerance not below 0".to_owned());
        }
        None
    }

    /// The answer as it is kept.
    ///
    /// # Errors
    /// What is asked for instead.
    pub fn taken(&self, answer: &Value) -> Result<Value, String> {
        let wrong = |wanted: String| format!("{:?} is {answer}; {wanted}", self.name);
        match self.kind {
            TemplateKind::Categorical => {
                let said = answer.as_str().unwrap_or_default().trim();
                let known = self.categories.iter().find(|one| one.eq_ignore_ascii_case(said));
                let wanted = || wrong(format!("it may be {}", self.categories.join(", ")));
                known.map(|one| Value::from(one.as_str())).ok_or_else(wanted)
            }
            TemplateKind::Numerical => {
                let number = answer.as_f64().filter(|number| self.is_allowed(*number));
                number.map(Value::from).ok_or_else(|| wrong(self.range()))
            }
            TemplateKind::FreeText => {
                let said = answer.as_str().map(str::trim).filter(|text| text.len() <= MAX_TEXT);
                said.map(Value::from).ok_or_else(|| wrong(format!("a text of at most {MAX_TEXT} bytes")))
            }
        }
    }

    fn is_allowed(&self, number: f64) -> bool {
        let inside = self.min.is_none_or(|min| number >= min) && self.max.is_none_or(|max| number <= max);
        let steps = |step: f64| (number - self.min.unwrap_or_default()) / step;
        let on_step = self.step.is_none_or(|step| (steps(step) - steps(step).round()).abs() <= STEP_ERROR);
        number.is_finite() && inside && on_step
    }

    fn range(&self) -> String {
        let part = |word: &str, number: Option<f64>| number.map(|number| format!(" {word} {number}"));
        let parts = [part("from", self.min), part("to", self.max), part("in steps of", self.step)];
        format!("it is a number{}", parts.into_iter().flatten().collect::<String>())
    }

    /// Whether two answers say the same; texts always do.
    pub fn agree(&self, one: Option<&Value>, other: Option<&Value>) -> bool {
        match self.kind {
            TemplateKind::FreeText => true,
            TemplateKind::Categorical => one == other,
            TemplateKind::Numerical => {
                let number = |value: Option<&Value>| value.and_then(Value::as_f64);
                match (number(one), number(other)) {
                    (Some(one), Some(other)) => {
                        (one - other).abs() <= self.tolerance.unwrap_or_default() + STEP_ERROR
                    }
                    (None, None) => true,
                    _ => false,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn template(sent: Value) -> Template {
        serde_json::from_value(sent).unwrap()
    }

    #[test]
    fn an_answer_is_one_that_the_template_asks_for() {
        let class =
            template(json!({"name": "tone", "type": "categorical", "categories": ["Polite", "Rude"]}));
        assert_eq!(class.taken(&json!(" polite ")).unwrap(), "Polite");
        assert!(class.taken(&json!("fine")).unwrap_err().contains("it may be Polite, Rude"));
        let grade = template(json!({"name": "grade", "type": "numerical", "min": 1, "max": 5, "step": 0.5}));
        assert_eq!(grade.taken(&json!(4.5)).unwrap(), 4.5);
        for wrong in [json!(4.4), json!(0.5), json!(5.5), json!("4"), json!(null)] {
            let why = grade.taken(&wrong).unwrap_err();
            assert!(why.contains("from 1 to 5 in steps of 0.5"), "{wrong}: {why}");
        }
        let text = template(json!({"name": "why", "type": "free_text"}));
        assert_eq!(text.taken(&json!(" because ")).unwrap(), "because");
        assert!(text.taken(&json!("x".repeat(MAX_TEXT + 1))).is_err());
        assert!(grade.agree(Some(&json!(4)), Some(&json!(4.0))));
        assert!(!grade.agree(Some(&json!(4)), Some(&json!(4.5))) && !grade.agree(None, Some(&json!(4))));
        let near = Template { tolerance: Some(0.5), ..grade };
        assert!(near.agree(Some(&json!(4)), Some(&json!(4.5))));
    }

    #[test]
    fn a_template_that_nobody_could_answer_is_refused() {
        for (sent, said) in [
            (json!({"name": "", "type": "free_text"}), "name must have"),
            (json!({"name": "a", "type": "categorical", "categories": ["one"]}), "give 2 to 20"),
            (json!({"name": "a", "type": "categorical", "categories": ["x", "X"]}), "must differ"),
            (json!({"name": "a", "type": "numerical", "min": 2, "max": 1}), "min must be below max"),
            (json!({"name": "a", "type": "numerical", "step": 0}), "step must be above 0"),
            (json!({"name": "a", "type": "free_text", "min": 1}), "belong to the type numerical"),
            (json!({"name": "a", "type": "free_text", "ordered": true}), "belong to the type categorical"),
        ] {
            let told = faults(&[template(sent.clone())]);
            assert!(told.iter().any(|fault| fault.to_string().contains(said)), "{sent}: {told:?}");
        }
        let one = template(json!({"name": "a", "type": "free_text"}));
        assert!(faults(std::slice::from_ref(&one)).is_empty());
        assert_eq!(faults(&[one.clone(), one]).len(), 1);
    }
}
