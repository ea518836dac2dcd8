//! Regular expressions: linear ones where that is enough, else with look-around and a limit of steps.

/// Bytes that one compiled expression may take.
const MAX_COMPILED: usize = 1 << 20;
/// Steps back of an expression with look-around before it counts as one that does not end.
const MAX_STEPS: usize = 1_000_000;

/// One expression.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    Linear(regex::Regex),
    /// Look-around or references back, which the other engine refuses.
    Backtracking(fancy_regex::Regex),
}

impl Pattern {
    /// # Errors
    /// When neither engine takes it; the message is that of the expression's first fault.
    pub fn new(text: &str) -> Result<Self, String> {
        let linear = regex::RegexBuilder::new(text).size_limit(MAX_COMPILED).build();
        let why = match linear {
            Ok(linear) => return Ok(Self::Linear(linear)),
            Err(regex::Error::CompiledTooBig(_)) => {
                return Err(format!("the expression is too large: {text:.80}"));
            }
            Err(error) => error.to_string(),
        };
        let mut builder = fancy_regex::RegexBuilder::new(text);
        match builder.backtrack_limit(MAX_STEPS).delegate_size_limit(MAX_COMPILED).build() {
            Ok(backtracking) => Ok(Self::Backtracking(backtracking)),
            Err(_) => Err(why),
        }
    }

    /// # Errors
    /// When the expression takes too many steps.
    pub fn is_match(&self, text: &str) -> Result<bool, String> {
        match self {
            Self::Linear(regex) => Ok(regex.is_match(text)),
            Self::Backtracking(regex) => regex.is_match(text).map_err(|_| too_long()),
        }
    }

    /// The first group that matched, else the whole match.
    ///
    /// # Errors
    /// When the expression takes too many steps.
    pub fn first<'a>(&self, text: &'a str) -> Result<Option<&'a str>, String> {
        match self {
            Self::Linear(regex) => Ok(regex.captures(text).and_then(|found| {
                let group = found.iter().skip(1).flatten().next();
                group.or_else(|| found.get(0)).map(|one| one.as_str())
            })),
            Self::Backtracking(regex) => {
                Ok(regex.captures(text).map_err(|_| too_long())?.and_then(|found| {
                    let group = found.iter().skip(1).flatten().next();
                    group.or_else(|| found.get(0)).map(|one| one.as_str())
                }))
            }
        }
    }
}

fn too_long() -> String {
    format!("the expression takes more than {MAX_STEPS} steps on this text: make it simpler")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_around_works_and_ends() {
        let pattern = Pattern::new(r"(?i)within (.*?)\.").unwrap();
        assert_eq!(pattern.first("Send it Within 14 days. Bye.").unwrap(), Some("14 days"));
        assert!(matches!(pattern, Pattern::Linear(_)));
        let around = Pattern::new(r"\d+(?= days)").unwrap();
        assert_eq!(around.first("in 14 days").unwrap(), Some("14"));
        assert!(!around.is_match("in 14 weeks").unwrap());
        let slow = Pattern::new(r"^(?=(a+)+$)(a|aa)+\1b$").unwrap();
        let text = "a".repeat(60);
        assert!(slow.is_match(&text).is_err() || !slow.is_match(&text).unwrap());
        assert!(Pattern::new("(").unwrap_err().contains("unclosed group"));
        assert!(Pattern::new(r"\w{1000}{1000}").is_err());
    }
}
