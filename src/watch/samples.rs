//! What the exporter has counted, read back from its text, so that every page tells the numbers that Prometheus scrapes.

use serde_json::{Map, Value};

/// One line of the text.
#[derive(Debug, PartialEq)]
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

/// All of them.
pub(super) struct Samples(Vec<Sample>);

impl Samples {
    /// Reads the text format of Prometheus; lines that are none of it are left out.
    pub(super) fn read(text: &str) -> Self {
        Self(text.lines().filter_map(sample).collect())
    }

    /// The sum of a metric over all of its series.
    pub(super) fn total(&self, name: &str) -> Value {
        number(self.0.iter().filter(|s| s.name == name).map(|s| s.value).sum())
    }

    /// The sum of a metric for each value of a label, among the series that have `fixed`.
    pub(super) fn by(&self, name: &str, label: &str, fixed: &[(&str, &str)]) -> Map<String, Value> {
        let mut sums: Vec<(&str, f64)> = Vec::new();
        let wanted = |s: &&Sample| s.name == name && fixed.iter().all(|(key, is)| s.label(key) == Some(*is));
        for sample in self.0.iter().filter(wanted) {
            let Some(of) = sample.label(label) else { continue };
            match sums.iter_mut().find(|(known, _)| *known == of) {
                Some((_, sum)) => *sum += sample.value,
                None => sums.push((of, sample.value)),
            }
        }
        sums.sort_by_key(|(of, _)| *of);
        sums.into_iter().map(|(of, sum)| (of.to_owned(), number(sum))).collect()
    }
}

impl Sample {
    fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Counts are integers; what is no number is null.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value.fract() == 0.0 && value.abs() < EXACT {
        true => Value::from(value as i64),
        false => Value::from(value),
    }
}

fn sample(line: &str) -> Option<Sample> {
    if line.starts_with('#') {
        return None;
    }
    let end = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inner) => labels(inner)?,
        None => (Vec::new(), rest),
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}

/// The labels up to the closing brace, and what follows it.
fn labels(mut text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        text = text.trim_start_matches(',');
        if let Some(rest) = text.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (key, rest) = text.split_once("=\"")?;
        let mut value = String::new();
        let mut chars = rest.char_indices();
        text = loop {
            match chars.next()? {
                (at, '"') => break &rest[at + 1..],
                (_, '\\') => match chars.next()?.1 {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                (_, other) => value.push(other),
            }
        };
        labels.push((key.to_owned(), value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_exporters_text_is_read_back() {
        let text = "# HELP a_total Something.\n# TYPE a_total counter\n\
                    a_total{door=\"x\",outcome=\"ok\"} 3\na_total{door=\"x\",outcome=\"wrong\"} 1\n\
                    a_total{door=\"y, \\\"}\\\\\\n\",outcome=\"ok\"} 5\n\nb 0.5\nc NaN\nbroken{\n";
        let read = Samples::read(text);
        assert_eq!(read.total("a_total"), json!(9));
        assert_eq!(read.total("b"), json!(0.5));
        assert_eq!((read.total("c"), read.total("nothing")), (Value::Null, json!(0)));
        let ok = read.by("a_total", "outcome", &[("door", "x")]);
        assert_eq!(Value::from(ok), json!({"ok": 3, "wrong": 1}));
        let endpoints = read.by("a_total", "door", &[("outcome", "ok")]);
        assert_eq!(Value::from(endpoints), json!({"x": 3, "y, \"}\\\n": 5}));
    }
}
