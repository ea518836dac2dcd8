//! The texts that a user's model reads, with placeholders for what is judged.

use super::wordpiece::Part;

/// One or two texts with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    first: String,
    second: Option<String>,
    /// The placeholder of the text that is cut to what room there is.
    long: &'static str,
    /// The placeholder of the other one, and what is kept of it.
    short: Option<(&'static str, Part)>,
}

impl Template {
    /// `second` is empty for none.
    pub(super) fn new(
        (first, second): (String, String),
        long: &'static str,
        short: Option<(&'static str, Part)>,
    ) -> Self {
        Self { first, second: (!second.is_empty()).then_some(second), long, short }
    }

    /// Whether the network reads two texts.
    pub(super) const fn is_pair(&self) -> bool {
        self.second.is_some()
    }

    /// What is kept of the short text.
    pub(super) fn kept(&self) -> Option<Part> {
        self.short.map(|(_, part)| part)
    }

    /// The texts with these values in them.
    pub(super) fn fill(&self, long: &str, short: &str) -> (String, Option<String>) {
        let fill = |text: &String| self.filled(text, long, short);
        (fill(&self.first), self.second.as_ref().map(fill))
    }

    /// A placeholder inside a value stays as it is: only the template is read.
    fn filled(&self, template: &str, long: &str, short: &str) -> String {
        let mut out = String::with_capacity(template.len() + long.len() + short.len());
        let mut rest = template;
        let names = [Some((self.long, long)), self.short.map(|(name, _)| (name, short))];
        loop {
            let next =
                names.iter().flatten().filter_map(|(name, value)| Some((rest.find(name)?, *name, *value)));
            let Some((at, name, value)) = next.min_by_key(|(at, ..)| *at) else { break };
            out.push_str(&rest[..at]);
            out.push_str(value);
            rest = &rest[at + name.len()..];
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_once_and_not_read() {
        let short = Some(("{question}", Part::End(9)));
        let one = Template::new(("q: {question} p: {text}.".to_owned(), String::new()), "{text}", short);
        assert_eq!(one.fill("a {question}", "b {text}"), ("q: b {text} p: a {question}.".to_owned(), None));
        assert!(!one.is_pair());
        let two = Template::new(("{question}".to_owned(), "passage: {text}".to_owned()), "{text}", short);
        assert_eq!(two.fill("a", "b"), ("b".to_owned(), Some("passage: a".to_owned())));
        assert!(two.is_pair());
    }
}
