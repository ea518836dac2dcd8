//! The file of bearer tokens.
//!
//! It holds digests, not tokens, so that who reads it cannot use it. One plain SHA-256 is right for that: a token is 256
//! random bits, so there is nothing that a slow hash would protect from guessing.

use rustls::crypto::ring::default_provider;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;
use subtle::{ConditionallySelectable, ConstantTimeEq};

/// The SHA-256 of a token.
pub type TokenDigest = [u8; 32];

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Send spans and log records, which become its tenant's.
    Ingest,
    /// Ask SQL over its tenant's rows, and annotate them.
    Query,
    /// Answer items of its tenant's queue of labels, and see nothing else.
    Review,
    /// Read `/metrics`, which has the numbers of every tenant.
    Metrics,
    /// Change its tenant's datasets and experiments.
    Lab,
    /// Ask SQL over every tenant's rows, and read `/metrics`.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 6] =
        [Role::Ingest, Role::Query, Role::Review, Role::Metrics, Role::Lab, Role::Admin];

    /// Its name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Role::Ingest => "ingest",
            Role::Query => "query",
            Role::Review => "review",
            Role::Metrics => "metrics",
            Role::Lab => "lab",
            Role::Admin => "admin",
        }
    }
}

/// One token of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Who has it, for logs; each name once.
    pub name: String,
    /// SHA-256 of the token, 64 hexadecimal digits.
    pub sha256: String,
    /// Whose rows it writes and reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// What it may do.
    pub roles: Vec<Role>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    tokens: Vec<Entry>,
}

/// Every fault of a tokens file.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct TokenError(pub Vec<String>);

/// A token as it is looked up.
#[derive(Debug)]
pub struct KnownToken {
    /// Its digest.
    pub digest: TokenDigest,
    /// Who has it.
    pub name: Arc<str>,
    /// Whose rows it writes and reads.
    pub tenant: Option<Arc<str>>,
    /// What it may do.
    pub roles: Vec<Role>,
}

/// Every token.
#[derive(Debug, Default)]
pub struct TokenSet {
    tokens: Vec<KnownToken>,
}

/// Most tokens: every one is compared with on every request.
const MAX_TOKENS: usize = 10_000;

/// Longest tenant or name, bytes.
const MAX_NAME: usize = 128;

impl TokenSet {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// Every fault of its entries. No fault quotes a digest.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let file: File = toml::from_str(text).map_err(|e| {
            let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            TokenError(vec![format!("line {}: {}", before.matches('\n').count() + 1, e.message())])
        })?;
        let mut faults = Vec::new();
        if file.tokens.len() > MAX_TOKENS {
            faults.push(format!("{} tokens, at most {MAX_TOKENS}", file.tokens.len()));
        }
        let mut tokens: Vec<KnownToken> = Vec::new();
        for entry in file.tokens {
            faults.extend(entry.faults());
            if tokens.iter().any(|t| *t.name == *entry.name) {
                faults.push(format!("token {:?} is there twice: give each a name of its own", entry.name));
            }
            let Some(digest) = entry.digest() else { continue };
            if tokens.iter().any(|t| t.digest == digest) {
                faults.push(format!("token {:?} has the sha256 of another one", entry.name));
            }
            let tenant = entry.tenant.map(Arc::from);
            tokens.push(KnownToken { digest, name: entry.name.into(), tenant, roles: entry.roles });
        }
        if faults.is_empty() { Ok(Self { tokens }) } else { Err(TokenError(faults)) }
    }

    /// The token with this digest. Compares with every one, each time in full, so that the time tells nothing.
    pub fn find(&self, digest: &TokenDigest) -> Option<&KnownToken> {
        let mut found = u32::MAX;
        for (at, token) in (0u32..).zip(&self.tokens) {
            found.conditional_assign(&at, token.digest.ct_eq(digest));
        }
        self.tokens.get(usize::try_from(found).ok()?)
    }

    /// The tenants that tokens belong to, each once, in order.
    pub fn tenants(&self) -> Vec<String> {
        let named = self.tokens.iter().filter_map(|token| token.tenant.as_deref());
        named.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}

impl Entry {
    fn digest(&self) -> Option<TokenDigest> {
        hex::decode(&self.sha256).ok()?.try_into().ok()
    }

    /// Every fault of this entry.
    pub fn faults(&self) -> Vec<String> {
        let (mut faults, name) = (Vec::new(), &self.name);
        let is_name =
            |text: &str| !text.is_empty() && text.len() <= MAX_NAME && !text.chars().any(char::is_control);
        if !is_name(name) {
            faults.push(format!(
                "token {name:?}: name must have 1 to {MAX_NAME} bytes and no control characters"
            ));
        }
        if self.digest().is_none() {
            faults
                .push(format!("token {name:?}: sha256 must be 64 hexadecimal digits (groundline token new)"));
        }
        if self.roles.is_empty() {
            faults.push(format!(
                "token {name:?}: roles is empty; there are ingest, query, review, metrics, lab and admin"
            ));
        }
        let needs_tenant = self
            .roles
            .iter()
            .any(|role| matches!(role, Role::Ingest | Role::Query | Role::Review | Role::Lab));
        match &self.tenant {
            Some(tenant) if !is_name(tenant) => faults.push(format!(
                "token {name:?}: tenant must have 1 to {MAX_NAME} bytes and no control characters"
            )),
            None if needs_tenant => faults.push(format!(
                "token {name:?}: the roles ingest, query, review and lab need a tenant: whose rows are they?"
            )),
            _ => {}
        }
        faults
    }

    /// The entry as the file has it.
    pub fn to_toml(&self) -> String {
        toml::to_string(&File { tokens: vec![self.clone()] }).unwrap_or_default()
    }
}

/// What tokens begin with, so that scanners for leaked secrets can know them.
const PREFIX: &str = "gl_";

/// A token that nobody has, of 256 random bits; none if the system gives no random numbers.
pub fn new_token() -> Option<String> {
    Some(format!("{PREFIX}{}", random_hex()?))
}

/// 256 random bits in hexadecimal digits; none if the system gives no random numbers.
pub fn random_hex() -> Option<String> {
    let mut random = [0u8; 32];
    default_provider().secure_random.fill(&mut random).ok()?;
    Some(hex::encode(random))
}

/// The digest of a token.
pub fn digest_of(token: &[u8]) -> TokenDigest {
    Sha256::digest(token).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, token: &str, tenant: Option<&str>, roles: &[Role]) -> Entry {
        Entry {
            name: name.to_owned(),
            sha256: hex::encode(digest_of(token.as_bytes())),
            tenant: tenant.map(str::to_owned),
            roles: roles.to_vec(),
        }
    }

    #[test]
    fn a_token_is_found_by_its_digest_and_nothing_else_is() {
        let one = entry("one", "1", Some("a"), &[Role::Ingest]);
        let two = entry("two", "2", None, &[Role::Admin]);
        let set = TokenSet::parse(&(one.to_toml() + &two.to_toml())).unwrap();
        assert_eq!(&*set.find(&digest_of(b"1")).unwrap().name, "one");
        assert_eq!(&*set.find(&digest_of(b"2")).unwrap().name, "two");
        assert!(set.find(&digest_of(b"3")).is_none());
        assert!(TokenSet::parse("").unwrap().find(&digest_of(b"1")).is_none());
    }

    #[test]
    fn every_fault_is_told() {
        let one = entry("one", "1", Some("a"), &[Role::Ingest]);
        let mut twice = entry("one", "1", None, &[Role::Query]);
        twice.roles.push(Role::Ingest);
        let short = Entry { sha256: "abc".to_owned(), ..entry("short", "", Some("a"), &[]) };
        let text = one.to_toml() + &twice.to_toml() + &short.to_toml();
        let faults = TokenSet::parse(&text).unwrap_err().to_string();
        for part in ["twice", "another one", "need a tenant", "64 hexadecimal", "roles is empty"] {
            assert!(faults.contains(part), "{part}: {faults}");
        }
        assert!(!faults.contains(&one.sha256));
        let line = TokenSet::parse("\n[[tokens]]\nname = 'x'\nroles = ['king']\n").unwrap_err().to_string();
        assert!(line.contains("line 4"), "{line}");
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (a, b) = (new_token().unwrap(), new_token().unwrap());
        assert!(a != b && a.len() == PREFIX.len() + 64 && a.starts_with(PREFIX));
    }
}
