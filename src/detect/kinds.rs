//! The kinds that there are, and sets of them.

use super::finding::{Finding, REPORTED};
use super::{pii, secrets};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static PII: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| pii::kinds().into_iter().collect());
static SECRETS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| secrets::kinds().into_iter().collect());

/// A kind that is found only by who names it: the address of a site is mostly public.
const ONLY_BY_NAME: &str = "url";
/// What such a finding's confidence is at least.
const NAMED: f64 = 0.3;

/// Words for many kinds at once.
const GROUPS: [&str; 3] = ["*", "pii", "secrets"];

/// Whether there is a kind of this name.
pub fn is_known(kind: &str) -> bool {
    PII.contains(kind) || SECRETS.contains(kind)
}

/// What to say about a name that is no kind.
pub fn unknown(kind: &str) -> String {
    let all: Vec<&str> = PII.union(&SECRETS).copied().collect();
    format!("{kind:?} is no kind; there are {}", all.join(", "))
}

/// A set of kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kinds {
    has_pii: bool,
    has_secrets: bool,
    named: BTreeSet<String>,
}

impl Kinds {
    /// All personal data and all credentials.
    pub fn all() -> Self {
        Self { has_pii: true, has_secrets: true, named: BTreeSet::new() }
    }

    /// Of names: kinds, `pii`, `secrets`, or `*` for both.
    pub fn of(names: &[String]) -> Self {
        let has = |group: &str| names.iter().any(|name| name == group || name == "*");
        let named = names.iter().filter(|name| !GROUPS.contains(&name.as_str())).cloned().collect();
        Self { has_pii: has("pii"), has_secrets: has("secrets"), named }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is wrong with the names, each with the key and what to do.
    pub fn faults(key: &str, names: &[String]) -> Vec<String> {
        let wrong = names.iter().filter(|name| !GROUPS.contains(&name.as_str()) && !is_known(name));
        wrong.map(|name| format!("{key}: {}, and *, pii and secrets for many", unknown(name))).collect()
    }

    /// The findings of these kinds in `text`, of both families, in order without overlap.
    pub fn findings(&self, text: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        if self.has_pii || self.named.iter().any(|kind| PII.contains(kind.as_str())) {
            found.extend(pii::findings(text).into_iter().filter(|f| self.has(f, self.has_pii)));
        }
        if self.has_secrets || self.named.iter().any(|kind| SECRETS.contains(kind.as_str())) {
            found.extend(secrets::findings(text).into_iter().filter(|f| self.has(f, self.has_secrets)));
        }
        found
    }

    fn has(&self, finding: &Finding, has_family: bool) -> bool {
        let is_named = self.named.contains(finding.kind);
        let least = if is_named && finding.kind == ONLY_BY_NAME { NAMED } else { REPORTED };
        (has_family || is_named) && finding.confidence >= least
    }
}
