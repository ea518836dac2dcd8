//! The configuration: it nests the rooms' own settings, and tells every fault at once.
//!
//! Order of precedence: environment (`GROUNDLINE_<SECTION>__<KEY>`), then the file, then the defaults. Unknown keys are
//! refused. `groundline.example.toml` documents every key; its values are the defaults, which a test holds.

use crate::{detect, eval, ingest, journal, lake, net, queue, sample, sql, watch};
use serde::{Deserialize, Serialize};
use std::path::Path;
use toml::{Table, Value};

/// The documented configuration with every default.
pub const EXAMPLE: &str = include_str!("../groundline.example.toml");

const ENV_PREFIX: &str = "GROUNDLINE_";

/// The whole configuration.
#[derive(Debug, Clone, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The process: data directory, connections, TLS, tokens.
    pub server: net::Config,
    /// The OTLP receiver.
    pub ingest: ingest::Config,
    /// The write-ahead log.
    pub journal: journal::Config,
    /// The tables.
    pub lake: lake::Config,
    /// What counts as personal data and credentials.
    pub detect: detect::Config,
    /// Items that wait for their evaluators.
    pub queue: queue::Config,
    /// Sampling rules.
    pub sample: sample::Config,
    /// Evaluators.
    pub score: eval::Config,
    /// Limits of queries.
    pub sql: sql::Config,
    /// Metrics.
    pub watch: watch::Config,
}

/// Every fault of a configuration.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct ConfigError(pub Vec<String>);

impl Config {
    /// Reads `file` if there is one, then the environment; tells every fault at once.
    pub fn load(file: Option<&Path>) -> Result<Self, ConfigError> {
        let text = match file {
            None => String::new(),
            Some(path) => std::fs::read_to_string(path)
                .map_err(|e| ConfigError(vec![format!("{}: cannot be read: {e}", path.display())]))?,
        };
        let name = file.map_or_else(|| "configuration".to_owned(), |p| p.display().to_string());
        Self::from_text(&name, &text, std::env::vars())
    }

    /// As [`Config::load`], from text and given variables.
    pub fn from_text(
        name: &str,
        text: &str,
        env: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut given: Table =
            toml::from_str(text).map_err(|e| ConfigError(vec![format!("{name}: {}", told(text, &e))]))?;
        for (key, value) in env {
            if let Some(path) = key.strip_prefix(ENV_PREFIX).filter(|path| path.contains("__")) {
                set(&mut given, &path.to_ascii_lowercase(), &value);
            }
        }
        let mut faults = Vec::new();
        let known = Table::try_from(Config::default()).map_err(|e| ConfigError(vec![e.to_string()]))?;
        compare(&known, &mut given, "", &mut faults);
        let config = match Config::deserialize(Value::Table(given)) {
            Ok(config) => config,
            Err(error) => {
                faults.push(error.to_string().trim_end().to_owned());
                return Err(ConfigError(named(name, faults)));
            }
        };
        faults.extend(config.faults());
        if faults.is_empty() { Ok(config) } else { Err(ConfigError(named(name, faults))) }
    }

    /// Every fault of the values, and of values together.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.server.faults();
        faults.extend(self.ingest.faults());
        faults.extend(self.journal.faults());
        faults.extend(self.lake.faults());
        faults.extend(self.detect.faults());
        faults.extend(self.queue.faults());
        faults.extend(self.sample.faults());
        faults.extend(self.score.faults());
        faults.extend(self.sql.faults());
        faults.extend(self.watch.faults());
        if let Err(rules) = sample::compile(&self.sample.rules) {
            faults.extend(rules.iter().map(ToString::to_string));
        }
        self.rule_faults(&mut faults);
        for lane in queue::Lane::ALL {
            if self.queue.lane(lane).lease_s.saturating_mul(1_000) <= self.score.timeout_ms {
                faults.push(format!(
                    "queue.{}.lease_s is not above score.timeout_ms: a second worker would take an item that is still \
                     being evaluated",
                    lane.as_str()
                ));
            }
        }
        if self.lake.vacuum_after_s.saturating_mul(1_000) <= self.sql.timeout_ms {
            faults.push(
                "lake.vacuum_after_s is not above sql.timeout_ms: another server on the same bucket would delete files \
                 that a query still reads"
                    .to_owned(),
            );
        }
        self.address_faults(&mut faults);
        if self.journal.max_frame_bytes < self.ingest.max_request_bytes as u64 {
            faults.push(
                "journal.max_frame_bytes is below ingest.max_request_bytes: an allowed request would not fit \
                 into the journal"
                    .to_owned(),
            );
        }
        faults
    }

    fn rule_faults(&self, faults: &mut Vec<String>) {
        for rule in &self.sample.rules {
            for id in rule.evaluators.iter().filter(|id| *id != "*") {
                if !eval::IDS.contains(&id.as_str()) || self.score.disabled.contains(id) {
                    faults.push(format!(
                        "sample.rules {:?}: evaluator {id:?} is not there or is disabled; there are {}",
                        rule.name,
                        eval::IDS.join(", ")
                    ));
                }
            }
        }
    }

    /// Every address with its key.
    pub fn addresses(&self) -> [(&'static str, std::net::SocketAddr); 4] {
        [
            ("ingest.grpc_listen", self.ingest.grpc_listen),
            ("ingest.http_listen", self.ingest.http_listen),
            ("server.http_listen", self.server.http_listen),
            ("server.pg_listen", self.server.pg_listen),
        ]
    }

    fn address_faults(&self, faults: &mut Vec<String>) {
        let addresses = self.addresses();
        for (at, (key, address)) in addresses.iter().enumerate() {
            if !address.ip().is_loopback() && !self.server.allow_exposed && !self.server.has_tokens() {
                faults.push(format!(
                    "{key} is {address}, which other machines can reach, and there are no tokens: set \
                     server.tokens_file, use a loopback address, or set server.allow_exposed = true behind \
                     something that authenticates"
                ));
            }
            let taken = addresses.iter().take(at).find(|(_, other)| other == address && address.port() != 0);
            if let Some((other, _)) = taken {
                faults.push(format!("{key} and {other} are both {address}: give each its own port"));
            }
        }
    }

    /// The effective configuration in the words of the example, with its comments.
    pub fn dump(&self) -> String {
        let Ok(mut document) = EXAMPLE.parse::<toml_edit::DocumentMut>() else { return String::new() };
        let mut shown = self.clone();
        if !shown.lake.s3.secret_access_key.is_empty() {
            shown.lake.s3.secret_access_key = "<hidden>".to_owned();
        }
        let (Ok(defaults), Ok(now)) = (Table::try_from(Config::default()), Table::try_from(shown)) else {
            return String::new();
        };
        write_changes(document.as_table_mut(), &defaults, &now);
        document.to_string()
    }
}

/// The line and what is wrong with it, without the line itself: it may hold a secret.
fn told(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("line {}: {}", before.matches('\n').count() + 1, error.message())
}

fn named(name: &str, faults: Vec<String>) -> Vec<String> {
    faults.into_iter().map(|fault| format!("{name}: {fault}")).collect()
}

/// Puts `value` at `section__key`; text that is TOML keeps its type.
fn set(table: &mut Table, path: &str, value: &str) {
    let (section, rest) = match path.split_once("__") {
        Some((section, rest)) => (section, Some(rest)),
        None => (path, None),
    };
    match rest {
        Some(rest) => {
            let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                set(inner, rest, value);
            }
        }
        None => {
            let typed = toml::from_str::<Table>(&format!("v = {value}")).ok().and_then(|mut t| t.remove("v"));
            table.insert(section.to_owned(), typed.unwrap_or_else(|| Value::String(value.to_owned())));
        }
    }
}

/// Keys and sections of earlier releases, and what they are called now.
const RENAMED: &[(&str, &str)] = &[
    ("scan", "detect"),
    ("sample.queue_items", "queue.fast.max_items"),
    ("sample.queue_bytes", "queue.fast.max_bytes"),
    ("sample.queue_max_age_s", "queue.fast.max_age_s"),
    ("sample.lease_s", "queue.fast.lease_s"),
    ("sample.max_attempts", "queue.fast.max_attempts"),
    ("sample.retry_ms", "queue.fast.retry_ms"),
];

fn renamed(key: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(old, _)| *old == key).map(|(_, new)| *new)
}

/// Notes every unknown key and every value of the wrong kind, and takes it out so that the rest can be read.
fn compare(known: &Table, given: &mut Table, path: &str, faults: &mut Vec<String>) {
    let mut wrong = Vec::new();
    for (key, value) in given.iter_mut() {
        let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (known.get(key), value) {
            // Tables without fixed keys.
            (_, _) if path == "score.thresholds" => {}
            (None, _) if at == "lake.s3.secret_access_key" => {}
            (None, _) if renamed(&at).is_some() => {
                faults.push(format!("{at} is called {} now", renamed(&at).unwrap_or_default()));
                wrong.push(key.clone());
            }
            (None, _) => {
                let keys: Vec<&str> = known.keys().map(String::as_str).collect();
                faults.push(format!("unknown key {at}; there are {}", keys.join(", ")));
                wrong.push(key.clone());
            }
            (Some(Value::Table(known)), Value::Table(given)) => compare(known, given, &at, faults),
            (Some(Value::Float(_)), Value::Integer(_)) => {}
            (Some(known), given) if !known.same_type(given) => {
                faults.push(format!("{at} is {}, must be {}", given.type_str(), known.type_str()));
                wrong.push(key.clone());
            }
            _ => {}
        }
    }
    for key in wrong {
        given.remove(&key);
    }
}

fn write_changes(document: &mut toml_edit::Table, defaults: &Table, now: &Table) {
    for (key, value) in now {
        if defaults.get(key) == Some(value) {
            continue;
        }
        match (value, document.get_mut(key).and_then(toml_edit::Item::as_table_mut)) {
            (Value::Table(inner), Some(table)) => {
                let empty = Table::new();
                let known = defaults.get(key).and_then(Value::as_table).unwrap_or(&empty);
                write_changes(table, known, inner);
            }
            _ => {
                let mut one = Table::new();
                one.insert(key.clone(), value.clone());
                if let Ok(mut parsed) = one.to_string().parse::<toml_edit::DocumentMut>()
                    && let Some(item) = parsed.as_table_mut().remove(key)
                {
                    document.insert(key, item);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> std::iter::Empty<(String, String)> {
        std::iter::empty()
    }

    #[test]
    fn the_example_is_the_default_and_the_dump() {
        let read = Config::from_text("example", EXAMPLE, none()).unwrap();
        let (read, defaults) = (Table::try_from(read).unwrap(), Table::try_from(Config::default()).unwrap());
        assert_eq!(read, defaults);
        assert_eq!(Config::default().dump(), EXAMPLE);
    }

    #[test]
    fn every_fault_is_told_at_once() {
        let text = "[ingest]\nmax_request_bytes = 10\nnope = 1\n[journal]\nsegment_bytes = \"x\"\n\
                    [[sample.rules]]\nname = \"r\"\nfilter = \"nothing = 1\"\nrate = 2.0\nevaluators = [\"zzz\"]\n";
        let error = Config::from_text("f.toml", text, none()).unwrap_err().to_string();
        for part in [
            "ingest.max_request_bytes",
            "ingest.nope",
            "journal.segment_bytes",
            "rate is 2",
            "zzz",
            "nothing",
        ] {
            assert!(error.contains(part), "{part} is missing in:\n{error}");
        }
        assert!(error.lines().all(|line| line.starts_with("f.toml: ")), "{error}");
    }

    #[test]
    fn an_old_name_is_told_the_new_one() {
        let text = "[scan]\nallow = []\n[sample]\nlease_s = 5\n";
        let error = Config::from_text("f.toml", text, none()).unwrap_err().to_string();
        assert!(error.contains("scan is called detect now"), "{error}");
        assert!(error.contains("sample.lease_s is called queue.fast.lease_s now"), "{error}");
    }

    #[test]
    fn the_environment_wins_and_keeps_types() {
        let env = [
            ("GROUNDLINE_INGEST__HTTP_LISTEN", "127.0.0.1:0"),
            ("GROUNDLINE_LAKE__S3__REGION", "eu-1"),
            ("GROUNDLINE_JOURNAL__SEGMENT_BYTES", "300000000"),
            ("OTHER_VARIABLE", "x"),
        ];
        let env = env.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned()));
        let config = Config::from_text("f", "[ingest]\nhttp_listen = \"127.0.0.1:9\"\n", env).unwrap();
        assert_eq!(config.ingest.http_listen.port(), 0);
        assert_eq!(config.lake.s3.region, "eu-1");
        assert_eq!(config.journal.segment_bytes, 300_000_000);
        assert!(config.dump().contains("segment_bytes = 300000000"));
    }

    #[test]
    fn a_line_that_is_not_toml_is_named_and_not_quoted() {
        let text = "[lake.s3]\nsecret_access_key = hunter2\n";
        let error = Config::from_text("f", text, none()).unwrap_err().to_string();
        assert!(error.contains("line 2") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn an_address_that_others_can_reach_is_refused() {
        let text = "[ingest]\ngrpc_listen = \"0.0.0.0:4317\"\n";
        let error = Config::from_text("f", text, none()).unwrap_err().to_string();
        assert!(error.contains("ingest.grpc_listen") && error.contains("tokens_file"), "{error}");
        for allows in ["allow_exposed = true", "tokens_file = \"/etc/tokens.toml\""] {
            let allowed = format!("{text}[server]\n{allows}\n");
            assert!(Config::from_text("f", &allowed, none()).is_ok(), "{allows}");
        }
    }
}
