//! From a file and the environment to settings, or to every fault at once.

use super::renamed;
use super::settings::Config;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::Path;
use toml::{Table, Value};

const ENV_PREFIX: &str = "GROUNDLINE_";

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
        let (variables, faults) = ours(std::env::vars_os());
        match Self::from_text(&name, &text, variables.into_iter()) {
            read if faults.is_empty() => read,
            Ok(_) => Err(ConfigError(faults)),
            Err(ConfigError(others)) => Err(ConfigError([faults, others].concat())),
        }
    }

    /// As [`Config::load`], from text and given variables.
    pub fn from_text(
        name: &str,
        text: &str,
        env: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut given: Table =
            toml::from_str(text).map_err(|e| ConfigError(vec![format!("{name}: {}", told(text, &e))]))?;
        let known = Table::try_from(Config::default()).map_err(|e| ConfigError(vec![e.to_string()]))?;
        let (mut faults, mut variables) = (Vec::new(), Vec::new());
        for (key, value) in env {
            let Some(path) = key.strip_prefix(ENV_PREFIX).map(str::to_ascii_lowercase) else { continue };
            if path.contains("__") {
                let at = path.replace("__", ".");
                if set(&mut given, &path, typed(&at, &value)) {
                    variables.push((at, key));
                } else {
                    faults.push(format!(
                        "{key} is not read: {at} lies in a list or below a value; write it in the file"
                    ));
                }
            } else if let Some(meant) = meant(&known, &path) {
                let meant = meant.to_ascii_uppercase();
                faults.push(format!("{key} is not read: write {ENV_PREFIX}{meant}, with two underscores"));
            }
        }
        renamed::take_out(&mut given, "", &mut faults);
        compare(&known, &mut given, "", &mut faults);
        let mut config = match Config::deserialize(Value::Table(given)) {
            Ok(config) => config,
            Err(error) => {
                faults.push(error.to_string().trim_end().to_owned());
                return Err(ConfigError(named(name, &variables, faults)));
            }
        };
        config.eval.evaluator.clone_from(&config.evaluator);
        faults.extend(config.faults());
        if faults.is_empty() { Ok(config) } else { Err(ConfigError(named(name, &variables, faults))) }
    }
}

/// The line and what is wrong with it, without the line itself: it may hold a secret.
fn told(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("line {}: {}", before.matches('\n').count() + 1, error.message())
}

/// Every fault with where its key was set: in the file `name`, or in one of the `variables`, which are there by key.
fn named(name: &str, variables: &[(String, String)], faults: Vec<String>) -> Vec<String> {
    let is_of = |fault: &str, key: &str| {
        let at = fault.strip_prefix("unknown key ").unwrap_or(fault);
        let rest = at.strip_prefix(key);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    };
    let told = |fault: String| {
        if fault.starts_with(ENV_PREFIX) {
            return fault;
        }
        let variable = variables.iter().find(|(key, _)| is_of(&fault, key));
        let place = variable.map_or(name, |(_, variable)| variable.as_str());
        format!("{place}: {fault}")
    };
    faults.into_iter().map(told).collect()
}

/// The variable's path to a key whose sections and name stand in `path` with one underscore between them.
fn meant(known: &Table, path: &str) -> Option<String> {
    known.iter().find_map(|(section, inner)| {
        let rest = path.strip_prefix(section.as_str())?.strip_prefix('_')?;
        let inner = inner.as_table()?;
        let rest = if inner.contains_key(rest) { rest.to_owned() } else { meant(inner, rest)? };
        Some(format!("{section}__{rest}"))
    })
}

/// Those of a process that may be ours, and what is wrong with them. Variables of others may hold any bytes.
fn ours(all: impl Iterator<Item = (OsString, OsString)>) -> (Vec<(String, String)>, Vec<String>) {
    let (mut variables, mut faults) = (Vec::new(), Vec::new());
    for (key, value) in all {
        let Some(key) = key.into_string().ok().filter(|key| key.starts_with(ENV_PREFIX)) else { continue };
        match value.into_string() {
            Ok(value) => variables.push((key, value)),
            Err(_) if key.contains("__") => faults.push(format!("{key} is not UTF-8")),
            // That of another's, or of a flag, which tells it.
            Err(_) => {}
        }
    }
    (variables, faults)
}

/// What a variable says for the key `at`: text that is TOML keeps its type, but where the key takes a text only.
fn typed(at: &str, text: &str) -> Value {
    let plain = Value::String(text.to_owned());
    let read = toml::from_str::<Table>(&format!("v = {text}")).ok().and_then(|mut t| t.remove("v"));
    match read {
        // An id or a key of digits is a text.
        Some(read) if refusal(at, read.clone()).is_some() && refusal(at, plain.clone()).is_none() => plain,
        read => read.unwrap_or(plain),
    }
}

/// Puts `value` at `section__key`; whether it could: what is a value already has no keys.
fn set(table: &mut Table, path: &str, value: Value) -> bool {
    match path.split_once("__") {
        Some((section, rest)) => {
            let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            inner.as_table_mut().is_some_and(|inner| set(inner, rest, value))
        }
        None => {
            table.insert(path.to_owned(), value);
            true
        }
    }
}

/// Tables without fixed keys.
const FREE: [&str; 11] = [
    "eval.thresholds",
    "evaluator",
    "lab.targets",
    "models",
    "labels.questions",
    "emit.headers",
    "emit.header_files",
    "forward.headers",
    "forward.header_files",
    "forward_logs.headers",
    "forward_logs.header_files",
];

/// Notes every unknown key and every value that cannot be read, and takes it out so that the rest can be.
fn compare(known: &Table, given: &mut Table, path: &str, faults: &mut Vec<String>) {
    let mut wrong = Vec::new();
    for (key, value) in given.iter_mut() {
        let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        // What has no fixed keys, and a key that is not shown.
        let is_free = FREE.contains(&path) || at == "lake.s3.secret_access_key";
        match (known.get(key), value) {
            (Some(Value::Table(known)), Value::Table(given)) => compare(known, given, &at, faults),
            (None, _) if !is_free => {
                let keys: Vec<&str> = known.keys().map(String::as_str).collect();
                faults.push(format!("unknown key {at}; there are {}", keys.join(", ")));
                wrong.push(key.clone());
            }
            (_, value) => {
                let told = unreadable(&at, value);
                if !told.is_empty() {
                    faults.extend(told);
                    wrong.push(key.clone());
                }
            }
        }
    }
    for key in wrong {
        given.remove(&key);
    }
}

/// What is wrong with a value. Of a list each entry is read alone: all that are wrong are told, by their places and names.
fn unreadable(at: &str, value: &Value) -> Vec<String> {
    let Some(whole) = refusal(at, value.clone()) else { return Vec::new() };
    let entries = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |(i, entry): (usize, &Value)| {
        let why = refusal(at, Value::Array(vec![entry.clone()]))?;
        let name = entry.get("name").and_then(Value::as_str);
        let name = name.map_or_else(String::new, |name| format!(" {name:?}"));
        Some(format!("{at}[{i}]{name}: {why}"))
    };
    let told: Vec<String> = entries.iter().enumerate().filter_map(one).collect();
    if told.is_empty() { vec![format!("{at}: {whole}")] } else { told }
}

/// Why a value cannot be read, as if it were the only one that is given.
fn refusal(at: &str, value: Value) -> Option<String> {
    let nested = at
        .rsplit('.')
        .fold(value, |inner, key| Value::Table([(key.to_owned(), inner)].into_iter().collect()));
    let error = Config::deserialize(nested).err()?;
    Some(error.message().to_owned())
}
